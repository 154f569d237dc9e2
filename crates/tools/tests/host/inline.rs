//! The host as an MCP server inside the process.

use std::sync::Arc;

use callgate_tools::{Host, NoArguments, Tool};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};

use crate::fixture::hello;

fn call(id: u64, name: &str) -> String {
    let params = json!({"name": name, "arguments": {}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

fn text(reply: Option<String>) -> String {
    let reply: Value = serde_json::from_str(&reply.expect("an answer")).unwrap();
    reply["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn it_lists_calls_and_refuses_like_the_bridge() {
    let inline = Host::new([hello()]).unwrap().inline().unwrap();
    let list = inline.answer(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await.unwrap();
    assert!(list.contains(r#""name":"hello""#), "{list}");
    assert_eq!(text(inline.answer(&call(2, "hello")).await), "hello");
    assert!(inline.answer(&call(3, "none")).await.unwrap().contains("-32602"));
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(inline.answer(initialized).await, None);
}

#[tokio::test]
async fn a_cancelled_call_gets_no_answer_and_calls_of_one_id_each_get_theirs() {
    let release = Arc::new(Notify::new());
    let (entered, mut is_entered) = mpsc::channel(4);
    let released = Arc::clone(&release);
    let waits = Tool::new("waits", "Waits.", move |_: NoArguments, _| {
        let (released, entered) = (Arc::clone(&released), entered.clone());
        async move {
            entered.send(()).await.unwrap();
            released.notified().await;
            "released"
        }
    });
    let inline = Arc::new(Host::new([waits]).unwrap().inline().unwrap());
    let start = |id: u64| {
        let inline = Arc::clone(&inline);
        tokio::spawn(async move { inline.answer(&call(id, "waits")).await })
    };
    let cancelled = start(1);
    is_entered.recv().await.unwrap();
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(inline.answer(cancel).await, None);
    assert_eq!(cancelled.await.unwrap(), None);
    let twins = [start(2), start(2)];
    is_entered.recv().await.unwrap();
    is_entered.recv().await.unwrap();
    release.notify_waiters();
    for twin in twins {
        assert_eq!(text(twin.await.unwrap()), "released");
    }
}
