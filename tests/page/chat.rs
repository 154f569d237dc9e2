//! The chat in the page, with the real runtime: by its offline engine, and by a model's.

use std::fs;

use callgate_testkit::browser::Browser;
use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::page_chat::{
    commands_that_fail_are_no_success, say, turns_with_failing_commands, wait_for_answer,
};
use callgate_testkit::terminal::Terminal;
use serde_json::{Value, json};

use crate::composer::{ARROW_UP, BACKSPACE};
use crate::fixture::Stage;
use crate::stage::{desk_with_page, link, wait_until_live};
use callgate_testkit::page_barriers::assert_open_to_all;

/// Opens the chat, which begins in the home folder, and goes to another folder.
pub(crate) fn begin(desk: &Stage, browser: &Browser) {
    fs::create_dir(desk.path("work")).unwrap();
    fs::write(desk.path("work/notes.txt"), "Buy milk.\n").unwrap();
    let _ = browser.run("location.hash = '#/chat'", &json!([]));
    browser.wait_for("a runtime", "return document.querySelector('[data-send]:not([disabled])')");
    browser.wait_for_text(".folder", desk.path("").to_str().unwrap().trim_end_matches('/'));
    browser.wait_for("the focus", "return document.activeElement.matches('[data-message]')");
    browser.click(".folder");
    browser.fill("[data-folder]", desk.path("work").to_str().unwrap());
    browser.click("[data-start]");
    browser.wait_for_text(".folder", "work");
    browser.wait_for("a runtime", "return document.querySelector('[data-send]:not([disabled])')");
}

#[test]
fn a_conversation_is_held_in_the_page() {
    let Some((desk, browser)) = desk_with_page() else { return };
    begin(&desk, &browser);
    say(&browser, "read notes.txt");
    wait_for_answer(&browser, "Buy milk.");
    assert_eq!(browser.count("[data-tool=read_file]"), 1);
    // The result is the text of the file, and not the JSON around it.
    browser.click("[data-tool=read_file] summary");
    browser.wait_for_text("[data-tool=read_file] .output", "Buy milk.");
    assert!(!browser.text("[data-tool=read_file] .output").contains("totalLines"));
    assert_eq!(browser.text("[data-tool=read_file] strong"), "Read a file");
    assert_eq!(browser.text("[data-tool=read_file] summary code"), "notes.txt");
    what_is_risky_is_asked_in_the_chat(&desk, &browser);
    assert_open_to_all(&browser);
    browser.reload();
    wait_until_live(&browser);
    wait_for_answer(&browser, "write");
    assert_eq!(browser.count("[data-turn]"), 2, "a reload loses nothing and repeats nothing");
    the_last_message_is_edited_and_answered_again(&browser);
    files_are_attached_by_dropping_and_pasting_them(&desk, &browser);
    conversations_are_listed_and_searched(&browser);
    a_conversation_is_renamed_copied_and_deleted(&browser);
    the_state_is_shown_and_the_runtime_restarted(&browser);
    a_conversation_is_cleared(&browser);
    assert_eq!(browser.complaints(), Vec::<String>::new());
    desk.assert_chain();
}

fn what_is_risky_is_asked_in_the_chat(desk: &Stage, browser: &Browser) {
    say(browser, "write \"Buy bread.\" to list.txt");
    browser.wait_for_text(".chat-question .card", "list.txt");
    assert!(!desk.path("work/list.txt").exists(), "it was written before anybody was asked");
    browser.wait_for(
        "presses count",
        "return document.querySelector('.chat-question [data-press=allow][aria-disabled=false]')",
    );
    // What is typed is a message, and no answer, until the question has the focus.
    browser.click("[data-message]");
    browser.press_keys("a");
    browser.press_keys(BACKSPACE);
    browser.press_keys(ARROW_UP);
    assert!(!desk.path("work/list.txt").exists(), "a letter of a message has allowed it");
    browser.press_keys("a");
    wait_for_answer(browser, "list.txt");
    assert_eq!(fs::read_to_string(desk.path("work/list.txt")).unwrap(), "Buy bread.");
    browser.wait_until_gone(".chat-question");
}

