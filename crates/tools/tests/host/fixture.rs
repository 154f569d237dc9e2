//! A client of the host's socket, and small tools.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use callgate_tools::{Host, HostSession, NoArguments, Tool, blocking};
use serde_json::{Value, json};
use tempfile::TempDir;

const DEADLINE: Duration = Duration::from_secs(30);

/// A connection to a host, frame by frame.
pub(crate) struct Caller(pub(crate) UnixStream);

impl Caller {
    pub(crate) fn new(session: &HostSession) -> Self {
        Self::at(session.socket_path())
    }

    pub(crate) fn at(path: &Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        Self(stream)
    }

    pub(crate) fn send(&mut self, payload: impl AsRef<[u8]>) {
        let length = u32::try_from(payload.as_ref().len()).unwrap();
        self.0.write_all(&length.to_be_bytes()).unwrap();
        self.0.write_all(payload.as_ref()).unwrap();
    }

    pub(crate) fn recv(&mut self) -> Value {
        let mut prefix = [0; 4];
        self.0.read_exact(&mut prefix).unwrap();
        let mut payload = vec![0; u32::from_be_bytes(prefix) as usize];
        self.0.read_exact(&mut payload).unwrap();
        serde_json::from_slice(&payload).unwrap()
    }

    pub(crate) fn call(&mut self, name: &str, arguments: &Value) -> Value {
        self.send_call(name, arguments);
        self.recv()
    }

    pub(crate) fn send_call(&mut self, name: &str, arguments: &Value) {
        let params = json!({"name": name, "arguments": arguments});
        self.send(json!({"method": "call_tool", "params": params}).to_string());
    }

    pub(crate) fn assert_closed(&mut self) {
        let end = self.0.read(&mut [0; 1]);
        let is_closed = match &end {
            Ok(count) => *count == 0,
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
        };
        assert!(is_closed, "{end:?}");
    }
}

/// A session in a folder of its own.
pub(crate) struct Stage {
    pub(crate) session: blocking::BlockingSession,
    pub(crate) folder: TempDir,
}

impl Stage {
    pub(crate) fn new(tools: impl IntoIterator<Item = Tool>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = Host::new(tools).unwrap().folder(folder.path());
        Self { session: blocking::start(&host).unwrap(), folder }
    }

    pub(crate) fn caller(&self) -> Caller {
        Caller::new(&self.session)
    }
}

/// A tool that greets.
pub(crate) fn hello() -> Tool {
    Tool::blocking("hello", "Greets.", |_: NoArguments, _| "hello")
}

/// The text of a successful answer.
pub(crate) fn text(answer: &Value) -> &str {
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    answer["result"]["content"][0]["text"].as_str().expect("a text")
}

/// An error answer's type and message.
pub(crate) fn error(answer: &Value) -> (&str, &str) {
    assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
    let error = &answer["error"];
    (error["type"].as_str().expect("a type"), error["message"].as_str().expect("a message"))
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
