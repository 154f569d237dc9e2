//! Calls as the ledger has them.

use callgate_store::{EntryFilter, LedgerEntry, Store};
use callgate_wire::desk::ProposalSource;
use callgate_wire::ledger::{AgentCall, LedgerEvent, LedgerKind};
use callgate_wire::tool_act::{ToolKind, ToolShell};

use crate::rule_desk::RecordedCall;

/// Returns the call of an entry, as far as its input was recorded. Of a call that was only checked,
/// the summary of a shell command is the command.
fn call_of(event: LedgerEvent) -> Option<RecordedCall> {
    let AgentCall { tool, summary, cwd, agent, input, .. } = event.into_call()?;
    let input = match input {
        Some(input) => input.get().to_owned(),
        None if ToolKind::for_tool("", &tool) == ToolKind::Run(ToolShell::Usual) => {
            serde_json::json!({ "command": summary }).to_string()
        }
        None => return None,
    };
    Some(RecordedCall { tool, input, project: cwd, agent: agent.unwrap_or_default() })
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
            store.entries_before(&filter, u64::MAX, 1)
        }
        ProposalSource::Entry(seq) => {
            store.entries_after(&EntryFilter::default(), seq.saturating_sub(1), 1)
        }
    };
    let entry = entry.map_err(|error| error.to_string())?.pop();
    // If the entry was pruned, the one after it was found.
    let is_it = |entry: &LedgerEntry| match of {
        ProposalSource::Question(_) => true,
        ProposalSource::Entry(seq) => entry.seq == *seq,
    };
    let entry = entry.filter(is_it).ok_or("the ledger has no such call (any more)")?;
    let event = entry.event();
    if let LedgerEvent::Asked(asked) = &event
        && let Some(machine) = &asked.machine
    {
        return Err(format!("this call was made on {machine}, where its own rules apply"));
    }
    call_of(event).ok_or_else(|| "the ledger does not have the input of this call".to_owned())
}
