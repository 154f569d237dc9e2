//! Which commands are asked about.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A disk with the usual folders and a few links.
struct MadeUp;

const LINKS: &[(&str, &str)] = &[
    ("/home/ada/engine/out", "/srv/out"),
    ("/home/ada/engine/in", "src"),
    ("/home/ada/engine/hanging", "../../eve/new"),
    ("/home/ada/engine/circle", "circle"),
    ("/home/ada/engine/my link", "/srv/out"),
    ("/home/ada/engine/a,b", "/srv/out"),
    ("/home/ada/engine/x:y", "../../eve"),
    ("/home/ada/engine/@at", "/srv/out"),
    ("/home/ada/engine/-dash", "/srv/out"),
    ("/home/ada/engine/src/de ep", "/srv/out"),
    ("/home/ada/engine/ftp:", "/srv/out"),
    ("/home/ada/engine/bin", "/usr/bin"),
    ("/home/ada/engine/tool", "/usr/bin/tool"),
    ("/home/ada/engine/in prog", "src/tool"),
    ("/proc/self/root", "/"),
    ("/bin", "usr/bin"),
    ("/usr/bin/vim", "/etc/alternatives/vim"),
];

impl Disk for MadeUp {
    fn entry(&self, path: &str) -> DiskEntry {
        let there = ["/bin", "/dev", "/etc", "/home", "/proc", "/srv", "/tmp", "/usr"];
        let inside = ["/home", "/home/ada", "/home/ada/engine", "/home/ada/engine/src", "/usr/bin"];
        let odd = ["/home/ada/engine/d "];
        match LINKS.iter().find(|(name, _)| *name == path) {
            Some((_, target)) => DiskEntry::Link((*target).to_owned()),
            None if there.iter().chain(&inside).chain(&odd).any(|name| *name == path) => {
                DiskEntry::Present
            }
            None => DiskEntry::Missing,
        }
    }
}

fn ask_in(cwd: &str, is_root_writable: bool, words: &[&str]) -> Option<String> {
    let bounds = CommandBounds {
        roots: vec!["/home/ada/engine".into(), "/tmp/scratch".into()],
        programs: vec!["/home/ada/.cargo/bin".into()],
        home: Some("/home/ada".into()),
        is_root_writable,
    };
    let input = json!({ "command": words[0], "args": words[1..], "cwd": cwd });
    let act = Act::from_call(
        "run_shell_command",
        &input.to_string(),
        "/home/ada/engine",
        "callgate",
        "/home/ada",
    );
    outside_path_reason(&act, &bounds, &MadeUp)
}

fn ask(words: &[&str]) -> Option<String> {
    ask_in("/home/ada/engine", false, words)
}

#[test]
fn what_leads_outside_is_asked_about() {
    for words in [
        &["cat", "/etc/passwd"][..],
        &["cat", "../../eve/x"],
        &["cat", "src/../../x"],
        &["cat", ".."],
        &["ls", "/"],
        &["ls", "//"],
        &["ls", "~"],
        &["ls", "~/x"],
        &["ls", "~eve/x"],
        &["cp", "--target-directory=/etc", "x"],
        &["dd", "if=/etc/shadow"],
        &["gcc", "-I/etc/x", "a.c"],
        &["gcc", "-isystem/etc/x", "a.c"],
        &["git", "-C../x", "status"],
        &["gcc", "-Wl,-rpath,/etc"],
        &["docker", "run", "-v", "src:/etc", "x"],
        &["curl", "file:///etc/passwd"],
        &["curl", "FILE://localhost/etc/pass%77d"],
        &["curl", "file:/etc/passwd"],
        &["curl", "file:///home/ada/engine/%2e%2e/x"],
        &["curl", "-d@/etc/passwd", "x"],
        &["curl", "-F", "a=@/etc/passwd", "x"],
        &["sh", "-c", "cd src && cat </etc/passwd"],
        &["sh", "-c", "cat ../../x"],
        &["sh", "-c", "cat $HOME/x"],
        &["sh", "-c", "cat \"${HOME}/.x\""],
        &["python3", "-c", "open('/etc/passwd')"],
        &["cat", "out"],
        &["cat", "out/x"],
        &["touch", "hanging"],
        &["cat", "circle"],
        &["cat", "/proc/self/root/etc/passwd"],
        &["cat", "/home/ada/engine2/x"],
        &["cat", "/home/ada/engine/../x"],
        &["cat", "/tmp/x"],
        &["cat", "/dev/sda"],
        &["/home/eve/tool"],
        &["../tool"],
        &["out/tool"],
        &["/usr/bin/../../etc/tool"],
        &["/usr/bin/.."],
        &["/etc/tool"],
        &["src/../../tool"],
        &["/home/ada/engine/../tool"],
        // A link in the folder leads to it, so that it is not what a rule took it for.
        &["./tool"],
        &["bin/ls"],
        &["/home/ada/engine/bin/ls"],
    ] {
        assert!(ask(words).is_some(), "{words:?}");
    }
}

