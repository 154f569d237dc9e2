//! A desk that runs beside the shell: the window finds it by itself, and works without it.

use std::process::Stdio;

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::process::{DEADLINE, Group, run};
use serde_json::{Value, json};

use crate::stage::{Stage, StageOptions};

#[test]
fn a_running_desk_is_found_and_its_inbox_shown() {
    let Some(stage) = Stage::start(&StageOptions::default()) else { return };
    let absent = request(&stage, None, &json!({ "id": "1", "kind": "status" }));
    assert_eq!(absent.unwrap_err()["status"], 0, "nothing is wrong with a shell without a desk");

    let _desk = start_desk(&stage);
    let refused = stage.desktop.until("the desk is found", || {
        let refused = request(&stage, None, &json!({ "id": "1", "kind": "status" })).unwrap_err();
        (refused["status"] != 0).then_some(refused)
    });
    assert_eq!(refused["status"], 401, "a window without a key is not linked");
    let wrong = stage.invoke("desk_pair", &json!({ "code": "WRNGC0DE", "name": "Test" }));
    assert_eq!(wrong.unwrap_err()["status"], 403);

    let code = code(&stage);
    let key = stage.invoke("desk_pair", &json!({ "code": code, "name": "The window" })).unwrap();
    let links = request(&stage, Some(&key), &json!({ "id": "7", "kind": "links" })).unwrap();
    assert_eq!((&links[0]["id"], &links[0]["kind"]), (&json!("7"), &json!("links")));
    assert!(links[0]["links"].to_string().contains("The window"), "{links}");
    for kind in ["watch", "code"] {
        let refused = request(&stage, Some(&key), &json!({ "id": "1", "kind": kind }));
        assert_eq!(refused.unwrap_err()["status"], 403, "{kind}");
    }
    let forged = json!("0000000000000000000000000000000000000000000000000000000000000000");
    let refused = request(&stage, Some(&forged), &json!({ "id": "1", "kind": "links" }));
    assert_eq!(refused.unwrap_err()["status"], 401);
    events_are_watched(&stage, &key);
}

#[test]
fn a_question_of_the_runtime_is_one_card_beside_a_desk_and_the_first_answer_counts() {
    let write = |name: &str| Turn::tool_use("write_file", json!({"path": name, "content": "x"}));
    let model = Messages::start([
        write("chat.txt"),
        Turn::text("Allowed in the chat."),
        write("inbox.txt"),
        Turn::text("Denied in the inbox."),
    ]);
    let variables =
        [("ANTHROPIC_API_KEY", "sk-test".to_owned()), ("ANTHROPIC_BASE_URL", model.url())];
    let options = StageOptions { variables: &variables, ..StageOptions::default() };
    let Some(stage) = Stage::start(&options) else { return };
    go(&stage, "inbox");
    stage.page.wait_for_text("[data-no-desk]", "callgate up");
    let desk = start_linked_desk(&stage);
    stage.begin_chat();

    stage.say("Write it");
    stage.page.wait_for_text(".chat-question .card", "chat.txt");
    // The desk's card replaces that of the runtime, and says what allowing does.
    stage.page.wait_for("one question in each view", COUNTED_ONCE);
    assert_eq!(stage.page.count(".card[data-question]"), 1);
    press(&stage, ".chat-question [data-press=allow]");
    stage.wait_for_answer("Allowed in the chat.");
    assert!(stage.path("work/chat.txt").exists());
    stage.page.wait_until_gone(".chat-question");

    stage.say("And once more");
    stage.page.wait_for_text(".chat-question .card", "inbox.txt");
    go(&stage, "inbox");
    stage.page.wait_for(
        "its row, once",
        "return document.querySelectorAll('.question-row:not(.is-over)').length >= 1",
    );
    assert_eq!(open_rows(&stage), 1);
    press(&stage, ".card [data-press=deny]");
    go(&stage, "chat");
    stage.wait_for_answer("Denied in the inbox.");
    assert!(!stage.path("work/inbox.txt").exists());
    stage.page.wait_until_gone(".chat-question");
    model.assert_played();

    a_desk_that_starts_again_is_noticed_by_a_hidden_window(&stage, desk);
}

