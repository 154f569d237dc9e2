//! Single cases: what each input leads to.

use std::time::Duration;

use callgate_wire::approval::{
    Action, AnswerExtra, ApprovalRequest, ApprovalResponse, Decision, Press,
};
use serde_json::{Value, json};

use super::super::{
    AskerId, Desk, DeskInput, DeskOutput, DeskSettings, DeskStep, Now, Ruling, WRONG_CODES,
};
use super::{
    ADA, Ledger, ada, authority, edited_input, id, request, request_of, settings, stranger,
};
use crate::channel::{
    ChannelOrder, MarkState, News, Person, PersonPlace, QuestionCopy, QuestionMark, ReplyTo,
};

/// A desk with its ledger and a clock.
pub(super) struct Table {
    pub(super) desk: Desk,
    pub(super) ledger: Ledger,
    pub(super) now: Now,
}

impl Table {
    pub(super) fn new() -> Self {
        Self::with(settings())
    }

    pub(super) fn with(settings: DeskSettings) -> Self {
        let now = Now { mono: Duration::ZERO, wall_ms: 1_000_000 };
        Self { desk: Desk::new(settings, authority()), ledger: Ledger::default(), now }
    }

    pub(super) fn give(&mut self, input: DeskInput) -> Vec<DeskOutput> {
        let step: DeskStep = self.desk.handle(self.now, input);
        self.ledger.commit(&step);
        step.outputs
    }

    pub(super) fn ask(&mut self, asker: u64, request: ApprovalRequest) -> Vec<DeskOutput> {
        let ruling = Ruling::Ask { because: None, is_guarded: false };
        self.give(DeskInput::Asked { asker: AskerId(asker), request, ruling, is_replay: false })
    }

    pub(super) fn press(&mut self, who: Person, number: u64, press: Press) -> Vec<DeskOutput> {
        let reply_to = ReplyTo::Callback("c".to_owned());
        self.press_on(None, who, number, press, reply_to)
    }

    /// Presses Allow on the copy of a question in Ada's chat.
    fn press_on_copy(&mut self, who: Person, number: u64) -> Vec<DeskOutput> {
        let copy = QuestionCopy { question: id(number), chat: ADA, message: 40 };
        let (press, reply_to) = (Press::Button(Action::Allow), ReplyTo::Callback("c".to_owned()));
        self.press_on(Some(copy), who, number, press, reply_to)
    }

    fn press_on(
        &mut self,
        copy: Option<QuestionCopy>,
        who: Person,
        number: u64,
        press: Press,
        reply_to: ReplyTo,
    ) -> Vec<DeskOutput> {
        let question = id(number);
        let confirm = None;
        self.give(DeskInput::News(News::Pressed { who, question, press, confirm, reply_to, copy }))
    }

    pub(super) fn button(&mut self, number: u64, action: Action) -> Vec<DeskOutput> {
        self.press(ada(), number, Press::Button(action))
    }

    pub(super) fn wait(&mut self, seconds: u64) -> Vec<DeskOutput> {
        self.now.mono += Duration::from_secs(seconds);
        self.now.wall_ms += i64::try_from(seconds).unwrap() * 1000;
        self.give(DeskInput::Tick)
    }

    pub(super) fn restart(&mut self) {
        self.desk = self.ledger.desk(self.now);
    }

    pub(super) fn kinds(&self) -> Vec<&str> {
        self.ledger.entries.iter().map(|entry| entry.kind.as_str()).collect()
    }

    pub(super) fn last(&self, kind: &str) -> Value {
        let entry = self.ledger.entries.iter().rev().find(|entry| entry.kind == kind).unwrap();
        serde_json::from_str(&entry.body).unwrap()
    }
}

pub(super) fn answers(outputs: &[DeskOutput]) -> Vec<(u64, &ApprovalResponse)> {
    let answer = |output| match output {
        &DeskOutput::Answer(asker, ref response) => Some((asker.0, response)),
        _ => None,
    };
    outputs.iter().filter_map(answer).collect()
}

pub(super) fn answer(outputs: &[DeskOutput]) -> &ApprovalResponse {
    let all = answers(outputs);
    assert_eq!(all.len(), 1, "{outputs:?}");
    all[0].1
}

pub(super) fn told(outputs: &[DeskOutput]) -> Vec<&str> {
    let text = |output| match output {
        &DeskOutput::Phones(ChannelOrder::Tell { ref text, .. }) => Some(text.as_str()),
        _ => None,
    };
    outputs.iter().filter_map(text).collect()
}

