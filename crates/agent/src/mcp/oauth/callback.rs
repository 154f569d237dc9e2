//! Receives the end of a sign-in: the browser is sent to an address of this machine, which is
//! served once.
//!
//! Whatever else comes to that address changes nothing: a request with another state is refused,
//! and the right one is still waited for.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use reqwest::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// The path to which the browser is sent.
const PATH: &str = "/callback";
/// The longest request, in bytes.
const LONGEST_REQUEST: usize = 16 * 1024;
/// How long a browser may take to send its request.
const REQUEST_WITHIN: Duration = Duration::from_secs(10);
/// The most connections at a time, and the most in all.
const MOST_OPEN: usize = 16;
const MOST_REQUESTS: usize = 256;

pub(super) struct CallbackListener {
    listener: TcpListener,
    port: u16,
}

/// The end of a sign-in, as the authorization server has sent it with the browser.
pub(super) struct SignInCallback {
    pub(super) parameters: CallbackParameters,
    pub(super) browser: WaitingBrowser,
}

/// What an authorization server says at the end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CallbackParameters {
    pub(super) code: Option<String>,
    pub(super) error: Option<String>,
    pub(super) iss: Option<String>,
}

pub(super) struct WaitingBrowser(TcpStream);

impl CallbackListener {
    /// Starts to listen, at a free port unless one is wanted.
    pub(super) async fn open(port: Option<u16>) -> Result<Self, String> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await;
        let opened = listener.and_then(|listener| {
            let port = listener.local_addr()?.port();
            Ok(Self { listener, port })
        });
        opened.map_err(|error| format!("cannot listen for the end of the sign-in: {error}"))
    }

    /// Returns the address to which the browser is to be sent.
    pub(super) fn address(&self) -> String {
        // By its number: `localhost` may stand for `::1`, where we do not listen.
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the browser with this state. Nobody is served after that.
    pub(super) async fn receive(self, state: &str) -> Result<SignInCallback, String> {
        let mut open = FuturesUnordered::new();
        for _ in 0..MOST_REQUESTS {
            let stream = loop {
                tokio::select! {
                    // Those that are open come first, so that new ones keep no browser waiting.
                    biased;
                    Some(found) = open.next(), if !open.is_empty() => {
                        if let Some(callback) = found {
                            return Ok(callback);
                        }
                    }
                    accepted = self.listener.accept(), if open.len() < MOST_OPEN => {
                        let (stream, _) = accepted.map_err(|error| error.to_string())?;
                        break stream;
                    }
                }
            };
            open.push(serve_request(stream, self.port, state));
        }
        Err("too many requests came to the address at which the sign-in ends".to_owned())
    }
}

impl WaitingBrowser {
    pub(super) async fn show(mut self, is_done: bool) {
        let text = if is_done {
            "You are signed in. You can close this window and go back to callgate."
        } else {
            "The sign-in has failed. Go back to callgate to see why."
        };
        send_response(&mut self.0, "200 OK", text).await;
    }
}

/// Serves one request. Returns the end of the sign-in, if this was it.
async fn serve_request(mut stream: TcpStream, port: u16, state: &str) -> Option<SignInCallback> {
    let head = timeout(REQUEST_WITHIN, read_head(&mut stream)).await.ok()??;
    match read_request(&head, port, state) {
        Ok(parameters) => Some(SignInCallback { parameters, browser: WaitingBrowser(stream) }),
        Err((status, text)) => {
            send_response(&mut stream, status, text).await;
            None
        }
    }
}

/// Reads the head of a request, without what may follow it.
async fn read_head(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let (mut head, mut chunk) = (Vec::new(), [0; 2048]);
    loop {
        let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        head.extend_from_slice(&chunk[..count]);
        if head.windows(4).any(|end| end == b"\r\n\r\n") {
            return Some(head);
        }
        if head.len() > LONGEST_REQUEST {
            return None;
        }
    }
}

type RefusedRequest = (&'static str, &'static str);

