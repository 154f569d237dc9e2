//! One run of a real agent with callgate's hooks in its settings.

use std::fs;
use std::iter;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use callgate_testkit::chat::{Chat, ChatReply};
use callgate_testkit::proc;
use callgate_testkit::process::{DEADLINE, Group, run};
use callgate_testkit::script::{copy_program, write_program};
use callgate_testkit::tools::lasting_folder;
use callgate_testkit::until::until_or;
use callgate_wire::hook::agents::ANSWER_LIMIT;
use tempfile::TempDir;

use crate::gated_agent::{AgentPlace, GatedAgent};
use crate::person::Person;

/// How long an agent may take. Some need half a minute to start.
const RUN_LIMIT: Duration = Duration::from_mins(3);

/// Who is at the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Desk {
    /// Somebody who answers every question.
    Answers,
    /// The desk is open, and nobody answers in time.
    Nobody,
    /// No desk is open.
    Absent,
}

/// What the hook does instead of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BrokenHook {
    Killed,
    Garbled,
    Late,
    Missing,
}

/// An agent that is ready to start.
pub(crate) struct GatedRun<'a> {
    agent: &'a GatedAgent,
    desk: Desk,
    fake: Chat,
    command: Command,
    folder: TempDir,
    sockets: TempDir,
    daemon: Option<Group>,
}

/// What became of the calls.
#[derive(Debug)]
pub(crate) struct GatedOutcome {
    /// The results that the model received for its calls.
    pub(crate) results: Vec<String>,
    /// The commands about which somebody was asked.
    pub(crate) asked: Vec<String>,
    /// What the agent printed, for the message of a test that fails.
    #[allow(dead_code, reason = "it is shown by `Debug`")]
    printed: String,
    /// The files that it made.
    files: Vec<String>,
}

impl GatedOutcome {
    /// Returns true if the agent made this file.
    pub(crate) fn made(&self, file: &str) -> bool {
        self.files.iter().any(|it| it == file)
    }
}

