//! Words that people write to the bot without replying to a message.

use std::collections::HashMap;

use callgate_wire::approval::{Press, RequestId};

use super::{Desk, DeskStep};
use crate::channel::{Person, PersonPlace, ReplyTo};

const HINT: &str = "No question waits for these words. To answer one in your own words, press \
                    Reply below it, or reply to its message.";

/// Who was asked to write words, and for which question: the last one, for each chat and user.
#[derive(Debug, Default)]
pub(super) struct ExpectedReplies(HashMap<(i64, i64), RequestId>);

impl ExpectedReplies {
    /// Notes that a person was asked to write words for a question.
    pub(super) fn expect_reply(&mut self, chat: i64, user: i64, question: RequestId) {
        self.0.insert((chat, user), question);
    }

    /// Forgets a question that is over, and returns the keys of what was kept about it.
    pub(super) fn forget_question(&mut self, question: &RequestId) -> Vec<String> {
        let of_it = self.0.extract_if(|_, id| id == question);
        of_it.map(|((chat, user), _)| reply_key(chat, user)).collect()
    }
}

/// Returns the key under which it is kept for which question a person was asked to write words.
pub(super) fn reply_key(chat: i64, user: i64) -> String {
    format!("reply/{chat}/{user}")
}

impl Desk {
    /// Takes words for the question for which their writer was asked last, or says what to do.
    /// Strangers are ignored.
    pub(super) fn handle_words(
        &mut self,
        step: &mut DeskStep,
        who: &Person,
        text: String,
        reply_to: &ReplyTo,
    ) {
        let PersonPlace::Telegram { chat, user, .. } = who.place else { return };
        if !self.authority.allows(who) {
            return;
        }
        match self.replies.0.get(&(chat, user)).cloned() {
            Some(question) => {
                self.handle_press(step, who, &question, Press::Words(text), None, reply_to);
            }
            None => step.reply(reply_to, false, HINT),
        }
    }
}
