//! `callgate log`: what was asked, decided and run.

mod copied_chains;
mod entry_text;
mod entry_writer;
mod exported_entry;
mod follow;
mod ledger_pages;
mod team_log;
#[cfg(test)]
mod tests;
pub(crate) mod time;
mod verify;

use std::io::{self, BufWriter, Stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use callgate_store::{ChainHead, EntryFilter, MemberMatch, Store, StoreError};
use callgate_wire::hook::AgentProfile;
use callgate_wire::ledger::LedgerKind;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rustix::system::uname;

use crate::config::{DeskFlags, load_config};
use crate::failure::{Failure, report_unused_problems, write_error_line};
use entry_writer::EntryWriter;
use exported_entry::EntryFormat;
use ledger_pages::LedgerPages;

/// The default number of entries in the table.
const TABLE: usize = 50;

/// Show what was asked, decided and run
///
/// The table leaves out what only repeats a decision (that it was pressed, delivered and closed);
/// --all, --kind and --question show that too.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(crate) struct LogArgs {
    /// Print one JSON object per line, with everything in it
    #[arg(long)]
    json: bool,
    /// Write all entries for another program, one on each line
    ///
    /// `ndjson` is what --json prints. `csv` has a line with the names of its columns first; texts
    /// that a spreadsheet would take for formulas begin with an apostrophe. `otlp` is JSON of the
    /// OpenTelemetry protocol, `syslog` the format of RFC 5424 with the entry as JSON. With
    /// --follow it continues as entries are added, and with --after it begins where an earlier
    /// export ended.
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["json", "verify"])]
    #[arg(value_parser = export_format_parser())]
    export: Option<EntryFormat>,
    /// Keep showing what is added, until you stop it
    #[arg(long, short)]
    follow: bool,
    /// Check that nothing in the ledger was changed or removed
    ///
    /// The exit code is 0 if the ledger is whole, and 1 if it is not. This finds damage and
    /// careless changes. Whoever can write the file can also rewrite the whole ledger: only a head
    /// that you have written down somewhere else shows that.
    #[arg(long, conflicts_with_all = ["limit", "all", "after", "since", "until", "kind", "decision"])]
    #[arg(conflicts_with_all = ["tool", "agent", "session", "project", "grep", "who", "question"])]
    #[arg(conflicts_with = "follow")]
    verify: bool,
    /// With --verify: a head that you have noted earlier
    #[arg(long, value_name = "SEQ:HASH", requires = "verify")]
    head: Option<ChainHead>,
    #[command(flatten)]
    prune: PruneArgs,
    /// Show the log of the team, from the database that its desks share
    ///
    /// It has the ledgers of all machines of the team and what was asked and answered at all desks.
    /// --verify checks the chain of each machine. See `team.database_url`.
    #[arg(long, conflicts_with_all = ["database", "head", "prune_before", "after"])]
    team: bool,
    /// With --team: remember in FILE how far the log was written, and go on from there
    ///
    /// For an export that is started again and again, or that is killed: no entry is left out.
    /// Entries written just before a kill may appear twice; recognise them by machine and number.
    #[arg(long, value_name = "FILE", requires = "team", conflicts_with_all = ["verify", "limit"])]
    resume: Option<PathBuf>,
    /// The file with the ledger, if it is not the one of the settings
    #[arg(long, value_name = "FILE")]
    database: Option<PathBuf>,
    // Last, because its heading in the help applies to whatever follows.
    #[command(flatten)]
    which: EntryFilterArgs,
}

/// The options for removing entries.
#[derive(Debug, clap::Args)]
struct PruneArgs {
    /// Show how many entries are older than this, such as 90d; with --yes, remove them
    ///
    /// Entries are removed from the beginning of the ledger; questions that are still open stay. An
    /// entry that says what was removed is added, and the ledger can be verified from there on.
    #[arg(long, value_name = "WHEN", value_parser = time::parse_time)]
    #[arg(conflicts_with_all = ["EntryFilterArgs", "json", "export", "follow", "verify"])]
    prune_before: Option<i64>,
    /// With --prune-before: remove the entries
    #[arg(long, short, requires = "prune_before")]
    yes: bool,
}

