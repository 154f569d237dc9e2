//! What was said and done, drawn from the events of the session protocol. Pure.
//!
//! What is final is handed out once, to scroll away; what may still change is drawn again for each
//! frame.

use std::collections::VecDeque;
use std::path::Path;

use callgate_wire::session::{
    Notice, PastUserMessage, PermissionRequest, PermissionResolved, QuestionResolved, SessionEvent,
    ToolInput, ToolResult, ToolUse,
};

use crate::markdown::MarkdownStream;
use crate::printed_notices::{PrintedNotices, RETRY, WORKING};
use crate::styled_text::{ChatPage, StyledText, TextStyle, WrapAt};
use crate::tool_card::ToolCard;
use crate::tool_result::ResultExtent;

/// The most rows of thinking that are shown while it lasts.
const THINKING_ROWS: usize = 3;
/// How much of the thinking is kept to be shown, in bytes.
const KEPT_THINKING: usize = 2048;

/// The prefix of what is not part of the conversation.
const NOTE_MARK: &str = "· ";

/// How many results are kept to be shown in full, and the largest one, in bytes.
const MOST_FINISHED: usize = 16;
const LARGEST_FINISHED: usize = 1024 * 1024;

/// A conversation as it is drawn.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    /// The rows that are final and not handed out yet.
    rows: Vec<String>,
    text: MarkdownStream,
    has_text: bool,
    thinking: Option<ThinkingText>,
    cards: Vec<ToolCard>,
    /// The last notice that the answer is requested again, which the next one replaces.
    retry: Option<String>,
    /// The notices that were printed, where all rows are final.
    printed: Option<PrintedNotices>,
    /// The folder from which paths are shown.
    folder: String,
    /// The last calls with their results, to be shown in full: the newest first.
    finished: VecDeque<(ToolCard, ToolResult)>,
    /// How many of them were looked at.
    looked_at: usize,
    /// Whether a blank row separates the next part from what is above it.
    needs_gap: bool,
}

/// The end of what a model thinks.
#[derive(Debug, Default)]
struct ThinkingText {
    end: String,
    words: usize,
}

