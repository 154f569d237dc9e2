//! The daemon around the desk: sockets for askers and viewers, the ledger, and the channels.
//!
//! Five parts work beside each other. The *reception* takes in what askers send. The *rulings*, on
//! threads of their own, ask the rules about it. The *clerk*, on a thread of its own, gives it to
//! the desk, has the desk's records committed and only then passes the desk's outputs on. A task of
//! its own ([`Outputs`]) carries them out; it never waits for the clerk, so neither can hold the
//! other up. The channels show questions and bring in what people do.

mod askers;
mod claim;
mod clerk;
mod door;
mod letter;
mod lineage;
mod pulse;
mod reception;
mod room;
mod rulings;
mod viewers;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use callgate_link::file::FileLock;
use callgate_link::socket::SocketError;
use callgate_store::{Draft, Store, StoreError, now_ms};
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

use crate::channel::{News, Order};
use crate::desk::{Authority, Desk, Input, Now, Output, Settings};
use crate::telegram::{self, Report};
use askers::Askers;
use clerk::Clerk;
use door::{Door, SocketFile};
use letter::Letter;
use pulse::Pulse;
use reception::{Intake, Reception};
use rulings::{RulingLimits, RulingQueue};
use viewers::Viewers;

pub use claim::{Claim, lock_path};
pub use rulings::Ruler;

/// How many letters may wait for the clerk, and how many outputs for the hands.
const QUEUE: usize = 1024;
/// How many questions that are over are known again after a restart.
const RECENT: usize = 1_000;
/// Questions older than this cannot be open any more.
const OLDEST_MS: i64 = 2 * 3_600_000;

