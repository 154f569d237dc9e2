//! The hook: a short-lived process between the agent that starts it and the desk.
//!
//! It reads the agent's input, asks the desk, and prints the decision in the agent's own form, or
//! nothing. If it cannot ask, the agent asks its user as if there were no hook; before a tool call,
//! where the agent takes silence for a yes, the hook denies the call instead. It blocks, on one
//! thread: its start-up time is time that somebody waits.

mod last_words;
mod slow_desk;
mod stdio;
#[cfg(test)]
mod tests;

use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::Duration;

use callgate_wire::approval::{ApprovalRequest, ApprovalResponse, Decision, RequestKind};
use callgate_wire::hook::{self, AgentHookEvent, AgentHookInput, HookAgent, HookReply};
use callgate_wire::raw::InexactJson;
use rustix::process::{getcwd, getppid};

use crate::asker::{self, Asker, AskerSettings, NoAnswer, UnreadAlarm, Unwanted, WordsLook};
use crate::edit_lines::note_edit_lines;
use last_words::TranscriptWatch;
use slow_desk::SlowDesk;

pub use slow_desk::RulesOnly;

/// The exit code that agents take as a deny of a tool call, whatever was printed.
const EXIT_DENY: u8 = 2;

/// How long a desk may take to read a check before the hook reads the rules itself.
const SLOW: Duration = Duration::from_secs(1);

/// A hook with its settings.
pub struct HookCommand<'a> {
    /// The agent that runs the hook; `None` if the input says which.
    pub agent: Option<HookAgent>,
    /// Whether somebody sits at the agent's own terminal and can answer its dialogs.
    pub is_attended: bool,
    /// The folder of the agent's settings, if the environment names one.
    pub settings_folder: Option<String>,
    /// Returns the desk's settings once they are needed; the error is a sentence for people.
    pub desk: &'a dyn Fn() -> Result<AskerSettings, String>,
    /// The value in the agent's environment by which a host that asks its user itself is known.
    /// Only the desk can tell whether there is such a host.
    pub gated: Option<String>,
    /// Returns why the agent must not apply a change of its settings, if it must not, from whose
    /// settings they are, in the agent's words, and the path of the file.
    pub settings_change: &'a dyn Fn(&str, &str) -> Option<String>,
    /// Answers a check while no desk is listening; the error is a sentence for people.
    pub without_desk: &'a dyn Fn(&ApprovalRequest) -> Result<ApprovalResponse, String>,
    /// Returns what decides about a check by the rules alone, while a desk does not read it.
    pub by_rules: &'a dyn Fn(&ApprovalRequest) -> RulesOnly,
}

/// What the hook does about one input.
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

/// Serves an agent whose hook has an invalid command line: a tool call is denied, and every other
/// event ends with `code`.
#[must_use]
pub fn misused(reason: &str, code: u8) -> ExitCode {
    if io::stdin().is_terminal() {
        // A person typed it: no agent sends an event through a terminal.
        return complain(reason, code);
    }
    let input = stdio::read_input(io::stdin().as_fd()).unwrap_or_else(|(_, read)| read);
    match AgentHookEvent::glimpse(&input) {
        Some(AgentHookEvent::PreToolUse) => denied(reason).end(io::stdout().as_fd()),
        Some(_) => complain(reason, code),
        None => complain(reason, EXIT_DENY),
    }
}

