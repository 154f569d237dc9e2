//! The file behind the history, and the thread that alone works on it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use callgate_store::{Addition, ConversationState, Draft, FileIdentity, Settlement, Store};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::error::HistoryError;
use super::lock::{Locks, Token};
use super::mend::Mender;
use super::parse;
use super::reservation::Purse;
use crate::message::Message;

/// How many requests may wait for the thread; whoever comes then waits before.
const MOST_WAITING: usize = 64;

/// How long the end is waited for by somebody in a hurry, and how often it is looked at.
const IN_A_HURRY: Duration = Duration::from_millis(400);
const A_MOMENT: Duration = Duration::from_millis(2);

/// Where a history is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In this file, with the ledger.
    File(PathBuf),
    /// Conversations in memory, gone with the process; the ledger in this file.
    Ledger(PathBuf),
    /// All in memory, gone with the process.
    Memory,
}

impl Place {
    /// Returns what tells a history from others, in all processes.
    fn name(&self) -> String {
        match self {
            Self::File(path) | Self::Ledger(path) => whole(path).to_string_lossy().into_owned(),
            Self::Memory => format!("memory {}", Uuid::new_v4()),
        }
    }
}

/// Returns a path under which all who open the file know it, also before it is there.
fn whole(path: &Path) -> PathBuf {
    let beside = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

/// What is open.
pub(super) struct Shelf {
    pub(super) store: Store,
    /// The ledger's own file, if it is another.
    ledger: Option<Store>,
    locks: Locks,
    /// What budgets are reserved with.
    pub(super) purse: Purse,
}

/// A conversation as it was read.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) mender: Mender,
    /// How many messages it has.
    pub(super) length: u64,
    /// Whether it has a title.
    pub(super) is_titled: bool,
    /// By what it is known that nobody has changed it since; none when it is not in the file.
    pub(super) state: Option<ConversationState>,
}

/// A conversation as it was left. While nobody changes it, it need not be read again.
pub(super) struct Remembered {
    pub(super) id: Arc<str>,
    pub(super) loaded: Loaded,
}

impl Shelf {
    fn open(place: &Place) -> Result<Self, HistoryError> {
        Ok(match place {
            Place::File(path) => {
                let store = Store::open(path)?;
                let locks = Locks::beside(store.path());
                locks.sweep(&store)?;
                let purse = Purse::beside(Some(store.path()));
                Self { store, ledger: None, locks, purse }
            }
            Place::Ledger(path) => {
                let ledger = Store::open(path)?;
                let purse = Purse::beside(Some(ledger.path()));
                Self { ledger: Some(ledger), purse, ..Self::in_memory()? }
            }
            Place::Memory => Self::in_memory()?,
        })
    }

    fn in_memory() -> Result<Self, HistoryError> {
        let (store, locks, purse) = (Store::in_memory()?, Locks::in_memory(), Purse::beside(None));
        Ok(Self { store, ledger: None, locks, purse })
    }

    /// Takes the lock of a conversation, unless somebody has it.
    pub(super) fn lock(&self, conversation: &str) -> Result<Option<Token>, HistoryError> {
        self.locks.take(conversation)
    }

    /// Returns the ledger, with all that is spent.
    pub(super) fn ledger(&mut self) -> &mut Store {
        self.ledger.as_mut().unwrap_or(&mut self.store)
    }

    /// Returns true if conversations are not in the file of the ledger.
    pub(super) fn has_ledger_apart(&self) -> bool {
        self.ledger.is_some()
    }

    /// Takes the lock of a conversation if it can be had at once and the conversation is as it
    /// was left.
    pub(super) fn lock_again(&self, known: &Remembered) -> Option<Token> {
        // Whatever is wrong is told by whoever reads the conversation then.
        let token = self.lock(&known.id).ok()??;
        self.is_as_left(known).then_some(token)
    }

    /// Whether a conversation is as it was left.
    pub(super) fn is_as_left(&self, known: &Remembered) -> bool {
        let state = self.state(&known.id);
        state.is_some() && state == known.loaded.state
    }

