//! One act, one verdict: whoever asks for it.

use std::sync::Arc;

use callgate_approval::asker::fresh_id;
use callgate_approval::desk::Ruling;
use callgate_policy::RealDisk;
use callgate_rules::{Act, PolicyDefaults, RuleDecision, explain_act, judge_act};
use callgate_surroundings::{read_live_rules, rule_surroundings};
use callgate_wire::approval::{ApprovalRequest, RequestKind};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::bench::{Bench, link};

const ACTS: usize = 1_000;

const RULES: &str = r#"
    [[rule]]
    name = "sources"
    decide = "allow"
    class = "write"
    path = "src/**"

    [[rule]]
    name = "looks"
    decide = "allow"
    command = ["cat *", "ls *", "make test"]

    [[rule]]
    name = "careful"
    decide = "ask"
    path = "careful/**"

    [[rule]]
    name = "plans"
    decide = "confirm"
    path = "plain/**"

    [[rule]]
    name = "no removing"
    decide = "deny"
    command = "rm *"

    [[rule]]
    name = "secret"
    decide = "deny"
    path = "**/secret/**"
"#;

/// Numbers that look like chance and are the same each time.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.throw(list.len())]
    }

    fn path(&mut self) -> String {
        let first =
            ["src", "secret", "careful", "open", "src/out", "src/in", "plain", "circle", "ours"];
        let then = ["", "/a", "/b/c", "/../key", "/new", "/secret/x", "/./a"];
        format!("{}{}", self.pick(&first), self.pick(&then))
    }

    fn act(&mut self) -> (&'static str, Value) {
        match self.throw(5) {
            0 => ("read_file", json!({ "path": self.path() })),
            1 => ("write_file", json!({ "path": self.path(), "content": "x" })),
            2 => ("list_files", json!({ "path": self.path() })),
            3 => ("search_text", json!({ "path": self.path(), "pattern": "x" })),
            _ => {
                let program = self.pick(&["cat", "ls", "rm", "make", "cp"]);
                let args: Vec<String> = (0..self.throw(3)).map(|_| self.path()).collect();
                let cwd = self.pick(&[".", "src", "plain", "open"]);
                ("run_shell_command", json!({ "command": program, "args": args, "cwd": cwd }))
            }
        }
    }
}

fn request(tool: &str, input: &str, cwd: &str) -> ApprovalRequest {
    ApprovalRequest {
        request_id: fresh_id(),
        tool_name: tool.to_owned(),
        tool_input: RawValue::from_string(input.to_owned()).unwrap(),
        cwd: cwd.to_owned(),
        session_id: "s".to_owned(),
        permission_suggestions: Vec::new(),
        kind: RequestKind::Ask,
        agent: Some("callgate".to_owned()),
        context: None,
        machine: None,
    }
}

#[test]
fn all_who_ask_for_a_verdict_get_the_same() {
    let bench = Bench::new(RULES);
    for folder in ["src/b", "secret", "careful", "plain", "other"] {
        std::fs::create_dir_all(bench.root(folder)).unwrap();
    }
    std::fs::create_dir_all(bench.folder.path().join("data")).unwrap();
    link(&bench.root("secret"), &bench.root("open"));
    link(&bench.root("other"), &bench.root("src/out"));
    link(&bench.root("src/b"), &bench.root("src/in"));
    link(&bench.root("circle"), &bench.root("circle"));
    link(&bench.folder.path().join("data"), &bench.root("ours"));
    let root = bench.root("");
    let root = root.to_str().unwrap().trim_end_matches('/');
    let real = std::fs::canonicalize(root).unwrap();
    let defaults = PolicyDefaults::read_inside([root, real.to_str().unwrap()]);
    let ruler = || read_live_rules(&bench.config, Arc::new(|_| ()));
    let desk = ruler().with_defaults(defaults);
    let policy = desk.policy_for_folder(root.as_ref());
    let around = rule_surroundings();
    let (mut dice, mut counts) = (Dice(9), [0; 4]);
    for number in 0..ACTS {
        let (tool, input) = dice.act();
        let input = input.to_string();
        let what = format!("act {number}: {tool} {input}");
        let act = Act::from_call(tool, &input, root, "callgate", &around.home);
        let now = around.now();
        let verdict = judge_act(&policy, &act, &RealDisk, &now);
        counts[verdict.decision as usize] += 1;

        let by_desk = match desk.judge_request(&request(tool, &input, root)) {
            Ruling::Allow { .. } => RuleDecision::Allow,
            Ruling::Deny { .. } => RuleDecision::Deny,
            Ruling::AtDesk { .. } => RuleDecision::Confirm,
            Ruling::Ask { because, is_guarded } => {
                assert_eq!(is_guarded, verdict.is_guarded, "{what}");
                assert_eq!(because.is_some(), verdict.wants_person, "{what}");
                RuleDecision::Ask
            }
        };
        assert_eq!(by_desk, verdict.decision, "the desk and the hook, {what}");

        let by_runtime = match bench.gate.rules.judge_call(tool, &input).ruling {
            Ruling::Allow { .. } => RuleDecision::Allow,
            Ruling::Deny { .. } => RuleDecision::Deny,
            // Of the folders that commands may work in only the runtime knows.
            ask if ask.because().is_some_and(|why| why.contains("is outside of")) => {
                verdict.decision
            }
            Ruling::AtDesk { .. } => RuleDecision::Confirm,
            Ruling::Ask { .. } => RuleDecision::Ask,
        };
        assert_eq!(by_runtime, verdict.decision, "the runtime, {what}: {}", verdict.because);

        let explained = explain_act(&policy, &act, &RealDisk, &now).verdict;
        assert_eq!(explained, verdict, "callgate rules explain, {what}");
    }
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
}
