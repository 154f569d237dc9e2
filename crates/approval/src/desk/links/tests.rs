//! Who is linked, who may change it, and who hears of it.

use std::time::Duration;

use callgate_store::EntryDraft;
use callgate_wire::approval::{Action, Press, RequestId};

use super::super::tests::{ADA, ada, authority, failed_ledger, id, settings};
use super::super::{Authority, DeskInput, DeskOutput, DeskSettings, DeskTime};
use super::*;
use crate::channel::{ChannelOrder, ChannelReport, Person, PersonPlace};

const NOW: DeskTime = DeskTime { mono: Duration::ZERO, wall_ms: 0 };
const CODE: &str = "ABCD2345";

fn reply_to() -> ReplyTo {
    ReplyTo::Viewer { viewer: 1, id: "1".to_owned() }
}

/// A process of the desk's user, which may be the agent itself.
fn process(paired: bool) -> Person {
    Person::new(PersonPlace::Viewer { viewer: 1, paired, process: Some(42) }, "x")
}

fn new_code(number: u64, who: Person, is_first: bool) -> DeskInput {
    DeskInput::NewCode {
        code: CODE.to_owned(),
        id: id(number),
        who,
        is_for_page: false,
        is_first,
        reply_to: reply_to(),
    }
}

fn unpair(number: u64, link: &str, who: Person) -> DeskInput {
    DeskInput::Unpair { link: link.to_owned(), id: id(number), who, reply_to: reply_to() }
}

/// Uses the code, as its user does.
fn use_code(desk: &mut Desk, chat: i64, user: i64) -> DeskStep {
    let place = PersonPlace::Telegram { chat, user, private: chat == user };
    let (name, rest) = ("pair".to_owned(), " abcd-2345".to_owned());
    let who = Person::new(place, "Bob");
    desk.handle(
        NOW,
        DeskInput::News(ChannelReport::Command { who, name, rest, reply_to: reply_to() }),
    )
}

fn pair(desk: &mut Desk, chat: i64, user: i64) -> DeskStep {
    desk.handle(NOW, new_code(99, process(true), false));
    use_code(desk, chat, user)
}

fn press(desk: &mut Desk, who: Person, question: RequestId, action: Action) -> DeskStep {
    let (press, reply_to) = (Press::Button(action), ReplyTo::Callback("c".to_owned()));
    desk.handle(
        NOW,
        DeskInput::News(ChannelReport::Pressed {
            who,
            question,
            press,
            confirm: None,
            reply_to,
            copy: None,
        }),
    )
}

/// What the viewer is told about what it wants.
fn told(step: &DeskStep) -> Option<(bool, &str)> {
    step.outputs.iter().find_map(|output| match output {
        DeskOutput::Viewer { done, text, .. } => Some((*done, text.as_str())),
        _ => None,
    })
}

fn waits(step: &DeskStep) -> bool {
    step.outputs.iter().any(|output| matches!(output, DeskOutput::Waiting { viewer: 1, .. }))
}

/// Which chats are told something, and what.
fn said(step: &DeskStep) -> Vec<(&[i64], &str)> {
    let said = step.outputs.iter().filter_map(|output| match output {
        DeskOutput::Phones(ChannelOrder::Say { chats, text })
        | DeskOutput::Terminal(ChannelOrder::Say { chats, text }) => {
            Some((chats.as_slice(), text.as_str()))
        }
        _ => None,
    });
    said.collect()
}

fn asked(step: &DeskStep) -> Option<&str> {
    step.outputs.iter().find_map(|output| match output {
        DeskOutput::Phones(ChannelOrder::Show { card, .. }) => match &card.body {
            callgate_wire::desk::CardContent::Ask { question, .. } => Some(question.as_str()),
            other => panic!("{other:?}"),
        },
        _ => None,
    })
}

fn is_good(desk: &mut Desk) -> bool {
    use_code(desk, 9, 9).records.iter().any(|draft| draft.kind == "paired")
}

#[test]
fn only_the_first_link_of_a_fresh_desk_is_trusted() {
    let mut desk = Desk::new(settings(), Authority::default(), crate::telegram::is_cut_in_message);
    let step = desk.handle(NOW, new_code(1, process(false), true));
    assert_eq!(told(&step), Some((true, "The code can be used.")));
    assert!(is_good(&mut desk));
    // The chain has had a link by now, also if the link is gone again.
    let step = desk.handle(NOW, new_code(2, process(false), false));
    assert!(told(&step).is_none() && waits(&step), "{:?}", step.outputs);
    assert!(!is_good(&mut desk), "the code is not good before somebody says yes");
    // Whoever may answer by the settings is somebody to ask.
    let mut desk = Desk::new(settings(), authority(), crate::telegram::is_cut_in_message);
    assert!(waits(&desk.handle(NOW, new_code(1, process(false), true))));
}

