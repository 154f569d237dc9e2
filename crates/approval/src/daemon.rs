//! The daemon around the desk: sockets for askers and viewers, the ledger, and the channels.
//!
//! Four parts work beside each other. The *reception* takes in what askers send. The *rulings*, on
//! threads of their own, ask the rules about it. The *clerk*, on a thread of its own, passes it to
//! the desk, has the desk's records committed, and only then carries out the desk's outputs. The
//! *channels* show questions and bring in what people do; they take orders at all times, so that
//! the clerk never waits for them.

mod askers;
mod claim;
mod clerk;
mod door;
mod letter;
mod lineage;
mod owed_entries;
mod phone_forwarder;
mod pulse;
mod reception;
mod relayed;
mod remote_board;
mod room;
mod rulings;
mod viewers;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use callgate_link::file::FileLock;
use callgate_link::socket::SocketError;
use callgate_store::{EntryDraft, EntryFilter, Store, StoreError, now_ms};
use callgate_wire::desk::HiddenText;
use callgate_wire::ledger::{DeskStarted, LedgerEvent};
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

use crate::absence_mark::last_absence;
use crate::answer_roles::AnswerRoles;
use crate::asker::fresh_id;
use crate::channel::{ChannelOrder, ChannelReport, Person, PersonPlace, ReplyTo};
use crate::desk::{
    Authority, Desk, DeskInput, DeskSettings, DeskTime, LONGEST_CALL, PAGE_CODE_LIFETIME,
    TEAM_ORIGIN,
};
use crate::rule_desk::RuleDesk;
use crate::settings_desk::SettingsDesk;
use crate::telegram;
use crate::viewer_token::token_identity;
use askers::Askers;
use clerk::Clerk;
use door::{Door, SocketFile};
use letter::{Letter, LetterBox};
use owed_entries::OwedEntries;
use phone_forwarder::PhoneForwarder;
use pulse::DaemonPulse;
use reception::{Intake, Reception};
use rulings::{RulingLimits, RulingQueue};
use viewers::{Viewers, secrets};

pub use askers::NotedAllow;
pub use claim::{Claim, lock_path};
pub use relayed::{RelayedAsker, RelayedAskers};
pub use remote_board::RemoteBoard;
pub use rulings::RuleJudge;

/// How many letters may wait for the clerk, and how many orders for the phones.
const QUEUE: usize = 1024;
/// How many closed questions are remembered after a restart.
const RECENT: usize = 1_000;
/// No question waits longer than this, so an older one is not open.
const OLDEST_MS: i64 = 2 * 3_600_000;

/// Takes warnings for the person who runs the process. It never waits.
pub type Warn = Arc<dyn Fn(&str) + Send + Sync>;

pub struct DaemonOptions {
    pub claim: Claim,
    pub store: Store,
    /// The settings of the desk; the key comes from the store.
    pub settings: DeskSettings,
    /// Who may answer according to the settings; whoever is linked is added.
    pub authority: Authority,
    /// What the members of a team may answer; everything if there are no roles.
    pub roles: Option<Arc<dyn AnswerRoles>>,
    /// Asks the rules about a question.
    pub ruler: RuleJudge,
    /// Answers what viewers ask about the rules, if there is anybody who can.
    pub rule_desk: Option<Arc<dyn RuleDesk>>,
    /// Answers what viewers ask about the settings.
    pub settings_desk: Option<Arc<dyn SettingsDesk>>,
    pub telegram: Option<telegram::BotSettings>,
    /// The terminal that shows questions, if there is one.
    pub terminal: Option<mpsc::Sender<ChannelOrder>>,
    pub warn: Warn,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    #[error(
        "another callgate{} is already serving {}: use that one, or stop it first{}",
        process.map_or_else(String::new, |process| format!(" (process {process})")),
        socket.display(),
        process.map_or_else(String::new, |process| format!(" with `kill {process}`"))
    )]
    Running {
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
        path: PathBuf,
        source: io::Error,
    },
}

/// A running daemon. It ends when this is dropped; askers that still wait dial again for a while.
#[derive(Debug)]
pub struct Daemon {
    desk: DeskHandle,
    tasks: tokio::task::JoinSet<()>,
    askers: Arc<Askers>,
    rulings: Arc<RulingQueue>,
    relayed: RelayedAskers,
    pulse: Arc<DaemonPulse>,
    _sockets: Vec<SocketFile>,
    // Dropped last: as long as our sockets are at their paths, no other daemon may take the lock.
    _lock: FileLock,
}

#[derive(Debug, Clone)]
pub struct DeskHandle(LetterBox);

impl DeskHandle {
    /// Sends news to the desk and waits until it is recorded. Returns false if it was not.
    pub async fn send_news(&self, news: ChannelReport) -> bool {
        self.0.send_recorded(DeskInput::News(news)).await
    }

