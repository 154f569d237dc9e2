//! Calls as the ledger has them.

use callgate_store::{EntryFilter, LedgerEntry, Store};
use callgate_wire::desk::ProposalSource;
use callgate_wire::ledger::{CallReported, LedgerEvent, LedgerKind};
use callgate_wire::tool_act::{ToolKind, ToolShell};

use crate::rule_desk::RecordedCall;

/// Returns the call of an entry, as far as its input was recorded. Of a call that was only checked,
/// the summary of a shell command is the command.
fn call_of(event: &LedgerEvent<'_>) -> Option<RecordedCall> {
    if let LedgerEvent::QuestionAsked(asked) = event {
        let request = asked.recorded_request();
        return Some(RecordedCall {
            tool: request.tool_name.into(),
            input: request.tool_input?.get().to_owned(),
            project: request.cwd.into(),
            agent: request.agent.into(),
        });
    }
    let call = event.call()?;
    let input = match event {
        LedgerEvent::CallReported(CallReported { input: Some(input), .. }) => {
            input.get().to_owned()
        }
        _ if ToolKind::of("", call.tool) == ToolKind::Run(ToolShell::Usual) => {
            serde_json::json!({ "command": call.summary }).to_string()
        }
        _ => return None,
    };
    let [tool, project, agent] = [call.tool, call.cwd, call.agent].map(str::to_owned);
    Some(RecordedCall { tool, input, project, agent })
}

/// Returns the call of a question or of a row of the history.
pub(super) fn recorded_call(store: &Store, of: &ProposalSource) -> Result<RecordedCall, String> {
    let entry = match of {
        ProposalSource::Question(question) => {
            let filter = EntryFilter {
                kinds: vec![LedgerKind::Asked],
                question: Some(question.as_str().to_owned()),
                ..EntryFilter::default()
            };
            store.latest(&filter, u64::MAX, 1)
        }
        ProposalSource::Entry(seq) => {
            store.entries(&EntryFilter::default(), seq.saturating_sub(1), 1)
        }
    };
    let entry = entry.map_err(|error| error.to_string())?.pop();
    let is_it = |entry: &LedgerEntry| match of {
        ProposalSource::Question(_) => true,
        ProposalSource::Entry(seq) => entry.seq == *seq,
    };
    let entry = entry.filter(is_it).ok_or("the ledger has no such call (any more)")?;
    call_of(&entry.event())
        .ok_or_else(|| "the ledger does not have the input of this call".to_owned())
}
