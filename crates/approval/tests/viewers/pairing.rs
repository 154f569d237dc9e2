//! Codes, tokens, links, and their end.

use std::time::Instant;

use callgate_approval::desk::CODE_LIFETIME;
use callgate_client::viewer::Viewer;
use callgate_store::Store;
use callgate_wire::approval::{Action, Decision, RequestId};
use callgate_wire::desk::{DeskAnswer, DeskCommand, DeskMessage, DeskRequest, HiddenText};

use serde_json::Value;

use crate::house::{DEADLINE, House, Plain, button, next_of, request, told};

fn try_pair(viewer: &mut Viewer, code: &str) -> DeskAnswer {
    let command =
        DeskCommand::Pair { code: HiddenText::new(code), name: "Ada".to_owned(), origin: None };
    viewer.ask(command, DEADLINE).unwrap()
}

fn is_refused(answer: &DeskAnswer) -> bool {
    matches!(answer, DeskAnswer::Told { done: false, text } if text.starts_with("This code is not valid"))
}

#[test]
fn a_code_is_good_for_one_link_and_a_new_one_makes_it_void() {
    let house = House::new();
    let mut viewer = house.viewer();
    let (code, lifetime) = viewer.code().unwrap();
    assert_eq!((code.reveal().len(), lifetime), (8, CODE_LIFETIME));
    // As somebody copies it.
    let copied = format!(" {}-{} ", &code.reveal()[..4], code.reveal()[4..].to_lowercase());
    assert!(matches!(try_pair(&mut viewer, &copied), DeskAnswer::Paired { .. }));
    assert!(is_refused(&try_pair(&mut viewer, code.reveal())), "it was used");
    let (old, _) = viewer.code().unwrap();
    let (new, _) = viewer.code().unwrap();
    assert!(is_refused(&try_pair(&mut viewer, old.reveal())), "there is a new one");
    assert!(matches!(try_pair(&mut viewer, new.reveal()), DeskAnswer::Paired { .. }));
    let (guessed, _) = viewer.code().unwrap();
    for _ in 0..5 {
        assert!(is_refused(&try_pair(&mut viewer, "WRONG234")));
    }
    let answer = try_pair(&mut viewer, guessed.reveal());
    assert!(matches!(answer, DeskAnswer::Paired { .. }), "wrong codes do not void it: {answer:?}");
}

#[test]
fn neither_code_nor_token_is_written_anywhere() {
    let house = House::new();
    let mut viewer = house.viewer();
    let (code, _) = viewer.code().unwrap();
    let answer = try_pair(&mut viewer, code.reveal());
    let DeskAnswer::Paired { token } = answer else { panic!("{answer:?}") };
    let store = Store::open_read_only(&house.database()).unwrap();
    let kept = store.kept_under("").unwrap();
    assert_eq!(kept.len(), 1);
    assert!(kept[0].0.starts_with("paired/viewer/") && kept[0].1 == "Ada", "{kept:?}");
    let written = format!("{kept:?}{:?}", house.entries());
    for secret in [&code, &token] {
        assert!(!written.contains(secret.reveal()), "{written}");
    }
    let kinds: Vec<String> = house.entries().into_iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, ["started", "code", "paired"]);
}

#[test]
fn an_answer_to_another_request_of_the_same_id_frees_no_token() {
    let house = House::new();
    let (_ada, token) = house.paired("Ada");
    let link = house.viewer().links().unwrap().remove(0).link;
    let same = |command| DeskRequest { id: "same".to_owned(), command }.to_line();
    // One that will be done, and one that will not.
    let pair = DeskCommand::Pair {
        code: HiddenText::new("WRONG234"),
        name: "Mallory".to_owned(),
        origin: None,
    };
    let mut viewer = Plain::connect(&house);
    viewer.send(
        &DeskRequest {
            id: "0".to_owned(),
            command: DeskCommand::Unlock { token, origin: None, name: None },
        }
        .to_line(),
    );
    assert!(matches!(DeskMessage::decode(&viewer.receive()).unwrap(), DeskMessage::Answer { .. }));
    viewer.send(&[same(DeskCommand::Unpair { link }), same(pair)].concat());
    let mut answer = || loop {
        match DeskMessage::decode(&viewer.receive()).unwrap() {
            DeskMessage::Answer { id, answer } if id == "same" => return answer,
            DeskMessage::Locked { .. } => {}
            other => panic!("{other:?}"),
        }
    };
    let (unpaired, paired) = (answer(), answer());
    assert!(matches!(unpaired, DeskAnswer::Told { done: true, .. }), "{unpaired:?}");
    assert!(is_refused(&paired), "{paired:?}");
}

