//! What a conversation in the page keeps: all of its turns, what is being written in it, and the
//! whole output of its tools.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use callgate_testkit::browser::Browser;
use callgate_testkit::page_chat::{say, wait_for_answer};
use serde_json::{Value, json};

use crate::chat::{DOT, begin};
use crate::composer::{assert_focused, message};
use crate::desktop::{calls, sent, shell, tell, wait_for_call, wait_until_ready};
use crate::history::NOTICED;
use crate::narrow_rows::assert_end_is_seen;
use crate::stage::{desk_with_page, wait_until_live};

/// Waits until so many turns are shown, all of which are over.
fn wait_for_turns(browser: &Browser, count: usize) {
    let script = format!(
        "const turns = [...document.querySelectorAll('[data-turn]')];
        return turns.length === {count} && turns.every(turn => turn.dataset.over === 'true')"
    );
    browser.wait_for(&format!("{count} turns"), &script);
}

#[test]
fn a_conversation_keeps_its_turns_and_what_is_being_written() {
    let Some((desk, browser)) = desk_with_page() else { return };
    begin(&desk, &browser);
    say(&browser, "help");
    wait_for_answer(&browser, "list files");
    browser.reload();
    wait_until_live(&browser);
    wait_for_turns(&browser, 1);
    // The same words again hide nothing that was said before.
    let _ = browser.run(NOTICED, &json!([]));
    browser.fill("[data-message]", "help");
    browser.click("[data-send]");
    wait_for_turns(&browser, 2);
    browser.wait_for("a notification", "return window.noted.length");
    assert_eq!(browser.run("return window.noted", &json!([])), json!(["Answer ready\nin work"]));

    fs::write(desk.path("work/plan.txt"), "of the engine").unwrap();
    fs::write(desk.path("work/dot.png"), STANDARD.decode(DOT).unwrap()).unwrap();
    let files = [&*desk.path("work/plan.txt"), &*desk.path("work/dot.png")];
    browser.drop_files(".chat-scroll", &files);
    browser.wait_for("the files", HAS_BOTH);
    browser.fill("[data-message]", "help me");
    browser.click("[data-send]");
    wait_for_turns(&browser, 3);
    // Whoever edits a message has its files, as far as they are known.
    browser.click("[data-edit-last]");
    browser.wait_for("the files", HAS_BOTH);
    assert_eq!(message(&browser), "help me");
    browser.reload();
    wait_until_live(&browser);
    wait_for_turns(&browser, 3);
    browser.click("[data-edit-last]");
    browser.wait_for("the picture", "return document.querySelector('.composer [data-file] img')");
    browser.wait_for_text(".toast", "plan.txt could not be kept. Attach it again.");
    what_is_written_stays_where_it_was_begun(&browser);
    assert_eq!(browser.complaints(), Vec::<String>::new());
    desk.assert_chain();
}

const HAS_BOTH: &str = "return document.querySelectorAll('.composer [data-file]').length === 2";
const IS_EDITED: &str =
    "return document.querySelector('.composer').innerText.includes('Editing your last message')";

/// The last message is being edited, with a picture.
fn what_is_written_stays_where_it_was_begun(browser: &Browser) {
    let first =
        "return document.querySelector('.conversation[aria-current=true]').getAttribute('href')";
    let first = browser.run(first, &json!([]));
    let go = |place: &Value| browser.run("location.hash = arguments[0]", &json!([place]));
    browser.wait_for("the edit", IS_EDITED);
    browser.click("[data-new]");
    wait_for_turns(browser, 0);
    assert_eq!((message(browser), browser.count("[data-file]")), (json!(""), 0));
    assert_eq!(browser.run(IS_EDITED, &json!([])), false);
    browser.fill("[data-message]", "help here");
    let second = browser.run("return location.hash", &json!([]));
    let _ = go(&first);
    browser.wait_for("the edit", IS_EDITED);
    assert_eq!((message(browser), browser.count("[data-file]")), (json!("help me"), 1));
    let _ = go(&second);
    browser
        .wait_for("the other", &format!("return !({})", IS_EDITED.trim_start_matches("return ")));
    assert_eq!((message(browser), browser.count("[data-file]")), (json!("help here"), 0));
    browser.click("[data-send]");
    wait_for_turns(browser, 1);
    // It has replaced nothing elsewhere.
    let _ = go(&first);
    wait_for_turns(browser, 3);
    assert_eq!(message(browser), "help me");
    assert!(browser.text("[data-turn]:last-of-type .bubble").contains("help me"));
}