impl HookCommand<'_> {
    /// Serves the agent that started this process: one input from standard input, at most one
    /// decision on standard output, at most one line on standard error.
    #[must_use]
    pub fn main(&self) -> ExitCode {
        let (output, parent) = (io::stdout(), asker::parent());
        let mut unwanted = Unwanted::default().when_closed(output.as_fd());
        if let Some(parent) = &parent {
            unwanted = unwanted.when_readable(parent.as_fd());
        }
        // What a panic would print may quote the input.
        panic::set_hook(Box::new(|_| ()));
        let outcome = match stdio::read_input(io::stdin().as_fd()) {
            Ok(input) => self.serve_or_deny(&input, &unwanted),
            Err((reason, read)) => unusable(&reason, AgentHookEvent::glimpse(&read)),
        };
        outcome.end(output.as_fd())
    }

    /// Handles the input. A panic denies a tool call: an agent goes on when its hook has crashed.
    fn serve_or_deny(&self, input: &[u8], unwanted: &Unwanted<'_>) -> HookOutcome {
        let served = panic::catch_unwind(AssertUnwindSafe(|| self.serve(input, unwanted)));
        served.unwrap_or_else(|_| {
            let reason =
                "the hook failed because of a bug: please report it, with what the agent did";
            unusable(reason, AgentHookEvent::glimpse(input))
        })
    }

    /// Handles the input.
    #[must_use]
    pub fn serve(&self, input: &[u8], unwanted: &Unwanted<'_>) -> HookOutcome {
        let read = match AgentHookInput::read(input) {
            Ok(read) => read,
            Err(error) => {
                let reason = format!("cannot use the agent's input: {error}");
                return unusable(&reason, AgentHookEvent::glimpse(input));
            }
        };
        if read.event().decides()
            && let Err(error) = read.check_exact()
        {
            return self.refuse(&read, &error);
        }
        match read.event().kind() {
            None => HookOutcome::Silent,
            Some(RequestKind::Check) => match self.check(&read, unwanted) {
                Ok(HookReply::Line(line)) => HookOutcome::Decided(line),
                Ok(HookReply::Nothing) => HookOutcome::Silent,
                Ok(HookReply::Undecided) => denied("nobody decided"),
                Err(reason) => denied(&reason),
            },
            Some(RequestKind::Ask) => match self.ask(&read, unwanted) {
                Ok(HookReply::Line(line)) => HookOutcome::Decided(line),
                // The call is blocked already, and stays blocked.
                _ if read.event() == AgentHookEvent::PermissionDenied => HookOutcome::Silent,
                Ok(HookReply::Nothing) => HookOutcome::Silent,
                Ok(HookReply::Undecided) => {
                    HookOutcome::Fallback("nobody decided: answer where the agent asks".to_owned())
                }
                Err(reason) => HookOutcome::Fallback(reason),
            },
            Some(_) if read.event() == AgentHookEvent::ConfigChange => self.settings_changed(&read),
            Some(RequestKind::Settle | RequestKind::Notify) => {
                self.tell(&read);
                HookOutcome::Silent
            }
        }
    }

    /// Refuses input that the agent may read differently than we do.
    fn refuse(&self, input: &AgentHookInput<'_>, error: &InexactJson) -> HookOutcome {
        if input.has_inexact_tool_input() {
            // The rules of the desk deny it, too, and so it is in the ledger. Nobody waits for that.
            self.tell(input);
        }
        let reason = cannot_check(&format!("its JSON is ambiguous: {error}"));
        hook::refusal(input.event(), &reason).map_or(HookOutcome::Silent, HookOutcome::Decided)
    }

    /// Has a tool call checked before it runs.
    fn check(
        &self,
        input: &AgentHookInput<'_>,
        unwanted: &Unwanted<'_>,
    ) -> Result<HookReply, String> {
        let mut request = self.request(input)?;
        let (agent, desk) = (self.agent(input), (self.desk)()?);
        if let Some(context) = &mut request.context {
            context.asks = Some(input.asks(agent, self.is_attended));
            context.timeout_seconds = Some(desk.timeout.as_secs());
        }
        let response = match self.ask_or_decide(&desk, &request, unwanted) {
            Err(NoAnswer::NoDesk(_)) => (self.without_desk)(&request)?,
            answered => answered.map_err(|error| error.to_string())?,
        };
        Ok(hook::answer(input.event(), agent, &request, &response))
    }

    /// Asks the desk about a call. A desk that does not read the question may have been stopped: then
    /// the rules are read here, and what they allow or deny is answered. Anything else waits for it.
    fn ask_or_decide(
        &self,
        desk: &AskerSettings,
        request: &ApprovalRequest,
        unwanted: &Unwanted<'_>,
    ) -> Result<ApprovalResponse, NoAnswer> {
        let Ok(slow) = SlowDesk::new() else { return asker::ask(desk, request, unwanted) };
        let decide = || slow.decide((self.by_rules)(request));
        let alarm = UnreadAlarm::after(SLOW, &decide);
        let unwanted = unwanted.clone().when_readable(slow.as_fd()).with_alarm(&alarm);
        match asker::ask(desk, request, &unwanted) {
            Err(NoAnswer::Unwanted) => slow.decision().ok_or(NoAnswer::Unwanted),
            answered => answered,
        }
    }

    /// Refuses a change of the agent's settings that would open the gate, and tells the desk.
    fn settings_changed(&self, input: &AgentHookInput<'_>) -> HookOutcome {
        let changed = input.changed_settings();
        let Some(why) = changed.and_then(|(source, file)| (self.settings_change)(&source, &file))
        else {
            return HookOutcome::Silent;
        };
        if let (Ok(mut request), Ok(desk)) = (self.request(input), (self.desk)()) {
            request.context.get_or_insert_default().reason = Some(why.clone());
            // Whether the desk hears of it is not the agent's business.
            asker::tell(&desk, &request).ok();
        }
        HookOutcome::Decided(hook::settings_refusal(&why))
    }

    /// Reports an event to the desk. Whether that worked is not the agent's business.
    fn tell(&self, input: &AgentHookInput<'_>) {
        if let (Ok(request), Ok(desk)) = (self.request(input), (self.desk)()) {
            asker::tell(&desk, &request).ok();
        }
    }

    fn ask(
        &self,
        input: &AgentHookInput<'_>,
        unwanted: &Unwanted<'_>,
    ) -> Result<HookReply, String> {
        let mut request = self.request(input)?;
        let desk = (self.desk)()?;
        // Without a desk nothing more has to be read.
        let asker = Asker::dial(&desk, unwanted).map_err(|error| error.to_string())?;
        let mut watch = None;
        if let Some(context) = &mut request.context {
            context.timeout_seconds = Some(desk.timeout.as_secs());
            if self.agent(input) == HookAgent::Claude && context.last_words.is_none() {
                watch = TranscriptWatch::of(input, &request.tool_name);
            }
            // Words that are not written yet must not delay the question.
            match watch.as_mut().map(TranscriptWatch::look) {
                Some(WordsLook::Found(words)) => context.last_words = Some(words),
                Some(WordsLook::Later(_)) => context.words_follow = Some(true),
                Some(WordsLook::Never) | None => {}
            }
        }
        let mut look = || match watch.as_mut().filter(|_| request.words_follow()) {
            Some(watch) => watch.look(),
            None => WordsLook::Never,
        };
        let response = asker.ask_with_words(&request, &mut look);
        let response = response.map_err(|error| error.to_string())?;
        if response.decision == Decision::None {
            // The agent's host asks.
            return Ok(HookReply::Nothing);
        }
        Ok(hook::answer(input.event(), self.agent(input), &request, &response))
    }

    fn agent(&self, input: &AgentHookInput<'_>) -> HookAgent {
        self.agent.unwrap_or_else(|| input.agent())
    }

    /// Makes the request, and fills in what the agent left out.
    fn request(&self, input: &AgentHookInput<'_>) -> Result<ApprovalRequest, String> {
        let mut request = input
            .request(asker::fresh_id(), self.agent(input))
            .map_err(|error| format!("cannot use the agent's input: {error}"))?;
        if request.cwd.is_empty() {
            request.cwd = working_folder();
        }
        if request.session_id.is_empty() {
            request.session_id = session_of_parent();
        }
        if let Some(context) = &mut request.context {
            context.settings_folder.clone_from(&self.settings_folder);
            context.gated.clone_from(&self.gated);
        }
        if matches!(request.kind, RequestKind::Ask | RequestKind::Check) {
            note_edit_lines(&mut request);
        }
        Ok(request)
    }
}

