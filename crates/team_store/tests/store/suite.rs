//! What the calls of the store promise. `main.rs` makes a test of each function.

mod documents;
mod ledgers;
mod limits;
mod questions;

use std::time::Duration;

pub(crate) use documents::*;
pub(crate) use ledgers::*;
pub(crate) use limits::*;
pub(crate) use questions::*;

const WEEK: Duration = Duration::from_hours(24 * 7);
/// Longer than any test waits for a hint.
const LONG: Duration = Duration::from_mins(1);
