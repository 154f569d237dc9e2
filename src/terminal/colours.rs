//! Whether people want colours.

use std::env;

/// Returns false if `NO_COLOR` is set. By its convention an empty value does not count.
pub(crate) fn wants_colours() -> bool {
    env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
