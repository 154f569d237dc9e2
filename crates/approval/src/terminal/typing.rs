//! What somebody types at the terminal: words for the agent, the number of an answer, or the word
//! that allows a call.

use std::time::Duration;

use callgate_wire::approval::{Action, Press, RequestId};

use super::{Terminal, TerminalKey, page};
use crate::channel::ChannelReport;

/// The longest reply that can be typed, in bytes.
const LONGEST_LINE: usize = 4_096;

#[derive(Debug)]
pub(super) struct TypedReply {
    pub(super) question: RequestId,
    words: String,
    meaning: TypedMeaning,
    /// Whether the question is closed. Then everything typed is ignored: whoever types looks at the
    /// words and not at the next question.
    pub(super) is_over: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypedMeaning {
    /// Words for the agent.
    Words,
    /// The number of an answer to one of the agent's questions.
    Number {
        /// Which question.
        picker: usize,
    },
    /// The word that allows the call.
    Confirm,
}

impl Terminal {
    /// Takes a key of somebody who types.
    pub(super) fn handle_typed_key(
        &mut self,
        now: Duration,
        key: TerminalKey,
    ) -> (String, Option<ChannelReport>) {
        let Some(typing) = &mut self.typing else { return (String::new(), None) };
        match key {
            TerminalKey::Enter | TerminalKey::Escape if typing.is_over => {
                self.typing = None;
                ("\n".to_owned() + &self.render_next(now), None)
            }
            _ if typing.is_over => (String::new(), None),
            TerminalKey::Char(c) | TerminalKey::Pasted(c)
                if matches!(typing.meaning, TypedMeaning::Number { .. }) && !c.is_ascii_digit() =>
            {
                (String::new(), None)
            }
            // A pasted word does not prove that the question was read.
            TerminalKey::Pasted(_) if typing.meaning == TypedMeaning::Confirm => {
                (String::new(), None)
            }
            TerminalKey::Char(c) | TerminalKey::Pasted(c) if typing.words.len() < LONGEST_LINE => {
                typing.words.push(c);
                (c.to_string(), None)
            }
            TerminalKey::Char(_) | TerminalKey::Pasted(_) => (String::new(), None),
            TerminalKey::Backspace => {
                let erased = typing.words.pop().map(|_| "\u{8} \u{8}".to_owned());
                (erased.unwrap_or_default(), None)
            }
            TerminalKey::Escape => {
                self.typing = None;
                ("\n".to_owned() + &self.render_first(), None)
            }
            TerminalKey::Enter => self.handle_enter(),
        }
    }

    fn handle_enter(&mut self) -> (String, Option<ChannelReport>) {
        match self.typing.take() {
            Some(TypedReply {
                question, words, meaning: TypedMeaning::Number { picker }, ..
            }) => match self.chosen_action(&question, picker, &words) {
                Some(action) => {
                    let press = self.press_news(question, Press::Button(action), None);
                    ("\n".to_owned(), Some(press))
                }
                None => (format!("\nThere is no such answer.\n{}", self.render_first()), None),
            },
            Some(TypedReply { question, words, meaning, .. }) if !words.trim().is_empty() => {
                let (press, confirm) = match meaning {
                    TypedMeaning::Confirm => (Press::Button(Action::Allow), Some(words)),
                    _ => (Press::Words(words), None),
                };
                ("\n".to_owned(), Some(self.press_news(question, press, confirm)))
            }
            _ => ("\n".to_owned() + &self.render_first(), None),
        }
    }

    /// Returns the action for the answer of this number, counted from one.
    fn chosen_action(&self, id: &RequestId, picker: usize, number: &str) -> Option<Action> {
        let waiting = self.waiting.iter().find(|waiting| waiting.card.id == *id)?;
        let option = number.parse::<u8>().ok()?.checked_sub(1)?;
        let question = u8::try_from(picker).ok()?;
        let count = page::choice_count(&waiting.card, picker);
        (usize::from(option) < count).then_some(Action::Pick { question, option })
    }

    /// Begins a reply, and returns its prompt.
    pub(super) fn begin_typing(
        &mut self,
        question: RequestId,
        words: &str,
        meaning: TypedMeaning,
    ) -> String {
        let reply = TypedReply { question, words: words.to_owned(), meaning, is_over: false };
        let prompt = self.typing_prompt(&reply);
        self.typing = Some(reply);
        prompt
    }

    /// Returns what is asked of somebody who types, and what was typed so far.
    pub(super) fn typing_prompt(&self, reply: &TypedReply) -> String {
        let TypedReply { question, words, meaning, .. } = reply;
        let waiting = self.waiting.iter().find(|waiting| waiting.card.id == *question);
        let confirm = waiting.and_then(|waiting| waiting.card.confirm.as_ref());
        match (meaning, confirm) {
            (TypedMeaning::Confirm, Some(word)) => {
                format!("To allow it, type {} (Esc goes back): {words}", word.hint())
            }
            (TypedMeaning::Number { .. }, _) => {
                format!("The number of the answer (Enter sends, Esc goes back): {words}")
            }
            _ => {
                let takes = waiting.is_some_and(|waiting| waiting.card.takes_words);
                let what = if takes { "answer" } else { "words" };
                format!("Your {what} to the agent (Enter sends, Esc goes back): {words}")
            }
        }
    }
}
