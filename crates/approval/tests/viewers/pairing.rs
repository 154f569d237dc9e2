//! Codes, tokens, links, and their end.

use std::time::Instant;

use callgate_approval::desk::CODE_LIFETIME;
use callgate_approval::viewer::Viewer;
use callgate_store::Store;
use callgate_wire::approval::{Action, Decision};
use callgate_wire::desk::{Answer, Command, Message, Request, Secret};

use crate::house::{DEADLINE, House, Plain, button, next_of, request, told};

fn try_pair(viewer: &mut Viewer, code: &str) -> Answer {
    let command = Command::Pair { code: Secret::new(code), name: "Ada".to_owned() };
    viewer.ask(command, DEADLINE).unwrap()
}

fn is_refused(answer: &Answer) -> bool {
    matches!(answer, Answer::Told { done: false, text } if text.starts_with("This code is not good"))
}

#[test]
fn a_code_is_good_for_one_link_and_a_new_one_makes_it_void() {
    let house = House::new();
    let mut viewer = house.viewer();
    let (code, lifetime) = viewer.code().unwrap();
    assert_eq!((code.reveal().len(), lifetime), (8, CODE_LIFETIME));
    // As somebody copies it.
    let copied = format!(" {}-{} ", &code.reveal()[..4], code.reveal()[4..].to_lowercase());
    assert!(matches!(try_pair(&mut viewer, &copied), Answer::Paired { .. }));
    assert!(is_refused(&try_pair(&mut viewer, code.reveal())), "it was used");
    let (old, _) = viewer.code().unwrap();
    let (new, _) = viewer.code().unwrap();
    assert!(is_refused(&try_pair(&mut viewer, old.reveal())), "there is a new one");
    assert!(matches!(try_pair(&mut viewer, new.reveal()), Answer::Paired { .. }));
    let (guessed, _) = viewer.code().unwrap();
    for _ in 0..5 {
        assert!(is_refused(&try_pair(&mut viewer, "WRONG234")));
    }
    assert!(is_refused(&try_pair(&mut viewer, guessed.reveal())), "somebody was guessing");
}

#[test]
fn neither_code_nor_token_is_written_anywhere() {
    let house = House::new();
    let mut viewer = house.viewer();
    let (code, _) = viewer.code().unwrap();
    let answer = try_pair(&mut viewer, code.reveal());
    let Answer::Paired { token } = answer else { panic!("{answer:?}") };
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
    let (_ada, _) = house.paired("Ada");
    let link = house.viewer().links().unwrap().remove(0).link;
    let same = |command| Request { id: "same".to_owned(), command }.to_line();
    // One that will be done, and one that will not.
    let pair = Command::Pair { code: Secret::new("WRONG234"), name: "Mallory".to_owned() };
    let mut viewer = Plain::connect(&house);
    viewer.send(&[same(Command::Unpair { link }), same(pair)].concat());
    let mut answer = || match Message::decode(&viewer.receive()).unwrap() {
        Message::Answer { id, answer } if id == "same" => answer,
        other => panic!("{other:?}"),
    };
    let (unpaired, paired) = (answer(), answer());
    assert!(matches!(unpaired, Answer::Told { done: true, .. }), "{unpaired:?}");
    assert!(is_refused(&paired), "{paired:?}");
}

#[test]
fn a_link_outlives_a_restart_until_it_is_taken_back() {
    let mut house = House::new();
    let (viewer, token) = house.paired("Ada");
    drop(viewer);
    house.stop();
    house.start(None);
    let unlock = || Command::Unlock { token: token.clone() };
    let mut ada = house.viewer();
    assert!(told(&mut ada, unlock()).0);
    let mut other = house.viewer();
    assert_eq!(other.status().unwrap().reach.viewers.paired, 1);
    let links = other.links().unwrap();
    assert_eq!(links.len(), 1);
    assert_eq!(links[0].name, "Ada");

    ada.watch(None).unwrap();
    let asked = request("make");
    let id = asked.request_id.clone();
    let answer = house.ask(asked);
    next_of(&mut ada, "asked");
    let link = links[0].link.clone();
    let gone = told(&mut other, Command::Unpair { link: link.clone() });
    assert_eq!(gone, (true, "The link is gone.".to_owned()));
    let (_, body) = next_of(&mut ada, "unpaired");
    assert_eq!(body["link"], link.as_str());
    // The question is given up with the last who could have answered it.
    assert_eq!(answer.join().unwrap().unwrap().decision, Decision::Timeout);
    let (done, text) = told(&mut ada, button(&id, Action::Allow));
    assert!(!done && text.starts_with("You may not answer here."), "{text}");
    assert_eq!(other.status().unwrap().reach.viewers.paired, 0);
    let again = told(&mut other, Command::Unpair { link });
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
        let told = told(&mut viewer, Command::Unpair { link: link.to_owned() });
        assert_eq!(told, (false, "There is no such link.".to_owned()), "{link}");
    }
    assert!(viewer.next(Instant::now()).unwrap().is_none());
}
