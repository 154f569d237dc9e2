//! All rules together: what is decided on an act, and why.
//!
//! Deny beats confirm beats ask beats allow, whatever the order of the rules. What touches callgate
//! itself asks, whatever the rules say, unless a rule denies it or wants it confirmed. What no rule
//! decides is asked.

mod backtest;
mod defaults;
mod demands;
mod explain;

pub use backtest::{Backtest, LONGEST_LIST, TurnedVerdict};
pub use defaults::PolicyDefaults;
pub use explain::{ConsideredRule, Explanation, LevelVerdict};

use std::sync::Arc;

use callgate_wire::approval::AllowDemands;

use crate::act::Act;
use crate::file::RuleFile;
use crate::guard::GuardedSet;
use crate::moment::Moment;
use crate::outside::CommandBounds;
use crate::place::is_in;
use crate::rule::{Rule, RuleDecision, Trust, shown_rule};
use crate::shell::{ShellCommand, ShellScript};
use crate::shown::short_command;
use crate::steps;

/// The most commands of one line that an explanation names.
const MOST_SHOWN: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleName {
    pub name: String,
    pub file: String,
    pub line: usize,
    pub reason: Option<String>,
}

impl RuleName {
    /// Returns the rule as it is shown: `` `builds` (rules.toml:3) ``.
    pub fn render_name(&self) -> String {
        shown_rule(&self.name, &self.file, self.line)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    pub decision: RuleDecision,
    pub rule: Option<RuleName>,
    /// The reason in a sentence, with secrets masked.
    pub because: String,
    /// Whether it asks because it touches callgate itself: then nothing may allow it permanently.
    pub is_guarded: bool,
    /// Whether it asks because a rule, the guard or the judge requires a person to decide, rather
    /// than because nothing decides.
    pub wants_person: bool,
    /// Whether it asks because the command was not understood well enough to rule out that a rule
    /// or the guard concerns it.
    pub is_unclear: bool,
    pub demands: AllowDemands,
    /// The rules that demand it, as they are shown.
    pub demanded_by: Vec<String>,
}

callgate_wire::words! {
    /// What is done about a command that a rule that denies or asks could concern, if it is not
    /// understood well enough to tell.
    #[derive(Default)]
    pub enum UnclearCommands {
        /// A person is asked, as by a rule.
        #[default]
        Ask "ask",
        /// It is treated like a command that no rule names. What could be guarded is asked about
        /// all the same.
        Mode "mode",
    }
}

/// The rules of all files, what they may not decide, and what applies without them.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Shared with their files, because policies are copied: for each level, and for each rule that
    /// is tried.
    rules: Vec<Arc<Rule>>,
    guarded: Arc<GuardedSet>,
    defaults: PolicyDefaults,
    unclear: UnclearCommands,
    /// The folders in which commands may work, if they are limited.
    pub(crate) bounds: Option<CommandBounds>,
    broken: Vec<BrokenFile>,
    /// Whether a rule demands more than the yes of one person.
    has_demands: bool,
}

#[derive(Debug, Clone)]
struct BrokenFile {
    name: String,
    trust: Trust,
    /// The folder in which its rules would apply.
    scope: Option<String>,
}

impl Policy {
    /// Returns a policy without rules: everything asks.
    pub fn new(guarded: impl Into<Arc<GuardedSet>>) -> Self {
        Self {
            rules: Vec::new(),
            guarded: guarded.into(),
            defaults: PolicyDefaults::default(),
            unclear: UnclearCommands::default(),
            bounds: None,
            broken: Vec::new(),
            has_demands: false,
        }
    }

    /// Adds the rules of a file. Those of a project apply in `folder` and below it, those of
    /// the user and the team everywhere; a project's file without a folder applies everywhere too.
    ///
    /// While a file has errors, nothing is allowed where it applies: a rule that denies may be
    /// the one that could not be read.
    pub fn with_file(mut self, file: &RuleFile, folder: Option<&str>) -> Self {
        let scope = folder.filter(|_| file.trust == Trust::Project).map(crate::place::normal_path);
        if file.has_errors() {
            let (name, trust) = (file.name.clone(), file.trust);
            self.broken.push(BrokenFile { name, trust, scope: scope.clone() });
        }
        // The kinds of rules in a file were checked when it was read; this is a second check.
        let may_hold = |rule: &&Arc<Rule>| {
            file.trust != Trust::Project || rule.decision != RuleDecision::Allow
        };
        self.rules.extend(file.rules.iter().filter(may_hold).map(|rule| match &scope {
            None => Arc::clone(rule),
            Some(_) => Arc::new(Rule { scope: scope.clone(), ..Rule::clone(rule) }),
        }));
        self.has_demands |= file.rules.iter().any(|rule| !rule.demands.is_empty());
        self
    }

    /// Sets what applies where no rule decides.
    pub fn with_defaults(mut self, defaults: PolicyDefaults) -> Self {
        self.defaults = defaults;
        self
    }

