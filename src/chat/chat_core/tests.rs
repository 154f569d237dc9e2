//! The chat without a terminal: what keys lead to, and what the screen shows.

use std::sync::Arc;

use callgate_wire::session::{
    ConversationList, ConversationMessages, ConversationMode, ConversationTrimmed, ModeSet,
    PastMessage, PastUserMessage, PermissionRequest, RuntimeReady, RuntimeStatus, SessionReply,
    TokenUsage, UsageReport,
};

use super::*;
use crate::chat::styled_text::tests::page;
use crate::key_decoder::KeyStroke;

const NOW: Duration = Duration::from_secs(100);

fn core() -> ChatCore {
    let mut core = ChatCore::new(
        page(60),
        PathBuf::from("/nowhere"),
        InputHistory::default(),
        WantedConversation::default(),
    );
    core.runtime_state(&RuntimeState::Ready(Arc::new(RuntimeReady::at(0))));
    assert!(matches!(core.take_actions()[..], [ChatAction::Errand(Errand::Status, _)]));
    let status = RuntimeStatus {
        engine: Some("anthropic".into()),
        model: Some("claude-x".into()),
        conversation_id: Some("c1".into()),
        ..RuntimeStatus::default()
    };
    core.errand_done(NOW, Errand::Status, Ok(reply(SessionEvent::Status(status))));
    core
}

fn reply(event: SessionEvent) -> Arc<SessionReply> {
    Arc::new(SessionReply { id: Some("1".into()), event, timestamp: 0, seq: None })
}

fn said(event: SessionEvent) -> RequestEvent {
    RequestEvent::Said(reply(event))
}

fn type_line(core: &mut ChatCore, text: &str) -> Vec<ChatAction> {
    for c in text.chars() {
        core.key(NOW, KeyStroke::Char(c));
    }
    core.key(NOW, KeyStroke::Enter);
    core.take_actions()
}

/// What the screen shows: the rows that are final, and those below them.
fn shown(core: &mut ChatCore, now: Duration) -> String {
    let frame = core.frame(now);
    core.printed(now);
    [frame.final_rows, frame.live_rows].concat().join("\n")
}

fn end(reason: &str, cost: Option<f64>) -> SessionEvent {
    let usage = TokenUsage { input: 1, ..TokenUsage::default() };
    SessionEvent::done(&TurnEnd { stop_reason: reason.into(), usage, cost, denied_calls: 0 })
}

fn question() -> SessionEvent {
    SessionEvent::PermissionRequest(PermissionRequest {
        question: "q1".into(),
        tool_id: "t1".into(),
        tool_name: "run_shell_command".into(),
        input: to_raw_value(&json!({"command": "make"})).unwrap(),
        title: "make".into(),
        reason: None,
        can_allow_always: Some(true),
        deadline: None,
        diff: None,
        card: None,
    })
}

#[test]
fn a_message_names_its_conversation_and_its_cost_is_added_up() {
    let mut core = core();
    let actions = type_line(&mut core, "hello");
    let [ChatAction::Remember(_), ChatAction::Turn(1, SessionCommand::UserMessage(message))] =
        &actions[..]
    else {
        panic!("{actions:?}");
    };
    assert_eq!(message.conversation_id().as_deref(), Some("c1"));
    core.event(1, &said(SessionEvent::Token("Hi **there**".into())));
    let text = shown(&mut core, NOW + Duration::from_secs(3));
    assert!(text.contains("› hello") && text.contains("Hi there"), "{text}");
    assert!(text.contains("working 3 s · Esc interrupts · claude-x"), "{text}");
    core.event(1, &said(end("end_turn", Some(0.25))));
    assert!(shown(&mut core, NOW).ends_with("/help · claude-x · $0.2500 · anthropic"));
    assert!(!core.is_working());
    type_line(&mut core, "again");
    core.event(2, &said(end("max_tokens", Some(0.5))));
    let text = shown(&mut core, NOW);
    assert!(text.contains("maximum length") && text.contains("$0.7500"), "{text}");
}

