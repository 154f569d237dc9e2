//! The cost of the daemon: memory at rest and with open questions, processor time when idle, and a
//! thousand hooks at once.

use std::io::Write;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use callgate_client::viewer::{PATIENCE, Viewer};
use callgate_wire::desk::DeskCommand;

use crate::home::{Home, INPUT};
use crate::kernel;
use crate::limits::LimitedFigure;
use crate::open_questions::OpenQuestions;

const AT_ONCE: usize = 1_000;

pub(crate) fn measure() -> Vec<LimitedFigure> {
    let home = Home::new();
    let daemon = home.daemon();
    let pid = daemon.pid();
    let memory = || kernel::memory(pid, "VmRSS:");
    let mut lines = vec![LimitedFigure::at_most("daemon at rest", memory(), "MB", 12.0)];
    let before = ticks(pid);
    thread::sleep(Duration::from_secs(2));
    #[allow(clippy::cast_precision_loss, reason = "a handful of ticks")]
    let used = (ticks(pid) - before) as f64 * 10.0;
    lines.push(LimitedFigure::at_most("processor time in 2 idle seconds", used, "ms", 0.0));
    // Somebody has to be able to answer, or questions would not stay open.
    let _viewer = paired(&home);
    let thousand = OpenQuestions::ask(&home.socket(), 1_000);
    home.wait_for_open(1_000);
    lines.push(LimitedFigure::at_most("daemon with 1,000 open questions", memory(), "MB", 40.0));
    let rest = OpenQuestions::ask(&home.socket(), 9_000);
    home.wait_for_open(10_000);
    println!("10,000 questions are open; the daemon holds {:.1} MB", memory());
    drop((thousand, rest));
    home.wait_for_open(0);
    lines.push(all_at_once(&home));
    lines
}

/// A viewer that may answer.
fn paired(home: &Home) -> Viewer {
    let mut viewer = home.viewer();
    let (code, _) = viewer.code().unwrap();
    let pair = DeskCommand::Pair { code, name: "benchmark".to_owned(), origin: None };
    viewer.ask(pair, PATIENCE).unwrap();
    viewer
}

/// Starts a thousand hooks as quickly as possible: each must print its decision.
fn all_at_once(home: &Home) -> LimitedFigure {
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
    LimitedFigure::at_most("wrong answers to 1,000 hooks at once", wrong as f64, "hooks", 0.0)
}

/// Returns the processor time of a process, in hundredths of a second.
fn ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_ascii_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}
