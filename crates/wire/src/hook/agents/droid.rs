//! Factory droid.

use super::claude::check_form;
use super::{
    AgentProfile, AgentSettingsPlace, AnswerAbilities, EditAbility, HookFailures, InputForm,
    JsonHooks, LimitUnit, SettingsFormat, as_it_is, before_tool, silent_report,
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
        before_tool(
            "PreToolUse",
            AnswerAbilities::ALLOW.with_edit(EditAbility::Merged),
            check_form,
        ),
        silent_report("PostToolUse", AgentHookEvent::PostToolUse),
        silent_report("Stop", AgentHookEvent::Stop),
        silent_report("SessionEnd", AgentHookEvent::SessionEnd),
        silent_report("Notification", AgentHookEvent::Notification),
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
