//! The pieces of a command, as a viewer colours them and breaks them into lines.

use serde::{Deserialize, Serialize};

/// A piece of a command. The texts of all pieces, joined, are the command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandSegment {
    pub text: String,
    /// What the text is to the shell.
    pub style: SegmentStyle,
    /// Whether a new line begins before it: it is an operator between two commands.
    #[serde(rename = "break")]
    pub breaks: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SegmentStyle {
    Program,
    /// An argument, or the space between words.
    Word,
    /// An argument that begins with a hyphen.
    Option,
    /// A quoted text or a here-document.
    String,
    /// A variable or another expansion.
    Variable,
    /// An operator, a redirect or a keyword.
    Operator,
    Comment,
    /// An argument that names a file, or a redirect's file.
    Path,
    /// A hidden secret, or an invisible character that is shown by its number.
    Hidden,
    /// Something that was not understood.
    Unclear,
}
