//! Starts a command and watches it until it has ended, on one thread that waits for output, the
//! end, the time limit and the cancellation at once.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use callgate_link::child::LeashedChild;
use callgate_wire::session::ToolStream;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::kept_output::KeptOutput;
use super::live_output::LiveOutput;
use crate::tool::ProgressSink;

/// How long the output of background processes is still read after a command has ended.
pub(super) const GRACE: Duration = Duration::from_millis(500);
/// How many bytes are read at a time: the capacity of a pipe.
pub(super) const READ: usize = 64 * 1024;

pub(super) struct CommandJob {
    pub(super) program: PathBuf,
    /// Its name as the model wrote it.
    pub(super) name: String,
    pub(super) args: Vec<String>,
    pub(super) cwd: PathBuf,
    pub(super) env: Vec<(OsString, OsString)>,
    /// Its standard input; empty if there is none.
    pub(super) input: Option<File>,
    pub(super) limit: Duration,
    /// The limit of the kept output of each stream, in bytes.
    pub(super) most: usize,
    pub(super) progress: ProgressSink,
}

pub(super) struct EndedCommand {
    /// How the program ended; `None` if the time limit ended it.
    pub(super) status: Option<ExitStatus>,
    pub(super) stdout: KeptOutput,
    pub(super) stderr: KeptOutput,
    pub(super) took: Duration,
    /// Whether a background process still had the output open.
    pub(super) left_running: bool,
}

