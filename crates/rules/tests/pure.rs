//! The crates rules and mask do no I/O, read no clock and no environment.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::path::PathBuf;

#[test]
fn no_file_reaches_for_the_world() {
    let crates = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut folders = vec![crates.join("rules/src"), crates.join("mask/src")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.display().to_string();
            if name.contains("tests") {
                continue;
            }
            files += 1;
            let text = fs::read_to_string(&path).unwrap();
            for forbidden in ["io", "fs", "net", "time", "thread", "process", "env", "os"] {
                let used = format!("std::{forbidden}");
                let is_used =
                    |line: &str| !line.trim_start().starts_with("//") && line.contains(&used);
                assert!(!text.lines().any(is_used), "{name} uses {used}");
            }
        }
    }
    assert!(files > 60, "only {files} files were looked at");
}
