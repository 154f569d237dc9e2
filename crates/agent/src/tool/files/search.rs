//! Looking for files and for text in them: walks over folders, patterns, and what is left out.

pub(super) mod glob;
pub(super) mod hidden;
pub(super) mod ignored;
pub(super) mod needle;
pub(super) mod search_files;
pub(super) mod search_text;
pub(super) mod walk;
