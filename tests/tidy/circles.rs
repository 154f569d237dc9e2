//! No modules of a crate use each other in a circle.

use std::path::Path;

use super::modules::{Arrows, ModuleTree};
use super::{name, root};

#[test]
fn no_modules_use_each_other_in_a_circle() {
    let mut wrong = Vec::new();
    for root_file in crate_roots() {
        let tree = ModuleTree::read(&root_file);
        let arrows = tree.arrows();
        let circles = circles(tree.len(), &arrows);
        wrong.extend(circles.iter().map(|circle| described(&tree, &arrows, circle)));
    }
    assert!(
        wrong.is_empty(),
        "\n{}\n\nModules that use each other are one module, or lack a third below both. Move \
         what one of them needs of the other into a file that uses neither. (A module may use \
         what its ancestors define.)",
        wrong.join("\n")
    );
}

fn crate_roots() -> Vec<std::path::PathBuf> {
    let roots = ["src/main.rs", "shell/src/main.rs", "crates/web/build.rs"];
    let mut roots: Vec<_> = roots.iter().map(|file| root().join(file)).collect();
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    roots.extend(crates.map(|krate| krate.unwrap().path().join("src/lib.rs")));
    roots.sort();
    roots
}

/// Returns the groups of modules that reach each other.
fn circles(len: usize, arrows: &Arrows) -> Vec<Vec<usize>> {
    let reached: Vec<Vec<bool>> = (0..len).map(|from| reached_from(from, len, arrows)).collect();
    let mut circles: Vec<Vec<usize>> = (0..len)
        .map(|a| (0..len).filter(|b| reached[a][*b] && reached[*b][a]).collect())
        .filter(|circle: &Vec<usize>| circle.len() > 1)
        .collect();
    circles.sort();
    circles.dedup();
    circles
}

fn reached_from(from: usize, len: usize, arrows: &Arrows) -> Vec<bool> {
    let mut reached = vec![false; len];
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        if !std::mem::replace(&mut reached[module], true) {
            open.extend(arrows.range((module, 0)..(module + 1, 0)).map(|((_, to), _)| *to));
        }
    }
    reached
}

fn described(tree: &ModuleTree, arrows: &Arrows, circle: &[usize]) -> String {
    let file = |module: usize| -> String { name(Path::new(tree.file(module))) };
    let ties = arrows
        .iter()
        .filter(|((from, to), _)| circle.contains(from) && circle.contains(to))
        .map(|((from, to), names)| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("    {} uses {}: {}", file(*from), file(*to), names.join(", "))
        });
    let ties: Vec<String> = ties.collect();
    format!("  a circle of {} files:\n{}", circle.len(), ties.join("\n"))
}
