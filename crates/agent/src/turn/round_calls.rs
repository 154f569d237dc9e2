//! The tool calls of one answer: which may run now, and their results.

use std::collections::{HashMap, HashSet};
use std::fmt;

use callgate_wire::session::{SessionEvent, ToolResult};
use serde_json::value::RawValue;

use super::{ToolCall, TurnAction};
use crate::message::{Block, ResultContent, StoredToolResult};
use crate::tool::CallOutcome;

const MOST_AT_ONCE: usize = 8;
/// The most calls of one answer that run.
pub(super) const MOST_CALLS: usize = 64;

/// The result of each call beyond [`MOST_CALLS`].
const TOO_MANY: &str = "one answer may call 64 tools, and this call is beyond them. Call it in the \
    next answer if it is still needed";

/// The longest result that is stored for front ends, in bytes. Of a longer one only the text for
/// the model is stored.
const LONGEST_KEPT: usize = 1024 * 1024;

pub(super) struct RoundCalls {
    all: Vec<RoundCall>,
    is_read_only: Box<dyn Fn(&str) -> bool + Send + Sync>,
    names: HashSet<String>,
    /// How often the model has used the same id. The search for a free id begins there, so that a
    /// provider that repeats one id costs no more than others.
    repeated: HashMap<String, usize>,
}

#[derive(Debug, Clone)]
struct RoundCall {
    wanted: ToolCall,
    /// The id that the engine has given it.
    given_id: String,
    fault: Option<String>,
    state: CallState,
    /// Whether the engine runs it itself.
    is_own: bool,
}

#[derive(Debug, Clone)]
enum CallState {
    Waiting,
    Running,
    Ended { content: ResultContent, is_error: bool, result: Option<Box<RawValue>> },
}

impl fmt::Debug for RoundCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoundCalls").field("all", &self.all).finish_non_exhaustive()
    }
}

impl RoundCalls {
    pub(super) fn new(is_read_only: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self {
            all: Vec::new(),
            is_read_only: Box::new(is_read_only),
            names: HashSet::new(),
            repeated: HashMap::new(),
        }
    }

    /// Adds a call and returns its id: the model's, unless another call of this turn has it.
    pub(super) fn add_call(
        &mut self,
        id: &str,
        name: String,
        input: Box<RawValue>,
        fault: Option<String>,
    ) -> String {
        let unique = self.next_id(id);
        if unique != id {
            *self.repeated.entry(id.to_owned()).or_insert(1) += 1;
        }
        // For the whole turn, because front ends tell calls apart by their ids.
        self.names.insert(unique.clone());
        let index = self.all.len();
        let fault = match fault {
            _ if index >= MOST_CALLS => Some(TOO_MANY.to_owned()),
            fault => fault.map(|fault| format!("{fault}. Call it again with a JSON object")),
        };
        let wanted = ToolCall { index, id: unique.clone(), name, input };
        let (given_id, state) = (id.to_owned(), CallState::Waiting);
        self.all.push(RoundCall { wanted, given_id, fault, state, is_own: false });
        unique
    }

    /// Returns the id that the next call with this id of the model's gets.
    pub(super) fn next_id(&self, id: &str) -> String {
        let is_free = |id: &String| !id.is_empty() && !self.names.contains(id);
        let repeated = self.repeated.get(id).copied().unwrap_or(1);
        let numbered = (repeated + 1..).map(|count: usize| format!("{id}-{count}"));
        std::iter::once(id.to_owned()).chain(numbered).find(is_free).unwrap_or_default()
    }

    /// Adds a call that the engine runs itself, and returns its id.
    pub(super) fn add_own(&mut self, id: &str, name: String, input: Box<RawValue>) -> String {
        let unique = self.add_call(id, name, input, None);
        if let Some(call) = self.all.last_mut() {
            // The engine runs it in any case, so no limit keeps it from running.
            (call.state, call.is_own, call.fault) = (CallState::Running, true, None);
        }
        unique
    }

    /// Ends a call that the engine has run itself. `id` is the id that the engine has given it.
    pub(super) fn finish_own(
        &mut self,
        id: &str,
        outcome: CallOutcome,
        todo: &mut Vec<TurnAction>,
    ) {
        let is_it = |call: &RoundCall| {
            call.is_own && call.given_id == id && matches!(call.state, CallState::Running)
        };
        if let Some(index) = self.all.iter().position(is_it) {
            self.finish(index, outcome, todo);
        }
    }

    /// Returns true if the engine has run all calls of the round itself, and all have ended.
    pub(super) fn are_own_done(&self) -> bool {
        self.are_own() && self.are_done()
    }

