//! What people do in the page, step by step. Every face that shows the page has to pass these: the
//! browser today, a desktop shell with the same files.

use serde_json::{Value, json};

use crate::browser::Browser;

/// A desk whose page is open in a browser.
pub trait PageDesk {
    /// Lets an agent ask about a shell command, and returns the agent's hook, which waits.
    fn ask(&self, command: &str) -> Box<dyn WaitingHook>;

    /// Lets an agent ask about a call of any tool.
    fn ask_about(&self, tool: &str, input: &Value) -> Box<dyn WaitingHook>;
}

/// The hook of an agent, waiting for an answer.
pub trait WaitingHook {
    /// Waits for its end, and returns the decision that it printed.
    fn decision(self: Box<Self>) -> Value;
}

/// The card of the question that is shown.
const CARD: &str = ".card[data-question]";

/// A click on Allow reaches the agent, and the page says so only then.
pub fn a_click_allows(desk: &impl PageDesk, page: &Browser) {
    let hook = desk.ask("make build");
    show(page, "make build");
    // The command is the headline, below what it would do.
    assert_eq!(page.text("#card-title"), "make build");
    assert_eq!(page.text(".card-title .deed"), "Run a command");
    page.click("[data-press=allow]");
    assert_eq!(hook.decision(), json!({ "behavior": "allow" }));
    wait_for_answer(page, "make build", "read");
}

/// A denial with words reaches the agent with the words.
pub fn words_deny(desk: &impl PageDesk, page: &Browser) {
    let hook = desk.ask("make everything");
    show(page, "make everything");
    page.click("[data-press=reply]");
    page.fill("[data-words]", "Only `make test`, please.");
    page.wait_for("the press counts", SETTLED);
    page.click("[data-press=send-words]");
    let expected = json!({ "behavior": "deny", "message": "Only `make test`, please." });
    assert_eq!(hook.decision(), expected);
}

/// Arguments can be edited; what is hidden in them stays hidden and reaches the agent whole.
pub fn an_edit_keeps_what_is_hidden(desk: &impl PageDesk, page: &Browser) {
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let hook = desk.ask(&format!("curl -H 'Authorization: token {secret}' localhost/old"));
    show(page, "curl");
    let seen = page.run("return document.documentElement.outerHTML", &json!([]));
    assert!(!seen.to_string().contains(secret), "the secret is in the page");
    page.click("[data-press=edit]");
    page.wait_for("the editor", "return document.querySelector('[data-edit]')");
    let text = page.run("return document.querySelector('[data-edit]').value", &json!([]));
    let text = text.as_str().unwrap_or_default();
    assert!(text.contains("localhost/old") && !text.contains(secret), "{text}");
    page.fill("[data-edit]", &text.replace("localhost/old", "localhost/new"));
    page.click("[data-press=send-edit]");
    let decision = hook.decision();
    let command = format!("curl -H 'Authorization: token {secret}' localhost/new");
    assert_eq!(decision["updatedInput"]["command"], command, "{decision}");
}

/// Keys move through the inbox and answer.
pub fn keys_answer(desk: &impl PageDesk, page: &Browser) {
    let first = desk.ask("make first");
    show(page, "make first");
    let second = desk.ask("make second");
    page.wait_for_text("[data-view=inbox]", "make second");
    page.press_keys("j");
    page.wait_for_text(CARD, "make second");
    page.wait_for("presses count", SETTLED);
    page.press_keys("d");
    assert_eq!(second.decision()["behavior"], "deny");
    page.press_keys("k");
    page.wait_for_text(CARD, "make first");
    page.wait_for("presses count", SETTLED);
    page.press_keys("a");
    assert_eq!(first.decision()["behavior"], "allow");
    page.press_keys("?");
    page.wait_for_text("dialog[open]", "Allow");
}

/// The agent's own questions are answered by a choice, and a key makes it.
pub fn a_choice_answers(desk: &impl PageDesk, page: &Browser) {
    let choice = |label: &str| json!({ "label": label, "description": "a colour" });
    let input = json!({ "questions": [{
        "question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [choice("Red"), choice("Blue")],
    }] });
    let hook = desk.ask_about("AskUserQuestion", &input);
    show(page, "Which colour?");
    page.click("#card-title");
    page.press_keys("2");
    let answers = hook.decision()["updatedInput"]["answers"].clone();
    assert_eq!(answers, json!({ "Which colour?": "Blue" }));
}

/// Where an agent takes several choices, they are sent together.
pub fn several_choices_answer(desk: &impl PageDesk, page: &Browser) {
    let choice = |label: &str| json!({ "label": label, "description": "a shell" });
    let input = json!({ "questions": [{
        "question": "Which shells?", "header": "Shells", "multiSelect": true,
        "options": [choice("bash"), choice("fish"), choice("zsh")],
    }] });
    let hook = desk.ask_about("AskUserQuestion", &input);
    show(page, "Which shells?");
    for pick in ["pick0.0", "pick0.2"] {
        page.click(&format!("[data-press='{pick}']"));
        page.wait_for(
            "the choice is taken",
            &format!("return document.querySelector(\"[data-press='{pick}'][aria-pressed=true]\")"),
        );
    }
    page.click("[data-press=done]");
    let answers = hook.decision()["updatedInput"]["answers"].clone();
    assert_eq!(answers, json!({ "Which shells?": "bash, zsh" }));
}

