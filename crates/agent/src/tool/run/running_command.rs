//! A command that runs in the background: its output, its input and its end.

use std::io::{self, PipeReader, Read, Write, pipe};
use std::mem;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStdin, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use callgate_link::child::LeashedChild;
use callgate_link::group_guard::GroupGuard;
use callgate_link::sync::lock;
use rustix::event::{PollFd, PollFlags};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use tokio::sync::watch;

use super::kept_output::KeptOutput;
use super::watch::{CommandJob, GRACE, READ, piped_command, wait_for_ready};

/// How long output is collected once some has arrived. Otherwise a read would return the first line
/// of several.
const SETTLE: Duration = Duration::from_millis(50);
/// How long a command may take to end once it is asked to.
const ENDS_WITHIN: Duration = Duration::from_secs(2);
/// How long a command may take to read what is written to it.
const READS_WITHIN: Duration = Duration::from_secs(10);
/// The longest wait of the thread that watches a command; it then waits again.
const LONG: Duration = Duration::from_hours(1);

pub(super) struct RunningCommand {
    pub(super) id: String,
    /// The conversation in which it was started, which alone may use it.
    pub(super) conversation: Arc<str>,
    input: Mutex<Option<ChildStdin>>,
    process: Mutex<Option<GuardedProcess>>,
    progress: Mutex<CommandProgress>,
    changes: watch::Sender<()>,
}

struct GuardedProcess {
    child: LeashedChild,
    /// Ends what the process has started if the runtime is killed.
    guard: GroupGuard,
}

/// What has become of a command since somebody last looked.
struct CommandProgress {
    output: KeptOutput,
    /// The limit of `output`, in bytes.
    most: usize,
    status: Option<ExitStatus>,
    /// Whether it has ended, and all of its output was read.
    is_over: bool,
}

pub(super) struct CommandNews {
    pub(super) output: String,
    pub(super) is_cut: bool,
    pub(super) is_running: bool,
    pub(super) exit_code: Option<i32>,
    pub(super) signal: Option<i32>,
}

impl RunningCommand {
    /// Starts a command. It has a pipe as its input, and writes both streams into another.
    pub(super) fn start(
        id: String,
        conversation: Arc<str>,
        job: &CommandJob,
    ) -> io::Result<Arc<Self>> {
        let (output, writer) = pipe()?;
        let mut command = piped_command(job)?;
        // One pipe for both streams keeps the order in which they were written.
        command.stdin(Stdio::piped()).stdout(writer.try_clone()?).stderr(writer);
        let mut child = LeashedChild::spawn(command)?;
        // The signal at our death reaches the leader alone, and a command in the background may
        // have started more.
        let guard = GroupGuard::start(child.id())?;
        let (input, exit) = (child.stdin.take(), child.exit_fd()?);
        let progress = CommandProgress {
            output: KeptOutput::new(job.most),
            most: job.most,
            status: None,
            is_over: false,
        };
        let running = Arc::new(Self {
            id,
            conversation,
            input: Mutex::new(input),
            process: Mutex::new(Some(GuardedProcess { child, guard })),
            progress: Mutex::new(progress),
            changes: watch::Sender::default(),
        });
        let watched = Arc::clone(&running);
        thread::Builder::new().name("command".to_owned()).spawn(move || {
            let mut output = Some(output);
            // After a failure nothing more is known of it, so it is ended.
            watched.watch(&mut output, &exit).ok();
            watched.end();
            // Only now: a process in the background might hold the pipe open for ever.
            watched.drain(output).ok();
            lock(&watched.progress).is_over = true;
            watched.changes.send_replace(());
        })?;
        Ok(running)
    }

    /// Reads output until the process has ended.
    fn watch(&self, output: &mut Option<PipeReader>, exit: &OwnedFd) -> io::Result<()> {
        let mut buffer = vec![0; READ];
        loop {
            let pipe = output.as_ref().map(AsFd::as_fd);
            let all = [exit.as_fd()].into_iter().chain(pipe);
            let mut wanted: Vec<_> =
                all.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
            wait_for_ready(&mut wanted, LONG)?;
            let happened = |at: usize| wanted.get(at).is_some_and(|fd| !fd.revents().is_empty());
            let (has_ended, has_output) = (happened(0), happened(1));
            // Output first, so that all that was written before the end is read.
            if has_output && !self.take_output(output, &mut buffer)? {
                *output = None;
            } else if has_ended {
                return Ok(());
            }
        }
    }

