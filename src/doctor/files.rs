//! Checks the settings file and the rules.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use callgate_policy::{PROJECT_RULES, TeamFile, read_rule_file, roles_path};
use callgate_rules::{Problem, RuleProblemLevel, Trust};
use callgate_surroundings::rule_surroundings;
use rustix::process::geteuid;

use super::finding::Findings;
use crate::config::Config;
use crate::team::{all_problems, read_roles};
use crate::team_register::read_ledger_roster;

/// Checks the settings file, which is known to be readable.
pub(super) fn check_settings_file(config: &Config, findings: &mut Findings) {
    let seconds = config.timeout_seconds.as_secs();
    let about = format!("a question stays open for {seconds} s");
    match &config.file {
        Some(file) if file.value.exists() => {
            let path = file.value.display();
            findings.add_ok("settings", format!("{path}; {about}"));
            only_ours("settings", &file.value, findings);
        }
        _ => findings.add_ok("settings", format!("no file, so the defaults apply; {about}")),
    }
}

/// Reports a file that somebody else may change.
fn only_ours(about: &'static str, path: &Path, findings: &mut Findings) {
    let Ok(metadata) = fs::metadata(path) else { return };
    let path = path.display();
    // Only writing matters here, because who can read a secret is checked where the secret is read.
    if metadata.mode() & 0o022 != 0 {
        findings.add_problem(
            about,
            format!("others can change {path}"),
            format!("chmod go-w {path}"),
        );
    }
    if metadata.uid() != geteuid().as_raw() {
        let text = format!("{path} belongs to user {}", metadata.uid());
        findings.add_problem(about, text, "own it, so that nobody else can change it");
    }
}

fn report_problems(
    about: &'static str,
    problems: &[Problem],
    correction: &str,
    findings: &mut Findings,
) {
    for problem in problems {
        match problem.level {
            RuleProblemLevel::Error => {
                findings.add_problem(about, problem.to_string(), correction);
            }
            RuleProblemLevel::Warning => {
                findings.add_warning(about, problem.to_string(), "look at it");
            }
        }
    }
}

/// Checks the roles of the team whose desk this is, if there is a file.
pub(super) fn check_roles(config: &Config, findings: &mut Findings) {
    let path = roles_path(config);
    let Some(file) = read_roles(&path) else { return };
    // A ledger that cannot be read is reported with the ledger.
    let problems = all_problems(&file, &read_ledger_roster(config).unwrap_or_default());
    let advice = "correct it: until then only the owner of this desk answers";
    report_problems("roles", &problems, advice, findings);
    if problems.is_empty() {
        findings.add_ok("roles", format!("{}; roles: {}", file.name, file.roles.len()));
    }
    only_ours("roles", &path, findings);
}

/// Checks the team's rules, the user's, and those of the working folder.
pub(super) fn check_rule_files(config: &Config, findings: &mut Findings) {
    let team = (TeamFile::beside(&config.database).path().to_owned(), Trust::Team);
    let user = (config.rules.clone(), Trust::User);
    let here = env::current_dir().unwrap_or_default();
    let projects = here.ancestors().map(|folder| (folder.join(PROJECT_RULES), Trust::Project));
    let mut files: Vec<_> =
        [team, user].into_iter().chain(projects).filter(|(path, _)| path.exists()).collect();
    files.dedup_by(|a, b| a.0 == b.0);
    if files.is_empty() {
        findings.add_ok("rules", "none of yours");
    }
    let now = rule_surroundings().now();
    for (path, trust) in files {
        let file = read_rule_file(&path, trust);
        let problems = file.problems_at(&now);
        report_problems("rules", &problems, "correct it", findings);
        if problems.is_empty() {
            let count = file.rules.len();
            findings.add_ok("rules", format!("{}; rules: {count}", file.name));
        }
        only_ours("rules", &path, findings);
    }
}
