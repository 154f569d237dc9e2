//! `callgate team rules`: signs the rules of a team, takes them, and shows which apply.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use callgate_mask::text::visible_text;
use callgate_rules::file::LARGEST_FILE;
use callgate_rules::{RuleFile, Trust};
use callgate_store::now_ms;
use callgate_team::{LARGEST_BUNDLE, RuleBundle, TakenBundle, TeamKey, TeamRules};
use jiff::Timestamp;

use super::record_change;
use super::signing_file::SigningFile;
use crate::config::Config;
use crate::counted::counted_noun;
use crate::failure::{Failure, write_error_line};
use crate::policy::TeamFile;
use crate::text::{self, read_limited, without_mark};

#[derive(Debug, clap::Subcommand)]
pub(super) enum TeamRulesCommand {
    /// Sign a file of rules for the members of your team
    ///
    /// Writes a bundle, which members take with `callgate team rules take`. The first time, a key is
    /// made, which stays in callgate's data folder on this machine: whoever has it makes the rules
    /// of all members. Each bundle has a higher number than the one before, and no member takes an
    /// older one after a newer one.
    Sign {
        /// The rules, in the language of your own
        file: PathBuf,
        /// The name of the team, which is needed the first time
        #[arg(long, value_name = "NAME")]
        team: Option<String>,
        /// Where to write the bundle [default: FILE with the ending .bundle]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Take the rules of your team
    ///
    /// They apply at once, whether or not `callgate up` runs. A bundle that was altered, that
    /// another key has signed, or that is older than the one that applies changes nothing.
    Take {
        /// The bundle; - reads it from standard input
        bundle: PathBuf,
        /// The team's key, which is needed the first time, and is trusted from then on
        #[arg(long)]
        key: Option<TeamKey>,
    },
    /// Show which rules of a team apply on this machine
    Show,
}

impl TeamRulesCommand {
    pub(super) fn run(self, config: &Config) -> Result<(), Failure> {
        match self {
            Self::Sign { file, team, output } => {
                let output = output.unwrap_or_else(|| file.with_extension("bundle"));
                sign_rules(config, &file, team.as_deref(), &output)
            }
            Self::Take { bundle, key } => take_bundle(config, &bundle, key),
            Self::Show => show_rules(config),
        }
    }
}

fn sign_rules(
    config: &Config,
    file: &Path,
    team: Option<&str>,
    output: &Path,
) -> Result<(), Failure> {
    let unread = |error| Failure::Failed(format!("cannot read {}: {error}", file.display()));
    let rules = text::read_file(file, LARGEST_FILE as u64).map_err(unread)?;
    let rules = without_mark(&rules);
    let checked = RuleFile::from_toml(&file.display().to_string(), rules, Trust::Team);
    for problem in &checked.problems {
        write_error_line(&visible_text(&problem.to_string()));
    }
    if checked.has_errors() {
        return Err(Failure::Failed("the rules have errors, so nothing was signed".to_owned()));
    }
    let bundle = SigningFile::beside(&config.database)
        .sign_next(team, now_ms(), rules)
        .map_err(Failure::Failed)?;
    let unwritten = |error| Failure::Failed(format!("cannot write {}: {error}", output.display()));
    fs::write(output, bundle.to_json() + "\n").map_err(unwritten)?;
    let (key, count) = (bundle.key(), counted_noun(checked.rules.len(), "rule"));
    let (name, path) = (bundle.render_name(), output.display());
    writeln!(io::stdout(), "Signed {count}: {name}, in {path}\nEach member takes them with:")?;
    writeln!(io::stdout(), "    callgate team rules take {path} --key {key}")?;
    Ok(())
}

fn take_bundle(config: &Config, path: &Path, key: Option<TeamKey>) -> Result<(), Failure> {
    let shown = path.display();
    let text = if path == Path::new("-") {
        read_limited(io::stdin().lock(), LARGEST_BUNDLE as u64)
    } else {
        text::read_file(path, LARGEST_BUNDLE as u64)
    };
    let text = text.map_err(|error| Failure::Failed(format!("cannot read {shown}: {error}")))?;
    let refused = |why: &dyn std::fmt::Display| format!("{shown} was not taken: {why}");
    let bundle = RuleBundle::from_json(&text).map_err(|error| Failure::Failed(refused(&error)))?;
    let described = describe_bundle(&bundle);
    let mut told = format!("{described}. They apply already.");
    let changed = TeamFile::beside(&config.database).change(|kept| {
        let mut rules = trusted_rules(kept, key, &bundle).map_err(|error| refused(&error))?;
        let taken = rules.take(bundle.clone()).map_err(|error| refused(&error))?;
        if taken == TakenBundle::New {
            let summary = format!("Took {described}");
            let count = read_bundle(&bundle).rules.len();
            record_change(config, summary.clone(), count, bundle.rules())?;
            told = format!("{summary}. They apply now.");
        }
        Ok(rules)
    });
    changed.map_err(Failure::Failed)?;
    for problem in &read_bundle(&bundle).problems {
        write_error_line(&visible_text(&problem.to_string()));
    }
    writeln!(io::stdout(), "{told}")?;
    Ok(())
}

/// Returns the rules to which a bundle is added: those that are kept, or those of a key that the
/// user trusts from now on.
fn trusted_rules(
    kept: Option<TeamRules>,
    key: Option<TeamKey>,
    bundle: &RuleBundle,
) -> Result<TeamRules, String> {
    match (kept, key) {
        (Some(rules), Some(key)) if rules.key() != key => Err(format!(
            "this machine trusts another key, {}; to trust the new one: callgate team leave, \
             then take it again",
            rules.key()
        )),
        (Some(rules), _) => Ok(rules),
        (None, Some(key)) => Ok(TeamRules::trusting(key)),
        (None, None) => Err(format!(
            "this machine trusts no team yet. It is signed with the key {}. If that is your \
             team's, give it with --key",
            bundle.key()
        )),
    }
}

fn show_rules(config: &Config) -> Result<(), Failure> {
    let file = TeamFile::beside(&config.database);
    let kept = file.read();
    let kept = kept.map_err(|error| {
        Failure::Failed(format!(
            "{}: {error}. Until it is repaired no rule allows anything: take the team's newest \
             bundle again after `callgate team leave`",
            file.path().display()
        ))
    })?;
    let mut out = io::stdout().lock();
    match kept.as_ref().map(|rules| (rules.key(), rules.bundle())) {
        None => writeln!(out, "This machine belongs to no team.")?,
        Some((key, bundle)) => {
            let rules = bundle.map_or_else(|| "No rules yet".to_owned(), describe_bundle);
            writeln!(out, "{rules}\nkey {key}")?;
        }
    }
    Ok(())
}

fn read_bundle(bundle: &RuleBundle) -> RuleFile {
    RuleFile::from_toml(&bundle.render_name(), bundle.rules(), Trust::Team)
}

/// Describes a bundle in one line: `3 rules (team acme, rules 7, signed 2026-11-18T11:00:00Z)`.
fn describe_bundle(bundle: &RuleBundle) -> String {
    let count = counted_noun(read_bundle(bundle).rules.len(), "rule");
    let at = Timestamp::from_millisecond(bundle.signed_at_ms()).unwrap_or_default();
    format!("{count} ({}, signed {at:.0})", bundle.render_name())
}
