//! `callgate config`: shows the settings and where each came from, and changes the settings file.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use callgate_link::file::create_private_folder;
use callgate_link::text_file::read_limited_text;
use callgate_mask::text::one_line;
use callgate_wire::HiddenText;
use callgate_wire::desk::SettingView;
use serde_json::Value;

use crate::agents::settings_file::{BackupChoice, SeenFile, SettingsFile};
use crate::config::{
    ChangeRefusal, ConfigProblems, ConfigReport, EveryFlag, SettingChange, changed_text, known_key,
    setting_json, settings_file,
};
use crate::failure::{Failure, write_error_line};
use crate::secrets::store_secret;
use crate::terminal::typed_secret::read_typed_secret;

/// The largest value that is read from standard input.
const LARGEST_VALUE: u64 = 64 * 1024;
/// The widest value beside which the origins are aligned, in characters.
const WIDEST_VALUE: usize = 40;
/// The exit code after Ctrl-C, as shells have it.
const CANCELLED: u8 = 130;

/// Show the settings and where each came from, and change the settings file
///
/// Exit codes: 0 done, 1 failed, or `get` found no value, 64 wrong command line or no such key, 78
/// wrong settings (a value that callgate would not accept is not written), 130 cancelled.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    what: ConfigCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ConfigCommand {
    /// Show every setting, its value, and where it came from
    ///
    /// Takes every flag of `callgate up` and `callgate agent`, to show what they would change.
    /// Secrets are never shown.
    Show {
        /// Print everything as one JSON object
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        flags: EveryFlag,
    },
    /// Print the value of one setting
    ///
    /// The exit code is 1 if it has no value. A secret is printed as the word "set".
    Get {
        /// The key, such as agent.model
        key: String,
        /// Print an object with the value, its origin and its help
        #[arg(long)]
        json: bool,
    },
    /// Set keys in the settings file, and leave everything else in it as it is
    ///
    /// Write a value as in an environment variable; a list may also be written as in TOML or JSON.
    /// With --stdin, leave out the value of the last key: it is read from standard input, which is
    /// how to set a secret. For a key such as `agent.api_key_keyring`, enter the secret itself: it
    /// is stored in the keyring and not in the file.
    Set {
        /// A key and its value; repeat both to set several at once
        #[arg(required = true, value_names = ["KEY", "VALUE"], num_args = 1.., allow_negative_numbers = true)]
        words: Vec<String>,
        /// Read the value of the last key from standard input; at a terminal it is not shown
        #[arg(long)]
        stdin: bool,
        /// Print the settings as `callgate config get --json` does, one on each line
        #[arg(long)]
        json: bool,
    },
    /// Remove keys from the settings file, so that they have their defaults
    Unset {
        /// The keys
        #[arg(required = true, value_name = "KEY")]
        keys: Vec<String>,
        /// Print the settings as `callgate config get --json` does, one on each line
        #[arg(long)]
        json: bool,
    },
}

impl ConfigArgs {
    /// Shows or changes the settings.
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        match self.what {
            ConfigCommand::Show { json, flags } => show_settings(file, &flags, json),
            ConfigCommand::Get { key, json } => print_setting(file, &key, json),
            ConfigCommand::Set { words, stdin, json } => set_settings(file, &words, stdin, json),
            ConfigCommand::Unset { keys, json } => {
                let changes = keys.iter().map(|key| SettingChange::unset(key));
                change_settings(file, &changes.collect::<Result<Vec<_>, _>>()?, json)
            }
        }
    }
}

fn show_settings(
    file: Option<&Path>,
    flags: &EveryFlag,
    is_json: bool,
) -> Result<ExitCode, Failure> {
    let report = ConfigReport::read_settings(file, flags);
    let text = if is_json { format!("{}\n", report.json()) } else { render_table(&report) };
    io::stdout().write_all(text.as_bytes())?;
    Ok(ConfigProblems::value_or_problems(ExitCode::SUCCESS, report.problems)?)
}

/// Returns the settings as a table for people.
fn render_table(report: &ConfigReport) -> String {
    let values = report.settings.iter().map(|it| one_line(&plain_value(&it.value)).into_owned());
    let values: Vec<String> = values.collect();
    let key_width = report.settings.iter().map(|it| it.key.len()).max().unwrap_or_default();
    let widths = values.iter().map(|value| value.chars().count());
    let value_width = widths.filter(|width| *width <= WIDEST_VALUE).max().unwrap_or_default();
    let file = report.file.as_ref().map(|file| {
        let is_there = if file.value.exists() { "" } else { " (absent)" };
        format!("settings file: {}{is_there}\n\n", file.value.display())
    });
    let rows =
        report.settings.iter().zip(&values).map(|(SettingView { key, origin, .. }, value)| {
            format!("{key:key_width$}  {value:value_width$}  {}\n", one_line(origin))
        });
    file.into_iter().chain(rows).collect()
}

/// Returns a value as a variable would have it.
fn plain_value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(plain_value).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

