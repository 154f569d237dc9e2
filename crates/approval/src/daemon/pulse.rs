//! The state of the daemon, kept where it can be read without asking the desk.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use callgate_link::sync::lock;
use callgate_wire::desk::{ConnectedRelay, DeskReach, DeskStatus, PhoneStatus, ViewerCount};

use super::remote_board::RemoteBoard;

#[derive(Debug)]
pub(super) struct DaemonPulse {
    started: Instant,
    socket: PathBuf,
    database: PathBuf,
    has_terminal: bool,
    is_relay: bool,
    remotes: Arc<RemoteBoard>,
    open: AtomicU64,
    phones: Mutex<Option<PhoneStatus>>,
}

impl DaemonPulse {
    pub(super) fn new(socket: &Path, database: &Path, has_terminal: bool, is_relay: bool) -> Self {
        Self {
            started: Instant::now(),
            socket: socket.to_owned(),
            database: database.to_owned(),
            has_terminal,
            is_relay,
            remotes: Arc::default(),
            open: AtomicU64::new(0),
            phones: Mutex::default(),
        }
    }

    pub(super) fn set_open_count(&self, count: usize) {
        // Relaxed is enough: viewers hear of new entries by way of a lock that is taken after this.
        self.open.store(count as u64, Ordering::Relaxed);
    }

    /// Notes that there is a Telegram channel whose state is not known yet.
    pub(super) fn phones_begin(&self) {
        *lock(&self.phones) = Some(PhoneStatus::default());
    }

    /// Notes that phones can be reached by this bot.
    pub(super) fn phones_work(&self, bot: &str) {
        *lock(&self.phones) = Some(PhoneStatus { bot: Some(bot.to_owned()), trouble: None });
    }

    /// Notes that something is wrong with the Telegram channel.
    pub(super) fn phones_troubled(&self, why: &str) {
        let mut phones = lock(&self.phones);
        let bot = phones.take().and_then(|phones| phones.bot);
        *phones = Some(PhoneStatus { bot, trouble: Some(why.to_owned()) });
    }

    pub(super) fn remote_board(&self) -> Arc<RemoteBoard> {
        Arc::clone(&self.remotes)
    }

    pub(super) fn status(
        &self,
        head: u64,
        viewers: ViewerCount,
        relays: Vec<ConnectedRelay>,
    ) -> DeskStatus {
        DeskStatus {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            uptime_seconds: self.started.elapsed().as_secs(),
            open: self.open.load(Ordering::Relaxed),
            head,
            socket: self.socket.display().to_string(),
            database: self.database.display().to_string(),
            reach: DeskReach {
                terminal: self.has_terminal,
                telegram: lock(&self.phones).clone(),
                viewers,
            },
            is_relay: self.is_relay,
            relays,
            team: self.remotes.team(),
            listening: self.remotes.listening(),
        }
    }
}