impl HookOutcome {
    /// Prints the outcome and returns the exit code.
    fn end(self, output: BorrowedFd<'_>) -> ExitCode {
        match self {
            Self::Silent => ExitCode::SUCCESS,
            Self::Fallback(reason) => complain(&reason, 1),
            Self::Refused(reason) => complain(&reason, EXIT_DENY),
            Self::Decided(line) => match stdio::write_all(output, &line) {
                Ok(()) => ExitCode::SUCCESS,
                // Half a decision is none, and at some events none would be a yes.
                Err(error) => complain(&format!("cannot print the decision: {error}"), EXIT_DENY),
            },
        }
    }
}

/// Returns the outcome of an input that cannot be used: it denies a tool call, falls back where the
/// agent would ask, and ignores a mere report.
fn unusable(reason: &str, event: Option<AgentHookEvent>) -> HookOutcome {
    match event.map(|event| (event, event.kind())) {
        None => HookOutcome::Refused(reason.to_owned()),
        Some((_, Some(RequestKind::Check))) => denied(reason),
        Some((AgentHookEvent::PermissionDenied, _)) => HookOutcome::Silent,
        // A change of settings that could not be looked at might open the gate.
        Some((AgentHookEvent::ConfigChange, _)) => {
            HookOutcome::Decided(hook::settings_refusal(reason))
        }
        Some((_, Some(RequestKind::Ask))) => HookOutcome::Fallback(reason.to_owned()),
        Some(_) => HookOutcome::Silent,
    }
}

/// Denies a tool call that could not be checked.
fn denied(reason: &str) -> HookOutcome {
    HookOutcome::Decided(hook::denial(&cannot_check(reason)))
}

fn cannot_check(reason: &str) -> String {
    format!("callgate cannot check this call, so it was not run: {reason}")
}

fn complain(reason: &str, code: u8) -> ExitCode {
    // With standard error closed, nobody can be told.
    writeln!(io::stderr(), "callgate hook: {reason}").ok();
    ExitCode::from(code)
}

/// Returns the working folder of this process.
#[must_use]
pub fn working_folder() -> String {
    let folder = getcwd(Vec::new());
    folder.map_or_else(|_| "/".to_owned(), |folder| folder.to_string_lossy().into_owned())
}

/// Returns a name for the session of an agent that does not name its sessions.
#[must_use]
pub fn session_of_parent() -> String {
    getppid().map_or_else(|| "unknown".to_owned(), |parent| format!("pid-{parent}"))
}
