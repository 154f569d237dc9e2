//! Child processes that do not outlive us.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, getppid, kill_process_group,
    set_parent_process_death_signal, waitid,
};

type Spawned = io::Result<Child>;

/// A child process with everything it starts: ended when this is dropped, and also when our
/// process is killed.
#[derive(Debug)]
pub struct Leashed {
    child: Child,
    is_reaped: bool,
    /// Its standard input, if the command asked for a pipe.
    pub stdin: Option<ChildStdin>,
    /// Its standard output, if the command asked for a pipe.
    pub stdout: Option<ChildStdout>,
    /// Its standard error, if the command asked for a pipe.
    pub stderr: Option<ChildStderr>,
}

impl Leashed {
    /// Starts `command` in a process group of its own.
    pub fn spawn(command: Command) -> io::Result<Self> {
        let gone = || io::Error::other("the thread that starts processes is gone");
        let (reply, spawned) = channel();
        spawner().send((command, reply)).map_err(|_| gone())?;
        spawned.recv().map_err(|_| gone())?.map(Self::from)
    }

    /// The id of the process, and of its group.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the process has ended, and ends whatever it left running in its group.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        if let Some(pid) = self.pid().filter(|_| !self.is_reaped) {
            // Not reaped yet, the leader keeps the group's id from being given to another.
            waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
        }
        self.end()
    }

    /// Ends the whole group, and reaps its leader.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(group) = self.pid().filter(|_| !self.is_reaped) {
            // An error means that nothing of the group is left.
            kill_process_group(group, Signal::KILL).ok();
        }
        self.is_reaped = true;
        self.child.wait()
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }
}

impl From<Child> for Leashed {
    fn from(mut child: Child) -> Self {
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        Self { child, is_reaped: false, stdin, stdout, stderr }
    }
}

impl Drop for Leashed {
    fn drop(&mut self) {
        // There is nobody to tell how it ended.
        self.end().ok();
    }
}

/// The kernel's death signal comes when the *thread* that started the child ends, so all
/// children are started by one thread that lives as long as the process.
fn spawner() -> &'static Sender<(Command, Sender<Spawned>)> {
    static SPAWNER: OnceLock<Sender<(Command, Sender<Spawned>)>> = OnceLock::new();
    SPAWNER.get_or_init(|| {
        let (sender, jobs) = channel::<(Command, Sender<Spawned>)>();
        thread::spawn(move || {
            for (command, reply) in jobs {
                // Nobody waiting any more: the child is dropped with the message, below.
                if let Err(unclaimed) = reply.send(spawn_leashed(command)) {
                    drop(unclaimed.0.map(Leashed::from));
                }
            }
        });
        sender
    })
}

#[allow(unsafe_code)]
fn spawn_leashed(mut command: Command) -> Spawned {
    let parent = getpid();
    command.process_group(0);
    // SAFETY: between fork and exec only two system calls are made, both async-signal-safe;
    // nothing is allocated and no lock is taken.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have died before the signal was set.
            if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::NotConnected.into()) }
        });
    }
    command.spawn()
}
