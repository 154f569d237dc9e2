//! What presses mean: words, choices, edits, and who may make them.

use callgate_wire::approval::{Action, ApprovalRequest, Decision, Press};
use serde_json::{Value, json};

use super::super::{AskerId, DeskInput, DeskOutput, DeskSettings, RecordedQuestion, Ruling};
use super::cases::{Table, answer, answers, is_shown, marks, shown, told, touch};
use super::{ADA, ada, edited_input, id, request, request_of, settings, stranger};
use crate::channel::{
    ChannelOrder, ChannelReport, CopyPart, MarkState, Person, PersonPlace, QuestionCopy,
    ReplyPurpose, ReplyTo,
};

#[test]
fn words_deny_and_go_to_the_agent() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    let outputs = table.press(ada(), 1, Press::Words(" use `make test` ".to_owned()));
    let response = answer(&outputs);
    assert_eq!(response.decision, Decision::Deny);
    assert_eq!(response.message.as_deref(), Some("use `make test`"));
    table.ask(2, request(2, "make"));
    let outputs = table.press(ada(), 2, Press::Words("  ".to_owned()));
    assert!(answers(&outputs).is_empty() && told(&outputs).len() == 1);
}

#[test]
fn stop_denies_and_ends_the_turn_where_the_agent_can() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    let outputs = table.button(1, Action::Stop);
    assert!(answer(&outputs).interrupt && answer(&outputs).decision == Decision::Deny);
    table.ask(2, request_of(2, "Bash", &json!({}), &json!({ "context": { "takes": [] } })));
    let outputs = table.button(2, Action::Stop);
    assert!(answers(&outputs).is_empty());
    assert_eq!(told(&outputs), ["That is not offered here."]);
}

#[test]
fn always_gives_back_all_objects_of_the_choice_as_they_came() {
    let mut table = Table::new();
    table.ask(1, touch(1));
    table.button(1, Action::Always(0));
    table.wait(2);
    let outputs = table.button(1, Action::Always(0));
    let raw: Vec<&str> = answer(&outputs).updated_permissions.iter().map(|raw| raw.get()).collect();
    let came = touch(1).permission_suggestions;
    assert_eq!(raw, [came[0].get(), came[1].get()]);
    assert_eq!(answer(&outputs).always_allow_suggestion.as_ref().unwrap().get(), came[0].get());
    table.ask(2, touch(2));
    let outputs = table.button(2, Action::Always(1));
    assert_eq!(answer(&outputs).always_allow_suggestion.as_ref().unwrap().get(), came[2].get());
    assert!(answer(&outputs).updated_permissions.is_empty());
    table.ask(3, touch(3));
    assert_eq!(told(&table.button(3, Action::Always(2))), ["That is not offered here."]);
}

/// A choice that changes the agent's mode needs a second press, by the same person and not in the
/// same moment.
#[test]
fn a_change_of_mode_is_confirmed_twice() {
    let is_asked_again = |outputs: &[DeskOutput]| {
        assert!(answers(outputs).is_empty());
        told(outputs)[0].contains("accept all edits, for this session. Press again to confirm")
    };
    let mut table = Table::new();
    table.ask(1, touch(1));
    assert!(is_asked_again(&table.button(1, Action::Always(0))));
    assert_eq!(table.last("pressed")["outcome"], "not yet");
    assert!(is_asked_again(&table.button(1, Action::Always(0))), "a finger that taps twice");
    table.wait(2);
    let group = PersonPlace::Telegram { chat: -100, user: ADA, private: false };
    let elsewhere = Person::new(group, "Ada");
    let always = || Press::Button(Action::Always(0));
    assert!(is_asked_again(&table.press(elsewhere, 1, always())), "on another screen");
    table.wait(2);
    assert!(is_asked_again(&table.button(1, Action::Always(0))));
    table.wait(121);
    assert!(is_asked_again(&table.button(1, Action::Always(0))), "it was forgotten meanwhile");
    table.wait(2);
    assert_eq!(answer(&table.button(1, Action::Always(0))).decision, Decision::Allow);
}

