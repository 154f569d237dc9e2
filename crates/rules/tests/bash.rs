//! What the parser claims to understand, bash understands in the same way.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]

use std::cell::Cell;
use std::path::Path;
use std::process::{Command, Stdio};

use callgate_rules::shell::{ShellScript, ShellWord, WordPiece};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Without programs every command ends here, and its words come out. One line is written in one
/// piece, so that those of a pipeline do not mix; therefore a newline is written as another mark.
const HANDLER: &str = r#"
command_not_found_handle() {
    local line= word
    for word; do line+="${word//$'\n'/$'\x1d'}"$'\x1f'; done
    builtin printf '%s\x1e' "$line" >&9
}
exec 9>&1
PATH=/nowhere
"#;

/// The words of all commands that bash runs, in order of their letters.
fn run(line: &str, folder: &Path) -> Vec<Vec<String>> {
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", &format!("{HANDLER}{line}")])
        .current_dir(folder)
        .env_clear()
        .env("HOME", "/no-home")
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .expect("bash runs");
    let text = String::from_utf8(output.stdout).unwrap().replace('\x1d', "\n");
    let mut commands: Vec<Vec<String>> = text
        .split_terminator('\x1e')
        .map(|line| line.split_terminator('\x1f').map(Into::into).collect())
        .collect();
    commands.sort();
    commands
}

/// A word as it is when no file fits its wildcards.
fn literal(word: &ShellWord) -> String {
    let parts = word.pieces().iter().map(|piece| match piece {
        WordPiece::Text(text) => text.clone(),
        WordPiece::Glob(c) => c.to_string(),
        piece => panic!("a clear word has no unknown piece: {piece:?}"),
    });
    parts.collect()
}

fn understood(line: &str) -> Option<Vec<Vec<String>>> {
    let script = ShellScript::from_line(line, "/w", "/no-home");
    if !script.is_clear() {
        return None;
    }
    let words = |words: &Vec<ShellWord>| words.iter().map(literal).collect();
    let mut commands: Vec<Vec<String>> = script.commands.iter().map(|c| words(&c.words)).collect();
    commands.sort();
    // A path is not looked up, the shell's own commands are not handed over.
    let is_seen = |program: &str| !program.contains('/') && !matches!(program, ":" | "[" | "time");
    commands.iter().all(|words| is_seen(&words[0])).then_some(commands)
}

fn pieces() -> impl Strategy<Value = String> {
    let fixed = [
        "a",
        "b",
        "cd3",
        " ",
        " ",
        " ",
        "  ",
        "\t",
        "\n",
        ";",
        "&",
        "&&",
        "||",
        "|",
        "|&",
        "(",
        ")",
        "{",
        "}",
        "'",
        "\"",
        "\\",
        "\\\n",
        "$",
        "`",
        "#",
        " #",
        "~",
        " ~/x",
        "*",
        "?",
        "[",
        "]",
        "!",
        "! ",
        "=",
        "x=",
        "<",
        ">",
        ">/dev/null",
        " 2>&1",
        "&>/dev/null",
        "</dev/null",
        "2>",
        "1",
        "2",
        "$HOME",
        "\"$HOME\"",
        "${HOME}",
        "$(",
        "${",
        "<<",
        "$'",
        "''",
        "'a b'",
        "\"a 'b\"",
        "'a\"b'",
        "a{b}",
        "{a,b}",
        "{}",
        "if ",
        "then ",
        "-",
        "--",
        ",",
        ".",
        "..",
        "%",
        "^",
        "+",
        "@",
        "é",
        "'é'",
        "\\a",
        "\\'",
        "\\\"",
        "\\$",
        "\"\\$\"",
        "\"\\a\"",
        "\"\\\\\"",
        ";\n",
        "&&\n",
        "a=b",
        "time ",
    ];
    prop::collection::vec(prop::sample::select(fixed.to_vec()), 1..12)
        .prop_map(|parts| parts.concat())
}

#[test]
fn bash_runs_what_the_parser_finds_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let compared = Cell::new(0);
    let mut runner =
        TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(12_000) });
    let result = runner.run(&pieces(), |line| {
        if compared.get() > 700 {
            return Ok(());
        }
        let Some(found) = understood(&line) else { return Ok(()) };
        compared.set(compared.get() + 1);
        let ran = run(&line, folder.path());
        // What follows `||` or a failure need not run, but what runs has to be known.
        let is_whole = !line.contains(['|', '!', '(']);
        if is_whole {
            prop_assert_eq!(&ran, &found, "{:?}", line);
        }
        let mut left = found;
        for command in &ran {
            let at = left.iter().position(|known| known == command);
            prop_assert!(at.is_some(), "{:?} runs {:?}", line, command);
            left.remove(at.unwrap());
        }
        Ok(())
    });
    result.unwrap();
    let compared = compared.get();
    assert!(compared > 300, "only {compared} lines were compared");
}

#[test]
fn the_comparison_can_see() {
    let folder = tempfile::tempdir().unwrap();
    let words = |line: &str| run(line, folder.path());
    assert_eq!(words("a 'b c' && d | e"), [vec!["a", "b c"], vec!["d"], vec!["e"]]);
    assert_eq!(words("a >/dev/null 2>&1 \"$(b)\" ~/x"), [vec!["a", "", "/no-home/x"], vec!["b"]]);
    assert_eq!(understood("a \"$(b)\""), None);
    assert_eq!(understood("a 'b c' && d | e").unwrap(), words("a 'b c' && d | e"));
}

#[test]
fn these_lines_mean_the_same_to_both() {
    let folder = tempfile::tempdir().unwrap();
    for line in [
        "a b",
        "a\tb  c\\ d",
        "a 'b' \"c\" d\"e\"'f'g\\h",
        "a '' \"\" b",
        "a \"x\\\"y\\\\z\\$q\\`r\\n\"",
        "a 'x\\y'",
        "a \"1\\\n2\"",
        "a \\\n b",
        "a; b;\nc & d\n\n\ne",
        "a | b |& c",
        "(a; (b)) | c",
        "a && b && c",
        "! a",
        "a # b",
        "a b#c",
        "# a\nb",
        "a ~ ~/x x~ a~b",
        "a $HOME \"$HOME/x\" ${HOME}",
        "a >/dev/null 2>&1 b",
        "a</dev/null b",
        "a 1>&2 2 x2>/dev/null",
        "a {} x{y}z HEAD@{1}",
        "a *.x b?c [d]",
        "a x=y -- --z=w",
        "a \"5$\" b$ c",
        "a =",
        "a 'é ü' \"ö\"",
        "x=y a",
        "a ! b",
        "a [ ]",
    ] {
        let Some(found) = understood(line) else {
            assert!(
                ["a =", "a ! b"].contains(&line),
                "{line:?} is not understood: {:?}",
                ShellScript::from_line(line, "/w", "/no-home").unclear
            );
            continue;
        };
        assert_eq!(found, run(line, folder.path()), "{line:?}");
    }
}
