//! Which commands are asked about.

use std::collections::HashMap;
use std::os::unix::fs::symlink;

use proptest::prelude::*;

use super::*;

/// A disk with the usual folders and a few links.
struct MadeUp {
    is_root_writable: bool,
}

impl Disk for MadeUp {
    fn link(&self, path: &Path) -> Option<PathBuf> {
        let links = HashMap::from([
            ("/home/ada/engine/out", "/srv/out"),
            ("/home/ada/engine/in", "src"),
            ("/home/ada/engine/hanging", "../../eve/new"),
            ("/home/ada/engine/circle", "circle"),
            ("/proc/self/root", "/"),
            ("/bin", "usr/bin"),
            ("/usr/bin/vim", "/etc/alternatives/vim"),
        ]);
        links.get(path.to_str()?).map(PathBuf::from)
    }

    fn exists(&self, path: &Path) -> bool {
        let there = ["/bin", "/dev", "/etc", "/home", "/proc", "/srv", "/tmp", "/usr"];
        there.iter().any(|name| path == Path::new(name))
    }

    fn is_root_writable(&self) -> bool {
        self.is_root_writable
    }
}

fn ask_in(cwd: &str, is_root_writable: bool, words: &[&str]) -> Option<String> {
    let place = Place {
        cwd: Path::new(cwd),
        roots: &["/home/ada/engine".into(), "/tmp/scratch".into()],
        programs: &["/home/ada/.cargo/bin".into()],
        home: Some("/home/ada".into()),
        disk: &MadeUp { is_root_writable },
    };
    let args: Vec<String> = words[1..].iter().map(ToString::to_string).collect();
    reason(words[0], &args, &place)
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
    ] {
        assert!(ask(words).is_some(), "{words:?}");
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
    let few = vec!["x"; MOST_PIECES];
    assert_eq!(ask(&[&["echo"][..], &few].concat()), None);
    let many = ask(&["echo", &"x ".repeat(MOST_PIECES + 1)]).unwrap();
    assert!(many.contains("more words"), "{many}");
}

#[test]
fn links_on_a_real_disk() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(folder.path().join("secret"), "x").unwrap();
    symlink(folder.path().join("secret"), root.join("link")).unwrap();
    symlink("nowhere", root.join("hanging")).unwrap();
    symlink(&root, folder.path().join("alias")).unwrap();
    let roots = [folder.path().join("alias")];
    let place = Place { cwd: &root, roots: &roots, programs: &[], home: None, disk: &RealDisk };
    let ask = |word: &str| reason("cat", &[word.to_owned()], &place);
    assert!(ask("link").is_some());
    assert!(ask("~/x").is_some(), "nobody knows where the home is");
    assert_eq!(ask("hanging"), None);
    assert_eq!(ask(root.join("x").to_str().unwrap()), None);
    assert_eq!(ask(roots[0].join("x").to_str().unwrap()), None);
}

proptest! {
    #[test]
    fn no_word_panics(command in "[/.~a-]{0,8}", word in "[-/.~@:=%$,a-f0-9 é]{0,24}") {
        ask(&[&command, &word]);
    }

    #[test]
    fn a_plain_absolute_path_is_always_seen(before in "(|--x=|-I|a:|@|x=@|'|a b )", name in "[a-z]{1,6}") {
        let word = format!("{before}/etc/{name}");
        prop_assert!(ask(&["x", &word]).is_some(), "{}", word);
    }
}
