//! A connected viewer as the rest of the daemon sees it: what it may do, what it waits for, and how
//! to reach it.

use std::collections::HashMap;
use std::time::Duration;

use callgate_wire::desk::{ConnectedRelay, DeskAnswer, DeskMessage, HiddenText};
use callgate_wire::ledger::VIEWER_LINK;
use tokio::sync::{mpsc, oneshot};

use crate::channel::{Person, PersonPlace};
use crate::desk::{is_relay, is_team};

/// How many requests of one viewer may be with the desk at once.
const MOST_PENDING: usize = 256;
/// How many of the desk's answers may wait for a viewer that does not read.
const MOST_UNHEARD: usize = 256;

#[derive(Debug)]
pub(super) struct ViewerNotice {
    pub(super) message: Option<DeskMessage>,
    /// Whether this changes if the viewer may press. The desk has to know that first, or it could
    /// give up a question that this viewer is there to answer.
    pub(super) changes_standing: bool,
}

#[derive(Debug, Clone)]
pub(super) struct UnlockedToken {
    pub(super) hash: String,
    pub(super) name: String,
    /// Since when, in milliseconds since 1970.
    pub(super) since_ms: i64,
}

/// What follows when the desk agrees to a request.
#[derive(Debug)]
pub(super) enum RequestOutcome {
    /// The viewer gets the desk's reply.
    Tell,
    /// The viewer may press.
    Unlock(UnlockedToken),
    /// The viewer gets its token and may press.
    Pair(HiddenText, UnlockedToken),
    /// The viewer gets this code, which can be used for so long.
    Code(HiddenText, Duration),
}

#[derive(Debug)]
pub(super) struct ViewerSeat {
    told: mpsc::Sender<ViewerNotice>,
    /// Its process id, if the system knows it.
    process: Option<u32>,
    unlocked: Option<UnlockedToken>,
    /// Whether it has ever sent anything.
    has_spoken: bool,
    /// The requests that are with the desk, by the number under which the desk knows them: the
    /// viewer's own ids may repeat, and the answer to one request must never release the token of
    /// another.
    pending: HashMap<u64, (String, RequestOutcome)>,
    next: u64,
    /// The connection ends when this is dropped.
    _stay: oneshot::Sender<()>,
}

impl ViewerSeat {
    /// Makes a seat. Also returns the messages for its viewer, and a channel that ends when the
    /// seat is taken away.
    pub(super) fn new(
        process: Option<u32>,
    ) -> (Self, mpsc::Receiver<ViewerNotice>, oneshot::Receiver<()>) {
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

    pub(super) fn token_hash(&self) -> Option<&str> {
        self.unlocked.as_ref().map(|unlocked| unlocked.hash.as_str())
    }

    pub(super) fn connected_relay(&self) -> Option<ConnectedRelay> {
        let UnlockedToken { hash, name, since_ms } = self.unlocked.as_ref()?;
        is_relay(hash).then(|| ConnectedRelay {
            name: name.clone(),
            since_ms: *since_ms,
            is_team: is_team(hash),
        })
    }

    pub(super) fn is_silent(&self) -> bool {
        !self.has_spoken
    }

    /// Notes that the viewer has sent something.
    pub(super) fn note_activity(&mut self) {
        self.has_spoken = true;
    }

    pub(super) fn person_at(&self, viewer: u64) -> Person {
        let place =
            PersonPlace::Viewer { viewer, paired: self.is_unlocked(), process: self.process };
        let name = self.unlocked.as_ref().map_or("a viewer", |unlocked| &unlocked.name);
        let link = self.token_hash().map(|hash| format!("{VIEWER_LINK}{hash}"));
        Person { link, ..Person::new(place, name) }
    }

    /// Adds a request that goes to the desk. Returns its number, or `None` if there are too many.
    pub(super) fn add_request(&mut self, id: &str, then: RequestOutcome) -> Option<u64> {
        if self.pending.len() >= MOST_PENDING {
            return None;
        }
        self.next += 1;
        self.pending.insert(self.next, (id.to_owned(), then));
        Some(self.next)
    }

    /// Removes a request that the desk will not answer. Returns false if it has answered.
    pub(super) fn forget_request(&mut self, number: u64) -> bool {
        self.pending.remove(&number).is_some()
    }

    /// Passes on the desk's reply to a request. Returns false if the viewer does not read.
    pub(super) fn send_reply(&mut self, number: u64, done: bool, text: &str) -> bool {
        // A request that is not known any more is no reason to disconnect its viewer.
        let Some((id, then)) = self.pending.remove(&number) else { return true };
        let told = DeskAnswer::Told { done, text: text.to_owned() };
        let (answer, unlocked) = match then {
            RequestOutcome::Unlock(unlocked) if done => (told, Some(unlocked)),
            RequestOutcome::Pair(token, unlocked) if done => {
                (DeskAnswer::Paired { token }, Some(unlocked))
            }
            RequestOutcome::Code(code, lifetime) if done => {
                (DeskAnswer::Code { code, seconds: lifetime.as_secs() }, None)
            }
            _ => (told, None),
        };
        let changes_standing = unlocked.is_some();
        // A token that is refused takes nothing from the one that was accepted before.
        self.unlocked = unlocked.or(self.unlocked.take());
        let message = Some(DeskMessage::answer(id, answer));
        self.told.try_send(ViewerNotice { message, changes_standing }).is_ok()
    }

    /// Tells the viewer that a request waits for a person. Returns false if the viewer does not
    /// read.
    pub(super) fn send_waiting(&self, number: u64, text: &str, within: Duration) -> bool {
        let Some((id, _)) = self.pending.get(&number) else { return true };
        let (id, text, seconds) = (id.clone(), text.to_owned(), within.as_secs());
        let message = Some(DeskMessage::Waiting { id, text, seconds });
        self.told.try_send(ViewerNotice { message, changes_standing: false }).is_ok()
    }

    /// Revokes a token, for this reason. Returns false if the viewer does not read.
    pub(super) fn lock_token(&mut self, hash: &str, text: &str) -> bool {
        if self.unlocked.as_ref().is_none_or(|unlocked| unlocked.hash != hash) {
            return true;
        }
        self.unlocked = None;
        let message = Some(DeskMessage::Locked { text: text.to_owned() });
        self.told.try_send(ViewerNotice { message, changes_standing: true }).is_ok()
    }
}
