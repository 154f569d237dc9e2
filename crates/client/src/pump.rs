//! The task of a client: reads from the runtime, writes requests, and keeps the process alive and
//! the time.

use std::future::pending;
use std::io;
use std::pin::Pin;
use std::process::ExitStatus;
use std::sync::Arc;

use callgate_link::tokio::fill_lines;
use callgate_wire::frame::LineDecoder;
use callgate_wire::session::MAX_LINE;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, sleep_until};

use crate::core::CoreInput;
use crate::outbox::OutgoingLine;
use crate::shared::ClientShared;

/// How often the task reads in a row before it checks the time. Reading comes first, so that a
/// runtime that floods would otherwise hold up timers and writes for as long as it does.
const READS_IN_A_ROW: u32 = 64;

/// A running process, as the task sees it.
pub(crate) struct RuntimePipes {
    /// Takes requests; closed to end the process.
    pub(crate) stdin: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    /// Yields responses until it is closed.
    pub(crate) stdout: Option<Box<dyn AsyncRead + Send + Unpin>>,
    /// Resolves when the process has ended.
    pub(crate) exit: Option<PumpFuture<RuntimeExit>>,
    /// Dropped when the process is to end.
    pub(crate) leash: Option<Box<dyn Send>>,
}

/// The exit status of a process, if known, and the last line that it wrote to stderr.
pub(crate) type RuntimeExit = (Option<ExitStatus>, Option<String>);
pub(crate) type PumpFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
pub(crate) type RuntimeLauncher = Box<dyn FnMut() -> PumpFuture<io::Result<RuntimePipes>> + Send>;

struct SessionPump {
    shared: Arc<ClientShared>,
    launch: RuntimeLauncher,
    starting: Option<PumpFuture<io::Result<RuntimePipes>>>,
    life: Option<RuntimePipes>,
    lines: LineDecoder,
    outgoing: Option<OutgoingLine>,
    /// Since when reading is paused because of a slow reader.
    paused: Option<Instant>,
    reads: u32,
}

enum PumpWake {
    Started(io::Result<RuntimePipes>),
    Exited(RuntimeExit),
    Written(io::Result<usize>),
    Read(io::Result<usize>),
    Due,
    Work,
}

pub(crate) async fn serve_client(shared: Arc<ClientShared>, launch: RuntimeLauncher) {
    let _abandon = AbandonOnDrop(Arc::clone(&shared));
    shared.handle_input(CoreInput::Begin);
    let mut pump = SessionPump {
        shared,
        launch,
        starting: None,
        life: None,
        lines: LineDecoder::new(MAX_LINE),
        outgoing: None,
        paused: None,
        reads: 0,
    };
    while pump.follow_orders() {
        let woken = pump.wait_for_wake().await;
        pump.deal_with(woken);
    }
}

/// Ends the session when the task ends for any reason.
struct AbandonOnDrop(Arc<ClientShared>);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl SessionPump {
    /// Carries out the orders for the process. Returns false when the session is over.
    fn follow_orders(&mut self) -> bool {
        let orders = self.shared.take_orders();
        if orders.end {
            self.outgoing = None;
            // A process that has not ended is still read, because it may have to write before it
            // can end.
            self.life.take_if(|life| life.exit.is_none());
            if let Some(life) = &mut self.life {
                (life.stdin, life.leash) = (None, None);
            }
        }
        if orders.start {
            self.life = None;
            // What the process before has left unfinished does not begin a line of this one.
            self.lines = LineDecoder::new(MAX_LINE);
            self.starting = Some((self.launch)());
        }
        !orders.is_over
    }

    async fn wait_for_wake(&mut self) -> PumpWake {
        self.pause_or_resume();
        let patience = self.shared.settings.patience;
        let patience = self.paused.and_then(|since| since.checked_add(patience));
        let due = self.shared.deadline().into_iter().chain(patience).min();
        // Only one at a time: what still waits in the outbox can be withdrawn.
        if self.outgoing.is_none() && self.life.as_ref().is_some_and(|life| life.stdin.is_some()) {
            self.outgoing = self.shared.next_line();
        }
        let has_read_much = self.reads >= READS_IN_A_ROW;
        let listens = self.paused.is_none() && !has_read_much;
        let Self { shared, starting, life, lines, outgoing, .. } = self;
        let (mut stdin, mut stdout, mut exit) = (None, None, None);
        if let Some(life) = life {
            (stdin, stdout, exit) = (life.stdin.as_mut(), life.stdout.as_mut(), life.exit.as_mut());
        }
        tokio::select! {
            biased;
            // First: what the runtime has said comes before the news of its end.
            read = read_stdout(stdout, lines), if listens => PumpWake::Read(read),
            written = write_stdin(stdin, outgoing.as_ref()) => PumpWake::Written(written),
            exited = or_never(exit) => PumpWake::Exited(exited),
            started = or_never(starting.as_mut()) => PumpWake::Started(started),
            () = wait_until(due) => PumpWake::Due,
            () = shared.work.notified() => PumpWake::Work,
            // Other tasks had their chance.
            () = tokio::task::yield_now(), if has_read_much => PumpWake::Work,
        }
    }