#[test]
fn what_a_turn_changed_is_shown_and_undone_in_the_page() {
    let Some((desk, browser)) = desk_with_page() else { return };
    begin(&desk, &browser);
    say(&browser, "replace milk with bread in notes.txt");
    let allow = || {
        browser.wait_for(
            "presses count",
            "return document.querySelector('.chat-question [data-press=allow][aria-disabled=false]')",
        );
        browser.click(".chat-question [data-press=allow]");
        browser.wait_until_gone(".chat-question");
    };
    allow();
    browser.wait_for_text("[data-diff]", "Changed 1 file");
    assert_eq!(fs::read_to_string(desk.path("work/notes.txt")).unwrap(), "Buy bread.\n");
    browser.click("[data-diff]");
    browser.wait_for_text(".turn-changes .line.added, .turn-changes .added", "Buy bread.");
    browser.wait_for_text(".turn-changes", "notes.txt");
    // Somebody has changed the file since.
    fs::write(desk.path("work/notes.txt"), "Buy cake.\n").unwrap();
    browser.click("[data-undo]");
    browser.wait_for_text(".turn-changes", "has changed since the turn ended");
    assert_eq!(browser.count("[data-undo-rest]"), 1);
    fs::write(desk.path("work/notes.txt"), "Buy bread.\n").unwrap();
    // The line is there again after a reload.
    browser.reload();
    wait_until_live(&browser);
    browser.wait_for_text("[data-diff]", "Changed 1 file");
    browser.click("[data-undo]");
    browser.wait_for_text(".chat-question .card", "Buy milk.");
    allow();
    browser.wait_for_text(".turn-changes", "Undone");
    assert_eq!(fs::read_to_string(desk.path("work/notes.txt")).unwrap(), "Buy milk.\n");
    assert_open_to_all(&browser);
    assert_eq!(browser.complaints(), Vec::<String>::new());
    desk.assert_chain();
}

fn the_last_message_is_edited_and_answered_again(browser: &Browser) {
    browser.click("[data-edit-last]");
    browser.wait_for(
        "the message",
        "return document.querySelector('[data-message]').value.includes('Buy bread.')",
    );
    say(browser, "read list.txt");
    wait_for_answer(browser, "Buy bread.");
    assert_eq!(browser.count("[data-turn]"), 2, "the edited message takes the place of the last");
    let before = last_turn(browser);
    browser.click("[data-regenerate]");
    browser.wait_for(
        "another answer",
        &format!(
            "const last = [...document.querySelectorAll('[data-turn]')].at(-1);
            return last.dataset.turn !== {before} && last.dataset.over === 'true'
                && last.innerText.includes('Buy bread.')"
        ),
    );
    assert_eq!(browser.count("[data-turn]"), 2);
}

