//! The coding agents that run our hook: what callgate knows about each, as data.
//!
//! Each agent is one file with one [`AgentProfile`]: how it names its events and their members,
//! which answers it accepts at each event and in what form, what it does when the hook fails, and
//! where its settings are. The names of its tools are in `tool_act/tool_kind.rs`.

mod amp;
mod claude;
mod cline;
mod codex;
mod copilot;
mod droid;
mod gemini;
mod goose;
mod grok;
mod kilo;
mod kimi;
mod opencode;
mod openhands;
mod pi;
mod qwen;
mod settings_place;
#[cfg(test)]
mod tests;

use core::time::Duration;
use std::fmt;

use memchr::memmem;

use super::AgentHookEvent;
use super::form::{HookAnswer, HookReply, json_text, json_word, print_nothing, reply_line};
use crate::raw::Members;

pub use amp::AMP;
pub use claude::CLAUDE;
pub use cline::CLINE;
pub use codex::CODEX;
pub use copilot::COPILOT;
pub use droid::DROID;
pub use gemini::GEMINI;
pub use goose::GOOSE;
pub use grok::GROK;
pub use kilo::KILO;
pub use kimi::KIMI;
pub use opencode::OPENCODE;
pub use openhands::OPENHANDS;
pub use pi::PI;
pub use qwen::QWEN;
pub use settings_place::{
    AgentSettingsPlace, JsonHooks, LimitUnit, PLUGIN_COMMAND, SettingsFormat,
};

pub static AGENTS: [&AgentProfile; 15] = [
    &CLAUDE, &CODEX, &GEMINI, &QWEN, &COPILOT, &OPENCODE, &CLINE, &KIMI, &DROID, &GOOSE, &GROK,
    &PI, &KILO, &OPENHANDS, &AMP,
];

/// A call of each agent before it runs [`RECORDED_COMMAND`] in [`RECORDED_FOLDER`], as its hook
/// reads it: a line of JSON for each, with the agent's word (`agent`), variables that it sets
/// (`env`) and the standard input (`stdin`). The real agents were seen to give them.
pub const RECORDED_CALLS: &str = include_str!("agents/recorded_calls.ndjson");
/// The command in [`RECORDED_CALLS`].
pub const RECORDED_COMMAND: &str = "touch made";
/// The working folder in [`RECORDED_CALLS`].
pub const RECORDED_FOLDER: &str = "/home/you/project";

/// How long an agent waits for a hook that may ask a person. It is longer than any question may
/// take (`timeout_seconds` and `grace_seconds` at their largest), so that it is always the hook
/// that gives up first: most agents take a hook that ran out of time for a yes.
pub const ANSWER_LIMIT: Duration = Duration::from_mins(60 + 10 + 1);
/// The same for an agent that accepts no more than ten minutes. The hook gives up before.
pub const TEN_MINUTES: Duration = Duration::from_mins(10);
/// How long an agent waits for a hook that only notifies us. It never takes long, and if it did,
/// the agent would hang.
pub const SHORT: Duration = Duration::from_secs(10);

pub struct AgentProfile {
    /// The agent's word on the command line and in the settings.
    pub word: &'static str,
    /// The agent's name in requests, rules and the ledger.
    pub id: &'static str,
    pub name: &'static str,
    /// The names of its program.
    pub programs: &'static [&'static str],
    /// A variable that the agent sets for its hooks, and no other agent does.
    pub mark: Option<&'static str>,
    /// The words of other agents in whose settings it finds hooks, too.
    pub reads: &'static [&'static str],
    pub input: InputForm,
    /// The events at which it runs hooks, in the order in which they are installed. The first one
    /// comes before a tool runs.
    pub events: &'static [HookEventProfile],
    /// What becomes of a call that the hook could not answer.
    pub failures: HookFailures,
    /// Where its settings are, and how a hook is written there.
    pub settings: AgentSettingsPlace,
    /// What its user has to do after the hooks were installed.
    pub next: &'static str,
}

pub enum InputForm {
    /// As an object on standard input.
    Object {
        /// The member with the event's name.
        event: &'static str,
        /// Renames the members to those of Claude Code.
        decode: for<'a> fn(Members<'a>) -> Members<'a>,
    },
    /// The tool's input alone is on standard input, and this variable has the tool's name.
    Bare { tool: &'static str },
}

