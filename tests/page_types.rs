//! The files of the page fit together: the TypeScript compiler accepts them, `desk.d.ts` accepts
//! every example of `desk.md`, the tests of the pure modules pass, and the vendored libraries are
//! the ones that are written down.

#![allow(clippy::expect_used, reason = "a failed step is a failed test")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use callgate_store::Sha256Hash;
use callgate_testkit::process::run;
use callgate_testkit::tools::{node22, repo_root, tsc};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// The compiler takes a second or two, many times that on a machine with much to do.
const DEADLINE: Duration = Duration::from_mins(3);

/// What the types have to refuse, each with the type that it is not.
const BAD: &[(&str, &str)] = &[
    ("DeskMessage", r#"{"id":"1","kind":"told","done":true}"#),
    ("DeskMessage", r#"{"id":"1","kind":"told","done":"yes","text":""}"#),
    ("DeskMessage", r#"{"id":"1","kind":"inbox","head":1,"rows":[]}"#),
    ("DeskMessage", r#"{"id":"1","kind":"fly"}"#),
    ("DeskMessage", r#"{"kind":"entry","entry":{"seq":"1"}}"#),
    ("DeskRequest", r#"{"id":"1","kind":"press"}"#),
    ("DeskRequest", r#"{"kind":"status"}"#),
    ("DeskRequest", r#"{"id":"1","kind":"export","format":"xml","filter":{}}"#),
];

#[test]
fn the_page_and_the_types_of_the_protocol_are_checked() {
    let Some(mut tsc) = tsc() else { return };
    let ui = ui();
    let folder = TempDir::with_prefix("callgate-page-types-").unwrap();
    fs::copy(ui.join("types/desk.d.ts"), folder.path().join("desk.d.ts")).unwrap();
    fs::write(folder.path().join("examples.ts"), examples()).unwrap();
    tsc.current_dir(folder.path()).args(["--noEmit", "--strict", "--target", "es2022"]);
    tsc.args(["--module", "esnext", "--moduleResolution", "bundler", "examples.ts"]);
    let ended = run(tsc, DEADLINE);
    assert!(ended.status.success(), "{}\n{}", ended.stdout, examples());
}

#[test]
fn the_modules_of_the_page_fit_their_types() {
    let Some(mut tsc) = tsc() else { return };
    tsc.current_dir(ui()).args(["-p", "."]);
    let ended = run(tsc, DEADLINE);
    assert!(ended.status.success(), "{}", ended.stdout);
}

#[test]
fn the_tests_of_the_pure_modules_pass() {
    let Some(node) = node22() else { return };
    let mut tests: Vec<PathBuf> = fs::read_dir(ui().join("tests"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".test.js"))
        .collect();
    tests.sort();
    assert!(tests.len() >= 3, "{tests:?}");
    let mut command = Command::new(node);
    command.arg("--test").args(tests);
    let ended = run(command, DEADLINE);
    assert!(ended.status.success(), "{}\n{}", ended.stdout, ended.stderr);
}

#[test]
fn the_vendored_files_are_the_ones_that_are_written_down() {
    let vendor = ui().join("vendor");
    let page = fs::read_to_string(vendor.join("README.md")).unwrap();
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.split('|').map(|cell| cell.trim().trim_matches('`'));
        let (_, file, sum) = (cells.next()?, cells.next()?, cells.next()?);
        (sum.len() == 64).then(|| (file.to_owned(), sum.to_owned()))
    });
    let listed: Vec<(String, String)> = rows.collect();
    for (file, sum) in &listed {
        let digest = Sha256::digest(fs::read(vendor.join(file)).unwrap());
        assert_eq!(Sha256Hash(digest.into()).to_string(), *sum, "{file}");
    }
    let mut scripts = Vec::new();
    let mut folders = vec![vendor.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "js") {
                scripts.push(path.strip_prefix(&vendor).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    for script in scripts {
        assert!(listed.iter().any(|(file, _)| *file == script), "{script} is not listed");
    }
}

fn ui() -> PathBuf {
    repo_root().join("ui")
}

/// Returns a module that gives every example of the document its type.
fn examples() -> String {
    let document = fs::read_to_string(repo_root().join("docs/protocol/desk.md"));
    let document = document.expect("the document");
    let mut lines = vec!["import type { DeskMessage, DeskRequest } from './desk';".to_owned()];
    for (language, of) in [("desk-request", "DeskRequest"), ("desk-message", "DeskMessage")] {
        let fence = format!("```json {language}\n");
        let blocks = document.split(fence.as_str()).skip(1);
        for block in blocks.filter_map(|rest| rest.split("```").next()) {
            for example in serde_json::Deserializer::from_str(block).into_iter::<Value>() {
                let example = example.expect("an example is JSON");
                lines.push(format!("({example}) satisfies {of};"));
            }
        }
    }
    assert!(lines.len() > 20, "the document has examples");
    for (of, bad) in BAD {
        lines.push("// @ts-expect-error".to_owned());
        lines.push(format!("({bad}) satisfies {of};"));
    }
    lines.join("\n")
}