#[test]
fn ctrl_c_cancels_the_answer_and_the_second_one_quits() {
    let mut core = core();
    type_line(&mut core, "hello");
    core.key(NOW, KeyStroke::Ctrl('c'));
    assert!(matches!(core.take_actions()[..], [ChatAction::Cancel(1)]));
    assert!(shown(&mut core, NOW).contains("Ctrl-C again quits."));
    core.event(1, &said(end("cancelled", None)));
    assert!(shown(&mut core, NOW).contains("· cancelled"));
    // Much later, Ctrl-C is the first one again, and clears the input.
    let later = NOW + Duration::from_mins(1);
    core.key(later, KeyStroke::Char('x'));
    core.key(later, KeyStroke::Ctrl('c'));
    assert!(core.editor.text().is_empty() && core.take_actions().is_empty());
    core.key(later, KeyStroke::Ctrl('c'));
    assert!(core.take_actions().is_empty());
    core.key(later + Duration::from_secs(1), KeyStroke::Ctrl('c'));
    assert!(matches!(core.take_actions()[..], [ChatAction::Quit(130)]));
    core.key(later, KeyStroke::Ctrl('d'));
    assert!(matches!(core.take_actions()[..], [ChatAction::Quit(0)]));
}

#[test]
fn escape_interrupts_the_answer_and_keeps_what_is_typed() {
    let mut core = core();
    core.key(NOW, KeyStroke::Escape);
    assert!(core.take_actions().is_empty());
    type_line(&mut core, "hello");
    for c in "and".chars() {
        core.key(NOW, KeyStroke::Char(c));
    }
    core.key(NOW, KeyStroke::Escape);
    assert!(matches!(core.take_actions()[..], [ChatAction::Cancel(1)]));
    core.key(NOW, KeyStroke::Escape);
    assert!(core.take_actions().is_empty(), "it neither cancels twice nor quits");
    assert_eq!(core.editor.text(), "and");
    core.event(1, &said(end("cancelled", None)));
    // Also while it waits for an answer.
    core.editor.take();
    type_line(&mut core, "again");
    core.event(2, &said(question()));
    core.key(NOW, KeyStroke::Escape);
    assert!(matches!(core.take_actions()[..], [ChatAction::Cancel(2)]));
}

#[test]
fn what_was_typed_before_is_searched() {
    let mut core = core();
    for line in ["make test", "list files", "make it"] {
        type_line(&mut core, line);
    }
    let press = |core: &mut ChatCore, keys: &[KeyStroke]| {
        for key in keys {
            core.key(NOW, *key);
        }
        shown(core, NOW)
    };
    let letters: Vec<KeyStroke> = "mak".chars().map(KeyStroke::Char).collect();
    core.key(NOW, KeyStroke::Char('x'));
    core.key(NOW, KeyStroke::Ctrl('r'));
    let text = press(&mut core, &letters);
    assert!(text.contains("make it\nsearch› mak"), "{text}");
    let text = press(&mut core, &[KeyStroke::Ctrl('r')]);
    assert!(text.contains("make test\nsearch› mak"), "{text}");
    let text = press(&mut core, &[KeyStroke::Ctrl('r')]);
    assert!(text.contains("Nothing older contains that.\nmake test\nsearch› mak"), "{text}");
    press(&mut core, &[KeyStroke::Enter]);
    assert_eq!(core.editor.text(), "make test");
    assert!(core.take_actions().is_empty(), "it is not sent");
    // Escape brings back what was being typed.
    core.key(NOW, KeyStroke::Ctrl('r'));
    press(&mut core, &letters);
    press(&mut core, &[KeyStroke::Escape]);
    assert_eq!((core.editor.text(), &core.mode), ("make test", &InputMode::Message));
}

