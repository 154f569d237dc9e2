//! Tests of reading files of rules.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn problems(text: &str, trust: Trust) -> String {
    let file = RuleFile::from_toml("rules.toml", text, trust);
    file.problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&problems(text, Trust::User));
}

/// A rule with a name and these lines.
fn rule(lines: &str) -> String {
    format!("[[rule]]\nname = \"x\"\n{lines}\n")
}

#[test]
fn a_whole_rule_is_read() {
    let text = r#"
        [[rule]]
        name = "builds"
        decide = "allow"
        tool = "Bash"
        class = ["run"]
        command = ["make build", "cargo test -- *"]
        path = "**"
        project = ["~/engine", "/srv/*"]
        agent = "claude"
        between = "09:00-18:00"
        days = ["mon-fri", "sun"]
        until = 2026-12-31
        reason = "they only build"

        [[rule]]
        name = "no-ssh"
        decide = "deny"
        path = "~/.ssh"
        until = "2026-12-31T18:00:00+01:00"

        [[rule]]
        name = "docs"
        decide = "allow"
        tool = "WebFetch"
        host = ["docs.rs", "*.python.org", "localhost:8080"]
    "#;
    let file = RuleFile::from_toml("rules.toml", text, Trust::User);
    assert_eq!(file.problems, []);
    let shown: Vec<String> = file.rules.iter().map(|rule| rule.render_name()).collect();
    assert_eq!(
        shown,
        ["`builds` (rules.toml:2)", "`no-ssh` (rules.toml:16)", "`docs` (rules.toml:22)"]
    );
    assert_eq!(file.rules[0].reason.as_deref(), Some("they only build"));
}