    /// By what it is known later that nobody has changed a conversation.
    pub(super) fn state(&self, id: &str) -> Option<ConversationState> {
        // One whose state cannot be read is read anew the next time.
        self.store.conversation_state(id).ok().flatten()
    }

    /// The files that it works on.
    fn files(&self) -> Vec<FileIdentity> {
        [Some(&self.store), self.ledger.as_ref()]
            .into_iter()
            .filter_map(|store| store?.file().cloned())
            .collect()
    }

    /// Writes to the ledger.
    pub(super) fn record(&mut self, drafts: &[Draft]) -> Result<(), HistoryError> {
        Ok(self.ledger().append(drafts).map(drop)?)
    }

    /// Writes to a conversation and the ledger.
    pub(super) fn add(&mut self, addition: &Addition<'_>) -> Result<u64, HistoryError> {
        if !self.has_ledger_apart() {
            return Ok(self.store.add(addition)?);
        }
        let Addition { at_ms, reservation, spending, drafts, .. } = *addition;
        // What is only in memory cannot be in one transaction with what is in the file.
        if reservation.is_some() || spending.is_some() || !drafts.is_empty() {
            let account = &*self.account(addition.conversation).into_owned();
            let settlement = Settlement { account, at_ms, reservation, spending, drafts };
            self.ledger().settle(&settlement)?;
        }
        let rest = Addition { reservation: None, spending: None, drafts: &[], ..*addition };
        Ok(self.store.add(&rest)?)
    }

    /// Reads a conversation as the model is to see it, up to the message before `below`.
    pub(super) fn load(&self, id: &str, below: Option<u64>) -> Result<Loaded, HistoryError> {
        let state = self.state(id);
        let Some(known) = self.store.conversation(id)? else { return Ok(Loaded::default()) };
        let mut mender = Mender::default();
        if let Some(summary) = known.summary.as_deref() {
            match parse::message(summary) {
                Some(read) => mender.begin(known.summarized, read.message),
                None => mender.skip(known.summarized),
            }
        }
        let below = below.unwrap_or(u64::MAX);
        self.store.each_message(id, known.summarized, |number, body| {
            if number < below {
                take(&mut mender, number, body, number < known.aged);
            }
        })?;
        mender.close();
        let (length, is_titled) = (known.length.min(below), known.title.is_some());
        Ok(Loaded { mender, length, is_titled, state })
    }

    /// Reads the message of this number, which is there.
    pub(super) fn message(&self, id: &str, number: u64) -> Result<Option<Message>, HistoryError> {
        let mut found = None;
        self.store.each_message_before(id, number.saturating_add(1), |_, body| {
            found = body.and_then(parse::message).map(|read| read.message);
            false
        })?;
        Ok(found)
    }
}

fn take(mender: &mut Mender, number: u64, body: Option<&str>, is_aged: bool) {
    let Some(read) = body.and_then(parse::message) else { return mender.skip(number) };
    if !read.is_whole {
        mender.skip(number);
    }
    mender.push(number, read.message, is_aged);
}

/// Now, in milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX)
}

type Job = Box<dyn FnOnce(Result<&mut Shelf, HistoryError>) + Send>;

/// What the thread and those who ask it share.
#[derive(Default)]
struct Desk {
    /// None while the file cannot be opened.
    shelf: Mutex<Option<Shelf>>,
    /// How many jobs were sent and are not done.
    jobs: AtomicUsize,
    /// Why the file cannot be opened.
    trouble: Mutex<Option<HistoryError>>,
    /// The files that are open.
    files: Mutex<Vec<FileIdentity>>,
    /// The conversation that was worked on last.
    remembered: Mutex<Option<Remembered>>,
}

/// The thread. When this is dropped it does what it was sent and ends.
pub(super) struct Clerk {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    desk: Arc<Desk>,
    is_hurried: AtomicBool,
    /// Names the file among others.
    name: String,
}