impl<'a> GatedRun<'a> {
    /// Prepares an agent whose model wants these commands, opens the desk, and installs callgate.
    pub(crate) fn new(
        agent: &'a GatedAgent,
        turns: &[&[&str]],
        desk: Desk,
        settings: &str,
    ) -> Self {
        let call = |command: &&str| (agent.tool.to_owned(), (agent.input)(command));
        let turn = |commands: &&[&str]| ChatReply::Calls(commands.iter().map(call).collect());
        // Some agents ask their model for more when they have finished.
        let done = iter::repeat_n(ChatReply::Text("Done.".to_owned()), 4);
        let script = turns.iter().map(turn).chain(done);
        let fake = Chat::start(agent.dialect, script).side_tool(agent.side_tool);
        let folder = lasting_folder("gated-");
        let sockets = TempDir::with_prefix("callgate-gated-").unwrap();
        for name in ["home", "work", "bin"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let command = (agent.program)().expect("it was looked for");
        let mut run = Self { agent, desk, fake, command, folder, sockets, daemon: None };
        run.write_settings(settings);
        let (home, work) = (run.path("home"), run.path("work"));
        run.command.args(agent.for_commands);
        run.command.current_dir(&work).env_clear().envs(environment(&home));
        let url = run.fake.url();
        (agent.prepare)(&mut run.command, &AgentPlace { home: &home, url: &url });
        copy_program(Path::new(env!("CARGO_BIN_EXE_callgate")), &run.path("bin/callgate"));
        copy_program(Path::new(env!("CARGO_BIN_EXE_callgate-hook")), &run.hook());
        run.install();
        run
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn hook(&self) -> PathBuf {
        self.path("bin/callgate-hook")
    }

    fn callgate(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path("bin/callgate"));
        command.args(arguments).current_dir(self.path("work")).env_clear();
        command.envs(environment(&self.path("home")));
        command
    }

    fn write_settings(&self, settings: &str) {
        let folder = self.path("home/.config/callgate");
        fs::create_dir_all(&folder).unwrap();
        let quoted = |name: &str| format!("{:?}", self.sockets.path().join(name).to_str().unwrap());
        let timeout = if self.desk == Desk::Nobody { "timeout_seconds = 2\n" } else { "" };
        let text = format!(
            "socket = {}\ndesk_socket = {}\ndatabase = {}\n{timeout}{settings}\n",
            quoted("ask.sock"),
            quoted("desk.sock"),
            quoted("callgate.db")
        );
        fs::write(folder.join("config.toml"), text).unwrap();
        if self.desk != Desk::Absent {
            let rules = "[[rule]]\nname = \"all\"\ndecide = \"ask\"\ncommand = \"touch *\"\n\
                         [[rule]]\nname = \"searches\"\ndecide = \"ask\"\ntool = \"grep_search\"\n";
            fs::write(folder.join("rules.toml"), rules).unwrap();
        }
    }

    fn install(&self) {
        let install = self.callgate(&["install", "--agent", self.agent.word]);
        let _ = run(install, 2 * DEADLINE).success();
    }

    /// Makes the hook fail, each time that it is started.
    pub(crate) fn with_broken_hook(mut self, broken: BrokenHook) -> Self {
        self.command.args(self.agent.unattended);
        let text = match broken {
            BrokenHook::Killed => "kill -KILL $$",
            BrokenHook::Garbled => "printf '{\"hookSpecificOutput\":{\"de'",
            BrokenHook::Late => "exec sleep 30",
            BrokenHook::Missing => {
                fs::remove_file(self.hook()).unwrap();
                return self;
            }
        };
        let text = format!("#!/bin/sh\ncat >/dev/null\n{text}\n");
        write_program(&self.hook(), &text);
        if broken == BrokenHook::Late {
            self.shorten_limit();
        }
        self
    }

    /// Gives the hook two seconds, in place of the time that install gives it.
    fn shorten_limit(&self) {
        let profile = self.agent.profile();
        let place = &profile.settings;
        let file = self.path("home").join(place.folder).join(place.files[0]);
        let text = fs::read_to_string(&file).unwrap();
        let limit = profile.before_tool_event().limit.unwrap_or(ANSWER_LIMIT);
        let count = |limit| place.unit.count(limit).unwrap().to_string();
        let (long, short) = (count(limit), count(Duration::from_secs(2)));
        assert!(text.contains(&long), "{text}");
        fs::write(&file, text.replace(&long, &short)).unwrap();
    }

    fn open_desk(&mut self) {
        let log = fs::File::create(self.path("up.log")).unwrap();
        let mut up = self.callgate(&["up", "--no-terminal"]);
        up.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        self.daemon = Some(Group::spawn(up));
        let log = || fs::read_to_string(self.path("up.log")).unwrap_or_default();
        let socket = self.sockets.path().join("desk.sock");
        until_or(|| format!("the desk opens: {}", log()), || UnixStream::connect(&socket).is_ok());
    }

    /// Ends what the agent has left running: Cline starts a process of its own that stays.
    fn end_helpers(&self) {
        let home = format!("HOME={}", self.path("home").display());
        let is_left = |pid: &u32| proc::environment(*pid).contains(&home);
        for pid in proc::all().iter().map(|process| process.pid).filter(is_left) {
            // It may have ended meanwhile.
            let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).output();
        }
    }

    /// Runs the agent to its end.
    pub(crate) fn play(mut self) -> GatedOutcome {
        if self.desk != Desk::Absent {
            self.open_desk();
        }
        let desk_socket = self.sockets.path().join("desk.sock");
        let person = (self.desk == Desk::Answers).then(|| Person::sit_down(&desk_socket));
        let command = std::mem::replace(&mut self.command, Command::new("true"));
        let finished = run(command, RUN_LIMIT);
        let asked = person.map(Person::leave).unwrap_or_default();
        let files = fs::read_dir(self.path("work")).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().to_str().unwrap().to_owned();
        let files = files.map(|entry| name(entry.unwrap())).collect();
        let printed = finished.stdout.clone() + &finished.stderr;
        self.end_helpers();
        GatedOutcome { results: self.fake.results(), asked, printed, files }
    }
}

fn environment(home: &Path) -> [(&'static str, String); 2] {
    let path = std::env::var("PATH").unwrap();
    [("PATH", path), ("HOME", home.to_str().unwrap().to_owned())]
}
