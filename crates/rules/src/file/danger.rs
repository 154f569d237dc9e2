//! Finds rules that would allow more than their writer thinks, or that never apply.

pub(super) mod programs;

use callgate_mask::programs::{INTERPRETERS, SHELLS, WRAPPERS, is_one_of};
use callgate_mask::word_list::WordList;
use callgate_mask::words;
use callgate_wire::tool_act::ToolKind;

use super::RuleProblemLevel;
use super::fields::{FileSource, TableFields};
use crate::act::{ActClass, class_of};
use crate::glob::ComparisonBias;
use crate::place::last_name;
use crate::rule::command::CommandPattern;
use crate::rule::{Rule, RuleDecision};
use crate::shell::names::{CAN_RUN, STATEFUL};
use programs::{ESCAPES, EXAMPLES, HARMLESS, ONLY_BY_OPTIONS, TAKES_SCRIPT, WRITERS};

/// Reports what is dangerous in a rule. Returns true if the rule may still be used.
pub(super) fn check_rule(
    rule: &mut Rule,
    fields: &TableFields<'_>,
    source: &mut FileSource<'_>,
) -> bool {
    let errors = source.error_count();
    report_impossible(rule, fields, source);
    if rule.decision == RuleDecision::Allow {
        report_vague_allow(rule, fields, source);
        for pattern in rule.command.iter().flatten() {
            report_broad_pattern(pattern, rule.options.is_some(), fields, source);
        }
    }
    // A warning leaves the rule in force.
    source.error_count() == errors
}

/// Reports conditions that no act can satisfy.
fn report_impossible(rule: &Rule, fields: &TableFields<'_>, source: &mut FileSource<'_>) {
    let name = &rule.name;
    let is_class = |class| rule.class.as_ref().is_none_or(|classes| classes.contains(&class));
    if rule.command.is_some() && !is_class(ActClass::Run) {
        let message =
            format!("rule `{name}` never holds: only an act of class `run` has a `command`");
        source.error(fields.find_member("class"), message);
    }
    if rule.command.is_some() && rule.host.is_some() && rule.decision == RuleDecision::Allow {
        let message = format!(
            "rule `{name}`: which hosts a command reaches cannot be known, so that an allow cannot have \
             both `command` and `host`; write the address into the pattern of the command"
        );
        source.error(fields.find_member("host"), message);
    }
    let is_open = rule.command.iter().flatten().any(|pattern| pattern.is_open);
    if rule.options.is_some() && !(is_open && rule.decision == RuleDecision::Allow) {
        let message = format!(
            "rule `{name}`: `options` says what may follow in place of the `*` at the end of a \
             `command` that is allowed; here there is none"
        );
        source.error(fields.find_member("options"), message);
    }
    if rule.path_except.is_some() && rule.decision == RuleDecision::Allow {
        let message = format!(
            "rule `{name}`: a `path` with `!` is for rules that deny or ask; write which paths are \
             allowed"
        );
        source.error(fields.find_member("path"), message);
    }
    if rule.is_local && rule.decision != RuleDecision::Allow {
        let message = format!(
            "rule `{name}`: `local` is for rules that allow; a rule that denies or asks names the \
             paths and hosts that it is about"
        );
        source.error(fields.find_member("local"), message);
    }
    let asks = matches!(rule.decision, RuleDecision::Ask | RuleDecision::Confirm);
    for demand in rule.demands.list().filter(|_| !asks) {
        let message = format!(
            "rule `{name}`: `{demand}` is for rules that decide `ask` or `confirm`; here nobody is asked"
        );
        source.error(fields.find_member(demand.name()), message);
    }
    if rule.verb.is_some() && rule.tool.is_none() && rule.decision == RuleDecision::Allow {
        let message = format!(
            "rule `{name}`: an allow with `verb` also names the tools, such as \
             `tool = \"mcp__*\"`"
        );
        source.error(fields.find_member("verb"), message);
    }
    if rule.project.iter().flatten().any(crate::rule::path::PathPattern::is_relative) {
        let message =
            format!("rule `{name}`: a `project` is an absolute path, or one that begins with `~/`");
        source.error(fields.find_member("project"), message);
    }
}

