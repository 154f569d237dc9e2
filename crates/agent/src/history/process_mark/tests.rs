//! Which processes are alive.

use std::os::unix::fs::MetadataExt;

use super::*;

#[test]
fn a_process_is_alive_as_long_as_it_holds_its_file() {
    let place = tempfile::tempdir().unwrap();
    let mut holder = ProcessMark::beside(Some(&place.path().join("ledger.db")));
    let folder = holder.folder.clone().unwrap();
    let is_alive = |name: &str| ProcessMark::is_alive(Some(&folder), name);
    let name = holder.ensure_file().unwrap();
    assert_eq!(holder.ensure_file().unwrap(), name);
    assert!(is_alive(&name));
    let path = mark_path(&folder, &name);
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    // A hand has removed the file: the next look at it makes it again.
    fs::remove_file(&path).unwrap();
    assert!(!is_alive(&name));
    assert_eq!(holder.ensure_file().unwrap(), name);
    assert!(is_alive(&name));
    drop(holder);
    assert!(!path.exists());
    assert!(!is_alive(&name));
}

#[test]
fn a_file_that_nobody_holds_is_one_of_the_dead_and_goes() {
    let place = tempfile::tempdir().unwrap();
    let name = "0123456789abcdef0123456789abcdef";
    let path = mark_path(place.path(), name);
    fs::write(&path, "").unwrap();
    assert!(!ProcessMark::is_alive(Some(place.path()), name));
    assert!(!path.exists());
}

#[test]
fn what_is_no_name_of_a_process_is_dead_and_opens_nothing() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("locks");
    fs::create_dir(&folder).unwrap();
    let outside = place.path().join("outside.holder");
    fs::write(&outside, "").unwrap();
    for name in ["", "../outside", "x", "0123456789abcdef0123456789abcde/"] {
        assert!(!ProcessMark::is_alive(Some(&folder), name), "{name}");
    }
    assert!(outside.exists());
    assert!(!ProcessMark::is_alive(None, "0123456789abcdef0123456789abcdef"));
}