#[derive(Debug)]
pub struct HookEventProfile {
    pub name: &'static str,
    /// What happens then.
    pub event: AgentHookEvent,
    pub takes: AnswerAbilities,
    pub form: AnswerForm,
    /// How long the agent is to wait for the hook; `None` if no hook is installed for this event.
    pub limit: Option<Duration>,
}

pub type AnswerForm = fn(&HookAnswer<'_>) -> HookReply;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a separate ability")]
pub struct AnswerAbilities {
    /// Whether an allow lets the call run without a question of the agent's own.
    pub allow: bool,
    /// Whether a deny holds.
    pub deny: bool,
    /// Whether the model reads the reason of a deny.
    pub reason: bool,
    /// Whether a changed input is what runs.
    pub edit: EditAbility,
    /// Whether the agent shows its own dialog if the hook asks for one.
    pub ask: bool,
    /// Whether a deny may end the turn.
    pub interrupt: bool,
    /// Whether a permission from now on can be granted.
    pub always: bool,
}

/// Which changed inputs an agent runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditAbility {
    /// None: it runs the original.
    None,
    /// Any: the changed input replaces the original.
    Whole,
    /// Any, in versions whose input has this member; older ones run the original.
    WholeSince(&'static str),
    /// Those that have all members of the original: the agent merges the two.
    Merged,
}

impl AnswerAbilities {
    /// An event that only informs.
    pub const NONE: Self = Self {
        allow: false,
        deny: false,
        reason: false,
        edit: EditAbility::None,
        ask: false,
        interrupt: false,
        always: false,
    };
    /// A deny whose reason the model reads.
    pub const DENY: Self = Self { deny: true, reason: true, ..Self::NONE };
    /// The same, and an allow.
    pub const ALLOW: Self = Self { allow: true, ..Self::DENY };

    /// Adds changed inputs.
    pub const fn with_edit(self, edit: EditAbility) -> Self {
        Self { edit, ..self }
    }
}

/// What becomes of a call whose hook fails before the tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallFate {
    /// The agent goes on as without a hook: it runs the call wherever it asks nobody.
    GoesOn,
    /// The agent asks its user.
    Asked,
    Denied,
}

/// What an agent does with a call when the hook before it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookFailures {
    /// The hook is killed, or ends with a code such as 1.
    pub exit: CallFate,
    /// The hook ends with code 2 and has words on standard error.
    pub exit_two: CallFate,
    /// The hook takes longer than its limit.
    pub timeout: CallFate,
    /// The hook prints something else than an answer.
    pub garbage: CallFate,
    /// There is no such program.
    pub missing: CallFate,
}

impl HookFailures {
    /// The agent goes on unless the hook ends with code 2.
    pub const OPEN: Self = Self {
        exit: CallFate::GoesOn,
        exit_two: CallFate::Denied,
        timeout: CallFate::GoesOn,
        garbage: CallFate::GoesOn,
        missing: CallFate::GoesOn,
    };
    /// The call is denied whatever happens.
    pub const CLOSED: Self = Self {
        exit: CallFate::Denied,
        exit_two: CallFate::Denied,
        timeout: CallFate::Denied,
        garbage: CallFate::Denied,
        missing: CallFate::Denied,
    };

    /// Returns true if some failure lets the call run.
    pub fn is_open(self) -> bool {
        // Code 2 is left out, because the hook ends with it only to refuse a call.
        [self.exit, self.timeout, self.garbage, self.missing].contains(&CallFate::GoesOn)
    }
}

// By hand, because a profile has functions, and these cannot be compared reliably.
impl PartialEq for AgentProfile {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

impl Eq for AgentProfile {}

impl fmt::Debug for AgentProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word)
    }
}

