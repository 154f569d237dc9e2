//! Qwen Code.

use super::super::form::{HookAnswer, HookReply};
use super::claude::{check_form, checked, permission_form};
use super::{
    AgentEvent, AgentProfile, AgentSettingsPlace, AnswerAbilities, HookFailures, InputForm,
    JsonHooks, LimitUnit, SettingsFormat, TEN_MINUTES, as_it_is, told,
};
use crate::hook::AgentHookEvent;

/// Qwen Code. It ignores a changed input and runs the original. Large time limits are taken for
/// milliseconds.
pub static QWEN: AgentProfile = AgentProfile {
    word: "qwen",
    id: "qwen",
    name: "Qwen Code",
    programs: &["qwen"],
    mark: None,
    reads: &[],
    input: InputForm::Object { event: "hook_event_name", decode: as_it_is },
    events: &[
        AgentEvent {
            name: "PreToolUse",
            event: AgentHookEvent::PreToolUse,
            takes: AnswerAbilities::ALLOW,
            form,
            limit: Some(TEN_MINUTES),
        },
        AgentEvent {
            name: "PermissionRequest",
            event: AgentHookEvent::PermissionRequest,
            takes: AnswerAbilities::ALLOW,
            form: permission_form,
            limit: Some(TEN_MINUTES),
        },
        told("PostToolUse", AgentHookEvent::PostToolUse),
        told("PostToolUseFailure", AgentHookEvent::PostToolUseFailure),
        told("Stop", AgentHookEvent::Stop),
        told("SessionEnd", AgentHookEvent::SessionEnd),
        told("Notification", AgentHookEvent::Notification),
    ],
    failures: HookFailures::OPEN,
    settings: AgentSettingsPlace {
        folder: ".qwen",
        variable: None,
        files: &["settings.json"],
        project_folder: Some(".qwen"),
        project_files: &["settings.json"],
        format: SettingsFormat::Json(JsonHooks {
            more: &[("name", "callgate")],
            matcher: Some("*"),
            members: &[("hooksConfig", r#"{"enabled":true}"#)],
            has_comments: true,
            ..JsonHooks::CLAUDE
        }),
        unit: LimitUnit::Seconds,
    },
    next: "Qwen Code sessions that are open now have to be restarted.",
};

/// It wants a reason for an allow, too.
fn form(answer: &HookAnswer<'_>) -> HookReply {
    match answer {
        HookAnswer::Allow { .. } => checked("allow", Some("Allowed by callgate."), None),
        _ => check_form(answer),
    }
}
