//! Every agent at the hook: calls as the real agents gave them, and answers in the forms that they
//! obeyed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use callgate_testkit::process::{DEADLINE, run};
use callgate_wire::hook::AgentProfile;
use callgate_wire::hook::agents::{
    AGENTS, AMP, CLAUDE, EditAbility, PLUGIN_COMMAND, SettingsFormat,
};
use serde_json::{Value, json};

use crate::fixture::{Ended, Stage, answered_by, write};

const INPUTS: &str = include_str!("../../crates/wire/tests/data/agents/inputs.ndjson");
const RULES: &str = "[[rule]]\nname = \"no-touching\"\ndecide = \"deny\"\n\
                     command = \"touch made\"\nreason = \"not on my watch\"\n";

/// An agent, its recorded call, and the variables that it sets.
type RecordedCall = (&'static AgentProfile, Value, Vec<(&'static str, &'static str)>);

/// Returns the agents, each with the first recorded call of a shell, as the hook is given it.
fn calls() -> Vec<RecordedCall> {
    let recorded: Vec<Value> =
        INPUTS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |agent: &'static AgentProfile| {
        let line = recorded.iter().find(|line| {
            let stdin = line["stdin"].to_string();
            line["agent"] == agent.id && stdin.contains("touch made") && !stdin.contains("@@")
        });
        let stdin =
            line.unwrap_or_else(|| panic!("no recorded call of {agent:?}"))["stdin"].clone();
        match agent.word {
            "opencode" | "kilo" => {
                (agent, of_plugin(&stdin["input"], &stdin["output"]["args"]), vec![])
            }
            "pi" => {
                let call = json!({ "tool": stdin["toolName"], "callID": stdin["toolCallId"] });
                (agent, of_plugin(&call, &stdin["input"]), vec![])
            }
            "amp" => (agent, stdin, vec![("AGENT_TOOL_NAME", "Bash")]),
            _ => (agent, stdin, vec![]),
        }
    };
    AGENTS.into_iter().filter(|agent| **agent != CLAUDE).map(of).collect()
}

fn of_plugin(call: &Value, args: &Value) -> Value {
    json!({ "hook_event_name": "PreToolUse", "session_id": call["sessionID"], "cwd": "/home/you/project",
        "tool_name": call["tool"], "tool_input": args, "tool_use_id": call["callID"] })
}

fn hook(stage: &Stage, agent: &AgentProfile, variables: &[(&str, &str)]) -> Command {
    let mut command = stage.command(&["hook", "--agent", agent.word]);
    command.envs(variables.iter().copied());
    command
}

/// The agent does not run the call, and the model or the user reads this.
#[track_caller]
fn assert_denied(agent: &AgentProfile, ended: &Ended, reason: &str) {
    let said = if *agent == AMP {
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{agent:?}");
        ended.stderr.clone()
    } else {
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{agent:?} {ended:?}");
        let line: Value = serde_json::from_str(&ended.stdout).unwrap();
        let is_denied = line["cancel"] == true
            || ["deny", "block"].iter().any(|word| {
                line["decision"] == *word
                    || line["permissionDecision"] == *word
                    || line["hookSpecificOutput"]["permissionDecision"] == *word
            });
        assert!(is_denied, "{agent:?} {line}");
        ended.stdout.clone()
    };
    assert!(said.contains(reason), "{agent:?} {said}");
}

