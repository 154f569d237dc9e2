//! Viewers on the desk socket: they watch the ledger grow, and may press once they are paired.
//!
//! Each connection is one task with two halves: one reads requests, the other writes answers and
//! entries. Entries are read from the ledger one by one as the viewer reads them, so that a slow
//! viewer needs no memory and loses nothing.

mod connection;

mod errands;
mod export;
mod familiar;
mod figures;
mod inbox;
mod past_calls;
mod recorded;
mod reply;
mod requests;
mod seat;
pub(super) mod secrets;
mod session_list;
#[cfg(test)]
mod tests;
mod verified;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use callgate_link::sync::lock;
use callgate_store::{EntryFilter, LedgerEntry, Store, StoreError};
use callgate_wire::desk::{DeskMessage, DeskStatus, ViewerCount};
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::door::Door;
use super::letter::{Letter, LetterBox};
use super::lineage::process_of;
use super::pulse::DaemonPulse;
use crate::desk::{DeskInput, Unattended};
use crate::rule_desk::RuleDesk;
use crate::settings_desk::SettingsDesk;
use errands::ErrandLimits;
use familiar::FamiliarCalls;
use seat::ViewerSeat;

const MOST_VIEWERS: usize = 256;

#[derive(Debug)]
pub(super) struct Viewers {
    database: PathBuf,
    head: watch::Receiver<u64>,
    to_desk: LetterBox,
    pulse: Arc<DaemonPulse>,
    seats: Mutex<HashMap<u64, ViewerSeat>>,
    /// The ledger, shared by all viewers: opened when the first one needs it and closed after the
    /// last.
    store: Mutex<Option<Store>>,
    /// Held while a count of the viewers that may press is on its way to the desk, so that counts
    /// arrive in order.
    counting: tokio::sync::Mutex<()>,
    rule_desk: Option<Arc<dyn RuleDesk>>,
    settings_desk: Option<Arc<dyn SettingsDesk>>,
    unattended: Unattended,
    errand_limits: ErrandLimits,
    /// What was allowed before, as far as it was read for the viewers that are connected.
    familiar: Arc<Mutex<FamiliarCalls>>,
    next: AtomicU64,
}

impl Viewers {
    pub(super) fn new(
        database: &Path,
        head: watch::Receiver<u64>,
        to_desk: LetterBox,
        pulse: Arc<DaemonPulse>,
        rule_desk: Option<Arc<dyn RuleDesk>>,
        settings_desk: Option<Arc<dyn SettingsDesk>>,
        unattended: Unattended,
    ) -> Arc<Self> {
        Arc::new(Self {
            database: database.to_owned(),
            head,
            to_desk,
            pulse,
            seats: Mutex::default(),
            store: Mutex::default(),
            counting: tokio::sync::Mutex::default(),
            rule_desk,
            settings_desk,
            unattended,
            errand_limits: ErrandLimits::default(),
            familiar: Arc::default(),
            next: AtomicU64::new(1),
        })
    }

