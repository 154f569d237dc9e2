//! goose.

use super::super::form::{HookAnswer, HookReply, json_word, reply_line};
use super::{
    AgentProfile, AgentSettingsPlace, AnswerAbilities, HookFailures, InputForm, JsonHooks,
    LimitUnit, SettingsFormat, before_tool, rename_members, silent_report,
};
use crate::hook::AgentHookEvent;
use crate::raw::Members;

/// goose. It goes on after a failed hook, unless the settings say `"on_failure": "block"`, as ours
/// do.
pub static GOOSE: AgentProfile = AgentProfile {
    word: "goose",
    id: "goose",
    name: "goose",
    programs: &["goose"],
    mark: None,
    reads: &[],
    input: InputForm::Object { event: "event", decode: decode_goose_input },
    events: &[
        before_tool("PreToolUse", AnswerAbilities::DENY, goose_form),
        silent_report("PostToolUse", AgentHookEvent::PostToolUse),
        silent_report("Stop", AgentHookEvent::Stop),
        silent_report("SessionEnd", AgentHookEvent::SessionEnd),
    ],
    failures: HookFailures::CLOSED,
    settings: AgentSettingsPlace {
        folder: ".agents/plugins/callgate",
        variable: None,
        files: &["hooks/hooks.json"],
        project_folder: Some(".agents/plugins/callgate"),
        project_files: &["hooks/hooks.json"],
        format: SettingsFormat::Json(JsonHooks {
            more: &[("on_failure", "block")],
            beside: &[(
                "plugin.json",
                "{\"name\":\"callgate\",\"version\":\"1.0.0\",\"description\":\"Asks callgate before tools run\"}\n",
            )],
            ..JsonHooks::CLAUDE
        }),
        unit: LimitUnit::Seconds,
    },
    next: "goose sessions that are open now have to be restarted.",
};

fn decode_goose_input(members: Members<'_>) -> Members<'_> {
    let names =
        [("event", "hook_event_name"), ("working_dir", "cwd"), ("tool_call_id", "tool_use_id")];
    rename_members(members, &names)
}

/// Writes an answer, in which a refusal is `block`. Without a decision it goes on.
fn goose_form(answer: &HookAnswer<'_>) -> HookReply {
    match answer {
        HookAnswer::Allow { .. } => reply_line([("decision", json_word("allow"))]),
        HookAnswer::Deny { reason, .. } | HookAnswer::Ask { reason } => {
            // It ignores `deny`, also in the form of Claude Code, and would run the call.
            reply_line([("decision", json_word("block")), ("reason", json_word(reason))])
        }
        HookAnswer::NoDecision => HookReply::Nothing,
    }
}
