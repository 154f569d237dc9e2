//! The structure of picture files: what they are, how large, and whether they are whole. Nothing is
//! decoded, so what is wrong inside the compressed data goes unnoticed, except in PNG, whose parts
//! have checksums. Pure.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PictureStructure {
    pub(super) media_type: &'static str,
    pub(super) width: u32,
    pub(super) height: u32,
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Returns the structure of the picture in these bytes, or `None` if they are not a picture of a
/// known kind, or not all of it.
pub(super) fn parse_structure(bytes: &[u8]) -> Option<PictureStructure> {
    let (media_type, size) = match bytes {
        [0x89, ..] => ("image/png", png_size(bytes.strip_prefix(PNG)?)),
        [0xff, 0xd8, rest @ ..] => ("image/jpeg", jpeg_size(rest)),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', rest @ ..] => ("image/gif", gif_size(rest)),
        _ => ("image/webp", webp_size(bytes.strip_prefix(b"RIFF")?)),
    };
    let (width, height) = size.filter(|(width, height)| *width > 0 && *height > 0)?;
    Some(PictureStructure { media_type, width, height })
}

/// Bytes that are read from the front.
struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn take_big_endian<const N: usize>(&mut self) -> Option<usize> {
        Some(self.take(N)?.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
    }

    fn take_little_endian<const N: usize>(&mut self) -> Option<usize> {
        Some(self.take(N)?.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
    }
}

type PixelSize = (u32, u32);

fn pixel_size(width: usize, height: usize) -> Option<PixelSize> {
    Some((u32::try_from(width).ok()?, u32::try_from(height).ok()?))
}

/// Reads the chunks of a PNG to the last one, and their checksums.
fn png_size(bytes: &[u8]) -> Option<PixelSize> {
    let (mut front, mut found, mut has_data) = (ByteReader(bytes), None, false);
    loop {
        let length = front.take_big_endian::<4>()?;
        let chunk = front.take(length.checked_add(4)?)?;
        if usize::try_from(chunk_checksum(chunk)) != Ok(front.take_big_endian::<4>()?) {
            return None;
        }
        let (kind, data) = chunk.split_at(4);
        match kind {
            b"IHDR" if found.is_none() => {
                let mut data = ByteReader(data);
                found =
                    Some(pixel_size(data.take_big_endian::<4>()?, data.take_big_endian::<4>()?)?);
            }
            _ if found.is_none() => return None,
            b"IDAT" => has_data = true,
            b"IEND" => return found.filter(|_| has_data),
            _ => {}
        }
    }
}

/// Returns the CRC-32 of a PNG's chunk.
fn chunk_checksum(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut at = 0_u32;
        while at < 256 {
            let (mut value, mut bit) = (at, 0);
            while bit < 8 {
                value = if value & 1 == 1 { 0xedb8_8320 ^ (value >> 1) } else { value >> 1 };
                bit += 1;
            }
            table[at as usize] = value;
            at += 1;
        }
        table
    };
    !bytes
        .iter()
        .fold(u32::MAX, |sum, byte| TABLE[usize::from(sum.to_le_bytes()[0] ^ byte)] ^ (sum >> 8))
}

/// Reads the segments of a JPEG to its end mark.
fn jpeg_size(bytes: &[u8]) -> Option<PixelSize> {
    let (mut front, mut found) = (ByteReader(bytes), None);
    loop {
        if front.byte()? != 0xff {
            return None;
        }
        // A mark may have fill bytes before it.
        let mut mark = front.byte()?;
        while mark == 0xff {
            mark = front.byte()?;
        }
        match mark {
            0xd9 => return found,
            // These have no content.
            0x01 | 0xd0..=0xd7 => continue,
            _ => {}
        }
        let length = front.take_big_endian::<2>()?.checked_sub(2)?;
        let mut content = ByteReader(front.take(length)?);
        match mark {
            // These are in the range of the frames, but they are not frames.
            0xc4 | 0xc8 | 0xcc => {}
            0xc0..=0xcf => {
                content.byte()?;
                let (height, width) =
                    (content.take_big_endian::<2>()?, content.take_big_endian::<2>()?);
                found = pixel_size(width, height);
            }
            0xda => skip_scan(&mut front)?,
            _ => {}
        }
    }
}

/// Skips compressed data up to the next mark.
fn skip_scan(front: &mut ByteReader<'_>) -> Option<()> {
    loop {
        let at = memchr::memchr(0xff, front.0)?;
        match front.0.get(at + 1)? {
            // An escaped byte, and marks within the data.
            0 | 0xd0..=0xd7 => front.take(at + 2)?,
            _ => {
                front.take(at)?;
                return Some(());
            }
        };
    }
}

/// Reads the blocks of a GIF to its end mark.
fn gif_size(bytes: &[u8]) -> Option<PixelSize> {
    let mut front = ByteReader(bytes);
    let found = pixel_size(front.take_little_endian::<2>()?, front.take_little_endian::<2>()?);
    let flags = front.byte()?;
    front.take(2)?;
    skip_colours(&mut front, flags)?;
    let mut has_image = false;
    loop {
        match front.byte()? {
            0x21 => {
                front.byte()?;
            }
            0x2c => {
                front.take(8)?;
                let flags = front.byte()?;
                skip_colours(&mut front, flags)?;
                front.byte()?;
                has_image = true;
            }
            0x3b => return found.filter(|_| has_image),
            _ => return None,
        }
        loop {
            let length = front.byte()?;
            if length == 0 {
                break;
            }
            front.take(usize::from(length))?;
        }
    }
}

fn skip_colours(front: &mut ByteReader<'_>, flags: u8) -> Option<()> {
    if flags & 0x80 != 0 {
        front.take(3 << ((flags & 7) + 1))?;
    }
    Some(())
}

/// Reads the chunks of a WebP, all of which its length covers.
fn webp_size(bytes: &[u8]) -> Option<PixelSize> {
    let mut front = ByteReader(bytes);
    let length = front.take_little_endian::<4>()?;
    let mut chunks = ByteReader(front.take(length)?.strip_prefix(b"WEBP")?);
    let mut found = None;
    while !chunks.0.is_empty() {
        let kind = chunks.take(4)?;
        let length = chunks.take_little_endian::<4>()?;
        let mut data = ByteReader(chunks.take(length)?);
        // Chunks have an even length.
        if length % 2 == 1 && !chunks.0.is_empty() {
            chunks.take(1)?;
        }
        // The size is known, and the rest is read to see whether the file is whole.
        if found.is_some() {
            continue;
        }
        found = match kind {
            b"VP8X" => {
                data.take(4)?;
                pixel_size(data.take_little_endian::<3>()? + 1, data.take_little_endian::<3>()? + 1)
            }
            b"VP8L" => {
                data.take(1).filter(|mark| *mark == [0x2f])?;
                let bits = data.take_little_endian::<4>()?;
                pixel_size((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1)
            }
            b"VP8 " => {
                data.take(3)?;
                data.take(3).filter(|mark| *mark == [0x9d, 0x01, 0x2a])?;
                pixel_size(
                    // The upper two bits tell how it is scaled.
                    data.take_little_endian::<2>()? & 0x3fff,
                    data.take_little_endian::<2>()? & 0x3fff,
                )
            }
            _ => None,
        };
    }
    found
}

#[cfg(test)]
mod tests;
