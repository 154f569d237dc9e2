//! Keeps a session with each remote while the desk runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use callgate_store::{Store, StoreError};
use callgate_wire::desk::RemoteState;
use tokio::sync::watch;

use super::session::RemoteSession;
use super::ssh::RemoteHost;
use crate::machines::session::SessionHome;

/// Keeps a session with each remote in the ledger.
pub(crate) struct RemoteKeeper {
    database: PathBuf,
    home: SessionHome,
    /// The sessions, each ends when its sender is dropped.
    sessions: BTreeMap<String, watch::Sender<()>>,
}

impl RemoteKeeper {
    pub(crate) fn new(database: PathBuf, home: SessionHome) -> Self {
        Self { database, home, sessions: BTreeMap::new() }
    }

    /// Begins and ends sessions as remotes are added and removed, for ever.
    pub(crate) async fn keep_sessions(mut self) {
        // This begins before the first look, so that no change after it is missed.
        let mut wishes = self.home.board.wishes();
        loop {
            if let Err(error) = self.follow_ledger() {
                (self.home.warn)(&format!("cannot read the remotes: {error}"));
            }
            // The board outlives this loop, so the wait cannot fail.
            wishes.changed().await.ok();
        }
    }

    fn follow_ledger(&mut self) -> Result<(), StoreError> {
        let links = Store::open_read_only(&self.database)?.chained_links()?;
        let wanted: Vec<&str> = links.remotes().collect();
        self.sessions.retain(|host, _| wanted.contains(&host.as_str()));
        for name in wanted {
            if let (false, Ok(host)) = (self.sessions.contains_key(name), name.parse()) {
                self.begin_session(name, host);
            }
        }
        Ok(())
    }

    fn begin_session(&mut self, name: &str, host: RemoteHost) {
        let (session_in, ended) = watch::channel(());
        self.home.board.set_state(name, RemoteState::Connecting, None);
        match RemoteSession::start(host, self.home.clone(), ended) {
            // A session that could not be started is no member of the list, so the next look tries
            // again.
            Ok(()) => drop(self.sessions.insert(name.to_owned(), session_in)),
            Err(error) => (self.home.warn)(&format!("cannot connect {name}: {error}")),
        }
    }
}
