//! What the desk's viewers ask about the rules: to see, check, explain, try and save them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callgate_approval::rule_desk::{RecordedCall, RuleDesk, SavedRules, WorkMonitor};
use callgate_link::text_file::read_text_file;
use callgate_mask::mask_text;
use callgate_rules::file::LARGEST_FILE;
use callgate_rules::{
    Act, Moment, Problem, Rule, RuleDecision, RuleFile, RuleProblemLevel, STARTER_RULES, Trust,
    TurnedVerdict, shell,
};
use callgate_settings::Config;
use callgate_store::{EntryFilter, Sha256Hash, Store, now_ms};
use callgate_wire::desk::{
    BacktestReport, CommandSegment, ExplainQuery, ExplainedDecision, ProposedRule, RiskNote,
    RuleExplanation, RuleFileView, RuleMatch, RuleProblem, RuleView, RulesView, SuggestedRule,
    SuggestedRules, TurnedCall, TurnedCount,
};
use callgate_wire::ledger::LedgerKind;
use jiff::Timestamp;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::ledger_suggestions::suggest_from_ledger;
use crate::live_rules::LiveRules;
use crate::past_questions::{
    is_of_other_machine, parse_asked_body, read_turned_question, replay_ledger,
};
use crate::real_disk::RealDisk;
use crate::rule_files::{read_project_files, read_rule_file};
use crate::team_file::TeamFile;

/// How many changed decisions are listed.
const MOST_LISTED: usize = 200;
/// The number of recent calls among whose folders projects with rules are looked for.
const MOST_RECENT: usize = 500;
/// The agent of a call for which none is named.
const AGENT: &str = "claude-code";

/// The file with the user's rules, which may be a link, and may be absent.
pub trait UserRulesFile: Send + Sync {
    /// Returns the text of the file; `None` if it is absent.
    fn read_text(&self) -> Result<Option<String>, String>;

    /// Replaces the text in one step, unless `is_as_seen` does not know the present one, which is
    /// empty if there is no file. Returns whether it was replaced.
    fn replace_text(&self, is_as_seen: &dyn Fn(&str) -> bool, text: &str) -> Result<bool, String>;
}

/// The rules of the user, served to viewers of the desk.
pub struct ServedRules {
    path: PathBuf,
    file: Box<dyn UserRulesFile>,
    database: PathBuf,
    ruler: Arc<LiveRules>,
}

impl ServedRules {
    /// Creates the service for these settings, next to the `ruler` that applies the rules.
    pub fn new(config: &Config, file: Box<dyn UserRulesFile>, ruler: Arc<LiveRules>) -> Self {
        Self { path: config.rules.clone(), file, database: config.database.clone(), ruler }
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn open_store(&self) -> Result<Store, String> {
        Store::open_read_only(&self.database).map_err(|error| error.to_string())
    }

    /// Returns the user's rules as they are now, with their text.
    fn user_file(&self) -> Result<(String, RuleFile), String> {
        let text = self.file.read_text()?.unwrap_or_default();
        let file = RuleFile::from_toml(&self.name(), &text, Trust::User);
        Ok((text, file))
    }

    /// Returns the rule files of the projects in which agents have worked lately.
    fn read_project_rules(&self) -> Result<Vec<RuleFileView>, String> {
        let failed = |error: callgate_store::StoreError| error.to_string();
        let filter = EntryFilter { kinds: vec![LedgerKind::Asked], ..EntryFilter::default() };
        let entries =
            self.open_store()?.entries_before(&filter, u64::MAX, MOST_RECENT).map_err(failed)?;
        let mut folders: Vec<PathBuf> = entries
            .iter()
            // The folders of other machines are not on this disk.
            .filter(|entry| !is_of_other_machine(entry))
            .map(|entry| PathBuf::from(parse_asked_body(&entry.body).recorded_request().cwd))
            .collect();
        folders.sort();
        folders.dedup();
        let mut files: Vec<RuleFile> =
            folders.iter().flat_map(|it| read_project_files(it)).map(|(_, file)| file).collect();
        files.sort_by(|one, other| one.name.cmp(&other.name));
        // Several folders may be in one project.
        files.dedup_by(|one, other| one.name == other.name);
        let now = self.ruler.around().now();
        let view = |file: RuleFile| {
            let text =
                read_text_file(Path::new(&file.name), LARGEST_FILE as u64).unwrap_or_default();
            view_of_file(file, &text, &now)
        };
        Ok(files.into_iter().map(view).collect())
    }

    /// Returns the rules of the team to which this machine belongs, if any.
    fn team_rules(&self) -> Option<Box<RuleFileView>> {
        let team = TeamFile::beside(&self.database);
        team.path().exists().then(|| {
            let file = read_rule_file(team.path(), Trust::Team);
            let kept = team.read().ok().flatten();
            let text = kept.as_ref().and_then(|rules| rules.bundle()).map_or("", |b| b.rules());
            Box::new(view_of_file(file, text, &self.ruler.around().now()))
        })
    }

    fn act_of(&self, call: &RecordedCall) -> Act {
        let home = &self.ruler.around().home;
        Act::from_call(&call.tool, &call.input, &call.project, &call.agent, home)
    }

    /// Describes a question that the rules decide differently.
    fn describe_turned(store: &Store, turned: &TurnedVerdict) -> Result<TurnedCall, String> {
        let (seq, entry, asked) =
            read_turned_question(store, turned).map_err(|error| error.to_string())?;
        Ok(TurnedCall {
            seq,
            at_ms: entry.map_or(0, |entry| entry.at_ms),
            summary: mask_text(&asked.summary).into_shown(),
            project: asked.recorded_request().cwd,
            was: turned.decided,
            would: turned.verdict.decision,
        })
    }
}

impl RuleDesk for ServedRules {
    fn current_rules(&self) -> Result<RulesView, String> {
        let (text, file) = self.user_file()?;
        let recommended = file.rules.is_empty().then(|| STARTER_RULES.to_owned());
        let RuleFileView { path, problems, rules } =
            view_of_file(file, &text, &self.ruler.around().now());
        Ok(RulesView {
            path,
            hash: hash_of_text(&text),
            problems,
            rules,
            recommended,
            team: self.team_rules(),
            projects: self.read_project_rules()?,
            text,
        })
    }

