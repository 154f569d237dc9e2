//! A browser as far as the tests need one: one request for each connection, every byte chosen.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// Long enough for any machine.
const DEADLINE: Duration = Duration::from_mins(1);

/// An answer of the host whose body is still to be read.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    input: BufReader<Box<dyn Read + Send>>,
}

pub(crate) fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream
}

/// Sends a request as it is and reads the head of the answer.
pub(crate) fn send(port: u16, request: &[u8]) -> Response {
    let mut stream = connect(port);
    stream.write_all(request).unwrap();
    Response::read(stream)
}

/// Returns a request with these headers, and a body if it is a POST.
pub(crate) fn request(line: &str, headers: &[&str], body: &str) -> Vec<u8> {
    let mut text = format!("{line} HTTP/1.1\r\n");
    for header in headers {
        text += header;
        text += "\r\n";
    }
    if line.starts_with("POST") {
        write!(text, "Content-Length: {}\r\n", body.len()).unwrap();
    }
    (text + "\r\n" + body).into_bytes()
}

/// Reads a line of a response, byte by byte, so that its length has a limit.
fn line_of(input: &mut BufReader<Box<dyn Read + Send>>) -> String {
    let mut line = Vec::new();
    for byte in input.bytes().take(64 * 1024) {
        line.push(byte.unwrap());
        if line.ends_with(b"\n") {
            break;
        }
    }
    String::from_utf8(line).unwrap()
}

impl Response {
    pub(crate) fn read(stream: impl Read + Send + 'static) -> Self {
        let mut input = BufReader::new(Box::new(stream) as Box<dyn Read + Send>);
        let line = line_of(&mut input);
        let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("{line:?}")).parse().unwrap();
        let mut headers = HashMap::new();
        loop {
            let line = line_of(&mut input);
            match line.trim_end().split_once(": ") {
                Some((name, value)) => headers.insert(name.to_lowercase(), value.to_owned()),
                None => break,
            };
        }
        Self { status, headers, input }
    }

    /// Reads the next chunk of a body; `None` at its end.
    pub(crate) fn chunk(&mut self) -> Option<Vec<u8>> {
        let line = line_of(&mut self.input);
        let size = usize::from_str_radix(line.trim_end(), 16).ok().filter(|size| *size > 0)?;
        let mut chunk = vec![0; size + 2];
        self.input.read_exact(&mut chunk).unwrap();
        chunk.truncate(size);
        Some(chunk)
    }

    /// Reads the whole body.
    pub(crate) fn bytes(&mut self) -> Vec<u8> {
        if let Some(length) = self.headers.get("content-length") {
            let mut body = vec![0; length.parse().unwrap()];
            self.input.read_exact(&mut body).unwrap();
            return body;
        }
        std::iter::from_fn(|| self.chunk()).flatten().collect()
    }

    pub(crate) fn text(&mut self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }

    pub(crate) fn json(&mut self) -> Value {
        let text = self.text();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"))
    }

    /// Reads the next event of a stream: its name, id and data. `None` at the end of the stream.
    /// Comments are passed over.
    pub(crate) fn event(&mut self) -> Option<(String, Option<u64>, Value)> {
        loop {
            // The host sends each event as one chunk.
            let event = String::from_utf8(self.chunk()?).unwrap();
            let field = |name: &str| {
                let line = event.lines().find_map(|line| line.strip_prefix(name));
                line.map(str::to_owned)
            };
            if let Some(name) = field("event: ") {
                let id = field("id: ").map(|id| id.parse().unwrap());
                return Some((name, id, serde_json::from_str(&field("data: ")?).unwrap()));
            }
            assert!(event.starts_with(':'), "{event:?}");
        }
    }
}
