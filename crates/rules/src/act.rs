//! What an agent is about to do, in the terms that rules use.

pub(crate) mod follow;
mod input;
mod tools;
pub(crate) mod touch;
pub(crate) mod url;
mod written;

use std::collections::BTreeMap;

use callgate_wire::raw::{MOST_LEVELS, check_exact};
use callgate_wire::tool_act::ToolKind;

use crate::glob::PatternToken;
use crate::place;
use crate::shell::loose::PossibleRuns;
use crate::shell::{ShellCommand, ShellScript};
use crate::steps;

pub use callgate_wire::tool_act::OWN_AGENT;
pub(crate) use tools::class_of_kind as class_of;
pub(crate) use url::{host_of, split_port};

/// The most strings of an unknown tool's input that are examined. An input with more is asked
/// about, because each of them could be a path or a command.
pub const MOST_STRINGS: usize = 10_000;

/// The largest input whose arguments rules can check, because every condition reads all of it
/// again. For a larger one every condition of a deny holds, and none of an allow.
pub const LARGEST_INPUT: usize = 256 * 1024;
/// The command that is denied whatever the rules are, so that a gate can be tested.
pub const SELF_TEST_COMMAND: &str = "callgate-self-test";
/// The longest tool or agent name that is compared with rules. An act with a longer one is asked
/// about, because every rule compares it with its patterns.
const LONGEST_NAME: usize = 1_000;

callgate_wire::words! {
    #[derive(Default)]
    pub enum ActClass {
        Read "read",
        Write "write",
        /// It runs a command.
        Run "run",
        /// It connects to other machines.
        Network "network",
        /// Everything else; its effect is unknown.
        #[default]
        Other "other",
    }
}

/// One tool call that an agent is about to make.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Act {
    /// The tool, as the agent names it.
    pub tool: String,
    pub(crate) kind: ToolKind,
    pub class: ActClass,
    pub command: Option<String>,
    /// The files and folders it names, absolute and without `..`; not those of a command.
    pub paths: Vec<String>,
    /// The hosts it connects to, in lower case, with the port if one is given.
    pub hosts: Vec<String>,
    /// The folder in which the agent works.
    pub project: String,
    pub agent: String,
    /// The home, which `~` names.
    pub home: String,
    /// Why the effect is unknown, in words that follow "because"; nothing allows such an act.
    pub unsure: Option<&'static str>,
    /// The folders that the input of a command names to run in.
    pub(crate) cwds: Vec<String>,
    /// The folder in which our own runtime would run a command, as written: the system resolves its
    /// `..` and its links in their order.
    pub(crate) run_in: Option<String>,
    /// Whether it reads everything in its folders.
    pub(crate) is_search: bool,
    /// Whether one of its paths may lead anywhere.
    pub(crate) is_lost: bool,
    /// The tool's input, if it is one JSON object and not larger than [`LARGEST_INPUT`].
    pub(crate) input: Option<String>,
    /// All texts in the input of an unknown tool.
    pub(crate) strings: Vec<String>,
    /// The targets of those of these texts that lead through links.
    pub(crate) string_targets: Vec<String>,
    pub(crate) script: Option<ShellScript>,
    /// Everything that could run: in its script, or in the input of an unknown tool.
    pub(crate) runs: PossibleRuns,
    pub(crate) touched: Vec<Vec<PatternToken>>,
    /// The paths that its commands write.
    pub(crate) written: Vec<Vec<PatternToken>>,
    /// The folders that it searches, removes or moves with all their contents.
    pub(crate) swept: Vec<Vec<PatternToken>>,
    /// The folders whose contents it passes to a program by a list.
    pub(crate) listed: Vec<Vec<PatternToken>>,
    /// The project's folder without links, if that is another name.
    pub(crate) real_project: Option<String>,
    /// The user's folder without links, if that is another name.
    pub(crate) real_home: Option<String>,
    /// The targets of the paths of commands that lead through links.
    pub(crate) targets: BTreeMap<String, Vec<String>>,
    /// Why it cannot be done at all, in a sentence.
    pub(crate) refused: Option<String>,
    /// Whether it was too long to be read completely.
    pub(crate) is_cut: bool,
}

