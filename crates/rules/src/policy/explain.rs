//! Which rules were considered for an act, and why each did or did not apply.

use super::{Policy, PolicyDefaults, Verdict};
use crate::act::Act;
use crate::moment::Moment;
use crate::rule::{Rule, RuleDecision, Trust};
use crate::shown::short_command;
use crate::steps;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsideredRule {
    /// The rule, with its file and line.
    pub rule: String,
    pub decision: RuleDecision,
    pub holds: bool,
    /// Why, or why not.
    pub because: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelVerdict {
    pub trust: Trust,
    /// `None` if none of its rules decides.
    pub decision: Option<RuleDecision>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    pub verdict: Verdict,
    /// The simple commands that were found.
    pub commands: Vec<String>,
    /// Why nothing may allow it, if so.
    pub doubts: Option<String>,
    /// All rules, in the order of their files.
    pub considered: Vec<ConsideredRule>,
    /// What each level decides, if there are rules of a team and any rule can decide.
    pub levels: Vec<LevelVerdict>,
}

impl Policy {
    /// Decides on an act and says how.
    pub(crate) fn explain_by_names(&self, act: &Act, moment: &Moment) -> Explanation {
        let commands = act.script.iter().flat_map(|script| &script.commands);
        let verdict = self.decide_by_names(act, moment);
        let is_for_rules = !verdict.is_guarded && act.refused.is_none();
        Explanation {
            levels: if is_for_rules { self.level_verdicts(act, moment) } else { Vec::new() },
            verdict,
            commands: commands.map(|command| short_command(&command.render_line())).collect(),
            doubts: act.doubt_reason(),
            considered: self.rules.iter().map(|rule| consider_rule(rule, act, moment)).collect(),
        }
    }

    /// Returns what each level decides by itself; nothing if there are no rules of a team.
    fn level_verdicts(&self, act: &Act, moment: &Moment) -> Vec<LevelVerdict> {
        let team = self.level_policy(Trust::Team);
        if team.rules.is_empty() && team.broken.is_empty() {
            return Vec::new();
        }
        let levels = [Trust::Team, Trust::User, Trust::Project];
        let verdict = |trust| {
            let verdict = self.level_policy(trust).decide_by_names(act, moment);
            let is_undecided = verdict.decision == RuleDecision::Ask && !verdict.wants_person;
            LevelVerdict { trust, decision: Some(verdict.decision).filter(|_| !is_undecided) }
        };
        levels.into_iter().map(verdict).collect()
    }

    /// Returns the policy that the rules of one level are alone.
    fn level_policy(&self, trust: Trust) -> Self {
        // The defaults belong to no level.
        let mut policy = self.clone().with_defaults(PolicyDefaults::default());
        policy.rules.retain(|rule| rule.trust == trust);
        policy.broken.retain(|file| file.trust == trust);
        policy
    }
}

fn consider_rule(rule: &Rule, act: &Act, moment: &Moment) -> ConsideredRule {
    let fit = || {
        if rule.decision == RuleDecision::Allow {
            check_allow_rule(rule, act, moment)
        } else {
            rule.tightens(act, moment)
        }
    };
    // Each rule has a budget of its own, so that one that needs much leaves the others explained.
    let (fit, was_enough) = steps::run_with_budget(steps::JUDGING, fit);
    let fit = if was_enough { fit } else { Err(steps::TOO_LONG.to_owned()) };
    let holds = fit.is_ok();
    let (Ok(because) | Err(because)) = fit;
    ConsideredRule { rule: rule.render_name(), decision: rule.decision, holds, because }
}

/// Returns why an allow applies, or why not. For a list of commands, names those to which it
/// applies.
fn check_allow_rule(rule: &Rule, act: &Act, moment: &Moment) -> Result<String, String> {
    if let Some(reason) = act.doubt_reason() {
        return Err(reason);
    }
    let Some(commands) = act.commands() else { return rule.allows(act, moment) };
    let mut why_not = Err("it runs other commands".into());
    let mut found = Vec::new();
    let mut left: Vec<_> = commands.iter().map(|command| (command.clone(), 0)).collect();
    while let Some((command, depth)) = left.pop() {
        match rule.allows_command(&command, act, moment) {
            Ok(_) => found.push(format!("`{}`", short_command(&command.render_line()))),
            Err(reason) => {
                why_not = Err(reason);
                let inner = command
                    .wrapped_script(&act.home, depth)
                    .filter(crate::shell::ShellScript::is_clear);
                let inner = inner.into_iter().flat_map(|inner| inner.commands);
                // A wrapper is judged by what it starts, as in `Policy::all_allowed`.
                left.extend(inner.map(|command| (command, depth + 1)));
            }
        }
    }
    // The commands were taken from the end of the list.
    found.reverse();
    if found.is_empty() { why_not } else { Ok(format!("it allows {}", found.join(", "))) }
}
