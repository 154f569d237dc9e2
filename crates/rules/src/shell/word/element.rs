//! Assignments to the elements of arrays: `NAME[index]=value`.

use super::{ShellWord, WordPiece};

impl ShellWord {
    /// Returns the index if the text so far is an element of an array: `NAME[index]`, perhaps with
    /// the `+` of `+=`.
    pub(crate) fn element_index(&self) -> Option<&[WordPiece]> {
        match self.pieces() {
            [WordPiece::Text(name), WordPiece::Glob('['), index @ .., WordPiece::Text(end)]
                if is_variable_name(name) && (end.ends_with(']') || end.ends_with("]+")) =>
            {
                Some(&self.pieces()[2..3 + index.len()])
            }
            _ => None,
        }
    }

    /// Returns true if it begins with an index whose end is not in it, or may be quoted.
    pub(crate) fn has_open_index(&self) -> bool {
        matches!(self.pieces(), [WordPiece::Text(name), WordPiece::Glob('['), ..]
            if is_variable_name(name))
            && self.value_at.is_none()
            && (self.is_quoted || !self.first_text().contains(']'))
    }
}

/// Returns true if a text is the name of a variable.
pub(in crate::shell) fn is_variable_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