#[test]
fn a_link_outlives_a_restart_until_it_is_taken_back() {
    let mut house = House::new();
    let (viewer, token) = house.paired("Ada");
    drop(viewer);
    house.stop();
    house.start(None);
    let unlock = || DeskCommand::Unlock { token: token.clone(), origin: None, name: None };
    let mut ada = house.viewer();
    assert!(told(&mut ada, unlock()).0);
    let mut other = house.viewer();
    assert_eq!(other.status().unwrap().reach.viewers.paired, 1);
    // One more connection of the same viewer.
    let mut again = house.viewer();
    assert!(told(&mut again, unlock()).0);
    let viewers = other.status().unwrap().reach.viewers;
    assert_eq!((viewers.connected, viewers.paired), (2, 1), "Ada, and who looks");
    drop(again);
    let links = other.links().unwrap();
    assert_eq!(links.len(), 1);
    assert_eq!(links[0].name, "Ada");

    ada.watch(None).unwrap();
    let asked = request("make");
    let id = asked.request_id.clone();
    let answer = house.ask(asked);
    next_of(&mut ada, "asked");
    let link = links[0].link.clone();
    let gone = told(&mut ada, DeskCommand::Unpair { link: link.clone() });
    assert_eq!(gone, (true, "The link is gone.".to_owned()));
    // Whoever is unlinked is told, and the entry is there for all.
    let (mut locked, mut unpaired) = (None, None);
    while locked.is_none() || unpaired.is_none() {
        match ada.next(Instant::now() + DEADLINE).unwrap().unwrap() {
            DeskMessage::Locked { text } => locked = Some(text),
            DeskMessage::Entry(entry) if entry.kind == "unpaired" => unpaired = Some(entry),
            _ => {}
        }
    }
    let text = locked.unwrap();
    assert!(text.starts_with("“Ada” (viewer ") && text.contains("was unlinked by Ada."), "{text}");
    let body: Value = serde_json::from_str(unpaired.unwrap().body.get()).unwrap();
    assert_eq!(body["link"], link.as_str());
    // The question is given up with the last who could have answered it.
    assert_eq!(answer.join().unwrap().unwrap().decision, Decision::Timeout);
    let (done, text) = told(&mut ada, button(&id, Action::Allow));
    // Which of both it is told depends on whether the asker has read its answer by now.
    let is_refused = text.starts_with("You may not answer here.") || text.starts_with("Too late.");
    assert!(!done && is_refused, "{text}");
    assert_eq!(other.status().unwrap().reach.viewers.paired, 0);
    let again = told(&mut other, DeskCommand::Unpair { link });
    assert_eq!(again, (false, "There is no such link.".to_owned()));
    assert!(other.links().unwrap().is_empty());
    assert!(!told(&mut ada, unlock()).0);
    house.stop();
    house.start(None);
    assert!(!told(&mut house.viewer(), unlock()).0, "nor after a restart");
}

#[test]
fn what_is_no_link_is_not_taken_back() {
    let house = House::new();
    let mut viewer = house.viewer();
    for link in ["", "chat", "chat/x", "chat/7", "terminal/1", "viewer/", "copy/a/1/2"] {
        let told = told(&mut viewer, DeskCommand::Unpair { link: link.to_owned() });
        assert_eq!(told, (false, "There is no such link.".to_owned()), "{link}");
    }
    assert!(viewer.next(Instant::now()).unwrap().is_none());
}

/// The attack that was possible: a process of the same user, such as the agent itself, unlinks the
/// phone, links itself and presses.
#[test]
fn a_process_that_nobody_linked_can_neither_unlink_nor_link() {
    let house = House::new();
    let (mut ada, token) = house.paired("Ada");
    ada.watch(None).unwrap();
    let link = house.viewer().links().unwrap().remove(0).link;
    for command in [DeskCommand::Unpair { link: link.clone() }, DeskCommand::Code { page: false }] {
        let mut agent = Plain::connect(&house);
        agent.send(&DeskRequest { id: "1".to_owned(), command }.to_line());
        let waiting = DeskMessage::decode(&agent.receive()).unwrap();
        assert!(matches!(waiting, DeskMessage::Waiting { seconds: 60, .. }), "{waiting:?}");
        let (entry, body) = next_of(&mut ada, "asked");
        assert_eq!((&body["agent"], &body["ruling"]), (&"callgate".into(), &"guard".into()));
        let id = RequestId::parse(&entry.question.unwrap()).unwrap();
        let own = told(&mut house.viewer(), button(&id, Action::Allow));
        assert!(!own.0, "{}", own.1);
        assert_eq!(told(&mut ada, button(&id, Action::Deny)).1, "Denied by Ada");
        let refused = DeskMessage::decode(&agent.receive()).unwrap();
        let DeskMessage::Answer { answer: DeskAnswer::Told { done, text }, .. } = refused else {
            panic!("{refused:?}");
        };
        assert_eq!((done, text.as_str()), (false, "Ada did not allow it."));
    }
    assert_eq!(house.viewer().links().unwrap().len(), 1);
    assert!(
        told(&mut house.viewer(), DeskCommand::Unlock { token, origin: None, name: None }).0,
        "Ada may still answer"
    );
}

#[test]
fn a_yes_lets_a_stranger_have_a_code() {
    let house = House::new();
    let (mut ada, _) = house.paired("Ada");
    ada.watch(None).unwrap();
    let path = house.desk_socket();
    let asking = std::thread::spawn(move || {
        let mut waited = Vec::new();
        let mut viewer = Viewer::connect(&path).unwrap();
        let code = viewer.code_when_allowed(&mut |text| waited.push(text.to_owned())).unwrap().0;
        (code, waited)
    });
    let (entry, _) = next_of(&mut ada, "asked");
    let id = RequestId::parse(&entry.question.unwrap()).unwrap();
    assert_eq!(told(&mut ada, button(&id, Action::Allow)), (true, "Allowed by Ada".to_owned()));
    let (code, waited) = asking.join().unwrap();
    assert_eq!(waited.len(), 1);
    assert!(matches!(try_pair(&mut house.viewer(), code.reveal()), DeskAnswer::Paired { .. }));
}

#[test]
fn a_row_written_by_hand_links_nobody() {
    let mut house = House::new();
    house.stop();
    let token = HiddenText::new("0123456789abcdef");
    let hash = "9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f";
    let mut store = Store::open(&house.database()).unwrap();
    store.keep_value(&format!("paired/viewer/{hash}"), "Ada").unwrap();
    store.keep_value("paired/chat/666", "Ada").unwrap();
    drop(store);
    house.start(None);
    let mut viewer = house.viewer();
    assert!(viewer.links().unwrap().is_empty());
    assert!(!told(&mut viewer, DeskCommand::Unlock { token, origin: None, name: None }).0);
}