/// In the navigation, the inbox and the chat each count the one question.
const COUNTED_ONCE: &str = "return ['inbox', 'chat'].every((view) => {
    const count = document.querySelector(`nav a[href='#/${view}'] .count`);
    return count?.firstChild?.data === '1' || count?.innerText.startsWith('1');
}) && document.title === '(1) callgate'";

fn open_rows(stage: &Stage) -> usize {
    stage.page.count(".question-row:not(.is-over)")
}

pub(crate) fn go(stage: &Stage, view: &str) {
    let _ = stage.page.run(&format!("location.hash = '#/{view}'"), &json!([]));
}

/// Presses a button once presses on it count.
fn press(stage: &Stage, button: &str) {
    stage.page.wait_for(
        "presses count",
        &format!("return document.querySelector('{button}[aria-disabled=false]')"),
    );
    stage.page.click(button);
}

fn wait_until_live(stage: &Stage) {
    stage.page.wait_for("a connection", "return document.body.dataset.connection === 'live'");
}

fn a_desk_that_starts_again_is_noticed_by_a_hidden_window(stage: &Stage, desk: Group) {
    drop(desk);
    stage.page.wait_for("no connection", "return document.body.dataset.connection === 'offline'");
    stage.invoke("window_hide", &json!({})).unwrap();
    stage.desktop.wait_for_no_window();
    stage.page.wait_for("the page knows it", "return document.hidden");
    let _desk = start_desk(stage);
    wait_until_live(stage);
    assert_eq!(stage.page.run("return document.hidden", &json!([])), true);
}

/// Starts a desk, and links the window with it. One of its views is shown.
pub(crate) fn start_linked_desk(stage: &Stage) -> Group {
    let desk = start_desk(stage);
    // The window finds the desk by itself.
    stage.page.wait_for_text(".pairing", "Link this window");
    stage.page.fill("[data-code]", &code(stage));
    stage.page.click(".pairing [type=submit]");
    wait_until_live(stage);
    desk
}

fn start_desk(stage: &Stage) -> Group {
    let mut command = stage.callgate(&["up", "--no-terminal"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Group::spawn(command)
}

/// Returns a code that links the window.
fn code(stage: &Stage) -> String {
    let opened = stage.desktop.until("a code", || {
        let opened = run(stage.callgate(&["open", "--no-browser"]), DEADLINE);
        opened.status.success().then_some(opened.stdout)
    });
    opened.split("#code=").nth(1).unwrap().split_whitespace().next().unwrap().to_owned()
}

/// Makes a request of the desk as the page does, and returns all of its messages.
fn request(stage: &Stage, key: Option<&Value>, line: &Value) -> Result<Value, Value> {
    let answer = stage.page.run_async(
        "const [key, line, done] = arguments;
        const messages = new window.__TAURI__.core.Channel();
        const seen = [];
        messages.onmessage = (message) => { seen.push(message); done({ seen }); };
        window.__TAURI__.core.invoke('desk_request', { key, line, messages })
            .catch((error) => done({ error }));",
        &json!([key, line.to_string()]),
    );
    match answer.get("error") {
        Some(error) => Err(error.clone()),
        None => Ok(answer["seen"].clone()),
    }
}

fn events_are_watched(stage: &Stage, key: &Value) {
    let seen = stage.page.run_async(
        "const [key, done] = arguments;
        const { invoke, Channel } = window.__TAURI__.core;
        const events = new Channel();
        const seen = [];
        const watch = invoke('desk_watch', { key, after: 0, events });
        watch.catch((error) => done(error));
        events.onmessage = (event) => {
            seen.push(event);
            if (event.event !== 'entry') return;
            watch.then((number) => invoke('desk_unwatch', { watch: number }))
                .then(() => done(seen.slice(0, 2)), (error) => done(error));
        };",
        &json!([key]),
    );
    assert_eq!(seen[0]["event"], "watching", "{seen}");
    assert_eq!((&seen[1]["event"], &seen[1]["id"]), (&json!("entry"), &json!(1)), "{seen}");
    assert_eq!(seen[1]["data"]["kind"], "started");
}