pub(super) fn marks(outputs: &[DeskOutput]) -> Vec<(MarkState, &str)> {
    let mark = |output| match output {
        &DeskOutput::Phones(ChannelOrder::Mark {
            mark: QuestionMark { state, ref text }, ..
        }) => Some((state, text.as_str())),
        _ => None,
    };
    outputs.iter().filter_map(mark).collect()
}

pub(super) fn is_shown(outputs: &[DeskOutput]) -> bool {
    outputs.iter().any(|output| matches!(output, DeskOutput::Phones(ChannelOrder::Show { .. })))
}

pub(super) fn shown(number: u64) -> DeskInput {
    DeskInput::News(News::Shown(QuestionCopy { question: id(number), chat: ADA, message: 40 }))
}

#[test]
fn allowed_is_told_and_shown_only_once_the_asker_has_read_it() {
    let mut table = Table::new();
    assert!(is_shown(&table.ask(1, request(1, "make"))));
    table.give(shown(1));
    let outputs = table.button(1, Action::Allow);
    assert_eq!(answer(&outputs).decision, Decision::Allow);
    assert!(told(&outputs).is_empty() && marks(&outputs).is_empty());
    let outputs = table.give(DeskInput::Delivered(AskerId(1)));
    assert_eq!(told(&outputs), ["Allowed by Ada"]);
    assert_eq!(marks(&outputs), [(MarkState::Allowed, "Allowed by Ada")]);
    assert_eq!(table.kinds(), ["asked", "pressed", "decided", "delivered", "closed"]);
    assert_eq!(table.desk.open_count(), 0);
}

#[test]
fn an_answer_that_was_not_read_is_not_shown_as_allowed() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    table.give(shown(1));
    table.button(1, Action::Allow);
    let outputs = table.give(DeskInput::Lost(AskerId(1)));
    assert_eq!(marks(&outputs), [(MarkState::Gone, "Allowed by Ada, but the agent had gone")]);
    assert_eq!(told(&outputs), ["Allowed by Ada, but the agent had gone"]);
}

#[test]
fn the_first_answer_wins_and_later_ones_are_told_so() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    table.button(1, Action::Deny);
    let outputs = table.button(1, Action::Allow);
    assert!(answers(&outputs).is_empty());
    assert_eq!(told(&outputs), ["Already decided by Ada."]);
    table.give(DeskInput::Delivered(AskerId(1)));
    let outputs = table.button(1, Action::Allow);
    assert_eq!(told(&outputs), ["Too late. Denied by Ada."]);
    assert_eq!(table.last("pressed")["outcome"], "late");
    assert_eq!(told(&table.button(99, Action::Allow)), ["This question is no longer open."]);
}

#[test]
fn strangers_change_nothing_and_are_told_so() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    let in_group = |user| Person {
        place: PersonPlace::Telegram { chat: -100, user, private: false },
        name: "Eve".to_owned(),
    };
    let elsewhere = Person {
        place: PersonPlace::Viewer { viewer: 1, paired: false, process: None },
        name: "x".to_owned(),
    };
    for who in [stranger(), in_group(8), elsewhere] {
        let outputs = table.press(who, 1, Press::Button(Action::Allow));
        assert!(answers(&outputs).is_empty());
        assert_eq!(
            told(&outputs),
            ["You may not answer here. To link this chat, run `callgate pair`."]
        );
        assert_eq!(table.last("pressed")["outcome"], "stranger");
    }
    assert!(table.kinds().iter().all(|kind| *kind != "decided"));
    let outputs = table.press(in_group(ADA), 1, Press::Button(Action::Allow));
    assert_eq!(answer(&outputs).decision, Decision::Allow);
}

#[test]
fn a_group_without_allowed_users_answers_nothing() {
    let mut table = Table::new();
    let mut nobody = authority();
    nobody.users.clear();
    table.desk = Desk::new(settings(), nobody);
    table.ask(1, request(1, "make"));
    let who = Person {
        place: PersonPlace::Telegram { chat: -100, user: ADA, private: false },
        name: "Ada".to_owned(),
    };
    assert!(answers(&table.press(who, 1, Press::Button(Action::Allow))).is_empty());
}

#[test]
fn the_ledger_does_not_grow_at_the_will_of_strangers() {
    let mut table = Table::new();
    for _ in 0..1_000 {
        table.press(stranger(), 1, Press::Button(Action::Allow));
    }
    assert_eq!(table.ledger.entries.len(), 100);
    table.wait(3_600);
    table.press(stranger(), 1, Press::Button(Action::Allow));
    assert_eq!(table.ledger.entries.len(), 101);
}

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

