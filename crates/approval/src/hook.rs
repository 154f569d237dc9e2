//! The hook: a short-lived process between the agent that starts it and the desk.
//!
//! It reads what the agent tells it, asks, and prints exactly the decision in the agent's own
//! form, or nothing. Where it cannot ask, the agent asks its user as if there were no hook. It
//! blocks, on one thread: how long it takes to start is time that somebody waits.

mod stdio;
mod words;

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

use callgate_wire::approval::{Kind, Request};
use callgate_wire::hook::{self, Agent, Event, Input};
use rustix::process::{getcwd, getppid};

use crate::asker::{self, Asker, Settings, Unwanted};

/// A hook and what it was set to.
pub struct Hook<'a> {
    /// Whose hook it is; `None` where its input tells.
    pub agent: Option<Agent>,
    /// Finds out whom it asks, once there is something to ask or tell; the error is a sentence
    /// for people.
    pub desk: &'a dyn Fn() -> Result<Settings, String>,
}

/// What comes of one input.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The decision, to be printed.
    Decided(Vec<u8>),
    /// Nothing is to be said.
    Silent,
    /// Nothing could be asked or nobody decided, for this reason: the agent asks in its own way.
    Fallback(String),
}

/// Does nothing, for an agent that asks by another way, but takes the input that it writes.
#[must_use]
pub fn stand_by() -> ExitCode {
    // Whatever came of that, nothing is wanted of us.
    stdio::read_input(io::stdin().as_fd()).ok();
    ExitCode::SUCCESS
}

impl Hook<'_> {
    /// Serves the agent that started this process: one input from standard input, at most one
    /// decision on standard output, at most one line on standard error.
    #[must_use]
    pub fn main(&self) -> ExitCode {
        let (output, parent) = (io::stdout(), asker::parent());
        let mut unwanted = Unwanted::default().when_closed(output.as_fd());
        if let Some(parent) = &parent {
            unwanted = unwanted.when_readable(parent.as_fd());
        }
        let outcome = match stdio::read_input(io::stdin().as_fd()) {
            Ok(input) => self.serve(&input, &unwanted),
            Err((reason, glimpsed)) => unreadable(reason, Event::glimpse(&glimpsed)),
        };
        match outcome {
            Outcome::Silent => ExitCode::SUCCESS,
            Outcome::Fallback(reason) => fall_back(&reason),
            Outcome::Decided(line) => match stdio::write_all(output.as_fd(), &line) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => fall_back(&format!("cannot print the decision: {error}")),
            },
        }
    }

    /// Does what the input asks for.
    #[must_use]
    pub fn serve(&self, input: &[u8], unwanted: &Unwanted<'_>) -> Outcome {
        let read = match Input::read(input) {
            Ok(read) => read,
            Err(error) => {
                let reason = format!("cannot use the agent's input: {error}");
                return unreadable(reason, Event::glimpse(input));
            }
        };
        match read.event().kind() {
            None => Outcome::Silent,
            Some(Kind::Ask | Kind::Check) => match self.ask(&read, unwanted) {
                Ok(line) => Outcome::Decided(line),
                Err(reason) => Outcome::Fallback(reason),
            },
            Some(Kind::Settle | Kind::Notify) => {
                self.tell(&read);
                Outcome::Silent
            }
        }
    }

    /// Whether telling helped is not the agent's business.
    fn tell(&self, input: &Input<'_>) {
        if let (Ok(request), Ok(desk)) = (self.request(input), (self.desk)()) {
            asker::tell(&desk, &request).ok();
        }
    }

    fn ask(&self, input: &Input<'_>, unwanted: &Unwanted<'_>) -> Result<Vec<u8>, String> {
        let mut request = self.request(input)?;
        let desk = (self.desk)()?;
        // Without a desk nothing more has to be found out.
        let asker = Asker::dial(&desk, unwanted).map_err(|error| error.to_string())?;
        if let Some(context) = &mut request.context {
            context.timeout_seconds = Some(desk.timeout.as_secs());
            if self.agent(input) == Agent::Claude && context.last_words.is_none() {
                context.last_words = words::last_words(input, &request.tool_name);
            }
        }
        let response = asker.ask(&request).map_err(|error| error.to_string())?;
        hook::answer(input.event(), self.agent(input), &request, &response)
            .ok_or_else(|| "nobody decided: answer where the agent asks".to_owned())
    }

    fn agent(&self, input: &Input<'_>) -> Agent {
        self.agent.unwrap_or_else(|| input.agent())
    }

    /// The request, with what the agent left out.
    fn request(&self, input: &Input<'_>) -> Result<Request, String> {
        let mut request = input
            .request(asker::fresh_id(), self.agent(input))
            .map_err(|error| format!("cannot use the agent's input: {error}"))?;
        if request.cwd.is_empty() {
            request.cwd = working_folder();
        }
        if request.session_id.is_empty() {
            request.session_id = session_of_parent();
        }
        Ok(request)
    }
}

/// Input that cannot be read falls back, unless it was only to tell something.
fn unreadable(reason: String, event: Option<Event>) -> Outcome {
    match event.map(Event::kind) {
        None | Some(Some(Kind::Ask | Kind::Check)) => Outcome::Fallback(reason),
        Some(_) => Outcome::Silent,
    }
}

fn fall_back(reason: &str) -> ExitCode {
    // With standard error closed there is nobody to tell.
    writeln!(io::stderr(), "callgate hook: {reason}").ok();
    ExitCode::FAILURE
}

/// The folder in which this process was started.
#[must_use]
pub fn working_folder() -> String {
    let folder = getcwd(Vec::new());
    folder.map_or_else(|_| "/".to_owned(), |folder| folder.to_string_lossy().into_owned())
}

/// What tells the sessions of an agent without a name for them apart.
#[must_use]
pub fn session_of_parent() -> String {
    getppid().map_or_else(|| "unknown".to_owned(), |parent| format!("pid-{parent}"))
}
