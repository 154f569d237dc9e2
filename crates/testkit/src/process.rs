//! Real child processes in tests: every wait has a deadline, every failure shows the child's
//! stderr, and no child outlives the value that holds it.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

use crate::proc;

/// How long anything may take before the test fails. Generous, because nothing waits for it to
/// pass: it only ends a test that hangs.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// How long a pipe may stay open after its process ended, in the hands of a descendant.
const DRAIN: Duration = Duration::from_secs(2);

/// A child that leads a process group of its own; dropping it kills and reaps the whole group.
#[derive(Debug)]
pub struct Group {
    child: Child,
    name: String,
    status: Option<ExitStatus>,
    /// Whether a signal to the group can still reach somebody.
    armed: bool,
}

impl Group {
    /// Starts `command` as the leader of a new process group.
    #[must_use]
    pub fn spawn(mut command: Command) -> Self {
        let name = format!("{}", command.get_program().display());
        let child = command.process_group(0).spawn();
        let child = child.unwrap_or_else(|error| panic!("cannot start {name}: {error}"));
        Self { child, name, status: None, armed: true }
    }

    /// Returns the process id, which is the group id too.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its standard input, which the command asked for as a pipe.
    pub fn take_stdin(&mut self) -> ChildStdin {
        self.child.stdin.take().expect("a pipe that was not taken yet")
    }

    /// Its standard output, which the command asked for as a pipe.
    pub fn take_stdout(&mut self) -> ChildStdout {
        self.child.stdout.take().expect("a pipe that was not taken yet")
    }

    /// Its standard error, which the command asked for as a pipe.
    pub fn take_stderr(&mut self) -> ChildStderr {
        self.child.stderr.take().expect("a pipe that was not taken yet")
    }

    /// Waits for the end of the leader; `None` when it still runs after `limit`.
    pub fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let end = Instant::now() + limit;
        while self.status.is_none() {
            self.status = self.child.try_wait().expect("own child can be waited for");
            if self.status.is_none() && Instant::now() >= end {
                return None;
            }
            if self.status.is_none() {
                thread::sleep(Duration::from_millis(3));
            }
        }
        // The id stays reserved only while the group has members: an empty one is left alone.
        self.armed = self.armed && proc::all().iter().any(|process| process.group == self.pid());
        self.status
    }

    /// Sends a signal to the leader only, as long as it runs.
    pub fn signal(&self, signal: Signal) {
        if self.status.is_none() {
            let _ = kill_process(self.rustix_pid(), signal);
        }
    }

    /// Kills every process of the group and reaps the leader.
    pub fn kill(&mut self) {
        if self.armed {
            let _ = kill_process_group(self.rustix_pid(), Signal::KILL);
            self.armed = false;
        }
        if self.status.is_none() {
            self.status = self.child.wait().ok();
        }
    }

    fn rustix_pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Bytes that a thread reads from a pipe until its end.
#[derive(Debug)]
pub(crate) struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<()>,
}

impl Collected {
    pub(crate) fn from(mut pipe: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (done, ended) = mpsc::channel::<()>();
        let shared = Arc::clone(&bytes);
        thread::spawn(move || {
            read_chunks(&mut pipe, |chunk| shared.lock().unwrap().extend_from_slice(chunk));
            drop(done);
        });
        Self { bytes, ended }
    }

    /// Waits a little for the end of the pipe: a descendant may hold it open.
    fn drain(&self) {
        let _ = self.ended.recv_timeout(DRAIN);
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }
}

fn read_chunks(pipe: &mut impl Read, mut take: impl FnMut(&[u8])) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count) = pipe.read(&mut buffer) {
        if count == 0 {
            return;
        }
        take(&buffer[..count]);
    }
}

/// A child that has ended, with all it wrote. Descendants that it left behind are killed when
/// this value is dropped, so a leak check belongs before.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
    group: Group,
}

impl Finished {
    /// Sets the same, after checking that the exit code was 0.
    #[must_use]
    pub fn success(self) -> Self {
        assert!(
            self.status.success(),
            "{} failed: {}\n{}",
            self.group.name,
            self.status,
            report(&self.stderr, &self.stdout)
        );
        self
    }
}

/// Runs `command` to its end with an empty stdin. After `limit` its whole group is killed and
/// the test fails with what it wrote.
pub fn run(mut command: Command, limit: Duration) -> Finished {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = Group::spawn(command);
    let stdout = Collected::from(group.child.stdout.take().expect("stdout is piped"));
    let stderr = Collected::from(group.child.stderr.take().expect("stderr is piped"));
    let Some(status) = group.wait(limit) else {
        group.kill();
        stderr.drain();
        panic!(
            "{} did not end within {limit:?}\n{}",
            group.name,
            report(&stderr.text(), &stdout.text())
        );
    };
    stdout.drain();
    stderr.drain();
    Finished { status, stdout: stdout.text(), stderr: stderr.text(), group }
}

fn report(stderr: &str, stdout: &str) -> String {
    let mut text = String::new();
    for (name, content) in [("stderr", stderr), ("stdout", stdout)] {
        let _ = writeln!(text, "--- {name} ---\n{}", content.trim_end());
    }
    text
}

