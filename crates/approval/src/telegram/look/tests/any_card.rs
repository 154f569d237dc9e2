//! Telegram takes whatever comes out, whatever a card holds.

use callgate_wire::approval::{Callback, MAX_CALLBACK};
use callgate_wire::desk::{FileOperation, InboxRow, PatchedFile, QuestionCard};
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

fn bodies() -> impl Strategy<Value = CardContent> {
    let changes = || {
        let texts = (words(), words(), any::<bool>());
        proptest::collection::vec(texts.prop_map(|(old, new, all)| change(&old, &new, all)), 0..40)
    };
    let file = (words(), changes()).prop_map(|(path, changes)| PatchedFile {
        operation: FileOperation::Update,
        moved_to: Some(path.clone()),
        note: None,
        path,
        changes,
    });
    prop_oneof![
        words().prop_map(|text| command(&text)),
        (words(), words()).prop_map(|(path, content)| CardContent::Write {
            path,
            content,
            lines: 1
        }),
        (words(), changes()).prop_map(|(path, changes)| CardContent::Edit { path, changes }),
        proptest::collection::vec(file, 0..20).prop_map(|files| CardContent::Patch { files }),
        (words(), words(), words()).prop_map(|(path, what, content)| CardContent::Notebook {
            path,
            what,
            content
        }),
        (words(), proptest::option::of(words()))
            .prop_map(|(url, what)| CardContent::Fetch { url, what }),
        words().prop_map(|markdown| CardContent::Plan { markdown }),
        (words(), proptest::option::of(words()))
            .prop_map(|(question, detail)| CardContent::Ask { question, detail }),
        (words(), words(), words()).prop_map(|(server, tool, input)| CardContent::Mcp {
            server,
            tool,
            input
        }),
        words().prop_map(|input| CardContent::Other { input }),
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
            let mut card = card(body);
            card.row = InboxRow { agent, project, session, tool, because, ..card.row.clone() };
            card.shown = QuestionCard { last_words, offers, pickers, can_stop, ..card.shown };
            card
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn telegram_takes_every_look(card in cards(), mark in words()) {
        let look = QuestionLook::of_open(&card, &[vec![0], vec![]]);
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
        check_html(&QuestionLook::of_marked(&card, &mark).html);
        check_html(&outcome_text(&card.id, MarkState::Settled, &mark.text));
        let presser = Presser { user: 7, name: mark.text, private: false, message: Some(3) };
        for purpose in [ReplyPurpose::Deny, ReplyPurpose::Answer, ReplyPurpose::Confirm] {
            let asked = ask_words(&card, 7, Some(&presser), purpose);
            check_html(asked["text"].as_str().unwrap());
        }
        match full_question(&card, 7) {
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
