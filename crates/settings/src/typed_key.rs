//! Keys that know the types of their values.

use std::marker::PhantomData;
use std::ops::Deref;
use std::path::PathBuf;
use std::time::Duration;

use callgate_agent::budget::price::{self, ModelPrices};
use callgate_agent::engine::CacheLife;

use callgate_agent::session::{LogLevel, ResumedConversation};
use callgate_approval::desk::Unattended;
use callgate_rules::UnclearCommands;
use callgate_wire::HiddenText;
use callgate_wire::desk::SettingAccess;

use crate::choices::{
    EffortSetting, EngineSetting, ShellTheme, WhenAbsent, is_model_name, parse_log_level,
};
use crate::setting_key::{KeyFlag, SettingKey};
use crate::value::{HiddenTables, SettingValue, ValueKind};

const RESUME: &str = "true, false or the id of a conversation in quotes";

/// A key whose value has the type `T`: an `Option` if there may be none.
///
/// A path, a secret and a table have to be checked together with their surroundings, so their
/// types are not [`SettingType`]s.
#[derive(Debug)]
pub struct Key<T> {
    /// The key without its type, for constants.
    pub key: SettingKey,
    value: PhantomData<fn() -> T>,
}

impl<T> Deref for Key<T> {
    type Target = SettingKey;

    fn deref(&self) -> &SettingKey {
        &self.key
    }
}

impl<T> Key<T> {
    pub(crate) const fn new(name: &'static str, kind: ValueKind) -> Self {
        Self { key: SettingKey::new(name, kind), value: PhantomData }
    }

    pub(crate) const fn about(mut self, about: &'static str) -> Self {
        self.key.about = about;
        self
    }

    pub(crate) const fn default(mut self, default: &'static str) -> Self {
        self.key.default = default;
        self
    }

    pub(crate) const fn note(mut self, note: &'static str) -> Self {
        self.key.note = note;
        self
    }

    pub(crate) const fn common(mut self, variable: &'static str) -> Self {
        self.key.common = Some(variable);
        self
    }

    pub(crate) const fn flag(mut self, flag: KeyFlag) -> Self {
        self.key.flag = flag;
        self
    }

    /// Lets a viewer set the key. It must name no program, file, socket or address.
    pub(crate) const fn set_by_viewers(mut self) -> Self {
        self.key.access = SettingAccess::Set;
        self
    }

    /// Lets a viewer send the secret that is kept in the keyring.
    pub(crate) const fn secret_of_viewers(mut self) -> Self {
        self.key.access = SettingAccess::Secret;
        self
    }

    /// Makes the value `None` unless somebody sets it. A default is then only for the guide.
    pub(crate) const fn optional(self) -> Key<Option<T>> {
        Key { key: self.key, value: PhantomData }
    }
}

/// The type of a value that depends on nothing but what was given.
pub trait SettingType: Sized {
    /// Converts a value of the key's kind. Without one, or if it is wrong, which is reported where
    /// it is checked, this is some value that nobody uses.
    fn of_value(value: Option<SettingValue>) -> Self;
}

/// The type of a whole number.
pub trait WholeNumber: SettingType {}

/// The type of one of a few words.
pub trait ChoiceWord: SettingType + 'static {
    /// The words that the help names.
    const WORDS: &'static [&'static str];

    /// Returns the meaning of a word in lower case.
    fn parse_word(word: &str) -> Option<Self>;
}

/// The address of a server, without a slash at its end.
pub struct ServerUrl(pub String);

macro_rules! whole_numbers {
    ($($number:ty),*) => {$(
        impl WholeNumber for $number {}

        impl SettingType for $number {
            fn of_value(value: Option<SettingValue>) -> Self {
                let Some(SettingValue::Whole(number)) = value else { return 0 };
                number.max(0).try_into().unwrap_or(Self::MAX)
            }
        }
    )*};
}

whole_numbers!(u16, u32, u64);

impl WholeNumber for Duration {}

impl SettingType for Duration {
    fn of_value(value: Option<SettingValue>) -> Self {
        Self::from_secs(u64::of_value(value))
    }
}

/// Declares which words a type has, its parser, and the value in place of a wrong word.
macro_rules! choice_words {
    ($($choice:ty: $words:expr, $parse:expr, $otherwise:expr;)*) => {$(
        impl ChoiceWord for $choice {
            const WORDS: &'static [&'static str] = &$words;

            fn parse_word(word: &str) -> Option<Self> {
                $parse(word)
            }
        }

        impl SettingType for $choice {
            fn of_value(value: Option<SettingValue>) -> Self {
                Self::parse_word(&String::of_value(value)).unwrap_or($otherwise)
            }
        }
    )*};
}

