//! Pictures that a model can read. A provider refuses a conversation with one that it cannot read,
//! now and at every later request, so pictures are checked before they become part of one.

mod structure;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::message::MediaSource;

/// The largest picture in a tool's result, in bytes: providers refuse larger ones. In base64 it has
/// 5,000,000 bytes.
pub(crate) const LARGEST_PICTURE: usize = 3_750_000;
/// The most pictures in a tool's result. Of requests with more, some providers take only small
/// ones.
pub(crate) const MOST_PICTURES: usize = 20;
/// The longest side of a picture, in pixels: providers refuse longer ones.
pub(crate) const LONGEST_SIDE: u32 = 8000;

/// Returns the picture in these bytes, or why a model cannot read it.
pub(crate) fn parse_picture(bytes: &[u8]) -> Result<MediaSource, String> {
    let picture = any_size(bytes)?;
    if bytes.len() > LARGEST_PICTURE {
        return Err(format!(
            "the picture has {} bytes, and a model reads at most {LARGEST_PICTURE}: make it smaller",
            bytes.len()
        ));
    }
    Ok(picture)
}

/// Returns the picture in these bytes, however many they are, or why a model cannot read it.
pub(crate) fn any_size(bytes: &[u8]) -> Result<MediaSource, String> {
    let Some(found) = structure::parse_structure(bytes) else {
        return Err("it is not a PNG, JPEG, GIF or WebP picture, or not a whole one".to_owned());
    };
    let structure::PictureStructure { media_type, width, height } = found;
    if width.max(height) > LONGEST_SIDE {
        return Err(format!(
            "the picture has {width} × {height} pixels, and a model reads at most {LONGEST_SIDE} \
             on a side: make it smaller"
        ));
    }
    Ok(MediaSource::Base64 { media_type: media_type.to_owned(), data: STANDARD.encode(bytes) })
}

#[cfg(test)]
pub(crate) mod tests;
