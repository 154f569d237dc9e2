//! Writes an entry on one line: as a row of the table, as JSON, or for another program.

use std::io::{self, Write};

use callgate_mask::text::{self, one_line};
use callgate_store::LedgerEntry;
use callgate_team_store::AuditLabels;
use callgate_wire::approval::Decision;
use callgate_wire::ledger::{AnswerChannel, ClosedHow, LedgerEvent, MemberKind, PressOutcome};
use callgate_wire::raw::Members;
use jiff::tz::TimeZone;

use super::entry_text::{call_subject, shown_json};
use super::exported_entry::{EntryFormat, LedgerRow};
use super::time;
use crate::terminal::width::terminal_width;

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
    pub(super) asked: String,
    pub(super) is_decided: bool,
}

/// A writer of entries in one of three styles.
pub(super) struct EntryWriter<W> {
    out: W,
    style: EntryStyle,
}

enum EntryStyle {
    Json,
    Export { format: EntryFormat, has_heading: bool },
    Table { zone: TimeZone, width: Option<usize>, has_heading: bool },
}

impl<W: Write> EntryWriter<W> {
    /// Writes JSON, one object on each line.
    pub(super) fn for_json(out: W) -> Self {
        Self { out, style: EntryStyle::Json }
    }

    /// Writes entries for other programs.
    pub(super) fn for_export(out: W, format: EntryFormat) -> Self {
        Self { out, style: EntryStyle::Export { format, has_heading: false } }
    }

    /// Writes a table, as wide as the terminal if standard output is one.
    pub(super) fn for_table(out: W) -> Self {
        Self::table_of(out, TimeZone::system(), terminal_width())
    }

    pub(super) fn table_of(out: W, zone: TimeZone, width: Option<usize>) -> Self {
        Self { out, style: EntryStyle::Table { zone, width, has_heading: false } }
    }

