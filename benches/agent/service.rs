//! The Messages API on loopback, which interprets as little as possible: its answers are composed
//! in advance, so that no contender ever waits for it.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::mem;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::answers::{self, Answer};

/// The pause after the first piece of some answers: long enough for every contender to pass it
/// on.
const PAUSE: Duration = Duration::from_millis(4);
/// The longest request.
const LONGEST: usize = 32 << 20;
/// How many bytes of a request are read at once.
const CHUNK: usize = 64 << 10;

/// A service that runs as long as the benchmark.
pub(crate) struct Service {
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    due: Mutex<VecDeque<Arc<Answer>>>,
    served: Mutex<Vec<Served>>,
    /// The answer for other requests of a program.
    side: Answer,
}

/// The times of a request.
#[derive(Clone, Copy)]
pub(crate) struct Served {
    /// When all of the request was read.
    pub(crate) asked: Instant,
    /// Just before the answer is written: its reader may run before the write is over.
    pub(crate) begun: Instant,
}

impl Service {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has ports");
        let address = listener.local_addr().expect("a bound socket has an address");
        let (due, served) = (Mutex::default(), Mutex::default());
        let state = Arc::new(State { due, served, side: answers::short() });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&shared);
                // A broken connection shows in the figures of its contender.
                thread::spawn(move || serve(&stream, &state).ok());
            }
        });
        Self { address, state }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets the answers of the next requests.
    pub(crate) fn expect(&self, answers: &[&Arc<Answer>]) {
        let mut due = self.state.due.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(due.is_empty(), "an answer was not asked for");
        due.extend(answers.iter().map(|answer| Arc::clone(answer)));
        self.state.served.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns what has been served since.
    pub(crate) fn served(&self) -> Vec<Served> {
        self.state.served.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(stream: &TcpStream, state: &State) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut input, mut output) = (Input { stream, buffer: Vec::new() }, stream);
    while let Some((head, body)) = input.request()? {
        let asked = Instant::now();
        let is_call = ["POST /v1/messages ", "POST /v1/messages?"];
        let is_call = is_call.iter().any(|start| head.starts_with(start));
        if !is_call {
            output.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")?;
        } else if find(&body, b"\"tools\":[{").is_some() {
            let due = state.due.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let answer = due.ok_or_else(|| io::Error::other("nothing more was expected"))?;
            let mut served = state.served.lock().unwrap_or_else(PoisonError::into_inner);
            served.push(Served { asked, begun: Instant::now() });
            drop(served);
            say(output, &answer)?;
        } else {
            // Claude Code sends requests for titles and the like without tools.
            say(output, &state.side)?;
        }
    }
    Ok(())
}

fn say(mut output: &TcpStream, answer: &Answer) -> io::Result<()> {
    output.write_all(&answer.first)?;
    if !answer.rest.is_empty() {
        thread::sleep(PAUSE);
        output.write_all(&answer.rest)?;
    }
    Ok(())
}

/// The bytes of a connection that have been read and not been used.
struct Input<'a> {
    stream: &'a TcpStream,
    buffer: Vec<u8>,
}

impl Input<'_> {
    /// Returns the next request's head and body; `None` at the end of the connection. All clients
    /// send the length of the body.
    fn request(&mut self) -> io::Result<Option<(String, Vec<u8>)>> {
        let Some(head) = self.head()? else { return Ok(None) };
        let length = head.lines().filter_map(|line| line.split_once(':'));
        let length = length.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length = length.map(|(_, value)| value.trim().parse()).next();
        let length = length.unwrap_or(Ok(0)).map_err(io::Error::other)?;
        while self.buffer.len() < length {
            self.fill()?;
        }
        let rest = self.buffer.split_off(length);
        Ok(Some((head, mem::replace(&mut self.buffer, rest))))
    }

    fn head(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some(at) = find(&self.buffer, b"\r\n\r\n") {
                let rest = self.buffer.split_off(at + 4);
                let head = mem::replace(&mut self.buffer, rest);
                return String::from_utf8(head).map(Some).map_err(io::Error::other);
            }
            match self.fill() {
                Err(_) if self.buffer.is_empty() => return Ok(None),
                filled => filled?,
            }
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        let old = self.buffer.len();
        if old > LONGEST {
            return Err(io::Error::other("the request is too long"));
        }
        self.buffer.resize(old + CHUNK, 0);
        let count = self.stream.read(&mut self.buffer[old..])?;
        self.buffer.truncate(old + count);
        if count > 0 { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}
