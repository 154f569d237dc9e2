//! What a line changes in its own shell: the meaning of names, and where a `cd` looks.

use crate::shell::names::{SAME_SHELL, SHELL_PREFIXES};
use crate::shell::word::{ShellWord, WordPiece};
use crate::shell::{ShellCommand, ShellScript};

/// Parts of the names of variables and options with which a `cd` looks in other folders, too.
const SEARCHES: [&str; 2] = ["cdpath", "cdable"];

#[derive(Debug, Clone, Default)]
pub(in crate::shell) struct ChangedShell {
    functions: Vec<String>,
    /// Whether any name may be that of a function.
    redefines_any: bool,
    /// Whether a `cd` may lead to a folder that is not below the one in which it runs.
    pub(in crate::shell) searches_folders: bool,
}

impl ChangedShell {
    pub(super) fn from_script(script: &ShellScript, outer: Option<&Self>) -> Self {
        let mut changed = outer.cloned().unwrap_or_default();
        changed.functions.extend(script.functions.iter().cloned());
        let with_keyword = script
            .commands
            .iter()
            .filter(|command| command.program() == Some("function") && !command.words[0].is_quoted);
        let named = with_keyword.flat_map(|command| &command.words[1..]);
        changed.functions.extend(named.map(ShellWord::first_text));
        let mut same_shell = script.commands.iter().filter(|command| runs_in_same_shell(command));
        // The text may be put together of any parts of the line.
        changed.redefines_any |= same_shell
            .any(|command| command.is_piped || command.reads_file || has_definition(script));
        changed.searches_folders |= script.commands.iter().any(sets_search)
            || script.bodies.iter().any(|body| names_search(body));
        changed
    }

    /// Returns true if a name may stand for a function that the line defines.
    pub(in crate::shell) fn is_redefined(&self, name: &str) -> bool {
        self.redefines_any || self.functions.iter().any(|function| function == name)
    }
}

/// Returns true if a command runs a text in the shell of the line.
pub(in crate::shell) fn runs_in_same_shell(command: &ShellCommand) -> bool {
    let is_prefix = |text: &&str| SHELL_PREFIXES.contains(text) || text.starts_with('-');
    let mut words = command.words.iter().filter_map(ShellWord::text).skip_while(is_prefix);
    words.next().is_some_and(|program| SAME_SHELL.contains(program))
}

/// Returns true if a text in a line may define a function.
fn has_definition(script: &ShellScript) -> bool {
    let texts = script.commands.iter().flat_map(all_words).flat_map(ShellWord::pieces);
    let mut texts = texts.filter_map(|piece| match piece {
        WordPiece::Text(text) => Some(text),
        _ => None,
    });
    let defines = |text: &String| {
        let is_empty = |(at, _): (usize, &str)| text[at + 1..].trim_start().starts_with(')');
        text.contains("function") || text.match_indices('(').any(is_empty)
    };
    texts.any(defines) || script.bodies.iter().any(defines)
}

/// Returns true if a command may set where a `cd` looks. An empty value is what everybody has.
fn sets_search(command: &ShellCommand) -> bool {
    command.program() != Some("unset")
        && all_words(command).map(ShellWord::first_text).any(|text| names_search(&text))
}

fn names_search(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    SEARCHES.iter().any(|name| lower.contains(name)) && !lower.ends_with("cdpath=")
}

fn all_words(command: &ShellCommand) -> impl Iterator<Item = &ShellWord> {
    command.assigns.iter().chain(&command.words)
}
