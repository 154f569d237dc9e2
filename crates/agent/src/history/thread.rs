//! The thread that alone works on the store of the history.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use callgate_link::sync::lock;
use callgate_store::{FileIdentity, StoreError};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use super::error::HistoryError;
use super::store::{FolderScope, HistoryLocation, HistoryStore, RememberedConversation};

/// How many jobs may wait for the thread; further callers wait until there is room.
const MOST_WAITING: usize = 64;

/// How long a hurried drop waits for the thread, and how often it looks.
const IN_A_HURRY: Duration = Duration::from_millis(400);
const A_MOMENT: Duration = Duration::from_millis(2);

/// How many pages callers write before the thread moves them into the main file. The
/// store would do that at 1,000 pages, on the thread of whoever writes, and wait for the disk.
const MOST_PAGES: usize = 500;
/// The size of a page of the store, in bytes.
const PAGE: usize = 4096;
/// How many pages of its indexes and tables a small change writes.
const PAGES_BESIDE: usize = 2;

/// A job on the store; returns the function that notifies its caller.
type StoreJob =
    Box<dyn FnOnce(Result<&mut HistoryStore, HistoryError>) -> Box<dyn FnOnce()> + Send>;

/// The state that the thread shares with its callers.
#[derive(Default)]
struct ThreadState {
    /// The open store; `None` while it cannot be opened.
    stores: Mutex<Option<HistoryStore>>,
    jobs: AtomicUsize,
    files: Mutex<Vec<FileIdentity>>,
    /// About how many pages callers have written since the thread moved them.
    pages: AtomicUsize,
    /// The conversation that was used last.
    remembered: Mutex<Option<RememberedConversation>>,
}

/// The thread of the history. When this is dropped, it finishes its jobs and ends.
pub(super) struct HistoryThread {
    jobs: Option<Sender<StoreJob>>,
    thread: Option<JoinHandle<()>>,
    state: Arc<ThreadState>,
    /// Whether the drop waits only briefly.
    pub(super) is_hurried: AtomicBool,
    /// The unique name of the history.
    pub(super) name: String,
}

impl HistoryThread {
    pub(super) fn start(place: HistoryLocation, scope: Option<FolderScope>) -> Self {
        let name = place.name();
        let (jobs, waiting) = channel(MOST_WAITING);
        let state = Arc::new(ThreadState::default());
        let shared = Arc::clone(&state);
        let thread = thread::Builder::new().name("history".to_owned());
        let open = move || HistoryStore::open(&place, scope.clone());
        let thread = thread.spawn(move || run_jobs(open, waiting, &shared)).ok();
        Self { jobs: Some(jobs), thread, state, is_hurried: AtomicBool::new(false), name }
    }

    /// Returns an error if an open file was removed or replaced.
    pub(super) fn check_files(&self) -> Result<(), HistoryError> {
        Ok(lock(&self.state.files).iter().try_for_each(FileIdentity::check_unchanged)?)
    }

    /// Remembers a conversation as it was left, in place of another.
    pub(super) fn remember(&self, known: RememberedConversation) {
        *lock(&self.state.remembered) = Some(known);
    }

    pub(super) fn recall(&self, id: &str) -> Option<RememberedConversation> {
        lock(&self.state.remembered).take_if(|known| &*known.id == id)
    }

    /// Runs something on the caller's thread, if the history's thread is idle and the store is
    /// open. It must not take long, because everything may wait for the caller.
    pub(super) fn at_once<T>(&self, work: impl FnOnce(&mut HistoryStore) -> T) -> Option<T> {
        // Jobs that wait for the thread were sent before, so they have to be done before.
        if self.state.jobs.load(Ordering::Acquire) > 0 {
            return None;
        }
        self.state.stores.try_lock().ok()?.as_mut().map(work)
    }

