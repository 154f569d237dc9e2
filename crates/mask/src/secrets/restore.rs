//! Puts the originals back into a text that a person edited.

use std::fmt;

use super::{HiddenSecret, placeholder};

/// A placeholder was changed, removed or doubled. Masked spans cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceholderError {
    placeholder: String,
    what: &'static str,
}

impl fmt::Display for PlaceholderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { placeholder, what } = self;
        write!(
            f,
            "masked spans cannot be edited: {placeholder} {what}; leave each placeholder as it is"
        )
    }
}

impl std::error::Error for PlaceholderError {}

pub(super) fn restore_originals(
    secrets: &[HiddenSecret],
    edited: &str,
) -> Result<String, PlaceholderError> {
    let mut out = String::with_capacity(edited.len());
    let mut times = vec![0_usize; secrets.len()];
    let mut copied = 0;
    for found in placeholder::placeholders_in(edited) {
        // Ours begin at 1. A text that only looks like one of them may have any number.
        let index = found.number.wrapping_sub(1);
        // The label has to be right, too: a number alone could be that of another secret after an
        // edit.
        let Some(secret) = secrets.get(index).filter(|secret| secret.label == found.label) else {
            let placeholder = edited[found.start..found.end].to_owned();
            return Err(PlaceholderError { placeholder, what: "is not one of them" });
        };
        times[index] += 1;
        out.push_str(&edited[copied..found.start]);
        out.push_str(&secret.original);
        copied = found.end;
    }
    out.push_str(&edited[copied..]);
    for (index, (secret, times)) in secrets.iter().zip(times).enumerate() {
        let what = match times.cmp(&secret.times) {
            std::cmp::Ordering::Equal => continue,
            std::cmp::Ordering::Less => "was changed or removed",
            std::cmp::Ordering::Greater => "occurs more often than before",
        };
        let mut placeholder = String::new();
        placeholder::write_numbered(index + 1, &secret.label, &mut placeholder);
        return Err(PlaceholderError { placeholder, what });
    }
    Ok(out)
}
