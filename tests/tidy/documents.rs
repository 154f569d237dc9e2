//! What the documents name exists, and every decision and protocol can be reached.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::type_names::DEFINED_TYPES;
use super::{assert_none, files, name, page_modules, root};

/// How many bytes a cell of a table in ARCHITECTURE.md may have. A longer one is not looked up but
/// searched.
const LONGEST_CELL: usize = 300;

#[test]
fn every_decision_and_every_protocol_is_reachable_from_the_documents() {
    let architecture = fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let decisions = fs::read_to_string(root().join("docs/decisions/README.md")).unwrap();
    assert!(architecture.contains("(decisions/README.md)"), "ARCHITECTURE.md leads to no decision");
    for (folder, index) in [("docs/decisions", &decisions), ("docs/protocol", &architecture)] {
        for path in files(folder, ".md") {
            let file = path.file_name().unwrap().to_string_lossy().into_owned();
            assert!(file == "README.md" || index.contains(&file), "nothing leads to {file}");
        }
    }
    assert!(architecture.lines().count() <= 250, "ARCHITECTURE.md is too long to be read");
    let cells = architecture.lines().filter(|line| line.starts_with('|'));
    let long = cells.flat_map(|row| row.split('|')).filter(|cell| cell.trim().len() > LONGEST_CELL);
    assert_none(&long.map(|cell| format!("split this cell of a table:{cell}")).collect::<Vec<_>>());
}

/// The pages that say where things are, and which test keeps what true. The decisions are too.
const MAPS: [&str; 11] = [
    "docs/ARCHITECTURE.md",
    "docs/journeys.md",
    "docs/limits.md",
    "docs/threads.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "crates/claude/README.md",
    "crates/link/README.md",
    "crates/mask/README.md",
    "crates/tools/README.md",
    "crates/wire/README.md",
];

/// What the maps name of other people's programs.
const OF_OTHERS: [&str; 11] = [
    "CallToolResult",
    "FileChooserNative",
    "O_PATH",
    "RESOLVE_BENEATH",
    "RESOLVE_NO_MAGICLINKS",
    "RawValue",
    "Read",
    "Stream",
    "ToolNotFoundError",
    "ValueError",
    "__init__",
];

#[test]
fn what_the_documents_name_exists() {
    let sources = ProductNames::read();
    let maps = MAPS.map(|map| root().join(map)).into_iter();
    let mut wrong = Vec::new();
    for map in maps.chain(files("docs/decisions", ".md")) {
        let text = fs::read_to_string(&map).unwrap();
        for line in text.lines() {
            let parts: Vec<&str> = line.split('`').collect();
            for (at, word) in parts.iter().enumerate().skip(1).step_by(2) {
                // `file.rs` (`name`)
                let inside = parts.get(at + 1..at + 3).filter(|next| next[0] == " (");
                let exists = match inside {
                    Some(next) if sources.is_file(word) => sources.file_defines(word, next[1]),
                    _ => sources.exists(word),
                };
                if !exists {
                    let inside = inside.map(|next| format!(" (`{}`)", next[1]));
                    wrong.push(format!(
                        "{} names `{word}`{}, which is gone: name what took its place",
                        name(&map),
                        inside.unwrap_or_default()
                    ));
                }
            }
        }
    }
    assert_none(&wrong);
}

/// The source files, in which a name of the documents is looked up.
struct ProductNames {
    files: Vec<NamedFile>,
    /// What any of them defines.
    defined: BTreeSet<String>,
}

/// A source file and the names that it defines.
struct NamedFile {
    /// The path in the repository, after a `/`.
    path: String,
    text: String,
    defined: BTreeSet<String>,
}

impl ProductNames {
    fn read() -> ProductNames {
        let paths = files("", ".rs").into_iter().chain(page_modules());
        let files: Vec<NamedFile> = paths.map(|path| NamedFile::read(&path)).collect();
        let defined = files.iter().flat_map(|file| file.defined.iter().cloned()).collect();
        ProductNames { files, defined }
    }

    /// Returns false if `word` names something of ours that is not there.
    fn exists(&self, word: &str) -> bool {
        match KindOfName::of(word) {
            _ if OF_OTHERS.contains(&word) => true,
            KindOfName::File => self.is_file(word),
            KindOfName::Function => self.defined.contains(word.split('(').next().unwrap()),
            KindOfName::Constant => {
                let variable = format!("\"{word}\"");
                self.defined.contains(word)
                    || self.files.iter().any(|file| file.text.contains(&variable))
            }
            KindOfName::Type => {
                let of_page = format!("@typedef {{object}} {word}\n");
                DEFINED_TYPES.contains_key(word)
                    || self.files.iter().any(|file| file.text.contains(&of_page))
            }
            KindOfName::Member => {
                let path = word.split('(').next().unwrap();
                let (owner, member) = path.rsplit_once("::").unwrap();
                self.owner_defines(owner.rsplit("::").next().unwrap(), member)
            }
            KindOfName::Other => true,
        }
    }

    fn is_file(&self, word: &str) -> bool {
        let end = format!("/{word}");
        self.files.iter().any(|file| file.path.ends_with(&end))
    }

