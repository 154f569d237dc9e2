//! `callgate ask`: lets any script ask a person, at the same desk as the agents.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use callgate_approval::asker::{self, Asker, AskerCancellation, AskerSettings, NoAnswer};
use callgate_approval::hook::{session_of_parent, working_folder};
use callgate_link::text_file::read_limited_text;
use callgate_mask::text::one_line;
use callgate_wire::approval::{
    AnswerExtra, ApprovalRequest, ApprovalResponse, Decision, RequestContext, RequestKind,
};
use callgate_wire::raw::Json;
use clap::builder::NonEmptyStringValueParser;
use serde::Serialize;
use serde_json::value::to_raw_value;

use crate::answer_places::answer_places;
use crate::config::{Config, DeskFlags, load_config};
use crate::failure::{Failure, USAGE, write_error_line};

/// The most that is read from standard input for `--details -`.
const LONGEST_DETAILS: u64 = 1024 * 1024;
/// The largest number of choices: nobody reads more on a phone.
const MOST_CHOICES: usize = 20;
/// The exit code for a denied question.
const DENIED: u8 = 2;
/// The exit code for a question that reached nobody, as sysexits has it.
const UNAVAILABLE: u8 = 69;
/// What to do when nobody can be reached.
const REACH: &str = "run `callgate up` in a terminal, or link a phone with `callgate pair`";

/// Ask a person from a script
///
/// Says on standard error who can answer, and what the outcome was. The chosen answer, if there are
/// choices, is printed on standard output.
///
/// Exit codes: 0 allowed, 2 denied, 1 nobody answered in time, 69 nobody can be reached, 64 wrong
/// command line, 78 wrong settings.
#[derive(Debug, clap::Args)]
pub(crate) struct AskArgs {
    /// What to ask
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    question: String,
    /// More to read before the answer; - reads it from standard input
    #[arg(long, value_name = "TEXT")]
    details: Option<String>,
    /// How long to wait, 1 to 3600; the desk may have a shorter limit
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: Option<u64>,
    /// An answer to choose from; repeat it for each
    #[arg(long = "choice", value_name = "CHOICE", value_parser = NonEmptyStringValueParser::new())]
    choices: Vec<String>,
    /// Print nothing but the chosen answer, and errors
    #[arg(long, short)]
    quiet: bool,
}

/// The question as the desk gets it, in place of a tool's input.
#[derive(Serialize)]
struct AskedInput<'a> {
    question: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<String>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    choices: &'a [String],
}

