//! The runtime that chat pages talk to: one for all of them, in a folder that the user chose.
//!
//! It is started when a page asks for it, and ended when no page has been open for a while, but
//! never while it works on a message.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use callgate_client::{Client, ClientError, ClientSettings};
use callgate_wire::session::{BUSY, capability};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How many bytes of events are kept for pages that are loaded again: those of a long answer.
const MOST_KEPT: usize = 8 * 1024 * 1024;
/// The extensions that the page shows. It is not asked for permissions: they are asked at the
/// desk, whose questions the page has anyway.
const SHOWN: [&str; 5] =
    [capability::THINKING, capability::TOOL_PROGRESS, capability::NOTICE, "usage", "tool_input"];

/// How a runtime is started.
#[derive(Debug, Clone)]
pub struct RuntimeCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Environment variables that are set; the others are inherited.
    pub env: Vec<(OsString, OsString)>,
}

/// The runtime of the chat, if one runs.
#[derive(Debug)]
pub(crate) struct ChatRuntimes {
    command: RuntimeCommand,
    /// How long a runtime stays that no page uses.
    linger: Duration,
    running: Mutex<Option<RuntimeInUse>>,
}

/// A runtime that chat pages talk to.
#[derive(Debug)]
pub(crate) struct ChatRuntime {
    pub(crate) client: Client,
    pub(crate) folder: PathBuf,
    /// How many pages are open.
    pages: watch::Sender<usize>,
}

/// A runtime and the task that ends it.
#[derive(Debug)]
struct RuntimeInUse {
    chat: Arc<ChatRuntime>,
    keeper: JoinHandle<()>,
}

impl Drop for RuntimeInUse {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

/// A page that uses a runtime until this is dropped.
#[derive(Debug)]
pub(crate) struct OpenChat(pub(crate) Arc<ChatRuntime>);

impl Drop for OpenChat {
    fn drop(&mut self) {
        self.0.pages.send_modify(|pages| *pages -= 1);
    }
}

/// Why no runtime was started.
#[derive(Debug)]
pub(crate) enum NoChat {
    /// The runtime of another folder works on a message.
    Busy,
    /// It cannot be started.
    Failed(ClientError),
}

impl ChatRuntime {
    /// Notes that a page is open.
    pub(crate) fn enter(self: Arc<Self>) -> OpenChat {
        self.pages.send_modify(|pages| *pages += 1);
        OpenChat(self)
    }

    /// Returns true if it works on a message. One that does not answer does not.
    async fn is_busy(&self) -> bool {
        self.client.status().await.is_ok_and(|status| status.state == BUSY)
    }
}

impl ChatRuntimes {
    pub(crate) fn new(command: RuntimeCommand, linger: Duration) -> Self {
        Self { command, linger, running: Mutex::default() }
    }

    /// Returns the runtime, if one runs.
    pub(crate) async fn running(&self) -> Option<Arc<ChatRuntime>> {
        self.running.lock().await.as_ref().map(|running| Arc::clone(&running.chat))
    }

    /// Returns the runtime of a folder. Starts it in place of another one, unless that is at work.
    pub(crate) async fn start(self: &Arc<Self>, folder: &Path) -> Result<Arc<ChatRuntime>, NoChat> {
        let mut running = self.running.lock().await;
        if let Some(RuntimeInUse { chat, .. }) = &*running {
            if chat.folder == folder {
                return Ok(Arc::clone(chat));
            }
            if chat.is_busy().await {
                return Err(NoChat::Busy);
            }
        }
        if let Some(before) = running.take() {
            before.chat.client.close().await;
        }
        let client = Client::start(self.settings(folder)).map_err(NoChat::Failed)?;
        let (pages, seen) = watch::channel(0);
        let keeper = keep(Arc::downgrade(self), client.name().to_owned(), seen, self.linger);
        let chat = Arc::new(ChatRuntime { client, folder: folder.to_owned(), pages });
        *running = Some(RuntimeInUse { chat: Arc::clone(&chat), keeper: tokio::spawn(keeper) });
        Ok(chat)
    }

    fn settings(&self, folder: &Path) -> ClientSettings {
        let RuntimeCommand { program, args, env } = self.command.clone();
        ClientSettings {
            args,
            env: env.into_iter().map(|(name, value)| (name, Some(value))).collect(),
            cwd: Some(folder.to_owned()),
            capabilities: SHOWN.map(str::to_owned).to_vec(),
            kept: MOST_KEPT,
            ..ClientSettings::new(program)
        }
    }

    /// Ends the runtime of this name, unless a page uses it or it is at work. Returns true if it is
    /// gone.
    async fn end_unused(&self, name: &str) -> bool {
        let mut running = self.running.lock().await;
        let Some(RuntimeInUse { chat, .. }) = &*running else { return true };
        if chat.client.name() != name {
            return true;
        }
        if *chat.pages.borrow() > 0 || chat.is_busy().await {
            return false;
        }
        let chat = Arc::clone(chat);
        // By another task, because this one ends with what it takes away.
        tokio::spawn(async move { chat.client.close().await });
        *running = None;
        true
    }
}

/// Ends a runtime once no page has used it for `linger`.
async fn keep(
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
