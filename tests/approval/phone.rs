//! From the agent's hook to the phone and back.

use callgate_testkit::telegram::{Fault, Message};
use serde_json::json;

use crate::fixture::{ADA, Stage, bash, permission};

#[test]
fn allowed_on_the_phone() {
    let stage = Stage::new();
    let hook = stage.hook(&bash("make build"));
    let question = stage.question("make build");
    let told = stage.press(&question, "Allow");
    assert_eq!(hook.decision(), json!({ "behavior": "allow" }));
    assert_eq!(told.text, "Allowed by Ada");
    let now = stage.shows(&question, "Allowed by Ada");
    assert!(now.shape.buttons.is_empty());
    stage.phone.assert_nothing_refused();
    stage.assert_chain();
}

#[test]
fn a_script_hears_for_whom_it_waits_and_what_came_of_it() {
    let stage = Stage::new();
    let script = stage.start(&["ask", "Deploy?"], "");
    stage.press(&stage.question("Deploy?"), "Allow");
    let ended = script.end();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""));
    assert_eq!(
        ended.stderr,
        format!(
            "callgate: waiting up to 300 s for an answer on Telegram from chat {ADA}\n\
             callgate: allowed by Ada\n"
        )
    );
}

#[test]
fn denied_with_words() {
    let stage = Stage::new();
    let hook = stage.hook(&bash("make build"));
    let question = stage.question("make build");
    stage.press(&question, "Reply");
    let prompt = stage
        .phone
        .wait_for("a prompt", |seen| seen.chat(ADA).rfind(|message| message.force_reply).cloned());
    stage.phone.reply(ADA, ADA, prompt.id, "Only `make test`, please.");
    let decision = hook.decision();
    assert_eq!(decision, json!({ "behavior": "deny", "message": "Only `make test`, please." }));
    stage.shows(&question, "Denied by Ada");
    // Words that nobody waits for get an answer, and those that were asked for need not be a reply.
    let talk = stage.phone.send(ADA, ADA, "what now?");
    stage.phone.wait_for("what to do", |seen| {
        seen.chat(ADA)
            .find(|m| m.reply_to == Some(talk) && m.shape.text.contains("press Reply"))
            .map(drop)
    });
    let hook = stage.hook(&bash("make install"));
    stage.press(&stage.question("make install"), "Reply");
    stage.phone.send(ADA, ADA, "this is no reply");
    assert_eq!(hook.decision()["message"], "this is no reply");
}

#[test]
fn replies_go_to_the_question_they_answer() {
    let stage = Stage::new();
    let (one, two) = (stage.hook(&bash("make one")), stage.hook(&bash("make two")));
    let (first, second) = (stage.question("make one"), stage.question("make two"));
    stage.phone.reply(ADA, ADA, second.id, "not two");
    stage.phone.reply(ADA, ADA, first.id, "not one");
    assert_eq!(one.decision()["message"], "not one");
    assert_eq!(two.decision()["message"], "not two");
}

#[test]
fn always_gives_back_what_the_agent_offered() {
    let stage = Stage::new();
    let offered = json!([
        { "type": "addDirectories", "directories": ["/work"], "destination": "session" },
        { "type": "setMode", "mode": "acceptEdits", "destination": "session" },
    ]);
    let mut input = bash("touch x");
    input["permission_suggestions"] = offered.clone();
    let hook = stage.hook(&input);
    let question = stage.question("touch x");
    let label = question.labels().into_iter().find(|label| label.contains("Always"));
    let label = label.expect("an always button").to_owned();
    assert!(question.shape.text.contains("accept all edits") || label.contains("accept all edits"));
    // It changes the agent's mode, so it is confirmed by a second press, a moment later.
    let toast = stage.press(&question, &label);
    assert!(toast.text.contains("Press again to confirm."), "{toast:?}");
    stage.until("the second press counts", || {
        (!stage.press(&question, &label).text.contains("Press again to confirm")).then_some(())
    });
    assert_eq!(hook.decision()["updatedPermissions"], offered);
}

#[test]
fn stop_ends_the_turn() {
    let stage = Stage::new();
    let hook = stage.hook(&bash("make build"));
    let question = stage.question("make build");
    stage.press(&question, "Deny and stop");
    let decision = hook.decision();
    assert_eq!((&decision["behavior"], &decision["interrupt"]), (&json!("deny"), &json!(true)));
}

