//! A home with settings, a daemon in it, a phone, and hooks.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use callgate_client::viewer::{PATIENCE, Viewer};
use callgate_store::{ChainReport, EntryFilter, LedgerEntry, Store};
use callgate_testkit::kept_port::KeptPort;
use callgate_testkit::process::{DEADLINE, Group};
use callgate_testkit::telegram::{Message, Telegram, Toast};
use callgate_testkit::test_home::TestHome;
use callgate_testkit::until::{Sighting, until_or};
use callgate_wire::approval::{Press, RequestId};
use callgate_wire::desk::{DeskAnswer, DeskCommand};
use rustix::process::Signal;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

/// The person who may answer, and the private chat with them.
pub(crate) const ADA: i64 = 7;

pub(crate) struct Stage {
    pub(crate) home: TestHome,
    pub(crate) phone: Telegram,
    daemon: Mutex<Option<Group>>,
    /// A page that is open finds the desk there again.
    page_port: KeptPort,
}

/// A hook or another asker that is waiting.
pub(crate) struct Hook {
    pub(crate) group: Group,
}

/// How a process ended.
#[derive(Debug, PartialEq)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Stage {
    /// A daemon with Telegram, and Ada's chat linked to it.
    pub(crate) fn new() -> Self {
        Self::with("")
    }

    /// The same, with more settings.
    pub(crate) fn with(settings: &str) -> Self {
        let stage = Self::unstarted(settings);
        stage.up();
        stage
    }

    /// A daemon that nobody has told of a phone.
    pub(crate) fn without_phone() -> Self {
        let stage = Self::without_phone_unstarted();
        stage.up();
        stage
    }

    /// A home in which nobody has told of a phone, without a daemon.
    pub(crate) fn without_phone_unstarted() -> Self {
        let stage = Self::unstarted("");
        stage.home.write_settings(&format!("socket = {:?}\n", stage.home.text_path("ask.sock")));
        stage
    }

    pub(crate) fn unstarted(settings: &str) -> Self {
        let (home, phone) = (TestHome::new(), Telegram::start());
        phone.add_private(ADA, "Ada");
        home.write_private("token", phone.token());
        home.write_settings(&format!(
            "socket = {:?}\n{settings}\n[telegram]\ntoken_file = {:?}\napi_url = {:?}\nallowed_chats = [{ADA}]\n",
            home.text_path("ask.sock"),
            home.text_path("token"),
            phone.url(),
        ));
        Self { home, phone, daemon: Mutex::new(None), page_port: KeptPort::choose() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path(name)
    }

    /// callgate, in this home and with nothing else of ours in its environment.
    pub(crate) fn callgate(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
        command.args(arguments).env_clear().envs(self.environment());
        command.current_dir(self.home.folder());
        command
    }

    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let path = std::env::var("PATH").unwrap();
        vec![pair("PATH", &path), pair("HOME", self.home.folder().to_str().unwrap())]
    }

    /// Starts the daemon and waits until it serves.
    pub(crate) fn up(&self) {
        let port = format!("--page-port={}", self.page_port.number());
        let desk = self.home.start_desk(self.callgate(&["up", "--no-terminal", &port]));
        *self.daemon.lock().unwrap() = Some(desk);
    }

    /// Kills the daemon as the system would when memory is short.
    pub(crate) fn kill(&self) {
        self.daemon.lock().unwrap().take().unwrap().kill();
    }

    /// Asks the daemon to end, and waits for it.
    pub(crate) fn down(&self) {
        let mut daemon = self.daemon.lock().unwrap().take().unwrap();
        daemon.signal(Signal::TERM);
        assert!(daemon.wait(DEADLINE).unwrap().success());
    }

    /// Sends the daemon a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        self.daemon.lock().unwrap().as_ref().unwrap().signal(signal);
    }

    pub(crate) fn daemon_pid(&self) -> u32 {
        self.daemon.lock().unwrap().as_ref().unwrap().pid()
    }

    /// Waits for something to be so.
    pub(crate) fn until<S: Sighting>(&self, what: &str, look: impl FnMut() -> S) -> S::Found {
        until_or(|| format!("{what}\n{}", self.home.text("up.log")), look)
    }

    /// Starts a hook with this input.
    pub(crate) fn hook(&self, input: &Value) -> Hook {
        self.start(&["hook"], &input.to_string())
    }

    /// Starts an asker with this on its standard input.
    pub(crate) fn start(&self, arguments: &[&str], input: &str) -> Hook {
        Self::spawn(self.callgate(arguments), input)
    }

    /// Starts a command with this on its standard input.
    pub(crate) fn spawn(mut command: Command, input: &str) -> Hook {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Group::spawn(command);
        group.take_stdin().write_all(input.as_bytes()).unwrap();
        Hook { group }
    }

    /// The question on Ada's phone that has this text and is still open.
    pub(crate) fn question(&self, text: &str) -> Message {
        self.phone.wait_for(&format!("a question with {text:?}"), |seen| {
            let is_it = |message: &&Message| {
                message.shape.text.contains(text) && !message.shape.buttons.is_empty()
            };
            seen.chat(ADA).rfind(is_it).cloned()
        })
    }

    /// Ada presses a button; gives what she is told.
    pub(crate) fn press(&self, message: &Message, button: &str) -> Toast {
        let press = self.phone.press(ADA, ADA, message.id, button);
        self.told(&press)
    }

    /// A viewer that may answer.
    pub(crate) fn viewer(&self) -> Viewer {
        let mut page = Viewer::connect(&self.path(".local/share/callgate/desk.sock")).unwrap();
        // Ada may answer already, so nobody is linked without her.
        let allow = |_: &str| drop(self.press(&self.question("asks for a code"), "Allow"));
        let (code, _) = page.code_when_allowed(&mut { allow }).unwrap();
        let pair = DeskCommand::Pair { code, name: "The page".to_owned(), origin: None };
        assert!(matches!(page.ask(pair, PATIENCE).unwrap(), DeskAnswer::Paired { .. }));
        page
    }

    /// Allows the question about a shell command with another input.
    pub(crate) fn change(&self, page: &mut Viewer, command: &str, input: &Value) {
        let request_id = RequestId::parse(&self.id_of(command)).unwrap();
        let press = Press::Input(to_raw_value(input).unwrap());
        let press = DeskCommand::Press { request_id, press, confirm: None };
        let told = page.ask_for_reply(press).unwrap();
        assert_eq!(told, (true, "Allowed by The page, with changes".to_owned()));
    }

    pub(crate) fn told(&self, press: &str) -> Toast {
        self.phone.wait_for("an answer to a press", |seen| seen.toast(press).cloned())
    }

    /// Waits until a message on Ada's phone has this text.
    pub(crate) fn shows(&self, message: &Message, text: &str) -> Message {
        self.phone.wait_for(&format!("{text:?} on a message"), |seen| {
            seen.message(ADA, message.id).filter(|now| now.shape.text.contains(text)).cloned()
        })
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path(".local/share/callgate/callgate.db")
    }

    pub(crate) fn entries(&self) -> Vec<LedgerEntry> {
        let store = Store::open_read_only(&self.database()).unwrap();
        store.entries_after(&EntryFilter::default(), 0, 1_000_000).unwrap()
    }

    /// The id of the one question about this shell command.
    pub(crate) fn id_of(&self, command: &str) -> String {
        let is_it = |entry: &LedgerEntry| {
            let body: Value = serde_json::from_str(&entry.body).unwrap();
            entry.kind == "asked" && body["request"]["tool_input"]["command"] == command
        };
        let mut asked: Vec<LedgerEntry> = self.entries().into_iter().filter(is_it).collect();
        assert_eq!(asked.len(), 1, "questions about {command:?}: {asked:#?}");
        asked.remove(0).question.unwrap()
    }

    /// Waits until the ledger tells this about the question about this shell command, from its
    /// first entry to its last. Whether the agent's last words come after the question is the
    /// agent's affair.
    pub(crate) fn assert_story(&self, command: &str, expected: &[&str]) {
        let id = self.id_of(command);
        let story = || {
            let entries = self.entries().into_iter();
            let entries = entries.filter(|entry| entry.question.as_ref() == Some(&id));
            entries.filter(|entry| entry.kind != "said").map(told).collect::<Vec<_>>()
        };
        until_or(|| format!("{expected:#?}; there is {:#?}", story()), || story() == expected);
        self.assert_chain();
    }

    pub(crate) fn assert_chain(&self) {
        let store = Store::open_read_only(&self.database()).unwrap();
        let verified = store.verify().unwrap();
        assert!(matches!(verified, ChainReport::Whole { .. }), "{verified:?}");
    }
}