    /// Like [`send_news`](Self::send_news), for a thread without a runtime, and without waiting for
    /// the record.
    pub fn blocking_news(&self, news: ChannelReport) {
        // A desk that has ended needs no news.
        self.0.blocking_send(Letter::new(DeskInput::News(news))).ok();
    }

    /// Tells the desk to read the links and the members of the team again, which another process
    /// has changed: whoever was removed may not answer any more. Returns false if it could not.
    pub async fn read_links(&self) -> bool {
        self.0.send_recorded(DeskInput::ReadLinks).await
    }

    /// Tells the desk at which origins the page is served, and waits until it is recorded. The
    /// links of pages at other origins are removed. Returns false if it was not recorded.
    pub async fn page_served(&self, origins: Vec<String>) -> bool {
        self.0.send_recorded(DeskInput::PageServed { origins }).await
    }

    /// Lets the holder of this token bring the answers of the team's desk, and nobody else; with
    /// `None` nobody any more. Returns false if the desk has ended.
    pub async fn set_team_line(&self, token: Option<&HiddenText>) -> bool {
        let token_hash = token.map(|token| token_identity(token, Some(TEAM_ORIGIN)));
        self.0.send_recorded(DeskInput::TeamLine { token_hash }).await
    }

    /// Makes a code for a page, for the person of this name at the desk's own terminal. Returns it
    /// with its lifetime once it is recorded, or `None` if it cannot be made. For a thread without
    /// a runtime.
    pub fn blocking_page_code(&self, name: &str) -> Option<(HiddenText, Duration)> {
        let secret = secrets::new_pairing_code().ok()?;
        // Whoever sits there may answer, so nobody else is asked about the code.
        let who = Person::new(PersonPlace::Terminal, name);
        let input = DeskInput::NewCode {
            code: secret.reveal().to_owned(),
            id: fresh_id(),
            who,
            is_for_page: true,
            is_first: false,
            reply_to: ReplyTo::Key,
        };
        self.0.blocking_send_recorded(input).then_some((secret, PAGE_CODE_LIFETIME))
    }
}

impl Daemon {
    /// Starts serving. Needs a running tokio runtime.
    pub fn start(options: DaemonOptions) -> Result<Self, StartError> {
        Self::start_with(options, true)
    }

    /// Like [`start`](Self::start), for a desk beside others that write to the same ledger: it does
    /// not take up questions that are open there.
    pub fn start_beside(options: DaemonOptions) -> Result<Self, StartError> {
        Self::start_with(options, false)
    }

    fn start_with(options: DaemonOptions, takes_up: bool) -> Result<Self, StartError> {
        let DaemonOptions { claim, mut store, mut settings, authority, .. } = options;
        let Claim { socket, desk_socket, legacy, lock } = claim;
        if takes_up {
            // Programs that a small desk's process starts must not inherit a limit that only a
            // daemon needs.
            raise_descriptor_limit();
        }
        let unattended = settings.unattended;
        // Kept beside the ledger: after a restart an asker is known by the same digest.
        settings.key = store.find_or_make_secret("digest")?;
        let limits = RulingLimits::new(settings.timeout);
        let started = Instant::now();
        let (has_terminal, is_relay) = (options.terminal.is_some(), authority.has_relay());
        let pulse = Arc::new(DaemonPulse::new(&socket, store.path(), has_terminal, is_relay));
        let desk = restore_desk(&store, settings, authority, takes_up)?.with_roles(options.roles);
        let head = watch::Sender::new(record_start(&mut store)?);
        let (letters_in, letters) = LetterBox::new(QUEUE);
        let askers =
            Askers::new(letters_in.clone()).map_err(|e| io_error("cannot watch", &socket, e))?;
        pulse.set_open_count(desk.open_count());
        let viewers = Viewers::new(
            store.path(),
            head.subscribe(),
            letters_in.clone(),
            Arc::clone(&pulse),
            options.rule_desk,
            options.settings_desk,
            unattended,
        );
        let mut tasks = tokio::task::JoinSet::new();
        // Whoever finds the socket for askers finds the other one too.
        let desk_door = Door::open(&desk_socket, Arc::clone(&options.warn))?;
        let door = Door::open(&socket, Arc::clone(&options.warn))?;
        let mut sockets = vec![desk_door.file(), door.file()];
        let (for_rulings, warn) = (Arc::clone(&askers), Arc::clone(&options.warn));
        let rulings = RulingQueue::start(options.ruler, limits, for_rulings, warn)
            .map_err(|e| io_error("cannot start the rules of", &socket, e))?;
        tasks.spawn(Arc::clone(&rulings).watch_deadlines());
        let intake = Arc::new(Intake::new(Arc::clone(&askers), Arc::clone(&rulings)));
        tasks.spawn(Arc::clone(&viewers).accept_viewers(desk_door));
        let (to_desk, warn) = (letters_in.clone(), Arc::clone(&options.warn));
        let forwarder = PhoneForwarder { to_desk, warn, pulse: Arc::clone(&pulse) };
        let phones = options.telegram.map(|settings| forwarder.start(&mut tasks, settings));
        let clerk = Arc::new(Mutex::new(Clerk {
            desk,
            store,
            askers: Arc::downgrade(&askers),
            viewers: Arc::downgrade(&viewers),
            phones,
            terminal: options.terminal,
            runtime: Handle::current(),
            head,
            pulse: Arc::clone(&pulse),
            warn: Arc::clone(&options.warn),
            started,
            unmoved: 0,
            owed: OwedEntries::default(),
            sleeps_until: Duration::ZERO,
        }));
        let at_once = Arc::downgrade(&clerk);
        letters_in.set_at_once(Box::new(move |letter| clerk::handle_at_once(&at_once, letter)));
        on_thread("desk", move || clerk::run_desk(&clerk, letters))
            .map_err(|e| io_error("cannot start the desk of", &socket, e))?;
        watch_hangups(Arc::clone(&askers), Arc::clone(&options.warn))
            .map_err(|e| io_error("cannot start watching for", &socket, e))?;
        // Nobody is accepted before everything runs.
        if let Some(door) = legacy.and_then(|path| Door::open_legacy(&path, &options.warn)) {
            sockets.push(door.file());
            tasks.spawn(Reception { door, intake: Arc::clone(&intake) }.accept_askers());
        }
        let relayed = RelayedAskers(Arc::clone(&intake));
        tasks.spawn(Reception { door, intake }.accept_askers());
        let desk = DeskHandle(letters_in);
        Ok(Self { desk, tasks, askers, rulings, relayed, pulse, _sockets: sockets, _lock: lock })
    }

