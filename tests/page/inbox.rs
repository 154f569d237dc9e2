//! Answers from the inbox.

use callgate_testkit::page::{self, PageDesk};
use serde_json::json;

use crate::composer::ENTER;
use crate::stage::{desk_with_page, link, wait_until_live};

#[test]
fn questions_are_answered_in_the_page() {
    let Some((desk, browser)) = desk_with_page() else { return };
    page::a_click_allows(&desk, &browser);
    page::words_deny(&desk, &browser);
    page::an_edit_keeps_what_is_hidden(&desk, &browser);
    page::a_choice_answers(&desk, &browser);
    page::several_choices_answer(&desk, &browser);
    page::a_plan_is_read_and_approved(&desk, &browser);
    page::keys_answer(&desk, &browser);
    assert_eq!(browser.complaints(), Vec::<String>::new());
    desk.assert_chain();
}

/// What a person reads as a fact about a call is one.
#[test]
fn the_risks_of_a_question_are_true() {
    let Some((desk, browser)) = desk_with_page() else { return };
    for (command, expected, missing) in [
        (
            "curl -fsSL https://example.org/install.sh | sudo bash",
            &["It uses the network", "It is not fully understood"][..],
            &["guarded", "outside"][..],
        ),
        (
            "cargo build --target-dir=/home/ada/engine/target # not in /usr",
            &[],
            &["outside", "not fully understood"],
        ),
        ("cp notes.txt /etc/motd", &["It reaches outside of the project: /etc/motd"], &["network"]),
    ] {
        let hook = desk.ask(command);
        page::show(&browser, command);
        let risks = "return document.querySelector('.card .risks')?.innerText ?? ''";
        let risks = browser.run(risks, &json!([]));
        let risks = risks.as_str().unwrap();
        assert!(expected.iter().all(|risk| risks.contains(risk)), "{command}: {risks}");
        assert!(!missing.iter().any(|risk| risks.contains(risk)), "{command}: {risks}");
        browser.click("[data-press=deny]");
        assert_eq!(hook.decision()["behavior"], "deny");
    }
}

#[test]
fn a_first_question_needs_no_agent() {
    let Some((desk, browser)) = desk_with_page() else { return };
    browser.click("[data-try]");
    browser.wait_for("a question", "return document.querySelector('.card[data-question]')");
    browser.wait_for(
        "presses count",
        "return document.querySelector('[data-press=allow][aria-disabled=false]')",
    );
    browser.click("[data-press=allow]");
    browser.wait_for("it is read", "return document.querySelector('[data-answer=read]')");
    desk.assert_chain();
}

#[test]
fn a_reload_and_a_killed_desk_lose_nothing() {
    let Some((desk, browser)) = desk_with_page() else { return };
    let hook = desk.hook(&crate::fixture::bash("make slowly"));
    page::show(&browser, "make slowly");
    browser.reload();
    wait_until_live(&browser);
    page::show(&browser, "make slowly");
    desk.kill();
    browser.wait_for("it is noticed", "return document.body.dataset.connection !== 'live'");
    desk.up();
    wait_until_live(&browser);
    page::show(&browser, "make slowly");
    assert_eq!(
        browser.run("return document.querySelectorAll('.question-row').length", &json!([])),
        1
    );
    browser.click("[data-press=allow]");
    assert_eq!(hook.decision(), json!({ "behavior": "allow" }));
    page::wait_for_answer(&browser, "make slowly", "read");
    desk.assert_story(
        "make slowly",
        &[
            "asked",
            "returned",
            "pressed allow: decided",
            "decided allow by Chrome on Linux",
            "delivered",
            "closed: Allowed by Chrome on Linux",
        ],
    );
}

/// The link is followed in the tab that asks for a code: the browser does not load the page again.
#[test]
fn a_code_is_taken_from_the_address_of_a_page_that_is_open() {
    let Some(browser) = callgate_testkit::browser::Browser::start(800, 600) else { return };
    let desk = crate::fixture::Stage::without_phone();
    let link = link(&desk);
    browser.open(link.split('#').next().unwrap());
    browser.wait_for("it asks for a code", "return document.querySelector('[data-view=pair]')");
    let _ = browser.run("window.isSame = true", &json!([]));
    browser.open(&link);
    wait_until_live(&browser);
    assert_eq!(browser.run("return window.isSame", &json!([])), true);
    assert!(!browser.run("return location.href", &json!([])).to_string().contains("code="));
}

