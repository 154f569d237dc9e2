//! The copies of other machines' ledgers: one thread and one connection to the database for all
//! machines.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use callgate_link::sync::lock;
use callgate_store::{ChainHead, CopyOutcome, LedgerEntry, Store, StoreError};
use tokio::sync::{mpsc, oneshot};

/// How many errands may wait for the thread.
const QUEUE: usize = 64;

type StoreErrand = Box<dyn FnOnce(&mut Store) + Send>;

/// Stores the copies of other machines' ledgers. Clones share one thread, which the first errand
/// starts.
#[derive(Debug, Clone)]
pub(crate) struct LedgerCopies(Arc<CopyingThread>);

#[derive(Debug)]
struct CopyingThread {
    database: PathBuf,
    errands: Mutex<Option<mpsc::Sender<StoreErrand>>>,
}

impl LedgerCopies {
    /// Returns the copies in a database. Nothing is opened yet.
    pub(crate) fn in_database(database: &Path) -> Self {
        let database = database.to_owned();
        Self(Arc::new(CopyingThread { database, errands: Mutex::default() }))
    }

    /// Returns the way to the thread, which ends with the last clone.
    fn errands(&self) -> Result<mpsc::Sender<StoreErrand>, String> {
        let mut errands = lock(&self.0.errands);
        if let Some(errands) = &*errands {
            return Ok(errands.clone());
        }
        let mut store = Store::open(&self.0.database).map_err(|error| error.to_string())?;
        let (errands_in, mut waiting) = mpsc::channel::<StoreErrand>(QUEUE);
        let work = move || {
            while let Some(errand) = waiting.blocking_recv() {
                errand(&mut store);
            }
        };
        let started = thread::Builder::new().name("ledger copies".to_owned()).spawn(work);
        started.map_err(|error| error.to_string())?;
        Ok(errands.insert(errands_in).clone())
    }

    /// Returns the last entry of a machine's ledger that was copied.
    pub(crate) async fn copied_through(&self, machine: &str) -> Result<Option<ChainHead>, String> {
        let machine = machine.to_owned();
        self.run(move |store| store.copied_through(&machine)).await
    }

    /// Adds entries to the copy of a machine's ledger, all or none.
    pub(crate) async fn copy_entries(
        &self,
        machine: &str,
        entries: Vec<LedgerEntry>,
        begins_anew: bool,
    ) -> Result<CopyOutcome, String> {
        let machine = machine.to_owned();
        self.run(move |store| store.copy_entries(&machine, &entries, begins_anew)).await
    }

    /// Runs something with the database on the thread, and waits for it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, String> {
        const GONE: &str = "the thread that keeps the ledgers of other machines has ended";
        let (done_in, done) = oneshot::channel();
        // Whoever does not wait any more needs no result.
        let errand: StoreErrand = Box::new(move |store| drop(done_in.send(work(store))));
        self.errands()?.send(errand).await.map_err(|_| GONE.to_owned())?;
        done.await.map_err(|_| GONE.to_owned())?.map_err(|error| error.to_string())
    }
}
