//! Safe display text: what a person reads is what is there.
//!
//! [`visible`] shows what would otherwise be invisible or would deceive, [`cut`] and [`pages`]
//! shorten without splitting a character, [`html`] builds messages that Telegram accepts after
//! any cut, [`diff`] shows an edit.

mod cut;
mod diff;
pub mod html;
mod unicode;
mod visible;

pub use cut::{Measure, cut, fit, length, pages};
pub use diff::{Change, DIFF_LINES, Line, Side, diff};
pub use visible::{one_line, visible};

#[cfg(test)]
mod tests;