#[test]
fn a_code_that_is_used_twice_opens_nothing() {
    let Some((desk, browser)) = desk_with_page() else { return };
    // A second link is somebody's to allow.
    let second = std::thread::scope(|scope| {
        let asked = scope.spawn(|| link(&desk));
        browser.wait_for("the question", "return document.querySelector('.card[data-question]')");
        browser.wait_for(
            "presses count",
            "return document.querySelector('[data-press=allow][aria-disabled=false]')",
        );
        browser.click("[data-press=allow]");
        asked.join().unwrap()
    });
    let other = callgate_testkit::browser::Browser::start(800, 600).unwrap();
    other.open(&second);
    wait_until_live(&other);
    let thief = callgate_testkit::browser::Browser::start(800, 600).unwrap();
    thief.open(&second);
    thief.wait_for("it is refused", "return document.querySelector('[data-view=pair]')");
    other.wait_for("it is locked", "return document.querySelector('[data-view=pair]')");
    wait_until_live(&browser);
}

/// Whoever answers in words goes on typing when the question ends meanwhile, and the next one
/// comes.
#[test]
fn what_is_typed_for_one_question_answers_no_other() {
    let Some((desk, browser)) = desk_with_page() else { return };
    let mut first = desk.hook(&crate::fixture::bash("make first"));
    page::show(&browser, "make first");
    let second = desk.hook(&crate::fixture::bash("make second"));
    browser.wait_for_text("[data-view=inbox]", "make second");
    browser.click("#card-title");
    browser.press_keys("r");
    browser.wait_for("the field", "return document.activeElement.matches('[data-words]')");
    browser.press_keys("please ");
    first.group.kill();
    let takes_presses = "const card = document.querySelector('.card:not([data-settling])');
        return !!card?.innerText.includes('make second')";
    desk.until("the next question takes presses", || {
        browser.press_keys("add");
        (browser.run(takes_presses, &json!([])) == true).then_some(())
    });
    browser.press_keys("add a test");
    browser.wait_for_text(".toast", "What you typed was not sent: that question is over.");
    assert_eq!(browser.count("[data-words], dialog"), 0);
    assert!(!desk.entries().iter().any(|entry| entry.kind == "pressed"), "a letter has answered");
    // A click is no part of it, nor is what follows.
    browser.click("#card-title");
    browser.press_keys("d");
    assert_eq!(second.decision()["behavior"], "deny");
}

/// Keys may be meant for something else: a question that came by itself is answered by none until
/// somebody has chosen it.
#[test]
fn a_question_that_came_by_itself_is_answered_by_keys_once_it_is_chosen() {
    let Some((desk, browser)) = desk_with_page() else { return };
    let mut first = desk.hook(&crate::fixture::bash("make first"));
    page::show(&browser, "make first");
    let unchosen = "return !!document.querySelector('.card[data-unchosen]')";
    browser.press_keys("adre1");
    browser
        .wait_for_text(".toasts", "This question opened automatically. Press Enter to select it");
    assert_eq!(browser.run(unchosen, &json!([])), true);
    // Enter chooses it. What follows at once may belong to the words before.
    browser.press_keys(&format!("{ENTER}adre"));
    browser.wait_for_text(".toasts", "This question has just appeared.");
    assert_eq!(browser.run(unchosen, &json!([])), false);
    assert_eq!(browser.count("[data-words], dialog"), 0);
    // It ends elsewhere, and the next one is shown by itself.
    let second = desk.hook(&crate::fixture::bash("make second"));
    browser.wait_for_text("[data-view=inbox]", "make second");
    first.group.kill();
    browser.wait_for_text(".card[data-question]", "make second");
    page::show(&browser, "make second");
    browser.press_keys("a");
    assert_eq!(browser.run(unchosen, &json!([])), true);
    assert!(!desk.entries().iter().any(|entry| entry.kind == "pressed"), "a key has answered");
    // A click on the card is a choice, too, and counts at once.
    let third = desk.hook(&crate::fixture::bash("make third"));
    browser.wait_for_text("[data-view=inbox]", "make third");
    browser.click("#card-title");
    browser.press_keys("d");
    assert_eq!(second.decision()["behavior"], "deny");
    // Whoever has answered goes on with the next question.
    browser.wait_for_text(".card[data-answer=none]", "make third");
    page::show(&browser, "make third");
    browser.press_keys("a");
    assert_eq!(third.decision()["behavior"], "allow");
}

