//! Writes rules for calls: one for exactly a call, and wider ones that cover calls like it.

use std::fmt::Write as _;

use callgate_wire::tool_act::ToolKind;
use serde_json::Value;

use crate::act::{Act, ActClass};
use crate::disk::NoLinks;
use crate::file::{Problem, RuleFile, RuleProblemLevel};
use crate::guard::GuardedSet;
use crate::judge::judge_act;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::rule::{RuleDecision, Trust};
use crate::shell::ShellCommand;
use crate::shown::short_path;

/// How the placeholder of a hidden secret begins.
const HIDDEN: &str = "[hidden ";
/// The longest name of a proposed rule, in characters.
const LONGEST_NAME: usize = 40;
/// The most arguments of a tool that a rule repeats.
const MOST_ARGUMENTS: usize = 8;

/// The conditions of a rule, as its lines in TOML.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RuleConditions {
    lines: Vec<(&'static str, String)>,
    /// What the name is made of.
    subject: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleProposal {
    pub name: String,
    /// The rule, as one `[[rule]]`.
    pub toml: String,
}

/// Writes a rule for exactly this call in its project. `until` is when it ends, and `taken` are the
/// names of other rules. Returns why there can be none, if so.
pub fn propose_rule(
    act: &Act,
    decision: RuleDecision,
    until: Option<&str>,
    taken: &[&str],
) -> Result<RuleProposal, String> {
    // A deny needs no certainty, so a doubt does not stand in its way.
    if let Some(reason) = act.doubt_reason().filter(|_| decision == RuleDecision::Allow) {
        return Err(format!("no rule can allow this, because {reason}"));
    }
    let conditions = exact_conditions(act, decision)?;
    let proposal = conditions.rule(decision, until, taken);
    let file = RuleFile::from_toml("the proposed rule", &proposal.toml, Trust::User);
    let is_error = |problem: &&Problem| problem.level == RuleProblemLevel::Error;
    if let Some(problem) = file.problems.iter().find(is_error) {
        return Err(format!("no rule can be written for this call: {}", problem.message));
    }
    // The rule is tried on its call, because patterns cannot express every call.
    let policy = Policy::new(GuardedSet::new(&act.home)).with_file(&file, None);
    // The end is in the future, and the beginning of time is before it.
    let verdict = judge_act(&policy, act, &NoLinks, &Moment::from_unix_ms(0, 0));
    if verdict.decision != decision {
        return Err(format!("no rule can be written for this call: {}", verdict.because));
    }
    Ok(proposal)
}

fn exact_conditions(act: &Act, decision: RuleDecision) -> Result<RuleConditions, String> {
    check_literal(act)?;
    let conditions = match &act.script {
        Some(script) => {
            let named = |command: &ShellCommand| exact_pattern(&command_words(command)?);
            let patterns = script.commands.iter().map(named);
            let patterns: Option<Vec<String>> = if decision == RuleDecision::Allow {
                // An allow has to cover every command of the line, or it would not apply to it.
                patterns.collect()
            } else {
                // One that is known is enough for a rule that tightens.
                patterns.flatten().last().map(|last| vec![last])
            };
            let patterns = patterns.filter(|patterns| !patterns.is_empty());
            let patterns =
                patterns.ok_or("no rule can name a command whose words are not known")?;
            let subject = patterns.last().cloned().unwrap_or_default();
            RuleConditions { lines: vec![("command", toml_texts(&patterns))], subject }
        }
        None => tool_conditions(act, &act.paths, &act.hosts),
    };
    let conditions = conditions.in_project(act);
    if conditions.lines.iter().any(|(_, value)| value.contains(HIDDEN)) {
        return Err("part of this call is hidden, so no rule can repeat it".to_owned());
    }
    Ok(conditions)
}

/// Returns an error if a name in a call would be a pattern in a rule, which has no quotes for it.
fn check_literal(act: &Act) -> Result<(), String> {
    let is_tool = act.script.is_none();
    let of_tool = act.paths.iter().chain(&act.hosts).chain([&act.tool]).filter(|_| is_tool);
    match of_tool.chain([&act.project]).find(|name| is_pattern(name)) {
        Some(name) => {
            Err(format!("`{}` would stand for other names, too, in a rule", short_path(name)))
        }
        None => Ok(()),
    }
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?']) || name.starts_with(['!', '~'])
}

/// Returns conditions that hold for this call, the narrowest first, and for calls like it.
pub(crate) fn similar_conditions(act: &Act) -> Vec<RuleConditions> {
    let mut all: Vec<RuleConditions> =
        exact_conditions(act, RuleDecision::Allow).into_iter().collect();
    if let Some(commands) = act.commands() {
        // What begins with the same words, for each number of words that may be a subcommand.
        let [command] = commands else { return all };
        let Some(words) = command_words(command) else { return all };
        // From the narrower to the wider, as the order of the result promises.
        for count in (1..=2).rev().filter(|count| words.len() > *count) {
            let is_fixed = |word: &String| !word.starts_with('-') && !word.contains('/');
            if words[1..count].iter().all(is_fixed)
                && let Some(fixed) = exact_pattern(&words[..count])
            {
                let pattern = format!("{fixed} *");
                let lines = vec![("command", toml_texts(std::slice::from_ref(&pattern)))];
                all.push(RuleConditions { lines, subject: pattern }.in_project(act));
            }
        }
        return all;
    }
    if matches!(act.class, ActClass::Read | ActClass::Write) && act.paths.len() == 1 {
        let folder = act.paths[0].rsplit_once('/').map(|(folder, _)| folder).unwrap_or_default();
        let inside = folder.strip_prefix(&*act.project).and_then(|rest| rest.strip_prefix('/'));
        let wider = match inside {
            Some(below) if is_pattern(below) => Vec::new(),
            Some(below) => vec![format!("{below}/**"), "**".to_owned()],
            None if folder == act.project => vec!["**".to_owned()],
            None => Vec::new(),
        };
        all.extend(
            wider.into_iter().map(|path| tool_conditions(act, &[path], &[]).in_project(act)),
        );
    }
    if act.kind == ToolKind::Mcp {
        let lines = vec![("tool", toml_texts(std::slice::from_ref(&act.tool)))];
        all.push(RuleConditions { lines, subject: act.tool.clone() }.in_project(act));
    }
    all
}

fn tool_conditions(act: &Act, paths: &[String], hosts: &[String]) -> RuleConditions {
    let mut lines = vec![("tool", toml_texts(std::slice::from_ref(&act.tool)))];
    let mut subject = act.tool.clone();
    for (key, values) in [("path", paths), ("host", hosts)] {
        if let Some(first) = values.first() {
            lines.push((key, toml_texts(values)));
            subject = format!("{subject} {first}");
        }
    }
    if paths.is_empty() && hosts.is_empty() {
        lines.extend(argument_table(act).map(|arguments| ("arguments", arguments)));
    }
    RuleConditions { lines, subject }
}

/// Returns the arguments of a tool as a table, if all of them are short plain texts.
fn argument_table(act: &Act) -> Option<String> {
    let input: serde_json::Map<String, Value> = serde_json::from_str(act.input.as_ref()?).ok()?;
    if input.is_empty() || input.len() > MOST_ARGUMENTS {
        return None;
    }
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    };
    let fields = input.iter().map(|(name, value)| {
        // In a rule these characters would match other texts, too.
        let text = value.as_str().filter(|text| !text.contains(['*', '?', '\\', '!', '[']))?;
        (is_name(name) && text.len() <= 200).then(|| format!("{name} = {}", toml_string(text)))
    });
    let fields: Option<Vec<String>> = fields.collect();
    Some(format!("{{ {} }}", fields?.join(", ")))
}

