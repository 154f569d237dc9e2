//! The terminal of a person: its modes, the keys that come from it, its width, and what is typed
//! and drawn there.

pub(crate) mod colours;
pub(crate) mod interruptions;
pub(crate) mod key_reader;
pub(crate) mod modes;
pub(crate) mod progress;
pub(crate) mod typed_secret;
pub(crate) mod width;
