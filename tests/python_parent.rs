//! The host in Python, `examples/python/parent.py`, between the real bridge and raw clients of its
//! socket.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use callgate_testkit::leaks::Leaks;
use callgate_testkit::process::{DEADLINE, Piped};
use callgate_wire::tools::{
    MAX_MESSAGE, SCHEMA_PREFIX, SCHEMA_SUFFIX, SOCKET_PREFIX, SOCKET_SUFFIX,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A parent that serves, and what it has printed for the agent.
struct Parent {
    process: Piped,
    command: String,
    arguments: Vec<String>,
    _leaks: Leaks,
    folder: TempDir,
}

impl Parent {
    /// The parent with the widest umask there is: its files have to be private all the same.
    fn start() -> Self {
        Self::start_in(tempfile::tempdir().unwrap())
    }

    fn start_in(folder: TempDir) -> Self {
        let leaks = Leaks::watch("/nonexistent", &[]).marker(folder.path().to_str().unwrap());
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/python/parent.py");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", r#"umask 0; exec python3 "$@""#, "sh", script]);
        command.args(["--bridge", env!("CARGO_BIN_EXE_callgate")]).env("TMPDIR", folder.path());
        let mut process = Piped::spawn(command);
        let mut config = process.recv();
        let server = config["mcpServers"]["python"].take();
        assert_eq!(server["type"], "stdio");
        Self {
            process,
            command: server["command"].as_str().unwrap().to_owned(),
            arguments: serde_json::from_value(server["args"].clone()).unwrap(),
            _leaks: leaks,
            folder,
        }
    }

    fn socket(&self) -> &Path {
        Path::new(&self.arguments[1])
    }

    fn bridge(&self) -> Piped {
        let mut command = Command::new(&self.command);
        command.args(&self.arguments);
        Piped::spawn(command)
    }

    fn dial(&self) -> Raw {
        let stream = UnixStream::connect(self.socket()).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        Raw(stream)
    }

    fn files(&self) -> Vec<PathBuf> {
        fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    fn end(mut self) {
        self.process.signal(Signal::TERM);
        assert!(self.process.wait_exit(DEADLINE).success(), "{}", self.process.stderr());
        assert_eq!(self.process.stderr(), "");
        assert_eq!(self.files(), Vec::<PathBuf>::new());
    }
}

/// A client of the socket that may say whatever it likes.
struct Raw(UnixStream);

impl Raw {
    fn send(&mut self, payload: &str) {
        let length = u32::try_from(payload.len()).unwrap();
        self.0.write_all(&length.to_be_bytes()).unwrap();
        self.0.write_all(payload.as_bytes()).unwrap();
    }

    fn recv(&mut self) -> Value {
        let mut prefix = [0; 4];
        self.0.read_exact(&mut prefix).unwrap();
        let mut payload = vec![0; u32::from_be_bytes(prefix) as usize];
        self.0.read_exact(&mut payload).unwrap();
        serde_json::from_slice(&payload).unwrap()
    }

    /// The class name of the error that answers `payload`.
    fn error(&mut self, payload: &str) -> String {
        self.send(payload);
        self.recv()["error"]["type"].as_str().unwrap().to_owned()
    }

    fn assert_closed(&mut self) {
        assert_eq!(self.0.read(&mut [0; 1]).unwrap(), 0);
    }
}

fn request(name: &str, arguments: &Value) -> String {
    let params = json!({"name": name, "arguments": arguments});
    json!({"method": "call_tool", "params": params}).to_string()
}

/// What the agent reads: the text, and whether it is an error.
fn called(bridge: &mut Piped, name: &str, arguments: &Value) -> (String, bool) {
    let params = json!({"name": name, "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    bridge.send(call.to_string());
    let result = bridge.recv()["result"].take();
    (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"] == true)
}

#[test]
fn an_agent_lists_and_calls_its_tools_through_the_bridge() {
    let parent = Parent::start();
    let mut bridge = parent.bridge();
    bridge.send(json!({"jsonrpc": "2.0", "id": 0, "method": "tools/list"}).to_string());
    let tools = bridge.recv()["result"]["tools"].take();
    let names: Vec<&Value> = tools.as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["to_celsius", "rest"]);
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["fahrenheit"]));

    let answer = called(&mut bridge, "to_celsius", &json!({"fahrenheit": 212}));
    assert_eq!(answer, ("100.0 °C".to_owned(), false));
    let answer = called(&mut bridge, "rest", &json!({"seconds": 0}));
    assert_eq!(answer, (format!("process {} has rested", parent.process.pid()), false));
    let answer = called(&mut bridge, "to_celsius", &json!({"fahrenheit": -500}));
    assert_eq!(answer, ("ValueError: -500 °F is below absolute zero".to_owned(), true));
    let (text, is_error) = called(&mut bridge, "to_celsius", &json!({"kelvin": 1}));
    assert!(is_error && text.starts_with("ToolArgumentError: "), "{text}");

    bridge.close_stdin();
    assert!(bridge.wait_exit(DEADLINE).success());
    parent.end();
}

#[test]
fn its_files_have_the_protocols_names_and_are_the_owners_alone() {
    let parent = Parent::start();
    let name = |at: usize| {
        let name = Path::new(&parent.arguments[at]).strip_prefix(parent.folder.path()).unwrap();
        name.to_str().unwrap().to_owned()
    };
    let (socket, schema) = (name(1), name(2));
    let id = socket.strip_prefix(SOCKET_PREFIX).unwrap().strip_suffix(SOCKET_SUFFIX).unwrap();
    assert!(id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()), "{id}");
    assert_eq!(schema, format!("{SCHEMA_PREFIX}{id}{SCHEMA_SUFFIX}"));
    let files = parent.files();
    assert_eq!(files.len(), 2, "{files:?}");
    for file in files {
        let mode = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.display());
    }
    parent.end();
}

