//! A letter: an input on its way to the desk's thread.

use tokio::sync::{mpsc, oneshot};

use crate::desk::DeskInput;

/// Something for the desk, and whom to tell that it was recorded.
#[derive(Debug)]
pub(super) struct Letter {
    pub(super) input: DeskInput,
    /// Is sent to once it is recorded, if its sender waits for that.
    pub(super) recorded: Option<oneshot::Sender<()>>,
}

impl Letter {
    pub(super) fn new(input: DeskInput) -> Self {
        Self { input, recorded: None }
    }

    /// Sends the desk an input and waits until it is recorded. Returns false if it was not, because
    /// the ledger could not be written or the desk has ended.
    pub(super) async fn send_recorded(to_desk: &mpsc::Sender<Self>, input: DeskInput) -> bool {
        let (recorded, is_recorded) = oneshot::channel();
        let letter = Self { input, recorded: Some(recorded) };
        to_desk.send(letter).await.is_ok() && is_recorded.await.is_ok()
    }

    /// Does the same on a thread without a runtime.
    pub(super) fn blocking_send_recorded(to_desk: &mpsc::Sender<Self>, input: DeskInput) -> bool {
        let (recorded, is_recorded) = oneshot::channel();
        let letter = Self { input, recorded: Some(recorded) };
        to_desk.blocking_send(letter).is_ok() && is_recorded.blocking_recv().is_ok()
    }
}
