//! What an agent is about to do, in the terms that rules use.

pub(crate) mod follow;
mod input;
mod patch;
mod tools;
pub(crate) mod touch;
mod url;

use std::collections::BTreeMap;
use std::fmt;

use crate::glob::Tok;
use crate::place;
use crate::shell::loose::PossibleRuns;
use crate::shell::{ShellCommand, ShellScript};
use crate::steps;

pub(crate) use tools::{RUN_TOOLS, WRITE_TOOLS};
pub(crate) use url::{host_of, split_port};

/// The name under which callgate's own runtime is known to rules.
pub const OWN_AGENT: &str = "callgate";
/// The most strings of an unknown tool's input that are looked through.
pub const MOST_STRINGS: usize = 10_000;

/// The largest input into whose arguments rules look.
pub const LARGEST_INPUT: usize = 256 * 1024;
/// The longest name of a tool or an agent that is compared with rules.
const LONGEST_NAME: usize = 1_000;

/// What kind of thing an act does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Class {
    /// It looks at files.
    Read,
    /// It changes files.
    Write,
    /// It runs a command.
    Run,
    /// It connects to other machines.
    Network,
    /// Everything else; what it does is not known.
    #[default]
    Other,
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Run, Self::Network, Self::Other];

    /// Returns the class's name in rules.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Run => "run",
            Self::Network => "network",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One use of one tool that an agent is about to make.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Act {
    /// The tool, as the agent names it.
    pub tool: String,
    /// What kind of thing it does.
    pub class: Class,
    /// The command line, if it runs one.
    pub command: Option<String>,
    /// The files and folders it names, absolute and without `..`; not those of a command.
    pub paths: Vec<String>,
    /// The hosts it connects to, in lower case, with the port if one is given.
    pub hosts: Vec<String>,
    /// The folder in which the agent works.
    pub project: String,
    /// The agent.
    pub agent: String,
    /// The home, which `~` names.
    pub home: String,
    /// Why it is not known what this does, in words that follow "because"; then nothing allows it.
    pub unsure: Option<&'static str>,
    /// The folders that the input of a command names to run in.
    pub(crate) cwds: Vec<String>,
    /// The folder in which our own runtime would run a command, as it is written.
    pub(crate) run_in: Option<String>,
    /// Whether it looks at all that lies in its folders.
    pub(crate) is_search: bool,
    /// Whether a path of it may lead anywhere.
    pub(crate) is_lost: bool,
    /// The tool's input as it came, when it is one JSON object and not larger than
    /// [`LARGEST_INPUT`].
    pub(crate) input: Option<String>,
    /// All texts in the input of a tool that is not known.
    pub(crate) strings: Vec<String>,
    pub(crate) script: Option<ShellScript>,
    pub(crate) runs: PossibleRuns,
    /// The paths that it could touch.
    pub(crate) touched: Vec<Vec<Tok>>,
    /// The folders that it searches, removes or moves with all that is in them.
    pub(crate) swept: Vec<Vec<Tok>>,
    /// The project's folder without links, if that is another name.
    pub(crate) real_project: Option<String>,
    /// The user's folder without links, if that is another name.
    pub(crate) real_home: Option<String>,
    /// The targets of the paths of commands that lead through links.
    pub(crate) targets: BTreeMap<String, Vec<String>>,
    /// Why it cannot be done at all, in a sentence.
    pub(crate) refused: Option<String>,
    /// Whether it was too long to be read wholly.
    pub(crate) is_cut: bool,
}

impl Act {
    /// Reads a call of a tool. `tool_input` is its JSON object, `cwd` and `home` are absolute.
    ///
    /// It knows the tools of Claude Code, of Codex and of callgate's own runtime. Input that it
    /// cannot read makes an act of which [`Act::unsure`] says why, and which no rule allows.
    #[must_use]
    pub fn of(tool: &str, tool_input: &str, cwd: &str, agent: &str, home: &str) -> Self {
        let mut act = Self {
            tool: tool.to_owned(),
            class: tools::class(tool),
            project: "/".to_owned(),
            agent: agent.to_owned(),
            home: "/".to_owned(),
            ..Self::default()
        };
        // What was read of a long input is placed all the same, for rules that deny it.
        let ((), is_read) = steps::within(steps::READING, || act.read(tool_input, cwd, home));
        let ((), is_placed) = steps::within(steps::PLACING, || act.place());
        act.is_cut = !is_read || !is_placed || tool.len().max(agent.len()) > LONGEST_NAME;
        act
    }

    fn read(&mut self, tool_input: &str, cwd: &str, home: &str) {
        self.refuse_overlong(cwd);
        if self.refused.is_some() {
            return;
        }
        self.project = place::normal(cwd);
        self.home = place::normal(home);
        if !cwd.starts_with('/') || !home.starts_with('/') {
            self.doubt("the working folder or the home is no absolute path");
        }
        tools::fill(self, tool_input);
    }

    /// Finds the paths that it could touch.
    fn place(&mut self) {
        self.touched = touch::paths(self);
        self.swept = touch::swept(self);
        self.look_for_lost();
    }

    pub(crate) fn doubt(&mut self, why: &'static str) {
        self.unsure.get_or_insert(why);
    }

    /// Refuses a path that is longer than systems accept.
    pub(crate) fn refuse_overlong(&mut self, path: &str) {
        let (length, longest) = (path.len(), place::LONGEST);
        if length > longest {
            self.refused.get_or_insert_with(|| {
                format!(
                    "a path in it has {length} bytes, and no system takes more than \
                     {longest}: give a shorter one"
                )
            });
        }
    }

    /// Makes this an act that runs a script.
    pub(crate) fn run(&mut self, text: String, script: ShellScript) {
        self.runs = PossibleRuns::of(&script, &self.home);
        self.command = Some(text);
        self.script = Some(script);
    }

    /// Returns the simple commands, when the command line was fully understood.
    #[must_use]
    pub fn commands(&self) -> Option<&[ShellCommand]> {
        let script = self.script.as_ref()?;
        (self.unsure.is_none() && script.is_clear()).then_some(script.commands.as_slice())
    }

    /// Returns true if what is not known of a path is a matter of file names only.
    pub(crate) fn is_clear(&self) -> bool {
        self.script.as_ref().is_none_or(ShellScript::is_clear)
    }

    /// Returns why nothing may allow this by itself, if something forbids it.
    #[must_use]
    pub fn doubts(&self) -> Option<String> {
        if let Some(why) = self.unsure {
            return Some(why.to_owned());
        }
        let script = self.script.as_ref()?;
        (!script.is_clear()).then(|| {
            format!("the command is not fully understood: it has {}", script.unclear.join(", "))
        })
    }
}

#[cfg(test)]
mod tests;
