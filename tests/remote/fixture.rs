//! A laptop with a desk, a box with an agent, and an `ssh` between them.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use callgate_client::viewer::{PATIENCE, Viewer};
use callgate_store::{ChainReport, EntryDraft, EntryFilter, LedgerEntry, Store};
use callgate_testkit::process::{DEADLINE, Finished, Group, run};
use callgate_testkit::test_home::TestHome;
use callgate_testkit::until::{Sighting, until_or};
use callgate_wire::HiddenText;
use callgate_wire::approval::{Action, Press, RequestId};
use callgate_wire::desk::{DeskAnswer, DeskCommand, InboxRow, NamedLink, RemoteState, RemoteView};
use callgate_wire::ledger::{LedgerEvent, ViewerPaired};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::{Value, json};

/// The name of the box, as ssh knows it.
pub(crate) const BOX: &str = "buildbox";
const DATA: &str = ".local/share/callgate";

pub(crate) struct House {
    pub(crate) laptop: TestHome,
    pub(crate) machine: TestHome,
    desk: Mutex<Option<Group>>,
}

/// An agent's hook that waits.
pub(crate) struct Hook(Group);

/// Somebody who is linked to the laptop's desk.
pub(crate) struct Person(Viewer, HiddenText);

/// Returns the command that an agent's settings in this home start for a question.
pub(crate) fn installed_hook(home: &TestHome) -> Command {
    let settings: Value = serde_json::from_str(&home.text(".claude/settings.json")).unwrap();
    let hook = &settings["hooks"]["PermissionRequest"][0]["hooks"][0];
    let line = hook["command"].as_str().unwrap_or_else(|| panic!("no hook in {settings}"));
    match hook["args"].as_array() {
        None => home.command("sh", &["-c", line]),
        Some(words) => {
            let words: Vec<&str> = words.iter().map(|word| word.as_str().unwrap()).collect();
            home.command(line, &words)
        }
    }
}

fn database_in(home: &Path) -> PathBuf {
    home.join(DATA).join("callgate.db")
}

/// Checks that the ledger of a machine is whole.
pub(crate) fn verify_ledger(home: &TestHome) {
    let store = Store::open_read_only(&database_in(home.folder())).unwrap();
    let verified = store.verify().unwrap();
    assert!(matches!(verified, ChainReport::Whole { .. }), "{verified:?}");
}

impl House {
    /// A laptop whose `ssh` runs the command in the box's home, and a box on which callgate is.
    pub(crate) fn over_pipe() -> Self {
        let house = Self::bare();
        let laptop = house.laptop.folder();
        house.write_pipe_ssh();
        house.laptop.make_private_folder(DATA);
        house.machine.make_private_folder(DATA);
        house.machine.make_private_folder(&format!("{DATA}/bin"));
        let program = house.machine.path(&format!("{DATA}/bin/callgate"));
        symlink(env!("CARGO_BIN_EXE_callgate"), program).unwrap();
        let links = Some(vec![format!("remote/{BOX}")]);
        let added = ViewerPaired { channel: None, by: "the test".to_owned(), links, person: None };
        let added = EntryDraft::new(1, None, &LedgerEvent::ViewerPaired(added));
        Store::open(&database_in(laptop)).unwrap().append_entries(&[added]).unwrap();
        house
    }

    pub(crate) fn bare() -> Self {
        let (laptop, machine) = (TestHome::new(), TestHome::new());
        for home in [&laptop, &machine] {
            home.write_settings("timeout_seconds = 120\n");
        }
        Self { laptop, machine, desk: Mutex::new(None) }
    }

    /// Writes an `ssh` that runs the command in the box's home.
    pub(crate) fn write_pipe_ssh(&self) {
        self.write_ssh(&format!(
            "for last; do :; done\ncd {0} && exec env -i HOME={0} USER=bo PATH=/usr/bin:/bin sh -c \"$last\"",
            self.machine.folder().display()
        ));
    }