#[test]
fn all_of_a_long_conversation_can_be_read_and_exported() {
    let Some((_desk, browser)) = shell(&json!({ "said": 70 })) else { return };
    wait_until_ready(&browser);
    browser.wait_for_text(".chat-inner", "Message 69.");
    // The page has 61 of 140 messages, beginning within a turn, and draws 30 turns.
    for (shown, first) in
        [(30, "Message 40."), (31, "Answer 39."), (61, "Message 9."), (70, "Message 0.")]
    {
        wait_for_turns(&browser, shown);
        assert!(browser.text("[data-turn]").contains(first), "{first}");
        if shown == 70 {
            break;
        }
        // Whoever reads at the top goes on reading there.
        let place = "const box = document.getElementById('chat-scroll');
            const turn = document.querySelectorAll('[data-turn]')[1];
            window.kept ??= turn;
            return Math.round(window.kept.getBoundingClientRect().top)";
        let _ = browser.run(
            "document.getElementById('chat-scroll').scrollTop = 0; delete window.kept",
            &json!([]),
        );
        // The browser draws what it has not drawn yet, and only then knows its height.
        let rest = "const [done] = arguments;
            const frames = (left) => left ? requestAnimationFrame(() => frames(left - 1)) : done(true);
            frames(5)";
        let _ = browser.run_async(rest, &json!([]));
        let before = browser.run(place, &json!([]));
        browser.click("[data-earlier]");
        browser.wait_for(
            "more",
            &format!("return document.querySelectorAll('[data-turn]').length > {shown}"),
        );
        let stays = format!("return Math.abs((() => {{ {place} }})() - {before}) <= 2");
        browser.wait_for("the same place", &stays);
    }
    assert_eq!(browser.count("[data-earlier]"), 0);
    let texts = "return [...document.querySelectorAll('[data-turn]')].every((turn, at) =>
        turn.querySelector('.bubble').textContent.trim() === `Message ${at}.`
            && turn.querySelector('.reply-text').textContent.trim() === `Answer ${at}.`)";
    assert_eq!(browser.run(texts, &json!([])), true);

    browser.reload();
    wait_until_ready(&browser);
    browser.wait_for_text(".chat-inner", "Message 69.");
    let _ = browser.run(
        "HTMLAnchorElement.prototype.click = () => {};
        URL.createObjectURL = (blob) => { blob.text().then(text => { window.saved = text; }); return ''; };",
        &json!([]),
    );
    browser.click("[data-conversation-menu] summary");
    browser.click("[data-conversation=export]");
    browser.wait_for("the file", "return window.saved");
    let saved = browser.run("return window.saved", &json!([]));
    let saved = saved.as_str().unwrap();
    for at in 0..70 {
        let turn = format!("> Message {at}.\n\nAnswer {at}.\n");
        assert_eq!(saved.matches(&turn).count(), 1, "{turn}{saved}");
    }
    what_was_done_is_exported(&browser);
    a_conversation_that_changes_is_not_exported(&browser);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Calls, files, a message that steers and an error are in the file, in their order.
fn what_was_done_is_exported(browser: &Browser) {
    let _ = browser.run(
        "const attachments = [{ name: 'plan.txt', mime: 'text/plain', data: 'YQ==' }];
        const line = { id: 'page', kind: 'user_message', message: 'stall', attachments, metadata: { conversationId: 'c1' } };
        __TAURI__.core.invoke('chat_send', { line: JSON.stringify(line) })",
        &json!([]),
    );
    browser.wait_for_text(".chat-inner", "One moment");
    let write = json!({ "deed": "Write a file", "did": "Wrote a file", "subject": "a.txt",
        "body": { "type": "write", "path": "a.txt", "content": "x", "lines": 1 } });
    report_call(browser, "write", &write, &json!({ "path": "a.txt" }));
    let _ = browser.run(
        "const [card] = arguments;
        const id = [...document.querySelectorAll('[data-turn]')].at(-1).dataset.turn;
        const tell = (type, data, more) => __TAURI__.fake.emit('reply', { type, id, data, ...more });
        const denied = { toolId: 'denied', toolName: 'write' };
        tell('tool_use', { ...denied, input: {}, card });
        tell('tool_result', { ...denied, result: { error: 'no', denied: true }, isError: true });
        tell('user_message', { message: 'In small steps' });
        tell('tool_use', { toolId: 'running', toolName: 'write', input: {}, card });
        tell('error', undefined, { error: 'no answer', timestamp: 1 });
        window.saved = '';",
        &json!([write]),
    );
    browser.wait_for_text("[data-turn]:last-of-type .note", "no answer");
    assert_eq!(browser.count("[data-turn]:last-of-type .tool .is-good"), 1);
    browser.click("[data-conversation-menu] summary");
    browser.click("[data-conversation=export]");
    browser.wait_for("the file", "return window.saved");
    let saved = browser.run("return window.saved", &json!([]));
    let end = "> stall\n> Attached: plan.txt\n\nOne moment\n\n- Wrote a file `a.txt`\n\
        - Write a file `a.txt` (denied)\n\n> In small steps\n\n- Write a file `a.txt` (no result)\n\n\
        *Error: no answer*\n";
    assert!(saved.as_str().unwrap().ends_with(end), "{saved}");
}

