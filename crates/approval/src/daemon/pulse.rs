//! How the daemon is, for whoever wants to know: kept where anybody can look without asking the
//! desk.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use callgate_wire::desk::{Phones, Reach, Status, Viewers};

/// How the daemon is.
#[derive(Debug)]
pub(super) struct Pulse {
    started: Instant,
    socket: PathBuf,
    database: PathBuf,
    has_terminal: bool,
    open: AtomicU64,
    phones: Mutex<Option<Phones>>,
}

impl Pulse {
    pub(super) fn new(socket: &Path, database: &Path, has_terminal: bool) -> Self {
        Self {
            started: Instant::now(),
            socket: socket.to_owned(),
            database: database.to_owned(),
            has_terminal,
            open: AtomicU64::new(0),
            phones: Mutex::default(),
        }
    }

    /// So many questions are open.
    pub(super) fn open(&self, count: usize) {
        self.open.store(count as u64, Ordering::Relaxed);
    }

    /// There are phones; nothing is known about them yet.
    pub(super) fn phones_begin(&self) {
        *self.phones() = Some(Phones::default());
    }

    /// The phones can be reached, by this bot.
    pub(super) fn phones_work(&self, bot: &str) {
        *self.phones() = Some(Phones { bot: Some(bot.to_owned()), trouble: None });
    }

    /// Something is wrong with the phones.
    pub(super) fn phones_troubled(&self, why: &str) {
        let mut phones = self.phones();
        let bot = phones.take().and_then(|phones| phones.bot);
        *phones = Some(Phones { bot, trouble: Some(why.to_owned()) });
    }

    fn phones(&self) -> std::sync::MutexGuard<'_, Option<Phones>> {
        // Nothing in here panics half-way.
        self.phones.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of it, with what others know.
    pub(super) fn status(&self, head: u64, viewers: Viewers) -> Status {
        Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            uptime_seconds: self.started.elapsed().as_secs(),
            open: self.open.load(Ordering::Relaxed),
            head,
            socket: self.socket.display().to_string(),
            database: self.database.display().to_string(),
            reach: Reach { terminal: self.has_terminal, telegram: self.phones().clone(), viewers },
        }
    }
}
