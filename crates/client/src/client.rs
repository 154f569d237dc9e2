//! A client of a runtime.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use callgate_wire::approval::Press;
use callgate_wire::session::{
    self, Attachment, ConversationList, MAX_LINE, PermissionAnswer, QuestionAnswer, RuntimeStatus,
    SessionCommand, SessionEvent, SessionReply, UserMessage,
};
use serde::de::DeserializeOwned;
use tokio::runtime::Handle as Tokio;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::core::{CoreInput, is_turn};
use crate::pump::{self, RuntimeLauncher};
use crate::settings::{MOST_OTHER_REQUESTS, MOST_TURNS};
use crate::shared::{ClientHandle, ClientShared, RequestPermits};
use crate::{
    ClientError, ClientSettings, PassedOver, RuntimeState, SentRequest, SessionWatch, WatchStart,
    process,
};

/// A session with a runtime. Clones are handles of the same session.
///
/// The process is ended when the last handle, the last [`SentRequest`] and the last
/// [`SessionWatch`] are dropped: its stdin is closed, after 2 s it gets SIGTERM, and after another
/// 2 s it is killed with all that it has started. Only [`close`](Self::close) waits for that.
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) handle: Arc<ClientHandle>,
}

impl Client {
    /// Starts the runtime and returns at once; requests wait until it is ready. The session runs on
    /// the current tokio runtime, which needs time and I/O enabled.
    pub fn start(settings: ClientSettings) -> Result<Self, ClientError> {
        let launch = process::build_launcher(settings.clone());
        Self::start_by(settings, launch)
    }

    pub(crate) fn start_by(
        settings: ClientSettings,
        launch: RuntimeLauncher,
    ) -> Result<Self, ClientError> {
        let tokio = Tokio::try_current().map_err(|_| ClientError::NoTokio)?;
        // `RandomState` is seeded by the system: unique, and no crate for it. Nothing is protected
        // by the name.
        let name = format!("{:016x}", RandomState::new().build_hasher().finish());
        let shared = Arc::new(ClientShared::new(settings, name.clone()));
        tokio.spawn(pump::serve_client(Arc::clone(&shared), launch));
        Ok(Self { handle: Arc::new(ClientHandle { shared, name, requests: AtomicU64::new(0) }) })
    }

    /// Returns the unique name of this client, with which the ids of its requests begin. The
    /// numbers of a [`SessionWatch`] are only valid for the client of this name.
    pub fn name(&self) -> &str {
        &self.handle.name
    }

    pub fn state(&self) -> RuntimeState {
        self.handle.shared.state()
    }

    /// Returns a receiver of the numbers of lines of the runtime that were ignored, which learns of
    /// every change.
    pub fn passed_over_updates(&self) -> tokio::sync::watch::Receiver<PassedOver> {
        self.handle.shared.passed_over_updates()
    }

    /// Returns a watch of everything that happens in this session.
    pub fn watch(&self, since: WatchStart) -> SessionWatch {
        SessionWatch::new(Arc::clone(&self.handle), since)
    }

    /// Sends a request. Waits while too many are open or not yet read by the runtime. A request
    /// that cannot be sent ends with [`RequestEvent::Failed`](crate::RequestEvent::Failed) like any
    /// other.
    pub async fn send(&self, command: SessionCommand) -> SentRequest {
        // Relaxed, because it is only important that no two numbers are the same.
        let number = self.handle.requests.fetch_add(1, Ordering::Relaxed);
        let id: Arc<str> = Arc::from(format!("{}-{number}", self.handle.name));
        // Its queue is there before it is sent, so no event comes too early.
        let request = SentRequest::new(Arc::clone(&id), Arc::clone(&self.handle));
        let message = session::SessionRequest { id: id.as_ref().to_owned(), command };
        let line = message.to_line();
        match self.wait_for_room(&message.command, line.len()).await {
            Ok(rooms) => self.handle.shared.send(message, line, rooms),
            Err(error) => request.fail(error),
        }
        request
    }

    /// Sends a request and waits for its end. An `error` of the runtime is
    /// [`ClientError::Refused`].
    pub async fn request(&self, command: SessionCommand) -> Result<Arc<SessionReply>, ClientError> {
        self.send(command).await.wait_for_end().await
    }

