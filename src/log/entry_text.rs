//! What every form of an entry has: its subject, and its JSON.

use std::borrow::Cow;
use std::fmt::Write as _;

use callgate_mask::text::one_line;
use callgate_store::{LedgerEntry, Sha256Hash};
use callgate_wire::ledger::{AgentCall, LedgerEvent};
use callgate_wire::raw::Json;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::time;

/// Returns what a tool was to do: its name, and the summary or the input.
pub(super) fn call_subject(entry: &LedgerEntry) -> String {
    let (event, rest) = LedgerEvent::decode_body(&entry.kind, &entry.body);
    let AgentCall { tool, mut summary, input, .. } = event.into_call().unwrap_or_default();
    // Early entries of questions have the input beside the tool.
    let input = input.as_deref().map(Json::from).or(rest.get("input"));
    if let (true, Some(input)) = (summary.is_empty(), input) {
        summary = shown_json(input).into_owned();
    }
    if tool.is_empty() || summary.is_empty() || tool == summary {
        return if summary.is_empty() { tool } else { summary };
    }
    format!("{tool}: {summary}")
}

pub(super) fn shown_json(value: Json<'_>) -> Cow<'_, str> {
    value.string().unwrap_or(Cow::Borrowed(value.get()))
}

/// An entry as it is printed as JSON.
#[derive(Serialize)]
struct EntryObject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<&'a str>,
    seq: u64,
    time: Option<String>,
    at_ms: i64,
    kind: &'a str,
    question: Option<&'a str>,
    hash: String,
    body: Box<RawValue>,
}

/// Returns an entry as a JSON object. `machine` names its machine, where entries of several are
/// shown.
pub(super) fn entry_json(entry: &LedgerEntry, machine: Option<&str>) -> serde_json::Result<String> {
    let LedgerEntry { seq, at_ms, kind, question, body, hash } = entry;
    let mut space = String::new();
    // A body that is not JSON, because somebody changed it, is shown as a string.
    let body = match serde_json::from_str::<&RawValue>(body) {
        Ok(body) => {
            RawValue::from_string(Json::from(body).on_one_line(&mut space).get().to_owned())?
        }
        Err(_) => to_raw_value(body)?,
    };
    let time = time::utc_time_text(*at_ms);
    let hash = Sha256Hash(*hash).to_string();
    let object = EntryObject {
        machine,
        seq: *seq,
        time,
        at_ms: *at_ms,
        kind,
        question: question.as_deref(),
        hash,
        body,
    };
    Ok(escaped_json(&serde_json::to_string(&object)?))
}

/// Escapes characters that are invisible or misleading on a terminal, as JSON allows.
fn escaped_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        let mut utf8 = [0; 4];
        if (' '..='~').contains(&c) || one_line(c.encode_utf8(&mut utf8)) == *c.to_string() {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            write!(out, "\\u{unit:04x}").unwrap_or_default();
        }
    }
    out
}