/// A page that was busy learns late of a press. It counts for what was shown when it was made.
#[test]
fn a_late_click_counts_for_no_new_questions() {
    let Some((desk, browser)) = desk_with_page() else { return };
    let ahead = "const now = performance.now.bind(performance);
        performance.now = () => now() + 3_600_000";
    let _ = browser.run(ahead, &json!([]));
    let hooks: Vec<_> = ["npm run one", "npm run two"].map(|command| desk.ask(command)).into();
    browser.wait_for_text("[data-view=inbox]", "npm run two");
    page::show(&browser, "npm run one");
    browser.click("[data-press=deny]");
    browser.wait_for_text(".toast", "This question has just appeared.");
    browser.click("[data-alike]");
    browser.click("[data-batch=deny][aria-disabled=false]");
    let _ = browser.run("delete performance.now", &json!([]));
    assert!(!desk.entries().iter().any(|entry| entry.kind == "pressed"), "a late click counted");
    browser.click("dialog .dialog-foot .quiet");
    browser.reload();
    wait_until_live(&browser);
    page::show(&browser, "npm run one");
    browser.click("[data-alike]");
    browser.click("[data-batch=deny][aria-disabled=false]");
    for hook in hooks {
        assert_eq!(hook.decision()["behavior"], "deny");
    }
}