    pub(super) fn write(
        &mut self,
        row: &LedgerRow<'_>,
        question: &QuestionSummary,
    ) -> io::Result<()> {
        let entry = row.entry;
        let (zone, width, has_heading) = match &mut self.style {
            EntryStyle::Table { zone, width, has_heading } => (zone, width, has_heading),
            EntryStyle::Json => return writeln!(self.out, "{}", row.to_json()?),
            EntryStyle::Export { format, has_heading } => {
                let heading = format.heading().filter(|_| !std::mem::replace(has_heading, true));
                self.out.write_all(heading.unwrap_or_default().as_bytes())?;
                return self.out.write_all(format.line_of(row)?.as_bytes());
            }
        };
        if !*has_heading {
            *has_heading = true;
            writeln!(self.out, "{}", table_row("TIME", "WHAT", "QUESTION", "", *width))?;
        }
        let time = time::local_time_text(entry.at_ms, zone);
        let event = entry.event();
        let id = entry.question.as_deref().unwrap_or("-");
        // An id is cut only between characters, because somebody may have written one by hand.
        let id = id.get(..SHORT_ID).unwrap_or(id);
        let what = match row.labels.and_then(|labels| labels.decision) {
            Some(decision) => decision.name(),
            None => kind_word(&event, question),
        };
        let details = match row.labels {
            None => entry_details(entry, &event, question),
            Some(labels) => join_parts(&[row.machine, &label_text(row, labels, question)], "  "),
        };
        // The prefix goes, because in the table of a team every entry is the team's.
        let what = what.trim_start_matches("team_");
        let row = table_row(&time, what, id, &details, *width);
        writeln!(self.out, "{row}")
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Returns true if the table leaves the entry out, because another row says the same.
pub(super) fn is_detail(entry: &LedgerEntry) -> bool {
    match entry.event() {
        LedgerEvent::Said(_) | LedgerEvent::Delivered(_) | LedgerEvent::Returned(_) => true,
        LedgerEvent::Closed(closed) => closed.how == Some(ClosedHow::Answered),
        LedgerEvent::Pressed(press) => {
            matches!(press.outcome, Some(PressOutcome::Decided | PressOutcome::Picked))
        }
        // What it allowed is shown again once it has run.
        LedgerEvent::Checked(call) => call.decision == Some(Decision::Allow),
        _ => false,
    }
}

/// Returns the details of an entry of the team's log. The kinds that only desks with a database
/// record say nothing but what they can be found by.
fn label_text(row: &LedgerRow<'_>, labels: &AuditLabels, question: &QuestionSummary) -> String {
    let event = row.entry.event();
    if !matches!(event, LedgerEvent::Unknown { .. }) {
        return entry_details(row.entry, &event, question);
    }
    let by = prefixed_text("by ", labels.who.as_deref().unwrap_or_default());
    let place = prefixed_text("in ", labels.project.as_deref().unwrap_or_default());
    let body: serde_json::Value = serde_json::from_str(&row.entry.body).unwrap_or_default();
    let member = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let machine = prefixed_text("on ", &member("machine"));
    let document = join_parts(&[&member("document"), &member("name")], " ");
    join_parts(&[&document, &by, &question.asked, &machine, &place], "  ")
}

fn table_row(time: &str, kind: &str, id: &str, details: &str, width: Option<usize>) -> String {
    let fit = |line: &str, width: usize| {
        text::fit_columns(&one_line(line.trim_end()), width).into_owned()
    };
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
fn kind_word<'a>(event: &'a LedgerEvent, question: &QuestionSummary) -> &'a str {
    let decision = match event {
        LedgerEvent::Decided(decided) => decided.decision,
        LedgerEvent::Checked(call) => call.decision,
        LedgerEvent::Closed(closed) => match closed.how {
            Some(ClosedHow::Gone) if !question.is_decided => return "withdrawn",
            Some(ClosedHow::Settled) => return "settled",
            _ => None,
        },
        _ => None,
    };
    decision.map_or(event.kind(), |decision| decision.name())
}

fn entry_details(entry: &LedgerEntry, event: &LedgerEvent, question: &QuestionSummary) -> String {
    let call = event.clone().into_call().unwrap_or_default();
    let (what, cwd) = (call_subject(entry), prefixed_text("in ", &call.cwd));
    let mode = prefixed_text("mode ", call.mode.as_deref().unwrap_or_default());
    let reason = call.by.as_deref().unwrap_or_default();
    match event {
        LedgerEvent::Asked(asked) => {
            let machine = prefixed_text("on ", asked.machine.as_deref().unwrap_or_default());
            join_parts(&[&what, &cwd, &machine], "  ")
        }
        LedgerEvent::RuntimeRan(_) | LedgerEvent::Ran(_) => {
            let outcome = if call.ok == Some(false) { "failed" } else { "" };
            // A run has a decider only if nobody was asked about it.
            let nobody = if matches!(event, LedgerEvent::Ran(_)) {
                decider_words(reason)
            } else {
                String::new()
            };
            join_parts(&[&nobody, &what, outcome, &mode, &cwd], "  ")
        }
        LedgerEvent::Checked(_) => join_parts(&[&decider_words(reason), &what, &mode, &cwd], "  "),
        LedgerEvent::Running(_) | LedgerEvent::RuntimeRefused(_) => {
            join_parts(&[&what, reason], "  ")
        }
        LedgerEvent::Decided(decided) => {
            let message = decided.message.as_ref().filter(|message| **message != decided.by);
            let chosen = prefixed_text("chose ", decided.chosen.as_deref().unwrap_or_default());
            let message = message.map_or("", String::as_str);
            join_parts(&[&decider_words(&decided.by), &chosen, message, &question.asked], "  ")
        }
        LedgerEvent::Pressed(press) => {
            let channel = prefixed_text("on ", press.channel.map_or("", AnswerChannel::name));
            let outcome = press.outcome.map_or("", PressOutcome::name);
            join_parts(&[&join_parts(&[&press.by, &channel, &press.action], " "), outcome], ": ")
        }
        LedgerEvent::Closed(closed) => {
            let how = closed.how.map_or("", ClosedHow::name);
            let how = if closed.text.is_empty() { how } else { &closed.text };
            join_parts(&[how, &question.asked], "  ")
        }
        LedgerEvent::Refused(refused) => refused.why.clone(),
        LedgerEvent::Invited(invited) => {
            let kind = invited.member.map_or("", MemberKind::name);
            let owner = prefixed_text("of ", invited.owner.as_deref().unwrap_or_default());
            let kind = join_parts(&[kind, &owner], " ");
            join_parts(&[&invited.name, &kind, &decider_words(&invited.by)], "  ")
        }
        LedgerEvent::Joined(joined) => joined.name.clone(),
        LedgerEvent::Revoked(revoked) => {
            join_parts(&[&revoked.name, &decider_words(&revoked.by)], "  ")
        }
        LedgerEvent::Mirrored(mirrored) => {
            let what = mirrored.member.as_ref().map_or("removed", |it| it.member.kind.name());
            join_parts(&[&mirrored.name, what, &decider_words(&mirrored.by)], "  ")
        }
        LedgerEvent::Saved(saved) => {
            join_parts(&[&saved.tool, &saved.summary, &decider_words(&saved.by)], "  ")
        }
        LedgerEvent::Anchor(anchor) if anchor.count > 0 => {
            format!("{} entries up to {} were pruned", anchor.count, anchor.through)
        }
        _ => body_members(&entry.body),
    }
}

fn join_parts(parts: &[&str], between: &str) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join(between)
}

fn prefixed_text(before: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{before}{text}") }
}

/// Says who decided. A rule's own words begin with what it did.
fn decider_words(by: &str) -> String {
    let rule = by.strip_prefix("denied by ").or_else(|| by.strip_prefix("allowed by "));
    prefixed_text("by ", rule.unwrap_or(by))
}

/// Returns the members of a body whose kind has no words of its own.
fn body_members(body: &str) -> String {
    let Members(members) = Members::from_text(body).unwrap_or_default();
    let members = members.iter().filter(|(_, value)| !value.is_null());
    members
        .map(|(name, value)| format!("{name}={}", shown_json(*value)))
        .collect::<Vec<_>>()
        .join(" ")
}
