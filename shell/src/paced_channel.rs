//! A channel to the page that waits for the page, so that what is unread stays where it came from.

use std::sync::Mutex;

use tauri::Webview;
use tauri::ipc::{Channel, IpcResponse};
use tokio::sync::oneshot;

/// How many bytes may be on their way to the page.
const MOST_UNREAD: usize = 1 << 20;
/// What a message costs besides its own bytes.
const ENVELOPE: usize = 256;

/// The page is gone, or reads this channel no more.
#[derive(Debug)]
pub(crate) struct PageGone;

/// A channel to the page that is never far ahead of it. Tauri's own takes whatever it is given, and
/// keeps it in memory for a page that does not read.
pub(crate) struct PacedChannel<T> {
    channel: Channel<T>,
    page: Webview,
    unread: usize,
}

impl<T: IpcResponse> PacedChannel<T> {
    pub(crate) fn new(page: Webview, channel: Channel<T>) -> Self {
        Self { channel, page, unread: 0 }
    }

    /// Sends a message of about this many bytes, and waits if the page is behind.
    pub(crate) async fn send(&mut self, message: T, bytes: usize) -> Result<(), PageGone> {
        self.channel.send(message).map_err(|_| PageGone)?;
        self.unread += bytes + ENVELOPE;
        if self.unread > MOST_UNREAD {
            self.wait_for_page().await?;
            self.unread = 0;
        }
        Ok(())
    }

    /// Waits until the page has run everything that was handed to it.
    async fn wait_for_page(&self) -> Result<(), PageGone> {
        let (sender, has_run) = oneshot::channel::<()>();
        let sender = Mutex::new(Some(sender));
        // A page runs its scripts in order, so this one is run after all that was sent.
        let script = self.page.eval_with_callback("0", move |_| {
            if let Ok(mut sender) = sender.lock() {
                drop(sender.take());
            }
        });
        script.map_err(|_| PageGone)?;
        // The dropped sender is the message.
        has_run.await.ok();
        Ok(())
    }
}
