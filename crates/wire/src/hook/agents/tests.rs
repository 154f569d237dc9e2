//! The profiles, held against what the real agents were seen to do.

use std::fmt::Write;

use expect_test::expect;
use serde_json::{Value, json};

use super::*;
use crate::approval::{AnswerExtra, ApprovalResponse, RequestId};
use crate::hook::{AgentHookInput, bare_input, call_refusal, render_response};

const INPUTS: &str = include_str!("../../../tests/data/agents/inputs.ndjson");
const ANSWERS: &str = include_str!("../../../tests/data/agents/answers.ndjson");
const ID: &str = "550e8400-e29b-41d4-a716-446655440000";

fn recorded(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn agent_of(line: &Value) -> &'static AgentProfile {
    AgentProfile::find(line["agent"].as_str().unwrap()).unwrap()
}

/// Returns what the hook reads for a recorded input: our plugins rewrite it, and Amp gives less.
fn given(line: &Value) -> String {
    let stdin = &line["stdin"];
    let call = &stdin["input"];
    let event = line["event"].as_str().unwrap();
    match line["agent"].as_str().unwrap() {
        "opencode" | "kilo" => {
            let is_before = event == "tool.execute.before";
            let args = if is_before { &stdin["output"]["args"] } else { &call["args"] };
            let event = if is_before { "PreToolUse" } else { "PostToolUse" };
            json!({ "hook_event_name": event, "session_id": call["sessionID"], "cwd": "/home/you/project",
                "tool_name": call["tool"], "tool_input": args, "tool_use_id": call["callID"] })
            .to_string()
        }
        "pi" => json!({ "hook_event_name": "PreToolUse", "cwd": "/home/you/project",
            "tool_name": stdin["toolName"], "tool_input": call, "tool_use_id": stdin["toolCallId"] })
        .to_string(),
        "amp" => {
            let tool = line["env"]["AGENT_TOOL_NAME"].as_str().unwrap().to_owned();
            String::from_utf8(bare_input(Some(tool), stdin.to_string().as_bytes()).unwrap()).unwrap()
        }
        _ => stdin.to_string(),
    }
}

/// What `callgate doctor` gives to hooks is what the agents gave. Claude Code was recorded in
/// another folder, with another command.
#[test]
fn every_agent_has_a_recorded_call() {
    let calls = recorded(RECORDED_CALLS);
    assert_eq!(calls.len(), AGENTS.len());
    let claude = include_str!("../../../tests/data/hooks-2.1.325.ndjson");
    for (agent, call) in AGENTS.into_iter().zip(&calls) {
        assert_eq!(call["agent"], agent.word);
        let text = call["stdin"].to_string();
        assert!(text.contains(RECORDED_COMMAND), "{text}");
        let members =
            |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        if *agent == CLAUDE {
            let is_check = |line: &&Value| line["stdin"]["hook_event_name"] == "PreToolUse";
            let seen = recorded(claude);
            let seen = &seen.iter().find(is_check).unwrap()["stdin"];
            assert_eq!(members(seen), members(&call["stdin"]));
        } else {
            let is_it = |line: &Value| match agent.input {
                InputForm::Bare { tool } => {
                    line["stdin"] == call["stdin"] && line["env"][tool] == call["env"][tool]
                }
                InputForm::Object { .. } => {
                    serde_json::from_str::<Value>(&given(line)).unwrap() == call["stdin"]
                }
            };
            let lines = recorded(INPUTS);
            assert!(lines.iter().any(|it| agent_of(it) == agent && is_it(it)), "{call}");
        }
    }
}