    fn check_rules(&self, text: &str) -> Vec<RuleProblem> {
        let file = RuleFile::from_toml(&self.name(), text, Trust::User);
        rule_problems(&file, &self.ruler.around().now())
    }

    fn explain_call(&self, query: &ExplainQuery) -> Result<RuleExplanation, String> {
        let command = query.command.as_ref().map(|text| json!({ "command": text }).to_string());
        let given = query.input.as_ref().map(|input| input.get().to_owned());
        let input = command.or(given).unwrap_or_else(|| "{}".to_owned());
        let tool = query.tool.as_deref().unwrap_or("Bash");
        let agent = query.agent.as_deref().unwrap_or(AGENT);
        let policy = self.ruler.policy_for_folder(Path::new(&query.project));
        let around = self.ruler.around();
        let act = Act::from_call(tool, &input, &query.project, agent, &around.home);
        let now = around.moment_for(&policy);
        // On the disk as it is, like a call that is made now.
        let explained = callgate_rules::explain_act(&policy, &act, &RealDisk, &now);
        let shown = |text: &str| mask_text(text).into_shown();
        let matches = explained.considered.iter().map(|rule| RuleMatch {
            rule: rule.rule.clone(),
            matches: rule.holds,
            text: shown(&rule.because),
        });
        let verdict = &explained.verdict;
        let decision = match verdict.decision {
            RuleDecision::Ask if verdict.is_undecided() => ExplainedDecision::Undecided,
            RuleDecision::Allow => ExplainedDecision::Allow,
            RuleDecision::Ask => ExplainedDecision::Ask,
            RuleDecision::Confirm => ExplainedDecision::Confirm,
            RuleDecision::Deny => ExplainedDecision::Deny,
        };
        let because = match verdict.demand_text() {
            Some(demand) => format!("{}. {demand}", verdict.because),
            None => verdict.because.clone(),
        };
        Ok(RuleExplanation {
            decision,
            because: shown(&because),
            considered: matches.collect(),
            segments: act.command.as_deref().map(shell::split_into_segments),
        })
    }

    fn backtest_rules(
        &self,
        text: &str,
        monitor: &WorkMonitor<'_>,
    ) -> Result<BacktestReport, String> {
        let file = RuleFile::from_toml(&self.name(), text, Trust::User);
        let store = self.open_store()?;
        let policy = self.ruler.policy_of(&file);
        let result = replay_ledger(&policy, self.ruler.around(), &store, &|done, total| {
            go_on(monitor, done, total)
        });
        let result = result.map_err(|error| error.to_string())?.ok_or(UNWANTED)?;
        let listed = |list: &[TurnedVerdict]| -> Result<Vec<TurnedCall>, String> {
            list.iter()
                .rev()
                .take(MOST_LISTED)
                .map(|turned| Self::describe_turned(&store, turned))
                .collect()
        };
        let mut turned = Vec::new();
        for from in RuleDecision::ALL {
            for to in RuleDecision::ALL.into_iter().filter(|to| *to != from) {
                let count = result.turned[from as usize][to as usize];
                turned.push(TurnedCount { from, to, count: count as u64 });
            }
        }
        turned.retain(|turned| turned.count > 0);
        Ok(BacktestReport {
            judged: result.acts as u64,
            let_through: listed(&result.let_through)?,
            let_through_count: result.let_through_count as u64,
            turned,
            saved: result.spared as u64,
            examples: listed(&result.newly_denied)?,
        })
    }

    fn save_rules(&self, text: &str, hash: &str) -> Result<SavedRules, String> {
        if text.len() > LARGEST_FILE {
            return Err(format!("the rules are longer than {LARGEST_FILE} bytes"));
        }
        let file = RuleFile::from_toml(&self.name(), text, Trust::User);
        let is_error = |problem: &&Problem| problem.level == RuleProblemLevel::Error;
        // A file with errors in force would keep all rules from allowing anything.
        if let Some(Problem { line, message, .. }) = file.problems.iter().find(is_error) {
            return Err(format!("line {line} is wrong, so nothing was saved: {message}"));
        }
        if !self.file.replace_text(&|before| hash_of_text(before) == hash, text)? {
            return Err(
                "the file was changed meanwhile, so nothing was saved: load it again".into()
            );
        }
        Ok(SavedRules { count: file.rules.len(), hash: hash_of_text(text) })
    }

