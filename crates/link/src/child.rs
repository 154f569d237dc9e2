//! Child processes that do not outlive this process.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::random::random_bytes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, getppid, kill_process,
    kill_process_group, pidfd_open, pidfd_send_signal, set_parent_process_death_signal, waitid,
};

/// The environment variable that marks a child's descendants. They inherit it, also those that
/// leave the child's group and lose their parent.
const MARK: &str = "CALLGATE_LEASH";
/// How often orphans are searched for.
const ROUNDS: usize = 3;
/// How often a child is polled if the kernel does not report its end.
pub(crate) const LOOK: Duration = Duration::from_millis(2);

/// A program to start, its mark, the signal it gets when we die, and where to send the child.
type SpawnJob = (Command, String, Signal, Sender<io::Result<Child>>);

/// A child process with everything that it starts. It is ended when this is dropped, and also when
/// our process is killed.
#[derive(Debug)]
pub struct LeashedChild {
    child: Child,
    mark: String,
    /// Once the child is reaped, its id may belong to another process, and is not used any more.
    is_reaped: bool,
    /// Its standard input, if the command asked for a pipe.
    pub stdin: Option<ChildStdin>,
    /// Its standard output, if the command asked for a pipe.
    pub stdout: Option<ChildStdout>,
    /// Its standard error, if the command asked for a pipe.
    pub stderr: Option<ChildStderr>,
}

impl LeashedChild {
    /// Starts `command` in a process group of its own; it is killed when our process ends.
    pub fn spawn(command: Command) -> io::Result<Self> {
        Self::spawn_with(command, Signal::KILL)
    }

    /// Like [`spawn`](Self::spawn), for a program that ends its own children when it receives
    /// SIGTERM: it gets that signal when our process is killed.
    pub fn spawn_gently(command: Command) -> io::Result<Self> {
        Self::spawn_with(command, Signal::TERM)
    }

    fn spawn_with(mut command: Command, death: Signal) -> io::Result<Self> {
        // It is random, because the number of a process may be given again while an orphan still
        // has it.
        let mark = new_mark()?;
        command.env(MARK, &mark);
        let gone = || io::Error::other("the thread that starts processes is gone");
        let (reply, spawned) = channel();
        spawner_channel().send((command, mark.clone(), death, reply)).map_err(|_| gone())?;
        spawned.recv().map_err(|_| gone())?.map(|child| Self::new(child, mark))
    }

    /// Returns the id of the process, and of its group.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the process has ended, and ends whatever it left running in its group.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        if let Some(pid) = self.pid().filter(|_| !self.is_reaped) {
            // As long as the leader is not reaped, the id of its group cannot be reused.
            waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
        }
        self.end()
    }

    /// Waits at most `limit` for the process to end, and returns true if it has. Whatever it left
    /// running is ended by [`wait`](Self::wait) only.
    pub fn wait_for(&self, limit: Duration) -> io::Result<bool> {
        self.wait_until(Some(Instant::now() + limit), None)
    }

    /// Waits for the process to end as long as the other end of a pipe is open, of which `slack` is
    /// the end to read from. Returns true if the process has ended.
    pub fn wait_while_held(&self, slack: impl AsFd) -> io::Result<bool> {
        self.wait_until(None, Some(slack.as_fd()))
    }

    /// Waits for the process to end, until some moment, or until a pipe is closed.
    fn wait_until(&self, limit: Option<Instant>, pipe: Option<BorrowedFd<'_>>) -> io::Result<bool> {
        let exit = self.exit_fd().ok();
        // The pipe comes first, because that is where its event is looked for below.
        let all = pipe.into_iter().chain(exit.as_ref().map(AsFd::as_fd));
        let mut polled: Vec<_> =
            all.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        while !self.has_ended()? {
            let left = limit.map(|limit| limit.saturating_duration_since(Instant::now()));
            let is_let_go =
                pipe.is_some() && polled.first().is_some_and(|pipe| !pipe.revents().is_empty());
            if is_let_go || left.is_some_and(|left| left.is_zero()) {
                return Ok(false);
            }
            let wait = if exit.is_some() { left } else { Some(left.unwrap_or(LOOK).min(LOOK)) };
            let wait = wait.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
            // An interrupted wait is taken up again.
            poll(&mut polled, wait.as_ref()).ok();
        }
        Ok(true)
    }

    /// Returns a descriptor that becomes readable when the process has ended.
    pub fn exit_fd(&self) -> io::Result<OwnedFd> {
        // A process that has been reaped may have given its id to another.
        let pid = self.pid().filter(|_| !self.is_reaped).ok_or(io::ErrorKind::NotFound)?;
        Ok(pidfd_open(pid, PidfdFlags::empty())?)
    }

    /// Returns true if the process has ended, without waiting for it.
    pub fn has_ended(&self) -> io::Result<bool> {
        let Some(pid) = self.pid().filter(|_| !self.is_reaped) else { return Ok(true) };
        // Without `NOWAIT` this would reap the child, and its id would be free for another process.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        Ok(waitid(WaitId::Pid(pid), options)?.is_some())
    }

    /// Sends SIGTERM to the process, and to nothing that it started.
    pub fn terminate(&self) -> io::Result<()> {
        match self.pid().filter(|_| !self.is_reaped) {
            Some(pid) => Ok(kill_process(pid, Signal::TERM)?),
            None => Ok(()),
        }
    }

    /// Ends the process now with everything that it has started, whether it has succeeded or not:
    /// also what it left behind on purpose, as long as that has its mark in its environment.
    pub fn end_all(&mut self) -> io::Result<ExitStatus> {
        let status = self.end()?;
        // After a failure this has been done already.
        if status.success() {
            self.end_orphans();
        }
        Ok(status)
    }

    /// Ends all descendants, including those that have left the group, and reaps the leader.
    fn end(&mut self) -> io::Result<ExitStatus> {
        // These are collected before anything is killed: a process whose parent has died has
        // another one, and would not be found any more.
        let family = if self.is_reaped { Vec::new() } else { find_descendants(self.child.id()) };
        for member in family {
            // An error means that it has ended by itself.
            pidfd_send_signal(&member, Signal::KILL).ok();
        }
        if let Some(group) = self.pid().filter(|_| !self.is_reaped) {
            // An error means that nothing of the group is left.
            kill_process_group(group, Signal::KILL).ok();
        }
        // Before the wait: even if that fails, no signal goes to an id that may have changed hands.
        self.is_reaped = true;
        let status = self.child.wait()?;
        // After a success, what goes on was left behind on purpose; only `end_all` ends that.
        if !status.success() {
            self.end_orphans();
        }
        Ok(status)
    }

    /// Ends the orphans of a leader that could not end them itself: they are no longer its
    /// descendants, and perhaps not in its group, but have inherited its mark.
    fn end_orphans(&self) {
        // A process that was starting another one meanwhile is found in the next round.
        for _ in 0..ROUNDS {
            let orphans = find_marked_processes(&self.mark);
            if orphans.is_empty() {
                return;
            }
            for orphan in orphans {
                // An error means that it has ended by itself.
                pidfd_send_signal(&orphan, Signal::KILL).ok();
            }
        }
    }

    fn new(mut child: Child, mark: String) -> Self {
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        Self { child, mark, is_reaped: false, stdin, stdout, stderr }
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }
}

