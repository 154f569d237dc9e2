//! Codex.

use core::time::Duration;

use super::claude::{deny_form, permission_form};
use super::{
    AgentProfile, AgentSettingsPlace, AnswerAbilities, HookEventProfile, HookFailures, InputForm,
    JsonHooks, LimitUnit, SettingsFormat, as_it_is, before_tool, decision_event, silent_report,
};
use crate::hook::AgentHookEvent;

/// Codex lets a hook at the end of a session take this long, and warns of any longer limit.
const SESSION_END: Duration = Duration::from_secs(3);

/// Codex. It refuses an answer with more than allow or deny.
pub static CODEX: AgentProfile = AgentProfile {
    word: "codex",
    id: "codex",
    name: "Codex",
    programs: &["codex"],
    mark: None,
    reads: &[],
    input: InputForm::Object { event: "hook_event_name", decode: as_it_is },
    events: &[
        // It has no `allow` here, and continues without one.
        before_tool("PreToolUse", AnswerAbilities::DENY, deny_form),
        decision_event(
            "PermissionRequest",
            AgentHookEvent::PermissionRequest,
            AnswerAbilities::ALLOW,
            permission_form,
        ),
        silent_report("PostToolUse", AgentHookEvent::PostToolUse),
        silent_report("Stop", AgentHookEvent::Stop),
        HookEventProfile {
            limit: Some(SESSION_END),
            ..silent_report("SessionEnd", AgentHookEvent::SessionEnd)
        },
    ],
    failures: HookFailures::OPEN,
    settings: AgentSettingsPlace {
        folder: ".codex",
        variable: Some("CODEX_HOME"),
        files: &["hooks.json"],
        project_folder: Some(".codex"),
        project_files: &["hooks.json"],
        format: SettingsFormat::Json(JsonHooks::CLAUDE),
        unit: LimitUnit::Seconds,
    },
    next: "Codex sessions that are open now have to be restarted.",
};
