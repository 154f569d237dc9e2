//! A small HTTP/1.1 server on loopback for fakes of remote services: a thread per connection,
//! keep-alive, streamed answers, and nothing left when it is dropped.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use crate::until::until;

/// The longest head of a request.
const MAX_HEAD: usize = 64 * 1024;

/// One request as it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Incoming {
    pub(crate) method: String,
    /// The path without its query.
    pub(crate) path: String,
    /// Header names are in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// What answers the requests; called from one thread per connection.
pub(crate) trait Service: Send + Sync + 'static {
    /// Answers one request. An error ends the connection.
    fn answer(&self, request: Incoming, out: &mut Outgoing<'_>) -> io::Result<()>;
    /// Returns the longest body that is read; a longer one goes to `answer` empty, with
    /// `content-length` as it came.
    fn max_body(&self) -> usize;
}

/// A running server. Dropping it closes every connection and waits for every thread.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    open: Arc<Open>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Open {
    stopping: AtomicBool,
    connections: Mutex<Vec<(TcpStream, JoinHandle<()>)>>,
}

impl Server {
    pub(crate) fn start(service: Arc<impl Service>) -> Self {
        Self::start_at((Ipv4Addr::LOCALHOST, 0).into(), service)
    }

    /// Starts at an address that was free a moment ago. A process that another test is just
    /// starting may still hold a copy of its last listener, so it is waited for.
    pub(crate) fn start_at(address: SocketAddr, service: Arc<impl Service>) -> Self {
        let listener = until(&format!("{address} is free"), || TcpListener::bind(address).ok());
        let address = listener.local_addr().expect("a bound socket has an address");
        let open = Arc::new(Open::default());
        let shared = Arc::clone(&open);
        let acceptor = thread::spawn(move || accept(&listener, &shared, &service));
        Self { address, open, acceptor: Some(acceptor) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.open.stopping.store(true, Ordering::SeqCst);
        // Only a connection wakes a blocked accept.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
        let connections = std::mem::take(&mut *self.open.connections.lock().unwrap());
        for (stream, _) in &connections {
            let _ = stream.shutdown(Shutdown::Both);
        }
        for (_, thread) in connections {
            let _ = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, open: &Open, service: &Arc<impl Service>) {
    for stream in listener.incoming() {
        if open.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let Ok(handle) = stream.try_clone() else { continue };
        let service = Arc::clone(service);
        let thread = thread::spawn(move || serve(stream, &*service));
        let mut connections = open.connections.lock().unwrap();
        connections.retain(|(_, thread)| !thread.is_finished());
        connections.push((handle, thread));
    }
}

fn serve(mut stream: TcpStream, service: &impl Service) {
    let _ = stream.set_nodelay(true);
    let mut buffer = Vec::new();
    while let Ok(Some(request)) = read_request(&mut stream, &mut buffer, service.max_body()) {
        let close = request.headers.get("connection").is_some_and(|value| value == "close");
        let mut out = Outgoing { stream: &mut stream, keep: !close };
        if service.answer(request, &mut out).is_err() || !out.keep {
            break;
        }
    }
    // The other handle, kept for stopping, must not hold the connection open.
    let _ = stream.shutdown(Shutdown::Both);
}

/// Reads one request; `None` at the end of the connection. What was read too far stays in
/// `buffer`.
fn read_request(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
    max_body: usize,
) -> io::Result<Option<Incoming>> {
    let Some(end) = fill_until(stream, buffer, b"\r\n\r\n", MAX_HEAD)? else { return Ok(None) };
    let head: Vec<u8> = buffer.drain(..end).collect();
    let mut request = parse_head(&String::from_utf8_lossy(&head)).ok_or_else(broken)?;
    if request.headers.get("expect").is_some_and(|value| value == "100-continue") {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    if request.headers.get("transfer-encoding").is_some_and(|value| value == "chunked") {
        request.body = read_chunked(stream, buffer, max_body)?;
    } else if let Some(length) = request.headers.get("content-length") {
        let length: usize = length.parse().map_err(|_| broken())?;
        request.body = read_sized(stream, buffer, length, max_body)?;
    }
    Ok(Some(request))
}

fn parse_head(head: &str) -> Option<Incoming> {
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?);
    let path = target.split('?').next()?.to_owned();
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
    Some(Incoming { method, path, headers: headers.collect(), body: Vec::new() })
}

fn read_sized(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
    length: usize,
    max_body: usize,
) -> io::Result<Vec<u8>> {
    if length > max_body {
        skip(stream, buffer, length)?;
        return Ok(Vec::new());
    }
    while buffer.len() < length {
        if !fill(stream, buffer)? {
            return Err(broken());
        }
    }
    Ok(buffer.drain(..length).collect())
}

/// Reads a body away so that the client, which sends first, can read the answer.
fn skip(stream: &mut TcpStream, buffer: &mut Vec<u8>, length: usize) -> io::Result<()> {
    let mut left = length;
    loop {
        let now = left.min(buffer.len());
        buffer.drain(..now);
        left -= now;
        if left == 0 {
            return Ok(());
        }
        if !fill(stream, buffer)? {
            return Err(broken());
        }
    }
}

fn read_chunked(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
    max_body: usize,
) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = fill_until(stream, buffer, b"\r\n", MAX_HEAD)?.ok_or_else(broken)?;
        let line: Vec<u8> = buffer.drain(..end).collect();
        let text = String::from_utf8_lossy(&line);
        let size = text.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| broken())?;
        if body.len() + size > max_body {
            return Err(broken());
        }
        let mut chunk = read_sized(stream, buffer, size + 2, max_body + 2)?;
        if size == 0 {
            return Ok(body);
        }
        chunk.truncate(size);
        body.append(&mut chunk);
    }
}

