//! The settings as flags, for the commands that take them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use callgate_settings::{
    KeyFlag, SettingKey, Surroundings, ValueKind,
    keys::{is_key_used, iter_keys},
};
use clap::{Arg, ArgAction, ArgMatches};

const HEADING: &str = "Settings (over the environment and the settings file)";

/// The settings of the desk given on the command line.
pub(crate) type DeskFlags = SettingFlags<true, false>;
/// The settings of the agent runtime given on the command line.
pub(crate) type AgentFlags = SettingFlags<false, true>;
/// All settings that can be given on a command line.
pub(crate) type EveryFlag = SettingFlags<true, true>;

/// Settings given on the command line, with a flag for each key of the table that has one and that
/// the desk or the agent runtime uses.
#[derive(Debug, Clone, Default)]
pub(crate) struct SettingFlags<const FOR_DESK: bool, const FOR_AGENT: bool>(
    Vec<(&'static SettingKey, OsString)>,
);

impl<const FOR_DESK: bool, const FOR_AGENT: bool> SettingFlags<FOR_DESK, FOR_AGENT> {
    pub(crate) fn given_values(&self) -> &[(&'static SettingKey, OsString)] {
        &self.0
    }

    /// Returns the flags as words of a command line that means the same in every folder. Returns
    /// `None` if one is not UTF-8.
    pub(crate) fn command_line_words(&self, around: &Surroundings) -> Option<Vec<String>> {
        let word = |(key, text): &(&'static SettingKey, OsString)| {
            // Such a flag takes no value.
            if let KeyFlag::Fixed(name, ..) = key.flag {
                return Some(format!("--{name}"));
            }
            let is_path = matches!(key.kind, ValueKind::File | ValueKind::Socket);
            let path = Some(Path::new(text)).filter(|_| is_path && !text.is_empty());
            let value = path.map_or_else(|| text.clone(), |path| around.absolute(path).into());
            // One word, so that a value with a dash is not taken for an option.
            Some(format!("--{}={}", key.flag_name()?, value.to_str()?))
        };
        self.0.iter().map(word).collect()
    }

    /// Reads a command line that consists only of settings and `--config FILE`, and returns the
    /// file and the settings. Returns `None` for any other, such as a wrong one or a call for help:
    /// those are clap's, which costs a program that stays in memory some 400 KB.
    pub(crate) fn of_plain_words(
        words: impl IntoIterator<Item = OsString>,
    ) -> Option<(Option<PathBuf>, Self)> {
        let mut words = words.into_iter();
        let (mut file, mut given) = (None, Vec::new());
        while let Some(word) = words.next() {
            let option = word.to_str()?.strip_prefix("--")?;
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, value.into()),
                None => (option, words.next()?),
            };
            // With a dash it may be an option, and the value is missing.
            if value.is_empty() || value.as_encoded_bytes().starts_with(b"-") {
                return None;
            }
            if name == "config" && file.is_none() {
                file = Some(value.into());
                continue;
            }
            let key = Self::keys().find(|key| key.flag_name().as_deref() == Some(name))?;
            let is_new = !given.iter().any(|(other, _): &(&SettingKey, _)| other.name == key.name);
            match key.flag {
                KeyFlag::Repeated(_) => {}
                KeyFlag::Value if is_new => {}
                // Anything else is left to clap, such as a flag that is given twice, which it
                // reports.
                _ => return None,
            }
            given.push((key, value));
        }
        Some((file, Self(given)))
    }

    fn keys() -> impl Iterator<Item = &'static SettingKey> {
        let is_used = |key: &&SettingKey| {
            FOR_DESK && is_key_used(key, false) || FOR_AGENT && is_key_used(key, true)
        };
        iter_keys().filter(is_used)
    }
}

