//! One tool call: its permission, its run, and its ledger entries.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use callgate_mask::call_card::call_card;
use callgate_store::EntryDraft;
use callgate_wire::ledger::LedgerEvent;
use callgate_wire::session::{ConversationMode, SessionEvent, ToolLocation, ToolProgress, ToolUse};
use callgate_wire::tool_act::{OWN_AGENT, ToolKind};
use tokio::time::timeout;

use super::call_record::CallRecord;
use super::engine_call;
use crate::engine::EngineToolCall;
use crate::gate::{FaultFn, GateQuestion, PreviewFn, QuestionMirror, RefusalFn, ToolPermit};
use crate::question_content::is_question;
use crate::session::{SessionShared, ToolMap, questions, turn_changes};
use crate::tool::files::TurnMark;
use crate::tool::{
    AgentTool, CallAddress, CallOutcome, FaultContext, PersonAsker, PersonReply, ProgressSink,
    ToolInvocation,
};
use crate::turn::{FinishedCall, ToolCall};

/// How long finding the line of an edit may take.
const LOCATED_WITHIN: Duration = Duration::from_secs(2);

/// The tool of ours that previews what an engine's own tools would change.
const PREVIEWER: &str = "edit_file";

/// The name under which a question of a tool server passes the gate, as at Claude Code's hooks.
const ELICITATION: &str = "Elicitation";

/// What the model reads in the mode `plan` when it wants to change something.
const PLANNING: &str = "not run: the conversation is in plan mode, in which nothing is changed. \
    Write down what you would do, as a plan for the user";

/// The outcome of a call, and the ledger entry that is written with its result.
pub(in crate::session) struct CallReport {
    pub(in crate::session) ran: FinishedCall,
    pub(in crate::session) draft: Option<EntryDraft>,
}

impl CallReport {
    pub(in crate::session) fn failed(text: impl Into<String>) -> Self {
        let ran = FinishedCall { outcome: CallOutcome::failed(text), interrupt: false };
        Self { ran, draft: None }
    }
}

#[derive(Debug, Clone)]
pub(in crate::session) struct CallOrigin {
    request: Arc<str>,
    conversation: Arc<str>,
    /// The number of the message with which its turn begins.
    message: u64,
    denied: Arc<AtomicU64>,
}

impl CallOrigin {
    pub(in crate::session) fn new(request: Arc<str>, conversation: Arc<str>, message: u64) -> Self {
        Self { request, conversation, message, denied: Arc::default() }
    }

    pub(in crate::session) fn mark(&self) -> TurnMark {
        let (request, conversation) = (Arc::clone(&self.request), Arc::clone(&self.conversation));
        TurnMark { request, conversation, message: self.message }
    }

    pub(in crate::session) fn denied(&self) -> u64 {
        self.denied.load(Ordering::Relaxed)
    }

    /// Counts a call that was denied, and returns its outcome. A question that nobody answered is
    /// not counted: nothing was to be permitted.
    fn count_denied(&self, kind: ToolKind, because: impl Into<String>) -> CallOutcome {
        if is_question(kind) {
            return CallOutcome::failed(because);
        }
        self.denied.fetch_add(1, Ordering::Relaxed);
        CallOutcome::denied(because)
    }
}

