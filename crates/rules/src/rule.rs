//! One rule: what it is about, and whether it applies to an act.

pub(crate) mod arguments;
pub(crate) mod command;
pub(crate) mod host;
mod local;
pub(crate) mod path;
mod verb;
pub(crate) mod written;

pub use callgate_wire::desk::RuleDecision;

use callgate_wire::approval::AllowDemands;
use callgate_wire::tool_act::ToolKind;

use crate::act::{Act, ActClass};
use crate::glob::{ComparisonBias, can_meet, literal_toks, name_pattern};
use crate::moment::{HourSpan, Moment, RuleEnd, Weekdays, is_within};
use crate::place::is_in;
use crate::shell::ShellCommand;
use crate::shown::short_command;
use arguments::ArgumentCondition;
use command::CommandPattern;
use host::HostPattern;
use path::PathPattern;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamePattern {
    pub(crate) text: Box<str>,
}

impl NamePattern {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.into() }
    }

    pub(crate) fn fits(&self, name: &str, lean: ComparisonBias) -> bool {
        // Most names differ, and no pattern has to be built to see that.
        let is_plain = self.text.is_ascii() && !self.text.contains(['*', '?']);
        if is_plain && !name.eq_ignore_ascii_case(&self.text) && name.is_ascii() {
            return false;
        }
        can_meet(&literal_toks(name), &name_pattern(&self.text), lean)
    }
}

/// Whose rules they are: the level on which they apply. Of the verdicts of all levels the
/// strictest wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The team's, signed: they may allow, and the user's own cannot take back what they deny or
    /// ask about.
    Team,
    /// The user's own: they may allow.
    User,
    /// A project's: they came with the code and may only restrict. An `allow` in them is left out
    /// with a warning.
    Project,
}

#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Rule {
    /// Its name, unique in its file.
    pub name: String,
    pub decision: RuleDecision,
    pub trust: Trust,
    pub file: String,
    pub line: usize,
    /// Why it exists, in its author's words; an agent that is denied something reads it.
    pub reason: Option<String>,
    pub demands: AllowDemands,
    pub(crate) tool: Option<Vec<NamePattern>>,
    /// Words of the tool's name.
    pub(crate) verb: Option<Vec<NamePattern>>,
    pub(crate) class: Option<Vec<ActClass>>,
    pub(crate) command: Option<Vec<CommandPattern>>,
    /// The options that may follow a command that ends in `*`.
    pub(crate) options: Option<Vec<NamePattern>>,
    pub(crate) path: Option<Vec<PathPattern>>,
    /// The paths to which a rule that denies or asks does not apply.
    pub(crate) path_except: Option<Vec<PathPattern>>,
    pub(crate) host: Option<Vec<HostPattern>>,
    pub(crate) arguments: Vec<ArgumentCondition>,
    /// Whether no argument may be an address, or a path outside of the project.
    pub(crate) is_local: bool,
    pub(crate) project: Option<Vec<PathPattern>>,
    pub(crate) agent: Option<Vec<NamePattern>>,
    pub(crate) between: Option<HourSpan>,
    pub(crate) days: Option<Weekdays>,
    pub(crate) until: Option<RuleEnd>,
    /// The folder to which a project's rule is limited.
    pub(crate) scope: Option<String>,
}

/// Why a rule applies, or why not.
pub(crate) type RuleFit = Result<String, String>;

impl Rule {
    /// Returns the rule as it is shown: `` `builds` (rules.toml:3) ``.
    pub fn render_name(&self) -> String {
        shown_rule(&self.name, &self.file, self.line)
    }

    /// Returns true if the rule applies only at some times.
    pub(crate) fn depends_on_time(&self) -> bool {
        self.between.is_some() || self.days.is_some() || self.until.is_some()
    }

    pub fn is_over(&self, moment: &Moment) -> bool {
        self.until.is_some_and(|until| until.is_over(moment))
    }

    fn lean(&self) -> ComparisonBias {
        if self.decision == RuleDecision::Allow {
            ComparisonBias::Strict
        } else {
            ComparisonBias::Generous
        }
    }

