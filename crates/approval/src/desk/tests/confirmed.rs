//! Questions that only a typed word allows, on every channel.

use callgate_wire::approval::{Action, AllowDemands, ApprovalRequest, Decision, Press};
use serde_json::{Value, json};

use super::super::{AskerId, DeskInput, DeskOutput, DeskSettings, Ruling};
use super::cases::{Table, answer, answers, told};
use super::{ADA, ada, edited_input, id, request, request_of, settings};
use crate::channel::{ChannelOrder, ChannelReport, Person, PersonPlace, ReplyPurpose, ReplyTo};

fn confirm() -> Ruling {
    let because = "to be confirmed by rule `pushes`".to_owned();
    Ruling::AtDesk { because, needs_word: true, demands: AllowDemands::default() }
}

impl Table {
    /// Asks a question that a rule wants confirmed.
    fn ask_confirm(&mut self, asker: u64, request: ApprovalRequest) -> Vec<DeskOutput> {
        let (asker, ruling) = (AskerId(asker), confirm());
        self.give(DeskInput::Asked { asker, request, ruling, is_replay: false })
    }

    /// Presses with a typed word.
    fn press_typed(
        &mut self,
        place: PersonPlace,
        number: u64,
        press: Press,
        word: Option<&str>,
    ) -> Vec<DeskOutput> {
        let who = Person::new(place, "Ada");
        let reply_to = match place {
            PersonPlace::Terminal => ReplyTo::Key,
            PersonPlace::Viewer { viewer, .. } => ReplyTo::Viewer { viewer, id: "1".to_owned() },
            PersonPlace::Telegram { chat, .. } => ReplyTo::Message { chat, message: 9 },
        };
        let (question, confirm) = (id(number), word.map(str::to_owned));
        let copy = None;
        self.give(DeskInput::News(ChannelReport::Pressed {
            who,
            question,
            press,
            confirm,
            reply_to,
            copy,
        }))
    }

    fn outcomes(&self) -> Vec<String> {
        let pressed = self.ledger.entries.iter().filter(|entry| entry.kind == "pressed");
        let body = |body: &str| serde_json::from_str::<Value>(body).unwrap();
        let outcome = |entry: &callgate_store::LedgerEntry| {
            body(&entry.body)["outcome"].as_str().unwrap().to_owned()
        };
        pressed.map(outcome).collect()
    }
}

const VIEWER: PersonPlace = PersonPlace::Viewer { viewer: 1, paired: true, process: None };
const ALLOW: Press = Press::Button(Action::Allow);

fn words(text: &str) -> Press {
    Press::Words(text.to_owned())
}

/// Returns the reply to a viewer or a terminal.
fn said(outputs: &[DeskOutput]) -> Vec<&str> {
    let text = |output| match output {
        &DeskOutput::Viewer { ref text, .. }
        | &DeskOutput::Terminal(ChannelOrder::Tell { ref text, .. })
        | &DeskOutput::Phones(ChannelOrder::Tell { ref text, .. }) => Some(text.as_str()),
        _ => None,
    };
    outputs.iter().filter_map(text).collect()
}

fn asks_for_word(outputs: &[DeskOutput]) -> bool {
    let asks = |output: &DeskOutput| {
        matches!(
            output,
            DeskOutput::Phones(ChannelOrder::AskWords {
                purpose: ReplyPurpose::Confirm,
                chat: ADA,
                ..
            })
        )
    };
    outputs.iter().any(asks)
}

#[test]
fn a_viewer_and_the_terminal_allow_with_the_word_alone() {
    for place in [VIEWER, PersonPlace::Terminal] {
        let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
        table.ask_confirm(1, request(1, "git push origin 'main'"));
        assert_eq!(table.last("asked")["ruling"], "confirm");
        let silent = table.press_typed(place, 1, ALLOW, None);
        assert!(answers(&silent).is_empty());
        assert_eq!(
            said(&silent),
            ["A rule wants this confirmed: type the last word of the command to allow it."]
        );
        for wrong in ["origin", "", "mai", "main main"] {
            let outputs = table.press_typed(place, 1, ALLOW, Some(wrong));
            assert!(answers(&outputs).is_empty(), "{wrong:?}");
            assert_eq!(
                said(&outputs),
                ["That is not the last word of the command. It was neither allowed nor denied: \
                  try again."]
            );
        }
        let outputs = table.press_typed(place, 1, ALLOW, Some(" Main "));
        assert_eq!(answer(&outputs).decision, Decision::Allow);
        assert_eq!(table.outcomes(), [["unconfirmed"; 5].as_slice(), &["decided"]].concat());
    }
}

#[test]
fn on_a_phone_the_reply_to_allow_is_the_word() {
    let mut table = Table::new();
    table.ask_confirm(1, request(1, "git push origin main"));
    assert!(asks_for_word(&table.button(1, Action::Allow)));
    // A wrong word neither allows nor denies.
    let wrong = table.press(ada(), 1, words("yes"));
    assert!(answers(&wrong).is_empty());
    assert!(told(&wrong)[0].starts_with("That is not the last word of the command."));
    // Also after a restart of the desk.
    table.restart();
    table.ask_confirm(2, request(1, "git push origin main"));
    let allowed = table.press(ada(), 1, words("main"));
    assert_eq!(answer(&allowed).decision, Decision::Allow);
    table.give(DeskInput::Delivered(AskerId(2)));
    assert!(!table.ledger.kept.keys().any(|key| key.starts_with("word/")), "nothing is left over");
}

