//! goose.

use super::super::form::{HookAnswer, HookReply, line, word};
use super::{
    AgentProfile, AgentSettingsPlace, AnswerAbilities, HookFailures, InputForm, JsonHooks,
    LimitUnit, SettingsFormat, before_tool, renamed, told,
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
    input: InputForm::Object { event: "event", decode },
    events: &[
        before_tool("PreToolUse", AnswerAbilities::DENY, form),
        told("PostToolUse", AgentHookEvent::PostToolUse),
        told("Stop", AgentHookEvent::Stop),
        told("SessionEnd", AgentHookEvent::SessionEnd),
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

fn decode(members: Members<'_>) -> Members<'_> {
    let names =
        [("event", "hook_event_name"), ("working_dir", "cwd"), ("tool_call_id", "tool_use_id")];
    renamed(members, &names)
}

/// Writes an answer that is `block` or nothing: without a decision it goes on.
fn form(answer: &HookAnswer<'_>) -> HookReply {
    match answer {
        HookAnswer::Allow { .. } => line([("decision", word("allow"))]),
        HookAnswer::Deny { reason, .. } | HookAnswer::Ask { reason } => {
            line([("decision", word("block")), ("reason", word(reason))])
        }
        HookAnswer::NoDecision => HookReply::Nothing,
    }
}
