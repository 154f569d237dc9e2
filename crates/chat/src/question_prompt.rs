//! The question whether a tool may run, and the keys that answer it. Pure.
//!
//! As at the desk, a key answers only what somebody can have seen: not in the first moments, and
//! not as a part of what is being typed or held down.

use std::time::Duration;

use callgate_approval::card::HIDDEN_COULD_RUN;
use callgate_mask::text::one_line;
use callgate_wire::approval::{Action, Press};
use callgate_wire::desk::{CardContent, InboxRow};
use callgate_wire::session::PermissionRequest;
use serde_json::{Map, Value};

use crate::key_decoder::KeyStroke;
use crate::styled_text::{ChatPage, StyledText, TextStyle, WrapAt};
use crate::tool_result::diff_rows;
use crate::typing_guard::TypingGuard;

/// A runtime cuts a diff that has more bytes.
const LONGEST_DIFF: usize = 64 * 1024;

/// A question that waits for an answer.
#[derive(Debug)]
pub(crate) struct QuestionPrompt {
    pub(crate) request: PermissionRequest,
    pub(crate) guard: TypingGuard,
    /// Whether all of it was printed above the rows that change.
    is_whole: bool,
    /// Whether the last frame had too little room for all of it.
    is_cut: bool,
    /// Whether it was answered, and the answer is on its way.
    pub(crate) is_answered: bool,
}

/// What a key means to a question.
#[derive(Debug)]
pub(crate) enum QuestionKey {
    Answer(Press),
    /// The user wants to say why not.
    Words,
    /// The user wants to change the arguments.
    Edit,
    /// The whole question is to be shown.
    Full,
    /// The key does nothing, for a reason that the user should know.
    Refused(&'static str),
    /// The key has no meaning.
    Nothing,
}

impl QuestionPrompt {
    pub(crate) fn new(request: PermissionRequest) -> Self {
        let guard = TypingGuard::default();
        // It counts as cut until it was drawn, because nobody can have seen anything of it.
        Self { request, guard, is_whole: false, is_cut: true, is_answered: false }
    }

    /// Returns what a key means.
    pub(crate) fn handle_key(&mut self, now: Duration, key: KeyStroke) -> QuestionKey {
        if self.is_answered || self.guard.is_early(now) {
            return QuestionKey::Nothing;
        }
        let KeyStroke::Char(key) = key else { return QuestionKey::Nothing };
        let can_allow_always = self.request.can_allow_always == Some(true);
        match key {
            // Only what lets a call run has to be read in full. To deny is always possible.
            'a' | 'w' | 'e' if self.lacks_input() => QuestionKey::Refused(
                "It is too long to be shown here: allow it at the desk, or deny it.",
            ),
            // As it was drawn: a hint or other questions may have left less room than there is now.
            'a' | 'w' | 'e' if !self.is_whole && self.is_cut => {
                QuestionKey::Refused("Not all of it is shown: press f first.")
            }
            'a' => QuestionKey::Answer(Press::Button(Action::Allow)),
            'w' if can_allow_always => QuestionKey::Answer(Press::Button(Action::Always(0))),
            'w' => QuestionKey::Refused("\"Always\" is not available for this call."),
            'd' => QuestionKey::Answer(Press::Button(Action::Deny)),
            'r' => QuestionKey::Words,
            'e' => QuestionKey::Edit,
            'f' => {
                self.is_whole = true;
                QuestionKey::Full
            }
            _ => QuestionKey::Nothing,
        }
    }

    /// Draws the question in at most `most` rows.
    pub(crate) fn rows(&mut self, page: &ChatPage, most: usize, waiting: usize) -> Vec<String> {
        let mut rows = self.head(page);
        let keys = self.keys(page, waiting);
        let body = self.content(page);
        self.is_cut = rows.len() + body.len() + keys.len() > most;
        let room = most.saturating_sub(rows.len() + keys.len()).max(1);
        if body.len() > room {
            rows.extend(body.into_iter().take(room - 1));
            rows.push(StyledText::new("  … f shows all of it", TextStyle::YELLOW).row(page));
        } else {
            rows.extend(body);
        }
        rows.extend(keys);
        rows
    }

    /// Draws all of it, for the scrollback.
    pub(crate) fn full_rows(&self, page: &ChatPage) -> Vec<String> {
        let mut rows = self.head(page);
        rows.extend(self.content(page));
        rows
    }

    /// Draws all of it with its keys, for a terminal on which it stays.
    pub(crate) fn printed_rows(&mut self, page: &ChatPage, waiting: usize) -> Vec<String> {
        self.is_whole = true;
        let mut rows = self.full_rows(page);
        rows.extend(self.keys(page, waiting));
        rows
    }