    /// Writes the `ssh` of the laptop. While there is a file `down`, the box cannot be reached, and
    /// while there is one `held`, nothing answers.
    pub(crate) fn write_ssh(&self, rest: &str) {
        let laptop = self.laptop.folder().display();
        let script = format!(
            "#!/bin/sh\nif [ -e {laptop}/down ]; then\n  echo 'ssh: connect to host {BOX} port 22: No route to host' >&2\n  exit 255\nfi\necho $$ > {laptop}/ssh.pid\nwhile [ -e {laptop}/held ]; do sleep 0.02; done\n{rest}\n"
        );
        self.laptop.write("bin/ssh", &script);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.laptop.path("bin/ssh"), mode).unwrap();
    }

    pub(crate) fn on_laptop(&self, arguments: &[&str]) -> Command {
        let mut command = self.laptop.command(env!("CARGO_BIN_EXE_callgate"), arguments);
        let path = format!("{}:/usr/bin:/bin", self.laptop.path("bin").display());
        command.env("PATH", path);
        command
    }

    pub(crate) fn on_box(&self, arguments: &[&str]) -> Command {
        self.as_box_user(self.machine.command(env!("CARGO_BIN_EXE_callgate"), arguments))
    }

    /// Has a command run as the user to whom the box's home belongs.
    pub(crate) fn as_box_user(&self, mut command: Command) -> Command {
        command.env("USER", "bo").env("PATH", "/usr/bin:/bin");
        let home = fs::metadata(self.machine.folder()).unwrap();
        if geteuid().is_root() && home.uid() != 0 {
            command.uid(home.uid()).gid(home.gid());
        }
        command
    }

    pub(crate) fn run_on_laptop(&self, arguments: &[&str]) -> Finished {
        run(self.on_laptop(arguments), DEADLINE * 4)
    }

    /// Starts the laptop's desk, and waits until it serves.
    pub(crate) fn up(&self) {
        let log = self.laptop.path("up.log");
        let log = fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        let mut up = self.on_laptop(&["up", "--no-terminal"]);
        up.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        *self.desk.lock().unwrap() = Some(Group::spawn(up));
        self.until("the laptop's desk serves", || {
            Viewer::connect(&self.desk_socket()).ok()?.status().ok()
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

    fn desk_socket(&self) -> PathBuf {
        self.laptop.path(&format!("{DATA}/desk.sock"))
    }

    pub(crate) fn box_desk_socket(&self) -> PathBuf {
        self.machine.path(&format!("{DATA}/desk.sock"))
    }

    pub(crate) fn until<S: Sighting>(&self, what: &str, look: impl FnMut() -> S) -> S::Found {
        until_or(|| format!("{what}\n{}", self.laptop.text("up.log")), look)
    }

    pub(crate) fn remote(&self) -> Option<RemoteView> {
        let mut viewer = Viewer::connect(&self.desk_socket()).ok()?;
        match viewer.ask(DeskCommand::Remotes, PATIENCE).unwrap() {
            DeskAnswer::Remotes { remotes } => remotes.into_iter().find(|view| view.host == BOX),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn wait_until_connected(&self) -> RemoteView {
        self.wait_for_state(RemoteState::Connected)
    }

    pub(crate) fn wait_for_state(&self, state: RemoteState) -> RemoteView {
        self.until(&format!("the box is {state}"), || {
            self.remote().filter(|view| view.state == state)
        })
    }

    /// The box cannot be reached from now on, and the line is cut.
    pub(crate) fn cut(&self) {
        self.laptop.write("down", "");
        self.kill_ssh();
        self.wait_for_state(RemoteState::Failed);
    }

    pub(crate) fn kill_ssh(&self) {
        // It may have ended by itself.
        kill_process(self.ssh_pid(), Signal::KILL).ok();
    }

    pub(crate) fn ssh_pid(&self) -> Pid {
        Pid::from_raw(self.laptop.text("ssh.pid").trim().parse().unwrap()).unwrap()
    }

    pub(crate) fn mend(&self) {
        fs::remove_file(self.laptop.path("down")).unwrap();
    }

    /// An agent on the box asks for permission to run a command.
    pub(crate) fn ask(&self, command: &str) -> Hook {
        self.ask_in(command, self.machine.folder())
    }

    pub(crate) fn ask_in(&self, command: &str, folder: &Path) -> Hook {
        Self::start_hook(self.on_box(&["hook"]), command, folder)
    }

    pub(crate) fn start_hook(mut hook: Command, command: &str, folder: &Path) -> Hook {
        let input = json!({
            "session_id": "34fb81ac-7029-49d7-a308-5c29182e1dc2",
            "transcript_path": null,
            "cwd": folder,
            "prompt_id": "p1",
            "permission_mode": "default",
            "hook_event_name": "PermissionRequest",
            "tool_name": "Bash",
            "tool_input": { "command": command, "description": "For the test" },
        });
        hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Group::spawn(hook);
        group.take_stdin().write_all(input.to_string().as_bytes()).unwrap();
        Hook(group)
    }

    /// Links a person to the laptop's desk.
    pub(crate) fn person(&self, name: &str) -> Person {
        Person::linked(&self.desk_socket(), name)
    }

    /// Links the first person to the desk that the box has of its own.
    pub(crate) fn person_on_box(&self, name: &str) -> Person {
        Person::linked(&self.box_desk_socket(), name)
    }

    pub(crate) fn laptop_entries(&self) -> Vec<LedgerEntry> {
        let store = Store::open_read_only(&database_in(self.laptop.folder())).unwrap();
        store.entries_after(&EntryFilter::default(), 0, 10_000).unwrap()
    }

    pub(crate) fn box_entries(&self) -> Vec<LedgerEntry> {
        let store = Store::open_read_only(&database_in(self.machine.folder())).unwrap();
        store.entries_after(&EntryFilter::default(), 0, 10_000).unwrap()
    }

    /// The copy of the box's ledger on the laptop.
    pub(crate) fn copied_entries(&self) -> Vec<LedgerEntry> {
        let store = Store::open_copy(&database_in(self.laptop.folder()), BOX).unwrap();
        store.entries_after(&EntryFilter::default(), 0, 10_000).unwrap()
    }

    /// Waits until the copy is the box's whole ledger, and checks both chains.
    pub(crate) fn assert_copied(&self) {
        self.until("the ledger of the box is copied", || {
            let whole = self.box_entries();
            !whole.is_empty() && self.copied_entries() == whole
        });
        verify_ledger(&self.laptop);
        verify_ledger(&self.machine);
    }

    /// The kinds of the entries about the one question about a command.
    pub(crate) fn story(entries: &[LedgerEntry], command: &str) -> Vec<String> {
        let body = |entry: &LedgerEntry| serde_json::from_str::<Value>(&entry.body).unwrap();
        let asked = entries.iter().filter(|entry| {
            entry.kind == "asked" && body(entry)["request"]["tool_input"]["command"] == command
        });
        let asked: Vec<_> = asked.collect();
        assert_eq!(asked.len(), 1, "questions about {command:?}: {asked:#?}");
        let of_it = entries.iter().filter(|entry| entry.question == asked[0].question);
        let told = of_it.map(|entry| match entry.kind.as_str() {
            "closed" => format!("closed: {}", body(entry)["text"].as_str().unwrap()),
            kind => kind.to_owned(),
        });
        told.collect()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        drop(self.desk.lock().unwrap().take());
        // The desk that a relay has started outlives its line.
        run(self.on_box(&["relay", "--stop"]), DEADLINE);
    }
}

impl Hook {
    /// Waits for the decision that it prints.
    pub(crate) fn decision(mut self) -> Value {
        let stdout = self.0.take_stdout();
        let status = self.0.wait(DEADLINE * 4).unwrap();
        let stdout = std::io::read_to_string(stdout).unwrap();
        let stderr = std::io::read_to_string(self.0.take_stderr()).unwrap();
        assert!(status.success(), "{stdout}{stderr}");
        serde_json::from_str::<Value>(&stdout).unwrap()["hookSpecificOutput"]["decision"].clone()
    }

    pub(crate) fn still_waits(&mut self) -> bool {
        self.0.wait(Duration::ZERO).is_none()
    }

    pub(crate) fn kill(mut self) {
        self.0.kill();
    }
}

impl Person {
    fn linked(desk_socket: &Path, name: &str) -> Self {
        let mut viewer = Viewer::connect(desk_socket).unwrap();
        let (code, _) = viewer.code().unwrap();
        let pair = DeskCommand::Pair { code, name: name.to_owned(), origin: None };
        let paired = viewer.ask(pair, PATIENCE).unwrap();
        let DeskAnswer::Paired { token } = paired else { panic!("{paired:?}") };
        Self(viewer, token)
    }

    /// Comes back to the laptop's desk that was started again.
    pub(crate) fn return_to(&mut self, house: &House) {
        self.0 = Viewer::connect(&house.desk_socket()).unwrap();
        let token = self.1.clone();
        let unlocked =
            self.0.ask(DeskCommand::Unlock { token, origin: None, name: None }, PATIENCE);
        assert!(matches!(unlocked, Ok(DeskAnswer::Told { done: true, .. })), "{unlocked:?}");
    }

    pub(crate) fn inbox(&mut self) -> Vec<InboxRow> {
        match self.0.ask(DeskCommand::Inbox, PATIENCE).unwrap() {
            DeskAnswer::Inbox(inbox) => inbox.rows,
            other => panic!("{other:?}"),
        }
    }

    /// Waits for the question about this command.
    pub(crate) fn question(&mut self, house: &House, command: &str) -> InboxRow {
        house.until(&format!("a question about {command}"), || {
            self.inbox().into_iter().find(|row| row.summary == command)
        })
    }

    pub(crate) fn press(&mut self, row: &InboxRow, press: Press) -> (bool, String) {
        let request_id = RequestId::parse(&row.question).unwrap();
        self.0.ask_for_reply(DeskCommand::Press { request_id, press, confirm: None }).unwrap()
    }

    pub(crate) fn allow(&mut self, row: &InboxRow) -> (bool, String) {
        self.press(row, Press::Button(Action::Allow))
    }

    pub(crate) fn deny(&mut self, row: &InboxRow) -> (bool, String) {
        self.press(row, Press::Button(Action::Deny))
    }

    pub(crate) fn links(&mut self) -> Vec<NamedLink> {
        self.0.links().unwrap()
    }
}
