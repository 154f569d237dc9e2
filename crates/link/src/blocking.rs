//! Reads frames from a blocking stream.

use std::io::{self, Read};

use callgate_wire::frame::{FrameDecoder, LineDecoder};

/// Reads once into the decoder; returns 0 at the end of the stream. An interrupted read is retried.
pub fn fill_lines(input: &mut impl Read, lines: &mut LineDecoder) -> io::Result<usize> {
    let count = read_with_retries(input, lines.space())?;
    lines.mark_filled(count);
    Ok(count)
}

/// Reads once into the decoder; returns 0 at the end of the stream. An interrupted read is retried.
pub fn fill_frames(input: &mut impl Read, frames: &mut FrameDecoder) -> io::Result<usize> {
    let count = read_with_retries(input, frames.space())?;
    frames.mark_filled(count);
    Ok(count)
}

fn read_with_retries(input: &mut impl Read, space: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(space) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