impl<const FOR_DESK: bool, const FOR_AGENT: bool> clap::Args for SettingFlags<FOR_DESK, FOR_AGENT> {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(Self::keys().filter_map(flag_of_key))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl<const FOR_DESK: bool, const FOR_AGENT: bool> clap::FromArgMatches
    for SettingFlags<FOR_DESK, FOR_AGENT>
{
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

fn flag_of_key(key: &'static SettingKey) -> Option<Arg> {
    let flag = Arg::new(key.name)
        .long(key.flag_name()?)
        .help(key.help())
        .help_heading(HEADING)
        .value_name(key.placeholder)
        .value_parser(clap::value_parser!(OsString))
        .allow_hyphen_values(matches!(key.kind, ValueKind::Ids(i64::MIN)));
    Some(match key.flag {
        KeyFlag::Repeated(_) => flag.action(ArgAction::Append),
        KeyFlag::Fixed(_, value, help) => {
            flag.action(ArgAction::Set).num_args(0).default_missing_value(value).help(help)
        }
        KeyFlag::Optional(_, value) => flag.num_args(0..=1).default_missing_value(value),
        KeyFlag::None | KeyFlag::Value => flag,
    })
}

#[cfg(test)]
mod tests {
    use clap::{Args, FromArgMatches};

    use super::*;

    /// The settings file, and the settings by name.
    type ReadFlags = (Option<PathBuf>, Vec<(&'static str, OsString)>);

    /// Reads a command line with clap, and returns the file and the settings in order.
    fn by_clap(words: &[&str]) -> Option<ReadFlags> {
        let config = Arg::new("config").long("config").value_parser(clap::value_parser!(PathBuf));
        let command = clap::Command::new("test").no_binary_name(true).arg(config);
        let matches = AgentFlags::augment_args(command).try_get_matches_from(words).ok()?;
        let flags = AgentFlags::from_arg_matches(&matches).ok()?;
        Some((matches.get_one::<PathBuf>("config").cloned(), in_order(&flags)))
    }

    fn plain(words: &[&str]) -> Option<ReadFlags> {
        let (file, flags) = AgentFlags::of_plain_words(words.iter().map(OsString::from))?;
        Some((file, in_order(&flags)))
    }

    fn in_order(flags: &AgentFlags) -> Vec<(&'static str, OsString)> {
        let mut given: Vec<_> =
            flags.given_values().iter().map(|(key, value)| (key.name, value.clone())).collect();
        given.sort_by_key(|(name, _)| *name);
        given
    }

    #[test]
    fn plain_words_mean_the_same_without_clap() {
        assert_eq!(plain(&[]), by_clap(&[]));
        let has_value =
            |key: &&SettingKey| !matches!(key.flag, KeyFlag::Fixed(..) | KeyFlag::Optional(..));
        let names = AgentFlags::keys().filter(has_value);
        let names: Vec<String> = names.filter_map(SettingKey::flag_name).collect();
        assert!(names.len() > 10, "{names:?}");
        for name in names.iter().map(String::as_str).chain(["config"]) {
            for value in ["7", "a b", "=", "ä"] {
                let (long, joined) = (format!("--{name}"), format!("--{name}={value}"));
                for words in [&[&long, value][..], &[&joined]] {
                    let found = plain(words);
                    assert!(found.is_some() && found == by_clap(words), "{words:?}: {found:?}");
                }
            }
        }
        let several = ["--root", "/a", "--config=c", "--model", "m", "--root=/b"];
        assert!(plain(&several).is_some_and(|found| Some(found) == by_clap(&several)));
    }

    #[test]
    fn all_other_words_are_left_to_clap() {
        for words in [
            &["--help"][..],
            &["-V"],
            &["words"],
            &["--model"],
            &["--model", "--root"],
            &["--model="],
            &["--model", "a", "--model", "b"],
            &["--config=a", "--config=b"],
            &["--unknown", "x"],
            &["--", "x"],
        ] {
            assert_eq!(plain(words), None, "{words:?}");
        }
    }
}
