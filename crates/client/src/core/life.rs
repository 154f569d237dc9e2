//! The runtime's process: started, ready, dead, started again.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use callgate_wire::session::{RuntimeReady, SessionCommand, VERSION, capability};

use super::{ClientCore, CoreOutput};
use crate::ClientError;
use crate::event::{RuntimeState, WatchedItem};

/// How long the output of a process that has ended is read: somebody else may hold the pipe.
const LAST_WORDS: Duration = Duration::from_millis(250);
/// How long a process may live on without its pipes. Usually it has ended already, and the
/// processes that it has left behind are being ended.
const WITHOUT_PIPES: Duration = Duration::from_secs(1);
/// How long a process that is being ended may take; it is killed long before.
const ENDING: Duration = Duration::from_secs(20);
/// The memory of a change of state, in bytes.
const STATE_SIZE: usize = 512;

#[derive(Debug)]
pub(super) enum RuntimeLife {
    NotBegun,
    Spawning,
    /// It has started, and has to send `ready`.
    Starting {
        since: Duration,
        until: Duration,
        fading: FadingSigns,
    },
    Ready {
        since: Duration,
        ready: Arc<RuntimeReady>,
        fading: FadingSigns,
    },
    Ending {
        since: Duration,
        until: Duration,
        reason: Arc<str>,
        at_once: bool,
    },
    /// It has died, and will be started again.
    Waiting {
        until: Duration,
    },
    /// It is not started again, unless somebody asks for it.
    GivenUp {
        reason: Arc<str>,
    },
    Over,
}

#[derive(Debug, Default)]
pub(super) struct FadingSigns {
    is_closed: bool,
    exited: Option<ExitDetails>,
    until: Option<Duration>,
}

#[derive(Debug, Default)]
struct ExitDetails {
    status: Option<ExitStatus>,
    last_words: Option<String>,
}

impl RuntimeLife {
    pub(super) fn is_heard(&self) -> bool {
        matches!(self, Self::Starting { .. } | Self::Ready { .. })
    }

    pub(super) fn has_capability(&self, name: &str) -> bool {
        match self {
            Self::Ready { ready, .. } => ready.capabilities.iter().any(|offered| offered == name),
            _ => false,
        }
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        match self {
            Self::Starting { until, fading, .. } => Some(fading.until.unwrap_or(*until)),
            Self::Ready { fading, .. } => fading.until,
            Self::Ending { until, .. } | Self::Waiting { until } => Some(*until),
            _ => None,
        }
    }

    fn fading_signs(&mut self) -> Option<&mut FadingSigns> {
        match self {
            Self::Starting { fading, .. } | Self::Ready { fading, .. } => Some(fading),
            _ => None,
        }
    }

    fn start_time(&self, now: Duration) -> Duration {
        match self {
            Self::Starting { since, .. }
            | Self::Ready { since, .. }
            | Self::Ending { since, .. } => *since,
            _ => now,
        }
    }
}

impl ClientCore {
    pub(super) fn start_process(&mut self) {
        self.epoch += 1;
        // Another process counts from its own beginning.
        self.numbers.reset();
        self.life = RuntimeLife::Spawning;
        self.change_state(RuntimeState::Starting);
        self.outputs.push(CoreOutput::Start);
    }

    pub(super) fn handle_started(&mut self, now: Duration) {
        if !matches!(self.life, RuntimeLife::Spawning) {
            return;
        }
        let until = now.saturating_add(self.settings.start);
        self.life = RuntimeLife::Starting { since: now, until, fading: FadingSigns::default() };
        if self.is_leaving {
            // It was closed while the process was being started.
            self.end_process(now, "the session is closed", false);
        }
    }

    pub(super) fn not_started(&mut self, now: Duration, reason: &str) {
        if !matches!(self.life, RuntimeLife::Spawning) {
            return;
        }
        let program = self.settings.program.display();
        let reason = Arc::from(format!("the runtime {program} cannot be started: {reason}"));
        self.fail_all(now, &ClientError::Died { reason: Arc::clone(&reason) });
        self.handle_death(now, ExitDetails::default(), reason, false);
    }

