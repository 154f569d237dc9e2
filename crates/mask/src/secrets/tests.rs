//! Secrets are hidden, the rest is not, and everything comes back.

mod context;
mod execution;
mod false_alarm;
mod found;
mod kinds;
mod properties;
mod whole;

use super::{MaskedText, mask_json, mask_text};

/// Checks what is shown of `input`, and that the original comes back.
fn check(input: &str, expected: &str) {
    check_all([(input, expected)]);
}

/// Checks each input, and tells all that are wrong.
fn check_all<I: AsRef<str>, E: AsRef<str>>(cases: impl IntoIterator<Item = (I, E)>) {
    let mut wrong = Vec::new();
    for (input, expected) in cases {
        let (input, expected) = (input.as_ref(), expected.as_ref());
        let masked = mask_text(input);
        assert_eq!(masked.restore(masked.shown()).as_deref(), Ok(input));
        if masked.shown() != expected {
            wrong.push(format!(
                "{input:?}\n  is shown as {:?}\n  and not as  {expected:?}",
                masked.shown()
            ));
        } else if mask_text(expected).shown() != expected {
            wrong
                .push(format!("{expected:?}\n  masked again is {:?}", mask_text(expected).shown()));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn check_json(input: &str, expected: &str) {
    let masked = mask_json(input);
    assert_eq!(masked.shown(), expected, "of {input}");
    assert_eq!(masked.restore(masked.shown()).as_deref(), Ok(input));
    callgate_wire::raw::Json::from_text(masked.shown()).unwrap();
    assert_eq!(mask_json(expected).shown(), expected, "masked again");
}

fn shown(masked: &MaskedText) -> &str {
    masked.shown()
}
