//! Grok.

use super::claude::check_form;
use super::{
    AgentProfile, AgentSettingsPlace, AnswerAbilities, EditAbility, HookFailures, InputForm,
    JsonHooks, LimitUnit, SettingsFormat, as_it_is, before_tool, silent_report,
};
use crate::hook::AgentHookEvent;

/// Grok. It also runs the hooks in `.claude/settings.json`. An allow does not skip its own
/// question.
pub static GROK: AgentProfile = AgentProfile {
    word: "grok",
    id: "grok",
    name: "Grok",
    programs: &["grok"],
    mark: Some("GROK_HOOK_EVENT"),
    reads: &["claude"],
    input: InputForm::Object { event: "hook_event_name", decode: as_it_is },
    events: &[
        before_tool("PreToolUse", AnswerAbilities::DENY.with_edit(EditAbility::Whole), check_form),
        silent_report("PostToolUse", AgentHookEvent::PostToolUse),
        silent_report("PostToolUseFailure", AgentHookEvent::PostToolUseFailure),
        silent_report("Stop", AgentHookEvent::Stop),
        silent_report("SessionEnd", AgentHookEvent::SessionEnd),
        silent_report("Notification", AgentHookEvent::Notification),
    ],
    failures: HookFailures::OPEN,
    settings: AgentSettingsPlace {
        folder: ".grok",
        variable: Some("GROK_HOME"),
        files: &["hooks/callgate.json"],
        project_folder: Some(".grok"),
        project_files: &["hooks/callgate.json"],
        format: SettingsFormat::Json(JsonHooks::CLAUDE),
        unit: LimitUnit::Seconds,
    },
    next: "Grok sessions that are open now have to be restarted.",
};
