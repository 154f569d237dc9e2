//! The chat line by line, for a terminal that cannot be drawn on.

use std::time::Duration;

use super::{ChatCore, InputMode};
use crate::key_decoder::KeyStroke;
use crate::line_editor::LineEditor;
use crate::styled_text::{StyledText, TextStyle, WrapAt};

impl ChatCore {
    /// Makes the chat print lines: the terminal itself shows what is typed.
    pub fn print_lines(&mut self) {
        self.echoes = false;
        self.transcript.print_lines();
    }

    /// Handles a line that was typed. To a question it is the key that answers it.
    pub fn typed_line(&mut self, now: Duration, line: &str) {
        let line = line.trim_end_matches('\r');
        let is_key = matches!(self.mode, InputMode::ConfirmDelete { .. })
            || self.mode == InputMode::Message && !self.questions.is_empty();
        if is_key {
            let mut letters = line.trim().chars();
            return match (letters.next(), letters.next()) {
                (Some(letter), None) => self.handle_key(now, KeyStroke::Char(letter)),
                _ => "Answer with one of the letters.".clone_into(&mut self.hint),
            };
        }
        self.hint.clear();
        if self.is_answering() {
            return self.answer_line(line);
        }
        // A line before it may have ended with a backslash.
        let begun = self.editor.text();
        let begun = if begun.ends_with('\n') { begun } else { "" };
        self.editor = LineEditor::with_text(format!("{begun}{line}"));
        self.handle_enter(now);
    }

    /// Returns the lines that are new: what is final, a question that was not printed before, and
    /// the hint. `asked` is the question that was printed last.
    pub fn new_lines(&mut self, now: Duration, asked: &mut Option<String>) -> Vec<String> {
        let mut rows = self.next_frame(now).final_rows;
        let hint = std::mem::take(&mut self.hint);
        if !hint.is_empty() {
            rows.extend(StyledText::new(&hint, TextStyle::PLAIN).rows(&self.page, WrapAt::Words));
        }
        if self.is_answering()
            && let Some((_, open)) = self.asked.front().filter(|(_, open)| !open.is_answered)
        {
            if asked.as_ref() != Some(&open.step_id()) {
                rows.extend(open.question_rows(&self.page));
            }
            *asked = Some(open.step_id());
            return rows;
        }
        let waiting = self.questions.len().saturating_sub(1);
        let front = self.questions.front_mut();
        let is_new = front
            .as_ref()
            .is_some_and(|(_, front)| Some(&front.request.question) != asked.as_ref());
        *asked = front.as_ref().map(|(_, question)| question.request.question.clone());
        if let Some((_, question)) = front.filter(|_| is_new) {
            rows.extend(question.printed_rows(&self.page, waiting));
        }
        rows
    }

    /// Returns the prompt, if something can be typed.
    pub fn line_prompt(&self) -> Option<&'static str> {
        match &self.mode {
            InputMode::Message if let Some((_, question)) = self.questions.front() => {
                (!question.is_answered).then_some("answer> ")
            }
            InputMode::Message if let Some((_, open)) = self.asked.front() => {
                (!open.is_answered).then_some("answer> ")
            }
            // The first thing that is printed is who answers.
            InputMode::Message => {
                let is_idle = self.turns.is_empty() && self.runtime.is_empty();
                (is_idle && self.status.engine.is_some()).then_some("> ")
            }
            InputMode::EditLast => Some("edit> "),
            InputMode::Words { .. } => Some("why not> "),
            InputMode::Arguments { .. } => Some("arguments as JSON> "),
            InputMode::ConfirmDelete { .. } => Some("y/n> "),
            InputMode::Search { .. } => Some("search> "),
        }
    }
}
