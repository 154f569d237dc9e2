//! Telegram takes whatever comes out, whatever a card holds.

use callgate_wire::approval::{Callback, MAX_CALLBACK};
use proptest::prelude::*;

use super::*;

fn words() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z <>&\"';/\n]{0,40}",
        "\\PC{0,12}",
        Just("<b>x</b></code></pre>&amp;&#60;".to_owned()),
        Just("👩‍👩‍👧‍👦\u{202e}\u{200b}e\u{301}".to_owned()),
        Just("long line \n".repeat(500)),
        Just(String::new()),
        Just(" \n ".to_owned()),
    ];
    proptest::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn bodies() -> impl Strategy<Value = CardBody> {
    prop_oneof![
        (words(), proptest::option::of(words()))
            .prop_map(|(command, description)| CardBody::Command { command, description }),
        (words(), words()).prop_map(|(path, content)| CardBody::Write { path, content }),
        (words(), proptest::collection::vec((words(), words(), any::<bool>()), 0..40)).prop_map(
            |(path, changes)| {
                let change = |(old, new, everywhere)| FileChange { old, new, everywhere };
                CardBody::Edit { path, changes: changes.into_iter().map(change).collect() }
            }
        ),
        (words(), words(), words()).prop_map(|(path, change, source)| CardBody::Notebook {
            path,
            change,
            source
        }),
        (words(), proptest::option::of(words()))
            .prop_map(|(url, prompt)| CardBody::Fetch { url, prompt }),
        words().prop_map(CardBody::Plan),
        proptest::collection::vec(words(), 0..4).prop_map(CardBody::Questions),
        (words(), proptest::option::of(words()))
            .prop_map(|(question, details)| CardBody::Question { question, details }),
        (words(), words(), words()).prop_map(|(server, tool, input)| CardBody::Mcp {
            server,
            tool,
            input
        }),
        words().prop_map(CardBody::Other),
    ]
}

fn cards() -> impl Strategy<Value = Card> {
    let offers = (words(), words()).prop_map(|(meaning, lasts)| offer(&meaning, &lasts));
    let choice = (words(), proptest::option::of(words()))
        .prop_map(|(label, description)| CardChoice { label, description, action: String::new() });
    let picker = (words(), proptest::collection::vec(choice, 1..5), any::<bool>())
        .prop_map(|(question, choices, many)| CardPicker { question, choices, many });
    let names = (words(), words(), words(), words());
    let said = (proptest::option::of(words()), proptest::option::of(words()));
    let offers = proptest::collection::vec(offers, 0..9);
    let pickers = proptest::collection::vec(picker, 0..4);
    (bodies(), names, said, offers, pickers, any::<bool>()).prop_map(
        |(
            body,
            (agent, project, session, tool),
            (last_words, because),
            offers,
            pickers,
            can_stop,
        )| {
            let names = Card { agent, project, session, tool, ..card(body) };
            Card { last_words, because, offers, pickers, can_stop, ..names }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn telegram_takes_every_look(card in cards(), mark in words()) {
        let look = QuestionLook::open(&card, &[vec![0], vec![]]);
        check_html(&look.html);
        let keyboard = look.buttons.unwrap();
        let rows = keyboard["inline_keyboard"].as_array().unwrap();
        let buttons: Vec<_> = rows.iter().flat_map(|row| row.as_array().unwrap()).collect();
        assert!(buttons.len() <= 100);
        for button in buttons {
            let data = button["callback_data"].as_str().unwrap();
            assert!(data.len() <= MAX_CALLBACK && Callback::parse(data).is_some());
            assert!(!button["text"].as_str().unwrap().trim().is_empty(), "{button}");
        }
        let mark = QuestionMark { state: MarkState::Denied, text: mark };
        check_html(&QuestionLook::marked(&card, &mark).html);
        check_html(&retired(&card.id, &mark.text));
        let presser = Presser { user: 7, name: mark.text, private: false, message: Some(3) };
        for purpose in [ReplyPurpose::Deny, ReplyPurpose::Answer, ReplyPurpose::Confirm] {
            let asked = ask_words(&card, 7, Some(&presser), purpose);
            check_html(asked["text"].as_str().unwrap());
        }
        match full(&card, 7) {
            FullQuestion::Pages(pages) => {
                for page in pages {
                    check_html(page["text"].as_str().unwrap());
                    assert!(!page["text"].as_str().unwrap().contains("more character"));
                }
            }
            FullQuestion::File { content, caption, .. } => {
                assert!(!content.is_empty());
                check_html(&caption);
            }
        }
    }
}
