//! The macros that declare the bodies and the kinds of entries, and how a body is read and written.
//!
//! `docs/protocol/ledger.md` says what each word and each member means; a test holds it against
//! what is declared.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::raw::{Members, json_string};

/// A member of an entry, as `docs/protocol/ledger.md` lists it.
#[derive(Debug)]
pub struct LedgerMember {
    pub name: &'static str,
    pub value_type: &'static str,
    /// Whether it is left out where it has no value. Other members are `null` then.
    pub is_optional: bool,
}

/// Takes out a member, unless its value has another shape. Of two with one name the first counts.
pub(super) fn take_member<T: DeserializeOwned + Default>(
    members: &mut Members<'_>,
    name: &str,
) -> T {
    let Some(at) = members.0.iter().position(|(known, _)| known == name) else {
        return T::default();
    };
    let value = serde_json::from_str(members.0[at].1.get());
    // One that cannot be read stays among the rest, so that nothing of an entry is lost.
    value.inspect(|_| drop(members.0.remove(at))).unwrap_or_default()
}

pub(super) fn non_null_json(value: &impl Serialize) -> Option<String> {
    serde_json::to_string(value).ok().filter(|json| json != "null")
}

/// Returns one object with these members, and `rest` at its end.
pub(super) fn body_object(
    members: &[LedgerMember],
    values: Vec<Option<String>>,
    rest: &Members<'_>,
) -> String {
    let known = members.iter().zip(values);
    // A member that is not optional is written as `null`, as it always was, so that its hash stays
    // the same.
    let known = known.filter(|(member, value)| value.is_some() || !member.is_optional);
    let known = known.map(|(member, value)| {
        format!("\"{}\":{}", member.name, value.as_deref().unwrap_or("null"))
    });
    let rest = rest.0.iter().map(|(name, value)| format!("{}:{value}", json_string(name)));
    format!("{{{}}}", known.chain(rest).collect::<Vec<_>>().join(","))
}

/// Declares bodies. Their members are written in the order of the fields. A field marked `optional`
/// is left out where it has no value; others are `null` then.
macro_rules! ledger_bodies {
    ($($(#[$about:meta])+ $body:ident { $($field:ident $($optional:ident)?: $type:ty,)* })*) => {$(
        $(#[$about])+
        #[derive(Debug, Clone, Default)]
        pub struct $body {
            $(pub $field: $type,)*
        }

        impl $body {
            const MEMBERS: &'static [LedgerMember] = &[$(LedgerMember {
                name: stringify!($field),
                value_type: stringify!($type),
                is_optional: !stringify!($($optional)?).is_empty(),
            },)*];

            /// Takes out the members that are known and can be read.
            fn take_members(_members: &mut Members<'_>) -> Self {
                Self { $($field: take_member(_members, stringify!($field)),)* }
            }

            fn encode_body(&self, rest: &Members<'_>) -> String {
                body_object(Self::MEMBERS, vec![$(non_null_json(&self.$field),)*], rest)
            }
        }
    )*};
}

/// Declares the kinds of entries. Where a kind has two bodies, the member behind the first tells
/// them apart.
macro_rules! ledger_kinds {
    ($($kind:ident $name:literal: $($event:ident($body:ident) $(with $mark:ident)?),+;)*) => {
        words! {
            /// The kind of an entry. Those of a question come first, in the order of its life.
            pub enum LedgerKind { $($kind $name,)* }
        }

        /// What an entry of the ledger records.
        #[derive(Debug, Clone)]
        pub enum LedgerEvent {
            $($($event($body),)+)*
            /// An entry of a kind that this version does not know, or one that was damaged.
            Unknown { kind: String, body: String },
        }

        impl LedgerEvent {
            /// The members of each kind's bodies, in their order.
            pub const MEMBERS: &'static [(LedgerKind, &'static [LedgerMember])] =
                &[$($((LedgerKind::$kind, $body::MEMBERS),)+)*];

            /// Reads an entry. The second value has the members that this version does not know,
            /// or whose values it cannot read.
            pub fn decode_body<'a>(kind: &str, body: &'a str) -> (Self, Members<'a>) {
                if let (Some(known), Ok(mut rest)) = (LedgerKind::parse(kind), Members::from_text(body)) {
                    $($(
                        if known == LedgerKind::$kind $(&& rest.get(stringify!($mark)).is_some())? {
                            return (Self::$event($body::take_members(&mut rest)), rest);
                        }
                    )+)*
                }
                (Self::Unknown { kind: kind.into(), body: body.into() }, Members::default())
            }

            /// Returns the name of the kind.
            pub fn kind(&self) -> &str {
                match self {
                    $($(Self::$event(_))|+ => $name,)*
                    Self::Unknown { kind, .. } => kind,
                }
            }

            /// Returns the body of the entry, one JSON object, with `rest` at its end.
            pub fn body(&self, rest: &Members<'_>) -> String {
                match self {
                    $($(Self::$event(body) => body.encode_body(rest),)+)*
                    Self::Unknown { body, .. } => body.clone(),
                }
            }
        }
    };
}
