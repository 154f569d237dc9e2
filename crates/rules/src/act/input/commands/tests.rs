//! Which texts of an unknown tool's input may be commands.

use super::*;

fn check(input: &str, expected: &[&str]) {
    let input: Map<String, Value> = serde_json::from_str(input).unwrap();
    let mut found: Vec<String> = named_commands(&input)
        .into_iter()
        .map(|command| {
            let text = match command.text {
                CommandText::Line(line) => format!("line {line}"),
                CommandText::Words(words) => format!("words {}", words.join("|")),
            };
            if command.is_code { format!("{text} (code)") } else { text }
        })
        .collect();
    found.sort();
    assert_eq!(found, expected, "{input:?}");
}

#[test]
fn a_member_is_known_by_its_name() {
    for name in [
        "command",
        "Command",
        "COMMAND",
        "commands",
        "cmd",
        "cmds",
        "shell_command",
        "shell-command",
        "shell.command",
        "bashCommand",
        "BASHCommand",
        "SHELL_COMMAND",
        "run2Cmd",
    ] {
        check(&format!(r#"{{"{name}":"touch made"}}"#), &["line touch made"]);
    }
    for name in ["script", "Scripts", "code", "codes", "jsCode", "python_script"] {
        check(&format!(r#"{{"{name}":"touch made"}}"#), &["line touch made (code)"]);
    }
    for name in ["zipcode", "ZIPCODE", "description", "recommand", "commander", "input", "", "é"] {
        check(&format!(r#"{{"{name}":"touch made"}}"#), &[]);
    }
}

#[test]
fn a_command_is_found_at_any_depth() {
    check(r#"{"a":[{"b":{"cmd":"ls"}}]}"#, &["line ls"]);
    check(r#"{"command":{"value":{"text":"ls"}}}"#, &["line ls"]);
    check(r#"{"steps":[{"command":"a"},{"command":"b"}]}"#, &["line a", "line b"]);
    check(r#"{"command":7,"code":null,"cmd":{},"cmds":[]}"#, &[]);
}

#[test]
fn a_list_is_one_command_and_a_list_of_lines() {
    check(
        r#"{"commands":["cd x","touch made"]}"#,
        &["line cd x\ntouch made", "words cd x|touch made"],
    );
    check(r#"{"command":["sleep",5,true]}"#, &["line sleep\n5\ntrue", "words sleep|5|true"]);
    check(
        r#"{"commands":[["touch","made"],{"run":"ls"}]}"#,
        &["line ls", "line touch\nmade", "words touch|made"],
    );
}

#[test]
fn arguments_beside_a_program_belong_to_it() {
    check(
        r#"{"command":"touch","args":["made"]}"#,
        &["line touch", "line touch made", "words touch|made"],
    );
    check(
        r#"{"step":{"cmd":"touch","arguments":"made"}}"#,
        &["line touch", "line touch made", "words touch|made"],
    );
    check(r#"{"args":["made"],"name":"touch"}"#, &[]);
}
