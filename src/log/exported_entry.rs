//! Entries in the forms that other programs collect: CSV, OpenTelemetry and syslog.

use callgate_mask::text::csv_cell;
use callgate_store::{LedgerEntry, Sha256Hash};
use callgate_team_store::AuditLabels;
use callgate_wire::approval::Decision;
use callgate_wire::ledger::LedgerKind;
use callgate_wire::words;
use serde_json::{Value, json};

use super::entry_text::{call_subject, entry_json};
use super::time;

words! {
    pub(super) enum EntryFormat {
        Ndjson "ndjson",
        Csv "csv",
        Otlp "otlp",
        Syslog "syslog",
    }
}

/// What programs search for in an entry: the columns of a CSV file, and attributes elsewhere.
const COLUMNS: [&str; 15] = [
    "machine", "seq", "time", "kind", "question", "decision", "by", "tool", "summary", "agent",
    "session", "cwd", "mode", "hash", "body",
];
/// The columns for which OpenTelemetry has places of its own.
const PLACED: [&str; 3] = ["machine", "time", "summary"];

/// The facility of syslog for audits, as the lowest priority of its messages.
const AUDIT: u8 = 13 * 8;

/// An entry, and the machine whose ledger has it.
#[derive(Clone, Copy)]
pub(super) struct LedgerRow<'a> {
    pub(super) machine: &'a str,
    pub(super) entry: &'a LedgerEntry,
    /// What the team's log says about it, which has the entries of many machines.
    pub(super) labels: Option<&'a AuditLabels>,
}

impl LedgerRow<'_> {
    pub(super) fn to_json(self) -> serde_json::Result<String> {
        entry_json(self.entry, self.labels.map(|_| self.machine))
    }
}

/// An entry with what programs search for, read from its body.
struct ExportedEntry<'a> {
    entry: &'a LedgerEntry,
    machine: &'a str,
    decision: Option<Decision>,
    cells: [String; COLUMNS.len()],
}

impl EntryFormat {
    /// Returns the line before the first entry.
    pub(super) fn heading(self) -> Option<String> {
        (self == Self::Csv).then(|| COLUMNS.join(",") + "\r\n")
    }

    /// Returns an entry, its line end included.
    pub(super) fn line_of(self, row: &LedgerRow<'_>) -> serde_json::Result<String> {
        let exported = ExportedEntry::read(row);
        Ok(match self {
            Self::Ndjson => row.to_json()? + "\n",
            Self::Csv => {
                let cells: Vec<_> = exported.cells.iter().map(|cell| csv_cell(cell)).collect();
                // Lines end with CRLF because RFC 4180 wants it.
                cells.join(",") + "\r\n"
            }
            Self::Otlp => exported.log_record().to_string() + "\n",
            Self::Syslog => exported.syslog_line()?,
        })
    }
}

impl<'a> ExportedEntry<'a> {
    fn read(row: &LedgerRow<'a>) -> Self {
        let &LedgerRow { entry, machine, labels } = row;
        let event = entry.event();
        let (decision, by) = event.decision_and_author();
        let by = by.to_owned();
        let call = event.into_call().unwrap_or_default();
        let labels = labels.cloned().unwrap_or_default();
        let known = |text: String, label: Option<String>| {
            if text.is_empty() { label.unwrap_or_default() } else { text }
        };
        let by = if by.is_empty() { call.by.unwrap_or_default() } else { by };
        let decision = decision.or(labels.decision);
        let cells = [
            machine.to_owned(),
            entry.seq.to_string(),
            time::utc_time_text(entry.at_ms).unwrap_or_default(),
            entry.kind.clone(),
            entry.question.clone().unwrap_or_default(),
            decision.map_or("", Decision::name).to_owned(),
            known(by, labels.who),
            call.tool,
            call.summary,
            known(call.agent.unwrap_or_default(), labels.agent),
            call.session,
            known(call.cwd, labels.project),
            call.mode.unwrap_or_default(),
            Sha256Hash(entry.hash).to_string(),
            entry.body.clone(),
        ];
        Self { entry, machine, decision, cells }
    }

    /// Returns true if somebody who watches a machine wants to see the entry first.
    fn is_notable(&self) -> bool {
        let is_no = matches!(self.decision, Some(Decision::Deny | Decision::Timeout));
        is_no || self.entry.is_of_kind(LedgerKind::Refused)
    }

    /// Returns the entry as a message of the OpenTelemetry protocol, as collectors read it from a
    /// file or take it at `/v1/logs`.
    fn log_record(&self) -> Value {
        let texts = COLUMNS.iter().zip(&self.cells);
        let texts = texts.filter(|(name, text)| !text.is_empty() && !PLACED.contains(name));
        let attributes = texts.map(|(name, text)| attribute(&format!("callgate.{name}"), text));
        let attributes: Vec<Value> = attributes.collect();
        let subject = call_subject(self.entry);
        let body = if subject.is_empty() { &self.entry.kind } else { &subject };
        let (number, text) = if self.is_notable() { (13, "WARN") } else { (9, "INFO") };
        // The protocol has 64-bit numbers as texts in JSON.
        let nanos = format!("{}000000", self.entry.at_ms.max(0));
        json!({ "resourceLogs": [{
            "resource": { "attributes": [
                attribute("service.name", "callgate"),
                attribute("host.name", self.machine),
            ] },
            "scopeLogs": [{
                "scope": { "name": "callgate", "version": env!("CARGO_PKG_VERSION") },
                "logRecords": [{
                    "timeUnixNano": nanos,
                    "observedTimeUnixNano": nanos,
                    "severityNumber": number,
                    "severityText": text,
                    "eventName": format!("callgate.{}", self.entry.kind),
                    "body": { "stringValue": body },
                    "attributes": attributes,
                }],
            }],
        }] })
    }

    /// Returns the entry as a message of RFC 5424, with the JSON of the entry as its text.
    fn syslog_line(&self) -> serde_json::Result<String> {
        // The severities of syslog: 4 is a warning, 6 is information.
        let priority = AUDIT + if self.is_notable() { 4 } else { 6 };
        let time = time::utc_time_text(self.entry.at_ms).unwrap_or_else(|| "-".to_owned());
        // Other characters go, because RFC 5424 does not allow them in a host name.
        let host: String = self.machine.chars().filter(char::is_ascii_graphic).take(255).collect();
        let host = if host.is_empty() { "-" } else { &host };
        let (kind, json) = (&self.entry.kind, entry_json(self.entry, None)?);
        Ok(format!("<{priority}>1 {time} {host} callgate - {kind} - {json}\n"))
    }
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}