/// What a phone was not shown to its end cannot be allowed there, whatever is pressed.
#[test]
fn what_was_cut_is_allowed_only_after_its_end_was_shown() {
    let long = format!("echo {}; rm -rf ~", "a".repeat(5_000));
    let mut table = Table::new();
    table.ask(1, request(1, &long));
    let outputs = table.button(1, Action::Allow);
    assert!(answers(&outputs).is_empty());
    assert!(told(&outputs)[0].starts_with("Not all of it was shown here."), "{outputs:?}");
    let full = |chat| DeskInput::News(ChannelReport::ShownInFull { question: id(1), chat });
    table.give(full(-100));
    assert!(answers(&table.button(1, Action::Allow)).is_empty(), "that was in another chat");
    table.give(full(ADA));
    assert_eq!(answer(&table.button(1, Action::Allow)).decision, Decision::Allow);
    table.ask(2, request(2, &long));
    assert_eq!(answer(&table.button(2, Action::Deny)).decision, Decision::Deny, "denied as ever");
}

/// A question of the agent to its user is answered by words; they refuse nothing.
#[test]
fn words_answer_what_the_agent_asks_its_user() {
    let question = |text: &str| json!({ "question": text, "options": [{ "label": "Red" }] });
    let ask = |table: &mut Table, tool: &str, input: &Value| {
        table.ask(1, request_of(1, tool, input, &json!({})));
    };
    let words = || Press::Words(" Something blue ".to_owned());
    let answered = |outputs: &[DeskOutput]| {
        let answer = answer(outputs);
        assert_eq!(answer.decision, Decision::Allow, "{outputs:?}");
        serde_json::from_str::<Value>(answer.updated_input.as_ref().unwrap().get()).unwrap()
    };
    let one = json!({ "questions": [question("Colour?")] });
    let mut table = Table::new();
    ask(&mut table, "AskUserQuestion", &one);
    let asked = table.button(1, Action::Reply);
    let purposes = asked.iter().filter_map(|output| match output {
        DeskOutput::Phones(ChannelOrder::AskWords { purpose, .. }) => Some(*purpose),
        _ => None,
    });
    assert_eq!(purposes.collect::<Vec<_>>(), [ReplyPurpose::Answer]);
    let outputs = table.press(ada(), 1, words());
    assert_eq!(answered(&outputs)["answers"], json!({ "Colour?": "Something blue" }));
    table.give(DeskInput::Delivered(AskerId(1)));
    assert_eq!(table.last("closed")["text"], "Answered by Ada: Something blue");
    // What was picked stays.
    let two = json!({ "questions": [question("Colour?"), question("And then?")] });
    let mut table = Table::new();
    ask(&mut table, "AskUserQuestion", &two);
    table.button(1, Action::Pick { question: 0, option: 0 });
    let outputs = table.press(ada(), 1, words());
    let both = json!({ "Colour?": "Red", "And then?": "Something blue" });
    assert_eq!(answered(&outputs)["answers"], both);
    assert_eq!(table.last("decided")["chosen"], "Red; Something blue");
    // A tool server that asks for one of certain answers, or for a form, cannot take words.
    for fields in [
        json!({ "colour": { "type": "string", "enum": ["Red"] } }),
        json!({ "name": { "type": "string" }, "age": { "type": "number" } }),
    ] {
        let mut table = Table::new();
        let input = json!({ "message": "?", "requested_schema": { "properties": fields } });
        ask(&mut table, "Elicitation", &input);
        let outputs = table.press(ada(), 1, words());
        assert!(answers(&outputs).is_empty(), "it is not denied: {outputs:?}");
        assert!(told(&outputs)[0].contains("cannot be answered in words"), "{outputs:?}");
    }
    // A script's question is refused by words, as ever.
    let mut table = Table::new();
    ask(&mut table, "Ask", &json!({ "question": "Deploy?" }));
    assert_eq!(answer(&table.press(ada(), 1, words())).decision, Decision::Deny);
}