#[test]
fn mistakes_are_named_with_their_place_and_the_nearest_word() {
    check(
        "x = ",
        &expect!["rules.toml:1:5: error: string values must be quoted, expected literal string"],
    );
    check(
        "[[rules]]\n",
        &expect!["rules.toml:1:3: error: unknown key `rules`; did you mean `rule`?"],
    );
    check(
        "[rule]\nname = \"x\"",
        &expect!["rules.toml:1:1: error: write `[[rule]]`, with two brackets: there may be many"],
    );
    check("rule = [1]", &expect!["rules.toml:1:9: error: write `[[rule]]` and its keys below it"]);
    check(
        &rule("decide = \"alow\"\ncomand = \"ls\""),
        &expect![[r"
            rules.toml:1:1: error: a rule without any condition would hold for everything; add one of: tool, verb, class, command, path, host, arguments, local, project, agent, between, days, until
            rules.toml:3:10: error: `decide` cannot be `alow`; did you mean `allow`?
            rules.toml:4:1: error: unknown key `comand`; did you mean `command`?"]],
    );
    check(
        &rule("decide = \"ask\"\ntool = \"x\"\nlocal = true"),
        &expect![
            "rules.toml:5:9: error: rule `x`: `local` is for rules that allow; a rule that denies or asks names the paths and hosts that it is about"
        ],
    );
    check(
        &rule("decide = \"allow\"\ntool = \"x\"\nlocal = false"),
        &expect!["rules.toml:5:9: error: `local` can only be `true`; leave it out otherwise"],
    );
    check(&rule("decide = \"ask\"\ntool = \"x\"\ntwo_people = true\nnot_own = true"), &expect![]);
    check(
        &rule("decide = \"deny\"\ntool = \"x\"\ntwo_people = true"),
        &expect![
            "rules.toml:5:14: error: rule `x`: `two_people` is for rules that decide `ask` or `confirm`; here nobody is asked"
        ],
    );
    check(
        &rule("decide = \"confirm\"\ntool = \"x\"\nnot_own = 1"),
        &expect!["rules.toml:5:11: error: `not_own` can only be `true`; leave it out otherwise"],
    );
    check(
        &rule("decide = \"allow\"\nverb = \"get\""),
        &expect![[
            r#"rules.toml:4:8: error: rule `x`: an allow with `verb` also names the tools, such as `tool = "mcp__*"`"#
        ]],
    );
    check(
        &rule("tool = \"Read\""),
        &expect![[
            r#"rules.toml:1:1: error: `decide` is missing: "allow", "deny", "ask" or "confirm""#
        ]],
    );
    check(
        "[[rule]]\ndecide = \"ask\"\ntool = \"Read\"",
        &expect!["rules.toml:1:1: error: a rule needs a `name` of its own"],
    );
    check(
        &rule("decide = 1\ntool = \"Read\""),
        &expect!["rules.toml:3:10: error: `decide` must be a string, not integer"],
    );
    check(
        &rule("decide = \"ask\"\nclass = \"wirte\""),
        &expect![
            "rules.toml:4:9: error: `class`: there is no class `wirte`; did you mean `write`?"
        ],
    );
    check(
        &rule("decide = \"ask\"\ntool = []"),
        &expect!["rules.toml:4:8: error: `tool` must be a string or a list of 1 to 256 strings"],
    );
    check(
        &rule("decide = \"ask\"\ntool = [\"a\", 1]"),
        &expect!["rules.toml:4:14: error: `tool` must be a string or a list of strings"],
    );
    check(
        &rule("decide = \"ask\"\ntool = \"\""),
        &expect![
            "rules.toml:4:8: error: `tool` has a string that is empty or longer than 1024 bytes"
        ],
    );
    check(
        &rule("decide = \"ask\"\ndays = [\"mon\", \"tuw\"]\nbetween = \"9-5\"\nuntil = \"soon\""),
        &expect![[r#"
            rules.toml:4:16: error: `days`: there is no day `tuw`; did you mean `tue`?
            rules.toml:5:11: error: `between`: `9-5` is not a span of hours; write it as "09:00-18:00"
            rules.toml:6:9: error: `until`: `soon` is not a date; write it as "2026-12-31" or "2026-12-31T18:00:00+01:00""#]],
    );
    let twice = rule("decide = \"ask\"\ntool = \"a\"").repeat(2);
    check(
        &twice,
        &expect!["rules.toml:6:8: error: the name `x` is already used by the rule in line 1"],
    );
    check(
        &"# é\n".repeat(70_000),
        &expect!["rules.toml:1:1: error: the file is larger than 262144 bytes"],
    );
}

#[test]
fn patterns_are_checked() {
    let line = |line: &str| problems(&rule(&format!("decide = \"deny\"\n{line}")), Trust::User);
    for (text, expected) in [
        ("command = \"a && b\"", "a pattern is one command without `&`"),
        ("command = \"a > b\"", "without `>`"),
        ("command = \"a $x\"", "without `$`"),
        ("command = \"a 'b\"", "an unfinished '"),
        ("command = \"a \\\\\"", "ends in a backslash"),
        ("command = \"A=1\"", "names no program"),
        ("path = \"../x\"", "without `..`"),
        ("path = \"a**b\"", "between slashes"),
        ("path = \"~bob/x\"", "another user"),
        ("path = \"**/**/**/**/**\"", "more than 4"),
        ("project = \"engine\"", "absolute path"),
        ("host = \"https://x.com\"", "without `https://`"),
        ("host = \"x.*.com\"", "before the first dot"),
        ("host = \"x.com*\"", "before the first dot"),
        ("host = \"a b\"", "is not a host"),
        ("class = \"read\"\ncommand = \"ls\"", "never holds"),
    ] {
        assert!(line(text).contains(expected), "{text}: {}", line(text));
    }
    for text in [
        "command = \"grep 'a && b' *\"",
        "command = \"A=* make\"",
        "path = \"[id]/{x}.ts\"",
        "host = \"*\"",
    ] {
        assert_eq!(line(text), "", "{text}");
    }
}

#[test]
fn an_allow_that_allows_too_much_by_mistake_is_refused() {
    let line = |line: &str| problems(&rule(&format!("decide = \"allow\"\n{line}")), Trust::User);
    for (text, expected) in [
        ("project = \"~/x\"", "error: rule `x` says who, where and when, but not what it allows"),
        ("agent = \"claude\"\nuntil = 2030-01-01", "but not what it allows"),
        ("class = \"run\"", "error: rule `x` would allow every command"),
        ("tool = \"Bash\"", "would allow every command"),
        ("tool = \"*\"\npath = \"**\"", "would allow every command"),
        ("class = [\"read\", \"run\"]\npath = \"**\"", "would allow every command"),
        ("class = \"write\"", "error: rule `x` would allow changes to every file"),
        ("tool = [\"Write\", \"Edit\"]\nproject = \"~/x\"", "changes to every file"),
        (
            "command = \"curl *\"\nhost = \"x.com\"",
            "error: rule `x`: which hosts a command reaches cannot be known",
        ),
        ("command = \"bash *\"", "error: `bash *` would allow any command"),
        ("command = \"sh\"", "would allow any command"),
        ("command = \"sh -c *\"", "would allow any command"),
        ("command = \"sudo *\"", "would allow any command"),
        ("command = \"sudo -u bob *\"", "would allow any command"),
        ("command = \"timeout 5 *\"", "would allow any command"),
        ("command = \"env A=1 *\"", "would allow any command"),
        ("command = \"xargs *\"", "would allow any command"),
        ("command = \"nice bash *\"", "would allow any command"),
        ("command = \"eval *\"", "would allow any command"),
        ("command = \"python3 -c *\"", "error: `python3 -c *` would allow any program text"),
        ("command = \"ssh host sh -c *\"", "would allow any program text"),
        (
            "command = \"*/make build\"",
            "error: `*/make build`: the program of an allow has to be written out",
        ),
        ("command = \"m* build\"", "has to be written out"),
        ("command = \"*\"", "warning: `*` allows every command that is fully understood"),
        ("command = \"git *\"", "warning: `git *` also allows the options"),
        // Parts of the names of harmless commands.
        ("command = \"git merge *\"", "warning: `git merge *` also allows the options"),
        ("command = \"docker image *\"", "warning: `docker image *` also allows the options"),
        ("command = \"find *\"", "warning: `find *` also allows"),
        ("command = \"export *\"", "warning: `export *` is never allowed"),
        ("command = \"cat /home/ada/*\"", "warning: `cat /home/ada/*`: a `*` beside a slash"),
        ("class = \"network\"", "warning: rule `x` allows a whole class"),
    ] {
        assert!(line(text).contains(expected), "{text}: {}", line(text));
    }
    for text in [
        "command = \"make build\"",
        "command = \"cargo test -- *\"",
        "command = \"timeout 60 make build\"",
        "command = \"sudo -n -- systemctl status *\"",
        "command = \"nice make all\"",
        "command = \"bash scripts/test *\"",
        "command = \"bash -c 'make build'\"",
        "command = \"python3 -m pytest *\"",
        "command = \"ls *\"",
        "class = \"read\"\npath = \"~/x/**\"",
        "class = \"write\"\npath = \"**\"",
        "class = [\"read\", \"write\"]\npath = \"src/**\"\nproject = \"~/x\"",
        "tool = \"WebSearch\"",
        "tool = \"mcp__github__get_*\"",
        "host = \"docs.rs\"",
    ] {
        assert_eq!(line(text), "", "{text}");
    }
}

#[test]
fn a_project_may_only_tighten() {
    let allow = rule("decide = \"allow\"\ncommand = \"make build\"");
    let text = format!("{allow}[[rule]]\nname = \"y\"\ndecide = \"deny\"\ncommand = \"rm\"\n");
    let file = RuleFile::from_toml(".callgate/rules.toml", &text, Trust::Project);
    assert!(!file.has_errors());
    let names: Vec<&str> = file.rules.iter().map(|rule| rule.name.as_str()).collect();
    assert_eq!(names, ["y"]);
    expect![
        ".callgate/rules.toml:1:1: warning: rule `x` is left out: rules of a project may deny and ask, \
         but not allow; put it into your own rules"
    ]
    .assert_eq(&file.problems[0].to_string());
}

#[test]
fn expired_rules_are_reported() {
    let text = rule("decide = \"deny\"\ncommand = \"rm\"\nuntil = 2026-11-14");
    let file = RuleFile::from_toml("rules.toml", &text, Trust::User);
    let check = |day: i64| -> Vec<String> {
        // The 14th of November 2026 at noon.
        let moment = Moment::from_unix_ms(1_794_657_600_000 + day * 86_400_000, 0);
        file.problems_at(&moment).iter().map(ToString::to_string).collect()
    };
    assert_eq!(check(0), [""; 0]);
    assert_eq!(
        check(1),
        ["rules.toml:1:1: warning: rule `x` has expired and no longer applies; remove it"]
    );
}

#[test]
fn tests_are_read_or_refused() {
    let test = |lines: &str| problems(&format!("[[test]]\n{lines}"), Trust::User);
    for lines in [
        "command = \"ls\"\nexpect = \"ask\"",
        "name = \"a\"\ntool = \"Write\"\npath = \"x\"\nexpect = \"deny\"\nproject = \"~/x\"\nagent = \"codex\"",
        "url = \"https://x\"\nexpect = \"ask\"\nat = 2026-11-15T10:00:00Z",
        "tool = \"mcp__a__b\"\ninput = { a = [1, 2.5, true], b = 2026-01-01 }\nexpect = \"ask\"\nat = \"2026-11-15\"",
    ] {
        assert_eq!(test(lines), "", "{lines}");
    }
    for (lines, expected) in [
        ("command = \"ls\"", "rules.toml:1:1: error: `expect` is missing"),
        ("expect = \"ask\"", "a test names what it is about"),
        ("command = \"ls\"\npath = \"x\"\nexpect = \"ask\"", "not command and path"),
        ("command = \"ls\"\nexpext = \"ask\"", "did you mean `expect`?"),
        ("tool = \"X\"\ninput = 1\nexpect = \"ask\"", "`input` must be a table"),
        ("command = \"ls\"\nexpect = \"ask\"\nat = \"noon\"", "rules.toml:4:6: error: `at`"),
    ] {
        assert!(test(lines).contains(expected), "{lines}: {}", test(lines));
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,80}", value in "[a-z*?~/\\[\\]{}'\" =;0-9:.-]{0,20}", key in prop::sample::select(
        ["tool", "class", "command", "path", "host", "project", "agent", "between", "days", "until"].to_vec()
    )) {
        let _ = RuleFile::from_toml("rules.toml", &text, Trust::User);
        for decide in ["allow", "deny"] {
            let value = value.replace('\'', "");
            let text = rule(&format!("decide = \"{decide}\"\n{key} = '{value}'"));
            let file = RuleFile::from_toml("rules.toml", &text, Trust::User);
            prop_assert!(file.has_errors() || file.rules.len() == 1);
        }
    }
}

#[test]
fn mistakes_in_arguments_are_named() {
    let arguments = |value: &str| rule(&format!("decide = \"ask\"\narguments = {value}"));
    check(
        &arguments("\"to\""),
        &expect![[
            r#"rules.toml:4:13: error: `arguments` must be a table, such as { to = "*@example.org", amount = "<= 100" }"#
        ]],
    );
    check(
        &arguments("{}"),
        &expect![[
            r#"rules.toml:4:13: error: `arguments` must be a table, such as { to = "*@example.org", amount = "<= 100" }"#
        ]],
    );
    check(
        &arguments("{ amount = \"<= ten\", a.b = [\"!x\", \"y\"], c = 2030-01-01, d = \"\" }"),
        &expect![[r"
            rules.toml:4:24: error: `amount`: `ten` is not a number; for a text that begins with `<`, `>` or `=` write `?` for it
            rules.toml:4:40: error: `a.b`: write `!` before every value of the list, or before none
            rules.toml:4:57: error: `c`: a value must be a string, a decimal number, true, false, or a list of these
            rules.toml:4:73: error: `d`: an empty text fits nothing; for an argument that is not given write `[]`"]],
    );
    check(
        &rule("decide = \"allow\"\narguments = { a = true }"),
        &expect![
            "rules.toml:1:1: error: rule `x` says who, where and when, but not what it allows; add one of: tool, class, command, path, host"
        ],
    );
}

/// The problems of an allow for a command, with more lines.
fn allowed(command: &str, lines: &str) -> String {
    problems(&rule(&format!("decide = \"allow\"\ncommand = '{command}'\n{lines}")), Trust::User)
}

#[test]
fn every_program_that_can_run_another_warns_when_it_is_left_open() {
    use super::danger::programs::{ESCAPES, EXAMPLES, WRITERS};
    let mut names: Vec<&str> = ESCAPES.iter().copied().chain(WRITERS.iter()).collect();
    names.extend(EXAMPLES.iter().map(|(command, _)| command));
    assert!(names.len() > 300, "{}", names.len());
    assert!(ESCAPES.is_sorted(), "the list is searched by halves");
    for name in names {
        let told = allowed(&format!("{name} *"), "");
        assert!(
            told.contains("warning: ") || told.contains("error: "),
            "{name} is accepted silently"
        );
        let told = allowed(&format!("/usr/bin/{name} *"), "");
        assert!(told.contains("warning: ") || told.contains("error: "), "/usr/bin/{name}");
    }
}

#[test]
fn an_open_end_warns_unless_it_is_closed_another_way() {
    for (command, option) in [
        ("git log *", "`--output=FILE`"),
        ("git diff --stat *", "`--output=FILE`"),
        ("npm run *", "`--script-shell=PROGRAM`"),
        ("cargo test *", "`--config FILE`"),
        ("sudo -n git log *", "`--output=FILE`"),
        ("rustup run *", "`rustup` runs other programs"),
        ("ssh host *", "ProxyCommand"),
        ("docker run alpine *", "`docker` runs other programs"),
        ("ssh host -- *", "ProxyCommand"),
    ] {
        let told = allowed(command, "");
        assert!(told.contains("warning: ") && told.contains(option), "{command}: {told}");
    }
    for command in
        ["git status *", "git log -- *", "cargo test -- *", "python3 build.py *", "ls *", "git log"]
    {
        assert_eq!(allowed(command, ""), "", "{command}");
    }
    assert_eq!(allowed("cargo test *", "options = [\"-p\", \"--lib\"]"), "");
    assert_eq!(allowed("git log *", "options = []"), "");
    let told = allowed("ssh host *", "options = []");
    assert!(told.contains("ProxyCommand"), "{told}");
    let told = allowed("git log", "options = []");
    assert!(told.contains("error: rule `x`: `options` says"), "{told}");
    let told = allowed("ls *", "path = \"!src\"");
    assert!(told.contains("error: rule `x`: a `path` with `!` is for rules that deny"), "{told}");
}
