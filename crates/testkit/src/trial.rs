//! One run of a real agent, in one of its modes, with a model that wants shell commands: what
//! ran, whether the agent opened its own dialog, and what the model was told.

mod running;

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::claude::Claude;
use crate::codex::Codex;
use crate::messages::{Messages, Recorded, ToolCheck, Turn};
use crate::private_etc::{PrivateEtc, wrapped};
use crate::process::Group;
use crate::responses::{Responses, ResponsesReply};
use crate::terminal::Terminal;
use running::AgentProcess;
pub use running::{RunningTrial, TrialOutcome};

/// What the model says when all its commands have been tried.
const LAST_WORDS: &str = "All is well";

/// An agent that a trial can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentProgram {
    Claude,
    Codex,
}

impl AgentProgram {
    /// Its name on callgate's command lines.
    pub fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    /// Returns the pinned program. Where it is absent the reason is printed; with `CI=true` that
    /// fails.
    pub fn find(self) -> Option<PathBuf> {
        match self {
            Self::Claude => Claude::find(),
            Self::Codex => Codex::find(),
        }
    }

    /// Returns what its own dialog asks before a command.
    fn dialog(self) -> &'static str {
        match self {
            Self::Claude => "Do you want to proceed?",
            Self::Codex => "Would you like to run the following command?",
        }
    }

    /// Returns its dialog about this command, with the answers to choose from, if that is among
    /// what was written. Claude Code shows the command above the question, Codex below it.
    fn dialog_about(self, written: &str, command: &str) -> Option<String> {
        let parts: Vec<&str> = written.split(self.dialog()).collect();
        let dialog = |parts: &[&str]| match self {
            Self::Claude => {
                let above = parts[0].rsplit("Bash command").next().unwrap_or_default();
                let (below, _) = parts[1].split_once("Escape to cancel")?;
                above.contains(command).then(|| format!("{above}{below}"))
            }
            Self::Codex => {
                let (above, _) = parts[1].split_once("Yes, proceed")?;
                above.contains(command).then(|| above.to_owned())
            }
        };
        parts.windows(2).find_map(dialog)
    }

    /// Returns the key that accepts in its dialog.
    fn yes(self, dialog: &str) -> String {
        match self {
            Self::Claude => {
                let line = dialog.lines().find(|line| line.trim_end().ends_with(". Yes"));
                let line = line.unwrap_or_else(|| panic!("no yes in {dialog:?}"));
                line.trim().trim_end_matches(". Yes").to_owned()
            }
            Self::Codex => "y".to_owned(),
        }
    }
}

/// How an agent is run.
#[derive(Clone, Copy, Debug)]
pub struct TrialMode<'a> {
    pub agent: AgentProgram,
    /// Claude Code's permission mode or Codex's approval policy; empty for its own default.
    /// `bypass` is Codex without approvals and sandbox.
    pub mode: &'a str,
    /// Whether somebody sits at its terminal (`claude`, `codex`) or nobody (`claude -p`,
    /// `codex exec`).
    pub is_attended: bool,
    /// Whether Codex's model wants to leave the sandbox, which its mode may have to ask about.
    pub is_escalated: bool,
}

/// A run in the making. callgate's hooks go into its home before it starts.
///
/// ```no_run
/// use callgate_testkit::trial::{AgentProgram, Trial, TrialMode};
///
/// let agent = AgentProgram::Codex;
/// let mode = TrialMode { agent, mode: "", is_attended: false, is_escalated: false };
/// let Some(trial) = Trial::new(mode, &["touch made"]) else { return };
/// // … `callgate install --agent codex` with `trial.environment()` …
/// let outcome = trial.start().end();
/// assert!(outcome.made("made") && !outcome.has_dialog);
/// ```
#[derive(Debug)]
pub struct Trial {
    mode: Mode,
    turns: usize,
    agent: Agent,
    /// What the agent sees in the place of `/etc`.
    etc: Option<PathBuf>,
}

#[derive(Debug)]
struct Mode {
    agent: AgentProgram,
    is_attended: bool,
}

#[derive(Debug)]
enum Agent {
    Claude(Claude, Messages),
    Codex(Codex, Responses),
}

