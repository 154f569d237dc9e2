//! Words for what went wrong.

use expect_test::{Expect, expect};
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::*;
use crate::failure::RequestFailure;

const KEY: &str = "plain-looking-key-0123456789";

fn errors() -> ErrorComposer {
    const WORDS: ApiWords = ApiWords {
        api: "Messages API",
        key: "ANTHROPIC_API_KEY",
        base_url: "ANTHROPIC_BASE_URL",
        model: "ANTHROPIC_MODEL",
        example: "https://api.test",
    };
    ErrorComposer::new("https://api.test".to_owned(), Some(ApiKey::new(KEY).unwrap()), &WORDS)
}

fn status(code: u16, headers: &[(&'static str, &'static str)], body: &str) -> EngineError {
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .collect();
    errors().status(StatusCode::from_u16(code).unwrap(), &headers, body.as_bytes())
}

fn api(kind: &str, message: &str) -> String {
    serde_json::json!({"type": "error", "error": {"type": kind, "message": message}}).to_string()
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "reads better at the call")]
fn check(code: u16, body: &str, expected: Expect) {
    let error = status(code, &[("request-id", "req_1")], body);
    assert_eq!(error.status, Some(code));
    expected.assert_eq(&format!("{}: {error}", error.kind.name()));
}

#[test]
fn each_status_says_what_to_do() {
    check(
        401,
        &api("authentication_error", "invalid x-api-key"),
        expect![
            "auth: https://api.test answered 401 (authentication_error): invalid x-api-key. Set a valid key in ANTHROPIC_API_KEY (request req_1)"
        ],
    );
    check(
        403,
        &api("permission_error", "No."),
        expect![
            "auth: https://api.test answered 403 (permission_error): No. The key may not do this: check its rights, or set another one in ANTHROPIC_API_KEY (request req_1)"
        ],
    );
    check(
        400,
        &api("invalid_request_error", "messages: bad"),
        expect![
            "refused: https://api.test answered 400 (invalid_request_error): messages: bad. Change what it names; a new conversation begins without it (request req_1)"
        ],
    );
    check(
        402,
        &api("billing_error", "Pay"),
        expect![
            "refused: https://api.test answered 402 (billing_error): Pay. Check the billing of the account that the key belongs to (request req_1)"
        ],
    );
    check(
        404,
        &api("not_found_error", "model: x"),
        expect![
            "refused: https://api.test answered 404 (not_found_error): model: x. Check the name of the model (ANTHROPIC_MODEL) and the address (ANTHROPIC_BASE_URL) (request req_1)"
        ],
    );
    check(
        413,
        "<html>too large</html>",
        expect![
            "too_long: https://api.test answered 413. The conversation and its attachments are larger than a request may be (request req_1)"
        ],
    );
    check(
        429,
        &api("rate_limit_error", "Slow down"),
        expect![
            "rate_limit: https://api.test answered 429 (rate_limit_error): Slow down (request req_1)"
        ],
    );
    check(
        529,
        &api("overloaded_error", "Overloaded"),
        expect![
            "overloaded: https://api.test answered 529 (overloaded_error): Overloaded. It is overloaded (request req_1)"
        ],
    );
    check(
        503,
        &api("overloaded_error", "Overloaded"),
        expect![
            "overloaded: https://api.test answered 503 (overloaded_error): Overloaded. It is overloaded (request req_1)"
        ],
    );
    check(
        500,
        "upstream\nfailed",
        expect![
            "server: https://api.test answered 500: upstream failed. The cause is on its side (request req_1)"
        ],
    );
    check(
        408,
        "",
        expect!["server: https://api.test answered 408. The cause is on its side (request req_1)"],
    );
}

#[test]
fn what_is_too_long_is_told_from_what_is_wrong() {
    let invalid = "invalid_request_error";
    for (code, kind, message, expected) in [
        (
            400,
            invalid,
            "prompt is too long: 210000 tokens > 200000 maximum",
            EngineErrorKind::TooLong,
        ),
        (400, invalid, "Prompt is too long", EngineErrorKind::TooLong),
        (400, invalid, "Input is too long for requested model.", EngineErrorKind::TooLong),
        (
            400,
            invalid,
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, \
             decrease input length or `max_tokens` and try again",
            EngineErrorKind::TooLong,
        ),
        (400, "request_too_large", "", EngineErrorKind::TooLong),
        (413, "request_too_large", "Request exceeds the maximum size", EngineErrorKind::TooLong),
        (400, invalid, "messages.0: image exceeds 5 MB maximum", EngineErrorKind::Refused),
        (401, "authentication_error", "prompt is too long", EngineErrorKind::Auth),
        (500, "api_error", "prompt is too long", EngineErrorKind::Server),
    ] {
        let error = status(code, &[], &api(kind, message));
        assert_eq!((error.kind, error.status), (expected, Some(code)), "{kind}: {message}");
    }
    let error = status(400, &[], &api(invalid, "prompt is too long: 2 tokens > 1 maximum"));
    assert!(
        error.text.ends_with(
            "prompt is too long: 2 tokens > 1 maximum. The conversation is longer than the model \
             can read"
        ),
        "{error}"
    );
    assert!(!EngineErrorKind::TooLong.is_passing());
    // In the middle of an answer.
    let said = |kind: &str, message: &str| {
        errors()
            .reported_error(&ApiErrorBody { kind: kind.to_owned(), message: message.to_owned() })
            .kind
    };
    assert_eq!(said(invalid, "prompt is too long"), EngineErrorKind::TooLong);
    assert_eq!(said("request_too_large", ""), EngineErrorKind::TooLong);
    assert_eq!(said("api_error", "prompt is too long"), EngineErrorKind::Server);
}