fn report_vague_allow(rule: &Rule, fields: &TableFields<'_>, source: &mut FileSource<'_>) {
    let name = &rule.name;
    let says_what =
        ["tool", "verb", "class", "command", "path", "host"].iter().any(|key| fields.has(key));
    if !says_what {
        let message = format!(
            "rule `{name}` says who, where and when, but not what it allows; add one of: tool, class, \
             command, path, host"
        );
        return source.error(fields.at(), message);
    }
    let covers = |class: ActClass| {
        let names = |tool: &str| {
            rule.tool.iter().flatten().any(|pattern| pattern.fits(tool, ComparisonBias::Strict))
        };
        let names_one =
            || ToolKind::common().any(|(tool, kind)| class_of(kind) == class && names(tool));
        match (&rule.class, &rule.tool) {
            (None, None) => false,
            (classes, tools) => {
                classes.as_ref().is_none_or(|classes| classes.contains(&class))
                    && (tools.is_none() || names_one())
            }
        }
    };
    if rule.command.is_none() && covers(ActClass::Run) {
        let message = format!(
            "rule `{name}` would allow every command; say which with `command`, or write \
             `command = \"*\"` if you mean every one"
        );
        source.error(fields.at(), message);
    }
    if rule.path.is_none() && rule.command.is_none() && covers(ActClass::Write) {
        let message = format!(
            "rule `{name}` would allow changes to every file; say which with `path`, such as \
             `path = \"**\"` for all in the project"
        );
        source.error(fields.at(), message);
    }
    // A tool, a path or a host narrows these classes enough; the whole class is more than most
    // people mean.
    let is_any =
        rule.tool.is_none() && rule.path.is_none() && rule.command.is_none() && rule.host.is_none();
    if is_any
        && rule
            .class
            .iter()
            .flatten()
            .any(|class| matches!(class, ActClass::Network | ActClass::Other))
    {
        let message =
            format!("rule `{name}` allows a whole class; name the tools or hosts that you mean");
        source.report_problem(RuleProblemLevel::Warning, fields.find_member("class"), message);
    }
}

fn report_broad_pattern(
    pattern: &CommandPattern,
    lists_options: bool,
    fields: &TableFields<'_>,
    source: &mut FileSource<'_>,
) {
    let at = fields.find_member("command");
    let fixed = pattern.fixed_words();
    let fixed: Vec<&str> = fixed.iter().map(AsRef::as_ref).collect();
    let text = &pattern.text;
    let Some(&program) = fixed.first() else {
        if text.trim() == "*" {
            source.report_problem(
                RuleProblemLevel::Warning,
                at,
                "`*` allows every command that is fully understood",
            );
        } else {
            source.error(at, format!("`{text}`: the program of an allow has to be written out"));
        }
        return;
    };
    let is = |list: &WordList| is_one_of(program, list);
    let is_named = || fixed[1..].iter().any(|word| !is_own_word(word));
    if (is(SHELLS) || is(words!("eval source ."))) && !is_named()
        || is(WRAPPERS) && pattern.is_open && !names_program(&fixed)
    {
        let message = format!(
            "`{text}` would allow any command; write out the command that `{program}` is to run"
        );
        source.error(at, message);
    } else if runs_code(&fixed, pattern.is_open) {
        source.error(
            at,
            format!("`{text}` would allow any program text; write it out, or name a file"),
        );
    } else if is(STATEFUL) {
        let message =
            format!("`{text}` is never allowed: `{program}` changes what other commands mean");
        source.report_problem(RuleProblemLevel::Warning, at, message);
    } else if pattern.is_open
        && let Some(reason) = open_tail(&fixed, lists_options)
    {
        source.report_problem(
            RuleProblemLevel::Warning,
            at,
            format!("`{text}` also allows {reason}"),
        );
    }
    if pattern.has_wild_path() {
        let message = format!(
            "`{text}`: a `*` beside a slash also stands for `..`; use `path` to say which files are meant"
        );
        source.report_problem(RuleProblemLevel::Warning, at, message);
    }
}

