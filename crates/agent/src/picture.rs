//! Pictures that a model can read.

use crate::message::MediaSource;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The largest picture in a tool's result, in bytes: providers refuse larger ones.
pub(crate) const LARGEST_PICTURE: usize = 3_750_000;
/// The most pictures in one result.
pub(crate) const MOST_PICTURES: usize = 20;
/// The kinds of pictures that a model can read, with the bytes with which they begin.
const KINDS: [(&str, &[u8]); 4] = [
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF8"),
    ("image/webp", b"RIFF"),
];

/// Returns true if a model can read pictures of this media type.
pub(crate) fn is_picture(media_type: &str) -> bool {
    KINDS.iter().any(|(kind, _)| *kind == media_type)
}

/// Returns the picture in these bytes, or why a model cannot read it.
pub(crate) fn picture(bytes: &[u8]) -> Result<MediaSource, String> {
    let kind = KINDS.iter().find(|(_, begin)| bytes.starts_with(begin));
    let is_webp = |kind: &str| kind != "image/webp" || bytes.get(8..12) == Some(b"WEBP");
    let Some((kind, _)) = kind.filter(|(kind, _)| is_webp(kind)) else {
        return Err("it is not a PNG, JPEG, GIF or WebP picture".to_owned());
    };
    if bytes.len() > LARGEST_PICTURE {
        return Err(format!(
            "the picture has {} bytes, and a model reads at most {LARGEST_PICTURE}: make it smaller",
            bytes.len()
        ));
    }
    Ok(MediaSource::Base64 { media_type: (*kind).to_owned(), data: STANDARD.encode(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_known_by_its_first_bytes() {
        let kind =
            |bytes: &[u8]| picture(bytes).map(|MediaSource::Base64 { media_type, .. }| media_type);
        assert_eq!(kind(b"\x89PNG\r\n\x1a\nrest").unwrap(), "image/png");
        assert_eq!(kind(b"\xff\xd8\xff\xe0").unwrap(), "image/jpeg");
        assert_eq!(kind(b"GIF89a").unwrap(), "image/gif");
        assert_eq!(kind(b"RIFF....WEBPVP8 ").unwrap(), "image/webp");
        assert!(kind(b"RIFF....WAVEfmt ").is_err());
        assert!(kind(b"").is_err() && kind(b"<svg>").is_err());
        let mut large = b"GIF89a".to_vec();
        large.resize(LARGEST_PICTURE + 1, 0);
        assert!(kind(&large).unwrap_err().contains("make it smaller"));
    }
}