/// A child that is talked to in JSON lines: stdin and stdout are pipes, stderr is collected.
#[derive(Debug)]
pub struct Piped {
    group: Group,
    stdin: Option<Sender<Vec<u8>>>,
    stdout: Receiver<Vec<u8>>,
    stderr: Collected,
    deadline: Duration,
}

impl Piped {
    /// Starts `command` with all three streams piped.
    #[must_use]
    pub fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Group::spawn(command);
        let stdin = write_in_background(group.child.stdin.take().expect("stdin is piped"));
        let stdout = lines_in_background(group.child.stdout.take().expect("stdout is piped"));
        let stderr = Collected::from(group.child.stderr.take().expect("stderr is piped"));
        Self { group, stdin: Some(stdin), stdout, stderr, deadline: DEADLINE }
    }

    /// Sets how long [`Piped::recv`] waits.
    #[must_use]
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = limit;
        self
    }

    /// Returns the child's process id.
    pub fn pid(&self) -> u32 {
        self.group.pid()
    }

    /// Sends one line; the newline is added. Never blocks: a child that has stopped reading
    /// shows as a missing answer.
    pub fn send(&mut self, line: impl AsRef<str>) {
        let mut bytes = line.as_ref().as_bytes().to_vec();
        bytes.push(b'\n');
        self.send_bytes(bytes);
    }

    /// Sends bytes as they are: half a line, no line, no UTF-8.
    pub fn send_bytes(&mut self, bytes: impl Into<Vec<u8>>) {
        let stdin = self.stdin.as_ref().expect("stdin is still open");
        // The writer is gone only after a broken pipe, which the next wait reports better.
        let _ = stdin.send(bytes.into());
    }

    /// Returns the next line of stdout as JSON; fails at the deadline, at the end, or on other
    /// text.
    pub fn recv(&mut self) -> Value {
        let line = self.recv_line();
        serde_json::from_str(&line)
            .unwrap_or_else(|error| self.fail(&format!("stdout is not JSON ({error}): {line}")))
    }

    /// Returns the next line of stdout without its newline.
    pub fn recv_line(&mut self) -> String {
        match self.next_line() {
            Some(line) => String::from_utf8(line)
                .unwrap_or_else(|error| self.fail(&format!("stdout is not UTF-8: {error}"))),
            None => self.fail("stdout ended where a line was due"),
        }
    }

    /// Returns the next line of stdout without its newline, or nothing at its end.
    pub fn recv_line_or_end(&mut self) -> Option<String> {
        let line = String::from_utf8(self.next_line()?);
        Some(line.unwrap_or_else(|error| self.fail(&format!("stdout is not UTF-8: {error}"))))
    }

    /// Waits for the end of stdout and fails if a line comes instead.
    pub fn recv_end(&mut self) {
        if let Some(line) = self.next_line() {
            self.fail(&format!("a line came after the end: {}", String::from_utf8_lossy(&line)));
        }
    }

    /// Closes stdin once all that was sent is written.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for the end of the process and fails if it does not come within `limit`.
    pub fn wait_exit(&mut self, limit: Duration) -> ExitStatus {
        match self.group.wait(limit) {
            Some(status) => {
                self.stderr.drain();
                status
            }
            None => self.fail(&format!("did not end within {limit:?}")),
        }
    }

    /// Sends a signal to the process.
    pub fn signal(&self, signal: Signal) {
        self.group.signal(signal);
    }

    /// Returns what the process wrote to stderr so far; all of it after [`Piped::wait_exit`].
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    fn next_line(&mut self) -> Option<Vec<u8>> {
        match self.stdout.recv_timeout(self.deadline) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                self.fail(&format!("no line on stdout within {:?}", self.deadline))
            }
        }
    }

    /// Ends the child first, so that its last words are in the message.
    fn fail(&mut self, what: &str) -> ! {
        let status = self.group.wait(Duration::ZERO);
        self.group.kill();
        self.stderr.drain();
        let state = status.map_or("running".to_owned(), |status| status.to_string());
        let stderr = self.stderr.text();
        panic!("{} ({state}): {what}\n--- stderr ---\n{stderr}", self.group.name);
    }
}

fn write_in_background(mut pipe: ChildStdin) -> Sender<Vec<u8>> {
    let (sender, queue) = mpsc::channel::<Vec<u8>>();
    thread::spawn(move || {
        for bytes in queue {
            if pipe.write_all(&bytes).and_then(|()| pipe.flush()).is_err() {
                return;
            }
        }
    });
    sender
}

/// Cuts stdout into lines. Text after the last newline counts as a line.
pub(crate) fn lines_in_background(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        let mut rest = Vec::new();
        read_chunks(&mut pipe, |chunk| {
            for part in chunk.split_inclusive(|byte| *byte == b'\n') {
                rest.extend_from_slice(part);
                if rest.pop_if(|byte| *byte == b'\n').is_some() {
                    let _ = sender.send(std::mem::take(&mut rest));
                }
            }
        });
        if !rest.is_empty() {
            let _ = sender.send(rest);
        }
    });
    lines
}

#[cfg(test)]
mod tests;
