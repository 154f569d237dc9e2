//! The database that the desks of a team share: connections on threads of their own, and the news
//! that it has.

mod ledger_copier;

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use callgate_approval::daemon::Warn;
use callgate_link::sync::lock;
use callgate_store::ChainHead;
use callgate_team_store::{LedgerPart, TeamChange, TeamResult, TeamStore, TeamStoreError};
use rustix::system::uname;
use tokio::sync::{mpsc, watch};

use crate::config::Config;
use crate::errand_thread::ErrandThread;
use ledger_copier::LedgerCopier;

/// How long the watching thread waits for a change before it asks again, and so notices soon that
/// the desk ends.
const WATCH: Duration = Duration::from_secs(5);
/// The pauses before the server is tried again.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

type BoxedStore = Box<dyn TeamStore>;

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
    readers: Mutex<Vec<mpsc::UnboundedSender<TeamChange>>>,
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
        let news = Arc::new(DatabaseNews { state, documents, readers: Mutex::default() });
        let told = Arc::downgrade(&news);
        let watching = move || {
            let mut watcher = DatabaseWatcher { store, warn, last: None, told: Vec::new() };
            let mut pause = FIRST_PAUSE;
            while let Some(news) = told.upgrade() {
                let is_reached = watcher.watch_once(&news);
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

    /// Returns whether the database answers, now and later. Whoever reads lists does it after this is
    /// [`DatabaseState::Reachable`]: what changes from then on is told to those who have subscribed.
    pub(crate) fn state(&self) -> watch::Receiver<DatabaseState> {
        self.news.state.subscribe()
    }

    /// Returns a channel that changes when documents have changed.
    pub(crate) fn document_changes(&self) -> watch::Receiver<u64> {
        self.news.documents.subscribe()
    }

    /// Returns all changes from now on, in their order.
    pub(crate) fn subscribe(&self) -> mpsc::UnboundedReceiver<TeamChange> {
        let (changes_in, changes) = mpsc::unbounded_channel();
        lock(&self.news.readers).push(changes_in);
        changes
    }

    /// Records or reads something, and waits for it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn TeamStore) -> TeamResult<T> + Send + 'static,
    ) -> TeamResult<T> {
        let done = self.recorder.run(move |store| work(store.as_mut())).await;
        let gone = || TeamStoreError::Unreachable { why: "the desk ends".to_owned() };
        done.ok_or_else(gone)?
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
    /// The number of the last change that was told.
    last: Option<u64>,
    /// Why the database did not answer since it did last. Each reason is told once.
    told: Vec<String>,
}

impl DatabaseWatcher {
    /// Waits once for changes and tells them. Returns false if the database does not answer.
    fn watch_once(&mut self, news: &DatabaseNews) -> bool {
        match self.next_changes() {
            Ok(changes) => {
                self.note_state(news, DatabaseState::Reachable);
                let mut documents =
                    changes.iter().filter(|it| matches!(it, TeamChange::Document(_)));
                if let Some(last) = documents.next_back() {
                    news.documents.send_replace(last.number());
                }
                let mut readers = lock(&news.readers);
                for change in &changes {
                    readers.retain(|reader| reader.send(change.clone()).is_ok());
                }
                true
            }
            Err(error) => {
                self.note_state(news, DatabaseState::Unreachable(error.to_string()));
                false
            }
        }
    }

    fn next_changes(&mut self) -> TeamResult<Vec<TeamChange>> {
        let Some(last) = self.last else {
            self.last = Some(self.store.last_change()?);
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

/// Returns the name of this desk among those that share a database.
pub(crate) fn desk_name(config: &Config) -> String {
    let of_machine = || uname().nodename().to_string_lossy().into_owned();
    config.team.desk_name.clone().unwrap_or_else(of_machine)
}

/// Connects to the database that the settings name, for a command. Returns `None` if they name none.
pub(crate) fn open_store(config: &Config) -> Result<Option<BoxedStore>, String> {
    let Some(mut store) = prepare_store(config)? else { return Ok(None) };
    store.last_change().map_err(|error| error.to_string())?;
    Ok(Some(store))
}

/// Returns the store that the settings name, which connects when it is first used.
#[cfg(feature = "postgres")]
fn prepare_store(config: &Config) -> Result<Option<BoxedStore>, String> {
    use callgate_team_store::{PostgresSettings, PostgresTeamStore};

    use crate::config::{read_secret, token_source};

    /// How long one call may take, with all attempts to reach the server.
    const PATIENCE: Duration = Duration::from_secs(5);
    let Some(source) = &config.team.database_url else { return Ok(None) };
    let settings = PostgresSettings {
        url: read_secret(&source.value, token_source::DATABASE)?,
        // No machine has such a name.
        desk: format!("desk:{}", desk_name(config)),
        kept_days: config.team.keep_days,
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
