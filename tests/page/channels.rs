//! Two pages, the phone and the terminal at once: whoever is first decides, and all see it.

use callgate_testkit::browser::Browser;
use callgate_testkit::page;
use callgate_testkit::terminal::Terminal;
use serde_json::json;

use crate::fixture::{Stage, bash};
use crate::stage::{link, wait_until_live};

/// A page that Ada's phone has allowed.
fn page_of(stage: &Stage) -> Option<Browser> {
    let browser = Browser::start(1000, 800)?;
    let link = std::thread::scope(|scope| {
        let asked = scope.spawn(|| link(stage));
        stage.press(&stage.question("asks for a code"), "Allow");
        asked.join().unwrap()
    });
    browser.open(&link);
    wait_until_live(&browser);
    Some(browser)
}

/// A desk at a terminal, with Ada's phone.
fn desk_at_terminal() -> (Stage, Terminal) {
    let stage = Stage::unstarted("");
    let terminal = Terminal::spawn(&stage.callgate(&["up"]));
    stage.home.wait_for_desk();
    (stage, terminal)
}

/// Waits until both pages show how the question that they show was decided.
fn both_show(pages: [&Browser; 2], text: &str) {
    for page in pages {
        page.wait_for_text(".card[data-question]", text);
    }
}

#[test]
fn whoever_is_first_decides_and_all_see_it() {
    let (stage, mut terminal) = desk_at_terminal();
    let Some(one) = page_of(&stage) else { return };
    let Some(two) = page_of(&stage) else { return };
    let ask = |command: &str| {
        let hook = stage.hook(&bash(command));
        page::show(&one, command);
        page::show(&two, command);
        terminal.wait_for(command);
        (hook, stage.question(command))
    };
    let (hook, _) = ask("make by-phone");
    stage.press(&stage.question("make by-phone"), "Deny");
    assert_eq!(hook.decision()["behavior"], "deny");
    both_show([&one, &two], "Denied by Ada");
    both_show([&one, &two], "on the phone");
    terminal.wait_for("Denied by Ada");

    let (hook, on_phone) = ask("make by-page");
    one.click("[data-press=allow]");
    assert_eq!(hook.decision(), json!({ "behavior": "allow" }));
    stage.shows(&on_phone, "Allowed by Chrome on Linux");
    two.wait_for_text(".card[data-question]", "Allowed by Chrome on Linux");
    terminal.wait_for("Allowed by Chrome on Linux");

    let (hook, on_phone) = ask("make by-terminal");
    let id = stage.id_of("make by-terminal");
    terminal.press_until("a", |_| {
        let mut entries = stage.entries().into_iter();
        entries.any(|entry| entry.kind == "decided" && entry.question.as_ref() == Some(&id))
    });
    assert_eq!(hook.decision(), json!({ "behavior": "allow" }));
    both_show([&one, &two], "in the terminal");
    stage.shows(&on_phone, "Allowed by");
    stage.assert_chain();
    terminal.press("\u{3}");
    assert!(terminal.end().success());
}