#[test]
fn two_windows_show_the_same_conversation() {
    let Some((desk, one)) = desk_with_page() else { return };
    begin(&desk, &one);
    say(&one, "read notes.txt");
    wait_for_answer(&one, "Buy milk.");
    let other = Browser::start(1280, 900).unwrap();
    let key = one.run("return localStorage.getItem('callgate.key')", &json!([]));
    let address = one.run("return location.origin", &json!([]));
    let address = address.as_str().unwrap();
    other.run_before_pages(&format!("localStorage.setItem('callgate.key', {key})"));
    other.open(&format!("{address}/#/chat"));
    wait_until_live(&other);
    wait_for_answer(&other, "Buy milk.");
    // Both ask at once, and both show both in the same order.
    one.fill("[data-message]", "help");
    other.fill("[data-message]", "list files");
    one.click("[data-send]");
    other.click("[data-send]");
    let texts = "return [...document.querySelectorAll('[data-turn][data-over=true]')]
        .map(turn => turn.innerText.replaceAll(/\\s+/g, ' ').replace(/ Copy.*$/, ''))";
    let all = format!("return (() => {{ {texts} }})().length === 3");
    for page in [&one, &other] {
        page.wait_for("three answers", &all);
    }
    let answers = one.run(texts, &json!([]));
    assert_eq!(other.run(texts, &json!([])), answers);
    assert!(!answers.to_string().contains("waiting until"), "it has waited: {answers}");
    // What one of them changes about the conversation, the other shows.
    let title = "<b>Notes</b> \"of\" all";
    one.click("[data-conversation-menu] summary");
    one.click("[data-conversation=rename]");
    one.fill("[data-title]", title);
    one.click("[data-rename-now]");
    choose_mode(&one, "plan");
    for page in [&one, &other] {
        page.wait_for_text(".chat-pane .who", title);
        page.wait_for_text(".conversation", title);
        page.wait_for(
            "the mode",
            "return document.querySelector('[data-choice=plan][aria-pressed=true]')",
        );
        assert_eq!(page.complaints(), Vec::<String>::new());
    }
    desk.assert_chain();
}

fn last_turn(browser: &Browser) -> Value {
    browser
        .run("return [...document.querySelectorAll('[data-turn]')].at(-1).dataset.turn", &json!([]))
}

/// Files are dropped and a picture is pasted as people do it: by the browser's own events.
fn files_are_attached_by_dropping_and_pasting_them(desk: &Stage, browser: &Browser) {
    fs::write(desk.path("work/plan.txt"), "of the engine").unwrap();
    browser.drop_files(".chat-scroll", &[&desk.path("work/plan.txt")]);
    browser.wait_for("the file", "return document.querySelector('[data-file=\"plan.txt\"]')");
    assert_eq!(browser.count(".is-dragging"), 0);
    browser.drop_files(".chat-scroll", &[&desk.path("work")]);
    browser.wait_for_text(".toast", "work cannot be attached");
    let permissions = json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
    browser.cdp("Browser.grantPermissions", &permissions);
    let copied = browser.run_async(
        "const [picture, done] = arguments;
        const dot = Uint8Array.from(atob(picture), one => one.charCodeAt(0));
        const item = new ClipboardItem({ 'image/png': new Blob([dot], { type: 'image/png' }) });
        navigator.clipboard.write([item]).then(() => done(true), (error) => done(`${error}`));",
        &json!([DOT]),
    );
    assert_eq!(copied, true);
    browser.click("[data-message]");
    browser.press_together(PASTE);
    browser.wait_for("the picture", "return document.querySelector('[data-file$=\".png\"] img')");
    say(browser, "help");
    wait_for_answer(browser, "list files");
    browser.wait_for_text("[data-turn]:last-of-type .bubble", "plan.txt");
    browser.wait_for_text("[data-turn]:last-of-type .bubble", ".png");
    assert_eq!(browser.count("[data-file]"), 0);
}

/// Ctrl and V as `WebDriver` names them.
pub(crate) const PASTE: &str = "\u{e009}v";

/// A picture of one point.
pub(crate) const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn conversations_are_listed_and_searched(browser: &Browser) {
    browser.click("[data-new]");
    browser.wait_until_gone("[data-turn]");
    say(browser, "system info");
    wait_for_answer(browser, "system info");
    browser.wait_for(
        "two conversations",
        "return document.querySelectorAll('.conversation').length === 2",
    );
    browser.fill("[data-search-chats]", "notes");
    browser.wait_for(
        "the one that was searched",
        "return document.querySelectorAll('.conversation').length === 1",
    );
    // Also by words that were said in it, and in any order.
    browser.fill("[data-search-chats]", "BREAD buy");
    browser.wait_for(
        "the one in which it was said",
        "return document.querySelectorAll('.conversation').length === 1",
    );
    browser.fill("[data-search-chats]", "zebra");
    browser.wait_for_text(".list-pane .end-note", "No conversations match");
    browser.fill("[data-search-chats]", "bread");
    browser.wait_for("it is found", "return document.querySelector('.conversation')");
    browser.click(".conversation");
    wait_for_answer(browser, "help");
    // What came before is loaded from the history.
    browser.wait_for("all", "return document.querySelectorAll('[data-turn]').length === 3");
}

