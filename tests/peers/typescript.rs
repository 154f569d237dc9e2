//! The TypeScript SDK's clients: version 1, and version 2 in both eras. What they check is in
//! `clients/typescript.mjs`.

use std::process::Command;

use callgate_testkit::process::Piped;
use callgate_testkit::tools;
use serde_json::{Value, json};

use crate::fixture::{DEADLINE, Fixture, ODD_TEXT, PIXEL, TOGETHER, script};

/// What a client has to get right with a host that takes one call at a time.
const SEQUENTIAL: [&str; 6] = ["lists", "calls", "content", "failures", "timeout", "many"];
/// What needs calls beside each other.
const PARALLEL: [&str; 4] = ["progress", "cancellation", "together", "calls"];

/// Runs the client's script, unless there is no such client.
fn check(fixture: &Fixture, major: u8, mode: &Value, version: &str, checks: &[&str]) {
    let Some(sdk) = tools::typescript_sdk(major) else { return };
    let bridge = fixture.bridge();
    let facts = json!({
        "modules": {"client": sdk.client, "stdio": sdk.stdio}, "major": major, "mode": mode,
        "command": bridge.program, "arguments": bridge.arguments,
        "version": version, "names": fixture.names(), "checks": checks,
        "odd_text": ODD_TEXT, "pixel": PIXEL, "together": TOGETHER,
    });
    let mut command = Command::new(sdk.node);
    command.arg(script("typescript.mjs")).arg(facts.to_string());
    let mut client = Piped::spawn(command).deadline(DEADLINE);
    for name in checks {
        assert_eq!(client.recv(), json!({"passed": name}));
    }
    client.recv_end();
    assert!(client.wait_exit(DEADLINE).success(), "{}", client.stderr());
    fixture.calls.wait_until_none();
}

fn check_all(major: u8, mode: &Value, version: &str) {
    check(&Fixture::sequential(), major, mode, version, &SEQUENTIAL);
    check(&Fixture::parallel(), major, mode, version, &PARALLEL);
}

#[test]
fn version_1() {
    check_all(1, &json!("legacy"), "2025-11-25");
}

#[test]
fn version_2_legacy() {
    check_all(2, &json!("legacy"), "2025-11-25");
}

#[test]
fn version_2_modern() {
    check_all(2, &json!("auto"), "2026-07-28");
}

#[test]
fn version_2_pinned_to_the_modern_era() {
    let fixture = Fixture::sequential();
    let mode = json!({"pin": "2026-07-28"});
    check(&fixture, 2, &mode, "2026-07-28", &["lists", "calls", "failures"]);
}
