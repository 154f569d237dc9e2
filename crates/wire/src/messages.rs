//! The macros that declare messages: each member once, with its name, its type and what reads it.
//!
//! What the other side sends is read member by member, so that an error can name the member and so
//! that each has its limit.

use serde::de::DeserializeOwned;

use crate::approval::RequestKind;
use crate::fields::{Malformed, if_present, is_default, required_field};
use crate::raw::Members;
use crate::session::LoadAs;

/// What reads a member: a function, or what the value must be if nothing else is to be checked.
pub(crate) trait MemberReader<T> {
    fn read_member(&self, members: &Members, name: &'static str) -> Result<T, Malformed>;
}

impl<T: DeserializeOwned> MemberReader<T> for &'static str {
    fn read_member(&self, members: &Members, name: &'static str) -> Result<T, Malformed> {
        required_field(members, name, self)
    }
}

impl<T, F: Fn(&Members, &'static str) -> Result<T, Malformed>> MemberReader<T> for F {
    fn read_member(&self, members: &Members, name: &'static str) -> Result<T, Malformed> {
        self(members, name)
    }
}

/// The type of a member that is left out of a message where it has no value.
pub(crate) trait OptionalMember: Sized {
    /// What it is if it is there.
    type Value;

    fn from_value(value: Option<Self::Value>) -> Self;

    fn is_left_out(&self) -> bool;

    fn read_optional(
        members: &Members,
        name: &'static str,
        reader: impl MemberReader<Self::Value>,
    ) -> Result<Self, Malformed> {
        if_present(members, name, |members, name| reader.read_member(members, name))
            .map(Self::from_value)
    }
}

impl<T> OptionalMember for Option<T> {
    type Value = T;

    fn from_value(value: Self) -> Self {
        value
    }

    fn is_left_out(&self) -> bool {
        self.is_none()
    }
}

/// For types whose default is left out.
macro_rules! left_out_by_default {
    ($([$($item:ident)?] $type:ty: $is_left_out:expr,)*) => {$(
        impl<$($item)?> OptionalMember for $type {
            type Value = Self;

            fn from_value(value: Option<Self>) -> Self {
                value.unwrap_or_default()
            }

            fn is_left_out(&self) -> bool {
                // The type of the parameter has to be known for a closure such as `|it| !it`.
                let is_left_out: fn(&Self) -> bool = $is_left_out;
                is_left_out(self)
            }
        }
    )*};
}

left_out_by_default! {
    [] bool: |it| !it,
    [T] Vec<T>: Self::is_empty,
    [] RequestKind: is_default,
    [] LoadAs: is_default,
}

/// Returns the name of a member: that of its field, unless another is declared.
macro_rules! member_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}

macro_rules! read_member {
    ($members:ident, $name:expr, $reader:expr) => {
        crate::messages::MemberReader::read_member(&$reader, $members, $name)?
    };
    ($members:ident, $name:expr, $reader:expr, $optional:ident) => {
        crate::messages::OptionalMember::read_optional($members, $name, $reader)?
    };
}

/// Declares structs. A member marked `optional` is left out where it has no value, and may be
/// `null` where it is read. A literal is the name of the member, where that is not the field's.
macro_rules! message_structs {
    ($(
        $(#[$about:meta])*
        pub struct $message:ident {$(
            $(#[$member_about:meta])*
            $field:ident $($optional:ident)? $($name:literal)?: $type:ty = $reader:expr,
        )*}
    )*) => {$(
        #[derive(Debug, Clone, serde::Serialize)]
        $(#[$about])*
        pub struct $message {$(
            $(#[$member_about])*
            $(
                #[doc = concat!("\n\nIt is ", stringify!($optional), ".")]
                #[serde(skip_serializing_if = "crate::messages::OptionalMember::is_left_out")]
            )?
            $(#[serde(rename = $name)])?
            pub $field: $type,
        )*}

        impl $message {
            pub(crate) fn from_members(
                members: &crate::raw::Members,
            ) -> Result<Self, crate::fields::Malformed> {
                Ok(Self {$(
                    $field: read_member!(members, member_name!($field $($name)?), $reader $(, $optional)?),
                )*})
            }
        }
    )*};
}

/// Declares an enum of messages. Behind its name, each has its `kind`; then its members, as in
/// [`message_structs`], or one struct with all of them and what reads it.
macro_rules! message_kinds {
    (
        $(#[$about:meta])*
        pub enum $messages:ident {$(
            $(#[$message_about:meta])*
            $message:ident $kind:literal $(($inner:ty, $inner_reader:expr))? $({$(
                $(#[$member_about:meta])*
                $field:ident $($optional:ident)? $($name:literal)?: $type:ty = $reader:expr,
            )*})?;
        )*}
    ) => {
        #[derive(Debug, Clone, serde::Serialize)]
        $(#[$about])*
        #[serde(tag = "kind")]
        pub enum $messages {$(
            $(#[$message_about])*
            #[serde(rename = $kind)]
            $message $(($inner))? $({$(
                $(#[$member_about])*
                $(
                    #[doc = concat!("\n\nIt is ", stringify!($optional), ".")]
                    #[serde(skip_serializing_if = "crate::messages::OptionalMember::is_left_out")]
                )?
                $(#[serde(rename = $name)])?
                $field: $type,
            )*})?,
        )*}

        impl $messages {
            /// Returns its name in the protocol.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$message { .. } => $kind,)*
                }
            }

            pub(super) fn from_members(
                members: &crate::raw::Members,
            ) -> Result<Self, crate::unreadable::UnreadableReason> {
                // Imported here, because the macro is used in modules that do not import it.
                use crate::unreadable::UnreadableReason;
                let kind = crate::fields::text_field(members, "kind").ok_or(UnreadableReason::NoKind)?;
                Ok(match kind.as_str() {
                    $($kind => Self::$message $(($inner_reader(members)?))? $({$(
                        $field: read_member!(members, member_name!($field $($name)?), $reader $(, $optional)?),
                    )*})?,)*
                    _ => return Err(UnreadableReason::unknown(&kind)),
                })
            }
        }
    };
}
