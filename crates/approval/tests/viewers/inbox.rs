//! Open questions as viewers see them, and the question to try.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use callgate_approval::asker::{self, Asker, AskerCancellation, AskerSettings, WordsLook};
use callgate_client::viewer::Viewer;
use callgate_wire::approval::{Action, ApprovalRequest, Decision, Press, RequestId};
use callgate_wire::desk::{
    AnswerNeeds, AskedRuling, CardContent, DeskAnswer, DeskCommand, DeskInbox, LineOperation,
    QuestionCard, RiskKind,
};
use serde_json::{Value, json};

use crate::house::{DEADLINE, House, button, next_of, request, told};

fn inbox(viewer: &mut Viewer) -> DeskInbox {
    match viewer.ask(DeskCommand::Inbox, DEADLINE).unwrap() {
        DeskAnswer::Inbox(inbox) => inbox,
        other => panic!("no inbox: {other:?}"),
    }
}

fn card(viewer: &mut Viewer, id: &RequestId) -> Option<QuestionCard> {
    match viewer.ask(DeskCommand::Card { question: id.clone() }, DEADLINE).unwrap() {
        DeskAnswer::Card { card } => Some(*card),
        DeskAnswer::Told { done: false, .. } => None,
        other => panic!("no card: {other:?}"),
    }
}

fn call(tool: &str, input: &Value, timeout: u64) -> ApprovalRequest {
    let line = json!({
        "request_id": asker::fresh_id().as_str(),
        "tool_name": tool,
        "tool_input": input,
        "cwd": "/home/ada/engine",
        "session_id": "s1",
        "agent": "claude-code",
        "permission_suggestions": [
            { "type": "addRules", "rules": [{ "toolName": "Bash", "ruleContent": "make:*" }],
              "behavior": "allow", "destination": "session" },
        ],
        "context": {
            "takes": ["always", "edit", "interrupt"],
            "mode": "default",
            "last_words": "I will build it now.",
            "timeout_seconds": timeout,
        },
    });
    ApprovalRequest::decode(line.to_string().as_bytes()).unwrap()
}

#[test]
fn those_that_run_out_first_are_on_top_and_what_is_over_is_gone() {
    let house = House::new();
    let (mut ada, _) = house.paired("Ada");
    ada.watch(None).unwrap();
    assert_eq!(inbox(&mut ada).rows, []);
    let (late, soon) = (call("Bash", &json!({ "command": "make" }), 50), request("make soon"));
    let soon = ApprovalRequest { context: late.context.clone(), ..soon };
    let mut soon = soon;
    soon.context.as_mut().unwrap().timeout_seconds = Some(40);
    let (late_id, soon_id) = (late.request_id.clone(), soon.request_id.clone());
    let late = house.ask(late);
    next_of(&mut ada, "asked");
    let soon = house.ask(soon);
    let (asked, _) = next_of(&mut ada, "asked");
    // Whoever is not linked may look.
    let seen = inbox(&mut house.viewer());
    assert_eq!((seen.open, seen.head), (2, asked.seq));
    let ids: Vec<&str> = seen.rows.iter().map(|row| row.question.as_str()).collect();
    assert_eq!(ids, [soon_id.as_str(), late_id.as_str()]);
    let row = &seen.rows[1];
    assert_eq!((row.agent.as_str(), row.summary.as_str()), ("Claude Code", "make"));
    assert_eq!((row.ruling, row.needs), (AskedRuling::Ask, AnswerNeeds::Press));
    assert_eq!(row.mode.as_deref(), Some("default"));
    assert_eq!(row.until_ms - row.asked_ms, 50_000);
    assert_eq!(row.alike, Some("Claude Code\n/home/ada/engine\nBash\nmake".to_owned()));
    assert_eq!(row.risks[0].kind, RiskKind::FirstTime);
    assert!(told(&mut ada, button(&soon_id, Action::Allow)).0);
    assert_eq!(soon.join().unwrap().unwrap().decision, Decision::Allow);
    assert_eq!(inbox(&mut ada).rows.len(), 1);
    assert_eq!(card(&mut ada, &soon_id), None);
    assert!(told(&mut ada, button(&late_id, Action::Deny)).0);
    assert_eq!(late.join().unwrap().unwrap().decision, Decision::Deny);
    assert_eq!(inbox(&mut ada).rows, []);
    // Something like it was allowed by now.
    let again = request("make");
    let again_id = again.request_id.clone();
    let answer = house.ask(again);
    next_of(&mut ada, "asked");
    assert_eq!(inbox(&mut ada).rows[0].risks, []);
    assert!(told(&mut ada, button(&again_id, Action::Deny)).0);
    answer.join().unwrap().unwrap();
}

