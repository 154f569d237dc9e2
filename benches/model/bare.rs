//! The CLI alone: it gets prepared lines and immediate answers, with as little work as possible.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::PoisonError;
use std::thread;
use std::time::{Duration, Instant};

use callgate_wire::control;
use serde_json::json;

use crate::common::child::Watched;
use crate::common::watchdog::Watchdog;
use crate::conversation::{PROMPT, Said, server_says};
use crate::lines::Input;
use crate::recorder::Start;

/// The id of the first request.
const INITIALIZE: &str = "initialize";
/// How often to check whether the CLI has ended, once its output has.
const A_MOMENT: Duration = Duration::from_micros(50);

/// The CLI as one of the contenders starts it.
pub(crate) struct Bare {
    start: Start,
    work: PathBuf,
    opening: String,
}

impl Bare {
    /// Creates it as it was recorded in `folder`.
    pub(crate) fn new(folder: &Path, work: &Path) -> Self {
        let opening = control::request_line(INITIALIZE, &json!({"subtype": "initialize"}))
            + &control::user_message(&json!(PROMPT), "", true);
        Self { start: Start::load(folder), work: work.to_owned(), opening }
    }

    /// Runs one conversation; returns the milliseconds from the CLI's start to its end, and its
    /// output.
    pub(crate) fn run(&self, cli: &Path, watchdog: &Watchdog) -> (f64, Vec<String>) {
        let begin = Instant::now();
        let mut command = Command::new(cli);
        command.args(&self.start.arguments).current_dir(&self.work).stderr(Stdio::null());
        command.env_clear().envs(&self.start.environment);
        let mut child = Watched::start("the CLI", &mut command, watchdog);
        write(&mut child.input, &self.opening);
        let said = converse(&mut child);
        wait(&child);
        (begin.elapsed().as_secs_f64() * 1e3, said)
    }
}

/// Reads the output of the CLI, and answers its requests.
fn converse(child: &mut Watched) -> Vec<String> {
    let Watched { input, output, .. } = child;
    let mut lines = Input::new();
    let mut all = Vec::new();
    while let Some(line) = lines.next(output) {
        match Said::read(&line) {
            Said::ForServer { id, message } => {
                let response = serde_json::json!({"mcp_response": server_says(&message)});
                write(input, &control::success_line(&id, &response.to_string()));
            }
            Said::Answered => *input = None,
            Said::Initialized(_) | Said::Began | Said::Other => {}
        }
        all.push(line);
    }
    assert!(input.is_none(), "the CLI has ended without an answer: {all:#?}");
    all
}

fn write(input: &mut Option<ChildStdin>, lines: &str) {
    let input = input.as_mut().expect("it is not closed before the answer");
    input.write_all(lines.as_bytes()).expect("the CLI reads");
}

fn wait(child: &Watched) {
    loop {
        let mut process = child.child.lock().unwrap_or_else(PoisonError::into_inner);
        if process.try_wait().expect("it is our child").is_some() {
            return;
        }
        drop(process);
        thread::sleep(A_MOMENT);
    }
}

/// Records a conversation for the CLI that takes no time.
pub(crate) fn save(said: &[String], path: &Path) {
    fs::write(path, said.join("\n")).expect("the folder can be written");
}
