//! Descriptors and memory of the bridge do not grow with what has passed through it.

use std::time::Instant;

use callgate_testkit::leaks::{open_descriptors, peak_kib, resident_kib, status_kib};
use callgate_testkit::process::{DEADLINE, Piped};
use serde_json::json;

use crate::fixture::{EchoHost, Stage, call, cancelled, settle, text_of};

/// What the bridge itself takes, without the pages of its program: the unoptimised one has so many
/// that they say nothing about the bridge. The benchmark holds the one that people run to a limit
/// for everything.
const OWN_AT_REST_KIB: u64 = 4 * 1024;
/// How much more it may take for calls of 9 MB: the request, the answer, and room to grow.
const FOR_LARGE_CALLS_KIB: u64 = 42 * 1024;

/// The memory of a process that is no page of a file.
fn own_kib(pid: u32) -> u64 {
    status_kib(pid, "RssAnon:")
}

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
    let own = own_kib(bridge.pid());
    assert!(own <= OWN_AT_REST_KIB, "{own} KiB at rest");
    let at_rest = resident_kib(bridge.pid());
    calls(&mut bridge, 5, &json!({"x": "x".repeat(9_000_000)}));
    let more = peak_kib(bridge.pid()) - at_rest;
    assert!(more <= FOR_LARGE_CALLS_KIB, "{more} KiB more at most");
    drop(bridge);
    host.stop();
}