impl Trial {
    /// Makes a run whose model wants these commands, one after the other. Returns `None`, after
    /// printing the reason, where the program is absent.
    #[must_use]
    pub fn new(mode: TrialMode<'_>, commands: &[&str]) -> Option<Self> {
        Self::checked(mode, commands, None)
    }

    /// Like [`new`](Self::new), with what the model's service says of the commands: Claude Code's
    /// auto and plan modes rely on its check. Without an answer the check counts as unavailable.
    #[must_use]
    pub fn checked(
        mode: TrialMode<'_>,
        commands: &[&str],
        check: Option<ToolCheck>,
    ) -> Option<Self> {
        mode.agent.find()?;
        let agent = match mode.agent {
            AgentProgram::Claude => claude(mode, commands, check),
            AgentProgram::Codex => codex(mode, commands),
        };
        let TrialMode { agent: program, is_attended, .. } = mode;
        let mode = Mode { agent: program, is_attended };
        Some(Self { mode, turns: commands.len() + 1, agent, etc: None })
    }

    /// Makes a run of `codex exec` whose model gives these replies before its last word. What
    /// stands in `settings` comes last in its `config.toml`. Returns `None`, after printing the
    /// reason, where the program is absent.
    #[must_use]
    pub fn codex_exec(replies: Vec<ResponsesReply>, settings: &str) -> Option<Self> {
        AgentProgram::Codex.find()?;
        let turns = replies.len() + 1;
        let fake = Responses::start(replies.into_iter().chain([ResponsesReply::text(LAST_WORDS)]));
        let codex = Codex::new(&fake, "").exec("Go");
        let file = codex.home().join(".codex/config.toml");
        let config = fs::read_to_string(&file).expect("it was written before");
        fs::write(&file, format!("{config}\n{settings}\n")).expect("it can be written again");
        let mode = Mode { agent: AgentProgram::Codex, is_attended: false };
        Some(Self { mode, turns, agent: Agent::Codex(codex, fake), etc: None })
    }

    /// Makes a run of `claude -p` in this permission mode, whose model answers with these turns
    /// before its last word. Returns `None`, after printing the reason, where the program is
    /// absent.
    #[must_use]
    pub fn claude_print(mode: &str, turns: Vec<Turn>) -> Option<Self> {
        AgentProgram::Claude.find()?;
        let count = turns.len() + 1;
        let fake = Messages::start(turns.into_iter().chain([Turn::text(LAST_WORDS)]));
        let claude = Claude::new(&fake).env("IS_SANDBOX", "1").prompt_in(mode, "Go");
        let mode = Mode { agent: AgentProgram::Claude, is_attended: false };
        Some(Self { mode, turns: count, agent: Agent::Claude(claude, fake), etc: None })
    }