#[test]
fn a_card_shows_what_would_be_done_and_what_each_button_grants() {
    let house = House::new();
    let (mut ada, _) = house.paired("Ada");
    ada.watch(None).unwrap();
    let input = json!({ "command": "make \u{202e}all", "description": "Builds it" });
    let asked = call("Bash", &input, 50);
    let id = asked.request_id.clone();
    let answer = house.ask(asked);
    next_of(&mut ada, "asked");
    let seen = card(&mut house.viewer(), &id).unwrap();
    assert_eq!(seen.row, inbox(&mut ada).rows[0]);
    let CardContent::Command { segments, description } = &seen.body else { panic!("{seen:?}") };
    let command: String = segments.iter().map(|segment| segment.text.as_str()).collect();
    assert!(command.starts_with("make ") && !command.contains('\u{202e}'), "{command}");
    assert_eq!(description.as_deref(), Some("Builds it"));
    assert_eq!(seen.last_words.as_deref(), Some("I will build it now."));
    assert_eq!((seen.offers.len(), seen.offers[0].action.as_str()), (1, "always"));
    assert_eq!(seen.offers[0].lasts, "for this session");
    assert!(seen.can_edit && seen.can_stop && !seen.takes_words && !seen.is_cut);
    assert!(!seen.no_answer_denies && seen.confirm_word_of.is_none() && seen.blocked.is_none());
    assert_eq!(seen.grants.allow, "Runs this command once.");
    assert!(told(&mut ada, button(&id, Action::Deny)).0);
    answer.join().unwrap().unwrap();
}

#[test]
fn words_that_come_after_the_question_are_on_its_card() {
    let house = House::new();
    let (mut ada, _) = house.paired("Ada");
    ada.watch(None).unwrap();
    let mut asked = request("make");
    asked.context.get_or_insert_default().words_follow = Some(true);
    let id = asked.request_id.clone();
    // The words are there once the question was seen without them.
    let (seen, is_seen) = mpsc::channel();
    let mut look = move || match is_seen.try_recv() {
        Ok(words) => WordsLook::Found(words),
        Err(_) => WordsLook::Later(Duration::from_millis(1)),
    };
    let settings = AskerSettings { socket: house.socket(), timeout: DEADLINE, grace: DEADLINE };
    let answer = thread::spawn(move || {
        let unwanted = AskerCancellation::default();
        let connected = Asker::dial(&settings, &unwanted).unwrap();
        connected.ask_with_words(&asked, &mut look)
    });
    next_of(&mut ada, "asked");
    assert_eq!(card(&mut ada, &id).unwrap().last_words, None);
    seen.send("I will build it now.".to_owned()).unwrap();
    next_of(&mut ada, "said");
    let words = card(&mut ada, &id).unwrap().last_words;
    assert_eq!(words.as_deref(), Some("I will build it now."));
    let DeskAnswer::Sessions { sessions } =
        ada.ask(DeskCommand::Sessions { since_ms: None }, DEADLINE).unwrap()
    else {
        panic!("no sessions")
    };
    assert_eq!(sessions[0].last_words.as_deref(), Some("I will build it now."));
    assert!(told(&mut ada, button(&id, Action::Allow)).0);
    assert_eq!(answer.join().unwrap().unwrap().decision, Decision::Allow);
}

#[test]
fn an_edit_is_shown_line_by_line() {
    let house = House::new();
    let (mut ada, _) = house.paired("Ada");
    ada.watch(None).unwrap();
    let input = json!({ "file_path": "a.rs", "old_string": "one\ntwo", "new_string": "one\n2" });
    let asked = call("Edit", &input, 50);
    let id = asked.request_id.clone();
    let answer = house.ask(asked);
    next_of(&mut ada, "asked");
    let seen = card(&mut ada, &id).unwrap();
    let CardContent::Edit { path, changes } = &seen.body else { panic!("{seen:?}") };
    assert_eq!((path.as_str(), changes.len()), ("a.rs", 1));
    let lines: Vec<_> =
        changes[0].lines.iter().map(|line| (line.op, line.old, line.new, &*line.text)).collect();
    let expected = [
        (LineOperation::Same, None, None, "one"),
        (LineOperation::Removed, None, None, "two"),
        (LineOperation::Added, None, None, "2"),
    ];
    assert_eq!(lines, expected);
    assert!(told(&mut ada, button(&id, Action::Allow)).0);
    answer.join().unwrap().unwrap();
}

