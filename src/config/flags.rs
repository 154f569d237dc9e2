//! The settings as flags, for the commands that take them.

use std::ffi::OsString;
use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches};

use super::keys::{KEYS, KeyFlag, SettingKey};
use super::surroundings::Surroundings;
use super::value::ValueKind;

const HEADING: &str = "Settings (over the environment and the settings file)";

/// The settings of the desk given on the command line.
pub(crate) type DeskFlags = SettingFlags<false>;
/// The settings of the agent runtime given on the command line.
pub(crate) type AgentFlags = SettingFlags<true>;

/// Settings given on the command line, with a flag for each key of the table that has one.
#[derive(Debug, Clone, Default)]
pub(crate) struct SettingFlags<const FOR_AGENT: bool>(Vec<(&'static SettingKey, OsString)>);

impl<const FOR_AGENT: bool> SettingFlags<FOR_AGENT> {
    /// Returns the keys and values that were given.
    pub(crate) fn given(&self) -> &[(&'static SettingKey, OsString)] {
        &self.0
    }

    /// Returns the flags as words of a command line that means the same in every folder. Returns
    /// `None` if one is not UTF-8.
    pub(crate) fn words(&self, around: &Surroundings) -> Option<Vec<String>> {
        let word = |(key, text): &(&'static SettingKey, OsString)| {
            let is_path = matches!(key.kind, ValueKind::File | ValueKind::Socket);
            let path = Some(Path::new(text)).filter(|_| is_path && !text.is_empty());
            let value = path.map_or_else(|| text.clone(), |path| around.absolute(path).into());
            Some(format!("--{}={}", key.flag_name()?, value.to_str()?))
        };
        self.0.iter().map(word).collect()
    }

    fn keys() -> impl Iterator<Item = &'static SettingKey> {
        KEYS.iter().filter(|key| key.is_used(FOR_AGENT))
    }
}

impl<const FOR_AGENT: bool> clap::Args for SettingFlags<FOR_AGENT> {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(Self::keys().filter_map(flag))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl<const FOR_AGENT: bool> clap::FromArgMatches for SettingFlags<FOR_AGENT> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Vec::new();
        for key in Self::keys().filter(|key| key.flag != KeyFlag::None) {
            let values = matches.get_many::<OsString>(key.name).into_iter().flatten();
            given.extend(values.map(|value| (key, value.clone())));
        }
        Ok(Self(given))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the flag of a key for clap, if it has one.
fn flag(key: &'static SettingKey) -> Option<Arg> {
    let flag = Arg::new(key.name)
        .long(key.flag_name()?)
        .help(key.help())
        .help_heading(HEADING)
        .value_name(key.kind.placeholder())
        .value_parser(clap::value_parser!(OsString))
        .allow_hyphen_values(matches!(key.kind, ValueKind::Ids { least: i64::MIN }));
    Some(match key.flag {
        KeyFlag::Repeated(_) => flag.action(ArgAction::Append),
        KeyFlag::Fixed(_, value, help) => {
            flag.action(ArgAction::Set).num_args(0).default_missing_value(value).help(help)
        }
        KeyFlag::None | KeyFlag::Value => flag,
    })
}
