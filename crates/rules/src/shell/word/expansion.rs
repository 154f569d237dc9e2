//! What a shell replaces in a word by something else.

use std::ops::Range;

use super::ShellWord;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordExpansion {
    /// `$NAME` or `${NAME…}`.
    Variable {
        name: String,
        /// Whether it is within double quotes, so that its value stays one word.
        is_quoted: bool,
        /// What is done with the value.
        change: ValueChange,
    },
    /// The output of the commands of a substitution, by their indices in the script.
    Output {
        commands: Range<usize>,
        /// Whether it is within double quotes.
        is_quoted: bool,
    },
    /// `{a,b}`: in most shells several words.
    Braces(Vec<ShellWord>),
    /// One of several texts.
    Choice(Vec<ShellWord>),
    Array(Vec<ShellWord>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueChange {
    /// Nothing.
    Keep,
    /// `${x:-word}`: the value, or else this.
    Default(ShellWord),
    /// `${x:+word}`: this, or nothing.
    Instead(ShellWord),
    /// `${x#prefix}` and `${x##prefix}`.
    CutPrefix(ShellWord),
    /// `${x%suffix}` and `${x%%suffix}`.
    CutSuffix(ShellWord),
    /// `${x[@]}` and `${x[*]}`: all elements.
    Elements,
    /// `${#x}`.
    Length,
    Other,
}
