//! A real agent with callgate's hooks in its settings, and a desk at which somebody answers or
//! nobody.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use callgate_store::{EntryFilter, LedgerEntry, Store};
use callgate_testkit::messages::ToolCheck;
use callgate_testkit::process::{DEADLINE, Group, run};
use callgate_testkit::telegram::{Message, Telegram};
use callgate_testkit::trial::{AgentProgram, RunningTrial, Trial, TrialMode, TrialOutcome};
use callgate_testkit::until::until_or;
use serde_json::Value;
use tempfile::TempDir;

/// The person who may answer, and the private chat with them.
const ADA: i64 = 7;

/// What Claude Code says in its dialog about a command for which it wanted the vendor's check,
/// which cannot be reached here. It asks no hook then.
const UNCHECKED: &str = "can't check actions in this session, so this one needs your approval";

/// The rules of every trial.
const RULES: &str = r#"
[[rule]]
name = "fine"
decide = "allow"
command = "touch allowed"

[[rule]]
name = "never"
decide = "deny"
command = "touch denied"
reason = "not on my watch"

[[rule]]
name = "careful"
decide = "ask"
command = "touch asked"

[[rule]]
name = "sums"
decide = "ask"
tool = "mcp__sums__*"
"#;

/// Who is at the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Desk {
    /// Somebody says yes to everything.
    Answers,
    /// The desk is open, and nobody can be reached.
    Nobody,
    /// No desk is open.
    Absent,
}

/// An agent that is ready to start, and its gate.
pub(crate) struct Gate {
    trial: Trial,
    watch: Watch,
}

/// Somebody, or nobody, who watches the gate of an agent.
struct Watch {
    agent: AgentProgram,
    is_attended: bool,
    desk: Desk,
    folder: TempDir,
    phone: Telegram,
    /// It is killed when this is dropped.
    daemon: Option<Group>,
}

/// What became of all commands.
pub(crate) struct Played {
    pub(crate) outcome: TrialOutcome,
    /// The questions in the ledger, asked of a person or not: the event, and who decided.
    pub(crate) decided: Vec<(String, String)>,
    /// The commands about which the agent's own dialog was open.
    pub(crate) dialogs: Vec<String>,
    /// The questions that came to the phone: the event, and the command.
    pub(crate) questions: Vec<(String, String)>,
    /// Why changes of its settings were refused.
    pub(crate) refused_settings: Vec<String>,
}

impl Gate {
    /// Like [`checked`](Self::checked), with another copy of the program.
    pub(crate) fn with_program(
        mode: TrialMode<'_>,
        commands: &[&str],
        desk: Desk,
        settings: &str,
        program: &Path,
    ) -> Option<Self> {
        Some(Self::of_trial(Trial::new(mode, commands)?, mode, desk, settings, program))
    }

    /// Installs callgate for an agent whose model wants these commands, with this answer of the
    /// model's service about them, if it has one; and opens the desk. Returns `None`, after
    /// printing the reason, where the agent is absent.
    pub(crate) fn checked(
        mode: TrialMode<'_>,
        commands: &[&str],
        desk: Desk,
        settings: &str,
        check: Option<ToolCheck>,
    ) -> Option<Self> {
        let trial = Trial::checked(mode, commands, check)?;
        Some(Self::of_trial(trial, mode, desk, settings, Path::new(callgate())))
    }

    /// Installs callgate for the agent of a trial, and opens the desk.
    pub(crate) fn of_trial(
        trial: Trial,
        mode: TrialMode<'_>,
        desk: Desk,
        settings: &str,
        program: &Path,
    ) -> Self {
        // For the command that writes settings of another agent.
        fs::create_dir_all(trial.work().join(".gemini")).unwrap();
        let (folder, phone) = (tempfile::tempdir().unwrap(), Telegram::start());
        phone.add_private(ADA, "Ada");
        let TrialMode { agent, is_attended, .. } = mode;
        let mut watch = Watch { agent, is_attended, desk, folder, phone, daemon: None };
        watch.write_settings(&trial, settings);
        if desk != Desk::Absent {
            watch.open_desk(&trial);
        }
        let mut install = command(&trial, program);
        install.args(["install", "--agent", agent.word()]);
        let _ = run(install, 4 * DEADLINE).success();
        Self { trial, watch }
    }

