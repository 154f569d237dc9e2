//! The HTTP server of the fakes, as a client sees it.

use super::*;

struct Echo;

impl Service for Echo {
    fn answer(&self, request: Incoming, out: &mut Outgoing<'_>) -> io::Result<()> {
        match request.path.as_str() {
            "/stall" => {
                out.begin(200, &[])?;
                out.chunk(b"begun")?;
                out.wait_for_hangup();
                Ok(())
            }
            _ => out.whole(200, &[("x-path", &request.path)], &request.body),
        }
    }

    fn max_body(&self) -> usize {
        10
    }
}

#[track_caller]
fn check(raw: &str, expected: &[&str]) {
    let server = Server::start(Arc::new(Echo));
    let answer = request(server.address(), raw.as_bytes());
    for part in expected {
        assert!(answer.contains(part), "{part:?} is not in {answer:?}");
    }
}

#[test]
fn two_requests_on_one_connection() {
    check(
        "POST /a?b=c HTTP/1.1\r\nContent-Length: 2\r\n\r\nhiGET /d HTTP/1.1\r\n\r\n",
        &["x-path: /a\r\ncontent-length: 2\r\n\r\nhi", "x-path: /d\r\ncontent-length: 0"],
    );
}

#[test]
fn a_chunked_request() {
    let body = "2\r\nhi\r\n3;x=y\r\n yo\r\n0\r\n\r\n";
    check(
        &format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{body}"),
        &["\r\n\r\nhi yo"],
    );
}

#[test]
fn a_body_that_is_too_long_is_read_away() {
    check(
        "POST /a HTTP/1.1\r\nContent-Length: 11\r\n\r\nhello worldGET /d HTTP/1.1\r\n\r\n",
        &["x-path: /a\r\ncontent-length: 0", "x-path: /d"],
    );
}

#[test]
fn dropping_ends_open_connections_and_frees_the_port() {
    let server = Server::start(Arc::new(Echo));
    let address = server.address();
    let mut idle = TcpStream::connect(address).unwrap();
    let mut stalled = TcpStream::connect(address).unwrap();
    stalled.write_all(b"GET /stall HTTP/1.1\r\n\r\n").unwrap();
    let mut begun = [0; 16];
    assert!(stalled.read(&mut begun).unwrap() > 0);
    drop(server);
    let mut rest = Vec::new();
    assert_eq!(idle.read_to_end(&mut rest).unwrap_or(0), 0);
    let _ = stalled.read_to_end(&mut rest);
    // A process that another test is just starting may hold a copy of the listener until its
    // exec, so the port is free soon, not at once.
    until("the port is free", || TcpListener::bind(address).is_ok());
}
