//! A call under way.
//!
//! Everything of a call is in one value, and whatever it has started ends with it: drop the
//! stream, and the CLI, its children, the tools' socket and the calls under way are gone.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use callgate_link::child::Leashed;
use callgate_tools::{Host, Inline};
use callgate_wire::control::{self, Incoming};
use callgate_wire::frame::{Line, Lines};
use callgate_wire::raw::{Json, Members};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::runtime::Handle;
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::cli;
use crate::event::{self, Event};
use crate::links::Links;
use crate::permission::{Decider, Decision, PermissionAsked};
use crate::stderr::{self, Stderr};
use crate::{Ask, ClaudeError, Settings, Transport};

/// The longest line of the CLI; tool results with pictures are long.
const LONGEST_LINE: usize = 64 * 1024 * 1024;
const INITIALIZE: &str = "callgate-initialize";
const INTERRUPT: &str = "callgate-interrupt";
/// How long the CLI may take to end by itself.
const FAREWELL: Duration = Duration::from_secs(5);
const A_MOMENT: Duration = Duration::from_millis(2);

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
    jobs: JoinSet<Done>,
    /// Control requests of the CLI that are being worked on.
    under_way: HashMap<String, AbortHandle>,
    links: Links,
    decider: Option<Decider>,
    stderr: Stderr,
    secrets: Vec<String>,
    limit: Option<(Duration, Instant)>,
    stall: Duration,
    heard: Instant,
    stage: Stage,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Stage {
    Running,
    /// The answer has come.
    Answered,
    Ended,
}

/// A control request that has been dealt with.
#[derive(Debug)]
struct Done {
    id: String,
    line: Option<String>,
    event: Option<Event>,
}

/// What the stream was woken by.
enum Woken {
    Written(std::io::Result<usize>),
    Read(std::io::Result<usize>),
    Job(Box<Result<Done, Id>>),
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
        let stderr = Stderr::default();
        let mut jobs = JoinSet::new();
        let collected = stderr.clone().collect(pipe);
        jobs.spawn(async {
            collected.await;
            Done { id: String::new(), line: None, event: None }
        });
        let outbox =
            control::request(INITIALIZE, "initialize") + &control::user_message(&ask.prompt);
        Ok(Self {
            child,
            stdin: Some(stdin),
            stdout,
            lines: Lines::new(LONGEST_LINE),
            outbox: outbox.into_bytes(),
            inbox: VecDeque::new(),
            jobs,
            under_way: HashMap::new(),
            links,
            decider: settings.decider.clone(),
            stderr,
            secrets,
            limit: settings.time_limit.map(|limit| (limit, Instant::now() + limit)),
            stall: settings.stall_limit,
            heard: Instant::now(),
            stage: Stage::Running,
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

    /// Asks the agent to stop what it is doing; it ends its turn with an error of its own.
    pub fn interrupt(&mut self) {
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
            Woken::Read(_) => return Err(self.died().await),
            Woken::Job(job) => match *job {
                Ok(done) => self.finish_job(done),
                Err(task) => self.fail_job(task),
            },
            Woken::Late => return self.check_time(),
        }
        Ok(())
    }

    async fn wake(&mut self) -> Woken {
        let stall = self.heard + self.stall;
        let late = self.limit.map_or(stall, |(_, end)| end.min(stall));
        let has_words = !self.outbox.is_empty() && self.stdin.is_some();
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
            Some(done) = self.jobs.join_next_with_id() => {
                Woken::Job(Box::new(done.map(|(_, done)| done).map_err(|error| error.id())))
            }
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
                self.under_way.remove(&*id).inspect(AbortHandle::abort);
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
            Err(reason) => {
                let what = id.trim_start_matches("callgate-").to_owned();
                Err(ClaudeError::Refused { what, reason })
            }
        }
    }

