//! The macro that makes a struct, a reader, a writer and a description of each kind of entry.

/// Declares the structs of the entries. Their members are written in the order of the fields, which
/// the hashes of the chain depend on. A field marked `[optional]` is left out where it has no value;
/// others are `null` then. Where a kind has two structs, the member behind the first one's name
/// tells them apart.
macro_rules! ledger_events {
    ($(
        $(#[doc = $about:literal])+
        $kind:ident $event:ident $([with $mark:ident])? {
            $(
                $(#[doc = $meaning:literal])+
                $field:ident $([$optional:ident])?: $type:ty,
            )*
        }
    )*) => {
        /// What an entry of the ledger records.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum LedgerEvent<'a> {
            $($(#[doc = $about])+ $event($event<'a>),)*
            /// An entry of a kind that this version does not know, or one that was damaged.
            Unknown {
                /// The name of its kind.
                kind: Cow<'a, str>,
                /// Its body.
                body: Cow<'a, str>,
            },
        }

        impl<'a> LedgerEvent<'a> {
            /// The kinds with their members, as documented.
            pub const SHAPES: &'static [EventShape] = &[$(EventShape {
                kind: LedgerKind::$kind,
                about: &[$($about),+],
                fields: $event::FIELDS,
            },)*];

            /// Reads an entry. Members that this version does not know are kept.
            #[must_use]
            pub fn read(kind: &'a str, body: &'a str) -> Self {
                let unknown = || Self::Unknown { kind: kind.into(), body: body.into() };
                let Some(known) = LedgerKind::parse(kind) else { return unknown() };
                let Ok(members) = Members::read(body) else { return unknown() };
                $(
                    if known == LedgerKind::$kind
                        $(&& members.get(stringify!($mark)).is_some())?
                    {
                        return Self::$event($event::read(members));
                    }
                )*
                unknown()
            }

            /// Returns the name of the event's kind.
            #[must_use]
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$event(_) => LedgerKind::$kind.name(),)*
                    Self::Unknown { kind, .. } => kind,
                }
            }

            /// Returns the members that this version does not know, or whose values it cannot read.
            #[must_use]
            pub fn more(&self) -> &[(Cow<'a, str>, Json<'a>)] {
                match self {
                    $(Self::$event(event) => &event.more.0,)*
                    Self::Unknown { .. } => &[],
                }
            }

            /// Returns the body of the event's entry: one JSON object.
            #[must_use]
            pub fn body(&self) -> String {
                match self {
                    $(Self::$event(event) => event.body(),)*
                    Self::Unknown { body, .. } => body.to_string(),
                }
            }
        }

        $(
            $(#[doc = $about])+
            #[derive(Debug, Clone, Default, PartialEq, Eq)]
            pub struct $event<'a> {
                $($(#[doc = $meaning])+ pub $field: $type,)*
                /// Members that this version does not know, or whose values it cannot read.
                pub more: Members<'a>,
            }

            impl<'a> $event<'a> {
                const FIELDS: &'static [FieldShape] = &[$(FieldShape {
                    name: stringify!($field),
                    shape: <$type as LedgerField>::SHAPE,
                    is_optional: is_optional!($($optional)?),
                    meaning: &[$($meaning),+],
                },)*];

                #[allow(unused_mut, reason = "some have no members")]
                fn read(members: Members<'a>) -> Self {
                    $(let mut $field = None;)*
                    let mut more = Vec::new();
                    for (name, value) in members.0 {
                        $(
                            // Of two members with one name the first counts.
                            if $field.is_none() && name == stringify!($field) {
                                $field = LedgerField::read(value);
                                if $field.is_some() {
                                    continue;
                                }
                            }
                        )*
                        more.push((name, value));
                    }
                    Self { $($field: $field.unwrap_or_default(),)* more: Members(more) }
                }

                fn body(&self) -> String {
                    let mut body = String::from("{");
                    $(
                        if !(is_optional!($($optional)?) && self.$field.is_missing()) {
                            body.push_str(concat!("\"", stringify!($field), "\":"));
                            self.$field.write(&mut body);
                            body.push(',');
                        }
                    )*
                    for (name, value) in &self.more.0 {
                        body.push_str(&quoted(name));
                        body.push(':');
                        body.push_str(value.get());
                        body.push(',');
                    }
                    if body.len() > 1 {
                        body.pop();
                    }
                    body.push('}');
                    body
                }
            }

            impl<'a> From<$event<'a>> for LedgerEvent<'a> {
                fn from(event: $event<'a>) -> Self {
                    Self::$event(event)
                }
            }
        )*
    };
}

macro_rules! is_optional {
    () => {
        false
    };
    (optional) => {
        true
    };
}
