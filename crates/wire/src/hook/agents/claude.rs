//! Claude Code.

use super::super::form::{
    HookAnswer, HookReply, claude_reply_line, json_object, json_text, json_word,
};
use super::{
    AgentProfile, AgentSettingsPlace, AnswerAbilities, EditAbility, HookFailures, InputForm,
    JsonHooks, LimitUnit, SettingsFormat, as_it_is, before_tool, decision_event, silent_report,
};
use crate::hook::AgentHookEvent;
use crate::raw::{Json, Members};

pub static CLAUDE: AgentProfile = AgentProfile {
    word: "claude",
    id: "claude-code",
    name: "Claude Code",
    programs: &["claude"],
    mark: None,
    reads: &[],
    input: InputForm::Object { event: "hook_event_name", decode: as_it_is },
    events: &[
        before_tool(
            "PreToolUse",
            AnswerAbilities {
                ask: true,
                // The first versions ignore a changed input and run the old one. Those that name
                // the prompt are known to accept it.
                ..AnswerAbilities::ALLOW.with_edit(EditAbility::WholeSince("prompt_id"))
            },
            check_form,
        ),
        decision_event(
            "PermissionRequest",
            AgentHookEvent::PermissionRequest,
            AnswerAbilities {
                interrupt: true,
                always: true,
                ..AnswerAbilities::ALLOW.with_edit(EditAbility::Whole)
            },
            permission_form,
        ),
        silent_report("PostToolUse", AgentHookEvent::PostToolUse),
        silent_report("Stop", AgentHookEvent::Stop),
        decision_event(
            "PermissionDenied",
            AgentHookEvent::PermissionDenied,
            AnswerAbilities { allow: true, ..AnswerAbilities::NONE },
            retry_form,
        ),
        silent_report("ConfigChange", AgentHookEvent::ConfigChange),
        silent_report("PostToolUseFailure", AgentHookEvent::PostToolUseFailure),
        silent_report("SessionEnd", AgentHookEvent::SessionEnd),
        silent_report("Notification", AgentHookEvent::Notification),
        decision_event(
            "Elicitation",
            AgentHookEvent::Elicitation,
            AnswerAbilities {
                interrupt: true,
                ..AnswerAbilities::ALLOW.with_edit(EditAbility::Whole)
            },
            elicitation_form,
        ),
    ],
    failures: HookFailures::OPEN,
    settings: AgentSettingsPlace {
        folder: ".claude",
        variable: Some("CLAUDE_CONFIG_DIR"),
        files: &["settings.json"],
        project_folder: Some(".claude"),
        project_files: &["settings.local.json", "settings.json"],
        format: SettingsFormat::Json(JsonHooks::CLAUDE),
        unit: LimitUnit::Seconds,
    },
    next: "Claude Code sessions that are open now may have to be restarted.",
};

pub(super) fn check_form(answer: &HookAnswer<'_>) -> HookReply {
    match answer {
        HookAnswer::Allow { input, .. } => checked_reply("allow", None, input.map(json_text)),
        HookAnswer::Deny { reason, .. } => checked_reply("deny", Some(reason), None),
        HookAnswer::Ask { reason } => checked_reply("ask", Some(reason), None),
        HookAnswer::NoDecision => HookReply::Nothing,
    }
}

/// Writes the answer to a call that is about to run, for an agent that takes a deny and nothing
/// else.
pub(super) fn deny_form(answer: &HookAnswer<'_>) -> HookReply {
    match answer {
        // Such an agent goes on without an answer, and knows no `allow` at this event.
        HookAnswer::Allow { input: None, .. } => HookReply::Nothing,
        _ => check_form(answer),
    }
}

/// Writes the decision about a call that is about to run.
pub(super) fn checked_reply(
    decision: &str,
    reason: Option<&str>,
    input: Option<String>,
) -> HookReply {
    let members = [
        ("permissionDecision", json_word(decision)),
        ("permissionDecisionReason", reason.and_then(json_word)),
        ("updatedInput", input),
    ];
    claude_reply_line(AgentHookEvent::PreToolUse, members)
}

pub(super) fn permission_form(answer: &HookAnswer<'_>) -> HookReply {
    let decision = match answer {
        HookAnswer::Allow { asked, input, permissions } => {
            let is_claude = asked.agent.as_deref() == Some(CLAUDE.id);
            // Claude Code ignores a bare allow of this tool and still asks its user.
            let is_plan = is_claude && asked.tool_name == "ExitPlanMode";
            let input = input.or_else(|| is_plan.then_some(&*asked.tool_input));
            let permissions: Vec<&str> = permissions.iter().map(|one| one.get()).collect();
            json_object([
                ("behavior", json_word("allow")),
                ("updatedInput", input.map(json_text)),
                (
                    "updatedPermissions",
                    (!permissions.is_empty()).then(|| format!("[{}]", permissions.join(","))),
                ),
            ])
        }
        HookAnswer::Deny { reason, interrupt } => json_object([
            ("behavior", json_word("deny")),
            ("message", json_word(reason)),
            ("interrupt", interrupt.then(|| "true".to_owned())),
        ]),
        HookAnswer::Ask { .. } | HookAnswer::NoDecision => return HookReply::Undecided,
    };
    claude_reply_line(AgentHookEvent::PermissionRequest, [("decision", Some(decision))])
}

/// Writes the answer to a call that the agent has blocked by itself. It stays blocked in silence.
fn retry_form(answer: &HookAnswer<'_>) -> HookReply {
    match answer {
        HookAnswer::Allow { .. } => claude_reply_line(
            AgentHookEvent::PermissionDenied,
            [("retry", Some("true".to_owned()))],
        ),
        _ => HookReply::Nothing,
    }
}

fn elicitation_form(answer: &HookAnswer<'_>) -> HookReply {
    let (action, content) = match answer {
        HookAnswer::Allow { asked, input: None, .. } => {
            let asked = Json::from(&*asked.tool_input).members();
            if wants_content(&asked) {
                // A form that a person has not filled in cannot be accepted, so the agent shows it
                // itself.
                return HookReply::Undecided;
            }
            ("accept", bare_content(&asked))
        }
        HookAnswer::Allow { input, .. } => ("accept", input.map(json_text)),
        HookAnswer::Deny { interrupt: true, .. } => ("cancel", None),
        HookAnswer::Deny { .. } => ("decline", None),
        HookAnswer::Ask { .. } | HookAnswer::NoDecision => return HookReply::Undecided,
    };
    claude_reply_line(
        AgentHookEvent::Elicitation,
        [("action", json_word(action)), ("content", content)],
    )
}

/// Returns true if a bare yes is not enough: the server's form has required fields.
fn wants_content(asked: &Members<'_>) -> bool {
    let schema = asked.get_non_null("requested_schema").map(Json::members).unwrap_or_default();
    schema.get_non_null("required").is_some_and(|required| required.get() != "[]")
}

/// Returns the form content for a bare yes; `None` if a page is to be opened.
fn bare_content(asked: &Members<'_>) -> Option<String> {
    let is_page = asked.string("mode").as_deref() == Some("url");
    (!is_page).then(|| "{}".to_owned())
}