fn a_conversation_is_renamed_copied_and_deleted(browser: &Browser) {
    let choose = |name: &str| {
        browser.click("[data-conversation-menu] summary");
        browser.click(&format!("[data-conversation={name}]"));
    };
    let listed = browser.count(".conversation");
    browser.click("[data-new]");
    say(browser, "read notes.txt");
    wait_for_answer(browser, "Buy milk.");
    choose("rename");
    browser.fill("[data-title]", "The notes");
    browser.click("[data-rename-now]");
    browser.wait_for_text(".chat-pane .who", "The notes");
    let _ = browser.run(
        "navigator.clipboard.writeText = async (text) => { window.copied = text; };
        HTMLAnchorElement.prototype.click = function () { window.saved = this.download; };",
        &json!([]),
    );
    browser.click("[data-copy-answer]");
    browser.wait_for("the answer", "return window.copied?.includes('Buy milk.')");
    choose("export");
    browser.wait_for("the file", "return window.saved === 'The-notes.md'");
    choose("delete");
    browser.click("[data-sure]");
    browser.wait_for(
        "one less",
        &format!("return document.querySelectorAll('.conversation').length === {listed}"),
    );
    assert!(!browser.text(".list-scroll").contains("The notes"));
}

fn the_state_is_shown_and_the_runtime_restarted(browser: &Browser) {
    // The history says what the tools did, and not with which arguments they were called.
    let _ = browser.run("location.hash = '#/history'", &json!([]));
    browser.wait_for_text(".history-list", "read notes.txt");
    assert!(!browser.text(".history-list").contains("{\"path\""));
    let _ = browser.run("location.hash = '#/status'", &json!([]));
    browser.wait_for_text("[data-fact=engine]", "offline");
    browser.wait_for_text("[data-fact=state]", "Idle");
    browser.wait_for_text("[data-fact=length]", "messages");
    browser.click("[data-restart]");
    browser.wait_for(
        "a young process",
        "const age = document.querySelector('[data-fact=uptime]')?.innerText;
        return /^(\\d+ ms|[0-4](\\.\\d)? s)$/.test(age)",
    );
    let _ = browser.run("location.hash = '#/chat'", &json!([]));
    browser.wait_for("a runtime", "return document.querySelector('[data-send]:not([disabled])')");
}

fn a_conversation_is_cleared(browser: &Browser) {
    say(browser, "read list.txt");
    wait_for_answer(browser, "Buy bread.");
    browser.click("[data-clear]");
    browser.click("[data-sure]");
    browser.wait_until_gone("[data-turn]");
    browser.reload();
    wait_until_live(browser);
    browser.wait_for("a runtime", "return document.querySelector('[data-send]:not([disabled])')");
    assert_eq!(browser.count("[data-turn]"), 0, "what was cleared does not come back");
}

const ANSWER: &str = "# The ledger\n\nIt is **whole**.\n\n```rust\nfn main() {}\n```\n\n\
    <img src=x onerror=\"window.taken=1\"> [a link](javascript:window.taken=1)";