impl RuleConditions {
    fn in_project(mut self, act: &Act) -> Self {
        self.lines.push(("project", toml_string(&act.project)));
        self
    }

    pub(crate) fn rule(
        &self,
        decision: RuleDecision,
        until: Option<&str>,
        taken: &[&str],
    ) -> RuleProposal {
        let name = name_of(&self.subject, taken);
        let mut toml =
            format!("[[rule]]\nname = {}\ndecide = \"{decision}\"\n", toml_string(&name));
        for (key, value) in &self.lines {
            // Writing to a string cannot fail.
            let _ = writeln!(toml, "{key} = {value}");
        }
        if let Some(until) = until {
            let _ = writeln!(toml, "until = {}", toml_string(until));
        }
        RuleProposal { name, toml }
    }
}

/// Returns the words of a command, if all of them are known.
fn command_words(command: &ShellCommand) -> Option<Vec<String>> {
    let words = command.assigns.iter().chain(&command.words);
    words.map(|word| word.text().map(str::to_owned)).collect()
}

fn exact_pattern(words: &[String]) -> Option<String> {
    if words.is_empty() {
        return None;
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "/_-.,:=@%+".contains(c);
    let word = |word: &String| match word.as_str() {
        word if !word.is_empty() && word.chars().all(plain) => Some(word.to_owned()),
        word if !word.contains('\'') => Some(format!("'{word}'")),
        _ => None,
    };
    let words: Option<Vec<String>> = words.iter().map(word).collect();
    Some(words?.join(" "))
}

/// Returns texts as TOML: one as a string, several as a list.
fn toml_texts(texts: &[String]) -> String {
    match texts {
        [text] => toml_string(text),
        texts => {
            format!(
                "[{}]",
                texts.iter().map(|text| toml_string(text)).collect::<Vec<_>>().join(", ")
            )
        }
    }
}

/// Returns a text as a string in TOML, which JSON's strings are as well.
fn toml_string(text: &str) -> String {
    // JSON lets this character stand as it is, and TOML does not.
    Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

/// Returns a name for a rule that no other rule has.
fn name_of(subject: &str, taken: &[&str]) -> String {
    let is_kept = |c: char| c.is_alphanumeric() || ".-_".contains(c);
    let words: Vec<&str> = subject.split(|c| !is_kept(c)).filter(|word| !word.is_empty()).collect();
    let name: String = words.join("-").chars().take(LONGEST_NAME).collect();
    let name = if name.is_empty() { "rule".to_owned() } else { name };
    let free = |name: &String| !taken.contains(&name.as_str());
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone()).chain(numbered).find(free).unwrap_or(name)
}

#[cfg(test)]
mod tests;
