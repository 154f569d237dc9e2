//! Which crate may use which, and which of them are pure.

use std::collections::BTreeSet;
use std::fs;

use super::dependencies::{is_crate_of_ours, manifest_dependencies};
use super::source::product_tokens;
use super::{assert_none, product_sources, root};

/// The crates of this workspace that each crate uses.
const LAYERS: [(&str, &[&str]); 22] = [
    ("http", &[]),
    ("stringprep", &[]),
    ("testkit", &[]),
    ("wire", &[]),
    ("team", &["callgate-wire"]),
    ("link", &["callgate-wire"]),
    ("mask", &["callgate-wire"]),
    ("tools", &["callgate-link", "callgate-wire"]),
    ("claude", &["callgate-link", "callgate-mask", "callgate-tools", "callgate-wire"]),
    ("rules", &["callgate-mask", "callgate-wire"]),
    ("store", &["callgate-wire"]),
    ("relay", &["callgate-link", "callgate-wire"]),
    ("team_store", &["callgate-store", "callgate-wire", "stringprep"]),
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
    let folders = fs::read_dir(root().join("crates")).unwrap();
    let folders: BTreeSet<String> =
        folders.map(|folder| folder.unwrap().file_name().into_string().unwrap()).collect();
    let rows: BTreeSet<String> = LAYERS.iter().map(|(krate, _)| (*krate).to_owned()).collect();
    assert_eq!(folders, rows, "each crate has a row in LAYERS");
    for (krate, expected) in LAYERS {
        assert_eq!(crates_used_by(&format!("crates/{krate}")), expected, "{krate}");
    }
}

#[test]
fn the_shell_uses_the_client_and_nothing_else_of_ours() {
    assert_eq!(crates_used_by("shell"), ["callgate-client"]);
}

/// Returns the crates of ours in a crate's manifest, those of its tests left out.
fn crates_used_by(folder: &str) -> Vec<String> {
    let used = manifest_dependencies(&root().join(folder).join("Cargo.toml"));
    used.into_iter().filter(|dependency| is_crate_of_ours(dependency)).collect()
}

/// What a crate may not name if what it returns is to depend on its arguments alone.
const IMPURE: [&str; 9] =
    ["fs", "net", "process", "thread", "env", "SystemTime", "Instant", "stdin", "stdout"];
/// What of that is pure.
const PURE: [&str; 7] = [
    // Addresses as values.
    "std::net::IpAddr",
    "std::net::Ipv4Addr",
    "std::net::Ipv6Addr",
    "std::net::SocketAddr",
    "std::net::SocketAddrV4",
    // Splits a text by the system's separator.
    "std::env::split_paths",
    "std::env::join_paths",
];

#[test]
fn pure_crates_touch_no_file_process_or_clock() {
    let pure = ["wire", "settings", "rules", "mask", "team"];
    let mut wrong = Vec::new();
    for (file, text) in product_sources() {
        let krate = file.strip_prefix("crates/").and_then(|file| file.split('/').next());
        if krate.is_some_and(|krate| pure.contains(&krate)) {
            let used = impure_names(&text);
            wrong.extend(used.into_iter().map(|used| format!("{file} uses {used}")));
        }
    }
    assert_none(&wrong);
}

/// Returns the names of the standard library in a file's product code that read or change something
/// outside it.
fn impure_names(text: &str) -> BTreeSet<String> {
    let tokens = product_tokens(text);
    let mut found = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| **token == "std") {
        if tokens.get(at + 1) == Some(&"::") {
            let path =
                std_paths(&tokens[at + 2..]).into_iter().map(|rest| format!("{token}::{rest}"));
            found.extend(path.filter(|path| is_impure(path)));
        }
    }
    found
}

/// Returns the paths that the tokens after `std::` begin with, those in braces too.
fn std_paths(tokens: &[&str]) -> Vec<String> {
    let mut paths = Vec::new();
    let mut prefixes = vec![String::new()];
    let mut path = String::new();
    for token in tokens {
        match *token {
            "::" => path.push_str("::"),
            "{" => prefixes.push(path.clone()),
            "," | "}" if prefixes.len() > 1 => {
                paths.push(path.clone());
                if *token == "}" {
                    prefixes.pop();
                }
                path = prefixes.last().cloned().unwrap_or_default();
            }
            token if path.is_empty() || path.ends_with("::") => path.push_str(token),
            _ => break,
        }
    }
    paths.push(path);
    paths
}

fn is_impure(path: &str) -> bool {
    let is_pure = PURE.iter().any(|pure| path == *pure || path.starts_with(&format!("{pure}::")));
    !is_pure && path.split("::").any(|part| IMPURE.contains(&part))
}

#[test]
fn what_touches_the_system_is_found_in_every_form() {
    let text = "
        use std::{fmt, fs::{self, File}, net::{IpAddr, TcpStream}};
        use std::time::{Duration, Instant};
        fn home() { std::env::var_os(\"HOME\"); std::env::split_paths(x); }
    ";
    let found: Vec<String> = impure_names(text).into_iter().collect();
    assert_eq!(
        found,
        [
            "std::env::var_os",
            "std::fs::File",
            "std::fs::self",
            "std::net::TcpStream",
            "std::time::Instant",
        ]
    );
}

#[test]
fn wire_does_no_io_and_has_three_dependencies() {
    let used = manifest_dependencies(&root().join("crates/wire/Cargo.toml"));
    assert_eq!(used.into_iter().collect::<Vec<_>>(), ["memchr", "serde", "serde_json"]);
    for (file, text) in product_sources() {
        let is_wire = file.starts_with("crates/wire/");
        assert!(!is_wire || !text.contains("std::io"), "{file} uses std::io");
    }
}
