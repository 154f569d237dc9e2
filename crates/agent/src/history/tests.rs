//! The history from outside: what it keeps, who may work on what, and what it survives.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod conversations;
mod keeping;
mod memory;
mod processes;
mod spending;
pub(crate) mod strict;
mod turns;

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Waker};

use callgate_store::{Addition, EntryDraft, NewMessage, Store};
use tempfile::TempDir;

use super::*;
use crate::message::{Block, ChatMessage};
use strict::{read, show};

/// A folder with a history in it.
struct House {
    folder: TempDir,
    history: History,
}

impl House {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let history = open(&folder.path().join("ledger.db"));
        Self { folder, history }
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("ledger.db")
    }

    /// Returns the same file, opened once more.
    fn another(&self) -> History {
        open(&self.path())
    }

    /// Writes rows to a conversation as no history does.
    fn write_rows(&self, conversation: &str, rows: &[&str]) {
        let messages: Vec<NewMessage> =
            rows.iter().map(|row| NewMessage { body: (*row).to_owned(), begins: true }).collect();
        let addition = Addition { conversation, messages: &messages, ..Addition::default() };
        Store::open(&self.path()).unwrap().add_to_conversation(&addition).unwrap();
    }
}

impl History {
    /// Like [`hold_or`](Self::hold_or), for whoever need not know that it waits.
    pub(crate) async fn hold(&self, conversation: &str) -> Result<HeldConversation, HistoryError> {
        self.hold_or(conversation, || ()).await
    }

    /// Returns what a conversation has cost, what all have cost at `since_ms` or later, and what
    /// is reserved.
    async fn spent(&self, conversation: &str, since_ms: i64) -> Result<CostTotals, HistoryError> {
        let id = checked_id(conversation)?;
        self.run_job(move |stores| {
            let account = stores.account(&id).into_owned();
            Ok(stores.ledger().cost_totals(&account, since_ms)?)
        })
        .await
    }
}

impl HeldConversation {
    /// Keeps a step in place of the last turn.
    async fn commit_replacing(&mut self, step: HistoryStep) -> Result<(), HistoryError> {
        self.take_back().await?;
        self.commit(step).await
    }
}

fn open(path: &Path) -> History {
    History::start(HistoryLocation::File(path.to_owned()))
}

/// Keeps the thread busy until what this gives is dropped.
async fn busy(history: &History) -> Sender<()> {
    let (busy, done) = channel();
    let wait = move |_: &mut HistoryStore| Ok(done.recv().is_err());
    drop(history.0.send(wait).await.unwrap());
    busy
}

/// Begins something and gives it up when it has to wait.
fn begin<T>(future: impl Future<Output = T>) {
    let mut future = pin!(future);
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

/// Returns a step with these messages that begins a turn.
fn turn(messages: &str) -> HistoryStep {
    HistoryStep { messages: read(messages), begins_turn: true, ..HistoryStep::default() }
}

/// Returns a step with these messages within a turn.
fn round(messages: &str) -> HistoryStep {
    HistoryStep { messages: read(messages), ..HistoryStep::default() }
}

fn draft(body: &str) -> EntryDraft {
    EntryDraft { at_ms: 1, kind: "ran".to_owned(), question: None, body: body.to_owned() }
}

fn shown(held: &HeldConversation) -> String {
    show(held.messages().iter().map(Arc::as_ref))
}

/// Returns what somebody who comes later finds.
async fn found(history: &History, conversation: &str) -> String {
    shown(&history.hold(conversation).await.unwrap())
}

async fn keep(history: &History, conversation: &str, messages: &str) {
    history.hold(conversation).await.unwrap().commit(turn(messages)).await.unwrap();
}