    /// Handles `ready`. A second one is ignored, and a runtime that speaks another protocol is
    /// ended.
    pub(super) fn handle_ready(&mut self, now: Duration, ready: RuntimeReady) {
        let RuntimeLife::Starting { since, fading, .. } = &mut self.life else {
            self.passed_over.stray += 1;
            return;
        };
        if let Some(theirs) =
            ready.version.as_deref().filter(|theirs| !is_compatible_version(theirs))
        {
            let reason = format!(
                "the runtime speaks version {theirs} of the session protocol, but this program \
                 speaks {VERSION}: install both from one release"
            );
            return self.end_process(now, &reason, false);
        }
        let (since, fading, ready) = (*since, std::mem::take(fading), Arc::new(ready));
        self.life = RuntimeLife::Ready { since, ready: Arc::clone(&ready), fading };
        self.change_state(RuntimeState::Ready(ready));
        if self.life.has_capability(capability::HELLO) {
            let capabilities = self.settings.capabilities.clone();
            // Before all requests that have waited: the runtime takes extensions only after it.
            self.send_own_request(SessionCommand::Hello { capabilities, tools: Vec::new() });
        }
        // By id, because one that the runtime cannot understand is removed on the way.
        let held: Vec<_> = self.open.iter().map(|open| Arc::clone(&open.id)).collect();
        for id in held {
            if let Some(index) = self.find_request(&id) {
                self.send_request(now, index);
            }
        }
    }

    pub(super) fn pipe_closed(&mut self, now: Duration) {
        let Some(fading) = self.life.fading_signs() else { return };
        fading.is_closed = true;
        self.handle_fading(now);
    }

    pub(super) fn handle_exit(
        &mut self,
        now: Duration,
        status: Option<ExitStatus>,
        last_words: Option<String>,
    ) {
        let exited = ExitDetails { status, last_words };
        if let RuntimeLife::Ending { reason, at_once, .. } = &self.life {
            // The requests that this process has read have failed already, so nobody waits for the
            // rest of its output.
            let (reason, at_once) = (Arc::clone(reason), *at_once);
            return self.handle_death(now, exited, reason, at_once);
        }
        let Some(fading) = self.life.fading_signs() else { return };
        fading.exited = Some(exited);
        self.handle_fading(now);
    }

    /// Handles one sign of the end, and waits for the other, so that no line is lost and the exit
    /// status is known.
    fn handle_fading(&mut self, now: Duration) {
        let Some(fading) = self.life.fading_signs() else { return };
        let limit = if fading.exited.is_some() { LAST_WORDS } else { WITHOUT_PIPES };
        // The first sign sets the limit: stdin and stdout are closed one after the other, and the
        // second of them must not prolong it.
        let until = *fading.until.get_or_insert(now + limit);
        let is_over = fading.is_closed && fading.exited.is_some();
        if !is_over && now < until {
            return;
        }
        let Some(exited) = fading.exited.take() else {
            return self.end_process(now, "the runtime has closed its pipes", false);
        };
        let reason = Arc::from(exited.text());
        self.numbers.reset();
        self.fail_all(now, &ClientError::Died { reason: Arc::clone(&reason) });
        // The task lets go of the pipes, which a child of the process may hold open for long.
        self.outputs.push(CoreOutput::End);
        self.handle_death(now, exited, reason, false);
    }

    fn end_process(&mut self, now: Duration, reason: &str, at_once: bool) {
        let reason: Arc<str> = Arc::from(reason);
        let error = if self.is_leaving {
            ClientError::Closed
        } else {
            ClientError::Died { reason: Arc::clone(&reason) }
        };
        self.fail_all(now, &error);
        let (since, until) = (self.life.start_time(now), now + ENDING);
        self.numbers.reset();
        self.life = RuntimeLife::Ending { since, until, reason, at_once };
        self.outputs.push(CoreOutput::End);
    }