    /// Sets what is done about commands that are not understood.
    pub fn with_unclear(mut self, unclear: UnclearCommands) -> Self {
        self.unclear = unclear;
        self
    }

    /// Sets the folders in which the commands of our own runtime may work. Whatever leads out of
    /// them is asked about, even if rules allow it.
    pub fn with_bounds(mut self, bounds: CommandBounds) -> Self {
        self.bounds = Some(bounds);
        self
    }

    pub fn rules(&self) -> &[Arc<Rule>] {
        &self.rules
    }

    /// Returns true if a rule applies only at some times.
    pub fn depends_on_time(&self) -> bool {
        self.rules.iter().any(|rule| rule.depends_on_time())
    }

    /// Decides on an act by the names in it; see [`judge`](crate::judge).
    pub(crate) fn decide_by_names(&self, act: &Act, moment: &Moment) -> Verdict {
        if let Some(reason) = &act.refused {
            return Verdict { decision: RuleDecision::Deny, ..Verdict::ask(reason.clone()) };
        }
        let (verdict, was_enough) =
            steps::run_with_budget(steps::JUDGING, || self.decide_within(act, moment));
        let is_whole = was_enough && !act.is_cut;
        // What was found within the budget stays found. That nothing was found proves nothing then.
        if is_whole || verdict.decision >= RuleDecision::Confirm || verdict.is_guarded {
            return verdict;
        }
        Verdict::ask_person(steps::TOO_LONG.to_owned())
    }

    fn decide_within(&self, act: &Act, moment: &Moment) -> Verdict {
        if let Some(verdict) = self.tightening_verdict(RuleDecision::Deny, act, moment) {
            return verdict;
        }
        let guarded = self.guarded.touches(act);
        // Before the question of the guard, which asks for less: a confirm needs a typed word.
        if let Some(verdict) = self.tightening_verdict(RuleDecision::Confirm, act, moment) {
            return Verdict { is_guarded: guarded.is_some(), ..verdict };
        }
        if let Some(reason) = guarded {
            let because = format!("no rule can allow this, because {reason}");
            return Verdict { is_guarded: true, ..Verdict::ask_person(because) };
        }
        if let Some(verdict) = self.tightening_verdict(RuleDecision::Ask, act, moment) {
            return verdict;
        }
        if let Some(reason) = self.unclear_reason(act, moment) {
            let because = format!("the command is not fully understood: {reason}");
            return Verdict { is_unclear: true, ..Verdict::ask_person(because) };
        }
        let verdict = match self.allowing_verdict(act, moment) {
            Ok(verdict) => verdict,
            Err(reason) => match self.defaults.allow_reason(act) {
                Some(because) => Verdict { decision: RuleDecision::Allow, ..Verdict::ask(because) },
                None => {
                    // The rule that could not be read might ask.
                    return self.broken_here(act).map_or(Verdict::ask(reason), Verdict::ask_person);
                }
            },
        };
        self.held_back(act, moment).map_or(verdict, Verdict::ask_person)
    }

    /// Returns why something in a command that is not known could be what a rule denies or asks
    /// about, or what is guarded.
    fn unclear_reason(&self, act: &Act, moment: &Moment) -> Option<String> {
        // Anything could also be what is guarded, so this does not depend on `unclear`.
        if let Some(form) = act.runs.anything {
            return Some(format!("it has {form}, and could run anything"));
        }
        let opened = act.with_unknown_opened();
        if opened.as_ref().is_some_and(|open| self.guarded.touches(open).is_some()) {
            return Some("something in it is not known and could be what is guarded".into());
        }
        let is_clear = opened.is_none() && act.listed.is_empty();
        if is_clear || self.unclear == UnclearCommands::Mode {
            return None;
        }
        let forbids = |rule: &&Arc<Rule>| rule.decision != RuleDecision::Allow;
        self.rules.iter().filter(forbids).take_while(|_| !steps::is_spent()).find_map(|rule| {
            let by_unknown = |open: &Act| rule.tightens(open, moment).ok();
            let reason = opened.as_ref().and_then(by_unknown);
            let subject = opened.as_ref().unwrap_or(act);
            let reason = reason.or_else(|| rule.reaches_listed(subject, moment))?;
            Some(format!("{reason}, which rule {} names", rule.render_name()))
        })
    }

    /// Returns the verdict of the first rule of a kind that applies.
    fn tightening_verdict(
        &self,
        decision: RuleDecision,
        act: &Act,
        moment: &Moment,
    ) -> Option<Verdict> {
        let rules = self.rules.iter().take_while(|_| !steps::is_spent());
        rules.filter(|rule| rule.decision == decision).find_map(|rule| {
            let reason = rule.tightens(act, moment).ok()?;
            if steps::is_spent() {
                // Comparisons without a budget find nothing, which proves nothing.
                return None;
            }
            let word = match decision {
                RuleDecision::Deny => "denied",
                RuleDecision::Confirm => "to be confirmed",
                RuleDecision::Ask | RuleDecision::Allow => "asked",
            };
            Some(Verdict::from_rule(
                rule,
                format!("{word} by rule {}: {reason}{}", rule.render_name(), reason_of(rule)),
            ))
        })
    }

