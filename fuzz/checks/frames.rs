//! Streams cut into messages.

use callgate_wire::frame::{CutFrame, DecodedLine, FrameDecoder, LineDecoder, OversizedFrame};
use callgate_wire::raw::{Json, Members};

use super::{count, without_return};

/// The input of the framing checks: a limit, the sizes of the chunks, and the stream.
struct Stream<'a> {
    limit: usize,
    sizes: &'a [u8],
    bytes: Vec<u8>,
}

impl<'a> Stream<'a> {
    /// The first byte is the limit, the second is how often the stream is repeated, the next
    /// six are chunk sizes, used in turn.
    fn read(data: &'a [u8]) -> Option<Self> {
        let (head, bytes) = data.split_at_checked(8)?;
        let bytes = bytes.repeat(head[1].clamp(1, 32).into());
        Some(Self { limit: size(head[0], 500), sizes: &head[2..], bytes })
    }

    fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &*self.bytes;
        let mut sizes = self.sizes.iter().cycle();
        std::iter::from_fn(move || {
            let length = size(*sizes.next()?, 100).max(1).min(rest.len());
            let (chunk, after) = rest.split_at(length);
            rest = after;
            (!chunk.is_empty()).then_some(chunk)
        })
    }
}

/// Small sizes are exact, large ones come in steps: the edges of a limit and of a buffer are both
/// within reach.
fn size(byte: u8, step: usize) -> usize {
    match byte {
        0..=127 => byte.into(),
        128.. => usize::from(byte - 127) * step,
    }
}

/// A line as a decoder returned it.
#[derive(Debug, PartialEq)]
enum SeenLine {
    Whole(Vec<u8>),
    TooLong { size: usize, id: Option<String> },
}

impl From<DecodedLine<'_>> for SeenLine {
    fn from(line: DecodedLine<'_>) -> Self {
        match line {
            DecodedLine::Whole(line) => Self::Whole(line.to_vec()),
            DecodedLine::TooLong(line) => Self::TooLong { size: line.size, id: line.id },
        }
    }
}

/// Checks that any chunking of a stream gives the same lines, and that these are right.
pub fn lines(data: &[u8]) {
    let Some(stream) = Stream::read(data) else { return };
    let mut pushed = LineDecoder::new(stream.limit);
    pushed.push(&stream.bytes);
    let at_once = finished(&mut pushed, Vec::new());

    let mut filled = LineDecoder::new(stream.limit);
    let mut in_chunks = Vec::new();
    for chunk in stream.chunks() {
        filled.space()[..chunk.len()].copy_from_slice(chunk);
        filled.mark_filled(chunk.len());
        while let Some(line) = filled.next_frame() {
            in_chunks.push(line.into());
        }
    }
    assert_eq!(at_once, finished(&mut filled, in_chunks), "the chunks change the lines");
    check_lines(&stream, &at_once);
}

/// Takes what is left in a decoder whose stream has ended.
fn finished(lines: &mut LineDecoder, mut seen: Vec<SeenLine>) -> Vec<SeenLine> {
    while let Some(line) = lines.next_frame() {
        seen.push(line.into());
    }
    seen.extend(lines.finish().map(SeenLine::from));
    seen
}

fn check_lines(stream: &Stream<'_>, seen: &[SeenLine]) {
    let trimmed = stream.bytes.split(|byte| *byte == b'\n').map(without_return);
    let is_kept =
        |line: &&[u8]| line.len() > stream.limit || !line.iter().all(u8::is_ascii_whitespace);
    let expected: Vec<&[u8]> = trimmed.filter(is_kept).collect();
    assert_eq!(expected.len(), seen.len(), "the number of lines");
    for (expected, seen) in expected.iter().zip(seen) {
        match seen {
            SeenLine::Whole(line) => {
                assert!(line.len() <= stream.limit, "a line over the limit");
                assert_eq!(line, expected);
            }
            SeenLine::TooLong { size, id } => {
                assert!(*size > stream.limit, "a line within the limit was dropped");
                assert_eq!(*size, expected.len(), "the size of a line that was dropped");
                check_scanned_id(expected, id.as_deref());
            }
        }
    }
}

/// Checks that the id that was found in a line without parsing it is the one that parsing finds.
fn check_scanned_id(line: &[u8], scanned: Option<&str>) {
    let Ok(text) = std::str::from_utf8(line) else { return };
    let Ok(members) = Members::from_text(text) else { return };
    // A key may be spelt with escapes, and an id may be longer than a scan keeps.
    if line.contains(&b'\\') || line.len() > 256 || count(&members, "id") > 1 {
        return;
    }
    let parsed = members.get("id").filter(|id| id.is_id()).map(Json::get);
    assert_eq!(parsed, scanned, "the id of a line that was dropped");
}

/// The frames of a stream, and how it ended.
type Frames = (Vec<Vec<u8>>, Result<Result<(), CutFrame>, OversizedFrame>);

/// Checks that any chunking of a stream gives the same frames, and that these are right.
pub fn prefixed(data: &[u8]) {
    let Some(stream) = Stream::read(data) else { return };
    let mut pushed = FrameDecoder::new(stream.limit);
    pushed.push(&stream.bytes);
    let mut at_once = Vec::new();
    let ended = take_frames(&mut pushed, &mut at_once).map(|()| pushed.finish());
    let at_once = (at_once, ended);
    assert_eq!(at_once, frames_in_chunks(&stream), "the chunks change the frames");
    assert_eq!(at_once, frames_of(&stream.bytes, stream.limit), "the frames of the stream");
}

fn take_frames(
    decoder: &mut FrameDecoder,
    frames: &mut Vec<Vec<u8>>,
) -> Result<(), OversizedFrame> {
    while decoder.is_ready()? {
        let Some(frame) = decoder.next_frame()? else { panic!("a frame that is ready is there") };
        frames.push(frame.to_vec());
    }
    assert_eq!(decoder.next_frame(), Ok(None), "a frame that is not ready");
    Ok(())
}

fn frames_in_chunks(stream: &Stream<'_>) -> Frames {
    let mut decoder = FrameDecoder::new(stream.limit);
    let mut frames = Vec::new();
    for chunk in stream.chunks() {
        decoder.space()[..chunk.len()].copy_from_slice(chunk);
        decoder.mark_filled(chunk.len());
        if let Err(too_large) = take_frames(&mut decoder, &mut frames) {
            return (frames, Err(too_large));
        }
    }
    let ended = decoder.finish();
    (frames, Ok(ended))
}

/// Does the same as the decoder in the simplest way.
fn frames_of(mut bytes: &[u8], limit: usize) -> Frames {
    let mut frames = Vec::new();
    while let Some((prefix, rest)) = bytes.split_first_chunk::<4>() {
        let size = u32::from_be_bytes(*prefix) as usize;
        if size > limit {
            return (frames, Err(OversizedFrame { size, limit }));
        }
        let Some((frame, after)) = rest.split_at_checked(size) else { break };
        frames.push(frame.to_vec());
        bytes = after;
    }
    let ended = if bytes.is_empty() { Ok(()) } else { Err(CutFrame { received: bytes.len() }) };
    (frames, Ok(ended))
}
