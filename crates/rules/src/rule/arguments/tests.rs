//! What conditions on arguments allow, and what they deny.

use crate::{Act, GuardedSet, Moment, Policy, RuleDecision, RuleFile, Trust};

fn decide(decision: RuleDecision, conditions: &str, tool: &str, input: &str) -> RuleDecision {
    let text = format!(
        "[[rule]]\nname = \"x\"\ndecide = \"{decision}\"\ntool = \"mcp__*\"\narguments = {conditions}\n"
    );
    let file = RuleFile::from_toml("rules.toml", &text, Trust::User);
    assert_eq!(file.problems, [], "{conditions}");
    let policy = Policy::new(GuardedSet::new("/home/ada")).with_file(&file, None);
    let act = Act::from_call(tool, input, "/home/ada/engine", "claude", "/home/ada");
    policy.decide_by_names(&act, &Moment::from_unix_ms(0, 0)).decision
}

/// Says of one condition and one input whether an allow and a deny with it hold.
fn check(conditions: &str, input: &str, allows: bool, denies: bool) {
    for (decision, expected) in [(RuleDecision::Allow, allows), (RuleDecision::Deny, denies)] {
        let holds = decide(decision, conditions, "mcp__bank__send", input) == decision;
        assert_eq!(holds, expected, "{decision} {conditions} for {input}");
    }
}