    /// Returns true if a file of that name defines a function, a type or a constant.
    fn file_defines(&self, file: &str, word: &str) -> bool {
        let end = format!("/{file}");
        let last = word.split('(').next().unwrap().rsplit("::").next().unwrap();
        let is_name = last.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
        let mut named = self.files.iter().filter(|file| file.path.ends_with(&end));
        !is_name || named.any(|file| file.defined.contains(last))
    }

    /// Returns false if a type or a module is ours and has no such member.
    fn owner_defines(&self, owner: &str, member: &str) -> bool {
        let is_type = owner.starts_with(|char: char| char.is_ascii_uppercase());
        let module_file = format!("/{owner}.rs");
        let module_folder = format!("/{owner}/");
        let is_owner = |file: &&NamedFile| {
            if is_type {
                file.text.contains(owner)
            } else {
                file.path.ends_with(&module_file) || file.path.contains(&module_folder)
            }
        };
        let mut owners = self.files.iter().filter(is_owner).peekable();
        let is_ours =
            if is_type { DEFINED_TYPES.contains_key(owner) } else { owners.peek().is_some() };
        let mut has_member =
            owners.map(|file| file.defined.contains(member) || has_variant(&file.text, member));
        !is_ours || has_member.any(|has_member| has_member)
    }
}

impl NamedFile {
    fn read(path: &Path) -> NamedFile {
        let text = fs::read_to_string(path).unwrap();
        let defined = defined_names(&text);
        NamedFile { path: format!("/{}", name(path)), text, defined }
    }
}

/// Returns the names of what a text defines: what follows a keyword.
fn defined_names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_next = false;
    for word in text.split_whitespace() {
        if is_next {
            let end = word.find(|char: char| !char.is_alphanumeric() && char != '_');
            names.insert(word[..end.unwrap_or(word.len())].to_owned());
        }
        is_next = matches!(
            word,
            "fn" | "const"
                | "static"
                | "struct"
                | "enum"
                | "trait"
                | "type"
                | "mod"
                | "macro_rules!"
                | "function"
        );
    }
    names
}

/// Returns true if a line of a text begins with a name, as that of a variant of an enum does.
fn has_variant(text: &str, word: &str) -> bool {
    let rest = text.lines().filter_map(|line| line.trim_start().strip_prefix(word));
    rest.into_iter().any(|rest| rest.is_empty() || rest.starts_with([',', '(', ' ', '[']))
}

/// What a word in backticks names.
#[derive(Debug, PartialEq, Eq)]
enum KindOfName {
    File,
    /// A test by its long name, or a function that is written as it is called.
    Function,
    Constant,
    Type,
    /// A path that ends in what a type or a module has.
    Member,
    Other,
}

impl KindOfName {
    fn of(word: &str) -> KindOfName {
        // `name(…)`, also at the end of a path
        let called = word.strip_suffix(')').and_then(|word| word.split_once('('));
        let path = called.map_or(word, |(path, _)| path);
        let is_path = path.chars().all(|char| char.is_ascii_alphanumeric() || "_:".contains(char));
        let second = path.chars().nth(1);
        let starts_type = path.starts_with(|char: char| char.is_ascii_uppercase())
            && second.is_some_and(|char| char.is_ascii_lowercase());
        let is_rust = Path::new(word).extension().is_some_and(|extension| extension == "rs");
        if is_rust && !word.contains(['*', ' ', '<']) {
            KindOfName::File
        } else if is_path && path.contains("::") && !path.ends_with("::") {
            KindOfName::Member
        } else if starts_type && is_path && called.is_none() {
            KindOfName::Type
        } else if path.chars().all(is_lower)
            && path.matches('_').count() >= if called.is_some() { 1 } else { 3 }
        {
            KindOfName::Function
        } else if word.contains('_') && word.chars().all(is_upper) {
            KindOfName::Constant
        } else {
            KindOfName::Other
        }
    }
}

fn is_lower(char: char) -> bool {
    char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_'
}

fn is_upper(char: char) -> bool {
    char.is_ascii_uppercase() || char == '_'
}

#[test]
fn names_in_documents_are_told_apart() {
    for (word, kind) in [
        ("bridge/relay.rs", KindOfName::File),
        ("tests/*.rs", KindOfName::Other),
        ("Host::run_call", KindOfName::Member),
        ("bridge::main", KindOfName::Member),
        ("Desk::handle(now, input)", KindOfName::Member),
        ("OpenQuestion", KindOfName::Type),
        ("read_settings_file(path)", KindOfName::Function),
        ("a_killed_cli_takes_its_bridge_along", KindOfName::Function),
        ("raw_value", KindOfName::Other),
        ("LONGEST_CELL", KindOfName::Constant),
        ("cargo test", KindOfName::Other),
    ] {
        assert_eq!(KindOfName::of(word), kind, "{word}");
    }
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut broken = Vec::new();
    for path in files("", ".md") {
        let text = fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            let is_here = !target.is_empty() && !target.contains("://");
            if is_here && !path.parent().unwrap().join(target).exists() {
                broken.push(format!("{}: {link}", name(&path)));
            }
        }
    }
    assert_none(&broken);
}
