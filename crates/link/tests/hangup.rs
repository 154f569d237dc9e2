//! A hang-up is noticed, and whether what was sent had been read.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use callgate_link::hangup::{HangupWatcher, Receipt, peer_receipt};

#[test]
fn each_hang_up_is_reported_once_by_its_name() {
    let hangups = HangupWatcher::new().unwrap();
    let pairs: Vec<_> = (0..600).map(|_| UnixStream::pair().unwrap()).collect();
    for (name, (ours, _)) in (0..).zip(&pairs) {
        hangups.watch(ours, name).unwrap();
    }
    let (ours, theirs): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    drop(theirs);
    let mut names = Vec::new();
    while names.len() < ours.len() {
        names.extend(hangups.next().unwrap());
    }
    names.sort_unstable();
    assert_eq!(names, (0..600).collect::<Vec<_>>());
    // None of them is reported again: the next is this one.
    let (last, gone) = UnixStream::pair().unwrap();
    hangups.watch(&last, 1_000).unwrap();
    drop(gone);
    assert_eq!(hangups.next().unwrap(), [1_000]);
}

#[test]
fn a_peer_that_only_stops_sending_has_not_hung_up() {
    let hangups = HangupWatcher::new().unwrap();
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    hangups.watch(&ours, 5).unwrap();
    theirs.write_all(b"question").unwrap();
    theirs.shutdown(Shutdown::Write).unwrap();
    let (other, gone) = UnixStream::pair().unwrap();
    hangups.watch(&other, 6).unwrap();
    drop(gone);
    assert_eq!(hangups.next().unwrap(), [6]);
    drop(theirs);
    assert_eq!(hangups.next().unwrap(), [5]);
}

#[test]
fn what_was_left_unread_is_known() {
    let hangups = HangupWatcher::new().unwrap();
    for is_read in [true, false] {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        hangups.watch(&ours, 1).unwrap();
        ours.write_all(b"answer").unwrap();
        if is_read {
            theirs.read_exact(&mut [0; 6]).unwrap();
        }
        drop(theirs);
        assert_eq!(hangups.next().unwrap(), [1]);
        let expected = if is_read { Receipt::Read } else { Receipt::Lost };
        assert_eq!(peer_receipt(&ours), expected);
    }
}

#[test]
fn a_peer_that_stopped_sending_and_has_yet_to_read_is_not_taken_for_one_that_has_gone() {
    let hangups = HangupWatcher::new().unwrap();
    for is_read in [true, false] {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        hangups.watch(&ours, 1).unwrap();
        theirs.shutdown(Shutdown::Write).unwrap();
        ours.write_all(b"answer").unwrap();
        ours.shutdown(Shutdown::Write).unwrap();
        // Nothing will pass any more in either direction.
        assert_eq!(hangups.next().unwrap(), [1]);
        assert_eq!(peer_receipt(&ours), Receipt::Unread);
        if is_read {
            theirs.read_exact(&mut [0; 6]).unwrap();
            assert_eq!(peer_receipt(&ours), Receipt::Read);
        }
        drop(theirs);
        let expected = if is_read { Receipt::Read } else { Receipt::Lost };
        assert_eq!(peer_receipt(&ours), expected);
    }
}
