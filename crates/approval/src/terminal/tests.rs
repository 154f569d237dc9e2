//! What the terminal prints, and what its keys mean.

use callgate_wire::approval::Request;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;

fn card(number: u8, tool: &str, input: &Value, more: &Value) -> Arc<Card> {
    let mut line = json!({
        "request_id": format!("550e8400-e29b-41d4-a716-4466554400{number:02}"),
        "tool_name": tool,
        "tool_input": input,
        "cwd": "/work/engine",
        "session_id": "s1",
        "agent": "claude-code",
        "context": { "takes": ["always", "edit", "interrupt"] },
    });
    for (name, value) in more.as_object().unwrap() {
        line[name] = value.clone();
    }
    let request = Request::decode(line.to_string().as_bytes()).unwrap();
    Arc::new(Card::new(&request, request.tool_input.get(), 1, 2))
}

fn build(number: u8) -> Arc<Card> {
    let suggestions = json!([{ "type": "addRules", "rules": [{ "toolName": "Bash", "ruleContent": "make *" }], "behavior": "allow", "destination": "session" }]);
    let more = json!({ "permission_suggestions": suggestions });
    card(number, "Bash", &json!({ "command": "make build", "description": "Build" }), &more)
}

fn show(card: Arc<Card>) -> Order {
    Order::Show { card, chats: Vec::new() }
}

fn pressed(terminal: &mut Terminal, key: char) -> Option<Press> {
    match terminal.key(Key::Char(key)).1? {
        News::Pressed { press, doing: Doing::Key, .. } => Some(press),
        other => panic!("{other:?}"),
    }
}

fn check(card: Arc<Card>, expected: &Expect) {
    expected.assert_eq(&Terminal::new("ada", false).order(show(card)));
}