fn touch(number: u64) -> ApprovalRequest {
    let suggestions = json!([
        { "type": "addDirectories", "directories": ["/w"], "destination": "session" },
        { "type": "setMode", "mode": "acceptEdits", "destination": "session" },
        { "type": "addRules", "rules": [], "destination": "userSettings" },
    ]);
    let more = json!({ "permission_suggestions": suggestions });
    request_of(number, "Bash", &json!({ "command": "touch x" }), &more)
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
        told(outputs)[0].contains("accept all edits, for this session. Press it once more")
    };
    let mut table = Table::new();
    table.ask(1, touch(1));
    assert!(is_asked_again(&table.button(1, Action::Always(0))));
    assert_eq!(table.last("pressed")["outcome"], "not yet");
    assert!(is_asked_again(&table.button(1, Action::Always(0))), "a finger that taps twice");
    table.wait(2);
    let group = PersonPlace::Telegram { chat: -100, user: ADA, private: false };
    let elsewhere = Person { place: group, name: "Ada".to_owned() };
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
    let full = |chat| DeskInput::News(News::ShownInFull { question: id(1), chat });
    table.give(full(-100));
    assert!(answers(&table.button(1, Action::Allow)).is_empty(), "that was in another chat");
    table.give(full(ADA));
    assert_eq!(answer(&table.button(1, Action::Allow)).decision, Decision::Allow);
    table.ask(2, request(2, &long));
    assert_eq!(answer(&table.button(2, Action::Deny)).decision, Decision::Deny, "denied as ever");
}