    fn deal_with(&mut self, woken: PumpWake) {
        if !matches!(woken, PumpWake::Read(_)) {
            self.reads = 0;
        }
        match woken {
            PumpWake::Started(Ok(life)) => {
                (self.starting, self.life) = (None, Some(life));
                self.shared.handle_input(CoreInput::Started);
            }
            PumpWake::Started(Err(error)) => {
                self.starting = None;
                self.shared.handle_input(CoreInput::NotStarted { reason: error.to_string() });
            }
            PumpWake::Exited((status, last_words)) => {
                self.life_mut(|life| life.exit = None);
                self.shared.handle_input(CoreInput::Exited { status, last_words });
            }
            PumpWake::Written(Ok(count)) if count > 0 => self.handle_written(count),
            // A pipe that takes no bytes is closed, as one that fails.
            PumpWake::Written(_) => {
                self.life_mut(|life| life.stdin = None);
                self.shared.handle_input(CoreInput::PipeClosed);
            }
            PumpWake::Read(Ok(1..)) => self.read_lines(),
            PumpWake::Read(_) => self.read_last(),
            PumpWake::Due => self.handle_due(),
            PumpWake::Work => {}
        }
    }

    fn handle_written(&mut self, count: usize) {
        let Some(outgoing) = &mut self.outgoing else { return };
        if outgoing.mark_written(count) {
            let of = self.outgoing.take().and_then(|outgoing| outgoing.of);
            if let Some(id) = of {
                self.shared.handle_input(CoreInput::Written { id: &id });
            }
        }
    }

    fn read_lines(&mut self) {
        self.reads += 1;
        while let Some(line) = self.lines.next_frame() {
            self.shared.handle_input(CoreInput::Line(line));
        }
    }

    fn read_last(&mut self) {
        self.life_mut(|life| life.stdout = None);
        if let Some(line) = self.lines.finish() {
            self.shared.handle_input(CoreInput::Line(line));
        }
        self.shared.handle_input(CoreInput::PipeClosed);
    }

    /// Pauses reading while too much is unread.
    fn pause_or_resume(&mut self) {
        let is_crowded = self.shared.is_crowded(self.paused.is_some());
        match (is_crowded, self.paused) {
            (true, None) => {
                self.paused = Some(Instant::now());
                self.shared.handle_input(CoreInput::Paused);
            }
            (false, Some(_)) => {
                self.paused = None;
                self.shared.handle_input(CoreInput::Resumed);
            }
            _ => {}
        }
    }

    fn life_mut(&mut self, change: impl FnOnce(&mut RuntimePipes)) {
        if let Some(life) = &mut self.life {
            change(life);
        }
    }

    fn handle_due(&mut self) {
        let is_over = |since: Instant| since.elapsed() >= self.shared.settings.patience;
        if self.paused.is_some_and(is_over) {
            self.shared.end_slow();
        }
        self.shared.handle_input(CoreInput::Tick);
    }
}

async fn read_stdout(
    stdout: Option<&mut Box<dyn AsyncRead + Send + Unpin>>,
    lines: &mut LineDecoder,
) -> io::Result<usize> {
    match stdout {
        Some(stdout) => fill_lines(stdout, lines).await,
        None => pending().await,
    }
}

async fn write_stdin(
    stdin: Option<&mut Box<dyn AsyncWrite + Send + Unpin>>,
    outgoing: Option<&OutgoingLine>,
) -> io::Result<usize> {
    match (stdin, outgoing) {
        // Not `write_all`: if another branch of the `select!` is first, it would not be known how
        // much of the line was written.
        (Some(stdin), Some(outgoing)) => stdin.write(outgoing.rest()).await,
        _ => pending().await,
    }
}

async fn or_never<T>(later: Option<&mut PumpFuture<T>>) -> T {
    match later {
        Some(later) => later.await,
        None => pending().await,
    }
}

async fn wait_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => pending().await,
    }
}

#[cfg(test)]
mod tests;