#[test]
fn an_answer_of_a_model_is_streamed_shown_and_stopped() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let long = (0..4_000).map(|at| format!("word{at}")).collect::<Vec<_>>().join(" ");
    let options = json!([{"label": "Red", "description": "warm"}, {"label": "Blue"}]);
    let question = json!({"question": "Which colour?", "options": options});
    let ask = || Turn::tool_use("ask_user", json!({"questions": [question]}));
    let model = Messages::start([
        ask(),
        Turn::text("So be it."),
        ask(),
        Turn::text("It stays as it is."),
        Turn::new().thinking("The tests come first.").and_text(ANSWER).pieces(3),
        Turn::text(long).pieces(8),
        Turn::text("It never ends, because the test stops it here.").pieces(4).stall_after(6),
        Turn::tool_use("write_file", json!({"path": "list.txt", "content": "Buy bread."}))
            .pieces(8)
            .stall_after(5),
    ]);
    let stage = Stage::without_phone_unstarted();
    let mut command = stage.callgate(&["up"]);
    command.env("ANTHROPIC_API_KEY", "sk-test").env("ANTHROPIC_BASE_URL", model.url());
    let _terminal = Terminal::spawn(&command);
    stage.home.wait_for_desk();
    browser.open(&link(&stage));
    wait_until_live(&browser);
    begin(&stage, &browser);
    a_question_is_answered_in_a_form(&browser, &model);
    say(&browser, "Is it whole?");
    wait_for_answer(&browser, "It is whole.");
    browser.wait_for("a heading", "return document.querySelector('.reply-text h1')");
    browser.wait_for("a way to copy", "return document.querySelector('.reply-text pre .copy')");
    browser.wait_for("thoughts", "return document.querySelector('.thinking')");
    // Where there is little room, only the cost is shown.
    browser.wait_for(
        "what it has taken",
        "return document.querySelector('[data-meter]')?.textContent.includes(' out')",
    );
    assert_eq!(browser.run("return window.taken === undefined", &json!([])), true);
    assert_eq!(browser.count("img[src=x], a[href^=javascript]"), 0);

    say(&browser, "Count");
    browser.wait_for(
        "its beginning",
        "const texts = document.querySelectorAll('.reply-text .markdown p');
        const first = texts[texts.length - 1];
        return first?.innerText.includes('word0') && (window.first = first)",
    );
    wait_for_answer(&browser, "word3999");
    let is_same =
        "return [document.contains(window.first), window.first.innerText.includes('word3999')]";
    assert_eq!(browser.run(is_same, &json!([])), json!([true, true]), "it was drawn anew");
    a_reader_stays_and_jumps_to_the_latest(&browser);

    say(&browser, "Go on");
    browser.wait_for_text("[data-turn]:last-of-type .answer", "It");
    browser.click("[data-stop]");
    wait_for_answer(&browser, "Stopped.");
    browser.wait_until_gone("[data-stop]");

    // A call that was stopped while it was written never ran.
    say(&browser, "Write it down");
    browser.wait_for_text("[data-tool=write_file] summary code", "{");
    browser.click("[data-stop]");
    wait_for_answer(&browser, "Stopped.");
    assert_eq!(browser.text("[data-tool=write_file] .failed"), "not finished");
    assert_eq!(browser.count("[data-tool=write_file] .is-good"), 0);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

fn a_question_is_answered_in_a_form(browser: &Browser, model: &Messages) {
    say(browser, "Paint it");
    browser.wait_for_text(".chat-question .question-form", "Which colour?");
    assert_eq!(browser.count(".question-form input[type=radio]"), 3);
    assert_open_to_all(browser);
    // The form is there again after a reload.
    browser.reload();
    wait_until_live(browser);
    browser.wait_for_text(".chat-question .question-form", "Which colour?");
    browser.wait_for(
        "presses count",
        "return document.querySelector('.question-form:not([data-settling])')",
    );
    browser.fill(".question-form input[type=text]", "rather green");
    browser.click(".question-form [data-answer]");
    wait_for_answer(browser, "So be it.");
    browser.wait_until_gone(".chat-question");
    let told = &model.last().tool_results()[0].text;
    assert!(told.contains("rather green"), "{told}");
    // A question that somebody declines is no failure.
    say(browser, "Paint it once more");
    browser.wait_for_text(".chat-question .question-form", "Which colour?");
    browser.wait_for(
        "presses count",
        "return document.querySelector('.question-form:not([data-settling])')",
    );
    browser.click(".question-form [data-decline]");
    wait_for_answer(browser, "It stays as it is.");
    let card = "[data-turn]:last-of-type [data-tool=ask_user] .failed";
    assert_eq!(browser.text(card), "no answer");
}