/// What a daemon is made of.
pub struct Options {
    /// Its sockets, which are its own.
    pub claim: Claim,
    /// The ledger.
    pub store: Store,
    /// What holds for every question; the key comes from the store.
    pub settings: Settings,
    /// Who may answer, by the settings; whoever was paired is added.
    pub authority: Authority,
    /// What the rules say about a question.
    pub ruler: Ruler,
    /// The phones, if there are any.
    pub telegram: Option<telegram::Settings>,
    /// The terminal that shows questions, if there is one.
    pub terminal: Option<mpsc::Sender<Order>>,
    /// Is told what is wrong, in words for a person.
    pub warn: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Why a daemon could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Another daemon serves this socket.
    #[error(
        "another callgate{} is already serving {}: use that one, or stop it first{}",
        process.map_or_else(String::new, |process| format!(" (process {process})")),
        socket.display(),
        process.map_or_else(String::new, |process| format!(" with `kill {process}`"))
    )]
    Running {
        /// The socket.
        socket: PathBuf,
        /// The daemon's process id, if its socket could be reached.
        process: Option<u32>,
    },
    /// A socket could not be served.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The ledger could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operating system refused something.
    #[error("{action} {path}: {source}")]
    Io {
        /// What was tried, as in "cannot lock".
        action: &'static str,
        /// With which path.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// A daemon that serves. It ends when it is dropped; askers that still wait try to find the next
/// one for a while.
#[derive(Debug)]
pub struct Daemon {
    desk: ToDesk,
    tasks: tokio::task::JoinSet<()>,
    askers: Arc<Askers>,
    rulings: Arc<RulingQueue>,
    _sockets: Vec<SocketFile>,
    _lock: FileLock,
}

/// A handle by which news reaches the desk.
#[derive(Debug, Clone)]
pub struct ToDesk(mpsc::Sender<Letter>);

impl ToDesk {
    /// Sends news to the desk and waits until it is recorded. Returns false if it was not.
    pub async fn news(&self, news: News) -> bool {
        Letter::send_recorded(&self.0, Input::News(news)).await
    }

    /// Like [`news`](Self::news), for a thread without a runtime, and without waiting for the
    /// record.
    pub fn blocking_news(&self, news: News) {
        // A desk that has ended needs no news.
        self.0.blocking_send(Letter::new(Input::News(news))).ok();
    }
}

impl Daemon {
    /// Starts serving. Needs a running tokio runtime.
    pub fn start(options: Options) -> Result<Self, StartError> {
        Self::start_with(options, true)
    }

    /// Like [`start`](Self::start), beside other desks that write to the same ledger: a question
    /// that is open there is not this one's to take up.
    pub fn start_beside(options: Options) -> Result<Self, StartError> {
        Self::start_with(options, false)
    }

    fn start_with(options: Options, takes_up: bool) -> Result<Self, StartError> {
        let Options { claim, mut store, mut settings, authority, .. } = options;
        let Claim { socket, desk_socket, legacy, lock } = claim;
        if takes_up {
            // What a small desk's process starts must not inherit a limit that only a daemon needs.
            raise_descriptor_limit();
        }
        settings.key = store.secret("digest")?;
        let limits = RulingLimits::new(settings.timeout);
        let started = Instant::now();
        let desk = restored(&store, settings, authority, takes_up)?;
        let head = watch::Sender::new(begin(&mut store)?);
        let (letters_in, letters) = mpsc::channel(QUEUE);
        let (outputs_in, outputs) = mpsc::channel(QUEUE);
        let askers =
            Askers::new(letters_in.clone()).map_err(|e| io_error("cannot watch", &socket, e))?;
        let pulse = Arc::new(Pulse::new(&socket, store.path(), options.terminal.is_some()));
        pulse.open(desk.open_count());
        let viewers =
            Viewers::new(store.path(), head.subscribe(), letters_in.clone(), Arc::clone(&pulse));
        let mut tasks = tokio::task::JoinSet::new();

        // Whoever finds the socket for askers finds the other one too.
        let desk_door = Door::open(&desk_socket, Arc::clone(&options.warn))?;
        let door = Door::open(&socket, Arc::clone(&options.warn))?;
        let mut sockets = vec![desk_door.file(), door.file()];
        let (for_rulings, warn) = (Arc::clone(&askers), Arc::clone(&options.warn));
        let rulings = RulingQueue::start(options.ruler, limits, for_rulings, warn)
            .map_err(|e| io_error("cannot start the rules of", &socket, e))?;
        tasks.spawn(Arc::clone(&rulings).watch());
        let intake = Arc::new(Intake::new(Arc::clone(&askers), Arc::clone(&rulings)));
        tasks.spawn(Arc::clone(&viewers).run(desk_door));
        let (to_desk, warn) = (letters_in.clone(), Arc::clone(&options.warn));
        let forwarder = PhoneForwarder { to_desk, warn, pulse: Arc::clone(&pulse) };
        let phones = options.telegram.map(|settings| forwarder.start(&mut tasks, settings));
        let terminal = options.terminal;
        tasks.spawn(Outputs { phones, terminal, viewers }.run(outputs));
        let warn = Arc::clone(&options.warn);
        let clerk = Clerk {
            desk,
            store,
            letters,
            askers: Arc::downgrade(&askers),
            runtime: Handle::current(),
            outputs: outputs_in,
            head,
            pulse,
            warn: Box::new(move |why| warn(why)),
            started,
            unmoved: 0,
        };
        on_thread("desk", move || clerk.run())
            .map_err(|e| io_error("cannot start the desk of", &socket, e))?;
        let (reporter, warn) = (Arc::clone(&askers), Arc::clone(&options.warn));
        on_thread("hangups", move || {
            if let Err(error) = reporter.report() {
                warn(&format!("cannot see who hangs up: {error}"));
            }
        })
        .map_err(|e| io_error("cannot start watching for", &socket, e))?;
        // Nobody is taken in before everything stands.
        if let Some(door) = legacy.and_then(|path| Door::open_legacy(&path, &options.warn)) {
            sockets.push(door.file());
            tasks.spawn(Reception { door, intake: Arc::clone(&intake) }.run());
        }
        tasks.spawn(Reception { door, intake }.run());
        let desk = ToDesk(letters_in);
        Ok(Self { desk, tasks, askers, rulings, _sockets: sockets, _lock: lock })
    }

    /// Waits until the desk has ended by itself, which only a mistake in it can bring about.
    pub async fn ended(&self) {
        self.desk.0.closed().await;
    }

    /// The way to the desk.
    #[must_use]
    pub fn desk(&self) -> ToDesk {
        self.desk.clone()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.tasks.abort_all();
        self.askers.stop();
        self.rulings.stop();
    }
}

fn on_thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

fn io_error(action: &'static str, path: &Path, source: io::Error) -> StartError {
    StartError::Io { action, path: path.to_owned(), source }
}

/// Thousands of questions need thousands of descriptors.
fn raise_descriptor_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Where it cannot be raised there is room for fewer questions at once, and nothing else.
    setrlimit(Resource::Nofile, limit).ok();
}

