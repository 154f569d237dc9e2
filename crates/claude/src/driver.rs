//! Drives a running CLI: writes prompts, answers its requests, and reads its messages.
//!
//! Everything that belongs to a CLI is in one value, and ends with it: dropping the driver ends the
//! CLI, its children, the tools' socket and the calls under way. There is no task beside it: it
//! works while somebody polls it.

mod messages;

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use callgate_tools::Host;
use callgate_wire::control;
use callgate_wire::frame::LineDecoder;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::time::{Instant, Sleep, sleep_until};
use uuid::Uuid;

use crate::ask::LaunchOptions;
use crate::event::ClaudeEvent;
use crate::hooks::{self, Hook};
use crate::jobs::{ControlJobs, JobUpdate};
use crate::links::ToolLinks;
use crate::permission::Decider;
use crate::process::{CliProcess, LONGEST_LINE};
use crate::settings::DEFAULT_STALL;
use crate::{ClaudeAnswer, ClaudeError, ClaudeSettings, Prompt, ToolTransport};

const INITIALIZE: &str = "callgate-initialize";
const INTERRUPT: &str = "callgate-interrupt";
/// The prefix of the ids of requests whose answer is waited for.
const CHANGE: &str = "callgate-change-";

/// How long a CLI runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CliLifetime {
    /// It ends with the answer.
    OneTurn,
    /// It waits for the next prompt.
    Conversation,
}

/// A running CLI.
#[derive(Debug)]
pub(crate) struct CliDriver {
    /// Absent once the CLI is about to end.
    process: Option<CliProcess>,
    lifetime: CliLifetime,
    lines: LineDecoder,
    /// Bytes that are still to be written.
    outbox: Vec<u8>,
    /// Events that have not been returned yet.
    inbox: VecDeque<ClaudeEvent>,
    jobs: ControlJobs,
    links: ToolLinks,
    hooks: Vec<Hook>,
    decider: Option<Decider>,
    time_limit: Option<Duration>,
    end: Option<Instant>,
    stall: Duration,
    /// When the CLI last wrote something, or last waited for us.
    heard: Instant,
    /// Wakes no later than when one of the limits is reached.
    alarm: Pin<Box<Sleep>>,
    stage: DriverStage,
    turn: DriverTurn,
    /// The prompt to send once the abandoned turn has ended.
    next_prompt: Option<Prompt>,
    /// Whether the CLI reports when it is idle.
    reports_idle: bool,
    changes: u64,
    change: Option<PendingChange>,
}

/// A turn under way.
#[derive(Debug, Default)]
struct DriverTurn {
    /// The id of its prompt.
    id: String,
    has_begun: bool,
    /// The answer so far, while agents run in the background: they may add to it.
    answer: Option<ClaudeAnswer>,
    is_interrupted: bool,
    /// Its events are dropped.
    is_abandoned: bool,
}

/// A request to the CLI whose answer is waited for.
#[derive(Debug)]
struct PendingChange {
    id: String,
    outcome: Option<Result<(), String>>,
}

enum DriverStage {
    Running,
    /// The turn is over, and the CLI waits for the next.
    Resting,
    /// The CLI ends by itself.
    Leaving(Pin<Box<dyn Future<Output = Option<ClaudeAnswer>> + Send>>),
    /// The CLI has ended before its answer.
    Dying(Pin<Box<dyn Future<Output = ClaudeError> + Send>>),
    Ended,
}

impl CliDriver {
    /// Starts a CLI, which waits for a prompt.
    pub(crate) fn start(
        settings: &ClaudeSettings,
        tools: Option<&(Host, ToolTransport)>,
        launch: &LaunchOptions,
        lifetime: CliLifetime,
    ) -> Result<Self, ClaudeError> {
        Handle::try_current().map_err(|_| ClaudeError::NoRuntime)?;
        let links = ToolLinks::start(settings, tools, launch)?;
        let process = CliProcess::start(settings, launch, &links)?;
        let mut initialize = json!({"subtype": "initialize"});
        if !settings.hooks.is_empty() {
            initialize["hooks"] = hooks::registrations_by_event(&settings.hooks);
        }
        if !settings.agents.is_empty() {
            initialize["agents"] = settings.agents.clone().into();
        }
        let now = Instant::now();
        Ok(Self {
            process: Some(process),
            lifetime,
            lines: LineDecoder::new(LONGEST_LINE),
            // The prompt follows at once: the CLI takes both before it has answered the first.
            outbox: control::request_line(INITIALIZE, &initialize).into_bytes(),
            inbox: VecDeque::new(),
            jobs: ControlJobs::new(),
            links,
            hooks: settings.hooks.clone(),
            decider: settings.decider.clone(),
            time_limit: settings.time_limit,
            end: None,
            stall: settings.stall_limit.unwrap_or(DEFAULT_STALL),
            heard: now,
            alarm: Box::pin(sleep_until(now)),
            stage: DriverStage::Resting,
            turn: DriverTurn::default(),
            next_prompt: None,
            reports_idle: false,
            changes: 0,
            change: None,
        })
    }