    /// Writes about `bytes` on the caller's thread, which is quicker than the way to the thread and
    /// back. Returns `None`, and writes nothing, if that would have to wait: for the thread, or for
    /// another process.
    pub(super) fn write_at_once<T>(
        &self,
        bytes: usize,
        work: impl FnOnce(&mut HistoryStore) -> Result<T, HistoryError>,
    ) -> Option<Result<T, HistoryError>> {
        let done = self.at_once(|stores| stores.at_once(work))?;
        let pages = PAGES_BESIDE + bytes / PAGE;
        // Relaxed, because this is an estimate on which nothing else depends.
        if self.state.pages.fetch_add(pages, Ordering::Relaxed) + pages > MOST_PAGES {
            self.tidy();
        }
        match done {
            Err(HistoryError::Store(error)) if matches!(*error, StoreError::Busy(_)) => None,
            done => Some(done),
        }
    }

    /// Asks the thread to move what was written into the main file.
    fn tidy(&self) {
        // Without room it is left to a later write, for which the count still stands.
        let Some(place) = self.jobs.as_ref().and_then(|jobs| jobs.try_reserve().ok()) else {
            return;
        };
        self.state.pages.store(0, Ordering::Relaxed);
        self.state.jobs.fetch_add(1, Ordering::AcqRel);
        place.send(Box::new(|stores| {
            // What cannot be moved now stays where it is, and is whole there.
            stores.and_then(|stores| Ok(stores.store.checkpoint()?)).ok();
            Box::new(|| ())
        }));
    }

    /// Sends a job to the thread. Once this has returned, the job will be done, even if nobody
    /// waits for its result.
    pub(super) async fn send<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut HistoryStore) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<oneshot::Receiver<Result<T, HistoryError>>, HistoryError> {
        let (reply, answer) = oneshot::channel();
        let job = move |stores: Result<&mut HistoryStore, HistoryError>| -> Box<dyn FnOnce()> {
            let done = stores.and_then(work);
            // The caller may have gone; the job is done all the same.
            Box::new(move || drop(reply.send(done)))
        };
        let jobs = self.jobs.as_ref().ok_or(HistoryError::Gone)?;
        // Counted once there is room, because a caller may give up waiting, and before it is sent,
        // so that the thread never counts down first.
        let place = jobs.reserve().await.map_err(|_| HistoryError::Gone)?;
        self.state.jobs.fetch_add(1, Ordering::AcqRel);
        place.send(Box::new(job));
        Ok(answer)
    }
}

impl Drop for HistoryThread {
    fn drop(&mut self) {
        // The thread ends when nobody can send it anything any more.
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let end = Instant::now() + IN_A_HURRY;
            // Looked at again and again, because a thread cannot be joined with a time limit.
            while self.is_hurried.load(Ordering::Relaxed) && !thread.is_finished() {
                if Instant::now() > end {
                    return;
                }
                thread::sleep(A_MOMENT);
            }
            // An error means that it has panicked, which its callers have noticed.
            thread.join().ok();
        }
    }
}

/// Runs the thread: opens the store, trying again at each job, and does the jobs.
fn run_jobs(
    open: impl Fn() -> Result<HistoryStore, HistoryError>,
    mut jobs: Receiver<StoreJob>,
    state: &ThreadState,
) {
    // Opened before anybody asks, so that the first does not wait; each job reports the failure.
    opened_store(&open, &mut lock(&state.stores), state).ok();
    while let Some(job) = jobs.blocking_recv() {
        let notify = job(opened_store(&open, &mut lock(&state.stores), state));
        // The caller may write at once, so it finds the thread idle.
        state.jobs.fetch_sub(1, Ordering::AcqRel);
        notify();
    }
    // Closing the store moves what is left in its journal to the main file.
    lock(&state.stores).take();
}

fn opened_store<'a>(
    open: &impl Fn() -> Result<HistoryStore, HistoryError>,
    stores: &'a mut Option<HistoryStore>,
    state: &ThreadState,
) -> Result<&'a mut HistoryStore, HistoryError> {
    if let Some(open) = stores {
        return Ok(open);
    }
    let open = open()?;
    // Apart from the store, which may be busy when somebody checks the files.
    *lock(&state.files) = open.files();
    Ok(stores.insert(open))
}
