//! One holder at a time, and nothing of anybody else's is touched.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use callgate_link::file::FileLock;

#[test]
fn a_lock_has_one_holder_and_can_be_taken_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.lock");
    let first = FileLock::try_lock(&path).unwrap();
    assert!(first.is_some());
    assert!(FileLock::try_lock(&path).unwrap().is_none());
    drop(first);
    assert!(FileLock::try_lock(&path).unwrap().is_some());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_link_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.lock");
    symlink(folder.path().join("elsewhere"), &path).unwrap();
    assert!(FileLock::try_lock(&path).is_err());
    assert!(!folder.path().join("elsewhere").exists());
}
