//! pi.

use super::{
    ANSWER_LIMIT, AgentEvent, AgentProfile, AgentSettingsPlace, AnswerAbilities, EditAbility,
    HookFailures, InputForm, LimitUnit, SettingsFormat, as_it_is, plugin_form, told,
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
        AgentEvent {
            name: "PreToolUse",
            event: AgentHookEvent::PreToolUse,
            takes: AnswerAbilities::DENY.with_edit(EditAbility::Whole),
            form: plugin_form,
            limit: Some(ANSWER_LIMIT),
        },
        told("PostToolUse", AgentHookEvent::PostToolUse),
        told("PostToolUseFailure", AgentHookEvent::PostToolUseFailure),
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