    /// Returns the environment for `callgate install` and `callgate doctor`: the agent's home and
    /// settings, and the agent first on PATH.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let (environment, wanted) = match &self.agent {
            Agent::Claude(claude, _) => (claude.environment(), "CLAUDE_CONFIG_DIR"),
            Agent::Codex(codex, _) => (codex.environment(), "CODEX_HOME"),
        };
        let program = self.mode.agent.find().expect("it was found before");
        let mut path = OsString::from(program.parent().expect("a file has a folder"));
        let is_wanted = |name: &OsString| name == "HOME" || name == wanted;
        let mut own: Vec<(OsString, OsString)> =
            environment.iter().filter(|(name, _)| is_wanted(name)).cloned().collect();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        own.push(("PATH".into(), path));
        own
    }

    /// Adds arguments to the agent's command line.
    #[must_use]
    pub fn args(self, args: &[&str]) -> Self {
        let agent = match self.agent {
            Agent::Claude(claude, fake) => Agent::Claude(claude.args(args), fake),
            Agent::Codex(codex, fake) => Agent::Codex(codex.args(args), fake),
        };
        Self { agent, ..self }
    }

    /// Lets the agent see another `/etc`.
    #[must_use]
    pub fn in_etc(self, etc: &PrivateEtc) -> Self {
        Self { etc: Some(etc.folder().to_owned()), ..self }
    }

    /// Returns the home folder of the agent.
    pub fn home(&self) -> PathBuf {
        let environment = match &self.agent {
            Agent::Claude(claude, _) => claude.environment(),
            Agent::Codex(codex, _) => codex.environment(),
        };
        let home = environment.iter().find(|(name, _)| name == "HOME");
        home.map(|(_, value)| PathBuf::from(value)).expect("every agent has a home")
    }

    /// Returns the folder that the agent works in.
    pub fn work(&self) -> PathBuf {
        match &self.agent {
            Agent::Claude(claude, _) => claude.work(),
            Agent::Codex(codex, _) => codex.work(),
        }
    }

    pub fn start(self) -> RunningTrial {
        let command = match &self.agent {
            Agent::Claude(claude, _) => claude.command(),
            Agent::Codex(codex, _) => codex.command(),
        };
        let command = match &self.etc {
            Some(etc) => wrapped(&command, etc),
            None => command,
        };
        let process = if self.mode.is_attended {
            AgentProcess::Attended(Terminal::spawn(&command))
        } else {
            AgentProcess::Alone(alone(command, &self))
        };
        RunningTrial { trial: self, process }
    }

    fn log(&self) -> PathBuf {
        match &self.agent {
            Agent::Claude(claude, _) => claude.folder().join("trial.log"),
            Agent::Codex(codex, _) => codex.folder().join("trial.log"),
        }
    }

    fn played(&self) -> usize {
        match &self.agent {
            Agent::Claude(_, fake) => fake.main_requests().len(),
            Agent::Codex(_, fake) => fake.played(),
        }
    }

    fn results(&self) -> Vec<String> {
        match &self.agent {
            Agent::Claude(_, fake) => {
                let requests = fake.main_requests();
                let results = requests.iter().flat_map(Recorded::tool_results);
                results.map(|result| result.text).collect()
            }
            Agent::Codex(_, fake) => {
                fake.assert_nothing_refused();
                fake.outputs()
            }
        }
    }
}

fn claude(mode: TrialMode<'_>, commands: &[&str], check: Option<ToolCheck>) -> Agent {
    let runs = |command: &&str| {
        let input = json!({ "command": command, "description": "For the test" });
        let turn = Turn::new().tool("Bash", input);
        match check {
            Some(check) => turn.checked(check),
            None => turn,
        }
    };
    let turns = commands.iter().map(runs).chain([Turn::text(LAST_WORDS)]);
    let fake = Messages::start(turns);
    // Root may skip permissions only where it says that it is in a sandbox.
    let claude = Claude::new(&fake).env("IS_SANDBOX", "1");
    let claude = if mode.is_attended {
        claude.at_terminal_in(mode.mode, "Go")
    } else {
        claude.prompt_in(mode.mode, "Go")
    };
    Agent::Claude(claude, fake)
}

fn codex(mode: TrialMode<'_>, commands: &[&str]) -> Agent {
    let runs = |command: &&str| {
        if mode.is_escalated {
            ResponsesReply::escalated(command)
        } else {
            ResponsesReply::command(command)
        }
    };
    let script = commands.iter().map(runs).chain([ResponsesReply::text(LAST_WORDS)]);
    let fake = Responses::start(script);
    // Without a terminal nothing asks whether a command may leave the sandbox.
    let sandbox = if mode.is_attended { "workspace-write" } else { "danger-full-access" };
    let mut settings = format!("sandbox_mode = {sandbox:?}\n");
    if !matches!(mode.mode, "" | "bypass") {
        settings = format!("{settings}approval_policy = {:?}\n", mode.mode);
    }
    let codex = Codex::new(&fake, &settings);
    let bypass = (mode.mode == "bypass").then_some("--dangerously-bypass-approvals-and-sandbox");
    let codex = if mode.is_attended { codex.args(["Go"]) } else { codex.exec("Go") };
    Agent::Codex(codex.args(bypass), fake)
}

fn alone(mut command: Command, trial: &Trial) -> Group {
    let log = fs::File::create(trial.log()).expect("the private folder can be written");
    let copy = log.try_clone().expect("an open file can be copied");
    command.stdin(Stdio::null()).stdout(log).stderr(copy);
    Group::spawn(command)
}