#[test]
fn a_redirect_names_the_server_alone() {
    let error = status(307, &[("location", "https://u:p@other.test/path?token=1")], "");
    assert_eq!((error.kind, error.status), (EngineErrorKind::Refused, Some(307)));
    assert!(error.text.contains("redirects to https://other.test, and"), "{error}");
    assert!(status(302, &[("location", "/x")], "").text.contains("it redirects, and"));
}

#[test]
fn a_good_status_without_a_stream() {
    let html = status(200, &[("content-type", "text/html")], "<html>Log in</html>");
    assert_eq!((html.kind, html.status), (EngineErrorKind::Nonsense, None));
    assert!(html.text.contains("it sends text/html where a stream of events is due"), "{html}");
    let json = status(200, &[], &api("overloaded_error", "Overloaded"));
    assert_eq!(json.kind, EngineErrorKind::Overloaded);
}

#[test]
fn how_long_to_wait() {
    let wait = |headers: &[(&'static str, &'static str)]| status(429, headers, "").retry_after;
    assert_eq!(wait(&[]), None);
    assert_eq!(wait(&[("retry-after", " 7 ")]), Some(Duration::from_secs(7)));
    assert_eq!(wait(&[("retry-after", "0.5")]), Some(Duration::from_millis(500)));
    let both = [("retry-after", "7"), ("retry-after-ms", "250")];
    assert_eq!(wait(&both), Some(Duration::from_millis(250)));
    for odd in ["Wed, 21 Oct 2026 07:28:00 GMT", "-1", "NaN", "inf", "1e300"] {
        assert_eq!(wait(&[("retry-after", odd)]), None, "{odd}");
    }
    assert_eq!(wait(&[("retry-after", "1e9")]), Some(Duration::from_hours(24)));
    // Whoever tries again, or gives up, says when.
    let told = status(429, &[("retry-after", "7")], "");
    assert!(!told.text.contains("again"), "{told}");
    let given_up = RequestFailure::of_engine(told, false);
    assert!(given_up.text.ends_with(". Send the message again in 7 s"), "{}", given_up.text);
    assert_eq!(status(529, &[("retry-after", "3")], "").retry_after, Some(Duration::from_secs(3)));
}

#[test]
fn quotes_are_short_plain_and_without_secrets() {
    let errors = errors();
    let long = errors.quoted(&"ü".repeat(400));
    assert_eq!(long, format!("{}…", "ü".repeat(300)));
    assert_eq!(errors.quoted(" a\r\n\tb\u{1b}[31m "), "a b [31m");
    assert_eq!(errors.quoted(&format!("no such key: {KEY}!")), "no such key: …!");
    // The key may stand where the quote is cut.
    let at_the_cut = errors.quoted(&format!("{} {KEY}", "x".repeat(290)));
    assert!(!at_the_cut.contains("plain"), "{at_the_cut}");
    let other = format!("sk-ant-api03-{}", "a1B2".repeat(20));
    assert!(!errors.quoted(&format!("key {other}")).contains(&other));
}

#[test]
fn errors_are_read_in_the_forms_of_many_servers() {
    let check = |body: &str, kind: &str, message: &str| {
        let said = ApiErrorBody::from_json(body.as_bytes()).unwrap();
        assert_eq!((&*said.kind, &*said.message), (kind, message), "{body}");
    };
    check(r#"{"error":{"message":"m","type":"t","code":"c","param":null}}"#, "t", "m");
    check(r#"{"error":{"message":"m","type":null,"code":"c"}}"#, "c", "m");
    check(r#"{"error":{"message":"m","code":400}}"#, "", "m");
    check(r#"{"error":"m"}"#, "", "m");
    check(
        r#"{"object":"error","message":"m","type":"BadRequestError","code":400}"#,
        "BadRequestError",
        "m",
    );
    check(r#"{"detail":"Not Found"}"#, "", "Not Found");
    for nothing in ["", "[]", "{}", r#"{"error":{}}"#, "<html>"] {
        assert!(ApiErrorBody::from_json(nothing.as_bytes()).is_none(), "{nothing}");
    }
}

#[test]
fn a_model_without_tools_is_said_to_have_none() {
    for (code, message) in [
        (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
        (
            400,
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        ),
        (500, "tools param requires --jinja flag"),
    ] {
        let error = status(code, &[], &api("invalid_request_error", message));
        assert_eq!((error.kind, error.status), (EngineErrorKind::Refused, Some(code)));
        assert!(
            error.text.contains("It cannot use tools, and callgate needs them: choose a model")
        );
    }
}

#[test]
fn an_account_without_money_is_not_asked_again() {
    let error = status(429, &[], &api("insufficient_quota", "You exceeded your current quota"));
    assert_eq!(error.kind, EngineErrorKind::Refused);
    let error = status(429, &[], &api("rate_limit_exceeded", "Slow down"));
    assert_eq!(error.kind, EngineErrorKind::RateLimit);
}
