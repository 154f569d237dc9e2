//! Safe display text: what a person reads is what is there.
//!
//! [`visible_text`] shows what would otherwise be invisible or would deceive, [`cut_to_length`] and
//! [`split_pages`] shorten without splitting a character, [`wrap_text`] breaks lines between words,
//! [`diff_lines`] shows an edit.

mod counted;
mod csv;
mod cut;
mod diff;
mod lines;
mod unicode;
mod visible;
mod wrap;

pub use counted::{counted_entries, counted_noun, list_choices, time_span};
pub use csv::csv_cell;
pub use cut::{
    Measure, boundary_before, cut_to_length, fit_columns, measured_length, shortened_text,
    split_pages,
};
pub use diff::{diff_lines, diff_pieces};
pub use lines::{BYTE_ORDER_MARK, line_and_column, without_mark};
pub use visible::{one_line, visible_text};
pub use wrap::wrap_text;

#[cfg(test)]
mod tests;
