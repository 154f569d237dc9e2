//! What the checker says of schemas and values.

mod errors;
mod library;
mod suite;
mod types;
