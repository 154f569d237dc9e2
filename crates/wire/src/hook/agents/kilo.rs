//! Kilo.

use super::{
    ANSWER_LIMIT, AgentEvent, AgentProfile, AgentSettingsPlace, AnswerAbilities, EditAbility,
    HookFailures, InputForm, LimitUnit, SettingsFormat, as_it_is, plugin_form, told,
};
use crate::hook::AgentHookEvent;

/// Kilo, with a plugin of ours that throws whatever goes wrong with the hook.
pub static KILO: AgentProfile = AgentProfile {
    word: "kilo",
    id: "kilo",
    name: "Kilo",
    programs: &["kilo"],
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
    ],
    failures: HookFailures::CLOSED,
    settings: AgentSettingsPlace {
        folder: ".config/kilo",
        variable: None,
        files: &["plugin/callgate.js"],
        project_folder: Some(".kilo"),
        project_files: &["plugin/callgate.js"],
        format: SettingsFormat::Plugin(include_str!("opencode_plugin.js")),
        unit: LimitUnit::None,
    },
    next: "Kilo has to be restarted. At its next start it installs `@kilocode/plugin` by itself, which \
           needs the network once.",
};
