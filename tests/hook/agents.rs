//! Every agent at the hook: calls as the real agents gave them, and answers in the forms that they
//! obeyed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use callgate_testkit::process::{DEADLINE, run};
use callgate_wire::hook::AgentProfile;
use callgate_wire::hook::agents::{
    AMP, CLAUDE, EditAbility, OPENCODE, PLUGIN_COMMAND, RECORDED_CALLS, SettingsFormat,
};
use serde_json::{Value, json};

use crate::fixture::{Ended, Stage, answered_by, write};

const RULES: &str = "[[rule]]\nname = \"no-touching\"\ndecide = \"deny\"\n\
                     command = \"touch made\"\nreason = \"not on my watch\"\n";

/// An agent, its recorded call, and the variables that it sets.
type RecordedCall = (&'static AgentProfile, Value, Vec<(&'static str, &'static str)>);

/// Returns the agents, each with a recorded call of a shell, as the hook is given it.
fn calls() -> Vec<RecordedCall> {
    let of = |line: &'static str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let agent = AgentProfile::find(line["agent"].as_str().unwrap()).unwrap();
        let variables = if *agent == AMP { vec![("AGENT_TOOL_NAME", "Bash")] } else { vec![] };
        (agent, line["stdin"].clone(), variables)
    };
    RECORDED_CALLS.lines().map(of).filter(|(agent, ..)| **agent != CLAUDE).collect()
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

/// Runs a plugin as its agent would, with node, against a program in place of the hook. Returns
/// what came of the call: the error, or the input that runs.
fn plugin(agent: &AgentProfile, hook: &[&str]) -> Result<String, String> {
    let script = if agent.word == "pi" {
        r#"import load from "./plugin.mjs";
        const on = {}, call = { toolName: "bash", toolCallId: "c", input: { command: "touch made", timeout: 5 } };
        load({ on: (name, handler) => (on[name] = handler) });
        on.tool_call(call, { cwd: "/work" }).then(
          () => console.log("runs " + JSON.stringify(call.input)), (error) => console.log("throws " + error.message));"#
    } else {
        r#"import load from "./plugin.mjs";
        const hooks = await load({ directory: "/work" }), args = { command: "touch made", timeout: 5 }, output = { args };
        hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, output).then(
          () => console.log("runs " + JSON.stringify(args)), (error) => console.log("throws " + error.message));"#
    };
    run_plugin(agent, hook, script)
}

