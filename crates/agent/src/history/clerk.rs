//! The thread that alone works on the store of the history.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use callgate_store::FileIdentity;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use super::error::HistoryError;
use super::shelf::{HistoryLocation, HistoryStore, RememberedConversation};

/// How many jobs may wait for the thread; further callers wait until there is room.
const MOST_WAITING: usize = 64;

/// How long a hurried drop waits for the thread, and how often it looks.
const IN_A_HURRY: Duration = Duration::from_millis(400);
const A_MOMENT: Duration = Duration::from_millis(2);

type StoreJob = Box<dyn FnOnce(Result<&mut HistoryStore, HistoryError>) + Send>;

/// What the thread and those who ask it share.
#[derive(Default)]
struct ThreadState {
    /// None while the file cannot be opened.
    shelf: Mutex<Option<HistoryStore>>,
    /// How many jobs were sent and are not done.
    jobs: AtomicUsize,
    /// The files that are open.
    files: Mutex<Vec<FileIdentity>>,
    /// The conversation that was worked on last.
    remembered: Mutex<Option<RememberedConversation>>,
}

/// The thread. When this is dropped it does what it was sent and ends.
pub(super) struct HistoryThread {
    jobs: Option<Sender<StoreJob>>,
    thread: Option<JoinHandle<()>>,
    desk: Arc<ThreadState>,
    is_hurried: AtomicBool,
    /// Names the file among others.
    name: String,
}

impl HistoryThread {
    pub(super) fn start(place: HistoryLocation) -> Self {
        let name = place.name();
        let (jobs, waiting) = channel(MOST_WAITING);
        let desk = Arc::new(ThreadState::default());
        let shared = Arc::clone(&desk);
        let thread = thread::Builder::new().name("history".to_owned());
        let thread = thread.spawn(move || work(&place, waiting, &shared)).ok();
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

    /// Makes sure that the open files are those that others find.
    pub(super) fn check_files(&self) -> Result<(), HistoryError> {
        Ok(all(&self.desk.files).iter().try_for_each(FileIdentity::check)?)
    }

    /// Keeps a conversation in memory as it was left, in place of another one.
    pub(super) fn remember(&self, known: RememberedConversation) {
        *all(&self.desk.remembered) = Some(known);
    }

    /// Gives what is remembered of a conversation, and remembers it no longer.
    pub(super) fn recall(&self, id: &str) -> Option<RememberedConversation> {
        all(&self.desk.remembered).take_if(|known| &*known.id == id)
    }

    /// Does something on the caller's thread, if the other one has nothing to do and the file is
    /// open. It must not take long: whoever calls this may be the one on whom everything waits.
    pub(super) fn at_once<T>(&self, work: impl FnOnce(&mut HistoryStore) -> T) -> Option<T> {
        if self.desk.jobs.load(Ordering::Acquire) > 0 {
            return None;
        }
        self.desk.shelf.try_lock().ok()?.as_mut().map(work)
    }

    /// Has the thread do something. Once this has returned it will be done, also when nobody
    /// waits for what comes of it.
    pub(super) async fn send<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut HistoryStore) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<oneshot::Receiver<Result<T, HistoryError>>, HistoryError> {
        let (reply, answer) = oneshot::channel();
        let job = move |shelf: Result<&mut HistoryStore, HistoryError>| {
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

impl Drop for HistoryThread {
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
fn work(place: &HistoryLocation, mut jobs: Receiver<StoreJob>, desk: &ThreadState) {
    open(place, &mut all(&desk.shelf), desk).ok();
    while let Some(job) = jobs.blocking_recv() {
        job(open(place, &mut all(&desk.shelf), desk));
        desk.jobs.fetch_sub(1, Ordering::AcqRel);
    }
    // What is not in the main file yet is moved there by whoever closes it.
    all(&desk.shelf).take();
}

fn open<'a>(
    place: &HistoryLocation,
    shelf: &'a mut Option<HistoryStore>,
    desk: &ThreadState,
) -> Result<&'a mut HistoryStore, HistoryError> {
    if let Some(open) = shelf {
        return Ok(open);
    }
    let open = HistoryStore::open(place)?;
    open.warm();
    *all(&desk.files) = open.files();
    Ok(shelf.insert(open))
}

fn all<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
