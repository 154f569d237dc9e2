//! The engine with a strict fake of Chat Completions.

use callgate_testkit::chat::{API_KEY, Chat, ChatReply, Dialect};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::engine::{AnswerPiece, EngineErrorKind, ModelStop};
use crate::message::{Block, ChatMessage};
use crate::tool::{ToolSpec, raw_json};

fn engine(base_url: &str, model: Option<&str>) -> OpenAi {
    let key = Some(ApiKey::new(API_KEY).unwrap());
    let server = OpenAiServer::At { base_url: base_url.to_owned(), key, proxy: None };
    let model = model.map(str::to_owned);
    OpenAi::new(OpenAiSettings { model, ..OpenAiSettings::new(server) }).unwrap()
}

fn local(ports: Vec<u16>) -> OpenAi {
    OpenAi::new(OpenAiSettings::new(OpenAiServer::Local(ports))).unwrap()
}

fn call(text: &str) -> EngineCall {
    let spec = ToolSpec {
        name: "add".into(),
        description: "Adds.".into(),
        input_schema: raw_json(&json!({"type": "object"})),
        kind: "other",
        is_read_only: true,
    };
    EngineCall {
        model: "m".into(),
        system: "".into(),
        messages: vec![Arc::new(ChatMessage::user(vec![Block::text(text)]))].into(),
        tools: Arc::new([spec]),
        max_tokens: 100,
        thinking: None,
        streams_tool_input: false,
        engine_state: None,
        runner: None,
    }
}

async fn answer(engine: &OpenAi, call: EngineCall) -> Result<Vec<AnswerPiece>, EngineError> {
    let (mut answer, mut pieces) = (engine.answer(call), Vec::new());
    while answer.next(&mut pieces).await? {}
    Ok(pieces)
}

#[tokio::test]
async fn a_text_with_its_usage() {
    let fake = Chat::start(Dialect::ChatCompletions, [ChatReply::Text("Hello.".to_owned())]);
    let pieces = answer(&engine(&fake.url(), Some("m")), call("Hi")).await.unwrap();
    let [AnswerPiece::Text(text), AnswerPiece::Usage(usage), AnswerPiece::End(end)] = &pieces[..]
    else {
        panic!("{pieces:?}")
    };
    assert_eq!((&**text, usage.input, usage.output), ("Hello.", 10, 5));
    assert_eq!(*end, ModelStop::EndTurn);
    assert_eq!(fake.results(), [""; 0]);
}

#[tokio::test]
async fn a_server_on_this_machine_needs_neither_a_key_nor_a_model() {
    let script = [ChatReply::Call("add".to_owned(), json!({"a": 1}))];
    let fake = Chat::start(Dialect::ChatCompletions, script).local(["nomic-embed", "qwen"]);
    let engine = local(vec![1, fake.port()]);
    assert_eq!(engine.found_place(), None, "nothing is looked for before it is needed");
    assert_eq!(&*engine.default_model().await.unwrap(), "qwen");
    let place = format!("a model server at http://127.0.0.1:{}", fake.port());
    assert_eq!(engine.found_place(), Some(place));
    assert!(engine.is_free());
    let pieces = answer(&engine, call("Hi")).await.unwrap();
    let is_call =
        |piece: &AnswerPiece| matches!(piece, AnswerPiece::ToolUse { name, .. } if name == "add");
    assert!(pieces.iter().any(is_call), "{pieces:?}");
    assert_eq!(fake.bodies()[0]["max_tokens"], json!(null));
}

#[tokio::test]
async fn without_a_server_it_says_what_to_do() {
    let error = local(vec![1]).default_model().await.unwrap_err();
    assert!(error.text.contains("start one, such as Ollama, or set OPENAI_BASE_URL"), "{error}");
    let error = answer(&local(vec![]), call("Hi")).await.unwrap_err();
    assert_eq!(error.kind, EngineErrorKind::Refused);
}

#[tokio::test]
async fn a_server_without_tools_is_not_asked_again() {
    let said = json!({"error": {"message": "gemma does not support tools", "type": "api_error"}});
    let fake = Chat::start(Dialect::ChatCompletions, [ChatReply::Refuse(400, said)]);
    let error = answer(&engine(&fake.url(), Some("gemma")), call("Hi")).await.unwrap_err();
    assert_eq!((error.kind, error.status), (EngineErrorKind::Refused, Some(400)));
    assert!(error.text.contains("gemma does not support tools. It cannot use tools"), "{error}");
}

#[tokio::test]
async fn an_answer_without_its_end_is_cut() {
    let piece = json!({"choices": [{"index": 0, "delta": {"content": "Hel"}}]}).to_string();
    let script = [ChatReply::Raw(vec![piece])];
    let fake = Chat::start(Dialect::ChatCompletions, script);
    let error = answer(&engine(&fake.url(), Some("m")), call("Hi")).await.unwrap_err();
    assert_eq!(error.kind, EngineErrorKind::Cut);
}

