//! Carries out what the desk wants done. It never waits for the desk.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::askers::Askers;
use super::viewers::Viewers;
use crate::channel::Order;
use crate::desk::Output;

/// The desk's hands.
pub(super) struct Hands {
    pub(super) askers: Arc<Askers>,
    pub(super) phones: Option<mpsc::Sender<Order>>,
    pub(super) terminal: Option<mpsc::Sender<Order>>,
    pub(super) viewers: Arc<Viewers>,
}

impl Hands {
    pub(super) async fn run(self, mut outputs: mpsc::Receiver<Output>) {
        while let Some(output) = outputs.recv().await {
            match output {
                Output::Answer(asker, response) => self.askers.answer(asker, &response),
                Output::Phones(order) => pass(self.phones.as_ref(), order).await,
                Output::Terminal(order) => self.print(order),
                Output::Viewer { viewer, id, done, text } => {
                    self.viewers.tell(viewer, &id, done, &text);
                }
                Output::Waiting { viewer, id, text, within } => {
                    self.viewers.waiting(viewer, &id, &text, within);
                }
                Output::Lock { hash, text } => self.viewers.lock(&hash, &text),
            }
        }
    }
}

impl Hands {
    /// A terminal that somebody has stopped takes nothing any more: then it shows nothing, and
    /// holds nobody up.
    fn print(&self, order: Order) {
        if let Some(terminal) = &self.terminal {
            terminal.try_send(order).ok();
        }
    }
}

/// Passes an order on. A channel takes its orders at once and works on them in its own time.
async fn pass(channel: Option<&mpsc::Sender<Order>>, order: Order) {
    if let Some(channel) = channel {
        // A channel that has ended shows nothing any more; nothing depends on it.
        channel.send(order).await.ok();
    }
}