/// A long command that was shown in full can be allowed after the desk was killed, whether its
/// asker is back already or not.
#[test]
fn what_was_shown_in_full_stays_so_over_a_restart() {
    let long = format!("echo {}; rm -rf ~", "a".repeat(5_000));
    for is_back in [true, false] {
        let mut table = Table::new();
        table.ask(1, request(1, &long));
        table.give(DeskInput::News(ChannelReport::ShownInFull { question: id(1), chat: ADA }));
        table.restart();
        if is_back {
            table.ask(2, request(1, &long));
        }
        let mut outputs = table.button(1, Action::Allow);
        if !is_back {
            assert!(told(&outputs)[0].starts_with("Allowed by Ada."), "{outputs:?}");
            outputs = table.ask(2, request(1, &long));
        }
        assert_eq!(answer(&outputs).decision, Decision::Allow);
        table.give(DeskInput::Delivered(AskerId(2)));
        let kept: Vec<&String> = table.ledger.kept.keys().collect();
        assert!(kept.is_empty(), "{kept:?}");
    }
}

/// A copy of the buttons stays one over a restart.
#[test]
fn the_buttons_below_a_question_in_full_are_marked_as_such_after_a_restart() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    let copy = QuestionCopy { question: id(1), chat: ADA, message: 41, part: CopyPart::Buttons };
    table.give(DeskInput::News(ChannelReport::Shown(copy.clone())));
    table.restart();
    let outputs = table.button(1, Action::Deny);
    let marked = outputs.iter().find_map(|output| match output {
        DeskOutput::Phones(ChannelOrder::Mark { copies, .. }) => Some(copies.clone()),
        _ => None,
    });
    assert_eq!(marked, Some(vec![copy]));
}

#[test]
fn words_that_are_no_reply_belong_to_the_question_they_were_asked_for() {
    let wrote = |who: Person, text: &str| {
        let (text, reply_to) = (text.to_owned(), ReplyTo::Message { chat: ADA, message: 5 });
        DeskInput::News(ChannelReport::Wrote { who, text, reply_to })
    };
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    table.ask(2, request(2, "make test"));
    let outputs = table.give(wrote(ada(), "not now"));
    assert!(answers(&outputs).is_empty());
    assert!(told(&outputs)[0].starts_with("No question waits for these words."), "{outputs:?}");
    assert!(table.give(wrote(stranger(), "let me in")).is_empty());
    table.button(2, Action::Reply);
    assert!(table.give(wrote(stranger(), "let me in")).is_empty());
    table.restart();
    table.ask(3, request(2, "make test"));
    let outputs = table.give(wrote(ada(), "not now"));
    let denied = answer(&outputs);
    assert_eq!((&denied.request_id, denied.decision), (&id(2), Decision::Deny));
    assert_eq!(denied.message.as_deref(), Some("not now"));
    table.give(DeskInput::Delivered(AskerId(3)));
    let outputs = table.give(wrote(ada(), "and another thing"));
    assert!(told(&outputs)[0].starts_with("No question waits for these words."), "{outputs:?}");
}

