//! A runtime with a private home, a folder to work in, and a front end that waits with a deadline.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;

use callgate_testkit::messages::Messages;
use callgate_testkit::process::{DEADLINE, Piped};
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The user and group `nobody`.
const NOBODY: u32 = 65534;

/// What a runtime is started with.
#[derive(Clone)]
pub(crate) struct Setup {
    home: Arc<TempDir>,
    env: Vec<(String, String)>,
    args: Vec<String>,
}

impl Setup {
    /// A fresh home, nothing configured.
    pub(crate) fn new() -> Self {
        let home = Arc::new(TempDir::with_prefix("callgate-agent-").unwrap());
        fs::create_dir(home.path().join("work")).unwrap();
        // What else listens on this machine is none of the test's business.
        let ports = ("CALLGATE_AGENT_LOCAL_PORTS".to_owned(), "1".to_owned());
        // On a busy machine, servers take longer to start than a person would wait.
        let wait = ("CALLGATE_AGENT_MCP_WAIT_SECONDS".to_owned(), "10".to_owned());
        let env = vec![ports, wait];
        Self { home, env, args: Vec::new() }
    }

    /// Asks this fake of the Messages API.
    pub(crate) fn on(fake: &Messages) -> Self {
        Self::new().env("ANTHROPIC_API_KEY", "sk-test").env("ANTHROPIC_BASE_URL", &fake.url())
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.to_owned());
        self
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// The folder in which the tools work.
    pub(crate) fn work(&self) -> PathBuf {
        self.home.path().join("work")
    }

    /// The file with the ledger and the conversations.
    pub(crate) fn database(&self) -> PathBuf {
        self.home.path().join(".local/share/callgate/callgate.db")
    }

