//! The runtime that chat pages talk to: one for all of them, in a folder that the user chose.
//!
//! It is started when a page asks for it. A host with other duties ends it when no page has been
//! open for a while, but never while it works on a message.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use callgate_wire::session::{BUSY, SessionCommand, SessionRequest, Unreadable};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::page_event::PageEvent;
use crate::{Client, ClientError, ClientSettings, SessionWatch, WatchStart};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChatError {
    /// The folder is relative, does not exist or is a file.
    #[error("there is no such folder")]
    NoFolder,
    /// The runtime of another folder works on a message.
    #[error("the runtime works on a message in another folder: wait for it, or stop it")]
    Busy,
    #[error("the runtime cannot be started: {0}")]
    NotStarted(ClientError),
    /// The request is not one of the session protocol.
    #[error(transparent)]
    Unreadable(Unreadable),
    /// The request is one that the host makes itself.
    #[error("the host says hello, and has the numbers of its own events")]
    OfTheHost,
}

#[derive(Debug)]
pub struct ChatRuntimes {
    /// The settings of every runtime, without the folder.
    settings: ClientSettings,
    /// How long a runtime that no page uses is kept; `None` keeps it until this is dropped.
    linger: Option<Duration>,
    running: Mutex<Option<RuntimeInUse>>,
}

#[derive(Debug)]
pub struct ChatRuntime {
    pub client: Client,
    pub folder: PathBuf,
    pages: watch::Sender<usize>,
}

#[derive(Debug)]
struct RuntimeInUse {
    chat: Arc<ChatRuntime>,
    keeper: Option<JoinHandle<()>>,
}

impl Drop for RuntimeInUse {
    fn drop(&mut self) {
        if let Some(keeper) = &self.keeper {
            keeper.abort();
        }
    }
}

/// The events of a runtime for one page, which counts as open until this is dropped.
#[derive(Debug)]
pub struct ChatEvents {
    chat: Arc<ChatRuntime>,
    watch: SessionWatch,
    /// The event that comes before all others.
    first: Option<PageEvent>,
}

impl ChatEvents {
    /// Waits for the next event; `None` when the runtime was closed. Dropping the future loses
    /// nothing.
    pub async fn next(&mut self) -> Option<PageEvent> {
        match self.first.take() {
            Some(first) => Some(first),
            None => self.watch.next().await.map(|watched| PageEvent::from(&watched)),
        }
    }
}

impl Drop for ChatEvents {
    fn drop(&mut self) {
        self.chat.pages.send_modify(|pages| *pages -= 1);
    }
}

impl ChatRuntime {
    /// Sends a request, which is a line of the session protocol, and returns its id: that of the
    /// line is replaced. The replies come with the events.
    pub async fn send_line(&self, line: &[u8]) -> Result<Arc<str>, ChatError> {
        // All pages share one session, and two of them may choose the same id.
        let SessionRequest { command, .. } =
            SessionRequest::decode(line).map_err(ChatError::Unreadable)?;
        if matches!(command, SessionCommand::Hello { .. } | SessionCommand::Replay { .. }) {
            return Err(ChatError::OfTheHost);
        }
        Ok(self.client.send(command).await.detach())
    }

    /// Returns everything that happens in the session: what follows the last event that the page
    /// has `seen` in the session of that name, or everything that is kept.
    pub fn events(self: &Arc<Self>, seen: Option<(&str, u64)>) -> ChatEvents {
        let start = match seen {
            Some((session, last)) if session == self.client.name() => WatchStart::After(last),
            _ => WatchStart::Oldest,
        };
        self.pages.send_modify(|pages| *pages += 1);
        let first = Some(PageEvent::session(self.client.name(), &self.folder));
        ChatEvents { chat: Arc::clone(self), watch: self.client.watch(start), first }
    }

    /// Returns true if it works on a message. A runtime that does not answer counts as idle.
    async fn is_busy(&self) -> bool {
        // Otherwise one that hangs could never be replaced.
        self.client.status().await.is_ok_and(|status| status.state == BUSY)
    }
}

