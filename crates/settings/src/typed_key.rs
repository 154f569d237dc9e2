//! A key that knows the type of its value, and the declaration of a section of keys.

use std::marker::PhantomData;
use std::ops::Deref;

use crate::given::SettingsCheck;
use crate::setting_key::SettingKey;
use crate::setting_type::SettingType;

/// A key whose value has the type `T`.
#[derive(Debug)]
pub struct Key<T> {
    /// The key without its type, for constants.
    pub key: SettingKey,
    pub(crate) value: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    /// Reads the value in effect, and reports what is wrong with it.
    pub(crate) fn read(&self, check: &mut SettingsCheck) -> T
    where
        T: SettingType,
    {
        T::read_setting(check, self)
    }
}

impl<T> Deref for Key<T> {
    type Target = SettingKey;

    fn deref(&self) -> &SettingKey {
        &self.key
    }
}

/// Declares a section of the settings: a struct with a field for each key, and a constant for each
/// key. The name of a key is that of its field, its words in the help are the field's comment, in
/// brackets is what a viewer may do with it if not only see it, and behind the equals sign is what
/// it does not have from its type. The parts after `with` depend on no key of the section.
macro_rules! declare_section {
    (
        $(#[$about_section:meta])*
        pub struct $section:ident in $table:literal read by $check:ident {
            $($(#[doc = $about:literal])+
                $constant:ident $field:ident $([$access:ident])?: $value:ty
                $(= $($member:ident: $content:expr),+)?;)*
        } $(with { $($part:ident: $part_type:ty = $part_value:expr,)* })?
    ) => {
        $(#[$about_section])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $section {
            $($(#[doc = $about])+ pub $field: $value,)*
            $($(pub $part: $part_type,)*)?
        }

        $(pub const $constant: Key<$value> = Key {
            value: std::marker::PhantomData,
            key: SettingKey {
                name: concat!($table, stringify!($field)),
                about: concat!($($about),+).trim_ascii_start(),
                $(access: SettingAccess::$access,)?
                $($($member: $content,)+)?
                ..SettingKey::new(<$value>::KIND)
            },
        };)*

        impl $section {
            pub(crate) const KEYS: &'static [&'static SettingKey] = &[$(&$constant.key),*];

            /// Reads the values in effect, and checks each alone.
            pub(crate) fn read_section($check: &mut SettingsCheck) -> Self {
                Self {
                    $($field: $constant.read($check),)*
                    $($($part: $part_value,)*)?
                }
            }
        }
    };
}

/// Makes the keys that accompany the key of a secret: for a file that has it, a program that prints
/// it, and the keyring, to which a viewer of the desk may send it.
macro_rules! secret_keys {
    ($name:literal, $entry:expr, $of_all:literal, $of_this:literal) => {
        &[
            SettingKey {
                name: concat!($name, "_file"),
                about: concat!("The file with ", $of_all),
                entry: Some($entry),
                ..SettingKey::new(ValueKind::File)
            },
            SettingKey {
                name: concat!($name, "_command"),
                about: concat!("A program, with its arguments, that prints ", $of_this),
                entry: Some($entry),
                ..SettingKey::new(ValueKind::Command)
            },
            SettingKey {
                name: concat!($name, "_keyring"),
                about: concat!("Whether ", $of_this, " is in the desktop's keyring"),
                default: "false",
                flag: KeyFlag::None,
                access: SettingAccess::Secret,
                entry: Some($entry),
                ..SettingKey::new(ValueKind::Switch)
            },
        ]
    };
}

pub(crate) use {declare_section, secret_keys};