#[test]
fn names_with_signs_in_them_are_seen() {
    for words in [
        &["cat", "d /../../outside/secret"][..],
        &["cat", "new /../../outside/secret"],
        &["cat", "--file=d /../../outside/secret"],
        &["cat", "x=new /../../secret:y"],
        &["cat", "my link/secret"],
        &["cat", "my link"],
        &["cat", "a,b/secret"],
        &["cat", "x:y/secret"],
        &["cat", "@at/secret"],
        &["cat", "--", "-dash/secret"],
        &["cat", "--", "-dash"],
        &["cat", "src/de ep/secret"],
        &["cat", "--file=src/de ep/secret"],
        &["cat", "x=src/de ep/secret:y"],
        &["cat", "x=my link,y"],
        &["cat", "ftp://x"],
    ] {
        assert!(ask(words).is_some(), "{words:?}");
    }
}

#[test]
fn paths_right_behind_letters_are_seen() {
    for words in [
        &["tar", "-cf../written.tar", "f"][..],
        &["tar", "-cC../outside", "secret"],
        &["tar", "-xC..", "-f", "x"],
        &["tar", "-xC/", "-f", "x"],
        &["tar", "-xvf/etc/x"],
        &["tar", "-cfout/x"],
        &["tar", "-cvfout"],
        &["tar", "-cf~/x"],
        &["x", "--into../x"],
        &["x", "--into/etc/x"],
        &["sed", "w../x", "y"],
        &["git", "log", "--", ":!../x"],
        &["sh", "-c", "tar -cf../x y"],
        &["sh", "-c", "tar -cC$HOME x"],
    ] {
        assert!(ask(words).is_some(), "{words:?}");
    }
}

#[test]
fn what_a_script_puts_before_two_dots_is_not_trusted() {
    for script in ["cat $PWD/../x", "cat ${PWD}/../x", "cat $(pwd)/../x", "cat ~+/../x", "x=~:y"] {
        assert!(ask(&["sh", "-c", script]).is_some(), "{script}");
    }
}

#[test]
fn addresses_of_hosts_are_no_paths_but_those_of_files_are() {
    for word in ["file:/%65tc/passwd", "x=file:///etc", "sqlite:///etc/x", "a://etc/x"] {
        assert!(ask(&["x", word]).is_some(), "{word}");
    }
    for word in ["https://etc/x", "HTTP://etc", "git+ssh://etc/x", "-x=https://etc/x/../../../y"] {
        assert_eq!(ask_in("/home/ada/engine/src", true, &["x", word]), None, "{word}");
    }
}

#[test]
fn a_program_whose_name_a_shell_would_take_apart_is_asked_about() {
    for name in ["git status x/evil", "./in prog", "a;b", "./$x", "a\nb"] {
        let because = ask(&[name]).unwrap();
        assert!(because.contains("a shell would interpret"), "{name}: {because}");
    }
}

#[test]
fn what_stays_inside_is_left_to_the_rules() {
    for words in [
        &["make", "test"][..],
        &["cat", "README.md", "./src/x", "src/../x", "in/x", "a//b"],
        &["cat", "/home/ada/engine/x", "/home/ada/engine", "/tmp/scratch/x", "~/engine/x"],
        &["git", "diff", "HEAD~1", "main..next", "v1...v2", "-U5", "--stat"],
        &["git", "show", "HEAD:src/x"],
        &["sed", "-n", "/foo/,/bar/p", "x"],
        &["sed", "s/a/b/g", "x"],
        &["awk", "/foo/ {print $1}", "x"],
        &["grep", "-rn", "/api/users", "src"],
        &["gcc", "-Isrc/include", "-Llib/x", "-o", "out.o"],
        &["curl", "https://example.com/etc/passwd"],
        &["curl", "--proxy=http://host:80/etc", "localhost:8080/etc"],
        &["cmp", "x", "/dev/null"],
        &["find", ".", "-name", "*.rs"],
        &["echo", "", "-", "--", "@", "=", ":", "a/b:c/d", "~5"],
        &["ls", "-la", "--release", "-Isrc/", "-x~1", "--x~1", "-n1.5"],
        &["echo", "s/x/y/", "s/../y/", "a:b", "HEAD~1:src/x", "git@example.com:a/b.git"],
        &["gcc", "-Isrc/../src/x", "-DA=b/c", "-DA=\"b\""],
        &["go", "test", "./...", "src/.../x", "-run=^x$"],
        &["sh", "-c", "make test >/dev/null 2>&1 && cat src/x | grep -v 'a b' ; echo a, b"],
        &["cat", "new folder/x", "d /x", "x y/../z", "in prog"],
        &["/usr/bin/ls"],
        &["/bin/ls"],
        &["/usr/bin/vim"],
        &["/home/ada/.cargo/bin/cargo", "test"],
        &["./configure"],
        &["/home/ada/engine/target/x"],
        &["~/x"],
    ] {
        assert_eq!(ask(words), None, "{words:?}");
    }
}

