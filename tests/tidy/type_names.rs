//! One name, one type: in each crate, and across the product's crates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::product_sources;
use super::source::{is_identifier, product_tokens};

/// The names that every crate may have once for itself.
const ONE_PER_CRATE: [&str; 2] = ["Error", "Fault"];

#[test]
fn a_type_name_stands_for_one_type() {
    let mut wrong = Vec::new();
    for (type_name, places) in &*DEFINED_TYPES {
        let is_per_crate = ONE_PER_CRATE.contains(&type_name.as_str());
        if !is_unique(places, is_per_crate) {
            wrong.push(format!("{type_name}: {}", places.join(", ")));
        }
    }
    assert!(
        wrong.is_empty(),
        "\n{}\n\nEach of these names stands for more than one type. Use the same type, or name \
         each after what it holds and whose it is (`OpenQuestion`, `LedgerEntry`).",
        wrong.join("\n")
    );
}

/// Returns true if no crate defines the name twice and, unless it is `per_crate`, only one crate of
/// the product defines it.
fn is_unique(places: &[String], per_crate: bool) -> bool {
    let crates: BTreeSet<&str> = places.iter().map(|place| crate_of(place)).collect();
    // The crate for tests only has to be consistent in itself.
    let product = crates.iter().filter(|krate| **krate != "crates/testkit").count();
    crates.len() == places.len() && (per_crate || product <= 1)
}

/// The files that define each type.
pub(crate) static DEFINED_TYPES: LazyLock<BTreeMap<String, Vec<String>>> =
    LazyLock::new(defined_types);

fn defined_types() -> BTreeMap<String, Vec<String>> {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, text) in product_sources() {
        for type_name in types_in(&product_tokens(&text)) {
            types.entry(type_name.to_owned()).or_default().push(file.clone());
        }
    }
    types
}

fn types_in<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    let mut depth = 0_usize;
    let mut types = Vec::new();
    for pair in tokens.windows(2) {
        match pair[0] {
            "{" => depth += 1,
            "}" => depth -= 1,
            "struct" | "enum" | "trait" if is_identifier(pair[1]) => types.push(pair[1]),
            // Deeper ones belong to a trait.
            "type" if depth == 0 => types.push(pair[1]),
            _ => {}
        }
    }
    types
}

/// Returns the folder of a file's crate.
pub(crate) fn crate_of(file: &str) -> &str {
    let depth = match file.split('/').next() {
        Some("crates") => 2,
        Some("shell") => 1,
        _ => return "src",
    };
    file.match_indices('/').nth(depth - 1).map_or(file, |(end, _)| &file[..end])
}
