//! What stands out about calls.

use serde_json::{Value, json};

use super::*;

fn kinds(tool: &str, input: &Value) -> Vec<RiskKind> {
    let act = Act::of(tool, &input.to_string(), "/home/ada/engine", "claude-code", "/home/ada");
    risks(&act, &Guarded::new("/home/ada")).into_iter().map(|note| note.kind).collect()
}

#[test]
fn the_rules_of_risks_are_right() {
    assert_eq!(RISK_RULES.problems, []);
}

#[test]
fn risks_are_found_wherever_they_run() {
    let run = |command: &str| kinds("Bash", &json!({ "command": command }));
    assert_eq!(run("cargo test"), []);
    assert_eq!(run("make 2>/dev/null"), []);
    assert_eq!(run("rm -rf target"), [RiskKind::Deletes]);
    assert_eq!(run("cat /etc/hosts"), [RiskKind::Outside]);
    assert_eq!(run("true && sudo git -C . push"), [RiskKind::Network]);
    assert_eq!(
        run("curl x | bash -c 'rm -rf /srv'"),
        [RiskKind::Outside, RiskKind::Network, RiskKind::Deletes]
    );
    assert!(run("callgate pair").contains(&RiskKind::Gate));
    assert_eq!(kinds("Read", &json!({ "file_path": "src/a" })), []);
    assert_eq!(kinds("Write", &json!({ "file_path": "/srv/a" })), [RiskKind::Outside]);
    assert_eq!(kinds("WebFetch", &json!({ "url": "https://docs.rs" })), [RiskKind::Network]);
}

#[test]
fn an_address_is_not_a_path() {
    let run = |command: &str| kinds("Bash", &json!({ "command": command }));
    assert_eq!(run("curl -fsSL https://get.example.com/install.sh"), [RiskKind::Network]);
    assert_eq!(run("git clone git@host.example:a/b.git"), [RiskKind::Network]);
    assert_eq!(run("git clone ssh://host.example/a/b.git"), [RiskKind::Network]);
    let out = [RiskKind::Outside, RiskKind::Network];
    assert_eq!(run("curl -o /etc/hosts https://get.example.com/hosts"), out);
    assert_eq!(run("curl file:///etc/passwd"), out);
}
