//! The database that the desks of a team share: connections on threads of their own, and the news
//! that it has.

mod ledger_copier;
#[cfg(test)]
pub(crate) mod test_stores;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use callgate_approval::daemon::Warn;
use callgate_link::sync::lock;
use callgate_store::{ChainHead, now_ms};
use callgate_team_store::{LedgerPart, TeamChange, TeamResult, TeamStore, TeamStoreError};
use rustix::system::uname;
use tokio::sync::{broadcast, watch};

use crate::config::Config;
use crate::errand_thread::ErrandThread;
use ledger_copier::LedgerCopier;

/// How long the watching thread waits for a change before it asks again, and so notices soon that
/// the desk ends.
const WATCH: Duration = Duration::from_secs(5);
/// The pauses before the server is tried again.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How many changes wait for somebody who is slow. Who has missed some reads everything again.
const MOST_NEWS: usize = 1024;
/// How many rows that cannot be read are reported.
const MOST_TOLD: usize = 100;

type BoxedStore = Box<dyn TeamStore>;

/// What the database reports.
#[derive(Debug, Clone)]
pub(crate) enum TeamNews {
    Changed(Arc<TeamChange>),
    /// Another server has taken over, or there was more than could wait: everything may be
    /// different.
    ReadAgain,
}

/// The news of the database, in their order.
pub(crate) struct TeamNewsReader(broadcast::Receiver<TeamNews>);

