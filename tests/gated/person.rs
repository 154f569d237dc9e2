//! Somebody who answers the questions at the desk, as a page would.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use callgate_client::viewer::Viewer;
use callgate_testkit::process::DEADLINE;
use callgate_wire::approval::{Action, Press, RequestId};
use callgate_wire::desk::{DeskAnswer, DeskCommand, DeskMessage};
use serde_json::Value;
use serde_json::value::RawValue;

/// Somebody at the desk: denies what has the word "denied", changes "edited" into "rewritten", and
/// allows the rest.
pub(crate) struct Person {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Vec<String>>,
}

impl Person {
    /// Pairs with the desk, and answers from now on.
    pub(crate) fn sit_down(desk_socket: &Path) -> Self {
        let mut viewer = Viewer::connect(desk_socket).unwrap();
        let (code, _) = viewer.code().unwrap();
        let pair = DeskCommand::Pair { code, name: "Ada".to_owned(), origin: None };
        let paired = viewer.ask(pair, DEADLINE).unwrap();
        assert!(matches!(paired, DeskAnswer::Paired { .. }), "{paired:?}");
        viewer.watch(None).unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        Self { is_over, thread: thread::spawn(move || answer_questions(viewer, &over)) }
    }

    /// Returns the commands that they were asked about, in order.
    pub(crate) fn leave(self) -> Vec<String> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().expect("every question could be answered")
    }
}

fn answer_questions(mut viewer: Viewer, is_over: &AtomicBool) -> Vec<String> {
    let mut asked = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let message = viewer.next(Instant::now() + Duration::from_millis(50)).unwrap();
        let Some(DeskMessage::Entry(entry)) = message else { continue };
        if entry.kind != "asked" {
            continue;
        }
        let body: Value = serde_json::from_str(entry.body.get()).unwrap();
        let input = body["request"]["tool_input"].to_string();
        let id = RequestId::parse(&entry.question.unwrap()).unwrap();
        let press = match &input {
            it if it.contains("denied") => Press::Words("not on my watch".to_owned()),
            it if it.contains("edited") => {
                let changed = it.replace("edited", "rewritten");
                Press::Input(RawValue::from_string(changed).unwrap())
            }
            _ => Press::Button(Action::Allow),
        };
        let press = DeskCommand::Press { request_id: id, press, confirm: None };
        let told = viewer.ask(press, DEADLINE).unwrap();
        assert!(matches!(told, DeskAnswer::Told { done: true, .. }), "{input}: {told:?}");
        asked.push(touched(&input));
    }
    asked
}

/// Returns the command in the input of a tool.
fn touched(input: &str) -> String {
    let at = input.find("touch ").unwrap_or_else(|| panic!("a question about {input}"));
    let is_end = |it: char| !(it.is_ascii_alphanumeric() || it == ' ');
    let command = input[at..].split(is_end).next().unwrap();
    command.trim_end().to_owned()
}
