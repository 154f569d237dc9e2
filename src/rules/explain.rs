//! `callgate rules explain`: shows what is decided about a call, by which rule, and which other
//! rules hold.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use callgate_hooks::hook_command::shell_quoted;
use callgate_mask::text::{counted_noun, one_line};
use callgate_policy::RealDisk;
use callgate_rules::{Act, ConsideredRule, Explanation, RuleDecision, Trust};
use callgate_surroundings::read_live_rules;
use serde_json::{Value, json};

use super::{describe_undecided, name_of};
use crate::config::Config;
use crate::failure::Failure;
use crate::terminal::width::wrapped_for_terminal;

/// The call to explain.
#[derive(Debug, clap::Args)]
pub(super) struct ExplainArgs {
    /// The shell command, in quotes
    #[arg(required_unless_present_any = ["tool", "words"], value_name = "COMMAND", num_args = 1..)]
    command: Vec<String>,
    /// The words of a command without quotes
    #[arg(last = true, value_name = "WORD", conflicts_with_all = ["command", "tool"])]
    words: Vec<String>,
    /// Also show the rules that do not apply
    #[arg(long)]
    all: bool,
    /// A tool in place of a shell command, such as Write
    #[arg(long)]
    tool: Option<String>,
    /// The tool's input, as JSON
    #[arg(long, default_value = "{}", requires = "tool")]
    input: String,
    /// The agent that calls the tool
    #[arg(long, default_value = "claude-code")]
    agent: String,
    /// The folder in which the agent works [default: this folder]
    #[arg(long)]
    project: Option<PathBuf>,
}

impl ExplainArgs {
    /// Explains the call, which an agent makes in `folder` unless another one is named.
    pub(super) fn run(self, config: &Config, folder: PathBuf) -> Result<ExitCode, Failure> {
        let input = self.call_input()?;
        let folder = self.project.unwrap_or(folder);
        let tool = self.tool.as_deref().unwrap_or("Bash");
        let explained = explain_call(config, tool, &input, &self.agent, &folder)?;
        let mut text = Vec::new();
        write_verdict(config, &explained, &mut text)?;
        write_levels(&explained, &mut text)?;
        write_rules(&explained, self.all, &mut text)?;
        let text = wrapped_for_terminal(&String::from_utf8_lossy(&text), 4);
        io::stdout().write_all(text.as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }

    /// Returns the input of the tool as JSON.
    fn call_input(&self) -> Result<String, Failure> {
        let shell = |command: &str| json!({ "command": command }).to_string();
        match (&self.command[..], &self.words[..]) {
            ([], []) => Ok(self.input.clone()),
            ([command], _) | (_, [command]) => Ok(shell(command)),
            ([], words) => Ok(shell(&command_line(words))),
            (words, _) => {
                let words = words.join(" ");
                Err(Failure::Usage(format!(
                    "put the command in quotes, or behind two hyphens: \
                     callgate rules explain '{words}', or callgate rules explain -- {words}"
                )))
            }
        }
    }
}

/// Returns the command line that a shell reads as these words.
fn command_line(words: &[String]) -> String {
    let mut is_first = true;
    let word = |word: &String| match word.split_once('=') {
        // Variables before the program are set, if the name is not quoted.
        Some((name, value)) if is_first && is_variable(name) => {
            format!("{name}={}", if value.is_empty() { String::new() } else { shell_quoted(value) })
        }
        _ => {
            is_first = false;
            shell_quoted(word)
        }
    };
    words.iter().map(word).collect::<Vec<String>>().join(" ")
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn explain_call(
    config: &Config,
    tool: &str,
    input: &str,
    agent: &str,
    folder: &Path,
) -> Result<Explanation, Failure> {
    let is_object = serde_json::from_str::<Value>(input).is_ok_and(|value| value.is_object());
    if !is_object {
        let why = "the input is not a JSON object; give one as in --input '{\"file_path\":\"/a\"}'";
        return Err(Failure::Failed(why.to_owned()));
    }
    // The rules that the daemon would use; problems of the files are reported by `check`.
    let rules = read_live_rules(config, Arc::new(|_| ()));
    let (policy, around) = (rules.policy_for_folder(folder), rules.around());
    let act = Act::from_call(tool, input, &folder.display().to_string(), agent, &around.home);
    Ok(callgate_rules::explain_act(&policy, &act, &RealDisk, &around.moment_for(&policy)))
}

/// Writes what is decided, what that means in each mode, and what the command runs.
fn write_verdict(
    config: &Config,
    explained: &Explanation,
    output: &mut impl Write,
) -> io::Result<()> {
    let because = one_line(&explained.verdict.because).into_owned();
    writeln!(output, "{}: {because}", name_of(&explained.verdict))?;
    if explained.verdict.is_undecided() {
        for line in describe_undecided(config) {
            writeln!(output, "  {line}")?;
        }
    }
    if explained.verdict.is_unclear {
        writeln!(output, "  in every mode: it is treated like a command that an ask rule names")?;
    }
    if let Some(demand) = explained.verdict.demand_text() {
        writeln!(output, "  {}", one_line(&demand))?;
    }
    for command in &explained.commands {
        writeln!(output, "  runs: {}", one_line(command))?;
    }
    if let Some(doubts) = &explained.doubts {
        writeln!(output, "  no rule can allow it: {}", one_line(doubts))?;
    }
    Ok(())
}

/// Writes what each level decides, of which the strictest counts.
fn write_levels(explained: &Explanation, output: &mut impl Write) -> io::Result<()> {
    explained.levels.iter().try_for_each(|level| {
        let whose = match level.trust {
            Trust::Team => "the team's rules",
            Trust::User => "your rules",
            Trust::Project => "the project's rules",
        };
        writeln!(output, "  {whose}: {}", level.decision.map_or("nothing", RuleDecision::name))
    })
}

/// Writes the rule that decides, the other rules that hold, and with `all` the rest.
fn write_rules(explained: &Explanation, all: bool, output: &mut impl Write) -> io::Result<()> {
    let decides = |rule: &&ConsideredRule| {
        let name = explained.verdict.rule.as_ref();
        rule.holds
            && rule.decision == explained.verdict.decision
            && name.is_some_and(|name| rule.rule == name.render_name())
    };
    let mut write = |rule: &ConsideredRule, what: &str| {
        let because = one_line(&rule.because).into_owned();
        writeln!(output, "  {} {}: {what}: {because}", rule.decision.name(), rule.rule)
    };
    let considered = &explained.considered;
    for rule in considered.iter().filter(decides) {
        write(rule, "decides")?;
    }
    for rule in considered.iter().filter(|rule| rule.holds && !decides(rule)) {
        write(rule, "holds")?;
    }
    let others = considered.iter().filter(|rule| !rule.holds);
    if all {
        return others.into_iter().try_for_each(|rule| write(rule, "does not hold"));
    }
    match others.count() {
        0 => Ok(()),
        1 => writeln!(output, "  1 rule does not hold; --all shows it"),
        count => {
            writeln!(output, "  {} do not hold; --all shows them", counted_noun(count, "rule"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back_as_they_were_given() {
        let check = |words: &[&str], expected: &str| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(command_line(&words), expected);
        };
        check(&["git", "push", "--force"], "git push --force");
        check(&["git", "commit", "-m", "it's a; b"], r"git commit -m 'it'\''s a; b'");
        check(&["CC=my cc", "X=", "make", "A=b c"], "CC='my cc' X= make 'A=b c'");
        check(&["1=2", ""], "'1=2' ''");
    }
}
