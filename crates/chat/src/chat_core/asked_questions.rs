//! Questions that are over, and those of the model and of tool servers.

use std::time::Duration;

use callgate_wire::session::SessionCommand;

use super::{ChatAction, ChatCore, Errand, InputMode};
use crate::answer_prompt::AnswerKey;
use crate::key_decoder::KeyStroke;

impl ChatCore {
    /// Returns true if keys go to a question of the model or of a tool server.
    pub(super) fn is_answering(&self) -> bool {
        self.mode == InputMode::Message && self.questions.is_empty() && !self.asked.is_empty()
    }

    pub(super) fn answer_key(&mut self, now: Duration, key: KeyStroke) {
        if let Some((_, asked)) = self.asked.front_mut() {
            let meaning = asked.handle_key(now, key);
            self.answer_meant(meaning);
        }
    }

    /// Handles a line that was typed as an answer.
    pub(super) fn answer_line(&mut self, line: &str) {
        if let Some((_, asked)) = self.asked.front_mut().filter(|(_, asked)| !asked.is_answered) {
            let meaning = asked.handle_line(line);
            self.answer_meant(meaning);
        }
    }

    fn answer_meant(&mut self, meaning: AnswerKey) {
        match meaning {
            AnswerKey::Send(answer) => {
                let question = answer.question.clone();
                if let Some((_, asked)) = self.asked.front_mut() {
                    asked.is_answered = true;
                }
                let command = SessionCommand::QuestionAnswer(answer);
                self.actions.push(ChatAction::Errand(Errand::Answer { question }, command));
            }
            AnswerKey::Refused(why) => self.hint = why,
            AnswerKey::Nothing => {}
        }
    }

    /// Asks again what was answered in a way that did not count.
    pub(super) fn answer_refused(&mut self, question: &str) {
        let asked = self.questions.iter_mut().find(|(_, open)| open.request.question == question);
        if let Some((_, asked)) = asked {
            asked.is_answered = false;
            // Keys that are being typed when the refusal arrives must not answer it again.
            asked.guard.shown_anew();
        }
        let asked = self.asked.iter_mut().find(|(_, open)| open.asked.question == question);
        if let Some((_, asked)) = asked {
            asked.handle_refusal();
        }
    }

    /// Removes all questions of a turn.
    pub(super) fn turn_resolved(&mut self, turn: u64) {
        self.asked.retain(|(of, _)| *of != turn);
        let over: Vec<String> = self
            .questions
            .iter()
            .filter(|(of, _)| *of == turn)
            .map(|(_, question)| question.request.question.clone())
            .collect();
        // One by one, because somebody may be typing a reason or arguments for one of them.
        for question in &over {
            self.remove_question(question);
        }
    }

    /// Removes a question that is settled.
    pub(super) fn remove_question(&mut self, question: &str) {
        self.asked.retain(|(_, open)| open.asked.question != question);
        self.questions.retain(|(_, open)| open.request.question != question);
        let is_typed = match &self.mode {
            InputMode::Words { question: typed } | InputMode::Arguments { question: typed } => {
                typed == question
            }
            _ => false,
        };
        if is_typed {
            self.leave_mode();
            "The question is over: what you typed was not sent.".clone_into(&mut self.hint);
        }
    }
}