/// A server that sends these bytes after its headers, and then hangs up or stays silent.
async fn raw_server(body: &'static [u8], hangs_up: bool) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 65536];
        assert!(stream.read(&mut request).await.unwrap() > 0);
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked";
        let begin = format!("{head}\r\n\r\n{:x}\r\n", body.len());
        stream.write_all(&[begin.as_bytes(), body, b"\r\n"].concat()).await.unwrap();
        if !hangs_up {
            std::future::pending::<()>().await;
        }
    });
    url
}

const WHOLE: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n\
                     data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";

#[tokio::test]
async fn a_server_that_hangs_up_or_falls_silent_after_the_answer_has_answered() {
    for hangs_up in [true, false] {
        let url = raw_server(WHOLE.as_bytes(), hangs_up).await;
        let pieces = answer(&engine(&url, Some("m")), call("Hi")).await.unwrap();
        assert!(matches!(&pieces[0], AnswerPiece::Text(text) if text == "Hi"), "{pieces:?}");
        let last = pieces.last().unwrap();
        assert!(matches!(last, AnswerPiece::End(ModelStop::EndTurn)), "{pieces:?}");
    }
    let part = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    let url = raw_server(part, true).await;
    let error = answer(&engine(&url, Some("m")), call("Hi")).await.unwrap_err();
    assert_eq!(error.kind, EngineErrorKind::Cut);
}

#[tokio::test]
async fn broken_characters_are_replaced() {
    let body = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xff\xc3b\"}}]}\n\n\
                 data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let url = raw_server(body, true).await;
    let pieces = answer(&engine(&url, Some("m")), call("Hi")).await.unwrap();
    let text = "a\u{fffd}\u{fffd}b";
    assert!(matches!(&pieces[0], AnswerPiece::Text(found) if found == text), "{pieces:?}");
}

#[tokio::test]
async fn a_server_says_once_how_it_wants_the_limit() {
    let said = json!({"error": {"message": "Unsupported parameter: 'max_tokens' is not supported \
        with this model. Use 'max_completion_tokens' instead.", "type": "invalid_request_error"}});
    let text = |text: &str| ChatReply::Text(text.to_owned());
    let script = [ChatReply::Refuse(400, said.clone()), text("One."), text("Two."), text("Three.")];
    let fake = Chat::start(Dialect::ChatCompletions, script);
    let engine = engine(&fake.url(), Some("m"));
    for _ in 0..2 {
        answer(&engine, call("Hi")).await.unwrap();
    }
    // Another model may want it in the usual way.
    answer(&engine, EngineCall { model: "n".into(), ..call("Hi") }).await.unwrap();
    let limits: Vec<[serde_json::Value; 2]> = fake
        .bodies()
        .iter()
        .map(|body| ["max_tokens", "max_completion_tokens"].map(|name| body[name].clone()))
        .collect();
    let (old, new) = ([json!(100), json!(null)], [json!(null), json!(100)]);
    assert_eq!(limits, [old.clone(), new.clone(), new, old]);
    // A server that refuses both is not asked for ever.
    let refuse = || ChatReply::Refuse(400, said.clone());
    let fake = Chat::start(Dialect::ChatCompletions, [refuse(), refuse(), refuse()]);
    let engine = self::engine(&fake.url(), Some("m"));
    assert!(answer(&engine, call("Hi")).await.is_err());
    assert_eq!(fake.bodies().len(), 2);
}

#[test]
fn addresses_lead_to_the_right_place() {
    let at = |base: &str| {
        let engine = engine(base, None);
        engine.server.get().unwrap().address("/chat/completions").to_string()
    };
    let right = "https://far.test/v1/chat/completions";
    for base in ["https://far.test", "https://far.test/", "https://far.test/v1/"] {
        assert_eq!(at(base), right);
    }
    assert_eq!(at(right), right);
    let other = "https://far.test/v1beta/openai";
    assert_eq!(at(other), format!("{other}/chat/completions"));
    let server = OpenAiServer::At { base_url: "far".to_owned(), key: None, proxy: None };
    let error = OpenAi::new(OpenAiSettings::new(server)).unwrap_err();
    assert!(error.contains("OPENAI_BASE_URL") && error.contains(API_URL), "{error}");
}

#[tokio::test]
async fn the_cloud_has_a_model_of_its_own() {
    let engine = engine(API_URL, None);
    assert_eq!(&*engine.default_model().await.unwrap(), CLOUD_MODEL);
    assert_eq!(engine.server.get().unwrap().limit, AnswerLimit::MaxCompletionTokens);
}

#[tokio::test]
async fn the_effort_is_a_part_of_the_request() {
    let replies = || ChatReply::Text("Hello.".to_owned());
    let fake = Chat::start(Dialect::ChatCompletions, [replies()]);
    let key = Some(ApiKey::new(API_KEY).unwrap());
    let server = OpenAiServer::At { base_url: fake.url(), key, proxy: None };
    let (model, effort) = (Some("m".to_owned()), Some(Effort::Max));
    let settings = OpenAiSettings { model, effort, ..OpenAiSettings::new(server) };
    answer(&OpenAi::new(settings).unwrap(), call("Hi")).await.unwrap();
    assert_eq!(fake.bodies()[0]["reasoning_effort"], "xhigh");
}

