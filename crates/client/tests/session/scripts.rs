//! The client and a runtime that does what it is told.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_client::{
    Client, ClientError, ClientSettings, RequestEvent, RuntimeState, SentRequest, StderrTarget,
    WatchStart, WatchedItem,
};
use callgate_testkit::until::until;
use callgate_wire::approval::Press;
use callgate_wire::session::{
    Attachment, ConversationCreated, ConversationEvents, ConversationMessages, LoadAs,
    SessionCommand, SessionEvent, UserMessage, request_state,
};

use super::{assert_died, check, death, rest, runtime, say, signal, token};

fn scripted<F: Future<Output = ()>>(test: impl FnOnce(ClientSettings, PathBuf) -> F) {
    let program = runtime::program();
    check(test, &program.iter().map(String::as_str).collect::<Vec<_>>());
}

fn load_command(conversation: &str, limit: Option<u32>, load_as: LoadAs) -> SessionCommand {
    let conversation_id = conversation.to_owned();
    SessionCommand::LoadConversation { conversation_id, limit, before: None, load_as }
}

async fn say_in(client: &Client, conversation: &str, text: &str) -> SentRequest {
    let metadata = serde_json::json!({ "conversationId": conversation });
    let metadata = serde_json::value::to_raw_value(&metadata).ok();
    client
        .send(SessionCommand::UserMessage(UserMessage { metadata, ..UserMessage::new(text) }))
        .await
}

fn done(text: &str) -> (String, String) {
    (text.to_owned(), "done".to_owned())
}

#[test]
fn messages_errands_and_the_end() {
    scripted(|settings, folder| async move {
        let client = Client::start(settings).unwrap();
        assert_eq!(say(&client, "say hello").await, done("hello"));
        assert_eq!(say(&client, "nonsense").await.1, "what?");
        assert_eq!(client.status().await.unwrap().uptime, 7);
        let created: ConversationCreated = client
            .request_data(SessionCommand::NewConversation { conversation_id: None, title: None })
            .await
            .unwrap();
        assert_eq!(created.conversation_id, "new");
        assert_eq!(client.conversations(Some(3), None).await.unwrap().conversations, []);
        let (id, title) = ("new".to_owned(), "title".to_owned());
        let rename = SessionCommand::RenameConversation { conversation_id: id.clone(), title };
        client.request(rename).await.unwrap();
        client.request(SessionCommand::ClearHistory { metadata: None }).await.unwrap();
        let delete = SessionCommand::DeleteConversation { conversation_id: id };
        assert_eq!(client.request(delete).await.unwrap_err().to_string(), "no such thing");
        let load = load_command("new", None, LoadAs::Messages);
        let unexpected = client.request_data::<ConversationMessages>(load).await.unwrap_err();
        assert_eq!(unexpected, ClientError::Unexpected { kind: "load_conversation" });
        let mut request = client.user_message("pid").await;
        token(&mut request).await;
        request.cancel();
        assert_eq!(rest(&mut request).await, done(""));
        client.close().await;
        assert!(folder.join("ended").exists(), "it had the time to end by itself");
    });
}

#[test]
fn what_is_open_is_known_files_are_sent_and_the_past_comes_as_events() {
    scripted(|settings, _| async move {
        let client = Client::start(settings).unwrap();
        let status = client.status().await.unwrap();
        let request = &status.requests.unwrap()[0];
        assert_eq!((request.state.as_str(), request.from_seq), (request_state::WORKING, 4));
        let question = &status.questions.unwrap()[0];
        assert_eq!((question.id.as_str(), question.timestamp), ("1", 5));
        let asked = &question.data;
        assert_eq!((asked.can_allow_always, asked.deadline), (Some(true), Some(9)));
        assert_eq!(asked.diff.as_deref(), Some("+a\n"));
        client.answer(&asked.question, Press::Words("not there".to_owned())).await.unwrap();

        let inline = Attachment::Inline {
            data: "aGk=".to_owned(),
            mime: "image/png".to_owned(),
            name: Some("a.png".to_owned()),
        };
        let file = Attachment::File { path: "/b".to_owned(), mime: "text/plain".to_owned() };
        let mut request = client.user_message_with("see", vec![inline, file]).await;
        let told = "[image/png Some(\"a.png\"): aGk=][text/plain at /b]";
        assert_eq!(rest(&mut request).await, done(told));

        let mut request = client.send(load_command("c", Some(3), LoadAs::Events)).await;
        let mut kinds = Vec::new();
        while let Some(RequestEvent::Said(reply)) = request.next().await {
            kinds.push(reply.event.kind());
            match &reply.event {
                SessionEvent::ToolUse(call) => {
                    assert_eq!(call.kind.as_deref(), Some("read"));
                    assert_eq!(call.locations.as_ref().unwrap()[0].line, Some(7));
                }
                SessionEvent::UserMessage(said) => assert_eq!(said.message, "look"),
                event if event.is_end() => {
                    let loaded: ConversationEvents = event.done_data().unwrap();
                    assert_eq!((loaded.conversation_id.as_str(), loaded.length), ("c", 3));
                }
                _ => {}
            }
        }
        assert_eq!(kinds, ["user_message", "tool_use", "tool_result", "token", "done"]);
    });
}

