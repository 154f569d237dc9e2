//! Which keys answer a question, and when.

use callgate_approval::card::{Card, HIDDEN_COULD_RUN};
use callgate_wire::approval::ApprovalRequest;
use callgate_wire::desk::CardOffer;
use callgate_wire::tool_act::ToolKind;
use expect_test::expect;
use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;
use crate::styled_text::tests::page;

fn asked(diff: Option<&str>, can_allow_always: bool) -> QuestionPrompt {
    let input = json!({"path": "notes.txt", "content": "Ledger\n"});
    let mut prompt = QuestionPrompt::new(PermissionRequest {
        question: "q".to_owned(),
        tool_id: "1".to_owned(),
        tool_name: "write_file".to_owned(),
        input: to_raw_value(&input).unwrap(),
        title: "Write notes.txt".to_owned(),
        reason: Some("a rule asks: notes".to_owned()),
        can_allow_always: Some(can_allow_always),
        deadline: None,
        diff: diff.map(str::to_owned),
        card: None,
    });
    prompt.rows(&page(80), most_rows(&page(80)), 0);
    prompt.guard.mark_printed(Duration::from_secs(1));
    prompt
}

fn at(milliseconds: u64) -> Duration {
    Duration::from_secs(1) + Duration::from_millis(milliseconds)
}

fn press(prompt: &mut QuestionPrompt, milliseconds: u64, key: char) -> QuestionKey {
    prompt.handle_key(at(milliseconds), KeyStroke::Char(key))
}

#[test]
fn keys_answer() {
    let check = |key: char, always: bool, expected: fn(&QuestionKey) -> bool| {
        let meaning = press(&mut asked(None, always), 800, key);
        assert!(expected(&meaning), "{key}: {meaning:?}");
    };
    check('a', true, |key| matches!(key, QuestionKey::Answer(Press::Button(Action::Allow))));
    check('d', true, |key| matches!(key, QuestionKey::Answer(Press::Button(Action::Deny))));
    check('w', true, |key| matches!(key, QuestionKey::Answer(Press::Button(Action::Always(0)))));
    check('w', false, |key| matches!(key, QuestionKey::Refused(_)));
    check('r', false, |key| matches!(key, QuestionKey::Words));
    check('e', false, |key| matches!(key, QuestionKey::Edit));
    check('x', false, |key| matches!(key, QuestionKey::Nothing));
}

#[test]
fn a_key_counts_only_when_the_question_can_have_been_read() {
    let mut prompt = asked(None, false);
    for early in [0, 300, 699, 900, 1_100] {
        assert!(matches!(press(&mut prompt, early, 'a'), QuestionKey::Nothing), "{early}");
    }
    assert!(matches!(press(&mut prompt, 1_500, 'a'), QuestionKey::Answer(_)));
    // One that is not on the screen yet is answered by nothing.
    let mut unseen = asked(None, false);
    unseen.guard.shown_anew();
    assert!(matches!(press(&mut unseen, 9_000, 'a'), QuestionKey::Nothing));
    // Nothing that is pasted counts.
    let mut pasted = asked(None, false);
    let key = pasted.handle_key(at(900), KeyStroke::Pasted('a'));
    assert!(matches!(key, QuestionKey::Nothing));
    // It is answered once.
    let mut answered = asked(None, false);
    answered.is_answered = true;
    assert!(matches!(press(&mut answered, 900, 'a'), QuestionKey::Nothing));
}

#[test]
fn what_is_not_shown_whole_is_not_allowed() {
    let lines: Vec<String> = (0..60).map(|number| format!("+line {number}")).collect();
    let long = lines.join("\n");
    let mut prompt = asked(Some(&long), true);
    assert!(matches!(press(&mut prompt, 800, 'a'), QuestionKey::Refused(_)));
    assert!(matches!(press(&mut prompt, 900, 'w'), QuestionKey::Refused(_)));
    let rows = prompt.rows(&page(80), most_rows(&page(80)), 0);
    assert!(rows.len() <= most_rows(&page(80)) && rows.concat().contains("f shows all of it"));
    assert!(matches!(press(&mut prompt, 1_000, 'f'), QuestionKey::Full));
    assert!(prompt.full_rows(&page(80)).concat().contains("+line 59"));
    assert!(matches!(press(&mut prompt, 1_100, 'a'), QuestionKey::Answer(_)));
    // A deny needs no reading.
    assert!(matches!(press(&mut asked(Some(&long), true), 800, 'd'), QuestionKey::Answer(_)));
}