/// Returns true if a program, by its name and without a version, is one of [`ESCAPES`].
fn is_escape_program(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // `python3.12` and `lua-5.4` are in the list without their versions.
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    [name.as_str(), bare].iter().any(|name| ESCAPES.binary_search(name).is_ok())
}

/// Returns what else the words that may follow a command allow, if that is more than names and
/// files.
fn open_tail(fixed: &[&str], lists_options: bool) -> Option<String> {
    let (program, words) = fixed.split_first()?;
    let is = |list: &WordList| is_one_of(program, list);
    // What follows belongs to the program that the wrapper runs.
    if is(WRAPPERS)
        && let Some(inner) = words.iter().position(|word| !is_own_word(word))
    {
        return open_tail(&words[inner..], lists_options);
    }
    let name = last_name(program);
    let by_options = is(ONLY_BY_OPTIONS);
    // The long lists come last: rules are read at every call without a desk.
    let has_ended = || by_options && (lists_options || words.contains(&"--"));
    let is_harmless = || {
        let is_harmless = |word: &&str| {
            HARMLESS.iter().any(|(program, commands)| *program == name && commands.contains(word))
        };
        words.first().is_some_and(is_harmless)
    };
    let has_script = || is(TAKES_SCRIPT) && words.iter().any(|word| !is_own_word(word));
    let is_known = || {
        is_escape_program(name)
            || [WRAPPERS, SHELLS, INTERPRETERS, CAN_RUN, WRITERS].into_iter().any(is)
    };
    if has_ended() || is_harmless() || has_script() || !is_known() {
        return None;
    }
    let command = words.first().map(|word| format!("{name} {word}"));
    let is_example =
        |(known, _): &&(&str, &str)| command.as_deref() == Some(*known) || *known == name;
    let example = EXAMPLES
        .iter()
        .find(is_example)
        .map(|(_, option)| format!(", such as `{option}`"))
        .unwrap_or_default();
    let advice = if by_options {
        "write out more words, end them with `--`, or list the `options` that may follow"
    } else {
        "write out more words"
    };
    Some(format!(
        "the options and arguments with which `{name}` runs other programs or writes \
         files{example}; {advice}"
    ))
}

/// Returns true if a wrapper is given a command to run. The word after an option may be the
/// option's value, unless the option is `--`.
fn names_program(fixed: &[&str]) -> bool {
    let takes_value = |word: &str| word.starts_with('-') && word != "--" && !word.contains('=');
    fixed.windows(2).any(|two| !is_own_word(two[1]) && !takes_value(two[0]))
}

/// Returns true for a word of a wrapper that names no program: an option, a number, another
/// wrapper.
fn is_own_word(word: &str) -> bool {
    word.starts_with('-')
        || word.starts_with(|c: char| c.is_ascii_digit())
        || word.contains('=')
        || is_one_of(word, WRAPPERS)
        || is_one_of(word, SHELLS)
}

/// Returns true if an interpreter takes its program as a text that the pattern leaves open.
fn runs_code(fixed: &[&str], is_open: bool) -> bool {
    let takes_text =
        ["-c", "-e", "-E", "-r", "--eval", "--command", "-lc", "-exec", "-execdir", "-ok"];
    let is_runner = |word: &&str| is_one_of(word, INTERPRETERS) || is_one_of(word, SHELLS);
    let last = fixed.last().map(|word| last_name(word));
    is_open && last.is_some_and(|last| takes_text.contains(&last)) && fixed.iter().any(is_runner)
}