    /// Waits until the desk has ended by itself, which only a bug can cause.
    pub async fn wait_for_end(&self) {
        self.desk.0.wait_for_end().await;
    }

    /// Returns the way by which other machines ask.
    pub fn relayed_askers(&self) -> RelayedAskers {
        self.relayed.clone()
    }

    pub fn remote_board(&self) -> Arc<RemoteBoard> {
        self.pulse.remote_board()
    }

    pub fn desk(&self) -> DeskHandle {
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

/// Starts the thread that learns which answers were read.
fn watch_hangups(askers: Arc<Askers>, warn: Warn) -> io::Result<()> {
    on_thread("hangups", move || {
        if let Err(error) = askers.report_hangups() {
            warn(&format!("cannot see who hangs up: {error}"));
        }
    })
}

fn io_error(action: &'static str, path: &Path, source: io::Error) -> StartError {
    StartError::Io { action, path: path.to_owned(), source }
}

/// Raises the limit of file descriptors: thousands of questions need thousands.
fn raise_descriptor_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // If it cannot be raised, fewer questions fit at once.
    setrlimit(Resource::Nofile, limit).ok();
}

fn restore_desk(
    store: &Store,
    settings: DeskSettings,
    authority: Authority,
    takes_up: bool,
) -> Result<Desk, StoreError> {
    let now = DeskTime { mono: Duration::ZERO, wall_ms: now_ms() };
    let open = if takes_up { store.open_questions(now.wall_ms - OLDEST_MS)? } else { Vec::new() };
    // Whoever presses late is told what has become of these, and some let a blocked call try again.
    let over = store.recently_closed(RECENT)?;
    let mut desk = Desk::new(settings, authority, crate::telegram::is_cut_in_message);
    desk.restore(now, &open, &over, &store.kept_under("")?, store.chained_links()?);
    if was_active_lately(store, now.wall_ms)? {
        desk.doubt_runs();
    }
    Ok(desk)
}

/// Returns true if calls allowed by another desk, or by a hook without a desk, may still run.
fn was_active_lately(store: &Store, now_ms: i64) -> Result<bool, StoreError> {
    let last = store.entries_before(&EntryFilter::default(), u64::MAX, 1)?;
    let last_ms = last.first().map(|entry| entry.at_ms);
    let absent = last_absence(store.path());
    let since_epoch = absent.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let absent_ms = since_epoch.and_then(|at| i64::try_from(at.as_millis()).ok());
    let longest_ms = i64::try_from(LONGEST_CALL.as_millis()).unwrap_or(i64::MAX);
    Ok(last_ms.max(absent_ms).is_some_and(|at_ms| now_ms - at_ms < longest_ms))
}

/// Records the start in the ledger, after the desk is restored: that depends on when the last entry
/// was written before. Returns the number of the entry.
fn record_start(store: &mut Store) -> Result<u64, StoreError> {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let started = LedgerEvent::Started(DeskStarted { version, pid: std::process::id() });
    store.append_entries(&[EntryDraft::new(now_ms(), None, &started)])?;
    store.last_seq()
}