    fn take_message(&mut self, kind: &str, message: &Members<'_>) -> Result<(), ClaudeError> {
        for event in event::events(kind, message) {
            match &event {
                Event::Started(started) => self.links.check(started)?,
                Event::Finished(_) => self.stage = Stage::Answered,
                _ => {}
            }
            self.inbox.push_back(event);
        }
        Ok(())
    }

    /// Works on a control request of the CLI, beside everything else.
    fn begin_job(&mut self, id: &str, subtype: &str, request: &Members<'_>) {
        let key = id.to_owned();
        let id = id.to_owned();
        let handle = match (subtype, &self.links.inline) {
            ("can_use_tool", _) => {
                let decider = self.decider.clone();
                self.jobs.spawn(decide(id, decider, PermissionAsked::read(request)))
            }
            ("mcp_message", Some(inline)) => {
                let inline = Arc::clone(inline);
                let message = request.get("message").unwrap_or(Json::EMPTY).get().to_owned();
                self.jobs.spawn(async move { serve(id, &inline, &message).await })
            }
            _ => {
                let refusal = control::failure(&id, &format!("{subtype} is not served here"));
                return self.outbox.extend(refusal.into_bytes());
            }
        };
        self.under_way.insert(key, handle);
    }

    fn finish_job(&mut self, done: Done) {
        self.heard = Instant::now();
        self.under_way.remove(&done.id);
        self.outbox.extend(done.line.unwrap_or_default().into_bytes());
        self.inbox.extend(done.event);
    }

    /// A job that has panicked is answered all the same, so that the CLI does not wait for it; one
    /// that was cancelled has nothing to say.
    fn fail_job(&mut self, task: Id) {
        let failed = self.under_way.iter().find(|(_, job)| job.id() == task);
        let Some(id) = failed.map(|(id, _)| id.clone()) else { return };
        self.under_way.remove(&id);
        let refusal = control::failure(&id, "whoever should have answered this has panicked");
        self.outbox.extend(refusal.into_bytes());
    }

    fn check_time(&mut self) -> Result<(), ClaudeError> {
        if let Some((limit, end)) = self.limit
            && end <= Instant::now()
        {
            return Err(ClaudeError::TimeLimit { limit });
        }
        if self.links.is_busy() || !self.under_way.is_empty() {
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
        self.wait_for_end().await;
        // What it has written on standard error is read by a task that may still be at it.
        timeout(A_MOMENT * 50, self.jobs.join_next()).await.ok();
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
        self.wait_for_end().await;
    }

    async fn wait_for_end(&self) {
        let ended = async {
            while matches!(self.child.has_ended(), Ok(false)) {
                sleep(A_MOMENT).await;
            }
        };
        timeout(FAREWELL, ended).await.ok();
    }
}

/// Asks whoever decides; nobody at all never means yes.
async fn decide(id: String, decider: Option<Decider>, asked: PermissionAsked) -> Done {
    let (tool_name, input) = (asked.tool_name.clone(), asked.input.clone());
    let decision = match decider {
        Some(decider) => decider.decide(asked).await,
        None => Decision::deny(
            "nobody is there to allow this; the program that runs the agent can, by \
             Settings::permission or Settings::allow",
        ),
    };
    let is_allowed = matches!(decision, Decision::Allow { .. });
    let line = control::success(&id, &decision.response(&input).to_string());
    Done { id, line: Some(line), event: Some(Event::Permission { tool_name, is_allowed }) }
}

/// Answers an MCP message that came over the control channel.
async fn serve(id: String, inline: &Inline, message: &str) -> Done {
    let is_request = Members::read(message).is_ok_and(|message| message.get("id").is_some());
    let reply = inline.answer(message).await;
    let response = match reply.as_deref().map(str::trim_end) {
        Some(reply) => Some(reply.to_owned()),
        // A notification is acknowledged; a call that was cancelled gets no answer.
        None => (!is_request).then(|| r#"{"jsonrpc":"2.0","result":{}}"#.to_owned()),
    };
    let line = response
        .map(|response| control::success(&id, &format!(r#"{{"mcp_response":{response}}}"#)));
    Done { id, line, event: None }
}
