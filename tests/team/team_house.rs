//! A team's desk, its members' machines, and somebody who answers.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use callgate_client::viewer::{PATIENCE, Viewer};
use callgate_store::{EntryFilter, LedgerEntry, Store};
use callgate_testkit::kept_port::KeptPort;
use callgate_testkit::process::{DEADLINE, Group, run};
use callgate_testkit::until::{Sighting, until_or};
use callgate_wire::approval::{Action, Press, RequestId};
use callgate_wire::desk::{
    DeskAnswer, DeskCommand, DeskStatus, HiddenText, InboxRow, RemoteState, RemoteView,
    TeamLineView,
};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::Machine;

/// A machine with a desk that can be started and killed.
pub(crate) struct DeskMachine {
    pub(crate) machine: Machine,
    desk: Mutex<Option<Group>>,
    /// Further words of `callgate up`.
    words: Vec<String>,
    variables: Vec<(String, String)>,
    /// Where it listens again when it is started again.
    kept_port: Option<KeptPort>,
}

/// An agent's hook, or a script, that waits for an answer.
pub(crate) struct Asker(pub(crate) Group);

/// Somebody who is linked to a desk.
pub(crate) struct Person {
    viewer: Viewer,
    /// The token by which the desk knows them.
    token: HiddenText,
}

impl DeskMachine {
    pub(crate) fn new() -> Self {
        let machine = Machine::with_rules("");
        machine.home.write_settings("timeout_seconds = 120\n[page]\nport = 0\n");
        Self {
            machine,
            desk: Mutex::new(None),
            words: Vec::new(),
            variables: Vec::new(),
            kept_port: None,
        }
    }

    /// Has every command of the machine see a variable.
    pub(crate) fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Chooses the port on which the desk listens, whenever it is started, and returns it.
    pub(crate) fn keep_port(&mut self) -> u16 {
        self.kept_port.insert(KeptPort::choose()).number()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.machine.command(env!("CARGO_BIN_EXE_callgate"), arguments);
        command.env("USER", "bo").env("PATH", "/usr/bin:/bin").envs(self.variables.clone());
        command
    }

    /// Runs what has to succeed, and returns what it printed.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        run(self.command(arguments), DEADLINE).success().stdout
    }

    /// Runs what has to fail, and returns what it said.
    pub(crate) fn refused(&self, arguments: &[&str]) -> String {
        let told = run(self.command(arguments), DEADLINE);
        assert_eq!(told.status.code(), Some(1), "{}{}", told.stdout, told.stderr);
        told.stderr
    }

    /// Starts the desk, and waits until it serves.
    pub(crate) fn up(&self) {
        let log = self.machine.home.path("up.log");
        let log = fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        let mut up = self.command(&["up", "--no-terminal"]);
        up.args(&self.words);
        up.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        *self.desk.lock().unwrap() = Some(Group::spawn(up));
        self.until("the desk serves", || {
            let status = self.status()?;
            (self.words.is_empty() || status.listening.is_some()).then_some(())
        });
    }

    pub(crate) fn kill_desk(&self) {
        self.desk.lock().unwrap().take().unwrap().kill();
    }

    pub(crate) fn signal_desk(&self, signal: Signal) {
        self.desk.lock().unwrap().as_ref().unwrap().signal(signal);
    }

    pub(crate) fn desk_pid(&self) -> u32 {
        self.desk.lock().unwrap().as_ref().unwrap().pid()
    }

    /// Returns on how many ports the desk listens.
    pub(crate) fn count_listening(&self) -> usize {
        let tables =
            ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).unwrap());
        let lines = tables.iter().flat_map(|table| table.lines().skip(1));
        let fields = lines.map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
        let listening: Vec<String> = fields
            .filter(|fields| fields[3] == "0A")
            .map(|fields| format!("socket:[{}]", fields[9]))
            .collect();
        let open = fs::read_dir(format!("/proc/{}/fd", self.desk_pid())).unwrap();
        let held = open.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
        held.filter(|held| listening.iter().any(|socket| held == Path::new(socket))).count()
    }

    pub(crate) fn desk_socket(&self) -> PathBuf {
        self.machine.home.path("run/callgate/desk.sock")
    }

    pub(crate) fn status(&self) -> Option<DeskStatus> {
        Viewer::connect(&self.desk_socket()).ok()?.status().ok()
    }

    pub(crate) fn line(&self) -> Option<TeamLineView> {
        self.status()?.team
    }

    pub(crate) fn wait_for_line(&self, state: RemoteState) -> TeamLineView {
        self.until(&format!("the line is {state}"), || {
            self.line().filter(|line| line.state == state)
        })
    }

    pub(crate) fn until<S: Sighting>(&self, what: &str, look: impl FnMut() -> S) -> S::Found {
        until_or(|| format!("{what}\n{}", self.machine.home.text("up.log")), look)
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.machine.data("callgate.db")
    }

    pub(crate) fn entries(&self) -> Vec<LedgerEntry> {
        let store = Store::open_read_only(&self.database()).unwrap();
        store.entries_after(&EntryFilter::default(), 0, 10_000).unwrap()
    }

    /// An agent here asks for permission to run a command.
    pub(crate) fn ask(&self, command: &str) -> Asker {
        self.ask_in(self.machine.home.folder(), command, "For the test")
    }

    /// The same in a folder, and with words about the command.
    pub(crate) fn ask_in(&self, folder: &Path, command: &str, about: &str) -> Asker {
        Asker::start(self.command(&["hook"]), folder, command, about)
    }

    /// Links a person to the desk.
    pub(crate) fn person(&self, name: &str) -> Person {
        let mut viewer = Viewer::connect(&self.desk_socket()).unwrap();
        let (code, _) = viewer.code().unwrap();
        let pair = DeskCommand::Pair { code, name: name.to_owned(), origin: None };
        match viewer.ask(pair, PATIENCE).unwrap() {
            DeskAnswer::Paired { token, .. } => Person { viewer, token },
            other => panic!("{other:?}"),
        }
    }
}

