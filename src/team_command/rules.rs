//! `callgate team rules`: signs the rules of a team, takes them, and shows which apply.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use callgate_link::text_file::{read_limited_text, read_text_file};
use callgate_mask::text::without_mark;
use callgate_mask::text::{counted_noun, visible_text};
use callgate_policy::TeamFile;
use callgate_rules::file::LARGEST_FILE;
use callgate_rules::{RuleFile, Trust};
use callgate_store::now_ms;
use callgate_team::{LARGEST_BUNDLE, RuleBundle, TeamKey};

use super::BY;
use super::signing_file::SigningFile;
use crate::config::Config;
use crate::failure::{Failure, write_error_line};
use crate::team::{BundleIntake, describe_bundle, fetch_once, put_bundle};
use crate::team_database::open_store;

#[derive(Debug, clap::Subcommand)]
pub(super) enum TeamRulesCommand {
    /// Sign a file of rules for the members of your team
    ///
    /// Writes a bundle, which members take with `callgate team rules take`. The first time, a key
    /// is made, which stays in callgate's data folder on this machine: whoever has it makes the
    /// rules of all members. Each bundle has a higher number than the one before, and no member
    /// takes an older one after a newer one.
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
        /// The bundle: a file, an https:// address, or - for standard input
        ///
        /// `callgate up` looks every minute whether there is a newer bundle at an address.
        #[arg(value_name = "FILE|ADDRESS")]
        bundle: String,
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
    let rules = read_text_file(file, LARGEST_FILE as u64).map_err(unread)?;
    let rules = without_mark(&rules);
    let checked = RuleFile::from_toml(&file.display().to_string(), rules, Trust::Team);
    for problem in &checked.problems {
        write_error_line(&visible_text(&problem.to_string()));
    }
    if checked.has_errors() {
        return Err("the rules have errors, so nothing was signed".into());
    }
    // A number is used up here, so mistakes in the rules are looked for before.
    let bundle = SigningFile::beside(&config.database).sign_next(team, now_ms(), rules)?;
    let unwritten = |error| Failure::Failed(format!("cannot write {}: {error}", output.display()));
    fs::write(output, bundle.to_json() + "\n").map_err(unwritten)?;
    let (key, count) = (bundle.key(), counted_noun(checked.rules.len(), "rule"));
    let (name, path) = (bundle.render_name(), output.display());
    writeln!(io::stdout(), "Signed {count}: {name}, in {path}\nEach member takes them with:")?;
    writeln!(io::stdout(), "    callgate team rules take {path} --key {key}")?;
    Ok(())
}

fn take_bundle(config: &Config, from: &str, key: Option<TeamKey>) -> Result<(), Failure> {
    let is_address = from.starts_with("https://") || from.starts_with("http://");
    let text = if is_address {
        fetch_once(config, from)
    } else if from == "-" {
        let text = read_limited_text(io::stdin().lock(), LARGEST_BUNDLE as u64);
        text.map_err(|error| error.to_string())
    } else {
        let text = read_text_file(Path::new(from), LARGEST_BUNDLE as u64);
        text.map_err(|error| error.to_string())
    };
    let text = text.map_err(|error| Failure::Failed(format!("cannot read {from}: {error}")))?;
    let source = is_address.then_some(from);
    // All desks that share a database take the new key's rules from it, if somebody has said so.
    let replaces_key = config.team.database_url.is_some();
    let taken = BundleIntake { config, key, replaces_key, source, by: BY }.take(&text);
    let taken = taken.map_err(|why| Failure::Failed(format!("{from} was not taken: {why}")))?;
    for problem in &taken.problems {
        write_error_line(&visible_text(&problem.to_string()));
    }
    let end = if taken.is_new { "They apply now." } else { "They apply already." };
    writeln!(io::stdout(), "{}. {end}", taken.summary)?;
    // Only after this machine has checked and taken them.
    if let Some(told) = share_bundle(config, &text, key.is_some()) {
        writeln!(io::stdout(), "{told}")?;
    }
    if is_address {
        let then = "From its next start on, `callgate up` takes newer ones from there by itself.";
        writeln!(io::stdout(), "{then}")?;
    }
    Ok(())
}

/// Gives a bundle that was taken to the desks that share a database with this one. Returns what is
/// to be said; without a database there is nothing.
fn share_bundle(config: &Config, text: &str, replaces_key: bool) -> Option<String> {
    let shared = open_store(config).and_then(|store| {
        let Some(mut store) = store else { return Ok(None) };
        let bundle = RuleBundle::from_json(text).map_err(|error| error.to_string())?;
        put_bundle(store.as_mut(), &bundle, replaces_key, BY).map(Some)
    });
    match shared {
        Ok(shared) => shared.map(|()| "All desks of the team take them.".to_owned()),
        Err(why) => Some(format!("The other desks of the team do not have them yet: {why}")),
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
    match kept.as_ref().map(|rules| (rules.key(), rules.bundle(), rules.source())) {
        None => writeln!(out, "This machine belongs to no team.")?,
        Some((key, bundle, source)) => {
            let rules = bundle.map_or_else(|| "No rules yet".to_owned(), describe_bundle);
            writeln!(out, "{rules}\nkey {key}")?;
            if let Some(source) = source {
                writeln!(out, "from {source}")?;
            }
        }
    }
    Ok(())
}
