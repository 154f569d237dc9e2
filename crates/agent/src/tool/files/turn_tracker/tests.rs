//! What is found of changes, and what is not taken for one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::*;

struct Desk {
    folder: TempDir,
    tracker: TurnTracker,
}

impl Desk {
    fn new(limits: SnapshotLimits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        let tracker = Self::tracker(&folder, limits);
        Self { folder, tracker }
    }

    fn tracker(folder: &TempDir, limits: SnapshotLimits) -> TurnTracker {
        let root = folder.path().join("root");
        let roots = AllowedFolders::open(&root, std::slice::from_ref(&root)).unwrap();
        let settings = TrackerSettings {
            folder: Some(folder.path().join("packs")),
            private: vec![root.join("own.db")],
            snapshots: Some(limits),
        };
        TurnTracker::new(roots, Arc::new(|_, _| None), settings)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("root").join(name)
    }

    /// Writes a file that is old enough for its times to be trusted.
    fn put(&self, name: &str, content: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), content).unwrap();
    }

    async fn changed(&self, turn: &str) -> (Vec<String>, Option<String>) {
        let Some(recorded) = self.tracker.finish(&mark(turn)).await.unwrap() else {
            return (Vec::new(), None);
        };
        let shown = recorded.changes.iter().filter(|change| change.is_shown());
        let root = self.path("");
        let name = |change: &PathChange| {
            let path = change.path.strip_prefix(root.to_str().unwrap()).unwrap();
            path.trim_start_matches('/').to_owned()
        };
        (shown.map(name).collect(), recorded.unknown)
    }
}

fn mark(turn: &str) -> TurnMark {
    TurnMark { request: turn.into(), conversation: "c".into(), message: 0 }
}

#[tokio::test]
async fn a_change_that_the_times_of_the_file_do_not_show_is_found() {
    let desk = Desk::new(SnapshotLimits::default());
    desk.put("a", "one");
    desk.tracker.snapshot(mark("1")).await.unwrap();
    let modified = fs::metadata(desk.path("a")).unwrap().modified().unwrap();
    fs::write(desk.path("a"), "two").unwrap();
    fs::File::options().write(true).open(desk.path("a")).unwrap().set_modified(modified).unwrap();
    assert_eq!(desk.changed("1").await.0, ["a"]);
    // What was only touched has not changed.
    desk.tracker.snapshot(mark("2")).await.unwrap();
    fs::write(desk.path("a"), "two").unwrap();
    assert_eq!(desk.changed("2").await, (Vec::new(), None));
}

#[tokio::test]
async fn what_is_no_longer_ignored_was_not_created() {
    let desk = Desk::new(SnapshotLimits::default());
    desk.put("kept/old", "there before");
    desk.put(".gitignore", "kept\n");
    // Its times are older than the snapshot by more than the clock's steps.
    let began = SystemTime::now();
    while began.elapsed().unwrap() < Duration::from_millis(120) {
        std::thread::yield_now();
    }
    desk.tracker.snapshot(mark("1")).await.unwrap();
    fs::remove_file(desk.path(".gitignore")).unwrap();
    fs::write(desk.path("kept/new"), "created").unwrap();
    assert_eq!(desk.changed("1").await.0, [".gitignore", "kept/new"]);
}

#[tokio::test]
async fn turns_that_run_at_once_each_know_what_was_there_before() {
    let desk = Desk::new(SnapshotLimits::default());
    desk.put("a", "0");
    desk.tracker.snapshot(mark("1")).await.unwrap();
    fs::write(desk.path("a"), "1").unwrap();
    desk.tracker.snapshot(mark("2")).await.unwrap();
    fs::write(desk.path("b"), "2").unwrap();
    assert_eq!(desk.changed("2").await.0, ["b"]);
    assert_eq!(desk.changed("1").await.0, ["a", "b"]);
    assert_eq!(desk.changed("1").await.0, Vec::<String>::new());
}

#[tokio::test]
async fn contents_beyond_the_limits_are_not_kept_and_our_own_files_not_looked_at() {
    let limits = SnapshotLimits { bytes: 8, one_file: 6, ..SnapshotLimits::default() };
    let desk = Desk::new(limits);
    for (name, content) in [("a", "12345"), ("b", "12345"), ("c", "1234567")] {
        desk.put(name, content);
    }
    desk.tracker.snapshot(mark("1")).await.unwrap();
    for name in ["a", "b", "c", "own.db", "own.db-wal"] {
        fs::write(desk.path(name), "another").unwrap();
    }
    let recorded = desk.tracker.finish(&mark("1")).await.unwrap().unwrap();
    let plan = desk.tracker.plan(recorded.changes).await;
    assert_eq!(plan.changes.len(), 1);
    let left: Vec<&str> = plan.left.iter().map(|left| &*left.reason).collect();
    assert_eq!(left, ["its earlier content is too large and was not kept"; 2]);
}

#[tokio::test]
async fn that_nothing_is_known_of_a_turn_is_known_after_a_kill() {
    let limits = SnapshotLimits { files: 1, ..SnapshotLimits::default() };
    let desk = Desk::new(limits);
    desk.put("a", "0");
    desk.put("b", "0");
    desk.tracker.snapshot(mark("1")).await.unwrap();
    let packs = desk.folder.path().join("packs");
    let pack = fs::read_dir(&packs).unwrap().next().unwrap().unwrap().path();
    fs::copy(&pack, packs.join("dead.pack")).unwrap();
    let recovered = Desk::tracker(&desk.folder, limits).recover().await;
    let unknown: Vec<_> = recovered.turns.iter().map(|turn| turn.unknown.as_deref()).collect();
    let [Some(reason)] = unknown[..] else { panic!("{unknown:?}") };
    assert!(reason.contains("more than 1 files"), "{reason}");
}

#[tokio::test]
async fn what_a_killed_process_left_is_private_and_recovered_once() {
    let desk = Desk::new(SnapshotLimits::default());
    desk.put("a", "0");
    desk.tracker.snapshot(mark("1")).await.unwrap();
    fs::write(desk.path("a"), "1").unwrap();
    let packs = desk.folder.path().join("packs");
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let pack = fs::read_dir(&packs).unwrap().next().unwrap().unwrap().path();
    assert_eq!((mode(packs.clone()), mode(pack.clone())), (0o700, 0o600));
    let other = Desk::tracker(&desk.folder, SnapshotLimits::default());
    assert!(other.recover().await.turns.is_empty(), "its process lives");
    // The last record is cut off, as by a kill.
    let left = fs::read(&pack).unwrap();
    fs::write(packs.join("dead.pack"), [&left[..], &[9, 0, 0]].concat()).unwrap();
    let recovered = other.recover().await;
    let changes = &recovered.turns[0].changes;
    assert_eq!((recovered.turns.len(), changes.len()), (1, 1));
    assert_eq!(changes[0].before.content.as_deref(), Some(&b"0"[..]));
    recovered.remove_left();
    assert!(other.recover().await.turns.is_empty());
    drop(desk.changed("1").await);
    drop(desk.tracker);
    assert_eq!(fs::read_dir(packs).unwrap().count(), 0);
}
