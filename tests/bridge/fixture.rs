//! A bridge under test, and a scripted host.

use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use callgate_testkit::leaks::Leaks;
use callgate_testkit::process::{DEADLINE, Piped};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const SCHEMA: &str = r#"[
    {"name": "echo", "description": "Says it again.", "input_schema": {"type": "object"}},
    {"name": "look", "description": "Looks.", "input_schema": {"type": "object"},
     "annotations": {"readOnlyHint": true}}
]"#;

/// A folder with a schema file and a served socket, checked for leaks at the end.
pub(crate) struct Stage {
    pub(crate) socket: PathBuf,
    pub(crate) schema: PathBuf,
    pub(crate) listener: UnixListener,
    _leaks: Leaks,
    pub(crate) folder: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let leaks = Leaks::watch("/nonexistent", &[]).marker(folder.path().to_str().unwrap());
        let socket = folder.path().join("host.sock");
        let schema = folder.path().join("schema.json");
        fs::write(&schema, SCHEMA).unwrap();
        let listener = UnixListener::bind(&socket).unwrap();
        Self { socket, schema, listener, _leaks: leaks, folder }
    }

    /// The bridge's command line.
    pub(crate) fn command(&self, options: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
        command.args([OsStr::new("bridge"), self.socket.as_os_str(), self.schema.as_os_str()]);
        command.args(options);
        command
    }

    pub(crate) fn bridge(&self, options: &[&str]) -> Piped {
        Piped::spawn(self.command(options))
    }

    /// The next connection of the bridge.
    pub(crate) fn accept(&self) -> Peer {
        self.listener.set_nonblocking(false).unwrap();
        let (stream, _) = self.listener.accept().unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        Peer(stream)
    }

    /// Makes sure that the bridge has not dialled.
    pub(crate) fn assert_not_dialled(&self) {
        self.listener.set_nonblocking(true).unwrap();
        let error = self.listener.accept().expect_err("the bridge has dialled");
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    }
}

/// The host's end of a connection.
pub(crate) struct Peer(pub(crate) UnixStream);

impl Peer {
    /// The next request, as text.
    pub(crate) fn request(&mut self) -> String {
        let mut prefix = [0; 4];
        self.0.read_exact(&mut prefix).unwrap();
        let mut payload = vec![0; u32::from_be_bytes(prefix) as usize];
        self.0.read_exact(&mut payload).unwrap();
        String::from_utf8(payload).unwrap()
    }

    pub(crate) fn send(&mut self, payload: impl AsRef<[u8]>) {
        let payload = payload.as_ref();
        let length = u32::try_from(payload.len()).unwrap();
        self.0.write_all(&length.to_be_bytes()).unwrap();
        self.0.write_all(payload).unwrap();
    }

    /// Answers with a text.
    pub(crate) fn answer(&mut self, text: &str) {
        self.send(json!({"result": {"content": [{"type": "text", "text": text}]}}).to_string());
    }

    /// Makes sure that nothing has been sent.
    pub(crate) fn assert_silent(&mut self) {
        self.0.set_nonblocking(true).unwrap();
        let error = self.0.read(&mut [0; 1]).expect_err("the bridge has sent something");
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        self.0.set_nonblocking(false).unwrap();
    }

    /// Waits until the bridge has closed the connection.
    pub(crate) fn assert_closed(&mut self) {
        let end = self.0.read(&mut [0; 1]);
        let is_closed = match &end {
            Ok(count) => *count == 0,
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
        };
        assert!(is_closed, "{end:?}");
    }
}

/// A `tools/call` of `echo`.
pub(crate) fn call(id: u64, arguments: &Value) -> String {
    let params = json!({"name": "echo", "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// A `tools/call` of `echo` whose client wants to hear of progress.
pub(crate) fn call_with_token(id: u64, token: &str) -> String {
    let params = json!({"name": "echo", "arguments": {}, "_meta": {"progressToken": token}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

pub(crate) fn cancelled(id: u64) -> String {
    let params = json!({"requestId": id, "reason": "enough"});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string()
}

pub(crate) fn ping(id: u64) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string()
}

/// A call for which the bridge dials, answered; gives the new connection.
pub(crate) fn dial_for(stage: &Stage, bridge: &mut Piped, id: u64) -> Peer {
    bridge.send(call(id, &json!({})));
    let mut peer = stage.accept();
    peer.request();
    peer.answer("on a new line");
    assert_eq!(text_of(&bridge.recv(), id), "on a new line");
    peer
}

/// Waits until the bridge has dealt with everything sent before.
pub(crate) fn settle(bridge: &mut Piped) {
    bridge.send(ping(999));
    assert_eq!(bridge.recv(), json!({"jsonrpc": "2.0", "id": 999, "result": {}}));
}

/// The text of a successful answer to the request `id`.
pub(crate) fn text_of(answer: &Value, id: u64) -> String {
    assert_eq!(answer["id"], id, "{answer}");
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"].as_str().expect("a text").to_owned()
}

/// The text of a failed answer to the request `id`.
pub(crate) fn error_of(answer: &Value, id: u64) -> String {
    assert_eq!(answer["id"], id, "{answer}");
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"].as_str().expect("a text").to_owned()
}

/// A host that answers every call, on any number of connections, with the request as its text.
pub(crate) struct EchoHost {
    is_over: Arc<AtomicBool>,
    socket: PathBuf,
    serving: JoinHandle<()>,
}

impl EchoHost {
    pub(crate) fn start(stage: &Stage) -> Self {
        stage.listener.set_nonblocking(false).unwrap();
        let listener = stage.listener.try_clone().unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let serving = thread::spawn(move || {
            let mut connections = Vec::new();
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                connections.push(thread::spawn(move || echo(stream.unwrap())));
            }
            for connection in connections {
                connection.join().unwrap();
            }
        });
        Self { is_over, socket: stage.socket.clone(), serving }
    }

    /// Ends the host; the bridge has to be gone.
    pub(crate) fn stop(self) {
        self.is_over.store(true, Ordering::SeqCst);
        drop(UnixStream::connect(&self.socket).unwrap());
        self.serving.join().unwrap();
    }
}

/// Answers until the bridge closes the connection, which it may do at any moment.
fn echo(mut stream: UnixStream) {
    let mut prefix = [0; 4];
    while stream.read_exact(&mut prefix).is_ok() {
        let mut payload = vec![0; u32::from_be_bytes(prefix) as usize];
        if stream.read_exact(&mut payload).is_err() {
            break;
        }
        let text = String::from_utf8(payload).unwrap();
        let answer = json!({"result": {"content": [{"type": "text", "text": text}]}}).to_string();
        let length = u32::try_from(answer.len()).unwrap().to_be_bytes();
        if stream.write_all(&[&length, answer.as_bytes()].concat()).is_err() {
            break;
        }
    }
}
