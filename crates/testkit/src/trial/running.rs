//! An agent at work, and what came of it.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use super::{AgentProgram, Trial};
use crate::process::{DEADLINE, Group};
use crate::terminal::Terminal;
use crate::until::until_or;

/// An agent at work. Dropping it ends the agent.
#[derive(Debug)]
pub struct RunningTrial {
    pub(super) trial: Trial,
    pub(super) process: AgentProcess,
}

#[derive(Debug)]
pub(super) enum AgentProcess {
    Attended(Terminal),
    Alone(Group),
}

impl RunningTrial {
    /// Waits until the agent has tried all commands and its model has had its last word, or until
    /// it has opened its own dialog, which nobody answers: then the agent is ended.
    pub fn end(self) -> TrialOutcome {
        self.wait(true)
    }

    /// Like [`end`](Self::end), for a dialog that somebody else answers at the desk.
    pub fn end_after_dialog(self) -> TrialOutcome {
        self.wait(false)
    }

    /// Types at its terminal.
    pub fn press(&mut self, keys: &str) {
        match &mut self.process {
            AgentProcess::Attended(terminal) => terminal.press(keys),
            AgentProcess::Alone(_) => panic!("nobody sits at a terminal"),
        }
    }

    /// Returns how many turns its model was asked for: one more than commands were decided.
    pub fn played(&self) -> usize {
        self.trial.played()
    }

    /// Returns the text of the agent's own dialog about this command, if it has opened one.
    pub fn dialog_about(&self, command: &str) -> Option<String> {
        match &self.process {
            AgentProcess::Attended(terminal) => {
                self.trial.mode.agent.dialog_about(&terminal.written(), command)
            }
            AgentProcess::Alone(_) => None,
        }
    }

    /// Says yes in the agent's own dialog, whose text this is.
    pub fn say_yes(&mut self, dialog: &str) {
        let key = self.trial.mode.agent.yes(dialog);
        match self.trial.mode.agent {
            AgentProgram::Claude => while !self.has_taken(&key) {},
            AgentProgram::Codex => self.press(&key),
        }
    }

    /// Chooses in a dialog of Claude Code. Returns false if it has not taken the choice, and asks
    /// for one again.
    fn has_taken(&mut self, key: &str) -> bool {
        let (played, before) = (self.played(), self.written().len());
        self.press(key);
        // Both keys at once would be taken for a text. The choice appears behind a blank, and then
        // the cursor is moved.
        let shown = format!(" {key}\u{1b}[");
        self.wait_until("the choice is not shown", |it| it.written()[before..].contains(&shown));
        let before = self.written().len();
        self.press("\r");
        let is_taken =
            |it: &Self| it.played() > played || it.written()[before..].contains("Running");
        self.wait_until("the choice is not taken", |it| {
            is_taken(it) || it.written()[before..].contains("Select with numbers")
        });
        is_taken(self)
    }

    fn wait_until(&self, otherwise: &str, mut is_so: impl FnMut(&Self) -> bool) {
        until_or(|| format!("{otherwise}\n{}", self.written()), || is_so(self));
    }

    /// Returns true if all commands were tried and the model has had its last word.
    pub fn is_over(&mut self) -> bool {
        match &mut self.process {
            // What is left to do after the last word does not concern the commands.
            AgentProcess::Attended(_) => self.trial.played() == self.trial.turns,
            AgentProcess::Alone(group) => group.wait(Duration::ZERO).is_some(),
        }
    }

    /// Returns the folder that the agent works in.
    pub fn work(&self) -> PathBuf {
        self.trial.work()
    }

    fn has_dialog(&self) -> bool {
        match &self.process {
            AgentProcess::Attended(terminal) => {
                terminal.written().contains(self.trial.mode.agent.dialog())
            }
            AgentProcess::Alone(_) => false,
        }
    }

    /// Returns what came of it so far, and ends the agent.
    pub fn stop(self) -> TrialOutcome {
        let (has_dialog, written) = (self.has_dialog(), self.written());
        let results = self.trial.results();
        TrialOutcome { has_dialog, results, written, trial: self.trial }
    }

    fn wait(mut self, stops_at_dialog: bool) -> TrialOutcome {
        let end = Instant::now() + 4 * DEADLINE;
        loop {
            if self.is_over() || (stops_at_dialog && self.has_dialog()) {
                break;
            }
            assert!(Instant::now() < end, "the agent does not end\n{}", self.written());
            thread::sleep(Duration::from_millis(5));
        }
        self.stop()
    }

    /// Returns all that the agent wrote so far.
    pub fn written(&self) -> String {
        match &self.process {
            AgentProcess::Attended(terminal) => terminal.written(),
            AgentProcess::Alone(_) => fs::read_to_string(self.trial.log()).unwrap_or_default(),
        }
    }
}

/// What came of a trial.
#[derive(Debug)]
pub struct TrialOutcome {
    /// Whether the agent opened its own dialog.
    pub has_dialog: bool,
    /// What the model was told of each command that was decided.
    pub results: Vec<String>,
    /// All that the agent wrote.
    pub written: String,
    trial: Trial,
}

impl TrialOutcome {
    /// Returns true if a file of this name is in the agent's folder.
    pub fn made(&self, name: &str) -> bool {
        self.trial.work().join(name).exists()
    }

    /// Returns the text of a file, whose path is relative to the agent's folder.
    pub fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.trial.work().join(name)).ok()
    }
}
