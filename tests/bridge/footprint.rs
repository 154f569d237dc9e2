//! What the bridge holds: descriptors and memory do not grow with what has passed through it.

use std::time::Instant;

use callgate_testkit::leaks::{open_descriptors, peak_kib, resident_kib};
use callgate_testkit::process::{DEADLINE, Piped};
use serde_json::json;

use crate::fixture::{EchoHost, Stage, call, cancelled, settle, text_of};

/// The unoptimised program is larger than the one people run, whose limit is 4 MB; the benchmark
/// holds that one to it.
const AT_REST_KIB: u64 = 6 * 1024;
const AFTER_LARGE_CALLS_KIB: u64 = 48 * 1024;

fn calls(bridge: &mut Piped, count: u64, arguments: &serde_json::Value) {
    for id in 0..count {
        bridge.send(call(id, arguments));
        text_of(&bridge.recv(), id);
    }
}

#[test]
fn calls_and_cancellations_leave_nothing_open() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&["--connections", "4"]);
    let host = EchoHost::start(&stage);
    calls(&mut bridge, 1, &json!({}));
    let before = open_descriptors(bridge.pid());
    calls(&mut bridge, 200, &json!({}));
    assert_eq!(open_descriptors(bridge.pid()), before);
    for id in 1000..1100 {
        bridge.send(call(id, &json!({})));
        bridge.send(cancelled(id));
    }
    // Answers may have crossed their cancellations; the last one's has to come.
    bridge.send(call(2000, &json!({})));
    while bridge.recv()["id"] != 2000 {}
    // The threads of connections that were hung up may take a moment to end.
    let deadline = Instant::now() + DEADLINE;
    while open_descriptors(bridge.pid()) > before {
        assert!(Instant::now() < deadline, "{} descriptors", open_descriptors(bridge.pid()));
        settle(&mut bridge);
    }
    drop(bridge);
    host.stop();
}

#[test]
fn memory_at_rest_and_after_large_calls_is_bounded() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    let host = EchoHost::start(&stage);
    settle(&mut bridge);
    calls(&mut bridge, 10, &json!({}));
    let at_rest = resident_kib(bridge.pid());
    assert!(at_rest <= AT_REST_KIB, "{at_rest} KiB at rest");
    calls(&mut bridge, 5, &json!({"x": "x".repeat(9_000_000)}));
    let peak = peak_kib(bridge.pid());
    assert!(peak <= AFTER_LARGE_CALLS_KIB, "{peak} KiB at most");
    drop(bridge);
    host.stop();
}