#[test]
fn words_that_were_not_asked_for_as_the_word_deny() {
    let mut table = Table::new();
    table.ask_confirm(1, request(1, "echo no"));
    let denied = table.press(ada(), 1, words("no"));
    assert_eq!(answer(&denied).decision, Decision::Deny);
    assert_eq!(answer(&denied).message.as_deref(), Some("no"));
    // Whoever changes their mind writes to the agent again.
    table.ask_confirm(2, request(2, "echo no"));
    table.button(2, Action::Allow);
    table.button(2, Action::Reply);
    let denied = table.press(ada(), 2, words("no"));
    assert_eq!(answer(&denied).decision, Decision::Deny);
}

#[test]
fn the_word_that_one_person_owes_is_not_taken_from_another() {
    let mut table = Table::new();
    table.ask_confirm(1, request(1, "make"));
    table.button(1, Action::Allow);
    // The same person in a group, where nobody pressed.
    let group = PersonPlace::Telegram { chat: -100, user: ADA, private: false };
    let outputs = table.press_typed(group, 1, words("make"), None);
    assert_eq!(answer(&outputs).decision, Decision::Deny);
}

#[test]
fn nothing_but_the_word_allows() {
    let suggestions = json!([{ "type": "toolAlwaysAllow", "tool": "Bash" }]);
    let more = json!({ "permission_suggestions": suggestions });
    let input = json!({ "command": "git push" });
    let mut table = Table::new();
    table.ask_confirm(1, request_of(1, "Bash", &input, &more));
    let edit = || edited_input(json!({ "command": "git push --dry-run" }).to_string());
    for press in [ALLOW, Press::Button(Action::Always(0)), edit()] {
        let outputs = table.press_typed(VIEWER, 1, press, None);
        assert!(answers(&outputs).is_empty(), "{outputs:?}");
    }
    // No offer was made, whatever the word.
    let always = table.press_typed(VIEWER, 1, Press::Button(Action::Always(0)), Some("push"));
    assert!(answers(&always).is_empty());
    let edited = table.press_typed(VIEWER, 1, edit(), Some("push"));
    assert_eq!(answer(&edited).decision, Decision::Allow);
    assert!(answer(&edited).updated_input.is_some());
}

#[test]
fn a_deny_needs_no_word() {
    let mut table = Table::new();
    table.ask_confirm(1, request(1, "git push"));
    assert_eq!(answer(&table.button(1, Action::Deny)).decision, Decision::Deny);
}

#[test]
fn a_check_comes_to_the_desk_even_if_the_agent_could_ask() {
    let context = json!({ "event": "PreToolUse", "mode": "default", "asks": "agent" });
    let more = json!({ "kind": "check", "context": context });
    let input = json!({ "command": "git push" });
    let mut table = Table::new();
    let outputs = table.ask_confirm(1, request_of(1, "Bash", &input, &more));
    assert!(answers(&outputs).is_empty(), "it waits for a person");
    assert_eq!(table.desk.open_count(), 1);
    table.press_typed(VIEWER, 1, ALLOW, Some("push"));
    table.give(DeskInput::Delivered(AskerId(1)));
    // The agent then asks for permission, about which nobody is asked twice.
    let context = json!({ "event": "PermissionRequest", "mode": "default" });
    let more = json!({ "context": context });
    let outputs = table.ask_confirm(2, request_of(2, "Bash", &input, &more));
    assert_eq!(answer(&outputs).decision, Decision::Allow);
}

#[test]
fn no_answer_is_a_no_although_the_agent_could_ask() {
    let more = json!({ "context": { "event": "PermissionRequest", "mode": "default" } });
    let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
    table.ask_confirm(1, request_of(1, "Bash", &json!({ "command": "git push" }), &more));
    let outputs = table.wait(301);
    assert_eq!(answer(&outputs).decision, Decision::Deny);
    let message = "Not allowed: nobody answered in time, and a rule wants it confirmed.";
    assert_eq!(answer(&outputs).message.as_deref(), Some(message));
    table.give(DeskInput::Delivered(AskerId(1)));
    assert_eq!(table.last("closed")["text"], "Not allowed: nobody answered in time");
    assert_eq!(table.last("decided")["decision"], "timeout");
}

#[test]
fn the_word_is_the_end_of_what_is_asked() {
    let check = |tool: &str, input: Value, word: &str| {
        let mut table = Table::new();
        table.ask_confirm(1, request_of(1, tool, &input, &json!({})));
        let wrong = table.press_typed(VIEWER, 1, ALLOW, Some(&format!("{word}x")));
        assert!(answers(&wrong).is_empty(), "{tool}");
        let right = table.press_typed(VIEWER, 1, ALLOW, Some(word));
        assert_eq!(answers(&right).len(), 1, "{tool}: {word}");
    };
    check("Bash", json!({ "command": "(cd /srv; rm -rf \"old data\")" }), "data");
    check("Bash", json!({ "command": "rm -rf /" }), "/");
    check("Bash", json!({ "command": "curl -H 'x'\n" }), "x");
    check("Write", json!({ "file_path": "/srv/www/index.html", "content": "x" }), "index.html");
    check(
        "Edit",
        json!({ "file_path": "/etc/hosts", "old_string": "a", "new_string": "b" }),
        "hosts",
    );
    check("mcp__github__delete_repo", json!({}), "delete_repo");
    check("WebFetch", json!({ "url": "https://a.example/b" }), "webfetch");
    check("Bash", json!({ "command": "  " }), "bash");
}
