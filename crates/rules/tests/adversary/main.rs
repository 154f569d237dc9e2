//! Commands that must not pass the allows that they look like.

mod allowed;
mod changed;
mod denied;

use callgate_rules::{
    Act, GuardedSet, Moment, NoLinks, Policy, RuleDecision, RuleFile, Trust, judge_act,
};
use serde_json::json;

const RULES: &str = r#"
[[rule]]
name = "harmless"
decide = "allow"
command = [
    "git status", "git log --oneline", "make build", "ls *", "echo *", "cat README.md", "cd *",
    "grep -n * src/main.rs", "wc -l", "printf *", "test *", "[ *",
]
"#;

fn policy(rules: &str) -> Policy {
    let file = RuleFile::from_toml("rules.toml", rules, Trust::User);
    assert!(!file.has_errors(), "{:?}", file.problems);
    Policy::new(GuardedSet::new("/home/ada")).with_file(&file, None)
}

fn decide(policy: &Policy, command: &str) -> callgate_rules::Verdict {
    let input = json!({ "command": command }).to_string();
    let act = Act::from_call("Bash", &input, "/home/ada/engine", "claude", "/home/ada");
    judge_act(policy, &act, &NoLinks, &Moment::from_unix_ms(0, 0))
}
