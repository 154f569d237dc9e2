//! The session with one remote: an ssh connection that is made again when it is cut, while its
//! questions stay open here.

use std::io::{self, Read};
use std::process::{ChildStderr, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use callgate_link::child::LeashedChild;
use callgate_link::sync::lock;
use callgate_relay::LinePort;
use callgate_wire::desk::RemoteState;
use tokio::sync::watch;

use super::ssh::{PROGRAM_FOLDER, RemoteHost, explain_start};
use crate::machines::session::{MachineSession, SessionHome};

/// How long after a cut the first attempt is made; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How much of what ssh says is kept, in bytes.
const MOST_SAID: usize = 16 * 1024;
/// How long the last words of ssh may take to be read.
const LAST_WORDS: Duration = Duration::from_secs(1);

pub(super) struct RemoteSession {
    host: RemoteHost,
    home: SessionHome,
    machine: MachineSession,
}

impl RemoteSession {
    /// Runs a session on a thread of its own, until the sender of `ended` is dropped.
    pub(super) fn start(
        host: RemoteHost,
        home: SessionHome,
        ended: watch::Receiver<()>,
    ) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name(format!("remote {host}")).spawn(move || {
            let machine = MachineSession::new(home.clone(), host.as_str());
            runtime.block_on(Self { host, home, machine }.keep_connected(ended));
        })?;
        Ok(())
    }

    async fn keep_connected(mut self, mut ended: watch::Receiver<()>) {
        let mut pause = FIRST_PAUSE;
        loop {
            let why = tokio::select! {
                why = self.serve_connection() => why,
                _ = ended.changed() => return self.end_session().await,
            };
            // Only a line that has brought its questions counts: one that breaks before is tried
            // ever less often.
            if self.machine.is_synced {
                pause = FIRST_PAUSE;
            }
            self.home.board.set_state(self.host.as_str(), RemoteState::Failed, Some(why));
            let again = tokio::time::timeout(pause, ended.changed());
            if self.machine.wait_without_line(again).await.is_ok() {
                return self.end_session().await;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Withdraws everything: the remote was removed.
    async fn end_session(mut self) {
        self.machine.withdraw_all("Its machine was removed").await;
        self.home.board.remove(self.host.as_str());
    }

    /// Connects, and serves the connection. Returns why it has ended.
    async fn serve_connection(&mut self) -> String {
        let mut command = self.host.ssh_command(&format!("exec ~/{PROGRAM_FOLDER}/callgate relay"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = match LeashedChild::spawn(command) {
            Ok(child) => child,
            Err(error) => return explain_start(&error),
        };
        let (Some(input), Some(output), Some(said)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return "ssh has no pipes".to_owned();
        };
        let mut port = match LinePort::open(output, input) {
            Ok(port) => port,
            Err(error) => return format!("cannot start: {error}"),
        };
        let words = SshWords::collect(said);
        // There is nothing to stop for: dropping this future ends the line.
        let why = self.machine.serve_line(&mut port, std::future::pending()).await;
        // This closes the input of ssh, which ends by itself then.
        drop(port);
        // A dead line is not waited for: ssh would wait for the machine.
        let is_over = why.is_some() || child.wait_for(Duration::from_secs(2)).unwrap_or(false);
        let code = if is_over && why.is_none() {
            child.wait().ok().and_then(|status| status.code())
        } else {
            child.end_all().ok().and_then(|status| status.code())
        };
        why.unwrap_or_else(|| self.host.explain_failure(code, &words.take()))
    }
}

/// What ssh says, as a thread reads it.
struct SshWords {
    words: Arc<Mutex<Vec<u8>>>,
    /// Ends when ssh has said everything.
    reading: Receiver<()>,
}

impl SshWords {
    fn collect(mut said: ChildStderr) -> Self {
        let (reading_in, reading) = channel();
        let words = Arc::new(Mutex::new(Vec::new()));
        let collected = Arc::clone(&words);
        thread::spawn(move || {
            let mut part = [0; 1024];
            // What cannot be read is not shown. The rest is read and dropped, so that ssh is not
            // held up.
            while let Ok(count @ 1..) = said.read(&mut part) {
                let mut words = lock(&collected);
                let room = MOST_SAID.saturating_sub(words.len());
                words.extend(&part[..count.min(room)]);
            }
            drop(reading_in);
        });
        Self { words, reading }
    }

    /// Returns what ssh has said, once it has ended.
    fn take(self) -> String {
        // A connection that other sessions share keeps our end of its pipe until the server
        // confirms the end, which may be never: the network may be dead.
        self.reading.recv_timeout(LAST_WORDS).ok();
        String::from_utf8_lossy(&lock(&self.words)).into_owned()
    }
}
