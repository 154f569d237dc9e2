//! Every way in which an answer fails.

use std::net::{Ipv4Addr, TcpListener};

use super::far::{Far, http};
use super::*;
use crate::engine::EngineErrorKind;

const IDLE: Duration = Duration::from_millis(400);

fn impatient(url: String) -> Anthropic {
    Anthropic::new(AnthropicSettings { idle: IDLE, ..settings(url) }).unwrap()
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_cut() {
    // message_start, block start, ping, 3 deltas, block stop, message_delta; message_stop is last.
    let turn = |events| Turn::text("abc").pieces(1).cut_after(events);
    let fake = Messages::start((0..=8).map(turn));
    let engine = engine(fake.url());
    for events in 0..=8_usize {
        let (pieces, error) = failure(&engine, hello()).await;
        assert_eq!(error.kind, EngineErrorKind::Cut, "{events}: {error}");
        assert_eq!(text(&pieces), "abc"[..events.saturating_sub(3).min(3)], "{events}");
        assert!(error.text.contains("broke off before its end"), "{error}");
    }
    fake.assert_played();
}

#[tokio::test]
async fn a_stream_that_ends_without_its_end_is_cut() {
    let begun = "event: content_block_delta\ndata: {\"index\":0,\"delta\":{\"type\":\"text_delta\",\
                 \"text\":\"a\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n";
    let far = Far::start([http(200, "content-type: text/event-stream\r\n", begun)]);
    let (pieces, error) = failure(&engine(far.url()), hello()).await;
    assert_eq!((text(&pieces).as_str(), error.kind), ("a", EngineErrorKind::Cut), "{error}");
}

#[tokio::test]
async fn a_stream_that_stalls_is_given_up() {
    let turn = |events| Turn::text("abc").pieces(1).stall_after(events);
    let fake = Messages::start([turn(0), turn(5)]);
    let engine = impatient(fake.url());
    for expected in ["", "ab"] {
        let (pieces, error) = failure(&engine, hello()).await;
        assert_eq!(
            (text(&pieces).as_str(), error.kind),
            (expected, EngineErrorKind::Stalled),
            "{error}"
        );
        assert!(error.text.contains("for 0.4 s"), "{error}");
    }
}

#[tokio::test]
async fn a_stream_of_pings_alone_is_given_up() {
    let far = Far::pinging(IDLE / 10);
    let (_, error) = failure(&impatient(far.url()), hello()).await;
    assert_eq!(error.kind, EngineErrorKind::Stalled, "{error}");
    tokio::task::spawn_blocking(move || far.wait()).await.unwrap();
}

#[tokio::test]
async fn a_server_that_says_nothing_at_all_is_given_up() {
    let far = Far::start([] as [Vec<u8>; 0]);
    let (_, error) = failure(&impatient(far.url()), hello()).await;
    assert_eq!(error.kind, EngineErrorKind::Stalled);
    tokio::task::spawn_blocking(move || far.wait()).await.unwrap();
}

#[tokio::test]
async fn giving_up_a_wait_does_not_put_off_the_end() {
    let fake = Messages::start([Turn::text("abc").stall_after(0)]);
    let engine = impatient(fake.url());
    let mut answer = engine.answer(hello());
    let ended = async {
        loop {
            let mut into = Vec::new();
            let step = timeout(IDLE / 10, answer.next(&mut into)).await;
            if let Ok(end) = step {
                return end.unwrap_err().kind;
            }
        }
    };
    assert_eq!(timeout(DEADLINE, ended).await.unwrap(), EngineErrorKind::Stalled);
}

#[tokio::test]
async fn errors_in_the_stream_come_after_what_was_said() {
    let kinds = [
        ("overloaded_error", EngineErrorKind::Overloaded),
        ("rate_limit_error", EngineErrorKind::RateLimit),
        ("api_error", EngineErrorKind::Server),
        ("invalid_request_error", EngineErrorKind::Refused),
        ("authentication_error", EngineErrorKind::Auth),
        ("new_error", EngineErrorKind::Server),
    ];
    let turn = |(kind, _): (&'static str, EngineErrorKind)| {
        Turn::text("abc").pieces(1).error_after(5, kind)
    };
    let fake = Messages::start(kinds.map(turn));
    let engine = engine(fake.url());
    for (kind, expected) in kinds {
        let (pieces, error) = failure(&engine, hello()).await;
        assert_eq!((text(&pieces).as_str(), error.kind), ("ab", expected), "{kind}");
    }
    fake.assert_played();
}

#[tokio::test]
async fn statuses() {
    let seconds = Some(Duration::from_secs(7));
    let cases = [
        (Turn::rate_limited(7), 429, EngineErrorKind::RateLimit, seconds),
        (Turn::overloaded(), 529, EngineErrorKind::Overloaded, None),
        (Turn::broken(), 500, EngineErrorKind::Server, None),
        (Turn::refused(401, "authentication_error"), 401, EngineErrorKind::Auth, None),
        (Turn::refused(403, "permission_error"), 403, EngineErrorKind::Auth, None),
        (Turn::refused(400, "invalid_request_error"), 400, EngineErrorKind::Refused, None),
        (Turn::refused(404, "not_found_error"), 404, EngineErrorKind::Refused, None),
        (Turn::refused(413, "request_too_large"), 413, EngineErrorKind::TooLong, None),
        (Turn::refused(502, "api_error"), 502, EngineErrorKind::Server, None),
    ];
    let fake = Messages::start(cases.iter().map(|(turn, ..)| turn.clone()));
    let engine = engine(fake.url());
    for (turn, status, kind, retry_after) in cases {
        let (_, error) = failure(&engine, hello()).await;
        let found = (error.status, error.kind, error.retry_after);
        assert_eq!(found, (Some(status), kind, retry_after), "{turn:?}");
        assert!(error.text.contains("(request req_"), "{error}");
    }
    fake.assert_played();
}

#[tokio::test]
async fn a_request_that_the_api_refuses_is_quoted() {
    let fake = Messages::start([]);
    let last_is_the_models = vec![
        ChatMessage::user(vec![Block::text("a")]),
        ChatMessage::assistant(vec![Block::text("b")]),
    ];
    let (_, error) = failure(&engine(fake.url()), call(last_is_the_models)).await;
    assert_eq!((error.kind, error.status), (EngineErrorKind::Refused, Some(400)));
    assert!(error.text.contains("The conversation must end with a user message"), "{error}");
}

#[tokio::test]
async fn nothing_to_say_is_not_sent() {
    let fake = Messages::start([]);
    let empty = call(vec![ChatMessage::user(vec![Block::text(" ")])]);
    let (_, error) = failure(&engine(fake.url()), empty).await;
    assert_eq!((error.kind, fake.requests().len()), (EngineErrorKind::Refused, 0));
}

#[tokio::test]
async fn nobody_listens() {
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let (_, error) = failure(&engine(format!("http://127.0.0.1:{port}")), hello()).await;
    assert_eq!(error.kind, EngineErrorKind::Network);
    let words = format!(
        "http://127.0.0.1:{port} cannot be reached: nothing listens there. Check the address \
         (ANTHROPIC_BASE_URL) and the network"
    );
    assert_eq!(error.text, words);
}

#[tokio::test]
async fn a_server_that_hangs_up() {
    let fake = Messages::start([Turn::hang_up()]);
    let (_, error) = failure(&engine(fake.url()), hello()).await;
    assert_eq!((error.kind, error.status), (EngineErrorKind::Network, None), "{error}");
    fake.assert_played();
}

#[tokio::test]
async fn a_server_without_tls() {
    let far = Far::blurt("HTTP/1.1 400 Bad Request\r\n\r\n");
    let secure = engine(far.url().replace("http:", "https:"));
    let (_, error) = failure(&secure, hello()).await;
    assert_eq!(error.kind, EngineErrorKind::Network, "{error}");
    assert!(error.text.contains("ANTHROPIC_BASE_URL"), "{error}");
}

#[tokio::test]
async fn pages_and_other_nonsense() {
    let events = "content-type: text/event-stream\r\n";
    let long = format!("data: {}\n\n", "x".repeat(crate::engine::model_api::LONGEST_EVENT));
    let cases = [
        http(200, "content-type: text/html\r\n", "<html>Log in</html>"),
        http(200, "", "event: message_stop\ndata: {}\n\n"),
        http(200, events, "event: message_start\ndata: nonsense\n\n"),
        http(200, events, "data: [1]\n\n"),
        http(200, events, &long),
    ];
    for answer in cases {
        let far = Far::start([answer]);
        let (_, error) = failure(&engine(far.url()), hello()).await;
        assert_eq!(error.kind, EngineErrorKind::Nonsense, "{error}");
    }
}

#[tokio::test]
async fn the_key_is_told_nowhere_even_when_the_server_does() {
    let said = serde_json::json!({"type": KEY, "message": format!("no such key: {KEY}")});
    let error = serde_json::json!({"type": "error", "error": said}).to_string();
    let echo = format!("content-type: text/{KEY}\r\nrequest-id: {KEY}\r\n");
    let events = "content-type: text/event-stream\r\n";
    let cases = [
        http(401, &echo, &error),
        http(500, &echo, KEY),
        http(200, &echo, KEY),
        http(200, events, &format!("event: error\ndata: {error}\n\n")),
        http(200, events, &format!("event: message_start\ndata: {{\"message\":\"{KEY}\"}}\n\n")),
        http(307, &format!("location: https://{KEY}.test/{KEY}\r\n"), ""),
        format!("HTTP/1.1 {KEY}\r\n\r\n"),
    ];
    for answer in cases {
        let far = Far::start([answer]);
        // The search for the key is in there.
        failure(&engine(far.url()), hello()).await;
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Far::start([http(200, "", "")]);
    let location = format!("location: {}/v1/messages\r\n", other.url());
    for status in [301, 302, 303, 307, 308] {
        let far = Far::start([http(status, &location, "")]);
        let (_, error) = failure(&engine(far.url()), hello()).await;
        assert_eq!((error.kind, error.status), (EngineErrorKind::Refused, Some(status)));
        assert!(error.text.contains(&format!("redirects to {}", other.url())), "{error}");
    }
    assert!(!other.was_asked());
}

#[tokio::test]
async fn an_endless_error_is_not_read_to_its_end() {
    let body = "x".repeat(1024 * 1024);
    let head = "HTTP/1.1 500 Status\r\ncontent-length: 999999999\r\n\r\n";
    let far = Far::start([format!("{head}{body}")]);
    let (_, error) = failure(&engine(far.url()), hello()).await;
    assert_eq!(error.status, Some(500));
    assert!(error.text.contains("xxx…"), "{error}");
}

#[tokio::test]
async fn dropping_the_answer_ends_the_connection() {
    let fake = Arc::new(Messages::start([Turn::text("abc").stall_after(5)]));
    let engine = engine(fake.url());
    let mut answer = engine.answer(hello());
    assert!(timeout(DEADLINE, answer.next(&mut Vec::new())).await.unwrap().unwrap());
    drop(answer);
    let waiting = Arc::clone(&fake);
    tokio::task::spawn_blocking(move || waiting.wait_for_hangups(1)).await.unwrap();
}

#[tokio::test]
async fn dropping_before_the_answer_begins_ends_the_connection() {
    let far = Far::start([] as [Vec<u8>; 0]);
    let engine = engine(far.url());
    let mut answer = engine.answer(hello());
    let mut into = Vec::new();
    let asked = tokio::task::spawn_blocking(move || {
        far.request();
        far
    });
    let far = tokio::select! {
        far = asked => far.unwrap(),
        _ = answer.next(&mut into) => panic!("nothing was answered"),
    };
    drop(answer);
    tokio::task::spawn_blocking(move || far.wait()).await.unwrap();
}
