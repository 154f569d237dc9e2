//! The hook: a short-lived process between the agent that starts it and the desk.
//!
//! It reads the agent's input, asks the desk, and prints the decision in the agent's own form, or
//! nothing. If it cannot ask, the agent asks its user as if there were no hook; before a tool call,
//! where the agent takes silence for a yes, the hook denies the call instead. It blocks, on one
//! thread: its start-up time is time that somebody waits.

mod changed_call;
mod last_words;
mod outcome;
mod slow_desk;
mod stdio;
#[cfg(test)]
mod tests;

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use callgate_wire::approval::{ApprovalRequest, ApprovalResponse, Decision, RequestKind};
use callgate_wire::hook::agents::{CLAUDE, CallFate, InputForm};
use callgate_wire::hook::{
    self, AgentHookEvent, AgentHookInput, AgentProfile, HookReply, NotHookInput, bare_input,
};
use callgate_wire::raw::InexactJson;
use rustix::process::{getcwd, getppid};

use crate::asker::{
    self, Asker, AskerCancellation, AskerSettings, NoAnswer, UnreadAlarm, WordsLook,
};
use crate::edit_lines::note_edit_lines;
use last_words::TranscriptWatch;
use outcome::{cannot_check, denied_outcome, print_complaint, unusable_outcome};
use slow_desk::SlowDesk;

pub use outcome::HookOutcome;
pub use slow_desk::RulesOnly;

/// How long a desk may take to read a check before the hook reads the rules itself.
const SLOW: Duration = Duration::from_secs(1);

/// How long before the agent's own limit the hook gives up. Most agents run a call whose hook is
/// late.
const BEFORE_LIMIT: Duration = Duration::from_secs(10);

pub struct HookCommand<'a> {
    /// The agent in whose settings the hook is; `None` if the input says which.
    pub agent: Option<&'static AgentProfile>,
    /// Returns a variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
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

/// Serves an agent whose hook has an invalid command line: a tool call is denied, and every other
/// event ends with `code`.
pub fn serve_misused(agent: Option<&'static AgentProfile>, reason: &str, code: u8) -> ExitCode {
    if io::stdin().is_terminal() {
        // A person typed it: no agent sends an event through a terminal.
        return print_complaint(reason, code);
    }
    let input = stdio::read_input(io::stdin().as_fd()).unwrap_or_else(|(_, read)| read);
    let agent = agent.unwrap_or(&CLAUDE);
    match agent.guess_event(&input) {
        Some(event) if event.event != AgentHookEvent::PreToolUse => print_complaint(reason, code),
        event => unusable_outcome(agent, reason, event).print_to(io::stdout().as_fd()),
    }
}

