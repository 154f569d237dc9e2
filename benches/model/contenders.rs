//! The contenders: the model with both of its transports for tools, and the peer in Python.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use callgate_testkit::claude::Claude;
use callgate_testkit::messages::Messages;
use tempfile::TempDir;

use crate::bare::{self, Bare};
use crate::common::child::Watched;
use crate::common::peers::{compile, peer};
use crate::common::watchdog::Watchdog;
use crate::conversation::{ANSWER, PROMPT, turns};
use crate::lines::Input;
use crate::{recorder, replay, worker};

/// The index of each contender in all arrays.
pub(crate) const AUTO: usize = 0;
pub(crate) const STDIO: usize = 1;
pub(crate) const PYTHON: usize = 2;
pub(crate) const ALL: [usize; 3] = [AUTO, STDIO, PYTHON];
const NAMES: [&str; 3] = ["callgate", "callgate by a bridge", "the Python SDK"];

/// One figure for each contender.
pub(crate) type Trio = [f64; 3];
/// One trio for each round.
pub(crate) type Series = crate::common::series::Series<3>;

/// Which contender's way of starting the CLI it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    Ours,
    Theirs,
}

pub(crate) fn manner(contender: usize) -> Manner {
    if contender == PYTHON { Manner::Theirs } else { Manner::Ours }
}

/// The environment of all: the service, the CLI, its folders, and its substitutes.
pub(crate) struct Workshop {
    service: Messages,
    claude: Claude,
    folder: TempDir,
    python: PathBuf,
    pub(crate) cli: PathBuf,
    pub(crate) cpu_clock: PathBuf,
}

impl Workshop {
    pub(crate) fn new(cli: PathBuf, python: PathBuf) -> Self {
        let service = Messages::start([]);
        let claude = Claude::new(&service);
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let cpu_clock = compile(folder.path(), "cpu_clock");
        let workshop = Self { service, claude, folder, python, cli, cpu_clock };
        fs::create_dir(workshop.temporary()).expect("the folder is fresh");
        for manner in [Manner::Ours, Manner::Theirs] {
            workshop.place_stand_ins(&workshop.of(manner));
        }
        workshop
    }

    fn place_stand_ins(&self, folder: &Path) {
        fs::create_dir(folder).expect("the folder is fresh");
        let own = std::env::current_exe().expect("the benchmark is a file");
        for (to, name) in [(&self.cli, recorder::CLI), (&own, recorder::NAME), (&own, replay::NAME)]
        {
            symlink(to, folder.join(name)).expect("the folder is fresh");
        }
    }

    /// Returns the folder with the substitutes for one way of starting.
    fn of(&self, manner: Manner) -> PathBuf {
        let name = if manner == Manner::Ours { "ours" } else { "theirs" };
        self.folder.path().join(name)
    }

    fn temporary(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// Returns the CLI that takes no time.
    pub(crate) fn replay(&self, manner: Manner) -> PathBuf {
        self.of(manner).join(replay::NAME)
    }

    /// Prepares the service for another conversation with the real CLI.
    pub(crate) fn expect_conversation(&self) {
        self.service.extend(turns());
    }

    /// Fails if a conversation was not completed.
    pub(crate) fn check(&self) {
        self.service.assert_played();
    }

    /// Records how a contender starts the CLI and what the CLI writes then.
    pub(crate) fn record(&self, manner: Manner, watchdog: &Watchdog) -> Bare {
        let folder = self.of(manner);
        let contender = if manner == Manner::Ours { AUTO } else { PYTHON };
        self.expect_conversation();
        self.start(contender, watchdog).time(&folder.join(recorder::NAME));
        let results = self.service.last().tool_results();
        assert!(results.iter().any(|result| !result.is_error), "the tool was not called");
        let bare = Bare::new(&folder, &self.claude.work());
        self.expect_conversation();
        let (_, said) = bare.run(&self.cli, watchdog);
        bare::save(&said, &folder.join(replay::SAID));
        bare
    }

    /// Starts a contender's process, which then waits for orders.
    pub(crate) fn start(&self, contender: usize, watchdog: &Watchdog) -> Worker {
        let mut command = match contender {
            PYTHON => self.python(),
            AUTO => self.callgate(worker::AUTO),
            _ => self.callgate(worker::STDIO),
        };
        command.env_clear();
        command.envs(self.claude.environment().iter().map(|(name, value)| (name, value)));
        Worker::start(NAMES[contender], &mut command, watchdog)
    }

    fn callgate(&self, transport: &str) -> Command {
        let own = std::env::current_exe().expect("the benchmark is a file");
        let mut command = Command::new(own);
        command.args([worker::NAME, transport]).arg(self.claude.work()).arg(self.temporary());
        command
    }

    fn python(&self) -> Command {
        let mut command = Command::new(&self.python);
        command.arg("-O").arg(peer("agent_sdk.py")).arg(self.claude.work());
        command.args([PROMPT, ANSWER]);
        command
    }
}

/// A contender's process.
pub(crate) struct Worker {
    name: &'static str,
    child: Watched,
    lines: Input,
}

impl Worker {
    fn start(name: &'static str, command: &mut Command, watchdog: &Watchdog) -> Self {
        Self { name, child: Watched::start(name, command, watchdog), lines: Input::new() }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Sends one request with this CLI; returns the milliseconds.
    pub(crate) fn time(&mut self, cli: &Path) -> f64 {
        let answer = self.exchange(&format!("{}\n", cli.display()));
        answer.parse::<f64>().expect("a worker tells nanoseconds") / 1e6
    }

    /// Returns what the bridge of one request has used when the tool is called: milliseconds of a
    /// processor, and megabytes.
    pub(crate) fn look(&mut self, cli: &Path) -> (f64, f64) {
        let answer = self.exchange(&format!("{}{}\n", worker::LOOK, cli.display()));
        let (cpu, memory) = answer.split_once(' ').expect("a worker tells two figures");
        let number = |text: &str| text.parse::<f64>().expect("a figure is a number");
        (number(cpu) / 1e3, number(memory) * 1024.0 / 1e6)
    }

    fn exchange(&mut self, line: &str) -> String {
        let name = self.name;
        let input = self.child.input.as_mut().expect("it is never closed");
        input.write_all(line.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
        self.lines.next(&mut self.child.output).unwrap_or_else(|| panic!("{name} has ended"))
    }
}