/// Reads a request. Returns the status and the text of the refusal if it is not the one.
fn read_request(head: &[u8], port: u16, state: &str) -> Result<CallbackParameters, RefusedRequest> {
    let wrong = ("400 Bad Request", "This is not the end of a sign-in that callgate has started.");
    let head = str::from_utf8(head).map_err(|_| wrong)?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some("GET"), Some(target)) = (words.next(), words.next()) else { return Err(wrong) };
    // Another site's name that leads here is not ours.
    let hosts = lines.take_while(|line| !line.is_empty()).filter_map(|line| line.split_once(':'));
    let mut hosts = hosts.filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    let is_here = |host: &str| host.trim() == format!("127.0.0.1:{port}");
    if !hosts.next().is_some_and(|(_, host)| is_here(host)) || hosts.next().is_some() {
        return Err(wrong);
    }
    let url = Url::parse("http://127.0.0.1").and_then(|base| base.join(target));
    let url = url.map_err(|_| wrong)?;
    if url.path() != PATH || !target.starts_with('/') {
        return Err(("404 Not Found", "There is nothing here."));
    }
    let mut found = CallbackParameters::default();
    let mut given_state = None;
    for (name, value) in url.query_pairs() {
        let place = match &*name {
            "state" => &mut given_state,
            "code" => &mut found.code,
            "error" => &mut found.error,
            "iss" => &mut found.iss,
            _ => continue,
        };
        // Of two that have one name, nobody knows which one counts.
        if place.replace(value.into_owned()).is_some() {
            return Err(wrong);
        }
    }
    if given_state.as_deref() != Some(state) {
        return Err(wrong);
    }
    Ok(found)
}

async fn send_response(stream: &mut TcpStream, status: &str, text: &str) {
    let page = format!("<!doctype html><meta charset=utf-8><title>callgate</title><p>{text}");
    let length = page.len();
    // The address of the page holds the code, so nothing may keep it or pass it on.
    let response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n\
         Content-Security-Policy: default-src 'none'\r\nConnection: close\r\n\r\n{page}"
    );
    let sent = async {
        stream.write_all(response.as_bytes()).await?;
        stream.shutdown().await
    };
    // A browser that has gone away needs no page.
    timeout(REQUEST_WITHIN, sent).await.ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(target: &str, host: &str) -> Result<CallbackParameters, &'static str> {
        let head = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\n\r\n");
        read_request(head.as_bytes(), 7, "s1").map_err(|(status, _)| status)
    }

    #[test]
    fn only_the_request_with_the_state_ends_a_sign_in() {
        let here = "127.0.0.1:7";
        let found = read("/callback?code=a%2Bb&state=s1&iss=https%3A%2F%2Fi", here).unwrap();
        assert_eq!(found.code.as_deref(), Some("a+b"));
        assert_eq!(found.iss.as_deref(), Some("https://i"));
        let found = read("/callback?error=access_denied&state=s1", here).unwrap();
        assert_eq!((found.code, found.error.as_deref()), (None, Some("access_denied")));
        for target in [
            "/callback?code=a",
            "/callback?code=a&state=s2",
            "/callback?code=a&state=",
            "/callback?code=a&state=s1&state=s1",
            "/callback?code=a&code=b&state=s1",
        ] {
            assert_eq!(read(target, here), Err("400 Bad Request"), "{target}");
        }
        for target in ["/favicon.ico", "/", "/callback/x?code=a&state=s1"] {
            assert_eq!(read(target, here), Err("404 Not Found"), "{target}");
        }
        for host in ["evil.example", "127.0.0.1", "127.0.0.1:8", "evil.example:7"] {
            assert_eq!(read("/callback?code=a&state=s1", host), Err("400 Bad Request"), "{host}");
        }
        let post = b"POST /callback?code=a&state=s1 HTTP/1.1\r\nHost: 127.0.0.1:7\r\n\r\n";
        assert!(read_request(post, 7, "s1").is_err());
        assert!(read_request(b"GET /callback?state=s1 HTTP/1.1\r\n\r\n", 7, "s1").is_err());
        assert!(read_request(b"\xff\r\n\r\n", 7, "s1").is_err());
    }
}
