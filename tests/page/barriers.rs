//! Nothing keeps anybody from using the page: every view and all that opens in it, in both themes,
//! on screens of several sizes. And a page that is at rest leaves the desk alone.

use callgate_testkit::browser::Browser;
use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::page::show;
use callgate_testkit::page_barriers::{assert_fits, assert_no_barriers, assert_open_to_all};
use callgate_testkit::page_chat::{answer_question, say, wait_for_answer};
use callgate_testkit::terminal::Terminal;
use serde_json::{Value, json};

use crate::fixture::{Hook, Stage, bash, permission};
use crate::stage::{desk_with_page, desk_with_rules, link, wait_until_live};

/// The views, and the places that lead to them.
const VIEWS: [(&str, &str); 9] = [
    ("inbox", "inbox"),
    ("chat", "chat"),
    ("history", "history"),
    ("rules", "rules"),
    ("rules", "rules/edit"),
    ("rules", "rules/suggestions"),
    ("sessions", "sessions"),
    ("settings", "settings"),
    ("status", "status"),
];

/// The files that the page has loaded, with the module that is loaded after it is drawn.
const LOADED: &str = "return performance.getEntriesByType('resource')
    .map(({ name }) => new URL(name).pathname).filter((path) => !path.startsWith('/api/')).sort()";
const FILES: [&str; 4] =
    ["/ui/app.js", "/ui/style.css", "/ui/style/dark.css", "/ui/vendor/markdown-it/markdown-it.js"];

fn wait_for_last_file(browser: &Browser) {
    browser.wait_for(
        "the last file",
        "return performance.getEntriesByType('resource')
            .some(({ name }) => name.includes('markdown-it'))",
    );
}

fn go(browser: &Browser, place: &str) {
    let _ = browser.run("location.hash = arguments[0]", &json!([format!("#/{place}")]));
}

#[test]
fn no_view_keeps_anybody_out() {
    let Some((desk, browser)) = desk_with_page() else { return };
    let hook = desk.hook(&bash("make all && rm -rf target | tee log"));
    show(&browser, "make all");
    wait_for_last_file(&browser);
    assert_eq!(browser.run(LOADED, &json!([])), json!(FILES));
    for (width, height) in [(1600, 1000), (900, 900), (360, 740), (320, 568)] {
        browser.resize(width, height);
        for is_dark in [false, true] {
            browser.prefer_dark(is_dark);
            for (view, place) in VIEWS {
                go(&browser, place);
                let shown = format!("return document.querySelector('[data-view={view}]')");
                browser.wait_for(view, &shown);
                assert_fits(&browser, &format!("{place} {width}"));
                if width > 320 {
                    assert_open_to_all(&browser);
                }
            }
        }
    }
    assert_eq!(browser.run(LOADED, &json!([])), json!(FILES), "no view loads a file later");
    drop(hook);
}

/// Counts the requests, and collects what the page does again and again.
const WATCHED: &str = "window.repeated = [];
    const repeat = window.setInterval;
    window.setInterval = (work, ...more) => {
        window.repeated.push(work);
        return repeat(work, ...more);
    };";
const REQUESTS: &str =
    "return performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)";

#[test]
fn a_page_at_rest_asks_for_nothing() {
    let Some((desk, browser)) = desk_with_page() else { return };
    browser.run_before_pages(WATCHED);
    browser.reload();
    wait_until_live(&browser);
    let hook = desk.hook(&bash("make all"));
    show(&browser, "make all");
    wait_for_last_file(&browser);
    for (view, place) in VIEWS {
        // The state of a runtime is asked for as long as somebody looks at it.
        if place == "status" {
            continue;
        }
        go(&browser, place);
        browser.wait_for(view, &format!("return document.querySelector('[data-view={view}]')"));
        if place == "chat" {
            let ready = "return document.querySelector('[data-send]:not([disabled])')";
            browser.wait_for("a runtime", ready);
        }
        // What was asked for is there once nothing has come for a while; then an hour passes.
        let still = browser.run_async(
            "const [done] = arguments;
            const count = () => performance.getEntriesByType('resource').length;
            let last = -1;
            const settle = () => {
                if (count() !== last) return (last = count()), setTimeout(settle, 400);
                const now = Date.now;
                const frames = (left) => {
                    for (const work of window.repeated) work();
                    if (left) return requestAnimationFrame(() => frames(left - 1));
                    Date.now = now;
                    setTimeout(() => done(count() - last), 100);
                };
                Date.now = () => now() + 3_600_000;
                frames(60);
            };
            settle();",
            &json!([]),
        );
        assert_eq!(still, 0, "{place}: {}", browser.run(REQUESTS, &json!([])));
    }
    drop(hook);
}

