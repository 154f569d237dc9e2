//! Calls that the agent itself has blocked: who is asked, what a grant lets through, and for how
//! long.

use callgate_wire::approval::{Action, ApprovalRequest, Decision, Press};
use serde_json::json;

use super::super::{AskerId, DeskInput, DeskSettings, Ruling};
use super::cases::{Table, answers, is_shown, marks, shown, told};
use super::checks::{
    asks_everything, blocked, check, decision, no_rule, notes, permission, ran, rule_allows,
    rule_asks, rule_denies,
};
use super::{ada, edited_input, request_of, settings};
use crate::channel::MarkState;

#[test]
fn a_blocked_call_is_asked_about_and_tries_again_once() {
    let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
    let outputs = table.bring(1, blocked(1, "git push"), no_rule());
    assert!(is_shown(&outputs));
    let question = "auto mode blocked `git push` because it pushes to a shared branch. \
                    Let it try again?";
    assert_eq!(table.last("asked")["question"], question);
    table.give(shown(1));
    let outputs = table.button(1, Action::Allow);
    assert_eq!(decision(&outputs).0, Decision::Allow);
    let outputs = table.delivered(1);
    assert_eq!(marks(&outputs), [(MarkState::Allowed, "Allowed by Ada to try again")]);
    // In another prompt, and with another description.
    let input = json!({ "description": "Once more", "command": "git push" });
    let context = json!({ "event": "PreToolUse", "mode": "auto", "prompt_id": "p2" });
    let more = json!({ "kind": "check", "context": context });
    let outputs = table.bring(2, request_of(2, "Bash", &input, &more), no_rule());
    assert_eq!(decision(&outputs).0, Decision::Allow);
    let checked = table.last("checked");
    assert_eq!(checked["by"], "Ada, who let it try again");
    let outputs = table.give(ran(3, "git push", &json!({})));
    assert!(notes(&outputs).is_empty(), "somebody was asked about it");
    // Once.
    let outputs = table.bring(4, check(4, "git push", "auto", "agent"), no_rule());
    assert_eq!(decision(&outputs).0, Decision::None);
}

#[test]
fn a_grant_lets_through_what_is_asked_but_never_what_is_denied() {
    for (ruling, expected) in [
        (rule_asks(), Decision::Allow),
        (Ruling::Ask { because: None, is_guarded: true }, Decision::Allow),
        (rule_denies(), Decision::Deny),
    ] {
        for settings in [settings(), asks_everything()] {
            let mut table = Table::with(settings);
            table.bring(1, blocked(1, "git push"), no_rule());
            table.button(1, Action::Allow);
            let outputs = table.bring(2, check(2, "git push", "auto", "desk"), ruling.clone());
            assert_eq!(decision(&outputs).0, expected, "{ruling:?}");
        }
    }
}

#[test]
fn a_grant_is_for_that_very_call_and_for_ten_minutes() {
    let same = || check(2, "git push", "auto", "agent");
    let others = [
        check(2, "git push --force", "auto", "agent"),
        ApprovalRequest { session_id: "s2".to_owned(), ..same() },
        ApprovalRequest { cwd: "/".to_owned(), ..same() },
    ];
    for other in others {
        let mut table = Table::new();
        table.bring(1, blocked(1, "git push"), no_rule());
        table.button(1, Action::Allow);
        table.delivered(1);
        assert_eq!(decision(&table.bring(2, other, no_rule())).0, Decision::None);
        table.wait(599);
        assert_eq!(decision(&table.bring(3, same(), no_rule())).0, Decision::Allow);
    }
    let mut table = Table::new();
    table.bring(1, blocked(1, "git push"), no_rule());
    table.button(1, Action::Allow);
    table.delivered(1);
    table.wait(600);
    assert_eq!(decision(&table.bring(3, same(), no_rule())).0, Decision::None);
}