#[test]
fn a_slash_opens_a_menu_from_which_a_command_is_taken() {
    let mut core = core();
    core.key(NOW, KeyStroke::Char('/'));
    let text = shown(&mut core, NOW);
    assert!(text.contains("› /help") && text.contains("more\n› /\n"), "{text}");
    core.key(NOW, KeyStroke::Char('r'));
    core.key(NOW, KeyStroke::Down);
    core.key(NOW, KeyStroke::Enter);
    assert_eq!(core.editor.text(), "/regenerate");
    assert!(core.take_actions().is_empty(), "it is taken, and not run");
    core.key(NOW, KeyStroke::Enter);
    let actions = core.take_actions();
    assert!(
        matches!(&actions[1], ChatAction::Turn(_, SessionCommand::Regenerate { .. })),
        "{actions:?}"
    );
    core.key(NOW, KeyStroke::Char('/'));
    core.key(NOW, KeyStroke::Escape);
    assert!(!shown(&mut core, NOW).contains("/help "), "it is closed, and the answer goes on");
    assert!(core.take_actions().is_empty());
}

#[test]
fn line_by_line_a_question_is_printed_once_and_answered_by_a_letter() {
    let mut core = core();
    core.print_lines();
    let mut asked = None;
    let greeting = core.new_lines(NOW, &mut asked).join("\n");
    assert!(greeting.contains("/help lists"), "{greeting}");
    assert_eq!(core.line_prompt(), Some("> "));
    core.typed_line(NOW, "do \\");
    core.typed_line(NOW, "it");
    let actions = core.take_actions();
    let [ChatAction::Remember(_), ChatAction::Turn(1, SessionCommand::UserMessage(message))] =
        &actions[..]
    else {
        panic!("{actions:?}");
    };
    assert_eq!(message.message, "do \nit");
    assert_eq!(core.new_lines(NOW, &mut asked), Vec::<String>::new(), "the terminal echoes it");
    assert_eq!(core.line_prompt(), None);
    core.event(1, &said(question()));
    let printed = core.new_lines(NOW, &mut asked).join("\n");
    core.printed(NOW);
    assert!(printed.contains("? make") && printed.contains("d\u{a0}deny"), "{printed}");
    assert!(core.new_lines(NOW, &mut asked).is_empty());
    assert_eq!(core.line_prompt(), Some("answer> "));
    // A line that was typed before anybody can have read the question does not count.
    core.typed_line(NOW, "a");
    assert!(core.take_actions().is_empty());
    let later = NOW + Duration::from_secs(5);
    core.typed_line(later, "allow it");
    assert!(core.new_lines(later, &mut asked).concat().contains("one of the letters"));
    core.typed_line(later, "r");
    assert_eq!(core.line_prompt(), Some("why not> "));
    core.typed_line(later, "not now");
    let actions = core.take_actions();
    assert!(
        matches!(&actions[..], [ChatAction::Errand(Errand::Answer { question }, _)] if question == "q1"),
        "{actions:?}"
    );
}

#[test]
fn a_question_is_answered_by_a_key_and_keeps_the_draft() {
    let mut core = core();
    type_line(&mut core, "run make");
    core.key(NOW, KeyStroke::Char('d'));
    core.event(1, &said(question()));
    assert!(shown(&mut core, NOW).contains("? make"));
    core.key(NOW + Duration::from_millis(100), KeyStroke::Char('a'));
    assert!(core.take_actions().is_empty(), "nobody can have read it");
    core.key(NOW + Duration::from_secs(1), KeyStroke::Char('a'));
    let actions = core.take_actions();
    let [ChatAction::Errand(Errand::Answer { question }, _)] = &actions[..] else {
        panic!("{actions:?}")
    };
    assert_eq!(question, "q1");
    core.resolved("q1");
    assert_eq!(core.editor.text(), "d");
}