/// A process may answer the question that it asked for a front end of its own, and no other.
#[test]
fn a_process_answers_its_own_question_and_no_other() {
    let mut table = Table::new();
    let viewer = |process| {
        let place = PersonPlace::Viewer { viewer: 1, paired: false, process };
        Person::new(place, "a viewer")
    };
    let allow = || Press::Button(Action::Allow);
    let ask = |table: &mut Table, number: u64, more: Value| {
        table.give(DeskInput::From { asker: AskerId(number), lineage: vec![42] });
        table.ask(number, request_of(number, "Bash", &json!({ "command": "make" }), &more));
    };
    let own = |event| json!({ "context": { "answers": true, "event": event } });
    ask(&mut table, 1, own("PermissionRequest"));
    for other in [Some(43), None] {
        let outputs = table.press(viewer(other), 1, allow());
        assert!(told(&outputs)[0].starts_with("You may not answer here."), "{outputs:?}");
    }
    let outputs = table.press(viewer(Some(42)), 1, allow());
    assert_eq!(answer(&outputs).decision, Decision::Allow);
    assert_eq!(table.last("decided")["by"], "you");
    table.give(DeskInput::Delivered(AskerId(1)));
    assert_eq!(table.last("closed")["text"], "Allowed by you");
    ask(&mut table, 9, own("PermissionRequest"));
    let outputs = table.press(viewer(Some(42)), 9, Press::Button(Action::Deny));
    let to_the_model = answer(&outputs).message.as_deref();
    assert_eq!(to_the_model, Some("Denied by the user."), "it would take \"you\" for itself");
    // A question that does not say so, and one from whose answer others are answered.
    ask(&mut table, 2, json!({}));
    ask(&mut table, 3, own("PermissionDenied"));
    let mut check = own("PreToolUse");
    check["kind"] = "check".into();
    table.give(DeskInput::From { asker: AskerId(4), lineage: vec![42] });
    let check = request_of(4, "Bash", &json!({ "command": "make" }), &check);
    let ruling = Ruling::Ask { because: Some("rule `ask`".to_owned()), is_guarded: false };
    table.give(DeskInput::Asked { asker: AskerId(4), request: check, ruling, is_replay: false });
    for number in [2, 3, 4] {
        let outputs = table.press(viewer(Some(42)), number, allow());
        assert!(answers(&outputs).is_empty(), "{number}: {outputs:?}");
    }
}

fn host(viewer: u64, process: u32) -> DeskInput {
    let place = PersonPlace::Viewer { viewer, paired: false, process: Some(process) };
    let who = Person::new(place, "a viewer");
    let reply_to = ReplyTo::Viewer { viewer, id: "1".to_owned() };
    DeskInput::Gate { value: "5d0f2f1c8e7b4a69b3c2d1e0f9a8b7c6".to_owned(), who, reply_to }
}

fn gated(number: u64) -> ApprovalRequest {
    let context = json!({ "gated": "5d0f2f1c8e7b4a69b3c2d1e0f9a8b7c6" });
    request_of(number, "Bash", &json!({ "command": "make" }), &json!({ "context": context }))
}

/// A value in an agent's environment silences nothing unless the agent's own host registered it.
#[test]
fn only_a_registered_host_is_asked_instead_of_people() {
    let mut table = Table::new();
    let asked = |table: &mut Table, number: u64, lineage: &[u32]| {
        table.give(DeskInput::From { asker: AskerId(number), lineage: lineage.to_vec() });
        table.ask(number, gated(number))
    };
    assert!(is_shown(&asked(&mut table, 1, &[30, 20, 10])), "nobody has registered it");
    table.give(host(1, 10));
    let outputs = asked(&mut table, 2, &[30, 20, 10]);
    assert_eq!(answer(&outputs).decision, Decision::None);
    assert!(!is_shown(&outputs));
    assert!(is_shown(&asked(&mut table, 3, &[30, 20])), "it is another process's value");
    assert!(is_shown(&table.ask(4, gated(4))), "the system does not say who asks");
    let ruling = Ruling::Deny { because: "rule `no`".to_owned() };
    table.give(DeskInput::From { asker: AskerId(5), lineage: vec![30, 20, 10] });
    let denied =
        DeskInput::Asked { asker: AskerId(5), request: gated(5), ruling, is_replay: false };
    assert_eq!(answer(&table.give(denied)).decision, Decision::Deny, "deny rules hold");
    table.give(DeskInput::ViewerLeft(1));
    assert!(is_shown(&asked(&mut table, 6, &[30, 20, 10])), "its host has gone");
    let written = format!("{:?}", table.ledger.entries);
    assert!(!written.contains("5d0f2f1c8e7b4a69b3c2d1e0f9a8b7c6"), "the value is in no file");
}

