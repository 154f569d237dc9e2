//! `callgate rules`: shows what rules decide and why, checks and measures them.

mod backtest;
mod bench;
mod explain;
mod init;
mod suggest;
mod user_rules;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use callgate_approval::desk::Unattended;
use callgate_mask::text;
use callgate_policy::{TeamFile, read_project_files, read_rule_file};
use callgate_rules::{
    Policy, RuleFile, RuleProblemLevel, STARTER_RULES, Trust, Verdict, run_tests,
};
use callgate_store::Store;
use callgate_surroundings::{build_guarded, rule_surroundings};

use crate::config::{Config, DeskFlags, WhenAbsent, load_config};
use crate::failure::Failure;

use explain::ExplainArgs;
pub(crate) use user_rules::UserRules;

/// See what your rules decide, and why
///
/// Rules decide without asking you. They are in ~/.config/callgate/rules.toml; a project may
/// have its own in .callgate/rules.toml, which can only make things stricter, and so may a team
/// (callgate team). docs/guide/rules.md describes the language.
#[derive(Debug, clap::Args)]
pub(crate) struct RulesArgs {
    #[command(subcommand)]
    what: RulesCommand,
}

#[derive(Debug, clap::Subcommand)]
enum RulesCommand {
    /// Check rules for mistakes
    Check {
        /// Check this file instead of your rules and those of this folder
        file: Option<PathBuf>,
    },
    /// Explain what is decided about a command or a tool call, and why
    ///
    /// Shows the rule that decides, and the other rules that apply. A command is one word in
    /// quotes, or follows two hyphens: callgate rules explain -- git push --force
    Explain(ExplainArgs),
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
    /// Suggest the few rules that would have answered most of what you allowed anyway
    ///
    /// Each comes with how many questions it would have saved, and what it would have let through
    /// beyond them. None covers anything that was ever denied. What is printed can be put into your
    /// rules.
    Suggest {
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

impl RulesArgs {
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        let config = load_config(file, &DeskFlags::default())?;
        let folder = std::env::current_dir()?;
        match self.what {
            RulesCommand::Check { file } => run_rule_check(&config, file.as_deref(), &folder),
            RulesCommand::Explain(call) => call.run(&config, folder),
            RulesCommand::Test { file } => run_rule_tests(&config, file.as_deref(), &folder),
            RulesCommand::Init { print } => init::init_rules(&config.rules, print),
            RulesCommand::Bench { file, starter, tasks, database } => {
                let user = if starter {
                    RuleFile::from_toml("starter rules", STARTER_RULES, Trust::User)
                } else {
                    user_file(&config, file.as_deref())?
                };
                let tasks = if let Some(tasks) = tasks {
                    bench::read_tasks(&tasks)?
                } else {
                    let database = database.unwrap_or_else(|| config.database.clone());
                    bench::tasks_of_ledger(&Store::open_read_only(&database)?)?
                };
                let around = rule_surroundings();
                let mut output = io::stdout().lock();
                bench::print_bench_table(
                    &tasks,
                    &user_policy(&config, &user),
                    &around.home,
                    &around.now(),
                    &mut output,
                )?;
                Ok(ExitCode::SUCCESS)
            }
            RulesCommand::Suggest { database } => {
                let database = database.unwrap_or_else(|| config.database.clone());
                let user = user_file(&config, None)?;
                suggest::print_suggestions(
                    &user_policy(&config, &user),
                    &build_guarded(&config),
                    &rule_surroundings(),
                    &database,
                )
            }
            RulesCommand::Backtest { file, database } => {
                let database = database.unwrap_or_else(|| config.database.clone());
                let user = user_file(&config, file.as_deref())?;
                backtest::run_backtest(&user_policy(&config, &user), &database)
            }
        }
    }
}

/// Returns the user's rules, or those of the file that was named instead, which has to exist.
fn user_file(config: &Config, named: Option<&Path>) -> Result<RuleFile, Failure> {
    match named {
        Some(path) if !path.exists() => Err(Failure::Failed(no_such_file(path))),
        Some(path) => Ok(read_rule_file(path, Trust::User)),
        None => Ok(read_rule_file(&config.rules, Trust::User)),
    }
}

/// Says that a file is missing, and what to do if a command was meant.
fn no_such_file(path: &Path) -> String {
    let path = path.to_string_lossy();
    let path = text::one_line(&path);
    let command = "; to see what is decided about a command: callgate rules explain 'COMMAND'";
    let hint = if path.contains(' ') { command } else { "" };
    format!("there is no file `{path}`{hint}")
}

/// Returns the rules of the team to which this machine belongs, if any.
fn team_file(config: &Config) -> Option<RuleFile> {
    let team = TeamFile::beside(&config.database);
    team.path().exists().then(|| read_rule_file(team.path(), Trust::Team))
}

fn user_policy(config: &Config, user: &RuleFile) -> Policy {
    Policy::new(build_guarded(config)).with_unclear(config.gate.unclear).with_file(user, None)
}

fn run_rule_check(
    config: &Config,
    named: Option<&Path>,
    folder: &Path,
) -> Result<ExitCode, Failure> {
    let mut files = vec![user_file(config, named)?];
    if named.is_none() {
        files.splice(..0, team_file(config));
        files.extend(read_project_files(folder).into_iter().map(|(_, file)| file));
    }
    let now = rule_surroundings().now();
    let mut output = io::stdout().lock();
    let mut is_bad = false;
    for file in &files {
        let problems = file.problems_at(&now);
        is_bad |= problems.iter().any(|problem| problem.level == RuleProblemLevel::Error);
        for problem in &problems {
            writeln!(output, "{}", text::visible_text(&problem.to_string()))?;
        }
        let (rules, tests) = (file.rules.len(), file.tests.len());
        writeln!(output, "{}: {rules} rules, {tests} tests", text::visible_text(&file.name))?;
    }
    Ok(if is_bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn name_of(verdict: &Verdict) -> &'static str {
    if verdict.is_undecided() { "undecided" } else { verdict.decision.name() }
}

/// Says what happens in each mode to what no rule decides.
fn describe_undecided(config: &Config) -> [String; 3] {
    let nobody = match config.gate.unattended {
        Unattended::Rules => "it is left to the mode, which may run it",
        Unattended::Ask => "you are asked, and no answer is a no",
    };
    let absent = match config.gate.when_absent {
        WhenAbsent::Agent => "it is left to the agent and its mode",
        WhenAbsent::Deny => "it is denied",
    };
    [
        "in modes that ask (default, acceptEdits, plan; Codex at a terminal): what the agent asks \
         comes to you, too"
            .to_owned(),
        format!(
            "in modes that ask nobody (auto, dontAsk, bypassPermissions, codex exec): {nobody}"
        ),
        format!("while no `callgate up` runs: {absent}"),
    ]
}

fn run_rule_tests(
    config: &Config,
    named: Option<&Path>,
    folder: &Path,
) -> Result<ExitCode, Failure> {
    let file = user_file(config, named)?;
    let policy = user_policy(config, &file);
    let (around, project) = (rule_surroundings(), folder.display().to_string());
    let results = run_tests(&policy, &file.tests, &around.home, &project, &around.now());
    let mut output = io::stdout().lock();
    let mut failed = 0;
    for result in results.iter().filter(|result| !result.is_passed()) {
        failed += 1;
        let (line, expected) = (result.test.line, result.test.expected_words());
        let got = name_of(&result.verdict);
        let because = text::one_line(&result.verdict.because).into_owned();
        writeln!(output, "{}:{line}: expected {expected}, got {got}: {because}", file.name)?;
    }
    // A rule with an error is left out, so tests that pass without it prove nothing.
    for problem in file.problems.iter().filter(|problem| problem.level == RuleProblemLevel::Error) {
        failed += 1;
        writeln!(output, "{}", text::visible_text(&problem.to_string()))?;
    }
    let open: Vec<_> = results
        .iter()
        .filter(|result| result.is_passed() && result.verdict.is_undecided())
        .collect();
    for result in &open {
        let because = text::one_line(&result.verdict.because).into_owned();
        writeln!(output, "{}:{}: passed, but {because}", file.name, result.test.line)?;
    }
    if !open.is_empty() {
        writeln!(output, "Where no rule decides:")?;
        for line in describe_undecided(config) {
            writeln!(output, "  {line}")?;
        }
    }
    writeln!(output, "{} tests, {failed} failed", results.len())?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
