//! A connected viewer as everybody else sees it: what it may do, what it waits for, and the way
//! to its ear.

use std::collections::HashMap;
use std::time::Duration;

use callgate_wire::desk::{Answer, Message, Secret};
use tokio::sync::{mpsc, oneshot};

use crate::channel::{Place, Who};
use crate::desk::CODE_LIFETIME;

/// How many requests one viewer may have with the desk at once.
const MOST_PENDING: usize = 256;
/// How many of the desk's answers may wait for a viewer that does not read.
const MOST_UNHEARD: usize = 256;

/// What a viewer is to hear from the desk.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) message: Option<Message>,
    /// Whether it may press now, or may not any more, which the desk has to hear first.
    pub(super) changes_standing: bool,
}

/// Under which token a viewer may press, and who it is.
#[derive(Debug, Clone)]
pub(super) struct Unlocked {
    pub(super) hash: String,
    pub(super) name: String,
}

/// What follows when the desk has done what a viewer wants.
#[derive(Debug)]
pub(super) enum Then {
    /// It is told.
    Tell,
    /// It may press.
    Unlock(Unlocked),
    /// It gets its token and may press.
    Pair(Secret, Unlocked),
    /// It gets this code.
    Code(Secret),
}

/// A connected viewer.
#[derive(Debug)]
pub(super) struct Seat {
    told: mpsc::Sender<Told>,
    /// Which process it is, where the system tells.
    process: Option<u32>,
    unlocked: Option<Unlocked>,
    /// Whether it has ever said anything.
    has_spoken: bool,
    /// The requests that are with the desk, by the number that the desk knows them by: the
    /// viewer's own ids may repeat, and the answer to one must never free the token of another.
    pending: HashMap<u64, (String, Then)>,
    next: u64,
    /// The connection ends when this is dropped.
    _stay: oneshot::Sender<()>,
}

impl Seat {
    /// A seat, what its viewer is to hear, and what ends when it is taken away.
    pub(super) fn new(process: Option<u32>) -> (Self, mpsc::Receiver<Told>, oneshot::Receiver<()>) {
        let (told, hears) = mpsc::channel(MOST_UNHEARD);
        let (stay, stays) = oneshot::channel();
        let pending = HashMap::new();
        let seat = Self {
            told,
            process,
            unlocked: None,
            has_spoken: false,
            pending,
            next: 0,
            _stay: stay,
        };
        (seat, hears, stays)
    }

    pub(super) fn is_unlocked(&self) -> bool {
        self.unlocked.is_some()
    }

    /// Returns true if the viewer has said nothing since it came.
    pub(super) fn is_silent(&self) -> bool {
        !self.has_spoken
    }

    /// Notes that the viewer has said something.
    pub(super) fn speaks(&mut self) {
        self.has_spoken = true;
    }

    /// Who presses here.
    pub(super) fn who(&self, viewer: u64) -> Who {
        let place = Place::Viewer { viewer, paired: self.is_unlocked(), process: self.process };
        let name = self.unlocked.as_ref().map_or("a viewer", |unlocked| &unlocked.name);
        Who { place, name: name.to_owned() }
    }

    /// Notes a request that goes to the desk; nothing when there are too many.
    pub(super) fn expect(&mut self, id: &str, then: Then) -> Option<u64> {
        if self.pending.len() >= MOST_PENDING {
            return None;
        }
        self.next += 1;
        self.pending.insert(self.next, (id.to_owned(), then));
        Some(self.next)
    }

    /// A request that the desk will not answer; whether it has not.
    pub(super) fn forget(&mut self, number: u64) -> bool {
        self.pending.remove(&number).is_some()
    }

    /// The desk has done something about a request, or has not. `false` when the viewer does not
    /// listen.
    pub(super) fn tell(&mut self, number: u64, done: bool, text: &str) -> bool {
        let Some((id, then)) = self.pending.remove(&number) else { return true };
        let told = Answer::Told { done, text: text.to_owned() };
        let (answer, unlocked) = match then {
            Then::Unlock(unlocked) if done => (told, Some(unlocked)),
            Then::Pair(token, unlocked) if done => (Answer::Paired { token }, Some(unlocked)),
            Then::Code(code) if done => {
                (Answer::Code { code, seconds: CODE_LIFETIME.as_secs() }, None)
            }
            _ => (told, None),
        };
        let changes_standing = unlocked.is_some();
        self.unlocked = unlocked.or(self.unlocked.take());
        let message = Some(Message::answer(id, answer));
        self.told.try_send(Told { message, changes_standing }).is_ok()
    }

    /// A request waits for a person. `false` when the viewer does not listen.
    pub(super) fn waiting(&self, number: u64, text: &str, within: Duration) -> bool {
        let Some((id, _)) = self.pending.get(&number) else { return true };
        let (id, text, seconds) = (id.clone(), text.to_owned(), within.as_secs());
        let message = Some(Message::Waiting { id, text, seconds });
        self.told.try_send(Told { message, changes_standing: false }).is_ok()
    }

    /// The token is not good any more, for this reason. `false` when the viewer does not listen.
    pub(super) fn lock(&mut self, hash: &str, text: &str) -> bool {
        if self.unlocked.as_ref().is_none_or(|unlocked| unlocked.hash != hash) {
            return true;
        }
        self.unlocked = None;
        let message = Some(Message::Locked { text: text.to_owned() });
        self.told.try_send(Told { message, changes_standing: true }).is_ok()
    }
}
