//! Cline CLI.

use std::borrow::Cow;

use super::super::form::{HookAnswer, HookReply, json_text, json_word, reply_line};
use super::{
    AgentProfile, AgentSettingsPlace, AnswerAbilities, CallFate, EditAbility, HookFailures,
    InputForm, LimitUnit, SettingsFormat, before_tool, silent_report,
};
use crate::hook::AgentHookEvent;
use crate::raw::{Json, Members};

/// Cline CLI. A deny ends its task, and the exit code of a hook means nothing to it.
pub static CLINE: AgentProfile = AgentProfile {
    word: "cline",
    id: "cline",
    name: "Cline",
    programs: &["cline"],
    mark: None,
    reads: &[],
    input: InputForm::Object { event: "hookName", decode: decode_cline_input },
    events: &[
        before_tool("tool_call", AnswerAbilities::DENY.with_edit(EditAbility::Merged), cline_form),
        silent_report("tool_result", AgentHookEvent::PostToolUse),
    ],
    failures: HookFailures { exit_two: CallFate::GoesOn, ..HookFailures::OPEN },
    settings: AgentSettingsPlace {
        folder: ".cline",
        variable: None,
        files: &["hooks/PreToolUse", "hooks/PostToolUse"],
        project_folder: None,
        project_files: &[],
        format: SettingsFormat::Executable,
        unit: LimitUnit::None,
    },
    next: "Cline tasks that run now have to be restarted.",
};

/// Lifts the members of the call, which are in an object of their own.
fn decode_cline_input(mut members: Members<'_>) -> Members<'_> {
    let call = members.get("tool_call").or_else(|| members.get("tool_result"));
    let call = call.map(Json::members).unwrap_or_default();
    // It names no working folder, so the first of its roots stands for it.
    let folder = members.get("workspaceRoots").and_then(first_element);
    // The rest says the same about the call once more, in other words.
    members.0.retain(|(name, _)| matches!(name.as_ref(), "hookName" | "taskId"));
    for (name, _) in &mut members.0 {
        let is_event = name == "hookName";
        *name = Cow::Borrowed(if is_event { "hook_event_name" } else { "session_id" });
    }
    members.0.extend(folder.map(|folder| (Cow::Borrowed("cwd"), folder)));
    for (name, value) in call.0 {
        let name = match name.as_ref() {
            "id" => "tool_use_id",
            "name" => "tool_name",
            "input" => "tool_input",
            _ => continue,
        };
        members.0.push((Cow::Borrowed(name), value));
    }
    members
}

fn first_element(list: Json<'_>) -> Option<Json<'_>> {
    let text = list.get().strip_prefix('[')?.trim_start();
    let end = serde_json::Deserializer::from_str(text).into_iter::<&serde_json::value::RawValue>();
    let first = end.map_while(Result::ok).next()?;
    Json::from_text(first.get()).ok()
}

fn cline_form(answer: &HookAnswer<'_>) -> HookReply {
    match answer {
        HookAnswer::Allow { input, .. } => reply_line([
            ("cancel", Some("false".to_owned())),
            ("overrideInput", input.map(json_text)),
        ]),
        HookAnswer::Deny { reason, .. } | HookAnswer::Ask { reason } => {
            // Its hooks cannot have it ask its user, so where a person has to decide it gets a no.
            reply_line([("cancel", Some("true".to_owned())), ("errorMessage", json_word(reason))])
        }
        HookAnswer::NoDecision => HookReply::Nothing,
    }
}