/// Runs a script of node that loads the plugin.
fn run_plugin(agent: &AgentProfile, hook: &[&str], script: &str) -> Result<String, String> {
    let SettingsFormat::Plugin(text) = agent.settings.format else { panic!("{agent:?}") };
    let stage = Stage::new();
    let text = text.replace(PLUGIN_COMMAND, &json!(hook).to_string());
    // Node reads plain JavaScript under this ending.
    write(&stage, "plugin.mjs", &text);
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

/// Writes a program in place of the hook, which keeps its input in the file `seen`.
fn fake_hook(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\ncat > {}/seen\n{text}\n", folder.display())).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// What a hook may do, and the error that the agent gets then, if there is one.
const HOOKS: [(&str, &str, Option<&str>); 11] = [
    ("none", r#"echo '{"decision":"none"}'"#, None),
    ("allow", r#"echo '{"decision":"allow"}'"#, None),
    ("deny", r#"echo '{"decision":"deny","reason":"not on my watch"}'"#, Some("not on my watch")),
    ("fails", "echo broken >&2; exit 1", Some("broken")),
    ("two", "exit 2", Some("callgate's hook ended with 2")),
    ("killed", "kill -9 $$", Some("callgate's hook ended with null")),
    ("silent", "exit 0", Some("Unexpected end of JSON input")),
    ("garbage", "echo hello", Some("Unexpected token")),
    ("half", "printf '{\"decision\":'", Some("Unexpected end of JSON input")),
    ("other", r#"echo '{"permissionDecision":"allow"}'"#, Some("callgate denied this.")),
    ("null", "echo null", Some("null")),
];
/// A hook that changes the input.
const EDIT: &str = r#"echo '{"decision":"allow","input":{"command":"touch other"}}'"#;

fn has_node() -> bool {
    let has_node = Command::new("node").arg("--version").output().is_ok();
    if !has_node {
        eprintln!("skipped: there is no node");
    }
    has_node
}

#[test]
fn a_plugin_throws_unless_the_hook_lets_the_call_run() {
    if !has_node() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let original = json!({ "command": "touch made", "timeout": 5 });
    for word in ["opencode", "kilo", "pi"] {
        let agent = AgentProfile::find(word).unwrap();
        for (name, text, error) in HOOKS {
            let program = fake_hook(folder.path(), name, text);
            match (plugin(agent, &[&program, "--agent", word]), error) {
                (Ok(input), None) => assert_eq!(input, original.to_string(), "{word} {name}"),
                (Err(why), Some(error)) => assert!(why.contains(error), "{word} {name}: {why}"),
                (other, _) => panic!("{word} {name}: {other:?}"),
            }
            let seen = seen_call(folder.path());
            assert_eq!(seen["hook_event_name"], "PreToolUse", "{word}");
            assert_eq!(seen["tool_input"], original, "{word}");
            let place = (&seen["cwd"], &seen["tool_use_id"]);
            assert_eq!(place, (&json!("/work"), &json!("c")), "{word}");
        }
        let edit = fake_hook(folder.path(), "edit", EDIT);
        assert_eq!(plugin(agent, &[&edit]).unwrap(), r#"{"command":"touch other"}"#, "{word}");
        let missing = plugin(agent, &["/nonexistent/callgate-hook"]).unwrap_err();
        assert!(missing.contains("ENOENT"), "{word}: {missing}");
        let hook =
            plugin(agent, &[env!("CARGO_BIN_EXE_callgate"), "hook", "--agent", word, "--fast"]);
        assert!(hook.unwrap_err().contains("unknown argument"), "{word}");
    }
}

/// Returns the call that a fake hook was given last.
fn seen_call(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("seen")).unwrap()).unwrap()
}

/// Loads the plugin as opencode 2 does by its documentation, which allows nothing else, and has it
/// evaluate a permission. Returns the effect that was there before, or the message of a deny.
fn evaluate(hook: &[&str], action: &str, resources: &Value) -> Result<String, String> {
    let script = r#"import assert from "node:assert";
        import plugin from "./plugin.mjs";
        const strict = (name, members) => new Proxy(members, {
          get: (_, key) => key in members ? members[key] : assert.fail(`${name} has no ${String(key)}`),
          set: (_, key) => assert.fail(`${name}.${String(key)} is set`),
        });
        const handlers = [];
        const hook = (...given) => {
          assert.deepEqual([given.length, given[0], typeof given[1]], [2, "evaluate", "function"]);
          handlers.push(given[1]);
        };
        assert.deepEqual([typeof plugin.id, plugin.id], ["string", "callgate"]);
        assert.equal(await plugin.setup(strict("context", { permission: strict("permission", { hook }) })), undefined);
        assert.equal(handlers.length, 1);
        const event = { effect: "ask", message: undefined };
        const fixed = Object.freeze({ sessionID: "s", agent: "build", action: ACTION, resources: Object.freeze(RESOURCES),
          metadata: Object.freeze({ timeout: 5 }), source: undefined });
        for (const key of Object.keys(fixed)) Object.defineProperty(event, key, { value: fixed[key], enumerable: true });
        assert.equal(await handlers[0](Object.seal(event)), undefined);
        if (event.effect === "deny") console.log("throws " + event.message);
        else console.log(assert.equal(event.message, undefined) ?? "runs " + event.effect);"#;
    let script = script.replace("ACTION", &json!(action).to_string());
    run_plugin(&OPENCODE, hook, &script.replace("RESOURCES", &resources.to_string()))
}

#[test]
fn the_plugin_denies_in_opencode_2_unless_the_hook_lets_the_call_run() {
    if !has_node() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let commands = json!(["touch made", "ls"]);
    for (name, text, error) in HOOKS {
        let program = fake_hook(folder.path(), name, text);
        match (evaluate(&[&program, "--agent", "opencode"], "bash", &commands), error) {
            // It may ask its user, as without callgate.
            (Ok(effect), None) => assert_eq!(effect, "ask", "{name}"),
            (Err(why), Some(error)) => assert!(why.contains(error), "{name}: {why}"),
            (other, _) => panic!("{name}: {other:?}"),
        }
        let seen = seen_call(folder.path());
        assert_eq!((&seen["tool_name"], &seen["session_id"]), (&json!("bash"), &json!("s")));
        assert_eq!(seen["tool_input"], json!({ "timeout": 5, "command": "touch made\nls" }));
        assert!(seen["cwd"].as_str().unwrap().starts_with('/'), "{seen}");
    }
    let edit = fake_hook(folder.path(), "edit", EDIT);
    let changed = evaluate(&[&edit], "bash", &commands).unwrap_err();
    assert!(changed.contains("cannot run a changed input"), "{changed}");
    let missing = evaluate(&["/nonexistent/callgate-hook"], "bash", &commands).unwrap_err();
    assert!(missing.contains("ENOENT"), "{missing}");
    let unreadable = evaluate(&[&edit], "bash", &Value::Null);
    assert!(unreadable.is_err(), "{unreadable:?}");
    // Each file is asked about, and so is a call that names none.
    let only_b =
        "grep -q '\"/b\"' SEEN && echo '{\"decision\":\"deny\"}' || echo '{\"decision\":\"none\"}'";
    let seen = folder.path().join("seen").display().to_string();
    let only_b = fake_hook(folder.path(), "only-b", &only_b.replace("SEEN", &seen));
    assert_eq!(evaluate(&[&only_b], "edit", &json!(["/a"])).unwrap(), "ask");
    assert!(evaluate(&[&only_b], "edit", &json!(["/a", "/b"])).is_err());
    let deny = fake_hook(folder.path(), "deny", HOOKS[2].1);
    assert!(evaluate(&[&deny], "todowrite", &json!([])).is_err());
}
