//! A hook under test, and a scripted desk.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use callgate_testkit::leaks::Leaks;
use callgate_testkit::process::{DEADLINE, Group};
use callgate_testkit::until::until;
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with a socket at which nobody listens yet, checked for leaks at the end.
pub(crate) struct Stage {
    pub(crate) socket: PathBuf,
    /// How long the hook waits for an answer, and for a desk that has gone.
    pub(crate) seconds: (u32, u32),
    _leaks: Leaks,
    pub(crate) folder: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let leaks = Leaks::watch("/nonexistent", &[]).marker(folder.path().to_str().unwrap());
        let socket = folder.path().join("desk.sock");
        Self { socket, seconds: (300, 15), _leaks: leaks, folder }
    }

    /// Sets the hook's time limits, in seconds.
    pub(crate) fn patience(mut self, timeout: u32, grace: u32) -> Self {
        self.seconds = (timeout, grace);
        self
    }

    /// The command line, with an environment in which every setting comes from the test.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.program(env!("CARGO_BIN_EXE_callgate"), arguments)
    }

    /// The same for another program.
    pub(crate) fn program(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().current_dir(self.folder.path());
        command.env("HOME", self.folder.path()).env("CALLGATE_SOCKET", &self.socket);
        command.env("CALLGATE_TIMEOUT_SECONDS", self.seconds.0.to_string());
        command.env("CALLGATE_GRACE_SECONDS", self.seconds.1.to_string());
        command.env("ANTHROPIC_API_KEY", "sk-ant-environment");
        command
    }

    pub(crate) fn desk(&self) -> Desk {
        Desk(UnixListener::bind(&self.socket).unwrap())
    }

    /// Starts the hook with this input.
    pub(crate) fn hook(&self, input: impl AsRef<[u8]>) -> Running {
        self.start(self.command(&["hook"]), input)
    }

    /// Starts any command with this input.
    pub(crate) fn start(&self, command: Command, input: impl AsRef<[u8]>) -> Running {
        let mut running = self.start_open(command);
        // A process that has ended already shows by its exit code.
        running.stdin.take().unwrap().write_all(input.as_ref()).ok();
        running
    }

    /// Starts a command and leaves its input open.
    pub(crate) fn start_open(&self, mut command: Command) -> Running {
        let stderr = tempfile::NamedTempFile::new_in(self.folder.path()).unwrap().keep().unwrap();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr.0);
        let mut group = Group::spawn(command);
        let stdin = Some(group.take_stdin());
        let mut pipe = group.take_stdout();
        let stdout = thread::spawn(move || {
            let mut printed = String::new();
            pipe.read_to_string(&mut printed).unwrap();
            printed
        });
        Running { group, stdin, stdout, stderr: stderr.1 }
    }
}

/// A process under test.
pub(crate) struct Running {
    group: Group,
    pub(crate) stdin: Option<ChildStdin>,
    stdout: JoinHandle<String>,
    stderr: PathBuf,
}

impl Running {
    pub(crate) fn signal(&self, signal: Signal) {
        self.group.signal(signal);
    }

    /// Waits until a hook has looked for its desk a few times: it sleeps in between.
    pub(crate) fn wait_for_looks(&self) {
        let before = self.sleep_count();
        until("the hook looks for its desk", || self.sleep_count() >= before + 3);
    }

    /// Returns how often the process has waited for something.
    pub(crate) fn sleep_count(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.group.pid())).unwrap();
        let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        count.unwrap().trim().parse().unwrap()
    }

    /// Waits for the end.
    pub(crate) fn end(mut self) -> Ended {
        let status = self.group.wait(DEADLINE);
        let stderr = fs::read_to_string(&self.stderr).unwrap();
        let Some(status) = status else { panic!("it has not ended: {stderr}") };
        Ended { code: status.code(), stdout: self.stdout.join().unwrap(), stderr }
    }
}

/// A process that has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// It has printed exactly this, and nothing to standard error.
    pub(crate) fn printed(&self, line: &str) {
        let expected = Ended { code: Some(0), stdout: line.to_owned(), stderr: String::new() };
        assert_eq!(*self, expected);
    }

    /// It has fallen back: exit 1, nothing on stdout, one line on stderr that tells this much and
    /// quotes neither the question nor the environment.
    pub(crate) fn fell_back(&self, reason: &str) {
        assert_eq!((self.code, self.stdout.as_str()), (Some(1), ""), "{}", self.stderr);
        let line = self.stderr.strip_suffix('\n').expect("a whole line");
        assert!(!line.contains('\n') && line.starts_with("callgate hook: "), "{line}");
        assert!(line.contains(reason), "{line}");
        assert!(!line.contains("s3cret") && !line.contains("sk-ant"), "{line}");
    }
}

impl Ended {
    /// It has denied a tool call that was about to run, in words that tell this much and quote
    /// neither the call nor the environment.
    pub(crate) fn denied(&self, reason: &str) {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{}", self.stdout);
        let line = self.stdout.strip_suffix('\n').expect("a whole line");
        let printed: Value = serde_json::from_str(line).expect("one JSON object");
        let output = &printed["hookSpecificOutput"];
        assert_eq!(output["hookEventName"], "PreToolUse", "{line}");
        assert_eq!(output["permissionDecision"], "deny", "{line}");
        let said = output["permissionDecisionReason"].as_str().expect("a reason");
        assert!(said.contains(reason), "{said}");
        assert!(!said.contains("s3cret") && !said.contains("sk-ant"), "{said}");
    }