    /// The settings file of the agent that has the hooks.
    pub(crate) fn hooks_file(&self) -> PathBuf {
        match self.watch.agent {
            AgentProgram::Codex => self.trial.home().join(".codex/hooks.json"),
            AgentProgram::Claude => {
                let environment = self.trial.environment();
                let folder = environment.iter().find(|(name, _)| name == "CLAUDE_CONFIG_DIR");
                Path::new(&folder.unwrap().1).join("settings.json")
            }
        }
    }

    /// Adds arguments to the agent's command line.
    pub(crate) fn args(self, args: &[&str]) -> Self {
        Self { trial: self.trial.args(args), ..self }
    }

    /// Runs the agent to its end. Its questions are answered with yes: at the desk, if somebody is
    /// there, else in its own dialog.
    pub(crate) fn play(self, commands: &[&str]) -> Played {
        self.play_beside(commands, |_, _| ())
    }

    /// Like [`play`](Self::play); meanwhile `beside` is called again and again with the agent's
    /// folder and what the phone has been told.
    pub(crate) fn play_beside(
        self,
        commands: &[&str],
        mut beside: impl FnMut(&Path, &[String]),
    ) -> Played {
        let Self { trial, watch } = self;
        let work = trial.work();
        let mut running = trial.start();
        let (mut pressed, mut answered) = (HashSet::new(), HashSet::new());
        let mut questions = Vec::new();
        let end = Instant::now() + 6 * DEADLINE;
        while !running.is_over() {
            assert!(Instant::now() < end, "the agent does not end\n{}", running.written());
            beside(&work, &watch.told());
            if let Some(question) = watch.open_question(&pressed) {
                pressed.insert(question.id);
                questions.push(watch.answer(&running, &question, commands));
            }
            for command in commands {
                let dialog = running.dialog_about(command).filter(|it| watch.is_asked_alone(it));
                if let Some(dialog) = dialog.filter(|_| answered.insert(command)) {
                    running.say_yes(&dialog);
                }
            }
            thread::sleep(Duration::from_millis(5));
        }
        let dialogs = commands.iter().filter(|it| running.dialog_about(it).is_some());
        let dialogs = dialogs.map(|command| (*command).to_owned()).collect();
        let decided = watch.decided();
        let refused_settings = watch.refused_settings();
        Played { refused_settings, outcome: running.stop(), decided, dialogs, questions }
    }
}

impl Watch {
    fn write_settings(&self, trial: &Trial, settings: &str) {
        let config = trial.home().join(".config/callgate");
        fs::create_dir_all(&config).unwrap();
        fs::write(config.join("rules.toml"), RULES).unwrap();
        let quoted = |name: &str| format!("{:?}", self.path(name).to_str().unwrap());
        let mut text = format!(
            "socket = {}\ndesk_socket = {}\ndatabase = {}\n{settings}\n",
            quoted("ask.sock"),
            quoted("desk.sock"),
            quoted("callgate.db")
        );
        if self.desk == Desk::Answers {
            fs::write(self.path("token"), self.phone.token()).unwrap();
            fs::set_permissions(self.path("token"), fs::Permissions::from_mode(0o600)).unwrap();
            let telegram = format!(
                "[telegram]\ntoken_file = {}\napi_url = {:?}\nallowed_chats = [{ADA}]\n",
                quoted("token"),
                self.phone.url()
            );
            text.push_str(&telegram);
        }
        fs::write(config.join("config.toml"), text).unwrap();
    }

