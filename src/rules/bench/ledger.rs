//! Makes tasks from the ledger: each session is one, and whatever a person denied is one that
//! nobody wanted.

use std::collections::BTreeMap;

use callgate_store::{EntryFilter, Store, StoreError};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{BenchCall, BenchTask, TaskKind};

/// How many entries are read from the ledger at once.
const PAGE: usize = 1_000;
const SUITE: &str = "ledger";

/// Returns the tasks of a ledger: the calls of a session that were allowed or ran unasked are a
/// benign one, each call that was denied is an injected one. What nobody decided is left out.
pub(in crate::rules) fn tasks(store: &Store) -> Result<Vec<BenchTask>, StoreError> {
    let kinds = ["asked", "decided", "ran"].map(str::to_owned).to_vec();
    let filter = EntryFilter { kinds, ..EntryFilter::default() };
    let mut open: BTreeMap<String, Value> = BTreeMap::new();
    let mut sessions: BTreeMap<String, Vec<BenchCall>> = BTreeMap::new();
    let mut unwanted = Vec::new();
    let mut after = 0;
    loop {
        let entries = store.entries(&filter, after, PAGE)?;
        let Some(last) = entries.last() else { break };
        after = last.seq;
        for entry in &entries {
            let body = entry.json();
            match (entry.kind.as_str(), &entry.question) {
                ("asked", Some(question)) => {
                    open.insert(question.clone(), body["request"].clone());
                }
                ("decided", Some(question)) => {
                    let Some(request) = open.remove(question) else { continue };
                    let Some(call) = call(&request, "tool_name", "tool_input") else { continue };
                    match body["decision"].as_str() {
                        Some("allow") => {
                            sessions.entry(words(&request["session_id"])).or_default().push(call);
                        }
                        Some("deny") => unwanted.push(call),
                        _ => {}
                    }
                }
                // What ran without a question; the others are there already.
                ("ran", None) => {
                    let call = call(&body, "tool", "input");
                    sessions.entry(words(&body["session"])).or_default().extend(call);
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

fn words(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns the call of an entry, if it contains the input.
fn call(body: &Value, tool: &str, input: &str) -> Option<BenchCall> {
    let input = body.get(input).filter(|input| input.is_object())?;
    Some(BenchCall {
        tool: words(&body[tool]),
        input: RawValue::from_string(input.to_string()).ok()?,
        cwd: body["cwd"].as_str().map(ToOwned::to_owned),
        agent: body["agent"].as_str().map(ToOwned::to_owned),
    })
}
