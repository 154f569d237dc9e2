//! `callgate rules`: what rules say, why, and what they would have said.

mod bench;
mod init;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use callgate_rules::{
    Act, Backtest, Decision, Level, Past, Policy, RuleFile, Trust, mask, run_cases, text,
};
use callgate_store::{Entry, Filter, Store};
use serde_json::{Value, json};

use crate::cli::Failure;
use crate::config::{Config, Flags};
use crate::disk::RealDisk;
use crate::policy::{PROJECT_RULES, Ruler, guarded, home, moment, read_file};

/// How many questions are read from the ledger at once.
const PAGE: usize = 1_000;
/// How many turned decisions are printed.
const MOST_PRINTED: usize = 50;

/// See what your rules decide, and why
///
/// Rules decide without asking you. They are in ~/.config/callgate/rules.toml; a project may
/// have its own in .callgate/rules.toml, which can only make things stricter. docs/guide/rules.md
/// describes the language.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Check rules for mistakes
    Check {
        /// Check this file instead of your rules and those of this folder
        file: Option<PathBuf>,
    },
    /// Explain what is decided about a command or a tool call, and why
    Explain {
        /// The shell command, in quotes
        #[arg(required_unless_present = "tool")]
        command: Option<String>,
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
    },
    /// Run the tests that are written in the rules
    Test {
        /// Test this file instead of your rules
        file: Option<PathBuf>,
    },
    /// Write starter rules, made for agents that work unattended
    ///
    /// Secrets and the gate's own files are denied; pushes, publishing, installs, the network and
    /// deletes outside the project ask you; reading, building and testing are allowed. Rules
    /// that are already there are not changed.
    Init {
        /// Print the starter rules and write nothing
        #[arg(long)]
        print: bool,
    },
    /// Measure how many questions rules cause, and what they let through
    ///
    /// Plays the calls of tasks through the rules. Without --tasks the tasks are the sessions in
    /// your ledger, and what you denied there is what they should not let through.
    Bench {
        /// Measure this file instead of your rules
        file: Option<PathBuf>,
        /// Measure the starter rules
        #[arg(long, conflicts_with = "file")]
        starter: bool,
        /// A file of tasks, one JSON object per line, as scripts/agentdojo-tasks prints them
        #[arg(long, value_name = "FILE", conflicts_with = "database")]
        tasks: Option<PathBuf>,
        /// The file with the ledger, if it is not the one of the settings
        #[arg(long, value_name = "FILE")]
        database: Option<PathBuf>,
    },
    /// Apply rules to everything in the ledger, and show what they would have decided
    Backtest {
        /// Apply this file instead of your rules
        file: Option<PathBuf>,
        /// The file with the ledger, if it is not the one of the settings
        #[arg(long, value_name = "FILE")]
        database: Option<PathBuf>,
    },
}

impl Args {
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        let config = Config::load(file, &Flags::default())?;
        let folder = std::env::current_dir()?;
        match self.what {
            What::Check { file } => check(&config, file.as_deref(), &folder),
            What::Explain { command, tool, input, agent, project } => {
                let folder = project.unwrap_or(folder);
                let input = match command {
                    Some(command) => json!({ "command": command }).to_string(),
                    None => input,
                };
                let tool = tool.as_deref().unwrap_or("Bash");
                explain(&config, tool, &input, &agent, &folder)
            }
            What::Test { file } => test(&config, file.as_deref(), &folder),
            What::Init { print } => init::run(&config.rules.value, print),
            What::Bench { file, starter, tasks, database } => {
                let user = if starter {
                    RuleFile::read("starter rules", init::STARTER, Trust::User)
                } else {
                    user_file(&config, file.as_deref())?
                };
                let tasks = if let Some(tasks) = tasks {
                    bench::read_tasks(&tasks)?
                } else {
                    let database = database.unwrap_or_else(|| config.database.value.clone());
                    ledger_tasks(&database)?
                };
                let now = moment(SystemTime::now());
                let mut output = io::stdout().lock();
                bench::print(&tasks, &policy(&config, &user), &home(), &now, &mut output)?;
                Ok(ExitCode::SUCCESS)
            }
            What::Backtest { file, database } => {
                let database = database.unwrap_or_else(|| config.database.value.clone());
                backtest(&config, file.as_deref(), &database)
            }
        }
    }
}