impl ChatRuntimes {
    /// Prepares runtimes with these settings; their folder is chosen later. A runtime that no page
    /// uses is ended after `linger`, if there is one.
    pub fn new(settings: ClientSettings, linger: Option<Duration>) -> Self {
        Self { settings, linger, running: Mutex::default() }
    }

    pub async fn running(&self) -> Option<Arc<ChatRuntime>> {
        self.running.lock().await.as_ref().map(|running| Arc::clone(&running.chat))
    }

    /// Returns the runtime that runs, wherever it works. Starts it in this folder if there is none.
    pub async fn running_or_start(
        self: &Arc<Self>,
        folder: &Path,
    ) -> Result<Arc<ChatRuntime>, ChatError> {
        match self.running().await {
            Some(chat) => Ok(chat),
            None => self.start(folder).await,
        }
    }

    /// Returns the runtime of a folder. Starts it in place of another one, unless that is at work.
    pub async fn start(self: &Arc<Self>, folder: &Path) -> Result<Arc<ChatRuntime>, ChatError> {
        let folder = real_folder(folder.to_owned()).await.ok_or(ChatError::NoFolder)?;
        // Held until the new one runs: two pages that choose a folder at once must not start two.
        let mut running = self.running.lock().await;
        if let Some(RuntimeInUse { chat, .. }) = &*running {
            if chat.folder == folder {
                return Ok(Arc::clone(chat));
            }
            if chat.is_busy().await {
                return Err(ChatError::Busy);
            }
        }
        if let Some(before) = running.take() {
            before.chat.client.close().await;
        }
        let settings = ClientSettings { cwd: Some(folder.clone()), ..self.settings.clone() };
        let client = Client::start(settings).map_err(ChatError::NotStarted)?;
        let (pages, seen) = watch::channel(0);
        let keeper = self.linger.map(|linger| {
            tokio::spawn(end_when_unused(
                Arc::downgrade(self),
                client.name().to_owned(),
                seen,
                linger,
            ))
        });
        let chat = Arc::new(ChatRuntime { client, folder, pages });
        *running = Some(RuntimeInUse { chat: Arc::clone(&chat), keeper });
        Ok(chat)
    }

    /// Ends the runtime, if one runs. Returns when its process is gone.
    pub async fn close(&self) {
        let running = self.running.lock().await.take();
        if let Some(running) = running {
            running.chat.client.close().await;
        }
    }

    /// Ends the runtime of this name, unless a page uses it or it is at work. Returns true if it is
    /// gone.
    async fn end_unused(&self, name: &str) -> bool {
        let mut running = self.running.lock().await;
        let Some(RuntimeInUse { chat, .. }) = &*running else { return true };
        // Another runtime may have taken its place while this task waited.
        if chat.client.name() != name {
            return true;
        }
        if *chat.pages.borrow() > 0 || chat.is_busy().await {
            return false;
        }
        let chat = Arc::clone(chat);
        // By another task, because this one is aborted together with the runtime that it removes.
        tokio::spawn(async move { chat.client.close().await });
        *running = None;
        true
    }
}

/// Returns the real path of a folder, if it is one. The look at the disk may block.
async fn real_folder(folder: PathBuf) -> Option<PathBuf> {
    let looked = tokio::task::spawn_blocking(move || {
        let real = folder.is_absolute().then(|| folder.canonicalize().ok()).flatten();
        real.filter(|real| real.is_dir())
    });
    looked.await.ok().flatten()
}

/// Ends a runtime once no page has used it for `linger`.
async fn end_when_unused(
    // With an `Arc` the task would keep alive what it waits for the end of.
    runtimes: Weak<ChatRuntimes>,
    name: String,
    mut pages: watch::Receiver<usize>,
    linger: Duration,
) {
    // The runtime is gone when its count is.
    while pages.wait_for(|pages| *pages == 0).await.is_ok() {
        if timeout(linger, pages.wait_for(|pages| *pages > 0)).await.is_ok() {
            continue;
        }
        let Some(runtimes) = runtimes.upgrade() else { return };
        if runtimes.end_unused(&name).await {
            return;
        }
    }
}
