//! The chat without a terminal: what keys lead to, and what the screen shows.

mod conversations;
mod keys;

use std::sync::Arc;

use callgate_wire::session::{
    ConversationList, ConversationMessages, ConversationMode, ConversationTrimmed, ModeSet,
    PastMessage, PastUserMessage, PermissionRequest, RuntimeReady, RuntimeStatus, SessionReply,
    TokenUsage, UsageReport,
};
use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;
use crate::key_decoder::KeyStroke;
use crate::styled_text::tests::page;

const NOW: Duration = Duration::from_secs(100);

fn new_core(wanted: WantedConversation) -> ChatCore {
    let folders = ChatFolders { working: "/nowhere".into(), home: None };
    ChatCore::new(page(60), folders, InputHistory::default(), wanted)
}

fn core() -> ChatCore {
    let mut core = new_core(WantedConversation::default());
    core.runtime_state(&RuntimeState::Ready(Arc::new(RuntimeReady::at(0))));
    assert!(matches!(core.take_actions()[..], [ChatAction::Errand(Errand::Status, _)]));
    let status = RuntimeStatus {
        engine: Some("anthropic".into()),
        model: Some("claude-x".into()),
        conversation_id: Some("c1".into()),
        ..RuntimeStatus::default()
    };
    core.errand_done(NOW, Errand::Status, Ok(reply(SessionEvent::Status(Box::new(status)))));
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
        core.handle_key(NOW, KeyStroke::Char(c));
    }
    core.handle_key(NOW, KeyStroke::Enter);
    core.take_actions()
}

/// What the screen shows: the rows that are final, and those below them.
fn shown(core: &mut ChatCore, now: Duration) -> String {
    let frame = core.next_frame(now);
    core.mark_printed(now);
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
    core.handle_event(1, &said(SessionEvent::Token("Hi **there**".into())));
    let text = shown(&mut core, NOW + Duration::from_secs(3));
    assert!(text.contains("› hello") && text.contains("Hi there"), "{text}");
    assert!(text.contains("working 3 s · Esc interrupts · claude-x"), "{text}");
    core.handle_event(1, &said(end("end_turn", Some(0.25))));
    assert!(shown(&mut core, NOW).ends_with("/help · claude-x · $0.2500 · anthropic"));
    assert!(!core.is_working());
    type_line(&mut core, "again");
    core.handle_event(2, &said(end("max_tokens", Some(0.5))));
    let text = shown(&mut core, NOW);
    assert!(text.contains("maximum length") && text.contains("$0.7500"), "{text}");
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
    core.handle_event(1, &said(question()));
    let printed = core.new_lines(NOW, &mut asked).join("\n");
    core.mark_printed(NOW);
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
    core.handle_key(NOW, KeyStroke::Char('d'));
    core.handle_event(1, &said(question()));
    assert!(shown(&mut core, NOW).contains("? make"));
    core.handle_key(NOW + Duration::from_millis(100), KeyStroke::Char('a'));
    assert!(core.take_actions().is_empty(), "nobody can have read it");
    core.handle_key(NOW + Duration::from_secs(1), KeyStroke::Char('a'));
    let actions = core.take_actions();
    let [ChatAction::Errand(Errand::Answer { question }, _)] = &actions[..] else {
        panic!("{actions:?}")
    };
    assert_eq!(question, "q1");
    core.remove_question("q1");
    assert_eq!(core.editor.text(), "d");
}

