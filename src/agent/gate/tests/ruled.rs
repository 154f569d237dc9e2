//! What rules decide, and who is asked about the rest: here nobody can be.

use std::path::Path;
use std::sync::Arc;

use callgate_agent::gate::{FaultFn, GateQuestion, PermissionGate};
use callgate_wire::approval::{Action, Press};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::bench::{Bench, link, question, words};

const RULES: &str = r#"
    [[rule]]
    name = "builds"
    decide = "allow"
    command = "make test"

    [[rule]]
    name = "no pushing"
    decide = "deny"
    command = "git push *"

    [[rule]]
    name = "secret"
    decide = "deny"
    path = "FOLDER/root/secret/**"

    [[rule]]
    name = "careful"
    decide = "ask"
    path = "FOLDER/root/careful/**"

    [[rule]]
    name = "all is fine"
    decide = "allow"
    path = "FOLDER/elsewhere/**"

    [[rule]]
    name = "even the ledger"
    decide = "allow"
    path = "FOLDER/data/**"
"#;

const NOBODY: &str = "denied: nobody can be asked: start `callgate up`, or use a front end that \
                      takes questions; the tool did not run";

/// What the tool is given may be read differently there, whatever the rules say.
#[test]
fn input_that_can_be_read_in_two_ways_is_denied() {
    let bench = Bench::new(RULES);
    for (input, reason) in [
        (r#"{"command":"make","args":["test"],"x":"\ud800"}"#, "half of a surrogate pair"),
        (r#"{"command":"git","command":"make","args":["test"]}"#, "the same key twice"),
        (r#"{"command":"make","args":["test"],"x":1e400}"#, "too large or too precise"),
    ] {
        let mut asked = question("run_shell_command", &json!({}), "c1");
        asked.input = RawValue::from_string(input.to_owned()).unwrap();
        let permit = words(&bench.run(bench.gate.decide_question(asked)));
        assert!(permit.starts_with("denied: ") && permit.contains(reason), "{input}: {permit}");
    }
}

#[test]
fn rules_decide_and_reading_inside_of_the_roots_is_allowed() {
    let bench = Bench::new(RULES);
    let check = |tool: &'static str, input: Value, expected: &str| {
        let folder = bench.folder.path().display().to_string();
        let permit = bench.permit(tool, &input).replace(&folder, "FOLDER");
        assert!(permit.starts_with(expected), "{tool} {input}: {permit}");
    };
    let inside = "allowed: allowed by default: the class is read, inside of FOLDER/root";
    check("read_file", json!({ "path": "a.txt" }), inside);
    check("list_files", json!({ "path": "." }), inside);
    check("search_text", json!({ "path": "src", "pattern": "TODO" }), inside);
    check("get_system_info", json!({}), inside);
    let plan =
        json!({"items": [{"text": "change ~/.config/callgate/rules.toml", "status": "done"}]});
    check("todo_write", plan, inside);
    check("read_file", json!({ "path": "../b.txt" }), NOBODY);
    check("read_file", json!({ "path": "/etc/passwd" }), NOBODY);
    check("write_file", json!({ "path": "a.txt", "content": "" }), NOBODY);
    check("edit_file", json!({ "path": "a.txt" }), NOBODY);
    let run = |command: &str, args: &[&str]| json!({ "command": command, "args": args });
    check("run_shell_command", run("make", &["test"]), "allowed: allowed by rule `builds`");
    check("run_shell_command", run("make", &["clean"]), NOBODY);
    let pushing = "denied: denied by rule `no pushing`";
    check("run_shell_command", run("git", &["push", "--force"]), pushing);
    check("read_file", json!({ "path": "secret/key" }), "denied: denied by rule `secret`");
    check("read_file", json!({ "path": "careful/x" }), NOBODY);
    check("write_file", json!({ "path": "../elsewhere/x" }), "allowed: allowed by rule `all is");
    check("summon", json!({ "path": "a.txt" }), NOBODY);
    check("read_file", json!(["a.txt"]), NOBODY);
}

#[test]
fn nothing_allows_what_touches_callgate_itself() {
    let bench = Bench::new(RULES);
    let ledger = bench.config.database.display().to_string();
    assert_eq!(bench.permit("write_file", &json!({ "path": ledger, "content": "" })), NOBODY);
    link(bench.config.database.parent().unwrap(), &bench.root("data"));
    let path = "data/callgate.db";
    assert_eq!(bench.permit("read_file", &json!({ "path": path })), NOBODY, "by another name");
}

#[test]
fn a_link_does_not_lead_past_a_rule_or_out_of_the_roots() {
    let bench = Bench::new(RULES);
    std::fs::create_dir(bench.root("secret")).unwrap();
    link(&bench.root("secret"), &bench.root("open"));
    let denied = bench.permit("read_file", &json!({ "path": "open/key" }));
    assert!(denied.starts_with("denied: denied by rule `secret`"), "{denied}");
    link("/etc".as_ref(), &bench.root("etc"));
    assert_eq!(bench.permit("read_file", &json!({ "path": "etc/passwd" })), NOBODY);
}

/// Only where a person would be asked, and only about files that the model may read.
#[test]
fn nobody_is_asked_about_a_call_that_cannot_succeed() {
    let bench = Bench::new(RULES);
    let fault: FaultFn = Arc::new(|input, may_read| {
        let path = serde_json::from_str::<Value>(input.get()).unwrap()["path"].to_string();
        may_read(path.trim_matches('"')).then(|| "it does not exist".to_owned())
    });
    let permit = |tool: &'static str, path: &str| {
        let question = question(tool, &json!({ "path": path, "content": "" }), "c1");
        words(&bench.run(
            bench.gate.decide_question(GateQuestion { fault: Some(fault.clone()), ..question }),
        ))
    };
    assert_eq!(permit("write_file", "a.txt"), "futile: it does not exist");
    let allowed = permit("read_file", "a.txt");
    assert!(allowed.starts_with("allowed: "), "{allowed}");
    let denied = permit("write_file", "secret/a.txt");
    assert!(denied.starts_with("denied: denied by rule `secret`"), "{denied}");
    assert_eq!(permit("write_file", "/etc/a.txt"), NOBODY);
}

#[test]
fn links_to_what_is_not_there_are_followed_as_far_as_tools_do() {
    let bench = Bench::new(RULES);
    link(&bench.root("secret/new"), &bench.root("0"));
    for n in 1..20 {
        link(&bench.root(&(n - 1).to_string()), &bench.root(&n.to_string()));
    }
    let denied = bench.permit("write_file", &json!({ "path": "19", "content": "" }));
    assert!(denied.starts_with("denied: denied by rule `secret`"), "{denied}");
}

#[test]
fn a_command_does_not_get_past_a_rule_by_a_link() {
    let allow = "[[rule]]\nname = \"any\"\ndecide = \"allow\"\ncommand = [\"cat *\", \"ls *\"]\n";
    let bench = Bench::new(&format!("{RULES}{allow}"));
    std::fs::create_dir_all(bench.root("secret/in")).unwrap();
    std::fs::create_dir_all(bench.root("plain/in")).unwrap();
    std::fs::create_dir_all(bench.folder.path().join("data")).unwrap();
    link(&bench.root("secret/in"), &bench.root("open"));
    link(&bench.root("plain/in"), &bench.root("fine"));
    link(&bench.folder.path().join("data"), &bench.root("ours"));
    let run = |cwd: &str, args: &[&str]| {
        let input = json!({ "command": "cat", "args": args, "cwd": cwd });
        bench.permit("run_shell_command", &input)
    };
    let denied = "denied: denied by rule `secret`";
    for (cwd, arg, expected) in [
        (".", "secret/key", denied),
        (".", "open/key", denied),
        (".", "open", denied),
        (".", "--from=open/key", denied),
        // The system climbs from where the link leads.
        (".", "open/../key", denied),
        ("open", "key", denied),
        ("open", "../key", denied),
        (".", "ours/callgate.db", NOBODY),
        ("ours", "callgate.db", NOBODY),
        (".", "fine/key", "allowed: "),
        (".", "a", "allowed: "),
        ("fine", "../key", "allowed: "),
    ] {
        let permit = run(cwd, &[arg]);
        assert!(permit.starts_with(expected), "{arg} in {cwd}: {permit}");
    }
    assert!(run("open", &[]).starts_with(denied));
    let many: Vec<String> = (0..6_000).map(|n| n.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(run(".", &many[..500]).starts_with("allowed: "));
    assert_eq!(run(".", &many), NOBODY);
}

#[test]
fn searches_leave_out_what_would_be_denied_or_asked_for() {
    let rules = r#"
        [[rule]]
        name = "env"
        decide = "deny"
        path = "/**/.env"

        [[rule]]
        name = "searched"
        decide = "deny"
        tool = "search_text"
        path = "**/*.key"
    "#;
    let bench = Bench::new(&format!("{RULES}{rules}"));
    let hidden = bench.gate.hidden_files();
    let is_hidden = |tool: &str, start: &str, path: &str| {
        let start = bench.root(start);
        hidden(tool, &start).is_some_and(|is_hidden| is_hidden(&bench.root(path)))
    };
    for tool in ["search_text", "search_files"] {
        for (start, path, expected) in [
            ("", "a", false),
            ("", "src", false),
            ("", ".env", true),
            ("", "src/.env", true),
            ("src", "src/.ENV", true),
            ("", "secret", true),
            ("", "careful", true),
            ("", "careful/x", true),
            // A person was asked about the folder as a whole, but not about what is denied in it.
            ("careful", "careful/x", false),
            ("careful", "careful/.env", true),
            ("", "a.key", tool == "search_text"),
        ] {
            assert_eq!(is_hidden(tool, start, path), expected, "{tool} in {start:?}: {path}");
        }
        let allowed = bench.permit(tool, &json!({ "pattern": "x" }));
        assert!(allowed.starts_with("allowed: "), "{allowed}");
        let asked = bench.permit(tool, &json!({ "pattern": "x", "path": "careful" }));
        assert_eq!(asked, NOBODY);
    }
    std::fs::create_dir_all(bench.root("secret/in")).unwrap();
    link(&bench.root("secret/in"), &bench.root("open"));
    assert!(is_hidden("search_text", "open", "open/x"), "by another name");
}

#[test]
fn searches_leave_out_what_is_guarded_whatever_was_allowed() {
    let bench = Bench::new("");
    let hidden = bench.gate.hidden_files();
    assert!(hidden("search_text", &bench.root("")).is_none(), "without rules nothing is looked at");
    let above = bench.folder.path();
    let is_hidden = hidden("search_text", above).unwrap();
    assert!(is_hidden(&above.join("data")) && is_hidden(&above.join("data/callgate.db")));
    assert!(!is_hidden(&above.join("root")) && is_hidden(Path::new("/elsewhere")));
}

#[test]
fn a_root_behind_a_link_has_two_names() {
    let bench = Bench::new("");
    let root = bench.folder.path().join("named");
    link(&bench.root(""), &root);
    let name = root.display().to_string();
    let bench = Bench::with("", &[("CALLGATE_AGENT_ROOTS", &name)]);
    let allowed = bench.permit("read_file", &json!({ "path": "a.txt" }));
    assert!(allowed.starts_with("allowed: "), "{allowed}");
}

#[test]
fn what_has_to_be_asked_is_asked_whatever_the_rules_allow() {
    let bench = Bench::new(RULES);
    let outside = |command: &str, args: &[&str]| {
        let input = json!({ "command": command, "args": args, "cwd": "/etc" });
        bench.permit("run_shell_command", &input)
    };
    assert_eq!(outside("make", &["test"]), NOBODY);
    assert!(
        outside("git", &["push", "x"]).starts_with("denied: denied by rule"),
        "a rule may deny"
    );
}

#[test]
fn a_rule_that_is_added_holds_at_once_and_one_that_is_wrong_allows_nothing() {
    let bench = Bench::new("");
    let read = || bench.permit("read_file", &json!({ "path": "a.txt" }));
    assert!(read().starts_with("allowed"));
    std::fs::create_dir(bench.root(".callgate")).unwrap();
    let rules = bench.root(".callgate/rules.toml");
    std::fs::write(&rules, "[[rule]]\nname = \"no\"\ndecide = \"deny\"\ntool = \"read_file\"")
        .unwrap();
    assert!(read().starts_with("denied: denied by rule `no`"), "{}", read());
    std::fs::write(&rules, "[[rule]]\nname = ").unwrap();
    assert_eq!(read(), NOBODY);
    assert_eq!(bench.warnings.lock().unwrap().len(), 1, "it is told once");
}

#[test]
fn only_questions_that_were_shown_can_be_answered() {
    let bench = Bench::new("");
    for id in ["", "1", "550e8400-e29b-41d4-a716-446655440000"] {
        let refused = bench.answer(id, Press::Button(Action::Allow)).unwrap_err();
        assert!(refused.starts_with("there is no such question"), "{refused}");
    }
}
