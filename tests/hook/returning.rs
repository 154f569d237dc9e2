//! If the desk dies while a hook waits, the hook connects again, for a while, with the same
//! question.

use std::fs;
use std::time::{Duration, Instant};

use callgate_testkit::until::until;

use crate::fixture::{Running, Stage, bash};

#[test]
fn a_desk_that_comes_back_is_asked_the_same() {
    let stage = Stage::new();
    let desk = stage.desk();
    let hook = stage.hook(bash());
    let first = desk.accept();
    let line = first.line.clone();
    drop((desk, first));
    fs::remove_file(&stage.socket).unwrap();
    hook.wait_for_looks();
    let desk = stage.desk();
    let second = desk.accept();
    assert_eq!(second.line, line);
    // Once more, with the socket left behind.
    drop((desk, second));
    hook.wait_for_looks();
    fs::remove_file(&stage.socket).unwrap();
    let desk = stage.desk();
    let mut third = desk.accept();
    assert_eq!(third.line, line);
    third.answer(r#""decision":"deny","message":"No.""#);
    third.assert_closed();
    let ended = hook.end();
    assert!(ended.code == Some(0) && ended.stdout.contains(r#""message":"No.""#), "{ended:?}");
}

#[test]
fn a_desk_that_dies_again_and_again_is_waited_for() {
    let stage = Stage::new();
    let mut desk = stage.desk();
    let hook = stage.hook(bash());
    for _ in 0..5 {
        // It dies as soon as it has the question, and is back before the hook dials again.
        drop((desk.accept(), desk));
        fs::remove_file(&stage.socket).unwrap();
        desk = stage.desk();
    }
    desk.accept().answer(r#""decision":"allow""#);
    assert_eq!(hook.end().code, Some(0));
}

#[test]
fn a_desk_that_stays_away_is_given_up() {
    let stage = Stage::new().patience(300, 1);
    let desk = stage.desk();
    let hook = stage.hook(bash());
    drop((desk.accept(), desk));
    let start = Instant::now();
    hook.end().fell_back("was not back within 1 s");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn without_grace_it_is_given_up_at_once() {
    let stage = Stage::new().patience(300, 0);
    let desk = stage.desk();
    let hook = stage.hook(bash());
    drop((desk.accept(), desk));
    hook.end().fell_back("was not back within 0 s");
}

#[test]
fn all_the_waiting_has_one_limit() {
    let stage = Stage::new().patience(1, 60);
    let desk = stage.desk();
    let hook = stage.hook(bash());
    drop((desk.accept(), desk));
    let start = Instant::now();
    hook.end().fell_back("was not back");
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_desk_with_a_long_queue_is_there() {
    let stage = Stage::new();
    let listener = rustix::net::socket(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::STREAM,
        None,
    )
    .unwrap();
    let address = rustix::net::SocketAddrUnix::new(&stage.socket).unwrap();
    rustix::net::bind(&listener, &address).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let hooks: Vec<_> = (0..5).map(|_| stage.hook(bash())).collect();
    // One is in the queue. The others find it full, and look again and again.
    let before: Vec<u64> = hooks.iter().map(Running::sleep_count).collect();
    let looks = |(hook, before): (&Running, &u64)| hook.sleep_count() >= before + 3;
    until("all others find the queue full", || {
        hooks.iter().zip(&before).filter(|both| looks(*both)).count() >= hooks.len() - 1
    });
    let desk = crate::fixture::Desk::of(listener);
    for _ in &hooks {
        desk.accept().answer(r#""decision":"allow""#);
    }
    for hook in hooks {
        assert_eq!(hook.end().code, Some(0));
    }
}