impl Drop for DeskMachine {
    fn drop(&mut self) {
        drop(self.desk.lock().unwrap().take());
        // The desk of a job outlives the command that has started it.
        run(self.command(&["relay", "--stop"]), DEADLINE);
    }
}

/// A team's desk that listens.
pub(crate) struct TeamHouse {
    pub(crate) desk: DeskMachine,
    pub(crate) port: u16,
    /// The variables by which members trust a certificate that is not in the invitation.
    trust: Vec<(String, String)>,
}

impl TeamHouse {
    /// Starts a desk. Members reach it at a loopback address, or as this host.
    pub(crate) fn new(host: Option<&str>) -> Self {
        let mut desk = DeskMachine::new();
        let port = desk.keep_port();
        desk.words = vec![format!("--listen=127.0.0.1:{port}")];
        desk.words.extend(host.map(|host| format!("--address={host}:{port}")));
        desk.up();
        Self { desk, port, trust: Vec::new() }
    }

    /// Starts a desk that shares a team with others: members reach all of them at `address`, and
    /// these lines of its `[team]` settings name the database and the certificate.
    pub(crate) fn sharing(address: &str, team: &str, authority: &Path) -> Self {
        let mut desk = DeskMachine::new();
        let settings = format!("timeout_seconds = 120\n[page]\nport = 0\n[team]\n{team}");
        desk.machine.home.write_settings(&settings);
        desk.machine.home.set_mode(".config/callgate/config.toml", 0o600);
        let port = desk.keep_port();
        desk.words = vec![format!("--listen=127.0.0.1:{port}"), format!("--address={address}")];
        desk.up();
        let trust = vec![("SSL_CERT_FILE".to_owned(), authority.display().to_string())];
        Self { desk, port, trust }
    }

    /// Returns a machine that trusts the certificate of this desk.
    pub(crate) fn new_member(&self) -> DeskMachine {
        let mut member = DeskMachine::new();
        member.variables.clone_from(&self.trust);
        member
    }

    /// Returns the invitation that `callgate team invite` prints.
    pub(crate) fn invite(&self, arguments: &[&str]) -> String {
        let words: Vec<&str> = ["team", "invite"].iter().chain(arguments).copied().collect();
        let printed = self.desk.done(&words);
        let found =
            printed.split_whitespace().find(|word| word.starts_with("callgate-invitation-"));
        found.unwrap_or_else(|| panic!("{printed}")).to_owned()
    }

    /// A machine that has joined, and whose desk is connected.
    pub(crate) fn member(&self, name: &str) -> DeskMachine {
        let member = self.new_member();
        self.let_join(&member, name);
        member.up();
        member.wait_for_line(RemoteState::Connected);
        member
    }

    pub(crate) fn let_join(&self, member: &DeskMachine, name: &str) {
        let invitation = self.invite(&[name]);
        // A desk that has just started may not have reached its database yet.
        member.until("it joins", || {
            let told = run(member.command(&["team", "join", &invitation]), DEADLINE);
            assert!(told.status.success() || told.stderr.contains("desk"), "{}", told.stderr);
            told.status.success()
        });
    }

