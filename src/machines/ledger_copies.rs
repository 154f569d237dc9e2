//! The copies of other machines' ledgers: one thread and one connection to the database for all
//! machines.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use callgate_store::{ChainHead, CopyOutcome, LedgerEntry, Store, StoreError};

use crate::errand_thread::ErrandThread;

/// Stores the copies of other machines' ledgers. Clones share one thread, which the first errand
/// starts.
#[derive(Debug, Clone)]
pub(crate) struct LedgerCopies(Arc<CopyingThread>);

#[derive(Debug)]
struct CopyingThread {
    database: PathBuf,
    thread: Mutex<Option<ErrandThread<Store>>>,
}

impl LedgerCopies {
    /// Returns the copies in a database. Nothing is opened yet.
    pub(crate) fn in_database(database: &Path) -> Self {
        let database = database.to_owned();
        Self(Arc::new(CopyingThread { database, thread: Mutex::default() }))
    }

    fn thread(&self) -> Result<ErrandThread<Store>, String> {
        // The lock is held while the file is opened, so that there is one thread for all.
        let mut thread = lock(&self.0.thread);
        if let Some(thread) = &*thread {
            return Ok(thread.clone());
        }
        let store = Store::open(&self.0.database).map_err(|error| error.to_string())?;
        let started = ErrandThread::start("ledger copies", store);
        Ok(thread.insert(started.map_err(|error| error.to_string())?).clone())
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
        let done = self.thread()?.run(work).await;
        done.ok_or(GONE)?.map_err(|error| error.to_string())
    }
}