impl Act {
    /// Reads a tool call. `tool_input` is a JSON object; `cwd` and `home` are absolute.
    ///
    /// It knows the tools that [`ToolKind`] knows. For input that it cannot read, [`Act::unsure`]
    /// gives the reason, and no rule allows the act.
    pub fn from_call(tool: &str, tool_input: &str, cwd: &str, agent: &str, home: &str) -> Self {
        let kind = ToolKind::for_tool(agent, tool);
        let mut act = Self {
            tool: tool.to_owned(),
            kind,
            class: tools::class_of_kind(kind),
            // Paths are absolute everywhere, also in an act whose folder is refused below.
            project: "/".to_owned(),
            agent: agent.to_owned(),
            home: "/".to_owned(),
            ..Self::default()
        };
        // The part of a long input that was read still counts for rules that deny.
        let ((), is_read) =
            steps::run_with_budget(steps::READING, || act.read_input(tool_input, cwd, home));
        // This has a budget of its own, because the reading may have spent all of the other.
        let ((), is_placed) = steps::run_with_budget(steps::PLACING, || act.find_paths());
        act.is_cut = !is_read || !is_placed || tool.len().max(agent.len()) > LONGEST_NAME;
        act
    }

    fn read_input(&mut self, tool_input: &str, cwd: &str, home: &str) {
        // Checked first, because every relative path of the input is joined with it.
        self.refuse_overlong(cwd);
        if self.refused.is_some() {
            return;
        }
        self.project = place::normal_path(cwd);
        self.home = place::normal_path(home);
        if !cwd.starts_with('/') || !home.starts_with('/') {
            self.note_doubt("the working folder or the home is not an absolute path");
        }
        // The input is one level below the message that it comes in.
        match check_exact(tool_input, MOST_LEVELS - 1) {
            Ok(()) => {
                tools::fill_act(self, tool_input);
                if self.command.as_deref().map(str::trim) == Some(SELF_TEST_COMMAND) {
                    let because = "it is the command with which callgate tests itself".to_owned();
                    self.refused.get_or_insert(because);
                }
            }
            Err(error) => {
                let because = format!("its input is ambiguous JSON: {error}");
                self.refused.get_or_insert(because);
            }
        }
    }

    fn find_paths(&mut self) {
        self.touched = touch::touched_paths(self);
        self.swept = touch::swept_folders(self);
        self.listed = touch::listed_folders(self);
        self.written = written::written_paths(self);
        // Comes last, because it examines the paths found above.
        self.look_for_lost();
    }

    pub(crate) fn note_doubt(&mut self, reason: &'static str) {
        self.unsure.get_or_insert(reason);
    }

    /// Refuses a path that is longer than operating systems accept.
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

    /// Turns this into an act that runs a script.
    pub(crate) fn set_script(&mut self, text: String, script: ShellScript) {
        self.runs = PossibleRuns::from_script(&script, &self.home);
        self.command = Some(text);
        self.script = Some(script);
    }

    /// Returns the simple commands, if the command line was fully understood.
    pub fn commands(&self) -> Option<&[ShellCommand]> {
        let script = self.script.as_ref()?;
        (self.unsure.is_none() && script.is_clear()).then_some(script.commands.as_slice())
    }

    /// Returns true if texts of an unknown tool are read as commands, which it may or may not run.
    pub(crate) fn has_possible_commands(&self) -> bool {
        self.script.is_none() && !self.runs.commands.is_empty()
    }

    /// Returns why nothing may allow this by itself, if something forbids it.
    pub fn doubt_reason(&self) -> Option<String> {
        if let Some(reason) = self.unsure {
            return Some(reason.to_owned());
        }
        let script = self.script.as_ref()?;
        (!script.is_clear()).then(|| {
            format!("the command is not fully understood: it has {}", script.unclear.join(", "))
        })
    }
}

#[cfg(test)]
mod tests;
