//! `callgate status`: says who is up, what waits, who is linked, and what the last answer was.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use callgate_approval::terminal::question_line;
use callgate_client::DeskError;
use callgate_client::viewer::{PATIENCE, Viewer};
use callgate_mask::text::{counted_noun, one_line, time_span};
use callgate_store::now_ms;
use callgate_wire::desk::{
    ConnectedRelay, DeskAnswer, DeskCommand, DeskInbox, DeskStatus, HistoryDecider,
    HistoryDecision, HistoryFilter, HistoryRow, NamedLink, RemoteState, RemoteView, TeamLineView,
};
use serde_json::json;

use crate::answer_places::describe_places;
use crate::config::{Config, DeskFlags, load_config};
use crate::failure::Failure;
use crate::pair::KnownAnswerer;
use crate::remote::remote_line;
use crate::terminal::width::wrapped_for_terminal;

/// How many open questions are listed; the others are counted.
const MOST_LISTED: usize = 10;
/// How many machines are listed. Of more, only the number is shown.
const MOST_REMOTES: usize = 20;

/// Say whether the desk is up, what waits there, and who can answer
///
/// Prints how long `callgate up` has been running, the open questions, those that run out first on
/// top, who is linked, and the last answer of a person. The exit code is 0 if it is up, and 1 if it
/// is not. Changes nothing. `callgate doctor` says what is wrong, and what to do about it.
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// Print everything as one JSON object
    #[arg(long)]
    json: bool,
}

impl StatusArgs {
    /// Asks the desk, and prints what it says.
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        let config = load_config(file, &DeskFlags::default())?;
        let (text, code) = match DeskReport::ask_desk(&config) {
            Ok(report) if self.json => (report.json(), ExitCode::SUCCESS),
            Ok(report) => (report.text(&config, now_ms()), ExitCode::SUCCESS),
            Err(DeskError::NoDesk(_)) if self.json => {
                (json!({ "up": false }).to_string(), ExitCode::FAILURE)
            }
            Err(error @ DeskError::NoDesk(_)) => {
                (format!("callgate is not up: {error}"), ExitCode::FAILURE)
            }
            Err(error) => return Err(error.into()),
        };
        let mut out = io::stdout().lock();
        let text = if self.json { text } else { wrapped_for_terminal(&text, 2) };
        writeln!(out, "{text}")?;
        out.flush()?;
        Ok(code)
    }
}

/// What a running desk says about itself.
struct DeskReport {
    status: DeskStatus,
    inbox: DeskInbox,
    links: Vec<NamedLink>,
    linked: Vec<KnownAnswerer>,
    last_answer: Option<HistoryRow>,
    remotes: Vec<RemoteView>,
}

impl DeskReport {
    fn ask_desk(config: &Config) -> Result<Self, DeskError> {
        let mut viewer = Viewer::connect(&config.desk_socket.value)?;
        let status = viewer.status()?;
        let inbox = open_questions(&mut viewer)?;
        let links = viewer.links()?;
        let linked = KnownAnswerer::from_links(links.clone(), config);
        let last_answer = last_answer(&mut viewer)?;
        let DeskAnswer::Remotes { remotes } = viewer.ask(DeskCommand::Remotes, PATIENCE)? else {
            return Err(DeskError::Unexpected);
        };
        Ok(Self { status, inbox, links, linked, last_answer, remotes })
    }

    fn json(&self) -> String {
        let linked = self
            .linked
            .iter()
            .map(|one| json!({ "link": one.link, "name": one.name_or_setting() }));
        json!({
            "up": true,
            "status": self.status,
            "open": self.inbox.rows,
            "linked": linked.collect::<Vec<_>>(),
            "last_answer": self.last_answer,
            "remotes": self.remotes,
        })
        .to_string()
    }

    fn text(&self, config: &Config, now_ms: i64) -> String {
        let DeskStatus { version, pid, uptime_seconds, .. } = &self.status;
        let span = time_span(*uptime_seconds);
        let mut lines = vec![format!("callgate {version} is up, as process {pid}, for {span}.")];
        let places =
            describe_places(&self.status, &self.links, &config.telegram.allowed_chats.value);
        lines.extend(listening_line(&self.status));
        lines.extend(team_line(&self.status, now_ms));
        lines.extend(relay_lines(&self.status, now_ms));
        lines.push(match &places[..] {
            [] if self.status.is_relay => {
                "Nobody can answer now: questions wait for the desk above.".to_owned()
            }
            [] => "Nobody can answer now: questions go back to their agents at once.".to_owned(),
            places => format!("Answers can come {}.", places.join(", or ")),
        });
        let trouble =
            self.status.reach.telegram.as_ref().and_then(|phones| phones.trouble.as_ref());
        lines.extend(trouble.map(|why| format!("Telegram does not work: {}", one_line(why))));
        lines.extend(self.linked_lines());
        lines.extend(self.remote_lines(now_ms));
        lines.push(match &self.last_answer {
            Some(row) => format!("Last answer: {}", answer_line(row, now_ms)),
            None => "No person has answered yet.".to_owned(),
        });
        lines.extend(open_lines(&self.inbox, now_ms));
        lines.join("\n")
    }

