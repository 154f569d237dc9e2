//! The drivers: frames over real streams, cancelled and cut.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::io::Cursor;

use callgate_link::blocking::{fill_frames, fill_lines};
use callgate_link::tokio::{FrameError, FrameReader, write_frame};
use callgate_wire::frame::{DecodedLine, FrameDecoder, LineDecoder};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;

#[tokio::test]
async fn a_read_that_is_cancelled_loses_nothing() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let mut reader = FrameReader::new(theirs, 100);
    let message = b"\0\0\0\x05hello\0\0\0\x03you";
    for piece in message.chunks(2) {
        ours.write_all(piece).await.unwrap();
        if piece.ends_with(b"ou") {
            break;
        }
        // Each turn polls a new future a few times and then drops it.
        for _ in 0..3 {
            let next = tokio::select! {
                biased;
                frame = reader.next() => Some(frame.unwrap().unwrap().to_vec()),
                () = tokio::task::yield_now() => None,
            };
            assert!(next.is_none_or(|frame| frame == b"hello"));
        }
    }
    assert_eq!(reader.next().await.unwrap().unwrap(), b"you");
}

#[tokio::test]
async fn frames_are_written_whole_or_refused() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let mut reader = FrameReader::new(theirs, 5);
    assert!(matches!(write_frame(&mut ours, b"sixsix", 5).await, Err(FrameError::TooLarge(_))));
    write_frame(&mut ours, b"five!", 5).await.unwrap();
    assert_eq!(reader.next().await.unwrap().unwrap(), b"five!");
    write_frame(&mut ours, b"sixsix", 6).await.unwrap();
    assert!(matches!(reader.next().await, Err(FrameError::TooLarge(_))));
}

#[tokio::test]
async fn the_end_of_a_stream_is_told_from_a_cut() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    drop(ours);
    assert!(matches!(FrameReader::new(theirs, 5).next().await, Ok(None)));
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    ours.write_all(b"\0\0\0\x05he").await.unwrap();
    drop(ours);
    assert!(matches!(FrameReader::new(theirs, 5).next().await, Err(FrameError::Cut(_))));
}

#[test]
fn blocking_reads_fill_the_decoders() {
    let mut lines = LineDecoder::new(10);
    let mut input = Cursor::new(b"one\ntwo");
    assert_eq!(fill_lines(&mut input, &mut lines).unwrap(), 7);
    assert_eq!(lines.next_frame(), Some(DecodedLine::Whole(b"one")));
    assert_eq!(lines.next_frame(), None);
    assert_eq!(fill_lines(&mut input, &mut lines).unwrap(), 0);
    assert_eq!(lines.finish(), Some(DecodedLine::Whole(b"two")));

    let mut frames = FrameDecoder::new(10);
    let mut input = Cursor::new(b"\0\0\0\x03one");
    assert_eq!(fill_frames(&mut input, &mut frames).unwrap(), 7);
    assert_eq!(frames.next_frame().unwrap().unwrap(), b"one");
}

/// Interrupts the first read.
struct Interrupted(bool);

impl std::io::Read for Interrupted {
    fn read(&mut self, space: &mut [u8]) -> std::io::Result<usize> {
        if std::mem::replace(&mut self.0, false) {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        space[0] = b'\n';
        Ok(1)
    }
}

#[test]
fn an_interrupted_read_is_taken_up_again() {
    assert_eq!(fill_lines(&mut Interrupted(true), &mut LineDecoder::new(10)).unwrap(), 1);
}