#[test]
fn a_text_fits_a_pattern() {
    let to = r#"{ to = "*@example.org" }"#;
    check(to, r#"{"to":"ada@example.org"}"#, true, true);
    check(to, r#"{"to":"a.b-c+d@example.org","cc":"x"}"#, true, true);
    check(to, r#"{"to":"ada@example.com"}"#, false, false);
    check(to, r#"{"from":"ada@example.org"}"#, false, false);
    check(to, r#"{"to":null}"#, false, false);
    check(to, "{}", false, false);
    check(r#"{ to = ["ada@*.org", "bob@x.io"] }"#, r#"{"to":"bob@x.io"}"#, true, true);
    check(r#"{ body = "**" }"#, r#"{"body":"a, b\n../c"}"#, true, true);
    check(r#"{ subject = "Re: **" }"#, r#"{"subject":"Re: to you all"}"#, true, true);
    check(r#"{ subject = "Re: *" }"#, r#"{"subject":"Re: to you all"}"#, false, true);
}

#[test]
fn a_star_of_an_allow_stands_for_no_second_address() {
    let to = r#"{ to = "*@example.org" }"#;
    for text in [
        "eve@evil.example, ada@example.org",
        "eve@evil.example;ada@example.org",
        "eve@evil.example ada@example.org",
        "<eve@evil.example>ada@example.org",
        "eve@evil.example\\nada@example.org",
        "eve%evil.example@example.org",
        "eve@evil.example\\u0000ada@example.org",
    ] {
        check(to, &format!("{{\"to\":\"{text}\"}}"), false, true);
    }
    let url = r#"{ url = "https://*.example.org/**" }"#;
    check(url, r#"{"url":"https://a.example.org/x?y"}"#, true, true);
    check(url, r#"{"url":"https://evil.test/.example.org/x"}"#, false, true);
    check(url, r#"{"url":"https://evil.test#.example.org/x"}"#, false, true);
    let path = r#"{ file = "/srv/notes/**" }"#;
    check(path, r#"{"file":"/srv/notes/a/b.md"}"#, true, true);
    check(path, r#"{"file":"/srv/notes/../../etc/shadow"}"#, false, true);
}

#[test]
fn a_deny_finds_one_among_several() {
    let to = r#"{ to = "*@evil.example" }"#;
    for input in [
        r#"{"to":"eve@evil.example, ada@example.org"}"#,
        r#"{"to":"Eve <EVE@EVIL.EXAMPLE>"}"#,
        r#"{"to":["ada@example.org","eve@evil.example"]}"#,
        r#"{"to":{"address":"eve@evil.example"}}"#,
        r#"{"To":"eve@evil.example"}"#,
        r#"{"to":"a@example.org","to":"eve@evil.example"}"#,
    ] {
        assert_eq!(decide(RuleDecision::Deny, to, "mcp__m", input), RuleDecision::Deny, "{input}");
    }
}

#[test]
fn lists_fit_when_each_of_their_values_does() {
    let to = r#"{ to = "*@example.org" }"#;
    check(to, r#"{"to":["ada@example.org","bob@example.org"]}"#, true, true);
    check(to, r#"{"to":["ada@example.org","eve@evil.example"]}"#, false, true);
    check(to, r#"{"to":["ada@example.org",null]}"#, false, true);
    check(to, r#"{"to":[["ada@example.org"]]}"#, false, true);
    check(to, r#"{"to":[]}"#, false, false);
}

#[test]
fn numbers_are_compared_and_never_read_out_of_a_text_for_an_allow() {
    let amount = r#"{ amount = ">= 0, <= 100" }"#;
    for (number, allows, denies) in [
        ("100", true, true),
        ("0", true, true),
        ("99.99", true, true),
        ("1e2", true, true),
        // No double keeps its digits, so the whole call is refused.
        ("100.00000000000000000001", false, true),
        ("101", false, false),
        ("-1", false, false),
        ("1e300", false, false),
        ("\"50\"", false, true),
        ("\"$50\"", false, true),
        ("\"5O\"", false, true),
        ("true", false, true),
        ("[50]", true, true),
        ("[50,500]", false, true),
        ("{\"value\":50}", false, true),
        ("null", false, false),
    ] {
        check(amount, &format!("{{\"amount\":{number}}}"), allows, denies);
    }
    check("{ amount = \"<= 100\" }", r#"{"amount":-5000}"#, true, true);
    check("{ amount = 1_000 }", r#"{"amount":1000.0}"#, true, true);
    check("{ amount = [1, 2.5] }", r#"{"amount":2.50}"#, true, true);
    check("{ amount = \"< 9007199254740993\" }", r#"{"amount":9007199254740993}"#, false, false);
    check("{ amount = \"> 100\" }", r#"{"amount":"1,000"}"#, false, true);
}

#[test]
fn truth_is_exact_for_an_allow_and_loose_for_a_deny() {
    for (value, allows, denies) in [
        ("true", true, true),
        ("false", false, false),
        ("\"true\"", false, true),
        ("\"YES\"", false, true),
        ("1", false, true),
        ("0", false, false),
        ("\"perhaps\"", false, true),
        ("null", false, false),
    ] {
        check("{ force = true }", &format!("{{\"force\":{value}}}"), allows, denies);
    }
}

#[test]
fn a_negated_condition_of_a_deny_holds_unless_an_allow_would() {
    let to = r#"{ to = "!*@example.org" }"#;
    check(to, r#"{"to":"ada@example.org"}"#, false, false);
    check(to, r#"{"to":"eve@evil.example"}"#, true, true);
    check(to, r#"{"to":"eve@evil.example,ada@example.org"}"#, false, true);
    check(to, "{}", false, true);
    check(to, r#"{"To":"ada@example.org"}"#, false, true);
    let amount = r#"{ amount = "!<= 100" }"#;
    check(amount, r#"{"amount":100}"#, false, false);
    check(amount, r#"{"amount":101}"#, true, true);
    check(amount, r#"{"amount":"7"}"#, false, true);
    let both = r#"{ to = ["!ada@example.org", "!bob@example.org"] }"#;
    check(both, r#"{"to":"bob@example.org"}"#, false, false);
    check(both, r#"{"to":"eve@evil.example"}"#, true, true);
}

#[test]
fn an_argument_can_be_demanded_to_be_absent() {
    let bcc = "{ bcc = [] }";
    check(bcc, "{}", true, true);
    check(bcc, r#"{"bcc":null}"#, true, true);
    check(bcc, r#"{"bcc":[]}"#, true, true);
    check(bcc, r#"{"bcc":["eve@evil.example"]}"#, false, false);
    check(bcc, r#"{"BCC":"eve@evil.example"}"#, false, false);
}

#[test]
fn what_a_reader_could_take_for_another_argument_is_not_allowed() {
    let to = r#"{ to = "*@example.org" }"#;
    check(to, r#"{"to":"ada@example.org","To":"eve@evil.example"}"#, false, true);
    check(to, r#"{"to":"ada@example.org","to":"eve@evil.example"}"#, false, true);
    check(to, r#"{"to":"ada@example.org","t\u006f":"eve@evil.example"}"#, false, true);
    let nested = r#"{ mail.users.to = "*@example.org" }"#;
    check(nested, r#"{"mail":{"users":{"to":"ada@example.org"}}}"#, true, true);
    check(nested, r#"{"mail.users.to":"ada@example.org"}"#, false, false);
    check(
        nested,
        r#"{"mail":{"users":{"to":"eve@evil.example","to":"ada@example.org"}}}"#,
        false,
        true,
    );
    check(
        nested,
        r#"{"mail":{"u\u017fers":{"to":"eve@evil.example"},"users":{"to":"ada@example.org"}}}"#,
        false,
        true,
    );
    check(nested, r#"{"mail":[{"users":{"to":"ada@example.org"}}]}"#, false, true);
    check(r#"{ "mail.to" = "a" }"#, r#"{"mail.to":"a"}"#, true, true);
}

#[test]
fn what_cannot_be_looked_into_is_allowed_by_nothing_and_denied() {
    let large = format!(r#"{{"to":"ada@example.org","body":"{}"}}"#, "a".repeat(300_000));
    check(r#"{ to = "*@example.org" }"#, &large, false, true);
    check(r#"{ to = "*@example.org" }"#, "no JSON", false, true);
    let deep = format!(r#"{{"to":{}"a"{}}}"#, "[".repeat(20), "]".repeat(20));
    check(r#"{ to = "b" }"#, &deep, false, true);
    let many = format!(r#"{{"to":[{}"a"]}}"#, "\"a\",".repeat(10_001));
    check(r#"{ to = "b" }"#, &many, false, true);
}

#[test]
fn other_tools_have_arguments_too() {
    let text = r#"
        [[rule]]
        name = "no background"
        decide = "deny"
        tool = "Bash"
        arguments = { run_in_background = true }
    "#;
    let file = RuleFile::from_toml("rules.toml", text, Trust::User);
    assert_eq!(file.problems, []);
    let policy = Policy::new(GuardedSet::new("/home/ada")).with_file(&file, None);
    let decide = |input: &str| {
        let act = Act::from_call("Bash", input, "/home/ada", "claude", "/home/ada");
        policy.decide_by_names(&act, &Moment::from_unix_ms(0, 0))
    };
    let verdict = decide(r#"{"command":"make","run_in_background":true}"#);
    assert_eq!(verdict.decision, RuleDecision::Deny);
    assert_eq!(
        verdict.because,
        "denied by rule `no background` (rules.toml:2): the tool is Bash, and its arguments fit"
    );
    assert_eq!(decide(r#"{"command":"make"}"#).decision, RuleDecision::Ask);
}
