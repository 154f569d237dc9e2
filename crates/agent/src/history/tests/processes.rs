//! Several processes at one history, and processes that are killed at it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::rand::{GetRandomFlags, getrandom};

use super::strict::Strict;
use super::*;

/// For the processes that the tests start: the file, who they are, and how many turns to make.
const FILE: &str = "CALLGATE_TEST_HISTORY";
const NAME: &str = "CALLGATE_TEST_NAME";
const TURNS: &str = "CALLGATE_TEST_TURNS";

/// Not a test of its own: the process that [`talker`] starts.
#[tokio::test]
async fn talking_process() {
    let Some(path) = std::env::var_os(FILE) else { return };
    let name = std::env::var(NAME).unwrap();
    let turns: usize = std::env::var(TURNS).unwrap().parse().unwrap();
    let history = open(Path::new(&path));
    for number in 0..turns {
        let mut held = history.hold("shared").await.unwrap();
        let from = held.length();
        let id = format!("{name}-{number}-{}", held.length());
        let first = format!("u {name} | a # ?{id} ?{id}b | u !{id} !{id}b");
        let drafts = vec![draft(r#"{"first":true}"#)];
        held.commit(HistoryStep { drafts, ..turn(&first) }).await.unwrap();
        println!("committed {}", held.length());
        tokio::task::yield_now().await;
        let last = format!("a # {name}");
        held.commit(HistoryStep { drafts: vec![draft("{}")], ..round(&last) }).await.unwrap();
        println!("committed {}", held.length());
        assert_eq!(held.length(), from + 4, "nobody else has written");
        if number % 7 == 6 {
            held.commit_replacing(turn(&format!("u {name} | a {name}"))).await.unwrap();
            held.take_back().await.unwrap();
            held.commit(turn(&format!("{first} | {last}"))).await.unwrap();
        }
    }
}

fn talker(path: &Path, name: &str, turns: usize) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let test = "history::tests::processes::talking_process";
    command.args(["--exact", test, "--nocapture", "--quiet"]);
    command.env(FILE, path).env(NAME, name).env(TURNS, turns.to_string());
    command.stdout(Stdio::piped()).spawn().unwrap()
}

/// Returns the last number in whole lines of what a process said it has committed.
fn last_committed(output: &str) -> u64 {
    let whole_lines = output.rsplit_once('\n').map_or("", |(lines, _)| lines);
    let mut numbers = whole_lines.lines().filter_map(|line| line.strip_prefix("committed "));
    numbers.next_back().map_or(0, |number| number.parse().unwrap())
}

/// Sleeps for up to `most` microseconds.
fn sleep_a_little(most: u32) {
    let mut random = [0; 4];
    getrandom(&mut random, GetRandomFlags::empty()).unwrap();
    thread::sleep(Duration::from_micros(u64::from(u32::from_ne_bytes(random) % most)));
}

/// Returns the names of those who spoke; each message of a turn is of the one who began it.
fn speakers(messages: &[Arc<ChatMessage>]) -> Vec<String> {
    let mut names = Vec::new();
    for turn in messages.chunks(4) {
        let shown = show(turn.iter().map(Arc::as_ref));
        let name = shown.split(' ').nth(1).unwrap().to_owned();
        if turn.len() == 4 {
            assert!(shown.contains(&format!("?{name}-")), "{shown}");
            assert!(shown.ends_with(&format!("a # {name}")), "{shown}");
        }
        names.push(name);
    }
    names
}

#[tokio::test]
async fn a_process_killed_at_any_moment_leaves_a_conversation_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let strict = Strict::start();
    let mut committed = 0;
    for round in 0..12 {
        let mut child = talker(&path, &format!("p{round}"), usize::MAX);
        let mut output = BufReader::new(child.stdout.take().unwrap());
        // What it says first is the test's own noise.
        let mut said = String::new();
        while !said.contains("committed") {
            let line = output.fill_buf().unwrap();
            assert!(!line.is_empty(), "it has ended by itself");
            let length = line.len();
            said += &String::from_utf8_lossy(line);
            output.consume(length);
        }
        sleep_a_little(8000);
        child.kill().unwrap();
        output.read_to_string(&mut said).unwrap();
        child.wait().unwrap();
        committed = last_committed(&said).max(committed);

        let history = open(&path);
        let mut held = history.hold("shared").await.unwrap();
        // A turn may have been replaced by a shorter one for a moment.
        assert!(held.length() + 2 >= committed, "round {round}: {} {committed}", held.length());
        let left = held.length() % 4;
        assert!([0, 2, 3].contains(&left), "round {round}: a step is whole, {left}");
        let mended: Vec<ChatMessage> =
            held.messages().iter().map(|m| ChatMessage::clone(m)).collect();
        strict.assert_takes(&mended);
        let store = Store::open(&path).unwrap();
        assert!(matches!(store.verify().unwrap(), callgate_store::ChainReport::Whole { .. }));
        if left > 0 {
            let whole = format!("u r{round} | a # ?r{round}-x | u !r{round}-x | a # r{round}");
            held.commit_replacing(turn(&whole)).await.unwrap();
        }
        assert_eq!(held.length() % 4, 0);
        committed = held.length();
    }
    assert!(committed > 0);
}

#[tokio::test]
async fn processes_take_turns_at_a_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let mut children = ["a", "b", "c"].map(|name| talker(&path, name, 25));
    for child in &mut children {
        let mut output = String::new();
        child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
        assert!(child.wait().unwrap().success(), "{output}");
    }
    let history = open(&path);
    let held = history.hold("shared").await.unwrap();
    assert_eq!(held.messages().len(), 3 * 25 * 4);
    let names = speakers(&held.messages().to_vec());
    for name in ["a", "b", "c"] {
        assert_eq!(names.iter().filter(|one| *one == name).count(), 25);
    }
}
