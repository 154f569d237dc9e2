//! A server that says what a test tells it to, whatever it is asked.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A server of one connection.
pub(super) struct Far {
    pub(super) address: SocketAddr,
    requests: Receiver<String>,
    thread: Option<JoinHandle<()>>,
}

impl Far {
    /// Answers each request on the first connection with the next of these, byte for byte, then
    /// closes it; where there is none it waits until the client has gone.
    pub(super) fn start(answers: impl IntoIterator<Item = impl Into<Vec<u8>>>) -> Self {
        let answers: Vec<Vec<u8>> = answers.into_iter().map(Into::into).collect();
        Self::serve(move |mut stream, sender| {
            let is_silent = answers.is_empty();
            for answer in answers {
                let Some(request) = read(&mut stream) else { return };
                let _ = sender.send(request);
                let _ = stream.write_all(&answer);
            }
            if is_silent {
                let _ = sender.send(read(&mut stream).unwrap_or_default());
                let _ = stream.read(&mut [0]);
            }
        })
    }

    /// Begins an answer, and then sends pings until the client has gone.
    pub(super) fn pinging(every: Duration) -> Self {
        Self::serve(move |mut stream, _| {
            let begun = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
                         event: content_block_delta\ndata: {\"index\":0,\"delta\":\
                         {\"type\":\"text_delta\",\"text\":\"a\"}}\n\n";
            if read(&mut stream).is_none() {
                return;
            }
            let mut next = begun;
            while stream.write_all(next.as_bytes()).is_ok() {
                thread::sleep(every);
                next = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
            }
        })
    }

    /// Says this before anybody has asked.
    pub(super) fn blurt(answer: &'static str) -> Self {
        Self::serve(move |mut stream, _| {
            let _ = stream.write_all(answer.as_bytes());
            let _ = stream.shutdown(Shutdown::Write);
            let _ = stream.read_to_end(&mut Vec::new());
        })
    }

    /// Answers so many requests, on as many connections as it has to, with streams whose last chunk
    /// comes a little later; then tells how many connections there were.
    pub(super) fn late(count: usize) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = channel();
        let thread = thread::spawn(move || {
            let mut answered = 0;
            while answered < count {
                let (mut stream, _) = listener.accept().unwrap();
                sender.send(String::new()).unwrap();
                while answered < count && read(&mut stream).is_some() {
                    answered += 1;
                    let body = "event: message_stop\ndata: {}\n\n";
                    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                                transfer-encoding: chunked\r\n\r\n";
                    let _ = write!(stream, "{head}{:x}\r\n{body}\r\n", body.len());
                    thread::sleep(Duration::from_millis(5));
                    let _ = stream.write_all(b"0\r\n\r\n");
                }
            }
        });
        Self { address, requests, thread: Some(thread) }
    }

    /// Returns how many connections there were, once all requests have been answered.
    pub(super) fn connections(mut self) -> usize {
        self.thread.take().unwrap().join().unwrap();
        self.requests.iter().count()
    }

    fn serve(how: impl FnOnce(TcpStream, &Sender<String>) + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = channel();
        let thread = thread::spawn(move || how(listener.accept().unwrap().0, &sender));
        Self { address, requests, thread: Some(thread) }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the next request: its head.
    pub(super) fn request(&self) -> String {
        self.requests.recv_timeout(super::DEADLINE).expect("a request came")
    }

    pub(super) fn was_asked(&self) -> bool {
        self.requests.recv_timeout(Duration::from_millis(50)).is_ok()
    }

    /// Waits until the connection is over.
    pub(super) fn wait(mut self) {
        self.thread.take().unwrap().join().unwrap();
    }
}

/// Reads one request with its body and gives its head.
fn read(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let head = loop {
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            break head.to_owned();
        }
    };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    let missing = (head.len() + 4 + length.parse::<usize>().ok()?).saturating_sub(bytes.len());
    stream.read_exact(&mut vec![0; missing]).ok()?;
    Some(head)
}

/// Returns a whole answer of HTTP.
pub(super) fn http(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} Status\r\n{headers}content-length: {length}\r\n\r\n{body}")
}

/// Returns a whole stream that says `text`.
pub(super) fn stream(text: &str) -> String {
    let delta = serde_json::json!({"index": 0, "delta": {"type": "text_delta", "text": text}});
    let body = format!(
        "event: content_block_delta\r\ndata: {delta}\r\n\r\nevent: message_stop\r\ndata: {{}}\r\n\r\n"
    );
    http(200, "content-type: text/event-stream\r\n", &body)
}
