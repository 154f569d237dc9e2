//! opencode.

use super::{
    AgentProfile, AgentSettingsPlace, AnswerAbilities, EditAbility, HookFailures, InputForm,
    LimitUnit, SettingsFormat, as_it_is, before_tool, plugin_form, silent_report,
};
use crate::hook::AgentHookEvent;

pub static OPENCODE: AgentProfile = PROFILE;

/// opencode, with a plugin of ours that throws whatever goes wrong with the hook. It is a constant
/// and not the static above, because Kilo's profile takes its fields, and a static cannot be moved
/// from.
pub(super) const PROFILE: AgentProfile = AgentProfile {
    word: "opencode",
    id: "opencode",
    name: "opencode",
    programs: &["opencode"],
    mark: None,
    reads: &[],
    input: InputForm::Object { event: "hook_event_name", decode: as_it_is },
    events: &[
        before_tool("PreToolUse", AnswerAbilities::DENY.with_edit(EditAbility::Whole), plugin_form),
        silent_report("PostToolUse", AgentHookEvent::PostToolUse),
    ],
    failures: HookFailures::CLOSED,
    settings: AgentSettingsPlace {
        folder: ".config/opencode",
        variable: None,
        files: &["plugin/callgate.js"],
        project_folder: Some(".opencode"),
        project_files: &["plugin/callgate.js"],
        format: SettingsFormat::Plugin(include_str!("opencode_plugin.js")),
        unit: LimitUnit::None,
    },
    next: "opencode has to be restarted. At its next start it installs `@opencode-ai/plugin` by itself, \
           which needs the network once.",
};
