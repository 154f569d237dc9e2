//! A CLI that takes no time of its own: it writes what the real one has written, and waits where
//! that one waited. The time of a request with it is the time of the request itself.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use serde_json::{Value, json};

use crate::conversation::{SERVER, Said, text};
use crate::lines::Input;
use crate::recorder::config_of;

/// Its name, a link to the benchmark.
pub(crate) const NAME: &str = "replay";
/// The file beside it with the output of the real CLI.
pub(crate) const SAID: &str = "said.jsonl";

pub(crate) fn run(folder: &Path) -> ExitCode {
    let said = fs::read_to_string(folder.join(SAID)).expect("the conversation was written down");
    let mut replay = Replay::new();
    for line in said.lines() {
        replay.say(line);
    }
    // The real one ends when its input does.
    while replay.input.next(&mut io::stdin()).is_some() {}
    ExitCode::SUCCESS
}

struct Replay {
    input: Input,
    bridge: Option<Bridge>,
    /// The id of the request to initialize, once it has arrived.
    initialize: Option<String>,
    is_asked: bool,
}

impl Replay {
    fn new() -> Self {
        let arguments: Vec<String> = env::args().collect();
        let bridge = Bridge::start(&server(&arguments));
        Self { input: Input::new(), bridge, initialize: None, is_asked: false }
    }

    fn say(&mut self, line: &str) {
        match (Said::read(line), &mut self.bridge) {
            (Said::Initialized(recorded), _) => {
                let id = self.wait_for_initialize();
                write(&line.replace(&recorded, &id));
            }
            (Said::ForServer { message, .. }, Some(bridge)) => bridge.exchange(&message),
            (Said::ForServer { id, .. }, None) => {
                write(line);
                self.wait_for_answer(&id);
            }
            (Said::Began, _) => {
                self.wait_for_user();
                write(line);
            }
            (Said::Answered | Said::Other, _) => write(line),
        }
    }

    fn wait_for_initialize(&mut self) -> String {
        while self.initialize.is_none() {
            self.hear();
        }
        self.initialize.take().expect("it has come")
    }

    fn wait_for_user(&mut self) {
        while !self.is_asked {
            self.hear();
        }
    }

    fn wait_for_answer(&mut self, id: &str) {
        while self.hear()["response"]["request_id"] != id {}
    }

    fn hear(&mut self) -> Value {
        let line =
            self.input.next(&mut io::stdin()).expect("the input stays open until the answer");
        let line: Value = serde_json::from_str(&line).expect("the input is JSON");
        match line["type"].as_str().unwrap_or_default() {
            "control_request" => self.initialize = Some(text(&line["request_id"])),
            "user" => self.is_asked = true,
            _ => {}
        }
        line
    }
}

fn write(line: &str) {
    let mut output = io::stdout();
    output.write_all(format!("{line}\n").as_bytes()).expect("somebody listens");
    output.flush().expect("somebody listens");
}

/// The contender's MCP server, as the CLI gets it.
fn server(arguments: &[String]) -> Value {
    let config = config_of(arguments).expect("the CLI is told of a server");
    let config = if config.starts_with('{') {
        config.to_owned()
    } else {
        fs::read_to_string(config).expect("the file is there")
    };
    let mut config: Value = serde_json::from_str(&config).expect("the servers are JSON");
    config["mcpServers"][SERVER].take()
}

/// A server that the CLI has to start.
struct Bridge {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    lines: Input,
}

impl Bridge {
    /// `None` if the server is behind the control channel.
    fn start(server: &Value) -> Option<Self> {
        let program = server["command"].as_str()?;
        let arguments = server["args"].as_array().into_iter().flatten().map(text);
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the bridge can be started");
        let input = child.stdin.take().expect("stdin is piped");
        let output = child.stdout.take().expect("stdout is piped");
        Some(Self { child, input, output, lines: Input::new() })
    }

    fn exchange(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).expect("the bridge reads");
        if message.get("id").is_some() {
            let answer = self.lines.next(&mut self.output).expect("the bridge answers");
            let answer: Value = serde_json::from_str(&answer).expect("an answer is JSON");
            assert!(answer["result"] != json!(null), "the bridge refuses: {answer}");
        }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