#[test]
fn a_question_of_the_agent_is_answered_by_a_choice() {
    let stage = Stage::new();
    let input = json!({ "questions": [{ "question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [{ "label": "Red", "description": "warm" }, { "label": "Blue", "description": "cold" }] }] });
    let hook = stage.hook(&permission("AskUserQuestion", &input));
    let question = stage.question("Which colour?");
    stage.press(&question, "Blue");
    let decision = hook.decision();
    assert_eq!(decision["updatedInput"]["answers"], json!({ "Which colour?": "Blue" }));
}

/// What a button for Allow would carry that is not there.
fn allow_data(question: &Message) -> String {
    let deny = question.button("Deny").unwrap();
    deny.data.replace(":deny", ":allow")
}

#[test]
fn a_whole_plan_can_be_read_and_approved() {
    let stage = Stage::new();
    let steps = (1..=900).map(|n| format!("{n}. Step number {n} of the plan."));
    let plan = steps.collect::<Vec<_>>().join("\n");
    let hook = stage.hook(&permission("ExitPlanMode", &json!({ "plan": plan })));
    let question = stage.question("Step number 1 of");
    assert!(question.shape.text.contains("Step number 900 of"), "its end is shown, too");
    assert!(question.button("Allow").is_none(), "{:?}", question.labels());
    let forged = stage.phone.press_data(ADA, ADA, question.id, &allow_data(&question));
    assert!(stage.told(&forged).text.starts_with("Not all of it was shown here."));
    stage.press(&question, "Show in full");
    stage.phone.wait_for("the last step", |seen| {
        let mut all = seen.chat(ADA);
        all.find(|message| {
            let document = message.document.as_ref().map(|d| String::from_utf8_lossy(&d.bytes));
            message.shape.text.contains("Step number 900 of")
                || document.is_some_and(|text| text.contains("Step number 900 of"))
        })
        .map(|_| ())
    });
    let end = stage.question("That is all of it.");
    stage.press(&end, "Allow");
    assert_eq!(hook.decision()["behavior"], "allow");
    stage.shows(&end, "Allowed by Ada");
}

#[test]
fn strangers_and_group_members_change_nothing() {
    let stage = Stage::new();
    stage.phone.add_private(66, "Mallory");
    let hook = stage.hook(&bash("make build"));
    let question = stage.question("make build");
    let data = question.button("Allow").unwrap().data.clone();
    for (chat, user) in [(66, 66), (ADA, 66)] {
        let press = stage.phone.press_data(chat, user, question.id, &data);
        let told = stage.told(&press);
        assert!(told.alert && told.text.contains("may not answer"), "{told:?}");
    }
    let forged = format!("{}:fly", &data[..36]);
    let press = stage.phone.press_data(ADA, ADA, question.id, &forged);
    assert!(stage.told(&press).alert);
    stage.press(&question, "Deny");
    hook.decision();
}

#[test]
fn faults_on_the_way_delay_no_decision() {
    let stage = Stage::new();
    stage.phone.fault("sendMessage", Fault::TooMany { seconds: 1 });
    let hook = stage.hook(&bash("make build"));
    let question = stage.question("make build");
    stage.phone.faults("editMessageText", usize::MAX, Fault::Status(502));
    stage.phone.press(ADA, ADA, question.id, "Allow");
    assert_eq!(hook.decision()["behavior"], "allow");
    stage.phone.heal();
    stage.shows(&question, "Allowed by Ada");
}

#[test]
fn a_hook_that_dies_closes_its_question() {
    let stage = Stage::new();
    let mut hook = stage.hook(&bash("make build"));
    let question = stage.question("make build");
    hook.group.kill();
    stage.shows(&question, "The agent went away");
    let press =
        stage.phone.press_data(ADA, ADA, question.id, &question.button("Allow").unwrap().data);
    assert!(stage.told(&press).text.contains("Too late"));
}

#[test]
fn a_report_from_the_terminal_closes_the_question() {
    let stage = Stage::new();
    let hook = stage.hook(&bash("make build"));
    let question = stage.question("make build");
    let mut report = bash("make build");
    report["hook_event_name"] = json!("PostToolUse");
    let ended = stage.hook(&report).end();
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "", ""));
    stage.shows(&question, "own terminal");
    hook.fell_back();
}

#[test]
fn when_nobody_can_be_reached_the_agent_is_told_at_once() {
    let stage = Stage::new();
    stage.phone.block(ADA);
    stage.hook(&bash("make build")).fell_back();
}