    /// Checks what every kind of rule requires: who, where, when and by which tool.
    pub(crate) fn check_surroundings(&self, act: &Act, moment: &Moment) -> Result<(), String> {
        let lean = self.lean();
        if self.is_over(moment) {
            return Err("it has expired".into());
        }
        if !is_within(self.between, self.days, moment) {
            return Err("it holds at another time".into());
        }
        if let Some(scope) =
            self.scope.as_ref().filter(|scope| !act.projects().any(|project| is_in(project, scope)))
        {
            return Err(format!("it holds in {scope}"));
        }
        let misses = |patterns: &Option<Vec<NamePattern>>, name: &str| {
            patterns.as_ref().is_some_and(|patterns| !patterns.iter().any(|p| p.fits(name, lean)))
        };
        if misses(&self.tool, &act.tool) {
            return Err(format!("the tool is {}", act.tool));
        }
        if self.verb.as_ref().is_some_and(|verbs| !verb::has_matching_verb(verbs, &act.tool, lean))
        {
            return Err(format!("the tool is {}", act.tool));
        }
        if misses(&self.agent, &act.agent) {
            return Err(format!("the agent is {}", act.agent));
        }
        let is_other = |classes: &Vec<ActClass>| !classes.contains(&act.class);
        // A rule about writing also concerns a command that writes, although the class of the act
        // is `run`.
        if self.class.as_ref().is_some_and(is_other) && !self.is_about_written(act) {
            return Err(format!("the class is {}", act.class));
        }
        if let Some(patterns) = &self.project
            && !self.holds_by_names(act, |name| {
                patterns.iter().any(|pattern| pattern.holds(name, act, lean))
            })
        {
            return Err(format!("the project is {}", act.project));
        }
        if self.is_local {
            local::check_local_arguments(act)?;
        }
        if self.arguments.is_empty() {
            return Ok(());
        }
        arguments::check_all_conditions(&self.arguments, act, lean)
    }

    /// Returns true if the rule is about writing and the act is a command that writes: then its
    /// paths are those that the command writes.
    fn is_about_written(&self, act: &Act) -> bool {
        let is_written = |classes: &Vec<ActClass>| {
            classes.contains(&ActClass::Write) && !classes.contains(&act.class)
        };
        self.decision != RuleDecision::Allow
            && !act.written.is_empty()
            && self.class.as_ref().is_some_and(is_written)
    }

    /// Returns true if a condition is true for the project: by each of its names for a rule that
    /// allows, by one of them for the others.
    fn holds_by_names(&self, act: &Act, holds: impl Fn(&str) -> bool) -> bool {
        if self.decision == RuleDecision::Allow {
            act.projects().all(holds)
        } else {
            act.projects().any(holds)
        }
    }

    /// Returns why a rule that denies or asks applies, or why not. Anything that the act could do
    /// is enough.
    pub(crate) fn tightens(&self, act: &Act, moment: &Moment) -> RuleFit {
        self.check_surroundings(act, moment)?;
        let mut because = Vec::new();
        if let Some(patterns) = &self.command {
            because.push(command::find_command(patterns, act)?);
        }
        let is_about_written = self.is_about_written(act);
        let excepted = self.path_except.as_deref();
        if let Some(patterns) = &self.path {
            // Reading a file is not what a rule about writing forbids, so only written paths count
            // for it.
            let paths = if is_about_written { &act.written } else { &act.touched };
            because.push(path::find_touched_pattern(
                patterns,
                excepted.unwrap_or_default(),
                paths,
                act,
            )?);
        } else if let Some(patterns) = excepted {
            because.push(if is_about_written {
                written::find_written_outside(patterns, act)?
            } else {
                path::find_path_outside(patterns, self.command.as_deref(), act)?
            });
        }
        if let Some(patterns) = &self.host {
            because.push(host::find_mentioned_host(patterns, act)?);
        }
        // None of the conditions names a part of the act, for example if only the agent or the time
        // matters.
        if because.is_empty() {
            because.push(if is_about_written {
                written::shown_all(act)
            } else {
                self.matching_part(act)
            });
        }
        Ok(because.join(", "))
    }

    /// Returns why a rule that denies or asks would apply to something in a folder that is
    /// searched, removed or moved as a whole.
    pub(crate) fn reaches_swept(&self, act: &Act, moment: &Moment) -> Option<String> {
        self.check_surroundings(act, moment).ok()?;
        if let Some(patterns) = &self.command {
            command::find_command(patterns, act).ok()?;
        }
        let paths = if self.is_about_written(act) { &act.written } else { &act.swept };
        path::find_pattern_beneath(self.path.as_ref()?, paths, act)
    }

