//! Lines from a pipe.

use std::io::Read;

use callgate_wire::frame::{DecodedLine, LineDecoder};

/// The longest line.
const LONGEST: usize = 16 << 20;

/// The bytes of a pipe that have been read and not been used.
pub(crate) struct Input(LineDecoder);

impl Input {
    pub(crate) fn new() -> Self {
        Self(LineDecoder::new(LONGEST))
    }

    /// Returns the pipe's next line, without its end; `None` at the end of the pipe.
    pub(crate) fn next(&mut self, pipe: &mut impl Read) -> Option<String> {
        loop {
            match self.0.next_frame() {
                Some(DecodedLine::Whole(line)) => {
                    return Some(String::from_utf8(line.to_vec()).expect("lines are text"));
                }
                Some(DecodedLine::TooLong(line)) => panic!("a line has {} bytes", line.size),
                None => {}
            }
            let count = pipe.read(self.0.space()).ok().filter(|count| *count > 0)?;
            self.0.mark_filled(count);
        }
    }
}
