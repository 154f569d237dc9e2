//! Files and folders stay small, and comments fit beside the code.

use std::collections::BTreeMap;
use std::fs;

use super::{assert_none, files, is_product, is_test, name, page_modules};

/// The most lines a file may have. Files of tests may be longer.
const LONGEST_FILE: usize = 400;
/// The most files of the product in one folder: more are not read as a list.
const FULLEST_FOLDER: usize = 25;
/// The folders that have more, and how many they may have. Take files out of them, and lower their
/// numbers.
const FULLER_FOLDERS: [(&str, usize); 7] = [
    ("crates/approval/src/desk", 36),
    ("crates/testkit/src", 34),
    ("crates/web/src", 26),
    ("shell/src", 30),
    ("src", 39),
    ("ui", 31),
    ("ui/parts", 40),
];
/// How many columns a comment may take, as code does.
const WIDEST_COMMENT: usize = 100;

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

#[test]
fn folders_stay_small() {
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    let all = files("", ".rs").into_iter().chain(page_modules()).map(|path| name(&path));
    for file in all.filter(|file| is_product(file)) {
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        *sizes.entry(folder.to_owned()).or_default() += 1;
    }
    let mut wrong = Vec::new();
    for (folder, most) in FULLER_FOLDERS {
        let size = sizes.remove(folder).unwrap_or_default();
        if size > most {
            wrong.push(format!("{folder} has {size} files, more than {most}: make a folder in it"));
        } else if size <= FULLEST_FOLDER {
            wrong.push(format!("{folder} has {size} files: it needs no exception any more"));
        }
    }
    let full = sizes.into_iter().filter(|(_, size)| *size > FULLEST_FOLDER);
    wrong.extend(
        full.map(|(folder, size)| format!("{folder} has {size} files: make a folder in it")),
    );
    assert_none(&wrong);
}

#[test]
fn comments_are_no_wider_than_code() {
    let mut wide = Vec::new();
    for path in files("", ".rs") {
        let text = fs::read_to_string(&path).unwrap();
        let mut is_example = false;
        for (at, line) in text.lines().enumerate() {
            let comment = line.trim_start();
            let words = comment.trim_start_matches(['/', '!']).trim_start();
            is_example ^= words.starts_with("```");
            // Neither can an example be broken, nor a row of a table or a long address.
            let can_break = !is_example && !words.starts_with('|') && words.contains(' ');
            let is_wide = line.chars().count() > WIDEST_COMMENT;
            if comment.starts_with("//") && can_break && is_wide {
                wide.push(format!("{}:{}: break this comment", name(&path), at + 1));
            }
        }
    }
    assert_none(&wide);
}