/// A process may answer the question that it asked for a front end of its own, and no other.
#[test]
fn a_process_answers_its_own_question_and_no_other() {
    let mut table = Table::new();
    let viewer = |process| {
        let place = PersonPlace::Viewer { viewer: 1, paired: false, process };
        Person { place, name: "a viewer".to_owned() }
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
    assert_eq!(table.last("decided")["by"], "its own front end");
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
    let who = Person { place, name: "a viewer".to_owned() };
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
fn rules_decide_without_asking_anybody() {
    let mut table = Table::new();
    let ruling = Ruling::Allow { because: "rule `builds`".to_owned() };
    let asked = DeskInput::Asked {
        asker: AskerId(1),
        request: request(1, "make"),
        ruling,
        is_replay: false,
    };
    let outputs = table.give(asked);
    assert_eq!(answer(&outputs).decision, Decision::Allow);
    assert!(!is_shown(&outputs));
    assert_eq!(table.last("decided")["by"], "rule `builds`");
    let ruling = Ruling::Deny { because: "rule `no`".to_owned() };
    let asked = DeskInput::Asked {
        asker: AskerId(2),
        request: request(2, "make"),
        ruling,
        is_replay: false,
    };
    assert_eq!(answer(&table.give(asked)).message.as_deref(), Some("rule `no`"));
}

#[test]
fn what_touches_callgate_itself_is_never_allowed_from_now_on() {
    let mut table = Table::new();
    let guarded = |number| DeskInput::Asked {
        asker: AskerId(number),
        request: touch(1),
        ruling: Ruling::Ask { because: Some("it is ours".to_owned()), is_guarded: true },
        is_replay: false,
    };
    table.give(guarded(1));
    assert_eq!(told(&table.button(1, Action::Always(0))), ["That is not offered here."]);
    table.restart();
    assert_eq!(told(&table.button(1, Action::Always(0))), ["That is not offered here."]);
    table.give(guarded(2));
    assert_eq!(told(&table.button(1, Action::Always(0))), ["That is not offered here."]);
    assert_eq!(answer(&table.button(1, Action::Allow)).decision, Decision::Allow);
}

#[test]
fn nobody_in_time_is_a_timeout() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    table.give(shown(1));
    assert_eq!(table.desk.next_alarm(), Some(Duration::from_mins(5)));
    assert!(answers(&table.wait(299)).is_empty());
    assert_eq!(answer(&table.wait(1)).decision, Decision::Timeout);
    let outputs = table.give(DeskInput::Delivered(AskerId(1)));
    assert_eq!(marks(&outputs), [(MarkState::Expired, "Not decided: nobody answered in time")]);
}

#[test]
fn an_asker_that_waits_less_is_answered_sooner() {
    let mut table = Table::new();
    let more = json!({ "context": { "timeout_seconds": 5 } });
    table.ask(1, request_of(1, "Ask", &json!({}), &more));
    assert_eq!(answer(&table.wait(5)).decision, Decision::Timeout);
}

#[test]
fn when_nobody_can_be_reached_it_is_a_timeout_at_once() {
    let mut table = Table::with(DeskSettings { phones: false, ..settings() });
    assert_eq!(answer(&table.ask(1, request(1, "make"))).decision, Decision::Timeout);
    table.give(DeskInput::Viewers(1));
    assert!(answers(&table.ask(2, request(2, "make"))).is_empty());
    assert_eq!(answers(&table.give(DeskInput::Viewers(0))).len(), 1);
    let mut table = Table::with(DeskSettings { phones: false, terminal: true, ..settings() });
    assert!(answers(&table.ask(1, request(1, "make"))).is_empty());
}

#[test]
fn an_asker_that_wants_to_know_is_told_who_decided_or_why_nobody_did() {
    let curious = |number: u64| {
        let mut request = request(number, "make");
        let context = request.context.get_or_insert_default();
        context.takes = Some(vec![AnswerExtra::Outcome]);
        request
    };
    let mut table = Table::with(DeskSettings { phones: false, ..settings() });
    let alone = answer(&table.ask(1, curious(1))).clone();
    assert_eq!((alone.decision, alone.unreachable, alone.by), (Decision::Timeout, true, None));
    assert!(!answer(&table.ask(2, request(2, "make"))).unreachable, "it did not want to know");
    let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
    table.ask(3, curious(3));
    let late = answer(&table.wait(300)).clone();
    assert_eq!((late.decision, late.unreachable, late.by), (Decision::Timeout, false, None));
    table.ask(4, curious(4));
    let allowed = answer(&table.button(4, Action::Allow)).clone();
    assert_eq!((allowed.decision, allowed.by.as_deref()), (Decision::Allow, Some("Ada")));
    table.ask(5, request(5, "make"));
    assert_eq!(answer(&table.button(5, Action::Allow)).by, None, "it did not want to know");
}

#[test]
fn after_a_restart_viewers_have_a_moment_to_come_back() {
    let alone = || DeskSettings { phones: false, ..settings() };
    let mut table = Table::with(alone());
    table.give(DeskInput::Viewers(1));
    table.ask(1, request(1, "make"));
    let restart = |table: &mut Table| {
        table.desk = table.ledger.desk_with(alone(), table.now);
    };
    restart(&mut table);
    assert!(answers(&table.ask(2, request(1, "make"))).is_empty());
    assert!(answers(&table.wait(14)).is_empty());
    table.give(DeskInput::Viewers(1));
    assert!(answers(&table.wait(20)).is_empty());
    restart(&mut table);
    assert!(answers(&table.ask(3, request(1, "make"))).is_empty());
    assert_eq!(answer(&table.wait(15)).decision, Decision::Timeout);
    assert_eq!(answer(&table.ask(4, request(4, "make"))).decision, Decision::Timeout);
}

#[test]
fn when_no_message_can_be_sent_it_is_a_timeout_at_once() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    let unsendable = |chat| {
        DeskInput::News(News::Unsendable { question: id(1), chat, why: "blocked".to_owned() })
    };
    assert!(answers(&table.give(unsendable(ADA))).is_empty());
    assert_eq!(answer(&table.give(unsendable(-100))).decision, Decision::Timeout);
    assert_eq!(table.last("decided")["message"], "nobody can be reached");
}

#[test]
fn a_broken_channel_gives_up_what_only_it_could_show() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    let outputs = table.give(DeskInput::News(News::Broken { why: "wrong token".to_owned() }));
    assert_eq!(answer(&outputs).decision, Decision::Timeout);
    assert_eq!(answer(&table.ask(2, request(2, "make"))).decision, Decision::Timeout);
}

#[test]
fn phones_come_after_the_first_chance_of_the_others() {
    let after = DeskSettings { phone_after: Duration::from_secs(30), terminal: true, ..settings() };
    let mut table = Table::with(after);
    assert!(!is_shown(&table.ask(1, request(1, "make"))));
    assert!(is_shown(&table.wait(30)));
    assert!(!is_shown(&table.wait(30)));
}

#[test]
fn an_asker_that_goes_away_closes_its_question_everywhere() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    table.give(shown(1));
    let outputs = table.give(DeskInput::Gone(AskerId(1)));
    assert_eq!(marks(&outputs), [(MarkState::Gone, "The agent went away")]);
    assert_eq!(told(&table.button(1, Action::Allow)), ["Too late. The agent went away."]);
}

