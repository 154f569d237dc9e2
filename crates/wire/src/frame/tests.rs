//! Both decoders, over every way of cutting the same bytes into chunks.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

/// Every line of the stream, each as text. Every other chunk is read into the decoder's space.
fn lines(chunks: &[&[u8]], limit: usize) -> Vec<String> {
    let mut lines = LineDecoder::new(limit);
    let mut seen = Vec::new();
    for (place, chunk) in chunks.iter().enumerate() {
        if place % 2 == 0 {
            lines.push(chunk);
        } else {
            lines.space()[..chunk.len()].copy_from_slice(chunk);
            lines.mark_filled(chunk.len());
        }
        while let Some(line) = lines.next_frame() {
            seen.push(shown(&line));
        }
    }
    while let Some(line) = lines.finish() {
        seen.push(shown(&line));
    }
    seen
}

fn shown(line: &DecodedLine<'_>) -> String {
    match line {
        DecodedLine::Whole(bytes) => {
            assert_eq!(line.size(), bytes.len());
            String::from_utf8_lossy(bytes).into_owned()
        }
        DecodedLine::TooLong(dropped) => {
            assert_eq!(line.size(), dropped.size);
            format!("{} bytes too long, id {:?}", dropped.size, dropped.id)
        }
    }
}

/// Every frame of the stream, and how it ends. Every other chunk is read into the decoder's space.
fn frames(chunks: &[&[u8]], limit: usize) -> (Vec<Vec<u8>>, String) {
    let mut frames = FrameDecoder::new(limit);
    let mut seen = Vec::new();
    for (place, chunk) in chunks.iter().enumerate() {
        if place % 2 == 0 {
            frames.push(chunk);
        } else {
            frames.space()[..chunk.len()].copy_from_slice(chunk);
            frames.mark_filled(chunk.len());
        }
        loop {
            let is_ready = frames.is_ready();
            match frames.next_frame() {
                Ok(Some(frame)) => {
                    assert_eq!(is_ready, Ok(true));
                    seen.push(frame.to_vec());
                }
                Ok(None) => {
                    assert_eq!(is_ready, Ok(false));
                    break;
                }
                Err(too_large) => return (seen, too_large.to_string()),
            }
        }
    }
    (seen, frames.finish().map_or_else(|cut| cut.to_string(), |()| "whole".to_owned()))
}

/// Returns all ways to cut `bytes` in three.
fn cuts(bytes: &[u8]) -> impl Iterator<Item = [&[u8]; 3]> {
    (0..=bytes.len()).flat_map(move |second| {
        (0..=second).map(move |first| [&bytes[..first], &bytes[first..second], &bytes[second..]])
    })
}

fn check_lines(stream: &str, limit: usize, expected: &Expect) {
    let whole = lines(&[stream.as_bytes()], limit);
    expected.assert_debug_eq(&whole);
    for chunks in cuts(stream.as_bytes()) {
        assert_eq!(lines(&chunks, limit), whole, "cut as {chunks:?}");
    }
}

fn check_frames(stream: &[u8], limit: usize, expected: &Expect) {
    let whole = frames(&[stream], limit);
    expected.assert_debug_eq(&whole);
    for chunks in cuts(stream) {
        assert_eq!(frames(&chunks, limit), whole, "cut as {chunks:?}");
    }
}

