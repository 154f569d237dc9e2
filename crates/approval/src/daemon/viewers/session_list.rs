//! Which agents work where, made from the history of the last day.

use std::path::{Path, PathBuf};

use callgate_link::text_file::read_text_file;
use callgate_mask::text::{one_line, shortened_text};
use callgate_store::{Store, now_ms};
use callgate_wire::desk::{HistoryDecider, HistoryDecision, HistoryFilter, SessionView};

use super::past_calls::{PastCall, each_past_call};
use crate::card::agent_name;
use crate::card::asks_by_itself;
use crate::desk::Unattended;
use crate::rule_desk::WorkMonitor;

const DAY_MS: i64 = 24 * 3_600_000;
/// The most sessions, those that were active last.
const MOST_SESSIONS: usize = 200;
/// Of how many sessions the branch is looked up.
const MOST_BRANCHES: usize = 60;
/// The largest file that names a branch, in bytes.
const LARGEST_HEAD: u64 = 4096;
/// How much of an agent's last words is shown, in characters.
const LONGEST_WORDS: usize = 600;

/// Returns the sessions of the last day, the most recently active first. Today began at `since_ms`.
pub(super) fn list_sessions(
    store: &Store,
    since_ms: Option<i64>,
    unattended: Unattended,
    monitor: &WorkMonitor<'_>,
) -> Result<Vec<SessionView>, String> {
    let day_ago = now_ms() - DAY_MS;
    let today = since_ms.unwrap_or(day_ago);
    let filter = HistoryFilter { since_ms: Some(today.min(day_ago)), ..HistoryFilter::default() };
    let mut sessions: Vec<SessionView> = Vec::new();
    each_past_call(store, &filter, None, monitor, |call| {
        add_to_session(&mut sessions, call, today);
        true
    })?;
    for (at, session) in sessions.iter_mut().enumerate() {
        // The folders of another machine are not on the disk here.
        let is_looked_up = at < MOST_BRANCHES && session.machine.is_none();
        session.branch = is_looked_up.then(|| find_branch(&session.project)).flatten();
        let mode = session.mode.as_deref().filter(|_| session.machine.is_none());
        session.warning = mode.and_then(|mode| mode_warning(mode, unattended));
    }
    Ok(sessions)
}

/// Adds a call to its session; the latest call comes first.
fn add_to_session(sessions: &mut Vec<SessionView>, call: PastCall, today: i64) {
    let (row, decider) = (call.row, call.decider);
    let agent = row.agent.unwrap_or_default();
    // A script has a new session at each run, so its runs would fill the list.
    if row.session.is_empty() || agent == agent_name("script") {
        return;
    }
    let found = sessions.iter().position(|session| {
        session.session == row.session && session.agent == agent && session.machine == row.machine
    });
    let at = match found {
        Some(at) => at,
        None if sessions.len() == MOST_SESSIONS => return,
        None => {
            sessions.push(SessionView {
                session: row.session,
                agent,
                project: row.project,
                machine: row.machine,
                last_ms: row.at_ms,
                ..SessionView::default()
            });
            sessions.len() - 1
        }
    };
    let session = &mut sessions[at];
    session.mode = session.mode.take().or(row.mode);
    let words = || call.last_words.map(|words| shortened_text(&words, LONGEST_WORDS));
    session.last_words = session.last_words.take().or_else(words);
    let is_today = row.at_ms >= today;
    match (row.decision, decider) {
        (HistoryDecision::Open, _) => {
            session.waiting += 1;
            session.question = row.question;
        }
        (_, Some(HistoryDecider::Rule)) if is_today => session.by_rule_today += 1,
        (HistoryDecision::Allow, _) if is_today => session.allowed_today += 1,
        (HistoryDecision::Deny, _) if is_today => session.denied_today += 1,
        _ => {}
    }
}

/// Returns the branch that is checked out in a folder or in one above it.
fn find_branch(project: &str) -> Option<String> {
    let folder = Path::new(project)
        .ancestors()
        .map(|folder| folder.join(".git"))
        .find(|git| git.exists())?;
    // In a worktree, a file says where the folder is.
    let git = match read_text_file(&folder, LARGEST_HEAD) {
        Ok(text) => PathBuf::from(text.strip_prefix("gitdir:")?.trim()),
        Err(_) => folder,
    };
    let head = read_text_file(&git.join("HEAD"), LARGEST_HEAD).ok()?;
    Some(one_line(head.trim().strip_prefix("ref: refs/heads/")?).into_owned())
}

/// Returns a warning for a mode in which the agent asks nobody.
fn mode_warning(mode: &str, unattended: Unattended) -> Option<String> {
    if asks_by_itself(Some(mode)) {
        return None;
    }
    let rest = match unattended {
        Unattended::Rules => "Your rules apply; what no rule covers runs without a question.",
        Unattended::Ask => "Your rules apply, and what no rule allows comes to you.",
    };
    Some(format!("In {mode} mode this agent asks nobody. {rest}"))
}