    /// Returns why a rule that denies or asks could apply to something in a folder whose contents
    /// another program is given.
    pub(crate) fn reaches_listed(&self, act: &Act, moment: &Moment) -> Option<String> {
        self.check_surroundings(act, moment).ok()?;
        if let Some(patterns) = &self.command {
            command::find_command(patterns, act).ok()?;
        }
        path::find_listed_pattern(self.path.as_ref()?, act)
    }

    /// Returns why a rule that allows applies to an act that runs nothing, or why not.
    pub(crate) fn allows(&self, act: &Act, moment: &Moment) -> RuleFit {
        self.check_surroundings(act, moment)?;
        if self.command.is_some() {
            // Otherwise an allow for a command would apply to tools that run none.
            return Err("no command is run".into());
        }
        // A pattern such as `mcp__*` is not enough: whoever wrote it may not have thought of code.
        let names_tool = self.tool.iter().flatten().any(|pattern| *pattern.text == *act.tool);
        if act.kind == ToolKind::Code && !names_tool {
            return Err("its code can use every tool, and the rule does not name this one".into());
        }
        if let Some(patterns) = &self.path {
            path::check_all_paths(patterns, &act.paths, act)?;
        }
        if let Some(patterns) = &self.host {
            host::check_all_hosts(patterns, act)?;
        }
        Ok(self.matching_part(act))
    }

    /// Returns why a rule that allows applies to one command of an act, or why not.
    pub(crate) fn allows_command(
        &self,
        command: &ShellCommand,
        act: &Act,
        moment: &Moment,
    ) -> RuleFit {
        self.check_surroundings(act, moment)?;
        let Some(patterns) = &self.command else {
            // A rule for a tool or a class must not allow every command that this tool runs.
            return Err("it names no command, and so allows none".into());
        };
        let mut named =
            patterns.iter().filter(|pattern| pattern.is_match(command, &act.home)).peekable();
        if named.peek().is_none() {
            return Err("it names other commands".into());
        }
        if let Some(options) = &self.options {
            let fits =
                |pattern: &CommandPattern| command::only_options(options, pattern.tail(command));
            // All matching patterns are tried, because they end at different words and so leave
            // different tails.
            if !named.any(fits) {
                return Err("it names other options".into());
            }
        }
        if let Some(patterns) = &self.project {
            let holds = |folder: &String| {
                patterns.iter().any(|p| p.holds(folder, act, ComparisonBias::Strict))
            };
            // The folders of the command count, because the line may have left that of the agent by
            // `cd`.
            let leads = command.folders.iter().flat_map(|folder| act.targets_of(folder));
            if let Some(folder) = command.folders.iter().chain(leads).find(|folder| !holds(folder))
            {
                return Err(format!("the command would run in {folder}"));
            }
        }
        if let Some(patterns) = &self.path {
            // Unlike for a deny, a word that could be any path prevents the allow.
            path::check_all_paths(patterns, &path::of_command(command)?, act)?;
        }
        Ok(format!("the command is `{}`", short_command(&command.render_line())))
    }

    /// Returns what part of the act the rule is about, as people see it.
    fn matching_part(&self, act: &Act) -> String {
        if self.path.is_some() && !act.paths.is_empty() {
            let paths: Vec<&str> = act.paths.iter().take(3).map(String::as_str).collect();
            format!("the path is {}", paths.join(", "))
        } else if self.host.is_some() && !act.hosts.is_empty() {
            format!("the host is {}", act.hosts.join(", "))
        } else if self.tool.is_some() || self.verb.is_some() {
            let fit = if self.arguments.is_empty() { "" } else { ", and its arguments fit" };
            format!("the tool is {}{fit}", act.tool)
        } else if self.class.is_some() {
            format!("the class is {}", act.class)
        } else if self.agent.is_some() {
            format!("the agent is {}", act.agent)
        } else if self.project.is_some() {
            format!("the project is {}", act.project)
        } else if !self.arguments.is_empty() {
            "its arguments fit".into()
        } else {
            "it holds at this time".into()
        }
    }
}

pub(crate) fn shown_rule(name: &str, file: &str, line: usize) -> String {
    format!("`{name}` ({file}:{line})")
}

#[cfg(test)]
mod tests;
