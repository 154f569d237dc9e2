//! Decides on a tool call while no desk runs or answers: the hook reads the rules itself.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use callgate_approval::absence_mark::mark_absence;
use callgate_approval::desk::{self, Ruling};
use callgate_approval::hook::RulesOnly;
use callgate_settings::{Config, HookConfig, HookFlags, WhenAbsent};
use callgate_surroundings::{process_surroundings, read_live_rules};
use callgate_wire::approval::{ApprovalRequest, ApprovalResponse, Decision, Prompter};
use callgate_wire::tool_act::ToolKind;

/// What the user can do, in words that the model reads.
const START: &str = "callgate is not running: ask the user to start `callgate up`";

/// Answers a check in place of the desk.
pub(crate) fn answer_check(
    config: &HookConfig,
    request: &ApprovalRequest,
) -> Result<ApprovalResponse, String> {
    let config = config.all_settings().map_err(|problems| problems.one_line())?;
    let ruling = judge_by_rules(&config, request);
    let is_guarded = matches!(ruling, Ruling::Ask { is_guarded: true, .. });
    let asks = desk::find_prompter(request, is_guarded);
    let when_absent = match ToolKind::for_tool("", &request.tool_name) {
        // A question of the agent to its user is not an act that somebody has to allow.
        ToolKind::AskUser => WhenAbsent::Agent,
        _ => config.gate.when_absent_of(request.agent.as_deref()),
    };
    let (decision, message) = decide_by_ruling(ruling, asks, when_absent);
    if decision != Decision::Deny {
        // Without the mark, the next desk takes the run for one that nobody has checked. If the
        // mark cannot be written, that needless notice is all that follows.
        mark_absence(&config.database).ok();
    }
    let response = ApprovalResponse::new(request.request_id.clone(), decision);
    Ok(ApprovalResponse { message, ..response })
}

/// Returns what decides on a check by the rules alone, on any thread: the desk's own answer where
/// it would ask nobody.
pub(crate) fn by_rules(flags: HookFlags, request: ApprovalRequest) -> RulesOnly {
    Box::new(move || {
        // Read again, because the settings of the other thread cannot be sent to this one.
        let config =
            HookConfig::read_settings(&flags, process_surroundings()).all_settings().ok()?;
        let (decision, message) = match judge_by_rules(&config, &request) {
            Ruling::Allow { .. } => (Decision::Allow, None),
            Ruling::Deny { because } => (Decision::Deny, Some(because)),
            Ruling::Ask { .. } | Ruling::AtDesk { .. } => return None,
        };
        Some(ApprovalResponse { message, ..ApprovalResponse::new(request.request_id, decision) })
    })
}

fn judge_by_rules(config: &Config, request: &ApprovalRequest) -> Ruling {
    // A broken rule file shows in the verdict; `callgate rules check` reports the details.
    let ruler = ManuallyDrop::new(read_live_rules(config, Arc::new(|_| ())));
    // The process ends with its answer, which need not wait until the rules are freed.
    ruler.judge_request(request)
}