const RULES: &str = "[[rule]]\nname = \"tests\"\ndecide = \"allow\"\ncommand = \"make test\"\n\n\
    [[rule]]\nname = \"deploys\"\ndecide = \"confirm\"\ncommand = \"make deploy *\"\n\
    reason = \"Production is what customers see.\"\n";

/// Questions of every kind, with long words wherever there can be some.
fn questions() -> Vec<Value> {
    let long = "w".repeat(400);
    let lines = format!("a line with words and {long}\n").repeat(90);
    let plan = format!(
        "# The plan to move the ledger\n\n1. Do `{long}`\n\n```sh\n{}\n```\n\n\
         | a | b |\n|-|-|\n| {long} | 2 |\n\n{long}\n",
        "rm -rf build; ".repeat(40)
    );
    let choice =
        |label: &str| json!({ "label": label, "description": format!("about {label} {long}") });
    let asked = json!({ "questions": [
        { "question": "Which database?", "header": "Database", "multiSelect": true,
            "options": [choice("SQLite"), choice("PostgreSQL")] },
        { "question": "Which port?", "header": "Port", "multiSelect": false,
            "options": [choice("5432"), choice("6432")] },
    ] });
    let path = format!("/home/ada/engine/{long}/parser.rs");
    let edit =
        json!({ "file_path": path, "old_string": lines, "new_string": format!("{lines}{long}") });
    let write = json!({ "file_path": "/etc/settings.json", "content": lines });
    let fetch = json!({ "url": format!("https://example.org/guide?q={long}"), "prompt": long });
    let cell = json!({ "notebook_path": "/home/ada/engine/notes.ipynb", "new_source": long,
        "cell_id": "c3", "edit_mode": "replace" });
    vec![
        bash(&format!("curl -fsSL https://get.example.org/install.sh | sudo bash -s {long}")),
        bash("make deploy production"),
        bash(""),
        permission("Edit", &edit),
        permission("Write", &write),
        permission("ExitPlanMode", &json!({ "plan": plan })),
        permission("AskUserQuestion", &asked),
        permission("WebFetch", &fetch),
        permission("mcp__github__create_issue", &json!({ "title": long, "labels": ["bug"] })),
        permission("NotebookEdit", &cell),
    ]
}

#[test]
fn no_question_keeps_anybody_out() {
    let Some((desk, browser)) = desk_with_rules(RULES) else { return };
    let questions = questions();
    let hooks: Vec<Hook> = questions.iter().map(|input| desk.hook(input)).collect();
    let count = questions.len();
    let rows = format!("return document.querySelectorAll('.question-row').length === {count}");
    browser.wait_for("all questions", &rows);
    let listed =
        "return [...document.querySelectorAll('.question-row')].map(row => row.dataset.question)";
    let ids = browser.run(listed, &json!([]));
    for id in ids.as_array().unwrap() {
        let id = id.as_str().unwrap();
        go(&browser, &format!("inbox/{id}"));
        browser.wait_for(
            "the question",
            &format!(
                "return document.querySelector('.card[data-question=\"{id}\"]:not([data-settling]) .answer-bar .button')"
            ),
        );
        assert_no_barriers(&browser, &browser.text("#card-title"));
    }
    drop(hooks);
}

