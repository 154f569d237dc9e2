//! The tables of dependencies say which crates have each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::{assert_none, files, name, root};

/// Returns what a manifest depends on, for the build and on any target too, tests left out.
pub(crate) fn manifest_dependencies(path: &Path) -> BTreeSet<String> {
    let manifest: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
    let targets = manifest.get("target").and_then(toml::Value::as_table).into_iter();
    let targets = targets.flat_map(|targets| targets.values()).filter_map(toml::Value::as_table);
    let tables = targets.chain([&manifest]).flat_map(|table| {
        ["dependencies", "build-dependencies"].into_iter().filter_map(|kind| table.get(kind))
    });
    tables.flat_map(|table| table.as_table().unwrap().keys().cloned()).collect()
}

/// Returns true if a dependency is a crate of this workspace.
pub(crate) fn is_crate_of_ours(dependency: &str) -> bool {
    dependency.starts_with("callgate") || root().join("crates").join(dependency).exists()
}

/// Returns the crates, by their folders, whose manifest has each dependency, tests left out.
fn crates_by_dependency() -> BTreeMap<String, BTreeSet<String>> {
    let mut users: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let manifests = files("crates", "Cargo.toml").into_iter().chain([root().join("Cargo.toml")]);
    for path in manifests {
        let krate = name(&path);
        let krate = krate.split('/').nth(1).unwrap_or("program");
        if krate == "testkit" {
            continue;
        }
        for dependency in manifest_dependencies(&path) {
            users.entry(dependency).or_default().insert(krate.to_owned());
        }
    }
    users.retain(|dependency, _| !is_crate_of_ours(dependency));
    users
}

#[test]
fn the_table_of_dependencies_names_the_crates_that_have_them() {
    let decision = root().join("docs/decisions/0006-dependencies.md");
    let text = fs::read_to_string(decision).unwrap();
    let table = text.split("## Tests and benchmarks").next().unwrap();
    let mut users = crates_by_dependency();
    // With the program, and without the crate for tests.
    let all = fs::read_dir(root().join("crates")).unwrap().count();
    let mut wrong = Vec::new();
    for row in table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| crate")) {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let (named, said) = (cells.next().unwrap(), cells.next().unwrap());
        let mut expected = BTreeSet::new();
        for dependency in named.split(", ") {
            let dependency = dependency.split(' ').next().unwrap();
            match users.remove(dependency) {
                Some(crates) => expected.extend(crates),
                None => wrong.push(format!("no crate has `{dependency}`: remove its row")),
            }
        }
        let said_crates: BTreeSet<String> = said.split(", ").map(str::to_owned).collect();
        let is_true =
            if said == "most" { expected.len() * 2 > all } else { said_crates == expected };
        if !is_true {
            let expected: Vec<String> = expected.into_iter().collect();
            wrong.push(format!("{named} is in {}, not in {said}", expected.join(", ")));
        }
    }
    wrong.extend(users.into_keys().map(|dependency| format!("`{dependency}` has no row")));
    assert_none(&wrong);
}

/// The shell is a workspace of its own, and its window, its tray and its shortcut are weighed in
/// the decision about it.
#[test]
fn every_dependency_of_the_shell_has_a_reason() {
    let read = |file: &str| fs::read_to_string(root().join("docs/decisions").join(file)).unwrap();
    let (table, shell) = (read("0006-dependencies.md"), read("0023-the-shell.md"));
    let mut wrong = Vec::new();
    for dependency in manifest_dependencies(&root().join("shell/Cargo.toml")) {
        let has_row = table.lines().filter(|line| line.starts_with("| ")).any(|row| {
            let names = row.trim_matches('|').split('|').next().unwrap();
            names.split(',').any(|name| name.split_whitespace().next() == Some(&dependency))
        });
        if !has_row && !is_crate_of_ours(&dependency) && !shell.contains(&format!("`{dependency}`"))
        {
            wrong.push(format!("the decision about the shell does not name `{dependency}`"));
        }
    }
    assert_none(&wrong);
}
