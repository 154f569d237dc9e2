//! Gemini CLI.

use super::super::form::{HookAnswer, HookReply, json_object, json_text, json_word, reply_line};
use super::{
    AgentProfile, AgentSettingsPlace, AnswerAbilities, CallFate, EditAbility, HookEventProfile,
    HookFailures, InputForm, JsonHooks, LimitUnit, SettingsFormat, as_it_is, before_tool,
    silent_report,
};
use crate::hook::AgentHookEvent;

/// The name of the event before a tool runs.
const BEFORE: &str = "BeforeTool";

/// Gemini CLI. An allow does not skip its own policy, which is applied to the input as the hook
/// has left it.
pub static GEMINI: AgentProfile = AgentProfile {
    word: "gemini",
    id: "gemini",
    name: "Gemini CLI",
    programs: &["gemini"],
    mark: Some("GEMINI_SESSION_ID"),
    reads: &[],
    input: InputForm::Object { event: "hook_event_name", decode: as_it_is },
    events: &[
        before_tool(
            BEFORE,
            AnswerAbilities { ask: true, ..AnswerAbilities::DENY.with_edit(EditAbility::Merged) },
            gemini_form,
        ),
        silent_report("AfterTool", AgentHookEvent::PostToolUse),
        // It is not installed: if the program were missing, the turn would begin anew each time.
        HookEventProfile { limit: None, ..silent_report("AfterAgent", AgentHookEvent::Stop) },
        silent_report("SessionEnd", AgentHookEvent::SessionEnd),
        silent_report("Notification", AgentHookEvent::Notification),
    ],
    // The shell's exit code for a missing program blocks, like every code from 2 on.
    failures: HookFailures { missing: CallFate::Denied, ..HookFailures::OPEN },
    settings: AgentSettingsPlace {
        folder: ".gemini",
        variable: None,
        files: &["settings.json"],
        project_folder: Some(".gemini"),
        project_files: &["settings.json"],
        format: SettingsFormat::Json(JsonHooks::GEMINI),
        unit: LimitUnit::Milliseconds,
    },
    next: "Gemini CLI sessions that are open now have to be restarted.",
};

fn gemini_form(answer: &HookAnswer<'_>) -> HookReply {
    let (decision, reason, input) = match answer {
        HookAnswer::Allow { input, .. } => ("allow", None, *input),
        HookAnswer::Deny { reason, .. } => ("deny", Some(*reason), None),
        HookAnswer::Ask { reason } => ("ask", Some(*reason), None),
        HookAnswer::NoDecision => return HookReply::Nothing,
    };
    let specific = |input| {
        json_object([("hookEventName", json_word(BEFORE)), ("tool_input", Some(json_text(input)))])
    };
    reply_line([
        ("decision", json_word(decision)),
        ("reason", reason.and_then(json_word)),
        ("hookSpecificOutput", input.map(specific)),
    ])
}
