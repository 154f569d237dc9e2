//! GitHub Copilot CLI.

use std::borrow::Cow;

use super::super::form::{HookAnswer, HookReply, json_text, json_word, reply_line};
use super::claude::check_form;
use super::{
    AgentProfile, AgentSettingsPlace, AnswerAbilities, CallFate, EditAbility, HookEventProfile,
    HookFailures, InputForm, JsonHooks, LimitUnit, SettingsFormat, before_tool, decision_event,
    rename_members, silent_report,
};
use crate::hook::AgentHookEvent;
use crate::raw::{Json, Members};

/// GitHub Copilot CLI. It also runs the hooks in `.claude/settings.json`, and gives them the input
/// of Claude Code under the names of Claude Code's events.
pub static COPILOT: AgentProfile = AgentProfile {
    word: "copilot",
    id: "copilot",
    name: "Copilot CLI",
    programs: &["copilot"],
    mark: Some("COPILOT_CLI"),
    reads: &["claude"],
    input: InputForm::Object { event: EVENT, decode: decode_copilot_input },
    events: &[
        before_tool(
            "preToolUse",
            AnswerAbilities::ALLOW.with_edit(EditAbility::Merged),
            own_check_form,
        ),
        decision_event(
            "permissionRequest",
            AgentHookEvent::PermissionRequest,
            // Without changed inputs, because it would run the original here.
            AnswerAbilities { interrupt: true, ..AnswerAbilities::ALLOW },
            own_permission_form,
        ),
        silent_report("postToolUse", AgentHookEvent::PostToolUse),
        silent_report("agentStop", AgentHookEvent::Stop),
        silent_report("sessionEnd", AgentHookEvent::SessionEnd),
        silent_report("notification", AgentHookEvent::Notification),
        // In the settings of Claude Code.
        HookEventProfile {
            limit: None,
            ..before_tool("PreToolUse", AnswerAbilities::ALLOW, check_form)
        },
        HookEventProfile {
            limit: None,
            ..silent_report("PostToolUse", AgentHookEvent::PostToolUse)
        },
        HookEventProfile { limit: None, ..silent_report("Stop", AgentHookEvent::Stop) },
        HookEventProfile { limit: None, ..silent_report("SessionEnd", AgentHookEvent::SessionEnd) },
        HookEventProfile {
            limit: None,
            ..silent_report("Notification", AgentHookEvent::Notification)
        },
    ],
    failures: HookFailures {
        exit: CallFate::Denied,
        exit_two: CallFate::Denied,
        // A hook that is late is the one failure after which it runs the call.
        timeout: CallFate::GoesOn,
        // It goes on to its other event, where the same is a no.
        garbage: CallFate::Denied,
        missing: CallFate::Denied,
    },
    settings: AgentSettingsPlace {
        folder: ".copilot",
        variable: Some("COPILOT_HOME"),
        files: &["hooks/callgate.json"],
        project_folder: Some(".github"),
        project_files: &["hooks/callgate.json"],
        format: SettingsFormat::Json(JsonHooks {
            command: "bash",
            timeout: "timeoutSec",
            is_flat: true,
            members: &[("version", "1")],
            ..JsonHooks::CLAUDE
        }),
        unit: LimitUnit::Seconds,
    },
    next: "Copilot CLI sessions that are open now have to be restarted.",
};

const EVENT: &str = "hook_event_name";

/// Renames the members. At most events the input does not say which event it is: the members tell.
fn decode_copilot_input(members: Members<'_>) -> Members<'_> {
    // A hook in the settings of Claude Code gets the names of that agent, the event's included.
    let is_named = members.get(EVENT).is_some() && members.get("tool_name").is_some();
    let has = |name: &str| members.get(name).is_some();
    let event = match () {
        () if is_named => None,
        () if has("permissionSuggestions") || has("hookName") => Some(r#""permissionRequest""#),
        () if has("toolResult") => Some(r#""postToolUse""#),
        () if has("toolName") => Some(r#""preToolUse""#),
        () if has("notification_type") => Some(r#""notification""#),
        () if has("stopReason") => Some(r#""agentStop""#),
        () if has("reason") && !has("error") => Some(r#""sessionEnd""#),
        () => None,
    };
    let mut members = rename_members(
        members,
        &[
            ("sessionId", "session_id"),
            ("toolName", "tool_name"),
            ("toolArgs", "tool_input"),
            ("toolInput", "tool_input"),
            ("transcriptPath", "transcript_path"),
        ],
    );
    if let Some(event) = event.and_then(|event| Json::from_text(event).ok()) {
        members.0.retain(|(name, _)| name != EVENT);
        members.0.push((Cow::Borrowed(EVENT), event));
    }
    members
}

fn own_check_form(answer: &HookAnswer<'_>) -> HookReply {
    let (decision, reason, input) = match answer {
        HookAnswer::Allow { input, .. } => ("allow", None, *input),
        HookAnswer::Deny { reason, .. } => ("deny", Some(*reason), None),
        HookAnswer::Ask { reason } => ("ask", Some(*reason), None),
        HookAnswer::NoDecision => return HookReply::Nothing,
    };
    reply_line([
        ("permissionDecision", json_word(decision)),
        ("permissionDecisionReason", reason.and_then(json_word)),
        ("modifiedArgs", input.map(json_text)),
    ])
}

fn own_permission_form(answer: &HookAnswer<'_>) -> HookReply {
    match answer {
        HookAnswer::Allow { .. } => reply_line([("behavior", json_word("allow"))]),
        HookAnswer::Deny { reason, interrupt } => reply_line([
            ("behavior", json_word("deny")),
            ("message", json_word(reason)),
            ("interrupt", interrupt.then(|| "true".to_owned())),
        ]),
        // A hook that fails is a no; without an answer it asks its user, where there is one.
        HookAnswer::Ask { .. } | HookAnswer::NoDecision => HookReply::Nothing,
    }
}
