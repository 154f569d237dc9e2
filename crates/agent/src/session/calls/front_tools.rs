//! The tools that the front end supplies: each call is sent to it, and waits for its answer.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_link::sync::lock;
use callgate_mask::text::shortened_text;
use callgate_wire::session::{
    FrontTool, FrontToolAnswer, FrontToolCall, MAX_LINE, SessionEvent, tool_kind,
};
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::time::timeout;
use uuid::Uuid;

use crate::BoxFuture;
use crate::failure::RequestFailure;
use crate::session::output::SessionOutput;
use crate::tool::files::MAX_RESULT;
use crate::tool::{
    AgentTool, CallOutcome, ToolInvocation, ToolSource, ToolSpec, TurnContext, error_json,
    function_tool, input_schema, is_name_character, raw_json,
};

/// What the names of these tools begin with, for the model and for rules. No front end can take the
/// name of another tool.
const PREFIX: &str = "front__";
/// The longest name of a tool, with the prefix, that model services accept.
const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 4_096;
/// The longest input of a call, in bytes. The rest of its line has room beside it.
const LONGEST_INPUT: usize = MAX_LINE - 64 * 1024;
const GONE: &str = "the front end has gone, so it is unknown whether the tool has finished";
/// How long the front end may take for a call; its user may have to do something.
const ANSWERED_WITHIN: Duration = Duration::from_hours(1);

pub(in crate::session) struct FrontTools {
    calls: Arc<OpenCalls>,
    offered: Mutex<OfferedTools>,
}

#[derive(Default)]
struct OfferedTools {
    tools: Vec<Arc<dyn AgentTool>>,
    revision: u64,
}

struct OpenCalls {
    output: SessionOutput,
    /// `None` once the front end has gone.
    waiting: Mutex<Option<HashMap<String, oneshot::Sender<FrontToolAnswer>>>>,
}

/// A call that waits for its answer, until this is dropped.
struct WaitingCall {
    calls: Arc<OpenCalls>,
    id: String,
}

impl FrontTools {
    pub(in crate::session) fn new(output: SessionOutput) -> Self {
        let waiting = Mutex::new(Some(HashMap::new()));
        Self { calls: Arc::new(OpenCalls { output, waiting }), offered: Mutex::default() }
    }

    /// Replaces the tools. The error names the tool that cannot be used, and why.
    pub(in crate::session) fn offer(&self, tools: Vec<FrontTool>) -> Result<(), RequestFailure> {
        let wrong = |text: String| RequestFailure::permanent("protocol", text);
        let mut names = HashSet::new();
        let mut offered: Vec<Arc<dyn AgentTool>> = Vec::new();
        for tool in tools {
            let name = tool.name.clone();
            let spec = front_tool_spec(&tool)
                .map_err(|why| wrong(format!("the tool {name:?} cannot be used: {why}")))?;
            if !names.insert(name.clone()) {
                return Err(wrong(format!("there are two tools {name:?}: give each its own name")));
            }
            let calls = Arc::clone(&self.calls);
            offered.push(function_tool(spec, move |invocation| {
                call_front_end(Arc::clone(&calls), name.clone(), invocation)
            }));
        }
        // Only now: a list with one wrong tool changes nothing.
        let mut current = lock(&self.offered);
        // Otherwise each `hello` without tools would have all tools of the session collected again.
        if !(offered.is_empty() && current.tools.is_empty()) {
            *current = OfferedTools { tools: offered, revision: current.revision + 1 };
        }
        Ok(())
    }

    pub(in crate::session) fn answer(&self, answer: FrontToolAnswer) -> Result<(), RequestFailure> {
        let late = || RequestFailure::permanent("too_late", "no call with this id is waiting");
        let mut waiting = lock(&self.calls.waiting);
        let call = waiting.as_mut().and_then(|waiting| waiting.remove(&answer.call));
        call.ok_or_else(late)?.send(answer).map_err(|_| late())
    }

