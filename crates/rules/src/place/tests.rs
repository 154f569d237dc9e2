//! Paths are resolved as text.

use proptest::prelude::*;

use super::*;
use crate::glob::{ComparisonBias, can_meet};

const BASE: BaseFolders<'_> = BaseFolders { cwd: "/home/ada/engine", home: "/home/ada" };

fn check(text: &str, expected: &str) {
    assert_eq!(resolve_path(text, BASE), expected, "{text:?}");
    if !text.starts_with('~') {
        let whole =
            if text.starts_with('/') { text.into() } else { format!("{}/{text}", BASE.cwd) };
        assert_eq!(normal_toks(&literal_toks(&whole)), literal_toks(expected), "{text:?}");
    }
}

#[test]
fn paths_are_resolved_by_their_letters() {
    check("a", "/home/ada/engine/a");
    check("./a//b/", "/home/ada/engine/a/b");
    check("../x", "/home/ada/x");
    check("../../../../../etc/passwd", "/etc/passwd");
    check("", "/home/ada/engine");
    check("/", "/");
    check("/..", "/");
    check("/a/b/../../c", "/c");
    check("~", "/home/ada");
    check("~/x/../y", "/home/ada/y");
    check("~root/x", "/home/ada/engine/~root/x");
    check("a~", "/home/ada/engine/a~");
    check("/proc/self/root/etc/passwd", "/etc/passwd");
    check("/proc//1/./root/../etc", "/etc");
    check("/proc/thread-self/root/proc/9/root", "/");
    check("/proc/self/rooted/x", "/proc/self/rooted/x");
    check("/x/proc/self/root/y", "/x/proc/self/root/y");
    check("/proc/self/cwd/../x", "/proc/self/cwd/x");
    check("/proc/net/../root/x", "/proc/self/cwd/root/x");
    check("/dev/fd/../root/x", "/proc/self/cwd/root/x");
    check("/proc/../x", "/x");
}

#[test]
fn a_climb_out_of_the_unknown_may_lead_anywhere() {
    let toks = |text: &str| -> Vec<PatternToken> {
        text.chars()
            .map(|c| if c == '+' { PatternToken::Cross } else { PatternToken::Is(c) })
            .collect()
    };
    assert_eq!(normal_toks(&toks("/a/+/../b")), toks("/+/b"));
    assert!(can_meet(
        &normal_toks(&toks("/a/+/../b")),
        &literal_toks("/c/b"),
        ComparisonBias::Strict
    ));
    assert_eq!(normal_toks(&toks("/a/x/../+")), toks("/a/+"));
}

#[test]
fn a_folder_holds_itself_and_what_is_below() {
    for (path, folder, expected) in [
        ("/a/b", "/a", true),
        ("/a", "/a", true),
        ("/ab", "/a", false),
        ("/a", "/", true),
        ("/", "/a", false),
    ] {
        assert_eq!(is_in(path, folder), expected, "{path} in {folder}");
    }
    assert_eq!(folders_above("/a/b/c").collect::<Vec<_>>(), ["/a/b", "/a", "/"]);
    assert_eq!(folders_above("/").count(), 0);
    assert_eq!(last_name("/a/b/"), "b");
}

proptest! {
    #[test]
    fn a_normal_path_stays_as_it_is(text in "[a./~]{0,12}") {
        let path = resolve_path(&text, BASE);
        prop_assert_eq!(normal_path(&path), path.clone());
        prop_assert!(path.starts_with('/') && !path.contains("//"));
        prop_assert!(!path.split('/').any(|segment| segment == ".." || segment == "."));
    }
}
