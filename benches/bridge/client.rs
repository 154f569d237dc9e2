//! The agent's side: starts a contender, writes lines to it and reads its answers.

use std::io::{Read, Write};
use std::process::Command;

use crate::common::child::Watched;
use crate::common::watchdog::Watchdog;
use crate::contenders::Contender;

/// The capacity for the longest answer.
const SPACE: usize = 16 << 20;

/// A running contender. It is ended when this is dropped.
pub(crate) struct Client {
    name: &'static str,
    child: Watched,
}

/// The buffer for answers; created once, so that its pages exist before anything is measured.
pub(crate) struct Space(Vec<u8>);

impl Space {
    pub(crate) fn new() -> Self {
        Self(vec![1; SPACE])
    }
}

impl Client {
    pub(crate) fn start(contender: &Contender, watchdog: &Watchdog) -> Self {
        let mut command = Command::new(&contender.program);
        command.args(&contender.arguments);
        let name = contender.name;
        Self { name, child: Watched::start(name, &mut command, watchdog) }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Sends a contender's first requests.
    pub(crate) fn greet(&mut self, contender: &Contender, space: &mut Space) {
        for (request, expected) in &contender.greeting {
            let answer = self.exchange(request.as_bytes(), space);
            let is_expected = memmem(answer, expected.as_bytes());
            assert!(is_expected, "{}: {}", self.name, String::from_utf8_lossy(answer));
        }
    }

    /// Writes a request and reads its answer, one line with its end.
    pub(crate) fn exchange<'a>(&mut self, request: &[u8], space: &'a mut Space) -> &'a [u8] {
        let name = self.name;
        self.child
            .input
            .as_mut()
            .expect("stdin is piped")
            .write_all(request)
            .unwrap_or_else(|error| panic!("{name} does not read any more: {error}"));
        let mut filled = 0;
        // Nothing follows an answer before the next request, so its newline comes last.
        while filled == 0 || space.0[filled - 1] != b'\n' {
            match self.child.output.read(&mut space.0[filled..]) {
                Ok(count) if count > 0 => filled += count,
                other => panic!("{name} does not answer: {other:?}"),
            }
        }
        &space.0[..filled]
    }
}

fn memmem(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