impl AgentProfile {
    /// Returns the agent with this word or name.
    pub fn find(name: &str) -> Option<&'static Self> {
        AGENTS.into_iter().find(|agent| agent.word == name || agent.id == name)
    }

    /// Returns the agent that has set its mark in the environment.
    pub fn find_by_mark(has_variable: impl Fn(&str) -> bool) -> Option<&'static Self> {
        AGENTS.into_iter().find(|agent| agent.mark.is_some_and(&has_variable))
    }

    /// Returns the event of this name. A name that is only known from another agent is that agent's
    /// event if it comes before a tool: the hook may be in the wrong settings, and silence would be
    /// a yes.
    pub fn event(&self, name: &str) -> &'static HookEventProfile {
        let is_it = |event: &&HookEventProfile| event.name == name;
        let of_others = || {
            let events = AGENTS.into_iter().flat_map(|agent| agent.events);
            events.filter(is_it).find(|event| event.event == AgentHookEvent::PreToolUse)
        };
        self.events.iter().find(is_it).or_else(of_others).unwrap_or(&UNKNOWN)
    }

    pub fn before_tool_event(&self) -> &'static HookEventProfile {
        let is_check = |event: &&HookEventProfile| event.event == AgentHookEvent::PreToolUse;
        // Every agent has one; a test checks that.
        self.events.iter().find(is_check).unwrap_or(&UNKNOWN)
    }

    /// Returns true if the agent also runs the hooks in the settings of `other`.
    pub fn reads_settings_of(&self, other: &Self) -> bool {
        self.reads.contains(&other.word)
    }

    /// Guesses the event of input that is too long or too broken to be read: it has to be refused
    /// in the form of its event.
    pub fn guess_event(&self, input: &[u8]) -> Option<&'static HookEventProfile> {
        let InputForm::Object { event, .. } = self.input else {
            return Some(self.before_tool_event());
        };
        let key = format!("\"{event}\"");
        let rest = &input[memmem::find(input, key.as_bytes())? + key.len()..];
        let mut parts = rest.split(|byte| *byte == b'"');
        let colon = parts.next()?.trim_ascii();
        let name = std::str::from_utf8(parts.next()?).ok()?;
        (colon == b":").then(|| self.event(name))
    }
}

/// An event that callgate does not handle.
static UNKNOWN: HookEventProfile =
    HookEventProfile { limit: None, ..silent_report("", AgentHookEvent::Other) };

/// Leaves the members as they are: they have the names that Claude Code uses.
fn as_it_is(members: Members<'_>) -> Members<'_> {
    members
}

/// Renames members. If there already is a member of the new name, it then occurs twice, and the
/// input is refused.
fn rename_members<'a>(mut members: Members<'a>, names: &[(&str, &'static str)]) -> Members<'a> {
    for (name, _) in &mut members.0 {
        if let Some((_, new)) = names.iter().find(|(old, _)| *old == name.as_ref()) {
            *name = (*new).into();
        }
    }
    members
}

/// An event at which the agent waits for a person's answer.
const fn decision_event(
    name: &'static str,
    event: AgentHookEvent,
    takes: AnswerAbilities,
    form: AnswerForm,
) -> HookEventProfile {
    HookEventProfile { name, event, takes, form, limit: Some(ANSWER_LIMIT) }
}

/// The event before a tool runs, at which the agent waits until a person has answered.
const fn before_tool(
    name: &'static str,
    takes: AnswerAbilities,
    form: AnswerForm,
) -> HookEventProfile {
    decision_event(name, AgentHookEvent::PreToolUse, takes, form)
}

/// A report after which nothing is printed.
const fn silent_report(name: &'static str, event: AgentHookEvent) -> HookEventProfile {
    let (takes, form) = (AnswerAbilities::NONE, print_nothing as AnswerForm);
    HookEventProfile { name, event, takes, form, limit: Some(SHORT) }
}

/// Writes an answer for one of our own plugins, which fails without one.
fn plugin_form(answer: &HookAnswer<'_>) -> HookReply {
    let (decision, reason, input) = match answer {
        HookAnswer::Allow { input, .. } => ("allow", None, *input),
        // A plugin has no dialog, and no decision would let the call run.
        HookAnswer::Deny { reason, .. } | HookAnswer::Ask { reason } => {
            ("deny", Some(*reason), None)
        }
        HookAnswer::NoDecision => ("none", None, None),
    };
    reply_line([
        ("decision", json_word(decision)),
        ("reason", reason.and_then(json_word)),
        ("input", input.map(json_text)),
    ])
}
