//! Questions that a typed word allows.
//!
//! At the terminal and in a viewer the word comes with the allow. On a phone the Allow button asks
//! for it, and the next reply of the same person in the same chat is taken for the word: a wrong
//! one neither allows nor denies.

use callgate_wire::approval::{Action, Press, RequestId};

use super::care::word_key;
use super::output::PersonAct;
use super::pressed::ChatOrder;
use super::{Desk, DeskStep};
use crate::card::ConfirmWord;
use crate::channel::{PersonPlace, ReplyPurpose};

impl Desk {
    /// Returns a press together with the word that was typed for it. A reply that was asked for as
    /// the word is an allow with that word.
    pub(super) fn with_word(
        &mut self,
        step: &mut DeskStep,
        PersonAct { who, id, .. }: PersonAct<'_>,
        press: Press,
        confirm: Option<String>,
    ) -> (Press, Option<String>) {
        let PersonPlace::Telegram { chat, user, .. } = who.place else { return (press, confirm) };
        let key = (id.clone(), chat, user);
        match press {
            // It stays awaited, so that a wrong word can be corrected.
            Press::Words(word) if self.care.awaited.contains(&key) => {
                (Press::Button(Action::Allow), Some(word))
            }
            // From now on their words are meant for the agent.
            Press::Button(Action::Reply) if self.care.awaited.remove(&key) => {
                step.forget_value(word_key(id, chat, user));
                (press, confirm)
            }
            press => (press, confirm),
        }
    }

    /// Returns true if the typed word allows the question, or if it needs none.
    pub(super) fn has_word(&self, id: &RequestId, typed: Option<&str>) -> bool {
        let wanted = self.open.get(id).and_then(|open| open.card.confirm.as_ref());
        wanted.is_none_or(|word| typed.is_some_and(|typed| word.is_same_word(typed)))
    }

    /// Asks for the word, or says that the typed one is wrong.
    pub(super) fn ask_word(
        &mut self,
        step: &mut DeskStep,
        act: PersonAct<'_>,
        typed: Option<&str>,
    ) {
        let PersonAct { who, id, reply_to, .. } = act;
        let wanted = self.open.get(id).and_then(|open| open.card.confirm.as_ref());
        let Some(hint) = wanted.map(ConfirmWord::hint) else { return };
        if let (PersonPlace::Telegram { chat, user, .. }, None) = (who.place, typed) {
            self.care.awaited.insert((id.clone(), chat, user));
            step.keep_value(word_key(id, chat, user), String::new());
            return self.for_chat(step, act, ChatOrder::Words(ReplyPurpose::Confirm));
        }
        let text = match typed {
            Some(_) => format!("That is not {hint}. It was neither allowed nor denied: try again."),
            None => format!("A rule wants this confirmed: type {hint} to allow it."),
        };
        step.reply(reply_to, false, &text);
    }
}
