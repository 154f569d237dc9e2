//! Requests that wait for no turn: about conversations, questions and the status.

pub(super) mod events;
mod messages;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_link::sync::lock;
use callgate_wire::session::{
    BUSY, ConversationCreated, ConversationEvents, ConversationList, ConversationMessages,
    ConversationSummary, ConversationTrimmed, IDLE, InstructionFile, LoadAs, ModeSet, ModelList,
    PastMessage, PermissionAnswer, RuntimeStatus, SessionCommand, SessionEvent, capability,
};
use tokio::sync::watch;
use tokio::time::timeout;

use super::output::SessionOutput;
use super::{AgentSession, ResumedConversation, SessionShared, questions, turn_changes};
use crate::engine::engine_registry::CHOSEN;
use crate::failure::RequestFailure;
use crate::history::{History, HistoryError, HistoryPage};
use crate::tool::files::FilePicker;

/// The number of conversations or messages on a page by default.
const PAGE: usize = 100;
/// How long `get_status` waits for the history, to which others may be writing.
const PATIENCE: Duration = Duration::from_millis(200);

/// The conversation of messages that do not name one.
#[derive(Debug, Default)]
pub(super) struct CurrentConversation {
    /// Empty until it is known.
    id: watch::Sender<String>,
    length: Mutex<KnownLength>,
}

/// The length of a conversation, until something changes it.
#[derive(Debug, Default)]
struct KnownLength {
    known: Option<(String, u64)>,
    /// How often a length has changed. One that was read before a change is not noted after it.
    changes: u64,
}

impl KnownLength {
    fn of(&self, conversation: &str) -> Option<u64> {
        let known = self.known.as_ref().filter(|(of, _)| of == conversation);
        known.map(|(_, length)| *length)
    }

    fn forget(&mut self, conversation: &str) {
        self.changes += 1;
        self.known.take_if(|(of, _)| of == conversation);
    }

    /// Notes a length that was read after so many changes.
    fn note(&mut self, conversation: &str, length: u64, changes: u64) {
        if self.changes == changes {
            self.known = Some((conversation.to_owned(), length));
        }
    }
}

impl CurrentConversation {
    pub(super) fn continue_with(&self, last: Option<String>) {
        self.set(&last.unwrap_or_else(new_conversation_id));
    }

    pub(super) fn name(&self) -> String {
        self.id.borrow().clone()
    }

    fn set(&self, id: &str) {
        self.id.send_replace(id.to_owned());
    }

    pub(super) fn forget_length(&self, conversation: &str) {
        lock(&self.length).forget(conversation);
    }

    /// Returns the current conversation and its number of messages, as far as they are known soon.
    pub(super) async fn id_and_length(&self, shared: &Arc<SessionShared>) -> (Option<String>, u64) {
        let is_soon_known = timeout(PATIENCE, self.wait_for_id()).await;
        let Ok(name) = is_soon_known else { return (None, 0) };
        let (known, changes) = {
            let length = lock(&self.length);
            (length.of(&name), length.changes)
        };
        if let Some(length) = known {
            return (Some(name), length);
        }
        // An error of the history is reported elsewhere.
        let asked = timeout(PATIENCE, shared.options.history.length(&name)).await;
        let Ok(Ok(length)) = asked else { return (Some(name), 0) };
        lock(&self.length).note(&name, length, changes);
        (Some(name), length)
    }

    async fn wait_for_id(&self) -> String {
        let mut id = self.id.subscribe();
        // This fails only when the sender is dropped, which is part of `self`.
        id.wait_for(|id| !id.is_empty()).await.map(|id| id.clone()).unwrap_or_default()
    }
}

pub(super) async fn find_resumed(
    history: History,
    resume: ResumedConversation,
) -> Result<Option<String>, HistoryError> {
    match resume {
        ResumedConversation::None => Ok(None),
        ResumedConversation::Last => history.last().await,
        ResumedConversation::Id(id) => match history.length(&id).await? {
            0 => Err(HistoryError::Unknown(id)),
            _ => Ok(Some(id)),
        },
    }
}

fn new_conversation_id() -> String {
    format!("conv-{}", uuid::Uuid::new_v4())
}

