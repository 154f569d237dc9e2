//! What rules decide, and who is asked about the rest: here nobody can be.

use serde_json::{Value, json};

use super::bench::{Bench, link, question, words};
use callgate_agent::gate::{Decision, Gate, Question};

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
    let ledger = bench.config.database.value.display().to_string();
    assert_eq!(bench.permit("write_file", &json!({ "path": ledger, "content": "" })), NOBODY);
    link(bench.config.database.value.parent().unwrap(), &bench.root("data"));
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
    let must = |command: &str, args: &[&str]| {
        let input = json!({ "command": command, "args": args });
        let must_ask = Some("it leaves the roots".to_owned());
        let question = Question { must_ask, ..question("run_shell_command", &input, "c1") };
        words(&bench.run(bench.gate.may(question)))
    };
    assert_eq!(must("make", &["test"]), NOBODY);
    assert!(must("git", &["push", "x"]).starts_with("denied: denied by rule"), "a rule may deny");
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
        let refused = bench.answer(id, Decision::Allow).unwrap_err();
        assert!(refused.starts_with("there is no such question"), "{refused}");
    }
}