    /// Returns true if there are calls, and the engine runs all of them itself.
    pub(super) fn are_own(&self) -> bool {
        !self.all.is_empty() && self.all.iter().all(|call| call.is_own)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn are_done(&self) -> bool {
        self.all.iter().all(|call| matches!(call.state, CallState::Ended { .. }))
    }

    /// Returns true if this call is the only one that has not ended.
    pub(super) fn are_done_but(&self, index: usize) -> bool {
        let is_done = |call: &RoundCall| {
            matches!(call.state, CallState::Ended { .. }) || call.wanted.index == index
        };
        self.is_running(index) && self.all.iter().all(is_done)
    }

    pub(super) fn is_running(&self, index: usize) -> bool {
        self.all.get(index).is_some_and(|call| matches!(call.state, CallState::Running))
    }

    pub(super) fn running(&self) -> Vec<usize> {
        (0..self.all.len()).filter(|index| self.is_running(*index)).collect()
    }

    /// Starts calls in order. Calls only run in parallel if none of them changes anything.
    pub(super) fn start(&mut self, todo: &mut Vec<TurnAction>) {
        for index in 0..self.all.len() {
            if !matches!(self.all[index].state, CallState::Waiting) {
                continue;
            }
            if let Some(fault) = self.all[index].fault.take() {
                let text = format!("not run: {fault}.");
                self.all[index].state = CallState::Running;
                self.finish(index, CallOutcome::failed(text), todo);
                continue;
            }
            let running = self.running();
            let is_read_only = |at: usize| (self.is_read_only)(&self.all[at].wanted.name);
            let goes = running.is_empty()
                || running.len() < MOST_AT_ONCE
                    && is_read_only(index)
                    && running.iter().all(|at| is_read_only(*at));
            // No later call overtakes this one: it could read what this one is about to change.
            if !goes {
                return;
            }
            self.all[index].state = CallState::Running;
            todo.push(TurnAction::Run(self.all[index].wanted.clone()));
        }
    }

    pub(super) fn finish(
        &mut self,
        index: usize,
        outcome: CallOutcome,
        todo: &mut Vec<TurnAction>,
    ) {
        let Some(call) = self.all.get_mut(index) else { return };
        let CallOutcome { result, text, images, is_error } = outcome;
        // What a failure gives the front end is made of its text.
        let kept = (!is_error && result.get().len() <= LONGEST_KEPT).then(|| result.clone());
        let content = ResultContent { text, images };
        call.state = CallState::Ended { content, is_error, result: kept };
        let ToolCall { id, name, .. } = call.wanted.clone();
        let ended = ToolResult { tool_id: id, tool_name: name, result, is_error: Some(is_error) };
        todo.push(TurnAction::Tell(SessionEvent::ToolResult(ended)));
    }

    pub(super) fn close(&mut self, reason: &str, todo: &mut Vec<TurnAction>) {
        for index in 0..self.all.len() {
            if !matches!(self.all[index].state, CallState::Ended { .. }) {
                self.finish(index, CallOutcome::failed(reason), todo);
            }
        }
    }

    /// Returns the results for the model and for the front end, and removes the calls.
    pub(super) fn take_results(&mut self) -> (Vec<Block>, Vec<StoredToolResult>) {
        let (mut told, mut kept) = (Vec::new(), Vec::new());
        for call in self.all.drain(..) {
            let (block, result) = call.into_result();
            told.push(block);
            kept.extend(result);
        }
        (told, kept)
    }

    /// Returns the result of a call that has ended, for the model and for the front end.
    pub(super) fn result(&self, id: &str) -> Option<(Block, Option<StoredToolResult>)> {
        let is_it = |call: &&RoundCall| {
            call.wanted.id == id && matches!(call.state, CallState::Ended { .. })
        };
        self.all.iter().find(is_it).cloned().map(RoundCall::into_result)
    }
}

impl RoundCall {
    fn into_result(self) -> (Block, Option<StoredToolResult>) {
        let tool_use_id = self.wanted.id;
        let (content, is_error, result) = match self.state {
            // The model is not sent an empty text.
            CallState::Ended { content, is_error, result } if content.is_empty() => {
                ("(nothing)".into(), is_error, result)
            }
            CallState::Ended { content, is_error, result } => (content, is_error, result),
            CallState::Waiting | CallState::Running => ("not run".into(), true, None),
        };
        let kept = |result| StoredToolResult { tool_use_id: tool_use_id.clone(), result };
        let kept = result.map(kept);
        (Block::ToolResult { tool_use_id, content, is_error }, kept)
    }
}
