//! What the courier knows of one question: its newest look, and which copies show it.

use std::sync::Arc;

use tokio::sync::watch;

use super::look::Look;

/// One question.
#[derive(Debug)]
pub(super) struct Question {
    look: watch::Sender<Arc<Look>>,
    /// How many copies are on their way.
    pub(super) sending: usize,
    copies: Vec<Shown>,
}

/// A copy in a chat.
#[derive(Debug)]
struct Shown {
    chat: i64,
    message: i64,
    /// The look that it has.
    version: u64,
    /// Whether an edit is on its way.
    busy: bool,
}

impl Question {
    pub(super) fn new(look: Look) -> Self {
        Self { look: watch::Sender::new(Arc::new(look)), sending: 0, copies: Vec::new() }
    }

    /// For whoever sends or edits a copy: always the newest look.
    pub(super) fn newest(&self) -> watch::Receiver<Arc<Look>> {
        self.look.subscribe()
    }

    /// Whether it was over, as far as was known.
    pub(super) fn is_closed(&self) -> bool {
        self.look.borrow().last
    }

    /// From now on the copies look like this.
    pub(super) fn change(&mut self, look: Look) {
        let version = self.look.borrow().version + 1;
        self.look.send_replace(Arc::new(Look { version, ..look }));
    }

    /// There is a copy, which has the look of this number; a copy whose look is not known is
    /// taken to have the first.
    pub(super) fn add(&mut self, chat: i64, message: i64, version: u64) {
        if !self.copies.iter().any(|copy| (copy.chat, copy.message) == (chat, message)) {
            self.copies.push(Shown { chat, message, version, busy: false });
        }
    }

    /// An edit has ended: the copy has this look, or none that can be changed.
    pub(super) fn edited(&mut self, chat: i64, message: i64, version: Option<u64>) {
        match version {
            None => self.copies.retain(|copy| (copy.chat, copy.message) != (chat, message)),
            Some(version) => {
                let all = self.copies.iter_mut();
                all.filter(|copy| (copy.chat, copy.message) == (chat, message)).for_each(|copy| {
                    copy.busy = false;
                    copy.version = version;
                });
            }
        }
    }

    /// The copies that have an old look and on which nobody works; somebody does from now on.
    pub(super) fn take_old(&mut self) -> Vec<(i64, i64)> {
        let newest = self.look.borrow().version;
        let old = self.copies.iter_mut().filter(|copy| copy.version < newest && !copy.busy);
        old.map(|copy| {
            copy.busy = true;
            (copy.chat, copy.message)
        })
        .collect()
    }

    /// Whether nothing is left to do for it.
    pub(super) fn is_over(&self) -> bool {
        let look = self.look.borrow();
        let is_done = |copy: &Shown| !copy.busy && copy.version >= look.version;
        look.last && self.sending == 0 && self.copies.iter().all(is_done)
    }
}
