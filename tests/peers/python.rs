//! The Python SDK's clients: version 1, and version 2 in both eras; and fastmcp. What they check is
//! in `clients/checks.py`.

use std::process::Command;

use callgate_testkit::process::Piped;
use callgate_testkit::tools;
use serde_json::json;

use crate::fixture::{DEADLINE, Fixture, ODD_TEXT, PIXEL, TOGETHER, script};

/// One of the clients: its script, its mode, and the protocol version it settles on.
type Peer = (&'static str, &'static str, &'static str);

const FIRST: Peer = ("mcp1.py", "legacy", "2025-11-25");
const SECOND: Peer = ("mcp2.py", "legacy", "2025-11-25");
const SECOND_AUTO: Peer = ("mcp2.py", "auto", "2026-07-28");
const SECOND_PINNED: Peer = ("mcp2.py", "2026-07-28", "2026-07-28");
const FASTMCP: Peer = ("fastmcp_client.py", "auto", "2026-07-28");

/// What a client has to get right with a host that takes one call at a time.
const SEQUENTIAL: [&str; 5] = ["lists", "calls", "content", "failures", "timeout"];
/// What needs calls beside each other.
const PARALLEL: [&str; 5] = ["progress", "cancellation", "timeout", "together", "calls"];

/// Runs the client's script, unless there is no such client.
fn check(fixture: &Fixture, peer: Peer, checks: &[&str]) {
    let (file, mode, version) = peer;
    let python = match file {
        "mcp1.py" => tools::python(1),
        "mcp2.py" => tools::python(2),
        _ => tools::fastmcp(),
    };
    let Some(python) = python else { return };
    let bridge = fixture.bridge();
    let facts = json!({
        "command": bridge.program, "arguments": bridge.arguments, "mode": mode,
        "version": version, "names": fixture.names(), "checks": checks,
        "odd_text": ODD_TEXT, "pixel": PIXEL, "together": TOGETHER,
    });
    let mut command = Command::new(python);
    // Compiled scripts would stay behind in the repository.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command.arg(script(file)).arg(facts.to_string());
    follow(fixture, Piped::spawn(command).deadline(DEADLINE), checks);
    fixture.calls.wait_until_none();
}

/// Reads what the script says until it has ended well.
fn follow(fixture: &Fixture, mut script: Piped, checks: &[&str]) {
    for name in checks {
        let mut news = script.recv();
        if news["gave_up"].is_string() {
            // The host cannot know that nobody waits: the late answer has to harm nobody.
            fixture.calls.release();
            news = script.recv();
        }
        assert_eq!(news, json!({"passed": name}));
    }
    script.recv_end();
    assert!(script.wait_exit(DEADLINE).success(), "{}", script.stderr());
}

fn check_one_at_a_time(peer: Peer) {
    let fixture = Fixture::sequential();
    check(&fixture, peer, &SEQUENTIAL);
}

fn check_beside_each_other(peer: Peer) {
    let fixture = Fixture::parallel();
    check(&fixture, peer, &PARALLEL);
}

#[test]
fn version_1_one_call_at_a_time() {
    check_one_at_a_time(FIRST);
}

#[test]
fn version_1_calls_beside_each_other() {
    check_beside_each_other(FIRST);
}

#[test]
fn version_2_legacy_one_call_at_a_time() {
    check_one_at_a_time(SECOND);
}

#[test]
fn version_2_legacy_calls_beside_each_other() {
    check_beside_each_other(SECOND);
}

#[test]
fn version_2_modern_one_call_at_a_time() {
    check_one_at_a_time(SECOND_AUTO);
}

#[test]
fn version_2_modern_calls_beside_each_other() {
    check_beside_each_other(SECOND_AUTO);
}

#[test]
fn version_2_pinned_to_the_modern_era_needs_no_probe() {
    let fixture = Fixture::sequential();
    check(&fixture, SECOND_PINNED, &["lists", "calls", "failures"]);
}

#[test]
fn fastmcp_one_call_at_a_time() {
    check_one_at_a_time(FASTMCP);
}

#[test]
fn fastmcp_calls_beside_each_other() {
    check_beside_each_other(FASTMCP);
}