impl Transcript {
    /// Creates an empty transcript that shows paths from this folder on.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self { folder: folder.to_string_lossy().into_owned(), ..Self::default() }
    }

    /// Makes all rows final, for a terminal that cannot be drawn on.
    pub(crate) fn print_lines(&mut self) {
        self.printed = Some(PrintedNotices::default());
    }

    /// Returns the rows that have become final.
    pub(crate) fn take_rows(&mut self) -> Vec<String> {
        std::mem::take(&mut self.rows)
    }

    pub(crate) fn draw_event(&mut self, event: &SessionEvent, page: &ChatPage) {
        if self.printed.as_mut().is_some_and(|printed| printed.is_repeated(event)) {
            return;
        }
        let is_waiting = |notice: &Notice| matches!(&*notice.kind, RETRY | WORKING);
        if !matches!(event, SessionEvent::Notice(notice) if is_waiting(notice)) {
            self.end_retry(page);
        }
        match event {
            SessionEvent::UserMessage(said) => self.past_message(said, page),
            SessionEvent::Token(token) => self.draw_token(token, page),
            SessionEvent::Thinking(piece) => {
                self.end_text(page);
                self.thinking.get_or_insert_default().push(piece);
            }
            SessionEvent::ToolInput(piece) => self.tool_input(piece, page),
            SessionEvent::ToolUse(call) => self.tool_use(call, page),
            SessionEvent::ToolProgress(progress) => {
                if let Some(card) = self.cards.iter_mut().find(|card| card.id == progress.tool_id) {
                    card.add_output(&progress.text);
                }
            }
            SessionEvent::ToolResult(result) => self.draw_result(result, page),
            SessionEvent::PermissionRequest(request) => self.set_question_diff(request),
            SessionEvent::PermissionResolved(resolved) => self.draw_permission_end(resolved, page),
            SessionEvent::QuestionResolved(resolved) => self.draw_question_end(resolved, page),
            SessionEvent::Notice(notice) => self.draw_notice(notice, page),
            SessionEvent::Error { error, .. } => self.draw_error(error, page),
            _ => {}
        }
    }

    pub(crate) fn user_message(&mut self, text: &str, files: &[String], page: &ChatPage) {
        self.end_answer(page);
        self.needs_gap = true;
        let mark = StyledText::new("› ", TextStyle::CYAN | TextStyle::BOLD);
        let rows = marked_rows(text.trim_end(), TextStyle::BOLD, mark, page);
        if !rows.is_empty() {
            self.add_rows(rows);
        }
        for file in files {
            self.add_rows(vec![StyledText::new(&format!("  + {file}"), TextStyle::DIM).row(page)]);
        }
        self.needs_gap = true;
    }

    /// Draws something that is not part of the conversation.
    pub(crate) fn draw_note(&mut self, text: &str, page: &ChatPage) {
        self.styled_note(text, TextStyle::DIM, page);
    }

    pub(crate) fn draw_error(&mut self, text: &str, page: &ChatPage) {
        self.styled_note(text, TextStyle::RED, page);
    }

    pub(crate) fn add_rows(&mut self, rows: Vec<String>) {
        if std::mem::take(&mut self.needs_gap) {
            self.rows.push(String::new());
        }
        self.rows.extend(rows);
    }

    /// Ends the answer: whatever is open is final.
    pub(crate) fn end_answer(&mut self, page: &ChatPage) {
        self.end_retry(page);
        self.end_text(page);
        self.end_thinking(page);
        for card in std::mem::take(&mut self.cards) {
            self.add_rows(vec![card.lost_row(page)]);
        }
    }

    /// Returns the rows that may still change.
    pub(crate) fn live_rows(&self, page: &ChatPage) -> Vec<String> {
        let mut rows = Vec::new();
        if self.has_text {
            rows.extend(self.text.open_rows(page));
        }
        if let Some(thinking) = &self.thinking {
            rows.extend(thinking.rows(page));
        }
        rows.extend(self.cards.iter().flat_map(|card| card.live_rows(page)));
        if let Some(retry) = &self.retry {
            rows.extend(note_rows(retry, page));
        }
        if self.needs_gap && !rows.is_empty() {
            rows.insert(0, String::new());
        }
        rows
    }

    fn draw_token(&mut self, token: &str, page: &ChatPage) {
        self.end_thinking(page);
        // Models begin some answers with empty lines.
        let token = if self.has_text { token } else { token.trim_start_matches(['\n', '\r']) };
        if token.is_empty() {
            return;
        }
        self.has_text = true;
        let rows = self.text.push(token, page);
        if !rows.is_empty() {
            self.add_rows(rows);
        }
    }

    fn end_text(&mut self, page: &ChatPage) {
        if std::mem::take(&mut self.has_text) {
            let rows = self.text.finish(page);
            if !rows.is_empty() {
                self.add_rows(rows);
            }
            self.needs_gap = true;
        }
    }

    fn end_thinking(&mut self, page: &ChatPage) {
        if let Some(thinking) = self.thinking.take() {
            let words = thinking.words;
            self.add_rows(vec![
                StyledText::new(&format!("· thought, {words} words"), TextStyle::DIM).row(page),
            ]);
        }
    }

    /// Draws the input of a tool while the model writes it.
    fn tool_input(&mut self, piece: &ToolInput, page: &ChatPage) {
        if let Some(card) = self.cards.iter_mut().find(|card| card.id == piece.tool_id) {
            return card.add_input(&piece.text);
        }
        self.end_text(page);
        self.end_thinking(page);
        self.cards.push(ToolCard::from_draft(piece, &self.folder));
    }

    fn tool_use(&mut self, call: &ToolUse, page: &ChatPage) {
        self.end_text(page);
        self.end_thinking(page);
        let announced = ToolCard::new(call, &self.folder);
        let drafted = self.cards.iter_mut().find(|card| card.id == call.tool_id);
        match drafted {
            // In the place of its draft, so that the calls stay in the order in which they were
            // written.
            Some(card) => *card = announced,
            None => self.cards.push(announced),
        }
    }

    fn draw_result(&mut self, result: &ToolResult, page: &ChatPage) {
        let Some(at) = self.cards.iter().position(|card| card.id == result.tool_id) else {
            return;
        };
        let card = self.cards.remove(at);
        self.add_rows(card.final_rows(result, ResultExtent::Brief, page));
        // The results of calls that run at the same time stay together.
        self.needs_gap = self.cards.is_empty();
        // The newest result is the first that is shown in full.
        self.looked_at = 0;
        if result.result.get().len() <= LARGEST_FINISHED {
            self.finished.push_front((card, result.clone()));
            self.finished.truncate(MOST_FINISHED);
        }
    }

    /// Draws the last result in full of which only a part was drawn, and then the one before it.
    /// Returns false if there is none left.
    pub(crate) fn show_in_full(&mut self, page: &ChatPage) -> bool {
        let unseen = self.finished.iter().skip(self.looked_at);
        let drawn = unseen.map(|(card, result)| {
            let rows = |extent| card.final_rows(result, extent, page);
            let (brief, full) = (rows(ResultExtent::Brief), rows(ResultExtent::Full));
            (full.len() > 1 && full != brief).then_some(full)
        });
        let found = drawn.enumerate().find_map(|(number, full)| Some((number, full?)));
        let Some((number, full)) = found else { return false };
        self.looked_at += number + 1;
        self.end_text(page);
        self.needs_gap = true;
        self.add_rows(full);
        self.needs_gap = true;
        true
    }

    fn set_question_diff(&mut self, request: &PermissionRequest) {
        let card = self.cards.iter_mut().find(|card| card.id == request.tool_id);
        if let (Some(card), Some(diff)) = (card, &request.diff) {
            card.diff = Some(diff.clone());
        }
    }

    fn draw_permission_end(&mut self, resolved: &PermissionResolved, page: &ChatPage) {
        let (sign, style) = match resolved.decision.as_str() {
            "allow" => ("✓ ", TextStyle::GREEN),
            "deny" => ("✗ ", TextStyle::RED),
            _ => ("· ", TextStyle::YELLOW),
        };
        self.draw_outcome(sign, style, &resolved.text, page);
    }

    fn draw_question_end(&mut self, resolved: &QuestionResolved, page: &ChatPage) {
        let (sign, style) = match resolved.outcome.as_str() {
            "answered" => ("✓ ", TextStyle::GREEN),
            "declined" | "cancelled" => ("✗ ", TextStyle::RED),
            _ => ("· ", TextStyle::YELLOW),
        };
        self.draw_outcome(sign, style, &resolved.text, page);
    }

    fn draw_outcome(&mut self, sign: &str, style: TextStyle, text: &str, page: &ChatPage) {
        let line = StyledText::new(sign, style).and_text(text, TextStyle::DIM);
        self.add_rows(vec![line.row(page)]);
    }

    fn draw_notice(&mut self, notice: &Notice, page: &ChatPage) {
        match notice.kind.as_str() {
            RETRY => self.draw_retry(&notice.text, page),
            // The status line says that it works.
            WORKING => {}
            _ => self.draw_note(&notice.text, page),
        }
    }

    /// Shows that the answer is requested again. An outage may bring a hundred of these notices, so
    /// each takes the place of the one before it.
    fn draw_retry(&mut self, text: &str, page: &ChatPage) {
        // What the model was writing is written anew.
        self.cards.retain(|card| !card.is_drafted());
        if self.printed.is_some() {
            return self.draw_note(text, page);
        }
        self.end_text(page);
        self.end_thinking(page);
        self.retry = Some(text.to_owned());
    }

    fn end_retry(&mut self, page: &ChatPage) {
        if let Some(text) = self.retry.take() {
            self.draw_note(&text, page);
        }
    }

    fn past_message(&mut self, said: &PastUserMessage, page: &ChatPage) {
        let name = |file: &callgate_wire::session::PastAttachment| {
            file.name.clone().unwrap_or_else(|| file.mime.clone())
        };
        let files: Vec<String> = said.attachments.iter().map(name).collect();
        self.user_message(&said.message, &files, page);
    }

    fn styled_note(&mut self, text: &str, style: TextStyle, page: &ChatPage) {
        self.end_retry(page);
        self.end_text(page);
        self.end_thinking(page);
        let rows = marked_rows(text, style, StyledText::new(NOTE_MARK, style), page);
        if !rows.is_empty() {
            self.add_rows(rows);
        }
        self.needs_gap = true;
    }
}

