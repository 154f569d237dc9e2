//! How tool calls are drawn: a headline, live output while a tool runs, and then its result.

use std::borrow::Cow;
use std::collections::VecDeque;

use callgate_mask::call_card::call_card;
use callgate_wire::desk::{CallCard, CardContent, TodoItem, TodoStatus};
use callgate_wire::session::{ToolInput, ToolResult, ToolUse};
use serde_json::Value;

use crate::drafted_input::DraftedInput;
use crate::result_text::text_of;
use crate::shown_path::{relative_path, shortened_path};
use crate::styled_text::{ChatPage, StyledText, TextStyle, WrapAt, column_width};
use crate::tool_result::{ResultExtent, command_failure, detail_line, diff_rows, result_rows};

/// The most rows of output that a running tool shows.
const LIVE_ROWS: usize = 5;
/// The longest line of output that is kept while a tool runs, in bytes.
const LONGEST_LINE: usize = 4096;
/// The members of which a headline is made while the model writes them.
const SUBJECTS: [&str; 8] =
    ["command", "path", "file_path", "notebook_path", "pattern", "url", "target", "id"];
/// The members of a result that may only repeat what the headline says.
const REPEATED: [&str; 2] = ["path", "target"];

/// A tool call that was announced, or whose input the model is writing.
#[derive(Debug)]
pub(crate) struct ToolCard {
    pub(crate) id: String,
    name: String,
    /// The folder from which a path is shown.
    folder: String,
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
    pub(crate) fn new(call: &ToolUse, folder: &str) -> Self {
        Self {
            id: call.tool_id.clone(),
            name: call.tool_name.clone(),
            folder: folder.to_owned(),
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
    pub(crate) fn from_draft(piece: &ToolInput, folder: &str) -> Self {
        let mut card = Self {
            id: piece.tool_id.clone(),
            name: piece.tool_name.clone(),
            folder: folder.to_owned(),
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
            // One more than is shown, because the last line is empty after a line feed.
            if self.output.len() > LIVE_ROWS + 1 {
                self.output.pop_front();
            }
        }
    }

    /// Draws the running tool, or the input that the model is writing.
    pub(crate) fn live_rows(&self, page: &ChatPage) -> Vec<String> {
        let (sign, style) =
            if self.is_drafted() { ("○", TextStyle::DIM) } else { ("●", TextStyle::YELLOW) };
        let mut rows = vec![self.headline(sign, style, Tense::Present, page.width).row(page)];
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
        let mut value: Value = serde_json::from_str(result.result.get()).unwrap_or_default();
        // A command that was to be ended has not failed by ending.
        let is_stopped = self.name == "stop_command" && !is_error;
        let failure = command_failure(&value).filter(|_| !is_stopped);
        let is_bad = is_error || failure.is_some();
        let (sign, style) =
            if is_bad { ("✗", TextStyle::RED) } else { ("✓", TextStyle::GREEN) };
        // A call that failed has not done what it says.
        let tense = if is_error { Tense::Present } else { Tense::Past };
        // How it failed comes first: the subject may be cut.
        let how = failure.map(|how| format!(" {how}")).unwrap_or_default();
        let sign = format!("{sign}{how}");
        let mut rows = vec![self.headline(&sign, style, tense, page.width).row(page)];
        let card = self.card();
        if let Value::Object(members) = &mut value {
            let is_said = |name: &str, value: &Value| {
                REPEATED.contains(&name) && value.as_str() == Some(card.subject.as_str())
            };
            members.retain(|name, value| !is_said(name, value));
        }
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
        let room = page.width.saturating_sub(what.len());
        let line = self.headline("✗", TextStyle::RED, Tense::Present, room);
        line.and_text(what, TextStyle::DIM).row(page)
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

    /// Returns what the call does and what it is about, with paths shortened to fit into this many
    /// columns.
    fn headline(&self, sign: &str, style: TextStyle, tense: Tense, columns: usize) -> StyledText {
        let card = self.card();
        let deed = if tense == Tense::Past { &card.did } else { &card.deed };
        let line = StyledText::new(sign, style).and_text(" ", TextStyle::PLAIN);
        let line = line.and_text(deed, TextStyle::BOLD);
        if card.subject.is_empty() {
            return line;
        }
        let line = line.and_text(" · ", TextStyle::DIM);
        let room = columns.saturating_sub(line.columns());
        line.and_text(&shown_subject(&card, &self.folder, room), TextStyle::PLAIN)
    }
}

/// Returns what a call is about, with its path, if it ends with one, shortened to fit.
fn shown_subject<'a>(card: &'a CallCard, folder: &str, room: usize) -> Cow<'a, str> {
    let before = card.body.path().and_then(|path| card.subject.strip_suffix(path));
    let (Some(path), Some(before)) = (card.body.path(), before) else {
        return Cow::Borrowed(&card.subject);
    };
    let room = room.saturating_sub(column_width(before));
    let path = shortened_path(relative_path(path, folder), room);
    Cow::Owned(format!("{before}{path}"))
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
