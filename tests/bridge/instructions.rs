//! What a call costs in instructions: unlike times, these are stable on a busy machine.

use std::fs::{self, File};

use callgate_testkit::process::{DEADLINE, Group};
use serde_json::json;

use crate::fixture::{EchoHost, Stage, call};

/// Instructions for a small call, there and back, in an unoptimised build.
const MOST_PER_CALL: u64 = 250_000;
/// Instructions for each byte of a large call, there and back, in an unoptimised build.
const MOST_PER_BYTE: u64 = 500;

/// The instructions the bridge needs for `calls` calls with arguments of `size` bytes.
fn instructions(calls: u64, size: usize) -> u64 {
    let stage = Stage::new();
    let host = EchoHost::start(&stage);
    let requests = stage.folder.path().join("requests");
    let lines: Vec<String> =
        (0..calls).map(|id| call(id, &json!({"x": "x".repeat(size)}))).collect();
    fs::write(&requests, lines.join("\n")).unwrap();
    let answers = stage.folder.path().join("answers");
    let log = stage.folder.path().join("log");
    let bridge = stage.command(&[]);
    let mut valgrind = std::process::Command::new("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    valgrind.arg(format!("--log-file={}", log.display()));
    valgrind.arg(bridge.get_program()).args(bridge.get_args());
    valgrind.stdin(File::open(&requests).unwrap()).stdout(File::create(&answers).unwrap());
    let status = Group::spawn(valgrind).wait(DEADLINE * 4).expect("the bridge ends");
    assert!(status.success(), "{}", fs::read_to_string(&log).unwrap());
    let answered = fs::read_to_string(&answers).unwrap().lines().count();
    assert_eq!(answered, usize::try_from(calls).unwrap());
    host.stop();
    let log = fs::read_to_string(&log).unwrap();
    let count = log.lines().find_map(|line| line.split_once("I   refs:")).expect("a count").1;
    count.trim().replace(',', "").parse().unwrap()
}

#[test]
fn a_call_costs_little_and_a_large_one_only_by_its_bytes() {
    let per_call = (instructions(120, 100) - instructions(20, 100)) / 100;
    assert!(per_call <= MOST_PER_CALL, "{per_call} instructions for a call of 100 bytes");
    let per_byte =
        |size: usize| (instructions(3, size) - instructions(1, size)) / (2 * size as u64);
    let (small, large) = (per_byte(20_000), per_byte(160_000));
    assert!(large <= MOST_PER_BYTE, "{large} instructions for a byte");
    assert!(
        large <= small + small / 4,
        "{large} instructions for a byte, {small} in a smaller call"
    );
}