impl AgentSession {
    /// Answers `get_status`, which waits for no turn.
    pub(super) fn answer_status(&mut self, id: String) {
        let (shared, current) = (Arc::clone(&self.shared), Arc::clone(&self.current));
        // Not by `jobs`, which also has requests like this one.
        let state = if self.halts.is_empty() { IDLE } else { BUSY };
        let uptime = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let name = id.clone();
        let task = self.jobs.spawn(async move {
            let (conversation, length) = current.id_and_length(&shared).await;
            let (engine, model, reason) = answering_engine(&shared, conversation.as_deref()).await;
            let mode = match conversation.as_deref() {
                // An error of the history is reported elsewhere.
                Some(id) => {
                    timeout(PATIENCE, shared.modes.load(&shared.options.history, id)).await.ok()
                }
                None => None,
            };
            let instructions = instruction_files(&shared, conversation.as_deref()).await;
            let open = shared.output.open_beside(&id);
            let status = RuntimeStatus {
                state: state.to_owned(),
                conversation_length: length,
                uptime,
                engine: Some(engine),
                engine_reason: Some(reason),
                model,
                mode: mode.and_then(Result::ok),
                conversation_id: conversation,
                instructions,
                requests: Some(open.requests),
                questions: Some(open.questions),
                agent_questions: Some(open.agent_questions),
                servers: Some(shared.tools.servers()),
            };
            shared.output.send_event(&id, SessionEvent::Status(Box::new(status)));
        });
        self.named.insert(task.id(), (name, None));
    }
}

/// Returns the files whose instructions the model reads in a conversation, if they are known soon.
async fn instruction_files(
    shared: &SessionShared,
    conversation: Option<&str>,
) -> Option<Vec<InstructionFile>> {
    let loaded = shared.prompts.load(&shared.options, conversation?);
    timeout(PATIENCE, loaded).await.ok().map(|prompt| prompt.files.clone())
}

/// Returns the engine and the model that answer in a conversation, as far as they are known soon,
/// and why it is that engine.
async fn answering_engine(
    shared: &SessionShared,
    conversation: Option<&str>,
) -> (String, Option<String>, String) {
    let (engines, history) = (&shared.options.engines, &shared.options.history);
    let chosen = match conversation {
        // An error of the history is reported elsewhere.
        Some(id) => timeout(PATIENCE, history.engine(id)).await.ok().and_then(Result::ok).flatten(),
        None => None,
    };
    if let Ok(Ok(known)) = timeout(PATIENCE, engines.select(chosen.as_ref())).await {
        return (known.engine.name().to_owned(), Some(known.model.to_string()), known.because);
    }
    // The engine is not known soon enough, but what was chosen is.
    if let Some(chosen) = chosen {
        return (chosen.engine, chosen.model, CHOSEN.to_owned());
    }
    let (engine, because) = engines.default_engine().await;
    (engine.to_owned(), None, because)
}

pub(super) fn answer_replay(output: &SessionOutput, from: u64) -> SessionEvent {
    match output.replay(from) {
        Ok(replayed) => SessionEvent::done(&replayed),
        Err(oldest) => {
            let text = format!("response {from} is not kept any more: the oldest is {oldest}");
            RequestFailure::permanent("not_found", text).into()
        }
    }
}

pub(super) async fn carry_out_request(
    shared: &Arc<SessionShared>,
    current: &CurrentConversation,
    id: &str,
    command: SessionCommand,
) -> Result<SessionEvent, RequestFailure> {
    let history = &shared.options.history;
    match command {
        SessionCommand::NewConversation { conversation_id, title } => {
            let name = conversation_id.unwrap_or_else(new_conversation_id);
            let conversation_id =
                history.create_conversation(Some(&name), title.as_deref()).await?;
            current.set(&conversation_id);
            Ok(SessionEvent::done(&ConversationCreated { conversation_id }))
        }
        SessionCommand::ListConversations { limit, before, search } => {
            let conversations = list_conversations(history, limit, before, search).await?;
            Ok(SessionEvent::done(&ConversationList {
                conversations,
                current: Some(current.name()),
            }))
        }
        SessionCommand::LoadConversation {
            conversation_id,
            limit,
            before,
            load_as: LoadAs::Events,
        } => load_events(shared, current, id, conversation_id, (page_size(limit), before)).await,
        SessionCommand::LoadConversation {
            conversation_id,
            limit,
            before,
            load_as: LoadAs::Messages,
        } => load_messages(history, current, conversation_id, (page_size(limit), before)).await,
        SessionCommand::RenameConversation { conversation_id, title } => {
            history.rename_conversation(&conversation_id, &title).await?;
            Ok(SessionEvent::Done(None))
        }
        SessionCommand::ListModels { engine } => {
            let engines = shared.options.engines.list(engine.as_deref()).await?;
            let (engine, model, _) = answering_engine(shared, Some(&current.name())).await;
            Ok(SessionEvent::done(&ModelList { engines, engine, model }))
        }
        SessionCommand::ForkConversation { conversation_id, length, title } => {
            let name = new_conversation_id();
            let length = history
                .fork_conversation(&conversation_id, &name, length, title.as_deref())
                .await?;
            current.set(&name);
            Ok(SessionEvent::done(&ConversationTrimmed { conversation_id: name, length }))
        }
        SessionCommand::SetMode { conversation_id, mode } => {
            let conversation_id = conversation_id.unwrap_or_else(|| current.name());
            shared.modes.set(history, &conversation_id, mode).await?;
            Ok(SessionEvent::done(&ModeSet { conversation_id, mode }))
        }
        SessionCommand::FindFiles { query, limit } => {
            let found = file_picker(shared)?.find_files(&query, limit).await;
            Ok(SessionEvent::done(&found.map_err(file_failure)?))
        }
        SessionCommand::ReadFile(wanted) => {
            let text = file_picker(shared)?.read_file(wanted).await;
            Ok(SessionEvent::done(&text.map_err(file_failure)?))
        }
        SessionCommand::TurnDiff { conversation_id, turn } => {
            let conversation = conversation_id.unwrap_or_else(|| current.name());
            Ok(SessionEvent::done(
                &turn_changes::answer_turn_diff(shared, conversation, turn).await?,
            ))
        }
        SessionCommand::PermissionAnswer(answer) => permission_answer(shared, answer).await,
        SessionCommand::QuestionAnswer(answer) => {
            questions::answer_question(shared, answer).await.map(|()| SessionEvent::Done(None))
        }
        command => {
            let text = format!("`{}` cannot be done at once", command.kind());
            Err(RequestFailure::permanent("internal", text))
        }
    }
}

