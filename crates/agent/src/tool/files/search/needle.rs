//! Searches a text in steps of bounded time, for `search_text`.
//!
//! The time of a regular expression is proportional to its own size and to that of the text, and a
//! large one over a large file takes minutes. So a text is searched in windows, and before each of
//! them the caller decides whether to continue. Larger expressions get smaller windows.
//!
//! Whatever is found in a window is a real match: `^`, `$` and `\b` see the text around the window.
//! A match is missed only if it is longer than [`SearchWindows::reach`] bytes, which no line of
//! ordinary text is.

use memchr::memmem::Finder;
use regex_automata::Input;
use regex_automata::meta::{BuildError, Regex};
use regex_automata::util::syntax;

const LONGEST_PATTERN: usize = 4096;
/// The memory limits of a compiled regular expression and of its cache, in bytes.
const REGEX_SIZE: usize = 1024 * 1024;
const REGEX_CACHE: usize = 2 * 1024 * 1024;
/// The limit of the expression's size multiplied by the length of a step; about a tenth of a second
/// at worst.
const WORK: usize = 1_000_000_000;
/// The smallest and the largest overlap of two windows, in bytes.
const SHORTEST_REACH: usize = 4 * 1024;
const LONGEST_REACH: usize = 256 * 1024;
/// The length of a window as a multiple of its overlap.
const WINDOW: usize = 4;

pub(in crate::tool::files) enum Needle {
    Plain(Box<Finder<'static>>),
    Regex(Box<Regex>, SearchWindows),
}

/// The sizes of the windows in which a text is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tool::files) struct SearchWindows {
    /// The length of the range in which a match may begin.
    pub(in crate::tool::files) step: usize,
    /// How many bytes beyond that range a match may reach.
    pub(in crate::tool::files) reach: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tool::files) enum NeedleResult {
    /// A match begins at this byte.
    At(usize),
    Nowhere,
    Stopped,
}

impl Needle {
    pub(in crate::tool::files) fn from_pattern(
        pattern: &str,
        is_regex: bool,
        ignores_case: bool,
    ) -> Result<Self, String> {
        if pattern.is_empty() || pattern.len() > LONGEST_PATTERN {
            return Err(format!("it has to have from 1 to {LONGEST_PATTERN} bytes"));
        }
        if !is_regex && !ignores_case {
            return Ok(Self::Plain(Box::new(Finder::new(pattern).into_owned())));
        }
        let escaped = if is_regex { pattern.to_owned() } else { escape_regex(pattern) };
        let syntax = syntax::Config::new()
            // Files may hold bytes that are not UTF-8, and a match next to them counts.
            .utf8(false)
            .multi_line(true)
            // `$` then matches before the CR of a line from Windows, too.
            .crlf(true)
            .case_insensitive(ignores_case);
        let limits = Regex::config()
            .utf8_empty(false)
            .nfa_size_limit(Some(REGEX_SIZE))
            .hybrid_cache_capacity(REGEX_CACHE);
        let built = Regex::builder().syntax(syntax).configure(limits).build(&escaped);
        let regex = built.map_err(|error| build_error_text(&error))?;
        let windows = SearchWindows::for_size(regex.memory_usage());
        Ok(Self::Regex(Box::new(regex), windows))
    }

    /// Finds the first match that begins at `from` or later. Calls `goes_on` before each step of
    /// bounded length.
    pub(in crate::tool::files) fn find(
        &self,
        text: &[u8],
        from: usize,
        mut goes_on: impl FnMut() -> bool,
    ) -> NeedleResult {
        match self {
            Self::Plain(_) if !goes_on() => NeedleResult::Stopped,
            Self::Plain(finder) => finder
                .find(&text[from..])
                .map_or(NeedleResult::Nowhere, |at| NeedleResult::At(from + at)),
            Self::Regex(regex, windows) => windows.find(regex, text, from, &mut goes_on),
        }
    }
}

impl SearchWindows {
    /// Returns the window sizes for an expression with this memory use in bytes.
    fn for_size(bytes: usize) -> Self {
        let reach = (WORK / bytes.max(1)).clamp(SHORTEST_REACH, LONGEST_REACH);
        Self { step: reach * WINDOW, reach }
    }

    fn find(
        self,
        regex: &Regex,
        text: &[u8],
        from: usize,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> NeedleResult {
        let mut start = from;
        loop {
            if !goes_on() {
                return NeedleResult::Stopped;
            }
            let next = start + self.step;
            let end = (next + self.reach).min(text.len());
            let is_last = end == text.len();
            match regex.find(Input::new(text).range(start..end)) {
                // One that begins later may have another before it, which reaches further.
                Some(found) if is_last || found.start() < next => {
                    return NeedleResult::At(found.start());
                }
                _ if is_last => return NeedleResult::Nowhere,
                _ => start = next,
            }
        }
    }
}

/// Returns a regular expression that matches `text` and nothing else.
fn escape_regex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// Returns why an expression cannot be used, and what to do.
fn build_error_text(error: &BuildError) -> String {
    let reason = match (error.size_limit(), error.syntax_error()) {
        (Some(limit), _) => format!("it is over the size limit of {limit} bytes once compiled"),
        (None, Some(syntax)) => syntax.to_string(),
        (None, None) => error.to_string(),
    };
    format!("{reason}: correct it, or leave `regex` out")
}

#[cfg(test)]
mod tests;
