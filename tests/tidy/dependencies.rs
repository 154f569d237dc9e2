//! The table of dependencies says which crates have each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{assert_none, files, name, root};

/// The crates, by their folders, whose manifest has each dependency, tests left out.
fn crates_by_dependency() -> BTreeMap<String, BTreeSet<String>> {
    let mut users: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let manifests = files("crates", "Cargo.toml").into_iter().chain([root().join("Cargo.toml")]);
    for path in manifests {
        let krate = name(&path);
        let krate = krate.split('/').nth(1).unwrap_or("program");
        if krate == "testkit" {
            continue;
        }
        let manifest: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        let tables = ["dependencies", "build-dependencies"].map(|table| manifest.get(table));
        for dependency in tables.into_iter().flatten().flat_map(|it| it.as_table().unwrap().keys())
        {
            users.entry(dependency.clone()).or_default().insert(krate.to_owned());
        }
    }
    let is_ours = |dependency: &str| {
        dependency.starts_with("callgate") || root().join("crates").join(dependency).exists()
    };
    users.retain(|dependency, _| !is_ours(dependency));
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
