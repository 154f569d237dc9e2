//! A key that knows the type of its value, and the declaration of a section of keys.

use std::marker::PhantomData;
use std::ops::Deref;

use callgate_wire::desk::SettingAccess;

use crate::keyring_entry::KeyringEntry;
use crate::setting_key::{KeyFlag, SettingKey};
use crate::setting_type::SettingType;
use crate::value::ValueKind;

/// A key whose value has the type `T`.
#[derive(Debug)]
pub struct Key<T> {
    /// The key without its type, for constants.
    pub key: SettingKey,
    /// Further keys by which the same can be set.
    pub(crate) others: &'static [SettingKey],
    value: PhantomData<fn() -> T>,
}

impl<T> Deref for Key<T> {
    type Target = SettingKey;

    fn deref(&self) -> &SettingKey {
        &self.key
    }
}

/// Begins a declaration: a key of the kind that its type has.
pub(crate) const fn key<T: SettingType>() -> Key<T> {
    Key { key: SettingKey::new("", T::KIND), others: &[], value: PhantomData }
}

impl<T> Key<T> {
    pub(crate) const fn named(mut self, name: &'static str, about: &'static str) -> Self {
        self.key.name = name;
        self.key.about = about.trim_ascii_start();
        self
    }

    /// Sets the range of a whole number. For ids, only the lowest counts.
    pub(crate) const fn range(mut self, lowest: i64, highest: i64) -> Self {
        match &mut self.key.kind {
            ValueKind::Whole { least, most } => (*least, *most) = (lowest, highest),
            ValueKind::Ids { least } => *least = lowest,
            _ => panic!("only numbers have a range"),
        }
        self
    }

    /// Sets what stands for the value in the help.
    pub(crate) const fn shown_as(mut self, placeholder: &'static str) -> Self {
        self.key.placeholder = placeholder;
        self
    }

    /// Sets what a text must be, and how that is checked.
    pub(crate) const fn text(mut self, must_be: &'static str, is_valid: fn(&str) -> bool) -> Self {
        self.key.kind = ValueKind::Text { must_be, is_valid };
        self
    }

    /// Sets what the secret is called that is sent to this address.
    pub(crate) const fn sent_secret(mut self, secret: &'static str) -> Self {
        self.key.kind = ValueKind::Url { secret };
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

    pub(crate) const fn of_entry(
        mut self,
        entry: KeyringEntry,
        others: &'static [SettingKey],
    ) -> Self {
        (self.key.entry, self.others) = (Some(entry), others);
        self
    }

    /// Lets a viewer set the key. It must name no program, file, socket or address.
    pub(crate) const fn set_by_viewers(mut self) -> Self {
        self.key.access = SettingAccess::Set;
        self
    }
}

/// Declares a section of the settings: a struct with a field for each key, and a constant for each
/// key. The name of a key is that of its field, and its words in the help are the field's comment.
/// The parts after `with` are sections of their own, or depend on no key.
macro_rules! declare_section {
    (
        $(#[$about_section:meta])*
        pub struct $section:ident in $table:literal {
            $($(#[doc = $about:literal])+ $constant:ident $field:ident: $value:ty = $key:expr;)*
        } $(with { $($part:ident: $part_type:ty,)* })?
    ) => {
        $(#[$about_section])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $section {
            $($(#[doc = $about])+ pub $field: $value,)*
            $($(pub $part: $part_type,)*)?
        }

        $(pub const $constant: Key<$value> =
            $key.named(concat!($table, stringify!($field)), concat!($($about),+));)*

        impl $section {
            /// The keys, each with others by which the same can be set.
            pub(crate) const KEYS: &'static [(&'static SettingKey, &'static [SettingKey])] =
                &[$((&$constant.key, $constant.others)),*];
        }

        impl SettingsPart for $section {
            fn read_part(check: &mut SettingsCheck) -> Self {
                Self {
                    $($field: <$value>::read_setting(check, &$constant),)*
                    $($($part: <$part_type>::read_part(check),)*)?
                }
            }
        }
    };
}

/// Makes the key of a secret, together with those of a file that has it, of a program that prints
/// it, and of the keyring.
macro_rules! secret_key {
    ($name:literal, $entry:expr, $of_all:literal, $of_this:literal) => {{
        const OTHERS: &[SettingKey] = &[
            SettingKey::new(concat!($name, "_file"), ValueKind::File)
                .of_entry($entry, concat!("The file with ", $of_all)),
            SettingKey::new(concat!($name, "_command"), ValueKind::Command)
                .of_entry($entry, concat!("A program, with its arguments, that prints ", $of_this)),
            SettingKey::new(concat!($name, "_keyring"), ValueKind::Switch)
                .of_entry($entry, concat!("Whether ", $of_this, " is in the desktop's keyring"))
                .sent_by_viewers(),
        ];
        key().of_entry($entry, OTHERS)
    }};
}

pub(crate) use {declare_section, secret_key};
