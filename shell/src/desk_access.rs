//! A running desk (`callgate up`), which the shell finds by its socket for viewers.
//!
//! To the desk the shell is a viewer like any other. It has a connection while the page reads
//! events or waits for an answer, so the desk counts on the page only as long as it is there.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use callgate_client::DeskError;
use callgate_client::desk::DeskClient;
use callgate_client::wire::HiddenText;
use callgate_client::wire::desk::{DeskAnswer, DeskCommand, LONGEST_NAME, LONGEST_SECRET};
use tokio::sync::{Mutex, OnceCell};

use crate::callgate_program::CallgateProgram;
use crate::command_refusal::CommandRefusal;

#[derive(Debug)]
pub(crate) struct DeskAccess {
    program: CallgateProgram,
    socket: OnceCell<PathBuf>,
    /// The connection on which the page makes its requests. Held while one is made.
    open: Mutex<Weak<UnlockedDesk>>,
}

/// A connection to the desk, unlocked by the key of the page.
#[derive(Debug)]
pub(crate) struct UnlockedDesk {
    key: HiddenText,
    pub(crate) client: DeskClient,
}

impl DeskAccess {
    pub(crate) fn new(program: CallgateProgram) -> Self {
        Self { program, socket: OnceCell::new(), open: Mutex::default() }
    }

    /// Returns the page's connection, which all of its requests share.
    pub(crate) async fn shared_connection(
        &self,
        key: Option<String>,
    ) -> Result<Arc<UnlockedDesk>, CommandRefusal> {
        let key = self.checked_key(key).await?;
        // Requests that come at once share one connection, so the desk counts one viewer.
        let mut open = self.open.lock().await;
        let live = open
            .upgrade()
            .filter(|desk| desk.key == key && !desk.client.is_closed() && !desk.client.is_locked());
        if let Some(desk) = live {
            return Ok(desk);
        }
        let desk = Arc::new(UnlockedDesk { client: self.unlocked(&key).await?, key });
        // Not held here, so that the connection ends with the last request of the page.
        *open = Arc::downgrade(&desk);
        Ok(desk)
    }

    /// Returns one more connection, for a stream of its own.
    pub(crate) async fn connect(&self, key: Option<String>) -> Result<DeskClient, CommandRefusal> {
        self.unlocked(&self.checked_key(key).await?).await
    }

    /// Links the page by a code. Returns its key.
    pub(crate) async fn pair(&self, code: String, name: String) -> Result<String, CommandRefusal> {
        if code.len() > LONGEST_SECRET || name.len() > LONGEST_NAME || name.trim().is_empty() {
            let text = "the request must have a code and a short name";
            return Err(CommandRefusal::unreadable(text));
        }
        // The key is bound to no origin: the page in the window has none that a browser could have.
        let command = DeskCommand::Pair { code: HiddenText::new(code), name, origin: None };
        match self.dial().await?.ask(command).await? {
            DeskAnswer::Paired { token } => Ok(token.reveal().to_owned()),
            DeskAnswer::Told { text, .. } => Err(CommandRefusal::forbidden(text)),
            _ => Err(DeskError::Unexpected.into()),
        }
    }

    /// Returns a key that may be tried. Without one, a page learns whether a desk runs at all.
    async fn checked_key(&self, key: Option<String>) -> Result<HiddenText, CommandRefusal> {
        match key.filter(|key| !key.is_empty() && key.len() <= LONGEST_SECRET) {
            Some(key) => Ok(HiddenText::new(key)),
            None => Err(self.dial().await.err().unwrap_or_else(not_linked)),
        }
    }

    async fn unlocked(&self, key: &HiddenText) -> Result<DeskClient, CommandRefusal> {
        let desk = self.dial().await?;
        let unlock = DeskCommand::Unlock { token: key.clone(), origin: None, name: None };
        match desk.ask(unlock).await? {
            DeskAnswer::Told { done: true, .. } => Ok(desk),
            DeskAnswer::Told { .. } => Err(not_linked()),
            _ => Err(DeskError::Unexpected.into()),
        }
    }

    async fn dial(&self) -> Result<DeskClient, CommandRefusal> {
        Ok(DeskClient::connect(&self.socket().await?)?)
    }

    /// Returns where a desk listens, if one runs.
    pub(crate) async fn socket(&self) -> Result<PathBuf, CommandRefusal> {
        // A failure is not kept, so the next request asks again.
        self.socket.get_or_try_init(|| self.find_socket()).await.cloned()
    }

    /// Asks the settings where the desk's socket is.
    async fn find_socket(&self) -> Result<PathBuf, CommandRefusal> {
        let answer = self.program.config(&["get", "desk_socket"], None).await?;
        let path = answer.get("value").and_then(|value| value.as_str()).map(PathBuf::from);
        path.ok_or_else(|| CommandRefusal::new(503, "the settings name no socket of the desk"))
    }
}

fn not_linked() -> CommandRefusal {
    let text = "this window is not linked (any more): press o in the terminal of `callgate up`, \
                or run `callgate open`, and type the code here";
    CommandRefusal::new(401, text)
}
