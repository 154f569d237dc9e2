//! A question to try: nothing runs, whatever the answer is, and only the ledger keeps it.

use callgate_wire::approval::RequestId;

use super::answer::tell;
use super::change::own_question;
use super::digest::CallDigest;
use super::question::Ruling;
use super::{AskerId, Desk, DeskStep};
use crate::channel::{Person, ReplyTo};

const TEXT: &str = "This is a question to try. Nothing runs, whatever you answer. Allow it?";
const BECAUSE: &str = "You asked for a question. This is how those of your agents arrive.";
const LOCKED: &str = "Only a linked viewer may do that: pair with a code of `callgate pair`.";

impl Desk {
    /// Puts a harmless question to everybody who may answer.
    pub(super) fn rehearse(
        &mut self,
        step: &mut DeskStep,
        id: RequestId,
        who: &Person,
        reply_to: &ReplyTo,
    ) {
        if !self.authority.allows(who) {
            return tell(step, Some(reply_to), false, LOCKED);
        }
        if self.rehearsal.as_ref().is_some_and(|last| self.open.contains_key(last)) {
            return tell(step, Some(reply_to), false, "A question to try is open already.");
        }
        let Some(request) = own_question(&id, TEXT) else {
            return tell(step, Some(reply_to), false, "This cannot be asked.");
        };
        self.rehearsal = Some(id);
        let digest = CallDigest::of(&self.settings.key, &request);
        let ruling = Ruling::Ask { because: Some(BECAUSE.to_owned()), is_guarded: false };
        let asker = self.own_asker();
        self.register(step, asker, request, digest, ruling, None);
        tell(step, Some(reply_to), true, "The question is open.");
    }

    /// Returns true if this is the question to try.
    pub(super) fn is_rehearsal(&self, id: &RequestId) -> bool {
        self.rehearsal.as_ref() == Some(id)
    }

    /// Returns an asker that has no connection. They are numbered from the other end.
    pub(super) fn own_asker(&mut self) -> AskerId {
        self.change_count += 1;
        AskerId(u64::MAX - self.change_count)
    }
}
