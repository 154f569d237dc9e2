//! What is given while a command runs.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;

type Given = Arc<Mutex<Vec<String>>>;

fn listener() -> (Given, ProgressSink) {
    let given = Given::default();
    let taken = Arc::clone(&given);
    (given, Arc::new(move |_, text: &str| taken.lock().unwrap().push(text.to_owned())))
}

#[test]
fn pieces_come_with_a_pause_and_whole_characters() {
    let (given, progress) = listener();
    let now = Instant::now();
    let mut live = LiveOutput::new(ToolStream::Stdout, now);
    assert_eq!(live.due(), None);
    live.push(b"a\xe2\x82");
    live.send_due(now, &progress);
    assert_eq!(live.due(), None, "half a character waits for the rest");
    live.push(b"\xacb");
    assert_eq!(live.due(), Some(now + PAUSE));
    live.send_due(now, &progress);
    assert_eq!(*given.lock().unwrap(), ["a"]);
    live.send_due(now + PAUSE, &progress);
    live.push(b"\xe2");
    live.finish(&progress);
    assert_eq!(*given.lock().unwrap(), ["a", "€b", "\u{fffd}"]);
}

#[test]
fn a_flood_is_cut_and_said_so() {
    let (given, progress) = listener();
    let mut now = Instant::now();
    let mut live = LiveOutput::new(ToolStream::Stdout, now);
    for _ in 0..1000 {
        live.push("ä".repeat(LARGEST_PIECE).as_bytes());
        live.push(b"more");
        live.send_due(now, &progress);
        now += PAUSE;
    }
    live.finish(&progress);
    let given = given.lock().unwrap();
    let note = format!("\n… {} bytes left out …\n", LARGEST_PIECE + 4);
    assert_eq!(given[0], format!("{}{note}", "ä".repeat(LARGEST_PIECE / 2)));
    assert_eq!(given[1], given[0]);
    let total: usize = given.iter().map(String::len).sum();
    assert!(total <= MOST_LIVE + 2 * LARGEST_PIECE, "{total}");
    assert!(given.last().unwrap().ends_with("\n… the rest is not shown while it runs …\n"));
    assert_eq!(live.due(), None);
    assert!(live.pending.capacity() <= LARGEST_PIECE);
}

proptest! {
    #[test]
    fn every_chunking_gives_the_same_text(bytes: Vec<u8>, cuts: Vec<u8>) {
        let (given, progress) = listener();
        let mut now = Instant::now();
        let mut live = LiveOutput::new(ToolStream::Stderr, now);
        let mut rest = &bytes[..];
        for cut in cuts {
            let (taken, later) = rest.split_at(rest.len().min(usize::from(cut % 5)));
            live.push(taken);
            live.send_due(now, &progress);
            now += PAUSE;
            rest = later;
        }
        live.push(rest);
        live.finish(&progress);
        prop_assert_eq!(given.lock().unwrap().concat(), String::from_utf8_lossy(&bytes));
    }
}
