//! A question to try: nothing runs, whatever the answer is, and only the ledger keeps it.

use callgate_wire::approval::RequestId;

use super::{Desk, DeskStep};
use crate::channel::{Person, ReplyTo};

const TEXT: &str = "This is a question to try. Nothing runs, whatever you answer. Allow it?";
const BECAUSE: &str = "You asked for a question. This is how those of your agents arrive.";
const LOCKED: &str = "Only a linked viewer may do that: pair with a code of `callgate pair`.";

impl Desk {
    /// Puts a harmless question to everybody who may answer.
    pub(super) fn rehearse(
        &mut self,
        step: &mut DeskStep,
        id: &RequestId,
        who: &Person,
        reply_to: &ReplyTo,
    ) {
        if !self.authority.allows(who) {
            return step.reply(reply_to, false, LOCKED);
        }
        if self.rehearsal.as_ref().is_some_and(|last| self.open.contains_key(last)) {
            return step.reply(reply_to, false, "A question to try is open already.");
        }
        self.rehearsal = Some(id.clone());
        self.ask_own(step, id, TEXT, BECAUSE, false);
        step.reply(reply_to, true, "The question is open.");
    }
}