/// Another conversation is opened while the messages are loaded.
fn a_conversation_that_changes_is_not_exported(browser: &Browser) {
    browser.reload();
    wait_until_ready(browser);
    browser.wait_for_text(".chat-inner", "Message 69.");
    let _ = browser.run(
        "URL.createObjectURL = () => { window.saved = true; return ''; };
        document.querySelector('[data-conversation=export]').click();
        __TAURI__.fake.tell({ kind: 'open_conversation', id: 'c2' })",
        &json!([]),
    );
    browser.wait_for_text(".toast", "Export it again");
    assert_eq!(browser.run("return window.saved === undefined", &json!([])), true);
}

/// The button of a dialog acts on the conversation that the dialog names, even if another one is
/// opened in the same moment; and the dialog goes away with its conversation.
#[test]
fn a_dialog_acts_on_the_conversation_that_it_names() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    say(&browser, "hello");
    wait_for_answer(&browser, "Good morning.");
    let open = |button: &str| {
        if button.starts_with("[data-conversation=") {
            browser.click("[data-conversation-menu] summary");
        }
        browser.click(button);
        browser.wait_for("a dialog", "return document.querySelector('dialog[open]')");
    };
    let show = |conversation: &str| {
        tell(&browser, &json!({ "kind": "open_conversation", "id": conversation }));
        browser.wait_until_gone("dialog");
    };
    let dialogs = [
        ("[data-conversation=delete]", "[data-sure]", "delete_conversation"),
        ("[data-conversation=rename]", "[data-rename-now]", "rename_conversation"),
        ("[data-clear]", "[data-sure]", "clear_history"),
    ];
    for (button, _, kind) in dialogs {
        open(button);
        show("c2");
        assert_eq!(sent(&browser, kind), Vec::<Value>::new());
        show("c1");
        wait_for_answer(&browser, "Good morning.");
    }
    for (button, press, kind) in dialogs {
        open(button);
        let _ = browser.run(
            "const title = document.querySelector('[data-title]');
            if (title) title.value = 'Another title';
            __TAURI__.fake.tell({ kind: 'open_conversation', id: 'c2' });
            document.querySelector(arguments[0]).click()",
            &json!([press]),
        );
        browser.wait_until_gone("dialog");
        let sent = sent(&browser, kind);
        let named = |line: &Value| match kind {
            "clear_history" => line["metadata"]["conversationId"].clone(),
            _ => line["conversationId"].clone(),
        };
        assert_eq!(sent.iter().map(named).collect::<Vec<_>>(), ["c1"], "{kind}");
        show("c1");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Another window has begun a turn while somebody edits the last message.
#[test]
fn an_edit_steers_nothing() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    let _ = browser.run(
        "const capabilities = ['hello', 'edit', 'cancel', 'steer'];
        __TAURI__.fake.emit('state', { state: 'ready', capabilities })",
        &json!([]),
    );
    say(&browser, "hello");
    wait_for_answer(&browser, "Good morning.");
    browser.click("[data-edit-last]");
    browser.wait_for("the edit", IS_EDITED);
    let _ = browser.run(
        "const line = { id: 'page', kind: 'user_message', message: 'stall', metadata: { conversationId: 'c1' } };
        __TAURI__.core.invoke('chat_send', { line: JSON.stringify(line) })",
        &json!([]),
    );
    browser.wait_for_text(".chat-inner", "One moment");
    browser.click("[data-send]");
    browser
        .wait_for("it is sent", &format!("return !({})", IS_EDITED.trim_start_matches("return ")));
    let edits = sent(&browser, "edit_last");
    assert_eq!((edits.len(), &edits[0]["steer"]), (1, &Value::Null));
}

/// Lets the runtime report a tool call in the last turn.
pub(crate) fn report_call(browser: &Browser, name: &str, card: &Value, result: &Value) {
    let _ = browser.run(
        "const [name, card, result] = arguments;
        const id = [...document.querySelectorAll('[data-turn]')].at(-1).dataset.turn;
        const tell = (type, data) =>
            __TAURI__.fake.emit('reply', { type, id, data: { toolId: name, toolName: name, ...data } });
        tell('tool_use', { input: {}, card });
        tell('tool_result', { result, isError: false });",
        &json!([name, card, result]),
    );
}