#[test]
fn an_edited_input_runs_with_its_secrets_put_back() {
    let mut table = Table::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5".repeat(4).split_at(36).0);
    table.ask(1, request(1, &format!("deploy --token {secret}")));
    let written = format!("{:?}", table.ledger.entries);
    assert!(!written.contains(&secret));
    let input = table.last("asked")["request"]["tool_input"].to_string();
    let edited = input.replace("deploy", "deploy --dry-run");
    assert_ne!(edited, input);
    let gone = edited.replace("[hidden 1", "[gone 1");
    let outputs = table.press(ada(), 1, edited_input(gone));
    assert!(answers(&outputs).is_empty());
    let outputs = table.press(ada(), 1, edited_input(edited));
    let changed: Value =
        serde_json::from_str(answer(&outputs).updated_input.as_ref().unwrap().get()).unwrap();
    assert_eq!(changed["command"], format!("deploy --dry-run --token {secret}"));
    assert!(!format!("{:?}", table.ledger.entries).contains(&secret));
}

#[test]
fn an_asker_that_takes_no_edit_is_never_given_one() {
    let mut table = Table::new();
    table.ask(1, request_of(1, "Bash", &json!({ "command": "a" }), &json!({ "context": null })));
    let outputs = table.press(ada(), 1, edited_input(r#"{"command":"b"}"#.to_owned()));
    assert!(answers(&outputs).is_empty());
}

#[test]
fn picks_of_several_questions_need_done() {
    let mut table = Table::new();
    let question =
        |text: &str| json!({ "question": text, "options": [{ "label": "A" }, { "label": "B" }] });
    let input = json!({ "questions": [question("one?"), question("two?")] });
    table.ask(1, request_of(1, "AskUserQuestion", &input, &json!({})));
    assert!(answers(&table.button(1, Action::Allow)).is_empty());
    assert!(answers(&table.button(1, Action::Pick { question: 0, option: 1 })).is_empty());
    assert_eq!(told(&table.button(1, Action::Done)), ["Not every question has an answer yet."]);
    assert!(answers(&table.button(1, Action::Pick { question: 1, option: 9 })).is_empty());
    table.button(1, Action::Pick { question: 1, option: 0 });
    let outputs = table.button(1, Action::Done);
    let changed: Value =
        serde_json::from_str(answer(&outputs).updated_input.as_ref().unwrap().get()).unwrap();
    assert_eq!(changed["answers"], json!({ "one?": "B", "two?": "A" }));
}

#[test]
fn one_question_is_answered_by_one_pick() {
    let mut table = Table::new();
    let input = json!({ "question": "Where?", "choices": ["test", "live"] });
    table.ask(1, request_of(1, "Ask", &input, &json!({})));
    let outputs = table.button(1, Action::Pick { question: 0, option: 1 });
    assert_eq!(answer(&outputs).updated_input.as_ref().unwrap().get(), r#"{"choice":"live"}"#);
}

#[test]
fn what_was_chosen_is_on_the_screen_and_in_the_ledger() {
    let check = |tool: &str, input: &Value, presses: &[Press], expected: &str| {
        let mut table = Table::new();
        table.ask(1, request_of(1, tool, input, &json!({})));
        table.give(shown(1));
        for press in presses {
            table.press(ada(), 1, press.clone());
        }
        let outputs = table.give(DeskInput::Delivered(AskerId(1)));
        let text = format!("Answered by Ada: {expected}");
        assert_eq!(marks(&outputs), [(MarkState::Allowed, text.as_str())]);
        let decided = table.ledger.entries.iter().find(|entry| entry.kind == "decided").unwrap();
        let body: Value = serde_json::from_str(&decided.body).unwrap();
        assert_eq!(body["chosen"], expected);
    };
    let pick = |question, option| Press::Button(Action::Pick { question, option });
    let choices: Vec<String> = (1..=12).map(|number| format!("answer {number}")).collect();
    let asked = json!({ "question": "Which?", "choices": choices });
    check("Ask", &asked, &[pick(0, 11)], "answer 12");
    let option = |label: &str| json!({ "label": label });
    let questions = json!({ "questions": [
        { "question": "Colour?", "options": [option("Red"), option("Blue")] },
        { "question": "Sizes?", "options": [option("S"), option("M")], "multiSelect": true },
    ]});
    let presses = [pick(0, 1), pick(1, 0), pick(1, 1), Press::Button(Action::Done)];
    check("AskUserQuestion", &questions, &presses, "Blue; S, M");
    let schema = json!({ "properties": { "name": { "type": "string" } } });
    let asked = json!({ "message": "Who?", "requested_schema": schema });
    // A secret that somebody writes is not kept.
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let words = Press::Words(format!("Ada\nwith {token}"));
    check("Elicitation", &asked, &[words], "Ada⏎with [hidden 1: GitHub token]");
}

#[test]
fn a_viewer_cannot_allow_what_it_is_not_shown_whole() {
    let viewer = |process: Option<u32>| {
        Person::new(
            PersonPlace::Viewer { viewer: 3, paired: process.is_none(), process },
            "Ada's page",
        )
    };
    let long = "x\n".repeat(61_000);
    let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
    table.ask(1, request(1, &long));
    table.ask(2, request(2, "make"));
    for action in [Action::Allow, Action::Always(0)] {
        let outputs = table.press(viewer(None), 1, Press::Button(action));
        assert!(told(&outputs)[0].contains("longer than what viewers are shown"), "{outputs:?}");
        assert!(answers(&outputs).is_empty());
    }
    // What it is shown it may allow, and it may always deny.
    let outputs = table.press(viewer(None), 2, Press::Button(Action::Allow));
    assert_eq!(answer(&outputs).decision, Decision::Allow);
    table.restart();
    table.give(DeskInput::Viewers(1));
    let outputs = table.press(viewer(None), 1, Press::Button(Action::Allow));
    assert!(told(&outputs)[0].contains("longer than what viewers are shown"), "{outputs:?}");
    table.ask(3, request(1, &long));
    let outputs = table.press(viewer(None), 1, Press::Button(Action::Allow));
    assert!(told(&outputs)[0].contains("longer than what viewers are shown"), "{outputs:?}");
    let outputs = table.press(viewer(None), 1, Press::Button(Action::Deny));
    assert_eq!(answer(&outputs).decision, Decision::Deny);
    // The front end of the very process that asks has the whole input.
    let mut own = request(4, &long);
    own.context.as_mut().unwrap().answers = Some(true);
    table.give(DeskInput::From { asker: AskerId(4), lineage: vec![77] });
    table.ask(4, own);
    let outputs = table.press(viewer(Some(77)), 4, Press::Button(Action::Allow));
    assert_eq!(answer(&outputs).decision, Decision::Allow);
}

#[test]
fn a_long_input_is_kept_whole_while_its_question_is_open() {
    let viewer =
        Person::new(PersonPlace::Viewer { viewer: 3, paired: true, process: None }, "Ada's page");
    let long = format!("{} end", "x".repeat(70 * 1024));
    let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
    table.ask(1, request(1, &long));
    let key = format!("input/{}", id(1));
    let kept = table.ledger.kept.get(&key).cloned().unwrap();
    assert!(kept.contains(&long));
    let read = |input| RecordedQuestion::from_entries(&table.ledger.entries, input).unwrap();
    let (whole, cut) = (read(Some(kept.as_str())), read(None));
    assert!(!whole.is_cut && whole.card.body.command().ends_with("end"));
    assert!(cut.is_cut && whole.digest == cut.digest);
    table.restart();
    table.give(DeskInput::Viewers(1));
    table.ask(2, request(1, &long));
    let outputs = table.press(viewer, 1, Press::Button(Action::Allow));
    assert_eq!(answer(&outputs).decision, Decision::Allow);
    table.give(DeskInput::Delivered(AskerId(2)));
    assert_eq!(table.ledger.kept.get(&key), None);
}