    /// Decides what to do after the process is gone.
    fn handle_death(
        &mut self,
        now: Duration,
        exited: ExitDetails,
        reason: Arc<str>,
        at_once: bool,
    ) {
        let ExitDetails { status, last_words } = exited;
        if self.is_leaving {
            return self.end_session(now);
        }
        self.change_state(RuntimeState::Died { status, reason: Arc::clone(&reason), last_words });
        let has_lived = now.saturating_sub(self.life.start_time(now));
        // A restart that somebody asks for is no failure.
        if at_once || has_lived >= self.settings.back_off.reset_after {
            self.deaths = 0;
        }
        if at_once {
            return self.start_process();
        }
        self.deaths = self.deaths.saturating_add(1);
        match self.settings.back_off.pause_after(self.deaths) {
            Some(within) => {
                self.life = RuntimeLife::Waiting { until: now.saturating_add(within) };
                self.change_state(RuntimeState::Restarting { within });
            }
            None => self.give_up_runtime(now, reason),
        }
    }

    fn give_up_runtime(&mut self, now: Duration, reason: Arc<str>) {
        self.change_state(RuntimeState::GivenUp);
        let deaths = self.deaths;
        self.fail_all(now, &ClientError::GivenUp { deaths, reason: Arc::clone(&reason) });
        self.life = RuntimeLife::GivenUp { reason };
    }

    pub(super) fn restart(&mut self, now: Duration) {
        match &mut self.life {
            RuntimeLife::Starting { .. } | RuntimeLife::Ready { .. } => {
                self.end_process(now, "the runtime was ended on request", true);
            }
            RuntimeLife::Ending { at_once, .. } => *at_once = true,
            RuntimeLife::Waiting { .. } | RuntimeLife::GivenUp { .. } => {
                self.deaths = 0;
                self.start_process();
            }
            RuntimeLife::NotBegun | RuntimeLife::Spawning | RuntimeLife::Over => {}
        }
    }

    pub(super) fn handle_leave(&mut self, now: Duration) {
        if self.is_leaving {
            return;
        }
        self.is_leaving = true;
        self.fail_all(now, &ClientError::Closed);
        match self.life {
            RuntimeLife::Starting { .. } | RuntimeLife::Ready { .. } => {
                self.end_process(now, "the session is closed", false);
            }
            // The session ends when the process does; one that is being started is ended right
            // away.
            RuntimeLife::Spawning | RuntimeLife::Ending { .. } => {}
            _ => self.end_session(now),
        }
    }

    fn end_session(&mut self, now: Duration) {
        self.fail_all(now, &ClientError::Closed);
        self.life = RuntimeLife::Over;
        self.change_state(RuntimeState::Ended);
        self.outputs.push(CoreOutput::Over);
    }

    pub(super) fn tick_life(&mut self, now: Duration) {
        if self.life.deadline().is_none_or(|until| now < until) {
            return;
        }
        match &self.life {
            RuntimeLife::Waiting { .. } => self.start_process(),
            RuntimeLife::Starting { fading, .. } if fading.until.is_none() => {
                let limit = self.settings.start;
                let reason = format!("the runtime did not become ready within {limit:?}");
                self.end_process(now, &reason, false);
            }
            RuntimeLife::Starting { .. } | RuntimeLife::Ready { .. } => self.handle_fading(now),
            RuntimeLife::Ending { reason, at_once, .. } => {
                let (reason, at_once) = (Arc::clone(reason), *at_once);
                self.handle_death(now, ExitDetails::default(), reason, at_once);
            }
            _ => {}
        }
    }

    fn change_state(&mut self, state: RuntimeState) {
        self.state = state.clone();
        self.show_to_watchers(WatchedItem::State(state), STATE_SIZE);
    }
}

/// Returns true for a version whose differences from ours an old reader can ignore.
fn is_compatible_version(version: &str) -> bool {
    let major = |version: &str| version.split('.').next().map(str::to_owned);
    major(version) == major(VERSION)
}

impl ExitDetails {
    fn text(&self) -> String {
        let how = self.status.map_or_else(|| "killed".to_owned(), |status| status.to_string());
        match &self.last_words {
            Some(line) => format!("the runtime has ended ({how}); its last output was: {line}"),
            None => format!("the runtime has ended ({how})"),
        }
    }
}
