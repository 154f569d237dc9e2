//! `callgate log --team`: the audit log that the desks of a team share.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufWriter, ErrorKind, Stdout, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use callgate_link::file::replace_private;
use callgate_mask::text::{counted_entries, counted_noun, one_line};
use callgate_store::now_ms;
use callgate_team_store::{
    AuditChain, AuditChainReport, AuditFilter, AuditRecord, MOST_ROWS, TeamStore,
};
use callgate_wire::approval::Decision;
use serde_json::json;

use super::entry_text::call_subject;
use super::entry_writer::{EntryWriter, QuestionSummary, is_detail};
use super::exported_entry::LedgerRow;
use super::{EntryFilterArgs, LogArgs, TABLE, agent_id, follow};
use crate::config::{DeskFlags, load_config};
use crate::failure::{Failure, write_error_line};
use crate::team_database::open_store;

/// How often the log is looked at while it is followed.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How far each chain was written: the number of its last entry.
type ChainMarks = BTreeMap<String, u64>;

/// Shows, exports, follows or verifies the log.
pub(super) fn show_team_log(args: &LogArgs, file: Option<&Path>) -> Result<ExitCode, Failure> {
    let config = load_config(file, &DeskFlags::default())?;
    let Some(mut store) = open_store(&config)? else {
        return Err(
            "no database is shared by the desks of a team here: set `team.database_url`, or leave \
             out --team for the ledger of this machine"
                .into(),
        );
    };
    let ahead_ms = store.read_clock()? - now_ms();
    let mut log = TeamLog { store, args, writer: args.entry_writer(), ahead_ms };
    if args.verify {
        return log.verify_chains();
    }
    let last = log.newest_limit();
    let mut marks = match &args.resume {
        Some(path) => read_marks(path)?,
        // What comes while the last ones are written is shown after them.
        None if last.is_some() => log.read_ends()?,
        None => ChainMarks::new(),
    };
    if let Some(limit) = last {
        log.write_last(limit)?;
        if !args.follow {
            return Ok(ExitCode::SUCCESS);
        }
    }
    let mut told = None;
    // Until nobody reads it any more.
    loop {
        match log.write_new(&mut marks) {
            Ok(()) => told = None,
            // The database comes back, and what was written is marked.
            Err(Failure::TeamStore(error)) if args.follow && error.is_passing() => {
                let why = error.to_string();
                // Each reason is reported once, because the log is tried again every second.
                if told.as_ref() != Some(&why) {
                    write_error_line(&why);
                }
                told = Some(why);
            }
            Err(failure) => return Err(failure),
        }
        if !args.follow {
            return Ok(ExitCode::SUCCESS);
        }
        follow::wait_while_read(LOOK_EVERY)?;
    }
}

struct TeamLog<'a> {
    store: Box<dyn TeamStore>,
    args: &'a LogArgs,
    writer: EntryWriter<BufWriter<Stdout>>,
    /// How far the clock of the database is ahead of the one here.
    ahead_ms: i64,
}