    fn open_desk(&mut self, trial: &Trial) {
        let log = fs::File::create(self.path("up.log")).unwrap();
        let mut up = command(trial, Path::new(callgate()));
        up.args(["up", "--no-terminal"]).stdin(Stdio::null());
        up.stdout(log.try_clone().unwrap()).stderr(log);
        self.daemon = Some(Group::spawn(up));
        self.until("the desk is open", || UnixStream::connect(self.path("ask.sock")).is_ok());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn until(&self, what: &str, is_so: impl FnMut() -> bool) {
        let log = || fs::read_to_string(self.path("up.log")).unwrap_or_default();
        until_or(|| format!("{what}\n{}", log()), is_so);
    }

    fn entries(&self) -> Vec<LedgerEntry> {
        if self.desk == Desk::Absent {
            return Vec::new();
        }
        let store = Store::open_read_only(&self.path("callgate.db")).unwrap();
        store.entries_after(&EntryFilter::default(), 0, 1_000_000).unwrap()
    }

    /// The events of the questions in the ledger, and who decided.
    fn decided(&self) -> Vec<(String, String)> {
        let entries = self.entries();
        let body = |entry: &LedgerEntry| serde_json::from_str::<Value>(&entry.body).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let asked = entries.iter().filter(|entry| entry.kind == "asked");
        let of = |asked: &LedgerEntry| {
            let is_end = |entry: &&LedgerEntry| {
                entry.kind == "decided"
                    && entry.question.is_some()
                    && entry.question == asked.question
            };
            let by = entries.iter().find(is_end).map(|end| text(&body(end)["by"]));
            (text(&body(asked)["request"]["context"]["event"]), by.unwrap_or_default())
        };
        asked.map(of).collect()
    }

    /// The requests in the ledger so far: the event, and the command.
    fn requests(&self) -> Vec<(String, String)> {
        let asked = self.entries().into_iter().filter(|entry| entry.kind == "asked");
        let question = |body: Value| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let request = &body["request"];
            (text(&request["context"]["event"]), text(&request["tool_input"]["command"]))
        };
        asked.map(|entry| question(serde_json::from_str(&entry.body).unwrap())).collect()
    }

    /// Returns true if only the agent asks, in this dialog.
    fn is_asked_alone(&self, dialog: &str) -> bool {
        self.desk != Desk::Answers || dialog.contains(UNCHECKED)
    }

    /// What the phone has been told so far.
    fn told(&self) -> Vec<String> {
        self.phone.look(|seen| seen.chat(ADA).map(|message| message.shape.text.clone()).collect())
    }

    /// Why changes of the settings were refused, by the ledger.
    fn refused_settings(&self) -> Vec<String> {
        let checked = self.entries().into_iter().filter(|entry| entry.kind == "checked");
        let bodies = checked.map(|entry| serde_json::from_str::<Value>(&entry.body).unwrap());
        let refused = bodies.filter(|body| body["tool"] == "ConfigChange");
        refused.filter_map(|body| Some(body["by"].as_str()?.to_owned())).collect()
    }

    fn open_question(&self, pressed: &HashSet<i64>) -> Option<Message> {
        let is_open = |message: &&Message| {
            !message.shape.buttons.is_empty() && !pressed.contains(&message.id)
        };
        self.phone.look(|seen| seen.chat(ADA).find(is_open).cloned())
    }

    /// Says yes on the phone. Where the agent asks in its own dialog meanwhile, that is waited for.
    /// Returns the event and the command that the question is about.
    fn answer(
        &self,
        running: &RunningTrial,
        question: &Message,
        commands: &[&str],
    ) -> (String, String) {
        let text = &question.shape.text;
        let command = commands.iter().find(|command| text.contains(**command));
        let command = command.unwrap_or_else(|| panic!("a question about something else: {text}"));
        let asked = self.requests().into_iter().rfind(|(_, of)| of == command);
        let (event, command) = asked.expect("it was recorded before it was sent");
        if event == "PermissionRequest" && self.is_attended && self.agent == AgentProgram::Claude {
            self.until("its dialog", || running.dialog_about(&command).is_some());
        }
        let button = if event == "PermissionDenied" { "Yes, try again" } else { "Allow" };
        self.phone.press(ADA, ADA, question.id, button);
        (event, command)
    }
}

/// A command in the agent's folder and home.
fn command(trial: &Trial, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(trial.work()).env_clear().envs(trial.environment());
    command
}

/// The program under test.
pub(crate) fn callgate() -> &'static str {
    env!("CARGO_BIN_EXE_callgate")
}
