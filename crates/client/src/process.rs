//! The process of the runtime, and the thread that keeps it.
//!
//! The thread starts the process, waits for its end, and ends it when its leash is dropped. That
//! also works when the tokio runtime is gone, and never blocks anything else.

use std::io::{self, PipeReader, PipeWriter, pipe};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use callgate_link::child::LeashedChild;
use callgate_mask::SecretVariables;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::pump::{PumpFuture, RuntimeExit, RuntimeLauncher, RuntimePipes};
use crate::stderr::StderrFollower;
use crate::{ClientSettings, StderrTarget};

/// How long the process may take to end after its stdin was closed, and again after SIGTERM.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long to read stderr after the process has ended: one of its children may hold the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(200);

type ExitReceiver = oneshot::Receiver<Option<ExitStatus>>;

struct KeptProcess {
    stdin: Option<std::process::ChildStdin>,
    stdout: Option<std::process::ChildStdout>,
    stderr: Option<std::process::ChildStderr>,
    /// Held until the process is to end. No child inherits it.
    leash: PipeWriter,
    exit: ExitReceiver,
}

/// Returns a function that starts the process of these settings, as often as it is called.
pub(crate) fn build_launcher(settings: ClientSettings) -> RuntimeLauncher {
    let set = settings.env.iter().cloned().filter_map(|(name, value)| Some((name, value?)));
    // The process inherits our environment, so its last words may repeat what is secret there.
    let secrets = Arc::new(SecretVariables::new(std::env::vars_os().chain(set)));
    Box::new(move || Box::pin(launch_runtime(settings.clone(), Arc::clone(&secrets))))
}

async fn launch_runtime(
    settings: ClientSettings,
    secrets: Arc<SecretVariables>,
) -> io::Result<RuntimePipes> {
    let (reply, kept) = oneshot::channel();
    let command = build_command(&settings);
    thread::Builder::new()
        .name("runtime keeper".to_owned())
        .spawn(|| keep_process(command, reply))?;
    let gone = |_| io::Error::other("the thread that starts it has ended");
    let kept = kept.await.map_err(gone)??;
    let stdin = kept.stdin.map(ChildStdin::from_std).transpose()?;
    let stdout = kept.stdout.map(ChildStdout::from_std).transpose()?;
    let stderr = kept.stderr.map(ChildStderr::from_std).transpose()?;
    let follower = stderr.map(|pipe| StderrFollower::start(pipe, settings.stderr));
    Ok(RuntimePipes {
        stdin: stdin.map(|stdin| Box::new(stdin) as _),
        stdout: stdout.map(|stdout| Box::new(stdout) as _),
        exit: Some(wait_for_exit(kept.exit, follower, secrets)),
        leash: Some(Box::new(kept.leash)),
    })
}

fn wait_for_exit(
    exit: ExitReceiver,
    follower: Option<StderrFollower>,
    secrets: Arc<SecretVariables>,
) -> PumpFuture<RuntimeExit> {
    Box::pin(async move {
        let status = exit.await.ok().flatten();
        let Some(mut follower) = follower else { return (status, None) };
        timeout(LAST_WORDS, follower.read_to_its_end()).await.ok();
        (status, follower.last_words(&secrets))
    })
}

fn build_command(settings: &ClientSettings) -> Command {
    let mut command = Command::new(&settings.program);
    command.args(&settings.args).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(match settings.stderr {
        StderrTarget::Inherit => Stdio::inherit(),
        // Also read where nobody wants its lines: the last one says why the process has died.
        StderrTarget::Discard | StderrTarget::Lines(_) => Stdio::piped(),
    });
    for (name, value) in &settings.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(folder) = &settings.cwd {
        command.current_dir(folder);
    }
    command
}

/// Runs the thread, which lives as long as the process.
fn keep_process(command: Command, reply: oneshot::Sender<io::Result<KeptProcess>>) {
    let started = LeashedChild::spawn_gently(command).and_then(|child| Ok((child, pipe()?)));
    let (mut child, (slack, leash)) = match started {
        Ok(started) => started,
        Err(error) => return drop(reply.send(Err(error))),
    };
    let (exited, exit) = oneshot::channel();
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // If nobody waits any more, the leash is dropped with the message.
    reply.send(Ok(KeptProcess { stdin, stdout, stderr, leash, exit })).ok();
    exited.send(wait_or_end(child, &slack)).ok();
}

/// Waits for the end of the process, and ends it once the leash is dropped. Returns `None` if it
/// had to be killed.
fn wait_or_end(mut child: LeashedChild, slack: &PipeReader) -> Option<ExitStatus> {
    // An error means that the process is gone, here and below.
    let has_ended = child.wait_while_held(slack).unwrap_or(true);
    if !has_ended && !ends_within(&child, FAREWELL) {
        // An error means that it has ended by itself.
        child.terminate().ok();
        if !ends_within(&child, FAREWELL) {
            // Dropped, it is killed with all that it has started.
            return None;
        }
    }
    child.wait().ok()
}

fn ends_within(child: &LeashedChild, limit: Duration) -> bool {
    child.wait_for(limit).unwrap_or(true)
}
