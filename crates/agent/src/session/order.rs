//! The order of events about requests. Pure.
//!
//! All events pass here, so that whatever the rest of the program does, a request has exactly one
//! end, nothing follows it, and a tool's result follows its announcement. So this also knows which
//! requests and questions are open, for a front end that has lost its state.

use std::collections::{HashMap, HashSet};

use callgate_mask::text::shortened_text;
use callgate_wire::session::{
    AgentQuestion, OpenAgentQuestion, OpenQuestion, OpenRequest, PermissionRequest, SessionCommand,
    SessionEvent, request_state,
};

pub const MOST_OPEN: usize = 64;
/// How much of a message the status of an open request repeats, in characters.
const LONGEST_MESSAGE: usize = 16_384;

#[derive(Debug, Default)]
pub(crate) struct RequestOrder {
    open: HashMap<String, UnfinishedRequest>,
}

#[derive(Debug)]
struct UnfinishedRequest {
    opened: RequestDetails,
    /// Its conversation, once it is known.
    conversation: Option<String>,
    is_queued: bool,
    /// Its tool calls without results.
    tools: HashSet<String>,
    /// Its open questions, and when they were asked.
    questions: Vec<(u64, PermissionRequest)>,
    /// Its open questions of the model and of tool servers, and when they were asked.
    agent_questions: Vec<(u64, AgentQuestion)>,
}

/// What is open, for a front end that has lost its state.
#[derive(Debug)]
pub(crate) struct OpenItems {
    pub(crate) requests: Vec<OpenRequest>,
    pub(crate) questions: Vec<OpenQuestion>,
    pub(crate) agent_questions: Vec<OpenAgentQuestion>,
}

#[derive(Debug, Clone)]
pub(crate) struct RequestDetails {
    kind: &'static str,
    message: Option<String>,
    /// When it arrived, in milliseconds since 1970.
    since: u64,
    /// The number of the next response.
    from_seq: u64,
}

impl RequestDetails {
    pub(crate) fn new(command: &SessionCommand, since: u64, from_seq: u64) -> Self {
        let message = match command {
            SessionCommand::UserMessage(said) | SessionCommand::EditLast(said) => {
                Some(shortened_text(&said.message, LONGEST_MESSAGE))
            }
            _ => None,
        };
        Self { kind: command.kind(), message, since, from_seq }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RequestRefusal {
    /// Two requests with the same id could not be told apart.
    #[error(
        "a request with this id is still open, so this second one was not taken: give every \
         request an id of its own"
    )]
    Duplicate,
    #[error("{MOST_OPEN} requests are open already: wait until one of them ends")]
    TooMany,
}

impl RequestOrder {
    pub(crate) fn open_request(
        &mut self,
        id: &str,
        opened: RequestDetails,
    ) -> Result<(), RequestRefusal> {
        if self.open.contains_key(id) {
            return Err(RequestRefusal::Duplicate);
        }
        if self.open.len() >= MOST_OPEN {
            return Err(RequestRefusal::TooMany);
        }
        let unfinished = UnfinishedRequest {
            opened,
            conversation: None,
            is_queued: false,
            tools: HashSet::new(),
            questions: Vec::new(),
            agent_questions: Vec::new(),
        };
        self.open.insert(id.to_owned(), unfinished);
        Ok(())
    }

    /// Notes in which conversation a request runs, and whether it waits.
    pub(crate) fn place_request(&mut self, id: &str, conversation: &str, is_queued: bool) {
        if let Some(request) = self.open.get_mut(id) {
            request.conversation = Some(conversation.to_owned());
            request.is_queued = is_queued;
        }
    }