    /// Puts a file into the folder in which the tools work.
    pub(crate) fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// The settings file.
    pub(crate) fn config(self, toml: &str) -> Self {
        let folder = self.home.path().join(".config/callgate");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), toml).unwrap();
        self
    }

    /// The user's rules.
    pub(crate) fn rules(self, toml: &str) -> Self {
        let setup = self.config("");
        fs::write(setup.home().join(".config/callgate/rules.toml"), toml).unwrap();
        setup
    }

    /// Lets commands run unasked.
    pub(crate) fn runs(self) -> Self {
        self.rules("[[rule]]\nname = \"run\"\ndecide = \"allow\"\ncommand = \"*\"\n")
    }

    /// Lets files be written unasked.
    pub(crate) fn writes(self) -> Self {
        let rule =
            "[[rule]]\nname = \"write\"\ndecide = \"allow\"\nclass = \"write\"\npath = \"/**\"\n";
        self.rules(rule)
    }

    /// Puts a program for `sh` into the folder in which the tools work.
    pub(crate) fn script(self, name: &str, body: &str) -> Self {
        let setup = self.file(name, format!("#!/bin/sh\n{body}\n"));
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(setup.work().join(name), mode).unwrap();
        setup
    }

    /// Puts a named pipe into the folder in which the tools work.
    pub(crate) fn pipe(self, name: &str) -> Self {
        let status = Command::new("mkfifo").arg(self.work().join(name)).status().unwrap();
        assert!(status.success());
        self
    }

    /// The command of the runtime.
    pub(crate) fn command(&self) -> Command {
        self.program(&["agent"])
    }

    /// Another command of the program in the same surroundings.
    pub(crate) fn program(&self, command: &[&str]) -> Command {
        let mut program = Command::new(env!("CARGO_BIN_EXE_callgate"));
        program.args(command).args(&self.args).env_clear().current_dir(self.work());
        program.env("HOME", self.home()).env("PATH", std::env::var("PATH").unwrap());
        program.env("CALLGATE_SOCKET", self.home().join("ask.sock"));
        program.envs(self.env.iter().map(|(name, value)| (name, value)));
        program
    }

    /// The command of the runtime, as a user to whom permissions apply: root may look and write
    /// everywhere, so it is another user's runtime then.
    pub(crate) fn command_without_root(&self) -> Command {
        let command = self.command();
        if fs::metadata("/proc/self").unwrap().uid() != 0 {
            return command;
        }
        let program = self.home().join("callgate");
        fs::copy(command.get_program(), &program).unwrap();
        for place in [self.home(), &self.work()] {
            chown(place, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let mut other = Command::new("setpriv");
        let ids = format!("--reuid={NOBODY} --regid={NOBODY} --clear-groups");
        other.args(ids.split(' ')).arg(program).args(command.get_args()).env_clear();
        other.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        other.current_dir(self.work());
        other
    }

    /// Starts a runtime and reads its `ready`.
    pub(crate) fn start(&self) -> Runtime {
        self.start_by(self.command())
    }

    /// Starts a runtime by a command of this setup and reads its `ready`.
    pub(crate) fn start_by(&self, command: Command) -> Runtime {
        let mut piped = Piped::spawn(command);
        let ready = piped.recv();
        assert_eq!(ready["type"], "ready", "{ready}");
        Runtime { piped, setup: self.clone(), early: Vec::new() }
    }
}

/// A running runtime.
pub(crate) struct Runtime {
    pub(crate) piped: Piped,
    pub(crate) setup: Setup,
    /// What came before it was asked for.
    early: Vec<Value>,
}

impl Runtime {
    pub(crate) fn send(&mut self, request: &Value) {
        self.piped.send(request.to_string());
    }

    /// Sends a message of the user's.
    pub(crate) fn say(&mut self, id: &str, message: &str) {
        self.send(&json!({"id": id, "kind": "user_message", "message": message}));
    }

    /// Sends a message of the user's in a conversation.
    pub(crate) fn say_in(&mut self, conversation: &str, id: &str, message: &str) {
        let metadata = json!({"conversationId": conversation});
        self.send(
            &json!({"id": id, "kind": "user_message", "message": message, "metadata": metadata}),
        );
    }

    /// Greets, with all that most front ends take.
    pub(crate) fn hello(&mut self) {
        self.hello_with(&["thinking", "tool_progress", "permission", "notice"]);
    }

    /// Greets, with these capabilities.
    pub(crate) fn hello_with(&mut self, capabilities: &[&str]) {
        self.send(&json!({"id": "hello", "kind": "hello", "capabilities": capabilities}));
        assert_eq!(self.end("hello")["type"], "done");
    }

    /// The next response, to whatever request.
    pub(crate) fn next(&mut self) -> Value {
        if self.early.is_empty() { self.piped.recv() } else { self.early.remove(0) }
    }

    /// The next response to this request; others stay for later.
    pub(crate) fn next_of(&mut self, id: &str) -> Value {
        if let Some(at) = self.early.iter().position(|response| response["id"] == id) {
            return self.early.remove(at);
        }
        loop {
            let response = self.piped.recv();
            if response["id"] == id {
                return response;
            }
            self.early.push(response);
        }
    }

    /// Reads until something of this type comes for the request.
    pub(crate) fn until(&mut self, id: &str, kind: &str) -> Value {
        loop {
            let response = self.next_of(id);
            assert!(response["type"] == kind || !is_end(&response), "no {kind}, but {response}");
            if response["type"] == kind {
                return response;
            }
        }
    }

    /// All responses to this request, its end included.
    pub(crate) fn all(&mut self, id: &str) -> Vec<Value> {
        let mut all = Vec::new();
        loop {
            all.push(self.next_of(id));
            if is_end(&all[all.len() - 1]) {
                return all;
            }
        }
    }

    /// The end of this request.
    pub(crate) fn end(&mut self, id: &str) -> Value {
        self.all(id).pop().unwrap()
    }

    /// Sends a message and gives the words of the answer.
    pub(crate) fn answer(&mut self, id: &str, message: &str) -> String {
        self.say(id, message);
        let all = self.all(id);
        assert_eq!(all.last().unwrap()["type"], "done", "{all:#?}");
        words(&all)
    }

    /// Sends a request that is answered by one line.
    pub(crate) fn ask(&mut self, request: &Value) -> Value {
        self.send(request);
        self.next_of(request["id"].as_str().unwrap())
    }

    /// The messages of a conversation, as a front end sees them.
    pub(crate) fn load(&mut self, conversation: &str) -> Vec<Value> {
        let load = json!({"id": "l", "kind": "load_conversation", "conversationId": conversation});
        let loaded = self.ask(&load);
        assert_eq!(loaded["type"], "done", "{loaded}");
        loaded["data"]["messages"].as_array().unwrap().clone()
    }

    /// Ends the input, and gives what was still said and how it ended.
    pub(crate) fn finish(mut self) -> (Vec<Value>, ExitStatus) {
        self.piped.close_stdin();
        (self.rest(), self.piped.wait_exit(DEADLINE))
    }

    /// All that is still said, to the end of the output.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        let mut rest = std::mem::take(&mut self.early);
        while let Some(line) = self.piped.recv_line_or_end() {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        rest
    }

    pub(crate) fn kill(mut self) -> Setup {
        self.piped.signal(Signal::KILL);
        self.piped.wait_exit(DEADLINE);
        self.setup.clone()
    }
}

/// Whether a response is the last to its request.
pub(crate) fn is_end(response: &Value) -> bool {
    ["done", "error", "status"].iter().any(|kind| response["type"] == *kind)
}

/// The kinds of the notices among responses.
pub(crate) fn notices(responses: &[Value]) -> Vec<&str> {
    let notices = responses.iter().filter(|response| response["type"] == "notice");
    notices.map(|notice| notice["data"]["kind"].as_str().unwrap()).collect()
}

/// The words of an answer.
pub(crate) fn words(responses: &[Value]) -> String {
    responses.iter().filter_map(|response| response["token"].as_str()).collect()
}

/// The types of responses, in their order, runs of one type written once.
pub(crate) fn kinds(responses: &[Value]) -> Vec<&str> {
    let mut kinds: Vec<&str> =
        responses.iter().map(|response| response["type"].as_str().unwrap()).collect();
    kinds.dedup();
    kinds
}
