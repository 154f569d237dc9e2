//! The official Rust SDK's client, in both its eras.

use std::sync::mpsc::{Receiver, Sender, channel};

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ErrorCode,
    ProgressNotificationParam, ProtocolVersion, ServerResult,
};
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, PeerRequestOptions, RequestHandle, RoleClient,
    RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ServiceError};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::fixture::{DEADLINE, Fixture, ODD_TEXT, PIXEL, TOGETHER};

type Client = RunningService<RoleClient, Progress>;

/// Passes progress on to the test.
struct Progress(Sender<ProgressNotificationParam>);

impl ClientHandler for Progress {
    async fn on_progress(
        &self,
        news: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.send(news).ok();
    }
}

fn eras() -> [ClientLifecycleMode; 3] {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover { preferred_versions: preferred_versions.clone() },
        ClientLifecycleMode::Auto { preferred_versions, legacy_version: None },
    ]
}

async fn connect(
    fixture: &Fixture,
    era: ClientLifecycleMode,
) -> (Client, Receiver<ProgressNotificationParam>) {
    let bridge = fixture.bridge();
    let mut command = Command::new(bridge.program);
    command.args(bridge.arguments);
    let transport = TokioChildProcess::new(command).unwrap();
    let (sender, news) = channel();
    let client = serve_client_with_lifecycle(Progress(sender), transport, era);
    let client = tokio::time::timeout(DEADLINE, client).await.expect("an answer in time");
    (client.expect("a connection"), news)
}

fn params(tool: &'static str, arguments: &Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone())
}

/// Calls a tool and gives MCP's JSON.
async fn call(client: &Client, tool: &'static str, arguments: Value) -> Value {
    let answer = client.call_tool(params(tool, &arguments));
    let answer = tokio::time::timeout(DEADLINE, answer).await.expect("an answer in time");
    serde_json::to_value(answer.expect("a result")).unwrap()
}

async fn echo(client: &Client, text: &str) {
    assert_eq!(call(client, "echo", json!({"text": text})).await["content"][0]["text"], text);
}

/// Sends a call without waiting for its answer.
async fn begin(client: &Client, tool: &'static str, arguments: Value) -> RequestHandle<RoleClient> {
    let call = ClientRequest::CallToolRequest(CallToolRequest::new(params(tool, &arguments)));
    client.send_cancellable_request(call, PeerRequestOptions::no_options()).await.unwrap()
}

async fn finish(handle: RequestHandle<RoleClient>) -> Value {
    let answer = tokio::time::timeout(DEADLINE, handle.await_response()).await;
    match answer.expect("an answer in time") {
        Ok(ServerResult::CallToolResult(result)) => text(&result),
        other => panic!("not a tool's result: {other:?}"),
    }
}

