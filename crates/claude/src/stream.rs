//! A call under way.
//!
//! Everything of a call is in one value, and whatever it has started ends with it: drop the
//! stream, and the CLI, its children, the tools' socket and the calls under way are gone.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use callgate_link::child::Leashed;
use callgate_tools::Host;
use callgate_wire::control::{self, Incoming};
use callgate_wire::frame::{Line, Lines};
use callgate_wire::raw::{Json, Members};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until, timeout};

use crate::event::{self, Event};
use crate::jobs::{Done, Jobs, Next, PROGRESS};
use crate::links::Links;
use crate::permission::{Decider, PermissionAsked};
use crate::stderr::{self, Stderr};
use crate::{Answer, Ask, ClaudeError, Settings, Transport};
use crate::{cli, farewell};

/// The longest line of the CLI; tool results with pictures are long.
const LONGEST_LINE: usize = 64 * 1024 * 1024;
const INITIALIZE: &str = "callgate-initialize";
const INTERRUPT: &str = "callgate-interrupt";
/// How long the CLI may take to end by itself.
const FAREWELL: Duration = Duration::from_secs(5);
/// How long its last words may take once it has ended: a child of it may hold the pipe open.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What happens during a call, as it happens.
#[derive(Debug)]
pub struct Stream {
    child: Leashed,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    lines: Lines,
    /// What is still to be written.
    outbox: Vec<u8>,
    /// What has happened and not been told.
    inbox: VecDeque<Event>,
    jobs: Jobs,
    links: Links,
    decider: Option<Decider>,
    stderr: Stderr,
    secrets: Vec<String>,
    limit: Option<(Duration, Instant)>,
    stall: Duration,
    heard: Instant,
    stage: Stage,
    /// What was answered while agents in the background go on: they may have more to say.
    answer: Option<Answer>,
    /// Whether the CLI tells when it has nothing more to do.
    tells_idle: bool,
    is_interrupted: bool,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Stage {
    Running,
    /// The answer has come.
    Answered,
    Ended,
}

/// What the stream was woken by.
enum Woken {
    Written(std::io::Result<usize>),
    Read(std::io::Result<usize>),
    Job(Next),
    Late,
}

impl Stream {
    pub(crate) fn start(
        settings: &Settings,
        tools: Option<&(Host, Transport)>,
        ask: &Ask,
    ) -> Result<Self, ClaudeError> {
        Handle::try_current().map_err(|_| ClaudeError::NoRuntime)?;
        let program = cli::find(settings)?;
        let links = Links::start(settings, tools, ask)?;
        let command = cli::command(&program, settings, ask, links.config(), links.rule());
        let own: Vec<_> = std::env::vars_os().collect();
        let given = settings.environment.iter().filter_map(|(n, v)| Some((n, v.as_ref()?)));
        let secrets = stderr::secrets(own.iter().map(|(n, v)| (n, v)).chain(given));
        let mut child = Leashed::spawn_gently(command)
            .map_err(|source| ClaudeError::Start { program, source })?;
        let broken = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        let stdin = ChildStdin::from_std(child.stdin.take().ok_or_else(broken)?)?;
        let stdout = ChildStdout::from_std(child.stdout.take().ok_or_else(broken)?)?;
        let pipe = tokio::process::ChildStderr::from_std(child.stderr.take().ok_or_else(broken)?)?;
        let stderr = Stderr::collect(pipe);
        let outbox =
            control::request(INITIALIZE, "initialize") + &control::user_message(&ask.prompt);
        Ok(Self {
            child,
            stdin: Some(stdin),
            stdout,
            lines: Lines::new(LONGEST_LINE),
            outbox: outbox.into_bytes(),
            inbox: VecDeque::new(),
            jobs: Jobs::new(),
            links,
            decider: settings.decider.clone(),
            stderr,
            secrets,
            limit: settings.time_limit.map(|limit| (limit, Instant::now() + limit)),
            stall: settings.stall_limit,
            heard: Instant::now(),
            stage: Stage::Running,
            answer: None,
            tells_idle: false,
            is_interrupted: false,
        })
    }

