//! Children of the test process count as leaks. The only test of its file: children of a test
//! beside it would count too.

use std::process::Command;
use std::time::Duration;

use callgate_testkit::leaks::Leaks;
use callgate_testkit::process::{DEADLINE, Piped};

#[test]
fn children_grandchildren_and_zombies_count() {
    let leaks = || Leaks::watch("/nowhere", &[]).descendants().deadline(Duration::from_millis(50));
    let (before, after) = (leaks(), leaks().deadline(DEADLINE));
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "sleep 1000 & echo $!; wait"]);
    let mut child = Piped::spawn(shell);
    let grandchild = child.recv_line();
    let left = before.left().join("\n");
    assert!(left.contains(&format!("process {grandchild} ")), "{left}");
    assert!(left.contains(&format!("process {} ", child.pid())), "{left}");
    let check = std::panic::AssertUnwindSafe(|| before.check());
    assert!(std::panic::catch_unwind(check).is_err());
    drop(child);
    after.check();
}
