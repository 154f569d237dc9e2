//! Events out of bytes, in every chunking.

use proptest::prelude::*;

use super::*;

/// Returns the events of the chunks, as text; `!` for one that is too long.
fn events(chunks: &[&[u8]], limit: usize) -> Vec<(String, String)> {
    let mut sse = SseDecoder::new(limit);
    let mut all = Vec::new();
    for chunk in chunks {
        sse.push(chunk);
        loop {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            match sse.next_event() {
                Ok(Some(SseEvent { name, data: Some(data), .. })) => {
                    all.push((text(name), text(data)));
                }
                Ok(Some(event)) => {
                    let (id, retry) = (event.id.unwrap_or_default(), event.retry.map(text));
                    all.push((format!("#{}", text(id)), retry.unwrap_or_default()));
                }
                Ok(None) => break,
                Err(EventTooLong) => all.push(("!".to_owned(), String::new())),
            }
        }
    }
    all
}

/// Every single cut, and byte by byte.
#[track_caller]
fn check(stream: &str, expected: &[(&str, &str)]) {
    let bytes = stream.as_bytes();
    let expected: Vec<(String, String)> =
        expected.iter().map(|(name, data)| ((*name).to_owned(), (*data).to_owned())).collect();
    for cut in 0..=bytes.len() {
        let (before, after) = bytes.split_at(cut);
        assert_eq!(events(&[before, after], 64), expected, "cut at {cut}");
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(events(&single, 64), expected, "byte by byte");
}

#[test]
fn names_and_data() {
    check(
        "event: a\ndata: 1\n\nevent:b\ndata:2\n\ndata: 3\n\n",
        &[("a", "1"), ("b", "2"), ("", "3")],
    );
}

#[test]
fn every_line_end() {
    for end in ["\n", "\r\n", "\r"] {
        let stream = "event: a|data: 1||data: 2|data: 3||".replace('|', end);
        check(&stream, &[("a", "1"), ("", "2\n3")]);
    }
    check("data: 1\r\n\ndata: 2\n\r\n", &[("", "1"), ("", "2")]);
}

#[test]
fn utf8_is_cut_anywhere() {
    check("event: ü\ndata: grüße 🦀 \u{2028}\n\n", &[("ü", "grüße 🦀 \u{2028}")]);
}

#[test]
fn comments_and_unknown_fields_are_passed_over() {
    check(": hello\n\n:\nid: 7\nretry: 9\ndatas: no\ndata: 1\n: x\n\n", &[("", "1")]);
}

#[test]
fn data_of_several_lines_and_blanks() {
    check("data: a\ndata\ndata:  b\n\n", &[("", "a\n\n b")]);
}

#[test]
fn an_id_and_a_time_are_an_event_without_data() {
    check(
        "id: 7\nretry: 9\n\nevent: a\nid: 8\n\ndata: 1\n\n",
        &[("#7", "9"), ("#8", ""), ("", "1")],
    );
}

#[test]
fn a_skipped_event_is_not_kept() {
    let mut sse = SseDecoder::new(64);
    for at in 0..100 {
        sse.push(&[b'x'; 50]);
        assert_eq!(sse.next_event().is_err(), at == 1);
        assert!(sse.buffer.len() <= 64, "{} bytes are kept", sse.buffer.len());
    }
    sse.push(b"\n\ndata: 1\n\n");
    assert_eq!(sse.next_event().unwrap().unwrap().data, Some(&b"1"[..]));
}

#[test]
fn an_event_without_data_is_none_and_leaves_no_name() {
    check("event: a\n\ndata: 1\n\n", &[("", "1")]);
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_field() {
    check("\u{feff}data: 1\n\n\u{feff}data: 2\n\n", &[("", "1")]);
}

#[test]
fn what_the_stream_breaks_off_is_no_event() {
    check("data: 1\n\ndata: 2\n", &[("", "1")]);
}

#[test]
fn an_event_over_the_limit_is_an_error_once() {
    let long = "x".repeat(70);
    check(&format!("data: 1\n\ndata: {long}\n\ndata: 2\n\n"), &[("", "1"), ("!", ""), ("", "2")]);
    check(&format!("data: 1\n\n: {long}\n\ndata: 2\n\n"), &[("", "1"), ("!", ""), ("", "2")]);
    let lines = "data: 123\n".repeat(7);
    check(&format!("{lines}\n"), &[("!", "")]);
    for end in ["\n", "\r\n", "\r"] {
        let stream = format!("data: {long}|data: {long}||data: 2||").replace('|', end);
        check(&stream, &[("!", ""), ("", "2")]);
    }
}

#[test]
fn an_event_of_exactly_the_limit_is_whole() {
    let data = "x".repeat(57);
    check(&format!("data: {data}\n\n"), &[("", &data)]);
    let data = "x".repeat(58);
    check(&format!("data: {data}\n\n"), &[("!", "")]);
    let data = "x".repeat(56);
    check(&format!("data: {data}\r\n\r\n").repeat(2), &[("", &data), ("", &data)]);
}

#[test]
fn a_line_without_an_end_is_not_waited_for() {
    let mut sse = SseDecoder::new(64);
    sse.push(&[b'x'; 64]);
    assert_eq!(sse.next_event(), Ok(None));
    sse.push(b"x");
    assert_eq!(sse.next_event(), Err(EventTooLong));
}

#[test]
fn comments_may_go_on_for_ever() {
    check(&": still here\n".repeat(20), &[]);
}

#[test]
fn the_buffer_does_not_grow_with_the_stream() {
    let mut sse = SseDecoder::new(64);
    let event = b"event: content_block_delta\ndata: {\"a\":\"0123456789\"}\n\n";
    let stream = event.repeat(1000);
    let mut count = 0;
    for chunk in stream.chunks(97) {
        sse.push(chunk);
        while let Ok(Some(_)) = sse.next_event() {
            count += 1;
        }
        assert!(sse.buffer.len() < 400, "{} bytes are kept", sse.buffer.len());
    }
    assert_eq!(count, 1000);
}

fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "data",
        "event",
        ":",
        " ",
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "x",
        "ü🦀",
        "data: 1",
        "\u{feff}",
        "event: a",
        "\r\r",
        "id: 3",
        "data: 12345678",
    ])
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same_events(
        pieces in prop::collection::vec(piece(), 0..40),
        sizes in prop::collection::vec(1_usize..9, 1..30),
        limit in 4_usize..40,
    ) {
        let stream = pieces.concat().into_bytes();
        let mut chunks = Vec::new();
        let mut rest = stream.as_slice();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, after) = rest.split_at((*size).min(rest.len()));
            chunks.push(chunk);
            rest = after;
        }
        prop_assert_eq!(events(&chunks, limit), events(&[&stream], limit));
    }
}