choice_words! {
    Unattended: Self::NAMES, Self::parse, Self::Rules;
    WhenAbsent: Self::NAMES, Self::parse, Self::Agent;
    UnclearCommands: Self::NAMES, Self::parse, Self::Ask;
    EngineSetting: Self::NAMES, Self::parse, Self::Auto;
    EffortSetting: Self::WORDS, Self::parse, Self(None);
    CacheLife: Self::NAMES, Self::parse, Self::default();
    LogLevel: Self::NAMES, parse_log_level, Self::Info;
    ShellTheme: Self::NAMES, Self::parse, Self::System;
}

impl SettingType for bool {
    fn of_value(value: Option<SettingValue>) -> Self {
        value == Some(SettingValue::Switch(true))
    }
}

impl SettingType for f64 {
    fn of_value(value: Option<SettingValue>) -> Self {
        let Some(SettingValue::Dollars(millionths)) = value else { return 0.0 };
        price::dollars_of_micro(millionths)
    }
}

impl SettingType for String {
    fn of_value(value: Option<SettingValue>) -> Self {
        let Some(SettingValue::Text(text)) = value else { return Self::new() };
        text.trim().to_owned()
    }
}

impl SettingType for ServerUrl {
    fn of_value(value: Option<SettingValue>) -> Self {
        Self(String::of_value(value).trim_end_matches('/').to_owned())
    }
}

impl SettingType for Vec<i64> {
    fn of_value(value: Option<SettingValue>) -> Self {
        let Some(SettingValue::Ids(ids)) = value else { return Self::new() };
        ids
    }
}

impl SettingType for ResumedConversation {
    fn of_value(value: Option<SettingValue>) -> Self {
        match value {
            Some(SettingValue::Switch(true)) => Self::Last,
            Some(SettingValue::Text(id)) if !id.is_empty() => Self::Id(id),
            _ => Self::None,
        }
    }
}

pub(crate) const fn socket_key(name: &'static str) -> Key<PathBuf> {
    Key::new(name, ValueKind::Socket)
}

pub(crate) const fn file_key(name: &'static str) -> Key<PathBuf> {
    Key::new(name, ValueKind::File)
}

pub(crate) const fn folders_key(name: &'static str) -> Key<Vec<PathBuf>> {
    Key::new(name, ValueKind::Folders)
}

pub(crate) const fn switch_key(name: &'static str) -> Key<bool> {
    Key::new(name, ValueKind::Switch)
}

pub(crate) const fn secret_key(name: &'static str) -> Key<HiddenText> {
    Key::new(name, ValueKind::Secret)
}

pub(crate) const fn command_key(name: &'static str) -> Key<Vec<String>> {
    Key::new(name, ValueKind::Command)
}

pub(crate) const fn dollars_key(name: &'static str) -> Key<f64> {
    Key::new(name, ValueKind::Dollars)
}

pub(crate) const fn resume_key(name: &'static str) -> Key<ResumedConversation> {
    Key::new(name, ValueKind::SwitchOrId { must_be: RESUME })
}

pub(crate) const fn tables_key(name: &'static str, must_be: &'static str) -> Key<HiddenTables> {
    Key::new(name, ValueKind::Tables { must_be })
}

pub(crate) const fn ids_key(name: &'static str, least: i64) -> Key<Vec<i64>> {
    Key::new(name, ValueKind::Ids { least })
}

/// Makes a key for the address of a server to which this secret is sent.
pub(crate) const fn url_key(name: &'static str, secret: &'static str) -> Key<ServerUrl> {
    Key::new(name, ValueKind::Url { secret })
}

pub(crate) const fn whole_key<T: WholeNumber>(
    name: &'static str,
    (least, most): (i64, i64),
    unit: &'static str,
) -> Key<T> {
    Key::new(name, ValueKind::Whole { least, most, unit })
}

pub(crate) const fn seconds_key(name: &'static str, range: (i64, i64)) -> Key<Duration> {
    whole_key(name, range, "SECONDS")
}

/// Makes a key whose value is text that `is_valid` accepts.
pub(crate) const fn text_key(
    name: &'static str,
    placeholder: &'static str,
    must_be: &'static str,
    is_valid: fn(&str) -> bool,
) -> Key<String> {
    Key::new(name, ValueKind::Text { placeholder, must_be, is_valid })
}

pub(crate) const fn model_key(name: &'static str, must_be: &'static str) -> Key<String> {
    text_key(name, "NAME", must_be, is_model_name)
}

pub(crate) fn is_price_list(text: &str) -> bool {
    ModelPrices::parse(text).is_some()
}

pub(crate) const fn choice_key<T: ChoiceWord>(
    name: &'static str,
    placeholder: &'static str,
) -> Key<T> {
    let is_valid = |text: &str| T::parse_word(text).is_some();
    Key::new(name, ValueKind::Choice { placeholder, words: T::WORDS, is_valid })
}