#[test]
fn a_deny_has_words_and_arguments_are_edited() {
    let mut core = core();
    type_line(&mut core, "run make");
    core.event(1, &said(question()));
    shown(&mut core, NOW);
    let later = NOW + Duration::from_secs(1);
    core.key(later, KeyStroke::Char('r'));
    let actions = type_line(&mut core, "not now");
    let [ChatAction::Errand(_, SessionCommand::PermissionAnswer(answer))] = &actions[..] else {
        panic!("{actions:?}")
    };
    assert!(
        matches!(&answer.press, callgate_wire::approval::Press::Words(words) if words == "not now")
    );
    // An answer that did not count can be given again.
    let refused = Err(ClientError::NotOpen);
    core.errand_done(later, Errand::Answer { question: "q1".into() }, refused);
    shown(&mut core, later);
    core.key(later + Duration::from_secs(1), KeyStroke::Char('e'));
    assert!(core.editor.text().contains("\"command\": \"make\""), "{:?}", core.editor);
    type_line(&mut core, " oops");
    assert!(core.hint.starts_with("This is not JSON"), "{}", core.hint);
    for _ in 0..5 {
        core.key(later, KeyStroke::Backspace);
    }
    let actions = type_line(&mut core, "");
    let [ChatAction::Errand(_, SessionCommand::PermissionAnswer(answer))] = &actions[..] else {
        panic!("{actions:?}")
    };
    assert!(matches!(&answer.press, callgate_wire::approval::Press::Input(_)));
    // A question that is settled elsewhere takes what was typed for it along.
    core.event(1, &said(question()));
    core.enter_mode(InputMode::Words { question: "q1".into() }, "why".into());
    core.event(1, &said(end("end_turn", None)));
    assert_eq!((core.mode.clone(), core.editor.text()), (InputMode::Message, ""));
}

#[test]
fn commands_need_what_the_runtime_offers() {
    let mut core = core();
    core.capabilities.clear();
    assert!(matches!(type_line(&mut core, "/list")[..], [ChatAction::Remember(_)]));
    assert!(shown(&mut core, NOW).contains("`conversations`"));
    type_line(&mut core, "/dance");
    assert!(shown(&mut core, NOW).contains("There is no command /dance"));
    assert!(matches!(
        type_line(&mut core, "/quit")[..],
        [ChatAction::Remember(_), ChatAction::Quit(0)]
    ));
}

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
        core.errand_done(NOW, Errand::List { words }, Ok(reply(SessionEvent::done(&list))));
        shown(core, NOW)
    };
    let text = listed(&mut core, "LEDGER");
    assert!(text.contains("  1 The ledger") && !text.contains("This one"), "{text}");
    assert!(listed(&mut core, "zebra").contains("No title of a conversation contains that."));
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
    core.key(NOW, KeyStroke::Char('n'));
    assert!(core.take_actions().is_empty());
    type_line(&mut core, "/delete 1");
    core.key(NOW, KeyStroke::Char('y'));
    assert!(
        matches!(&core.take_actions()[..], [ChatAction::Errand(Errand::Delete { id }, _)] if id == "c1")
    );
    core.errand_done(NOW, Errand::Delete { id: "c1".into() }, Ok(reply(SessionEvent::Done(None))));
    type_line(&mut core, "/open 7");
    assert!(shown(&mut core, NOW).contains("/list shows them"));
}

#[test]
fn a_conversation_that_is_to_be_continued_is_looked_for_once() {
    let wanted = WantedConversation::of_last();
    let mut core = ChatCore::new(page(60), "/nowhere".into(), InputHistory::default(), wanted);
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
    core.event(1, &said(end("end_turn", None)));
    type_line(&mut core, "/edit");
    assert_eq!(core.editor.text(), "helo");
    let actions = type_line(&mut core, "!");
    let Some(ChatAction::Turn(2, SessionCommand::EditLast(message))) = actions.last() else {
        panic!("{actions:?}")
    };
    assert_eq!(message.message, "helo!");
}

#[test]
fn a_backslash_continues_the_line_and_history_is_walked() {
    let mut core = core();
    assert!(type_line(&mut core, "one\\").is_empty());
    let actions = type_line(&mut core, "two");
    assert!(matches!(&actions[0], ChatAction::Remember(text) if text == "one\ntwo"));
    core.key(NOW, KeyStroke::Char('x'));
    core.key(NOW, KeyStroke::Up);
    assert_eq!(core.editor.text(), "one\ntwo");
    core.key(NOW, KeyStroke::Down);
    assert_eq!(core.editor.text(), "x");
}

