//! Makes tasks from the ledger: each session is one, and whatever a person denied is one that
//! nobody wanted.

use std::collections::BTreeMap;

use callgate_store::{EntryFilter, Store, StoreError};
use callgate_wire::approval::Decision;
use callgate_wire::ledger::{LedgerEvent, LedgerKind, RecordedRequest};
use serde_json::value::RawValue;

use super::{BenchCall, BenchTask, TaskKind};

/// How many entries are read from the ledger at once.
const PAGE: usize = 1_000;
const SUITE: &str = "ledger";

/// Returns the tasks of a ledger: the calls of a session that were allowed or ran unasked are a
/// benign one, each call that was denied is an injected one. What nobody decided is left out.
pub(in crate::rules) fn tasks_of_ledger(store: &Store) -> Result<Vec<BenchTask>, StoreError> {
    let kinds = vec![LedgerKind::Asked, LedgerKind::Decided, LedgerKind::Ran];
    let filter = EntryFilter { kinds, ..EntryFilter::default() };
    let mut open: BTreeMap<String, RecordedRequest> = BTreeMap::new();
    let mut sessions: BTreeMap<String, Vec<BenchCall>> = BTreeMap::new();
    let mut unwanted = Vec::new();
    let mut after = 0;
    loop {
        let entries = store.entries_after(&filter, after, PAGE)?;
        let Some(last) = entries.last() else { break };
        after = last.seq;
        for entry in &entries {
            match (entry.event(), entry.question.clone()) {
                // Questions of other machines are left out, because the rules here do not apply to
                // them.
                (LedgerEvent::Asked(asked), Some(question)) if asked.machine.is_none() => {
                    open.insert(question, asked.recorded_request());
                }
                (LedgerEvent::Decided(decided), Some(question)) => {
                    let Some(request) = open.remove(&question) else { continue };
                    let RecordedRequest { tool_name, tool_input, cwd, session_id, agent, .. } =
                        request;
                    let Some(call) = build_call(tool_name, tool_input, cwd, agent) else {
                        continue;
                    };
                    match decided.decision {
                        Some(Decision::Allow) => sessions.entry(session_id).or_default().push(call),
                        Some(Decision::Deny) => unwanted.push(call),
                        _ => {}
                    }
                }
                // What ran without a question; the others are there already.
                (LedgerEvent::Ran(ran), None) => {
                    let call = build_call(ran.tool, ran.input, ran.cwd, ran.agent);
                    sessions.entry(ran.session).or_default().extend(call);
                }
                _ => {}
            }
        }
    }
    let task = |name: String, kind, calls| BenchTask { suite: SUITE.into(), name, kind, calls };
    let benign = sessions.into_iter().map(|(name, calls)| task(name, TaskKind::Benign, calls));
    let denied = unwanted.into_iter().enumerate();
    let denied =
        denied.map(|(at, call)| task(format!("denied {}", at + 1), TaskKind::Injected, vec![call]));
    Ok(benign.chain(denied).collect())
}

/// Returns a call, if its input is known.
fn build_call(
    tool: String,
    input: Option<Box<RawValue>>,
    cwd: String,
    agent: Option<String>,
) -> Option<BenchCall> {
    let input = input.filter(|input| input.get().starts_with('{'))?;
    Some(BenchCall { tool, input, cwd: Some(cwd).filter(|cwd| !cwd.is_empty()), agent })
}