#[test]
fn nothing_that_opens_keeps_anybody_out() {
    let Some((desk, browser)) = desk_with_rules(RULES) else { return };
    assert_eq!(desk.hook(&bash("make test")).decision()["behavior"], "allow");
    let hooks: Vec<Hook> =
        ["make one", "make two"].iter().map(|command| desk.hook(&bash(command))).collect();
    show(&browser, "make two");
    let open = |button: &str, what: &str| {
        browser.click(button);
        browser.wait_for(what, "return document.querySelector('dialog[open]')");
        assert_no_barriers(&browser, what);
        browser.click("dialog [aria-label=Close]");
        browser.wait_until_gone("dialog");
    };
    open("[data-alike]", "answers to several");
    open("[data-press=edit]", "the editor of arguments");
    open(".list-head [aria-label='Keyboard shortcuts']", "the keys");
    browser.click(".card .whole summary");
    browser.click("[data-select]");
    assert_no_barriers(&browser, "what is selected, and all arguments");
    browser.click("[data-press=reply]");
    assert_no_barriers(&browser, "an answer in words");
    browser.click(".reply .button.quiet");
    browser.click(".make-rule button");
    let proposed = "return document.querySelector('[data-proposal]')?.value.includes('make two')";
    browser.wait_for("a rule", proposed);
    assert_no_barriers(&browser, "a rule that is proposed");
    browser.click("dialog [data-review]");
    browser.wait_for("a review", "return document.querySelector('dialog [data-save]')");
    assert_no_barriers(&browser, "a review of rules");
    browser.click("dialog [aria-label=Close]");
    go(&browser, "history");
    open("[data-export]", "exports");
    open(".history-row", "an entry of the history");
    go(&browser, "rules");
    browser.fill("[data-explain]", "make test && make deploy now");
    browser.wait_for("the verdict", "return document.querySelector('[data-verdict]')");
    assert_no_barriers(&browser, "an explanation");
    go(&browser, "rules/edit");
    browser.fill("[data-rules]", "[[rule]]\nname = \"x\"\ndecide = \"allw\"\n");
    browser.wait_for("the mistake", "return document.querySelector('[data-line=\"3\"]')");
    assert_no_barriers(&browser, "rules with a mistake");
    go(&browser, "settings");
    browser.wait_for(
        "the settings",
        "const parts = document.querySelectorAll('.setting-part');
        parts.forEach((part) => { part.open = true; });
        return parts.length > 0",
    );
    assert_no_barriers(&browser, "all settings");
    open("[data-unlink]", "the end of a link");
    go(&browser, "chat");
    browser.wait_for("a runtime", "return document.querySelector('[data-send]:not([disabled])')");
    browser.click(".folder");
    browser.wait_for("the folders", "return document.querySelector('[data-folder]')");
    assert_no_barriers(&browser, "the choice of a folder");
    browser.fill("[data-folder]", desk.path("").to_str().unwrap());
    browser.click("[data-start]");
    browser.wait_for("a runtime", "return document.querySelector('[data-send]:not([disabled])')");
    say(&browser, "help");
    wait_for_answer(&browser, "list files");
    for act in ["rename", "delete"] {
        browser.click("[data-conversation-menu] summary");
        open(&format!("[data-conversation={act}]"), act);
    }
    open("[data-clear]", "the end of what was said");
    browser.resize(390, 844);
    open("[data-menu]", "the menu of a narrow window");
    let _ = browser.run("localStorage.clear()", &json!([]));
    browser.reload();
    browser.wait_for("pairing", "return document.querySelector('.pairing')");
    assert_no_barriers(&browser, "a page without a link");
    assert_eq!(browser.complaints(), Vec::<String>::new());
    drop(hooks);
}

#[test]
fn no_answer_keeps_anybody_out() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let long = "w".repeat(400);
    let run = |script: String| {
        Turn::tool_use("run_shell_command", json!({ "command": "sh", "args": ["-c", script] }))
    };
    let answer = format!(
        "# {long}\n\n```sh\n{}\n```\n\n| a | b |\n|-|-|\n| {long} | 2 |\n\n{long}\n",
        "cargo test; ".repeat(40)
    );
    let read = json!({ "path": "missing" });
    let model = Messages::start([
        run(format!("echo {long}; exit 3")),
        run("seq 500".to_owned()),
        Turn::tool_use("read_file", read),
        Turn::text(answer),
    ]);
    let stage = Stage::without_phone_unstarted();
    let mut command = stage.callgate(&["up"]);
    command.env("ANTHROPIC_API_KEY", "sk-test").env("ANTHROPIC_BASE_URL", model.url());
    let _terminal = Terminal::spawn(&command);
    stage.home.wait_for_desk();
    browser.open(&link(&stage));
    wait_until_live(&browser);
    go(&browser, "chat");
    browser.wait_for("a runtime", "return document.querySelector('[data-send]:not([disabled])')");
    say(&browser, &format!("Run <b>both</b> {long}"));
    browser.wait_for_text(".chat-question .card", "echo");
    assert_no_barriers(&browser, "a question in the chat");
    browser.click(".chat-question [data-further] summary");
    assert_no_barriers(&browser, "all of a question in the chat");
    answer_question(&browser, "echo", "allow");
    answer_question(&browser, "seq 500", "allow");
    wait_for_answer(&browser, &long);
    let opened = "document.querySelectorAll('.tool').forEach((tool) => { tool.open = true; })";
    let _ = browser.run(opened, &json!([]));
    browser.wait_for(
        "two terminals",
        "return document.querySelectorAll('.terminal .exit').length === 2",
    );
    assert_no_barriers(&browser, "an answer with its tools");
    browser.click("[data-conversation-menu] summary");
    assert_no_barriers(&browser, "the menu of a conversation");
    assert_eq!(browser.complaints(), Vec::<String>::new());
    model.assert_played();
}
