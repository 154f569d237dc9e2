//! How tool calls are drawn: a headline, live output while a tool runs, and then its result.

use std::borrow::Cow;
use std::collections::VecDeque;

use callgate_mask::call_card::call_card;
use callgate_wire::desk::{CallCard, CardContent, TodoItem, TodoStatus};
use callgate_wire::session::{ToolInput, ToolResult, ToolUse};
use serde_json::Value;

use crate::drafted_input::DraftedInput;
use crate::styled_text::{ChatPage, StyledText, TextStyle, WrapAt};
use crate::tool_result::{
    ResultExtent, command_failure, detail_line, diff_rows, result_rows, text_of,
};

/// The most rows of output that a running tool shows.
const LIVE_ROWS: usize = 5;
/// The longest line of output that is kept while a tool runs, in bytes.
const LONGEST_LINE: usize = 4096;
/// The members of which a headline is made while the model writes them.
const SUBJECTS: [&str; 6] = ["command", "path", "file_path", "notebook_path", "pattern", "url"];

/// A tool call that was announced, or whose input the model is writing.
#[derive(Debug)]
pub(crate) struct ToolCard {
    pub(crate) id: String,
    name: String,
    /// What the call does, as soon as it is announced.
    card: Option<Box<CallCard>>,
    /// The input as far as the model has written it, until the call is announced.
    draft: Option<DraftedInput>,
    /// The last lines of its output, or of its input while that is being written; the last one may
    /// be unfinished.
    output: VecDeque<String>,
    /// What the call would change, from the question about it.
    pub(crate) diff: Option<String>,
}

impl ToolCard {
    pub(crate) fn new(call: &ToolUse) -> Self {
        Self {
            id: call.tool_id.clone(),
            name: call.tool_name.clone(),
            // A runtime without cards has inputs.
            card: call.card.clone().or_else(|| {
                let input = serde_json::from_str(call.input.get()).unwrap_or_default();
                Some(Box::new(call_card(&call.tool_name, input)))
            }),
            draft: None,
            output: VecDeque::from([String::new()]),
            diff: None,
        }
    }

    /// Creates the card of a call whose input the model begins to write.
    pub(crate) fn from_draft(piece: &ToolInput) -> Self {
        let mut card = Self {
            id: piece.tool_id.clone(),
            name: piece.tool_name.clone(),
            card: None,
            draft: Some(DraftedInput::keeping_keys(&SUBJECTS)),
            output: VecDeque::from([String::new()]),
            diff: None,
        };
        card.add_input(&piece.text);
        card
    }

    /// Adds to the input that the model is writing.
    pub(crate) fn add_input(&mut self, piece: &str) {
        let Some(draft) = &mut self.draft else { return };
        let text = draft.push(piece);
        self.add_output(&text);
    }

    /// Returns true while the model is writing the input.
    pub(crate) fn is_drafted(&self) -> bool {
        self.draft.is_some()
    }

    /// Adds output of the running tool.
    pub(crate) fn add_output(&mut self, text: &str) {
        for part in text.split_inclusive('\n') {
            let line = part.strip_suffix('\n').unwrap_or(part);
            if let Some(last) = self.output.back_mut() {
                // A program may write much and never end a line.
                let room = LONGEST_LINE.saturating_sub(last.len());
                last.push_str(&line[..line.floor_char_boundary(room)]);
            }
            if part.ends_with('\n') {
                self.output.push_back(String::new());
            }
            if self.output.len() > LIVE_ROWS + 1 {
                self.output.pop_front();
            }
        }
    }

    /// Draws the running tool, or the input that the model is writing.
    pub(crate) fn live_rows(&self, page: &ChatPage) -> Vec<String> {
        let (sign, style) =
            if self.is_drafted() { ("○", TextStyle::DIM) } else { ("●", TextStyle::YELLOW) };
        let mut rows = vec![self.headline(sign, style, Tense::Present).row(page)];
        let lines: Vec<&String> = self.output.iter().filter(|line| !line.is_empty()).collect();
        let skipped = lines.len().saturating_sub(LIVE_ROWS);
        rows.extend(lines.into_iter().skip(skipped).map(|line| detail_line(line).row(page)));
        rows
    }

    /// Draws the call with its result.
    pub(crate) fn final_rows(
        &self,
        result: &ToolResult,
        extent: ResultExtent,
        page: &ChatPage,
    ) -> Vec<String> {
        let is_error = result.is_error == Some(true);
        let value: Value = serde_json::from_str(result.result.get()).unwrap_or_default();
        let failure = command_failure(&value);
        let is_bad = is_error || failure.is_some();
        let (sign, style) =
            if is_bad { ("✗", TextStyle::RED) } else { ("✓", TextStyle::GREEN) };
        // A call that failed has not done what it says.
        let tense = if is_error { Tense::Present } else { Tense::Past };
        // How it failed comes first: the subject may be cut.
        let how = failure.map(|how| format!(" {how}")).unwrap_or_default();
        let mut rows = vec![self.headline(&format!("{sign}{how}"), style, tense).row(page)];
        let card = self.card();
        if let (CardContent::Todo { items }, false) = (&card.body, is_error) {
            rows.extend(items.iter().flat_map(|item| plan_rows(item, page)));
            return rows;
        }
        let diff = text_of(&value, "diff").or(self.diff.as_deref()).filter(|_| !is_error);
        rows.extend(match diff {
            Some(diff) => diff_rows(diff, extent.most_diff_rows(), page),
            None => result_rows(&value, is_error, extent, page),
        });
        rows
    }

    /// Draws a call that ended without a result.
    pub(crate) fn lost_row(&self, page: &ChatPage) -> String {
        let what = if self.is_drafted() { " (not finished)" } else { " (no result)" };
        self.headline("✗", TextStyle::RED, Tense::Present).and_text(what, TextStyle::DIM).row(page)
    }

    /// Returns what the call does, as far as it is known.
    fn card(&self) -> Cow<'_, CallCard> {
        match (&self.card, &self.draft) {
            (Some(card), _) => Cow::Borrowed(card),
            (None, draft) => {
                let input = draft.as_ref().map(DraftedInput::members).unwrap_or_default();
                Cow::Owned(call_card(&self.name, input))
            }
        }
    }

    fn headline(&self, sign: &str, style: TextStyle, tense: Tense) -> StyledText {
        let card = self.card();
        let deed = if tense == Tense::Past { &card.did } else { &card.deed };
        let line = StyledText::new(sign, style).and_text(" ", TextStyle::PLAIN);
        let line = line.and_text(deed, TextStyle::BOLD);
        if card.subject.is_empty() {
            return line;
        }
        line.and_text(" · ", TextStyle::DIM).and_text(&card.subject, TextStyle::PLAIN)
    }
}

/// Whether a call has done what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tense {
    Present,
    Past,
}

/// Draws a step of the plan of a longer task.
fn plan_rows(item: &TodoItem, page: &ChatPage) -> Vec<String> {
    let style = match item.status {
        TodoStatus::Done => TextStyle::DIM,
        TodoStatus::Active => TextStyle::BOLD,
        TodoStatus::Pending => TextStyle::PLAIN,
    };
    let [first, rest] = ["  ", "    "].map(|indent| StyledText::new(indent, TextStyle::PLAIN));
    StyledText::new(&item.to_string(), style).hanging_rows(page, WrapAt::Words, &first, &rest)
}

#[cfg(test)]
mod tests;
