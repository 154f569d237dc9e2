//! The wire of `WebDriver`: JSON over HTTP to a driver on loopback.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};

use serde_json::Value;

use crate::process::DEADLINE;

#[derive(Debug)]
pub(super) struct DriverSession {
    port: u16,
    id: String,
}

impl DriverSession {
    /// Starts a session. Returns it with the capabilities that it got.
    pub(super) fn start(port: u16, capabilities: &Value) -> (Self, Value) {
        let answer = exchange(port, "POST", "/session", Some(capabilities));
        let mut answer = answer.unwrap_or_else(|error| panic!("no browser started: {error}"));
        let id = answer["sessionId"].as_str().expect("a session has an id").to_owned();
        (Self { port, id }, answer["capabilities"].take())
    }

    /// Ends the session, and the browser with it.
    pub(super) fn end(&self) {
        // A driver that is gone has nothing to end.
        let _ = exchange(self.port, "DELETE", &format!("/session/{}", self.id), None);
    }

    pub(super) fn get(&self, path: &str) -> Value {
        self.try_get(path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Value {
        self.try_post(path, body).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(super) fn try_get(&self, path: &str) -> Result<Value, String> {
        exchange(self.port, "GET", &format!("/session/{}/{path}", self.id), None)
    }

    pub(super) fn try_post(&self, path: &str, body: &Value) -> Result<Value, String> {
        exchange(self.port, "POST", &format!("/session/{}/{path}", self.id), Some(body))
    }
}

/// Sends one request and returns the value of its answer, or the driver's error in words.
fn exchange(port: u16, method: &str, path: &str, body: Option<&Value>) -> Result<Value, String> {
    let words = |error: io::Error| format!("the driver does not answer: {error}");
    let body = body.map(Value::to_string).unwrap_or_default();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map_err(words)?;
    // A script in the page may take as long as any other step of a test.
    stream.set_read_timeout(Some(DEADLINE * 2)).map_err(words)?;
    stream.write_all(request.as_bytes()).map_err(words)?;
    let (head, body) = read_answer(&mut stream).map_err(words)?;
    let mut answer: Value =
        serde_json::from_slice(&body).map_err(|error| format!("not JSON: {error}: {head}"))?;
    let value = answer["value"].take();
    if head.split(' ').nth(1) == Some("200") {
        return Ok(value);
    }
    let text = |member: &str| value[member].as_str().unwrap_or_default().to_owned();
    Err(format!("{}: {}", text("error"), text("message").lines().next().unwrap_or_default()))
}

/// Reads an answer's head and its body. The driver leaves the connection open after it.
fn read_answer(stream: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 16 * 1024]);
    loop {
        let count = stream.read(&mut chunk)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&chunk[..count]);
        let Some(end) = memchr::memmem::find(&bytes, b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let length = head.split("content-length:").nth(1).and_then(|rest| rest.lines().next());
        let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
        if bytes.len() >= end + 4 + length {
            return Ok((head, bytes.split_off(end + 4)));
        }
    }
}