/// Reads until `mark` is in the buffer and gives the position after it.
fn fill_until(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
    mark: &[u8],
    limit: usize,
) -> io::Result<Option<usize>> {
    loop {
        if let Some(at) = buffer.windows(mark.len()).position(|window| window == mark) {
            return Ok(Some(at + mark.len()));
        }
        if buffer.len() > limit {
            return Err(broken());
        }
        if !fill(stream, buffer)? {
            return Ok(None);
        }
    }
}

fn fill(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<bool> {
    let mut chunk = vec![0; 64 * 1024];
    let count = stream.read(&mut chunk)?;
    buffer.extend_from_slice(&chunk[..count]);
    Ok(count > 0)
}

fn broken() -> io::Error {
    io::Error::from(io::ErrorKind::InvalidData)
}

/// The way back to the client.
#[derive(Debug)]
pub(crate) struct Outgoing<'a> {
    stream: &'a mut TcpStream,
    keep: bool,
}

impl Outgoing<'_> {
    /// Sends a whole answer.
    pub(crate) fn whole(
        &mut self,
        status: u16,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<()> {
        let mut bytes = head(status, headers);
        bytes.extend_from_slice(format!("content-length: {}\r\n\r\n", body.len()).as_bytes());
        bytes.extend_from_slice(body);
        self.stream.write_all(&bytes)
    }

    /// Begins an answer in chunks.
    pub(crate) fn begin(&mut self, status: u16, headers: &[(&str, &str)]) -> io::Result<()> {
        let mut bytes = head(status, headers);
        bytes.extend_from_slice(b"transfer-encoding: chunked\r\n\r\n");
        self.stream.write_all(&bytes)
    }

    /// Sends one chunk.
    pub(crate) fn chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut framed = Vec::with_capacity(bytes.len() + 16);
        frame(bytes, &mut framed);
        self.stream.write_all(&framed)
    }

    /// Sends chunks that are framed already.
    pub(crate) fn framed(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Ends an answer in chunks as it should end.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.stream.write_all(b"0\r\n\r\n")
    }

    /// Ends the connection here, whatever was promised.
    pub(crate) fn cut(&mut self) {
        self.keep = false;
    }

    /// Waits until the client has gone or the server stops, and ends the connection.
    pub(crate) fn wait_for_hangup(&mut self) {
        let mut byte = [0];
        while matches!(self.stream.read(&mut byte), Ok(count) if count > 0) {}
        self.keep = false;
    }
}

/// Adds one chunk as it is sent.
pub(crate) fn frame(chunk: &[u8], into: &mut Vec<u8>) {
    into.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
    into.extend_from_slice(chunk);
    into.extend_from_slice(b"\r\n");
}

fn head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    // Clients read the number; the words after it are for people.
    let mut text = format!("HTTP/1.1 {status} Status\r\n");
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    text.into_bytes()
}

/// Returns a client for the tests of fakes: one request on one connection, everything read to the
/// end.
#[cfg(test)]
pub(crate) fn request(address: SocketAddr, raw: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(raw).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[cfg(test)]
mod tests;