pub(in crate::session) async fn run_tool_call(
    shared: Arc<SessionShared>,
    origin: CallOrigin,
    wanted: ToolCall,
) -> CallReport {
    let CallOrigin { request, conversation, .. } = &origin;
    let tools = shared.tools.current();
    let Some(tool) = tools.get(&wanted.name).map(Arc::clone) else {
        let mut names: Vec<&str> = tools.by_name.keys().map(AsRef::as_ref).collect();
        // The map has no order, and the same mistake gets the same answer.
        names.sort_unstable();
        let text = format!("there is no tool {:?}: use one of {}", wanted.name, names.join(", "));
        return CallReport::failed(text);
    };
    let (mode, kind) =
        (shared.modes.mode_of(conversation), ToolKind::for_tool(OWN_AGENT, &wanted.name));
    let question = GateQuestion {
        tool_id: wanted.id.clone(),
        tool: tool.spec().name.clone(),
        input: wanted.input.clone(),
        conversation: conversation.to_string(),
        may_ask: mode != ConversationMode::Auto,
        mirror: questions::mirror_for_kind(&shared, request, conversation, kind),
        refusal: Some(refusal_finder(&tool)),
        fault: Some(fault_finder(&tool, conversation)),
        preview: Some(call_previewer(&tool, &wanted.name)),
    };
    let mut entry =
        CallRecord { shared: &shared, conversation, wanted: &wanted, input: wanted.input.clone() };
    match permit_in(mode, tool.spec().is_read_only, &shared, question).await {
        ToolPermit::Allowed { because, input } => {
            // Arguments that a person has changed are the ones that run and are recorded.
            let input = input.unwrap_or_else(|| wanted.input.clone());
            entry.input = input.clone();
            let (mark, spec) = (origin.mark(), Some(tool.spec()));
            // After the gate: a call that is denied costs no look at the folders.
            turn_changes::note_call(&shared, mark, &wanted.name, &input, spec).await;
            let conversation = Arc::clone(conversation);
            let progress = progress_sink(&shared, request, &wanted);
            let address = CallAddress { request: Arc::clone(request), tool_id: wanted.id.clone() };
            let asker = person_asker(&shared, &origin, &wanted.id);
            let invocation = ToolInvocation { input, conversation, address, progress, asker };
            entry.run_recorded(tool.as_ref(), invocation, &because).await
        }
        ToolPermit::Futile { because } => CallReport::failed(because),
        ToolPermit::Denied { because, interrupt } => {
            let draft = Some(entry.draft(&because, LedgerEvent::RuntimeRefused));
            let outcome = origin.count_denied(kind, because);
            CallReport { ran: FinishedCall { outcome, interrupt }, draft }
        }
    }
}

/// Returns what asks the person on behalf of a call, or of something else under the id of one.
pub(in crate::session) fn person_asker(
    shared: &Arc<SessionShared>,
    origin: &CallOrigin,
    tool_id: &str,
) -> PersonAsker {
    let (shared, origin, id) = (Arc::clone(shared), origin.clone(), tool_id.to_owned());
    PersonAsker::new(Arc::new(move |input| {
        let (shared, origin, id) = (Arc::clone(&shared), origin.clone(), id.clone());
        Box::pin(async move {
            let tool = ELICITATION.to_owned();
            // A question changes nothing: the mode `plan` permits it, and the folders are not
            // looked at.
            let call = EngineToolCall { id: id.clone(), tool, input, is_read_only: true };
            let permit = permit_engine_tool(Arc::clone(&shared), origin, call).await;
            let is_cancelled = shared.questions.take_cancelled(&id);
            match permit {
                ToolPermit::Allowed { input, .. } => PersonReply::Answered(input),
                _ if is_cancelled => PersonReply::Cancelled,
                ToolPermit::Denied { .. } | ToolPermit::Futile { .. } => PersonReply::Declined,
            }
        })
    }))
}

/// Asks the gate about a tool that the engine runs itself. What may run is recorded before.
pub(in crate::session) async fn permit_engine_tool(
    shared: Arc<SessionShared>,
    origin: CallOrigin,
    call: EngineToolCall,
) -> ToolPermit {
    let may_ask = shared.modes.mode_of(&origin.conversation) != ConversationMode::Auto;
    let (name, is_read_only) = (call.tool.clone(), call.is_read_only);
    let input = call.input.clone();
    let permit = decide_and_record(Arc::clone(&shared), origin.clone(), call, may_ask).await;
    if matches!(permit, ToolPermit::Allowed { .. }) && !is_read_only {
        turn_changes::note_call(&shared, origin.mark(), &name, &input, None).await;
    }
    permit
}

