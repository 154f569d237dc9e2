//! The house rules that no lint checks.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod circles;
mod dependencies;
mod documents;
mod function_names;
mod glossary;
mod layers;
mod modules;
mod sizes;
mod source;
mod type_names;

use std::fs;
use std::path::{Path, PathBuf};

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
    let all = ["crates", "shell", "src"].into_iter().flat_map(|folder| files(folder, ".rs"));
    let all = all.chain([root().join("build.rs")]);
    let product = all.map(|path| (name(&path), path)).filter(|(file, _)| is_product(file));
    product.map(|(file, path)| (file, fs::read_to_string(path).unwrap())).collect()
}

/// Returns true if a file is built into what is shipped, or builds it.
fn is_product(file: &str) -> bool {
    let is_beside = file.split('/').any(|part| matches!(part, "benches" | "examples" | "fuzz"));
    !is_beside && !is_test(file)
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

fn is_test(name: &str) -> bool {
    name.split('/').any(|part| matches!(part, "tests" | "tests.rs"))
}

#[test]
fn only_folders_and_files_of_tests_are_tests() {
    assert!(is_test("tests/up.rs") && is_test("src/log/tests.rs") && is_test("src/a/tests/b.rs"));
    assert!(!is_test("src/rules/contests.rs") && !is_test("crates/rules/src/run_tests/kinds.rs"));
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
    let shipped = profile["dist"].as_table().unwrap();
    assert_eq!(shipped["lto"].as_str(), Some("fat"));
    assert_eq!(shipped["codegen-units"].as_integer(), Some(1));
    let measured = profile["bench"].as_table().unwrap();
    assert_eq!(measured["inherits"].as_str(), Some("dist"));
    assert_eq!(measured.len(), 1, "the benchmarks have no settings of their own: {measured:?}");
    let release = profile["release"].as_table().unwrap();
    // `cargo build --release` is for those who build it themselves: it has to be quick.
    assert_eq!(release["lto"].as_str(), Some("off"));
    assert!(!release.contains_key("codegen-units"));
}