fn text(result: &CallToolResult) -> Value {
    serde_json::to_value(result).unwrap()["content"][0]["text"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tool_is_listed() {
    let fixture = Fixture::sequential();
    for era in eras() {
        let (client, _) = connect(&fixture, era).await;
        let tools = client.list_all_tools().await.unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, fixture.names());
        let read_only: Vec<bool> =
            tools.iter().filter_map(|tool| tool.annotations.as_ref()?.read_only_hint).collect();
        assert_eq!(read_only, [true]);
        client.cancel().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_give_their_results_and_their_errors() {
    let fixture = Fixture::sequential();
    for era in eras() {
        let (client, _) = connect(&fixture, era).await;
        echo(&client, ODD_TEXT).await;
        let failed = call(&client, "fail", json!({"text": "no such day"})).await;
        assert_eq!(failed["isError"], true);
        assert_eq!(failed["content"][0]["text"], "ValueError: no such day");
        let point = call(&client, "structured", json!({"x": 1, "y": -2})).await;
        assert_eq!(point["structuredContent"], json!({"x": -1, "y": 2}));
        let picture = call(&client, "picture", json!({})).await;
        assert_eq!(picture["content"][1]["data"], PIXEL);
        let size = 5 * 1024 * 1024;
        let big = call(&client, "big", json!({"bytes": size})).await;
        assert_eq!(big["content"][0]["text"].as_str().unwrap().len(), size);
        client.cancel().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_tool_is_a_protocol_error() {
    let fixture = Fixture::sequential();
    for era in eras() {
        let (client, _) = connect(&fixture, era).await;
        match client.call_tool(params("nobody", &json!({}))).await {
            Err(ServiceError::McpError(error)) => {
                assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
                assert!(error.message.ends_with("unknown tool: nobody"), "{error:?}");
            }
            other => panic!("not an error: {other:?}"),
        }
        echo(&client, "still here").await;
        client.cancel().await.unwrap();
    }
}

/// The second call cannot have been answered with the first one's answer: the first waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_calls_at_once_get_their_own_answers() {
    for (fixture, is_parallel) in [(Fixture::sequential(), false), (Fixture::parallel(), true)] {
        for era in eras() {
            let (client, _) = connect(&fixture, era).await;
            let slow = begin(&client, "slow", json!({"text": "first"})).await;
            fixture.calls.wait_for(1, 0);
            let quick = begin(&client, "echo", json!({"text": "second"})).await;
            if is_parallel {
                assert_eq!(finish(quick).await, "second");
                fixture.calls.release();
                assert_eq!(finish(slow).await, "first");
            } else {
                fixture.calls.release();
                assert_eq!(finish(slow).await, "first");
                assert_eq!(finish(quick).await, "second");
            }
            client.cancel().await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_cancelled_call_the_next_is_right() {
    for fixture in [Fixture::sequential(), Fixture::parallel()] {
        for (before, era) in eras().into_iter().enumerate() {
            let (client, _) = connect(&fixture, era).await;
            let slow = begin(&client, "slow", json!({"text": "too late"})).await;
            fixture.calls.wait_for(1, before);
            let waiting = begin(&client, "echo", json!({"text": "beside it"})).await;
            slow.cancel(Some("changed my mind".to_owned())).await.unwrap();
            fixture.calls.wait_for(0, before + 1);
            assert_eq!(finish(waiting).await, "beside it");
            echo(&client, "after it").await;
            client.cancel().await.unwrap();
        }
    }
}

/// None of these calls returns before all are inside the host.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_only_tools_run_in_parallel() {
    let fixture = Fixture::parallel();
    for era in eras() {
        let (client, _) = connect(&fixture, era).await;
        let mut calls = Vec::new();
        for number in 0..TOGETHER {
            calls.push((
                number,
                begin(&client, "ro_wait", json!({"text": number.to_string()})).await,
            ));
        }
        for (number, call) in calls {
            assert_eq!(finish(call).await, number.to_string());
        }
        client.cancel().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_comes_while_the_call_runs() {
    let fixture = Fixture::sequential();
    for era in eras() {
        let (client, news) = connect(&fixture, era).await;
        let call = begin(&client, "report", json!({})).await;
        let mut seen: Vec<_> = (0..3).map(|_| news.recv_timeout(DEADLINE).unwrap()).collect();
        // This client handles each piece of news in a task of its own, in any order.
        seen.sort_by(|one, other| one.progress.total_cmp(&other.progress));
        assert!(seen.iter().all(|report| report.progress_token == call.progress_token));
        let messages: Vec<_> = seen.iter().map(|report| report.message.as_deref()).collect();
        assert_eq!(messages, [Some("one"), Some("zwei ü"), None]);
        fixture.calls.release();
        assert_eq!(finish(call).await, "reported");
        client.cancel().await.unwrap();
    }
}

/// Nobody says goodbye here: the transport is just dropped, as by a client that crashes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_vanishes_cancels_its_call() {
    let fixture = Fixture::sequential();
    for (before, era) in eras().into_iter().enumerate() {
        let (client, _) = connect(&fixture, era).await;
        let _call = begin(&client, "slow", json!({"text": "nobody hears"})).await;
        fixture.calls.wait_for(1, before);
        drop(client);
        fixture.calls.wait_for(0, before + 1);
    }
}

/// The host goes first: the call under way and all later ones fail with a reason.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_vanishes_fails_its_calls() {
    for era in eras() {
        let mut fixture = Fixture::sequential();
        let (client, _) = connect(&fixture, era).await;
        let call = begin(&client, "slow", json!({"text": "never"})).await;
        fixture.calls.wait_for(1, 0);
        fixture.stop_host();
        let failed = finish(call).await;
        assert!(failed.as_str().unwrap().starts_with("IPCConnectionError: "), "{failed}");
        let later = self::call(&client, "echo", json!({"text": "hello?"})).await;
        assert_eq!(later["isError"], true);
        client.cancel().await.unwrap();
    }
}
