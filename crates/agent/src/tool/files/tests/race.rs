//! Somebody swaps folders for links to the outside while the tools run.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use super::{CANARY, Room};

/// How long the swapping goes on at least, and at most when the race has not been met by then.
const LONG: Duration = Duration::from_millis(1500);
const LONGEST: Duration = Duration::from_mins(1);

/// Ends the other thread, also when the test fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does `step` over and over while another thread does `swap`, until there was time enough and
/// `step` says that the two have met.
fn race(swap: impl Fn() + Sync, mut step: impl FnMut() -> bool) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                swap();
            }
        });
        let _over = Over(&is_over);
        let start = Instant::now();
        let mut have_met = false;
        while start.elapsed() < LONG || (!have_met && start.elapsed() < LONGEST) {
            have_met = step();
        }
        assert!(have_met, "they never met");
    });
}

fn swap(room: &Room, one: &str, other: &str) {
    let (one, other) = (room.path(one), room.path(other));
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
}

#[test]
fn swaps_during_the_call_lead_nowhere() {
    let room = Room::new();
    // Outside, everything has the same names as inside.
    let outside = room.dir.path().join("swapped-in");
    fs::create_dir_all(outside.join("sub")).unwrap();
    for name in ["file", "sub/file", "sub/edit"] {
        fs::write(outside.join(name), CANARY).unwrap();
        room.put(&format!("door/{name}"), "inside word\n");
    }
    symlink(&outside, room.path("trap")).unwrap();
    room.link("way", "door/sub/../../door/sub");
    let calls: [(&str, Value); 9] = [
        ("read_file", json!({ "path": "door/file" })),
        ("read_file", json!({ "path": "door/sub/file" })),
        ("read_file", json!({ "path": "way/file" })),
        ("write_file", json!({ "path": "door/sub/new/er", "content": "inside word" })),
        ("write_file", json!({ "path": "door/file", "content": "inside word" })),
        ("edit_file", json!({ "path": "way/edit", "oldText": "word", "newText": "words" })),
        ("list_files", json!({ "path": "door/sub" })),
        ("search_text", json!({ "path": "door", "pattern": "i" })),
        ("search_files", json!({ "path": "door", "pattern": "*" })),
    ];
    // How often each went well, and how often not.
    let mut counts = [(0, 0); 9];
    let swaps = AtomicUsize::new(0);
    let swap_once = || {
        swap(&room, "door", "trap");
        swaps.fetch_add(1, Ordering::Relaxed);
    };
    race(swap_once, || {
        for ((tool, input), (well, badly)) in calls.iter().zip(&mut counts) {
            let outcome = room.run(tool, input);
            let result = outcome.result.get();
            let is_out = result.contains("canary") || outcome.text.contains("canary");
            assert!(!is_out, "{tool}: {result}");
            *if outcome.is_error { badly } else { well } += 1;
        }
        let have_met = counts.iter().all(|(well, badly)| *well > 0 && *badly > 0);
        have_met && swaps.load(Ordering::Relaxed) > 1000
    });
    for name in ["file", "sub/file", "sub/edit"] {
        assert_eq!(fs::read_to_string(outside.join(name)).unwrap(), CANARY, "{name}");
    }
    assert_eq!(super::names(&outside), ["file", "sub"]);
    assert_eq!(super::names(&outside.join("sub")), ["edit", "file"]);
}

#[test]
fn a_file_swapped_for_a_link_is_not_written_through() {
    let room = Room::new();
    room.put("file", "inside");
    room.put("trap", "inside");
    let mut led_out = 0;
    let swap_twice = || {
        // A write takes the place of the link, so there is a new one each time.
        symlink(room.outside().join("canary.txt"), room.path("fresh")).unwrap();
        fs::rename(room.path("fresh"), room.path("trap")).unwrap();
        swap(&room, "file", "trap");
        swap(&room, "file", "trap");
    };
    race(swap_twice, || {
        for (tool, input) in [
            ("read_file", json!({ "path": "file" })),
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
        led_out > 0
    });
    room.assert_canary();
}