#[test]
fn a_grant_outlives_the_desk_but_not_its_use() {
    let same = |number| check(number, "git push", "auto", "agent");
    let mut table = Table::new();
    table.bring(1, blocked(1, "git push"), no_rule());
    table.button(1, Action::Allow);
    table.delivered(1);
    table.wait(60);
    table.restart();
    assert_eq!(decision(&table.bring(2, same(2), no_rule())).0, Decision::Allow);
    table.restart();
    assert_eq!(decision(&table.bring(3, same(3), no_rule())).0, Decision::None);
    // An answer that nobody has read, and one that was a no, grant nothing.
    for (press, ends) in [(Action::Allow, false), (Action::Deny, true)] {
        let mut table = Table::new();
        table.bring(1, blocked(1, "git push"), no_rule());
        table.button(1, press);
        if ends {
            table.delivered(1);
        } else {
            table.give(DeskInput::Lost(AskerId(1)));
        }
        assert_eq!(decision(&table.bring(2, same(2), no_rule())).0, Decision::None);
        table.restart();
        assert_eq!(decision(&table.bring(3, same(3), no_rule())).0, Decision::None);
    }
    let mut table = Table::new();
    table.bring(1, blocked(1, "git push"), no_rule());
    table.button(1, Action::Allow);
    table.delivered(1);
    table.now.wall_ms += 600_000;
    table.restart();
    assert_eq!(decision(&table.bring(2, same(2), no_rule())).0, Decision::None);
}

#[test]
fn what_was_denied_here_is_not_asked_about_when_the_agent_reports_it() {
    // A rule, a person at a check, nobody at a check, a person who was asked for permission, and a
    // person who did not let it try again.
    let denials: [fn(&mut Table); 5] = [
        |table| {
            table.bring(1, check(1, "git push", "auto", "agent"), rule_denies());
        },
        |table| {
            table.bring(1, check(1, "git push", "auto", "desk"), rule_asks());
            table.button(1, Action::Deny);
            table.delivered(1);
        },
        |table| {
            table.bring(1, check(1, "git push", "auto", "desk"), rule_asks());
            table.wait(300);
            table.delivered(1);
        },
        |table| {
            table.bring(1, permission(1, "git push"), no_rule());
            table.button(1, Action::Deny);
            table.delivered(1);
        },
        |table| {
            table.bring(1, blocked(1, "git push"), no_rule());
            table.button(1, Action::Deny);
            table.delivered(1);
        },
    ];
    for deny in denials {
        let mut table = Table::new();
        deny(&mut table);
        for number in [2, 3] {
            let outputs = table.bring(number, blocked(number, "git push"), no_rule());
            assert!(!is_shown(&outputs));
            assert_eq!(decision(&outputs).0, Decision::Deny);
            table.delivered(number);
        }
        assert!(is_shown(&table.bring(4, blocked(4, "git fetch"), no_rule())));
        table.wait(600);
        assert!(is_shown(&table.bring(5, blocked(5, "git push"), no_rule())));
    }
    let mut table = Table::new();
    let outputs = table.bring(1, blocked(1, "git push"), rule_denies());
    assert!(!is_shown(&outputs));
    assert_eq!(decision(&outputs), (Decision::Deny, Some("rule `never`")));
}

#[test]
fn a_blocked_call_is_answered_with_yes_or_no_alone() {
    let mut table = Table::new();
    let suggestions = json!([{ "type": "addRules", "rules": [], "destination": "session" }]);
    let mut request = blocked(1, "git push");
    request.permission_suggestions =
        vec![serde_json::value::to_raw_value(&suggestions[0]).unwrap()];
    request.context.as_mut().unwrap().takes = None;
    // A rule that allows it has not helped: a person looks at it.
    assert!(is_shown(&table.bring(1, request, rule_allows())));
    for press in [
        Press::Words("do it".to_owned()),
        edited_input("{}".to_owned()),
        Press::Button(Action::Always(0)),
        Press::Button(Action::Stop),
        Press::Button(Action::Reply),
    ] {
        let outputs = table.press(ada(), 1, press.clone());
        assert!(answers(&outputs).is_empty(), "{press:?}");
        assert_eq!(told(&outputs).len(), 1, "{press:?}");
    }
    assert_eq!(decision(&table.button(1, Action::Allow)).0, Decision::Allow);
}

#[test]
fn a_call_that_was_allowed_and_blocked_all_the_same_is_not_asked_about_again() {
    let mut table = Table::new();
    table.bring(1, check(1, "git push", "plan", "desk"), rule_asks());
    table.give(shown(1));
    assert_eq!(answers(&table.button(1, Action::Allow))[0].0, 1);
    table.delivered(1);
    let outputs = table.bring(2, blocked(2, "git push"), rule_asks());
    assert_eq!(decision(&outputs).0, Decision::Deny);
    table.delivered(2);
    assert_eq!(table.desk.open_count(), 0);
    // Nor about anything else in that mode.
    let mut planned = blocked(3, "make");
    planned.context.as_mut().unwrap().mode = Some("plan".to_owned());
    assert_eq!(decision(&table.bring(3, planned, no_rule())).0, Decision::Deny);
}
