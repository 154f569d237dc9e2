//! The starter rules and the guard hold for every agent, under its own names of tools and files.

use callgate_rules::{
    Act, GuardedSet, Moment, NoLinks, Policy, RuleDecision, RuleFile, SELF_TEST_COMMAND, Trust,
    UnclearCommands, judge_act,
};
use callgate_wire::hook::agents::AGENTS;
use callgate_wire::tool_act::{ToolKind, ToolShell};
use serde_json::{Value, json};

const STARTER: &str = include_str!("../src/starter.toml");
const HOME: &str = "/home/ada";
const PROJECT: &str = "/home/ada/engine";

fn policy() -> Policy {
    let file = RuleFile::from_toml("rules.toml", STARTER, Trust::User);
    assert!(!file.has_errors(), "{:?}", file.problems);
    Policy::new(GuardedSet::new(HOME)).with_file(&file, None).with_unclear(UnclearCommands::Ask)
}

/// How an agent gives a command to this tool.
fn command(tool: &str, line: &str) -> Value {
    match tool {
        "run_commands" => json!({ "commands": [line] }),
        "exec_command" => json!({ "cmd": line }),
        "Execute" => {
            json!({ "command": line, "summary": "s", "riskLevelReason": "r", "riskLevel": "low" })
        }
        "terminal" => json!({ "command": line, "is_input": false, "kind": "TerminalAction" }),
        _ => json!({ "command": line, "description": "d" }),
    }
}

/// The inputs that name a file, in the words of each agent.
fn file(path: &str) -> [Value; 6] {
    ["path", "file_path", "filePath", "target_file", "absolute_path", "dir_path"]
        .map(|name| json!({ name: path, "content": "x" }))
}

fn decide(policy: &Policy, agent: &str, tool: &str, input: &Value) -> RuleDecision {
    let act = Act::from_call(tool, &input.to_string(), PROJECT, agent, HOME);
    judge_act(policy, &act, &NoLinks, &Moment::from_unix_ms(0, 0)).decision
}

/// The agents to which a name may come: its own, and those under whose name its calls may come.
fn callers(agent: &'static str) -> [&'static str; 3] {
    [agent, "claude-code", ""]
}

#[test]
fn the_starter_tests_hold_under_every_name_of_a_shell() {
    let file = RuleFile::from_toml("rules.toml", STARTER, Trust::User);
    let policy = policy();
    let (mut shells, mut commands) = (0, 0);
    for (agent, tool, kind) in ToolKind::table() {
        let ToolKind::Run(ToolShell::Usual | ToolShell::Folder | ToolShell::Bare) = kind else {
            continue;
        };
        shells += 1;
        let (before, after) = (format!(" {SELF_TEST_COMMAND} "), format!("{SELF_TEST_COMMAND}s"));
        let no_rules = Policy::new(GuardedSet::new(HOME));
        let test_itself = |line: &str| decide(&no_rules, agent, tool, &command(tool, line));
        assert_eq!(test_itself(&before), RuleDecision::Deny, "{agent} {tool}");
        assert_ne!(test_itself(&after), RuleDecision::Deny, "{agent} {tool}");
        for test in &file.tests {
            let Some(line) = test.act(HOME, PROJECT).command else { continue };
            commands += 1;
            for agent in callers(agent) {
                let decided = decide(&policy, agent, tool, &command(tool, &line));
                assert_eq!(decided, test.expect, "{agent} {tool}: {line}");
            }
        }
    }
    assert!(shells > 15 && commands > 15 * 10, "{shells} {commands}");
}

#[test]
fn secrets_are_denied_under_every_name_of_a_file_tool() {
    let policy = policy();
    for (agent, tool, kind) in ToolKind::table() {
        if !matches!(kind, ToolKind::Read | ToolKind::Write | ToolKind::Edit) {
            continue;
        }
        for path in ["/home/ada/.ssh/id_ed25519", "/home/ada/engine/.env", ".env"] {
            for (input, agent) in file(path).iter().zip(callers(agent).iter().cycle()) {
                let decided = decide(&policy, agent, tool, input);
                assert_eq!(decided, RuleDecision::Deny, "{agent} {tool} {input}");
            }
        }
    }
}

/// The files that hold the gate of each agent are guarded, in the user's home and in projects: some
/// agents let a project's file replace the user's.
#[test]
fn the_settings_of_every_agent_are_guarded() {
    let guarded = GuardedSet::new(HOME);
    for agent in AGENTS {
        let place = &agent.settings;
        let own = place.files.iter().map(|file| format!("{HOME}/{}/{file}", place.folder));
        let project = place
            .project_files
            .iter()
            .filter_map(|file| Some(format!("{PROJECT}/{}/{file}", place.project_folder?)));
        for path in own.chain(project) {
            for tool in ["Write", "write", "write_file", "create", "file_editor"] {
                let input = json!({ "path": path, "command": "create", "content": "x" });
                let act = Act::from_call(tool, &input.to_string(), PROJECT, agent.id, HOME);
                assert!(guarded.touches(&act).is_some(), "{agent:?}: {tool} {path}");
            }
            let input = json!({ "command": format!("echo x > {path}") }).to_string();
            let act = Act::from_call("Bash", &input, PROJECT, agent.id, HOME);
            assert!(guarded.touches(&act).is_some(), "{agent:?}: {path}");
        }
    }
}
