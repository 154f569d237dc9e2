//! Factory droid.

use super::claude::check_form;
use super::{
    ANSWER_LIMIT, AgentEvent, AgentProfile, AgentSettingsPlace, AnswerAbilities, EditAbility,
    HookFailures, InputForm, JsonHooks, LimitUnit, SettingsFormat, as_it_is, told,
};
use crate::hook::AgentHookEvent;

/// Factory droid. An allow overrides its own modes.
pub static DROID: AgentProfile = AgentProfile {
    word: "droid",
    id: "droid",
    name: "Factory droid",
    programs: &["droid"],
    mark: Some("DROID_PROJECT_DIR"),
    reads: &[],
    input: InputForm::Object { event: "hook_event_name", decode: as_it_is },
    events: &[
        AgentEvent {
            name: "PreToolUse",
            event: AgentHookEvent::PreToolUse,
            takes: AnswerAbilities::ALLOW.with_edit(EditAbility::Merged),
            form: check_form,
            limit: Some(ANSWER_LIMIT),
        },
        told("PostToolUse", AgentHookEvent::PostToolUse),
        told("Stop", AgentHookEvent::Stop),
        told("SessionEnd", AgentHookEvent::SessionEnd),
        told("Notification", AgentHookEvent::Notification),
    ],
    failures: HookFailures::OPEN,
    settings: AgentSettingsPlace {
        folder: ".factory",
        variable: None,
        files: &["settings.json"],
        project_folder: Some(".factory"),
        project_files: &["hooks.json"],
        format: SettingsFormat::Json(JsonHooks {
            matcher: Some("*"),
            has_comments: true,
            ..JsonHooks::CLAUDE
        }),
        unit: LimitUnit::Seconds,
    },
    next: "Droid sessions that are open now have to be restarted.",
};