/// A plan is shown as the text that it means, and a patch as a diff of each file.
pub fn a_plan_is_read_and_approved(desk: &impl PageDesk, page: &Browser) {
    let patch = "*** Begin Patch\n*** Update File: src/patched.rs\n-old words\n+new words\n\
                 *** Delete File: src/gone.rs\n*** End Patch";
    let hook = desk.ask_about("apply_patch", &json!({ "input": patch }));
    show(page, "src/patched.rs");
    page.wait_for_text(CARD, "is deleted");
    for (tone, words) in [("removed", "old words"), ("added", "new words")] {
        page.wait_for_text(&format!("{CARD} .diff .line.{tone}"), words);
    }
    assert_eq!(page.text(".card-title .deed"), "Change files");
    assert_eq!(page.text("#card-title"), "src/patched.rs, src/gone.rs");
    page.click("[data-press=deny]");
    assert_eq!(hook.decision()["behavior"], "deny");
    let plan = "# The plan\n\n1. Build **all** of it\n2. Test it";
    let hook = desk.ask_about("ExitPlanMode", &json!({ "plan": plan }));
    show(page, "The plan");
    let row = page.text(".question-row.is-current .what");
    assert_eq!(row, "The plan", "a row has no marks of Markdown");
    page.wait_for("a heading", "return document.querySelector('.card h1, .card h2, .card h3')");
    page.wait_for("bold words", "return document.querySelector('.card strong')");
    page.click("[data-press=allow]");
    assert_eq!(hook.decision()["behavior"], "allow");
}

/// A question that a rule wants confirmed is allowed by its word alone.
pub fn a_typed_word_confirms(desk: &impl PageDesk, page: &Browser) {
    let hook = desk.ask("rm -rf old-build");
    show(page, "old-build");
    page.fill("[data-confirm]", "new-build");
    page.click("[data-press=allow]");
    page.wait_for_text(".answer-bar", "word");
    page.fill("[data-confirm]", "old-build");
    page.click("[data-press=allow]");
    assert_eq!(hook.decision(), json!({ "behavior": "allow" }));
}

/// Questions that are alike are answered together, after one look at all of them.
pub fn alike_questions_are_answered_together(desk: &impl PageDesk, page: &Browser) {
    let commands = ["npm run one", "npm run two", "npm run three"];
    let hooks: Vec<_> = commands.iter().map(|command| desk.ask(command)).collect();
    for command in commands {
        page.wait_for_text("[data-view=inbox]", command);
    }
    show(page, "npm run one");
    page.click("[data-alike]");
    for command in commands {
        page.wait_for_text("dialog[open]", command);
    }
    page.click("[data-batch=deny][aria-disabled=false]");
    for hook in hooks {
        assert_eq!(hook.decision()["behavior"], "deny");
    }
}

/// Text of agents is only ever text, wherever it stands.
pub fn markup_is_only_text(desk: &impl PageDesk, page: &Browser) {
    let attack = "<img src=x onerror=\"window.taken=1\"><script>window.taken=1</script>";
    let hook = desk.ask(&format!("echo '{attack}'"));
    show(page, "<img src=x");
    page.click("[data-press=reply]");
    page.fill("[data-words]", attack);
    page.wait_for("presses count", SETTLED);
    page.click("[data-press=send-words]");
    assert_eq!(hook.decision()["message"], attack);
    let file =
        json!({ "file_path": format!("/home/ada/in-a-name-{attack}.md"), "content": attack });
    let hook = desk.ask_about("Write", &file);
    show(page, "in-a-name");
    page.click("[data-press=deny]");
    assert_eq!(hook.decision()["behavior"], "deny");
    let plan = format!("In a plan: [x](javascript:window.taken=1) {attack}");
    let hook = desk.ask_about("ExitPlanMode", &json!({ "plan": plan }));
    show(page, "In a plan");
    let link = page.run("return !!document.querySelector('a[href^=javascript]')", &json!([]));
    assert_eq!(link, false, "a link that runs a script");
    page.click("[data-press=deny]");
    assert_eq!(hook.decision()["behavior"], "deny");
    assert_eq!(page.run("return window.taken === undefined", &json!([])), true);
    let forged = page.run("return document.querySelectorAll('img[src=x]').length", &json!([]));
    assert_eq!(forged, 0);
}

/// Waits until the question with this text is the one that is shown and takes presses.
pub fn show(page: &Browser, text: &str) {
    page.wait_for_text("[data-view=inbox]", text);
    page.wait_for(
        "the question is shown",
        &format!(
            "const text = {};
            const card = document.querySelector('.card[data-answer=none]');
            if (card && card.innerText.includes(text)) return true;
            const rows = [...document.querySelectorAll('.question-row[data-answer=none] a')];
            rows.find(row => row.innerText.includes(text))?.click();
            return false",
            json!(text)
        ),
    );
    page.wait_for("presses count", SETTLED);
}

/// Waits until the answer to the question with this text has got this far.
pub fn wait_for_answer(page: &Browser, text: &str, state: &str) {
    page.wait_for(
        &format!("the answer to {text} is {state}"),
        &format!(
            "return [...document.querySelectorAll('[data-answer={state}]')]
                .some(one => one.innerText.includes({}))",
            json!(text)
        ),
    );
}

/// True once a press on the question that is shown would count.
const SETTLED: &str = "return document.querySelector('.card[data-question]')
    && !document.querySelector('[data-settling]')";
