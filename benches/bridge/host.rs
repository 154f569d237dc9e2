//! The process that owns the tools, as cheap as possible: it reads a frame and writes a prepared
//! one, and is the same for all contenders.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::calls::{self, SIZES, Size};

const PREFIX: usize = 4;
/// The capacity for the largest frame.
const SPACE: usize = 16 << 20;

/// Serves the socket from threads, one for each connection, until the benchmark ends.
pub(crate) struct Host {
    answers: [(Size, Vec<u8>); SIZES.len()],
    last_request: AtomicUsize,
}

impl Host {
    pub(crate) fn start(socket: &Path) -> Arc<Self> {
        let listener = UnixListener::bind(socket).expect("the host can serve its socket");
        let answers = SIZES.map(|size| (size, calls::answer(size)));
        let host = Arc::new(Self { answers, last_request: AtomicUsize::new(0) });
        let shared = Arc::clone(&host);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (host, stream) = (Arc::clone(&shared), stream.expect("a bridge can connect"));
                thread::spawn(move || host.serve(stream));
            }
        });
        host
    }

    /// Returns the length of the last request's payload.
    pub(crate) fn last_request(&self) -> usize {
        self.last_request.load(Ordering::Relaxed)
    }

    /// Returns the length of the payload of an answer of this size.
    pub(crate) fn answer_length(&self, size: Size) -> usize {
        self.answer_to(size.bytes).len() - PREFIX
    }

    /// Returns the largest answer that is not larger than the request, which is a little longer
    /// than its arguments.
    fn answer_to(&self, request: usize) -> &[u8] {
        let fitting = self.answers.iter().rfind(|(size, _)| size.bytes <= request);
        &fitting.expect("a request has at least the smallest size").1
    }

    fn serve(&self, mut stream: UnixStream) {
        let mut space = vec![0; SPACE];
        while let Some(length) = read_frame(&mut stream, &mut space) {
            self.last_request.store(length, Ordering::Relaxed);
            if stream.write_all(self.answer_to(length)).is_err() {
                return;
            }
        }
    }
}

/// Reads one frame and returns the length of its payload; `None` if the bridge has gone.
fn read_frame(stream: &mut UnixStream, space: &mut [u8]) -> Option<usize> {
    let mut filled = 0;
    loop {
        match stream.read(&mut space[filled..]) {
            Ok(count) if count > 0 => filled += count,
            _ => return None,
        }
        let Some(prefix) = space[..filled].first_chunk::<PREFIX>() else { continue };
        let length = u32::from_be_bytes(*prefix) as usize;
        if filled >= PREFIX + length {
            return Some(length);
        }
    }
}