    /// What happens next; `None` when all is over. After an error all is over. A call of this
    /// that is dropped half-way loses nothing.
    pub async fn next(&mut self) -> Option<Result<Event, ClaudeError>> {
        loop {
            if let Some(event) = self.inbox.pop_front() {
                return Some(Ok(event));
            }
            let step = match self.stage {
                Stage::Running => self.step().await,
                Stage::Answered => {
                    self.leave().await;
                    return None;
                }
                Stage::Ended => return None,
            };
            if let Err(error) = step {
                self.stage = Stage::Ended;
                return Some(Err(error));
            }
        }
    }

    /// Asks the agent to stop what it is doing; it ends its turn with an error of its own. Where it
    /// has answered, and only agents in the background go on, the call ends with that answer.
    pub fn interrupt(&mut self) {
        self.is_interrupted = true;
        if self.answer.is_some() {
            return self.finish();
        }
        self.outbox.extend(control::request(INTERRUPT, "interrupt").into_bytes());
    }

    /// Waits for one thing to happen, and deals with it.
    async fn step(&mut self) -> Result<(), ClaudeError> {
        match self.wake().await {
            Woken::Written(Ok(count)) => drop(self.outbox.drain(..count)),
            // The CLI is gone, as the end of its output tells next.
            Woken::Written(Err(_)) => self.stdin = None,
            Woken::Read(Ok(count)) if count > 0 => {
                self.heard = Instant::now();
                self.lines.filled(count);
                self.read_lines()?;
            }
            Woken::Read(_) if self.answer.is_some() => self.finish(),
            Woken::Read(_) => return Err(self.died().await),
            Woken::Job(next) => match next {
                Next::Done(done) => self.finish_job(*done),
                Next::Progress(line) => self.outbox.extend(line.into_bytes()),
            },
            Woken::Late => return self.check_time(),
        }
        Ok(())
    }

    async fn wake(&mut self) -> Woken {
        let stall = self.heard + self.stall;
        let late = self.limit.map_or(stall, |(_, end)| end.min(stall));
        let has_words = !self.outbox.is_empty() && self.stdin.is_some();
        let is_idle = self.outbox.is_empty();
        let stdin = &mut self.stdin;
        let outbox = &self.outbox;
        let write = async {
            match stdin {
                Some(stdin) => stdin.write(outbox).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            written = write, if has_words => Woken::Written(written),
            read = self.stdout.read(self.lines.space()) => Woken::Read(read),
            next = self.jobs.next(self.links.server(), is_idle) => Woken::Job(next),
            () = sleep_until(late) => Woken::Late,
        }
    }

    fn read_lines(&mut self) -> Result<(), ClaudeError> {
        let mut lines = std::mem::replace(&mut self.lines, Lines::new(LONGEST_LINE));
        let mut outcome = Ok(());
        while let Some(line) = lines.next_frame() {
            outcome = self.read_line(line);
            // What follows the answer belongs to nobody: the call is over.
            if outcome.is_err() || self.stage == Stage::Answered {
                break;
            }
        }
        self.lines = lines;
        outcome
    }

    fn read_line(&mut self, line: Line<'_>) -> Result<(), ClaudeError> {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong(line) => return Err(self.garbage(format!("it has {} bytes", line.size))),
        };
        match Incoming::decode(line) {
            Err(error) => Err(self.garbage(error.to_string())),
            Ok(Incoming::Request { id, subtype, request }) => {
                self.begin_job(&id, &subtype, &request);
                Ok(())
            }
            Ok(Incoming::Answer { id, outcome }) => Self::take_answer(&id, outcome),
            Ok(Incoming::Cancel { id }) => {
                self.jobs.cancel(&id);
                Ok(())
            }
            Ok(Incoming::Message { kind, message }) => self.take_message(&kind, &message),
        }
    }

    fn take_answer(id: &str, outcome: Result<Json<'_>, String>) -> Result<(), ClaudeError> {
        match outcome {
            Ok(response) if id == INITIALIZE => {
                cli::check_version(response.members().string("claude_code_version").as_deref())
            }
            Ok(_) => Ok(()),
            // A CLI that has no use for progress goes on without.
            Err(_) if id.starts_with(PROGRESS) => Ok(()),
            Err(reason) => {
                let what = id.trim_start_matches("callgate-").to_owned();
                Err(ClaudeError::Refused { what, reason })
            }
        }
    }

