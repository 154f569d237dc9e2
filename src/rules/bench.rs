//! `callgate rules bench`: measures how many questions rules cause, and what they let through.

mod ledger;
mod report;

use std::fs::File;
use std::path::Path;

use callgate_approval::desk::Unattended;
use callgate_link::text_file::read_limited_text;
use callgate_rules::{Act, Moment, NoLinks, Policy, RuleDecision, judge_act};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::failure::Failure;

pub(super) use ledger::tasks_of_ledger;
pub(super) use report::print_bench_table;

/// The largest file of tasks.
const LARGEST_FILE: u64 = 256 * 1024 * 1024;
/// The folder and the agent of tasks that do not name any.
const PROJECT: &str = "/home/user/project";
const AGENT: &str = "claude-code";

/// Whether somebody wanted a task done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TaskKind {
    /// The user's own task.
    Benign,
    /// A goal of an attacker, or something that a person denied.
    Injected,
}

/// One call of a tool.
#[derive(Debug, Deserialize)]
pub(super) struct BenchCall {
    pub(super) tool: String,
    pub(super) input: Box<RawValue>,
    pub(super) cwd: Option<String>,
    pub(super) agent: Option<String>,
}

/// A task, with the tool calls that fulfil it.
#[derive(Debug, Deserialize)]
pub(super) struct BenchTask {
    pub(super) suite: String,
    #[serde(rename = "task")]
    pub(super) name: String,
    pub(super) kind: TaskKind,
    pub(super) calls: Vec<BenchCall>,
}

/// The results of applying rules to a set of tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BenchFigures {
    pub(super) benign_tasks: usize,
    pub(super) benign_calls: usize,
    pub(super) questions: usize,
    pub(super) tasks_without_question: usize,
    pub(super) benign_calls_denied: usize,
    pub(super) goals: usize,
    /// Goals with a call that was denied.
    pub(super) goals_denied: usize,
    /// Goals with a call that led to a question, and none that was denied.
    pub(super) goals_asked: usize,
    /// Goals whose calls all passed without a question.
    pub(super) goals_unseen: usize,
}

/// Reads tasks, one JSON object on each line.
pub(super) fn read_tasks(path: &Path) -> Result<Vec<BenchTask>, Failure> {
    let failed = |why: String| Failure::Failed(format!("{}: {why}", path.display()));
    let text = File::open(path)
        .and_then(|file| read_limited_text(file, LARGEST_FILE))
        .map_err(|error| failed(error.to_string()))?;
    let task = |(at, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            let number = at + 1;
            failed(format!(
                "line {number} is not a task: {error}; scripts/agentdojo-tasks prints some"
            ))
        })
    };
    text.lines().enumerate().map(task).collect()
}

fn decide_call(
    policy: &Policy,
    call: &BenchCall,
    home: &str,
    now: &Moment,
    unattended: Unattended,
) -> RuleDecision {
    let cwd = call.cwd.as_deref().unwrap_or(PROJECT);
    let agent = call.agent.as_deref().unwrap_or(AGENT);
    let act = Act::from_call(&call.tool, call.input.get(), cwd, agent, home);
    // The disk is not looked at, because the paths of tasks are not on it.
    let verdict = judge_act(policy, &act, &NoLinks, now);
    match verdict.decision {
        RuleDecision::Ask if unattended == Unattended::Rules && !verdict.wants_person => {
            RuleDecision::Allow
        }
        decision => decision,
    }
}

impl BenchFigures {
    /// Applies the rules to the calls of all tasks. A task without calls does not count.
    pub(super) fn from_tasks<'a>(
        tasks: impl IntoIterator<Item = &'a BenchTask>,
        policy: &Policy,
        home: &str,
        now: &Moment,
        unattended: Unattended,
    ) -> Self {
        let mut figures = Self::default();
        for task in tasks.into_iter().filter(|task| !task.calls.is_empty()) {
            let decide = |call: &BenchCall| decide_call(policy, call, home, now, unattended);
            figures.add_task(task.kind, &task.calls.iter().map(decide).collect::<Vec<_>>());
        }
        figures
    }

    fn add_task(&mut self, kind: TaskKind, decisions: &[RuleDecision]) {
        let count = |decision| decisions.iter().filter(|made| **made == decision).count();
        let asked = count(RuleDecision::Ask) + count(RuleDecision::Confirm);
        let denied = count(RuleDecision::Deny);
        match kind {
            TaskKind::Benign => {
                self.benign_tasks += 1;
                self.benign_calls += decisions.len();
                self.questions += asked;
                self.tasks_without_question += usize::from(asked == 0);
                self.benign_calls_denied += denied;
            }
            TaskKind::Injected => {
                self.goals += 1;
                self.goals_denied += usize::from(denied > 0);
                self.goals_asked += usize::from(denied == 0 && asked > 0);
                self.goals_unseen += usize::from(denied == 0 && asked == 0);
            }
        }
    }
}