#[test]
fn no_secret_is_in_an_inbox_or_on_a_card() {
    let house = House::new();
    let (mut ada, _) = house.paired("Ada");
    ada.watch(None).unwrap();
    let secret = ["ghp", "_0123456789abcdefghijklmnopqrstuvwxyzAB"].concat();
    let asked = call("Bash", &json!({ "command": format!("deploy --token {secret}") }), 50);
    let id = asked.request_id.clone();
    let answer = house.ask(asked);
    next_of(&mut ada, "asked");
    let shown = format!("{:?}{:?}", inbox(&mut ada), card(&mut ada, &id));
    assert!(shown.contains("deploy --token") && !shown.contains(&secret), "{shown}");
    assert!(told(&mut ada, button(&id, Action::Deny)).0);
    answer.join().unwrap().unwrap();
}

#[test]
fn what_is_too_long_for_viewers_says_so() {
    let house = House::new();
    let (mut ada, _) = house.paired("Ada");
    ada.watch(None).unwrap();
    let whole = json!({ "file_path": "long.txt", "content": "a line\n".repeat(20_000) });
    let asked = call("Write", &whole, 50);
    let id = asked.request_id.clone();
    let answer = house.ask(asked);
    next_of(&mut ada, "asked");
    let seen = card(&mut ada, &id).unwrap();
    assert!(matches!(seen.body, CardContent::Write { lines: 20_000, .. }) && !seen.is_cut);
    assert!(seen.row.alike.is_none(), "it is answered alone");
    assert!(told(&mut ada, button(&id, Action::Allow)).0);
    answer.join().unwrap().unwrap();
    let input = json!({ "file_path": "long.txt", "content": "a\n".repeat(61_000) });
    let asked = call("Write", &input, 50);
    let id = asked.request_id.clone();
    let answer = house.ask(asked);
    next_of(&mut ada, "asked");
    let seen = card(&mut ada, &id).unwrap();
    assert!(seen.is_cut && seen.row.alike.is_none());
    assert!(!told(&mut ada, button(&id, Action::Allow)).0, "nobody has seen all of it");
    assert!(told(&mut ada, button(&id, Action::Deny)).0);
    answer.join().unwrap().unwrap();
}

#[test]
fn a_question_to_try_goes_nowhere_but_into_the_ledger() {
    let house = House::new();
    let (mut ada, _) = house.paired("Ada");
    ada.watch(None).unwrap();
    let (done, text) = told(&mut house.viewer(), DeskCommand::Try);
    assert!(!done && text.starts_with("Only a linked viewer may do that"), "{text}");
    assert!(told(&mut ada, DeskCommand::Try).0);
    let (asked, body) = next_of(&mut ada, "asked");
    assert_eq!(body["agent"], "callgate");
    let id = RequestId::parse(&asked.question.unwrap()).unwrap();
    let seen = card(&mut ada, &id).unwrap();
    assert!(matches!(&seen.body, CardContent::Ask { .. }), "{seen:?}");
    assert_eq!((seen.row.risks.len(), seen.row.alike), (0, None));
    assert!(!told(&mut ada, DeskCommand::Try).0, "one is open");
    assert_eq!(told(&mut ada, button(&id, Action::Allow)), (true, "Allowed by Ada".to_owned()));
    let (_, body) = next_of(&mut ada, "decided");
    assert_eq!(body["decision"], "allow");
    next_of(&mut ada, "closed");
    assert_eq!(inbox(&mut ada).rows, []);
    assert!(told(&mut ada, DeskCommand::Try).0, "there may be another");
}

#[test]
fn what_has_to_be_confirmed_says_which_word_and_is_never_answered_with_others() {
    let house = House::new();
    let (mut ada, _) = house.paired("Ada");
    ada.watch(None).unwrap();
    let asked = call("Bash", &json!({ "command": "confirm the release" }), 50);
    let id = asked.request_id.clone();
    let answer = house.ask(asked);
    next_of(&mut ada, "asked");
    let seen = card(&mut ada, &id).unwrap();
    assert_eq!((seen.row.needs, &seen.row.alike), (AnswerNeeds::Confirm, &None));
    assert_eq!(seen.confirm_word_of.as_deref(), Some("the last word of the command"));
    assert!(seen.offers.is_empty() && seen.no_answer_denies);
    assert!(!told(&mut ada, button(&id, Action::Allow)).0, "no word was typed");
    let action = Press::Button(Action::Allow);
    let press =
        DeskCommand::Press { request_id: id, press: action, confirm: Some("Release".to_owned()) };
    assert!(told(&mut ada, press).0);
    assert_eq!(answer.join().unwrap().unwrap().decision, Decision::Allow);
}