    fn take_message(&mut self, kind: &str, message: &Members<'_>) -> Result<(), ClaudeError> {
        if let Some(is_idle) = event::is_idle(kind, message) {
            self.tells_idle = true;
            if is_idle && self.answer.is_some() {
                self.finish();
            }
            return Ok(());
        }
        for event in event::events(kind, message) {
            match event {
                Event::Finished(answer) => self.take_turn(answer),
                Event::Started(started) => {
                    self.links.check(&started)?;
                    self.inbox.push_back(Event::Started(started));
                }
                event => self.inbox.push_back(event),
            }
        }
        Ok(())
    }

    /// A turn has ended. Another may follow when agents in the background have ended.
    fn take_turn(&mut self, answer: Answer) {
        self.answer = Some(match self.answer.take() {
            Some(earlier) => answer.after(earlier),
            None => answer,
        });
        if !self.tells_idle || self.is_interrupted {
            self.finish();
        }
    }

    /// All is answered.
    fn finish(&mut self) {
        self.inbox.extend(self.answer.take().map(Event::Finished));
        self.stage = Stage::Answered;
    }

    /// Works on a control request of the CLI, beside everything else.
    fn begin_job(&mut self, id: &str, subtype: &str, request: &Members<'_>) {
        match (subtype, &self.links.inline) {
            ("can_use_tool", _) => {
                self.jobs.ask(id, self.decider.clone(), PermissionAsked::read(request));
            }
            ("mcp_message", Some(inline)) => {
                let message = request.get("message").unwrap_or(Json::EMPTY).get().to_owned();
                self.jobs.serve(id, Arc::clone(inline), message);
            }
            _ => {
                let refusal = control::failure(id, &format!("{subtype} is not served here"));
                self.outbox.extend(refusal.into_bytes());
            }
        }
    }

    fn finish_job(&mut self, done: Done) {
        self.heard = Instant::now();
        self.outbox.extend(self.jobs.rest_of_progress(self.links.server()).into_bytes());
        self.outbox.extend(done.line.unwrap_or_default().into_bytes());
        self.inbox.extend(done.event);
    }

    fn check_time(&mut self) -> Result<(), ClaudeError> {
        if let Some((limit, end)) = self.limit
            && end <= Instant::now()
        {
            return Err(ClaudeError::TimeLimit { limit });
        }
        if self.links.is_busy() || !self.jobs.is_empty() {
            self.heard = Instant::now();
            return Ok(());
        }
        let stderr = self.stderr.text(&self.secrets);
        Err(ClaudeError::Stalled { after: self.stall, stderr })
    }

    fn garbage(&self, reason: String) -> ClaudeError {
        ClaudeError::Garbage { reason, stderr: self.stderr.text(&self.secrets) }
    }

    /// The CLI's output has ended before its answer: how did it end itself?
    async fn died(&mut self) -> ClaudeError {
        self.stdin = None;
        timeout(FAREWELL, farewell::ended(&self.child)).await.ok();
        timeout(LAST_WORDS, self.stderr.read_to_its_end()).await.ok();
        if matches!(self.child.has_ended(), Ok(false)) {
            return std::io::Error::other("it has closed its output, but goes on").into();
        }
        match self.child.wait() {
            Ok(status) => ClaudeError::Died { status, stderr: self.stderr.text(&self.secrets) },
            Err(error) => ClaudeError::Io(error),
        }
    }

    /// Lets the CLI end by itself, so that it can put away what it wants to keep.
    async fn leave(&mut self) {
        self.stage = Stage::Ended;
        self.stdin = None;
        let mut rest = [0; 4096];
        let drain =
            async { while self.stdout.read(&mut rest).await.is_ok_and(|count| count > 0) {} };
        timeout(FAREWELL, drain).await.ok();
        timeout(FAREWELL, farewell::ended(&self.child)).await.ok();
    }
}