impl Drop for LeashedChild {
    fn drop(&mut self) {
        // There is nobody to report the outcome to.
        self.end().ok();
    }
}

fn new_mark() -> io::Result<String> {
    Ok(format!("{:032x}", u128::from_ne_bytes(random_bytes()?)))
}

/// Returns a pidfd of every living process with this mark, so that its id cannot be reused.
fn find_marked_processes(mark: &str) -> Vec<OwnedFd> {
    let entry = format!("{MARK}={mark}");
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let is_marked = |id: i32| {
        fs::read(format!("/proc/{id}/environ")).is_ok_and(|environment| {
            environment.windows(entry.len()).any(|bytes| bytes == entry.as_bytes())
        })
    };
    processes
        .flatten()
        .filter_map(|process| process.file_name().to_str()?.parse().ok())
        // The handle comes before the look at the environment. If the id changes hands in between,
        // the signal would go to a process that has ended, and not to a stranger.
        .filter_map(|id: i32| Some((id, pidfd_open(Pid::from_raw(id)?, PidfdFlags::empty()).ok()?)))
        .filter(|(id, _)| is_marked(*id))
        .map(|(_, process)| process)
        .collect()
}

/// Returns a pidfd of every living descendant of a process, so that its id cannot be reused.
fn find_descendants(ancestor: u32) -> Vec<OwnedFd> {
    let mut family = vec![ancestor];
    let mut held = Vec::new();
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        next += 1;
        for child in find_children(parent) {
            let pidfd = i32::try_from(child).ok().and_then(Pid::from_raw);
            let pidfd = pidfd.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
            // If it is still a child once it is held, it is the one that was meant.
            if let Some(pidfd) = pidfd.filter(|_| find_children(parent).contains(&child)) {
                held.push(pidfd);
                family.push(child);
            }
        }
    }
    held
}

fn find_children(parent: u32) -> Vec<u32> {
    // The kernel lists children with the thread that has started them.
    let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else { return Vec::new() };
    let lists = threads.flatten().map(|thread| fs::read_to_string(thread.path().join("children")));
    let lists: Vec<String> = lists.flatten().collect();
    lists.iter().flat_map(|list| list.split_whitespace()).filter_map(|id| id.parse().ok()).collect()
}

/// Returns the channel of the thread that starts children. The kernel sends the parent death signal
/// when the *thread* that started the child ends, so all children are started by one thread that
/// lives as long as the process.
fn spawner_channel() -> &'static Sender<SpawnJob> {
    static SPAWNER: OnceLock<Sender<SpawnJob>> = OnceLock::new();
    SPAWNER.get_or_init(|| {
        let (sender, jobs) = channel::<SpawnJob>();
        thread::spawn(move || {
            for (command, mark, death, reply) in jobs {
                // If nobody waits any more, the child is dropped, which ends it.
                if let Err(unclaimed) = reply.send(spawn_leashed(command, death)) {
                    drop(unclaimed.0.map(|child| LeashedChild::new(child, mark)));
                }
            }
        });
        sender
    })
}

#[allow(unsafe_code)]
fn spawn_leashed(mut command: Command, death: Signal) -> io::Result<Child> {
    let parent = getpid();
    // A group of its own can be killed as a whole without ending us, and Ctrl-C at our terminal is
    // not for it.
    command.process_group(0);
    // SAFETY: between fork and exec only two system calls are made, both async-signal-safe;
    // nothing is allocated and no lock is taken.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(death))?;
            // The parent may have died before the signal was set.
            // The error is a bare kind: one with a message would allocate.
            if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::NotConnected.into()) }
        });
    }
    command.spawn()
}