/// Records that something that was permitted has run, whether it succeeded, and how long it took.
pub(in crate::session) async fn record_run(
    shared: &SessionShared,
    origin: &CallOrigin,
    call: &EngineToolCall,
    because: &str,
    (is_ok, took): (bool, Duration),
) {
    let EngineToolCall { id, tool, input, .. } = call.clone();
    let wanted = ToolCall { index: 0, id, name: tool, input: input.clone() };
    let entry = CallRecord { shared, conversation: &origin.conversation, wanted: &wanted, input };
    let draft = entry.draft(because, |call| CallRecord::ran_event(call, is_ok, took));
    if let Err(error) = shared.options.ledger.record(vec![draft]).await {
        shared.options.log.warn(&format!("cannot write down an undo: {error}"));
    }
}

/// Asks the gate, and records the decision.
pub(in crate::session) async fn decide_and_record(
    shared: Arc<SessionShared>,
    origin: CallOrigin,
    call: EngineToolCall,
    may_ask: bool,
) -> ToolPermit {
    let EngineToolCall { id, tool, input, is_read_only } = call;
    let wanted = ToolCall { index: 0, id, name: tool, input };
    let CallOrigin { request, conversation, .. } = &origin;
    let (mode, kind) =
        (shared.modes.mode_of(conversation), ToolKind::for_tool(OWN_AGENT, &wanted.name));
    let question = GateQuestion {
        tool_id: wanted.id.clone(),
        tool: wanted.name.clone().into(),
        input: wanted.input.clone(),
        conversation: conversation.to_string(),
        may_ask,
        mirror: questions::mirror_for_kind(&shared, request, conversation, kind),
        refusal: None,
        fault: None,
        preview: shared.tools.current().get(PREVIEWER).map(|own| call_previewer(own, &wanted.name)),
    };
    let permit = permit_in(mode, is_read_only, &shared, question).await;
    let (kind, because, changed): (fn(_) -> _, _, _) = match &permit {
        ToolPermit::Allowed { because, input } => (LedgerEvent::Running, because, input.as_ref()),
        ToolPermit::Denied { because, .. } | ToolPermit::Futile { because } => {
            origin.count_denied(kind, because);
            (LedgerEvent::RuntimeRefused, because, None)
        }
    };
    // What a person has changed is what runs, so that is what the ledger has.
    let input = changed.unwrap_or(&wanted.input).clone();
    let entry = CallRecord { shared: &shared, conversation, wanted: &wanted, input };
    let draft = entry.draft(because, kind);
    match shared.options.ledger.record(vec![draft]).await {
        Ok(()) => permit,
        Err(error) => {
            // What leaves no trace in the ledger must not run.
            let because = format!("it cannot be recorded in the ledger: {error}");
            ToolPermit::Denied { because, interrupt: false }
        }
    }
}

async fn permit_in(
    mode: ConversationMode,
    is_read_only: bool,
    shared: &SessionShared,
    question: GateQuestion,
) -> ToolPermit {
    // Before the gate, so that nobody is asked for what the mode forbids anyway.
    if mode == ConversationMode::Plan && !is_read_only {
        return ToolPermit::Denied { because: PLANNING.to_owned(), interrupt: false };
    }
    shared.options.gate.decide_question(question).await
}

/// Adds the tool's kind, its locations and its card to the announcement of a call. A tool that the
/// runtime does not have is one of an engine, which works in `folder`.
pub(in crate::session) fn announced_call(
    tools: &ToolMap,
    folder: &Path,
    call: ToolUse,
) -> SessionEvent {
    let (kind, locations) = match tools.get(call.tool_name.as_str()) {
        Some(tool) => (tool.spec().kind, tool.locations(&call.input)),
        None => engine_call::describe_call(&call.tool_name, &call.input, folder),
    };
    let input = serde_json::from_str(call.input.get()).unwrap_or_default();
    SessionEvent::ToolUse(ToolUse {
        kind: Some(kind.to_owned()),
        locations: Some(locations),
        card: Some(Box::new(call_card(&call.tool_name, input))),
        ..call
    })
}

