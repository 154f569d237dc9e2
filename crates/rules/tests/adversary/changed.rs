//! Lines that change what their later words mean: no deny loses sight of its command or file.

use super::*;

const RULES: &str = r#"
[[rule]]
name = "no-push"
decide = "deny"
command = "git push"

[[rule]]
name = "keys"
decide = "deny"
path = ["~/.ssh", "~/.config/gh/hosts.yml"]
"#;

/// Returns the lines that are neither denied nor asked about, with what was decided.
fn let_through(lines: &[&str]) -> Vec<String> {
    let policy = policy(RULES);
    let verdicts = lines.iter().map(|line| (line, decide(&policy, line)));
    let open = verdicts.filter(|(_, verdict)| {
        verdict.decision != RuleDecision::Deny
            && !(verdict.decision == RuleDecision::Ask && verdict.wants_person)
    });
    open.map(|(line, verdict)| format!("{line:?}: {}", verdict.because)).collect()
}

#[test]
fn every_form_of_an_assignment_is_seen() {
    let missed = let_through(&[
        "x=ls; x[0]=git; $x push",
        "x=ls; x[0]+=git; $x push",
        "x=ls; x[$(echo 0)]=git; $x push",
        "x=ls; x[\"0\"]=git; $x push",
        "x=ls; x[ 0 ]=git; $x push",
        "x=ls; x[1]=(git); $x push",
        "x=ls; declare x[0]=git; $x push",
        "x=ls; declare x[ 0 ]=git; $x push",
        "x=ls; declare \"x=git\"; $x push",
        "x=ls; declare \"x\"=git; $x push",
        "x=ls; declare 'x[0]=git'; $x push",
        "x=ls; declare 'x+=git'; $x push",
        "x=ls; export 'x=git'; $x push",
        "x=ls; readonly x\"=git\"; $x push",
        "x=ls; time declare x=git; $x push",
        "x=ls; time -p declare x=git; $x push",
        "x=ls; time eval x=git; $x push",
        "x=ls; command -p read x <<< git; $x push",
        "x=ls; builtin -- read x <<< git; $x push",
        "x=ls; typeset -L3 x; x=gitabc; $x push",
        "x=ls; typeset -R3 x; x=abcgit; $x push",
        "x=ls; typeset -T y x; y=git; $x push",
        "x=ls; : ${x::=git}; $x push",
        "x=ls; for y x in a git; do $x push; done",
        "x=ls; for y x; do $x push; done",
        "OPTARG=ls; getopts a: y -a git; $OPTARG push",
        "MAPFILE=ls; mapfile -t <<< git; $MAPFILE push",
        "_=ls; : git; $_ push",
        "export x=ls; env x=git sh -c '$x push'",
        "export x=zz; env -u x sh -c 'git$x push'",
        "export x=zz; sudo sh -c 'git$x push'",
        "export x=zz; ssh localhost 'git$x push'",
        "y='a[$(git push)]'; x[y]=1",
        "y='a[$(git push)]'; x[$y]=1",
        "functions[f]='git push'; f",
        "integer x='y[$(git push)]'",
    ]);
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn the_output_of_a_function_is_not_that_of_the_program_of_its_name() {
    let missed = let_through(&[
        "nproc() { echo git; }; $(nproc) push",
        "nproc () (echo git)\n$(nproc) push",
        "function nproc { echo git; }; $(nproc) push",
        "function nproc() { echo git; }\n$(nproc) push",
        "echo() { printf git; }; $(echo ls) push",
        "true() { echo git; }; $(true; echo) push",
        "nproc() { echo git; }; sh -c 'true'; x=$(nproc); $x push",
        "nproc() { echo git; }; export -f nproc; bash -c '$(nproc) push'",
        "eval 'nproc() { echo git; }'; $(nproc) push",
        "x=nproc; eval \"$x() { echo git; }\"; $(nproc) push",
        "echo 'nproc() { echo git; }' > f; . ./f; $(nproc) push",
        ". <(echo bnByb2MoKQ== | base64 -d); $(nproc) push",
        "alias nproc='echo git'\n$(nproc) push",
        "hash nproc=/bin/echo; $(nproc git) push",
        "hash x=/usr/bin/git; x push",
    ]);
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_change_of_folder_leads_where_the_shell_looks() {
    let missed = let_through(&[
        "CDPATH=~; cd .ssh; cat id_rsa",
        "CDPATH=~\ncd .ssh && cat id_rsa",
        "export CDPATH=~; cd .ssh; cat id_rsa",
        "declare -x CDPATH=~; cd .ssh; cat id_rsa",
        "declare 'CDPATH=/home/ada'; cd .config/gh; cat hosts.yml",
        "read CDPATH <<< ~; cd .ssh; cat id_rsa",
        "printf -v CDPATH %s ~; cd .ssh; cat id_rsa",
        "x=CDPATH; export $x=~; cd .ssh; cat id_rsa",
        "for CDPATH in ~; do cd .ssh; cat id_rsa; done",
        "cdpath=(~); cd .ssh; cat id_rsa",
        "echo 'CDPATH=~' > env; . ./env; cd .ssh; cat id_rsa",
        "env CDPATH=~ sh -c 'cd .ssh; cat id_rsa'",
        "export CDPATH=~; eval 'cd .ssh'; cat id_rsa",
        "CDPATH=~; pushd .config/gh; cat hosts.yml",
        "shopt -s cdable_vars; x=~/.config/gh; cd x; cat hosts.yml",
        "d=..; cd $d; cd .config; cd gh; cat hosts.yml",
        "eval 'cd ~'; cat .ssh/id_rsa",
        "source <(echo cd ~); cat .ssh/id_rsa",
        "tar -C .. -C .config -C gh -cf - hosts.yml",
        "x=-C; [ \"$Y\" ] && x=-v; tar $x .. -C.config --directory=gh -cf - hosts.yml",
        "tar -cC .. -C .config/gh hosts.yml",
    ]);
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Two stars cross folders only where they are a name of their own.
#[test]
fn two_stars_in_a_name_are_one() {
    let missed = let_through(&[
        "cat ~/.config/gh/hosts**",
        "cat ~/.s**/id_rsa",
        "cat ~/.config/gh/h**.yml",
        "cat ~/.config/gh/**.yml",
        "cat ~/.config/**/hosts.yml",
        "cat ~/.ssh/id**",
        "cat ~/.ssh/**",
        "cat ~/.ssh/keys/**",
        "cat ~/.ssh/keys/**/id_rsa",
    ]);
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_command_that_runs_again_runs_where_the_line_has_gone() {
    let missed = let_through(&[
        "g() { cat .ssh/id_rsa; }; cd ~; g",
        "function g { cat .ssh/id_rsa; }; cd ~; g",
        "for i in 1 2; do cat .ssh/id_rsa; cd ~; done",
        "while :; do cat .ssh/id_rsa; cd ..; done",
        "cd src/a; until false; do cat .ssh/id_rsa; cd ..; done",
        "trap 'cat .ssh/id_rsa' EXIT; cd ~",
        "trap \"cat .ssh/id_rsa\" EXIT; cd ..",
        "x=a; trap 'cat .ssh/id_rsa' EXIT; cd ~/\".$x\"/..",
        "d=..; cd $d; sh -c 'cat .config/gh/hosts.yml'",
    ]);
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn ordinary_lines_with_these_forms_ask_nobody() {
    let policy = policy(RULES);
    for line in [
        "files[0]=a; files[1]=b; ls src",
        "declare -A seen; seen[\"a\"]=1; ls src",
        "i=0; names[i]=x; names[$i]=y; names[i+1]=z; ls",
        "build() { make; }; build; make -j\"$(nproc)\"",
        "run() { cargo build; }; cd src && run",
        "for d in a b; do (cd $d && make); done",
        "for f in a b; do echo $f; done; cd src; ls",
        "unset CDPATH; cd src && ls",
        "CDPATH=; cd src && ls",
        "trap 'rm -f x' EXIT; cd src; make",
        "source .venv/bin/activate && cd tests && ls",
        "git -C a -C b status",
        "tar -C src -cf - a | tar -C build -xf -",
        "grep -rn \"main()\" . ; make -j$(nproc)",
        "time make; hash -r; ls",
    ] {
        let verdict = decide(&policy, line);
        assert!(!verdict.wants_person, "{line:?}: {}", verdict.because);
    }
}
