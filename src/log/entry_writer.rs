//! Writes an entry on one line: as a row of the table, or as JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use callgate_mask::text::{self, one_line};
use callgate_store::{Anchor, LedgerEntry, Sha256Hash};
use callgate_wire::raw::Json;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::time;
use crate::terminal_width::terminal_width;

/// How many characters of a question's id the table shows.
const SHORT_ID: usize = 8;
/// The widths of the table's columns but the last.
const TIME: usize = 19;
const KIND: usize = 9;
/// In a narrower terminal an entry has two lines, because the columns leave no room for the
/// details.
const NARROW: usize = 60;

/// What is known about the question that an entry belongs to.
#[derive(Debug, Default)]
pub(super) struct QuestionSummary {
    /// The body of what was asked.
    pub(super) asked: Option<Value>,
    /// Whether it was decided.
    pub(super) is_decided: bool,
}

/// A writer of entries in one of two formats.
pub(super) struct EntryWriter<W> {
    out: W,
    style: EntryStyle,
}

enum EntryStyle {
    Json,
    Table { zone: TimeZone, width: Option<usize>, has_heading: bool },
}

impl<W: Write> EntryWriter<W> {
    /// Writes JSON, one object on each line.
    pub(super) fn json(out: W) -> Self {
        Self { out, style: EntryStyle::Json }
    }

    /// Writes a table, as wide as the terminal if standard output is one.
    pub(super) fn table(out: W) -> Self {
        Self::table_of(out, TimeZone::system(), terminal_width())
    }

    pub(super) fn table_of(out: W, zone: TimeZone, width: Option<usize>) -> Self {
        Self { out, style: EntryStyle::Table { zone, width, has_heading: false } }
    }

