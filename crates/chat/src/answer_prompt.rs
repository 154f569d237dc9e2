//! A question of the model or of a tool server, and what is typed to answer it. Pure.
//!
//! The fields are asked one after the other. A choice is made by its number, its title, or the
//! arrow keys; where the question permits it, other words are an answer, too.

use std::time::Duration;

use callgate_wire::session::{
    AgentQuestion, AnswerOutcome, FieldKind, QuestionAnswer, QuestionField,
};
use serde_json::{Map, Value};

use crate::key_decoder::KeyStroke;
use crate::line_editor::LineEditor;
use crate::styled_text::{ChatPage, StyledText, TextStyle, WrapAt};
use crate::typing_guard::TypingGuard;

/// The word that declines a question.
const DECLINE: &str = "decline";
/// The prefix of the typed answer.
const PROMPT: &str = "answer› ";

/// A question that waits for an answer.
#[derive(Debug)]
pub(crate) struct AnswerPrompt {
    pub(crate) asked: AgentQuestion,
    pub(crate) guard: TypingGuard,
    /// Whether it was answered, and the answer is on its way.
    pub(crate) is_answered: bool,
    /// The values of the fields before the current one.
    values: Map<String, Value>,
    /// The number of the current field.
    at: usize,
    editor: LineEditor,
    /// The choice that the arrow keys have marked.
    marked: Option<usize>,
}

/// What a key or a line means to a question.
#[derive(Debug, PartialEq)]
pub(crate) enum AnswerKey {
    /// The answer is complete.
    Send(QuestionAnswer),
    /// It is no answer, for a reason that the user should know.
    Refused(String),
    /// There is nothing to do but to draw it again.
    Nothing,
}

impl AnswerPrompt {
    pub(crate) fn new(asked: AgentQuestion) -> Self {
        Self {
            asked,
            guard: TypingGuard::default(),
            is_answered: false,
            values: Map::new(),
            at: 0,
            editor: LineEditor::default(),
            marked: None,
        }
    }

    /// Returns what identifies what is asked now.
    pub(crate) fn step_id(&self) -> String {
        format!("{} {}", self.asked.question, self.at)
    }

    fn field(&self) -> Option<&QuestionField> {
        self.asked.fields.get(self.at)
    }

    /// Starts over, because the answer was refused.
    pub(crate) fn handle_refusal(&mut self) {
        (self.is_answered, self.at, self.marked) = (false, 0, None);
        self.values.clear();
        self.guard.shown_anew();
    }

    /// Returns what a key means.
    pub(crate) fn handle_key(&mut self, now: Duration, key: KeyStroke) -> AnswerKey {
        if self.is_answered || self.guard.is_early(now) {
            return AnswerKey::Nothing;
        }
        match key {
            KeyStroke::Enter => {
                let typed = self.editor.take_text();
                // Typed words count, and not a mark that the arrow keys have left beside them.
                let marked = self.marked.take().filter(|_| typed.trim().is_empty());
                self.handle_line(&marked.map_or(typed, |at| (at + 1).to_string()))
            }
            KeyStroke::Up | KeyStroke::Down => {
                let count = self.field().map_or(0, |field| field.kind.options().len());
                if count > 0 {
                    let step = if key == KeyStroke::Up { count - 1 } else { 1 };
                    let from =
                        self.marked.unwrap_or(if key == KeyStroke::Up { 0 } else { count - 1 });
                    self.marked = Some((from + step) % count);
                }
                AnswerKey::Nothing
            }
            key => {
                if self.editor.handle_key(key) {
                    self.marked = None;
                }
                AnswerKey::Nothing
            }
        }
    }

