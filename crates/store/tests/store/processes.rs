//! Several processes at one file, and processes that are killed at it.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use callgate_store::{ChainReport, EntryFilter, LedgerEntry, Store};
use rustix::rand::{GetRandomFlags, getrandom};
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::place::{draft, file_in, now_ms};

/// For the processes that the tests start: the file, who they are, and how many batches to write.
const FILE: &str = "CALLGATE_TEST_STORE";
const NAME: &str = "CALLGATE_TEST_NAME";
const BATCHES: &str = "CALLGATE_TEST_BATCHES";

/// Entries of one batch are written together or not at all.
const BATCH: usize = 3;

/// Not a test of its own: the process that [`writer`] starts.
#[test]
fn writing_process() {
    let Some(path) = std::env::var_os(FILE) else { return };
    let name = std::env::var(NAME).unwrap();
    let batches: usize = std::env::var(BATCHES).unwrap().parse().unwrap();
    let mut store = Store::open(Path::new(&path)).unwrap();
    for batch in 0..batches {
        let drafts: Vec<_> = (0..BATCH)
            .map(|step| {
                let body =
                    json!({"by": name, "batch": batch, "step": step, "more": "x".repeat(500)});
                draft("ran", None, &body.to_string())
            })
            .collect();
        let written = store.append_entries(&drafts).unwrap();
        println!("committed {}", written[BATCH - 1].seq);
        if name == "pruner" && batch % 10 == 9 {
            store.prune(now_ms() - 5).unwrap();
        }
    }
}

fn writer(path: &Path, name: &str, batches: usize) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "processes::writing_process", "--nocapture", "--quiet"]);
    command.env(FILE, path).env(NAME, name).env(BATCHES, batches.to_string());
    command.stdout(Stdio::piped()).spawn().unwrap()
}

/// Waits for its end; gives the number of the last entry it says it has committed.
fn last_committed(child: &mut Child) -> u64 {
    let mut output = String::new();
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    child.wait().unwrap();
    let whole_lines = output.rsplit_once('\n').map_or("", |(lines, _)| lines);
    let mut numbers = whole_lines.lines().filter_map(|line| line.strip_prefix("committed "));
    numbers.next_back().map_or(0, |number| number.parse().unwrap())
}

fn whole(store: &Store) -> u64 {
    match store.verify().unwrap() {
        ChainReport::Whole { entries, .. } => entries,
        broken @ ChainReport::Broken { .. } => panic!("{broken:?}"),
    }
}

fn all(store: &Store) -> Vec<LedgerEntry> {
    store.entries_after(&EntryFilter::default(), 0, usize::MAX).unwrap()
}

/// Sleeps for up to `most` microseconds.
fn sleep_a_little(most: u32) {
    let mut random = [0; 4];
    getrandom(&mut random, GetRandomFlags::empty()).unwrap();
    let micros = u32::from_ne_bytes(random) % most;
    thread::sleep(Duration::from_micros(u64::from(micros)));
}

/// Makes sure that batches are there whole. The first may have lost its beginning to pruning.
fn assert_whole_batches(store: &Store) {
    let steps: Vec<usize> = all(store)
        .iter()
        .filter(|entry| entry.kind == "ran")
        .map(|entry| serde_json::from_str::<Value>(&entry.body).unwrap()["step"].as_u64().unwrap())
        .map(|step| usize::try_from(step).unwrap())
        .collect();
    assert!(steps.windows(2).all(|pair| pair[1] == (pair[0] + 1) % BATCH), "{steps:?}");
    assert!(steps.last().is_none_or(|&step| step == BATCH - 1), "{steps:?}");
}

#[test]
fn a_process_killed_at_any_moment_leaves_a_whole_chain() {
    let folder = tempdir().unwrap();
    let path = file_in(folder.path());
    let mut committed = 0;
    for round in 0..20 {
        let name = if round % 2 == 0 { "writer" } else { "pruner" };
        let mut child = writer(&path, name, usize::MAX);
        sleep_a_little(50_000);
        child.kill().unwrap();
        committed = last_committed(&mut child).max(committed);

        let store = Store::open(&path).unwrap();
        whole(&store);
        assert!(store.last_seq().unwrap() >= committed, "round {round} lost a commit");
        assert_whole_batches(&store);
    }
    assert!(committed > 0, "no round has come to write anything");
}

#[test]
fn a_process_killed_while_it_makes_the_file_leaves_one_that_can_be_used() {
    for _ in 0..20 {
        let folder = tempdir().unwrap();
        let path = file_in(folder.path());
        let mut child = writer(&path, "writer", usize::MAX);
        while !path.exists() {
            assert!(child.try_wait().unwrap().is_none(), "it has ended by itself");
            thread::yield_now();
        }
        sleep_a_little(3000);
        child.kill().unwrap();
        let committed = last_committed(&mut child);
        let mut store = Store::open(&path).unwrap();
        assert!(store.last_seq().unwrap() >= committed);
        store.append_entries(&[draft("started", None, "{}")]).unwrap();
        whole(&store);
    }
}

#[test]
fn processes_that_make_the_file_at_once_do_not_disturb_each_other() {
    for _ in 0..5 {
        let folder = tempdir().unwrap();
        let path = file_in(folder.path());
        let mut children = ["a", "b", "c", "d"].map(|name| writer(&path, name, 1));
        for child in &mut children {
            assert!(child.wait().unwrap().success());
        }
        let store = Store::open(&path).unwrap();
        assert_eq!(whole(&store), 12);
    }
}

#[test]
fn processes_that_write_at_once_make_one_chain() {
    let folder = tempdir().unwrap();
    let path = file_in(folder.path());
    let names = ["a", "b", "c"];
    let mut children = names.map(|name| writer(&path, name, 100));
    for child in &mut children {
        assert!(last_committed(child) > 0);
        assert!(child.wait().unwrap().success());
    }
    let store = Store::open(&path).unwrap();
    assert_eq!(whole(&store), 900);
    let bodies: Vec<Value> =
        all(&store).iter().map(|entry| serde_json::from_str(&entry.body).unwrap()).collect();
    for batch in bodies.chunks(BATCH) {
        assert!(batch.iter().all(|body| body["by"] == batch[0]["by"]), "batches are not mixed");
    }
    for name in names {
        let of_one = bodies.iter().filter(|body| body["by"] == name);
        let order: Vec<u64> = of_one.map(|body| body["batch"].as_u64().unwrap()).collect();
        assert!(order.is_sorted() && order.len() == 300);
    }
}