#[test]
fn a_deny_has_words_and_arguments_are_edited() {
    let mut core = core();
    type_line(&mut core, "run make");
    core.handle_event(1, &said(question()));
    shown(&mut core, NOW);
    let later = NOW + Duration::from_secs(1);
    core.handle_key(later, KeyStroke::Char('r'));
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
    core.handle_key(later + Duration::from_secs(1), KeyStroke::Char('e'));
    assert!(core.editor.text().contains("\"command\": \"make\""), "{:?}", core.editor);
    type_line(&mut core, " oops");
    assert!(core.hint.starts_with("This is not JSON"), "{}", core.hint);
    for _ in 0..5 {
        core.handle_key(later, KeyStroke::Backspace);
    }
    let actions = type_line(&mut core, "");
    let [ChatAction::Errand(_, SessionCommand::PermissionAnswer(answer))] = &actions[..] else {
        panic!("{actions:?}")
    };
    assert!(matches!(&answer.press, callgate_wire::approval::Press::Input(_)));
    // A question that is settled elsewhere takes what was typed for it along.
    core.handle_event(1, &said(question()));
    core.enter_mode(InputMode::Words { question: "q1".into() }, "why".into());
    core.handle_event(1, &said(end("end_turn", None)));
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
fn the_death_of_the_runtime_is_said_and_the_conversation_goes_on() {
    let mut core = core();
    type_line(&mut core, "hello");
    let died = RuntimeState::Died {
        status: None,
        reason: "it was killed".into(),
        last_words: Some("ouch".into()),
    };
    core.runtime_state(&died);
    core.handle_event(
        1,
        &RequestEvent::Failed(ClientError::Died { reason: "it was killed".into() }),
    );
    let text = shown(&mut core, NOW);
    assert!(text.contains("The runtime is gone (it was killed): ouch"), "{text}");
    assert!(text.contains("Retry: /regenerate"), "{text}");
    core.runtime_state(&RuntimeState::Ready(Arc::new(RuntimeReady::at(0))));
    let other = RuntimeStatus { conversation_id: Some("new".into()), ..RuntimeStatus::default() };
    core.errand_done(NOW, Errand::Status, Ok(reply(SessionEvent::Status(Box::new(other)))));
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
        core.handle_event(1, &said(SessionEvent::Token("a long line ".repeat(200))));
        core.handle_event(1, &said(question()));
        let frame = core.next_frame(NOW);
        assert!(frame.live_rows.len() < height, "{width}x{height}: {}", frame.live_rows.len());
        core.remove_question("q1");
        for c in "many lines\n".repeat(50).chars() {
            let key = if c == '\n' { KeyStroke::LineFeed } else { KeyStroke::Char(c) };
            core.handle_key(NOW, key);
        }
        let frame = core.next_frame(NOW);
        assert!(
            frame.live_rows.len() < height && frame.cursor.0 < frame.live_rows.len(),
            "{frame:?}"
        );
    }
}

/// What counts is what was on the screen: a hint above a question takes room from it.
#[test]
fn a_question_of_which_a_part_was_drawn_is_not_allowed() {
    for (height, hint) in (6..14).flat_map(|height| [(height, ""), (height, "Ctrl-C again quits.")])
    {
        let mut core = core();
        core.resize(ChatPage { height, ..page(60) });
        type_line(&mut core, "run make");
        core.handle_event(1, &said(question()));
        hint.clone_into(&mut core.hint);
        let text = shown(&mut core, NOW);
        core.handle_key(NOW + Duration::from_secs(1), KeyStroke::Char('a'));
        let is_allowed = !core.take_actions().is_empty();
        assert_eq!(is_allowed, !text.contains("f shows all of it"), "{height} {hint}: {text}");
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
    core.handle_event(1, &said(SessionEvent::UserMessage(past)));
    core.handle_event(2, &said(end("steered", None)));
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
        cached_share: Some(0.875),
        ..UsageReport::default()
    };
    core.handle_event(1, &said(SessionEvent::Usage(report)));
    core.resize(page(120));
    let parts = "claude-x · $0.5000 · context 25 % · cached 88 %";
    assert!(shown(&mut core, NOW).contains(parts));
    core.handle_event(1, &said(end("end_turn", Some(0.75))));
    assert!(shown(&mut core, NOW).contains("$0.7500 · context 25 %"));
    let actions = type_line(&mut core, "/mode plan");
    let Some(ChatAction::Errand(Errand::SetMode, _)) = actions.last() else {
        panic!("{actions:?}");
    };
    let set = ModeSet { conversation_id: "c1".into(), mode: ConversationMode::Plan };
    core.errand_done(NOW, Errand::SetMode, Ok(reply(SessionEvent::done(&set))));
    assert!(shown(&mut core, NOW).contains("/help · plan · claude-x"));
    type_line(&mut core, "/mode dance");
    assert!(shown(&mut core, NOW).contains("The modes are ask, plan, auto."));
}