impl HookCommand<'_> {
    /// Serves the agent that started this process: one input from standard input, at most one
    /// decision on standard output, at most one line on standard error.
    pub fn main(&self) -> ExitCode {
        let (output, parent) = (io::stdout(), asker::parent_pidfd());
        // Some versions of Claude Code send no signal to a hook whose question was answered in
        // their dialog: a closed output or the end of the agent is the only sign of it.
        let mut unwanted = AskerCancellation::default().when_closed(output.as_fd());
        if let Some(parent) = &parent {
            unwanted = unwanted.when_readable(parent.as_fd());
        }
        // What a panic would print may quote the input.
        panic::set_hook(Box::new(|_| ()));
        let outcome = match stdio::read_input(io::stdin().as_fd()) {
            Ok(input) => self.serve_or_deny(&input, &unwanted),
            Err((reason, read)) => self.unusable_outcome(&reason, &read),
        };
        outcome.print_to(output.as_fd())
    }

    /// Handles the input. A panic denies a tool call: an agent goes on when its hook has crashed.
    fn serve_or_deny(&self, input: &[u8], unwanted: &AskerCancellation<'_>) -> HookOutcome {
        let served = panic::catch_unwind(AssertUnwindSafe(|| self.serve(input, unwanted)));
        served.unwrap_or_else(|_| {
            let reason =
                "the hook failed because of a bug: please report it, with what the agent did";
            self.unusable_outcome(reason, input)
        })
    }

    pub fn serve(&self, input: &[u8], unwanted: &AskerCancellation<'_>) -> HookOutcome {
        let whole = match self.agent.map(|agent| &agent.input) {
            Some(InputForm::Bare { tool }) => bare_input((self.variable)(tool), input),
            _ => None,
        };
        let read = match self.parse_input(whole.as_deref().unwrap_or(input)) {
            Ok(read) => read,
            Err(error) => {
                return self
                    .unusable_outcome(&format!("cannot use the agent's input: {error}"), input);
            }
        };
        // A report is only recorded, so it need not be read in one way only.
        if read.event().decides()
            && let Err(error) = read.check_exact()
        {
            return self.refuse_inexact(&read, &error);
        }
        match read.event().kind() {
            None => HookOutcome::Silent,
            Some(RequestKind::Check) => match self.check_call(&read, unwanted) {
                // A failed hook is a yes for most agents.
                Ok(HookReply::Undecided) if read.agent().failures.exit != CallFate::Asked => {
                    denied_outcome(read.known_event(), read.agent(), "nobody decided")
                }
                Ok(reply) => HookOutcome::from_reply(reply, read.agent()),
                Err(reason) => denied_outcome(read.known_event(), read.agent(), &reason),
            },
            Some(RequestKind::Ask) => match self.ask_person(&read, unwanted) {
                // The call is blocked already, and stays blocked.
                Ok(HookReply::Undecided) | Err(_)
                    if read.event() == AgentHookEvent::PermissionDenied =>
                {
                    HookOutcome::Silent
                }
                Ok(reply) => HookOutcome::from_reply(reply, read.agent()),
                Err(reason) => HookOutcome::fallback(reason, read.agent()),
            },
            Some(_) if read.event() == AgentHookEvent::ConfigChange => self.settings_changed(&read),
            Some(RequestKind::Settle | RequestKind::Notify) => {
                self.report_event(&read);
                HookOutcome::Silent
            }
        }
    }

    /// Reads the input as that of the agent that gave it. That may be another one than the one in
    /// whose settings the hook is: Copilot and Grok also run the hooks of Claude Code.
    fn parse_input<'t>(&self, text: &'t [u8]) -> Result<AgentHookInput<'t>, NotHookInput> {
        if let Some(other) = self.running_agent()
            && let Ok(read) = AgentHookInput::from_bytes(text, Some(other))
            && read.event() != AgentHookEvent::Other
        {
            return Ok(read);
        }
        AgentHookInput::from_bytes(text, self.agent)
    }

    /// Returns the agent that runs this hook although it is in the settings of another one.
    fn running_agent(&self) -> Option<&'static AgentProfile> {
        let marked = AgentProfile::find_by_mark(|name| (self.variable)(name).is_some())?;
        self.agent.is_none_or(|agent| marked.reads_settings_of(agent)).then_some(marked)
    }

    fn unusable_outcome(&self, reason: &str, input: &[u8]) -> HookOutcome {
        let agent = self.agent.or_else(|| self.running_agent()).unwrap_or(&CLAUDE);
        unusable_outcome(agent, reason, agent.guess_event(input))
    }

    /// Refuses input that the agent may read differently than we do.
    fn refuse_inexact(&self, input: &AgentHookInput<'_>, error: &InexactJson) -> HookOutcome {
        if input.has_inexact_tool_input() {
            // The desk denies it for the same reason, and so it is in its ledger. The hook does not
            // wait for that.
            self.report_event(input);
        }
        let reason = cannot_check(&format!("its JSON is ambiguous: {error}"));
        HookOutcome::from_reply(hook::call_refusal(input.known_event(), &reason), input.agent())
    }

    /// Checks a tool call before it runs.
    fn check_call(
        &self,
        input: &AgentHookInput<'_>,
        unwanted: &AskerCancellation<'_>,
    ) -> Result<HookReply, String> {
        let mut request = self.build_request(input)?;
        let (desk, since) = (self.desk_settings(input)?, Instant::now());
        if let Some(context) = &mut request.context {
            context.asks = Some(input.choose_prompter(self.is_attended));
            context.timeout_seconds = Some(desk.timeout.as_secs());
        }
        let response = match self.ask_or_decide(&desk, &request, unwanted) {
            Err(NoAnswer::NoDesk(_)) => (self.without_desk)(&request)?,
            answered => answered.map_err(|error| error.to_string())?,
        };
        let response = self.check_changes((&request, response), (&desk, since), unwanted)?;
        Ok(hook::render_response(input.known_event(), &request, &response))
    }

    /// Asks the desk about a call. A desk that does not read the question may have been stopped:
    /// then the rules are read here, and what they allow or deny is answered. Anything else waits
    /// for it.
    fn ask_or_decide(
        &self,
        desk: &AskerSettings,
        request: &ApprovalRequest,
        unwanted: &AskerCancellation<'_>,
    ) -> Result<ApprovalResponse, NoAnswer> {
        let Ok(slow) = SlowDesk::new() else { return asker::ask_desk(desk, request, unwanted) };
        let decide = || slow.start_deciding((self.by_rules)(request));
        let alarm = UnreadAlarm::after(SLOW, &decide);
        let unwanted = unwanted.clone().when_readable(slow.as_fd()).with_alarm(&alarm);
        match asker::ask_desk(desk, request, &unwanted) {
            Err(NoAnswer::Unwanted) => slow.take_decision().ok_or(NoAnswer::Unwanted),
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
        if let (Ok(mut request), Ok(desk)) = (self.build_request(input), (self.desk)()) {
            request.context.get_or_insert_default().reason = Some(why.clone());
            // Whether the desk hears of it is not the agent's business.
            asker::tell_desk(&desk, &request).ok();
        }
        HookOutcome::from_reply(hook::settings_refusal(&why), input.agent())
    }

    /// Reports an event to the desk. Whether that worked is not the agent's business.
    fn report_event(&self, input: &AgentHookInput<'_>) {
        if let (Ok(request), Ok(desk)) = (self.build_request(input), (self.desk)()) {
            asker::tell_desk(&desk, &request).ok();
        }
    }

    fn ask_person(
        &self,
        input: &AgentHookInput<'_>,
        unwanted: &AskerCancellation<'_>,
    ) -> Result<HookReply, String> {
        let mut request = self.build_request(input)?;
        let (desk, since) = (self.desk_settings(input)?, Instant::now());
        // Without a desk nothing more has to be read.
        let asker = Asker::dial(&desk, unwanted).map_err(|error| error.to_string())?;
        let mut watch = None;
        if let Some(context) = &mut request.context {
            context.timeout_seconds = Some(desk.timeout.as_secs());
            if *input.agent() == CLAUDE && context.last_words.is_none() {
                watch = TranscriptWatch::from_input(input, &request.tool_name);
            }
            // Words that are not written yet must not delay the question.
            match watch.as_mut().map(TranscriptWatch::find_words) {
                Some(WordsLook::Found(words)) => context.last_words = Some(words),
                Some(WordsLook::Later(_)) => context.words_follow = Some(true),
                Some(WordsLook::Never) | None => {}
            }
        }
        let mut look = || match watch.as_mut().filter(|_| request.words_follow()) {
            Some(watch) => watch.find_words(),
            None => WordsLook::Never,
        };
        let response = asker.ask_with_words(&request, &mut look);
        let response = response.map_err(|error| error.to_string())?;
        if response.decision == Decision::None {
            // The agent's host asks.
            return Ok(HookReply::Nothing);
        }
        let response = self.check_changes((&request, response), (&desk, since), unwanted)?;
        Ok(hook::render_response(input.known_event(), &request, &response))
    }

    /// Returns the desk's settings. The hook gives up before the agent does.
    fn desk_settings(&self, input: &AgentHookInput<'_>) -> Result<AskerSettings, String> {
        let mut desk = (self.desk)()?;
        if let Some(limit) = input.known_event().limit {
            desk.timeout = desk.timeout.min(limit.saturating_sub(BEFORE_LIMIT));
        }
        Ok(desk)
    }

    /// Makes the request, and fills in what the agent left out, without which the desk would refuse
    /// it.
    fn build_request(&self, input: &AgentHookInput<'_>) -> Result<ApprovalRequest, String> {
        let mut request = input
            .request(asker::fresh_id())
            .map_err(|error| format!("cannot use the agent's input: {error}"))?;
        if request.cwd.is_empty() {
            request.cwd = working_folder();
        }
        if request.session_id.is_empty() {
            request.session_id = session_of_parent();
        }
        if let Some(context) = &mut request.context {
            // The desk guards this folder, and may have been started with another environment.
            context.settings_folder.clone_from(&self.settings_folder);
            context.gated.clone_from(&self.gated);
            let other = self.agent.filter(|agent| *agent != input.agent());
            context.hook_of = other.map(|agent| agent.word.to_owned());
        }
        if matches!(request.kind, RequestKind::Ask | RequestKind::Check) {
            note_edit_lines(&mut request);
        }
        Ok(request)
    }
}

pub fn working_folder() -> String {
    let folder = getcwd(Vec::new());
    folder.map_or_else(|_| "/".to_owned(), |folder| folder.to_string_lossy().into_owned())
}

/// Returns a name for the session of an agent that does not name its sessions.
pub fn session_of_parent() -> String {
    getppid().map_or_else(|| "unknown".to_owned(), |parent| format!("pid-{parent}"))
}