#[test]
fn a_code_needs_a_yes_of_somebody_who_is_linked() {
    for (action, is_allowed) in [(Action::Allow, true), (Action::Deny, false)] {
        let mut desk = Desk::new(settings(), authority(), crate::telegram::is_cut_in_message);
        let step = desk.handle(NOW, new_code(1, process(false), false));
        let question = asked(&step).unwrap();
        assert!(question.contains("(process 42) asks for a code"), "{question}");
        assert_eq!(step.records[0].kind, "asked", "it is in the ledger like any question");
        let nobody = press(&mut desk, process(false), id(1), Action::Allow);
        assert!(told(&nobody).is_none(), "whoever asks cannot answer");
        let step = press(&mut desk, ada(), id(1), action);
        let expected = if is_allowed {
            (true, "The code can be used.")
        } else {
            (false, "Ada did not allow it.")
        };
        assert_eq!(told(&step), Some(expected));
        assert_eq!(is_good(&mut desk), is_allowed);
        assert_eq!(desk.open_count(), 0);
    }
}

#[test]
fn without_anybody_to_ask_nothing_is_changed() {
    let mut desk = Desk::new(settings(), Authority::default(), crate::telegram::is_cut_in_message);
    let step = desk.handle(NOW, new_code(1, process(false), false));
    let (done, text) = told(&step).unwrap();
    assert!(!done && text.starts_with("Nobody who may allow this has answered."), "{text}");
    assert!(!is_good(&mut desk) && !waits(&step));
    // Nor when nobody answers in time.
    let mut desk = Desk::new(settings(), authority(), crate::telegram::is_cut_in_message);
    desk.handle(NOW, new_code(1, process(false), false));
    let later = DeskTime { mono: Duration::from_mins(6), wall_ms: 0 };
    let step = desk.handle(later, DeskInput::Tick);
    assert!(matches!(told(&step), Some((false, _))));
    assert!(!is_good(&mut desk));
}

#[test]
fn the_desks_own_terminal_may_say_yes() {
    let mut desk = Desk::new(
        DeskSettings { terminal: true, ..settings() },
        Authority::default(),
        crate::telegram::is_cut_in_message,
    );
    desk.handle(NOW, new_code(1, process(false), false));
    let who = Person::new(PersonPlace::Terminal, "ada");
    let step = press(&mut desk, who, id(1), Action::Allow);
    assert_eq!(told(&step), Some((true, "The code can be used.")));
    assert!(is_good(&mut desk));
}

#[test]
fn an_unpaired_process_cannot_unlink_anybody_without_a_word() {
    let mut desk = Desk::new(settings(), Authority::default(), crate::telegram::is_cut_in_message);
    pair(&mut desk, ADA, ADA);
    pair(&mut desk, 8, 8);
    let step = desk.handle(NOW, unpair(1, "chat/7", process(false)));
    assert!(waits(&step) && step.records.iter().all(|draft| draft.kind != "unpaired"));
    let question = asked(&step).unwrap();
    assert!(question.contains("asks to unlink “Bob” (Telegram chat 7)."), "{question}");
    assert!(desk.authority.chats.contains(&ADA));
    // Whoever holds the phone cannot keep it linked.
    let kept = press(&mut desk, ada(), id(1), Action::Deny);
    assert!(told(&kept).is_none());
    let bob = PersonPlace::Telegram { chat: 8, user: 8, private: true };
    let bob = Person::new(bob, "Bob");
    let step = press(&mut desk, bob, id(1), Action::Allow);
    assert_eq!(told(&step), Some((true, "The link is gone.")));
    assert!(!desk.authority.chats.contains(&ADA));
    let text = "“Bob” (Telegram chat 7) was unlinked by Bob.";
    let heard = said(&step);
    assert_eq!(heard.len(), 1);
    assert!(heard[0].0 == [ADA, 8] && heard[0].1.starts_with(text), "{heard:?}");
}

#[test]
fn whoever_may_answer_may_link_and_unlink() {
    let mut desk = Desk::new(settings(), authority(), crate::telegram::is_cut_in_message);
    let step = desk.handle(NOW, new_code(1, process(true), false));
    assert_eq!(told(&step), Some((true, "The code can be used.")));
    assert!(is_good(&mut desk));
    let step = desk.handle(NOW, unpair(2, "chat/9", process(true)));
    assert_eq!(told(&step), Some((true, "The link is gone.")));
    let step = desk.handle(NOW, unpair(3, "chat/9", process(false)));
    assert_eq!(told(&step), Some((false, "There is no such link.")));
}

