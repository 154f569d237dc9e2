//! Single cases: what each input leads to.

use std::time::Duration;

use callgate_store::LedgerEntry;
use callgate_wire::approval::{Action, ApprovalRequest, ApprovalResponse, Decision, Press};
use callgate_wire::tool_act::ToolKind;
use serde_json::{Value, json};

use super::super::{
    AskerId, Desk, DeskInput, DeskOutput, DeskSettings, DeskStep, DeskTime, RecordedQuestion,
    Ruling,
};
use super::{
    ADA, Ledger, ada, authority, failed_ledger, id, request, request_of, settings, stranger,
};
use crate::card::tests::sample;
use crate::channel::{
    ChannelOrder, ChannelReport, CopyPart, MarkState, Person, PersonPlace, QuestionCopy,
    QuestionMark, ReplyTo,
};

/// A desk with its ledger and a clock.
pub(super) struct Table {
    pub(super) desk: Desk,
    pub(super) ledger: Ledger,
    pub(super) now: DeskTime,
}

impl Table {
    pub(super) fn new() -> Self {
        Self::with(settings())
    }

    pub(super) fn with(settings: DeskSettings) -> Self {
        let now = DeskTime { mono: Duration::ZERO, wall_ms: 1_000_000 };
        Self {
            desk: Desk::new(settings, authority(), crate::telegram::is_cut_in_message),
            ledger: Ledger::default(),
            now,
        }
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
    pub(super) fn press_on_copy(&mut self, who: Person, number: u64) -> Vec<DeskOutput> {
        let copy =
            QuestionCopy { question: id(number), chat: ADA, message: 40, part: CopyPart::Question };
        let (press, reply_to) = (Press::Button(Action::Allow), ReplyTo::Callback("c".to_owned()));
        self.press_on(Some(copy), who, number, press, reply_to)
    }

    pub(super) fn press_on(
        &mut self,
        copy: Option<QuestionCopy>,
        who: Person,
        number: u64,
        press: Press,
        reply_to: ReplyTo,
    ) -> Vec<DeskOutput> {
        let question = id(number);
        let confirm = None;
        self.give(DeskInput::News(ChannelReport::Pressed {
            who,
            question,
            press,
            confirm,
            reply_to,
            copy,
        }))
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
    DeskInput::News(ChannelReport::Shown(QuestionCopy {
        question: id(number),
        chat: ADA,
        message: 40,
        part: CopyPart::Question,
    }))
}

pub(super) fn touch(number: u64) -> ApprovalRequest {
    let suggestions = json!([
        { "type": "addDirectories", "directories": ["/w"], "destination": "session" },
        { "type": "setMode", "mode": "acceptEdits", "destination": "session" },
        { "type": "addRules", "rules": [], "destination": "userSettings" },
    ]);
    let more = json!({ "permission_suggestions": suggestions });
    request_of(number, "Bash", &json!({ "command": "touch x" }), &more)
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
    let in_group =
        |user| Person::new(PersonPlace::Telegram { chat: -100, user, private: false }, "Eve");
    let elsewhere =
        Person::new(PersonPlace::Viewer { viewer: 1, paired: false, process: None }, "x");
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
    table.desk = Desk::new(settings(), nobody, crate::telegram::is_cut_in_message);
    table.ask(1, request(1, "make"));
    let who = Person::new(PersonPlace::Telegram { chat: -100, user: ADA, private: false }, "Ada");
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
fn rules_decide_without_asking_anybody() {
    let mut table = Table::new();
    let ruling = Ruling::Allow { because: "allowed by rule `builds`".to_owned() };
    let asked = DeskInput::Asked {
        asker: AskerId(1),
        request: request(1, "make"),
        ruling,
        is_replay: false,
    };
    let outputs = table.give(asked);
    assert_eq!(answer(&outputs).decision, Decision::Allow);
    assert!(!is_shown(&outputs));
    assert_eq!(table.last("decided")["by"], "allowed by rule `builds`");
    table.give(DeskInput::Delivered(AskerId(1)));
    assert_eq!(table.last("closed")["text"], "Allowed by rule `builds`");
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
        table.give(DeskInput::News(ChannelReport::ShownInFull { question: id(number), chat: ADA }));
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

/// The ledger has too little of such a question to know what can be chosen.
#[test]
fn answers_can_be_chosen_after_a_restart_from_what_the_ledger_has_only_in_part() {
    let mut table = Table::new();
    let long = "and\n".repeat(100_000);
    let question = |text: &str| json!({ "question": text, "options": [{ "label": "Red" }] });
    let questions = [question(&format!("Colour {long}?")), question("And then?")];
    let asked =
        || request_of(1, "AskUserQuestion", &json!({ "questions": questions.clone() }), &json!({}));
    table.ask(1, asked());
    table.restart();
    table.ask(2, asked());
    for question in [0, 1] {
        table.button(1, Action::Pick { question, option: 0 });
    }
    assert_eq!(answer(&table.button(1, Action::Done)).decision, Decision::Allow);
}

#[test]
fn what_cannot_be_recorded_is_not_decided() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    let step = table.desk.handle(
        table.now,
        DeskInput::News(ChannelReport::Pressed {
            who: ada(),
            question: id(1),
            press: Press::Button(Action::Allow),
            confirm: None,
            reply_to: ReplyTo::Callback("c".to_owned()),
            copy: None,
        }),
    );
    drop(step);
    let outputs = table.give(failed_ledger());
    assert_eq!(answer(&outputs).decision, Decision::Timeout);
    assert_eq!(told(&outputs), ["The ledger cannot be written, so this was not decided"]);
    assert_eq!(table.desk.open_count(), 0);
    assert!(answers(&table.ask(2, request(2, "make"))).is_empty());
}

/// Whoever reads the ledger would find them open for ever, and what was kept about them, too.
#[test]
fn questions_that_a_failed_ledger_has_end_once_it_can_be_written() {
    let mut table = Table::new();
    let long = "x".repeat(80 * 1024);
    for number in 1..=2 {
        table.ask(number, request(number, &long));
        table.give(shown(number));
        table.button(number, Action::Reply);
    }
    let reply = "reply/7/7".to_owned();
    assert_eq!(table.ledger.kept.get(&reply).map(String::as_str), Some(id(2).as_str()));
    // The last batch, which had the second question, was not written.
    let unrecorded = [id(2)].into();
    table.give(DeskInput::LedgerFailed { unrecorded });
    assert_eq!(
        table.last("closed")["text"],
        "The ledger cannot be written, so this was not decided"
    );
    assert!(table.ledger.is_over(&id(1)) && !table.ledger.is_over(&id(2)));
    let of_first = |key: &&String| key.contains(id(1).as_str());
    assert_eq!(table.ledger.kept.keys().find(of_first), None);
    // Words that are no reply belong to no question that is over.
    let wrote = ChannelReport::Wrote {
        who: ada(),
        text: "yes".to_owned(),
        reply_to: ReplyTo::Message { chat: ADA, message: 9 },
    };
    let outputs = table.give(DeskInput::News(wrote));
    assert!(told(&outputs)[0].starts_with("No question waits for these words"), "{outputs:?}");
}

/// A line of the table of tools is all that the ledger and the page need to know a tool: the page
/// shows the card that is made from the ledger.
#[test]
fn every_line_of_the_table_of_tools_is_recorded_and_shown_on_the_page() {
    for (agent, tool, kind) in ToolKind::table() {
        let (input, body) = sample(kind);
        let mut table = Table::new();
        table.ask(1, request_of(1, tool, &input, &json!({ "agent": agent })));
        let entries: Vec<LedgerEntry> = table.ledger.entries.clone();
        let asked = entries.iter().find_map(|entry| entry.event().into_call()).unwrap();
        let shown = RecordedQuestion::from_entries(&entries, None).unwrap().card.shown;
        assert_eq!(asked.summary, shown.row.summary, "{agent} {tool}");
        let page = serde_json::to_value(&shown).unwrap();
        assert_eq!(page["deed"], kind.deed(tool), "{agent} {tool}");
        assert_eq!(page["body"]["type"], body, "{agent} {tool}");
    }
}