impl Clerk {
    pub(super) fn start(place: Place) -> Self {
        let name = place.name();
        let (jobs, waiting) = channel(MOST_WAITING);
        let desk = Arc::new(Desk::default());
        let shared = Arc::clone(&desk);
        let thread = thread::Builder::new().name("history".to_owned());
        let thread = thread.spawn(move || work(&place, waiting, &shared)).ok();
        if thread.is_none() {
            *all(&desk.trouble) = Some(HistoryError::Gone);
        }
        Self { jobs: Some(jobs), thread, desk, is_hurried: AtomicBool::new(false), name }
    }

    /// Returns what tells the file from others.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// From now on the end is not waited for long.
    pub(super) fn hurry(&self) {
        self.is_hurried.store(true, Ordering::Relaxed);
    }

    pub(super) fn trouble(&self) -> Option<HistoryError> {
        all(&self.desk.trouble).clone()
    }

    /// Makes sure that the open files are those that others find.
    pub(super) fn check_files(&self) -> Result<(), HistoryError> {
        Ok(all(&self.desk.files).iter().try_for_each(FileIdentity::check)?)
    }

    /// Keeps a conversation in memory as it was left, in place of another one.
    pub(super) fn remember(&self, known: Remembered) {
        *all(&self.desk.remembered) = Some(known);
    }

    /// Gives what is remembered of a conversation, and remembers it no longer.
    pub(super) fn recall(&self, id: &str) -> Option<Remembered> {
        all(&self.desk.remembered).take_if(|known| &*known.id == id)
    }

    /// Does something on the caller's thread, if the other one has nothing to do and the file is
    /// open. It must not take long: whoever calls this may be the one on whom everything waits.
    pub(super) fn at_once<T>(&self, work: impl FnOnce(&mut Shelf) -> T) -> Option<T> {
        if self.desk.jobs.load(Ordering::Acquire) > 0 {
            return None;
        }
        self.desk.shelf.try_lock().ok()?.as_mut().map(work)
    }

    /// Has the thread do something. Once this has returned it will be done, also when nobody
    /// waits for what comes of it.
    pub(super) async fn send<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Shelf) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<oneshot::Receiver<Result<T, HistoryError>>, HistoryError> {
        let (reply, answer) = oneshot::channel();
        let job = move |shelf: Result<&mut Shelf, HistoryError>| {
            // Whoever asked may have gone; what was asked is done all the same.
            reply.send(shelf.and_then(work)).ok();
        };
        let jobs = self.jobs.as_ref().ok_or(HistoryError::Gone)?;
        let place = jobs.reserve().await.map_err(|_| HistoryError::Gone)?;
        self.desk.jobs.fetch_add(1, Ordering::AcqRel);
        place.send(Box::new(job));
        Ok(answer)
    }
}

impl Drop for Clerk {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let end = Instant::now() + IN_A_HURRY;
            while self.is_hurried.load(Ordering::Relaxed) && !thread.is_finished() {
                if Instant::now() > end {
                    return;
                }
                thread::sleep(A_MOMENT);
            }
            // It has failed if it has panicked, and whoever waited for it was told.
            thread.join().ok();
        }
    }
}

/// Opens the file, and tries again at each request while it cannot.
fn work(place: &Place, mut jobs: Receiver<Job>, desk: &Desk) {
    open(place, &mut all(&desk.shelf), desk).ok();
    while let Some(job) = jobs.blocking_recv() {
        job(open(place, &mut all(&desk.shelf), desk));
        desk.jobs.fetch_sub(1, Ordering::AcqRel);
    }
    // What is not in the main file yet is moved there by whoever closes it.
    all(&desk.shelf).take();
}

fn open<'a>(
    place: &Place,
    shelf: &'a mut Option<Shelf>,
    desk: &Desk,
) -> Result<&'a mut Shelf, HistoryError> {
    if let Some(open) = shelf {
        return Ok(open);
    }
    match Shelf::open(place) {
        Ok(open) => {
            open.ledger.as_ref().unwrap_or(&open.store).warm();
            *all(&desk.trouble) = None;
            *all(&desk.files) = open.files();
            Ok(shelf.insert(open))
        }
        Err(error) => {
            *all(&desk.trouble) = Some(error.clone());
            Err(error)
        }
    }
}

fn all<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