    /// Writes one entry.
    pub(super) fn write(
        &mut self,
        entry: &LedgerEntry,
        question: &QuestionSummary,
    ) -> io::Result<()> {
        let EntryStyle::Table { zone, width, has_heading } = &mut self.style else {
            return writeln!(self.out, "{}", json(entry)?);
        };
        if !*has_heading {
            *has_heading = true;
            writeln!(self.out, "{}", row("TIME", "WHAT", "QUESTION", "", *width))?;
        }
        let time = time::local(entry.at_ms, zone);
        let body = entry.json();
        let id = entry.question.as_deref().unwrap_or("-");
        let id = id.get(..SHORT_ID).unwrap_or(id);
        let what = kind(entry, &body, question);
        let row = row(&time, what, id, &details(entry, &body, question), *width);
        writeln!(self.out, "{row}")
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Returns true if the table leaves the entry out, because another row says the same.
pub(super) fn is_detail(entry: &LedgerEntry) -> bool {
    let is = |name: &str, value: &str| entry.json()[name] == value;
    match entry.kind.as_str() {
        "said" | "delivered" | "returned" => true,
        "closed" => is("how", "answered"),
        "pressed" => is("outcome", "decided") || is("outcome", "picked"),
        // What it allowed is shown again once it has run.
        "checked" => is("decision", "allow"),
        _ => false,
    }
}

fn row(time: &str, kind: &str, id: &str, details: &str, width: Option<usize>) -> String {
    let fit = |line: &str, width: usize| text::fit(&one_line(line.trim_end()), width).into_owned();
    match width {
        None => {
            let line = format!("{time:TIME$}  {kind:KIND$}  {id:SHORT_ID$}  {details}");
            one_line(line.trim_end()).into_owned()
        }
        Some(width) if width >= NARROW => {
            fit(&format!("{time:TIME$}  {kind:KIND$}  {id:SHORT_ID$}  {details}"), width)
        }
        Some(width) => {
            let columns = fit(&format!("{time:TIME$} {kind:KIND$} {id}"), width);
            match fit(&format!("  {details}"), width).as_str() {
                "" => columns,
                details => format!("{columns}\n{details}"),
            }
        }
    }
}

/// Returns what happened, in one word: for a decision, which one.
fn kind<'a>(entry: &'a LedgerEntry, body: &'a Value, question: &QuestionSummary) -> &'a str {
    match (entry.kind.as_str(), body["decision"].as_str(), body["how"].as_str()) {
        ("decided" | "checked", Some(decision), _) => decision,
        ("closed", _, Some("gone")) if !question.is_decided => "withdrawn",
        ("closed", _, Some("settled")) => "settled",
        _ => &entry.kind,
    }
}

fn details(entry: &LedgerEntry, body: &Value, question: &QuestionSummary) -> String {
    let asked = || question.asked.as_ref().map(subject).unwrap_or_default();
    let text = |name: &str| body[name].as_str().unwrap_or_default();
    let join = |parts: &[&str], between: &str| -> String {
        let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
        parts.join(between)
    };
    let with = |before: &str, name: &str| match text(name) {
        "" => String::new(),
        text => format!("{before}{text}"),
    };
    // A rule's own words begin with what it did.
    let by = || {
        let by = text("by");
        let rule = by.strip_prefix("denied by ").or_else(|| by.strip_prefix("allowed by "));
        match rule.unwrap_or(by) {
            "" => String::new(),
            by => format!("by {by}"),
        }
    };
    match entry.kind.as_str() {
        "asked" => join(&[&subject(body), &with("in ", "cwd")], "  "),
        "ran" => {
            let outcome = if body["ok"] == false { "failed" } else { "" };
            let mode = with("mode ", "mode");
            join(&[&subject(body), outcome, &mode, &with("in ", "cwd")], "  ")
        }
        "checked" => {
            let mode = with("mode ", "mode");
            join(&[&by(), &subject(body), &mode, &with("in ", "cwd")], "  ")
        }
        "running" | "refused" => join(&[&subject(body), &with("", "because")], "  "),
        "decided" => {
            let message = if text("message") == text("by") { "" } else { text("message") };
            join(&[&by(), &with("chose ", "chosen"), message, &asked()], "  ")
        }
        "pressed" => {
            let press = join(&[&with("", "by"), &with("on ", "channel"), text("action")], " ");
            join(&[&press, text("outcome")], ": ")
        }
        "closed" => {
            let how = if text("text").is_empty() { text("how") } else { text("text") };
            join(&[how, &asked()], "  ")
        }
        "anchor" => Anchor::read(&entry.body).map_or_else(
            || members(body),
            |anchor| format!("{} entries up to {} were pruned", anchor.count, anchor.through),
        ),
        _ => members(body),
    }
}

/// Returns what a tool was to do: its name, and the summary or the input.
fn subject(body: &Value) -> String {
    let tool = body["tool"].as_str().unwrap_or_default();
    let summary = match (&body["summary"], &body["input"]) {
        (Value::String(summary), _) => summary.clone(),
        (_, Value::String(input)) => input.clone(),
        (_, Value::Null) => String::new(),
        (_, input) => input.to_string(),
    };
    if tool.is_empty() || summary.is_empty() || tool == summary {
        return if summary.is_empty() { tool.to_owned() } else { summary };
    }
    format!("{tool}: {summary}")
}

/// Returns the members of a body of an unknown kind.
fn members(body: &Value) -> String {
    let shown = |value: &Value| match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let members = body.as_object().into_iter().flatten();
    let members = members.filter(|(_, value)| !value.is_null());
    members.map(|(name, value)| format!("{name}={}", shown(value))).collect::<Vec<_>>().join(" ")
}

/// An entry as it is printed as JSON.
#[derive(Serialize)]
struct EntryObject<'a> {
    seq: u64,
    time: Option<String>,
    at_ms: i64,
    kind: &'a str,
    question: Option<&'a str>,
    hash: String,
    body: Box<RawValue>,
}

fn json(entry: &LedgerEntry) -> serde_json::Result<String> {
    let LedgerEntry { seq, at_ms, kind, question, body, hash } = entry;
    let mut space = String::new();
    // A body that is not JSON, because somebody changed it, is shown as a string.
    let body = match serde_json::from_str::<&RawValue>(body) {
        Ok(body) => {
            RawValue::from_string(Json::from(body).on_one_line(&mut space).get().to_owned())?
        }
        Err(_) => to_raw_value(body)?,
    };
    let time = time::utc(*at_ms);
    let hash = Sha256Hash(*hash).to_string();
    let object = EntryObject {
        seq: *seq,
        time,
        at_ms: *at_ms,
        kind,
        question: question.as_deref(),
        hash,
        body,
    };
    Ok(escaped(&serde_json::to_string(&object)?))
}

/// Escapes characters that are invisible or misleading on a terminal, as JSON allows.
fn escaped(json: &str) -> String {
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