#[test]
fn a_runtime_that_is_killed_is_replaced_and_nobody_waits() {
    scripted(|settings, _| async move {
        let client = Client::start(settings).unwrap();
        let mut watch = client.watch(WatchStart::Now);
        for life in 1..4_u64 {
            let mut one = say_in(&client, "one", "pid").await;
            let mut other = say_in(&client, "other", "hang").await;
            let pid = token(&mut one).await;
            signal("-KILL", &pid);
            assert_died(&rest(&mut one).await.1);
            assert_died(&rest(&mut other).await.1);
            let (status, _, _) = death(&mut watch).await;
            assert_eq!(status.unwrap().signal(), Some(9));
            assert_eq!(say(&client, "say back").await, done("back"));
            let epoch = client.watch(WatchStart::Oldest);
            let epoch = latest_epoch(epoch).await;
            assert_eq!(epoch, life + 1);
        }
    });
}

async fn latest_epoch(mut watch: callgate_client::SessionWatch) -> u64 {
    let mut latest = 0;
    while let Ok(Some(watched)) =
        tokio::time::timeout(Duration::from_millis(10), watch.next()).await
    {
        latest = watched.epoch;
    }
    latest
}

#[test]
fn last_words_are_told_without_secrets() {
    scripted(|mut settings, _| async move {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        settings.stderr =
            StderrTarget::Lines(Arc::new(move |line| sink.lock().unwrap().push(line.to_owned())));
        settings.env.push(("SOME_API_KEY".into(), Some("open-sesame".into())));
        let client = Client::start(settings).unwrap();
        let mut watch = client.watch(WatchStart::Now);
        let (_, end) = say(&client, "die open-sesame").await;
        assert_died(&end);
        assert!(!end.contains("open-sesame"), "{end}");
        let (_, _, words) = death(&mut watch).await;
        assert_eq!(words.as_deref(), Some("my key is [hidden 1: secret variable]"));
        assert!(lines.lock().unwrap().contains(&"my key is open-sesame".to_owned()));
    });
}

#[test]
fn a_stalled_runtime_is_given_up_and_can_be_replaced() {
    scripted(|mut settings, _| async move {
        settings.idle = Duration::from_millis(300);
        let client = Client::start(settings).unwrap();
        // A slow machine may be silent too.
        while client.status().await.is_err() {}
        assert_eq!(say(&client, "sleep").await.1, "no event for 300 ms");
        client.restart();
        while say(&client, "say awake").await != done("awake") {}
    });
}

#[test]
fn a_flood_arrives_whole() {
    scripted(|mut settings, _| async move {
        // Little enough that the runtime has to wait for the reader again and again.
        settings.unread = 64 * 1024;
        let client = Client::start(settings).unwrap();
        let mut flood = say_in(&client, "one", "flood 20000").await;
        let other = say_in(&client, "other", "say here").await;
        let (text, end) = rest(&mut flood).await;
        assert_eq!(end, "done");
        let expected = (0..20_000).map(|number| number.to_string() + " ").collect::<String>();
        assert!(text == expected, "{} of {} bytes", text.len(), expected.len());
        assert_eq!(rest(&mut { other }).await, done("here"));
        assert_eq!(client.passed_over_updates().borrow().gaps, 0);
    });
}

#[test]
fn lies_are_passed_over() {
    scripted(|settings, _| async move {
        let client = Client::start(settings).unwrap();
        assert_eq!(say(&client, "lie").await, done("true"));
        assert_eq!(say(&client, "say more").await, done("more"));
        let passed = *client.passed_over_updates().borrow();
        assert!(passed.unreadable >= 4, "{passed:?}");
        assert_eq!((passed.repeated, passed.gaps), (1, 0), "{passed:?}");
        assert!(passed.stray >= 4, "{passed:?}");
    });
}

#[test]
fn a_garbled_line_is_said_again() {
    scripted(|settings, _| async move {
        let client = Client::start(settings).unwrap();
        assert_eq!(say(&client, "lose").await, done("one two three "));
        assert_eq!(client.passed_over_updates().borrow().gaps, 1);
        assert_eq!(say(&client, "say more").await, done("more"));
    });
}

#[test]
fn the_end_of_tokio_is_the_end_of_the_process() {
    scripted(|settings, folder| async move {
        let (client, request) = std::thread::spawn(move || {
            let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            tokio.block_on(async {
                let client = Client::start(settings).unwrap();
                let request = client.user_message("pid").await;
                let mut request = request;
                token(&mut request).await;
                (client, request)
            })
        })
        .join()
        .unwrap();
        assert_eq!(rest(&mut { request }).await.1, "the session is closed");
        assert!(matches!(client.state(), RuntimeState::Ended));
        // Its stdin is closed, so it ends by itself.
        tokio::task::spawn_blocking(move || until("its end", || folder.join("ended").exists()))
            .await
            .unwrap();
    });
}

#[test]
fn a_watcher_keeps_the_process_and_sees_what_others_ask() {
    scripted(|settings, folder| async move {
        let client = Client::start(settings).unwrap();
        let mut watch = client.watch(WatchStart::Oldest);
        let id = client.user_message("say hello").await.detach();
        drop(client);
        let asked = |seen: &WatchedItem| match seen {
            WatchedItem::Asked(request) => Some(request.id.clone()),
            _ => None,
        };
        assert_eq!(watch.wait_for_item(asked).await.as_deref(), Some(&*id));
        let ended = |seen: &WatchedItem| match seen {
            WatchedItem::Happened { id, happened } if happened.is_end() => Some(Arc::clone(id)),
            _ => None,
        };
        assert_eq!(watch.wait_for_item(ended).await, Some(id));
        assert!(!folder.join("ended").exists());
    });
}
