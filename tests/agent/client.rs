//! The session client with the real runtime.

use callgate_client::{
    Client, ClientError, ClientSettings, RequestEvent, RuntimeState, WatchStart, WatchedItem,
};
use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::process::DEADLINE;
use callgate_wire::approval::{Action, Press};
use callgate_wire::session::{ConversationEvents, LoadAs, SessionCommand, SessionEvent, TurnEnd};
use serde_json::json;
use tokio::time::timeout;

use crate::fixture::Setup;

fn settings(setup: &Setup) -> ClientSettings {
    let command = setup.command();
    let own = |(name, value): (&std::ffi::OsStr, Option<&std::ffi::OsStr>)| {
        (name.to_owned(), value.map(std::ffi::OsStr::to_owned))
    };
    // What the test itself was started with is none of the runtime's business.
    let inherited = std::env::vars_os().map(|(name, _)| (name, None));
    ClientSettings {
        env: inherited.chain(command.get_envs().map(own)).collect(),
        cwd: Some(setup.work()),
        ..ClientSettings::new(command.get_program()).arg("agent")
    }
}

/// The words of an answer, and its end.
async fn read(mut request: callgate_client::SentRequest) -> (String, Option<SessionEvent>) {
    let (mut words, mut end) = (String::new(), None);
    while let Some(happened) = timeout(DEADLINE, request.next()).await.unwrap() {
        let RequestEvent::Said(reply) = happened else { return (words, None) };
        match &reply.event {
            SessionEvent::Token(text) => words.push_str(text),
            event if event.is_end() => end = Some(event.clone()),
            _ => {}
        }
    }
    (words, end)
}

#[tokio::test]
async fn a_front_end_talks_answers_questions_and_cancels() {
    let fake = Messages::start([
        Turn::text("Hello."),
        Turn::tool_use("write_file", json!({"path": "a.txt", "content": "hi"})),
        Turn::text("Written."),
        Turn::text("Never ending").pieces(5).stall_after(6),
    ]);
    let setup = Setup::on(&fake);
    let client = Client::start(settings(&setup)).unwrap();
    let (words, end) = read(client.user_message("hello").await).await;
    assert_eq!(words, "Hello.");
    let end: TurnEnd = end.unwrap().done_data().unwrap();
    assert_eq!(end.stop_reason, "end_turn");

    let mut request = client.user_message("write it").await;
    while let Some(happened) = timeout(DEADLINE, request.next()).await.unwrap() {
        let RequestEvent::Said(reply) = happened else { panic!("{happened:?}") };
        if let SessionEvent::PermissionRequest(asked) = &reply.event {
            // A page behind this front end that was loaded anew has no more than the status.
            let status = client.status().await.unwrap();
            assert_eq!(status.requests.unwrap()[0].id, request.id());
            let open = &status.questions.unwrap()[0].data;
            assert_eq!(open.question, asked.question);
            let diff = open.diff.as_deref().unwrap();
            assert!(diff.contains("+hi") && open.deadline.is_some(), "{open:?}");
            assert_eq!(open.can_allow_always, Some(true));
            client.answer(&open.question, Press::Button(Action::Allow)).await.unwrap();
        }
    }
    assert!(setup.work().join("a.txt").exists());

    let conversation = client.status().await.unwrap().conversation_id.unwrap();
    let (limit, before, load_as) = (None, None, LoadAs::Events);
    let load = SessionCommand::LoadConversation {
        conversation_id: conversation.clone(),
        limit,
        before,
        load_as,
    };
    let mut past = client.send(load).await;
    let mut told = Vec::new();
    while let Some(happened) = timeout(DEADLINE, past.next()).await.unwrap() {
        let RequestEvent::Said(reply) = happened else { panic!("{happened:?}") };
        told.push(reply.event.clone());
    }
    let kinds: Vec<&str> = told.iter().map(SessionEvent::kind).collect();
    let (said, used) = ("user_message", ["tool_use", "tool_result"]);
    assert_eq!(kinds, [said, "token", said, used[0], used[1], "token", "turn_changes", "done"]);
    let loaded: ConversationEvents = told.last().unwrap().done_data().unwrap();
    assert_eq!((loaded.conversation_id, loaded.first, loaded.length), (conversation, 0, 6));

    let mut request = client.user_message("go on").await;
    while let Some(RequestEvent::Said(reply)) = timeout(DEADLINE, request.next()).await.unwrap() {
        if matches!(reply.event, SessionEvent::Token(_)) {
            break;
        }
    }
    request.cancel();
    let end = timeout(DEADLINE, request.wait_for_end()).await.unwrap().unwrap();
    assert_eq!(end.event.done_data::<TurnEnd>().unwrap().stop_reason, "cancelled");
    assert_eq!(client.status().await.unwrap().state, "idle");
    timeout(DEADLINE, client.close()).await.unwrap();
}

#[tokio::test]
async fn a_runtime_that_is_killed_fails_what_is_open_and_is_started_again() {
    let fake = Messages::start([
        Turn::text("Half an answer").pieces(5).stall_after(6),
        Turn::text("Back."),
    ]);
    let setup = Setup::on(&fake);
    let client = Client::start(settings(&setup)).unwrap();
    let mut watch = client.watch(WatchStart::Oldest);
    let mut request = client.user_message("hello").await;
    while let Some(RequestEvent::Said(reply)) = timeout(DEADLINE, request.next()).await.unwrap() {
        if matches!(reply.event, SessionEvent::Token(_)) {
            break;
        }
    }
    kill(&setup);
    let failed = timeout(DEADLINE, request.wait_for_end()).await.unwrap();
    assert!(matches!(failed, Err(ClientError::Died { .. })), "{failed:?}");
    let (words, _) = read(client.user_message("and now?").await).await;
    assert_eq!(words, "Back.");
    let ready = |seen: &WatchedItem| {
        matches!(seen, WatchedItem::State(RuntimeState::Ready(_))).then_some(())
    };
    for _ in 0..2 {
        timeout(DEADLINE, watch.wait_for_item(ready)).await.unwrap().unwrap();
    }
    timeout(DEADLINE, client.close()).await.unwrap();
}

/// Kills the runtime that works in this setup's folder.
fn kill(setup: &Setup) {
    let work = setup.work().canonicalize().unwrap();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        let cwd = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        if cwd == work && pid != i32::try_from(std::process::id()).unwrap() {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
    }
}
