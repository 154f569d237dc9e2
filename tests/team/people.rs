//! People of a team: they come in with an invitation, answer in a browser, and are revoked.

use callgate_testkit::browser::Browser;
use callgate_testkit::page::show;
use serde_json::{Value, json};

use super::team_house::TeamHouse;

/// Returns the link that `callgate team invite` prints for a person.
fn invite_person(house: &TeamHouse, name: &str) -> String {
    let printed = house.desk.done(&["team", "invite", name, "--person"]);
    let link = printed.split_whitespace().find(|word| word.starts_with("https://"));
    link.unwrap_or_else(|| panic!("{printed}")).to_owned()
}

fn wait_until_live(page: &Browser) {
    page.wait_for("a live page", "return document.body.dataset.connection === 'live'");
}

fn is_signed_out(page: &Browser) {
    page.wait_for("it is signed out", "return document.querySelector('[data-view=sign-in]')");
}

/// Which views the page offers.
fn views(page: &Browser) -> Value {
    page.run(
        "return [...document.querySelectorAll('.nav a.item .name')].map(it => it.textContent)",
        &json!([]),
    )
}

#[test]
fn a_person_joins_once_answers_and_is_revoked() {
    let Some(page) = Browser::start(1280, 800) else { return };
    let house = TeamHouse::new(None);
    let member = house.member("build-7");
    let link = invite_person(&house, "ada");
    page.open(&link);
    wait_until_live(&page);
    page.wait_for_text(".nav", "ada");
    assert_eq!(views(&page), json!(["Inbox", "History", "Rules", "ada"]));
    let address = page.run("return location.href", &json!([]));
    assert!(!address.to_string().contains("join="), "{address}");
    // The secret is used up.
    let thief = Browser::start(800, 600).unwrap();
    thief.open(&link);
    is_signed_out(&thief);
    thief.wait_for_text(".pairing", "was used already");

    let hook = member.ask("make one");
    show(&page, "make one");
    page.wait_for_text(".card", "on build-7");
    assert_eq!(page.count(".make-rule"), 0);
    page.click("[data-press=allow]");
    assert_eq!(hook.decision()["behavior"], "allow");
    let decided = house.desk.entries().into_iter().find(|entry| entry.kind == "decided").unwrap();
    let decided: Value = serde_json::from_str(&decided.body).unwrap();
    assert_eq!(decided["by"], "ada", "by the name in the roster");

    // What is not for a person is not reached by its address either.
    for place in ["#/settings", "#/chat", "#/sessions", "#/status", "#/rules/edit"] {
        let _ = page.run("location.hash = arguments[0]", &json!([place]));
        page.wait_for(
            place,
            "return ['inbox', 'rules'].includes(document.querySelector('.view')?.dataset.view)",
        );
        assert_eq!(page.count("textarea, [data-save], [data-setting]"), 0, "{place}");
    }
    let _ = page.run("location.hash = '#/history'", &json!([]));
    page.wait_for_text(".history-row", "on build-7");

    // The session outlives the desk, and ends with the member.
    house.desk.kill_desk();
    page.wait_for("it is noticed", "return document.body.dataset.connection !== 'live'");
    house.desk.up();
    wait_until_live(&page);
    house.desk.done(&["team", "revoke", "ada"]);
    is_signed_out(&page);
    page.open(&link);
    is_signed_out(&page);
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn a_person_signs_out_and_removes_what_is_their_own() {
    let Some(page) = Browser::start(390, 844) else { return };
    let house = TeamHouse::new(None);
    page.open(&invite_person(&house, "ada"));
    wait_until_live(&page);
    let _ = page.run("location.hash = '#/you'", &json!([]));
    page.wait_for("the links", "return document.querySelectorAll('[data-link]').length === 1");
    page.click("[data-link-phone]");
    page.wait_for_text("[data-pair-code]", "/pair ");
    page.click("[data-sign-out]");
    is_signed_out(&page);
    page.wait_for_text(".pairing", "You have signed out.");
    let standing = callgate_store::Store::open_read_only(&house.desk.database()).unwrap();
    assert!(standing.chained_links().unwrap().standing.is_empty());
    assert_eq!(page.complaints(), Vec::<String>::new());
}