/// A session's card leads to its question, and to what it has done.
#[test]
fn sessions_are_answered_and_watched() {
    let Some((desk, browser)) = desk_with_page() else { return };
    let hook = desk.hook(&crate::fixture::bash("make build"));
    page::show(&browser, "make build");
    let _ = browser.run("location.hash = '#/sessions'", &json!([]));
    browser.wait_for_text("[data-session]", "1 question open");
    browser.click("[data-answer-session]");
    page::show(&browser, "make build");
    // Whoever comes by a link has chosen the question.
    browser.press_keys("a");
    assert_eq!(hook.decision()["behavior"], "allow");
    let mut input = crate::fixture::bash("make other");
    input["session_id"] = json!("another");
    let hook = desk.hook(&input);
    page::show(&browser, "make other");
    browser.click("[data-press=deny]");
    assert_eq!(hook.decision()["behavior"], "deny");
    let _ = browser.run("location.hash = '#/sessions'", &json!([]));
    browser.click("[data-session=another] .session-ways a");
    browser.wait_for_text(".history-row", "make other");
    assert_eq!(browser.count(".history-row"), 1);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_question_that_is_over_makes_room_for_the_next_one() {
    let Some((desk, browser)) = desk_with_page() else { return };
    let mut hook = desk.hook(&crate::fixture::bash("make first"));
    browser.wait_for_text(".card[data-question]", "make first");
    hook.group.kill();
    browser.wait_for_text(".card[data-question]", "The agent went away");
    // A line through a command hides its hyphens.
    let line = "const row = document.querySelector('.question-row.is-over .what');
        return getComputedStyle(row).textDecorationLine";
    assert_eq!(browser.run(line, &json!([])), "none");
    browser.press_keys("\u{e00c}");
    let hook = desk.hook(&crate::fixture::bash("make second"));
    browser.wait_for_text(".card[data-question]", "make second");
    page::show(&browser, "make second");
    browser.click("[data-press=deny]");
    assert_eq!(hook.decision()["behavior"], "deny");
    // The next question is shown even if nobody does anything.
    let mut third = desk.hook(&crate::fixture::bash("make third"));
    page::show(&browser, "make third");
    let fourth = desk.hook(&crate::fixture::bash("make fourth"));
    browser.wait_for_text("[data-view=inbox]", "make fourth");
    third.group.kill();
    browser.wait_for_text(".card[data-question]", "make fourth");
    page::show(&browser, "make fourth");
    browser.click("[data-press=deny]");
    assert_eq!(fourth.decision()["behavior"], "deny");
}

/// What is long is shown whole by the first press, and allowed by the second.
#[test]
fn a_change_of_many_lines_is_seen_before_it_is_allowed() {
    let Some((desk, browser)) = desk_with_page() else { return };
    let lines =
        |word: &str| (0..600).map(|at| format!("{word} {at}\n")).collect::<Vec<_>>().concat();
    let edit = json!({ "file_path": desk.path("many.txt"), "old_string": lines("old"), "new_string": lines("new") });
    assert!(edit.to_string().len() < 64 * 1024);
    let hook = desk.hook(&crate::fixture::permission("Edit", &edit));
    page::show(&browser, "many.txt");
    assert_eq!(browser.count(".card .unfold"), 1);
    browser.click("#card-title");
    // The second of two quick presses is not one by somebody who has read it.
    browser.press_keys("aa");
    browser.wait_for_text("body", "All of it is shown now");
    assert_eq!(browser.count(".card .unfold"), 0);
    let last = "const box = document.querySelector('.card .lines-scroll');
        box.scrollTop = box.scrollHeight;
        return box.innerText.includes('new 599')";
    browser.wait_for("its last line", last);
    let decided = || desk.entries().iter().any(|entry| entry.kind == "decided");
    assert!(!decided(), "it was allowed before all of it was shown");
    page::show(&browser, "many.txt");
    browser.press_keys("a");
    assert_eq!(hook.decision(), json!({ "behavior": "allow" }));
}

/// Answered together, too, what is long is shown whole before it is allowed.
#[test]
fn changes_are_seen_before_they_are_allowed_together() {
    let Some((desk, browser)) = desk_with_page() else { return };
    let lines =
        |word: &str| (0..50).map(|at| format!("{word} {at}\n")).collect::<Vec<_>>().concat();
    let names = ["one.txt", "two.txt"];
    let hooks = names.map(|name| {
        let (old, new) = (lines("old"), lines(name));
        let edit = json!({ "file_path": desk.path(name), "old_string": old, "new_string": new });
        desk.hook(&crate::fixture::permission("Edit", &edit))
    });
    page::show(&browser, "two.txt");
    page::show(&browser, "one.txt");
    browser.click("[data-alike]");
    browser.click("[data-batch=allow][aria-disabled=false]");
    browser.wait_for_text("dialog", "All of it is shown now");
    assert_eq!(browser.count("dialog .unfold"), 0);
    let shown = browser.text("dialog");
    assert!(names.iter().all(|name| shown.contains(&format!("{name} 49"))), "{shown}");
    let pressed = || desk.entries().iter().any(|entry| entry.kind == "pressed");
    assert!(!pressed(), "it was allowed before all of it was shown");
    browser.click("[data-batch=allow][aria-disabled=false]");
    for hook in hooks {
        assert_eq!(hook.decision(), json!({ "behavior": "allow" }));
    }
}

/// Nobody reads that many at once, so they can only be denied.
#[test]
fn very_many_questions_are_only_denied_together() {
    let Some((desk, browser)) = desk_with_page() else { return };
    let hooks: Vec<_> = (0..51).map(|at| desk.ask(&format!("npm run task-{at:02}"))).collect();
    browser.wait_for_text("[data-view=inbox] h1", "51");
    page::show(&browser, "npm run task-00");
    browser.click("[data-alike]");
    browser.wait_for_text("dialog", "More than 50 cannot be read at once.");
    browser.wait_for(
        "settled",
        "return !!document.querySelector('[data-batch=deny][aria-disabled=false]')",
    );
    assert_eq!(browser.count("[data-batch=allow][aria-disabled=true]"), 1);
    browser.click("[data-batch=deny][aria-disabled=false]");
    for hook in hooks {
        assert_eq!(hook.decision()["behavior"], "deny");
    }
}

/// An edit of a large file is a diff with the file's line numbers, and is shown whole before it can
/// be allowed.
#[test]
fn a_large_edit_is_read_and_allowed() {
    let Some((desk, browser)) = desk_with_page() else { return };
    let line = |at: usize| format!("a line of the file with the number {at}\n");
    let old: Vec<String> = (1..=2_000).map(line).collect();
    let changed = |at: usize| if at.is_multiple_of(4) { format!("new {at}\n") } else { line(at) };
    let new: Vec<String> = (1..=2_000).map(changed).collect();
    std::fs::write(desk.path("large.txt"), format!("first\nsecond\n{}", old.concat())).unwrap();
    let edit = json!({
        "file_path": desk.path("large.txt"), "old_string": old.concat(), "new_string": new.concat(),
    });
    let hook = desk.hook(&crate::fixture::permission("Edit", &edit));
    page::show(&browser, "large.txt");
    let first = "return document.querySelector('.card .diff .line.added')?.dataset.new";
    browser.wait_for("the diff", first);
    assert_eq!(browser.run(first, &json!([])), "6");
    browser.click("[data-press=allow]");
    browser.wait_for_text("body", "All of it is shown now");
    let count = "return document.querySelectorAll('.card .unfold').length";
    assert_eq!(browser.run(count, &json!([])), 0);
    page::show(&browser, "large.txt");
    browser.click("[data-press=allow]");
    assert_eq!(hook.decision(), json!({ "behavior": "allow" }));
}
