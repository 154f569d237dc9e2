//! The file: who may read it, what is refused, and what a full disk does.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::thread;

use callgate_store::{ChainFault, ChainReport, EntryFilter, Store, StoreError};
use rusqlite::Connection;
use rustix::fs::Mode;
use rustix::process::{geteuid, umask};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use tempfile::tempdir;

use crate::place::{Place, draft, file_in};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// What is put beside the file.
fn beside(path: &Path) -> [PathBuf; 2] {
    [path.with_extension("db-wal"), path.with_extension("db-shm")]
}

/// Runs `test` as somebody whom the modes of files hold back, which root is not.
fn as_ordinary_user(test: impl FnOnce() + Send + 'static) {
    let run = || {
        let mut sets = capabilities(None).unwrap();
        sets.effective -= CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
        set_capabilities(None, sets).unwrap();
        test();
    };
    thread::spawn(run).join().unwrap();
}

#[test]
fn its_files_are_its_owners_alone_whatever_the_umask() {
    // The umask is the whole process's; no other test here depends on it.
    let before = umask(Mode::empty());
    let folder = tempdir().unwrap();
    let path = folder.path().join("a/b/ledger.db");
    let mut store = Store::open(&path).unwrap();
    umask(before);
    store.append_entries(&[draft("started", None, "{}")]).unwrap();
    assert_eq!(mode(&path), 0o600);
    for path in beside(&path) {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    assert_eq!(mode(&folder.path().join("a")), 0o700);
    assert_eq!(mode(&folder.path().join("a/b")), 0o700);
}

#[test]
fn opening_a_file_that_is_there_writes_nothing_to_it() {
    let folder = tempdir().unwrap();
    let path = file_in(folder.path());
    Store::open(&path).unwrap().append_entries(&[draft("started", None, "{}")]).unwrap();
    let before = fs::read(&path).unwrap();
    drop(Store::open(&path).unwrap());
    // A transaction would have changed its counter at least.
    assert!(fs::read(&path).unwrap() == before, "opening it wrote to it");
    let connection = Connection::open(&path).unwrap();
    let mode: i64 = connection.pragma_query_value(None, "auto_vacuum", |row| row.get(0)).unwrap();
    assert_eq!(mode, 2, "space is given back step by step");
}

#[test]
fn what_others_could_read_is_closed_to_them() {
    let place = Place::new();
    let [wal, shm] = beside(&place.path());
    let all = [place.path(), wal, shm];
    for path in &all {
        set_mode(path, 0o644);
    }
    Store::open(&place.path()).unwrap();
    for path in all {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn it_is_small_in_memory_and_shared_by_wal() {
    let place = Place::new();
    let connection = Connection::open(place.path()).unwrap();
    let text = |name: &str| -> String {
        connection.pragma_query_value(None, name, |row| row.get(0)).unwrap()
    };
    assert_eq!(text("journal_mode"), "wal");
    let number = |name: &str| -> i64 {
        connection.pragma_query_value(None, name, |row| row.get(0)).unwrap()
    };
    assert_eq!(number("auto_vacuum"), 2, "pruning gives space back");
}

fn refused(path: &Path) -> StoreError {
    let before = fs::read(path).ok();
    let error = Store::open(path).unwrap_err();
    let read_only = Store::open_read_only(path).unwrap_err();
    assert_eq!(error.to_string(), read_only.to_string());
    assert_eq!(fs::read(path).ok(), before, "it was left alone");
    error
}

#[test]
fn what_is_not_its_own_is_refused_and_left_alone() {
    let folder = tempdir().unwrap();
    let path = file_in(folder.path());
    for content in ["hello", &"x".repeat(10_000), &"\0".repeat(10_000), "SQLite format 3\0"] {
        fs::write(&path, content).unwrap();
        assert!(matches!(refused(&path), StoreError::NotADatabase(_)), "{content:.20}");
    }
    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    assert!(matches!(refused(&path), StoreError::OtherProgram(_)));
    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().pragma_update(None, "application_id", 7).unwrap();
    assert!(matches!(refused(&path), StoreError::OtherProgram(_)));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(matches!(refused(&path), StoreError::NotAFile(_)));
    assert!(matches!(refused(Path::new("/dev/null")), StoreError::NotAFile(_)));
}

#[test]
fn a_file_of_another_user_is_refused() {
    let folder = tempdir().unwrap();
    let path = if geteuid().is_root() {
        let path = file_in(folder.path());
        Store::open(&path).unwrap();
        chown(&path, Some(1), None).unwrap();
        path
    } else {
        PathBuf::from("/etc/passwd")
    };
    let error = refused(&path);
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    assert!(error.to_string().contains("belongs to user"), "{error}");
}

#[test]
fn an_empty_file_becomes_a_ledger_and_a_link_is_followed() {
    let folder = tempdir().unwrap();
    let path = file_in(folder.path());
    fs::write(&path, "").unwrap();
    let error = Store::open_read_only(&path).unwrap_err();
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    let link = folder.path().join("link.db");
    symlink(&path, &link).unwrap();
    let mut store = Store::open(&link).unwrap();
    store.append_entries(&[draft("started", None, "{}")]).unwrap();
    assert_eq!(store.path(), path.canonicalize().unwrap());
    assert_eq!(Store::open_read_only(&link).unwrap().last_seq().unwrap(), 1);
}

#[test]
fn reading_makes_no_file_and_changes_none() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("none/ledger.db");
    let error = Store::open_read_only(&path).unwrap_err();
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    assert!(!folder.path().join("none").exists());

    let mut place = Place::new();
    place.write("started", None, "{}");
    let path = place.path();
    drop(place.store);
    let before = fs::read(&path).unwrap();
    let mut store = Store::open_read_only(&path).unwrap();
    assert_eq!(store.last_seq().unwrap(), 1);
    let read_only =
        |result: Result<(), StoreError>| assert!(matches!(result, Err(StoreError::ReadOnly(_))));
    read_only(store.append_entries(&[draft("ran", None, "{}")]).map(drop));
    read_only(store.prune(i64::MAX).map(drop));
    read_only(store.keep_value("a", "b"));
    read_only(store.append_with(&[], &[("a".to_owned(), None)]).map(drop));
    read_only(store.find_or_make_secret("a").map(drop));
    drop(store);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_that_may_not_be_written_is_refused_and_can_still_be_read() {
    as_ordinary_user(|| {
        let mut place = Place::new();
        place.write("started", None, "{}");
        let (path, folder) = (place.path(), place.folder);
        drop(place.store);
        set_mode(&path, 0o400);
        set_mode(folder.path(), 0o500);
        let error = Store::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::ReadOnly(_)), "{error:?}");
        assert!(error.to_string().contains("permissions"), "{error}");
        let store = Store::open_read_only(&path).unwrap();
        assert!(matches!(store.verify().unwrap(), ChainReport::Whole { entries: 1, .. }));
        drop(store);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let inside = folder.path().join("new/ledger.db");
        let error = Store::open(&inside).unwrap_err();
        assert!(error.to_string().contains("cannot create the folder"), "{error}");
        set_mode(folder.path(), 0o700);
    });
}

#[test]
fn names_with_odd_characters_are_read_from_a_folder_that_may_not_be_written() {
    as_ordinary_user(|| {
        let folder = tempdir().unwrap();
        let path = folder.path().join("a b?c#d%20ä.db");
        Store::open(&path).unwrap().append_entries(&[draft("started", None, "{}")]).unwrap();
        set_mode(folder.path(), 0o500);
        assert_eq!(Store::open_read_only(&path).unwrap().last_seq().unwrap(), 1);
        set_mode(folder.path(), 0o700);
    });
}

#[test]
fn while_others_write_it_can_be_read() {
    let mut place = Place::new();
    let reader = Store::open_read_only(&place.path()).unwrap();
    for count in 1..=50 {
        place.write("ran", None, "{}");
        assert_eq!(reader.entries_after(&EntryFilter::default(), 0, 100).unwrap().len(), count);
    }
    // A log that nobody has carried over into the file yet, as a killed process leaves it.
    let copy = tempdir().unwrap();
    let path = file_in(copy.path());
    fs::copy(place.path(), &path).unwrap();
    fs::copy(&beside(&place.path())[0], &beside(&path)[0]).unwrap();
    let reader = Store::open_read_only(&path).unwrap();
    assert!(matches!(reader.verify().unwrap(), ChainReport::Whole { entries: 50, .. }));
}

#[test]
fn a_full_disk_is_said_and_leaves_nothing_half_written() {
    let mut place = Place::new();
    place.write("started", None, "{}");
    place.store.limit_size(160 * 1024).unwrap();
    let body = format!(r#"{{"text":"{}"}}"#, "x".repeat(10_000));
    let batch = [draft("asked", Some("q"), "{}"), draft("ran", None, &body)];
    let mut written = 1;
    let error = loop {
        match place.store.append_entries(&batch) {
            Ok(entries) => written += entries.len() as u64,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full(_)), "{error}");
    assert!(error.to_string().contains("no space left"), "{error}");
    assert!(written > 1);
    assert_eq!(place.store.last_seq().unwrap(), written);
    assert!(
        matches!(place.store.verify().unwrap(), ChainReport::Whole { entries, .. } if entries == written)
    );
    assert!(matches!(place.store.keep_value("a", &body.repeat(20)), Err(StoreError::Full(_))));
    place.store.limit_size(u64::MAX).unwrap();
    assert_eq!(place.store.append_entries(&batch).unwrap()[0].seq, written + 1);
}

#[test]
fn a_damaged_file_is_named_and_not_written_to() {
    let mut place = Place::new();
    let body = format!(r#"{{"text":"{}"}}"#, "x".repeat(3000));
    for _ in 0..200 {
        place.write("ran", None, &body);
    }
    let path = place.path();
    drop(place.store);
    let mut bytes = fs::read(&path).unwrap();
    let half = bytes.len() / 2 / 4096 * 4096;
    bytes[half..half + 4096].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let store = Store::open(&path).unwrap();
    let ChainReport::Broken { seq, why: ChainFault::Unreadable } = store.verify().unwrap() else {
        panic!("{:?}", store.verify());
    };
    let before =
        store.entries_after(&EntryFilter::default(), 0, usize::try_from(seq).unwrap() - 1).unwrap();
    assert_eq!(before.len() as u64, seq - 1, "all before it can be read");
    store.entries_after(&EntryFilter::default(), seq - 1, 1).unwrap_err();
    let error = store.entries_after(&EntryFilter::default(), 0, 300).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[test]
fn nothing_is_written_to_a_file_that_nobody_can_find() {
    let mut place = Place::new();
    place.write("ran", None, "{}");
    std::fs::remove_file(place.path()).unwrap();
    let error = place.store.append_entries(&[draft("ran", None, "{}")]).unwrap_err();
    assert!(error.to_string().contains("cannot find"), "{error}");
    Store::open(&place.path()).unwrap();
    let error = place.store.append_entries(&[draft("ran", None, "{}")]).unwrap_err();
    assert!(error.to_string().contains("another file is there now"), "{error}");
}
