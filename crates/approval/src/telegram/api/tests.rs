//! What kind of failure an answer is, and that no words of ours hold the token.

use super::*;
use crate::telegram::BotToken;

const TOKEN: &str = "123:SECRET";

#[track_caller]
fn check(status: u16, body: &str, expected: &str) {
    let judged = parse_result(StatusCode::from_u16(status).unwrap(), body.as_bytes());
    let told = match judged {
        Ok(result) => format!("ok {result}"),
        Err(TelegramFault::Passing { why, wait }) => {
            format!("passing {:?}: {why}", wait.unwrap_or_default())
        }
        Err(TelegramFault::Refused { code, why }) => format!("refused {code}: {why}"),
        Err(TelegramFault::Token { why }) => format!("token: {}", &why[..40]),
    };
    assert_eq!(told, expected);
}

#[test]
fn answers_are_told_apart() {
    check(200, r#"{"ok":true,"result":{"a":1}}"#, r#"ok {"a":1}"#);
    check(200, r#"{"ok":true,"result":null}"#, "ok null");
    check(200, r#"{"ok":true}"#, "ok null");
    check(200, "<html>", "passing 0ns: Telegram answered 200");
    check(
        429,
        r#"{"ok":false,"description":"x","parameters":{"retry_after":7}}"#,
        "passing 7s: Telegram asks for a pause of 7 s",
    );
    check(429, "", "passing 1s: Telegram asks for a pause of 1 s");
    check(502, "<html>", "passing 0ns: Telegram answered 502");
    check(
        500,
        r#"{"ok":false,"description":"Internal"}"#,
        "passing 0ns: Telegram answered 500: Internal",
    );
    check(302, "", "passing 0ns: Telegram answered 302");
    check(403, "<html>blocked by a proxy</html>", "refused 403: Telegram answered 403");
    check(400, "", "refused 400: Telegram answered 400");
    check(408, "<html>too slow</html>", "passing 0ns: Telegram answered 408");
    check(403, r#"{"ok":false,"description":"Forbidden: x"}"#, "refused 403: Forbidden: x");
    check(400, r#"{"ok":false,"description":"Bad Request: x"}"#, "refused 400: Bad Request: x");
    check(
        400,
        r#"{"ok":false,"description":"x","parameters":{"migrate_to_chat_id":-1001}}"#,
        "refused 400: the group has a new id, -1001: put it into `allowed_chats`",
    );
    check(
        401,
        r#"{"ok":false,"description":"Unauthorized"}"#,
        "token: Telegram does not know this bot (401 Una",
    );
    check(
        404,
        r#"{"ok":false,"description":"Not Found"}"#,
        "token: Telegram does not know this bot (404 Not",
    );
    // Something in front of a Bot API server answers, and knows nothing of the bot.
    for (status, body) in [(401, ""), (401, "<html>sign in</html>"), (404, ""), (404, "{}")] {
        let expected = format!(
            "refused {status}: Telegram answered {status}, and not as the Bot API does: check \
             `api_url` and `proxy`"
        );
        check(status, body, &expected);
    }
    // A pause without an end would be no pause.
    check(
        429,
        r#"{"ok":false,"description":"x","parameters":{"retry_after":18446744073709551615}}"#,
        "passing 3600s: Telegram asks for a pause of 18446744073709551615 s",
    );
    check(
        404,
        r#"{"ok":false,"description":"Not Found: method not found"}"#,
        "refused 404: Not Found: method not found",
    );
}

fn settings(url: &str) -> BotSettings {
    BotSettings { api_url: url.into(), ..BotSettings::new(BotToken::new(TOKEN).unwrap()) }
}

#[test]
fn addresses_are_checked() {
    for wrong in ["", "api.telegram.org", "ftp://x", "http://x/?a", "http://x/#a"] {
        let why = BotApi::new(&settings(wrong)).unwrap_err();
        assert!(why.contains("api_url") && why.contains("https://api.telegram.org"), "{why}");
    }
    let proxied = BotSettings { proxy: Some("::".into()), ..settings("http://x") };
    assert!(BotApi::new(&proxied).unwrap_err().contains("proxy"));
    assert!(BotApi::new(&settings("https://api.telegram.org/")).is_ok());
}

#[test]
fn tokens_are_checked_and_never_shown() {
    assert!(BotToken::new(" 123:Ab_-\n").is_ok());
    for wrong in ["", " ", "a/b", "a b", "a?b", "tökén", &"x".repeat(300)] {
        assert!(BotToken::new(wrong).is_err(), "{wrong:?}");
    }
    let all = settings("http://x");
    let api = BotApi::new(&all).unwrap();
    assert!(!format!("{all:?} {api:?}").contains("SECRET"));
}

#[tokio::test(flavor = "current_thread")]
async fn no_failure_shows_the_token() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let quiet = format!("http://{}", silent.local_addr().unwrap());
    let limit = Duration::from_millis(100);
    for url in [
        format!("http://{address}"),
        quiet.clone(),
        format!("https://{address}"),
        "http://no.such.host.invalid".into(),
    ] {
        let api = BotApi::new(&settings(&url)).unwrap();
        let fault = api.call("getMe", &json!({}), limit).await.unwrap_err();
        assert!(!format!("{fault:?}").contains("SECRET"), "{fault:?}");
        let TelegramFault::Passing { why, .. } = &fault else { panic!("{fault:?}") };
        assert!(why.starts_with("Telegram cannot be reached: "), "{why}");
        if url == quiet {
            assert!(why.ends_with("no response in time"), "{why}");
        }
    }
}
