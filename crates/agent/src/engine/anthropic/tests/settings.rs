//! What the engine is told: addresses, proxies, keys; and connections that are used again.

use super::far::{Far, stream};
use super::*;
use crate::engine::model_api::BadApiKey;

#[tokio::test]
async fn addresses_with_paths_and_slashes() {
    for (end, path) in [
        ("", "/v1/messages"),
        ("/", "/v1/messages"),
        ("/v1", "/v1/messages"),
        ("/v1/messages/", "/v1/messages"),
        ("/gate/way", "/gate/way/v1/messages"),
        ("/gate/way//", "/gate/way/v1/messages"),
        (" ", "/v1/messages"),
    ] {
        let far = Far::start([stream("ok")]);
        assert_eq!(text(&whole(&format!("{}{end}", far.url()), hello()).await), "ok");
        let request = far.request();
        assert!(request.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{end}: {request}");
    }
}

#[test]
fn addresses_that_are_none() {
    for (url, reason) in [
        ("", "is not an address"),
        ("api.test", "is not an address"),
        ("localhost:80", "is neither http nor https"),
        ("ftp://api.test", "is neither http nor https"),
        ("https://", "is not an address"),
        ("https://user:hidden@api.test", "contains a user or a password"),
        ("https://hidden@api.test", "contains a user or a password"),
        ("https://api.test/?hidden=1", "has a `?`"),
        ("https://api.test/#hidden", "has a `?` or a `#`"),
    ] {
        let error = Anthropic::new(settings(url)).unwrap_err();
        assert!(error.contains(reason) && error.contains("ANTHROPIC_BASE_URL"), "{url}: {error}");
        assert!(error.contains("it should look like https://api.anthropic.com"), "{error}");
        assert!(!error.contains("hidden"), "{error}");
    }
}

#[test]
fn other_settings_that_are_none() {
    let url = "https://api.test";
    let no_model = AnthropicSettings { model: " ".to_owned(), ..settings(url) };
    let error = Anthropic::new(no_model).unwrap_err();
    assert_eq!(error, "No model is set: set one in ANTHROPIC_MODEL");
    let no_proxy =
        AnthropicSettings { proxy: Some("http://hidden:x y".to_owned()), ..settings(url) };
    let error = Anthropic::new(no_proxy).unwrap_err();
    assert!(error.starts_with("The proxy is not a valid address"), "{error}");
}

#[test]
fn keys() {
    for wrong in ["", " ", "two words", "line\nline", "ü", &"k".repeat(4097)] {
        assert_eq!(ApiKey::new(wrong), Err(BadApiKey), "{wrong:?}");
    }
    let key = ApiKey::new(&format!(" {KEY}\n")).unwrap();
    assert_eq!(key.text(), KEY);
    assert!(key.header().is_sensitive());
    let settings = AnthropicSettings::new(key, MODEL);
    assert!(!format!("{settings:?}").contains(KEY));
    assert_eq!((settings.base_url.as_str(), settings.idle), (API_URL, Duration::from_mins(2)));
    let engine = Anthropic::new(settings).unwrap();
    assert!(!format!("{engine:?}").contains(KEY));
    assert_eq!((engine.name(), &*engine.server.settings.model), ("anthropic", MODEL));
}

#[test]
fn nothing_is_set_up_before_it_is_needed() {
    let engine = engine("https://api.test");
    assert!(engine.server.link.client.is_slow());
    engine.server.link.client.get(&engine.server.link.errors).unwrap();
    assert!(!engine.server.link.client.is_slow());
    assert!(!super::engine("http://api.test").server.link.client.is_slow());
}

#[tokio::test]
async fn a_proxy_is_used_when_it_is_set() {
    let far = Far::start([stream("by proxy")]);
    let set = AnthropicSettings { proxy: Some(far.url()), ..settings("http://api.test") };
    let engine = Anthropic::new(set).unwrap();
    let (pieces, _) = all(&mut *engine.answer(hello())).await;
    assert_eq!(text(&pieces), "by proxy");
    assert!(far.request().starts_with("POST http://api.test/v1/messages HTTP/1.1\r\n"));
}

#[tokio::test]
async fn a_connection_is_used_again() {
    // The server takes no second connection.
    let far = Far::start(["one", "two", "three"].map(stream));
    let engine = engine(far.url());
    for expected in ["one", "two", "three"] {
        let (pieces, end) = all(&mut *engine.answer(hello())).await;
        end.unwrap();
        assert_eq!(text(&pieces), expected);
    }
}

#[tokio::test]
async fn a_connection_is_used_again_though_its_stream_closes_late() {
    let far = Far::late(4);
    let engine = engine(far.url());
    for _ in 0..4 {
        let mut answer = engine.answer(hello());
        let mut into = Vec::new();
        while !matches!(into.last(), Some(AnswerPiece::End(_))) {
            assert!(timeout(DEADLINE, answer.next(&mut into)).await.unwrap().unwrap());
        }
        drop(answer);
        // Somebody reads what the model has said.
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
    let connections = tokio::task::spawn_blocking(move || far.connections()).await.unwrap();
    assert!(connections < 4, "each of 4 answers had a connection of its own");
}

#[tokio::test]
async fn the_effort_is_a_part_of_the_request() {
    let fake = Messages::start([Turn::text("a"), Turn::text("b")]);
    let url = fake.url();
    let high = AnthropicSettings { effort: Some(Effort::High), ..settings(&url) };
    for settings in [settings(&url), high] {
        let mut answer = Anthropic::new(settings).unwrap().answer(hello());
        let mut pieces = Vec::new();
        while answer.next(&mut pieces).await.unwrap() {}
    }
    let requests = fake.requests();
    assert_eq!(requests[0].body.get("output_config"), None);
    assert_eq!(requests[1].body["output_config"], serde_json::json!({ "effort": "high" }));
}