impl<'a> TeamLog<'a> {
    fn entry_filter(&self) -> &'a EntryFilterArgs {
        &self.args.which
    }

    fn read_chains(&mut self) -> Result<Vec<AuditChain>, Failure> {
        let machine = self.entry_filter().machine.clone();
        Ok(self.store.chain_heads(machine.as_deref())?)
    }

    fn read_ends(&mut self) -> Result<ChainMarks, Failure> {
        let chains = self.read_chains()?.into_iter();
        Ok(chains.map(|AuditChain { name, head }| (name, head.seq)).collect())
    }

    /// Returns true if a person reads it.
    fn is_table(&self) -> bool {
        !self.args.json && self.args.export.is_none()
    }

    /// Returns how many of the newest entries are written first, 0 for all; `None` if each chain is
    /// written from its mark on.
    fn newest_limit(&self) -> Option<usize> {
        let limit = self.entry_filter().limit;
        match self.args.resume {
            Some(_) => None,
            None if self.is_table() => Some(limit.unwrap_or(TABLE)),
            None => limit.filter(|limit| *limit > 0),
        }
    }

    /// Writes the newest entries, the oldest of them first.
    fn write_last(&mut self, limit: usize) -> Result<(), Failure> {
        let (which, ahead_ms) = (self.entry_filter(), self.ahead_ms);
        let is_table = self.is_table();
        let hides_details = is_table && which.hides_details();
        let mut filter = which.build_audit_filter();
        let mut found: Vec<AuditRecord> = Vec::new();
        loop {
            let page = self.store.search_audit(&filter)?;
            filter.before = page.last().map(|record| record.position);
            let is_last = page.len() < filter.most;
            let wanted = page.into_iter().filter(|record| {
                which.selects(record, ahead_ms) && !(hides_details && is_detail(&record.entry))
            });
            found.extend(wanted);
            if is_last || (limit > 0 && found.len() >= limit) {
                break;
            }
        }
        if limit > 0 {
            found.truncate(limit);
        }
        // For a program, empty output is an answer.
        if found.is_empty() && is_table {
            write_error_line("nothing in the log of the team matches");
        }
        for record in found.iter().rev() {
            // Only a row of the table says what was asked.
            let question =
                if is_table { self.read_question(record)? } else { QuestionSummary::default() };
            self.write_record(record, &question)?;
        }
        Ok(self.writer.flush()?)
    }

    /// Writes what the chains have got since their marks.
    fn write_new(&mut self, marks: &mut ChainMarks) -> Result<(), Failure> {
        let (which, ahead_ms) = (self.entry_filter(), self.ahead_ms);
        for AuditChain { name, head } in self.read_chains()? {
            let mark = marks.get(&name).copied();
            // A chain without a mark is new, and is written from its beginning.
            let mut written = mark.unwrap_or_default();
            while written < head.seq {
                let part = self.store.chain_entries(&name, written)?;
                let first = part.first().map_or(head.seq + 1, |record| record.entry.seq);
                if mark.is_some() && first > written + 1 {
                    write_error_line(&format!(
                        "{name}: entries {} to {} are missing here: the database removed them as \
                         too old before they could be written",
                        written + 1,
                        first - 1
                    ));
                }
                written = part.last().map_or(head.seq, |last| last.entry.seq);
                for record in part.iter().filter(|record| which.selects(record, ahead_ms)) {
                    self.write_record(record, &QuestionSummary::default())?;
                }
                self.writer.flush()?;
                // The marks follow the output: whoever is killed in between writes a part twice,
                // and leaves out none.
                marks.insert(name.clone(), written);
                self.keep_marks(marks)?;
            }
        }
        Ok(self.writer.flush()?)
    }

    fn keep_marks(&self, marks: &ChainMarks) -> Result<(), Failure> {
        let Some(path) = &self.args.resume else { return Ok(()) };
        let text = serde_json::to_string(marks).map_err(io::Error::from)?;
        let kept = replace_private(path, text.as_bytes());
        kept.map_err(|error| Failure::Failed(format!("cannot write {}: {error}", path.display())))
    }

    fn write_record(
        &mut self,
        record: &AuditRecord,
        question: &QuestionSummary,
    ) -> Result<(), Failure> {
        let AuditRecord { machine, labels, entry, .. } = record;
        // The number of the chain goes, because all chains of a machine are one to whoever reads
        // the log.
        let machine = machine.split('#').next().unwrap_or_default();
        Ok(self.writer.write(&LedgerRow { machine, entry, labels: Some(labels) }, question)?)
    }

    /// Reads what was asked, for a row that mentions it.
    fn read_question(&mut self, record: &AuditRecord) -> Result<QuestionSummary, Failure> {
        if record.entry.question.is_none() || record.labels.decision.is_none() {
            return Ok(QuestionSummary::default());
        }
        let filter = AuditFilter {
            question: record.entry.question.clone(),
            most: MOST_ROWS,
            ..AuditFilter::default()
        };
        let of_question = self.store.search_audit(&filter)?;
        let asked = of_question.iter().map(|record| call_subject(&record.entry));
        let asked = asked.rev().find(|asked| !asked.is_empty()).unwrap_or_default();
        Ok(QuestionSummary { asked, is_decided: true })
    }

    /// Walks the chains of all machines, or of one. The exit code is 1 if any of them is broken.
    fn verify_chains(mut self) -> Result<ExitCode, Failure> {
        let chains = self.read_chains()?;
        let (mut broken, mut entries) = (0, 0);
        let mut out = io::stdout().lock();
        for AuditChain { name, .. } in &chains {
            let Some(report) = self.store.verify_chain(name)? else { continue };
            match &report {
                AuditChainReport::Whole { entries: more, .. } => entries += more,
                AuditChainReport::Broken { .. } => broken += 1,
            }
            if self.args.json {
                writeln!(out, "{}", report_json(name, &report))?;
            } else if let Some(line) =
                report_line(name, &report, self.entry_filter().machine.is_some())
            {
                writeln!(out, "{}", one_line(&line))?;
            }
        }
        if !self.args.json {
            let chains = counted_noun(chains.len(), "chain");
            match broken {
                0 => {
                    let entries = counted_entries(entries);
                    writeln!(out, "The log of the team is whole: {chains}, {entries}.")?;
                }
                _ => writeln!(out, "The log of the team is broken: {broken} of {chains}.")?,
            }
        }
        Ok(if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

impl EntryFilterArgs {
    /// Returns what the database selects. A project that is no path is looked for here.
    fn build_audit_filter(&self) -> AuditFilter {
        let within = self.since.map(|since| {
            Duration::from_millis(u64::try_from(now_ms() - since).unwrap_or_default())
        });
        AuditFilter {
            machine: self.machine.clone(),
            project: self.project.clone().filter(|project| project.starts_with('/')),
            agent: self.agent.as_deref().map(agent_id),
            who: self.who.clone(),
            decision: self.decision.as_deref().and_then(Decision::parse),
            question: self.question.clone(),
            within,
            before: None,
            most: MOST_ROWS,
        }
    }

    /// Returns true if an entry of the team's log is wanted. Times are those at which entries were
    /// recorded, by the clock of the database, which is `ahead_ms` ahead of the one here: the
    /// clocks of machines may be wrong.
    fn selects(&self, record: &AuditRecord, ahead_ms: i64) -> bool {
        let AuditRecord { labels, entry, position, .. } = record;
        let recorded_ms = position.recorded_ms - ahead_ms;
        let is =
            |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
        let call = (self.tool.is_some() || self.session.is_some())
            .then(|| entry.event().into_call().unwrap_or_default());
        let call = call.unwrap_or_default();
        let begins = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| found.starts_with(wanted.as_str()))
        };
        let is_kind = self.kind.is_empty() || self.kind.iter().any(|kind| entry.is_of_kind(*kind));
        // `write_new` reads whole chains, so the conditions of the database are checked here, too.
        is_kind
            && is(&self.agent.as_deref().map(agent_id), &labels.agent)
            && is(&self.who, &labels.who)
            && is(&self.decision, &labels.decision.map(|decision| decision.name().to_owned()))
            && self.project.as_ref().is_none_or(|wanted| {
                labels.project.as_ref().is_some_and(|found| is_within(found, wanted))
            })
            && begins(&self.question, entry.question.as_deref().unwrap_or_default())
            && self.tool.as_ref().is_none_or(|tool| *tool == call.tool)
            && begins(&self.session, &call.session)
            && self.since.is_none_or(|since| recorded_ms >= since)
            && self.until.is_none_or(|until| recorded_ms < until)
            && self
                .grep
                .as_ref()
                .is_none_or(|text| entry.body.to_lowercase().contains(&text.to_lowercase()))
    }
}