#[test]
fn lines_end_with_a_newline_or_the_stream() {
    check_lines(
        "one\ntwo\r\n\n \t\r\nthree",
        10,
        &expect![[r#"
            [
                "one",
                "two",
                "three",
            ]
        "#]],
    );
    check_lines(
        "",
        10,
        &expect![[r"
            []
        "]],
    );
    check_lines(
        "\n  ",
        10,
        &expect![[r"
            []
        "]],
    );
    check_lines(
        "last\r",
        10,
        &expect![[r#"
            [
                "last",
            ]
        "#]],
    );
}

#[test]
fn a_line_of_exactly_the_limit_is_whole_and_one_more_is_not() {
    check_lines(
        "12345\n12345\r\n123456\n1234\n12345",
        5,
        &expect![[r#"
            [
                "12345",
                "12345",
                "6 bytes too long, id None",
                "1234",
                "12345",
            ]
        "#]],
    );
    check_lines(
        "123456",
        5,
        &expect![[r#"
            [
                "6 bytes too long, id None",
            ]
        "#]],
    );
    check_lines(
        "12345\r",
        5,
        &expect![[r#"
            [
                "12345",
            ]
        "#]],
    );
}

#[test]
fn a_line_over_the_limit_tells_its_size_and_its_id() {
    check_lines(
        "{\"a\":[1,{\"id\":2}],\"id\":\"x-1\"}\r\nnext\n{\"id\":7,\"b\":\"long enough\"}",
        12,
        &expect![[r#"
            [
                "29 bytes too long, id Some(\"\\\"x-1\\\"\")",
                "next",
                "26 bytes too long, id Some(\"7\")",
            ]
        "#]],
    );
}

#[test]
fn a_line_that_is_taken_is_not_buffered_any_more() {
    for (stream, limit, rest) in [
        ("one\r\ntwo\n", 10, 4),
        ("one\ntw", 10, 2),
        ("\n \none\n", 10, 0),
        ("too long\n", 3, 0),
        ("too long\nx", 3, 1),
    ] {
        let mut lines = LineDecoder::new(limit);
        lines.push(stream.as_bytes());
        assert!(lines.next_frame().is_some());
        assert_eq!(lines.buffered(), rest, "{stream:?}");
        lines.finish();
        assert_eq!(lines.buffered(), 0, "{stream:?} after its end");
    }
}

#[test]
fn frames_follow_their_length() {
    check_frames(
        b"\0\0\0\x03one\0\0\0\0\0\0\0\x02on",
        5,
        &expect![[r#"
            (
                [
                    [
                        111,
                        110,
                        101,
                    ],
                    [],
                    [
                        111,
                        110,
                    ],
                ],
                "whole",
            )
        "#]],
    );
}

#[test]
fn a_frame_over_the_limit_ends_the_stream() {
    check_frames(
        b"\0\0\0\x05fives\0\0\0\x06sixsix",
        5,
        &expect![[r#"
            (
                [
                    [
                        102,
                        105,
                        118,
                        101,
                        115,
                    ],
                ],
                "a message of 6 bytes is over the limit of 5 bytes",
            )
        "#]],
    );
}

#[test]
fn a_stream_that_ends_inside_a_frame_is_cut() {
    check_frames(
        b"\0\0\0\x05fi",
        5,
        &expect![[r#"
            (
                [],
                "the stream ended inside a message, after 6 bytes of it",
            )
        "#]],
    );
    check_frames(
        b"\0\0",
        5,
        &expect![[r#"
            (
                [],
                "the stream ended inside a message, after 2 bytes of it",
            )
        "#]],
    );
}

#[test]
fn the_prefix_is_the_length_or_a_refusal() {
    assert_eq!(length_prefix(258, 300), Ok([0, 0, 1, 2]));
    assert_eq!(length_prefix(300, 300), Ok([0, 0, 1, 44]));
    assert_eq!(length_prefix(301, 300), Err(OversizedFrame { size: 301, limit: 300 }));
    let over = u32::MAX as usize + 1;
    assert_eq!(
        length_prefix(over, usize::MAX),
        Err(OversizedFrame { size: over, limit: usize::MAX })
    );
}

#[test]
fn nothing_is_allocated_for_a_frame_that_is_refused() {
    let mut frames = FrameDecoder::new(1024);
    frames.push(&u32::MAX.to_be_bytes());
    assert!(frames.space().len() < 64 * 1024);
    let size = u32::MAX as usize;
    assert_eq!(frames.next_frame(), Err(OversizedFrame { size, limit: 1024 }));
}

#[test]
fn the_space_for_a_large_frame_grows_with_what_has_arrived() {
    let length = 9_000_000_usize;
    let mut frames = FrameDecoder::new(10_000_000);
    frames.push(&length_prefix(length, 10_000_000).unwrap());
    let mut reads = 0;
    while frames.is_ready() == Ok(false) {
        let arrived = frames.buffered();
        let space = frames.space().len();
        assert!(space <= 2 * arrived.max(64 * 1024), "{space} after {arrived}");
        frames.mark_filled(space.min(length + 4 - arrived));
        reads += 1;
    }
    assert!(reads < 20, "{reads}");
    assert_eq!(frames.next_frame().unwrap().unwrap().len(), length);
}

#[test]
fn a_frame_gets_no_more_space_than_it_needs() {
    for (length, space) in [(20, 16 * 1024), (30_000, 30_000), (9_000_000, 64 * 1024)] {
        let mut frames = FrameDecoder::new(10_000_000);
        frames.push(&length_prefix(length, 10_000_000).unwrap());
        assert_eq!(frames.buffered(), 4);
        assert_eq!(frames.space().len(), space, "for {length}");
    }
}

#[test]
fn a_line_that_is_dropped_takes_no_memory() {
    let mut lines = LineDecoder::new(1000);
    for _ in 0..10_000 {
        let space = lines.space();
        assert!(space.len() <= 64 * 1024, "{}", space.len());
        let count = space.len();
        space.fill(b'x');
        lines.mark_filled(count);
        assert_eq!(lines.next_frame(), None);
    }
}

#[test]
fn a_long_line_is_read_in_ever_larger_pieces() {
    let mut lines = LineDecoder::new(10_000_000);
    let mut arrived = 0;
    while arrived < 1024 * 1024 {
        let space = lines.space();
        let size = space.len();
        assert_eq!(size, (arrived / 2).max(16 * 1024), "after {arrived}");
        space.fill(b'x');
        lines.mark_filled(size);
        assert_eq!(lines.next_frame(), None);
        arrived += size;
        assert_eq!(lines.buffered(), arrived);
    }
}

#[test]
fn a_long_stream_of_short_lines_stays_in_a_small_buffer() {
    let mut lines = LineDecoder::new(1000);
    for _ in 0..10_000 {
        lines.push(b"{\"a\":1}\n{\"b\"");
        assert!(matches!(lines.next_frame(), Some(DecodedLine::Whole(b"{\"a\":1}"))));
        lines.push(b":2}\n");
        assert!(matches!(lines.next_frame(), Some(DecodedLine::Whole(b"{\"b\":2}"))));
        assert!(lines.space().len() < 64 * 1024);
    }
}

proptest! {
    #[test]
    fn any_chunks_give_the_same_lines(
        stream in "[a-c\"\\\\{}:,\r\n ]{0,200}",
        limit in 0_usize..20,
        sizes in prop::collection::vec(1_usize..9, 0..300),
    ) {
        let chunks = chunked(stream.as_bytes(), &sizes);
        prop_assert_eq!(lines(&chunks, limit), lines(&[stream.as_bytes()], limit));
    }

    #[test]
    fn any_chunks_give_the_same_frames(
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..12),
        limit in 20_usize..30,
        sizes in prop::collection::vec(1_usize..9, 0..300),
    ) {
        let mut stream = Vec::new();
        for payload in &payloads {
            stream.extend(u32::try_from(payload.len()).unwrap().to_be_bytes());
            stream.extend(payload);
        }
        let (seen, end) = frames(&chunked(&stream, &sizes), limit);
        let fitting: Vec<Vec<u8>> =
            payloads.iter().take_while(|payload| payload.len() <= limit).cloned().collect();
        prop_assert_eq!(end == "whole", fitting.len() == payloads.len());
        prop_assert_eq!(seen, fitting);
    }
}

/// Returns the stream in chunks of the given sizes, the rest in one.
fn chunked<'a>(mut stream: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut chunks = Vec::new();
    for &size in sizes {
        let (chunk, rest) = stream.split_at(size.min(stream.len()));
        chunks.push(chunk);
        stream = rest;
    }
    chunks.push(stream);
    chunks
}
