//! Tests of reading command lines.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::loose::PossibleRuns;
use super::*;

fn read(text: &str) -> ShellScript {
    ShellScript::from_line(text, "/home/ada/engine", "/home/ada")
}

fn check(text: &str, expected: &Expect) {
    let script = read(text);
    let mut lines: Vec<String> = script
        .commands
        .iter()
        .map(|command| {
            let texts: Vec<String> =
                command.assigns.iter().chain(&command.words).map(ShellWord::render_text).collect();
            let redirects: Vec<String> =
                command.redirects.iter().map(ShellWord::render_text).collect();
            format!("{} | {} | {}", texts.join(" "), redirects.join(" "), command.folders.join(" "))
                .trim_end_matches(" |  | /home/ada/engine")
                .to_owned()
        })
        .collect();
    lines.extend(script.unclear.iter().map(|why| format!("unclear: {why}")));
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn lists_and_pipelines_are_commands() {
    check("git status", &expect!["git status"]);
    check(
        "a 'b c' && d | (e; f) & g\nh",
        &expect![[r"
            a 'b c'
            d
            e
            f
            g
            h"]],
    );
    check("A=1 B=2 make x=y", &expect!["A=1 B=2 make x=y"]);
    check("a >/dev/null 2>&1", &expect!["a | /dev/null 1 | /home/ada/engine"]);
    check("", &expect![""]);
}

#[test]
fn what_is_not_understood_is_said_and_the_commands_are_still_found() {
    check(
        "echo $(rm x) > out",
        &expect![[r"
            rm x
            echo … | out | /home/ada/engine
            unclear: a substitution
            unclear: a redirect to or from a file"]],
    );
    check(
        "if a; then b; else c; fi",
        &expect![[r"
            a
            b
            c
            fi
            unclear: control flow"]],
    );
    check(
        "f() { rm x; }",
        &expect![[r"
            rm x
            unclear: a function or an array
            unclear: control flow"]],
    );
    check(
        "cat <<'EOF' >x\nrm $(a)\nEOF\nls",
        &expect![[r"
            cat | x | /home/ada/engine
            ls
            unclear: input written into the command
            unclear: a redirect to or from a file"]],
    );
    check(
        "X=1; $X a",
        &expect![[r"
            X=1
            … a
            unclear: an assignment
            unclear: a variable
            unclear: a program whose name is not written out"]],
    );
    check(
        "echo 'a",
        &expect![[r"
            echo a
            unclear: an unfinished quote"]],
    );
}

#[test]
fn every_construct_that_is_not_seen_through_is_named() {
    for (text, why) in [
        ("a $(b)", "a substitution"),
        ("a \"$(b)\"", "a substitution"),
        ("a `b`", "a substitution"),
        ("a \"`b`\"", "a substitution"),
        ("a <(b)", "a substitution"),
        ("a >(b)", "a substitution"),
        ("test -v 'a[$(b)]'", "a substitution"),
        ("a $b", "a variable"),
        ("a \"$b\"", "a variable"),
        ("a ${b}", "a variable"),
        ("a $1", "a variable"),
        ("a $?", "a variable"),
        ("a $HOME:h", "a variable"),
        ("a {b,c}", "a brace expansion"),
        ("a x{1..2}", "a brace expansion"),
        ("a ~b", "a tilde of unknown meaning"),
        ("a b=~/c", "a tilde of unknown meaning"),
        ("a $'b'", "a quote with escapes"),
        ("a $\"b\"", "a translated text"),
        ("a =b", "a character with a special meaning"),
        ("a b!c", "a character with a special meaning"),
        ("a $+b", "a character with a special meaning"),
        ("a é", "an unquoted character that is not ASCII"),
        ("a \\é", "an unquoted character that is not ASCII"),
        ("a '\0'", "a NUL"),
        ("a \"\0\"", "a NUL"),
        ("a b\\\nc", "a line break within a word"),
        ("a \\", "a backslash at the end"),
        ("a 'b", "an unfinished quote"),
        ("a \"b", "an unfinished quote"),
        ("a `b", "an unfinished quote"),
        ("a $(b", "an unfinished parenthesis"),
        ("(a", "an unfinished parenthesis"),
        ("a ${b", "an unfinished expansion"),
        ("a > b", "a redirect to or from a file"),
        ("a < b", "a redirect to or from a file"),
        ("a 3>/dev/null", "a redirect to or from a file"),
        ("a 0>&1", "a redirect to or from a file"),
        ("a <&1", "a redirect to or from a file"),
        ("a 2>", "a redirect without a file"),
        ("a &>/dev/null b", "a word after a redirect of all output"),
        ("a <<b\nb", "input written into the command"),
        ("a <<< b", "input written into the command"),
        ("> /dev/null", "no program"),
        ("'' a", "no program"),
        ("a=b", "an assignment"),
        ("a &&", "an unfinished list"),
        ("a |\n", "an unfinished list"),
        ("!", "an unfinished list"),
        ("a ;; b", "control flow"),
        ("a ;& b", "control flow"),
        ("{ a; }", "control flow"),
        ("a }", "control flow"),
        ("[[ a ]]", "a program whose name is not written out"),
        ("; a", "an operator without a command"),
        ("a & ; b", "an operator without a command"),
        ("a && | b", "an operator without a command"),
        ("a (b)", "a parenthesis of unknown use"),
        ("((a))", "a parenthesis of unknown use"),
        ("a)", "a parenthesis of unknown use"),
        ("(a) b", "a word after a parenthesis"),
        ("a=()", "a function or an array"),
        ("a # b; c", "a comment with special characters"),
        ("%1", "a job of the shell"),
        ("*a b", "a program whose name is not written out"),
        ("export a=b", "a command that changes the shell"),
        ("/x/eval a", "a command that changes the shell"),
        ("printf -v a b", "a command that changes the shell"),
        ("cd a b", "a change to an unknown folder"),
        ("A=b cd a", "a change to an unknown folder"),
        ("pushd +1", "a change to an unknown folder"),
    ] {
        let script = read(text);
        assert!(script.unclear.contains(&why), "{text:?}: {:?}", script.unclear);
    }
    let wild = format!("ls {}", "*.a ".repeat(MOST_WILD_WORDS));
    assert!(read(&wild).is_clear());
    assert!(!read(&format!("{wild} *.b")).is_clear());
    let many: Vec<String> = (0..20).map(|n| format!("cd {n}")).collect();
    assert_eq!(read(&many.join("; ")).unclear, ["a change to an unknown folder"]);
}

#[test]
fn a_change_of_the_folder_is_followed() {
    check(
        "cd src && ls; cd ../..; ls",
        &expect![[r"
            cd src
            ls |  | /home/ada/engine /home/ada/engine/src
            cd ../.. |  | /home/ada/engine /home/ada/engine/src
            ls |  | /home/ada/engine /home/ada/engine/src /home /home/ada"]],
    );
    check(
        "cd && ls",
        &expect![[r"
            cd
            ls |  | /home/ada/engine /home/ada"]],
    );
    check(
        "cd -- /tmp; pwd",
        &expect![[r"
            cd -- /tmp
            pwd |  | /home/ada/engine /tmp"]],
    );
    check(
        "cd - && ls",
        &expect![[r"
            cd -
            ls
            unclear: a change to an unknown folder"]],
    );
}

#[test]
fn wrappers_are_seen_through_only_when_every_word_is_known() {
    let through = |text: &str| -> Option<String> {
        let script = read(text);
        let inner = script.commands.first()?.wrapped_script("/home/ada", 0)?;
        let shown: Vec<String> = inner.commands.iter().map(ShellCommand::render_line).collect();
        Some(format!("{}{}", shown.join("; "), if inner.is_clear() { "" } else { " (unclear)" }))
    };
    for (text, expected) in [
        ("timeout 5 make build", Some("make build")),
        ("timeout -k 1 -s KILL --verbose 5m make build", Some("make build")),
        ("nice make", Some("make")),
        ("nice -n -5 make", Some("make")),
        ("nice -5 make", Some("make")),
        ("time -p make", Some("make")),
        ("command make", Some("make")),
        ("sh -c 'a && b'", Some("a; b")),
        ("zsh -lc 'a $x'", Some("a … (unclear)")),
        ("time export A=1", Some("export A=1 (unclear)")),
        ("timeout make build", None),
        ("timeout --unknown 5 make", None),
        ("timeout -k make 5 make", None),
        ("timeout 5", None),
        ("nice -n make make", None),
        ("command -v make", None),
        ("time -f x make", None),
        ("sh -c 'a' b", None),
        ("sh -c 'a' *", None),
        ("sh -x", None),
        ("./sh -c a", None),
        ("A=1 timeout 5 make", None),
        ("sudo make", None),
        ("make", None),
    ] {
        assert_eq!(through(text).as_deref(), expected, "{text:?}");
    }
}

#[test]
fn a_command_in_a_shell_of_two_folders_runs_in_both() {
    let script = read("cd /tmp; bash -c 'cd x; ls'");
    let inner = script.commands[1].wrapped_script("/home/ada", 0).unwrap();
    assert_eq!(
        inner.commands[1].folders,
        ["/home/ada/engine", "/home/ada/engine/x", "/tmp", "/tmp/x"]
    );
}

#[test]
fn words_without_a_shell_stand_for_themselves() {
    let script = ShellScript::of_words(["echo", "$(rm)", "*", ";"], "/tmp");
    assert!(script.is_clear());
    assert!(script.commands[0].words.iter().all(ShellWord::is_known));
    assert!(!ShellScript::of_words([], "/").is_clear());
    assert!(!ShellScript::of_words([""], "/").is_clear());
}

/// Characters that stand for themselves in the middle of a word.
const PLAIN: &str = "_-./,:=+@%^~]*?[";

#[test]
fn a_character_that_is_not_known_is_not_understood() {
    let ascii = (0..128_u8).map(char::from);
    let others =
        ['\u{80}', '\u{85}', '\u{a0}', 'é', '\u{2028}', '\u{200b}', '\u{feff}', '\u{1f600}'];
    for c in ascii.chain(others) {
        let script = read(&format!("a x{c}y"));
        let is_plain = c.is_ascii_alphanumeric() || PLAIN.contains(c);
        // These cut the text into words or commands, of which all are seen.
        let cuts = " \t\n;&|#\\".contains(c);
        assert_eq!(script.is_clear(), is_plain || cuts, "{c:?}: {:?}", script.unclear);
        if is_plain {
            assert_eq!(script.commands.len(), 1);
            assert_eq!(script.commands[0].render_line(), format!("a x{c}y"));
        }
        let quoted = read(&format!("a 'x{c}y'"));
        assert_eq!(quoted.is_clear(), !"'\0".contains(c), "{c:?} in quotes");
    }
}

#[test]
fn nesting_length_and_number_are_bounded() {
    for (text, why) in [
        ("$(".repeat(5_000), "too much nesting"),
        ("(".repeat(5_000), "too much nesting"),
        ("${x:-".repeat(5_000), "an unfinished expansion"),
        ("\"$(".repeat(5_000), "too much nesting"),
        ("a;".repeat(5_000), "more commands than are read"),
        ("a ".repeat(30_000), "more commands than are read"),
        ("a".repeat(LONGEST_LINE + 1), "more text than is read"),
        ("`\\`".repeat(5_000), "more commands than are read"),
        ("bash -c '".repeat(501), "an unfinished quote"),
    ] {
        let script = read(&text);
        assert!(script.unclear.contains(&why), "{}: {:?}", &text[..9], script.unclear);
        let runs = PossibleRuns::from_script(&script, "/home/ada");
        assert!(runs.commands.len() < 400_000, "{}", runs.commands.len());
    }
    let mut nested = "rm x".to_owned();
    for _ in 0..5 {
        nested = format!("bash -c '{}'", nested.replace('\'', "'\\''"));
    }
    assert!(
        PossibleRuns::from_script(&read(&nested), "/")
            .all_runs()
            .any(|(_, words)| words[0].text() == Some("rm"))
    );
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,60}", shell in "[ab \\n;&|()<>{}$`'\"\\\\#!=~*?\\[0-9]{0,60}") {
        for text in [text, shell] {
            let script = read(&text);
            let runs = PossibleRuns::from_script(&script, "/home/ada");
            prop_assert!(runs.commands.len() >= script.commands.len());
            for command in &script.commands {
                prop_assert!(!command.folders.is_empty());
                let _ = command.wrapped_script("/home/ada", 0);
            }
        }
    }

    #[test]
    fn quoted_words_come_out_as_they_went_in(words in prop::collection::vec("[a-z$`;&|<>()*?~#! \\n\\\\\"é-]{1,8}", 1..5)) {
        prop_assume!(!words[0].starts_with('-') && !names::STATEFUL.contains(&words[0]));
        prop_assume!(!matches!(words[0].as_str(), "cd" | "pushd" | "chdir"));
        let line: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let script = read(&line.join(" "));
        prop_assert!(script.is_clear(), "{:?}", script.unclear);
        let found: Vec<_> = script.commands[0].words.iter().filter_map(ShellWord::text).collect();
        prop_assert_eq!(found, words);
    }

    #[test]
    fn a_clear_line_stays_clear_beside_another_and_nothing_is_lost(one in "[a-z'\" ;&|()]{1,12}", other in "[a-z'\" ;&|()]{1,12}") {
        let (first, second) = (read(&one), read(&other));
        if first.is_clear() && second.is_clear() {
            let both = read(&format!("{one}\n{other}"));
            prop_assert_eq!(both.commands.len(), first.commands.len() + second.commands.len());
        }
    }
}

#[test]
fn no_short_line_is_too_odd_to_read() {
    let odd = ['<', '>', '$', '{', '}', '(', ')', '\\', '\'', '"', '`', '-', '&', ' ', '\n', 'a'];
    let mut lines = vec![String::new(), "<<".to_owned(), "a <<a\n".to_owned(), "${".to_owned()];
    for _ in 0..3 {
        let longer = |line: &String| odd.map(|next| format!("{line}{next}"));
        lines = lines.iter().flat_map(longer).collect();
        for line in &lines {
            assert!(read(line).commands.len() <= line.len(), "{line:?}");
        }
    }
}