fn print_setting(file: Option<&Path>, key: &str, is_json: bool) -> Result<ExitCode, Failure> {
    let key = known_key(key)?;
    let mut report = ConfigReport::read_settings(file, &EveryFlag::default());
    // What is wrong with other keys does not keep this one from being printed.
    report.problems.retain(|problem| problem.scope.concerns(&[key]));
    ConfigProblems::value_or_problems((), report.problems)?;
    let text = match report.settings.into_iter().find(|setting| setting.key == key.name) {
        Some(setting) if is_json => format!("{}\n", setting_json(&setting)),
        None | Some(SettingView { value: Value::Null, .. }) => return Ok(ExitCode::FAILURE),
        Some(SettingView { value: Value::Array(list), .. }) => {
            list.iter().map(|element| plain_value(element) + "\n").collect()
        }
        Some(SettingView { value, .. }) => plain_value(&value) + "\n",
    };
    io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn set_settings(
    file: Option<&Path>,
    words: &[String],
    is_stdin: bool,
    is_json: bool,
) -> Result<ExitCode, Failure> {
    let (pairs, last) = match words {
        [pairs @ .., last] if is_stdin => (pairs, Some(last)),
        pairs => (pairs, None),
    };
    if pairs.len() % 2 != 0 {
        let text = "every key needs a value after it, and with --stdin the last one needs none";
        return Err(Failure::Usage(text.to_owned()));
    }
    let changes = pairs.chunks_exact(2).map(|pair| SettingChange::set(&pair[0], &pair[1]));
    let mut changes = changes.collect::<Result<Vec<_>, _>>()?;
    if let Some(name) = last {
        // A wrong name is refused before anybody types a secret.
        known_key(name)?;
        let Some(value) = read_value(name)? else {
            write_error_line("cancelled; nothing was changed");
            return Ok(ExitCode::from(CANCELLED));
        };
        changes.push(SettingChange::set_hidden(name, &value)?);
    }
    change_settings(file, &changes, is_json)
}

/// Reads the value of a key from standard input, without the end of its last line; at a terminal
/// one line that is not shown. Returns `None` if somebody cancels there.
fn read_value(key: &str) -> Result<Option<HiddenText>, Failure> {
    let input = io::stdin();
    let read = if input.is_terminal() {
        read_typed_secret(key)
    } else {
        let text = read_limited_text(input.lock(), LARGEST_VALUE);
        text.map(|text| Some(HiddenText::new(text.trim_end_matches(['\r', '\n']))))
    };
    read.map_err(|error| failure_of_error(format!("cannot read standard input: {error}")))
}

/// Makes the changes, all or none. A secret for the keyring is stored once it is known that the
/// settings file may say so.
pub(crate) fn write_changes(file: Option<&Path>, changes: &[SettingChange]) -> Result<(), Failure> {
    let none = || "there is no home folder; name a file with --config".to_owned();
    let place = settings_file(file).ok_or_else(none)?;
    let file = SettingsFile::new(place.value);
    for (entry, secret) in changes.iter().filter_map(|change| change.keyring_secret.as_ref()) {
        text_after_changes(&file, changes)?;
        // Before the lock below, because the keyring may wait for somebody who types its password.
        store_secret(entry.name(), secret).map_err(failure_of_error)?;
    }
    // Another process could change the file between reading and writing.
    let _lock = lock_folder(file.path()).map_err(failure_of_error)?;
    let (seen, text) = text_after_changes(&file, changes)?;
    if seen.as_ref().is_some_and(|seen| seen.text == text) {
        return Ok(());
    }
    file.write(seen.as_ref(), &text, BackupChoice::Leave).map_err(failure_of_error)
}

fn text_after_changes(
    file: &SettingsFile,
    changes: &[SettingChange],
) -> Result<(Option<SeenFile>, String), Failure> {
    let seen = file.read().map_err(failure_of_error)?;
    let old = seen.as_ref().map_or("", |seen| &seen.text);
    let text = changed_text(file.path(), old, changes)?;
    let has_secret = changes.iter().any(SettingChange::is_secret);
    if has_secret && seen.as_ref().is_some_and(SeenFile::is_open_to_others) {
        let path = file.path().display();
        return Err(format!("others can read {path}; keep it to yourself: chmod 600 {path}").into());
    }
    Ok((seen, text))
}

/// Waits until no other process changes a settings file in this folder. The lock is on the folder
/// itself, because the file is replaced and may not be there.
fn lock_folder(path: &Path) -> io::Result<File> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    create_private_folder(folder)?;
    let folder = File::open(folder)?;
    folder.lock()?;
    Ok(folder)
}

fn failure_of_error(error: impl Display) -> Failure {
    Failure::Failed(error.to_string())
}

/// Makes the changes, and prints the changed settings as they are in effect now.
fn change_settings(
    file: Option<&Path>,
    changes: &[SettingChange],
    is_json: bool,
) -> Result<ExitCode, Failure> {
    write_changes(file, changes)?;
    let mut report = ConfigReport::read_settings(file, &EveryFlag::default());
    report.settings.retain(|setting| changes.iter().any(|change| change.key.name == setting.key));
    let mut out = io::stdout().lock();
    for setting in &report.settings {
        let SettingView { key, value, origin, .. } = setting;
        if is_json {
            writeln!(out, "{}", setting_json(setting))?;
        } else {
            let value = if value.is_null() { "none".to_owned() } else { plain_value(value) };
            writeln!(out, "{key}: {} ({})", one_line(&value), one_line(origin))?;
        }
        if origin.starts_with("environment ") {
            write_error_line(&format!("{origin} overrides the settings file"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl From<ChangeRefusal> for Failure {
    fn from(refusal: ChangeRefusal) -> Self {
        match refusal {
            ChangeRefusal::Wrong(problems) => Self::Settings(problems),
            other => Self::Usage(other.to_string()),
        }
    }
}
