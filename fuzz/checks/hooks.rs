//! The input that agents give their hooks, and the answers of hooks.

use callgate_wire::approval::{ApprovalRequest, ApprovalResponse, Decision, RequestId};
use callgate_wire::hook::agents::{AGENTS, CODEX, SettingsFormat};
use callgate_wire::hook::{
    AgentHookEvent, AgentHookInput, AgentProfile, HookReply, MAX_WORDS, find_last_words,
    render_response,
};
use callgate_wire::raw::{Members, flatten_json};
use serde_json::Value;

use super::one_line;

const ID: &str = "550e8400-e29b-41d4-a716-446655440000";

/// Checks that any input is refused with a short text or becomes a request that the desk reads,
/// that every decision is one JSON object on one line, and that any transcript gives short texts or
/// none.
pub fn hook_input(data: &[u8]) {
    for from_start in [true, false] {
        for tool in [None, Some("Bash")] {
            let found = find_last_words(data, from_start, tool, from_start);
            let count = found.text.map_or(0, |text| text.chars().count());
            assert!(count <= MAX_WORDS, "{count} characters");
        }
    }
    for agent in AGENTS {
        let glimpsed = agent.guess_event(data);
        match AgentHookInput::from_bytes(data, Some(agent)) {
            Err(refusal) => assert!(refusal.to_string().len() < 100, "{refusal}"),
            Ok(input) => {
                assert_ne!(input.event().kind().is_some(), input.event() == AgentHookEvent::Other);
                // An escape in the name, or the same words elsewhere, may deceive. Copilot's input
                // does not name the event, and goose and others read Claude Code's name for it,
                // too.
                let may_hide =
                    data.contains(&b'\\') || !["claude", "codex", "qwen"].contains(&agent.word);
                assert!(glimpsed.is_some() || may_hide, "no glimpse of {input:?}");
                check_input(&input, agent, data);
            }
        }
    }
}

fn check_input(input: &AgentHookInput<'_>, agent: &AgentProfile, data: &[u8]) {
    let Some(id) = RequestId::parse(ID) else { panic!("{ID} is no id") };
    let request = match input.request(id) {
        Ok(request) => request,
        Err(refusal) => return assert!(refusal.to_string().len() < 100, "{refusal}"),
    };
    let line = request.to_line();
    one_line(&line);
    let Ok(read) = ApprovalRequest::decode(&line) else { panic!("the desk refuses {request:?}") };
    assert_eq!(read.context, request.context);
    assert_eq!(read.kind, input.event().kind().unwrap_or_default());
    if agent.word == "claude" {
        check_relayed(&request, data);
    }
    let decisions =
        [Decision::Allow, Decision::Deny, Decision::Timeout, Decision::Ask, Decision::None];
    for decision in decisions {
        check_answers(input, agent, &request, decision);
    }
}

/// What is only relayed keeps its bytes.
fn check_relayed(request: &ApprovalRequest, data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { panic!("read, but no UTF-8") };
    let Ok(members) = Members::from_text(text) else { panic!("read, but no object") };
    let relayed = request.tool_input.get();
    match members.get("tool_input") {
        Some(given) if given.is_object() && relayed.len() == given.get().len() => {
            assert_eq!(given.get(), relayed);
        }
        _ => assert!(relayed.starts_with('{'), "{relayed}"),
    }
}

fn check_answers(
    input: &AgentHookInput<'_>,
    agent: &AgentProfile,
    request: &ApprovalRequest,
    decision: Decision,
) {
    let mut response = ApprovalResponse::new(request.request_id.clone(), decision);
    for _ in 0..2 {
        let printed = render_response(input.known_event(), request, &response);
        let is_said = matches!(printed, HookReply::Line(_) | HookReply::Refusal(_));
        if input.event() == AgentHookEvent::PreToolUse {
            let is_passed = matches!(decision, Decision::None | Decision::Allow);
            assert!(is_passed || is_said, "silence is a yes");
            let is_plugin = matches!(agent.settings.format, SettingsFormat::Plugin(_));
            assert!(!is_plugin || is_said, "a plugin fails without an answer");
            assert!(*agent != CODEX || decision != Decision::None || !is_said, "nobody decided");
        } else {
            let is_decided = matches!(decision, Decision::Allow | Decision::Deny);
            assert!(is_decided || !is_said, "a decision by nobody");
        }
        if let HookReply::Line(mut line) = printed {
            assert!(one_line(&line).starts_with("{\""));
            flatten_json(&mut line);
            // Half of a surrogate pair is relayed, but not every parser accepts it.
            if !line.contains(&b'\\') {
                assert!(serde_json::from_slice::<Value>(&line).is_ok(), "no JSON");
            }
        }
        // Does the same with everything that an answer can contain.
        response.message = request.context.as_ref().and_then(|context| context.event.clone());
        response.updated_input = Some(request.tool_input.clone());
        response.updated_permissions.clone_from(&request.permission_suggestions);
        response.interrupt = true;
    }
}
