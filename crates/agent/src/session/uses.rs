//! One use of a tool: whether it may run, the run, and what the ledger says about it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use callgate_rules::mask;
use callgate_rules::text::{self, Measure};
use callgate_store::Draft;
use callgate_wire::session::{Event, PermissionRequest, PermissionResolved, Stream, ToolProgress};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Shared;
use super::output::now_ms;
use crate::gate::{Mirror, Permit, Question, Shown};
use crate::tool::{Channel, Outcome, Progress, Tool, Use};
use crate::turn::{Ran, Wanted};

/// How much of a tool's arguments the ledger has, in characters.
const LONGEST_SUMMARY: usize = 500;

/// Sees whether the tool may run, and runs it.
pub(super) async fn run(
    shared: Arc<Shared>,
    request: Arc<str>,
    conversation: Arc<str>,
    wanted: Wanted,
) -> Ran {
    let Some(tool) = shared.tools.get(wanted.name.as_str()).map(Arc::clone) else {
        let mut names: Vec<_> = shared.tools.keys().copied().collect();
        names.sort_unstable();
        let text = format!("there is no tool {:?}: use one of {}", wanted.name, names.join(", "));
        return Ran { outcome: Outcome::failed(text), interrupt: false };
    };
    let question = Question {
        tool_id: wanted.id.clone(),
        tool: tool.spec().name,
        input: wanted.input.clone(),
        conversation: conversation.to_string(),
        must_ask: tool.must_ask(&wanted.input),
        mirror: shared.output.takes_questions().then(|| mirror(&shared, &request, &wanted)),
    };
    let mut entry = Entry {
        shared: &shared,
        conversation: &conversation,
        wanted: &wanted,
        input: wanted.input.clone(),
    };
    match shared.options.gate.may(question).await {
        Permit::Allowed { because, input } => {
            // What a person has changed is what runs, and what is recorded.
            let input = input.unwrap_or_else(|| wanted.input.clone());
            entry.input = input.clone();
            let progress = progress(&shared, &request, &wanted);
            let outcome = entry.run(tool.as_ref(), Use { input, progress }, &because).await;
            Ran { outcome, interrupt: false }
        }
        Permit::Denied { because, interrupt } => {
            let noted = entry.note("refused", json!({ "because": shown(&because) })).await;
            let outcome = Outcome::failed(noted.err().unwrap_or(because));
            Ran { outcome, interrupt }
        }
    }
}

/// Shows the front end what somebody is asked.
fn mirror(shared: &Arc<Shared>, request: &Arc<str>, wanted: &Wanted) -> Mirror {
    let (output, request) = (shared.output.clone(), Arc::clone(request));
    let (tool_id, tool_name) = (wanted.id.clone(), wanted.name.clone());
    Arc::new(move |shown| {
        let event = match shown {
            Shown::Asked { question, title, input, reason } => {
                let (tool_id, tool_name) = (tool_id.clone(), tool_name.clone());
                let asked =
                    PermissionRequest { question, tool_id, tool_name, input, title, reason };
                Event::PermissionRequest(asked)
            }
            Shown::Closed { question, decision, text } => {
                let decision = decision.to_owned();
                Event::PermissionResolved(PermissionResolved { question, decision, text })
            }
        };
        output.say(&request, event);
    })
}

/// Passes on what a running tool says. A front end that does not keep up misses some of it, and
/// is told how much; all of it is in the result.
fn progress(shared: &Arc<Shared>, request: &Arc<str>, wanted: &Wanted) -> Progress {
    let (output, request, tool_id) =
        (shared.output.clone(), Arc::clone(request), wanted.id.clone());
    let missed = AtomicU64::new(0);
    Arc::new(move |channel, text| {
        if !output.has_room_for_progress() {
            missed.fetch_add(text.len() as u64, Ordering::Relaxed);
            return;
        }
        let text = match missed.swap(0, Ordering::Relaxed) {
            0 => text.to_owned(),
            count => format!("[… {count} bytes are not shown here …]\n{text}"),
        };
        let stream = match channel {
            Channel::Stdout => Stream::Stdout,
            Channel::Stderr => Stream::Stderr,
        };
        let said = ToolProgress { tool_id: tool_id.clone(), stream, text };
        output.say(&request, Event::ToolProgress(said));
    })
}

/// What the ledger is told of one use.
struct Entry<'a> {
    shared: &'a Shared,
    conversation: &'a str,
    wanted: &'a Wanted,
    /// The arguments with which it runs.
    input: Box<RawValue>,
}

impl Entry<'_> {
    /// Runs the tool between two entries. What cannot be recorded is not run.
    async fn run(&self, tool: &dyn Tool, use_: Use, because: &str) -> Outcome {
        let started = Instant::now();
        if let Err(why) = self.note("running", json!({ "because": shown(because) })).await {
            return Outcome::failed(why);
        }
        let outcome = tool.run(use_).await;
        let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        match self.note("ran", json!({ "ok": !outcome.is_error, "ms": ms })).await {
            Ok(()) => outcome,
            Err(why) => Outcome::failed(format!("it ran, but {why}")),
        }
    }

    async fn note(&self, kind: &str, more: Value) -> Result<(), String> {
        let mut body = json!({
            "tool": self.wanted.name,
            "session": self.conversation,
            "cwd": self.shared.options.folder.display().to_string(),
            "agent": "callgate",
            "call": self.wanted.id,
            "summary": summary(self.input.get()),
        });
        if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
            body.extend(more);
        }
        let draft = Draft {
            at_ms: i64::try_from(now_ms()).unwrap_or(i64::MAX),
            kind: kind.to_owned(),
            question: None,
            body: body.to_string(),
        };
        let noted = self.shared.options.ledger.record(vec![draft]).await;
        noted.map_err(|error| format!("it cannot be recorded in the ledger: {error}"))
    }
}

/// A tool's arguments as the ledger has them.
fn summary(input: &str) -> String {
    let masked = mask::json(input).into_shown();
    let cut = text::cut(&masked, LONGEST_SUMMARY, Measure::Chars);
    if cut.len() < masked.len() { format!("{cut}…") } else { masked }
}

fn shown(words: &str) -> String {
    mask::text(words).into_shown()
}
