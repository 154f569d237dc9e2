//! Somebody swaps folders for links to the outside while the tools run.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use super::{CANARY, Room};

/// How long the swapping goes on.
const LONG: Duration = Duration::from_millis(1500);

#[test]
fn swaps_during_the_call_lead_nowhere() {
    let room = Room::new();
    // Outside, everything has the same names as inside.
    let outside = room.dir.path().join("swapped-in");
    for folder in [&outside, &room.path("door")] {
        fs::create_dir_all(folder.join("sub")).unwrap();
    }
    for name in ["file", "sub/file", "sub/edit"] {
        fs::write(outside.join(name), CANARY).unwrap();
        room.put(&format!("door/{name}"), "inside word\n");
    }
    symlink(&outside, room.path("trap")).unwrap();
    room.link("way", "door/sub/../../door/sub");
    let (is_over, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
    let uses = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                swap(&room, "door", "trap");
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        });
        let uses = use_all(&room);
        is_over.store(true, Ordering::Relaxed);
        uses
    });
    assert!(swaps.into_inner() > 1000, "too few swaps");
    assert!(uses.iter().all(|(well, badly)| *well > 0 && *badly > 0), "no race: {uses:?}");
    for name in ["file", "sub/file", "sub/edit"] {
        assert_eq!(fs::read_to_string(outside.join(name)).unwrap(), CANARY, "{name}");
    }
    assert_eq!(super::names(&outside), ["file", "sub"]);
    assert_eq!(super::names(&outside.join("sub")), ["edit", "file"]);
}

fn swap(room: &Room, one: &str, other: &str) {
    let (one, other) = (room.path(one), room.path(other));
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
}

/// Uses the tools until the time is over; says how often each went well, and how often not.
fn use_all(room: &Room) -> Vec<(usize, usize)> {
    let calls: Vec<(&str, Value)> = vec![
        ("read_file", json!({ "path": "door/sub/file" })),
        ("read_file", json!({ "path": "way/file" })),
        ("write_file", json!({ "path": "door/sub/new/er", "content": "inside word" })),
        ("write_file", json!({ "path": "door/file", "content": "inside word" })),
        ("edit_file", json!({ "path": "way/edit", "oldText": "word", "newText": "words" })),
        ("list_files", json!({ "path": "door/sub" })),
        ("search_text", json!({ "path": "door", "pattern": "i" })),
        ("search_files", json!({ "path": "door", "pattern": "*" })),
    ];
    let until = Instant::now() + LONG;
    let mut counts = vec![(0, 0); calls.len()];
    while Instant::now() < until {
        for ((tool, input), (well, badly)) in calls.iter().zip(&mut counts) {
            let outcome = room.run(tool, input);
            let result = outcome.result.get();
            assert!(
                !result.contains("canary") && !outcome.text.contains("canary"),
                "{tool}: {result}"
            );
            *if outcome.is_error { badly } else { well } += 1;
        }
    }
    counts
}

#[test]
fn a_file_swapped_for_a_link_is_not_written_through() {
    let room = Room::new();
    room.put("file", "inside");
    room.put("trap", "inside");
    let is_over = AtomicBool::new(false);
    let mut led_out = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                // A write takes the place of the link, so there is a new one each time.
                symlink(room.outside().join("canary.txt"), room.path("fresh")).unwrap();
                fs::rename(room.path("fresh"), room.path("trap")).unwrap();
                swap(&room, "file", "trap");
                swap(&room, "file", "trap");
            }
        });
        let until = Instant::now() + LONG / 3;
        while Instant::now() < until {
            for (tool, input) in [
                ("write_file", json!({ "path": "file", "content": "inside" })),
                ("edit_file", json!({ "path": "file", "oldText": "inside", "newText": "in" })),
                ("edit_file", json!({ "path": "file", "oldText": "canary", "newText": "crow" })),
                ("read_file", json!({ "path": "file" })),
                ("search_text", json!({ "pattern": "canary" })),
            ] {
                let outcome = room.run(tool, &input);
                assert!(!outcome.text.contains(CANARY), "{tool}: {}", outcome.text);
                led_out += usize::from(outcome.text.contains("leads out"));
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(led_out > 0, "no race");
    room.assert_canary();
}
