//! Hides secrets in text, and makes text safe to show to a person.
//!
//! [`mask_text`] and [`mask_json`] replace secrets with numbered placeholders, and
//! [`MaskedText::restore`] puts the originals back. [`SecretVariables`] hides the values of
//! environment variables. The functions in [`text`] make invisible characters visible, cut text
//! and compare two versions of it. [`card_content`] and
//! [`call_card`] make cards of tool calls. Nothing here does I/O, reads a clock or the environment.
//!
//! ```
//! use callgate_mask::mask_text;
//!
//! let masked = mask_text("PGPASSWORD=hunter2 psql");
//! assert_eq!(masked.shown(), "PGPASSWORD=[hidden 1: password] psql");
//! let edited = masked.shown().replace("psql", "pg_dump");
//! assert_eq!(masked.restore(&edited).unwrap(), "PGPASSWORD=hunter2 pg_dump");
//! ```

pub mod call_card;
pub mod card_content;
pub mod programs;
mod secrets;
pub mod text;
mod variables;
pub mod word_list;

pub use secrets::{MaskedText, PlaceholderError, mask_json, mask_text};
pub use variables::{SecretVariables, is_secret_variable};