#[test]
fn who_can_write_to_the_root_folder_is_asked_about_new_names_there() {
    let ask = |word| ask_in("/home/ada/engine", true, &["mkdir", word]);
    assert!(ask("/new/folder").is_some());
    assert_eq!(ask("-Isrc/include"), None);
}

#[test]
fn relative_paths_begin_in_the_folder_of_the_command() {
    assert_eq!(ask_in("/home/ada/engine/src", false, &["cat", "../x"]), None);
    assert!(ask_in("/home/ada/engine/src", false, &["cat", "../../x"]).is_some());
    assert_eq!(ask_in("/home/ada/engine/src", false, &["../run"]), None);
    assert!(ask_in("/home/ada/engine/src", false, &["../../run"]).is_some());
}

#[test]
fn a_folder_to_run_in_that_is_outside_is_asked_about() {
    for cwd in ["/srv", "/home/ada/engine/..", "/home/ada/engine/out", "/home/ada/engine/circle"] {
        let because = ask_in(cwd, false, &["ls"]).unwrap();
        assert!(because.starts_with("the command would run in"), "{because}");
    }
    for cwd in ["/home/ada/engine/in", "/home/ada/engine/src/..", "/tmp/scratch"] {
        assert_eq!(ask_in(cwd, false, &["ls"]), None, "{cwd}");
    }
}

#[test]
fn the_reason_names_the_path_and_the_folders_and_hides_secrets() {
    let because = "the command names `/etc/passwd`, which is outside of /home/ada/engine, \
                   /tmp/scratch";
    assert_eq!(ask(&["cat", "x", "-d@/etc/passwd"]).as_deref(), Some(because));
    let because = ask(&["../x/tool"]).unwrap();
    assert!(because.starts_with("the program is `../x/tool`, which is outside of"), "{because}");
    let long = ask(&["cat", &format!("/etc/{}", "ä".repeat(5000))]).unwrap();
    assert!(long.len() < 400 && long.contains('…'), "{long}");
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let because = ask(&["cat", &format!("/etc/{secret}")]).unwrap();
    assert!(!because.contains(secret), "{because}");
}

#[test]
fn a_command_with_too_many_words_is_asked_about() {
    let few = vec!["x"; 20_000];
    assert_eq!(ask(&[&["echo"][..], &few].concat()), None);
    for long in ["x ".repeat(MOST_LOOKS), "x /../x".repeat(10_000)] {
        let many = ask(&["echo", &long]).unwrap();
        assert!(many.contains("more words") || many.contains(".."), "{many}");
    }
    assert_eq!(ask(&["echo", &"x".repeat(1_000_000)]), None);
}

proptest! {
    #[test]
    fn no_word_panics(command in "[/.~a-]{0,8}", word in "[-/.~@:=%$,a-f0-9 é]{0,24}") {
        ask(&[&command, &word]);
    }

    #[test]
    fn a_link_that_leads_outside_is_always_seen(
        before in "(|-|-x|-xyz|--x=|a:|@|x=@|'|a b |x,y=)",
        name in "(out|my link|a,b|x:y|@at|-dash|src/de ep)",
        after in "(|/|/x|/x y|,|: a|')",
    ) {
        let word = format!("{before}{name}{after}");
        prop_assert!(ask(&["x", &word]).is_some(), "{}", word);
    }

    #[test]
    fn a_plain_absolute_path_is_always_seen(before in "(|--x=|-I|a:|@|x=@|'|a b )", name in "[a-z]{1,6}") {
        let word = format!("{before}/etc/{name}");
        prop_assert!(ask(&["x", &word]).is_some(), "{}", word);
    }
}
