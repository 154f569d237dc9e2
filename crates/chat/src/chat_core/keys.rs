//! What keys do in the chat.

use std::time::Duration;

use callgate_wire::approval::Press;
use callgate_wire::session::{PermissionAnswer, SessionCommand, UserMessage, capability};
use serde_json::value::RawValue;

use super::{ChatAction, ChatCore, Errand, INTERRUPTED, InputMode};
use crate::attached_files::{FileWord, common_beginning};
use crate::command_menu::MenuKey;
use crate::key_decoder::KeyStroke;
use crate::line_editor::LineEditor;
use crate::question_prompt::QuestionKey;
use crate::slash_command::TypedLine;

/// The time within which a second Ctrl-C quits.
const TWICE: Duration = Duration::from_secs(2);
/// The most completions that are shown.
const MOST_SHOWN: usize = 12;

impl ChatCore {
    pub fn handle_key(&mut self, now: Duration, key: KeyStroke) {
        self.hint.clear();
        match key {
            // These work in every mode, also while a question waits for its key.
            KeyStroke::Ctrl('c') => return self.handle_interrupt(now),
            KeyStroke::Ctrl('z') => return self.actions.push(ChatAction::Suspend),
            KeyStroke::Ctrl('o') => return self.show_in_full(),
            // Two Ctrl-C with another key between them are not meant to quit.
            _ => self.interrupted_at = None,
        }
        if key == KeyStroke::Escape && self.can_escape_interrupt() {
            self.cancel_turns();
            return;
        }
        match &self.mode {
            InputMode::Search { found } => {
                let found = *found;
                self.search_key(key, found);
            }
            InputMode::ConfirmDelete { id } => {
                let id = id.clone();
                self.confirm_delete(id, key == KeyStroke::Char('y'));
            }
            InputMode::Message if !self.questions.is_empty() => self.question_key(now, key),
            InputMode::Message if self.is_answering() => self.answer_key(now, key),
            _ => self.edit_key(now, key),
        }
    }

    /// Handles Ctrl-C: it leaves what is being typed, cancels answers, and the second one quits.
    fn handle_interrupt(&mut self, now: Duration) {
        let is_second = self.interrupted_at.is_some_and(|last| now < last + TWICE);
        if is_second {
            return self.actions.push(ChatAction::Quit(INTERRUPTED));
        }
        let is_cancelled = self.cancel_turns();
        if !is_cancelled && self.mode != InputMode::Message {
            return self.leave_mode();
        }
        if !is_cancelled && !self.editor.text().is_empty() {
            self.editor.take_text();
            return;
        }
        self.interrupted_at = Some(now);
        "Ctrl-C again quits.".clone_into(&mut self.hint);
    }

    /// Returns true if Escape has nothing to leave or close, and so interrupts the answer.
    fn can_escape_interrupt(&self) -> bool {
        let is_message = self.mode == InputMode::Message;
        is_message
            && (!self.questions.is_empty()
                || self.is_answering()
                || !self.menu.is_open(&self.editor))
    }

    /// Cancels all answers. Returns false if there are none.
    fn cancel_turns(&mut self) -> bool {
        let mut is_any = false;
        // An answer that is being cancelled does not count: the next Ctrl-C goes on to what is
        // typed.
        for turn in self.turns.iter_mut().filter(|turn| !turn.is_cancelled) {
            turn.is_cancelled = true;
            is_any = true;
            self.actions.push(ChatAction::Cancel(turn.number));
        }
        is_any
    }

    /// Shows the last result in full of which only a part was drawn.
    fn show_in_full(&mut self) {
        if !self.transcript.show_in_full(&self.page) {
            "Everything is already shown in full.".clone_into(&mut self.hint);
        }
    }

    fn question_key(&mut self, now: Duration, key: KeyStroke) {
        let Some((_, question)) = self.questions.front_mut() else { return };
        let id = question.request.question.clone();
        match question.handle_key(now, key) {
            QuestionKey::Answer(press) => self.answer_permission(id, press),
            QuestionKey::Words => self.enter_mode(InputMode::Words { question: id }, String::new()),
            QuestionKey::Edit => {
                let input = question.argument_lines();
                self.enter_mode(InputMode::Arguments { question: id }, input);
            }
            QuestionKey::Full => {
                let rows = question.full_rows(&self.page);
                // More of it is shown now.
                question.guard.shown_anew();
                self.transcript.add_rows(rows);
            }
            QuestionKey::Refused(why) => why.clone_into(&mut self.hint),
            QuestionKey::Nothing => {}
        }
    }

    fn answer_permission(&mut self, question: String, press: Press) {
        let asked = self.questions.iter_mut().find(|(_, open)| open.request.question == question);
        if let Some((_, asked)) = asked {
            // Until the runtime has said what became of the answer, no key gives another.
            asked.is_answered = true;
        }
        let answer = PermissionAnswer { question: question.clone(), press };
        let command = SessionCommand::PermissionAnswer(answer);
        self.actions.push(ChatAction::Errand(Errand::Answer { question }, command));
    }