#[test]
fn a_viewer_that_goes_takes_its_question_along() {
    let mut desk = Desk::new(settings(), authority(), crate::telegram::is_cut_in_message);
    desk.handle(NOW, new_code(1, process(false), false));
    let step = desk.handle(NOW, DeskInput::ViewerLeft(1));
    assert_eq!(step.records.last().unwrap().kind, "closed");
    press(&mut desk, ada(), id(1), Action::Allow);
    assert!(!is_good(&mut desk), "a late yes changes nothing");
}

#[test]
fn a_ledger_that_fails_forgets_what_was_wanted() {
    let mut desk = Desk::new(settings(), authority(), crate::telegram::is_cut_in_message);
    desk.handle(NOW, new_code(1, process(false), false));
    let step = desk.handle(NOW, failed_ledger());
    assert!(matches!(told(&step), Some((false, _))));
    assert!(!is_good(&mut desk));
}

#[test]
fn what_the_settings_allow_stays_allowed() {
    let mut desk = Desk::new(settings(), authority(), crate::telegram::is_cut_in_message);
    let step = desk.handle(NOW, unpair(1, "chat/7", process(true)));
    assert_eq!(told(&step), Some((false, "There is no such link.")), "never linked with a code");
    pair(&mut desk, ADA, ADA);
    let step = desk.handle(NOW, unpair(1, "chat/7", process(true)));
    let (done, text) = told(&step).unwrap();
    assert!(done && text.ends_with("The settings still let it answer."), "{text}");
    assert_eq!(step.keeps, [("paired/chat/7".to_owned(), None)]);
    assert!(desk.authority.chats.contains(&ADA));
}

