//! The host as an MCP server inside the process.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context as Task, Poll, Waker};

use callgate_tools::{CallContext, Host, InlineServer, NoArguments, Tool, ToolContent, ToolOutput};
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, mpsc};
use tokio::task::{JoinHandle, JoinSet};

use crate::fixture::hello;

fn call(id: u64, name: &str) -> String {
    let params = json!({"name": name, "arguments": {}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// Answers without a wish to be told of progress.
async fn answer(inline: &InlineServer, message: &str) -> Option<String> {
    inline.answer(message, |news| panic!("{news}")).await
}

fn text(reply: Option<String>) -> String {
    let reply: Value = serde_json::from_str(&reply.expect("an answer")).unwrap();
    reply["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn it_lists_calls_and_refuses_like_the_bridge() {
    let inline = Host::new([hello()]).unwrap().inline().unwrap();
    let list = answer(&inline, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await.unwrap();
    assert!(list.contains(r#""name":"hello""#), "{list}");
    assert_eq!(text(answer(&inline, &call(2, "hello")).await), "hello");
    assert!(answer(&inline, &call(3, "none")).await.unwrap().contains("-32602"));
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(answer(&inline, initialized).await, None);
}

/// A tool that tells when it is entered and stays until it is released.
fn waits() -> (Tool, mpsc::Receiver<()>, Arc<Notify>) {
    let release = Arc::new(Notify::new());
    let (entered, is_entered) = mpsc::channel(4);
    let released = Arc::clone(&release);
    let waits = Tool::new("waits", "Waits.", move |_: NoArguments, _| {
        let (released, entered) = (Arc::clone(&released), entered.clone());
        async move {
            entered.send(()).await.unwrap();
            released.notified().await;
            "released"
        }
    });
    (waits, is_entered, release)
}

fn start(inline: &Arc<InlineServer>, id: u64) -> JoinHandle<Option<String>> {
    let inline = Arc::clone(inline);
    tokio::spawn(async move { answer(&inline, &call(id, "waits")).await })
}

fn cancel(id: u64) -> String {
    let params = json!({"requestId": id});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string()
}

#[tokio::test]
async fn a_cancelled_call_gets_no_answer_and_calls_of_one_id_each_get_theirs() {
    let (waits, mut entered, release) = waits();
    let inline = Arc::new(Host::new([waits]).unwrap().connections(2).inline().unwrap());
    let cancelled = start(&inline, 1);
    entered.recv().await.unwrap();
    assert_eq!(answer(&inline, &cancel(1)).await, None);
    assert_eq!(cancelled.await.unwrap(), None);
    let twins = [start(&inline, 2), start(&inline, 2)];
    entered.recv().await.unwrap();
    entered.recv().await.unwrap();
    release.notify_waiters();
    for twin in twins {
        assert_eq!(text(twin.await.unwrap()), "released");
    }
}

/// As through a bridge, calls go one after the other unless more connections are offered.
#[tokio::test]
async fn calls_wait_for_their_turn() {
    let (waits, mut entered, release) = waits();
    let inline = Arc::new(Host::new([waits]).unwrap().inline().unwrap());
    let first = start(&inline, 1);
    entered.recv().await.unwrap();
    let mut others = JoinSet::new();
    for id in 2..=3 {
        let inline = Arc::clone(&inline);
        others.spawn(async move { answer(&inline, &call(id, "waits")).await });
    }
    // Whatever else is asked meanwhile is answered at once.
    answer(&inline, r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#).await.unwrap();
    assert!(entered.try_recv().is_err());
    answer(&inline, &cancel(1)).await;
    assert_eq!(first.await.unwrap(), None);
    for _ in 0..2 {
        entered.recv().await.unwrap();
        assert!(entered.try_recv().is_err());
        release.notify_one();
        assert_eq!(text(others.join_next().await.unwrap().unwrap()), "released");
    }
}

/// What comes of a future that is looked at once.
fn poll_once<F: Future>(future: &mut Pin<Box<F>>) -> Option<F::Output> {
    match future.as_mut().poll(&mut Task::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// One more than may wait is refused, and harms none of them.
#[tokio::test]
async fn too_many_calls_are_refused() {
    let (waits, mut entered, _release) = waits();
    let inline = Host::new([waits]).unwrap().inline().unwrap();
    let large = |id: u64| {
        let text = "x".repeat(7_000_000);
        call(id, "waits").replace(r#""arguments":{}"#, &format!(r#""arguments":{{"x":"{text}"}}"#))
    };
    assert!(large(0).len() > 7_000_000, "{}", call(0, "waits"));
    // One has the turn, and the others wait for theirs.
    let calls = std::iter::once(call(0, "waits")).chain((1..10).map(large));
    let mut open: Vec<_> = calls
        .map(|call| {
            let inline = &inline;
            Box::pin(async move { answer(inline, &call).await })
        })
        .collect();
    for call in &mut open {
        assert!(poll_once(call).is_none());
    }
    entered.recv().await.unwrap();
    let refused = text(answer(&inline, &large(10)).await);
    assert!(refused.starts_with("IPCConnectionError: too many calls are waiting"), "{refused}");
    drop(open.pop());
    let mut next = Box::pin(async { answer(&inline, &call(257, "waits")).await });
    assert!(poll_once(&mut next).is_none(), "there is room again");
}

#[tokio::test]
async fn progress_is_told_before_the_answer() {
    let reports =
        Tool::new("reports", "Reports.", |_: NoArguments, context: CallContext| async move {
            context.report(0.25, Some(1.0), Some("a quarter"));
            context.report(0.25, None, Some("no more than before"));
            context.report(0.5, None, None);
            "done"
        });
    let inline = Host::new([reports]).unwrap().inline().unwrap();
    let told = Mutex::new(Vec::new());
    let params = json!({"name": "reports", "_meta": {"progressToken": "p"}});
    let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let tell = |news: String| told.lock().unwrap().push(news);
    assert_eq!(text(inline.answer(&asked.to_string(), tell).await), "done");
    let told = told.into_inner().unwrap();
    assert_eq!(
        told,
        [
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":\
             {\"progressToken\":\"p\",\"progress\":0.25,\"total\":1.0,\"message\":\"a quarter\"}}\n",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":\
             {\"progressToken\":\"p\",\"progress\":0.5}}\n",
        ]
    );
    // One who did not ask for it is told nothing.
    assert_eq!(text(answer(&inline, &call(2, "reports")).await), "done");
}

/// A tool that asks which day, and tells what was answered.
fn asks() -> Tool {
    Tool::new("asks", "Asks which day.", |_: NoArguments, context: CallContext| async move {
        if let Some((answers, state)) = context.input_responses().zip(context.request_state()) {
            return ToolOutput::items([ToolContent::text(format!("{state}: {answers}"))]);
        }
        let question = json!({"method": "elicitation/create", "params": {"message": "When?"}});
        ToolOutput::asks(Map::from_iter([("day".to_owned(), question)]), "step 1")
    })
}

#[tokio::test]
async fn a_tool_may_ask_its_user() {
    let inline = Host::new([asks()]).unwrap().inline().unwrap();
    let modern = |more: &Value| {
        let mut params = json!({"name": "asks", "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
    };
    let asked = answer(&inline, &modern(&json!({}))).await.unwrap();
    let asked: Value = serde_json::from_str(&asked).unwrap();
    assert_eq!(asked["result"]["resultType"], "input_required");
    assert_eq!(asked["result"]["inputRequests"]["day"]["params"]["message"], "When?");
    let retry = json!({
        "inputResponses": {"day": {"action": "accept"}},
        "requestState": asked["result"]["requestState"],
    });
    let told = text(answer(&inline, &modern(&retry)).await);
    assert_eq!(told, r#"step 1: {"day":{"action":"accept"}}"#);
    let refused = text(answer(&inline, &call(2, "asks")).await);
    assert!(refused.contains("the tool asks its user something"), "{refused}");
}
