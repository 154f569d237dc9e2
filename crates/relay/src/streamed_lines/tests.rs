//! Lines over a pipe in memory, whose room is small.

use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

use super::*;

const ROOM: usize = 64;

fn pair(most: usize) -> (StreamedLines, tokio::io::DuplexStream) {
    let (ours, theirs) = duplex(ROOM);
    (StreamedLines::new(Box::new(ours), LineBudget::new(most)), theirs)
}

fn line(text: &str) -> SharedLine {
    Arc::new(format!("{text}\n").into_bytes())
}

#[tokio::test]
async fn both_directions_flow_while_the_next_line_is_awaited() {
    let (mut lines, theirs) = pair(1024);
    let long = "x".repeat(10 * ROOM);
    assert!(lines.send(line(&long)));
    assert!(lines.send(line("end")));
    let (mut reading, mut writing) = tokio::io::split(theirs);
    let peer = tokio::spawn(async move {
        // It answers only after it has read all of it, which is more than the pipe holds.
        let mut read = vec![0; 10 * ROOM + 5];
        reading.read_exact(&mut read).await.unwrap();
        writing.write_all(b"one\ntwo\nthr").await.unwrap();
        writing.write_all(b"ee\n").await.unwrap();
        read
    });
    let before = Instant::now();
    assert!(lines.heard_at() <= before);
    for expected in ["one", "two", "three"] {
        let arrived = lines.next().await.unwrap();
        assert_eq!(arrived, LineArrival::Line(expected.as_bytes().to_vec()));
    }
    assert!(lines.heard_at() >= before);
    assert_eq!(peer.await.unwrap(), format!("{long}\nend\n").into_bytes());
    assert_eq!(lines.next().await, None);
}

#[tokio::test]
async fn what_all_machines_send_at_once_has_a_limit_and_is_given_back() {
    let budget = LineBudget::new(40);
    let pair = || {
        let (ours, theirs) = duplex(2 * FREE);
        (StreamedLines::new(Box::new(ours), Arc::clone(&budget)), theirs)
    };
    let ((mut lines, mut theirs), (mut second, mut other)) = (pair(), pair());
    let part = vec![b'x'; FREE + 30];
    theirs.write_all(&part).await.unwrap();
    assert_waits(&mut lines).await;
    other.write_all(&part).await.unwrap();
    assert_eq!(second.next().await, Some(LineArrival::NoRoom));
    drop(second);
    // A line that is whole takes nothing any more.
    theirs.write_all(b"\n").await.unwrap();
    assert_eq!(lines.next().await, Some(LineArrival::Line(part)));
    assert_eq!(lines.take_arrived(), None);
    assert!(BudgetShare::of(budget).resize(40));
}

/// Reads everything that has come, which is no whole line.
async fn assert_waits(lines: &mut StreamedLines) {
    tokio::select! {
        biased;
        arrived = lines.next() => panic!("{arrived:?}"),
        () = std::future::ready(()) => {}
    }
}

#[tokio::test]
async fn whoever_takes_the_whole_budget_ends_no_line_of_usual_length() {
    let budget = LineBudget::new(40);
    let mut hostile = BudgetShare::of(Arc::clone(&budget));
    assert!(hostile.resize(40));
    let (ours, mut theirs) = duplex(2 * FREE);
    let mut lines = StreamedLines::new(Box::new(ours), budget);
    theirs.write_all(b"{\"kind\":").await.unwrap();
    assert_waits(&mut lines).await;
    theirs.write_all(b"\"beat\"}\n").await.unwrap();
    assert!(matches!(lines.next().await, Some(LineArrival::Line(_))));
    theirs.write_all(&vec![b'x'; FREE + 1]).await.unwrap();
    assert_eq!(lines.next().await, Some(LineArrival::NoRoom));
}

#[tokio::test]
async fn closing_writes_the_last_words() {
    let (mut lines, mut theirs) = pair(40);
    assert!(lines.send(line("farewell")));
    lines.close(Duration::from_secs(5)).await;
    let mut said = String::new();
    theirs.read_to_string(&mut said).await.unwrap();
    assert_eq!(said, "farewell\n");
}

#[test]
fn a_line_that_nobody_reads_is_told() {
    let (mut lines, _theirs) = pair(40);
    for _ in 0..MOST_UNSENT {
        assert!(lines.send(line("x")));
    }
    assert!(!lines.send(line("x")));
}