    /// Ends all calls: the front end has gone.
    pub(in crate::session) fn end_calls(&self) {
        // With `None` later calls fail at once, too: nobody is left to answer them.
        lock(&self.calls.waiting).take();
    }
}

impl ToolSource for FrontTools {
    fn prepare<'a>(&'a self, _: TurnContext<'a>) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    fn revision(&self) -> u64 {
        lock(&self.offered).revision
    }

    fn tools(&self) -> Vec<Arc<dyn AgentTool>> {
        lock(&self.offered).tools.clone()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.end_calls();
        Box::pin(std::future::ready(()))
    }
}

async fn call_front_end(
    calls: Arc<OpenCalls>,
    name: String,
    invocation: ToolInvocation,
) -> Result<CallOutcome, String> {
    let size = invocation.input.get().len();
    if size > LONGEST_INPUT {
        return Err(format!(
            "the input has {size} bytes, and the front end takes {LONGEST_INPUT}: call it with less"
        ));
    }
    let (answer_in, answer) = oneshot::channel();
    let waiting = WaitingCall::start_waiting(&calls, answer_in).ok_or(GONE)?;
    let ToolInvocation { input, address, .. } = invocation;
    let (call, tool_id) = (waiting.id.clone(), address.tool_id);
    let call = FrontToolCall { call, tool_id, tool_name: name, input };
    calls.output.send_event(&address.request, SessionEvent::ToolCall(call));
    match timeout(ANSWERED_WITHIN, answer).await {
        Ok(Ok(answer)) => Ok(outcome_of_answer(answer)),
        Ok(Err(_)) => Err(GONE.to_owned()),
        Err(_) => Err("the front end has not answered within an hour".to_owned()),
    }
}

impl WaitingCall {
    /// Begins to wait; `None` if the front end has gone.
    fn start_waiting(
        calls: &Arc<OpenCalls>,
        answer: oneshot::Sender<FrontToolAnswer>,
    ) -> Option<Self> {
        let id = Uuid::new_v4().to_string();
        lock(&calls.waiting).as_mut()?.insert(id.clone(), answer);
        Some(Self { calls: Arc::clone(calls), id })
    }
}

impl Drop for WaitingCall {
    fn drop(&mut self) {
        if let Some(waiting) = lock(&self.calls.waiting).as_mut() {
            waiting.remove(&self.id);
        }
    }
}

/// Returns the outcome of an answered call. A text is given to the model as it is.
fn outcome_of_answer(answer: FrontToolAnswer) -> CallOutcome {
    let FrontToolAnswer { result, is_error, .. } = answer;
    let text = serde_json::from_str::<String>(result.get());
    let mut text = text.unwrap_or_else(|_| result.get().to_owned());
    if text.len() > MAX_RESULT {
        text.truncate(text.floor_char_boundary(MAX_RESULT));
        text.push_str("\n[the rest was left out]");
    }
    let result = if is_error { error_json(&text) } else { result };
    CallOutcome { result, text, images: Vec::new(), is_error }
}

/// Returns the description of a tool for the model, or why it cannot be used.
fn front_tool_spec(tool: &FrontTool) -> Result<ToolSpec, String> {
    let name = format!("{PREFIX}{}", tool.name);
    if tool.name.is_empty()
        || name.len() > LONGEST_NAME
        || !tool.name.chars().all(is_name_character)
    {
        let longest = LONGEST_NAME - PREFIX.len();
        return Err(format!("a name has 1 to {longest} letters, digits, `-` and `_`"));
    }
    let schema: Map<String, Value> = serde_json::from_str(tool.input_schema.get())
        .map_err(|_| "its inputSchema is not an object".to_owned())?;
    Ok(ToolSpec {
        name: name.into(),
        description: shortened_text(&tool.description, LONGEST_DESCRIPTION).into(),
        input_schema: raw_json(&input_schema(schema)?),
        is_read_only: tool.read_only,
        kind: tool_kind::OTHER,
    })
}
