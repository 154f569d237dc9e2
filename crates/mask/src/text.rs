//! Safe display text: what a person reads is what is there.
//!
//! [`visible`] shows what would otherwise be invisible or would deceive, [`cut`] and [`pages`]
//! shorten without splitting a character, [`wrap`] breaks lines between words, [`diff`] shows an
//! edit.

mod counted;
mod cut;
mod diff;
mod unicode;
mod visible;
mod wrap;

pub use counted::counted;
pub use cut::{Measure, boundary_before, cut, fit, length, pages, shortened};
pub use diff::{diff, diff_pieces};
pub use visible::{one_line, visible};
pub use wrap::wrap;

#[cfg(test)]
mod tests;