    /// Accepts viewers until the task is dropped, which disconnects them.
    pub(super) async fn accept_viewers(self: Arc<Self>, mut door: Door) {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = door.accept() => if let Ok(stream) = accepted {
                    self.take_in(&mut connections, stream);
                },
                // A set keeps the tasks that have ended until they are joined.
                Some(_) = connections.join_next() => {}
            }
        }
    }

    fn take_in(self: &Arc<Self>, connections: &mut JoinSet<()>, stream: UnixStream) {
        let viewer = self.next.fetch_add(1, Ordering::Relaxed);
        let (seat, hears, stays) = ViewerSeat::new(process_of(&stream));
        {
            let mut seats = self.seats();
            if seats.len() >= MOST_VIEWERS && !make_room(&mut seats) {
                let text = format!("{MOST_VIEWERS} viewers are connected already: close one");
                // A viewer that does not read it sees the connection end.
                stream.try_write(&DeskMessage::Error { id: None, text }.to_line()).ok();
                return;
            }
            seats.insert(viewer, seat);
        }
        connections.spawn(Arc::clone(self).serve(viewer, stream, hears, stays));
    }

    async fn remove_viewer(&self, viewer: u64) {
        let is_last = {
            let mut seats = self.seats();
            seats.remove(&viewer);
            seats.is_empty()
        };
        if is_last {
            *self.store() = None;
            // Not waited for, because all connections share this thread. If it is in use, a viewer
            // is just coming.
            if let Ok(mut familiar) = self.familiar.try_lock() {
                *familiar = FamiliarCalls::default();
            }
        }
        // A desk that has ended needs no news.
        self.to_desk.send(Letter::new(DeskInput::ViewerLeft(viewer))).await.ok();
        self.report_count().await;
    }

    /// Tells the desk how many viewers may press, and waits until it knows.
    async fn report_count(&self) {
        let _last = self.counting.lock().await;
        let count = count_viewers(&self.seats()).paired;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        // The desk knows it even if nothing could be recorded.
        self.to_desk.send_recorded(DeskInput::Viewers(count)).await;
    }

    /// Sends a viewer the reply to one of its requests. A viewer that does not read is
    /// disconnected: the desk does not wait for it.
    pub(super) fn send_reply(&self, viewer: u64, id: &str, done: bool, text: &str) {
        let mut seats = self.seats();
        let (Some(seat), Ok(number)) = (seats.get_mut(&viewer), id.parse()) else { return };
        if !seat.send_reply(number, done, text) {
            seats.remove(&viewer);
        }
    }

    pub(super) fn send_waiting(&self, viewer: u64, id: &str, text: &str, within: Duration) {
        let mut seats = self.seats();
        let (Some(seat), Ok(number)) = (seats.get_mut(&viewer), id.parse()) else { return };
        if !seat.send_waiting(number, text, within) {
            seats.remove(&viewer);
        }
    }

    /// Locks every connection that this token has unlocked, and says why.
    pub(super) fn lock_token(&self, hash: &str, text: &str) {
        self.seats().retain(|_, seat| seat.lock_token(hash, text));
    }

    fn status(&self) -> DeskStatus {
        let seats = self.seats();
        let relays = seats.values().filter_map(ViewerSeat::connected_relay).collect();
        self.pulse.status(*self.head.borrow(), count_viewers(&seats), relays)
    }

    /// Returns the first entry with this number or a higher one.
    fn first_entry_from(&self, from: u64) -> Result<Option<LedgerEntry>, StoreError> {
        let after = from.saturating_sub(1);
        self.read_ledger(|store| store.entries_after(&EntryFilter::default(), after, 1))
            .map(|mut it| it.pop())
    }

    /// Reads from the ledger. Writers never block readers, so this does not wait.
    fn read_ledger<T>(
        &self,
        read: impl Fn(&Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut store = self.store();
        if let Some(store) = store.as_ref() {
            return read(store);
        }
        read(store.insert(Store::open_read_only(&self.database)?))
    }

    fn seats(&self) -> MutexGuard<'_, HashMap<u64, ViewerSeat>> {
        lock(&self.seats)
    }

    fn store(&self) -> MutexGuard<'_, Option<Store>> {
        lock(&self.store)
    }
}

/// Counts the viewers. A browser has several connections, which its token has unlocked, and is one
/// viewer.
fn count_viewers(seats: &HashMap<u64, ViewerSeat>) -> ViewerCount {
    let tokens: HashSet<&str> = seats.values().filter_map(ViewerSeat::token_hash).collect();
    let locked = seats.values().filter(|seat| !seat.is_unlocked()).count();
    let paired = tokens.len() as u64;
    ViewerCount { connected: locked as u64 + paired, paired }
}

/// Disconnects the viewer that has been silent for longest. Returns false if none is silent.
fn make_room(seats: &mut HashMap<u64, ViewerSeat>) -> bool {
    // The numbers grow, so the lowest has been silent for longest.
    let silent = seats.iter().filter(|(_, seat)| seat.is_silent()).map(|(viewer, _)| *viewer).min();
    silent.is_some_and(|viewer| seats.remove(&viewer).is_some())
}
