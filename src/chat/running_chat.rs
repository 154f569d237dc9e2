//! A chat with its runtime: carries out what the chat wants, and reports the results to it.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_chat::{
    ChatAction, ChatCore, ChatFolders, ChatPage, Errand, InputHistory, WantedConversation,
};
use callgate_client::{Client, ClientError, RequestEvent, RuntimeState, SessionWatch, WatchedItem};
use callgate_wire::session::{SessionCommand, SessionReply};
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

use super::input_history_file::InputHistoryFile;

/// How long the runtime may take to end before the chat ends without it. It is killed then.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

pub(super) struct ChatParts {
    pub(super) client: Client,
    pub(super) folders: ChatFolders,
    pub(super) wanted: WantedConversation,
    /// Whether conversations are kept.
    pub(super) is_kept: bool,
    pub(super) history: Option<InputHistoryFile>,
}

/// What happens while the chat runs.
pub(super) enum ChatEvent {
    Turn(u64, RequestEvent),
    Errand(Errand, Result<Arc<SessionReply>, ClientError>),
}

/// A chat whose requests are sent to a runtime.
pub(super) struct RunningChat {
    pub(super) core: ChatCore,
    client: Client,
    is_kept: bool,
    history: Option<InputHistoryFile>,
    events: mpsc::Sender<ChatEvent>,
    /// What cancels each open request.
    cancels: HashMap<u64, Arc<Notify>>,
    start: Instant,
}

impl RunningChat {
    pub(super) fn new(start: ChatParts, page: ChatPage, events: mpsc::Sender<ChatEvent>) -> Self {
        let ChatParts { client, folders, wanted, is_kept, history } = start;
        let (entries, problem) = match history.as_ref().map(InputHistoryFile::read) {
            Some(Ok(entries)) => (entries, None),
            Some(Err(error)) => (Vec::new(), Some(error)),
            None => (Vec::new(), None),
        };
        let mut core = ChatCore::new(page, folders, InputHistory::new(entries), wanted);
        if let Some(problem) = problem {
            core.show_note(&format!("What you typed in earlier chats cannot be read: {problem}"));
        }
        let (cancels, start) = (HashMap::new(), Instant::now());
        Self { core, client, is_kept, history, events, cancels, start }
    }

    pub(super) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    pub(super) fn handle(&mut self, event: ChatEvent) {
        match event {
            ChatEvent::Turn(turn, event) => {
                if event.is_end() {
                    self.cancels.remove(&turn);
                }
                self.core.handle_event(turn, &event);
            }
            ChatEvent::Errand(errand, result) => {
                let now = self.now();
                self.core.errand_done(now, errand, result);
            }
        }
    }

    /// Carries out what the chat wants; `suspend` stops the program. Returns the exit code if the
    /// chat wants to end.
    pub(super) fn carry_out(
        &mut self,
        mut suspend: impl FnMut() -> io::Result<()>,
    ) -> io::Result<Option<u8>> {
        for action in self.core.take_actions() {
            match action {
                ChatAction::Turn(number, command) => self.send(number, command),
                ChatAction::Errand(errand, command) => self.run_errand(errand, command),
                ChatAction::Cancel(number) => {
                    if let Some(cancel) = self.cancels.get(&number) {
                        // This is kept until the task waits for it; otherwise a cancel would be
                        // lost while the request is being sent.
                        cancel.notify_one();
                    }
                }
                ChatAction::Remember(text) => self.append_to_history(&text),
                ChatAction::Restart => self.client.restart(),
                ChatAction::Suspend => suspend()?,
                ChatAction::Quit(code) => return Ok(Some(code)),
            }
        }
        Ok(None)
    }

    fn send(&mut self, number: u64, command: SessionCommand) {
        let (client, events, cancel) =
            (self.client.clone(), self.events.clone(), Arc::new(Notify::new()));
        self.cancels.insert(number, Arc::clone(&cancel));
        tokio::spawn(async move {
            let mut request = client.send(command).await;
            loop {
                let event = tokio::select! {
                    event = request.next() => event,
                    () = cancel.notified() => {
                        request.cancel();
                        continue;
                    }
                };
                let Some(event) = event else { return };
                // A chat that has ended shows nothing.
                if events.send(ChatEvent::Turn(number, event)).await.is_err() {
                    return;
                }
            }
        });
    }

    fn run_errand(&self, errand: Errand, command: SessionCommand) {
        let (client, events) = (self.client.clone(), self.events.clone());
        tokio::spawn(async move {
            let result = client.request(command).await;
            // A chat that has ended waits for nothing.
            events.send(ChatEvent::Errand(errand, result)).await.ok();
        });
    }

    fn append_to_history(&mut self, text: &str) {
        let Some(Err(error)) = self.history.as_ref().map(|history| history.append(text)) else {
            return;
        };
        self.core.show_note(&format!("What you type cannot be kept for later chats: {error}"));
        // It is given up, because otherwise each entry would get the same note.
        self.history = None;
    }

    /// Says how the conversation is continued later, if it is kept.
    pub(super) fn say_how_to_continue(&mut self) {
        if self.is_kept {
            self.core.say_how_to_continue();
        }
    }

    /// Ends the runtime. One that does not end in time is killed when this process ends.
    pub(super) async fn stop_runtime(&self) {
        timeout(ENDS_WITHIN, self.client.close()).await.ok();
    }
}

/// Returns the next state of the runtime, ignoring all other events.
pub(super) async fn next_state(watch: &mut SessionWatch) -> Option<RuntimeState> {
    watch
        .wait_for_item(|item| match item {
            WatchedItem::State(state) => Some(state.clone()),
            _ => None,
        })
        .await
}
