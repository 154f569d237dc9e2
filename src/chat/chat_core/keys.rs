//! What keys do in the chat.

use std::time::Duration;

use callgate_wire::approval::Press;
use callgate_wire::session::{PermissionAnswer, SessionCommand, UserMessage, capability};
use serde_json::value::RawValue;

use super::{ChatAction, ChatCore, Errand, INTERRUPTED, InputMode};
use crate::chat::attached_files::{FileWord, common_beginning};
use crate::chat::line_editor::LineEditor;
use crate::chat::question_prompt::QuestionKey;
use crate::chat::slash_command::{TypedLine, completions};
use crate::key_decoder::KeyStroke;

/// The time within which a second Ctrl-C quits.
const TWICE: Duration = Duration::from_secs(2);
/// The most completions that are shown.
const MOST_SHOWN: usize = 12;

impl ChatCore {
    /// Handles a key.
    pub(in crate::chat) fn key(&mut self, now: Duration, key: KeyStroke) {
        self.hint.clear();
        match key {
            KeyStroke::Ctrl('c') => return self.interrupt(now),
            KeyStroke::Ctrl('z') => return self.actions.push(ChatAction::Suspend),
            _ => self.interrupted_at = None,
        }
        match &self.mode {
            InputMode::ConfirmDelete { id } => {
                let id = id.clone();
                self.confirm_delete(id, key == KeyStroke::Char('y'));
            }
            InputMode::Message if !self.questions.is_empty() => self.question_key(now, key),
            _ => self.edit_key(now, key),
        }
    }

    /// Handles Ctrl-C: it leaves what is being typed, cancels answers, and the second one quits.
    fn interrupt(&mut self, now: Duration) {
        let is_second = self.interrupted_at.is_some_and(|last| now < last + TWICE);
        let is_working = self.turns.iter().any(|turn| !turn.is_cancelled);
        if is_second {
            return self.actions.push(ChatAction::Quit(INTERRUPTED));
        }
        if is_working {
            for turn in self.turns.iter_mut().filter(|turn| !turn.is_cancelled) {
                turn.is_cancelled = true;
                self.actions.push(ChatAction::Cancel(turn.number));
            }
        } else if self.mode != InputMode::Message {
            return self.leave_mode();
        } else if !self.editor.text().is_empty() {
            self.editor.take();
            return;
        }
        self.interrupted_at = Some(now);
        "Ctrl-C again quits.".clone_into(&mut self.hint);
    }

    fn question_key(&mut self, now: Duration, key: KeyStroke) {
        let Some((_, question)) = self.questions.front_mut() else { return };
        let id = question.request.question.clone();
        match question.key(now, key, &self.page) {
            QuestionKey::Answer(press) => self.answer(id, press),
            QuestionKey::Words => self.enter_mode(InputMode::Words { question: id }, String::new()),
            QuestionKey::Edit => {
                let input = question.input();
                self.enter_mode(InputMode::Arguments { question: id }, input);
            }
            QuestionKey::Full => {
                let rows = question.full_rows(&self.page);
                question.shown_anew();
                self.transcript.add(rows);
            }
            QuestionKey::Refused(why) => why.clone_into(&mut self.hint),
            QuestionKey::Nothing => {}
        }
    }

    fn answer(&mut self, question: String, press: Press) {
        let asked = self.questions.iter_mut().find(|(_, open)| open.request.question == question);
        if let Some((_, asked)) = asked {
            asked.is_answered = true;
        }
        let answer = PermissionAnswer { question: question.clone(), press };
        let command = SessionCommand::PermissionAnswer(answer);
        self.actions.push(ChatAction::Errand(Errand::Answer { question }, command));
    }

    fn edit_key(&mut self, now: Duration, key: KeyStroke) {
        match key {
            KeyStroke::Enter => self.enter(now),
            KeyStroke::Escape if self.mode != InputMode::Message => self.leave_mode(),
            KeyStroke::Tab => self.complete(),
            KeyStroke::Ctrl('d') if self.editor.text().is_empty() => {
                self.actions.push(ChatAction::Quit(0));
            }
            key if self.editor.key(key) => {}
            KeyStroke::Up | KeyStroke::Ctrl('p') => {
                if let Some(entry) = self.history.older(self.editor.text()) {
                    self.editor = LineEditor::with(entry);
                }
            }
            KeyStroke::Down | KeyStroke::Ctrl('n') => {
                if let Some(entry) = self.history.newer() {
                    self.editor = LineEditor::with(entry);
                }
            }
            _ => {}
        }
    }

