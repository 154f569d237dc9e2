//! Viewers that do not read, and requests that are too many.

use callgate_wire::desk::{DeskAnswer, DeskMessage, HiddenText};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;

use super::connection::write_line;
use super::seat::{RequestOutcome, UnlockedToken, ViewerSeat};

fn unlocked(name: &str) -> UnlockedToken {
    UnlockedToken { hash: format!("hash of {name}"), name: name.to_owned(), since_ms: 0 }
}

#[tokio::test(start_paused = true)]
async fn a_viewer_that_takes_nothing_is_given_up() {
    let (mut ours, mut theirs) = UnixStream::pair().unwrap();
    // More than a socket holds; the clock goes on only while nothing else can.
    let error = write_line(&mut ours, &vec![b'x'; 10_000_000]).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    drop(ours);
    let mut heard = Vec::new();
    theirs.read_to_end(&mut heard).await.unwrap();
    assert!(!heard.is_empty() && heard.len() < 10_000_000);
}

#[tokio::test(start_paused = true)]
async fn a_viewer_that_takes_a_little_now_and_then_is_not() {
    let (mut ours, mut theirs) = UnixStream::pair().unwrap();
    let reading = tokio::spawn(async move {
        let mut heard = 0;
        let mut buffer = vec![0; 100_000];
        while heard < 3_000_000 {
            // All of it takes ten times as long as nothing at all may take.
            tokio::time::sleep(std::time::Duration::from_secs(10)).await;
            heard += theirs.read(&mut buffer).await.unwrap();
        }
    });
    write_line(&mut ours, &vec![b'x'; 3_000_000]).await.unwrap();
    reading.await.unwrap();
}

#[tokio::test]
async fn only_what_the_desk_accepts_unlocks() {
    let (mut seat, mut told, _stays) = ViewerSeat::new(None);
    let mut answer_to = |seat: &mut ViewerSeat, then, done| {
        let number = seat.add_request("7", then).unwrap();
        assert!(seat.send_reply(number, done, "so"));
        let told = told.try_recv().unwrap();
        let Some(DeskMessage::Answer { id, answer }) = told.message else { panic!("{told:?}") };
        assert_eq!((id.as_str(), told.changes_standing), ("7", seat.is_unlocked() && done));
        answer
    };
    let pair = |name| RequestOutcome::Pair(HiddenText::new("token"), unlocked(name));
    for then in [pair("Ada"), RequestOutcome::Unlock(unlocked("Ada")), RequestOutcome::Tell] {
        assert!(matches!(answer_to(&mut seat, then, false), DeskAnswer::Told { done: false, .. }));
        assert!(!seat.is_unlocked());
    }
    assert!(matches!(
        answer_to(&mut seat, RequestOutcome::Tell, true),
        DeskAnswer::Told { done: true, .. }
    ));
    assert!(!seat.is_unlocked());
    let paired = answer_to(&mut seat, pair("Ada"), true);
    assert!(matches!(paired, DeskAnswer::Paired { token } if token.reveal() == "token"));
    assert_eq!(seat.person_at(3).name, "Ada");
    answer_to(&mut seat, RequestOutcome::Unlock(unlocked("Bob")), false);
    assert_eq!(seat.person_at(3).name, "Ada", "a wrong token takes nothing away");
    answer_to(&mut seat, RequestOutcome::Unlock(unlocked("Bob")), true);
    assert_eq!(seat.person_at(3).name, "Bob");
    assert!(seat.lock_token("hash of Ada", "why") && seat.is_unlocked());
    assert!(seat.lock_token("hash of Bob", "why") && !seat.is_unlocked());
}

#[tokio::test]
async fn so_many_requests_may_be_under_way_and_no_more() {
    let (mut seat, mut hears, _stays) = ViewerSeat::new(None);
    let numbers: Vec<u64> =
        (0..256).map(|_| seat.add_request("1", RequestOutcome::Tell).unwrap()).collect();
    assert_eq!(seat.add_request("1", RequestOutcome::Tell), None);
    assert!(seat.forget_request(numbers[0]) && !seat.forget_request(numbers[0]));
    assert!(
        seat.send_reply(numbers[0], true, "late"),
        "an answer to what was forgotten is nobody's"
    );
    assert!(hears.try_recv().is_err());
    seat.add_request("1", RequestOutcome::Tell).unwrap();
}

#[tokio::test]
async fn answers_that_nobody_hears_are_not_kept_for_ever() {
    let (mut seat, _hears, _stays) = ViewerSeat::new(None);
    let mut tell = || {
        let number = seat.add_request("1", RequestOutcome::Tell).unwrap();
        seat.send_reply(number, true, "so")
    };
    assert!((0..256).all(|_| tell()));
    assert!(!tell());
}
