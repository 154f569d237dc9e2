//! Qwen Code.

use super::super::form::{HookAnswer, HookReply};
use super::claude::{check_form, checked_reply, permission_form};
use super::{
    AgentProfile, AgentSettingsPlace, AnswerAbilities, HookEventProfile, HookFailures, InputForm,
    JsonHooks, LimitUnit, SettingsFormat, TEN_MINUTES, as_it_is, before_tool, decision_event,
    silent_report,
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
        HookEventProfile {
            limit: Some(TEN_MINUTES),
            ..before_tool("PreToolUse", AnswerAbilities::ALLOW, qwen_form)
        },
        HookEventProfile {
            limit: Some(TEN_MINUTES),
            ..decision_event(
                "PermissionRequest",
                AgentHookEvent::PermissionRequest,
                AnswerAbilities::ALLOW,
                permission_form,
            )
        },
        silent_report("PostToolUse", AgentHookEvent::PostToolUse),
        silent_report("PostToolUseFailure", AgentHookEvent::PostToolUseFailure),
        silent_report("Stop", AgentHookEvent::Stop),
        silent_report("SessionEnd", AgentHookEvent::SessionEnd),
        silent_report("Notification", AgentHookEvent::Notification),
    ],
    failures: HookFailures::OPEN,
    settings: AgentSettingsPlace {
        folder: ".qwen",
        variable: None,
        files: &["settings.json"],
        project_folder: Some(".qwen"),
        project_files: &["settings.json"],
        format: SettingsFormat::Json(JsonHooks::GEMINI),
        unit: LimitUnit::Seconds,
    },
    next: "Qwen Code sessions that are open now have to be restarted.",
};

/// It wants a reason for an allow, too.
fn qwen_form(answer: &HookAnswer<'_>) -> HookReply {
    match answer {
        HookAnswer::Allow { .. } => checked_reply("allow", Some("Allowed by callgate."), None),
        _ => check_form(answer),
    }
}
