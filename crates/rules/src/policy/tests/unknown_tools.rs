//! Tools that nobody knows are judged by the commands in their input.

use serde_json::Value;

use super::*;

/// The ways in which tools of other agents are given a command, here `touch made`.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("run_in_terminal", json!({"command": "touch made"})),
        ("console", json!({"command": "touch made", "is_input": false})),
        ("Exec", json!({"command": "touch made", "summary": "x", "riskLevel": "low"})),
        ("sh", json!({"command": "touch made", "description": "x"})),
        ("run_all", json!({"commands": ["ls", "touch made"]})),
        ("run_all", json!({"commands": ["touch", "made"]})),
        ("run", json!({"cmd": ["touch", "made"]})),
        ("run", json!({"shell_command": "cd x && touch made"})),
        ("run", json!({"options": {"bashCommand": ["sh", "-c", "touch made"]}})),
        ("mcp__shell__run", json!({"command": "touch", "args": ["made"]})),
        ("mcp__shell__run", json!({"steps": [{"command": "ls"}, {"command": "sudo touch made"}]})),
        ("mcp__node__eval", json!({"code": "require('child_process').execSync('touch made')"})),
        ("mcp__node__eval", json!({"code": "import os\nos.system(\"touch made\")"})),
        ("mcp__mac__osa", json!({"script": "do shell script \"touch made\""})),
    ]
}

#[test]
fn a_rule_that_tightens_sees_their_commands() {
    for decision in ["deny", "confirm", "ask"] {
        let rule = format!("{decision}; command = \"touch made\"");
        for (tool, input) in calls() {
            let verdict = policy(&rules(&[&rule])).decide_by_names(&act(tool, &input), &now());
            assert_eq!(verdict.decision.to_string(), decision, "{tool} {input}");
            assert!(verdict.rule.is_some(), "{tool} {input}: {}", verdict.because);
            assert_eq!(act(tool, &input).class, ActClass::Other, "{tool}");
        }
    }
}

#[test]
fn a_rule_that_names_commands_allows_none_of_them() {
    let all = ["allow; command = \"*\"", "allow; command = [\"touch *\", \"touch made\", \"ls\"]"];
    for (tool, input) in calls() {
        assert_eq!(decide(&all, &act(tool, &input)), RuleDecision::Ask, "{tool} {input}");
        let by_tool = format!("allow; tool = \"{tool}\"");
        assert_eq!(decide(&[&by_tool], &act(tool, &input)), RuleDecision::Allow, "{tool} {input}");
        let denied = [by_tool.as_str(), "deny; command = \"touch made\""];
        assert_eq!(decide(&denied, &act(tool, &input)), RuleDecision::Deny, "{tool} {input}");
    }
}

#[test]
fn other_commands_are_not_denied() {
    let deny = ["deny; command = \"touch made\""];
    for (tool, input) in [
        ("run_in_terminal", json!({"command": "touch other"})),
        ("run_in_terminal", json!({"command": "echo touch made"})),
        ("run_all", json!({"commands": ["touch x", "ls made"]})),
        ("mcp__notes__add", json!({"text": "touch made"})),
        ("mcp__post__send", json!({"zipcode": "touch made"})),
    ] {
        assert_eq!(decide(&deny, &act(tool, &input)), RuleDecision::Ask, "{tool} {input}");
        let verdict = policy(&rules(&deny)).decide_by_names(&act(tool, &input), &now());
        assert!(!verdict.wants_person, "{tool} {input}: {}", verdict.because);
    }
}

#[test]
fn rules_about_paths_see_where_a_command_runs() {
    let deny = ["deny; path = \"/secret/**\""];
    for input in [
        json!({"command": "cd /secret; cat key"}),
        json!({"command": "cat key", "cwd": "/secret"}),
        json!({"commands": ["cd /secret", "cat key"]}),
    ] {
        assert_eq!(decide(&deny, &act("console", &input)), RuleDecision::Deny, "{input}");
    }
}