#[test]
fn the_death_of_the_runtime_is_said_and_the_conversation_goes_on() {
    let mut core = core();
    type_line(&mut core, "hello");
    let died = RuntimeState::Died {
        status: None,
        reason: "it was killed".into(),
        last_words: Some("ouch".into()),
    };
    core.runtime_state(&died);
    core.event(1, &RequestEvent::Failed(ClientError::Died { reason: "it was killed".into() }));
    let text = shown(&mut core, NOW);
    assert!(text.contains("The runtime is gone (it was killed): ouch"), "{text}");
    core.runtime_state(&RuntimeState::Ready(Arc::new(RuntimeReady::at(0))));
    let other = RuntimeStatus { conversation_id: Some("new".into()), ..RuntimeStatus::default() };
    core.errand_done(NOW, Errand::Status, Ok(reply(SessionEvent::Status(other))));
    core.take_actions();
    let actions = type_line(&mut core, "again");
    let Some(ChatAction::Turn(_, command)) = actions.last() else { panic!("{actions:?}") };
    assert_eq!(command.conversation_id().as_deref(), Some("c1"));
}

#[test]
fn the_live_rows_always_fit_the_terminal() {
    for (width, height) in [(40, 10), (100, 30), (8, 6)] {
        let mut core = core();
        core.resize(ChatPage { width, height, colours: true });
        type_line(&mut core, "hello");
        core.event(1, &said(SessionEvent::Token("a long line ".repeat(200))));
        core.event(1, &said(question()));
        let frame = core.frame(NOW);
        assert!(frame.live_rows.len() < height, "{width}x{height}: {}", frame.live_rows.len());
        core.resolved("q1");
        for c in "many lines\n".repeat(50).chars() {
            let key = if c == '\n' { KeyStroke::LineFeed } else { KeyStroke::Char(c) };
            core.key(NOW, key);
        }
        let frame = core.frame(NOW);
        assert!(
            frame.live_rows.len() < height && frame.cursor.0 < frame.live_rows.len(),
            "{frame:?}"
        );
    }
}

#[test]
fn a_message_during_an_answer_steers_it_and_is_shown_once() {
    let mut core = core();
    type_line(&mut core, "go");
    let actions = type_line(&mut core, "also the tests");
    let Some(ChatAction::Turn(2, SessionCommand::UserMessage(message))) = actions.last() else {
        panic!("{actions:?}");
    };
    assert!(message.steer);
    let past = PastUserMessage { message: "also the tests".into(), attachments: Vec::new() };
    core.event(1, &said(SessionEvent::UserMessage(past)));
    core.event(2, &said(end("steered", None)));
    assert_eq!(shown(&mut core, NOW).matches("also the tests").count(), 1);
    core.capabilities.clear();
    let actions = type_line(&mut core, "and this");
    let Some(ChatAction::Turn(3, SessionCommand::UserMessage(message))) = actions.last() else {
        panic!("{actions:?}");
    };
    assert!(!message.steer);
}

#[test]
fn the_context_and_the_mode_are_in_the_status_line() {
    let mut core = core();
    type_line(&mut core, "go");
    let report = UsageReport {
        cost: Some(0.5),
        context_tokens: 50_000,
        context_window: Some(200_000),
        ..UsageReport::default()
    };
    core.event(1, &said(SessionEvent::Usage(report)));
    core.resize(page(120));
    assert!(shown(&mut core, NOW).contains("claude-x · $0.5000 · context 25 %"));
    core.event(1, &said(end("end_turn", Some(0.75))));
    assert!(shown(&mut core, NOW).contains("$0.7500 · context 25 %"));
    let actions = type_line(&mut core, "/mode plan");
    let Some(ChatAction::Errand(Errand::SetMode, _)) = actions.last() else {
        panic!("{actions:?}");
    };
    let set = ModeSet { conversation_id: "c1".into(), mode: ConversationMode::Plan };
    core.errand_done(NOW, Errand::SetMode, Ok(reply(SessionEvent::done(&set))));
    assert!(shown(&mut core, NOW).contains("/help · plan · claude-x"));
    type_line(&mut core, "/mode dance");
    assert!(shown(&mut core, NOW).contains("There are the modes ask, plan, auto."));
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
    let loaded = ConversationMessages { conversation_id, title, messages, first: 10, length: 18 };
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
