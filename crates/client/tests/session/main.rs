//! The client with real processes: runtimes that die, stall, flood and lie.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a failed step is a failed test"
)]

mod chat;
mod runtime;
mod scripts;
mod shells;

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use callgate_client::{
    Client, ClientSettings, RequestEvent, RuntimeState, SentRequest, SessionWatch, WatchedItem,
};
use callgate_testkit::leaks::Leaks;
use callgate_testkit::process::DEADLINE;
use callgate_wire::session::SessionEvent;

/// Runs a test with a folder of its own, and checks that no process of it is left.
fn check<F: Future<Output = ()>>(
    test: impl FnOnce(ClientSettings, std::path::PathBuf) -> F,
    program: &[&str],
) {
    let folder = tempfile::tempdir().unwrap();
    let _leaks = Leaks::watch(folder.path(), &["none"]).marker(folder.path().to_str().unwrap());
    let settings = settings(program, folder.path());
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let test = test(settings, folder.path().to_owned());
    tokio.block_on(async { tokio::time::timeout(4 * DEADLINE, test).await.unwrap() });
}

fn settings(program: &[&str], folder: &Path) -> ClientSettings {
    let mut settings = ClientSettings::new(program[0]);
    settings.args = program[1..].iter().map(OsString::from).collect();
    settings.env = vec![(OsString::from("FOLDER"), Some(folder.into()))];
    settings.start = DEADLINE;
    settings.taken = DEADLINE;
    settings.back_off.first = Duration::from_millis(1);
    settings
}

/// The text of the tokens, and how the request ended.
async fn rest(request: &mut SentRequest) -> (String, String) {
    let mut text = String::new();
    while let Some(happened) = request.next().await {
        let end = match happened {
            RequestEvent::Said(reply) => match &reply.event {
                SessionEvent::Token(token) => {
                    text.push_str(token);
                    continue;
                }
                SessionEvent::Error { error, .. } => error.clone(),
                event if event.is_end() => event.kind().to_owned(),
                _ => continue,
            },
            RequestEvent::Failed(error) => error.to_string(),
        };
        assert!(request.next().await.is_none());
        return (text, end);
    }
    panic!("a request without an end");
}

/// The text of the next token.
async fn token(request: &mut SentRequest) -> String {
    loop {
        if let RequestEvent::Said(reply) = request.next().await.unwrap()
            && let SessionEvent::Token(token) = &reply.event
        {
            return token.clone();
        }
    }
}

/// Says something and waits for its end.
async fn say(client: &Client, text: &str) -> (String, String) {
    rest(&mut client.user_message(text).await).await
}

/// How the process died, when it does.
async fn death(
    watch: &mut SessionWatch,
) -> (Option<std::process::ExitStatus>, String, Option<String>) {
    let died = |seen: &WatchedItem| match seen {
        WatchedItem::State(RuntimeState::Died { status, reason, last_words }) => {
            Some((*status, reason.to_string(), last_words.clone()))
        }
        _ => None,
    };
    watch.wait_for_item(died).await.unwrap()
}

fn signal(name: &str, pid: &str) {
    assert!(std::process::Command::new("kill").args([name, pid]).status().unwrap().success());
}

/// On a slow machine the end of the pipes is known long before that of the process.
fn assert_died(end: &str) {
    let texts = ["the runtime has ended (signal: ", "the runtime has closed its pipes"];
    assert!(texts.iter().any(|text| end.starts_with(text)), "{end}");
}
