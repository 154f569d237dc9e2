//! Whatever comes in, the strict API takes what comes out.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::history::tests::strict::{Strict, read, repair, show, tool_use, values};
use crate::message::MediaSource;

fn check(input: &str, expected: &str) {
    let mended = repair(read(input));
    assert_eq!(show(&mended), expected, "{input}");
    Strict::start().assert_takes(&mended);
}

#[test]
fn what_is_right_stays_as_it_is() {
    for input in [
        "",
        "u hi",
        "u hi | a hello",
        "u hi [png] | a # ?x ?y | u !y !x and | a # #r done | u more",
        "u hi | a # said # ?x | u !x | a ?z | u !z",
    ] {
        check(input, input);
    }
}

#[test]
fn a_tool_use_without_a_result_gets_one() {
    check("u hi | a ?x", "u hi | a ?x | u !x?");
    check("u hi | a ?x ?y | u !y", "u hi | a ?x ?y | u !y !x?");
    check("u hi | a ?x | u more | a ok", "u hi | a ?x | u !x? more | a ok");
    check("u hi | a ?x | a ?y | u !y", "u hi | a ?x | u !x? | a ?y | u !y");
    check("u hi | a ?x | u more | u !x", "u hi | a ?x | u !x more");
    check("u hi | a ?x ?y | u !x | u more", "u hi | a ?x ?y | u !x !y? more");
}

#[test]
fn a_result_without_its_use_goes() {
    check("u hi !x", "u hi");
    check("u hi | a ?x | u !x !x", "u hi | a ?x | u !x");
    check("u hi | a ?x | u !x | u !x", "u hi | a ?x | u !x");
    check("u hi | a ?x | u !x | a ok | u !x on", "u hi | a ?x | u !x | a ok | u on");
    check("u hi | a ?x | u said !x", "u hi | a ?x | u !x said");
    check("a ?x | u !x | a ok", "");
    check("u hi | a ok | u !x | u on", "u hi | a ok | u on");
    check("u hi | u on", "u hi on");
}

#[test]
fn ids_are_used_once() {
    check("u hi | a ?x ?x | u !x !x", "u hi | a ?x | u !x");
    check("u hi | a ?x | u !x | a again ?x | u !x on", "u hi | a ?x | u !x | a again | u on");
    check("u hi | a ?ä", "u hi");
    check("u hi | a ? so", "u hi | a so");
}

#[test]
fn what_is_empty_goes_and_the_rest_is_joined() {
    check("u _ hi _", "u hi");
    check("u hi | a _ | u on", "u hi on");
    check("u | a hello | u hi", "u hi");
    check("u hi | a one | a two ?x | u !x", "u hi | a one two ?x | u !x");
}

#[test]
fn thoughts_need_a_signature_and_something_behind_them() {
    check("u hi | a #- # said", "u hi | a # said");
    check("u hi | a said # #r", "u hi | a said");
    check("u hi | a #", "u hi");
}

#[test]
fn nobody_says_what_only_the_other_may() {
    check("u hi # ?x #r", "u hi");
    check("u hi | a ok [png] !x", "u hi | a ok");
    check("u hi !x", "u hi");
    check("u hi [bad]", "u hi");
    let mended = repair(vec![
        ChatMessage::user(vec![Block::text("hi")]),
        ChatMessage::assistant(vec![Block::text("so"), tool_use("x", "[1]")]),
    ]);
    assert_eq!(show(&mended), "u hi | a so");
}

#[test]
fn of_aged_messages_the_thoughts_go() {
    let mut mender = Mender::default();
    for (number, message) in (0..).zip(read("u hi | a # ?x | u !x | a # ok | u on | a # yes")) {
        mender.push(number, message, number < 4);
    }
    let messages: Vec<&ChatMessage> = mender.messages().iter().map(AsRef::as_ref).collect();
    assert_eq!(show(messages), "u hi | a ?x | u !x | a ok | u on | a # yes");
    let without = without_thoughts(&mender.messages().to_vec());
    assert_eq!(show(without.iter().map(AsRef::as_ref)).matches('#').count(), 0);
    assert!(Arc::ptr_eq(&without[0], &mender.messages()[0]), "what has none is not copied");
}

#[test]
fn after_a_gap_thoughts_are_about_something_else() {
    let mut mender = Mender::default();
    for (number, message) in (0..).zip(read("u hi | a # ok | u on | a # yes")) {
        if number == 2 {
            mender.note_unreadable();
        }
        mender.push(number, message, false);
    }
    assert_eq!(show(mender.messages().iter().map(AsRef::as_ref)), "u hi | a # ok | u on | a yes");
}

#[test]
fn the_last_note_about_the_mode_is_known() {
    let mut mender = Mender::default();
    let (plan, over) = (ModeNote::Plan, ModeNote::PlanIsOver);
    let turns = [
        (&[][..], None),
        (&[plan], Some(plan)),
        (&[], Some(plan)),
        (&[over, plan], Some(plan)),
        (&[plan, over], Some(over)),
    ];
    for (number, (notes, known)) in (0..).zip(turns) {
        let mut user = read("u hi").remove(0);
        user.content.extend(notes.iter().map(|note| note.into_block()));
        mender.push(2 * number, user, false);
        mender.push(2 * number + 1, read("a ok").remove(0), false);
        assert_eq!(mender.mode_note(), known, "after turn {number}");
    }
}

