//! Replacing a file, and files that somebody else changes.

use std::io::Read;

use super::*;

#[test]
fn a_file_that_somebody_else_has_changed_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let place = SettingsFile::new(folder.path().join("new/settings.json"));
    assert!(place.read().unwrap().is_none());
    place.write(None, "1", BackupChoice::Leave).unwrap();
    let made = place.write(None, "2", BackupChoice::Leave).unwrap_err();
    assert!(matches!(made, SettingsFileError::Changed(_)), "{made}");
    let seen = place.read().unwrap().unwrap();
    fs::write(place.path(), "theirs").unwrap();
    let changed = place.write(Some(&seen), "2", BackupChoice::Leave).unwrap_err();
    assert!(matches!(changed, SettingsFileError::Changed(_)), "{changed}");
    assert!(matches!(place.remove(&seen).unwrap_err(), SettingsFileError::Changed(_)));
    assert_eq!(fs::read_to_string(place.path()).unwrap(), "theirs");
    fs::remove_file(place.path()).unwrap();
    let gone = place.write(Some(&seen), "2", BackupChoice::Leave).unwrap_err();
    assert!(matches!(gone, SettingsFileError::Changed(_)), "{gone}");
    assert_eq!(fs::read_dir(folder.path().join("new")).unwrap().count(), 0, "nothing is left");
}

#[test]
fn a_file_is_replaced_in_one_step() {
    let folder = tempfile::tempdir().unwrap();
    let place = SettingsFile::new(folder.path().join("settings.json"));
    fs::write(place.path(), "old").unwrap();
    let mut reader = File::open(place.path()).unwrap();
    let seen = place.read().unwrap().unwrap();
    place.write(Some(&seen), "new and longer", BackupChoice::Write).unwrap();
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "old", "whoever reads it has all of one of the two");
    assert_eq!(fs::read_to_string(place.path()).unwrap(), "new and longer");
    assert_eq!(place.read_backup().unwrap(), "old");
    place.remove_backup();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let place = SettingsFile::new(folder.path().join("settings.json"));
    File::create(place.path()).unwrap().set_len(LARGEST + 1).unwrap();
    let error = place.read().unwrap_err().to_string();
    assert!(error.ends_with("it is larger than 16777216 bytes"), "{error}");
}