/// Returns true if a folder is the one that is wanted, by its path or its name, or lies in it.
fn is_within(folder: &str, wanted: &str) -> bool {
    if wanted.starts_with('/') {
        return Path::new(folder).starts_with(wanted);
    }
    folder.split('/').any(|name| name == wanted)
}

fn read_marks(path: &Path) -> Result<ChainMarks, Failure> {
    let failed = |why: &dyn std::fmt::Display| {
        Failure::Failed(format!(
            "{} does not say how far the log was written: {why}; remove it to begin anew",
            path.display()
        ))
    };
    match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(ChainMarks::new()),
        Err(error) => Err(failed(&error)),
        Ok(text) => serde_json::from_str(&text).map_err(|error| failed(&error)),
    }
}

fn report_json(chain: &str, report: &AuditChainReport) -> serde_json::Value {
    match report {
        AuditChainReport::Whole { start, entries, head } => json!({
            "machine": chain, "whole": true, "entries": entries, "after": start.seq,
            "head": head.to_string(),
        }),
        AuditChainReport::Broken { seq, why } => {
            json!({ "machine": chain, "whole": false, "seq": seq, "why": why.to_string() })
        }
    }
}

/// Returns a line about a chain that is broken, or about any if `tells_all`.
fn report_line(chain: &str, report: &AuditChainReport, tells_all: bool) -> Option<String> {
    match report {
        AuditChainReport::Broken { seq, why } => {
            Some(format!("{chain}: broken at entry {seq}: {why}; nothing is proven from there on"))
        }
        AuditChainReport::Whole { start, head, .. } => tells_all
            .then(|| format!("{chain}: whole from entry {} on; its head is {head}", start.seq + 1)),
    }
}
