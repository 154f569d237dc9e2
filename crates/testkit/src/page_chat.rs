//! What people do in the chat of the page, in a browser and in the window of the desktop shell.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::messages::Turn;

/// Sends a message, and waits until it is the last one on the page.
pub fn say(page: &Browser, words: &str) {
    page.fill("[data-message]", words);
    page.click("[data-send]");
    page.wait_for(
        words,
        &format!(
            "const last = [...document.querySelectorAll('[data-turn] .bubble')].at(-1);
            return last?.innerText.includes({})",
            json!(words)
        ),
    );
}

/// Waits until the last answer is whole and has this in its text.
pub fn wait_for_answer(page: &Browser, text: &str) {
    page.wait_for(
        text,
        &format!(
            "const last = [...document.querySelectorAll('[data-turn]')].at(-1);
            return last?.dataset.over === 'true' && last.innerText.includes({})",
            json!(text)
        ),
    );
}

/// Answers the question in the chat that has this in its text, once presses count.
pub fn answer_question(page: &Browser, about: &str, press: &str) {
    page.wait_for_text(".chat-question .card", about);
    assert_eq!(page.count(".chat-question .card"), 1);
    let button = format!(".chat-question [data-press={press}]");
    page.wait_for(
        "presses count",
        &format!("return document.querySelector('{button}[aria-disabled=false]')"),
    );
    page.click(&button);
}

/// A command that fails, and what its card says.
struct FailingCommand {
    script: &'static str,
    seconds: f64,
    how: &'static str,
}

const FAILING_COMMANDS: [FailingCommand; 3] = [
    FailingCommand { script: "echo oops; exit 3", seconds: 30.0, how: "exit code 3" },
    FailingCommand { script: "echo oops; kill -KILL $$", seconds: 30.0, how: "SIGKILL" },
    FailingCommand { script: "echo oops; exec sleep 60", seconds: 0.2, how: "time limit" },
];

/// The turns of a model that runs commands which fail: by their exit code, by a signal and by their
/// time limit.
pub fn turns_with_failing_commands() -> impl Iterator<Item = Turn> {
    FAILING_COMMANDS.into_iter().flat_map(|FailingCommand { script, seconds, how }| {
        let input: Value =
            json!({"command": "sh", "args": ["-c", script], "timeoutSeconds": seconds});
        [Turn::tool_use("run_shell_command", input), Turn::text(format!("It has failed: {how}."))]
    })
}

/// Allows the commands of [`turns_with_failing_commands`]. Their cards have no green tick, and say
/// how they ended.
pub fn commands_that_fail_are_no_success(page: &Browser) {
    for FailingCommand { script, how, .. } in FAILING_COMMANDS {
        say(page, "Run it");
        answer_question(page, script, "allow");
        wait_for_answer(page, &format!("It has failed: {how}."));
        let card = "[data-turn]:last-of-type [data-tool=run_shell_command]";
        assert_eq!(page.text(&format!("{card} summary .failed")), how);
        assert_eq!(page.count(&format!("{card} .is-good")), 0, "{how}");
        assert_eq!(page.count(&format!("{card} .is-bad")), 1, "{how}");
        page.click(&format!("{card} summary"));
        page.wait_for_text(&format!("{card} .terminal"), "oops");
        page.wait_for_text(&format!("{card} .terminal .exit"), how);
    }
}