    /// Returns true if the event may be sent, and notes it.
    pub(crate) fn admits(&mut self, id: &str, event: &SessionEvent, now_ms: u64) -> bool {
        let Some(request) = self.open.get_mut(id) else { return false };
        match event {
            SessionEvent::ToolUse(call) => request.tools.insert(call.tool_id.clone()),
            SessionEvent::ToolResult(call) => request.tools.remove(&call.tool_id),
            // The announcement has the whole input, so a piece of it comes too late.
            SessionEvent::ToolInput(call) => !request.tools.contains(&call.tool_id),
            SessionEvent::ToolProgress(call) => request.tools.contains(&call.tool_id),
            SessionEvent::PermissionRequest(asked) => {
                request.questions.push((now_ms, asked.clone()));
                true
            }
            SessionEvent::PermissionResolved(resolved) => {
                request.questions.retain(|(_, asked)| asked.question != resolved.question);
                true
            }
            SessionEvent::Question(asked) => {
                request.agent_questions.push((now_ms, asked.clone()));
                true
            }
            SessionEvent::QuestionResolved(resolved) => {
                request.agent_questions.retain(|(_, asked)| asked.question != resolved.question);
                true
            }
            // Removed with its end, so that nothing that follows is admitted.
            event if event.is_end() => self.open.remove(id).is_some(),
            _ => true,
        }
    }

    pub(crate) fn kind(&self, id: &str) -> Option<&'static str> {
        self.open.get(id).map(|request| request.opened.kind)
    }

    pub(crate) fn is_open(&self, id: &str) -> bool {
        self.open.contains_key(id)
    }

    pub(crate) fn open_ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.open.keys().cloned().collect();
        ids.sort();
        ids
    }

    /// Returns the open requests except this one, in the order in which they arrived.
    pub(crate) fn requests(&self, but: &str) -> Vec<OpenRequest> {
        let others = self.open.iter().filter(|(id, _)| *id != but);
        let mut requests: Vec<OpenRequest> =
            others.map(|(id, one)| one.to_open_request(id)).collect();
        requests.sort_by(|one, other| {
            (one.since, one.from_seq, &one.id).cmp(&(other.since, other.from_seq, &other.id))
        });
        requests
    }

    /// Returns everything that is open except this request.
    pub(crate) fn open_beside(&self, id: &str) -> OpenItems {
        let agent_questions = self.questions_as_asked(|request| &request.agent_questions);
        let open = |(id, timestamp, data)| OpenAgentQuestion { id, data, timestamp };
        OpenItems {
            requests: self.requests(id),
            questions: self.questions(),
            agent_questions: agent_questions.into_iter().map(open).collect(),
        }
    }

    /// Returns the questions that wait for an answer, in the order in which they were asked.
    pub(crate) fn questions(&self) -> Vec<OpenQuestion> {
        let questions = self.questions_as_asked(|request| &request.questions);
        let open = |(id, timestamp, data)| OpenQuestion { id, data, timestamp };
        questions.into_iter().map(open).collect()
    }

    /// Returns the questions of all requests with the id of the request and the time, in the order
    /// in which they were asked.
    fn questions_as_asked<T: Clone>(
        &self,
        of: impl Fn(&UnfinishedRequest) -> &Vec<(u64, T)>,
    ) -> Vec<(String, u64, T)> {
        let each = |(id, request)| {
            of(request)
                .iter()
                .map(move |(at, asked): &(u64, T)| (String::clone(id), *at, asked.clone()))
        };
        let mut questions: Vec<_> = self.open.iter().flat_map(each).collect();
        questions.sort_by(|one, other| (one.1, &one.0).cmp(&(other.1, &other.0)));
        questions
    }
}

impl UnfinishedRequest {
    fn to_open_request(&self, id: &str) -> OpenRequest {
        let RequestDetails { kind, message, since, from_seq } = self.opened.clone();
        let state = if self.is_queued { request_state::QUEUED } else { request_state::WORKING };
        OpenRequest {
            id: id.to_owned(),
            kind: kind.to_owned(),
            state: state.to_owned(),
            since,
            from_seq,
            conversation_id: self.conversation.clone(),
            message,
        }
    }
}

#[cfg(test)]
mod tests;
