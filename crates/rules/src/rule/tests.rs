//! Rules that list options, rules that leave paths out, and patterns with quotes.

use crate::{Act, GuardedSet, Moment, Policy, RuleDecision, RuleFile, Trust};

fn decide(rules: &str, tool: &str, input: &serde_json::Value) -> RuleDecision {
    let file = RuleFile::from_toml("rules.toml", rules, Trust::User);
    assert_eq!(file.problems, []);
    let policy = Policy::new(GuardedSet::new("/home/ada")).with_file(&file, None);
    let act = Act::from_call(tool, &input.to_string(), "/home/ada/engine", "claude", "/home/ada");
    policy.decide_by_names(&act, &Moment::from_unix_ms(0, 0)).decision
}

#[test]
fn only_listed_options_may_follow() {
    let rules = r#"
        [[rule]]
        name = "tests"
        decide = "allow"
        command = ["cargo test *", "make *"]
        options = ["-p", "--test", "--lib", "V", "--"]
    "#;
    for (command, expected) in [
        ("cargo test", RuleDecision::Allow),
        ("cargo test a_name", RuleDecision::Allow),
        ("cargo test -p core --lib a_name", RuleDecision::Allow),
        ("cargo test --test=rules", RuleDecision::Allow),
        ("cargo test -- --nocapture x=y", RuleDecision::Allow),
        ("make V=1 all", RuleDecision::Allow),
        ("cargo test --config x", RuleDecision::Ask),
        ("cargo test --config=x", RuleDecision::Ask),
        ("cargo test -pcore", RuleDecision::Ask),
        ("cargo test +nightly", RuleDecision::Ask),
        ("cargo test @file", RuleDecision::Ask),
        ("cargo test --lib*", RuleDecision::Ask),
        ("cargo test *", RuleDecision::Ask),
        ("cargo test src/*", RuleDecision::Allow),
        ("make SHELL=/tmp/x all", RuleDecision::Ask),
        ("make 'SHELL'=/tmp/x", RuleDecision::Ask),
        ("cargo build", RuleDecision::Ask),
    ] {
        let input = serde_json::json!({ "command": command });
        assert_eq!(decide(rules, "Bash", &input), expected, "{command}");
    }
}

#[test]
fn a_path_left_out_is_one_that_an_allow_would_take() {
    let rules = r#"
        [[rule]]
        name = "deletes outside"
        decide = "deny"
        command = ["rm", "git clean"]
        path = ["!**", "!/tmp/**"]
    "#;
    for (command, is_denied) in [
        ("rm a src/b", false),
        ("rm -rf build /tmp/x", false),
        ("ls /etc", false),
        ("cat /etc/x; rm a", false),
        ("rm /etc/x", true),
        ("rm -rf ..", true),
        ("rm -rf ~", true),
        ("sudo rm -rf /", true),
        ("rm -rf *", true),
        ("rm -rf $X", true),
        ("sh -c 'rm -rf /'", true),
        ("cd /; rm a", true),
        ("find / | xargs rm", true),
        ("find . -exec rm /x ';'", true),
    ] {
        let input = serde_json::json!({ "command": command });
        let denied = decide(rules, "Bash", &input) == RuleDecision::Deny;
        assert_eq!(denied, is_denied, "{command}");
    }
    let rules = r#"
        [[rule]]
        name = "writes outside"
        decide = "deny"
        class = "write"
        path = "!**"
    "#;
    for (path, is_denied) in [("src/a", false), ("../a", true), ("/etc/x", true), ("$HOME/x", true)]
    {
        let denied = decide(rules, "Write", &serde_json::json!({ "file_path": path }));
        assert_eq!(denied == RuleDecision::Deny, is_denied, "{path}");
    }
    assert_eq!(decide(rules, "mcp__x", &serde_json::json!({ "a": 1 })), RuleDecision::Ask);
}

#[test]
fn quoted_characters_of_a_pattern_stand_for_themselves() {
    for (pattern, command, expected) in [
        ("echo 'a b'", "echo 'a b'", true),
        ("echo 'a b'", "echo a b", false),
        ("echo '*'", "echo '*'", true),
        ("echo '*'", "echo x", false),
        (r#"echo "a\"?""#, r#"echo 'a"?'"#, true),
        (r#"echo "a\"?""#, r#"echo 'a"b'"#, false),
        (r"echo a\ b", "echo 'a b'", true),
        ("echo ''", "echo ''", true),
        ("echo ''", "echo", false),
        ("echo ''", "echo x", false),
        ("echo x''y", "echo xy", true),
        ("A=1 echo b", "A=1 echo b", true),
        ("A=1 echo b", "echo b", false),
        ("echo A'='1", "echo A=1", true),
        ("cat ~/x", "cat /home/ada/x", true),
        ("cat '~/x'", "cat /home/ada/x", false),
        ("cat a~", "cat a~", true),
        ("\techo  a?\t*", "echo ab c d", true),
        ("echo a?", "echo a", false),
    ] {
        let rules = format!(
            "[[rule]]\nname = \"a\"\ndecide = \"allow\"\ncommand = {}\n",
            serde_json::Value::from(pattern)
        );
        let decided = decide(&rules, "Bash", &serde_json::json!({ "command": command }));
        assert_eq!(decided == RuleDecision::Allow, expected, "{pattern}: {command}");
    }
}