#[test]
fn the_desk_of_every_agent_is_told_what_is_about_to_run() {
    for (agent, call, variables) in calls() {
        let stage = Stage::new();
        let desk = stage.desk();
        let running = stage.start(hook(&stage, agent, &variables), call.to_string());
        let mut asked = desk.accept();
        let request = asked.request();
        assert_eq!(request["kind"], "check", "{request}");
        assert_eq!(request["agent"], agent.id, "{request}");
        assert_eq!(request["context"]["event"], "PreToolUse", "{request}");
        assert!(request["tool_input"].to_string().contains("touch made"), "{request}");
        assert_ne!(request["session_id"], "", "{request}");
        assert_ne!(request["cwd"], "", "{request}");
        let takes_edit = request["context"]["takes"].to_string().contains("edit");
        assert_eq!(
            takes_edit,
            agent.before_tool_event().takes.edit != EditAbility::None,
            "{request}"
        );
        asked.answer(r#""decision":"none""#);
        let ended = running.end();
        // No decision is what an agent takes for "go on as without a hook".
        let expected = match agent.settings.format {
            SettingsFormat::Plugin(_) => (Some(0), "{\"decision\":\"none\"}\n"),
            SettingsFormat::DelegateRule => (Some(1), ""),
            _ => (Some(0), ""),
        };
        assert_eq!((ended.code, ended.stdout.as_str()), expected, "{agent:?}");
    }
}

#[test]
fn every_agent_is_answered_in_its_form() {
    for (agent, call, variables) in calls() {
        let answered = |fields: &str| {
            let stage = Stage::new();
            answered_by(&stage, hook(&stage, agent, &variables), &call.to_string(), fields)
        };
        let denied = answered(r#""decision":"deny","message":"not on my watch""#);
        assert_denied(agent, &denied, "not on my watch");
        let nobody = answered(r#""decision":"timeout""#);
        assert_denied(agent, &nobody, "nobody answered in time");
        let allowed = answered(r#""decision":"allow""#);
        assert_eq!((allowed.code, allowed.stderr.as_str()), (Some(0), ""), "{agent:?}");
        assert!(!allowed.stdout.contains("deny") && !allowed.stdout.contains("true"), "{agent:?}");
        // The changed input has every member that the original has.
        let edited = call.to_string().replace("touch made", "touch other");
        let edited: Value = serde_json::from_str(&edited).unwrap();
        let members = ["tool_input", "toolArgs"].into_iter().map(|name| edited[name].clone());
        let input = members.chain([edited["tool_call"]["input"].clone(), edited.clone()]);
        let input = input.into_iter().find(|input| !input.is_null()).unwrap();
        let changed = answered(&format!(r#""decision":"allow","updated_input":{input}"#));
        match agent.before_tool_event().takes.edit {
            EditAbility::None => assert_denied(agent, &changed, "cannot take"),
            _ => assert!(changed.stdout.contains("touch other"), "{agent:?} {changed:?}"),
        }
    }
}

#[test]
fn rules_hold_for_every_agent_without_a_desk() {
    for (agent, call, variables) in calls() {
        let stage = Stage::new();
        let folder = stage.folder.path().join(".config/callgate");
        fs::create_dir_all(&folder).unwrap();
        let run = |rules: &str, settings: &str| {
            fs::write(folder.join("rules.toml"), rules).unwrap();
            fs::write(folder.join("config.toml"), settings).unwrap();
            stage.start(hook(&stage, agent, &variables), call.to_string()).end()
        };
        assert_denied(agent, &run(RULES, ""), "not on my watch");
        let left = run("", "");
        assert!(!left.stdout.contains("deny") && left.code != Some(2), "{agent:?} {left:?}");
        let this = format!("[gate.agents.{}]\nwhen_absent = \"deny\"\n", agent.word);
        assert_denied(agent, &run("", &this), "No rule allows this");
        let general = "[gate]\nwhen_absent = \"deny\"\n";
        assert_denied(agent, &run("", general), "No rule allows this");
        let but_this = format!("{general}[gate.agents.{}]\nwhen_absent = \"agent\"\n", agent.word);
        assert_eq!(run("", &but_this), left, "{agent:?}");
    }
}

#[test]
fn input_that_cannot_be_read_is_a_deny_for_every_agent() {
    for (agent, call, variables) in calls() {
        let stage = Stage::new();
        let (text, half) = (call.to_string(), call.to_string().len() / 2);
        for broken in [&text[..half], "{", "[]", ""] {
            let ended = stage.start(hook(&stage, agent, &variables), broken).end();
            let is_refused = ended.code == Some(2) && !ended.stderr.is_empty();
            if is_refused {
                // Cline goes on after an exit code of 2.
                assert_ne!(agent.word, "cline", "{ended:?}");
            } else {
                assert_denied(agent, &ended, "callgate cannot check this call");
            }
        }
        let wrong = stage.command(&["hook", "--agent", agent.word, "--fast"]);
        let ended = stage.start(wrong, text).end();
        assert!(ended.code == Some(2) || !ended.stdout.is_empty(), "{agent:?} {ended:?}");
    }
}

/// Grok runs the hooks in Claude Code's settings, with its own names of tools.
#[test]
fn a_rule_holds_under_the_hook_of_another_agent() {
    let (_, call, _) = calls().into_iter().find(|(agent, ..)| agent.word == "grok").unwrap();
    assert_eq!(call["tool_name"], "run_terminal_command");
    let stage = Stage::new();
    let rules = write(&stage, "rules.toml", RULES);
    let arguments = ["hook", "--agent", "claude", "--rules", rules.to_str().unwrap()];
    for variables in [&[][..], &[("GROK_HOOK_EVENT", "pre_tool_use")]] {
        let mut command = stage.command(&arguments);
        command.envs(variables.iter().copied());
        stage.start(command, call.to_string()).end().denied("not on my watch");
    }
}

/// Copilot gives the hooks in Claude Code's settings its own form at one event, and wants its own
/// answer to it.
#[test]
fn a_hook_answers_the_agent_that_runs_it() {
    let own = json!({ "hookName": "permissionRequest", "sessionId": "s", "cwd": "/work", "toolName": "bash",
        "toolInput": {"command": "ls"}, "permissionSuggestions": [] });
    let stage = Stage::new();
    let mut command = stage.command(&["hook", "--agent", "claude"]);
    command.env("COPILOT_CLI", "1");
    let ended =
        answered_by(&stage, command, &own.to_string(), r#""decision":"deny","message":"no""#);
    ended.printed("{\"behavior\":\"deny\",\"message\":\"no\"}\n");
    // Without an answer it asks its user; a failed hook would be a no.
    let mut command = stage.command(&["hook", "--agent", "copilot"]);
    command.env("COPILOT_CLI", "1");
    fs::remove_file(&stage.socket).unwrap();
    stage.start(command, own.to_string()).end().printed("");
    // Claude Code started by Copilot's shell is still Claude Code.
    let claude = json!({ "hook_event_name": "PermissionRequest", "session_id": "s", "cwd": "/work",
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "prompt_id": "p" });
    let stage = Stage::new();
    let mut command = stage.command(&["hook", "--agent", "claude"]);
    command.env("COPILOT_CLI", "1");
    let ended = answered_by(&stage, command, &claude.to_string(), r#""decision":"allow""#);
    assert!(ended.stdout.contains(r#""hookEventName":"PermissionRequest""#), "{ended:?}");
}

/// The hook gives up some seconds before the agent would.
#[test]
fn the_hook_gives_up_before_the_agent() {
    let (_, call, _) = calls().into_iter().find(|(agent, ..)| agent.word == "kimi").unwrap();
    let stage = Stage::new().patience(3600, 600);
    let desk = stage.desk();
    let running = stage.start(stage.command(&["hook", "--agent", "kimi"]), call.to_string());
    let mut asked = desk.accept();
    assert_eq!(asked.request()["context"]["timeout_seconds"], 590);
    asked.answer(r#""decision":"none""#);
    running.end().printed("");
}

/// Runs a plugin as its agent would, with node, against a program in place of the hook. Returns what
/// came of the call: the error, or the input that runs.
fn plugin(agent: &AgentProfile, hook: &[&str]) -> Result<String, String> {
    let SettingsFormat::Plugin(text) = agent.settings.format else { panic!("{agent:?}") };
    let stage = Stage::new();
    let text = text.replace(PLUGIN_COMMAND, &json!(hook).to_string());
    // Node reads plain JavaScript under this ending.
    write(&stage, "plugin.mjs", &text);
    let script = if agent.word == "pi" {
        r#"import load from "./plugin.mjs";
        const on = {}, call = { toolName: "bash", toolCallId: "c", input: { command: "touch made", timeout: 5 } };
        load({ on: (name, handler) => (on[name] = handler) });
        on.tool_call(call, { cwd: "/work" }).then(
          () => console.log("runs " + JSON.stringify(call.input)), (error) => console.log("throws " + error.message));"#
    } else {
        r#"import { Callgate } from "./plugin.mjs";
        const hooks = await Callgate({ directory: "/work" }), args = { command: "touch made", timeout: 5 }, output = { args };
        hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, output).then(
          () => console.log("runs " + JSON.stringify(args)), (error) => console.log("throws " + error.message));"#
    };
    write(&stage, "run.mjs", script);
    let mut node = Command::new("node");
    node.arg("run.mjs").current_dir(stage.folder.path());
    let said = run(node, DEADLINE).success().stdout;
    match said.trim_end().split_once(' ') {
        Some(("runs", input)) => Ok(input.to_owned()),
        Some(("throws", why)) => Err(why.to_owned()),
        _ => panic!("{said}"),
    }
}

#[test]
fn a_plugin_throws_unless_the_hook_lets_the_call_run() {
    if Command::new("node").arg("--version").output().is_err() {
        eprintln!("skipped: there is no node");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\ncat > {}/seen\n{text}\n", folder.path().display()))
            .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let original = r#"{"command":"touch made","timeout":5}"#;
    let cases = [
        ("none", r#"echo '{"decision":"none"}'"#, Ok(original)),
        ("allow", r#"echo '{"decision":"allow"}'"#, Ok(original)),
        (
            "edit",
            r#"echo '{"decision":"allow","input":{"command":"touch other"}}'"#,
            Ok(r#"{"command":"touch other"}"#),
        ),
        (
            "deny",
            r#"echo '{"decision":"deny","reason":"not on my watch"}'"#,
            Err("not on my watch"),
        ),
        ("fails", "echo broken >&2; exit 1", Err("broken")),
        ("two", "exit 2", Err("callgate's hook ended with 2")),
        ("killed", "kill -9 $$", Err("callgate's hook ended with null")),
        ("silent", "exit 0", Err("Unexpected end of JSON input")),
        ("garbage", "echo hello", Err("Unexpected token")),
        ("half", "printf '{\"decision\":'", Err("Unexpected end of JSON input")),
        ("other", r#"echo '{"permissionDecision":"allow"}'"#, Err("callgate denied this.")),
        ("null", "echo null", Err("null")),
    ];
    for word in ["opencode", "kilo", "pi"] {
        let agent = AgentProfile::find(word).unwrap();
        for (name, text, expected) in cases {
            let program = program(name, text);
            match (plugin(agent, &[&program, "--agent", word]), expected) {
                (Ok(input), Ok(expected)) => assert_eq!(input, expected, "{word} {name}"),
                (Err(why), Err(expected)) => {
                    assert!(why.contains(expected), "{word} {name}: {why}");
                }
                (other, _) => panic!("{word} {name}: {other:?}"),
            }
            let seen: Value =
                serde_json::from_str(&fs::read_to_string(folder.path().join("seen")).unwrap())
                    .unwrap();
            assert_eq!(seen["hook_event_name"], "PreToolUse", "{word}");
            assert_eq!(
                seen["tool_input"],
                json!({ "command": "touch made", "timeout": 5 }),
                "{word}"
            );
            assert_eq!(
                (&seen["cwd"], &seen["tool_use_id"]),
                (&json!("/work"), &json!("c")),
                "{word}"
            );
        }
        let missing = plugin(agent, &["/nonexistent/callgate-hook"]).unwrap_err();
        assert!(missing.contains("ENOENT"), "{word}: {missing}");
        let hook =
            plugin(agent, &[env!("CARGO_BIN_EXE_callgate"), "hook", "--agent", word, "--fast"]);
        assert!(hook.unwrap_err().contains("unknown argument"), "{word}");
    }
}