    /// Sends a prompt. A turn that is under way must have been abandoned; its end is waited for.
    pub(crate) fn send_prompt(&mut self, prompt: Prompt) {
        match self.stage {
            DriverStage::Running => self.next_prompt = Some(prompt),
            DriverStage::Resting => {
                self.turn = DriverTurn { id: Uuid::new_v4().to_string(), ..DriverTurn::default() };
                self.outbox.extend(prompt.to_line(&self.turn.id).into_bytes());
                self.stage = DriverStage::Running;
            }
            DriverStage::Leaving(_) | DriverStage::Dying(_) | DriverStage::Ended => {}
        }
        self.restart_clock();
    }

    /// Adds a message of the user's to the turn that is under way.
    pub(crate) fn add_prompt(&mut self, prompt: &Prompt) {
        if matches!(self.stage, DriverStage::Running) {
            self.outbox.extend(prompt.to_line(&Uuid::new_v4().to_string()).into_bytes());
        }
    }

    /// Restarts the time limits: the time in which nobody polled does not count.
    fn restart_clock(&mut self) {
        self.heard = Instant::now();
        self.end = self.time_limit.map(|limit| self.heard + limit);
        // At once: `check_time` then finds out which limit comes first.
        self.alarm.as_mut().reset(self.heard);
    }