#[test]
fn questions_as_they_look() {
    check(
        build(1),
        &expect![[r"

        Claude Code wants to run in /work/engine
          make build
          # Build
        a allow   1 always: make * (for this session)   d deny   s deny and stop   r reply
    "]],
    );
    let edit =
        json!({ "file_path": "/a.rs", "old_string": "one\ntwo\n", "new_string": "one\n2\n" });
    check(
        card(1, "Edit", &edit, &json!({})),
        &expect![[r"

        Claude Code wants to edit /a.rs in /work/engine
           one
          -two
          +2
        a allow   d deny   s deny and stop   r reply
    "]],
    );
    let long = (1..=30).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n") + "\n";
    let write = json!({ "file_path": "/a", "content": long });
    check(
        card(1, "Write", &write, &json!({ "context": null })),
        &expect![[r"

        Claude Code wants to write /a in /work/engine
          line 1
          line 2
          line 3
          line 4
          line 5
          line 6
          line 7
          line 8
          line 9
          line 10
          line 11
          line 12
          line 13
          line 14
          line 15
          line 16
          … 14 more lines: f shows them
        a allow   d deny   r reply
    "]],
    );
    let questions = json!({ "questions": [
        { "question": "Colour?", "options": [{ "label": "Red", "description": "warm" }, { "label": "Blue" }] },
        { "question": "Size?", "options": [{ "label": "S" }] },
    ]});
    check(
        card(1, "AskUserQuestion", &questions, &json!({})),
        &expect![[r"

            Claude Code asks in /work/engine
              Colour?
                1 Red: warm
                2 Blue
              Size?
                  S
            1-9 choose   o done   d deny   s deny and stop   r reply
        "]],
    );
}

#[test]
fn keys_answer_the_question_that_is_shown() {
    let mut terminal = Terminal::new("ada", false);
    assert_eq!(terminal.key(Key::Char('a')), (String::new(), None));
    terminal.order(show(build(1)));
    assert_eq!(pressed(&mut terminal, 'a'), Some(Press::Button(Action::Allow)));
    assert_eq!(pressed(&mut terminal, 'D'), Some(Press::Button(Action::Deny)));
    assert_eq!(pressed(&mut terminal, 's'), Some(Press::Button(Action::Stop)));
    assert_eq!(pressed(&mut terminal, '1'), Some(Press::Button(Action::Always(0))));
    assert_eq!(pressed(&mut terminal, '2'), None);
    assert_eq!(pressed(&mut terminal, '0'), None);
    assert_eq!(pressed(&mut terminal, 'x'), None);
}

#[test]
fn one_question_after_the_other() {
    let mut terminal = Terminal::new("ada", false);
    terminal.order(show(build(1)));
    assert_eq!(terminal.order(show(build(2))), "(1 more waiting)\n");
    assert_eq!(terminal.order(show(build(2))), "", "it is there already");
    let mark = Mark { state: State::Allowed, text: "Allowed by ada".to_owned() };
    let order = Order::Mark { card: build(1), copies: Vec::new(), mark: mark.clone() };
    let printed = terminal.order(order);
    assert!(
        printed.starts_with("✓ Allowed by ada: make build\n\nClaude Code wants to run"),
        "{printed}"
    );
    terminal.order(show(build(3)));
    let (printed, _) = terminal.key(Key::Char('n'));
    assert!(printed.contains("(1 more waiting"));
    let order = Order::Mark { card: build(2), copies: Vec::new(), mark };
    assert_eq!(terminal.order(order), "✓ Allowed by ada: make build\n", "it was not shown");
}

#[test]
fn words_are_typed_corrected_sent_or_given_up() {
    let mut terminal = Terminal::new("ada", false);
    terminal.order(show(build(1)));
    let (prompt, _) = terminal.key(Key::Char('r'));
    assert!(prompt.starts_with("Your words"));
    assert_eq!(terminal.key(Key::Enter).1, None, "no words are no answer");
    terminal.key(Key::Char('r'));
    for c in "nöx".chars() {
        assert_eq!(terminal.key(Key::Char(c)).0, c.to_string());
    }
    assert_eq!(terminal.key(Key::Backspace).0, "\u{8} \u{8}");
    let Some(News::Pressed { press, .. }) = terminal.key(Key::Enter).1 else { panic!("no press") };
    assert_eq!(press, Press::Words("nö".to_owned()));
    terminal.key(Key::Char('r'));
    assert_eq!(terminal.key(Key::Escape).1, None);
    assert_eq!(pressed(&mut terminal, 'a'), Some(Press::Button(Action::Allow)));
}

#[test]
fn words_for_a_question_that_is_over_are_not_sent_to_the_next() {
    let mut terminal = Terminal::new("ada", false);
    terminal.order(show(build(1)));
    terminal.order(show(build(2)));
    terminal.key(Key::Char('r'));
    let mark = Mark { state: State::Gone, text: "The agent went away".to_owned() };
    terminal.order(Order::Mark { card: build(1), copies: Vec::new(), mark });
    assert_eq!(terminal.key(Key::Char('x')).1, None);
    assert_eq!(terminal.key(Key::Enter).1, None);
}

#[test]
fn number_keys_choose_answers_one_question_at_a_time() {
    let questions = json!({ "questions": [
        { "question": "Colour?", "options": [{ "label": "Red" }, { "label": "Blue" }] },
        { "question": "Size?", "options": [{ "label": "S" }] },
    ]});
    let card = card(1, "AskUserQuestion", &questions, &json!({}));
    let mut terminal = Terminal::new("ada", false);
    terminal.order(show(Arc::clone(&card)));
    assert_eq!(pressed(&mut terminal, 'a'), None);
    let pick = |question, option| Some(Press::Button(Action::Pick { question, option }));
    assert_eq!(pressed(&mut terminal, '2'), pick(0, 1));
    let picks = vec![vec![1], vec![]];
    let printed = terminal.order(Order::Picked { card, copies: Vec::new(), picks });
    assert!(printed.contains("✓   Blue") && printed.contains("1 S"), "{printed}");
    assert_eq!(pressed(&mut terminal, '2'), None);
    assert_eq!(pressed(&mut terminal, '1'), pick(1, 0));
    assert_eq!(pressed(&mut terminal, 'o'), Some(Press::Button(Action::Done)));
}
