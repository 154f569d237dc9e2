//! Questions of another process, which stay open.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{self, Child, Stdio};
use std::thread;
use std::time::Duration;

use callgate_wire::approval::{ApprovalRequest, RequestId};
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;

/// The argument with which the benchmark starts itself as the process that asks.
const ASK: &str = "--clients";

/// The questions of a process that asks and waits. Dropping it ends them.
pub(crate) struct OpenQuestions(Child);

impl OpenQuestions {
    pub(crate) fn ask(socket: &Path, count: usize) -> Self {
        let mut command = process::Command::new(std::env::current_exe().unwrap());
        command.arg(ASK).arg(socket).arg(count.to_string());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = [0; 6];
        child.stdout.take().unwrap().read_exact(&mut ready).unwrap();
        assert_eq!(&ready, b"asked\n");
        Self(child)
    }
}

impl Drop for OpenQuestions {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Runs the process of [`OpenQuestions`], if the arguments ask for it. Returns true if they did.
pub(crate) fn has_asked(arguments: &[String]) -> bool {
    let Some(at) = arguments.iter().position(|argument| argument == ASK) else { return false };
    let (socket, count) = (&arguments[at + 1], &arguments[at + 2]);
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let streams: Vec<UnixStream> = (0..count.parse().unwrap())
        .map(|number: u64| {
            let mut stream = loop {
                match UnixStream::connect(socket) {
                    Ok(stream) => break stream,
                    Err(_) => thread::sleep(Duration::from_millis(1)),
                }
            };
            stream.write_all(&request(number).to_line()).unwrap();
            stream
        })
        .collect();
    println!("asked");
    // Waits until the parent has seen enough.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    drop(streams);
    true
}

fn request(number: u64) -> ApprovalRequest {
    let id = format!("{:08x}-{:04x}-4000-8000-{number:012x}", process::id(), 0);
    RequestId::parse(&id).expect("a UUID");
    let line = json!({
        "request_id": id,
        "tool_name": "Bash",
        "tool_input": { "command": format!("deploy part {number}"), "description": "Deploy it" },
        "cwd": "/home/ada/engine",
        "session_id": format!("34fb81ac-7029-49d7-a308-{:012x}", number / 50),
    });
    ApprovalRequest::decode(line.to_string().as_bytes()).unwrap()
}
