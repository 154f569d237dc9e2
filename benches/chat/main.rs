//! Measures how much of a processor the chat takes while an answer streams at 200 tokens per
//! second. With `--check` it fails if that is more than the limit.
//!
//! `benches/README.md` says what is measured and how to read it.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark is a program for people: it prints, and what goes wrong ends it"
)]

use std::env;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, ExitCode};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use callgate_testkit::proc;
use callgate_testkit::terminal::Terminal;
use serde_json::json;

/// The most that the chat may take of one processor.
const LIMIT: f64 = 0.10;
/// The pause between two tokens.
const PAUSE: Duration = Duration::from_millis(5);
/// How long an answer streams.
const FULL: Duration = Duration::from_secs(20);
const QUICK: Duration = Duration::from_secs(5);
/// The ticks of `/proc/PID/stat` in a second, the same on every Linux.
const TICKS: f64 = 100.0;
/// A part of the answer: prose, a list, a table and code.
const TEXT: &str = "## What the ledger keeps\n\nIt keeps **every** question, every *answer* and \
every decision in one file, each entry chained to the one before, so that `callgate log --verify` \
notices whether one was changed or removed since it was written.\n\n- what was asked, and by whom\n\
- who answered, where, and at what time of the day it was\n\n| entry | meaning |\n|---|---|\n| asked \
| a question |\n| decided | its answer |\n\n```rust\nfn main() {\n    println!(\"{}\", 6 * 7);\n}\n\
```\n\n";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    // Cargo passes `--bench` only for measuring; `cargo test` may run this too.
    if !has("--bench") {
        println!("nothing measured: run `cargo bench --bench chat`");
        return ExitCode::SUCCESS;
    }
    let length = if has("--quick") { QUICK } else { FULL };
    let (rate, share) = measure(length);
    println!("{rate:.0} tokens per second: the chat takes {:.1} % of one processor", 100.0 * share);
    println!("limit: {:.0} %", 100.0 * LIMIT);
    let is_missed = share > LIMIT;
    if has("--check") && is_missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Returns how many tokens per second were sent, and the share of a processor that the chat took
/// meanwhile.
fn measure(length: Duration) -> (f64, f64) {
    let (url, moments) = serve(length);
    let home = tempfile::tempdir().unwrap();
    let history = home.path().join("talk.db");
    let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
    command.args(["chat", "--history"]).arg(&history).current_dir(home.path());
    command.env("HOME", home.path()).env("PATH", env::var_os("PATH").unwrap_or_default());
    command.env("ANTHROPIC_API_KEY", "sk-test").env("ANTHROPIC_BASE_URL", url);
    let mut terminal = Terminal::spawn_sized(&command, 100, 40);
    terminal.wait_for("/help");
    let mark = format!("chat --history {}", history.display());
    let is_chat = |line: &str| line.contains(&mark) && !line.contains("/script");
    let mut all = proc::all().into_iter();
    let chat = all.find(|process| is_chat(&proc::command_line(process.pid))).unwrap().pid;
    terminal.press("go\r");
    let (begun, _) = moments.recv().unwrap();
    let before = used(chat);
    let (ended, tokens) = moments.recv().unwrap();
    let used = used(chat) - before;
    let seconds = (ended - begun).as_secs_f64();
    (f64::from(tokens) / seconds, used / seconds)
}

/// Returns the seconds of processor time that a process has used, all of its threads together.
fn used(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // The name before the bracket may contain anything.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_ascii_whitespace().collect();
    let ticks: f64 = [11, 12].map(|at: usize| fields[at].parse::<f64>().unwrap()).iter().sum();
    ticks / TICKS
}

/// A moment, and how many tokens have been sent by then.
type Moment = (Instant, u32);

/// Serves one answer at an even pace. Sends when its tokens begin and when they end.
fn serve(length: Duration) -> (String, Receiver<Moment>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (moments, coming) = channel();
    thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        answer(stream, length, &moments).unwrap();
    });
    (url, coming)
}

fn answer(mut stream: TcpStream, length: Duration, moments: &Sender<Moment>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    read_request(&mut stream)?;
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
    )?;
    let usage = json!({"input_tokens": 10, "output_tokens": 1});
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    event(&mut stream, "message_start", &json!({"message": message}))?;
    let block = json!({"type": "text", "text": ""});
    event(&mut stream, "content_block_start", &json!({"index": 0, "content_block": block}))?;
    let tokens: Vec<&str> = TEXT.split_inclusive([' ', '\n']).collect();
    let begun = Instant::now();
    moments.send((begun, 0)).map_err(io::Error::other)?;
    let mut sent = 0;
    for token in tokens.iter().cycle() {
        let due = begun + PAUSE * sent;
        if due > begun + length {
            break;
        }
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let delta = json!({"type": "text_delta", "text": token});
        event(&mut stream, "content_block_delta", &json!({"index": 0, "delta": delta}))?;
        sent += 1;
    }
    moments.send((Instant::now(), sent)).map_err(io::Error::other)?;
    event(&mut stream, "content_block_stop", &json!({"index": 0}))?;
    let delta = json!({"stop_reason": "end_turn", "stop_sequence": null});
    event(&mut stream, "message_delta", &json!({"delta": delta, "usage": usage}))?;
    event(&mut stream, "message_stop", &json!({}))
}

fn event(stream: &mut TcpStream, kind: &str, data: &serde_json::Value) -> io::Result<()> {
    let mut data = data.clone();
    data["type"] = kind.into();
    stream.write_all(format!("event: {kind}\ndata: {data}\n\n").as_bytes())
}

/// Reads a request to its end.
fn read_request(stream: &mut TcpStream) -> io::Result<()> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let count = stream.read(&mut chunk)?;
        bytes.extend_from_slice(&chunk[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let lines = head.lines().filter_map(|line| line.split_once(':'));
        let mut lengths = lines.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length = lengths.next().and_then(|(_, length)| length.trim().parse::<usize>().ok());
        if count == 0 || length.is_none_or(|length| body.len() >= length) {
            return Ok(());
        }
    }
}