#[test]
fn who_was_linked_in_a_group_is_two_links() {
    let mut desk = Desk::new(settings(), authority(), crate::telegram::is_cut_in_message);
    let step = pair(&mut desk, -200, 8);
    let EntryDraft { kind, body, .. } = &step.records[0];
    assert!(kind == "paired" && body.contains(r#""links":["chat/-200","user/8"]"#), "{body}");
    assert!(desk.authority.chats.contains(&-200) && desk.authority.users.contains(&8));
    let step = desk.handle(NOW, unpair(1, "chat/-200", process(true)));
    assert_eq!(told(&step), Some((true, "The link is gone.")));
    assert_eq!(step.records[0].kind, "unpaired");
    assert_eq!(step.records[0].body, r#"{"link":"chat/-200","by":"x"}"#);
    assert!(!desk.authority.chats.contains(&-200) && desk.authority.users.contains(&8));
    desk.handle(NOW, unpair(2, "user/8", process(true)));
    assert!(!desk.authority.users.contains(&8));
}

#[test]
fn links_are_told_to_all_with_what_they_are_in_muted_chats_too() {
    let mut desk = Desk::new(
        DeskSettings { terminal: true, ..settings() },
        authority(),
        crate::telegram::is_cut_in_message,
    );
    let mute = ChannelReport::Command {
        who: ada(),
        name: "mute".to_owned(),
        rest: "1h".to_owned(),
        reply_to: reply_to(),
    };
    desk.handle(NOW, DeskInput::News(mute));
    let check = |step: &DeskStep, chats: &[i64], text: &str| {
        let heard = said(step);
        assert_eq!(heard.iter().map(|(chats, _)| *chats).collect::<Vec<_>>(), [chats, &[]]);
        assert!(heard.iter().all(|(_, said)| said.starts_with(text)), "{heard:?}");
    };
    let all = [-100, ADA];
    check(&pair(&mut desk, 9, 9), &all, "“Bob” (Telegram chat 9) was linked.");
    let all = [-100, ADA, 9];
    let group = "“Bob” (Telegram user 8, in groups), in the chat -200, was linked.";
    check(&pair(&mut desk, -200, 8), &all, group);
    desk.handle(NOW, new_code(1, process(true), false));
    let (code, name) = (CODE.to_owned(), "Ada at her\nterminal".to_owned());
    let token_hash = "2f0c6d5e9b8a47f3".to_owned();
    let step =
        desk.handle(NOW, DeskInput::PairViewer { code, name, token_hash, reply_to: reply_to() });
    let all = [-200, -100, ADA, 9];
    check(&step, &all, "“Ada at her⏎terminal” (viewer 2f0c6d5e9b8a) was linked.");
    let step = desk.handle(NOW, unpair(2, "viewer/2f0c6d5e9b8a47f3", process(true)));
    let text = "“Ada at her⏎terminal” (viewer 2f0c6d5e9b8a) was unlinked by x.";
    check(&step, &all, text);
    let lock = step.outputs.iter().find_map(|output| match output {
        DeskOutput::Lock { hash, text } => Some((hash.as_str(), text.as_str())),
        _ => None,
    });
    let (hash, why) = lock.unwrap();
    assert!(hash == "2f0c6d5e9b8a47f3" && why.starts_with(text), "{why}");
    // Whoever is unlinked hears of it as well.
    let step = desk.handle(NOW, unpair(3, "chat/9", process(true)));
    check(&step, &all, "“Bob” (Telegram chat 9) was unlinked by x.");
}

/// The desk's terminal asks for a code for a page.
fn page_code(desk: &mut Desk, now: DeskTime) -> DeskStep {
    let who = Person::new(PersonPlace::Terminal, "Ada");
    let (code, reply_to) = (CODE.to_owned(), ReplyTo::Key);
    let input =
        DeskInput::NewCode { code, id: id(98), who, is_for_page: true, is_first: false, reply_to };
    desk.handle(now, input)
}

fn pair_page(desk: &mut Desk, now: DeskTime, token_hash: &str) -> DeskStep {
    let (code, name) = (CODE.to_owned(), "The page".to_owned());
    let token_hash = token_hash.to_owned();
    desk.handle(now, DeskInput::PairViewer { code, name, token_hash, reply_to: reply_to() })
}

fn after(seconds: u64) -> DeskTime {
    DeskTime { mono: Duration::from_secs(seconds), wall_ms: 0 }
}

#[test]
fn a_code_for_a_page_is_made_at_the_terminal_and_good_for_a_minute() {
    let mut desk = Desk::new(settings(), authority(), crate::telegram::is_cut_in_message);
    let step = page_code(&mut desk, NOW);
    assert_eq!(step.records[0].kind, "code");
    assert!(asked(&step).is_none(), "whoever sits at the terminal needs no yes");
    assert!(!is_good(&mut desk), "it links no chat");
    assert_eq!(told(&pair_page(&mut desk, after(59), "aa")), Some((true, "Linked.")));
    page_code(&mut desk, after(60));
    let late = pair_page(&mut desk, after(120), "bb");
    assert_eq!(told(&late), Some((false, "This code is not valid, or has expired.")));
}

#[test]
fn a_page_code_that_is_used_twice_revokes_the_link_and_tells_everybody() {
    let mut desk = Desk::new(settings(), authority(), crate::telegram::is_cut_in_message);
    page_code(&mut desk, NOW);
    pair_page(&mut desk, NOW, "aa@http://127.0.0.1:7420");
    // Long after the code was good.
    let step = pair_page(&mut desk, after(3_000), "bb@http://127.0.0.1:7420");
    let (done, text) = told(&step).unwrap();
    assert!(!done && text.starts_with("This code was used before"), "{text}");
    let kinds: Vec<&str> = step.records.iter().map(|draft| draft.kind.as_str()).collect();
    assert_eq!(kinds, ["unpaired"]);
    let heard = said(&step);
    assert!(!heard.is_empty());
    for (_, text) in heard {
        let expected = "The code of “The page” (viewer aa@http://12) was used a second time";
        assert!(text.starts_with(expected), "{text}");
    }
    let locks = |output: &DeskOutput| matches!(output, DeskOutput::Lock { hash, .. } if hash == "aa@http://127.0.0.1:7420");
    assert!(step.outputs.iter().any(locks));
    assert!(desk.links.is_empty(), "{:?}", desk.links);
    // A third use finds nothing to revoke.
    assert!(pair_page(&mut desk, after(3_001), "cc").records.is_empty());
}

#[test]
fn the_links_of_pages_at_another_address_are_void() {
    let mut desk = Desk::new(settings(), authority(), crate::telegram::is_cut_in_message);
    let others = ["cc", "dd@https://desk.example.org:7443"];
    for hash in ["aa@http://127.0.0.1:7420", "bb@http://localhost:7421"].iter().chain(&others) {
        page_code(&mut desk, NOW);
        pair_page(&mut desk, NOW, hash);
    }
    let origins = || vec!["http://127.0.0.1:7421".to_owned(), "http://localhost:7421".to_owned()];
    let step = desk.handle(NOW, DeskInput::PageServed { origins: origins() });
    assert_eq!(step.records.len(), 1);
    let left: Vec<&str> = desk.links.keys().map(String::as_str).collect();
    let expected =
        ["viewer/bb@http://localhost:7421", "viewer/cc", "viewer/dd@https://desk.example.org:7443"];
    assert_eq!(left, expected);
    assert!(desk.handle(NOW, DeskInput::PageServed { origins: origins() }).records.is_empty());
}
