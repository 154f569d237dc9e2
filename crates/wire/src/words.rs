//! Enums whose values are words of a protocol, a rule or a setting, each spelled in one place.

/// Declares enums whose values are words, each with its spelling. They are written and read as
/// these words.
#[macro_export]
macro_rules! words {
    ($(
        $(#[$about:meta])*
        $visibility:vis enum $words:ident { $($(#[$mark:meta])* $word:ident $name:literal,)* }
    )*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $visibility enum $words {
            $($(#[$mark])* $word,)*
        }

        #[allow(dead_code, reason = "not everybody needs all of them")]
        impl $words {
            /// All of them, in order.
            $visibility const ALL: [Self; [$($name),*].len()] = [$(Self::$word),*];

            /// Their words, in order.
            $visibility const NAMES: [&'static str; Self::ALL.len()] = [$($name),*];

            /// Returns its word.
            $visibility const fn name(self) -> &'static str {
                match self {
                    $(Self::$word => $name,)*
                }
            }

            /// Returns the one with this word.
            $visibility fn parse(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|word| word.name() == name)
            }
        }

        impl ::std::fmt::Display for $words {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl $crate::serde::Serialize for $words {
            fn serialize<S: $crate::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.name())
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $words {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                // Not a `&str`: a word may be escaped, or come from a reader that owns it.
                let name = <::std::borrow::Cow<'de, str>>::deserialize(from)?;
                let unknown = || $crate::serde::de::Error::unknown_variant(&name, &Self::NAMES);
                Self::parse(&name).ok_or_else(unknown)
            }
        }
    )*};
}