#[tokio::test]
async fn names_that_the_service_refuses_are_replaced_there_and_back() {
    let name = format!("a.{}", "x".repeat(70));
    let sent = format!("a_{}_43f50deca291", "x".repeat(49));
    let call = |messages: Vec<Arc<ChatMessage>>| {
        let spec = ToolSpec {
            name: name.clone().into(),
            input_schema: raw_json(&json!({
                "type": "object",
                "properties": {"$filter": {"type": "string"}},
                "required": ["$filter"],
            })),
            ..call("").tools[0].clone()
        };
        EngineCall { messages: messages.into(), tools: Arc::new([spec]), ..call("") }
    };
    let filter = "_filter_0c097d40d6b7";
    let used = ChatReply::Call(sent.clone(), json!({filter: "a eq 1"}));
    let fake = Chat::start(
        Dialect::ChatCompletions,
        [used.clone(), used, ChatReply::Text("b".to_owned())],
    );
    let asked = Arc::new(ChatMessage::user(vec![Block::text("Hi")]));
    let first = engine(&fake.url(), Some("m"));
    let pieces = answer(&first, call(vec![Arc::clone(&asked)])).await.unwrap();
    let Some(AnswerPiece::ToolUse { id, name: called, input, .. }) =
        pieces.iter().find(|piece| matches!(piece, AnswerPiece::ToolUse { .. }))
    else {
        panic!("{pieces:?}")
    };
    assert_eq!((called, input.get()), (&name, r#"{"$filter":"a eq 1"}"#));
    // Another process, which has read the conversation, sends the same.
    let (id, input) = (id.clone(), input.clone());
    let messages = vec![
        asked,
        Arc::new(ChatMessage::assistant(vec![Block::ToolUse {
            id: id.clone(),
            name: name.clone(),
            input,
        }])),
        Arc::new(ChatMessage::user(vec![Block::ToolResult {
            tool_use_id: id,
            content: "c".into(),
            is_error: false,
        }])),
    ];
    let again = engine(&fake.url(), Some("m"));
    answer(&again, call(messages.clone())).await.unwrap();
    let sent_again = fake.bodies()[1]["messages"][1]["tool_calls"][0]["function"].clone();
    assert_eq!(
        sent_again,
        json!({"name": sent, "arguments": format!(r#"{{"{filter}":"a eq 1"}}"#)})
    );
    // The tool is gone: its old calls are refused once, and sent in another form from then on.
    let gone = EngineCall { tools: super::tests::call("").tools, ..call(messages) };
    answer(&again, gone).await.unwrap();
    let tools = fake.bodies()[0]["tools"][0]["function"].clone();
    assert_eq!(
        (&tools["name"], &tools["parameters"]["required"]),
        (&json!(sent), &json!([filter]))
    );
}

#[tokio::test]
async fn a_tool_that_the_service_rejects_is_left_out_and_not_the_request() {
    let refuse = |message: &str, param: &str| {
        let error = json!({"message": message, "type": "invalid_request_error", "param": param});
        ChatReply::Refuse(400, json!({ "error": error }))
    };
    let text = || ChatReply::Text("b".to_owned());
    let fake = Chat::start(
        Dialect::ChatCompletions,
        [refuse("Invalid schema", "tools[1].function.parameters"), text(), text()],
    );
    let tool = |name: &'static str| ToolSpec { name: name.into(), ..call("").tools[0].clone() };
    let tools: Arc<[ToolSpec]> = Arc::new([tool("add"), tool("bad"), tool("subtract")]);
    let engine = engine(&fake.url(), Some("m"));
    for is_first in [true, false] {
        let pieces = answer(&engine, EngineCall { tools: Arc::clone(&tools), ..call("Hi") }).await;
        let pieces = pieces.unwrap();
        let rejected: Vec<&str> = pieces
            .iter()
            .filter_map(|piece| match piece {
                AnswerPiece::ToolRejected { tool, reason } if reason.contains("Invalid schema") => {
                    Some(tool.as_str())
                }
                _ => None,
            })
            .collect();
        assert_eq!(rejected, if is_first { vec!["bad"] } else { vec![] }, "{pieces:?}");
        assert!(matches!(pieces.last(), Some(AnswerPiece::End(_))), "{pieces:?}");
        let sent = fake.bodies().last().unwrap()["tools"].to_string();
        assert!(sent.contains("subtract") && !sent.contains("bad"), "{sent}");
    }
    // Anything else that is refused stays refused.
    let fake = Chat::start(Dialect::ChatCompletions, [refuse("No such thing", "messages[1]")]);
    let engine = super::tests::engine(&fake.url(), Some("m"));
    assert_eq!(answer(&engine, call("Hi")).await.unwrap_err().kind, EngineErrorKind::Refused);
}