    /// Returns what a typed line means.
    pub(crate) fn handle_line(&mut self, line: &str) -> AnswerKey {
        let line = line.trim();
        let question = self.asked.question.clone();
        let answer =
            |outcome, values| AnswerKey::Send(QuestionAnswer { question, outcome, values });
        // Before the field reads it: a field that takes any words would take this one, too.
        if line.eq_ignore_ascii_case(DECLINE) {
            return answer(AnswerOutcome::Declined, Map::new());
        }
        let Some(field) = self.field() else {
            let is_yes = ["y", "yes"].iter().any(|yes| line.eq_ignore_ascii_case(yes));
            if is_yes {
                return answer(AnswerOutcome::Answered, Map::new());
            }
            return AnswerKey::Refused(format!("Answer yes, or {DECLINE}."));
        };
        match field.read_words(line) {
            Err(why) => return AnswerKey::Refused(format!("{}: {why}.", field.title)),
            Ok(None) if field.required => {
                return AnswerKey::Refused(format!("{}: an answer is required.", field.title));
            }
            Ok(None) => {}
            Ok(Some(value)) => {
                let name = field.name.clone();
                self.values.insert(name, value);
            }
        }
        self.at += 1;
        if self.field().is_some() {
            return AnswerKey::Nothing;
        }
        answer(AnswerOutcome::Answered, std::mem::take(&mut self.values))
    }

    /// Draws the question, what is typed, and returns the position of the cursor in it.
    pub(crate) fn rows(&self, page: &ChatPage, most: usize) -> (Vec<String>, (usize, usize)) {
        let mut rows = self.question_rows(page);
        if self.is_answered {
            rows.push(StyledText::new("  answered …", TextStyle::DIM).row(page));
            let last = rows.len() - 1;
            return (rows, (last, 0));
        }
        let (typed, (row, column)) = self.editor.rows(page, PROMPT);
        let room = most.saturating_sub(typed.len()).max(1);
        // What was asked last is the nearest to the answer.
        rows.drain(..rows.len().saturating_sub(room));
        let cursor = (rows.len() + row, column);
        rows.extend(typed);
        (rows, cursor)
    }

    /// Draws the question without the input.
    pub(crate) fn question_rows(&self, page: &ChatPage) -> Vec<String> {
        let blank = StyledText::new("  ", TextStyle::PLAIN);
        let sign = StyledText::new("? ", TextStyle::YELLOW | TextStyle::BOLD);
        let mut rows = Vec::new();
        let mut add = |text: &str, style, first: &StyledText| {
            rows.extend(text.lines().flat_map(|line| {
                StyledText::new(line, style).hanging_rows(page, WrapAt::Words, first, &blank)
            }));
        };
        if let Some(server) = &self.asked.server {
            add(&format!("The MCP server {server} asks:"), TextStyle::DIM, &sign);
        }
        let first = if self.asked.server.is_some() { &blank } else { &sign };
        add(&self.asked.text, TextStyle::BOLD, first);
        if let Some(url) = &self.asked.url {
            add(&format!("It asks you to visit {url}"), TextStyle::PLAIN, &blank);
        }
        if let Some(field) = self.field() {
            let (at, count) = (self.at + 1, self.asked.fields.len());
            if field.title != self.asked.text {
                let number = if count > 1 { format!("{at}/{count} ") } else { String::new() };
                add(&format!("{number}{}", field.title), TextStyle::PLAIN, &blank);
            }
            if let Some(description) = &field.description {
                add(description, TextStyle::DIM, &blank);
            }
            for (at, option) in field.kind.options().iter().enumerate() {
                let mark = if self.marked == Some(at) { "›" } else { " " };
                let more = option.description.as_ref().map(|more| format!(": {more}"));
                let line = format!("{mark}{} {}{}", at + 1, option.title, more.unwrap_or_default());
                add(&line, TextStyle::PLAIN, &blank);
            }
        }
        add(&self.hint(), TextStyle::DIM, &blank);
        rows
    }