#[test]
fn the_whole_output_of_a_tool_can_be_read() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    say(&browser, "stall");
    browser.wait_for_text(".chat-inner", "One moment");
    let lines = (1..=2_000).map(|at| format!("line {at}")).collect::<Vec<_>>().join("\n");
    let segments = json!([{ "text": "make all", "style": "word", "break": false }]);
    let command = json!({ "deed": "Run a command", "did": "Ran a command", "subject": "make all",
        "body": { "type": "command", "segments": segments, "description": null } });
    let result = json!({ "exitCode": 1, "stdout": lines, "stderr": "error: it failed at the end" });
    report_call(&browser, "run", &command, &result);
    browser.click("[data-tool=run] summary");
    browser.wait_for_text("[data-tool=run] .output", "error: it failed at the end");
    let is_seen = "const box = document.querySelector('[data-tool=run] .output');
        return box.scrollHeight - box.scrollTop - box.clientHeight < 2";
    browser.wait_for("its end is in view", is_seen);
    let has = |words: &str| browser.text("[data-tool=run] .output").contains(words);
    assert!(has("make all") && has("line 1999") && !has("line 11\n"), "its end is shown");
    browser.click("[data-tool=run] .unfold");
    browser.wait_for_text("[data-tool=run] .output", "line 11\n");
    assert!(has("line 1\n") && has("error: it failed at the end"));
    assert_eq!(browser.count("[data-tool=run] .unfold"), 0);

    let path = "/home/ada/engine/crates/approval/src/desk/waiting/questions/open_questions.rs";
    let read = json!({ "deed": "Read a file", "did": "Read a file", "subject": path,
        "body": { "type": "read", "path": path, "what": null } });
    report_call(&browser, "read", &read, &json!({ "text": lines, "firstLine": 1 }));
    browser.click("[data-tool=read] summary");
    browser.wait_for(
        "the last line of the file",
        "const box = document.querySelector('[data-tool=read] .lines-scroll');
        box.scrollTop = box.scrollHeight;
        return box.innerText.includes('line 2000')",
    );
    let other = json!({ "deed": "Use a tool", "did": "Used a tool", "subject": "", "body": { "type": "other", "input": "{}" } });
    report_call(&browser, "other", &other, &json!({ "text": format!("{lines}the very end") }));
    browser.click("[data-tool=other] summary");
    browser.wait_for_text("[data-tool=other] .output", "line 1\n");
    assert!(!browser.text("[data-tool=other] .output").contains("the very end"));
    browser.click("[data-tool=other] .unfold");
    browser.wait_for_text("[data-tool=other] .output", "the very end");
    browser.resize(390, 844);
    assert_end_is_seen(&browser, "[data-tool=read] summary code", "/open_questions.rs");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn an_answer_that_failed_is_not_told_as_one_that_is_ready() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    let _ = browser.run("document.hasFocus = () => false", &json!([]));
    say(&browser, "hello");
    let told =
        |failed: bool| json!({ "conversation": "c1", "project": "engine", "failed": failed });
    wait_for_call(&browser, "notify_answer", &told(false));
    say(&browser, "stall");
    browser.wait_for_text(".chat-inner", "One moment");
    let fail = "const id = [...document.querySelectorAll('[data-turn]')].at(-1).dataset.turn;
        __TAURI__.fake.emit('reply', { type: 'error', id, error: 'no answer', timestamp: Date.now() })";
    let _ = browser.run(fail, &json!([]));
    wait_for_call(&browser, "notify_answer", &told(true));
    assert_eq!(calls(&browser, "notify_answer").len(), 2);
}

/// The shell hands over what was pasted wherever the focus was.
#[test]
fn what_is_pasted_into_another_field_is_not_attached() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    let pasted = |name: &str, kind: &str| {
        let file = json!({ "name": name, "mime": "text/plain", "data": "YQ==", "size": 1 });
        tell(&browser, &json!({ "kind": kind, "files": [file], "problem": null }));
    };
    browser.click("[data-search-chats]");
    pasted("elsewhere.txt", "paste");
    // What is dropped is meant for the message.
    pasted("dropped.txt", "attach");
    browser.wait_for("the file", "return document.querySelector('[data-file=\"dropped.txt\"]')");
    assert_focused(&browser, "[data-message]");
    pasted("here.txt", "paste");
    browser.wait_for("the file", "return document.querySelector('[data-file=\"here.txt\"]')");
    assert_eq!(browser.count("[data-file]"), 2);
}