/// Makes a conversation the current one, and sends a page of it as events. The page is as long as
/// the first number says, and ends before the second.
async fn load_events(
    shared: &Arc<SessionShared>,
    current: &CurrentConversation,
    id: &str,
    conversation_id: String,
    (limit, before): (usize, Option<u64>),
) -> Result<SessionEvent, RequestFailure> {
    let history = &shared.options.history;
    let page = events::read_whole_page(history, &conversation_id, limit, before).await?;
    // Once it could be read: the current conversation stays if this one cannot.
    current.set(&conversation_id);
    events::send_page(shared, id, &conversation_id, &page).await;
    let HistoryPage { title, first, length, is_unfinished, .. } = page;
    let loaded = ConversationEvents { conversation_id, title, first, length, is_unfinished };
    Ok(SessionEvent::done(&loaded))
}

/// Makes a conversation the current one, and returns a page of its messages.
async fn load_messages(
    history: &History,
    current: &CurrentConversation,
    conversation_id: String,
    (limit, before): (usize, Option<u64>),
) -> Result<SessionEvent, RequestFailure> {
    let page = history.read_page(&conversation_id, limit, before).await?;
    let past = |message: &crate::message::ChatMessage| {
        let content = messages::fitting_content(&message.content)?;
        Some(PastMessage { role: message.role.name().to_owned(), content })
    };
    let messages = page.messages.iter().filter_map(past).collect();
    current.set(&conversation_id);
    let HistoryPage { title, first, length, is_unfinished, .. } = page;
    let loaded =
        ConversationMessages { conversation_id, title, messages, first, length, is_unfinished };
    Ok(SessionEvent::done(&loaded))
}

async fn permission_answer(
    shared: &SessionShared,
    answer: PermissionAnswer,
) -> Result<SessionEvent, RequestFailure> {
    let refused = |text: &str| Err(RequestFailure::permanent("protocol", text));
    if shared.questions.has(&answer.question) {
        return refused("this question is answered with `question_answer`");
    }
    if !shared.output.takes(capability::PERMISSION) {
        return refused(
            "you were not asked anything: announce `permission` in `hello` to be asked",
        );
    }
    match shared.options.gate.answer(answer).await {
        Ok(_) => Ok(SessionEvent::Done(None)),
        Err(reason) => Err(RequestFailure::permanent("too_late", reason)),
    }
}

fn file_picker(shared: &SessionShared) -> Result<&FilePicker, RequestFailure> {
    let none = || RequestFailure::permanent("not_found", "this runtime offers no files");
    shared.options.picker.as_ref().ok_or_else(none)
}

fn file_failure(reason: String) -> RequestFailure {
    RequestFailure::permanent("file", reason)
}

async fn list_conversations(
    history: &History,
    limit: Option<u32>,
    before: Option<u64>,
    search: Option<String>,
) -> Result<Vec<ConversationSummary>, HistoryError> {
    match search {
        Some(words) => history.search_conversations(&words, page_size(limit), before).await,
        None => history.list_conversations(page_size(limit), before).await,
    }
}

fn page_size(limit: Option<u32>) -> usize {
    limit.map_or(PAGE, |limit| usize::try_from(limit).unwrap_or(usize::MAX)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_that_was_read_before_a_turn_ended_is_not_noted_after_it() {
        let mut length = KnownLength::default();
        let changes = length.changes;
        length.note("c", 2, changes);
        assert_eq!((length.of("c"), length.of("d")), (Some(2), None));
        length.forget("c");
        length.note("c", 2, changes);
        assert_eq!(length.of("c"), None);
        length.note("c", 4, length.changes);
        assert_eq!(length.of("c"), Some(4));
    }
}