    fn enter(&mut self, now: Duration) {
        let cursor = self.editor.cursor();
        if self.editor.text()[..cursor].ends_with('\\') && !self.is_typing_arguments() {
            return self.editor.replace_from(cursor - 1, "\n");
        }
        let text = self.editor.text().trim().to_owned();
        if text.is_empty() {
            return;
        }
        match self.mode.clone() {
            InputMode::Message => {
                self.editor.take();
                self.remember(&text);
                self.typed_meanwhile.push_back(text);
                self.run_lines(now);
            }
            InputMode::EditLast => {
                self.leave_mode();
                self.remember(&text);
                let message = self.message(&text);
                self.start_turn(now, SessionCommand::EditLast(message));
            }
            InputMode::Words { question } => {
                self.leave_mode();
                self.answer(question, Press::Words(text));
            }
            InputMode::Arguments { question } => match arguments(text) {
                Ok(input) => {
                    self.leave_mode();
                    self.answer(question, Press::Input(input));
                }
                Err(why) => self.hint = why,
            },
            InputMode::ConfirmDelete { .. } => {}
        }
    }

    fn is_typing_arguments(&self) -> bool {
        matches!(self.mode, InputMode::Arguments { .. })
    }

    fn remember(&mut self, text: &str) {
        if self.history.add(text) {
            self.actions.push(ChatAction::Remember(text.to_owned()));
        }
    }

    /// Carries out the typed lines whose conversation is known.
    pub(super) fn run_lines(&mut self, now: Duration) {
        while self.changes == 0
            && let Some(line) = self.typed_meanwhile.pop_front()
        {
            self.line(now, &line);
        }
    }

    fn line(&mut self, now: Duration, line: &str) {
        match TypedLine::read(line) {
            TypedLine::Message(text) => {
                let steer = !self.turns.is_empty() && self.offers(capability::STEER);
                let message = UserMessage { steer, ..self.message(text) };
                self.start_turn(now, SessionCommand::UserMessage(message));
            }
            TypedLine::Command(command, rest) => self.command(now, command, rest),
            TypedLine::Unknown(name) => {
                let text = format!("There is no command /{name}: /help lists them.");
                self.transcript.error(&text, &self.page);
            }
        }
    }

    /// Completes the file or the command before the cursor, as far as that is clear, and shows the
    /// possibilities where it is not.
    fn complete(&mut self) {
        let (text, cursor) = (self.editor.text(), self.editor.cursor());
        let (start, words) = match FileWord::before(text, cursor) {
            Some(word) => (word.start, word.completions(&self.folder)),
            None if text.starts_with('/') && !text[..cursor].contains(' ') => {
                (0, completions(&text[..cursor]))
            }
            None => return,
        };
        let common = common_beginning(&words);
        match words.as_slice() {
            [] => "Nothing here begins like that.".clone_into(&mut self.hint),
            [word] => {
                let is_open = word.ends_with('/');
                let end = if is_open { "" } else { " " };
                let word = format!("{word}{end}");
                self.editor.replace_from(start, &word);
            }
            _ if common.len() > cursor - start => {
                let common = common.to_owned();
                self.editor.replace_from(start, &common);
            }
            several => {
                let more = several.len().saturating_sub(MOST_SHOWN);
                let rest = if more > 0 { format!("  … {more} more") } else { String::new() };
                self.hint = several[..several.len() - more].join("  ") + &rest;
            }
        }
    }
}

/// Reads the arguments of a call as they were edited.
fn arguments(text: String) -> Result<Box<RawValue>, String> {
    let is_object = text.starts_with('{');
    let input =
        RawValue::from_string(text).map_err(|error| format!("This is not JSON: {error}."))?;
    if is_object { Ok(input) } else { Err("The arguments have to be a JSON object.".to_owned()) }
}