impl AskArgs {
    /// Asks, and returns the exit code of the answer.
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        if let Some(wrong) = self.wrong_choices() {
            write_error_line(&wrong);
            return Ok(ExitCode::from(USAGE));
        }
        let config = load_config(file, &DeskFlags::default())?;
        let timeout = self.timeout.map_or(config.timeout_seconds, Duration::from_secs);
        let (socket, grace) = (config.socket.value.clone(), config.grace_seconds);
        let settings = AskerSettings { socket, timeout, grace };
        let request = self.build_request(timeout)?;
        // A question is withdrawn when the script that asks it is gone.
        let parent = asker::parent_pidfd();
        let unwanted = parent.iter().fold(AskerCancellation::default(), |unwanted, parent| {
            unwanted.when_readable(parent.as_fd())
        });
        // The desk is dialled before anything is said, because it may not run.
        let asker = match Asker::dial(&settings, &unwanted) {
            Ok(asker) => asker,
            Err(error) => return report_no_answer(&error),
        };
        self.say_who_can_answer(&config, timeout);
        match asker.ask(&request) {
            Ok(response) => self.handle_response(&response, timeout),
            Err(error) => report_no_answer(&error),
        }
    }

    fn say_who_can_answer(&self, config: &Config, timeout: Duration) {
        if self.quiet {
            return;
        }
        let seconds = timeout.as_secs();
        match answer_places(config) {
            None => {
                write_error_line(&format!("waiting up to {seconds} s for an answer at the desk"));
            }
            // The desk reports that itself, at once.
            Some(places) if places.is_empty() => {}
            Some(places) => {
                let places = places.join(", or ");
                write_error_line(&format!("waiting up to {seconds} s for an answer {places}"));
            }
        }
    }

    fn say_unless_quiet(&self, text: &str) {
        if !self.quiet {
            write_error_line(text);
        }
    }

    fn wrong_choices(&self) -> Option<String> {
        let twice = |(at, choice): &(usize, &String)| self.choices[..*at].contains(choice);
        if self.choices.len() > MOST_CHOICES {
            return Some(format!(
                "there are {} choices: give at most {MOST_CHOICES}",
                self.choices.len()
            ));
        }
        let (_, choice) = self.choices.iter().enumerate().find(twice)?;
        Some(format!("the choice {choice:?} is given twice: give it once"))
    }

    fn build_request(&self, timeout: Duration) -> Result<ApprovalRequest, Failure> {
        let details = match self.details.as_deref() {
            Some("-") => Some(details_from(io::stdin())?),
            details => details.map(Into::into),
        };
        let question = AskedInput { question: &self.question, details, choices: &self.choices };
        let mut takes = vec![AnswerExtra::Outcome];
        if !self.choices.is_empty() {
            takes.push(AnswerExtra::Edit);
        }
        Ok(ApprovalRequest {
            request_id: asker::fresh_id(),
            tool_name: "Ask".to_owned(),
            tool_input: to_raw_value(&question)
                .map_err(|error| Failure::Failed(format!("cannot put the question: {error}")))?,
            cwd: working_folder(),
            session_id: session_of_parent(),
            permission_suggestions: Vec::new(),
            kind: RequestKind::Ask,
            agent: Some("script".to_owned()),
            context: Some(RequestContext {
                event: Some("Ask".to_owned()),
                timeout_seconds: Some(timeout.as_secs()),
                takes: Some(takes),
                ..RequestContext::default()
            }),
            machine: None,
        })
    }

    fn handle_response(
        &self,
        response: &ApprovalResponse,
        timeout: Duration,
    ) -> Result<ExitCode, Failure> {
        match response.decision {
            Decision::Allow => self.handle_allowed(response),
            Decision::Deny => {
                self.say_unless_quiet(&denial_text(response));
                Ok(ExitCode::from(DENIED))
            }
            Decision::Timeout if response.unreachable => {
                write_error_line(&format!("nobody can be reached: {REACH}"));
                Ok(ExitCode::from(UNAVAILABLE))
            }
            Decision::Timeout | Decision::Ask | Decision::None => {
                let seconds = timeout.as_secs();
                Err(Failure::Failed(format!("nobody answered within {seconds} s: ask again later")))
            }
        }
    }

    /// Returns the chosen answer. One that was not offered counts as none.
    fn handle_allowed(&self, response: &ApprovalResponse) -> Result<ExitCode, Failure> {
        let chosen = response.updated_input.as_deref().map(|input| Json::from(input).members());
        let chosen = chosen.and_then(|members| members.string("choice"));
        // The script relies on getting one of its choices, and the answer may have been edited to
        // anything.
        match chosen.filter(|chosen| self.choices.iter().any(|choice| choice == chosen)) {
            _ if self.choices.is_empty() => {
                self.say_unless_quiet(&format!("allowed{}", decider_of_response(response)));
                Ok(ExitCode::SUCCESS)
            }
            Some(choice) => {
                self.say_unless_quiet(&format!(
                    "answered{}: {}",
                    decider_of_response(response),
                    one_line(&choice)
                ));
                writeln!(io::stdout(), "{choice}")?;
                Ok(ExitCode::SUCCESS)
            }
            None => Err("none of the choices was chosen: ask again".into()),
        }
    }
}

/// Returns who decided, if the desk says so. A rule's own words begin with what it did.
fn decider_of_response(response: &ApprovalResponse) -> String {
    let by = response.by.as_deref().map(one_line);
    by.map_or_else(String::new, |by| {
        let rule = by.strip_prefix("allowed by ").or_else(|| by.strip_prefix("denied by "));
        format!(" by {}", rule.unwrap_or(&by))
    })
}

/// Returns who denied it, with their own words if there are any.
fn denial_text(response: &ApprovalResponse) -> String {
    let who = format!("denied{}", decider_of_response(response));
    // Such a message is left out, because a desk sends it itself if the person has written nothing.
    let is_own = |message: &&String| {
        let message = message.trim_end_matches('.').to_lowercase();
        message != who.to_lowercase()
    };
    match response.message.as_ref().filter(is_own) {
        Some(message) => format!("{who}: {message}"),
        None => who,
    }
}

fn report_no_answer(error: &NoAnswer) -> Result<ExitCode, Failure> {
    match error {
        NoAnswer::NoDesk(_) | NoAnswer::Socket(_) | NoAnswer::Gone(_) | NoAnswer::Refused => {
            write_error_line(&error.to_string());
            Ok(ExitCode::from(UNAVAILABLE))
        }
        _ => Err(Failure::Failed(error.to_string())),
    }
}

fn details_from(input: impl Read) -> Result<String, Failure> {
    read_limited_text(input, LONGEST_DETAILS).map_err(|error| {
        let advice = if error.kind() == ErrorKind::FileTooLarge { "; give a summary" } else { "" };
        Failure::Failed(format!("cannot read the details: {error}{advice}"))
    })
}
