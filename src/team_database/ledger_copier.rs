//! The thread that copies the ledgers of machines into the team's audit log. What many machines
//! have sent at once is written in one transaction, because the server's disk is what takes the
//! time.

use std::thread;

use callgate_store::ChainHead;
use callgate_team_store::{LedgerPart, MOST_COPIES, TeamResult, TeamStore, TeamStoreError};
use tokio::sync::{mpsc, oneshot};

/// How many parts of ledgers may wait.
const QUEUE: usize = 256;

type CopyReceipt = oneshot::Sender<TeamResult<ChainHead>>;

/// The way to the thread. It ends with the last clone.
#[derive(Clone)]
pub(super) struct LedgerCopier(mpsc::Sender<(LedgerPart, CopyReceipt)>);

impl LedgerCopier {
    pub(super) fn start(mut store: Box<dyn TeamStore>) -> std::io::Result<Self> {
        let (parts_in, mut waiting) = mpsc::channel::<(LedgerPart, CopyReceipt)>(QUEUE);
        let work = move || {
            while let Some(first) = waiting.blocking_recv() {
                let mut count = first.0.copies.len();
                let mut batch = vec![first];
                // Only what waits already is added, so that nobody waits for a batch to become
                // full.
                while count < MOST_COPIES
                    && let Ok(next) = waiting.try_recv()
                {
                    count += next.0.copies.len();
                    batch.push(next);
                }
                copy_batch(store.as_mut(), batch);
            }
        };
        thread::Builder::new().name("team copier".to_owned()).spawn(work)?;
        Ok(Self(parts_in))
    }

    pub(super) async fn copy(&self, part: LedgerPart) -> TeamResult<ChainHead> {
        let gone = || TeamStoreError::Unreachable { why: "the desk ends".to_owned() };
        let (receipt_in, receipt) = oneshot::channel();
        self.0.send((part, receipt_in)).await.map_err(|_| gone())?;
        receipt.await.map_err(|_| gone())?
    }
}

fn copy_batch(store: &mut dyn TeamStore, batch: Vec<(LedgerPart, CopyReceipt)>) {
    let (parts, receipts): (Vec<LedgerPart>, Vec<CopyReceipt>) = batch.into_iter().unzip();
    let copied = store.copy_ledgers(&parts).unwrap_or_else(|error| {
        let retry = |part: &LedgerPart| match &error {
            TeamStoreError::Unreachable { why } => {
                Err(TeamStoreError::Unreachable { why: why.clone() })
            }
            // The server refuses something in one of them, which is no reason to refuse the others.
            _ => store.copy_entries(&part.chain, part.after, &part.copies),
        };
        parts.iter().map(retry).collect()
    });
    for (copied, receipt) in copied.into_iter().zip(receipts) {
        // A line that has ended meanwhile needs no receipt: it asks again how far its ledger is.
        receipt.send(copied).ok();
    }
}
