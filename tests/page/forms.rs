//! Questions that are no permission, as forms in the chat: they take neither the focus nor a key
//! nor the place of another question.

use callgate_testkit::browser::Browser;
use serde_json::{Value, json};

use crate::composer::{ARROW_UP, ENTER, assert_focused, message};
use crate::desktop::{
    ESCAPE, answers, calls, say, sent, shell, tell, wait_for_call, wait_for_card, wait_until_ready,
};
use callgate_testkit::page_barriers::{assert_fits, assert_open_to_all};

const FORM: &str = ".chat-question .question-form";

/// Waits for the form, and until presses on it count.
fn wait_for_form(browser: &Browser) {
    browser.wait_for_text(FORM, "Which shells?");
    browser.wait_for(
        "presses count",
        &format!("return document.querySelector('{FORM}:not([data-settling])')"),
    );
}

#[test]
fn a_form_takes_no_focus_and_counts_no_press_while_it_is_new() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    // The form arrives while the first key is down, and for a clock that is ahead it stays new.
    let _ = browser.run(
        "const now = performance.now.bind(performance);
        performance.now = () => now() + 3_600_000;
        const line = { id: 'page', kind: 'user_message', message: 'form it', metadata: { conversationId: 'c1' } };
        const ask = () => __TAURI__.core.invoke('chat_send', { line: JSON.stringify(line) });
        document.addEventListener('keydown', ask, { once: true })",
        &json!([]),
    );
    browser.press_keys("add1");
    browser.wait_for_text(FORM, "Which shells?");
    browser.click("[data-decline]");
    browser.wait_for_text(".toast", "This question has just appeared.");
    assert_eq!(sent(&browser, "question_answer"), Vec::<Value>::new());
    // A page that comes into view is as new as what it shows, by the right clock again.
    let _ = browser.run(
        "delete performance.now; document.dispatchEvent(new Event('visibilitychange'))",
        &json!([]),
    );
    browser.click("[data-message]");
    wait_for_form(&browser);
    browser.press_keys("d");
    assert_focused(&browser, "[data-message]");
    assert_eq!(message(&browser), "add1d");
    assert_open_to_all(&browser);
    for width in [1280, 390, 320] {
        browser.resize(width, 800);
        assert_fits(&browser, &format!("a form at {width}"));
    }
    browser.resize(1180, 860);

    // In the form, letters are no answers, and Escape leads back to the message.
    browser.click(".question-choice input");
    assert_focused(&browser, ".chat-question");
    browser.press_keys("ad");
    browser.press_keys(ESCAPE);
    assert_focused(&browser, "[data-message]");
    assert_eq!(calls(&browser, "window_hide"), Vec::<Value>::new());
    assert_eq!(message(&browser), "add1d");
    browser.fill(".question-choice input[type=text]", "zsh");
    browser.press_keys(ENTER);
    browser.wait_for_text(".chat-inner", "Your answer: bash and zsh.");
    browser.wait_until_gone(".chat-question");
    assert_focused(&browser, "[data-message]");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_form_and_a_card_do_not_take_each_others_place() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    // A permission is asked, then a form of the same answer.
    say(&browser, "both at once");
    wait_for_card(&browser, "make test");
    assert_eq!(browser.count(FORM), 0);
    browser.click("[data-message]");
    browser.press_keys(ARROW_UP);
    assert_focused(&browser, ".chat-question");
    browser.press_keys("d");
    wait_for_form(&browser);
    // No key that is meant for the form answers anything.
    browser.press_keys(ARROW_UP);
    assert_focused(&browser, ".chat-question");
    browser.press_keys("ad1");
    assert_eq!(answers(&browser).len(), 1);
    browser.fill(".question-choice input[type=text]", "half an ans");
    // Another permission waits until the form is done with.
    let _ = browser.run(
        "const line = { id: 'page', kind: 'user_message', message: 'run it', metadata: { conversationId: 'c1' } };
        __TAURI__.core.invoke('chat_send', { line: JSON.stringify(line) })",
        &json!([]),
    );
    wait_for_call(&browser, "waiting_changed", &json!({ "count": 2 }));
    let typed = "return document.querySelector('.question-choice input[type=text]').value";
    assert_eq!(browser.run(typed, &json!([])), "half an ans");
    browser.press_keys("wer");
    browser.click("[data-decline]");
    browser.wait_for_text(".chat-question .card", "make test");
    assert_eq!(sent(&browser, "question_answer").len(), 1);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_form_is_counted_and_notified_and_declined_from_its_notice() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    let _ = browser.run("document.hasFocus = () => false", &json!([]));
    say(&browser, "form it");
    wait_for_call(&browser, "waiting_changed", &json!({ "count": 1 }));
    let notified = calls(&browser, "notify").pop().unwrap();
    assert_eq!(notified["kind"], "Answer a question");
    assert!(!notified.to_string().contains("shells"), "a notification never has the question");
    browser.wait_for_text(".conversation[aria-current=true]", "waiting for an answer");
    let _ = browser.run("location.hash = '#/settings'", &json!([]));
    tell(&browser, &json!({ "kind": "open_question", "id": notified["id"] }));
    wait_for_form(&browser);
    tell(&browser, &json!({ "kind": "deny_question", "id": notified["id"] }));
    browser.wait_for_text(".chat-inner", "You declined.");
    wait_for_call(&browser, "waiting_changed", &json!({ "count": 0 }));
}

#[test]
fn a_command_in_place_of_a_message_is_carried_out() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    say(&browser, "hello");
    browser.wait_for_text(".chat-inner", "Good morning.");
    browser.press_keys(&format!("/compact{ENTER}"));
    browser.wait_for_text(".toast", "The model continues from a summary of 2 messages.");
    browser.click("[data-conversation-menu] summary");
    browser.click("[data-conversation=compact]");
    browser.wait_for(
        "another one",
        "return __TAURI__.fake.calls.filter(([name, { line }]) =>
        name === 'chat_send' && line.includes('\"compact\"')).length === 2",
    );
    browser.press_keys(&format!("/clear{ENTER}"));
    browser.click("[data-sure]");
    browser.wait_until_gone("[data-turn]");
    assert_eq!(message(&browser), "");
    assert_eq!(sent(&browser, "user_message").len(), 1);
}

#[test]
fn what_is_typed_while_a_message_is_sent_stays_and_a_message_that_is_not_sent_comes_back() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    let _ = browser.run(
        "const { commands } = __TAURI__.fake;
        const send = commands.chat_send;
        commands.chat_send = (sent) => new Promise((resolve, reject) => {
            window.goOn = () => resolve(send(sent));
            window.fail = () => reject({ status: 503, text: 'the runtime is away' });
        })",
        &json!([]),
    );
    browser.press_keys(&format!("hello{ENTER}and"));
    let _ = browser.run("goOn()", &json!([]));
    browser.wait_for_text(".chat-inner", "Good morning.");
    assert_eq!(message(&browser), "and");
    browser.press_keys(&format!(" more{ENTER}next"));
    let _ = browser.run("fail()", &json!([]));
    browser.wait_for_text(".toast", "the runtime is away");
    browser.wait_for(
        "both",
        "return document.querySelector('[data-message]').value === 'and more\\nnext'",
    );
}
