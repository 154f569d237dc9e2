//! A file that is kept open locks as one that is opened anew.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::*;

fn spare(locks: &ConversationLocks) -> Vec<String> {
    let ConversationLocks::Folder(_, spare) = locks else { panic!("in a folder") };
    lock(spare).iter().map(|file| file.conversation.clone()).collect()
}

#[test]
fn a_lock_is_free_again_while_its_file_is_kept_open() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (folder.path().join("a.db"), folder.path().join("b.db"));
    let (ours, theirs) = (ConversationLocks::beside(&ours), ConversationLocks::beside(&theirs));
    for _ in 0..3 {
        for (one, other) in [(&ours, &theirs), (&theirs, &ours)] {
            let token = one.take_lock("c").unwrap().unwrap();
            assert!(one.take_lock("c").unwrap().is_none());
            assert!(other.take_lock("c").unwrap().is_none());
            assert!(one.take_lock("d").unwrap().is_some());
            drop(token);
            assert!(spare(one).contains(&"c".to_owned()));
        }
    }
}

#[test]
fn few_files_are_kept_open() {
    let folder = tempfile::tempdir().unwrap();
    let locks = ConversationLocks::beside(&folder.path().join("a.db"));
    let tokens: Vec<ConversationLock> =
        (0..20).map(|number| locks.take_lock(&number.to_string()).unwrap().unwrap()).collect();
    assert!(spare(&locks).is_empty());
    drop(tokens);
    let last: Vec<String> = (12..20).map(|number: i32| number.to_string()).collect();
    assert_eq!(spare(&locks), last);
    drop(locks.take_lock("14").unwrap().unwrap());
    assert_eq!(spare(&locks).last().unwrap(), "14");
    assert_eq!(spare(&locks).len(), MOST_SPARE);
}

#[test]
fn a_file_that_was_removed_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (ours, theirs) = (ConversationLocks::beside(&path), ConversationLocks::beside(&path));
    drop(ours.take_lock("c").unwrap().unwrap());
    fs::remove_dir_all(folder.path().join(FOLDER)).unwrap();
    let _token = theirs.take_lock("c").unwrap().unwrap();
    assert!(ours.take_lock("c").unwrap().is_none(), "it would lock a file that nobody finds");
}