    pub(crate) fn views(&self) -> Vec<RemoteView> {
        let mut viewer = Viewer::connect(&self.desk.desk_socket()).unwrap();
        match viewer.ask(DeskCommand::Remotes, PATIENCE).unwrap() {
            DeskAnswer::Remotes { remotes } => remotes,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn copy_of(&self, name: &str) -> Vec<LedgerEntry> {
        let store = Store::open_copy(&self.desk.database(), name).unwrap();
        store.entries_after(&EntryFilter::default(), 0, 10_000).unwrap()
    }

    /// Waits until the copy of a member's ledger is its whole ledger.
    pub(crate) fn assert_copied(&self, name: &str, member: &DeskMachine) {
        self.desk.until("the ledger is copied", || {
            let whole = member.entries();
            !whole.is_empty() && self.copy_of(name) == whole
        });
    }
}

impl Asker {
    /// Starts the hook of an agent that asks for permission to run a command.
    pub(crate) fn start(hook: Command, folder: &Path, command: &str, about: &str) -> Self {
        Self::start_after(hook, folder, command, about, None)
    }

    /// The same, with the file of what was said before.
    pub(crate) fn start_after(
        mut hook: Command,
        folder: &Path,
        command: &str,
        about: &str,
        transcript: Option<&Path>,
    ) -> Self {
        let input = json!({
            "session_id": "34fb81ac-7029-49d7-a308-5c29182e1dc2", "transcript_path": transcript,
            "cwd": folder, "prompt_id": "p1", "permission_mode": "default",
            "hook_event_name": "PermissionRequest", "tool_name": "Bash",
            "tool_input": { "command": command, "description": about },
        });
        hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Group::spawn(hook);
        group.take_stdin().write_all(input.to_string().as_bytes()).unwrap();
        Self(group)
    }

    /// Waits for the decision that the hook prints.
    pub(crate) fn decision(mut self) -> Value {
        let mut stdout = self.0.take_stdout();
        let status = self.0.wait(DEADLINE * 4).unwrap();
        let mut said = String::new();
        stdout.read_to_string(&mut said).unwrap();
        let stderr = std::io::read_to_string(self.0.take_stderr()).unwrap();
        assert!(status.success(), "{said}{stderr}");
        serde_json::from_str::<Value>(&said).unwrap()["hookSpecificOutput"]["decision"].clone()
    }

    /// Returns what a hook that has ended has printed.
    pub(crate) fn printed(mut self) -> String {
        std::io::read_to_string(self.0.take_stdout()).unwrap()
    }

    pub(crate) fn still_waits(&mut self) -> bool {
        self.0.wait(Duration::ZERO).is_none()
    }
}

impl Person {
    /// Connects somebody with the token of their link.
    pub(crate) fn with_token(desk: &DeskMachine, token: HiddenText) -> Self {
        let mut viewer = Viewer::connect(&desk.desk_socket()).unwrap();
        let unlock = DeskCommand::Unlock { token: token.clone(), origin: None, name: None };
        let told = viewer.ask(unlock, PATIENCE).unwrap();
        assert!(matches!(told, DeskAnswer::Told { done: true, .. }), "{told:?}");
        Self { viewer, token }
    }

    /// Connects them again, to a desk that was started anew.
    pub(crate) fn again(self, desk: &DeskMachine) -> Self {
        Self::with_token(desk, self.token)
    }

    pub(crate) fn inbox(&mut self) -> Vec<InboxRow> {
        match self.viewer.ask(DeskCommand::Inbox, PATIENCE).unwrap() {
            DeskAnswer::Inbox(inbox) => inbox.rows,
            other => panic!("{other:?}"),
        }
    }

    /// Waits for the question about this command.
    pub(crate) fn question(&mut self, house: &DeskMachine, command: &str) -> InboxRow {
        house.until(&format!("a question about {command}"), || {
            self.inbox().into_iter().find(|row| row.summary == command)
        })
    }

    pub(crate) fn allow(&mut self, row: &InboxRow) -> (bool, String) {
        self.press(row, Action::Allow)
    }

    pub(crate) fn deny(&mut self, row: &InboxRow) -> (bool, String) {
        self.press(row, Action::Deny)
    }

    fn press(&mut self, row: &InboxRow, action: Action) -> (bool, String) {
        let request_id = RequestId::parse(&row.question).unwrap();
        let press = Press::Button(action);
        self.viewer.ask_for_reply(DeskCommand::Press { request_id, press, confirm: None }).unwrap()
    }
}
