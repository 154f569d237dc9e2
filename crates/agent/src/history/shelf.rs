//! The file behind the history, and the thread that alone works on it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use callgate_store::{Addition, Draft, Settlement, Store};
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
}

impl Shelf {
    fn open(place: &Place) -> Result<Self, HistoryError> {
        Ok(match place {
            Place::File(path) => {
                let store = Store::open(path)?;
                let locks = Locks::beside(store.path());
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
        Ok(Loaded { mender, length: known.length.min(below), is_titled: known.title.is_some() })
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
type Trouble = Arc<Mutex<Option<HistoryError>>>;

/// The thread. When this is dropped it does what it was sent and ends.
pub(super) struct Clerk {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    trouble: Trouble,
    is_hurried: AtomicBool,
    /// Names the file among others.
    name: String,
}

impl Clerk {
    pub(super) fn start(place: Place) -> Self {
        let name = place.name();
        let (jobs, waiting) = channel(MOST_WAITING);
        let trouble = Trouble::default();
        let told = Arc::clone(&trouble);
        let thread = thread::Builder::new().name("history".to_owned());
        let thread = thread.spawn(move || work(&place, waiting, &told)).ok();
        if thread.is_none() {
            tell(&trouble, Some(HistoryError::Gone));
        }
        Self { jobs: Some(jobs), thread, trouble, is_hurried: AtomicBool::new(false), name }
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
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
        jobs.send(Box::new(job)).await.map_err(|_| HistoryError::Gone)?;
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
fn work(place: &Place, mut jobs: Receiver<Job>, trouble: &Trouble) {
    let mut shelf = None;
    open(place, &mut shelf, trouble).ok();
    while let Some(job) = jobs.blocking_recv() {
        job(open(place, &mut shelf, trouble));
    }
}

fn open<'a>(
    place: &Place,
    shelf: &'a mut Option<Shelf>,
    trouble: &Trouble,
) -> Result<&'a mut Shelf, HistoryError> {
    if let Some(open) = shelf {
        return Ok(open);
    }
    match Shelf::open(place) {
        Ok(open) => {
            open.ledger.as_ref().unwrap_or(&open.store).warm();
            tell(trouble, None);
            Ok(shelf.insert(open))
        }
        Err(error) => {
            tell(trouble, Some(error.clone()));
            Err(error)
        }
    }
}

fn tell(trouble: &Trouble, what: Option<HistoryError>) {
    *trouble.lock().unwrap_or_else(PoisonError::into_inner) = what;
}