#[test]
fn a_second_question_of_the_same_id_harms_nothing() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    let outputs = table.ask(2, request(1, "rm -rf /"));
    assert_eq!(answers(&outputs)[0].0, 2);
    assert_eq!(answer(&outputs).decision, Decision::Timeout);
    let outputs = table.button(1, Action::Allow);
    assert_eq!(answers(&outputs)[0].0, 1);
    table.give(DeskInput::Delivered(AskerId(1)));
    let outputs = table.ask(3, request(1, "make"));
    assert_eq!(answer(&outputs).decision, Decision::Timeout, "an answer is given once");
}

#[test]
fn an_id_that_only_the_ledger_knows_is_not_answered_again() {
    let mut table = Table::new();
    let ruling = Ruling::Allow { because: "rule".to_owned() };
    let request = request(1, "make");
    let outputs =
        table.give(DeskInput::Asked { asker: AskerId(1), request, ruling, is_replay: true });
    assert_eq!(answer(&outputs).decision, Decision::Timeout);
}

#[test]
fn what_only_some_can_read_is_asked_recorded_and_answered_like_anything_else() {
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    for (number, input, suggestion) in [
        (1, r#"{"command":"x\ud800"}"#.to_owned(), "{}".to_owned()),
        (2, r#"{"\udfff":1}"#.to_owned(), "{}".to_owned()),
        (3, format!(r#"{{"a":{deep}}}"#), "{}".to_owned()),
        (4, format!(r#"{{"a":{}1{}}}"#, "[".repeat(122), "]".repeat(122)), "{}".to_owned()),
        (5, r#"{"command":"make"}"#.to_owned(), format!(r#"{{"type":"x","a":{deep}}}"#)),
    ] {
        let line = format!(
            r#"{{"request_id":"{}","tool_name":"Bash","tool_input":{input},"cwd":"/w","session_id":"s","permission_suggestions":[{suggestion}]}}"#,
            id(number)
        );
        let asked = || ApprovalRequest::decode(line.as_bytes()).unwrap();
        let mut table = Table::new();
        assert!(is_shown(&table.ask(number, asked())));
        for entry in &table.ledger.entries {
            let body: Result<Value, _> = serde_json::from_str(&entry.body);
            assert!(body.is_ok(), "{number}: {}", entry.body);
        }
        table.restart();
        table.ask(number + 100, asked());
        // Some of it is long.
        table.give(DeskInput::News(News::ShownInFull { question: id(number), chat: ADA }));
        assert_eq!(answer(&table.button(number, Action::Allow)).decision, Decision::Allow);
        let mut report = asked();
        report.kind = callgate_wire::approval::RequestKind::Settle;
        table.give(DeskInput::Told(report));
    }
}

#[test]
fn too_many_questions_are_turned_away() {
    let mut table = Table::new();
    table.desk.most_open = 3;
    for number in 0..3 {
        assert!(answers(&table.ask(number, request(number, "make"))).is_empty());
    }
    let outputs = table.ask(3, request(3, "make"));
    assert_eq!(answer(&outputs).decision, Decision::Timeout);
    assert_eq!(table.desk.open_count(), 3);
    table.give(DeskInput::Gone(AskerId(0)));
    assert!(answers(&table.ask(4, request(4, "make"))).is_empty());
}

#[test]
fn a_press_between_restart_and_return_reaches_the_asker() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    table.give(shown(1));
    table.restart();
    let outputs = table.button(1, Action::Allow);
    assert_eq!(told(&outputs), ["Allowed by Ada. The agent gets it when it is back."]);
    assert_eq!(marks(&outputs)[0].0, MarkState::Waiting);
    let outputs = table.ask(2, request(1, "make"));
    assert_eq!(answer(&outputs).decision, Decision::Allow);
    let outputs = table.give(DeskInput::Delivered(AskerId(2)));
    assert_eq!(marks(&outputs), [(MarkState::Allowed, "Allowed by Ada")]);
}

#[test]
fn what_was_decided_for_one_question_is_never_given_to_another() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    table.restart();
    table.button(1, Action::Allow);
    let outputs = table.ask(2, request(1, "rm -rf /"));
    assert_eq!(answer(&outputs).decision, Decision::Timeout);
    assert_eq!(answer(&table.ask(3, request(1, "make"))).decision, Decision::Allow);
}

#[test]
fn always_and_words_survive_a_restart() {
    let mut table = Table::new();
    table.ask(1, touch(1));
    table.ask(2, request(2, "make"));
    table.restart();
    table.button(1, Action::Always(0));
    table.wait(2);
    table.button(1, Action::Always(0));
    table.press(ada(), 2, Press::Words("no".to_owned()));
    table.restart();
    assert_eq!(answer(&table.ask(3, touch(1))).updated_permissions.len(), 2);
    assert_eq!(answer(&table.ask(4, request(2, "make"))).message.as_deref(), Some("no"));
}

#[test]
fn an_asker_that_does_not_come_back_is_gone() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    table.give(shown(1));
    table.restart();
    table.button(1, Action::Allow);
    assert!(marks(&table.wait(16)).is_empty());
    let outputs = table.wait(1);
    assert_eq!(marks(&outputs), [(MarkState::Gone, "Allowed by Ada, but the agent had gone")]);
    assert_eq!(table.desk.open_count(), 0);
}

#[test]
fn a_question_without_a_copy_is_shown_again_after_a_restart() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    table.ask(2, request(2, "make"));
    table.give(shown(2));
    table.restart();
    assert!(is_shown(&table.ask(3, request(1, "make"))));
    assert!(!is_shown(&table.ask(4, request(2, "make"))));
}

fn settle(event: &str, more: &Value) -> DeskInput {
    let mut line =
        json!({ "kind": "settle", "context": { "event": event, "prompt_id": "p1", "ok": true } });
    for (name, value) in more.as_object().unwrap() {
        line[name] = value.clone();
    }
    DeskInput::Told(request_of(900, "Bash", &json!({ "command": "make" }), &line))
}

#[test]
fn a_tool_that_has_run_settles_its_question_and_no_other() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    table.ask(2, request(2, "make test"));
    table.give(shown(1));
    let outputs = table.give(settle("PostToolUse", &json!({})));
    assert_eq!(marks(&outputs), [(MarkState::Settled, "Answered at the agent's own terminal")]);
    assert_eq!(answer(&outputs).decision, Decision::Timeout);
    assert_eq!((table.desk.open_count(), table.last("ran")["tool"].as_str()), (1, Some("Bash")));
}

#[test]
fn the_report_of_an_allowed_run_settles_no_other_question() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    table.button(1, Action::Allow);
    table.give(DeskInput::Delivered(AskerId(1)));
    table.ask(2, request(2, "make"));
    table.give(settle("PostToolUse", &json!({})));
    assert_eq!(table.desk.open_count(), 1, "the second one is still asked");
    table.give(settle("PostToolUse", &json!({})));
    assert_eq!(table.desk.open_count(), 0);
}

#[test]
fn a_question_that_the_user_answered_at_the_terminal_is_settled() {
    let mut table = Table::new();
    let questions = json!([{ "question": "Which?", "options": [{ "label": "A" }] }]);
    let asked = json!({ "questions": questions });
    table.ask(1, request_of(1, "AskUserQuestion", &asked, &json!({})));
    let ran = json!({ "questions": questions, "answers": { "Which?": "A" } });
    let context = json!({ "event": "PostToolUse", "prompt_id": "p1" });
    let more = json!({ "kind": "settle", "context": context });
    table.give(DeskInput::Told(request_of(900, "AskUserQuestion", &ran, &more)));
    assert_eq!(table.desk.open_count(), 0);
}

#[test]
fn stop_settles_its_own_prompt_and_leaves_subagents_alone() {
    let mut table = Table::new();
    let of = |number, context: Value| {
        request_of(number, "Bash", &json!({ "command": "x" }), &json!({ "context": context }))
    };
    table.ask(1, of(1, json!({ "prompt_id": "p1" })));
    table.ask(2, of(2, json!({ "prompt_id": "p2" })));
    table.ask(3, of(3, json!({ "prompt_id": "p1", "agent_id": "a" })));
    table.give(settle("Stop", &json!({})));
    assert_eq!(table.desk.open_count(), 2);
    table.give(settle("SessionEnd", &json!({ "session_id": "another" })));
    assert_eq!(table.desk.open_count(), 2);
    table.give(settle("SessionEnd", &json!({})));
    assert_eq!(table.desk.open_count(), 0);
}

fn command(table: &mut Table, who: Person, name: &str, rest: &str) -> Vec<DeskOutput> {
    let (name, rest) = (name.to_owned(), rest.to_owned());
    let reply_to = ReplyTo::Message { chat: ADA, message: 9 };
    table.give(DeskInput::News(News::Command { who, name, rest, reply_to }))
}

#[test]
fn commands_tell_list_and_mute() {
    let mut table = Table::new();
    assert_eq!(told(&command(&mut table, ada(), "status", "")), ["No question is open."]);
    table.ask(1, request(1, "make"));
    assert!(is_shown(&command(&mut table, ada(), "pending", "")));
    assert!(told(&command(&mut table, stranger(), "pending", ""))[0].contains("Its id is 8"));
    assert!(told(&command(&mut table, ada(), "mute", "soon"))[0].starts_with("For how long?"));
    command(&mut table, ada(), "mute", "30m");
    let outputs = table.ask(2, request(2, "make"));
    let to: Vec<i64> = outputs
        .iter()
        .filter_map(|output| match output {
            DeskOutput::Phones(ChannelOrder::Show { chats, .. }) => Some(chats.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(to, [-100]);
    table.restart();
    assert!(told(&command(&mut table, ada(), "status", ""))[0].contains("muted"));
    command(&mut table, ada(), "unmute", "");
    assert_eq!(told(&command(&mut table, ada(), "status", "")), ["2 questions are open."]);
}

/// A code that somebody who is linked has asked for.
fn new_code(code: &str) -> DeskInput {
    let reply_to = ReplyTo::Viewer { viewer: 1, id: "1".to_owned() };
    DeskInput::NewCode {
        code: code.to_owned(),
        id: id(99),
        who: ada(),
        is_for_page: false,
        is_first: false,
        reply_to,
    }
}

#[test]
fn a_code_links_a_chat_once() {
    let mut table = Table::new();
    table.give(new_code("K7QX-2M9P"));
    assert!(told(&command(&mut table, stranger(), "pair", "wrong"))[0].contains("not good"));
    let outputs = command(&mut table, stranger(), "pair", " k7qx2m9p ");
    assert!(told(&outputs)[0].starts_with("Linked."));
    table.restart();
    table.ask(1, request(1, "make"));
    let outputs = table.press(stranger(), 1, Press::Button(Action::Allow));
    assert_eq!(answer(&outputs).decision, Decision::Allow);
    let other = Person {
        place: PersonPlace::Telegram { chat: 9, user: 9, private: true },
        name: "Eve".to_owned(),
    };
    assert!(told(&command(&mut table, other, "pair", "K7QX-2M9P"))[0].contains("not good"));
}

#[test]
fn a_code_cannot_be_guessed_and_does_not_live_long() {
    let mut table = Table::new();
    table.give(new_code("K7QX2M9P"));
    for _ in 0..WRONG_CODES {
        command(&mut table, stranger(), "pair", "GUESS");
    }
    assert!(told(&command(&mut table, stranger(), "pair", "K7QX2M9P"))[0].contains("not good"));
    table.give(new_code("K7QX2M9P"));
    table.wait(600);
    assert!(told(&command(&mut table, stranger(), "pair", "K7QX2M9P"))[0].contains("not good"));
}

#[test]
fn what_cannot_be_recorded_is_not_decided() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    let step = table.desk.handle(
        table.now,
        DeskInput::News(News::Pressed {
            who: ada(),
            question: id(1),
            press: Press::Button(Action::Allow),
            confirm: None,
            reply_to: ReplyTo::Callback("c".to_owned()),
            copy: None,
        }),
    );
    drop(step);
    let outputs = table.give(DeskInput::LedgerFailed);
    assert_eq!(answer(&outputs).decision, Decision::Timeout);
    assert_eq!(told(&outputs), ["The ledger cannot be written, so this was not decided"]);
    assert_eq!(table.desk.open_count(), 0);
    assert!(answers(&table.ask(2, request(2, "make"))).is_empty());
}

#[test]
fn a_copy_of_a_question_that_is_over_is_retired() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    table.give(DeskInput::Gone(AskerId(1)));
    // Whoever sent it marks it.
    assert!(table.give(shown(1)).is_empty());
    let outputs = table.press_on_copy(ada(), 1);
    assert!(
        matches!(&outputs[0], DeskOutput::Phones(ChannelOrder::Retire { text, .. }) if text == "The agent went away")
    );
    let again = table.press_on_copy(ada(), 1);
    assert!(
        !again
            .iter()
            .any(|output| matches!(output, DeskOutput::Phones(ChannelOrder::Retire { .. })))
    );
}

#[test]
fn a_copy_is_noted_only_for_a_press_that_counts() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    let kept = |table: &Table| table.ledger.kept.keys().any(|key| key.starts_with("copy/"));
    table.press_on_copy(stranger(), 1);
    assert!(!kept(&table), "a stranger's press tells nothing");
    let outputs = table.press_on_copy(ada(), 1);
    assert!(kept(&table));
    assert_eq!(answer(&outputs).decision, Decision::Allow);
    let marked = table.give(DeskInput::Delivered(AskerId(1)));
    let copies = marked.iter().find_map(|output| match output {
        DeskOutput::Phones(ChannelOrder::Mark { copies, .. }) => Some(copies.clone()),
        _ => None,
    });
    assert_eq!(copies.unwrap(), [QuestionCopy { question: id(1), chat: ADA, message: 40 }]);
}

#[test]
fn a_question_is_tried_on_phones_for_as_long_as_it_is_open() {
    let mut table =
        Table::with(DeskSettings { phone_after: Duration::from_secs(20), ..settings() });
    let within = |outputs: &[DeskOutput]| {
        outputs.iter().find_map(|output| match output {
            DeskOutput::Phones(ChannelOrder::Show { within, .. }) => Some(*within),
            _ => None,
        })
    };
    assert_eq!(within(&table.ask(1, request(1, "make"))), None);
    let left = settings().timeout.checked_sub(Duration::from_secs(20));
    assert_eq!(within(&table.wait(20)), left);
}

#[test]
fn a_question_that_reached_nobody_says_so_at_its_end() {
    let mut table = Table::with(DeskSettings { terminal: false, ..settings() });
    table.ask(1, request(1, "make"));
    table.ask(2, request(2, "make"));
    table.give(shown(2));
    table.wait(settings().timeout.as_secs());
    table.give(DeskInput::Delivered(AskerId(1)));
    table.give(DeskInput::Delivered(AskerId(2)));
    let closed = table.ledger.entries.iter().filter(|entry| entry.kind == "closed");
    let texts: Vec<Value> = closed
        .map(|entry| serde_json::from_str::<Value>(&entry.body).unwrap()["text"].take())
        .collect();
    assert_eq!(
        texts,
        ["Not decided: nobody can be reached", "Not decided: nobody answered in time"]
    );
}

#[test]
fn people_hear_of_finished_turns_and_notifications_if_they_want_to() {
    let said = |table: &mut Table, input: DeskInput| -> Vec<String> {
        let said = table.give(input).into_iter().filter_map(|output| match output {
            DeskOutput::Phones(ChannelOrder::Say { text, chats }) => {
                Some(format!("{chats:?} {text}"))
            }
            DeskOutput::Terminal(ChannelOrder::Say { text, .. }) => Some(text),
            _ => None,
        });
        said.collect()
    };
    let stop = || {
        let context = json!({ "event": "Stop", "last_words": "All tests pass." });
        let more = json!({ "kind": "settle", "context": context });
        DeskInput::Told(request_of(900, "Stop", &json!({}), &more))
    };
    let notification = |kind: &str| {
        let input = json!({ "message": "Claude is waiting", "notification_type": kind });
        let more = json!({ "kind": "notify", "context": { "event": "Notification" } });
        DeskInput::Told(request_of(901, "Notification", &input, &more))
    };
    let mut table =
        Table::with(DeskSettings { notify_on_stop: true, terminal: true, ..settings() });
    let finished = "Claude Code in /home/ada/engine has finished. All tests pass.";
    let waits = "Claude Code in /home/ada/engine says: Claude is waiting";
    let both = |text: &str| [format!("[-100, 7] {text}"), text.to_owned()];
    assert_eq!(said(&mut table, stop()), both(finished));
    assert_eq!(said(&mut table, notification("idle_prompt")), both(waits));
    let permission = said(&mut table, notification("permission_prompt"));
    assert_eq!(permission, [""; 0], "the question itself is there");
    let mute = News::Command {
        who: ada(),
        name: "mute".to_owned(),
        rest: "1h".to_owned(),
        reply_to: ReplyTo::Message { chat: ADA, message: 1 },
    };
    table.give(DeskInput::News(mute));
    let others = [format!("[-100] {finished}"), finished.to_owned()];
    assert_eq!(said(&mut table, stop()), others, "a muted chat is left alone");
    let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
    assert_eq!(said(&mut table, stop()), [""; 0]);
    assert_eq!(said(&mut table, notification("idle_prompt")), [""; 0]);
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
    let viewer = |process: Option<u32>| Person {
        place: PersonPlace::Viewer { viewer: 3, paired: process.is_none(), process },
        name: "Ada's page".to_owned(),
    };
    let long = "x".repeat(70 * 1024);
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
