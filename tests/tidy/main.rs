//! The house rules that no lint checks.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod circles;
mod dependencies;
mod function_names;
mod glossary;
mod modules;
mod source;
mod type_names;

use std::fs;
use std::path::{Path, PathBuf};

/// The most lines a file may have. Files of tests may be longer.
const LONGEST_FILE: usize = 400;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns all files below `folder` with this ending, sorted.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                folders.push(path);
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "nothing below {folder}");
    found
}

/// Returns the path of a file within the repository.
fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

/// Returns the names and the texts of all files of the product's crates, without files of tests.
fn product_sources() -> Vec<(String, String)> {
    let all = ["crates", "shell/src", "src"].into_iter().flat_map(|folder| files(folder, ".rs"));
    let all = all.chain(["build.rs", "shell/build.rs"].map(|file| root().join(file)));
    let named = all.map(|path| (name(&path), path)).filter(|(file, _)| {
        let is_product = !file.starts_with("crates/")
            || matches!(file.split('/').nth(2), Some("src" | "build.rs"));
        is_product && !is_test(file)
    });
    named.map(|(file, path)| (file, fs::read_to_string(path).unwrap())).collect()
}

/// Returns the modules of the page, without those of others.
fn page_modules() -> Vec<PathBuf> {
    let mut modules = files("ui", ".js");
    modules.retain(|path| !name(path).split('/').any(|folder| folder == "vendor"));
    modules
}

fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_file_says_at_its_top_what_it_is_for() {
    let of_page = page_modules().into_iter().map(|path| (path, "// "));
    let all = files("", ".rs").into_iter().map(|path| (path, "//! ")).chain(of_page);
    let silent = all.filter(|(path, top)| !fs::read_to_string(path).unwrap().starts_with(top));
    assert_none(&silent.map(|(path, _)| name(&path)).collect::<Vec<_>>());
}

#[test]
fn files_stay_small() {
    let long: Vec<String> = files("", ".rs")
        .into_iter()
        .chain(page_modules())
        .map(|path| (name(&path), fs::read_to_string(&path).unwrap().lines().count()))
        .filter(|(name, lines)| *lines > LONGEST_FILE && !is_test(name))
        .map(|(name, lines)| format!("{name} has {lines} lines"))
        .collect();
    assert_none(&long);
}

fn is_test(name: &str) -> bool {
    name.split('/').any(|part| matches!(part, "tests" | "tests.rs"))
}

#[test]
fn only_folders_and_files_of_tests_are_tests() {
    assert!(is_test("tests/up.rs") && is_test("src/log/tests.rs") && is_test("src/a/tests/b.rs"));
    assert!(!is_test("src/rules/contests.rs") && !is_test("crates/rules/src/run_tests/kinds.rs"));
}

/// The crates of this workspace that each crate may use.
const LAYERS: [(&str, &[&str]); 21] = [
    ("http", &[]),
    ("team", &["callgate-wire"]),
    ("wire", &[]),
    ("stringprep", &[]),
    ("link", &["callgate-wire"]),
    ("mask", &["callgate-wire"]),
    ("tools", &["callgate-link", "callgate-wire"]),
    ("claude", &["callgate-link", "callgate-mask", "callgate-tools", "callgate-wire"]),
    ("rules", &["callgate-mask", "callgate-wire"]),
    ("store", &["callgate-link", "callgate-wire"]),
    ("relay", &["callgate-link", "callgate-wire"]),
    ("team_store", &["callgate-store", "callgate-wire"]),
    (
        "approval",
        &["callgate-http", "callgate-link", "callgate-mask", "callgate-store", "callgate-wire"],
    ),
    ("client", &["callgate-link", "callgate-mask", "callgate-wire"]),
    ("chat", &["callgate-approval", "callgate-client", "callgate-mask", "callgate-wire"]),
    ("web", &["callgate-client", "callgate-link", "callgate-wire"]),
    (
        "agent",
        &[
            "callgate-claude",
            "callgate-http",
            "callgate-link",
            "callgate-mask",
            "callgate-store",
            "callgate-tools",
            "callgate-wire",
        ],
    ),
    (
        "settings",
        &[
            "callgate-agent",
            "callgate-approval",
            "callgate-mask",
            "callgate-rules",
            "callgate-wire",
        ],
    ),
    (
        "policy",
        &[
            "callgate-approval",
            "callgate-link",
            "callgate-mask",
            "callgate-rules",
            "callgate-settings",
            "callgate-store",
            "callgate-team",
            "callgate-wire",
        ],
    ),
    (
        "surroundings",
        &[
            "callgate-approval",
            "callgate-link",
            "callgate-policy",
            "callgate-rules",
            "callgate-settings",
        ],
    ),
    (
        "hooks",
        &[
            "callgate-approval",
            "callgate-link",
            "callgate-mask",
            "callgate-settings",
            "callgate-surroundings",
            "callgate-wire",
        ],
    ),
];

