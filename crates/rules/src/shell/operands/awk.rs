//! Which programs for `awk` use nothing but the files that they are given.

/// Names with which a program reads, writes or runs something else, or changes its input.
const REACHES_OUT: [&str; 8] =
    ["system", "getline", "close", "fflush", "extension", "ARGV", "ARGC", "PROCINFO"];

/// Returns true if the program can neither open a file nor run a command.
///
/// That requires a redirect, a pipe, or one of a few names. A `>` may also be a comparison and a
/// `|` part of a regular expression; these count as harmful too, because distinguishing them needs
/// the whole grammar.
pub(super) fn is_harmless_program(program: &str) -> bool {
    let without_or = program.replace("||", " ");
    let has_sign = without_or.contains(['>', '<', '|', '@', '`', '\0', '\\', '#']);
    let names = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    !has_sign && !program.split(names).any(|name| REACHES_OUT.contains(&name))
}
