//! Conversations that are listed, opened, continued and cut back.

use super::*;

#[test]
fn conversations_are_listed_opened_and_deleted_after_a_question() {
    let mut core = core();
    type_line(&mut core, "/list");
    let summary = |id: &str, title: &str| ConversationSummary {
        conversation_id: id.into(),
        title: Some(title.into()),
        length: 4,
        created_at: 0,
        updated_at: 0,
        folder: Some(if id == "c1" { "/nowhere" } else { "/elsewhere" }.into()),
    };
    let conversations = vec![summary("c1", "This one"), summary("c2", "The ledger")];
    let list = ConversationList { conversations, current: Some("c1".into()) };
    let listed = |core: &mut ChatCore, words: &str| {
        let words = words.to_owned();
        let errand = Errand::List { words, is_found: false };
        core.errand_done(NOW, errand, Ok(reply(SessionEvent::done(&list))));
        shown(core, NOW)
    };
    let text = listed(&mut core, "LEDGER");
    assert!(text.contains("  1 The ledger") && !text.contains("This one"), "{text}");
    assert!(listed(&mut core, "zebra").contains("No conversation has that in its title."));
    let text = listed(&mut core, "");
    assert!(text.contains("› 1 This one") && text.contains("  2 The ledger"), "{text}");
    assert!(text.contains("4 messages, /elsewhere") && !text.contains("/nowhere"), "{text}");
    let actions = type_line(&mut core, "/open 2");
    assert!(
        matches!(&actions[1], ChatAction::Turn(1, SessionCommand::LoadConversation { .. })),
        "{actions:?}"
    );
    assert_eq!(core.conversation.as_deref(), Some("c2"));
    type_line(&mut core, "/delete 1");
    assert!(shown(&mut core, NOW).contains("Delete \"This one\" for good?"));
    core.handle_key(NOW, KeyStroke::Char('n'));
    assert!(core.take_actions().is_empty());
    type_line(&mut core, "/delete 1");
    core.handle_key(NOW, KeyStroke::Char('y'));
    assert!(
        matches!(&core.take_actions()[..], [ChatAction::Errand(Errand::Delete { id }, _)] if id == "c1")
    );
    core.errand_done(NOW, Errand::Delete { id: "c1".into() }, Ok(reply(SessionEvent::Done(None))));
    type_line(&mut core, "/open 7");
    assert!(shown(&mut core, NOW).contains("/list shows them"));
}

#[test]
fn a_conversation_that_is_to_be_continued_is_looked_for_once() {
    let wanted = WantedConversation::Last { is_all: false };
    let mut core = new_core(wanted);
    let ready = RuntimeState::Ready(Arc::new(RuntimeReady::at(0)));
    core.runtime_state(&ready);
    let mut actions = core.take_actions();
    let Some(ChatAction::Errand(errand @ Errand::Resume(_), _)) = actions.pop() else {
        panic!("{actions:?}");
    };
    let list = ConversationList { conversations: Vec::new(), current: Some("c1".into()) };
    core.errand_done(NOW, errand, Ok(reply(SessionEvent::done(&list))));
    assert!(shown(&mut core, NOW).replace("\n ", "").contains("so a new one begins"));
    core.runtime_state(&ready);
    assert!(matches!(core.take_actions()[..], [ChatAction::Errand(Errand::Status, _)]));
}

#[test]
fn how_a_conversation_is_continued_is_said_once_there_is_something_in_it() {
    let mut core = core();
    core.say_how_to_continue();
    assert!(!shown(&mut core, NOW).contains("--resume"));
    type_line(&mut core, "hello");
    core.say_how_to_continue();
    assert!(shown(&mut core, NOW).contains("callgate chat --resume c1 continues this"));
}

#[test]
fn what_is_typed_while_a_conversation_begins_belongs_to_it() {
    let mut core = core();
    assert!(matches!(type_line(&mut core, "/new")[1], ChatAction::Errand(Errand::New, _)));
    assert!(matches!(type_line(&mut core, "hello")[..], [ChatAction::Remember(_)]));
    assert!(matches!(type_line(&mut core, "/rename It")[..], [ChatAction::Remember(_)]));
    let created = callgate_wire::session::ConversationCreated { conversation_id: "c9".into() };
    core.errand_done(NOW, Errand::New, Ok(reply(SessionEvent::done(&created))));
    let actions = core.take_actions();
    let [ChatAction::Turn(_, message), ChatAction::Errand(Errand::Rename, rename)] = &actions[..]
    else {
        panic!("{actions:?}");
    };
    assert_eq!(message.conversation_id().as_deref(), Some("c9"));
    assert!(
        matches!(rename, SessionCommand::RenameConversation { conversation_id, .. } if conversation_id == "c9")
    );
    // A request that fails holds nothing up.
    type_line(&mut core, "/new");
    type_line(&mut core, "again");
    core.errand_done(NOW, Errand::New, Err(ClientError::NotOpen));
    assert!(matches!(core.take_actions().last(), Some(ChatAction::Turn(..))));
}

#[test]
fn the_last_message_is_edited() {
    let mut core = core();
    type_line(&mut core, "/edit");
    assert!(shown(&mut core, NOW).contains("no message to change"));
    type_line(&mut core, "helo");
    core.handle_event(1, &said(end("end_turn", None)));
    type_line(&mut core, "/edit");
    assert_eq!(core.editor.text(), "helo");
    let actions = type_line(&mut core, "!");
    let Some(ChatAction::Turn(2, SessionCommand::EditLast(message))) = actions.last() else {
        panic!("{actions:?}")
    };
    assert_eq!(message.message, "helo!");
}

#[test]
fn a_rewind_counts_exchanges_and_not_messages() {
    let mut core = core();
    let actions = type_line(&mut core, "/rewind 2");
    let Some(ChatAction::Errand(errand, SessionCommand::LoadConversation { .. })) = actions.last()
    else {
        panic!("{actions:?}");
    };
    let message = |role: &str, kind: &str| PastMessage {
        role: role.into(),
        content: to_raw_value(&json!([{ "type": kind }])).unwrap(),
    };
    let messages = vec![
        message("user", "text"),
        message("assistant", "text"),
        message("user", "text"),
        message("assistant", "tool_use"),
        message("user", "tool_result"),
        message("assistant", "text"),
        message("user", "text"),
        message("assistant", "text"),
    ];
    let (conversation_id, title) = ("c1".to_owned(), None);
    let loaded = ConversationMessages {
        conversation_id,
        title,
        messages,
        first: 10,
        length: 18,
        is_unfinished: false,
    };
    core.errand_done(NOW, errand.clone(), Ok(reply(SessionEvent::done(&loaded))));
    let actions = core.take_actions();
    let [ChatAction::Errand(Errand::Rewind, SessionCommand::Rewind { length, .. })] = &actions[..]
    else {
        panic!("{actions:?}");
    };
    assert_eq!(*length, 12);
    let trimmed = ConversationTrimmed { conversation_id: "c1".into(), length: 12 };
    core.errand_done(NOW, Errand::Rewind, Ok(reply(SessionEvent::done(&trimmed))));
    assert!(shown(&mut core, NOW).contains("has 12 messages now"));
    let actions = type_line(&mut core, "/fork");
    let Some(ChatAction::Errand(Errand::Fork, _)) = actions.last() else { panic!("{actions:?}") };
    let copy = ConversationTrimmed { conversation_id: "c2".into(), length: 12 };
    core.errand_done(NOW, Errand::Fork, Ok(reply(SessionEvent::done(&copy))));
    assert_eq!(core.conversation.as_deref(), Some("c2"));
}