#[test]
fn recorded_inputs_become_requests() {
    let mut told = String::new();
    for line in recorded(INPUTS) {
        let (agent, text) = (agent_of(&line), given(&line));
        let read = match AgentHookInput::from_bytes(text.as_bytes(), Some(agent)) {
            Ok(read) if read.event() != AgentHookEvent::Other => read,
            Ok(_) | Err(_) => {
                writeln!(told, "{}: {} is not handled", agent.id, line["event"]).unwrap();
                continue;
            }
        };
        read.check_exact().unwrap();
        let request = read.request(RequestId::parse(ID).unwrap()).unwrap();
        let context = request.context.unwrap();
        let has_session = !request.session_id.is_empty();
        let id = context.tool_use_id.is_some();
        writeln!(
            told,
            "{}: {} {} {} in {}, session {has_session}, id {id}, takes {:?}",
            request.agent.unwrap(),
            context.event.unwrap(),
            request.tool_name,
            request.tool_input,
            request.cwd,
            context.takes.unwrap_or_default(),
        )
        .unwrap();
    }
    expect![[r#"
        amp: PreToolUse Bash {"cmd":"touch made"} in , session false, id false, takes []
        cline: PreToolUse run_commands {"commands":["touch made"]} in /home/you/project, session true, id true, takes [Edit]
        cline: PostToolUse run_commands {"commands":["touch made"]} in /home/you/project, session true, id true, takes []
        codex: PreToolUse Bash {"command":"touch made"} in /home/you/project, session true, id true, takes []
        codex: PermissionRequest Bash {"command":"touch made","description":"may I?"} in /home/you/project, session true, id false, takes []
        codex: PostToolUse Bash {"command":"touch made"} in /home/you/project, session true, id true, takes []
        codex: Stop Stop {} in /home/you/project, session true, id false, takes []
        codex: SessionEnd SessionEnd {"reason":"other"} in /home/you/project, session true, id false, takes []
        codex: PreToolUse mcp__toy__note {"text":"hi"} in /home/you/project, session true, id true, takes []
        codex: PermissionRequest mcp__toy__note {"text":"hi"} in /home/you/project, session true, id false, takes []
        codex: Stop Stop {} in /home/you/project, session true, id false, takes []
        codex: SessionEnd SessionEnd {"reason":"other"} in /home/you/project, session true, id false, takes []
        copilot: "sessionStart" is not handled
        copilot: "userPromptSubmitted" is not handled
        copilot: PreToolUse bash {"command":"touch made","description":"fake"} in /home/you/project, session true, id false, takes [Edit]
        copilot: PermissionRequest bash {"command":"touch made"} in /home/you/project, session true, id false, takes [Interrupt]
        copilot: Notification Notification {"message":"Run command: touch made","title":"Permission needed","notification_type":"permission_prompt"} in /home/you/project, session true, id false, takes []
        copilot: Stop Stop {} in /home/you/project, session true, id false, takes []
        copilot: SessionEnd SessionEnd {"reason":"complete"} in /home/you/project, session true, id false, takes []
        copilot: PreToolUse Bash {"command":"touch made","description":"fake"} in /home/you/project, session true, id false, takes []
        copilot: PermissionRequest bash {"command":"touch made"} in /home/you/project, session true, id false, takes [Interrupt]
        droid: PreToolUse Execute {"command":"touch made","summary":"fake","riskLevelReason":"fake","riskLevel":"low"} in /home/you/project, session true, id false, takes [Edit]
        droid: PreToolUse Execute {"command":"touch made","summary":"make a file","riskLevelReason":"make a file","riskLevel":"low"} in /home/you/project, session true, id false, takes [Edit]
        droid: PreToolUse Create {"file_path":"/home/you/project/made","content":"x"} in /home/you/project, session true, id false, takes [Edit]
        droid: PreToolUse Edit {"file_path":"/home/you/project/made","old_str":"a","new_str":"b"} in /home/you/project, session true, id false, takes [Edit]
        droid: PreToolUse Read {"file_path":"/etc/hostname"} in /home/you/project, session true, id false, takes [Edit]
        gemini: "SessionStart" is not handled
        gemini: PreToolUse run_shell_command {"command":"touch made"} in /home/you/project, session true, id false, takes [Edit]
        gemini: PostToolUse run_shell_command {"command":"touch made"} in /home/you/project, session true, id false, takes []
        gemini: Stop Stop {} in /home/you/project, session true, id false, takes []
        gemini: SessionEnd SessionEnd {"reason":"exit"} in /home/you/project, session true, id false, takes []
        gemini: "SessionStart" is not handled
        gemini: PreToolUse run_shell_command {"command":"touch made"} in /home/you/project, session true, id false, takes [Edit]
        gemini: Notification Notification {"message":"Tool Confirm Shell Command requires execution","notification_type":"ToolPermission"} in /home/you/project, session true, id false, takes []
        goose: PreToolUse shell {"command":"touch made"} in /home/you/project, session true, id true, takes []
        goose: PreToolUse write {"path":"/home/you/project/made","content":"x"} in /home/you/project, session true, id true, takes []
        goose: PreToolUse edit {"path":"/home/you/project/made","before":"a","after":"b"} in /home/you/project, session true, id true, takes []
        goose: PreToolUse tree {"path":"/home/you/project"} in /home/you/project, session true, id true, takes []
        grok: PreToolUse run_terminal_command {"command":"touch made","description":"make a file"} in /home/you/project, session true, id true, takes [Edit]
        grok: PreToolUse write {"file_path":"/home/you/project/made","content":"x"} in /home/you/project, session true, id true, takes [Edit]
        grok: PreToolUse read_file {"target_file":"/etc/hostname"} in /home/you/project, session true, id true, takes [Edit]
        grok: PreToolUse search_replace {"file_path":"/home/you/project/made","old_string":"","new_string":"hi"} in /home/you/project, session true, id true, takes [Edit]
        kilo: PreToolUse bash {"command":"touch made"} in /home/you/project, session true, id true, takes [Edit]
        kilo: PostToolUse bash {"command":"touch made"} in /home/you/project, session true, id true, takes []
        kimi: PreToolUse Bash {"command":"touch made"} in /home/you/project, session true, id true, takes []
        kimi: PostToolUse Bash {"command":"touch made"} in /home/you/project, session true, id true, takes []
        opencode: PreToolUse bash {"command":"touch made"} in /home/you/project, session true, id true, takes [Edit]
        opencode: PostToolUse bash {"command":"touch made"} in /home/you/project, session true, id true, takes []
        openhands: PreToolUse terminal {"command":"touch made","is_input":false,"timeout":null,"reset":false,"kind":"TerminalAction"} in /home/you/project, session true, id false, takes []
        openhands: PreToolUse file_editor {"command":"create","path":"/home/you/project/made","file_text":"x","old_str":null,"new_str":null,"insert_line":null,"view_range":null,"kind":"FileEditorAction"} in /home/you/project, session true, id false, takes []
        pi: PreToolUse bash {"command":"touch made"} in /home/you/project, session false, id true, takes [Edit]
        pi: PreToolUse write {"path":"/home/you/project/made","content":"x"} in /home/you/project, session false, id true, takes [Edit]
        pi: PreToolUse edit {"path":"/home/you/project/made","edits":[{"oldText":"a","newText":"b"}]} in /home/you/project, session false, id true, takes [Edit]
        pi: PreToolUse read {"path":"/etc/hostname"} in /home/you/project, session false, id true, takes [Edit]
        qwen: Notification Notification {"message":"Successfully authenticated with openai","title":"Authentication successful","notification_type":"auth_success"} in /home/you/project, session true, id false, takes []
        qwen: PreToolUse run_shell_command {"command":"touch made "} in /home/you/project, session true, id true, takes []
        qwen: PostToolUse run_shell_command {"command":"touch made "} in /home/you/project, session true, id true, takes []
        qwen: Stop Stop {} in /home/you/project, session true, id false, takes []
    "#]].assert_eq(&told);
}

/// Returns the answer of a hook that is asked about `input` by an agent, with what the desk says.
fn answered(agent: &'static AgentProfile, input: &Value, said: &str) -> HookReply {
    let event = agent.before_tool_event();
    let text = json!({ "hook_event_name": event.name, "tool_name": "t", "tool_input": input, "prompt_id": "p" });
    let text = text.to_string();
    let as_claude = AgentHookInput::from_bytes(text.as_bytes(), Some(&CLAUDE)).unwrap();
    let mut request = as_claude.request(RequestId::parse(ID).unwrap()).unwrap();
    let takes = (event.takes.edit != EditAbility::None).then_some(AnswerExtra::Edit);
    request.context.as_mut().unwrap().takes = Some(takes.into_iter().collect());
    let response = format!(r#"{{"request_id":"{ID}",{said}}}"#);
    render_response(event, &request, &ApprovalResponse::decode(response.as_bytes()).unwrap())
}

fn printed(reply: HookReply) -> Option<Value> {
    match reply {
        HookReply::Line(line) => Some(serde_json::from_slice(&line).unwrap()),
        _ => None,
    }
}

/// The answers to the event before a tool runs that the real agents were given.
fn tried(agent: &AgentProfile) -> Vec<Value> {
    let names = [agent.before_tool_event().name, "PreToolUse", "BeforeTool"];
    let is_it = |line: &Value| {
        let event = line["event"].as_str().unwrap();
        line["agent"] == agent.id && names.contains(&event)
    };
    recorded(ANSWERS).into_iter().filter(is_it).collect()
}

/// Each form is one that the real agent has obeyed, letter by letter.
#[test]
fn every_form_was_obeyed() {
    let is_ours =
        |agent: &&AgentProfile| !matches!(agent.settings.format, SettingsFormat::Plugin(_));
    for agent in
        AGENTS.into_iter().filter(is_ours).filter(|agent| **agent != AMP && **agent != CLAUDE)
    {
        let tried = tried(agent);
        let denied = tried.iter().find(|line| {
            let reason = ["not on my watch", "no q", "no k", "no cl", "pre no", "no d"];
            let ours = |reason: &&str| printed(call_refusal(agent.before_tool_event(), reason));
            line["exit"] == 0 && reason.iter().any(|it| ours(it) == Some(line["stdout"].clone()))
        });
        let denied = denied.unwrap_or_else(|| panic!("no recorded deny of {agent:?} is ours"));
        assert_eq!(denied["command_ran"], "no", "{agent:?}");
        if agent.before_tool_event().takes.edit == EditAbility::None {
            let said = r#""decision":"allow","updated_input":{"command":"x"}"#;
            let reply = answered(agent, &json!({ "command": "a" }), said);
            let HookReply::Line(line) = reply else { panic!("{agent:?} would run the original") };
            assert!(String::from_utf8(line).unwrap().contains("cannot take"), "{agent:?}");
            continue;
        }
        let inputs = [
            json!({ "command": "touch rewritten" }),
            json!({ "commands": ["touch rewritten"] }),
            json!({ "command": "touch rewritten", "description": "x" }),
            json!({ "command": "touch rewritten", "description": "d" }),
        ];
        let is_ours = |line: &&Value| {
            let ours = |input: &Value| {
                let said = format!(r#""decision":"allow","updated_input":{input}"#);
                printed(answered(agent, input, &said))
            };
            inputs.iter().any(|input| ours(input) == Some(line["stdout"].clone()))
        };
        let edited = tried.iter().find(is_ours);
        let edited = edited.unwrap_or_else(|| panic!("no recorded edit of {agent:?} is ours"));
        assert_eq!(edited["command_ran"], "rewritten", "{agent:?}");
    }
}

/// What a profile says about a failed hook is what the real agent did.
#[test]
fn failures_are_as_they_were_seen() {
    for agent in AGENTS.into_iter().filter(|agent| **agent != CLAUDE) {
        // As the hooks of callgate are installed.
        let settings = match agent.word {
            "goose" => "on_failure",
            "copilot" => "hooks at both events",
            _ => "",
        };
        let ran = |is_it: &dyn Fn(&Value) -> bool| {
            let seen = tried(agent).into_iter().find(|line| {
                let mode = line["mode"].as_str().unwrap_or_default();
                mode.contains(settings) && is_it(line)
            });
            seen.map(|line| match line["command_ran"].as_str().unwrap() {
                "no" => CallFate::Denied,
                _ => CallFate::GoesOn,
            })
        };
        let note =
            |line: &Value, text: &str| line["note"].as_str().is_some_and(|it| it.contains(text));
        let no_output = |line: &Value| line["stdout"].is_null();
        let HookFailures { exit, exit_two, timeout, garbage, missing } = agent.failures;
        let seen = [
            (exit, ran(&|line| line["exit"] == 1 && no_output(line))),
            (
                exit_two,
                ran(&|line| line["exit"] == 2 && no_output(line) && line["stderr"].is_string()),
            ),
            (timeout, ran(&|line| note(line, "timeout"))),
            (garbage, ran(&|line| line["exit"] == 0 && line["stdout"].is_string())),
            (missing, ran(&|line| note(line, "does not exist"))),
        ];
        for (at, (said, seen)) in seen.into_iter().enumerate() {
            assert!(seen.is_none_or(|seen| seen == said), "{agent:?} {at}: {said:?} {seen:?}");
        }
    }
}

#[test]
fn every_profile_is_complete() {
    for agent in AGENTS {
        let check = agent.before_tool_event();
        assert_eq!(check.event, AgentHookEvent::PreToolUse, "{agent:?}");
        assert_eq!(check.name, agent.events[0].name, "{agent:?}");
        assert!(check.takes.deny && check.takes.reason, "{agent:?}");
        for event in agent.events.iter().filter(|event| event.event.decides()) {
            assert!(event.limit.is_none_or(|limit| limit > SHORT), "{agent:?} {}", event.name);
        }
        assert_eq!(AgentProfile::find(agent.word), Some(agent));
        assert_eq!(AgentProfile::find(agent.id), Some(agent));
        if let SettingsFormat::Plugin(text) = agent.settings.format {
            assert_eq!(text.matches(PLUGIN_COMMAND).count(), 1, "{agent:?}");
        }
        // A refusal is never silence, nor a line that an agent takes for something else.
        let refused = call_refusal(check, "no");
        let is_line = matches!(&refused, HookReply::Line(line) if line.ends_with(b"}\n"));
        assert!(is_line || refused == HookReply::Refusal("no".to_owned()), "{agent:?} {refused:?}");
    }
}

/// What nobody decided is denied; what was changed is denied where the original would run.
#[test]
fn nothing_unclear_is_allowed() {
    for agent in AGENTS {
        let is_denied = |said: &str| {
            let reply = answered(agent, &json!({ "command": "a", "description": "d" }), said);
            match &reply {
                HookReply::Refusal(_) => true,
                HookReply::Line(line) => {
                    let line = String::from_utf8_lossy(line);
                    ["deny", "block", "\"cancel\":true"].iter().any(|word| line.contains(word))
                }
                HookReply::Nothing | HookReply::Undecided => false,
            }
        };
        assert!(is_denied(r#""decision":"deny""#), "{agent:?}");
        assert!(is_denied(r#""decision":"timeout""#), "{agent:?}");
        // Nobody sits at the agent's own dialog here.
        assert!(is_denied(r#""decision":"ask","message":"why""#), "{agent:?}");
        assert!(!is_denied(r#""decision":"allow""#), "{agent:?}");
        assert!(!is_denied(r#""decision":"none""#), "{agent:?}");
        let can_drop = matches!(
            agent.before_tool_event().takes.edit,
            EditAbility::Whole | EditAbility::WholeSince(_)
        );
        let dropped = r#""decision":"allow","updated_input":{"command":"b"}"#;
        assert_eq!(is_denied(dropped), !can_drop, "{agent:?}");
    }
}

#[test]
fn a_broken_input_is_a_call() {
    let part = |name: &str, event: &str| format!(r#"{{"x":1,"{name}":"{event}","tool_na"#);
    let glimpse =
        |agent: &AgentProfile, text: &str| agent.guess_event(text.as_bytes()).map(|it| it.event);
    let check = Some(AgentHookEvent::PreToolUse);
    assert_eq!(glimpse(&GEMINI, &part("hook_event_name", "BeforeTool")), check);
    assert_eq!(glimpse(&GOOSE, &part("event", "PreToolUse")), check);
    assert_eq!(glimpse(&OPENHANDS, &part("event_type", "PreToolUse")), check);
    assert_eq!(glimpse(&CLINE, &part("hookName", "tool_call")), check);
    assert_eq!(
        glimpse(&GEMINI, &part("hook_event_name", "ConfigChange")),
        Some(AgentHookEvent::Other)
    );
    assert_eq!(glimpse(&AMP, "{"), check);
    assert_eq!(glimpse(&COPILOT, r#"{"toolName":"bash","toolArgs":{"#), None);
}

/// A call under the word of another agent is a call, in the form of the event that it names.
#[test]
fn a_call_under_a_wrong_word_is_a_call() {
    let text = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#;
    for agent in AGENTS
        .into_iter()
        .filter(|agent| !matches!(agent.word, "goose" | "cline" | "openhands" | "amp"))
    {
        let read = AgentHookInput::from_bytes(text.as_bytes(), Some(agent)).unwrap();
        assert_eq!(read.event(), AgentHookEvent::PreToolUse, "{agent:?}");
        assert!(matches!(call_refusal(read.known_event(), "no"), HookReply::Line(_)), "{agent:?}");
    }
    let report = text.replace("PreToolUse", "ConfigChange");
    let read = AgentHookInput::from_bytes(report.as_bytes(), Some(&GEMINI)).unwrap();
    assert_eq!(read.event(), AgentHookEvent::Other);
}

/// Grok marks an input of which it gives only a part. What is left out cannot be judged.
#[test]
fn a_part_of_an_input_is_refused() {
    let text = r#"{"hook_event_name":"PreToolUse","tool_name":"write","tool_input":{},"toolInputTruncated":true}"#;
    for agent in [&GROK, &CLAUDE] {
        let read = AgentHookInput::from_bytes(text.as_bytes(), Some(agent)).unwrap();
        let refused = read.request(RequestId::parse(ID).unwrap()).unwrap_err();
        assert_eq!(refused.to_string(), "it has only a part of the tool's input");
    }
}

#[test]
fn a_name_twice_is_refused() {
    for (agent, text) in [
        (&GOOSE, r#"{"event":"PreToolUse","tool_name":"shell","cwd":"/a","working_dir":"/b"}"#),
        (&KIMI, r#"{"hook_event_name":"PreToolUse","tool_name":"a","tool_name":"b"}"#),
        (&COPILOT, r#"{"toolName":"a","toolArgs":{},"toolInput":{}}"#),
    ] {
        let read = AgentHookInput::from_bytes(text.as_bytes(), Some(agent)).unwrap();
        assert!(read.check_exact().is_err(), "{agent:?}");
    }
}

const GUIDE: &str = include_str!("../../../../../docs/guide/agents.md");

fn guide_table() -> String {
    let yes = |is: bool| if is { "yes" } else { "no" };
    let mut table = "\
| agent | `--agent` | where the hook is | allow | deny | edit | stop | always | nobody answers | hook killed, late, garbled, missing |
|---|---|---|---|---|---|---|---|---|---|
"
    .to_owned();
    for agent in AGENTS {
        let AgentProfile { settings, failures, .. } = agent;
        let asks =
            agent.events.iter().filter(|event| event.event.decides() && event.limit.is_some());
        let asks: Vec<&HookEventProfile> = asks.collect();
        let any =
            |has: &dyn Fn(&AnswerAbilities) -> bool| asks.iter().any(|event| has(&event.takes));
        let fate = |fate: CallFate| match fate {
            CallFate::GoesOn => "runs",
            CallFate::Asked => "asks",
            CallFate::Denied => "denied",
        };
        let fates = [failures.exit, failures.timeout, failures.garbage, failures.missing].map(fate);
        let same = fates.iter().all(|one| *one == fates[0]);
        let fates = if same { fates[0].to_owned() } else { fates.join(", ") };
        let edit = match agent.before_tool_event().takes.edit {
            EditAbility::None => any(&|takes| takes.edit != EditAbility::None),
            _ => true,
        };
        writeln!(
            table,
            "| {} | `{}` | `~/{}/{}` | {} | {} | {} | {} | {} | denied | {fates} |",
            agent.name,
            agent.word,
            settings.folder,
            settings.files[0],
            yes(any(&|takes| takes.allow)),
            yes(any(&|takes| takes.deny)),
            yes(edit),
            yes(any(&|takes| takes.interrupt)),
            yes(any(&|takes| takes.always)),
        )
        .unwrap();
    }
    table
}

/// The guide says what the profiles say, which is what was seen.
#[test]
fn the_guide_has_the_table() {
    let table = guide_table();
    assert!(GUIDE.contains(&table), "docs/guide/agents.md should have:\n{table}");
}