    /// Reads what is left in the pipe after all processes have been ended.
    fn drain(&self, mut output: Option<PipeReader>) -> io::Result<()> {
        let (mut buffer, stop) = (vec![0; READ], Instant::now() + GRACE);
        while let Some(pipe) = &output {
            let left = stop.saturating_duration_since(Instant::now());
            let mut wanted = [PollFd::new(pipe, PollFlags::IN)];
            wait_for_ready(&mut wanted, left)?;
            let is_ready = !wanted[0].revents().is_empty();
            if (!is_ready && left.is_zero())
                || (is_ready && !self.take_output(&mut output, &mut buffer)?)
            {
                break;
            }
        }
        Ok(())
    }

    /// Reads available output. Returns false at its end.
    fn take_output(&self, output: &mut Option<PipeReader>, buffer: &mut [u8]) -> io::Result<bool> {
        let Some(pipe) = output else { return Ok(false) };
        let count = match pipe.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(true),
            read => read?,
        };
        lock(&self.progress).output.push(&buffer[..count]);
        self.changes.send_replace(());
        Ok(count > 0)
    }

    pub(super) fn is_running(&self) -> bool {
        !lock(&self.progress).is_over
    }

    /// Waits for output or the end, and returns what is new.
    pub(super) async fn read_news(&self, longest: Duration) -> CommandNews {
        let mut changes = self.changes.subscribe();
        let has_news = |(): &()| {
            let progress = lock(&self.progress);
            progress.is_over || !progress.output.is_empty()
        };
        if tokio::time::timeout(longest, changes.wait_for(has_news)).await.is_ok()
            && self.is_running()
        {
            self.wait_for_end(SETTLE.min(longest)).await;
        }
        self.take_news()
    }

    async fn wait_for_end(&self, longest: Duration) {
        let mut changes = self.changes.subscribe();
        let ended = changes.wait_for(|()| !self.is_running());
        tokio::time::timeout(longest, ended).await.ok();
    }

    fn take_news(&self) -> CommandNews {
        let mut progress = lock(&self.progress);
        let most = progress.most;
        let mut output = mem::replace(&mut progress.output, KeptOutput::new(most));
        let (output, is_cut) = output.text(most);
        // Whoever reads the exit code needs not read again: all of the output is there.
        let status = progress.status.filter(|_| progress.is_over);
        CommandNews {
            output,
            is_cut,
            is_running: !progress.is_over,
            exit_code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
        }
    }

    /// Writes to the input of the command, and closes it if nothing follows. It may block for
    /// [`READS_WITHIN`].
    pub(super) fn write(&self, text: &str, is_last: bool) -> Result<(), String> {
        // Held until all is written, so that two lines do not mix.
        let mut input = lock(&self.input);
        let pipe = input.as_mut().ok_or("its input is closed: start it again")?;
        write_all_bytes(pipe, text.as_bytes()).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => "it does not read its input any more".to_owned(),
            io::ErrorKind::TimedOut => {
                let seconds = READS_WITHIN.as_secs();
                format!("it has not read all of it within {seconds} s: read its output first")
            }
            _ => format!("its input cannot be written: {error}"),
        })?;
        if is_last {
            *input = None;
        }
        Ok(())
    }

    /// Asks the command to end, ends it if it does not, and returns what is new.
    pub(super) async fn stop(self: &Arc<Self>) -> CommandNews {
        if let Some(process) = &*lock(&self.process) {
            // An error means that it has ended already.
            process.child.terminate().ok();
        }
        self.wait_for_end(ENDS_WITHIN).await;
        // Not on the one thread of the runtime: it waits for processes and looks through `/proc`.
        let command = Arc::clone(self);
        tokio::task::spawn_blocking(move || command.end()).await.ok();
        self.wait_for_end(ENDS_WITHIN).await;
        self.take_news()
    }

    /// Ends the command now, with everything that it has started.
    pub(super) fn end(&self) {
        let Some(GuardedProcess { mut child, guard }) = lock(&self.process).take() else { return };
        // The leader is not reaped yet, so the group is still this one.
        drop(guard);
        lock(&self.progress).status = child.end_all().ok();
    }
}

/// Writes all of it, as the reader makes room.
fn write_all_bytes(pipe: &mut ChildStdin, mut bytes: &[u8]) -> io::Result<()> {
    let stop = Instant::now() + READS_WITHIN;
    // Otherwise a write of more than the pipe holds would block beyond the limit.
    fcntl_setfl(&*pipe, fcntl_getfl(&*pipe)? | OFlags::NONBLOCK)?;
    while !bytes.is_empty() {
        match pipe.write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let left = stop.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                wait_for_ready(&mut [PollFd::new(pipe, PollFlags::OUT)], left)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