/// The options that choose which entries are shown.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which entries")]
struct EntryFilterArgs {
    /// Show the last N entries; 0 shows all [default: 50, with --json all]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    /// Show every entry, also what the table leaves out
    #[arg(long, short)]
    all: bool,
    /// Only entries after the one with this number
    #[arg(long, value_name = "SEQ")]
    after: Option<u64>,
    /// Only entries of this time or later: 2h, 3d, 2026-11-01, "2026-11-01 14:30"
    #[arg(long, value_name = "WHEN", value_parser = time::parse_time)]
    since: Option<i64>,
    /// Only entries before this time
    #[arg(long, value_name = "WHEN", value_parser = time::parse_time, conflicts_with = "follow")]
    until: Option<i64>,
    /// Only these kinds, separated by commas
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    #[arg(value_parser = ledger_kind_parser())]
    kind: Vec<LedgerKind>,
    /// Only questions with this decision
    #[arg(long, value_name = "DECISION", value_parser = ["allow", "deny", "timeout"])]
    decision: Option<String>,
    /// Only this tool
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Only this agent: claude, codex, gemini and so on, as for `callgate install --agent`
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only this session, by its id or the beginning of it
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only projects in this folder, by its path or its name
    #[arg(long, value_name = "FOLDER")]
    project: Option<String>,
    /// Only entries that contain this text, in upper or lower case
    #[arg(long, value_name = "TEXT")]
    grep: Option<String>,
    /// Only this machine: the copy of the ledger of a remote, as `callgate remote list` names it
    ///
    /// A machine that has pruned or replaced its ledger begins another copy. The newest is shown,
    /// and with NAME#1 the first one. --verify checks all of them.
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    /// With --team: only what this person or rule has decided
    #[arg(long, value_name = "NAME", requires = "team")]
    who: Option<String>,
    /// Only this question, by its id or the beginning of it
    #[arg(long, value_name = "ID")]
    question: Option<String>,
}

impl LogArgs {
    /// Shows, verifies or prunes the ledger.
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        if self.team {
            return team_log::show_team_log(&self, file);
        }
        if self.which.machine.is_some() && (self.follow || self.head.is_some()) {
            let text = "only the log of a team can be followed for one machine, with --team; and \
                        only the ledger of this machine is compared with a head";
            return Err(Failure::Usage(text.to_owned()));
        }
        let path = match &self.database {
            Some(path) => {
                report_unused_problems(file);
                path.clone()
            }
            None => load_config(file, &DeskFlags::default())?.database,
        };
        if let Some(before_ms) = self.prune.prune_before {
            return if self.prune.yes {
                verify::prune_entries(&path, before_ms)
            } else {
                verify::show_prunable(&path, before_ms)
            };
        }
        if let (true, Some(machine)) = (self.verify, &self.which.machine) {
            return copied_chains::verify_copies(&path, machine, self.json);
        }
        if self.verify {
            // A file that somebody names may be evidence, so no note about the check is written to
            // it.
            return verify::verify_chain(&path, self.head, self.json, self.database.is_none());
        }
        let store = match self.which.open_store(&path) {
            Err(StoreError::Missing(_)) if self.follow => follow::wait_for(&path)?,
            store => store?,
        };
        let filter = self.which.build_filter(&store)?;
        let is_for_programs = self.json || self.export.is_some();
        let hides_details = !is_for_programs && self.which.hides_details();
        let own = || uname().nodename().to_string_lossy().into_owned();
        let machine = self.which.machine.clone().unwrap_or_else(own);
        let writer = self.entry_writer();
        let mut pages = LedgerPages::new(&store, &filter, hides_details, writer, machine);
        let limit = if is_for_programs { 0 } else { TABLE };
        pages.write_last(self.which.limit.unwrap_or(limit), self.which.after.unwrap_or(0))?;
        if self.follow {
            follow::follow_ledger(&store, &mut pages)?;
        } else if pages.is_empty() {
            // For a program, empty output is an answer; a person gets a sentence.
            write_error_line(match store.last_seq()? {
                _ if self.which.is_of_unknown_machine(&store)? => copied_chains::NO_COPY,
                0 => "nothing was asked, decided or run yet",
                _ => "nothing in the ledger matches",
            });
        }
        if let Some(machine) = &self.which.machine {
            copied_chains::tell_older_series(&store, machine)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn entry_writer(&self) -> EntryWriter<BufWriter<Stdout>> {
        let out = BufWriter::new(io::stdout());
        match self.export {
            Some(format) => EntryWriter::for_export(out, format),
            None if self.json => EntryWriter::for_json(out),
            None => EntryWriter::for_table(out),
        }
    }
}

impl EntryFilterArgs {
    fn hides_details(&self) -> bool {
        !self.all && self.question.is_none() && self.kind.is_empty()
    }