/// Announces a call that is about to run: with the line that it would change, if the front end is
/// shown locations. A disk that does not respond delays nothing for long.
pub(in crate::session) async fn announced_now(
    shared: &SessionShared,
    call: ToolUse,
) -> SessionEvent {
    let tools = shared.tools.current();
    let tool = tools.by_name.get(&*call.tool_name).or_else(|| tools.by_name.get(PREVIEWER));
    let tool = tool.filter(|_| shared.output.is_greeted());
    let line =
        tool.map(|tool| timeout(LOCATED_WITHIN, tool.first_line(&call.tool_name, &call.input)));
    let mut event = announced_call(&tools.by_name, &shared.options.folder, call);
    if let (SessionEvent::ToolUse(ToolUse { locations: Some(locations), .. }), Some(line)) =
        (&mut event, line)
        && let [ToolLocation { line: at @ None, .. }] = &mut locations[..]
    {
        *at = line.await.ok().flatten();
    }
    event
}

pub(in crate::session) fn question_mirror(
    shared: &Arc<SessionShared>,
    request: &Arc<str>,
) -> QuestionMirror {
    let (output, request) = (shared.output.clone(), Arc::clone(request));
    Arc::new(move |event| output.send_event(&request, event))
}

fn refusal_finder(tool: &Arc<dyn AgentTool>) -> RefusalFn {
    let tool = Arc::clone(tool);
    Arc::new(move |input| tool.refusal(input))
}

fn fault_finder(tool: &Arc<dyn AgentTool>, conversation: &Arc<str>) -> FaultFn {
    let (tool, conversation) = (Arc::clone(tool), Arc::clone(conversation));
    Arc::new(move |input, may_read| {
        tool.fault(input, FaultContext { conversation: &conversation, may_read })
    })
}

fn call_previewer(tool: &Arc<dyn AgentTool>, name: &str) -> PreviewFn {
    let (tool, name) = (Arc::clone(tool), name.to_owned());
    Arc::new(move |input| tool.preview(&name, input))
}

/// Sends the output of a running tool. A front end that does not keep up misses some of it and is
/// told how much; all of it is in the result.
fn progress_sink(
    shared: &Arc<SessionShared>,
    request: &Arc<str>,
    wanted: &ToolCall,
) -> ProgressSink {
    let (output, request, tool_id) =
        (shared.output.clone(), Arc::clone(request), wanted.id.clone());
    let missed = AtomicU64::new(0);
    Arc::new(move |stream, text| {
        if !output.has_room_for_progress() {
            // Relaxed, because nothing else depends on the count.
            missed.fetch_add(text.len() as u64, Ordering::Relaxed);
            return;
        }
        let text = match missed.swap(0, Ordering::Relaxed) {
            0 => text.to_owned(),
            count => format!("[… {count} bytes are not shown here …]\n{text}"),
        };
        let progress = ToolProgress { tool_id: tool_id.clone(), stream, text };
        output.send_event(&request, SessionEvent::ToolProgress(progress));
    })
}

impl CallRecord<'_> {
    /// Runs the tool. A tool that changes something is recorded before it runs, and not run if that
    /// fails. The outcome is recorded with the result.
    async fn run_recorded(
        &self,
        tool: &dyn AgentTool,
        invocation: ToolInvocation,
        because: &str,
    ) -> CallReport {
        if !tool.spec().is_read_only {
            let draft = self.draft(because, LedgerEvent::Running);
            if let Err(error) = self.shared.options.ledger.record(vec![draft]).await {
                return CallReport::failed(format!("it cannot be recorded in the ledger: {error}"));
            }
        }
        let started = Instant::now();
        let outcome = tool.run_call(invocation).await;
        let elapsed = started.elapsed();
        let ran = |call| Self::ran_event(call, !outcome.is_error, elapsed);
        // Recorded with the round, in a transaction that is needed anyway.
        let draft = Some(self.draft(because, ran));
        CallReport { draft, ran: FinishedCall { outcome, interrupt: false } }
    }
}