#[test]
fn crates_use_only_what_lies_below_them() {
    for (krate, allowed) in LAYERS {
        let manifest =
            fs::read_to_string(root().join(format!("crates/{krate}/Cargo.toml"))).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let used = manifest["dependencies"].as_table().unwrap();
        let ours: Vec<&str> =
            used.keys().filter(|name| name.starts_with("callgate")).map(String::as_str).collect();
        assert!(ours.iter().all(|name| allowed.contains(name)), "{krate} uses {ours:?}");
    }
}

#[test]
fn the_shell_uses_the_client_and_nothing_else_of_ours() {
    let manifest = fs::read_to_string(root().join("shell/Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let used = manifest["dependencies"].as_table().unwrap();
    let ours: Vec<&String> = used.keys().filter(|name| name.starts_with("callgate")).collect();
    assert_eq!(ours, ["callgate-client"]);
}

/// The commands that the shell declares and the page is granted are the same: a declared one is
/// refused until it is granted, and one that is not declared could not be refused.
#[test]
fn every_command_of_the_shell_is_declared_granted_and_handled() {
    let read = |name: &str| fs::read_to_string(root().join("shell").join(name)).unwrap();
    let build = read("build.rs");
    let declared = build.split("COMMANDS: &[&str] = &[").nth(1).unwrap().split(']').next().unwrap();
    let mut declared: Vec<String> =
        declared.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    let granted = read("capabilities/page.json");
    let words = granted.split('"').filter_map(|word| word.strip_prefix("allow-"));
    let mut granted: Vec<String> = words.map(|word| word.replace('-', "_")).collect();
    let main = read("src/main.rs");
    let handled = main.split("generate_handler![").nth(1).unwrap().split(']').next().unwrap();
    let mut handled: Vec<String> = handled
        .split(',')
        .filter_map(|path| path.trim().split("::").nth(1))
        .map(str::to_owned)
        .collect();
    for list in [&mut declared, &mut granted, &mut handled] {
        list.sort();
    }
    assert_eq!(declared, granted);
    assert_eq!(declared, handled);
}

#[test]
fn wire_does_no_io_reads_no_clock_and_starts_no_task() {
    let manifest = fs::read_to_string(root().join("crates/wire/Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let used: Vec<&str> =
        manifest["dependencies"].as_table().unwrap().keys().map(String::as_str).collect();
    assert_eq!(used, ["memchr", "serde", "serde_json"]);
    for path in files("crates/wire/src", ".rs") {
        let text = fs::read_to_string(&path).unwrap();
        for forbidden in [
            "std::io",
            "std::fs",
            "std::net",
            "std::time",
            "std::thread",
            "std::process",
            "std::env",
        ] {
            assert!(!text.contains(forbidden), "{} uses {forbidden}", name(&path));
        }
    }
}

#[test]
fn standard_output_belongs_to_the_protocol() {
    for folder in ["crates/wire/src", "crates/link/src", "crates/tools/src", "crates/claude/src"] {
        for path in files(folder, ".rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                assert!(!line.contains("println!"), "{}: {line}", name(&path));
            }
        }
    }
}

#[test]
fn the_bridge_reads_no_environment() {
    let bridge = files("crates/tools/src/bridge", ".rs");
    let mcp = files("crates/tools/src/mcp", ".rs");
    let roots =
        ["crates/tools/src/bridge.rs", "crates/tools/src/mcp.rs"].map(|name| root().join(name));
    for path in bridge.into_iter().chain(mcp).chain(roots) {
        let text = fs::read_to_string(&path).unwrap();
        // `env!` is the compiler's environment, not the bridge's.
        assert!(!text.contains("std::env") && !text.contains("env::var"), "{}", name(&path));
    }
}

#[test]
fn settings_rules_hooks_and_chat_get_the_environment_as_values() {
    for folder in ["settings", "policy", "hooks", "chat"] {
        for path in files(&format!("crates/{folder}/src"), ".rs") {
            let text = fs::read_to_string(&path).unwrap();
            for forbidden in ["env::var", "env::home_dir", "env::current", "env::args"] {
                assert!(!text.contains(forbidden), "{} uses {forbidden}", name(&path));
            }
        }
    }
}

#[test]
fn what_is_measured_is_built_as_what_is_shipped() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let profile = &manifest["profile"];
    for name in ["dist", "bench"] {
        assert_eq!(profile[name]["lto"].as_str(), Some("fat"), "{name}");
        assert_eq!(profile[name]["codegen-units"].as_integer(), Some(1), "{name}");
    }
    let release = profile["release"].as_table().unwrap();
    // `cargo build --release` is for those who build it themselves: it has to be quick.
    assert_eq!(release["lto"].as_str(), Some("off"));
    assert!(!release.contains_key("codegen-units"));
}

#[test]
fn every_decision_and_every_protocol_is_reachable_from_the_documents() {
    let architecture = fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    for folder in ["docs/decisions", "docs/protocol"] {
        for path in files(folder, ".md") {
            let file = path.file_name().unwrap().to_string_lossy().into_owned();
            assert!(architecture.contains(&file), "ARCHITECTURE.md does not mention {file}");
        }
    }
    assert!(architecture.lines().count() <= 250, "ARCHITECTURE.md is too long to be read");
    let cells = architecture.lines().filter(|line| line.starts_with('|'));
    let long = cells.flat_map(|row| row.split('|')).filter(|cell| cell.trim().len() > LONGEST_CELL);
    assert_none(&long.map(|cell| format!("split this cell of a table:{cell}")).collect::<Vec<_>>());
}

/// How many bytes a cell of a table in ARCHITECTURE.md may have. A longer one is not looked up but
/// searched.
const LONGEST_CELL: usize = 300;

/// The pages that say where things are, and which test keeps what true.
const MAPS: [&str; 10] = [
    "docs/ARCHITECTURE.md",
    "docs/journeys.md",
    "docs/limits.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "crates/claude/README.md",
    "crates/link/README.md",
    "crates/mask/README.md",
    "crates/tools/README.md",
    "crates/wire/README.md",
];

#[test]
fn what_the_documents_name_exists() {
    let sources = files("", ".rs");
    let names: Vec<String> = sources.iter().map(|path| format!("/{}", name(path))).collect();
    let code: String = sources.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let mut wrong = Vec::new();
    for map in MAPS {
        let text = fs::read_to_string(root().join(map)).unwrap();
        for word in text.lines().flat_map(|line| line.split('`').skip(1).step_by(2)) {
            let exists = match KindOfName::of(word) {
                KindOfName::File => names.iter().any(|name| name.ends_with(&format!("/{word}"))),
                KindOfName::Test => code.contains(&format!("fn {word}(")),
                KindOfName::Constant => {
                    // Or a variable of the environment.
                    code.contains(&format!("const {word}:"))
                        || code.contains(&format!("\"{word}\""))
                }
                KindOfName::Type => {
                    let type_name = word.split("::").next().unwrap();
                    type_names::DEFINED_TYPES.contains_key(type_name)
                }
                KindOfName::Other => true,
            };
            if !exists {
                wrong
                    .push(format!("{map} names `{word}`, which is gone: name what took its place"));
            }
        }
    }
    assert_none(&wrong);
}

/// What a word in backticks names.
enum KindOfName {
    File,
    Test,
    Constant,
    Type,
    Other,
}

impl KindOfName {
    fn of(word: &str) -> KindOfName {
        let starts_type = word.starts_with(|char: char| char.is_ascii_uppercase())
            && word.chars().nth(1).is_some_and(|char| char.is_ascii_lowercase());
        let is_path = word.chars().all(|char| char.is_ascii_alphanumeric() || "_:".contains(char));
        if Path::new(word).extension().is_some_and(|extension| extension == "rs")
            && !word.contains(['*', ' '])
        {
            KindOfName::File
        } else if starts_type && is_path && !matches!(word, "RawValue" | "Read") {
            KindOfName::Type
        } else if word.matches('_').count() >= 3 && word.chars().all(is_lower) {
            KindOfName::Test
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