    fn is_of_unknown_machine(&self, store: &Store) -> Result<bool, StoreError> {
        Ok(self.machine.is_some() && store.entries_after(&EntryFilter::default(), 0, 1)?.is_empty())
    }

    /// Opens the ledger, or the copy of a machine's.
    fn open_store(&self, path: &Path) -> Result<Store, StoreError> {
        match &self.machine {
            Some(machine) => Store::open_copy(path, machine),
            None => Store::open_read_only(path),
        }
    }

    fn build_filter(&self, store: &Store) -> Result<EntryFilter, Failure> {
        let members = [
            ("decision", self.decision.clone().map(MemberMatch::Is)),
            ("tool", self.tool.clone().map(MemberMatch::Is)),
            ("agent", self.agent.as_deref().map(agent_id).map(MemberMatch::Is)),
            ("session", self.session.clone().map(MemberMatch::Begins)),
            ("cwd", self.project.clone().map(MemberMatch::Within)),
        ];
        let given = |(name, member): (&str, Option<MemberMatch>)| Some((name.to_owned(), member?));
        Ok(EntryFilter {
            kinds: self.kind.clone(),
            question: self.question.as_deref().map(|id| whole_id(store, id)).transpose()?,
            since_ms: self.since,
            until_ms: self.until,
            text: self.grep.clone(),
            members: members.into_iter().filter_map(given).collect(),
        })
    }
}

/// Returns the name of an agent in the ledger. Programs of others have names of their own.
fn agent_id(name: &str) -> String {
    AgentProfile::find(name).map_or(name, |agent| agent.id).to_owned()
}

fn ledger_kind_parser() -> impl TypedValueParser<Value = LedgerKind> {
    let names = LedgerKind::ALL.iter().map(|kind| kind.name());
    PossibleValuesParser::new(names)
        .try_map(|name| LedgerKind::parse(&name).ok_or("there is no such kind"))
}

fn export_format_parser() -> impl TypedValueParser<Value = EntryFormat> {
    PossibleValuesParser::new(EntryFormat::NAMES)
        .try_map(|name| EntryFormat::parse(&name).ok_or("there is no such format"))
}

/// Returns the id of the one question whose id begins like this.
fn whole_id(store: &Store, beginning: &str) -> Result<String, Failure> {
    // Two are enough to see that there are several.
    let found = store.question_ids_with_prefix(beginning, 2)?;
    match <[String; 1]>::try_from(found) {
        Ok([id]) => Ok(id),
        // A whole id counts although it is also the beginning of another one.
        Err(found) if found.contains(&beginning.to_owned()) => Ok(beginning.to_owned()),
        Err(found) => {
            let why = if found.is_empty() { "no question" } else { "more than one question" };
            let what =
                format!("{why} has an id that begins with {beginning:?}: look it up in the table");
            Err(Failure::Failed(what))
        }
    }
}
