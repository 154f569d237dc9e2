//! A disk that does not answer: the runtime goes on, and what lies on that disk is denied in time.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use callgate_agent::gate::PermissionGate;
use callgate_policy::RealDisk;
use callgate_rules::{Disk, DiskEntry};
use callgate_testkit::stuck::StuckFolder;
use serde_json::json;

use super::bench::{Bench, DEADLINE, question, words};

const RULES: &str = r#"
    [[rule]]
    name = "builds"
    decide = "allow"
    command = "make test"
"#;

struct FarDisk(StuckFolder);

impl Disk for FarDisk {
    fn entry(&self, path: &str) -> DiskEntry {
        self.0.hold_below(path);
        RealDisk.entry(path)
    }
}

/// A gate whose disk does not answer about the folder `far`, and which gives its rules this time.
fn bench(within: Duration) -> (Bench, Receiver<()>, Sender<()>) {
    let mut bench = Bench::new(RULES);
    let (far, asked, hold) = StuckFolder::new(&bench.root("far"));
    let gate = Arc::get_mut(&mut bench.gate).unwrap();
    gate.ruled_within = within;
    Arc::get_mut(&mut gate.rules).unwrap().look_at(Arc::new(FarDisk(far)));
    (bench, asked, hold)
}

#[test]
fn a_disk_that_does_not_answer_holds_up_no_other_tool() {
    let (bench, asked, hold) = bench(DEADLINE);
    let gate = Arc::clone(&bench.gate);
    let far = question("read_file", &json!({ "path": "far/x" }), "c1");
    let stuck = bench.spawn(async move { gate.decide_question(far).await });
    asked.recv_timeout(DEADLINE).unwrap();
    let other = bench.permit("run_shell_command", &json!({ "command": "make", "args": ["test"] }));
    assert!(other.starts_with("allowed"), "{other}");
    let near = bench.permit("read_file", &json!({ "path": "near" }));
    assert!(near.starts_with("allowed"), "{near}");
    assert!(!stuck.is_finished());
    drop(hold);
    let late = words(&bench.run(stuck).unwrap());
    assert!(late.starts_with("allowed"), "{late}");
}

#[test]
fn what_the_rules_do_not_decide_in_time_is_denied() {
    let (bench, _asked, hold) = bench(Duration::from_millis(200));
    let far = bench.permit("read_file", &json!({ "path": "far/x" }));
    let expected = "denied: the rules could not be asked, so the tool did not run: they have not \
                    decided in time; perhaps a disk does not respond";
    assert_eq!(far, expected);
    // The runtime of this test waits for its threads.
    drop(hold);
}
