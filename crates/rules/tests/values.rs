//! Values are followed where they can be known, and what is not known is asked about.

use callgate_rules::{
    Act, GuardedSet, Moment, NoLinks, Policy, RuleDecision, RuleFile, Trust, Verdict, judge_act,
};
use serde_json::json;

const RULES: &str = r#"
[[rule]]
name = "keys"
decide = "deny"
path = "~/.ssh"
"#;

fn decide(line: &str) -> Verdict {
    let file = RuleFile::from_toml("rules.toml", RULES, Trust::User);
    let policy = Policy::new(GuardedSet::new("/home/ada")).with_file(&file, None);
    let input = json!({ "command": line }).to_string();
    let act = Act::from_call("Bash", &input, "/home/ada/engine", "claude", "/home/ada");
    judge_act(&policy, &act, &NoLinks, &Moment::from_unix_ms(0, 0))
}

#[test]
fn known_values_ask_nobody() {
    for line in [
        "x=src; cat $x/a",
        "x=src && cat \"$x/a\"",
        "x=src; y=$x/a; cat $y",
        "for f in *.rs; do wc -l \"$f\"; done",
        "for f in a b; do mv \"$f.txt\" \"${f%.txt}.md\"; done",
        "for f in *.txt; do mv \"$f\" \"${f%.txt}.md\"; done",
        "d=$(date +%F); touch \"log-$d\"",
        "cd \"$(git rev-parse --show-toplevel)\" && cat README.md",
        "cat \"$PWD/src/a\"",
        "cat \"$HOME/engine/src/a\"",
        "make -j\"$(nproc)\"",
        "find src -name '*.rs' | xargs wc -l",
        "find src -type f | while read -r f; do wc -l \"$f\"; done",
        "files=(src/a src/b); cat \"${files[@]}\"",
        "case $1 in a) ls;; *) ls src;; esac",
        "i=0; while (( i < 3 )); do i=$((i + 1)); touch \"f$i\"; done",
        "cp src/{a,b} build/",
        "tmp=$(mktemp -d) && cp a \"$tmp/b\"",
        "echo \"$MESSAGE\"",
        "[ -n \"$CI\" ] && ls",
    ] {
        let verdict = decide(line);
        assert!(!verdict.wants_person, "{line:?}: {}", verdict.because);
        assert_eq!(verdict.decision, RuleDecision::Ask, "{line:?}: {}", verdict.because);
    }
}

#[test]
fn unknown_values_ask() {
    for line in [
        "cat $x/a",
        "cat \"$1\"",
        "false && x=src; cat $x",
        "x=src | cat $x",
        "(x=src); cat $x",
        "x=src & cat $x",
        "if false; then x=src; fi; cat $x",
        "for x in a; do :; done; cat $x",
        "x=src cat $x",
        "x=src; . ./env; cat $x",
        "x=src; read x; cat $x",
        "x=src; declare -n x=y; cat $x",
        "cat $(cat list)",
        "cd $x; cat id",
        "$x",
        "bash -c \"$x\"",
        "python3 -c \"$x\"",
        "eval \"$x\"",
        "cat list | sh",
        "shopt -s dotglob; cat ../*/id",
        "IFS=x; y=axb; cat $y",
        "echo $((x[$(cat f)]))",
        "cat ~bob/id",
        "alias ls=cat",
        "HOME=/x; cat ~/id",
    ] {
        let verdict = decide(line);
        assert!(verdict.wants_person && verdict.is_unclear, "{line:?}: {}", verdict.because);
    }
}

#[test]
fn a_value_that_is_denied_is_denied() {
    for line in [
        "x=~/.ssh; cat $x/id",
        "x=ssh; cat ~/.$x/id",
        "x=.ssh/id; cd; cat $x",
        "for d in .config .ssh; do ls ~/$d; done",
        "cat ~/.${x:-ssh}/id",
        "x=qssh; cat ~/.${x#q}/id",
        "cat $(echo ~/.ssh)/id",
        "cat $(dirname ~/.ssh/id)/id",
        "a=(~/.ssh/id b); cat ${a[0]}",
        "printf '%s\\n' ~/.ssh/id | xargs cat",
        "cd ~/.s?h && cat id",
        "env -C ~ cat .ssh/id",
        "x='cat ~/.ssh/id'; sh -c \"$x\"",
        "bash <<'E'\ncat ~/.ssh/id\nE",
    ] {
        let verdict = decide(line);
        assert_eq!(verdict.decision, RuleDecision::Deny, "{line:?}: {}", verdict.because);
    }
}