    fn propose_rule(
        &self,
        call: &RecordedCall,
        decide: RuleDecision,
        seconds: Option<u64>,
    ) -> Result<ProposedRule, String> {
        let (_, file) = self.user_file()?;
        let taken: Vec<&str> = file.rules.iter().map(|rule| rule.name.as_str()).collect();
        let until = seconds.map(rule_end_after).transpose()?;
        let act = self.act_of(call);
        let proposed = callgate_rules::propose_rule(&act, decide, until.as_deref(), &taken)?;
        Ok(ProposedRule { toml: proposed.toml, name: proposed.name })
    }

    fn suggest_rules(&self, monitor: &WorkMonitor<'_>) -> Result<SuggestedRules, String> {
        let (_, file) = self.user_file()?;
        let (policy, store) = (self.ruler.policy_of(&file), self.open_store()?);
        let watch = |done, total| go_on(monitor, done, total);
        let found = suggest_from_ledger(
            &policy,
            &self.ruler.guarded(),
            self.ruler.around(),
            &store,
            &watch,
        );
        let found = found.map_err(|error| error.to_string())?.ok_or(UNWANTED)?;
        let rules = found.suggestions.iter().map(|suggestion| SuggestedRule {
            toml: suggestion.rule.toml.clone(),
            name: suggestion.rule.name.clone(),
            saves: suggestion.saves,
            beyond: found.calls_beyond(suggestion).collect(),
            beyond_count: suggestion.beyond.len() as u64,
        });
        Ok(SuggestedRules { rules: rules.collect() })
    }

    fn split_command(&self, command: &str) -> Vec<CommandSegment> {
        shell::split_into_segments(command)
    }

    fn risks_of_call(&self, call: &RecordedCall) -> Vec<RiskNote> {
        callgate_rules::find_risks(&self.act_of(call), &self.ruler.guarded())
    }
}

impl fmt::Debug for ServedRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedRules").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Why long work has no result.
const UNWANTED: &str = "nobody waits for the result any more";

fn go_on(monitor: &WorkMonitor<'_>, done: u64, total: u64) -> bool {
    monitor.report_progress(done, total);
    !monitor.is_cancelled()
}

fn hash_of_text(text: &str) -> String {
    Sha256Hash(Sha256::digest(text).into()).to_string()
}

/// Returns when a rule ends that holds for this many seconds: the next full minute.
fn rule_end_after(seconds: u64) -> Result<String, String> {
    let now = now_ms() / 1000;
    let end = i64::try_from(seconds).ok().and_then(|seconds| now.checked_add(seconds));
    let minute = end.and_then(|end| end.checked_add(59)).map(|end| end - end.rem_euclid(60));
    let end = minute.and_then(|minute| Timestamp::from_second(minute).ok());
    end.map(|end| end.to_string()).ok_or_else(|| "a rule cannot last that long".to_owned())
}

/// Returns a file with this text, as viewers see it.
fn view_of_file(file: RuleFile, text: &str, now: &Moment) -> RuleFileView {
    let (problems, rules) = (rule_problems(&file, now), rule_views(&file, text, now));
    RuleFileView { problems, rules, path: file.name }
}

fn rule_problems(file: &RuleFile, now: &Moment) -> Vec<RuleProblem> {
    let shown = |problem: Problem| RuleProblem {
        line: problem.line as u64,
        level: problem.level,
        text: problem.message,
    };
    file.problems_at(now).into_iter().map(shown).collect()
}

/// Returns the rules of a file with this text, as lists show them.
fn rule_views(file: &RuleFile, text: &str, now: &Moment) -> Vec<RuleView> {
    let view = |rule: &Arc<Rule>| {
        let text = text_of(text, rule.line);
        RuleView {
            name: rule.name.clone(),
            decide: rule.decision,
            line: rule.line as u64,
            until: read_rule_end(&text),
            is_over: rule.is_over(now),
            reason: rule.reason.clone(),
            source: file.name.clone(),
            text,
        }
    };
    file.rules.iter().map(view).collect()
}

/// Returns the table that begins in a line, up to the next one.
fn text_of(text: &str, line: usize) -> String {
    let mut lines = text.lines().skip(line.saturating_sub(1));
    let first = lines.next().unwrap_or_default();
    let rest = lines.take_while(|line| !line.trim_start().starts_with("[["));
    let whole: Vec<&str> = std::iter::once(first).chain(rest).collect();
    whole.join("\n").trim_end().to_owned()
}

/// Returns the end of a rule as it is written.
fn read_rule_end(rule: &str) -> Option<String> {
    let table: toml::Table = rule.parse().ok()?;
    match table.get("rule")?.get(0)?.get("until")? {
        toml::Value::String(until) => Some(until.clone()),
        toml::Value::Datetime(until) => Some(until.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
