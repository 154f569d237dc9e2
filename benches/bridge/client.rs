//! The agent's side: starts a contender, writes lines to it and reads its answers.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use crate::contenders::Contender;
use crate::watchdog::Watchdog;

/// Room for the longest answer.
const SPACE: usize = 16 << 20;

/// A contender that runs. Dropping it ends it.
pub(crate) struct Client {
    name: &'static str,
    child: Arc<Mutex<Child>>,
    pid: u32,
    input: ChildStdin,
    output: ChildStdout,
}

/// What a client reads answers into; made once, so that its pages are there before it counts.
pub(crate) struct Space(Vec<u8>);

impl Space {
    pub(crate) fn new() -> Self {
        Self(vec![1; SPACE])
    }
}

impl Client {
    pub(crate) fn start(contender: &Contender, watchdog: &Watchdog) -> Self {
        let mut child = Command::new(&contender.program)
            .args(&contender.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", contender.name));
        let pid = child.id();
        let input = child.stdin.take().expect("stdin is piped");
        let output = child.stdout.take().expect("stdout is piped");
        let child = Arc::new(Mutex::new(child));
        watchdog.watch(&child);
        Self { name: contender.name, child, pid, input, output }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Goes through a contender's first requests.
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
        self.input
            .write_all(request)
            .unwrap_or_else(|error| panic!("{name} does not read any more: {error}"));
        let mut filled = 0;
        // Nothing follows an answer before the next request, so its newline comes last.
        while filled == 0 || space.0[filled - 1] != b'\n' {
            match self.output.read(&mut space.0[filled..]) {
                Ok(count) if count > 0 => filled += count,
                other => panic!("{name} does not answer: {other:?}"),
            }
        }
        &space.0[..filled]
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        child.kill().ok();
        child.wait().ok();
    }
}

fn memmem(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
