//! Waits for changes, and notices when their numbers belong to another history of the database.

use std::sync::Arc;

use tokio::time::{Instant, timeout_at};

use super::{PostgresTeamStore, rows};
use crate::TeamChange;
use crate::error::{TeamResult, TeamStoreError};

impl PostgresTeamStore {
    /// Notes to which history of the database the numbers of changes belong that are asked for
    /// next.
    pub(super) fn note_history(&mut self) {
        self.history = self.link.session.as_ref().and_then(|session| session.history.clone());
    }

    /// Fails if another server has taken over since somebody asked for the number of the last
    /// change: it may have given numbers to other changes.
    fn check_history(&mut self) -> TeamResult<()> {
        let before = self.history.clone();
        self.note_history();
        if self.history.is_none() {
            // If this server does not say, what the one before has said still counts, for the next
            // one.
            self.history.clone_from(&before);
        }
        let is_other = before.is_some() && self.history != before;
        if is_other { Err(TeamStoreError::Replaced) } else { Ok(()) }
    }

    pub(super) fn read_changes(&mut self, after: u64) -> TeamResult<Vec<TeamChange>> {
        let changes = self.run(async |session| rows::read_changes(session, after).await)?;
        self.check_history()?;
        Ok(changes)
    }

    /// Returns changes as soon as there are any, and none at that time.
    pub(super) fn wait_until(
        &mut self,
        after: u64,
        deadline: Instant,
    ) -> TeamResult<Vec<TeamChange>> {
        loop {
            // First, so that nothing that is written after the look is missed.
            self.run(async |session| Ok(session.listen().await?))?;
            let changes = self.read_changes(after)?;
            if !changes.is_empty() {
                return Ok(changes);
            }
            let (Some(session), Some(runtime)) = (&self.link.session, &self.runtime) else {
                continue;
            };
            if !session.is_listening {
                // The connection was made again between the two.
                continue;
            }
            let hint = Arc::clone(&session.hint);
            if runtime.block_on(async { timeout_at(deadline, hint.notified()).await }).is_err() {
                // A hint may be lost with its connection, so the last look decides.
                return self.read_changes(after);
            }
        }
    }
}