#[test]
fn what_a_killed_parent_left_is_swept() {
    let mut killed = Parent::start();
    killed.process.signal(Signal::KILL);
    killed.process.wait_exit(DEADLINE);
    assert_eq!(killed.files().len(), 2);
    let stranger = killed.folder.path().join("claudecode_ipc_of_somebody_else.sock");
    fs::write(&stranger, "").unwrap();
    let next = Parent::start_in(killed.folder);
    let mut files = next.files();
    files.retain(|file| *file != stranger);
    assert_eq!(files.len(), 2, "{files:?}");
    fs::remove_file(stranger).unwrap();
    next.end();
}

#[test]
fn what_it_cannot_do_is_an_error_and_the_connection_is_kept() {
    let parent = Parent::start();
    let mut client = parent.dial();
    assert_eq!(client.error(&request("fly", &json!({}))), "ToolNotFoundError");
    assert_eq!(client.error("{"), "IPCError");
    assert_eq!(client.error("[1]"), "IPCError");
    assert_eq!(client.error(r#"{"method":"fly","params":{}}"#), "IPCError");
    assert_eq!(client.error(r#"{"method":"call_tool","params":{"name":"rest"}}"#), "IPCError");
    for arguments in [
        json!({"fahrenheit": "hot"}),
        json!({"fahrenheit": true}),
        json!({}),
        json!({"fahrenheit": 1, "kelvin": 1}),
    ] {
        assert_eq!(client.error(&request("to_celsius", &arguments)), "ToolArgumentError");
    }
    client.send(&request("to_celsius", &json!({"fahrenheit": 32})));
    assert_eq!(client.recv()["result"]["content"][0]["text"], "0.0 °C");
    parent.end();
}

#[test]
fn what_would_garble_the_stream_is_an_error_and_ends_the_connection() {
    let parent = Parent::start();
    let mut client = parent.dial();
    let too_long = u32::try_from(MAX_MESSAGE).unwrap() + 1;
    client.0.write_all(&too_long.to_be_bytes()).unwrap();
    assert_eq!(client.recv()["error"]["type"], "IPCMessageSizeError");
    client.assert_closed();

    let mut client = parent.dial();
    client.send(&request("rest", &json!({"seconds": 1000})));
    client.0.write_all(&[0]).unwrap();
    assert_eq!(client.recv()["error"]["type"], "IPCError");
    client.assert_closed();
    parent.end();
}

#[test]
fn a_request_of_exactly_the_limit_is_served() {
    let parent = Parent::start();
    let mut client = parent.dial();
    let mut payload = request("rest", &json!({"seconds": 0}));
    payload.push_str(&" ".repeat(MAX_MESSAGE - payload.len()));
    client.send(&payload);
    assert_eq!(client.recv()["result"]["isError"], false);
    parent.end();
}

#[test]
fn it_ends_while_a_call_is_running() {
    let parent = Parent::start();
    let mut client = parent.dial();
    client.send(&request("rest", &json!({"seconds": 1000})));
    let mut other = parent.dial();
    other.send(&request("rest", &json!({"seconds": 0})));
    assert_eq!(other.recv()["result"]["isError"], false);
    parent.end();
    client.assert_closed();
}