impl Hook {
    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ended {
        let stdout = self.group.take_stdout();
        let status = self.group.wait(DEADLINE * 4).expect("the hook ends");
        let stdout = std::io::read_to_string(stdout).unwrap();
        let stderr = std::io::read_to_string(self.group.take_stderr()).unwrap();
        Ended { code: status.code(), stdout, stderr }
    }

    /// The decision that it printed; it must have printed one.
    pub(crate) fn decision(self) -> Value {
        let ended = self.end();
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
        let printed: Value = serde_json::from_str(&ended.stdout).unwrap();
        printed["hookSpecificOutput"]["decision"].clone()
    }

    /// It fell back: it printed nothing, and the agent asks in its own way.
    pub(crate) fn fell_back(self) {
        let ended = self.end();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    }
}

/// What an entry of the ledger says, in short.
fn told(entry: LedgerEntry) -> String {
    let body: Value = serde_json::from_str(&entry.body).unwrap();
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    match entry.kind.as_str() {
        "pressed" => format!("pressed {}: {}", text("action"), text("outcome")),
        "decided" => format!("decided {} by {}", text("decision"), text("by")),
        "closed" => format!("closed: {}", text("text")),
        "ran" => format!("ran, ok: {}", body["ok"]),
        _ => entry.kind,
    }
}

/// What Claude Code gives its hook before a shell command.
pub(crate) fn bash(command: &str) -> Value {
    permission("Bash", &json!({ "command": command, "description": "For the test" }))
}

pub(crate) fn permission(tool: &str, input: &Value) -> Value {
    json!({
        "session_id": "34fb81ac-7029-49d7-a308-5c29182e1dc2",
        "transcript_path": null,
        "cwd": "/home/ada/engine",
        "prompt_id": "p1",
        "permission_mode": "default",
        "hook_event_name": "PermissionRequest",
        "tool_name": tool,
        "tool_input": input,
    })
}
