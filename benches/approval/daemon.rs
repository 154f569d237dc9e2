//! The cost of the daemon: memory at rest and with open questions, processor time when idle, and a
//! thousand hooks at once.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{self, Child, Stdio};
use std::thread;
use std::time::Duration;

use callgate_client::viewer::{PATIENCE, Viewer};
use callgate_wire::approval::{ApprovalRequest, RequestId};
use callgate_wire::desk::DeskCommand;
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;

use crate::Line;
use crate::hooks::{Home, INPUT};

const AT_ONCE: usize = 1_000;

pub(crate) fn measure() -> Vec<Line> {
    let home = Home::new();
    let daemon = home.daemon();
    let pid = daemon.pid();
    let mut lines = vec![Line::at_most("daemon at rest", memory(pid), "MB", 12.0)];
    let before = ticks(pid);
    thread::sleep(Duration::from_secs(2));
    #[allow(clippy::cast_precision_loss, reason = "a handful of ticks")]
    let used = (ticks(pid) - before) as f64 * 10.0;
    lines.push(Line::at_most("processor time in 2 idle seconds", used, "ms", 0.0));
    // Somebody has to be able to answer, or questions would not stay open.
    let _viewer = paired(&home);
    let socket = home.folder.path().join("ask.sock");
    let thousand = Clients::start(&socket, 1_000);
    wait_for_open(&home, 1_000);
    lines.push(Line::at_most("daemon with 1,000 open questions", memory(pid), "MB", 40.0));
    let rest = Clients::start(&socket, 9_000);
    wait_for_open(&home, 10_000);
    println!("10,000 questions are open; the daemon holds {:.1} MB", memory(pid));
    drop((thousand, rest));
    wait_for_open(&home, 0);
    lines.push(all_at_once(&home));
    lines
}

/// A viewer that may answer.
fn paired(home: &Home) -> Viewer {
    let desk = home.folder.path().join(".local/share/callgate/desk.sock");
    let mut viewer = Viewer::connect(&desk).unwrap();
    let (code, _) = viewer.code().unwrap();
    let pair = DeskCommand::Pair { code, name: "benchmark".to_owned(), origin: None };
    viewer.ask(pair, PATIENCE).unwrap();
    viewer
}

fn wait_for_open(home: &Home, count: usize) {
    let desk = home.folder.path().join(".local/share/callgate/desk.sock");
    let mut viewer = Viewer::connect(&desk).unwrap();
    while viewer.status().unwrap().open != count as u64 {
        thread::sleep(Duration::from_millis(20));
    }
}

/// A process that asks and waits.
struct Clients(Child);

impl Clients {
    fn start(socket: &Path, count: usize) -> Self {
        let mut command = process::Command::new(std::env::current_exe().unwrap());
        command.arg("--clients").arg(socket).arg(count.to_string());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = [0; 6];
        child.stdout.take().unwrap().read_exact(&mut ready).unwrap();
        assert_eq!(&ready, b"asked\n");
        Self(child)
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// The process of [`Clients`].
pub(crate) fn be_clients(socket: &str, count: &str) {
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
}

fn request(number: u64) -> ApprovalRequest {
    let id = format!("{:08x}-{:04x}-4000-8000-{number:012x}", process::id(), 0);
    RequestId::parse(&id).expect("a UUID");
    let line = json!({
        "request_id": id,
        "tool_name": "Bash",
        "tool_input": { "command": format!("deploy part {number}"), "description": "Deploy it" },
        "cwd": "/home/ada/engine",
        "session_id": "34fb81ac-7029-49d7-a308-5c29182e1dc2",
    });
    ApprovalRequest::decode(line.to_string().as_bytes()).unwrap()
}

/// Starts a thousand hooks as quickly as possible: each must print its decision.
fn all_at_once(home: &Home) -> Line {
    let start = |_| {
        let mut command = home.hook();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(INPUT.as_bytes()).unwrap();
        child
    };
    let hooks: Vec<Child> = (0..AT_ONCE).map(start).collect();
    let is_allowed = |child: Child| {
        let output = child.wait_with_output().unwrap();
        String::from_utf8_lossy(&output.stdout).contains(r#""behavior":"allow""#)
    };
    let wrong = hooks.into_iter().map(is_allowed).filter(|is_right| !is_right).count();
    #[allow(clippy::cast_precision_loss, reason = "at most a thousand")]
    Line::at_most("wrong answers to 1,000 hooks at once", wrong as f64, "hooks", 0.0)
}

/// Returns the memory of a process in megabytes.
fn memory(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 1024.0 / 1e6
}

/// Returns the processor time of a process, in hundredths of a second.
fn ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_ascii_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}