impl EndedCommand {
    pub(super) fn signal(&self) -> Option<i32> {
        self.status.and_then(|status| status.signal())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WatchEnd {
    Ended,
    TimedOut,
    Cancelled,
}

/// Runs a command. Returns `None` if it is cancelled.
pub(super) fn run_watched(
    job: &CommandJob,
    cancel: &PipeReader,
) -> io::Result<Option<EndedCommand>> {
    let began = Instant::now();
    // It may have waited long for a thread, and nobody wants it any more.
    if is_cancelled(cancel)? {
        return Ok(None);
    }
    let mut child = LeashedChild::spawn(piped_command(job)?)?;
    let mut watch = CommandWatch {
        streams: [
            CommandStream::new(
                child.stdout.take().map(OwnedFd::from),
                ToolStream::Stdout,
                job,
                began,
            ),
            CommandStream::new(
                child.stderr.take().map(OwnedFd::from),
                ToolStream::Stderr,
                job,
                began,
            ),
        ],
        leader: Some(child.exit_fd()?),
        stop: began + job.limit,
        limit: began + job.limit,
        buffer: vec![0; READ],
    };
    let over = watch.until_over(cancel, &job.progress)?;
    // Before everything is ended, after which nobody holds the pipes any more.
    let left_running = over == WatchEnd::Ended && watch.is_open();
    // Before the rest is read: a process in the background may hold the pipes open for ever.
    let status = child.end_all()?;
    if over == WatchEnd::Cancelled {
        return Ok(None);
    }
    watch.drain(&job.progress)?;
    // The exit status counts if the program ended by itself.
    let status = (over == WatchEnd::Ended).then_some(status);
    let [stdout, stderr] = watch.streams.map(|stream| stream.kept);
    Ok(Some(EndedCommand { status, stdout, stderr, took: began.elapsed(), left_running }))
}

pub(super) fn piped_command(job: &CommandJob) -> io::Result<Command> {
    let stdin = match &job.input {
        Some(input) => input.try_clone()?.into(),
        None => Stdio::null(),
    };
    let mut command = Command::new(&job.program);
    command
        // Some programs do what the name says by which they are called.
        .arg0(&job.name)
        .args(&job.args)
        .current_dir(&job.cwd)
        // The environment of the runtime holds its keys.
        .env_clear()
        .envs(job.env.iter().map(|(name, value)| (name, value)))
        // Programs believe this name of the folder, and that in `env` is the runtime's.
        .env("PWD", &job.cwd)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Ok(command)
}

fn is_cancelled(cancel: &PipeReader) -> io::Result<bool> {
    let mut wanted = [PollFd::new(cancel, PollFlags::IN)];
    wait_for_ready(&mut wanted, Duration::ZERO)?;
    Ok(!wanted[0].revents().is_empty())
}

/// Waits until one of these is ready, but not longer than this.
pub(super) fn wait_for_ready(wanted: &mut [PollFd<'_>], longest: Duration) -> io::Result<()> {
    let longest = Timespec::try_from(longest).map_err(io::Error::other)?;
    match poll(wanted, Some(&longest)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

struct CommandWatch {
    streams: [CommandStream; 2],
    /// The process, until it has ended.
    leader: Option<OwnedFd>,
    /// When to stop watching: at the time limit, or at the end of the grace period.
    stop: Instant,
    limit: Instant,
    buffer: Vec<u8>,
}

impl CommandWatch {
    fn is_open(&self) -> bool {
        self.streams.iter().any(|stream| stream.pipe.is_some())
    }

    fn until_over(&mut self, cancel: &PipeReader, progress: &ProgressSink) -> io::Result<WatchEnd> {
        loop {
            if self.leader.is_none() && !self.is_open() {
                return Ok(WatchEnd::Ended);
            }
            let now = Instant::now();
            if now >= self.stop {
                return Ok(if self.leader.is_none() {
                    WatchEnd::Ended
                } else {
                    WatchEnd::TimedOut
                });
            }
            if self.handle_next_event(Some(cancel), now)? {
                return Ok(WatchEnd::Cancelled);
            }
            self.send_due(progress);
        }
    }

    fn send_due(&mut self, progress: &ProgressSink) {
        let now = Instant::now();
        self.streams.iter_mut().for_each(|stream| stream.live.send_due(now, progress));
    }

    /// Waits for the next event and handles it. Returns whether it was the cancellation.
    fn handle_next_event(&mut self, cancel: Option<&PipeReader>, now: Instant) -> io::Result<bool> {
        let due = self.streams.iter().filter_map(|stream| stream.live.due());
        let until = due.chain([self.stop]).min().unwrap_or(self.stop);
        let pipes = self.streams.iter().filter_map(|stream| stream.pipe.as_ref());
        let all = cancel.map(AsFd::as_fd).into_iter();
        let all = all.chain(self.leader.as_ref().map(AsFd::as_fd)).chain(pipes.map(AsFd::as_fd));
        let mut wanted: Vec<_> =
            all.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        wait_for_ready(&mut wanted, until.saturating_duration_since(now))?;
        let mut happened = wanted.iter().map(|fd| !fd.revents().is_empty());
        let mut next = |is_there: bool| is_there && happened.next().unwrap_or(false);
        // In the order in which they were collected above.
        let is_cancelled = next(cancel.is_some());
        let has_ended = next(self.leader.is_some());
        let ready = [next(self.streams[0].pipe.is_some()), next(self.streams[1].pipe.is_some())];
        if has_ended {
            self.leader = None;
            // Not beyond the time limit, which also counts for what the command has left running.
            self.stop = self.limit.min(Instant::now() + GRACE).max(now);
        }
        for (stream, _) in self.streams.iter_mut().zip(ready).filter(|(_, ready)| *ready) {
            stream.read(&mut self.buffer);
        }
        Ok(is_cancelled)
    }

    /// Reads what is left in the pipes after all processes have been ended. Does not wait for
    /// output of a process that escaped.
    fn drain(&mut self, progress: &ProgressSink) -> io::Result<()> {
        self.leader = None;
        self.stop = Instant::now() + GRACE;
        while self.is_open() && Instant::now() < self.stop {
            self.handle_next_event(None, Instant::now())?;
            self.send_due(progress);
        }
        self.streams.iter_mut().for_each(|stream| stream.live.finish(progress));
        Ok(())
    }
}

struct CommandStream {
    pipe: Option<File>,
    kept: KeptOutput,
    live: LiveOutput,
}

impl CommandStream {
    fn new(pipe: Option<OwnedFd>, stream: ToolStream, job: &CommandJob, now: Instant) -> Self {
        let (kept, live) = (KeptOutput::new(job.most), LiveOutput::new(stream, now));
        Self { pipe: pipe.map(Into::into), kept, live }
    }

    fn read(&mut self, buffer: &mut [u8]) {
        let Some(pipe) = &mut self.pipe else { return };
        match pipe.read(buffer) {
            Ok(count) if count > 0 => {
                self.kept.push(&buffer[..count]);
                self.live.push(&buffer[..count]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => self.pipe = None,
        }
    }
}
