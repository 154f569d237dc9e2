//! Amp.

use super::super::form::{HookAnswer, HookReply};
use super::{
    AgentProfile, AgentSettingsPlace, AnswerAbilities, CallFate, HookFailures, InputForm,
    LimitUnit, SettingsFormat, before_tool,
};

/// Amp. A permission rule delegates each call to the hook, whose exit code is the answer: 0 allows,
/// 1 has Amp ask its user, and 2 denies with the words on standard error.
pub static AMP: AgentProfile = AgentProfile {
    word: "amp",
    id: "amp",
    name: "Amp",
    programs: &["amp"],
    mark: None,
    reads: &[],
    input: InputForm::Bare { tool: "AGENT_TOOL_NAME" },
    events: &[before_tool(
        "delegate",
        AnswerAbilities { ask: true, ..AnswerAbilities::ALLOW },
        amp_form,
    )],
    failures: HookFailures {
        exit: CallFate::Asked,
        // Only the exit code counts, so whatever is printed with 0 is a yes.
        garbage: CallFate::GoesOn,
        ..HookFailures::CLOSED
    },
    settings: AgentSettingsPlace {
        folder: ".config/amp",
        variable: None,
        files: &["settings.json", "callgate-hook"],
        project_folder: None,
        project_files: &[],
        format: SettingsFormat::DelegateRule,
        unit: LimitUnit::None,
    },
    next: "Amp threads that are open now have to be restarted.",
};

fn amp_form(answer: &HookAnswer<'_>) -> HookReply {
    match answer {
        HookAnswer::Allow { .. } => HookReply::Nothing,
        HookAnswer::Deny { reason, .. } => HookReply::Refusal((*reason).to_owned()),
        // `Nothing` would end with code 0, which Amp takes for a yes.
        HookAnswer::Ask { .. } | HookAnswer::NoDecision => HookReply::Undecided,
    }
}