    /// Polls for the next event. Returns `None` at the end of the turn, and after an error.
    pub(crate) fn poll_event(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<ClaudeEvent, ClaudeError>>> {
        loop {
            if self.turn.is_abandoned {
                self.inbox.clear();
            }
            if let Some(event) = self.inbox.pop_front() {
                return Poll::Ready(Some(Ok(event)));
            }
            let step = match &mut self.stage {
                DriverStage::Running => ready!(self.poll_step(context)),
                DriverStage::Leaving(leave) => {
                    let later = ready!(leave.as_mut().poll(context));
                    self.stage = DriverStage::Ended;
                    return Poll::Ready(later.map(ClaudeEvent::FinishedLater).map(Ok));
                }
                DriverStage::Dying(died) => Err(ready!(died.as_mut().poll(context))),
                DriverStage::Resting | DriverStage::Ended => return Poll::Ready(None),
            };
            if let Err(error) = step {
                self.stage = DriverStage::Ended;
                return Poll::Ready(Some(Err(error)));
            }
        }
    }

    /// Returns the next event, see [`poll_event`](Self::poll_event). Dropping this future loses
    /// nothing.
    pub(crate) async fn next(&mut self) -> Option<Result<ClaudeEvent, ClaudeError>> {
        poll_fn(|context| self.poll_event(context)).await
    }

    /// Waits for the end of the turn and returns its answer.
    pub(crate) async fn wait_for_answer(&mut self) -> Result<ClaudeAnswer, ClaudeError> {
        let mut answer: Option<ClaudeAnswer> = None;
        while let Some(event) = self.next().await {
            match event? {
                ClaudeEvent::Finished(finished) => answer = Some(finished),
                ClaudeEvent::FinishedLater(later) => {
                    if let Some(answer) = &mut answer {
                        answer.add_cost(&later);
                    }
                }
                _ => {}
            }
        }
        match answer {
            Some(answer) if answer.is_error() => Err(ClaudeError::Unfinished(Box::new(answer))),
            Some(answer) => Ok(answer),
            None => Err(ClaudeError::Ended),
        }
    }

    /// Asks the agent to stop; it ends its turn as interrupted. If it has answered already, and
    /// only agents in the background are running, the turn ends with that answer.
    pub(crate) fn interrupt(&mut self) {
        if !matches!(self.stage, DriverStage::Running) {
            return;
        }
        if self.turn.answer.is_some() {
            return self.finish_turn();
        }
        let is_first = !std::mem::replace(&mut self.turn.is_interrupted, true);
        // The CLI loses an interrupt that comes before its turn has begun: `begin_turn` sends it
        // then.
        if is_first && self.turn.has_begun {
            self.send_interrupt();
        }
    }

    /// Sends the interrupt. The CLI loses it unless the turn has begun.
    fn send_interrupt(&mut self) {
        let request = json!({"subtype": "interrupt"});
        self.outbox.extend(control::request_line(INTERRUPT, &request).into_bytes());
    }

    /// Stops the turn and drops its remaining events.
    pub(crate) fn abandon_turn(&mut self) {
        self.turn.is_abandoned = true;
        self.interrupt();
    }

    /// Asks the CLI to change a setting, and waits for its confirmation.
    pub(crate) async fn change_setting(&mut self, request: Value) -> Result<(), ClaudeError> {
        if !matches!(self.stage, DriverStage::Running | DriverStage::Resting) {
            return Err(ClaudeError::Ended);
        }
        self.restart_clock();
        // Each change has a number, because the answer to one that was given up may still come.
        self.changes += 1;
        let id = format!("{CHANGE}{}", self.changes);
        self.outbox.extend(control::request_line(&id, &request).into_bytes());
        self.change = Some(PendingChange { id, outcome: None });
        let outcome = poll_fn(|context| self.poll_change(context)).await;
        let what = request["subtype"].as_str().unwrap_or_default().replace('_', " ");
        outcome?.map_err(|reason| ClaudeError::Refused { what, reason })
    }

    fn poll_change(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Result<(), String>, ClaudeError>> {
        loop {
            if let Some(outcome) = self.change.as_mut().and_then(|change| change.outcome.take()) {
                self.change = None;
                return Poll::Ready(Ok(outcome));
            }
            let step = match &mut self.stage {
                // The turn may end meanwhile; the CLI still answers.
                DriverStage::Running | DriverStage::Resting => ready!(self.poll_step(context)),
                DriverStage::Dying(died) => Err(ready!(died.as_mut().poll(context))),
                DriverStage::Leaving(_) | DriverStage::Ended => Err(ClaudeError::Ended),
            };
            if let Err(error) = step {
                self.stage = DriverStage::Ended;
                return Poll::Ready(Err(error));
            }
        }
    }

    /// Lets the CLI end by itself, so that it can save its state.
    pub(crate) async fn shut_down_cli(mut self) {
        if let Some(process) = self.process.take() {
            process.shut_down().await;
        }
    }

    /// Waits for one thing to happen, and handles it.
    fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Result<(), ClaudeError>> {
        let Some(process) = &mut self.process else { return Poll::Ready(Err(ClaudeError::Ended)) };
        // Writing comes first: the CLI may wait for an answer before it writes anything.
        if !self.outbox.is_empty()
            && let Poll::Ready(written) = process.poll_write(context, &self.outbox)
        {
            match written {
                Ok(count) => drop(self.outbox.drain(..count)),
                // The CLI is gone, as the end of its output will show.
                Err(_) => process.input = None,
            }
            return Poll::Ready(Ok(()));
        }
        // A report is taken only when all before it is written: progress cannot fill the memory if
        // the CLI does not read.
        let may_report = self.outbox.is_empty();
        if let Poll::Ready(next) =
            self.jobs.poll_next(context, self.links.server_name(), may_report)
        {
            match next {
                JobUpdate::Done(done) => self.finish_job(*done),
                JobUpdate::Progress(line) => self.outbox.extend(line.into_bytes()),
            }
            return Poll::Ready(Ok(()));
        }
        if let Poll::Ready(read) = process.poll_read(context, self.lines.space()) {
            // An error says no more than the end of the output.
            return Poll::Ready(self.take_read(read.unwrap_or_default()));
        }
        ready!(self.alarm.as_mut().poll(context));
        Poll::Ready(self.check_time())
    }

    /// Checks whether a limit is reached, and otherwise sets the alarm for the next one.
    fn check_time(&mut self) -> Result<(), ClaudeError> {
        let now = Instant::now();
        if let (Some(limit), Some(end)) = (self.time_limit, self.end)
            && end <= now
        {
            return Err(ClaudeError::TimeLimit { limit });
        }
        // The CLI waits for us: while a tool or a callback runs, its silence is no stall.
        if self.links.is_busy() || !self.jobs.is_empty() {
            self.heard = now;
        }
        let stall = self.heard + self.stall;
        if stall <= now {
            let stderr = self.last_words();
            return Err(ClaudeError::Stalled { after: self.stall, stderr });
        }
        self.alarm.as_mut().reset(self.end.map_or(stall, |end| end.min(stall)));
        Ok(())
    }

    fn garbage_error(&self, reason: String) -> ClaudeError {
        ClaudeError::Garbage { reason, stderr: self.last_words() }
    }

    fn last_words(&self) -> String {
        self.process.as_ref().map(CliProcess::last_words).unwrap_or_default()
    }
}

impl fmt::Debug for DriverStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running => "Running",
            Self::Resting => "Resting",
            Self::Leaving(_) => "Leaving",
            Self::Dying(_) => "Dying",
            Self::Ended => "Ended",
        })
    }
}
