//! What the chat shows: the end of the transcript, the question or the input, and the status.

use std::time::Duration;

use super::{ChatCore, InputMode};
use crate::inline_screen::ScreenFrame;
use crate::question_prompt::most_rows;
use crate::styled_text::{StyledText, TextStyle, WrapAt};

impl ChatCore {
    pub fn next_frame(&mut self, now: Duration) -> ScreenFrame {
        let page = self.page;
        let final_rows = self.transcript.take_rows();
        let mut hint = match self.hint.as_str() {
            "" => Vec::new(),
            hint => StyledText::new(hint, TextStyle::YELLOW).rows(&page, WrapAt::Words),
        };
        if self.mode == InputMode::Message && self.questions.is_empty() && self.asked.is_empty() {
            hint.extend(self.menu.rows(&self.editor, &page));
        }
        let (input, cursor) = self.input_rows(hint.len());
        // Besides a blank row and the status line, one row stays free: a live row that has scrolled
        // off the screen could not be drawn over.
        let room = page.height.saturating_sub(hint.len() + input.len() + 3);
        let above = self.transcript.live_rows(&page);
        let skipped = above.len().saturating_sub(room);
        let mut live_rows: Vec<String> = above.into_iter().skip(skipped).collect();
        live_rows.push(String::new());
        live_rows.extend(hint);
        let cursor = (live_rows.len() + cursor.0, cursor.1);
        live_rows.extend(input);
        let state = self.state(now);
        live_rows.push(self.status.row(&state, &page));
        // More than the terminal has could not be drawn over.
        let excess = (live_rows.len() + 1).saturating_sub(page.height.max(2));
        live_rows.drain(..excess);
        ScreenFrame { final_rows, live_rows, cursor: (cursor.0.saturating_sub(excess), cursor.1) }
    }

    /// Draws the question, the input, or both, and returns the position of the cursor in them.
    /// `hint` is the number of rows above them that the hint takes.
    fn input_rows(&mut self, hint: usize) -> (Vec<String>, (usize, usize)) {
        let page = &self.page;
        if self.is_answering()
            && let Some((_, asked)) = self.asked.front()
        {
            return asked.rows(page, most_rows(page).saturating_sub(hint));
        }
        let waiting = self.questions.len().saturating_sub(1);
        if self.mode == InputMode::Message
            && let Some((_, question)) = self.questions.front_mut()
        {
            let rows = question.rows(page, most_rows(page).saturating_sub(hint), waiting);
            let last = rows.len().saturating_sub(1);
            return (rows, (last, 0));
        }
        let question = self.questions.front();
        // The question stays visible above the words that are typed about it, as far as there is
        // room.
        let (prompt, most) = match &self.mode {
            InputMode::Message => ("› ", 0),
            InputMode::EditLast => ("edit› ", 0),
            InputMode::ConfirmDelete { .. } => ("y/n› ", 0),
            InputMode::Search { .. } => ("search› ", 0),
            InputMode::Words { .. } => ("why not› ", page.height / 3),
            InputMode::Arguments { .. } => ("", page.height / 4),
        };
        let shown = question.filter(|_| most > 0);
        let mut rows: Vec<String> = shown
            .map(|(_, question)| question.full_rows(page).into_iter().take(most).collect())
            .unwrap_or_default();
        if let InputMode::Search { found } = self.mode {
            let entry = found.and_then(|found| self.history.entry(found));
            let entry =
                entry.unwrap_or("(Enter takes what is found, Ctrl-R searches on, Esc leaves)");
            rows.push(StyledText::new(entry, TextStyle::DIM).row(page));
        }
        let (typed, (row, column)) = self.editor.rows(page, prompt);
        // A long text is shown around the cursor.
        let room = (page.height / 2).max(3);
        let skipped = (row + 1).saturating_sub(room);
        let cursor = (rows.len() + row - skipped, column);
        rows.extend(typed.into_iter().skip(skipped).take(room));
        (rows, cursor)
    }

    fn state(&self, now: Duration) -> String {
        let Some(turn) = self.turns.first() else {
            let idle = if self.runtime.is_empty() { "/help" } else { self.runtime };
            return idle.to_owned();
        };
        let seconds = now.saturating_sub(turn.since).as_secs();
        let what = match (turn.is_cancelled, self.questions.is_empty() && self.asked.is_empty()) {
            (true, _) => "cancelling",
            (false, false) => "waiting for you",
            (false, true) => "working",
        };
        let queued = self.turns.len() - 1;
        let queued = if queued > 0 { format!(" +{queued}") } else { String::new() };
        format!("{what}{queued} {seconds} s · Esc interrupts")
    }
}