    /// Handles a key of the search: it changes the words, goes on to an older entry, takes what was
    /// found into the input, or leaves.
    fn search_key(&mut self, key: KeyStroke, found: Option<usize>) {
        let before = match key {
            KeyStroke::Enter | KeyStroke::Tab => {
                let entry = found.and_then(|found| self.history.entry(found)).map(str::to_owned);
                self.leave_mode();
                if let Some(entry) = entry {
                    self.editor = LineEditor::with_text(entry);
                    self.menu.close();
                }
                return;
            }
            KeyStroke::Escape | KeyStroke::Ctrl('g') => return self.leave_mode(),
            KeyStroke::Ctrl('r') => match found {
                Some(found) => Some(found),
                None => return,
            },
            key => {
                self.editor.handle_key(key);
                None
            }
        };
        let older = self.history.find(self.editor.text(), before);
        if older.is_none() && before.is_some() {
            "Nothing older contains that.".clone_into(&mut self.hint);
        } else {
            self.mode = InputMode::Search { found: older };
        }
    }

    fn edit_key(&mut self, now: Duration, key: KeyStroke) {
        if self.mode == InputMode::Message {
            // The menu first: while it is open, the arrows move in it and not in the text.
            match self.menu.handle_key(key, &self.editor) {
                MenuKey::Taken => return,
                MenuKey::Chosen(name) => {
                    return self.editor = LineEditor::with_text(format!("/{name}"));
                }
                MenuKey::Other => {}
            }
        }
        self.menu.note_typing();
        match key {
            KeyStroke::Enter => self.handle_enter(now),
            KeyStroke::Ctrl('r') if self.mode == InputMode::Message => {
                self.enter_mode(InputMode::Search { found: None }, String::new());
            }
            KeyStroke::Escape if self.mode != InputMode::Message => self.leave_mode(),
            KeyStroke::Tab => self.complete_file(),
            KeyStroke::Ctrl('d') if self.editor.text().is_empty() => {
                self.actions.push(ChatAction::Quit(0));
            }
            // Before the history: the arrows leave a text of several lines only at its ends.
            key if self.editor.handle_key(key) => {}
            KeyStroke::Up | KeyStroke::Ctrl('p') => {
                self.menu.close();
                if let Some(entry) = self.history.older(self.editor.text()) {
                    self.editor = LineEditor::with_text(entry);
                }
            }
            KeyStroke::Down | KeyStroke::Ctrl('n') => {
                self.menu.close();
                if let Some(entry) = self.history.newer() {
                    self.editor = LineEditor::with_text(entry);
                }
            }
            _ => {}
        }
    }

    /// Sends or carries out what the editor has.
    pub(super) fn handle_enter(&mut self, now: Duration) {
        let cursor = self.editor.cursor();
        // In arguments, a backslash is part of the JSON.
        if self.editor.text()[..cursor].ends_with('\\') && !self.is_typing_arguments() {
            return self.editor.replace_from(cursor - 1, "\n");
        }
        let text = self.editor.text().trim().to_owned();
        if text.is_empty() {
            return;
        }
        match self.mode.clone() {
            InputMode::Message => {
                self.editor.take_text();
                self.remember_input(&text);
                // Behind the lines that wait already, so that all are carried out as they were
                // typed.
                self.typed_meanwhile.push_back(text);
                self.run_lines(now);
            }
            InputMode::EditLast => {
                self.leave_mode();
                self.remember_input(&text);
                let message = self.build_message(&text);
                self.start_turn(now, SessionCommand::EditLast(message));
            }
            InputMode::Words { question } => {
                self.leave_mode();
                self.answer_permission(question, Press::Words(text));
            }
            InputMode::Arguments { question } => match parse_arguments(text) {
                Ok(input) => {
                    self.leave_mode();
                    self.answer_permission(question, Press::Input(input));
                }
                // The mode stays, so that what was typed can be mended.
                Err(why) => self.hint = why,
            },
            InputMode::ConfirmDelete { .. } | InputMode::Search { .. } => {}
        }
    }

    fn is_typing_arguments(&self) -> bool {
        matches!(self.mode, InputMode::Arguments { .. })
    }

    fn remember_input(&mut self, text: &str) {
        if self.history.add(text) {
            self.actions.push(ChatAction::Remember(text.to_owned()));
        }
    }

    /// Carries out the typed lines whose conversation is known.
    pub(super) fn run_lines(&mut self, now: Duration) {
        while self.changes == 0
            && let Some(line) = self.typed_meanwhile.pop_front()
        {
            self.handle_line(now, &line);
        }
    }

    fn handle_line(&mut self, now: Duration, line: &str) {
        match TypedLine::parse_line(line) {
            TypedLine::Message(text) => {
                let steer = !self.turns.is_empty() && self.has_capability(capability::STEER);
                let message = UserMessage { steer, ..self.build_message(text) };
                self.start_turn(now, SessionCommand::UserMessage(message));
            }
            TypedLine::Command(command, rest) => self.run_slash_command(now, command, rest),
            TypedLine::Unknown(name) => {
                let text = format!("There is no command /{name}: /help lists them.");
                self.transcript.draw_error(&text, &self.page);
            }
        }
    }

    /// Completes the file before the cursor, as far as that is clear, and shows the possibilities
    /// where it is not.
    fn complete_file(&mut self) {
        let (text, cursor) = (self.editor.text(), self.editor.cursor());
        let Some(word) = FileWord::before_cursor(text, cursor) else { return };
        let (start, words) = (word.start, word.completions(&self.folders));
        let common = common_beginning(&words);
        match words.as_slice() {
            [] => "No file here begins like that.".clone_into(&mut self.hint),
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
fn parse_arguments(text: String) -> Result<Box<RawValue>, String> {
    // The arguments stay the text that was typed: read into values, large numbers would change.
    let is_object = text.starts_with('{');
    let input =
        RawValue::from_string(text).map_err(|error| format!("This is not JSON: {error}."))?;
    if is_object { Ok(input) } else { Err("The arguments have to be a JSON object.".to_owned()) }
}
