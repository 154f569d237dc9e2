//! The members of the team as a running desk reads and changes them.

use std::sync::Arc;
use std::time::Duration;

use callgate_store::now_ms;
use callgate_wire::ledger::TeamRoster;
use tokio::sync::watch;

use crate::machines::ledger_copies::LedgerCopies;
use crate::team_database::{DatabaseState, TeamDatabase};
use crate::team_register::{MemberChange, change_in_database, change_in_ledger};

/// How long whoever has changed a member waits until this desk has taken it over.
const MIRRORED_WITHIN: Duration = Duration::from_secs(5);

/// The members of the team. They are read from the ledger of this desk; with a database they are
/// changed there, and the ledger follows.
#[derive(Clone)]
pub(crate) struct DeskRegister {
    copies: LedgerCopies,
    database: Option<TeamDatabase>,
    /// The number of the last change of the database that this desk has taken over; `None` before
    /// it has read all members.
    mirrored: Arc<watch::Sender<Option<u64>>>,
}

impl DeskRegister {
    pub(super) fn new(copies: LedgerCopies, database: Option<TeamDatabase>) -> Self {
        Self { copies, database, mirrored: Arc::new(watch::channel(None).0) }
    }

    /// Returns the time by which invitations end: all desks of a team have one clock.
    pub(super) fn now_ms(&self) -> i64 {
        self.database.as_ref().map_or_else(now_ms, TeamDatabase::now_ms)
    }

    pub(super) async fn read_roster(&self) -> Result<TeamRoster, String> {
        self.copies.run(|store| store.chained_links().map(|links| links.team)).await
    }

    /// Changes a member as `decide` says. Returns its name, or `None` if nothing was to be changed.
    /// This desk knows of the change when it returns.
    pub(super) async fn change_member(
        &self,
        decide: impl FnMut(&TeamRoster) -> Option<MemberChange> + Send + 'static,
    ) -> Result<Option<String>, String> {
        let Some(database) = &self.database else {
            return self.copies.run(move |store| change_in_ledger(store, decide)).await;
        };
        let changed = database.run(move |store| change_in_database(store, decide)).await;
        let Some(document) = changed.map_err(|error| error.to_string())? else { return Ok(None) };
        // Whoever has joined comes back at once with their token, and has to be known here by then.
        self.wait_until_mirrored(document.changed).await;
        Ok(Some(document.name))
    }

    /// Returns true if this desk has all members, and not only those it had when it ended.
    pub(super) fn is_complete(&self) -> bool {
        // A desk that was down may have missed a revocation, and would let that member in.
        self.database.is_none() || self.mirrored.borrow().is_some()
    }

    /// Notes that the ledger has everything up to this change.
    pub(super) fn note_mirrored(&self, number: u64) {
        self.mirrored.send_replace(Some(number));
    }

    /// Waits until the ledger has what the database has now.
    pub(super) async fn catch_up(&self) {
        let Some(database) = &self.database else { return };
        // What cannot be read now is taken over later.
        if *database.state().borrow() != DatabaseState::Reachable {
            return;
        }
        if let Ok(number) = database.run(|store| store.last_change()).await {
            self.wait_until_mirrored(number).await;
        }
    }

    async fn wait_until_mirrored(&self, number: u64) {
        let mut mirrored = self.mirrored.subscribe();
        let is_there = mirrored.wait_for(|last| last.is_some_and(|last| last >= number));
        // The change itself is recorded, whether this desk is slow or not.
        drop(tokio::time::timeout(MIRRORED_WITHIN, is_there).await);
    }
}