/// Somebody who has scrolled up stays there, with a way back to the end.
fn a_reader_stays_and_jumps_to_the_latest(browser: &Browser) {
    let is_at_end = "const box = document.getElementById('chat-scroll');
        return box.scrollHeight - box.scrollTop - box.clientHeight < 60";
    browser.wait_for("the end", is_at_end);
    assert_eq!(browser.count("[data-latest]"), 0);
    browser.scroll("#chat-scroll", -600);
    browser.wait_for(
        "a way back",
        "return document.querySelector('[data-latest]')?.checkVisibility()",
    );
    assert_open_to_all(browser);
    browser.click("[data-latest]");
    browser.wait_for("the end", is_at_end);
    browser.wait_until_gone("[data-latest]");
}

/// Sends a message while the model waits, and waits until it is on the page.
fn steer(browser: &Browser, words: &str) {
    browser.fill("[data-message]", words);
    browser.click("[data-send]");
    browser.wait_for_text(".chat-inner", words);
}

fn choose_mode(browser: &Browser, mode: &str) {
    browser.click(&format!(".chat-pane [data-choice={mode}]"));
    browser.wait_for(
        mode,
        &format!("return document.querySelector('[data-choice={mode}][aria-pressed=true]')"),
    );
}

#[test]
fn a_turn_shows_its_plan_and_context_and_is_steered_and_obeys_the_mode() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let items =
        json!([{"text": "Write it", "status": "active"}, {"text": "Test", "status": "pending"}]);
    let write = || Turn::tool_use("write_file", json!({"path": "a.txt", "content": "x"}));
    let before = [
        Turn::tool_use("todo_write", json!({"items": items})),
        write(),
        Turn::text("As you wish."),
    ];
    let after = [write(), Turn::text("This is only a plan.")];
    let model =
        Messages::start(before.into_iter().chain(turns_with_failing_commands()).chain(after));
    let stage = Stage::without_phone_unstarted();
    let mut command = stage.callgate(&["up"]);
    command.env("ANTHROPIC_API_KEY", "sk-test").env("ANTHROPIC_BASE_URL", model.url());
    let _terminal = Terminal::spawn(&command);
    stage.home.wait_for_desk();
    browser.open(&link(&stage));
    wait_until_live(&browser);
    begin(&stage, &browser);
    browser.wait_for_text("[data-engine]", "Claude Sonnet 5.5");

    say(&browser, "Begin");
    browser.wait_for_text("[data-plan]", "Write it");
    browser.wait_for_text(".chat-question .card", "a.txt");
    browser.wait_for("the context", "return document.querySelector('[data-meter] meter')");
    steer(&browser, "In small steps");
    browser.wait_for(
        "presses count",
        "return document.querySelector('.chat-question [data-press=allow][aria-disabled=false]')",
    );
    browser.click(".chat-question [data-press=allow]");
    wait_for_answer(&browser, "As you wish.");
    assert_eq!(browser.count("[data-turn]"), 1, "the message is part of the turn");
    assert!(model.last().body["messages"].to_string().contains("In small steps"));
    assert!(stage.path("work/a.txt").exists());

    browser.click("[data-tool=write_file] summary");
    browser.wait_for_text("[data-tool=write_file] .tool-body", "x");
    commands_that_fail_are_no_success(&browser);

    fs::remove_file(stage.path("work/a.txt")).unwrap();
    choose_mode(&browser, "plan");
    say(&browser, "Once more");
    wait_for_answer(&browser, "This is only a plan.");
    assert!(!stage.path("work/a.txt").exists(), "nothing is changed in plan mode");
    browser.reload();
    wait_until_live(&browser);
    browser.wait_for(
        "the mode",
        "return document.querySelector('[data-choice=plan][aria-pressed=true]')",
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
    model.assert_played();
}