/// What the runtime has cut is drawn from the card, so that all of it can be read.
#[test]
fn a_diff_that_was_cut_is_not_all_that_is_shown() {
    let content = (0..9_000).map(|at| format!("line {at}\n")).collect::<Vec<_>>().concat();
    let mut prompt =
        asked_with("callgate", "write_file", &json!({"path": "a", "content": content}));
    let cut = content.lines().take(8_000).map(|line| format!("+{line}\n"));
    let cut = cut.collect::<Vec<_>>().concat();
    prompt.request.diff = Some(format!("{cut}[the diff was cut]\n"));
    assert!(matches!(press(&mut prompt, 800, 'f'), QuestionKey::Full));
    assert!(prompt.full_rows(&page(80)).concat().contains("line 8999"));
}

#[test]
fn what_was_not_sent_is_not_allowed() {
    let mut prompt = asked(None, true);
    let words = json!({"error": "the input of 9 bytes is not shown here"});
    prompt.request.input = to_raw_value(&words).unwrap();
    for key in ['a', 'w', 'e'] {
        assert!(matches!(press(&mut prompt, 800, key), QuestionKey::Refused(_)), "{key}");
    }
    assert!(matches!(press(&mut prompt, 800, 'd'), QuestionKey::Answer(_)));
}

/// A person has to know that something hidden could run, and what an always would allow.
#[test]
fn it_says_what_is_hidden_and_what_always_means() {
    let command = json!({"command": "$(echo ghp_0123456789abcdefghijABCDEFGHIJ012345)"});
    let mut prompt = asked_with("callgate", "run_shell_command", &command);
    let card = prompt.request.card.as_mut().unwrap();
    card.hides_what_runs = true;
    card.offers = vec![CardOffer {
        action: "always".to_owned(),
        meaning: "write_file(/w/notes.txt)".to_owned(),
        lasts: "for this session".to_owned(),
        changes_mode: false,
    }];
    prompt.request.can_allow_always = Some(true);
    let rows = prompt.rows(&page(80), 20, 0).join("\n").replace('\u{a0}', " ");
    assert!(rows.contains(HIDDEN_COULD_RUN), "{rows}");
    assert!(rows.contains("always: write_file(/w/notes.txt) (for this session)"), "{rows}");
}

#[test]
fn it_fits_forty_columns() {
    let mut rows = asked(Some("--- notes.txt\n+++ notes.txt\n@@ -0,0 +1 @@\n+Ledger\n"), true);
    expect![[r"
        ? Write notes.txt
          a rule asks: notes
          --- notes.txt
          +++ notes.txt
          @@ -0,0 +1 @@
          +Ledger
          a allow  w always  d deny
          r deny with words  e edit  (2 more)
    "]]
    .assert_eq(
        &(rows.rows(&page(40), 20, 2).join("\n").replace('\u{a0}', " ").replace(" \n", "\n")
            + "\n"),
    );
}

/// The question about a call with this card.
fn asked_with(agent: &str, tool: &str, input: &serde_json::Value) -> QuestionPrompt {
    let request = json!({
        "request_id": "550e8400-e29b-41d4-a716-446655440000", "tool_name": tool,
        "tool_input": input, "cwd": "/w", "session_id": "c", "agent": agent,
    });
    let request = ApprovalRequest::decode(request.to_string().as_bytes()).unwrap();
    let card = Card::new(&request, &input.to_string(), 1, 2).shown;
    let mut prompt = asked(None, false);
    prompt.request.title.clone_from(&card.row.summary);
    prompt.request.card = Some(Box::new(card));
    prompt
}

/// Without a diff of the runtime, a patch is drawn as the changes on its card.
#[test]
fn a_patch_is_drawn_as_a_diff() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch";
    for (tool, input) in [
        ("apply_patch", json!({ "input": patch })),
        ("shell", json!({ "command": ["apply_patch", patch] })),
    ] {
        let rows = asked_with("codex", tool, &input).full_rows(&page(80)).join("\n");
        assert!(rows.contains("patch a.rs"), "{rows}");
        assert!(rows.contains("Update a.rs\n  -old\n  +new"), "{rows}");
    }
}

/// A line of the table of tools is all that the chat needs to know a tool.
#[test]
fn every_line_of_the_table_of_tools_is_known_in_the_chat() {
    let patch = "*** Begin Patch\n*** Delete File: made.rs\n*** End Patch";
    let input = json!({
        "path": "made.rs", "pattern": "made", "content": "made", "old_string": "x",
        "new_string": "made",
        "input": patch, "url": "http://made.example", "plan": "made", "question": "made?",
        "message": "made?", "questions": [{ "question": "made?" }], "code": "made",
    });
    for (agent, tool, kind) in ToolKind::table() {
        let is_run = matches!(kind, ToolKind::Run(_));
        let input = if is_run { json!({ "command": "made" }) } else { input.clone() };
        let rows = asked_with(agent, tool, &input).full_rows(&page(80));
        let is_unsaid = rows[0] == format!("? {}", kind.deed(tool));
        assert!(rows[0].contains("made") || is_unsaid, "{agent} {tool}: {rows:?}");
        assert!(rows[1..].join("\n").contains("made"), "{agent} {tool}: {rows:?}");
    }
}
