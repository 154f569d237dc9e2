//! pi.

use super::{
    AgentProfile, AgentSettingsPlace, AnswerAbilities, EditAbility, HookFailures, InputForm,
    LimitUnit, SettingsFormat, as_it_is, before_tool, plugin_form, silent_report,
};
use crate::hook::AgentHookEvent;

/// pi, with an extension of ours that throws whatever goes wrong with the hook.
pub static PI: AgentProfile = AgentProfile {
    word: "pi",
    id: "pi",
    name: "pi",
    programs: &["pi"],
    mark: None,
    reads: &[],
    input: InputForm::Object { event: "hook_event_name", decode: as_it_is },
    events: &[
        before_tool("PreToolUse", AnswerAbilities::DENY.with_edit(EditAbility::Whole), plugin_form),
        silent_report("PostToolUse", AgentHookEvent::PostToolUse),
        silent_report("PostToolUseFailure", AgentHookEvent::PostToolUseFailure),
    ],
    failures: HookFailures::CLOSED,
    settings: AgentSettingsPlace {
        folder: ".pi/agent",
        variable: None,
        files: &["extensions/callgate.ts"],
        project_folder: Some(".pi"),
        project_files: &["extensions/callgate.ts"],
        format: SettingsFormat::Plugin(include_str!("pi_extension.ts")),
        unit: LimitUnit::None,
    },
    next: "pi sessions that are open now have to be restarted.",
};
