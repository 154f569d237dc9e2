//! A picture that every model can read.

/// A PNG of one pixel.
pub const SMALL_PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\x3a\x7e\x9b\x55\
    \0\0\0\x0aIDATx\x9cc`\0\0\0\x02\0\x01\x48\xaf\xa4\x71\0\0\0\0IEND\xae\x42\x60\x82";
/// The same in base64.
pub const SMALL_PNG_BASE64: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";

/// Returns a PNG of one pixel and so many bytes, most of which stand behind its end.
pub fn png_of(bytes: usize) -> Vec<u8> {
    let mut picture = SMALL_PNG.to_vec();
    picture.resize(bytes.max(picture.len()), 1);
    picture
}
