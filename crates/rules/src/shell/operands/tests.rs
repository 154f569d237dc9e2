//! Which words are taken for paths.

use super::*;
use crate::{Act, GuardedSet, Moment, Policy, RuleDecision, RuleFile, Trust};

#[test]
fn programs_that_reach_out_are_not_harmless() {
    for program in [
        "{print $1}",
        "NR==1, /end/ {print; n++} END {printf \"%d\", n}",
        "$1 == \"a\" || $2 ~ /b/",
        "{gsub(/a/, \"b\"); print}",
    ] {
        assert!(awk::is_harmless_program(program), "{program}");
    }
    for program in [
        "{print > \"/etc/x\"}",
        "{print >> $2}",
        "BEGIN {while ((getline line < \"/etc/passwd\")) print line}",
        "BEGIN {system(\"id\")}",
        "{print | \"sh\"}",
        "{\"id\" |& getline}",
        "BEGIN {ARGV[1] = \"/etc/shadow\"; ARGC = 2}",
        "@load \"readfile\"",
        "@include \"/etc/x\"",
        "{print $1} \\\n",
    ] {
        assert!(!awk::is_harmless_program(program), "{program}");
    }
    for script in [
        "p",
        "s/a/b/",
        "s/a/b/p",
        "s|/usr|/opt|g",
        "1,10p",
        "$!d",
        "/foo/,/bar/p",
        "/foo/{p;q}",
        "2q; s/[a-z]*/x/2g",
        "1~2d;y/abc/xyz/",
        "s/w/e/; s,e,w,",
        "/a/I p",
    ] {
        assert!(sed::is_harmless_script(script), "{script}");
    }
    for script in [
        "",
        "w /etc/x",
        "s/a/b/w /etc/x",
        "s/a/b/e",
        "s/a/b/gw x",
        "1e id",
        "e",
        "r /etc/passwd",
        "R x",
        "/a/ w x",
        "{p;w x\n}",
        "s/a/b/;e id",
        "p\ne id",
        "s/[/]w x/b/",
        "s/a\\/b/w x",
        "s/[\\/]a/b/w",
        "\\,a,p",
        "a hello",
        "b x",
        "M",
        "s/a/b",
        "psw",
        "p w x",
    ] {
        assert!(!sed::is_harmless_script(script), "{script}");
    }
}

fn decide(command: &str, patterns: &str) -> (RuleDecision, String) {
    let text = format!(
        "[[rule]]\nname = \"x\"\ndecide = \"allow\"\ncommand = {patterns}\npath = \"src/**\"\n"
    );
    let file = RuleFile::from_toml("rules.toml", &text, Trust::User);
    assert!(!file.has_errors(), "{:?}", file.problems);
    let policy = Policy::new(GuardedSet::new("/home/ada")).with_file(&file, None);
    let input = serde_json::json!({ "command": command }).to_string();
    let act = Act::from_call("Bash", &input, "/home/ada/engine", "claude", "/home/ada");
    let verdict = policy.decide_by_names(&act, &Moment::from_unix_ms(0, 0));
    (verdict.decision, verdict.because)
}

#[test]
fn a_program_is_no_path_and_the_folder_does_not_count_where_files_are_named() {
    let patterns =
        r#"["cat *", "sed *", "awk *", "grep *", "rg *", "rm *", "ls *", "make *", "find *"]"#;
    for command in [
        "cat src/a",
        "cat src/a src/b/c",
        "sed -n 's/a/b/p' src/f",
        "sed -n '/foo/p' src/f",
        "sed -n -e 1p -e '/x/d' src/f",
        "awk '{print $1}' src/f",
        "awk -F , '/foo/ {print}' src/f",
        "grep -rn -A 3 '/etc/passwd' src",
        "rg -n /etc/passwd src/a",
        "rm -r src/old",
    ] {
        let (decision, because) = decide(command, patterns);
        assert_eq!(decision, RuleDecision::Allow, "{command}: {because}");
    }
    for command in [
        "cat README",
        "cat src/../README",
        "cat src/a /etc/passwd",
        "cat",
        "ls",
        "grep -r foo",
        "rg foo",
        "rg -r src/a src/b",
        "rg --files src",
        "grep -rf src/p",
        "grep foo src/a -e /etc/passwd",
        "grep -f /etc/passwd src/a",
        "grep /etc/passwd src -e x",
        "grep /etc/passwd -- src -e",
        "sed -n 'w src/x' src/f",
        "sed /etc/passwd -e p src/f",
        "sed -i s/a/b/ src/f",
        "sed -n '/x/p' README",
        "awk '{print > \"x\"}' src/f",
        "awk -f src/p src/f",
        "awk 1 README",
        "make src/a",
        "find src",
    ] {
        let (decision, because) = decide(command, patterns);
        assert_eq!(decision, RuleDecision::Ask, "{command}: {because}");
    }
}