    fn head(&self, page: &ChatPage) -> Vec<String> {
        let row = self.request.card.as_ref().map(|card| &card.row);
        // A name alone says little about what the tool does.
        let is_name = |row: &&InboxRow| row.summary == row.tool;
        let title = row.filter(is_name).map_or(&self.request.title, |row| &row.deed);
        let title = StyledText::new(title, TextStyle::BOLD);
        let sign = StyledText::new("? ", TextStyle::YELLOW | TextStyle::BOLD);
        let blank = StyledText::new("  ", TextStyle::PLAIN);
        let mut rows = title.hanging_rows(page, WrapAt::Words, &sign, &blank);
        if let Some(reason) = &self.request.reason {
            let reason = StyledText::new(reason, TextStyle::DIM);
            rows.extend(reason.hanging_rows(page, WrapAt::Words, &blank, &blank));
        }
        if let Some(demand) = row.and_then(InboxRow::demand_text) {
            let demand = StyledText::new(&format!("{demand}: at the desk"), TextStyle::BOLD);
            rows.extend(demand.hanging_rows(page, WrapAt::Words, &blank, &blank));
        }
        if self.request.card.as_ref().is_some_and(|card| card.hides_what_runs) {
            let warning = StyledText::new(HIDDEN_COULD_RUN, TextStyle::BOLD);
            rows.extend(warning.hanging_rows(page, WrapAt::Words, &blank, &blank));
        }
        rows
    }

    /// Returns true if there are only words in place of the arguments.
    fn lacks_input(&self) -> bool {
        let input: Map<String, Value> =
            serde_json::from_str(self.request.input.get()).unwrap_or_default();
        self.request.card.is_none() && input.len() == 1 && input.contains_key("error")
    }

    /// Draws what has to be seen before the call is allowed: the call, and what `always` would
    /// allow.
    fn content(&self, page: &ChatPage) -> Vec<String> {
        let mut rows = self.body(page);
        let offer = self.request.card.as_ref().and_then(|card| card.offers.first());
        if let Some(offer) = offer.filter(|_| self.request.can_allow_always == Some(true)) {
            let means = format!("always: {} ({})", offer.meaning, offer.lasts);
            let blank = StyledText::new("  ", TextStyle::PLAIN);
            let means = StyledText::new(&one_line(&means), TextStyle::DIM);
            rows.extend(means.hanging_rows(page, WrapAt::Words, &blank, &blank));
        }
        rows
    }

    fn body(&self, page: &ChatPage) -> Vec<String> {
        // A diff that was cut shows only a part of what would be allowed.
        let diff = self.request.diff.as_ref().filter(|diff| diff.len() <= LONGEST_DIFF);
        if let Some(diff) = diff {
            // Not the largest number: one row beyond the limit is drawn to see whether there is
            // more.
            return diff_rows(diff, usize::MAX - 1, page);
        }
        let body = self.request.card.as_ref().map(|card| &card.body);
        if let Some(body @ (CardContent::Edit { .. } | CardContent::Patch { .. })) = body {
            return diff_rows(&body.text(), usize::MAX - 1, page);
        }
        let blank = StyledText::new("  ", TextStyle::PLAIN);
        let text = body.map_or_else(|| self.argument_lines(), CardContent::text);
        let lines = text.lines().map(|line| StyledText::new(line, TextStyle::PLAIN));
        lines.flat_map(|line| line.hanging_rows(page, WrapAt::Columns, &blank, &blank)).collect()
    }

    /// Returns the arguments of the call, one on each line.
    pub(crate) fn argument_lines(&self) -> String {
        let input = self.request.input.get();
        let pretty = serde_json::from_str(input).map(|value: Value| format!("{value:#}"));
        pretty.unwrap_or_else(|_| input.to_owned())
    }

    fn keys(&self, page: &ChatPage, waiting: usize) -> Vec<String> {
        if self.is_answered {
            return vec![StyledText::new("  answered …", TextStyle::DIM).row(page)];
        }
        let mut line = StyledText::default();
        let mut key = |key: &str, meaning: &str| {
            line.push(key, TextStyle::BOLD);
            // No line is broken between a key and what it means.
            line.push(&format!("\u{a0}{meaning}  "), TextStyle::PLAIN);
        };
        key("a", "allow");
        if self.request.can_allow_always == Some(true) {
            key("w", "always");
        }
        key("d", "deny");
        key("r", "deny\u{a0}with\u{a0}words");
        key("e", "edit");
        if waiting > 0 {
            line.push(&format!("({waiting} more)"), TextStyle::DIM);
        }
        let blank = StyledText::new("  ", TextStyle::PLAIN);
        line.hanging_rows(page, WrapAt::Words, &blank, &blank)
    }
}

/// Returns how many rows a question may have on this page. A blank row is above it, the status line
/// below it, and one row stays free, because what has scrolled away could not be drawn over.
pub(crate) fn most_rows(page: &ChatPage) -> usize {
    page.height.saturating_sub(3)
}

#[cfg(test)]
mod tests;
