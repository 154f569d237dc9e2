//! Lines from a pipe.

use std::io::Read;

use callgate_wire::frame::{DecodedLine, LineDecoder};

/// No line is longer.
const LONGEST: usize = 16 << 20;

/// What has been read of a pipe and not been taken.
pub(crate) struct Input(LineDecoder);

impl Input {
    pub(crate) fn new() -> Self {
        Self(LineDecoder::new(LONGEST))
    }

    /// The pipe's next line, without its end; nothing when the pipe has ended.
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
            self.0.filled(count);
        }
    }
}