/// A desk that knows what the ledger knows.
fn restored(
    store: &Store,
    settings: Settings,
    authority: Authority,
    takes_up: bool,
) -> Result<Desk, StoreError> {
    let now = Now { mono: Duration::ZERO, wall_ms: now_ms() };
    let open = if takes_up { store.open_questions(now.wall_ms - OLDEST_MS)? } else { Vec::new() };
    let over = store.recently_closed(RECENT)?;
    let mut desk = Desk::new(settings, authority);
    desk.restore(now, &open, &over, &store.kept_under("")?, &store.links()?.standing);
    Ok(desk)
}

/// Notes the start in the ledger.
fn begin(store: &mut Store) -> Result<u64, StoreError> {
    let body = json!({ "version": env!("CARGO_PKG_VERSION"), "pid": std::process::id() });
    let (kind, body) = ("started".to_owned(), body.to_string());
    // A token that runtimes of an earlier version kept here, where any program of the user can read
    // it.
    store.forget("agent/viewer")?;
    store.append(&[Draft { at_ms: now_ms(), kind, question: None, body }])?;
    store.last_seq()
}

/// Where the desk's outputs go.
struct Outputs {
    phones: Option<mpsc::Sender<Order>>,
    terminal: Option<mpsc::Sender<Order>>,
    viewers: Arc<Viewers>,
}

impl Outputs {
    /// Carries out what the desk wants done. A channel that has ended shows nothing any more, and
    /// nothing depends on it.
    async fn run(self, mut outputs: mpsc::Receiver<Output>) {
        while let Some(output) = outputs.recv().await {
            match (output, &self.phones, &self.terminal) {
                (Output::Phones(order), Some(phones), _) => drop(phones.send(order).await),
                // A terminal that somebody has stopped takes nothing: it must hold nobody up.
                (Output::Terminal(order), _, Some(terminal)) => drop(terminal.try_send(order)),
                // The clerk has sent the answers.
                (Output::Answer(..) | Output::Phones(_) | Output::Terminal(_), ..) => {}
                (Output::Viewer { viewer, id, done, text }, ..) => {
                    self.viewers.tell(viewer, &id, done, &text);
                }
                (Output::Waiting { viewer, id, text, within }, ..) => {
                    self.viewers.waiting(viewer, &id, &text, within);
                }
                (Output::Lock { hash, text }, ..) => self.viewers.lock(&hash, &text),
            }
        }
    }
}

/// Takes what the phones report to the desk, to the status and to the person who runs the daemon.
struct PhoneForwarder {
    to_desk: mpsc::Sender<Letter>,
    warn: Arc<dyn Fn(&str) + Send + Sync>,
    pulse: Arc<Pulse>,
}

impl PhoneForwarder {
    /// Starts the channel to the phones and this forwarder. Returns where the channel takes orders.
    fn start(
        self,
        tasks: &mut tokio::task::JoinSet<()>,
        settings: telegram::Settings,
    ) -> mpsc::Sender<Order> {
        let (orders_in, orders) = mpsc::channel(QUEUE);
        let (reports_in, reports) = mpsc::channel(QUEUE);
        self.pulse.phones_begin();
        tasks.spawn(telegram::run(settings, orders, reports_in));
        tasks.spawn(self.run(reports));
        orders_in
    }

    async fn run(self, mut reports: mpsc::Receiver<Report>) {
        while let Some(report) = reports.recv().await {
            match report {
                Report::Heard { news, taken } => {
                    if let News::Broken { why } = &news {
                        self.trouble(why);
                    }
                    let letter = Letter { input: Input::News(news), recorded: taken };
                    self.to_desk.send(letter).await.ok();
                }
                Report::Works { bot } => {
                    self.pulse.phones_work(&bot);
                    (self.warn)(&format!("Telegram works, as @{bot}"));
                }
                Report::Troubled { why } => self.trouble(&why),
            }
        }
    }

    fn trouble(&self, why: &str) {
        self.pulse.phones_troubled(why);
        (self.warn)(why);
    }
}