/// Decides by the rules, and by the settings where no rule decides. If a person is required, the
/// answer is no, because nobody can be asked.
fn decide_by_ruling(
    ruling: Ruling,
    asks: Prompter,
    when_absent: WhenAbsent,
) -> (Decision, Option<String>) {
    match (ruling, asks, when_absent) {
        (Ruling::Deny { because }, _, _) => (Decision::Deny, Some(because)),
        (Ruling::Allow { .. }, _, _) => (Decision::Allow, None),
        (Ruling::AtDesk { because, demands, .. }, _, _) => {
            let wanted = demands.sentence().unwrap_or("A person has to confirm this");
            let message = format!("{because}. {wanted}, and {START}.");
            (Decision::Deny, Some(message))
        }
        (Ruling::Ask { because: Some(because), .. }, Prompter::Agent, WhenAbsent::Agent) => {
            (Decision::Ask, Some(because))
        }
        (Ruling::Ask { because: Some(because), .. }, _, _) => {
            let message = format!("{because}. A person has to allow this, and {START}.");
            (Decision::Deny, Some(message))
        }
        (Ruling::Ask { because: None, .. }, _, WhenAbsent::Agent) => (Decision::None, None),
        (Ruling::Ask { because: None, .. }, _, WhenAbsent::Deny) => {
            let message = format!("No rule allows this, and {START}.");
            (Decision::Deny, Some(message))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use callgate_wire::approval::AllowDemands;
    use expect_test::expect;

    use super::*;

    #[test]
    fn what_holds_without_a_desk() {
        let because = || "a rule".to_owned();
        let ask = |because| Ruling::Ask { because, is_guarded: false };
        let at_desk =
            |needs_word, demands| Ruling::AtDesk { because: because(), needs_word, demands };
        let guarded = || Ruling::Ask { because: Some("it is guarded".into()), is_guarded: true };
        let mut table = String::new();
        for when_absent in [WhenAbsent::Agent, WhenAbsent::Deny] {
            for asks in [Prompter::Agent, Prompter::Desk] {
                let rulings = [
                    Ruling::Deny { because: because() },
                    at_desk(true, AllowDemands::default()),
                    at_desk(false, AllowDemands { two_people: true, not_own: true }),
                    Ruling::Allow { because: because() },
                    ask(Some(because())),
                    guarded(),
                    ask(None),
                ];
                for ruling in rulings {
                    let name = format!("{when_absent:?} {asks:?} {ruling:?}");
                    let (decision, message) = decide_by_ruling(ruling, asks, when_absent);
                    let message = message.map_or(String::new(), |text| format!(": {text}"));
                    writeln!(table, "{name}\n  {}{message}", decision.name()).unwrap();
                }
            }
        }
        expect![[r#"
            Agent Agent Deny { because: "a rule" }
              deny: a rule
            Agent Agent AtDesk { because: "a rule", needs_word: true, demands: AllowDemands { two_people: false, not_own: false } }
              deny: a rule. A person has to confirm this, and callgate is not running: ask the user to start `callgate up`.
            Agent Agent AtDesk { because: "a rule", needs_word: false, demands: AllowDemands { two_people: true, not_own: true } }
              deny: a rule. Two people have to allow this, and nobody may allow what their own machine asks, and callgate is not running: ask the user to start `callgate up`.
            Agent Agent Allow { because: "a rule" }
              allow
            Agent Agent Ask { because: Some("a rule"), is_guarded: false }
              ask: a rule
            Agent Agent Ask { because: Some("it is guarded"), is_guarded: true }
              ask: it is guarded
            Agent Agent Ask { because: None, is_guarded: false }
              none
            Agent Desk Deny { because: "a rule" }
              deny: a rule
            Agent Desk AtDesk { because: "a rule", needs_word: true, demands: AllowDemands { two_people: false, not_own: false } }
              deny: a rule. A person has to confirm this, and callgate is not running: ask the user to start `callgate up`.
            Agent Desk AtDesk { because: "a rule", needs_word: false, demands: AllowDemands { two_people: true, not_own: true } }
              deny: a rule. Two people have to allow this, and nobody may allow what their own machine asks, and callgate is not running: ask the user to start `callgate up`.
            Agent Desk Allow { because: "a rule" }
              allow
            Agent Desk Ask { because: Some("a rule"), is_guarded: false }
              deny: a rule. A person has to allow this, and callgate is not running: ask the user to start `callgate up`.
            Agent Desk Ask { because: Some("it is guarded"), is_guarded: true }
              deny: it is guarded. A person has to allow this, and callgate is not running: ask the user to start `callgate up`.
            Agent Desk Ask { because: None, is_guarded: false }
              none
            Deny Agent Deny { because: "a rule" }
              deny: a rule
            Deny Agent AtDesk { because: "a rule", needs_word: true, demands: AllowDemands { two_people: false, not_own: false } }
              deny: a rule. A person has to confirm this, and callgate is not running: ask the user to start `callgate up`.
            Deny Agent AtDesk { because: "a rule", needs_word: false, demands: AllowDemands { two_people: true, not_own: true } }
              deny: a rule. Two people have to allow this, and nobody may allow what their own machine asks, and callgate is not running: ask the user to start `callgate up`.
            Deny Agent Allow { because: "a rule" }
              allow
            Deny Agent Ask { because: Some("a rule"), is_guarded: false }
              deny: a rule. A person has to allow this, and callgate is not running: ask the user to start `callgate up`.
            Deny Agent Ask { because: Some("it is guarded"), is_guarded: true }
              deny: it is guarded. A person has to allow this, and callgate is not running: ask the user to start `callgate up`.
            Deny Agent Ask { because: None, is_guarded: false }
              deny: No rule allows this, and callgate is not running: ask the user to start `callgate up`.
            Deny Desk Deny { because: "a rule" }
              deny: a rule
            Deny Desk AtDesk { because: "a rule", needs_word: true, demands: AllowDemands { two_people: false, not_own: false } }
              deny: a rule. A person has to confirm this, and callgate is not running: ask the user to start `callgate up`.
            Deny Desk AtDesk { because: "a rule", needs_word: false, demands: AllowDemands { two_people: true, not_own: true } }
              deny: a rule. Two people have to allow this, and nobody may allow what their own machine asks, and callgate is not running: ask the user to start `callgate up`.
            Deny Desk Allow { because: "a rule" }
              allow
            Deny Desk Ask { because: Some("a rule"), is_guarded: false }
              deny: a rule. A person has to allow this, and callgate is not running: ask the user to start `callgate up`.
            Deny Desk Ask { because: Some("it is guarded"), is_guarded: true }
              deny: it is guarded. A person has to allow this, and callgate is not running: ask the user to start `callgate up`.
            Deny Desk Ask { because: None, is_guarded: false }
              deny: No rule allows this, and callgate is not running: ask the user to start `callgate up`.
        "#]].assert_eq(&table);
    }
}
