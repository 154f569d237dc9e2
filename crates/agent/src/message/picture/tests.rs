//! Pictures that a model can read, and those that would make a conversation unreadable.

use super::*;

/// A PNG of one pixel, in base64.
pub(crate) const SMALL_PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";

#[test]
fn a_picture_that_a_model_can_read_is_passed_on() {
    let bytes = STANDARD.decode(SMALL_PNG).unwrap();
    let MediaSource::Base64 { media_type, data } = parse_picture(&bytes).unwrap();
    assert_eq!((media_type.as_str(), data.as_str()), ("image/png", SMALL_PNG));
}

#[test]
fn what_a_provider_would_refuse_is_refused_with_the_reason() {
    let gif = |side: u16, comment: usize| {
        let mut bytes = b"GIF89a".to_vec();
        bytes.extend(side.to_le_bytes().into_iter().chain([1, 0, 0, 0, 0]));
        for _ in 0..comment / 256 {
            bytes.extend([0x21, 0xfe, 252].into_iter().chain([b'x'; 252]).chain([0]));
        }
        bytes.extend([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3b]);
        bytes
    };
    assert!(parse_picture(&gif(8000, 0)).is_ok());
    assert_eq!(
        parse_picture(&gif(8001, 0)).unwrap_err(),
        "the picture has 8001 × 1 pixels, and a model reads at most 8000 on a side: make it smaller"
    );
    let large = gif(1, LARGEST_PICTURE);
    assert!(large.len() <= LARGEST_PICTURE && parse_picture(&large).is_ok());
    let large = gif(1, LARGEST_PICTURE + 256 * 100);
    assert!(parse_picture(&large).unwrap_err().ends_with("at most 3750000: make it smaller"));
    assert!(any_size(&large).is_ok());
    for odd in [&b""[..], b"<svg>", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"RIFF....WAVEfmt "] {
        assert!(parse_picture(odd).unwrap_err().contains("not a whole one"), "{odd:?}");
    }
}