fn note_rows(text: &str, page: &ChatPage) -> Vec<String> {
    marked_rows(text, TextStyle::DIM, StyledText::new(NOTE_MARK, TextStyle::DIM), page)
}

/// Draws the lines of a text, with a mark before the first.
fn marked_rows(text: &str, style: TextStyle, mark: StyledText, page: &ChatPage) -> Vec<String> {
    let blank = StyledText::new("  ", TextStyle::PLAIN);
    let mut first = mark;
    let mut rows = Vec::new();
    for line in text.lines() {
        let line = StyledText::new(line, style);
        rows.extend(line.hanging_rows(page, WrapAt::Words, &first, &blank));
        first = blank.clone();
    }
    rows
}

impl ThinkingText {
    fn push(&mut self, piece: &str) {
        let begins_word = self.end.is_empty() || self.end.ends_with(char::is_whitespace);
        let words = piece.split_whitespace().count();
        // Pieces end anywhere: the first word of one may have been counted with the last piece.
        let continues = !begins_word && !piece.starts_with(char::is_whitespace);
        self.words += words.saturating_sub(usize::from(continues && words > 0));
        self.end.push_str(piece);
        // Only at twice the size, so that not every piece moves all of it.
        if self.end.len() > 2 * KEPT_THINKING {
            let start = self.end.ceil_char_boundary(self.end.len() - KEPT_THINKING);
            self.end.drain(..start);
        }
    }

    fn rows(&self, page: &ChatPage) -> Vec<String> {
        let mut rows = vec![StyledText::new("· thinking", TextStyle::DIM).row(page)];
        let text = self.end.split_whitespace().collect::<Vec<_>>().join(" ");
        let indent = StyledText::new("  ", TextStyle::PLAIN);
        let text = StyledText::new(&text, TextStyle::DIM | TextStyle::ITALIC);
        let all = text.hanging_rows(page, WrapAt::Words, &indent, &indent);
        let skipped = all.len().saturating_sub(THINKING_ROWS);
        rows.extend(all.into_iter().skip(skipped));
        rows
    }
}

#[cfg(test)]
mod tests;
