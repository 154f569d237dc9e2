//! Runs lines in real shells, each for a limited time.

use std::io::{Read, Write, pipe};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use super::scratch::ScratchHome;

/// How long a line may run.
const LIMIT: Duration = Duration::from_secs(5);
/// The most output of a line that is read.
const MOST_OUTPUT: usize = 1 << 20;

/// A shell that runs lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TestedShell {
    Bash,
    Dash,
    Zsh,
}

impl TestedShell {
    pub(crate) const ALL: [Self; 3] = [Self::Bash, Self::Dash, Self::Zsh];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Dash => "dash",
            Self::Zsh => "zsh",
        }
    }

    pub(crate) fn path(self) -> Option<PathBuf> {
        let folders = ["/bin", "/usr/bin", "/usr/local/bin"];
        folders.iter().map(|folder| Path::new(folder).join(self.name())).find(|path| path.exists())
    }

    /// Returns the options that keep the user's files out.
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Bash => &["--norc", "--noprofile", "-c", "--"],
            Self::Dash => &["-c", "--"],
            Self::Zsh => &["-f", "-c", "--"],
        }
    }
}

/// What a line did.
pub(crate) struct LineRun {
    /// What it did that it must not do.
    pub(crate) reached: Vec<String>,
    /// Whether it had to be ended.
    pub(crate) is_overdue: bool,
}

/// Runs lines in one scratch home, one after the other.
pub(crate) struct LineRunner {
    pub(crate) scratch: ScratchHome,
    /// A process that lines may try to end.
    victim: Child,
}

impl LineRunner {
    pub(crate) fn new() -> Self {
        Self { scratch: ScratchHome::new(), victim: victim() }
    }

    /// Runs a line and tells what it did.
    pub(crate) fn run(&mut self, shell: TestedShell, line: &str) -> LineRun {
        let is_overdue = !self.finish(shell, line);
        let mut reached = self.scratch.take_reached();
        if !answers(&mut self.victim) {
            reached.push("`kill` ended a process".into());
            self.victim = victim();
        }
        LineRun { reached, is_overdue }
    }

    /// Returns true if the line ended by itself, with all processes that share its output.
    fn finish(&self, shell: TestedShell, line: &str) -> bool {
        let (mut output, input) = pipe().expect("a pipe");
        let mut command = Command::new(shell.path().expect("the shell"));
        let mut child = command
            .args(shell.options())
            .arg(line)
            .current_dir(self.scratch.project())
            .env_clear()
            .env("HOME", self.scratch.home())
            .env("PATH", format!("{}/bin", self.scratch.home()))
            .env("LC_ALL", "C.UTF-8")
            .env("VICTIM", self.victim.id().to_string())
            .stdin(Stdio::null())
            .stdout(input.try_clone().expect("a pipe"))
            .stderr(input)
            .process_group(0)
            .spawn()
            .expect("the shell starts");
        // The command holds the ends of the pipe that the children write to.
        drop(command);
        let deadline = Instant::now() + LIMIT;
        let mut buffer = [0; 4096];
        let mut total = 0;
        let has_ended = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).expect("a short time");
            let mut polled = [PollFd::new(&output, PollFlags::IN)];
            if poll(&mut polled, Some(&left)).unwrap_or(0) == 0 {
                break false;
            }
            match output.read(&mut buffer).expect("the output") {
                0 => break true,
                count => total += count,
            }
            if total > MOST_OUTPUT {
                break false;
            }
        };
        let has_ended = has_ended && ends_by(&mut child, deadline);
        if !has_ended {
            let group = Pid::from_child(&child);
            kill_process_group(group, Signal::KILL).ok();
        }
        child.wait().expect("the shell ends");
        has_ended
    }
}

impl Drop for LineRunner {
    fn drop(&mut self) {
        self.victim.kill().ok();
        self.victim.wait().ok();
    }
}

fn ends_by(child: &mut Child, deadline: Instant) -> bool {
    while Instant::now() < deadline {
        if child.try_wait().expect("the shell").is_some() {
            return true;
        }
        thread::sleep(Duration::from_micros(200));
    }
    false
}

/// Returns true if the victim still repeats what it is told. A process that has got a signal may
/// take a moment to end, but says nothing more.
fn answers(victim: &mut Child) -> bool {
    let input = victim.stdin.as_mut().expect("a pipe");
    let output = victim.stdout.as_mut().expect("a pipe");
    let is_alive = input.write_all(b"?").is_ok() && output.read_exact(&mut [0]).is_ok();
    if !is_alive {
        victim.wait().expect("the victim ended");
    }
    is_alive
}

/// Starts a process that repeats what it is told until this one ends.
fn victim() -> Child {
    Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("cat starts")
}
