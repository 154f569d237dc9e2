//! Patterns and ignore files, held against what git makes of them.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use crate::tool::files::search::glob::{
    GlobDialect, GlobPattern, MOST_ALTERNATIVES, expand_braces,
};
use crate::tool::files::search::ignored::IgnoreRules;

fn fits(pattern: &str, path: &str) -> bool {
    let dialect = GlobDialect { escapes: false, folds: true };
    let names: Vec<&str> = path.split('/').collect();
    let all = expand_braces(pattern).unwrap();
    all.iter().any(|text| GlobPattern::from_text(text, dialect).fits(&names))
}

#[test]
fn patterns_fit_whole_paths() {
    for (pattern, path, expected) in [
        ("a", "a", true),
        ("a", "A", true),
        ("ä", "Ä", true),
        ("a", "ab", false),
        ("a", "a/b", false),
        ("*", "abc", true),
        ("*", "a/b", false),
        ("?", "ä", true),
        ("?", "", false),
        ("a*c", "abbc", true),
        ("a*b*c", "aXbXbXc", true),
        ("a*b*c", "aXbXbX", false),
        ("*.rs", "main.rs", true),
        ("*.rs", "src/main.rs", false),
        ("**/*.rs", "main.rs", true),
        ("**/*.rs", "a/b/main.rs", true),
        ("src/**/*.rs", "src/main.rs", true),
        ("src/**/*.rs", "src/a/b/main.rs", true),
        ("src/**/*.rs", "lib/a.rs", false),
        ("src/**", "src/a/b", true),
        ("src/**", "src", false),
        ("**/a/**/b", "x/a/y/a/z/b", true),
        ("**/a/**/b", "x/a/y/z", false),
        ("**", "a/b/c", true),
        ("a**b", "axxb", true),
        ("a**b", "a/b", false),
        ("[a-c]x", "bx", true),
        ("[a-c]x", "Bx", true),
        ("[!a-c]x", "bx", false),
        ("[^a-c]x", "dx", true),
        ("[]x]", "]", true),
        ("[a-]", "-", true),
        ("[[:digit:]]", "7", true),
        ("[", "[", true),
        ("{a,b}.txt", "b.txt", true),
        ("{a,b}.txt", "c.txt", false),
        ("{a,{b,c}d}", "cd", true),
        ("{src,lib}/**/*.{rs,toml}", "lib/x/Cargo.toml", true),
        ("x{,y}", "x", true),
        (r"a\b", r"a\b", true),
    ] {
        assert_eq!(fits(pattern, path), expected, "{pattern} {path}");
    }
}

#[test]
fn braces_are_bounded() {
    assert!(expand_braces("{a,b").unwrap_err().contains("no `}`"));
    assert!(expand_braces(&"{a,b}".repeat(30)).unwrap_err().contains("more than"));
    assert!(expand_braces(&"{".repeat(5000)).is_err());
    assert_eq!(expand_braces(&"{a,b}".repeat(8)).unwrap().len(), MOST_ALTERNATIVES);
}

#[test]
fn no_pattern_is_slow() {
    let (pattern, name) = ("a*".repeat(1000) + "b", "a".repeat(3000));
    assert!(!fits(&pattern, &name));
    let (pattern, path) = ("**/a/".repeat(500) + "b", "a/".repeat(1500) + "c");
    assert!(!fits(&pattern, &path));
}

/// Returns what git says of each path: whether it is ignored.
fn git_says(ignore: &str, paths: &[String]) -> Vec<bool> {
    let dir = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(dir.path()).env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", dir.path());
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    };
    assert!(git(&["init", "-q"]).status().unwrap().success());
    fs::write(dir.path().join(".gitignore"), ignore).unwrap();
    let args = ["check-ignore", "--no-index", "--stdin", "-z", "-v", "-n"];
    let mut child = git(&args).spawn().unwrap();
    child.stdin.take().unwrap().write_all((paths.join("\0") + "\0").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let fields: Vec<&str> = output.split('\0').collect();
    let says = fields.chunks_exact(4).map(|f| !f[2].is_empty() && !f[2].starts_with('!'));
    says.collect()
}

/// Returns what we say, folder by folder from the top, as the walk does.
fn we_say(ignore: &str, path: &str) -> bool {
    let mut ignored = IgnoreRules::default();
    ignored.add_lines(ignore);
    let names: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    let is_folder = |depth: usize| depth < names.len() || path.ends_with('/');
    (1..=names.len())
        .any(|depth| ignored.ignores_path(&names[..depth], is_folder(depth)).unwrap_or(false))
}

fn check(ignore: &str, paths: &[&str]) {
    let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    for (path, git) in paths.iter().zip(git_says(ignore, &paths)) {
        assert_eq!(we_say(ignore, path), git, "{ignore:?} {path}");
    }
}

#[test]
fn ignore_files_are_read_as_git_reads_them() {
    let paths = [
        "a",
        "a/zz",
        "b/a",
        "b/a/zz",
        "a/b",
        "b/c/a",
        "a.log",
        "b/a.log",
        "!a",
        "#a",
        "a ",
        " a",
        "a\\",
        "build/zz",
        "build/x",
        "src/build/x",
        "doc/a.txt",
        "doc/x/a.txt",
        "x/doc/a.txt",
        "abc",
        "aXc",
        "a/x/b",
        "a/x/y/b",
        "foo/bar",
        "foo/bar/baz",
        "[a]",
        "a]",
        "*",
        "ab",
        "A",
    ];
    for ignore in [
        "a",
        "/a",
        "a/",
        "/a/",
        "*.log",
        "build/",
        "doc/*.txt",
        "doc/**/*.txt",
        "**/doc/*.txt",
        "a/**",
        "a/**/b",
        "**/a",
        "**/a/",
        "*",
        "*\n!a",
        "*\n!*/\n!*.txt",
        "a\n!b/a\n",
        "!a",
        "\\!a",
        "\\#a",
        "#a",
        "a ",
        "a\\ ",
        " a",
        "a\\\\",
        "a\r\nabc\r\n",
        "\u{feff}a",
        "[ab]",
        "[!a]",
        "[^a]",
        "\\[a]",
        "a[b-]",
        "a?c",
        "a*c",
        "foo/*",
        "foo/*\n!foo/bar",
        "foo/\n!foo/bar",
        "/*/a",
        "{a,b}",
        "",
        "/",
        "**",
        "***",
        "a**",
        "[[:alpha:]]",
        "\\*",
        "\n\n  \n",
    ] {
        check(ignore, &paths);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Two asterisks within a name are left out: git does with them what its manual does not say.
    #[test]
    fn git_agrees(
        lines in prop::collection::vec("!?/?(\\*\\*/)?(\\*?[ab?]){1,2}\\*?(/(a|b|\\*|a\\*)|/\\*\\*){0,2}/?", 1..4),
        paths in prop::collection::vec("[ab]{1,2}(/[ab]{1,2}){0,3}", 20),
    ) {
        let ignore = lines.join("\n");
        for (path, git) in paths.iter().zip(git_says(&ignore, &paths)) {
            prop_assert_eq!(we_say(&ignore, path), git, "{:?} {}", ignore, path);
        }
    }
}