#[test]
fn tokens_are_estimated_once_but_the_last_message_may_grow() {
    let mut mender = Mender::default();
    assert_eq!(mender.tokens(), 0);
    let all = "u hi | a ?x | u !x | u more and more | u words | a ok | a and so on ?y | u next";
    for (number, message) in (0..).zip(read(all)) {
        mender.push(number, message, false);
        assert_eq!(mender.tokens(), messages_tokens(mender.messages().iter()), "up to {number}");
    }
    mender.close_tool_uses();
    assert_eq!(mender.tokens(), messages_tokens(mender.messages().iter()));
}

#[test]
fn each_message_knows_how_many_came_until_its_end() {
    let mut mender = Mender::default();
    mender.begin_with_summary(10, read("u summary").remove(0));
    for (number, message) in (10..).zip(read("u hi | a ?x | u more | u even | a ok ?y")) {
        mender.push(number, message, false);
    }
    mender.close_tool_uses();
    let messages = mender.messages();
    assert_eq!(
        show(messages.iter().map(AsRef::as_ref)),
        "u summary hi | a ?x | u !x? more even | a ok ?y | u !y?"
    );
    let ends: Vec<u64> = (0..=5).map(|count| mender.end_of(count)).collect();
    assert_eq!(ends, [0, 11, 12, 14, 15, 15]);
}

fn any_text() -> impl Strategy<Value = String> {
    select(&["", " ", "\n\t", "hi", "some words", "\u{0}", "ä"][..]).prop_map(str::to_owned)
}

fn any_id() -> impl Strategy<Value = String> {
    select(&["", "a", "b", "c", "d", "toolu_01", "with space", "ä"][..]).prop_map(str::to_owned)
}

fn any_source() -> impl Strategy<Value = MediaSource> {
    let kinds = select(&["image/png", "image/gif", "application/pdf", "text/plain", ""][..]);
    let data = select(&["", "iVBORw0KGgoAAAAN", "R0lGODlh", "JVBERi0x", "abc", "####"][..]);
    (kinds, data).prop_map(|(kind, data)| MediaSource::Base64 {
        media_type: kind.to_owned(),
        data: data.to_owned(),
    })
}

fn any_block() -> impl Strategy<Value = Block> {
    let inputs = select(&["{}", r#"{"a":[1]}"#, "[]", "null", "1"][..]);
    prop_oneof![
        3 => any_text().prop_map(|text| Block::Text { text }),
        1 => any_source().prop_map(|source| Block::Image { source }),
        1 => any_source().prop_map(|source| Block::Document { source, title: None }),
        1 => (any_text(), select(&["", "sig"][..])).prop_map(|(thinking, signature)| {
            Block::Thinking { thinking, signature: signature.to_owned() }
        }),
        1 => select(&["", "data"][..])
            .prop_map(|data| Block::RedactedThinking { data: data.to_owned() }),
        5 => (any_id(), inputs).prop_map(|(id, input)| tool_use(&id, input)),
        5 => (any_id(), any_text(), any::<bool>()).prop_map(|(tool_use_id, content, is_error)| {
            Block::ToolResult { tool_use_id, content: content.into(), is_error }
        }),
    ]
}

fn any_messages() -> impl Strategy<Value = Vec<ChatMessage>> {
    let role = select(&[Role::User, Role::Assistant][..]);
    let content = prop::collection::vec(any_block(), 0..5);
    let message = (role, content).prop_map(|(role, content)| ChatMessage { role, content });
    prop::collection::vec(message, 0..12)
}

#[test]
fn the_strict_api_takes_whatever_was_mended() {
    let strict = Strict::start();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) };
    proptest!(config, |(messages in any_messages())| {
        let mended = repair(messages);
        strict.assert_takes(&mended);
        let before = values(&mended);
        let again = repair(mended);
        prop_assert_eq!(values(&again), before);
        prop_assert!(again.first().is_none_or(|first| first.role == Role::User));
        prop_assert!(again.windows(2).all(|pair| pair[0].role != pair[1].role));
    });
}

/// Turns as a well-behaved model makes them.
fn right_messages() -> impl Strategy<Value = Vec<ChatMessage>> {
    let round = (1_usize..4, any::<bool>());
    let turn = prop::collection::vec(round, 0..3);
    prop::collection::vec(turn, 0..5).prop_map(|turns| {
        let mut messages = Vec::new();
        let mut id = 0;
        for rounds in turns {
            messages.extend(read("u question"));
            for (tools, thinks) in rounds {
                let ids: Vec<String> = (id..id + tools).map(|id| format!("t{id}")).collect();
                id += tools;
                let uses: String = ids.iter().map(|id| [" ?", id].concat()).collect();
                let results: String = ids.iter().rev().map(|id| [" !", id].concat()).collect();
                let thought = if thinks { " #" } else { "" };
                messages.extend(read(&format!("a{thought}{uses} | u{results}")));
            }
            messages.extend(read("a # answer"));
        }
        messages
    })
}

#[test]
fn what_a_well_behaved_model_says_is_not_touched() {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) };
    proptest!(config, |(messages in right_messages())| {
        let before = values(&messages);
        let after = repair(messages);
        prop_assert_eq!(values(&after), before);
    });
}