    /// Returns a sentence about a file with errors that applies here.
    fn broken_here(&self, act: &Act) -> Option<String> {
        let is_here = |file: &&BrokenFile| {
            let is_within = |scope: &String| act.projects().any(|project| is_in(project, scope));
            file.scope.as_ref().is_none_or(is_within)
        };
        let file = &self.broken.iter().find(is_here)?.name;
        Some(format!("{file} has errors, and until they are corrected no rule allows anything"))
    }

    /// Returns why something that would be allowed is not.
    fn held_back(&self, act: &Act, moment: &Moment) -> Option<String> {
        if let Some(reason) = self.broken_here(act) {
            return Some(reason);
        }
        let forbids = |rule: &&Arc<Rule>| rule.decision != RuleDecision::Allow;
        let rules = self.rules.iter().take_while(|_| !steps::is_spent());
        rules.filter(forbids).find_map(|rule| {
            let reason = rule.reaches_swept(act, moment)?;
            let word = match rule.decision {
                RuleDecision::Deny => "denies",
                RuleDecision::Confirm => "wants confirmed",
                RuleDecision::Ask | RuleDecision::Allow => "asks for",
            };
            Some(format!("{reason}, which rule {} {word}", rule.render_name()))
        })
    }

    /// Returns the verdict if rules allow the act, or why they do not.
    fn allowing_verdict(&self, act: &Act, moment: &Moment) -> Result<Verdict, String> {
        if let Some(reason) = act.doubt_reason() {
            return Err(format!("no rule allows this, because {reason}"));
        }
        let allows = if let Some(commands) = act.commands() {
            self.all_allowed(commands, act, moment, 0)?
        } else {
            let allow =
                self.allowing_rules().find_map(|rule| Some((rule, rule.allows(act, moment).ok()?)));
            vec![allow.ok_or("no rule decides this")?]
        };
        let (first, _) = allows.first().ok_or("there is no command")?;
        let because: Vec<String> = allows
            .iter()
            .take(MOST_SHOWN)
            .map(|(rule, reason)| format!("allowed by rule {}: {reason}", rule.render_name()))
            .collect();
        let more = if allows.len() > MOST_SHOWN { "; and so on" } else { "" };
        Ok(Verdict::from_rule(first, format!("{}{more}", because.join("; "))))
    }

    fn allowing_rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|rule| &**rule).filter(|rule| rule.decision == RuleDecision::Allow)
    }

    /// Returns the rule that allows each of some commands, or the command that none allows.
    fn all_allowed(
        &self,
        commands: &[ShellCommand],
        act: &Act,
        moment: &Moment,
        depth: usize,
    ) -> Result<Vec<(&Rule, String)>, String> {
        let mut allows = Vec::new();
        for command in commands {
            let rule = self
                .allowing_rules()
                .find_map(|rule| Some((rule, rule.allows_command(command, act, moment).ok()?)));
            if let Some(allow) = rule {
                allows.push(allow);
                continue;
            }
            // What a wrapper starts is judged by itself, so that a rule for `make` covers `timeout
            // 9 make` too, and nobody has to allow `timeout`.
            let inner = command.wrapped_script(&act.home, depth).filter(ShellScript::is_clear);
            let Some(inner) = inner.filter(|inner| !inner.commands.is_empty()) else {
                return Err(format!("no rule decides `{}`", short_command(&command.render_line())));
            };
            allows.extend(self.all_allowed(&inner.commands, act, moment, depth + 1)?);
        }
        Ok(allows)
    }
}

impl Verdict {
    fn ask(because: String) -> Self {
        Self {
            decision: RuleDecision::Ask,
            rule: None,
            because,
            is_guarded: false,
            wants_person: false,
            is_unclear: false,
            demands: AllowDemands::default(),
            demanded_by: Vec::new(),
        }
    }

    /// Returns a verdict to ask that a rule, the guard or the judge requires.
    pub(crate) fn ask_person(because: String) -> Self {
        Self { wants_person: true, ..Self::ask(because) }
    }

    fn from_rule(rule: &Rule, because: String) -> Self {
        let Rule { name, file, line, reason, .. } = rule;
        let name = RuleName {
            name: name.clone(),
            file: file.clone(),
            line: *line,
            reason: reason.clone(),
        };
        Self {
            decision: rule.decision,
            rule: Some(name),
            wants_person: matches!(rule.decision, RuleDecision::Ask | RuleDecision::Confirm),
            ..Self::ask(because)
        }
    }
}

fn reason_of(rule: &Rule) -> String {
    rule.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default()
}

#[cfg(test)]
mod tests;
