//! What is fetched from servers on loopback, and what is not.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

/// Starts a server that answers every connection with these bytes, and returns its address. With
/// `dribble` it sends one byte after the other, and never ends.
async fn serve(answer: Vec<u8>, dribble: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/team.bundle", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            assert!(stream.read(&mut request).await.unwrap() > 0);
            let cuts = if dribble { 1 } else { answer.len().max(1) };
            for part in answer.chunks(cuts) {
                if stream.write_all(part).await.is_err() {
                    break;
                }
                if dribble {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
            if dribble {
                std::future::pending::<()>().await;
            }
        }
    });
    address
}

fn answer(status: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn direct() -> ProxyChoice {
    ProxyChoice::default()
}

fn through(proxy: &str) -> ProxyChoice {
    ProxyChoice { proxy: Some(proxy.to_owned()), exempt: Some("in.example.org".to_owned()) }
}

#[tokio::test]
async fn a_text_is_fetched_and_everything_else_is_an_error() {
    let redirect = b"HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n".to_vec();
    for (answer, expected) in [
        (answer("200 OK", b"text"), "Ok(\"text\")"),
        (answer("200 OK", b"texts"), "Err(\"the text is larger than 4 bytes\")"),
        (answer("200 OK", b"\xff"), "Err(\"it is not UTF-8 text\")"),
        (answer("404 Not Found", b""), "Err(\"the server answered 404 Not Found\")"),
        (redirect, "Err(\"the server answered 302 Found\")"),
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nte".to_vec(),
            "Err(\"the connection was broken off\")",
        ),
        (b"nonsense\r\n\r\n".to_vec(), "Err(\"the connection was broken off\")"),
    ] {
        let source = TextSource::new(&serve(answer, false).await, &direct()).unwrap();
        let fetched = source.fetch(4).await.map_err(|error| error.to_string());
        assert_eq!(format!("{fetched:?}"), expected);
    }
    let gone =
        TextSource::new("http://127.0.0.1:1/", &direct()).unwrap().fetch(4).await.unwrap_err();
    assert_eq!(gone.to_string(), "the server cannot be reached");
}

#[tokio::test]
async fn a_server_that_takes_its_time_is_given_up() {
    for answer in [answer("200 OK", &vec![b'x'; 100_000]), Vec::new()] {
        let mut source = TextSource::new(&serve(answer, true).await, &direct()).unwrap();
        source.limit = Duration::from_millis(200);
        let error = source.fetch(1_000_000).await.unwrap_err();
        assert!(matches!(error, FetchError::TooSlow), "{error}");
    }
}

#[test]
fn only_what_nobody_can_read_along_is_fetched() {
    for url in ["http://rules.example.org/", "ftp://127.0.0.1/", "file:///etc/passwd", "x", ""] {
        assert!(matches!(TextSource::new(url, &direct()), Err(FetchError::Address)), "{url}");
    }
    for url in ["https://rules.example.org/", "http://localhost:80/", "http://[::1]/"] {
        assert!(TextSource::new(url, &direct()).is_ok(), "{url}");
    }
    let proxied = TextSource::new("https://rules.example.org/", &through("::"));
    assert!(matches!(proxied, Err(FetchError::Proxy)));
}

/// The proxy is asked to connect, and nothing else is.
#[tokio::test]
async fn a_proxy_is_respected() {
    let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let asked = tokio::spawn(async move {
        let (mut stream, _) = proxy.accept().await.unwrap();
        let mut request = [0; 4096];
        let read = stream.read(&mut request).await.unwrap();
        String::from_utf8_lossy(&request[..read]).into_owned()
    });
    let source =
        TextSource::new("https://rules.example.org/team.bundle", &through(&address)).unwrap();
    assert!(source.fetch(4).await.is_err());
    let asked = asked.await.unwrap();
    assert!(asked.starts_with("CONNECT rules.example.org:443 HTTP/1.1\r\n"), "{asked}");
}

#[test]
fn forms_are_encoded() {
    assert_eq!(form_text(&[("a", "b c&d"), ("e", "=")]), "a=b+c%26d&e=%3D");
    assert_eq!(form_text(&[("", "a:b/=")]), "=a%3Ab%2F%3D");
}
