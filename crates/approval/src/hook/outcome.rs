//! What comes of an input: an answer in the agent's form, silence, or an exit code.

use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::process::ExitCode;

use callgate_wire::approval::RequestKind;
use callgate_wire::hook::agents::{CallFate, HookEventProfile};
use callgate_wire::hook::{self, AgentHookEvent, AgentProfile, HookReply};

use super::stdio;

/// The exit code that agents take as a deny of a tool call, whatever was printed.
const EXIT_DENY: u8 = 2;

#[derive(Debug, PartialEq, Eq)]
pub enum HookOutcome {
    /// The decision, to be printed.
    Decided(Vec<u8>),
    /// Nothing is printed.
    Silent,
    /// Nobody could be asked, or nobody decided, for this reason: the agent asks in its own way.
    Fallback(String),
    /// The event is unknown, for this reason; at some events silence would be a yes.
    Refused(String),
}

impl HookOutcome {
    pub(super) fn from_reply(reply: HookReply, agent: &AgentProfile) -> Self {
        match reply {
            HookReply::Line(line) => Self::Decided(line),
            HookReply::Nothing => Self::Silent,
            HookReply::Refusal(reason) => Self::Refused(reason),
            HookReply::Undecided => {
                Self::fallback("nobody decided: answer where the agent asks".to_owned(), agent)
            }
        }
    }

    /// Returns the outcome that has the agent ask in its own way. Most do so after a hook that
    /// failed; the others do if it says nothing.
    pub(super) fn fallback(reason: String, agent: &AgentProfile) -> Self {
        match agent.failures.exit {
            // An agent that takes a failed hook for a no would not ask its user.
            CallFate::Denied => Self::Silent,
            CallFate::GoesOn | CallFate::Asked => Self::Fallback(reason),
        }
    }

    pub(super) fn print_to(self, output: BorrowedFd<'_>) -> ExitCode {
        match self {
            // Every agent takes success without output for “no decision”.
            Self::Silent => ExitCode::SUCCESS,
            Self::Fallback(reason) => print_complaint(&reason, 1),
            Self::Refused(reason) => print_complaint(&reason, EXIT_DENY),
            Self::Decided(line) => match stdio::write_all(output, &line) {
                Ok(()) => ExitCode::SUCCESS,
                // Half a decision is not a decision, and at some events no decision means yes.
                Err(error) => {
                    print_complaint(&format!("cannot print the decision: {error}"), EXIT_DENY)
                }
            },
        }
    }
}

/// Returns the outcome of an input that cannot be used: it denies a tool call, falls back where the
/// agent would ask, and ignores a mere report.
pub(super) fn unusable_outcome(
    agent: &'static AgentProfile,
    reason: &str,
    event: Option<&'static HookEventProfile>,
) -> HookOutcome {
    let Some(event) = event else {
        // It may have been a tool call, so the agent gets a no in the form that it takes for one.
        return match agent.failures.exit_two {
            CallFate::Denied => HookOutcome::Refused(reason.to_owned()),
            CallFate::GoesOn | CallFate::Asked => {
                denied_outcome(agent.before_tool_event(), agent, reason)
            }
        };
    };
    match (event.event, event.event.kind()) {
        (_, Some(RequestKind::Check)) => denied_outcome(event, agent, reason),
        (AgentHookEvent::PermissionDenied, _) => HookOutcome::Silent,
        // A change of settings that could not be looked at might open the gate.
        (AgentHookEvent::ConfigChange, _) => {
            HookOutcome::from_reply(hook::settings_refusal(reason), agent)
        }
        (_, Some(RequestKind::Ask)) => HookOutcome::fallback(reason.to_owned(), agent),
        _ => HookOutcome::Silent,
    }
}

pub(super) fn denied_outcome(
    event: &HookEventProfile,
    agent: &AgentProfile,
    reason: &str,
) -> HookOutcome {
    HookOutcome::from_reply(hook::call_refusal(event, &cannot_check(reason)), agent)
}

pub(super) fn cannot_check(reason: &str) -> String {
    format!("callgate cannot check this call, so it was not run: {reason}")
}

pub(super) fn print_complaint(reason: &str, code: u8) -> ExitCode {
    // With standard error closed, nobody can be told.
    writeln!(io::stderr(), "callgate hook: {reason}").ok();
    ExitCode::from(code)
}
