//! `callgate ask`: any script asks a person, at the same desk as the agents.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use callgate_approval::asker::{self, Settings, Unwanted};
use callgate_approval::hook::{session_of_parent, working_folder};
use callgate_wire::approval::{Context, Decision, Kind, Request, Response, Takes};
use callgate_wire::raw::Json;
use clap::builder::NonEmptyStringValueParser;
use serde::Serialize;
use serde_json::value::to_raw_value;

use crate::cli::Failure;
use crate::config;

/// The most that is read from standard input for `--details -`.
const LONGEST_DETAILS: u64 = 1024 * 1024;
/// More choices than this nobody reads on a phone.
const MOST_CHOICES: usize = 20;
/// What a denied question ends with.
const DENIED: u8 = 2;
/// What a wrong command line ends with, as sysexits has it.
const USAGE: u8 = 64;

/// Ask a person from a script
///
/// Ends with 0 when they allow it, 2 when they deny it, and 1 when nobody answers. With choices,
/// the chosen one is printed. What they write instead of an answer goes to standard error.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to ask
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    question: String,
    /// More to read before they answer; - takes it from standard input
    #[arg(long, value_name = "TEXT")]
    details: Option<String>,
    /// How long to wait, 1 to 3600; the desk may have a shorter limit
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: Option<u64>,
    /// An answer to choose from; give it once for each
    #[arg(long = "choice", value_name = "CHOICE", value_parser = NonEmptyStringValueParser::new())]
    choices: Vec<String>,
}

/// What the desk is told of the question, in place of a tool's input.
#[derive(Serialize)]
struct Asked<'a> {
    question: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<String>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    choices: &'a [String],
}

impl Args {
    /// Asks, and ends as the answer says.
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        if let Some(wrong) = self.wrong_choices() {
            tell(&wrong);
            return Ok(ExitCode::from(USAGE));
        }
        let config::HookSettings { socket, timeout, grace } = config::for_ask(file)?;
        let timeout = self.timeout.map_or(timeout, Duration::from_secs);
        let settings = Settings { socket, timeout, grace };
        let request = self.request(timeout)?;
        let parent = asker::parent();
        let unwanted = parent
            .iter()
            .fold(Unwanted::default(), |unwanted, parent| unwanted.when_readable(parent.as_fd()));
        match asker::ask(&settings, &request, &unwanted) {
            Ok(response) => self.answered(&response),
            Err(error) => Err(Failure::Failed(error.to_string())),
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

    fn request(&self, timeout: Duration) -> Result<Request, Failure> {
        let details = match self.details.as_deref() {
            Some("-") => Some(details_from(io::stdin())?),
            details => details.map(Into::into),
        };
        let question = Asked { question: &self.question, details, choices: &self.choices };
        let takes = if self.choices.is_empty() { Vec::new() } else { vec![Takes::Edit] };
        Ok(Request {
            request_id: asker::fresh_id(),
            tool_name: "Ask".to_owned(),
            tool_input: to_raw_value(&question)
                .map_err(|error| Failure::Failed(format!("cannot put the question: {error}")))?,
            cwd: working_folder(),
            session_id: session_of_parent(),
            permission_suggestions: Vec::new(),
            kind: Kind::Ask,
            agent: Some("script".to_owned()),
            context: Some(Context {
                event: Some("Ask".to_owned()),
                timeout_seconds: Some(timeout.as_secs()),
                takes: Some(takes),
                ..Context::default()
            }),
        })
    }

    fn answered(&self, response: &Response) -> Result<ExitCode, Failure> {
        match response.decision {
            Decision::Allow => self.allowed(response),
            Decision::Deny => {
                if let Some(message) = &response.message {
                    tell(message);
                }
                Ok(ExitCode::from(DENIED))
            }
            Decision::Timeout | Decision::Ask | Decision::None => {
                Err(Failure::Failed("nobody answered: ask again later".to_owned()))
            }
        }
    }

    /// Without a choice that was offered, nothing was chosen.
    fn allowed(&self, response: &Response) -> Result<ExitCode, Failure> {
        let chosen = response.updated_input.as_deref().map(|input| Json::from(input).members());
        let chosen = chosen.and_then(|members| members.string("choice"));
        match chosen.filter(|chosen| self.choices.iter().any(|choice| choice == chosen)) {
            _ if self.choices.is_empty() => Ok(ExitCode::SUCCESS),
            Some(choice) => {
                writeln!(io::stdout(), "{choice}")?;
                Ok(ExitCode::SUCCESS)
            }
            None => Err(Failure::Failed("none of the choices was chosen: ask again".to_owned())),
        }
    }
}

fn details_from(input: impl Read) -> Result<String, Failure> {
    let mut details = String::new();
    let failed = |error| Failure::Failed(format!("cannot read the details: {error}"));
    input.take(LONGEST_DETAILS + 1).read_to_string(&mut details).map_err(failed)?;
    if details.len() as u64 > LONGEST_DETAILS {
        let text = format!("the details have more than {LONGEST_DETAILS} bytes: give a summary");
        return Err(Failure::Failed(text));
    }
    Ok(details)
}

fn tell(text: &str) {
    // With standard error closed there is nobody to tell.
    writeln!(io::stderr(), "callgate: {text}").ok();
}
