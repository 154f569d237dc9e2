//! Makes tasks from the ledger: each session is one, and whatever a person denied is one that
//! nobody wanted.

use std::collections::BTreeMap;

use callgate_store::{EntryFilter, Store, StoreError};
use callgate_wire::approval::Decision;
use callgate_wire::ledger::{LedgerEvent, LedgerKind, RecordedRequest};
use callgate_wire::raw::Json;

use super::{BenchCall, BenchTask, TaskKind};

/// How many entries are read from the ledger at once.
const PAGE: usize = 1_000;
const SUITE: &str = "ledger";

/// Returns the tasks of a ledger: the calls of a session that were allowed or ran unasked are a
/// benign one, each call that was denied is an injected one. What nobody decided is left out.
pub(in crate::rules) fn tasks(store: &Store) -> Result<Vec<BenchTask>, StoreError> {
    let kinds = vec![LedgerKind::Asked, LedgerKind::Decided, LedgerKind::Ran];
    let filter = EntryFilter { kinds, ..EntryFilter::default() };
    let mut open: BTreeMap<String, (String, BenchCall)> = BTreeMap::new();
    let mut sessions: BTreeMap<String, Vec<BenchCall>> = BTreeMap::new();
    let mut unwanted = Vec::new();
    let mut after = 0;
    loop {
        let entries = store.entries(&filter, after, PAGE)?;
        let Some(last) = entries.last() else { break };
        after = last.seq;
        for entry in &entries {
            match (entry.event(), entry.question.clone()) {
                (LedgerEvent::QuestionAsked(asked), Some(question)) => {
                    let request = asked.recorded_request();
                    let RecordedRequest { tool_name, tool_input, cwd, agent, .. } = request;
                    let session = request.session_id.into();
                    match call(&tool_name, tool_input, &cwd, &agent) {
                        Some(call) => open.insert(question, (session, call)),
                        None => open.remove(&question),
                    };
                }
                (LedgerEvent::QuestionDecided(decided), Some(question)) => {
                    let Some((session, call)) = open.remove(&question) else { continue };
                    match decided.decision {
                        Some(Decision::Allow) => sessions.entry(session).or_default().push(call),
                        Some(Decision::Deny) => unwanted.push(call),
                        _ => {}
                    }
                }
                // What ran without a question; the others are there already.
                (LedgerEvent::CallReported(ran), None) => {
                    let agent = ran.agent.as_deref().unwrap_or_default();
                    let call = call(&ran.tool, ran.input, &ran.cwd, agent);
                    sessions.entry(ran.session.into()).or_default().extend(call);
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
fn call(tool: &str, input: Option<Json<'_>>, cwd: &str, agent: &str) -> Option<BenchCall> {
    let named = |name: &str| (!name.is_empty()).then(|| name.to_owned());
    Some(BenchCall {
        tool: tool.to_owned(),
        input: input.filter(|input| input.is_object())?.to_boxed()?,
        cwd: named(cwd),
        agent: named(agent),
    })
}