#[test]
fn the_guard_sees_their_commands() {
    for input in [
        json!({"command": "callgate uninstall"}),
        json!({"commands": ["cd /tmp", "callgate uninstall"]}),
        json!({"cmd": ["callgate", "uninstall"]}),
        json!({"command": "callgate", "args": ["uninstall"]}),
        json!({"code": "os.system('callgate uninstall')"}),
        json!({"command": "git config core.hooksPath /tmp/x"}),
        json!({"command": "cd .claude; tee settings.json"}),
        json!({"command": "tmux send-keys -t 0 y"}),
    ] {
        let verdict = policy(&rules(&["allow; tool = \"console\""]))
            .decide_by_names(&act("console", &input), &now());
        assert!(verdict.is_guarded, "{input}: {}", verdict.because);
    }
}

/// Ordinary texts of ordinary tools are not taken for attacks.
#[test]
fn ordinary_commands_and_code_are_not_guarded() {
    for input in [
        json!({"command": "cat src/a.rs | grep -n \"fn main\" > out.txt"}),
        json!({"command": "for f in *.rs; do wc -l \"$f\"; done"}),
        json!({"command": "cargo test --workspace 2>&1 | tail -40"}),
        json!({"command": "git commit -m 'config: read it once'"}),
        json!({"code": "const script = document.createElement('script');\nscript.src = url;"}),
        json!({"code": "import pandas as pd\ndf = pd.read_csv('data/x.csv')\nprint(df.head())"}),
        json!({"code": "async function go() { const r = await fetch(`${base}/items`); return r }"}),
        json!({"code": "for i in range(10):\n    print(f\"{i} of {n}\")  # it's fine"}),
        json!({"code": "E404", "country_code": "US"}),
        json!({"script": "tell application \"Finder\" to get name of front window"}),
    ] {
        let verdict = policy(&rules(&["allow; tool = \"mcp__x__run\""]))
            .decide_by_names(&act("mcp__x__run", &input), &now());
        assert_eq!(verdict.decision, RuleDecision::Allow, "{input}: {}", verdict.because);
    }
}

/// Code that calls tools is allowed by a rule that names its tool, and by nothing else.
#[test]
fn code_that_uses_tools_is_not_allowed_by_a_rule_for_less() {
    let code = act("REPL", &json!({"code": "await Bash({command: 'touch made'})"}));
    for rule in [
        "allow; class = \"other\"",
        "allow; tool = \"RE*\"",
        "allow; tool = [\"Read\", \"R*L\"]; class = \"other\"",
        "allow; command = \"*\"",
        "allow; agent = \"claude\"; class = [\"read\", \"other\"]",
    ] {
        assert_eq!(decide(&[rule], &code), RuleDecision::Ask, "{rule}");
    }
    let by_name = "allow; tool = \"REPL\"";
    assert_eq!(decide(&[by_name], &code), RuleDecision::Allow);
    assert_eq!(decide(&[by_name, "deny; command = \"touch *\""], &code), RuleDecision::Deny);
}

/// A tool means what the table says for its agent, or for the first agent that has it. A front end
/// may bring tools of any name to our own runtime: those mean nothing by themselves.
#[test]
fn tools_of_other_agents_are_known_by_their_names() {
    let rules = ["allow; command = \"touch *\""];
    let of = |agent: &str, input: &Value| {
        let act =
            Act::from_call("run_terminal_command", &input.to_string(), "/w", agent, "/home/ada");
        (act.class, decide(&rules, &act))
    };
    let plain = json!({"command": "touch made", "description": "x"});
    assert_eq!(of("grok", &plain), (ActClass::Run, RuleDecision::Allow));
    assert_eq!(of("claude-code", &plain), (ActClass::Run, RuleDecision::Allow));
    assert_eq!(of(OWN_AGENT, &plain), (ActClass::Other, RuleDecision::Ask));
    let more = json!({"command": "touch made", "place": "/elsewhere"});
    assert_eq!(of("grok", &more), (ActClass::Run, RuleDecision::Ask));
}
