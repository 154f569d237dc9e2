//! Kimi Code.

use super::claude::deny_form;
use super::{
    AgentProfile, AgentSettingsPlace, AnswerAbilities, HookEventProfile, HookFailures, InputForm,
    LimitUnit, SettingsFormat, TEN_MINUTES, before_tool, rename_members, silent_report,
};
use crate::hook::AgentHookEvent;
use crate::raw::Members;

/// Kimi Code. Of an answer only a deny counts, and a hook may take ten minutes at most.
pub static KIMI: AgentProfile = AgentProfile {
    word: "kimi",
    id: "kimi",
    name: "Kimi Code",
    programs: &["kimi"],
    mark: None,
    reads: &[],
    input: InputForm::Object { event: "hook_event_name", decode: decode_kimi_input },
    events: &[
        HookEventProfile {
            limit: Some(TEN_MINUTES),
            ..before_tool("PreToolUse", AnswerAbilities::DENY, deny_form)
        },
        silent_report("PostToolUse", AgentHookEvent::PostToolUse),
        silent_report("PostToolUseFailure", AgentHookEvent::PostToolUseFailure),
        silent_report("Stop", AgentHookEvent::Stop),
        silent_report("SessionEnd", AgentHookEvent::SessionEnd),
    ],
    failures: HookFailures::OPEN,
    settings: AgentSettingsPlace {
        folder: ".kimi-code",
        variable: Some("KIMI_CODE_HOME"),
        files: &["config.toml"],
        project_folder: None,
        project_files: &[],
        format: SettingsFormat::TomlHooks,
        unit: LimitUnit::Seconds,
    },
    next: "Kimi Code sessions that are open now have to be restarted.",
};

fn decode_kimi_input(members: Members<'_>) -> Members<'_> {
    rename_members(members, &[("tool_call_id", "tool_use_id")])
}
