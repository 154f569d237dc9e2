//! The hook against `/bin/cat`: from before its start until its decision is read and it has ended.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;

use callgate_wire::approval::{ApprovalRequest, ApprovalResponse, Decision};

use crate::home::{Home, INPUT, run};
use crate::limits::LimitedFigure;
use crate::series::Series;

/// The input that Claude Code gives its hook before a tool call, in auto mode.
const CALL: &str = r#"{"session_id":"34fb81ac-7029-49d7-a308-5c29182e1dc2","transcript_path":"/dev/null/none","cwd":"/work","prompt_id":"p","permission_mode":"auto","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"COMMAND","description":"Build"},"tool_use_id":"toolu_01A09q90qw90lq917835lq9"}
"#;

/// The rules that a hook reads by itself: those that `callgate rules init` writes.
const STARTER: &str = include_str!("../../crates/rules/src/starter.toml");

/// How many programs take turns.
const CONTENDERS: usize = 9;

pub(crate) fn measure(rounds: usize) -> Vec<LimitedFigure> {
    let (with_stub, with_daemon) = (Home::new(), Home::new());
    let (without_rules, with_rules) = (Home::with_rules(None), Home::with_rules(Some(STARTER)));
    stub(&with_stub.socket());
    let _daemon = with_daemon.daemon();
    let [named, unnamed] = ["make build", "xmllint page.xml"].map(call_of);
    let later = later_question(&with_stub);
    let mut series = Series::<CONTENDERS>::default();
    for round in 0..=rounds {
        let mut figures = [0.0; CONTENDERS];
        for contender in order(round) {
            let (mut command, input, printed) = match contender {
                0 => (with_stub.program("/bin/cat"), INPUT, "PermissionRequest"),
                1 => (with_stub.hook(), INPUT, r#""behavior":"allow""#),
                2 => (with_daemon.hook(), INPUT, r#""behavior":"allow""#),
                3 => (with_stub.callgate(&["hook"]), INPUT, r#""behavior":"allow""#),
                4 => (with_daemon.hook(), &*unnamed, ""),
                5 => (with_daemon.hook(), &*named, r#""permissionDecision":"allow""#),
                6 => (without_rules.hook(), &*unnamed, ""),
                7 => (with_rules.hook(), &*unnamed, ""),
                _ => (with_stub.hook(), &*later, r#""behavior":"allow""#),
            };
            figures[contender] = run(&mut command, input, printed);
        }
        // The first round warms up.
        if round > 0 {
            series.push(figures);
        }
    }
    let [cat, stub, daemon, large, none, decided, alone, ruled, later] = series.medians();
    println!(
        "medians of {}: /bin/cat {cat:.0} µs, the hook with a stub {stub:.0} µs, with the daemon \
         {daemon:.0} µs",
        series.len()
    );
    println!(
        "the hook with a stub, later in a session: {later:.0} µs, {:.2} × cat",
        series.ratio(8, 0)
    );
    println!(
        "`callgate hook`, the large program, with a stub: {large:.0} µs, {:.2} × cat",
        series.ratio(3, 0)
    );
    println!(
        "before a tool call: no rule {none:.0} µs, decided by a rule {decided:.0} µs, without a \
         daemon {alone:.0} µs, and with rules to read {ruled:.0} µs"
    );
    vec![
        LimitedFigure::at_most("hook, stub daemon ÷ cat", series.ratio(1, 0), "×", 1.5),
        LimitedFigure::at_most(
            "hook, stub daemon, later in a session ÷ cat",
            series.ratio(8, 0),
            "×",
            1.6,
        ),
        LimitedFigure::at_most("hook, real daemon ÷ cat", series.ratio(2, 0), "×", 3.0),
        LimitedFigure::at_most("before a call, no rule ÷ cat", series.ratio(4, 0), "×", 1.5),
        LimitedFigure::at_most(
            "before a call, decided by a rule ÷ cat",
            series.ratio(5, 0),
            "×",
            2.2,
        ),
        LimitedFigure::at_most(
            "no daemon, reading the rules",
            series.difference(7, 6),
            "µs",
            1000.0,
        ),
    ]
}

/// Returns the input before a tool call that runs a command.
pub(crate) fn call_of(command: &str) -> String {
    CALL.replace("COMMAND", command)
}

/// Returns the input of a question later in a session: there is a long transcript, in which the
/// agent has not written its question yet.
fn later_question(home: &Home) -> String {
    let path = home.folder().join("transcript.jsonl");
    let call = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I build."},{"type":"tool_use","id":"1","name":"Bash","input":{}}]}}"#;
    let result = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"RESULT"}]}}"#;
    let result = result.replace("RESULT", &"It was built. ".repeat(100));
    fs::write(&path, format!("{call}\n{result}\n").repeat(500)).unwrap();
    INPUT.replace("/nowhere/transcript.jsonl", path.to_str().unwrap())
}

/// Returns the order of a round. All orders occur, because work that the daemon does after its
/// answer slows down the next contender.
fn order(round: usize) -> [usize; CONTENDERS] {
    // Consecutive orders begin differently, and the steps of a prime reach all of them.
    let (mut waiting, mut number) = ((0..CONTENDERS).collect::<Vec<_>>(), round * 7919);
    std::array::from_fn(|_| {
        let at = number % waiting.len();
        number /= waiting.len();
        waiting.remove(at)
    })
}

/// Starts a daemon that allows everything immediately.
fn stub(socket: &Path) {
    let listener = UnixListener::bind(socket).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut line = Vec::new();
            let mut chunk = [0; 4096];
            while !line.ends_with(b"\n") {
                let count = stream.read(&mut chunk).unwrap();
                assert!(count > 0, "the hook sends a whole line");
                line.extend_from_slice(&chunk[..count]);
            }
            let id = ApprovalRequest::decode(&line).unwrap().request_id;
            stream.write_all(&ApprovalResponse::new(id, Decision::Allow).to_line()).unwrap();
        }
    });
}