    /// It has ended with the code that denies, and nothing on standard output.
    pub(crate) fn refused(&self, reason: &str) {
        assert_eq!((self.code, self.stdout.as_str()), (Some(2), ""), "{}", self.stderr);
        let line = self.stderr.strip_suffix('\n').expect("a whole line");
        assert!(!line.contains('\n') && line.starts_with("callgate hook: "), "{line}");
        assert!(line.contains(reason) && !line.contains("s3cret"), "{line}");
    }
}

/// The listening end of the test's desk.
pub(crate) struct Desk(UnixListener);

impl Desk {
    /// A desk at a socket that is listened to already.
    pub(crate) fn of(listener: OwnedFd) -> Self {
        Self(listener.into())
    }

    /// The next connection.
    pub(crate) fn accept(&self) -> Asked {
        self.0.set_nonblocking(true).unwrap();
        Asked::read(until("somebody dials", || match self.0.accept() {
            Ok((stream, _)) => Some(stream),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                None
            }
        }))
    }

    /// The next connection that brings a request, for as long as the socket's folder is there.
    pub(crate) fn accept_any(&self) -> Option<Asked> {
        self.0.set_nonblocking(true).unwrap();
        loop {
            match self.0.accept() {
                Ok((stream, _)) => return Some(Asked::read(stream)),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
            let address = self.0.local_addr().unwrap();
            if !address.as_pathname().unwrap().exists() {
                return None;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Has nothing against what else is asked, for as long as the socket's folder is there.
    pub(crate) fn agree(self) {
        thread::spawn(move || {
            while let Some(mut asked) = self.accept_any() {
                asked.answer(r#""decision":"none""#);
            }
        });
    }

    /// Nobody has dialled.
    pub(crate) fn assert_not_dialled(&self) {
        self.0.set_nonblocking(true).unwrap();
        let error = self.0.accept().expect_err("somebody has dialled");
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    }
}

/// A question at the test's desk.
pub(crate) struct Asked {
    /// The request as it came, with its newline.
    pub(crate) line: String,
    /// What came together with the request.
    pub(crate) rest: Vec<u8>,
    pub(crate) stream: UnixStream,
}

impl Asked {
    fn read(stream: UnixStream) -> Self {
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = Vec::new();
        #[allow(clippy::disallowed_methods, reason = "the hook bounds its own lines")]
        reader.read_until(b'\n', &mut line).unwrap();
        let (line, rest) = (String::from_utf8(line).unwrap(), reader.buffer().to_vec());
        Self { line, rest, stream: reader.into_inner() }
    }

    pub(crate) fn request(&self) -> Value {
        let line = self.line.strip_suffix('\n').expect("a whole line");
        serde_json::from_str(line).unwrap()
    }

    pub(crate) fn id(&self) -> String {
        self.request()["request_id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    /// Answers with these fields beside the id.
    pub(crate) fn answer(&mut self, fields: &str) {
        let line = format!("{{\"request_id\":\"{}\",{fields}}}\n", self.id());
        self.send(line);
    }

    /// The other end has said nothing more and is neither closed nor half closed.
    pub(crate) fn assert_waiting(&mut self) {
        self.stream.set_nonblocking(true).unwrap();
        let error = self.stream.read(&mut [0]).expect_err("the hook has sent or closed");
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        self.stream.set_nonblocking(false).unwrap();
    }

    /// Waits until the other end has closed the connection, with everything read.
    pub(crate) fn assert_closed(&mut self) {
        assert_eq!(self.stream.read(&mut [0]).unwrap(), 0);
    }
}

/// A question about a command with a secret in it.
pub(crate) fn bash() -> String {
    event("PermissionRequest").to_string()
}

/// An event about a command with a secret in it.
pub(crate) fn event(name: &str) -> Value {
    json!({
        "session_id": "session", "transcript_path": "/nowhere/at/all.jsonl", "cwd": "/work",
        "prompt_id": "prompt", "permission_mode": "default", "hook_event_name": name,
        "tool_name": "Bash", "tool_input": {"command": "curl -H s3cret", "description": "d"},
        "permission_suggestions": [{"type": "addRules", "rules": [{"toolName": "Bash"}]}],
    })
}

/// A tool call that is about to run, with a secret in it.
pub(crate) fn call() -> Value {
    let mut call = event("PreToolUse");
    call["tool_use_id"] = "toolu_1".into();
    call.as_object_mut().unwrap().remove("permission_suggestions");
    call
}

/// Runs the hook on `input` before a desk that answers with `fields`.
pub(crate) fn answered(arguments: &[&str], input: &str, fields: &str) -> Ended {
    let stage = Stage::new();
    let command = stage.command(&[&["hook"], arguments].concat());
    answered_by(&stage, command, input, fields)
}

/// The same for any command.
pub(crate) fn answered_by(stage: &Stage, command: Command, input: &str, fields: &str) -> Ended {
    let desk = stage.desk();
    let hook = stage.start(command, input);
    let mut asked = desk.accept();
    asked.assert_waiting();
    asked.answer(fields);
    asked.assert_closed();
    desk.agree();
    hook.end()
}

/// A file below the stage's folder.
pub(crate) fn write(stage: &Stage, name: &str, text: &str) -> PathBuf {
    let path = stage.folder.path().join(name);
    File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    path
}
