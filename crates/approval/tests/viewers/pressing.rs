//! Who may press, and what comes of it.

use callgate_client::viewer::Viewer;
use callgate_testkit::until::until;
use callgate_wire::approval::{Action, Decision, Press};
use callgate_wire::desk::{DeskCommand, HiddenText};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::house::{House, button, next_of, press, request, told};

/// A house with somebody to reach, a question that is open, and its asker.
macro_rules! open_question {
    ($house:expr, $ada:ident, $id:ident, $answer:ident) => {
        let ($ada, _) = &mut $house.paired("Ada");
        $ada.watch(None).unwrap();
        let asked = request("make");
        let $id = asked.request_id.clone();
        let $answer = $house.ask(asked);
        next_of($ada, "asked");
    };
}

#[test]
fn whoever_runs_as_the_same_user_may_look_but_not_press() {
    let house = House::new();
    open_question!(house, ada, id, answer);
    let mut stranger = house.viewer();
    assert_eq!(stranger.status().unwrap().open, 1);
    for deed in [Press::Button(Action::Allow), Press::Words("yes".to_owned())] {
        let (done, text) = told(&mut stranger, press(&id, deed));
        assert!(!done && text.starts_with("You may not answer here."), "{text}");
    }
    let wrong =
        DeskCommand::Unlock { token: HiddenText::new("0".repeat(64)), origin: None, name: None };
    let (done, text) = told(&mut stranger, wrong);
    assert!(!done && text.starts_with("This token is not valid"), "{text}");
    assert!(!told(&mut stranger, button(&id, Action::Allow)).0);
    let (_, body) = next_of(ada, "pressed");
    assert_eq!((&body["channel"], &body["outcome"]), (&"viewer".into(), &"stranger".into()));
    assert_eq!(stranger.status().unwrap().open, 1, "it is still open");
    assert!(told(ada, button(&id, Action::Deny)).0);
    assert_eq!(answer.join().unwrap().unwrap().decision, Decision::Deny);
}

#[test]
fn a_token_unlocks_later_connections() {
    let house = House::new();
    let (_, token) = house.paired("Ada's page");
    let mut later = house.viewer();
    let (done, text) = told(&mut later, DeskCommand::Unlock { token, origin: None, name: None });
    assert!(done, "{text}");
    later.watch(None).unwrap();
    let asked = request("make");
    let id = asked.request_id.clone();
    let answer = house.ask(asked);
    next_of(&mut later, "asked");
    let told = told(&mut later, button(&id, Action::Allow));
    assert_eq!(told, (true, "Allowed by Ada's page".to_owned()));
    assert_eq!(answer.join().unwrap().unwrap().decision, Decision::Allow);
}

#[test]
fn words_deny_and_a_changed_input_allows() {
    let house = House::new();
    {
        open_question!(house, ada, id, answer);
        let words = press(&id, Press::Words("Only the tests.".to_owned()));
        let (done, text) = told(ada, words);
        assert!(done && text == "Denied by Ada: Only the tests.", "{text}");
        let answer = answer.join().unwrap().unwrap();
        assert_eq!(answer.decision, Decision::Deny);
        assert_eq!(answer.message.as_deref(), Some("Only the tests."));
    }
    open_question!(house, ada, id, answer);
    let changed = RawValue::from_string("{ \"command\": \"make test\" }".to_owned()).unwrap();
    let (done, text) = told(ada, press(&id, Press::Input(changed)));
    assert!(done && text == "Allowed by Ada, with changes", "{text}");
    let answer = answer.join().unwrap().unwrap();
    assert_eq!(answer.decision, Decision::Allow);
    let input: Value = serde_json::from_str(answer.updated_input.unwrap().get()).unwrap();
    assert_eq!(input["command"], "make test");
}

#[test]
fn the_second_press_changes_nothing_and_is_told_so() {
    let house = House::new();
    open_question!(house, ada, id, answer);
    assert!(told(ada, button(&id, Action::Allow)).0);
    assert_eq!(answer.join().unwrap().unwrap().decision, Decision::Allow);
    let (done, text) = told(ada, button(&id, Action::Deny));
    assert!(!done && text == "Too late. Allowed by Ada.", "{text}");
}

/// Waits until the desk knows that so many may press.
fn wait_for_paired(viewer: &mut Viewer, count: u64) {
    until("they may press", || viewer.status().unwrap().reach.viewers.paired == count);
}

#[test]
fn a_question_waits_only_while_somebody_who_may_press_is_there() {
    let house = House::new();
    let mut looking = house.viewer();
    looking.watch(None).unwrap();
    let asked = house.ask(request("make"));
    assert_eq!(asked.join().unwrap().unwrap().decision, Decision::Timeout, "nobody is there");

    let (ada, token) = house.paired("Ada");
    let (mut bob, _) = house.paired("Bob");
    bob.watch(None).unwrap();
    let asked = house.ask(request("make"));
    next_of(&mut bob, "asked");
    drop(ada);
    wait_for_paired(&mut looking, 1);
    assert!(!asked.is_finished(), "Bob is there");
    drop(bob);
    assert_eq!(asked.join().unwrap().unwrap().decision, Decision::Timeout, "they have gone");

    let mut ada = house.viewer();
    assert!(told(&mut ada, DeskCommand::Unlock { token, origin: None, name: None }).0);
    let asked = house.ask(request("make"));
    ada.watch(Some(1)).unwrap();
    next_of(&mut ada, "asked");
    assert!(!asked.is_finished(), "she is there again");
    drop(ada);
    assert_eq!(asked.join().unwrap().unwrap().decision, Decision::Timeout);
}

#[test]
fn what_a_rule_wants_confirmed_is_allowed_with_its_word() {
    let house = House::new();
    let (ada, _) = &mut house.paired("Ada");
    ada.watch(None).unwrap();
    let asked = request("make confirm all");
    let id = asked.request_id.clone();
    let answer = house.ask(asked);
    assert_eq!(next_of(ada, "asked").1["ruling"], "confirm");
    let allow = |confirm: Option<&str>| DeskCommand::Press {
        request_id: id.clone(),
        press: Press::Button(Action::Allow),
        confirm: confirm.map(str::to_owned),
    };
    let (done, text) = told(ada, allow(None));
    assert!(!done && text.ends_with("type the last word of the command to allow it."), "{text}");
    let (done, text) = told(ada, allow(Some("make")));
    assert!(!done && text.starts_with("That is not the last word of the command."), "{text}");
    assert_eq!(told(ada, allow(Some("all"))), (true, "Allowed by Ada".to_owned()));
    assert_eq!(answer.join().unwrap().unwrap().decision, Decision::Allow);
}
