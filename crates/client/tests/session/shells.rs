//! The client and programs that are no runtimes.

use std::path::PathBuf;
use std::time::Duration;

use callgate_client::{
    Client, ClientError, ClientSettings, RestartBackOff, RuntimeState, WatchStart, WatchedItem,
};

use super::{assert_died, check, death, rest, say};

const READY: &str = r#"echo '{"type":"ready","timestamp":1}'"#;

fn shell<F: Future<Output = ()>>(script: &str, test: impl FnOnce(ClientSettings, PathBuf) -> F) {
    check(test, &["/bin/sh", "-c", &script.replace("READY", READY)]);
}

async fn is_ready(client: &Client) {
    let is_ready = |seen: &WatchedItem| {
        matches!(seen, WatchedItem::State(RuntimeState::Ready(_))).then_some(())
    };
    client.watch(WatchStart::Oldest).wait_for_item(is_ready).await.unwrap();
}

#[test]
fn a_program_that_is_not_there_is_named() {
    check(
        |mut settings, _| async move {
            settings.back_off = RestartBackOff { most_restarts: Some(1), ..settings.back_off };
            let client = Client::start(settings).unwrap();
            let (_, end) = say(&client, "hello").await;
            let reason = "the runtime /nowhere/runtime cannot be started: No such file";
            assert!(end.starts_with(reason), "{end}");
            let mut watch = client.watch(WatchStart::Oldest);
            for _ in 0..2 {
                assert!(death(&mut watch).await.1.starts_with(reason));
            }
            let (_, end) = say(&client, "hello").await;
            assert!(end.starts_with("the runtime has died 2 times in a row"), "{end}");
        },
        &["/nowhere/runtime"],
    );
}

#[test]
fn the_process_is_started_as_the_settings_say() {
    let script = r#"[ "$(pwd -P)" = "$(cd "$FOLDER" && pwd -P)" ] && [ -z "$HOME" ] && [ "$ADDED" = 1 ] && READY; read line"#;
    shell(script, |mut settings, folder| async move {
        settings.cwd = Some(folder);
        settings.env.extend([("HOME".into(), None), ("ADDED".into(), Some("1".into()))]);
        is_ready(&Client::start(settings).unwrap()).await;
    });
}

#[test]
fn one_that_is_never_ready_is_replaced() {
    shell("sleep 1000", |mut settings, _| async move {
        settings.start = Duration::from_millis(50);
        let client = Client::start(settings).unwrap();
        let mut watch = client.watch(WatchStart::Oldest);
        let (_, end) = say(&client, "hello").await;
        assert!(end.starts_with("the runtime did not become ready"), "{end}");
        assert!(death(&mut watch).await.1.starts_with("the runtime did not become"));
    });
}

#[test]
fn one_that_closes_its_output_is_replaced() {
    shell("READY; read line; exec >&-; sleep 1000", |settings, _| async move {
        let client = Client::start(settings).unwrap();
        let (_, end) = say(&client, "hello").await;
        assert!(end.starts_with("the runtime has closed its pipes"), "{end}");
        let (_, end) = say(&client, "hello").await;
        assert!(end.starts_with("the runtime has closed its pipes"), "{end}");
    });
}

#[test]
fn one_that_closes_its_input_is_replaced() {
    shell("exec <&-; READY; sleep 1000", |settings, _| async move {
        let client = Client::start(settings).unwrap();
        let (_, end) = say(&client, "hello").await;
        assert!(end.starts_with("the runtime has closed its pipes"), "{end}");
    });
}

#[test]
fn a_grandchild_that_holds_the_pipe_holds_up_nobody() {
    let script = "READY; read line; setsid sleep 1000 & sleep 0.1; kill -KILL $$";
    shell(script, |settings, _| async move {
        let client = Client::start(settings).unwrap();
        let (_, end) = say(&client, "hello").await;
        assert_died(&end);
    });
}

#[test]
fn one_that_does_not_read_keeps_nobody_for_ever() {
    shell("READY; sleep 1000", |mut settings, _| async move {
        settings.taken = Duration::from_millis(500);
        let client = Client::start(settings).unwrap();
        is_ready(&client).await;
        // More than the pipe holds.
        let mut first = client.user_message("x".repeat(1_000_000)).await;
        let mut second = client.user_message("hello").await;
        assert!(rest(&mut first).await.1.contains("did not read the request within 500 ms"));
        assert!(rest(&mut second).await.1.contains("did not read the request within 500 ms"));
    });
}

#[test]
fn one_that_does_not_end_by_itself_gets_a_signal() {
    let script = "trap 'echo > $FOLDER/asked; exit 0' TERM; READY; while :; do sleep 0.05; done";
    shell(script, |settings, folder| async move {
        let client = Client::start(settings).unwrap();
        is_ready(&client).await;
        client.close().await;
        assert!(folder.join("asked").exists());
    });
}

#[test]
fn one_that_does_not_heed_it_is_killed_with_its_children() {
    let script = "trap '' TERM; setsid sleep 1000 & READY; while :; do sleep 0.05; done";
    shell(script, |settings, _| async move {
        let client = Client::start(settings).unwrap();
        is_ready(&client).await;
        let request = client.user_message("hello").await;
        client.close().await;
        assert_eq!(rest(&mut { request }).await.1, "the session is closed");
    });
}

#[test]
fn an_old_runtime_without_extensions_works() {
    let answer = r#"read line; id=$(echo "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
        case $line in *get_status*) what='"type":"status","data":{"state":"idle","conversationLength":3,"uptime":1}';;
        *) what='"type":"done"';; esac
        echo "{$what,\"id\":\"$id\",\"timestamp\":1}""#;
    let script = format!("READY; while :; do {answer}; done");
    shell(&script, |settings, _| async move {
        let client = Client::start(settings).unwrap();
        assert_eq!(say(&client, "hello").await.1, "done");
        assert_eq!(client.status().await.unwrap().conversation_length, 3);
        let error = client.conversations(None, None).await.unwrap_err();
        assert_eq!(error, ClientError::NotOffered { kind: "list_conversations" });
    });
}