    fn hint(&self) -> String {
        let Some(field) = self.field() else { return format!("yes, or {DECLINE}") };
        let how = match &field.kind {
            FieldKind::Text { .. } => "your words",
            FieldKind::Number(_) => "a number",
            FieldKind::Integer(_) => "a whole number",
            FieldKind::Boolean { .. } => "yes or no",
            FieldKind::OneOf { free_text: true, .. } => "a number, or your own words",
            FieldKind::OneOf { .. } => "the number of a choice",
            FieldKind::SeveralOf { free_text: true, .. } => {
                "numbers with commas, or your own words"
            }
            FieldKind::SeveralOf { .. } => "numbers with commas",
        };
        let default = field.kind.default_value().map(|value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        });
        let empty = match default {
            Some(default) => format!(", Enter for {default}"),
            None if !field.required => ", Enter to leave it out".to_owned(),
            None => String::new(),
        };
        format!("{how}{empty}, or {DECLINE}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::styled_text::tests::page;
    use expect_test::expect;
    use serde_json::json;

    fn prompt() -> AnswerPrompt {
        let options = json!([{"value": "s", "title": "Small"}, {"value": "l", "title": "Large", "description": "more"}]);
        let asked = json!({
            "question": "q", "toolId": "t", "server": "shop", "text": "Your order",
            "fields": [
                {"name": "size", "title": "Size", "required": true, "type": "one_of", "options": options},
                {"name": "count", "title": "How many", "required": false, "type": "integer", "default": 1},
            ],
        });
        let mut prompt = AnswerPrompt::new(serde_json::from_value(asked).unwrap());
        prompt.guard.mark_printed(Duration::ZERO);
        prompt
    }

    fn keys(prompt: &mut AnswerPrompt, keys: &[KeyStroke]) -> AnswerKey {
        let press = |key: &KeyStroke| prompt.handle_key(Duration::from_secs(9), *key);
        keys.iter().map(press).last().unwrap()
    }

    fn sent(key: &AnswerKey) -> (AnswerOutcome, Value) {
        let AnswerKey::Send(answer) = key else { panic!("{key:?}") };
        (answer.outcome, Value::Object(answer.values.clone()))
    }

    #[test]
    fn it_is_drawn_with_its_choices() {
        let mut prompt = prompt();
        let drawn = |prompt: &AnswerPrompt| prompt.question_rows(&page(60)).join("\n");
        expect![[r"
            ? The MCP server shop asks:
              Your order
              1/2 Size
               1 Small
               2 Large: more
              the number of a choice, or decline"]]
        .assert_eq(&drawn(&prompt));
        assert_eq!(prompt.handle_line("2"), AnswerKey::Nothing);
        expect![[r"
            ? The MCP server shop asks:
              Your order
              2/2 How many
              a whole number, Enter for 1, or decline"]]
        .assert_eq(&drawn(&prompt));
    }

    #[test]
    fn numbers_titles_and_arrows_choose() {
        for first in ["2", "large", "l"] {
            let mut prompt = prompt();
            assert_eq!(prompt.handle_line(first), AnswerKey::Nothing);
            let answer = (AnswerOutcome::Answered, json!({"size": "l", "count": 3}));
            assert_eq!(sent(&prompt.handle_line("3")), answer);
        }
        let mut prompt = prompt();
        keys(&mut prompt, &[KeyStroke::Down, KeyStroke::Down, KeyStroke::Enter]);
        let answer = (AnswerOutcome::Answered, json!({"size": "l", "count": 1}));
        assert_eq!(sent(&keys(&mut prompt, &[KeyStroke::Enter])), answer);
    }

    #[test]
    fn what_does_not_fit_is_told_and_asked_again() {
        let mut prompt = prompt();
        let refused = prompt.handle_line("medium");
        assert_eq!(refused, AnswerKey::Refused("Size: this is not one of the choices.".to_owned()));
        assert_eq!(
            prompt.handle_line(""),
            AnswerKey::Refused("Size: an answer is required.".to_owned())
        );
        assert_eq!(sent(&prompt.handle_line("decline")).0, AnswerOutcome::Declined);
    }

    #[test]
    fn typing_that_began_before_answers_nothing() {
        let mut prompt = prompt();
        for early in [KeyStroke::Char('2'), KeyStroke::Enter] {
            assert_eq!(prompt.handle_key(Duration::from_millis(100), early), AnswerKey::Nothing);
        }
        assert_eq!((prompt.at, prompt.editor.text()), (0, ""));
    }
}
