//! Keeps a session with each remote while the desk runs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use callgate_approval::daemon::{Daemon, RelayedAskers, RemoteBoard, Warn};
use callgate_store::{Store, StoreError};
use callgate_wire::desk::RemoteState;
use rustix::system::uname;
use tokio::sync::watch;

use super::session::{RemoteSession, SessionHome};
use super::ssh::RemoteHost;

/// Keeps a session with each remote in the ledger.
pub(crate) struct RemoteKeeper {
    database: PathBuf,
    board: Arc<RemoteBoard>,
    askers: RelayedAskers,
    warn: Warn,
    /// The sessions, each ends when its sender is dropped.
    sessions: BTreeMap<String, watch::Sender<()>>,
}

impl RemoteKeeper {
    pub(crate) fn new(database: PathBuf, daemon: &Daemon, warn: Warn) -> Self {
        let (board, askers) = (daemon.remote_board(), daemon.relayed_askers());
        Self { database, board, askers, warn, sessions: BTreeMap::new() }
    }

    /// Begins and ends sessions as remotes are added and removed, for ever.
    pub(crate) async fn keep_sessions(mut self) {
        loop {
            if let Err(error) = self.follow_ledger() {
                (self.warn)(&format!("cannot read the remotes: {error}"));
            }
            self.board.wait_for_wish().await;
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
        self.board.set_state(name, RemoteState::Connecting, None);
        let home = SessionHome {
            host,
            database: self.database.clone(),
            board: Arc::clone(&self.board),
            askers: self.askers.clone(),
            warn: Arc::clone(&self.warn),
            desk_name: uname().nodename().to_string_lossy().into_owned(),
        };
        match RemoteSession::start(home, ended) {
            Ok(()) => drop(self.sessions.insert(name.to_owned(), session_in)),
            Err(error) => (self.warn)(&format!("cannot connect {name}: {error}")),
        }
    }
}
