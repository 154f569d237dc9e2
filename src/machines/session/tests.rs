//! Lines that end in the middle of what has come together.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use callgate_approval::channel::ChannelOrder;
use callgate_approval::daemon::{Claim, DaemonOptions};
use callgate_approval::desk::{Authority, DeskSettings, Ruling};
use callgate_relay::LineBudget;
use callgate_store::Store;
use callgate_wire::relay::{RelayReport, RelayedQuestion};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncWriteExt, duplex};
use tokio::sync::mpsc;

use super::*;

const DEADLINE: Duration = Duration::from_mins(1);

/// A desk with a terminal that the test reads, and its session with a box.
struct DeskOfBox {
    _folder: TempDir,
    _daemon: Daemon,
    orders: mpsc::Receiver<ChannelOrder>,
    session: MachineSession,
}

impl DeskOfBox {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let (terminal, orders) = mpsc::channel(64);
        let warn: Warn = Arc::new(|_: &str| {});
        let database = path("data/callgate.db");
        let options = DaemonOptions {
            claim: Claim::claim_sockets(path("ask.sock"), path("desk.sock")).unwrap(),
            store: Store::open(&database).unwrap(),
            settings: DeskSettings { terminal: true, ..DeskSettings::plain(DEADLINE, DEADLINE) },
            authority: Authority::default(),
            roles: None,
            ruler: Arc::new(|_| Ruling::Ask { because: None, is_guarded: false }),
            rule_desk: None,
            settings_desk: None,
            telegram: None,
            terminal: Some(terminal),
            warn: Arc::clone(&warn),
        };
        let daemon = Daemon::start(options).unwrap();
        let session = MachineSession::new(SessionHome::of_desk(&daemon, &database, warn), "box");
        Self { _folder: folder, _daemon: daemon, orders, session }
    }

    /// Serves a line on which the box says all of this at once and then nothing.
    async fn serve(&mut self, lines: &[Value]) -> Option<String> {
        let (ours, mut theirs) = duplex(64 * 1024);
        let bytes: String =
            lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect();
        theirs.write_all(bytes.as_bytes()).await.unwrap();
        theirs.shutdown().await.unwrap();
        let mut port = LinePort::over_stream(ours, LineBudget::new(usize::MAX));
        self.session.serve_line(&mut port, std::future::pending()).await
    }

    /// Waits until a question is shown.
    async fn shown(&mut self) -> String {
        let shown = async {
            loop {
                if let ChannelOrder::Show { card, .. } = self.orders.recv().await.unwrap() {
                    return card.id.to_string();
                }
            }
        };
        tokio::time::timeout(DEADLINE, shown).await.unwrap()
    }
}

fn id(number: u64) -> String {
    format!("6f9619ff-8b86-4d01-b42d-{number:012}")
}

fn hello() -> Value {
    json!({ "kind": "hello", "protocol": 1, "version": "9", "host": "b", "user": "bo",
        "home": "/home/bo" })
}

fn question(number: u64) -> Value {
    json!({ "kind": "question", "ruling": "ask", "seconds": 60, "request": {
        "request_id": id(number), "tool_name": "Bash", "tool_input": { "command": "make" },
        "cwd": "/w", "session_id": "s" } })
}

fn decoded(number: u64) -> Box<RelayedQuestion> {
    match RelayReport::decode(question(number).to_string().as_bytes()) {
        Ok(RelayReport::Question(question)) => question,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_question_after_the_end_of_a_line_is_asked_when_it_comes_again() {
    let mut desk = DeskOfBox::start();
    let mut lines = vec![hello()];
    lines.extend((0..33).map(|_| json!({})));
    lines.push(question(1));
    let why = desk.serve(&lines).await.unwrap();
    assert!(why.contains("too much that is wrong"), "{why}");
    desk.serve(&[hello(), question(1), json!({ "kind": "synced", "open": [id(1)] })]).await;
    assert_eq!(desk.shown().await, id(1));
}

/// A stream that takes nothing.
struct BrokenOutput;

impl Write for BrokenOutput {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn what_came_before_a_line_was_cut_is_asked_and_withdrawn() {
    let mut desk = DeskOfBox::start();
    let mut port = LinePort::open(io::empty(), BrokenOutput).unwrap();
    callgate_testkit::until::until("the line is broken", || !port.send(b"{}\n".to_vec()));
    let beat = || UpperAct::Send(RelayOrder::Beat);
    let why = desk.session.carry_out_all(&mut port, vec![beat(), UpperAct::Ask(decoded(1))]).await;
    assert_eq!(why.as_deref(), Some("it does not read"));
    assert_eq!(desk.shown().await, id(1));
    let question = RequestId::parse(&id(1)).unwrap();
    let withdraw = UpperAct::Withdraw { question: question.clone(), text: "over".to_owned() };
    let why = desk.session.carry_out_all(&mut port, vec![beat(), withdraw]).await;
    assert!(why.is_some() && !desk.session.asked.contains_key(&question), "{why:?}");
}
