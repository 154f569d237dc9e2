//! `callgate ask`: a script asks a person and acts on the exit code.

use serde_json::{Value, json};

use crate::fixture::{Ended, Stage};

/// What is said first, by a desk that does not tell who can answer.
const WAITING: &str = "callgate: waiting up to 300 s for an answer at the desk\n";

fn ended(code: i32, stdout: &str, stderr: &str) -> Ended {
    Ended { code: Some(code), stdout: stdout.to_owned(), stderr: format!("{WAITING}{stderr}") }
}

/// Asks, is answered, and gives the request and the end.
fn asked(arguments: &[&str], input: &str, fields: &str) -> (Value, Ended) {
    let stage = Stage::new();
    let desk = stage.desk();
    let script = stage.start(stage.command(&[&["ask"], arguments].concat()), input);
    let mut asked = desk.accept();
    asked.assert_waiting();
    asked.answer(fields);
    asked.assert_closed();
    (asked.request(), script.end())
}

#[test]
fn the_exit_code_is_the_answer() {
    let (mut request, allowed) = asked(&["Deploy?"], "", r#""decision":"allow""#);
    assert_eq!(allowed, ended(0, "", "callgate: allowed\n"));
    request["request_id"].take();
    let cwd = request["cwd"].take();
    assert!(cwd.as_str().unwrap().starts_with('/'));
    let expected = json!({
        "request_id": null, "cwd": null, "tool_name": "Ask",
        "tool_input": {"question": "Deploy?"},
        "session_id": format!("pid-{}", std::process::id()), "agent": "script",
        "context": {"event": "Ask", "timeout_seconds": 300, "takes": ["outcome"]},
    });
    assert_eq!(request, expected);
    let check = |fields: &str, code: i32, said: &str| {
        let (_, end) = asked(&["Deploy?"], "", fields);
        assert_eq!(end, ended(code, "", &format!("callgate: {said}\n")), "{fields}");
    };
    check(r#""decision":"allow","by":"Ada""#, 0, "allowed by Ada");
    check(r#""decision":"allow","by":"allowed by rule `deploys`""#, 0, "allowed by rule `deploys`");
    check(r#""decision":"deny""#, 2, "denied");
    check(r#""decision":"deny","message":"Denied by Ada.","by":"Ada""#, 2, "denied by Ada");
    check(r#""decision":"deny","message":"Not today.","by":"Ada""#, 2, "denied by Ada: Not today.");
    check(r#""decision":"deny","message":"Not today.""#, 2, "denied: Not today.");
    let rule = "denied by rule `deploys`";
    check(&format!(r#""decision":"deny","message":"{rule}","by":"{rule}""#), 2, rule);
    check(r#""decision":"timeout""#, 1, "nobody answered within 300 s: ask again later");
    check(
        r#""decision":"timeout","unreachable":true"#,
        69,
        "nobody can be reached: run `callgate up` in a terminal, or link a phone with \
         `callgate pair`",
    );
}

#[test]
fn it_is_quiet_where_that_is_wanted() {
    let (_, allowed) = asked(&["Deploy?", "--quiet"], "", r#""decision":"allow","by":"Ada""#);
    assert_eq!(allowed, Ended { code: Some(0), stdout: String::new(), stderr: String::new() });
    let (_, denied) = asked(&["Deploy?", "-q"], "", r#""decision":"deny","message":"No.""#);
    assert_eq!(denied, Ended { code: Some(2), stdout: String::new(), stderr: String::new() });
}

#[test]
fn a_choice_is_printed() {
    let choices = ["Where?", "--choice", "staging", "--choice", "grün"];
    let fields = r#""decision":"allow","updated_input":{"choice":"grün"}"#;
    let (request, chosen) = asked(&choices, "", fields);
    assert_eq!(chosen, ended(0, "grün\n", "callgate: answered: grün\n"));
    assert_eq!(
        request["tool_input"],
        json!({"question": "Where?", "choices": ["staging", "grün"]})
    );
    assert_eq!(request["context"]["takes"], json!(["outcome", "edit"]));
    let none = ended(1, "", "callgate: none of the choices was chosen: ask again\n");
    for fields in [
        r#""decision":"allow""#,
        r#""decision":"allow","updated_input":{}"#,
        r#""decision":"allow","updated_input":{"choice":"production"}"#,
    ] {
        assert_eq!(asked(&choices, "", fields).1, none);
    }
}

#[test]
fn details_and_time_are_passed_on() {
    let allow = r#""decision":"allow""#;
    let (request, _) = asked(&["Deploy?", "--details", "7 commits", "--timeout", "9"], "", allow);
    assert_eq!(request["tool_input"], json!({"question": "Deploy?", "details": "7 commits"}));
    assert_eq!(request["context"]["timeout_seconds"], 9);
    let (request, _) = asked(&["Deploy?", "--details", "-"], "two\nlines\n", allow);
    assert_eq!(request["tool_input"]["details"], "two\nlines\n");
}

#[test]
fn nobody_can_be_asked() {
    let stage = Stage::new();
    let alone = stage.start(stage.command(&["ask", "Deploy?"]), "").end();
    assert_eq!((alone.code, alone.stdout.as_str()), (Some(69), ""));
    assert!(alone.stderr.starts_with("callgate: no desk listens at"), "{}", alone.stderr);
    let desk = stage.desk();
    let script = stage.start(stage.command(&["ask", "Deploy?", "--timeout", "1"]), "");
    let mut asked = desk.accept();
    let nobody = script.end();
    assert_eq!(nobody.code, Some(1));
    assert!(nobody.stderr.contains("no answer within 1 s"), "{}", nobody.stderr);
    asked.assert_closed();
}

#[test]
fn a_wrong_command_line_is_told() {
    let stage = Stage::new();
    let desk = stage.desk();
    let many: Vec<String> = (0..21).map(|number| format!("--choice={number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for arguments in [
        &[][..],
        &[""],
        &["Deploy?", "now"],
        &["Deploy?", "--timeout", "0"],
        &["Deploy?", "--timeout", "3601"],
        &["Deploy?", "--choice", ""],
        &["Deploy?", "--choice", "a", "--choice", "a"],
        &[&["Deploy?"], &many[..]].concat(),
    ] {
        let wrong = stage.start(stage.command(&[&["ask"], arguments].concat()), "").end();
        assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(64), ""), "{arguments:?}");
        assert!(!wrong.stderr.is_empty(), "{arguments:?}");
    }
    let mut details = "x".repeat(1024 * 1024);
    let command = || stage.command(&["ask", "Deploy?", "--details", "-"]);
    details.push('x');
    let long = stage.start(command(), &details).end();
    assert_eq!(long.code, Some(1));
    assert!(long.stderr.contains("give a summary"), "{}", long.stderr);
    desk.assert_not_dialled();
}
