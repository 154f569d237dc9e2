//! What is kept of output, and how it is cut.

use proptest::prelude::*;

use super::*;

fn check(most: usize, chunks: &[&[u8]], expected: &str) {
    let mut kept = KeptOutput::new(most);
    for chunk in chunks {
        kept.push(chunk);
    }
    let (text, is_cut) = kept.text(most);
    assert_eq!(text, expected);
    assert_eq!(is_cut, expected.contains("left out"));
}

#[test]
fn the_first_and_the_last_part_is_kept() {
    check(8, &[], "");
    check(8, &[b"12345678"], "12345678");
    check(8, &[b"1234", b"", b"5678"], "12345678");
    check(8, &[b"123456789"], "1234\n… 1 byte left out …\n6789");
    check(8, &[b"1", b"2345", b"6789", b"abcdefghijk"], "1234\n… 12 bytes left out …\nhijk");
}

#[test]
fn characters_stay_whole_and_other_bytes_are_replaced() {
    check(
        8,
        "ääääää".as_bytes().chunks(1).collect::<Vec<_>>().as_slice(),
        "ää\n… 4 bytes left out …\nää",
    );
    check(8, &["aäääää".as_bytes()], "aä\n… 4 bytes left out …\nää");
    check(9, &[b"a\xffb\xe2\x82"], "a\u{fffd}b\u{fffd}");
    check(8, &[&[0xff; 20]], "\u{fffd}\n… 18 bytes left out …\n\u{fffd}");
}

#[test]
fn a_flood_takes_no_more_room_than_a_line() {
    let mut kept = KeptOutput::new(1000);
    for chunk in 0..10_000 {
        kept.push(&[b'x'; 1500][..chunk % 1500]);
        assert!(kept.head.capacity() + kept.tail.capacity() <= 4000);
    }
    assert!(kept.text(1000).0.len() < 1100);
}

proptest! {
    #[test]
    fn the_text_is_bounded_and_counts(bytes: Vec<u8>, most in 0..64usize, cuts: Vec<u8>) {
        let mut kept = KeptOutput::new(most);
        let mut rest = &bytes[..];
        for cut in cuts {
            let (now, later) = rest.split_at(rest.len().min(usize::from(cut)));
            kept.push(now);
            rest = later;
        }
        kept.push(rest);
        let (text, is_cut) = kept.text(most);
        let whole = String::from_utf8_lossy(&bytes);
        if is_cut {
            prop_assert!(whole.len() > most);
            prop_assert!(text.len() <= most + 64, "{text}");
        } else {
            prop_assert_eq!(&text, &whole);
        }
        // The second time, with less room, too.
        prop_assert!(kept.text(most / 2).0.len() <= most / 2 + 64);
    }
}