/// The user's rules, or the file that was named in their place; it has to be there then.
fn user_file(config: &Config, named: Option<&Path>) -> Result<RuleFile, Failure> {
    match named {
        Some(path) if !path.exists() => {
            Err(Failure::Failed(format!("there is no {}", path.display())))
        }
        Some(path) => Ok(read_file(path, Trust::User)),
        None => Ok(read_file(&config.rules.value, Trust::User)),
    }
}

/// The rules of the folders from this one up, each with its folder.
fn project_files(folder: &Path) -> Vec<(PathBuf, RuleFile)> {
    let with_rules = folder.ancestors().filter(|folder| folder.join(PROJECT_RULES).exists());
    with_rules
        .map(|folder| (folder.to_owned(), read_file(&folder.join(PROJECT_RULES), Trust::Project)))
        .collect()
}

fn policy(config: &Config, user: &RuleFile) -> Policy {
    Policy::new(guarded(config)).with(user, None)
}

fn check(config: &Config, named: Option<&Path>, folder: &Path) -> Result<ExitCode, Failure> {
    let mut files = vec![user_file(config, named)?];
    if named.is_none() {
        files.extend(project_files(folder).into_iter().map(|(_, file)| file));
    }
    let now = moment(SystemTime::now());
    let mut output = io::stdout().lock();
    let mut is_bad = false;
    for file in &files {
        let problems = file.check(&now);
        is_bad |= problems.iter().any(|problem| problem.level == Level::Error);
        for problem in &problems {
            writeln!(output, "{}", text::visible(&problem.to_string()))?;
        }
        let (rules, tests) = (file.rules.len(), file.cases.len());
        writeln!(output, "{}: {rules} rules, {tests} tests", text::visible(&file.name))?;
    }
    Ok(if is_bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn explain(
    config: &Config,
    tool: &str,
    input: &str,
    agent: &str,
    folder: &Path,
) -> Result<ExitCode, Failure> {
    let is_object = serde_json::from_str::<Value>(input).is_ok_and(|value| value.is_object());
    if !is_object {
        let why = "the input is not a JSON object; give one as in --input '{\"file_path\":\"/a\"}'";
        return Err(Failure::Failed(why.to_owned()));
    }
    // What the daemon would use; what is wrong with the files is for `check` to say.
    let policy = Ruler::new(config, Arc::new(|_| ())).policy(folder);
    let act = Act::of(tool, input, &folder.display().to_string(), agent, &home());
    let explained = callgate_rules::explain(&policy, &act, &RealDisk, &moment(SystemTime::now()));
    let mut output = io::stdout().lock();
    let because = text::one_line(&explained.verdict.because).into_owned();
    writeln!(output, "{}: {because}", explained.verdict.decision.name())?;
    for command in &explained.commands {
        writeln!(output, "  runs: {}", text::one_line(command))?;
    }
    if let Some(doubts) = &explained.doubts {
        writeln!(output, "  no rule can allow it: {}", text::one_line(doubts))?;
    }
    for rule in &explained.considered {
        let holds = if rule.holds { "holds" } else { "does not hold" };
        let because = text::one_line(&rule.because).into_owned();
        writeln!(output, "  {} {}: {holds}: {because}", rule.decision.name(), rule.rule)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn test(config: &Config, named: Option<&Path>, folder: &Path) -> Result<ExitCode, Failure> {
    let file = user_file(config, named)?;
    let policy = policy(config, &file);
    let (home, project) = (home(), folder.display().to_string());
    let results = run_cases(&policy, &file.cases, &home, &project, &moment(SystemTime::now()));
    let mut output = io::stdout().lock();
    let mut failed = 0;
    for result in results.iter().filter(|result| !result.is_passed()) {
        failed += 1;
        let (line, expected) = (result.case.line, result.case.expect.name());
        let got = result.verdict.decision.name();
        let because = text::one_line(&result.verdict.because).into_owned();
        writeln!(output, "{}:{line}: expected {expected}, got {got}: {because}", file.name)?;
    }
    for problem in file.problems.iter().filter(|problem| problem.level == Level::Error) {
        failed += 1;
        writeln!(output, "{}", text::visible(&problem.to_string()))?;
    }
    writeln!(output, "{} tests, {failed} failed", results.len())?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn backtest(config: &Config, named: Option<&Path>, database: &Path) -> Result<ExitCode, Failure> {
    let user = user_file(config, named)?;
    let policy = policy(config, &user);
    let failed = |error: &dyn std::error::Error| Failure::Failed(error.to_string());
    let store = Store::open_read_only(database).map_err(|error| failed(&error))?;
    let past = questions(&store).map_err(|error| failed(&error))?;
    let mut summaries = std::collections::HashMap::new();
    let acts = past.into_iter().map(|(past, summary)| {
        summaries.insert(past.label.clone(), summary);
        past
    });
    let result = policy.backtest(acts.collect::<Vec<_>>());
    report(&result, &summaries)?;
    Ok(if result.let_through_count == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn ledger_tasks(database: &Path) -> Result<Vec<bench::BenchTask>, Failure> {
    let failed = |error: &dyn std::error::Error| Failure::Failed(error.to_string());
    let store = Store::open_read_only(database).map_err(|error| failed(&error))?;
    bench::ledger_tasks(&store).map_err(|error| failed(&error))
}

fn report(
    result: &Backtest,
    summaries: &std::collections::HashMap<String, String>,
) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    let count = |decision| result.count(decision);
    writeln!(
        output,
        "{} questions: {} would be allowed, {} denied, {} asked",
        result.acts,
        count(Decision::Allow),
        count(Decision::Deny),
        count(Decision::Ask)
    )?;
    let lists = [
        ("denied then, let through now", result.let_through_count, &result.let_through),
        ("allowed then, denied now", result.newly_denied_count, &result.newly_denied),
    ];
    for (what, count, list) in lists {
        if count > 0 {
            writeln!(output, "{count} {what}:")?;
        }
        for turned in list.iter().take(MOST_PRINTED) {
            let summary = summaries.get(&turned.label).map_or("", String::as_str);
            let because = text::one_line(&turned.verdict.because).into_owned();
            writeln!(output, "  {} {}: {because}", turned.label, text::one_line(summary))?;
        }
        if count > MOST_PRINTED {
            writeln!(output, "  … and {} more", count - MOST_PRINTED)?;
        }
    }
    Ok(())
}

/// Every question in the ledger, with what was decided on it and its summary.
fn questions(store: &Store) -> Result<Vec<(Past, String)>, callgate_store::StoreError> {
    let kinds = vec!["asked".to_owned(), "decided".to_owned()];
    let filter = Filter { kinds, ..Filter::default() };
    let mut past: Vec<(Past, String)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    let mut after = 0;
    loop {
        let entries = store.entries(&filter, after, PAGE)?;
        let Some(last) = entries.last() else { return Ok(past) };
        after = last.seq;
        for entry in &entries {
            let body: Value = serde_json::from_str(&entry.body).unwrap_or_default();
            let question = entry.question.clone().unwrap_or_default();
            if entry.kind == "asked" {
                places.insert(question, past.len());
                past.push(asked(entry, &body));
            } else if let Some((past, _)) = places.get(&question).and_then(|at| past.get_mut(*at)) {
                past.decided = decided(&body);
            }
        }
    }
}

fn asked(entry: &Entry, body: &Value) -> (Past, String) {
    let request = &body["request"];
    let words = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (tool, cwd, agent) =
        (words(&request["tool_name"]), words(&request["cwd"]), words(&request["agent"]));
    let act = Act::of(&tool, &request["tool_input"].to_string(), &cwd, &agent, &home());
    let since = Duration::from_millis(u64::try_from(entry.at_ms).unwrap_or_default());
    let moment = moment(SystemTime::UNIX_EPOCH + since);
    let label = entry.question.as_deref().unwrap_or_default().chars().take(8).collect();
    let summary = mask::text(&words(&body["summary"])).shown().to_owned();
    (Past { label, act, moment, decided: Decision::Ask }, summary)
}

fn decided(body: &Value) -> Decision {
    match body["decision"].as_str() {
        Some("allow") => Decision::Allow,
        Some("deny") => Decision::Deny,
        _ => Decision::Ask,
    }
}