    /// Describes the machines whose questions are answered here. If there are many, only their
    /// number is shown.
    fn remote_lines(&self, now_ms: i64) -> Vec<String> {
        let all = &self.remotes;
        if all.len() <= MOST_REMOTES {
            return all.iter().map(|it| format!("Remote {}", remote_line(it, now_ms))).collect();
        }
        let connected = all.iter().filter(|view| view.state == RemoteState::Connected).count();
        let text = "machines are connected: see `callgate team list`.";
        vec![format!("{connected} of {} {text}", all.len())]
    }

    fn linked_lines(&self) -> Vec<String> {
        if self.linked.is_empty() {
            return vec!["Nobody is linked.".to_owned()];
        }
        let one =
            |one: &KnownAnswerer| format!("  {} ({})", one.name_or_setting(), one.short_link());
        ["Linked:".to_owned()].into_iter().chain(self.linked.iter().map(one)).collect()
    }
}

/// Says which desks above are connected.
pub(crate) fn relay_lines(status: &DeskStatus, now_ms: i64) -> Vec<String> {
    let line = |relay: &ConnectedRelay| {
        let span = time_span(seconds_between(relay.since_ms, now_ms));
        let name = one_line(&relay.name);
        format!("People at “{name}” answer: its desk has been connected for {span}.")
    };
    // The team's desk has a line of its own.
    let above = status.relays.iter().filter(|relay| !relay.is_team);
    let mut lines: Vec<String> = above.map(line).collect();
    if lines.is_empty() && status.is_relay && status.team.is_none() {
        lines.push("The desk above is not connected: questions wait for it.".to_owned());
    }
    lines
}

/// Says where members of the team reach this desk, if it is the team's.
pub(crate) fn listening_line(status: &DeskStatus) -> Option<String> {
    let address = status.listening.as_ref()?;
    Some(
        one_line(&format!("This is a team's desk: its members reach it at {address}."))
            .into_owned(),
    )
}

/// Describes the line to the team's desk. Returns `None` without a team.
pub(crate) fn team_line(status: &DeskStatus, now_ms: i64) -> Option<String> {
    let TeamLineView { address, name, state, since_ms, text } = status.team.as_ref()?;
    let span = time_span(seconds_between(*since_ms, now_ms));
    let why = text.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
    let said = match state {
        RemoteState::Connected => format!("connected for {span}"),
        RemoteState::Failed => format!("not connected for {span}{why}"),
        RemoteState::Connecting | RemoteState::Waiting => format!("being connected{why}"),
    };
    let line = format!("The team's desk at {address}, where this machine is {name}: {said}.");
    Some(one_line(&line).into_owned())
}

pub(crate) fn open_questions(viewer: &mut Viewer) -> Result<DeskInbox, DeskError> {
    match viewer.ask(DeskCommand::Inbox, PATIENCE)? {
        DeskAnswer::Inbox(inbox) => Ok(inbox),
        _ => Err(DeskError::Unexpected),
    }
}

/// Returns what the last person decided.
fn last_answer(viewer: &mut Viewer) -> Result<Option<HistoryRow>, DeskError> {
    let filter = HistoryFilter { by: Some(HistoryDecider::Person), ..HistoryFilter::default() };
    let command = DeskCommand::History { filter, before: None, limit: Some(1) };
    match viewer.ask(command, PATIENCE)? {
        DeskAnswer::History(history) => Ok(history.rows.into_iter().next()),
        _ => Err(DeskError::Unexpected),
    }
}

/// Lists the open questions, with the time that is left for each.
fn open_lines(inbox: &DeskInbox, now_ms: i64) -> Vec<String> {
    if inbox.open == 0 {
        return vec!["No question waits.".to_owned()];
    }
    let open = usize::try_from(inbox.open).unwrap_or(usize::MAX);
    let verb = if open == 1 { "waits" } else { "wait" };
    let mut lines = vec![format!("{} {verb}:", counted_noun(open, "question"))];
    lines.extend(inbox.rows.iter().take(MOST_LISTED).map(|row| {
        let left = time_span(seconds_between(now_ms, row.until_ms));
        format!("  {left} left: {}", question_line(row))
    }));
    let more = open.saturating_sub(MOST_LISTED);
    lines.extend((more > 0).then(|| format!("  and {more} more")));
    lines
}

fn answer_line(row: &HistoryRow, now_ms: i64) -> String {
    let HistoryRow { decision, by, summary, project, agent, at_ms, took_ms, .. } = row;
    // The row has the time of the question, and the answer came later.
    let took = took_ms.and_then(|took| i64::try_from(took).ok()).unwrap_or_default();
    let ago = time_span(seconds_between(at_ms.saturating_add(took), now_ms));
    let decision = match decision {
        HistoryDecision::Allow => "allowed",
        HistoryDecision::Deny => "denied",
        _ => "answered",
    };
    let by = by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
    let agent = agent.as_deref().unwrap_or("an agent");
    one_line(&format!("{decision}{by} {ago} ago: {agent} in {project}: {summary}")).into_owned()
}

fn seconds_between(from_ms: i64, to_ms: i64) -> u64 {
    u64::try_from(to_ms.saturating_sub(from_ms).max(0)).unwrap_or_default() / 1_000
}