    /// Sends a request and returns the data of its `done`.
    pub async fn request_data<T: DeserializeOwned>(
        &self,
        command: SessionCommand,
    ) -> Result<T, ClientError> {
        let kind = command.kind();
        let reply = self.request(command).await?;
        reply.event.done_data().ok_or(ClientError::Unexpected { kind })
    }

    /// Returns at most `limit` conversations, the most recently changed first, of those last
    /// changed before `before`, in milliseconds since the Unix epoch.
    pub async fn conversations(
        &self,
        limit: Option<u32>,
        before: Option<u64>,
    ) -> Result<ConversationList, ClientError> {
        self.request_data(SessionCommand::ListConversations { limit, before, search: None }).await
    }

    pub async fn user_message(&self, text: impl Into<String>) -> SentRequest {
        self.send(SessionCommand::UserMessage(UserMessage::new(text))).await
    }

    /// Sends a message with attachments in the current conversation. The files are named by path,
    /// or [inline](Attachment::Inline).
    pub async fn user_message_with(
        &self,
        text: impl Into<String>,
        attachments: Vec<Attachment>,
    ) -> SentRequest {
        let message = UserMessage { attachments, ..UserMessage::new(text) };
        self.send(SessionCommand::UserMessage(message)).await
    }

    /// Answers a question. Returns an error if the answer no longer counts.
    pub async fn answer(&self, question: &str, press: Press) -> Result<(), ClientError> {
        let answer = PermissionAnswer { question: question.to_owned(), press };
        self.request(SessionCommand::PermissionAnswer(answer)).await.map(drop)
    }

    /// Answers a question of the model or of a tool server. Returns an error if the answer does not
    /// fit, or no longer counts.
    pub async fn answer_question(&self, answer: QuestionAnswer) -> Result<(), ClientError> {
        self.request(SessionCommand::QuestionAnswer(answer)).await.map(drop)
    }

    /// Returns the status of the runtime with its open requests and questions, from which a front
    /// end can restore its state.
    pub async fn status(&self) -> Result<RuntimeStatus, ClientError> {
        let reply = self.request(SessionCommand::GetStatus).await?;
        match &reply.event {
            SessionEvent::Status(status) => Ok((**status).clone()),
            _ => Err(ClientError::Unexpected { kind: SessionCommand::GetStatus.kind() }),
        }
    }

    /// Ends the process and starts it again at once. Open requests fail.
    pub fn restart(&self) {
        self.handle.shared.handle_and_wake(CoreInput::Restart);
    }

    /// Closes the session for all handles: open requests fail, and the process is ended. Returns
    /// when the process is gone.
    pub async fn close(&self) {
        // Watched from before the end, which would be missed otherwise.
        let mut watch = self.watch(WatchStart::Now);
        self.handle.shared.handle_and_wake(CoreInput::Leave);
        while watch.next().await.is_some() {}
    }

    /// Waits until the limits permit another request.
    async fn wait_for_room(
        &self,
        command: &SessionCommand,
        size: usize,
    ) -> Result<RequestPermits, ClientError> {
        let shared = &self.handle.shared;
        // The line's end does not count.
        if size > MAX_LINE + 1 {
            return Err(ClientError::TooLarge { size: size - 1, limit: MAX_LINE });
        }
        let (open, most) = if is_turn(command) {
            (&shared.turns, MOST_TURNS)
        } else {
            (&shared.other_requests, MOST_OTHER_REQUESTS)
        };
        let limit = shared.settings.taken;
        // The slot is acquired first, so that a request that waits for one does not reserve bytes
        // that others could send.
        let open = timeout(limit, Semaphore::acquire_owned(Arc::clone(open))).await;
        let open = open.map_err(|_| ClientError::TooMany { open: most })?;
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        let unsent = Arc::clone(&shared.unsent).acquire_many_owned(size);
        let unsent = timeout(limit, unsent).await;
        let unsent = unsent.map_err(|_| ClientError::NotTaken { after: limit })?;
        // Neither is ever closed.
        let open = open.map_err(|_| ClientError::Closed)?;
        let unsent = unsent.map_err(|_| ClientError::Closed)?;
        Ok(RequestPermits { unsent: Some(unsent), _open: open })
    }
}