impl TeamNewsReader {
    /// Returns `None` when no more will come.
    pub(crate) async fn next(&mut self) -> Option<TeamNews> {
        match self.0.recv().await {
            Ok(news) => Some(news),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(TeamNews::ReadAgain),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// Whether the team's database answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DatabaseState {
    /// Nothing is known yet.
    Connecting,
    Reachable,
    /// It does not answer, for this reason.
    Unreachable(String),
}

/// The team's database, as a running desk uses it. Clones share its connections: one records, one
/// copies ledgers, so that no question waits for them, and one waits for changes.
#[derive(Clone)]
pub(crate) struct TeamDatabase {
    recorder: ErrandThread<BoxedStore>,
    copier: LedgerCopier,
    news: Arc<DatabaseNews>,
    desk_name: Arc<str>,
}

/// What the watching thread tells. It ends when nobody has this any more.
struct DatabaseNews {
    state: watch::Sender<DatabaseState>,
    /// The number of the last change of a document.
    documents: watch::Sender<u64>,
    changes: broadcast::Sender<TeamNews>,
    unread: UnreadRows,
    /// How far the clock of the database was ahead of the one here when it was last read.
    ahead_ms: AtomicI64,
}

/// The rows that cannot be read. Each is reported once.
struct UnreadRows {
    warn: Warn,
    told: Mutex<BTreeSet<String>>,
}

impl UnreadRows {
    fn tell_of(&self, store: &mut dyn TeamStore) {
        for row in store.take_unread() {
            let mut told = lock(&self.told);
            if told.len() < MOST_TOLD && told.insert(row.clone()) {
                (self.warn)(&format!(
                    "{row} in the team's database cannot be read, and is left out: update callgate"
                ));
            }
        }
    }
}

impl TeamDatabase {
    /// Opens the database that the settings name, if they do. A server that cannot be reached is
    /// tried again and again; only wrong settings are an error.
    pub(crate) fn open(config: &Config, warn: Warn) -> Result<Option<Self>, String> {
        let Some(store) = prepare_store(config)? else { return Ok(None) };
        let another = || store.connect_again().map_err(|error| error.to_string());
        let recorder = ErrandThread::start("team recorder", another()?);
        let recorder = recorder.map_err(|error| error.to_string())?;
        let copier = LedgerCopier::start(another()?).map_err(|error| error.to_string())?;
        let (state, _) = watch::channel(DatabaseState::Connecting);
        let documents = watch::channel(0).0;
        let changes = broadcast::channel(MOST_NEWS).0;
        let unread = UnreadRows { warn: Arc::clone(&warn), told: Mutex::default() };
        let ahead_ms = AtomicI64::new(0);
        let news = Arc::new(DatabaseNews { state, documents, changes, unread, ahead_ms });
        // The thread has no share of its own in this, so that it ends with the desk.
        let (told, kept_days) = (Arc::downgrade(&news), config.team.keep_days);
        let watching = move || {
            let last = None;
            let (told_why, clock_at) = (Vec::new(), None);
            let mut watcher =
                DatabaseWatcher { store, warn, kept_days, last, clock_at, told: told_why };
            let mut pause = FIRST_PAUSE;
            while let Some(news) = told.upgrade() {
                let is_reached = watcher.watch_once(&news);
                // `news` is not held during the pause, in which the desk may end.
                drop(news);
                if is_reached {
                    pause = FIRST_PAUSE;
                } else {
                    thread::sleep(pause);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        };
        let started = thread::Builder::new().name("team watcher".to_owned()).spawn(watching);
        started.map_err(|error| error.to_string())?;
        Ok(Some(Self { recorder, copier, news, desk_name: desk_name(config).into() }))
    }

    /// Returns the name of this desk among those that share the database.
    pub(crate) fn desk_name(&self) -> &str {
        &self.desk_name
    }

    /// Returns the time by the clock of the database, which is the one of all desks.
    pub(crate) fn now_ms(&self) -> i64 {
        now_ms() + self.news.ahead_ms.load(Ordering::Relaxed)
    }

    /// Returns whether the database answers, now and later. Whoever reads lists does it after this
    /// is [`DatabaseState::Reachable`]: later changes are reported to those who have subscribed.
    pub(crate) fn state(&self) -> watch::Receiver<DatabaseState> {
        self.news.state.subscribe()
    }

    /// Returns a channel that changes when documents have changed.
    pub(crate) fn document_changes(&self) -> watch::Receiver<u64> {
        self.news.documents.subscribe()
    }

    /// Returns all changes from now on, in their order.
    pub(crate) fn subscribe(&self) -> TeamNewsReader {
        TeamNewsReader(self.news.changes.subscribe())
    }

    /// Records or reads something, and waits for it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn TeamStore) -> TeamResult<T> + Send + 'static,
    ) -> TeamResult<T> {
        let news = Arc::clone(&self.news);
        let done = self.recorder.run(move |store| {
            let done = work(store.as_mut());
            news.unread.tell_of(store.as_mut());
            done
        });
        let gone = || TeamStoreError::Unreachable { why: "the desk ends".to_owned() };
        done.await.ok_or_else(gone)?
    }

    /// Copies a part of a machine's ledger. Returns the end of its chain.
    pub(crate) async fn copy_ledger(&self, part: LedgerPart) -> TeamResult<ChainHead> {
        self.copier.copy(part).await
    }
}

/// Waits for changes, on a thread of its own.
struct DatabaseWatcher {
    store: BoxedStore,
    warn: Warn,
    /// For how many days the database shall keep its log, if the settings say; it is reported once.
    kept_days: Option<u32>,
    /// The number of the last change that was reported.
    last: Option<u64>,
    /// When the clock of the database was read.
    clock_at: Option<Instant>,
    /// The reasons for which the database has not answered since it last did. Each is reported
    /// once.
    told: Vec<String>,
}

impl DatabaseWatcher {
    /// Waits once for changes and reports them. Returns false if the database does not answer.
    fn watch_once(&mut self, news: &DatabaseNews) -> bool {
        match self.next_changes(news) {
            Ok(changes) => {
                self.note_state(news, DatabaseState::Reachable);
                news.unread.tell_of(self.store.as_mut());
                let mut documents =
                    changes.iter().filter(|it| matches!(it, TeamChange::Document(_)));
                if let Some(last) = documents.next_back() {
                    news.documents.send_replace(last.number());
                }
                for change in changes {
                    // Nobody may listen yet.
                    news.changes.send(TeamNews::Changed(Arc::new(change))).ok();
                }
                true
            }
            Err(TeamStoreError::Replaced) => {
                // The numbers of changes and the clock of before are those of another server.
                (self.last, self.clock_at) = (None, None);
                self.read_again(news)
            }
            Err(error) => {
                self.note_state(news, DatabaseState::Unreachable(error.to_string()));
                false
            }
        }
    }

    /// Tells all readers to read everything again, once the number of the latest change is known:
    /// later changes are reported one by one.
    fn read_again(&mut self, news: &DatabaseNews) -> bool {
        let is_reached = self.watch_once(news);
        if is_reached {
            (self.warn)(&TeamStoreError::Replaced.to_string());
            news.documents.send_replace(self.last.unwrap_or_default());
            news.changes.send(TeamNews::ReadAgain).ok();
        }
        is_reached
    }

    fn next_changes(&mut self, news: &DatabaseNews) -> TeamResult<Vec<TeamChange>> {
        if self.clock_at.is_none_or(|at| at.elapsed() >= WATCH) {
            // Again and again, because the clock here may be set while the desk runs.
            let ahead_ms = self.store.read_clock()? - now_ms();
            news.ahead_ms.store(ahead_ms, Ordering::Relaxed);
            self.clock_at = Some(Instant::now());
        }
        let Some(last) = self.last else {
            // Lists are read after the database counts as reachable, which is after this. So no
            // change between this number and the lists is missed.
            let last = self.store.last_change()?;
            if let Some(days) = self.kept_days {
                let told = set_kept_days(self.store.as_mut(), days);
                // A server that has gone away is told again when it is back.
                if !told.as_ref().is_err_and(TeamStoreError::is_passing) {
                    self.kept_days = None;
                }
                told?.iter().for_each(|told| (self.warn)(told));
            }
            self.last = Some(last);
            return Ok(Vec::new());
        };
        let changes = self.store.wait_for_changes(last, WATCH)?;
        self.last = changes.last().map(TeamChange::number).or(self.last);
        Ok(changes)
    }

    fn note_state(&mut self, news: &DatabaseNews, state: DatabaseState) {
        match &state {
            DatabaseState::Unreachable(why) if !self.told.contains(why) => {
                (self.warn)(why);
                self.told.push(why.clone());
            }
            DatabaseState::Reachable if !self.told.is_empty() => {
                (self.warn)("the team's database answers again");
                self.told.clear();
            }
            _ => {}
        }
        news.state.send_if_modified(|known| {
            let is_new = *known != state;
            *known = state;
            is_new
        });
    }
}

/// Sets for how many days the database keeps its log. Returns what is worth telling. Only `up` and
/// `team status` call it, because a command that reads must not shorten how long anything is kept.
pub(crate) fn set_kept_days(store: &mut dyn TeamStore, days: u32) -> TeamResult<Option<String>> {
    Ok(store.set_kept_days(days)?.map(|before| {
        let removal = if days < before { ", and the desks remove what is older" } else { "" };
        format!(
            "the team's database keeps its log for {days} days from now on and no longer for \
             {before}{removal}: `team.keep_days` says so"
        )
    }))
}

/// Returns the name of this desk among those that share a database.
pub(crate) fn desk_name(config: &Config) -> String {
    let of_machine = || uname().nodename().to_string_lossy().into_owned();
    config.team.desk_name.clone().unwrap_or_else(of_machine)
}

/// Connects to the database that the settings name, for a command. Returns `None` if they name
/// none.
pub(crate) fn open_store(config: &Config) -> Result<Option<BoxedStore>, String> {
    let Some(mut store) = prepare_store(config)? else { return Ok(None) };
    store.last_change().map_err(|error| error.to_string())?;
    Ok(Some(store))
}

/// Returns the store that the settings name, which connects when it is first used.
#[cfg(feature = "postgres")]
fn prepare_store(config: &Config) -> Result<Option<BoxedStore>, String> {
    use callgate_team_store::{PostgresSettings, PostgresTeamStore};

    use crate::config::token_source;
    use crate::secrets::read_secret;

    /// How long one call may take, with all attempts to reach the server.
    const PATIENCE: Duration = Duration::from_secs(5);
    let Some(source) = &config.team.database_url else { return Ok(None) };
    let settings = PostgresSettings {
        url: read_secret(&source.value, token_source::DATABASE)?,
        // No machine has such a name.
        desk: format!("desk:{}", desk_name(config)),
        patience: PATIENCE,
    };
    let store = PostgresTeamStore::prepare(&settings).map_err(|error| error.to_string())?;
    Ok(Some(Box::new(store)))
}

#[cfg(not(feature = "postgres"))]
fn prepare_store(config: &Config) -> Result<Option<BoxedStore>, String> {
    match config.team.database_url {
        None => Ok(None),
        Some(_) => Err("this callgate was built without PostgreSQL: remove \
                        `team.database_url`, or build it with the feature `postgres`"
            .to_owned()),
    }
}
