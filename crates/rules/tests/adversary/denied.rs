//! A deny finds its command wherever it hides, and leaves alone what only mentions it.

use super::*;

/// Each holds an `rm` that a deny has to find.
const DENIED: &[&str] = &[
    "rm",
    "rm -rf /",
    "/bin/rm x",
    "\\rm x",
    "'rm' x",
    "r'm' x",
    "r\\m x",
    "RM x",
    "git status; rm -rf /",
    "ls && rm x",
    "ls | rm x",
    "ls || rm x",
    "ls & rm x",
    "ls\nrm x",
    "(rm x)",
    "((rm x))",
    "{ rm x; }",
    "{rm,-rf,/}",
    "! rm x",
    "echo $(rm x)",
    "echo \"$(rm x)\"",
    "echo `rm x`",
    "echo \"a`rm x`\"",
    "ls <(rm x)",
    "echo ${x:-$(rm x)}",
    "A=1 rm x",
    "A=1 B=2 rm x",
    "A=$(rm x) ls",
    ">x rm y",
    "2>/dev/null rm y",
    "rm x > y",
    "if rm x; then ls; fi",
    "if ls; then rm x; fi",
    "while ls; do rm x; done",
    "for f in *; do rm $f; done",
    "case x in x) rm x;; esac",
    "f() { rm x; }; f",
    "function f { rm x; }",
    "sudo rm x",
    "sudo -u bob rm x",
    "sudo -n -- rm x",
    "doas rm x",
    "env rm x",
    "env A=1 rm x",
    "env -i PATH=/x rm x",
    "nohup rm x",
    "timeout 5 rm x",
    "timeout -k 1 5 rm x",
    "nice -n 5 rm x",
    "xargs rm",
    "ls | xargs rm",
    "ls | xargs -n1 -I{} rm {}",
    "find . -exec rm {} ;",
    "find . -execdir /bin/rm {} +",
    "bash -c 'rm x'",
    "sh -c \"ls; rm x\"",
    "bash -lc 'sudo rm x'",
    "bash <<< 'rm x'",
    "bash <<EOF\nrm x\nEOF",
    "cat <<EOF | sh\nls\nrm x\nEOF",
    "echo 'rm x' | sh",
    "echo rm x | bash",
    "eval rm x",
    "eval 'rm x'",
    "eval \"r\"m x",
    "exec rm x",
    "command rm x",
    "builtin rm x",
    "time rm x",
    "trap 'rm x' EXIT",
    "alias x='rm y'",
    "X=rm; $X y",
    "X='rm -rf'; $X y",
    "ssh host rm x",
    "ssh host 'cd /; rm x'",
    "su -c 'rm x'",
    "docker run -v /:/x img rm x",
    "python3 -c 'import os; os.system(\"rm x\")'",
    "perl -e 'system(\"rm x\")'",
    "node -e \"exec('rm x')\"",
    "awk 'BEGIN{system(\"rm x\")}'",
    "git -c alias.x='!rm y' x",
    "git -c core.pager=rm log",
    "tar --to-command=rm xf a",
    "ssh -o ProxyCommand='rm x' h",
    "make SHELL=rm x",
    "busybox rm x",
    "rm\tx",
    "$'rm' x",
    "$'\\x72m' x",
    "\"rm\" x",
    "ls; \\\nrm x",
    "r\\\nm x",
    "/bin/r? x",
    "/bin/r* x",
    "r[m] x",
    "coproc rm x",
    "noglob rm x",
    "echo 'unfinished; rm x",
    "ls; rm 'x",
    "watch rm x",
    "setsid -f rm x",
    "strace -f rm x",
    "bash -c \"bash -c 'rm x'\"",
    "xargs -a f sh -c 'rm $0'",
    "! ! rm x",
    "ls &! rm x",
    "parallel rm ::: a b",
    "rm -rf -- /",
    "[[ a ]] && rm x",
    // Here-documents are expanded unless the word that ends them is quoted.
    "cat <<EOF\n$(rm x)\nEOF",
    "cat <<EOF\nsay `rm x`\nEOF",
    "cat <<-EOF > y\n\t\"$(rm x)\"\n\tEOF",
    "cat <<A <<B\n1\nA\n$(rm x)\nB",
    "cat <<~\n$(rm x)\n~",
    "cat <<EOF\n${X:-$(rm x)}\nEOF",
    "cat <<~\n1\n~\nrm x",
    "cat <<$HOME\n1\n$HOME\nrm x",
    // The value of an expansion may be the program.
    "${X:-rm} y",
    "${X-r}m y",
    "${X:=${Y:-rm}} y",
    "flock x rm y",
    "chroot / rm y",
    "setarch -R rm x",
    "linux64 rm x",
    "choom -n 0 rm x",
    "xvfb-run -a rm x",
    "/lib64/ld-linux-x86-64.so.2 /bin/rm x",
    "perf stat -e x rm y",
    "bwrap --dev-bind / / rm x",
    "zip x.zip a -T -TT 'rm x'",
    "make -f - <<'E'\nx:\n\trm x\nE",
    "make -f - <<< 'x:;rm x'",
    "ed <<< '!rm x'",
    "newgrp <<< 'rm x'",
];

#[test]
fn a_deny_looks_inside() {
    let policy = policy("[[rule]]\nname = \"no-rm\"\ndecide = \"deny\"\ncommand = \"rm\"");
    let missed: Vec<_> = DENIED
        .iter()
        .filter(|command| decide(&policy, command).decision != RuleDecision::Deny)
        .collect();
    assert!(missed.is_empty(), "these were not denied: {missed:#?}");
}

#[test]
fn a_deny_leaves_alone_what_only_says_its_name() {
    let policy = policy("[[rule]]\nname = \"no-rm\"\ndecide = \"deny\"\ncommand = \"rm\"");
    for command in [
        "git rm x",
        "echo rm",
        "ls rm",
        "grep -r 'rm -rf' .",
        "npm rm x",
        "git commit -m 'rm old files'",
        "rmdir x",
        "timeout 5 git rm x",
        "echo $HOME",
        "$x y",
        "echo \"$x\"",
        "cat <<EOF\nrm x\nEOF",
        "cat <<'EOF'\n$(rm x)\nEOF",
        "cat <<EOF\n\\$(rm x)\nEOF",
        "echo ${X:-rm}",
        "./farm x",
        "ls # rm x",
    ] {
        assert_eq!(decide(&policy, command).decision, RuleDecision::Ask, "{command:?}");
    }
}

#[test]
fn a_deny_of_a_path_sees_the_values_of_expansions() {
    let rule = "[[rule]]\nname = \"keys\"\ndecide = \"deny\"\npath = \"~/.ssh/**\"";
    let policy = policy(rule);
    for command in [
        "cat ${X:-~/.ssh/id}",
        "cat ${X:=$HOME/.ssh/id}",
        "cat ${X-/home/ada/.ssh/id}",
        "cat ${X+/home/ada}/.ssh/id",
        "echo x > ${X:-~/.ssh/id}",
        "cat <<EOF\n$(cat ~/.ssh/id)\nEOF",
    ] {
        assert_eq!(decide(&policy, command).decision, RuleDecision::Deny, "{command:?}");
    }
    for tool in ["Monitor", "PowerShell"] {
        let input = json!({ "command": "cat ~/.ssh/id" }).to_string();
        let act = Act::from_call(tool, &input, "/home/ada/engine", "claude", "/home/ada");
        let verdict = judge_act(&policy, &act, &NoLinks, &Moment::from_unix_ms(0, 0));
        assert_eq!(verdict.decision, RuleDecision::Deny, "{tool}");
    }
}

#[test]
fn a_deny_of_several_words_sees_past_options() {
    let policy = policy("[[rule]]\nname = \"no-push\"\ndecide = \"deny\"\ncommand = \"git push\"");
    for (command, expected) in [
        ("git push", RuleDecision::Deny),
        ("git push origin main", RuleDecision::Deny),
        ("git -C /x push", RuleDecision::Deny),
        ("git --no-pager push", RuleDecision::Deny),
        ("git -c a=b -C /x push --force", RuleDecision::Deny),
        ("$(echo git) push", RuleDecision::Deny),
        ("git pu*", RuleDecision::Deny),
        ("git log push", RuleDecision::Ask),
        ("git commit -m push", RuleDecision::Ask),
        ("git pull", RuleDecision::Ask),
        ("git", RuleDecision::Ask),
    ] {
        assert_eq!(decide(&policy, command).decision, expected, "{command:?}");
    }
}

#[test]
fn a_deny_is_found_where_shells_read_the_line_differently() {
    let policy = policy("[[rule]]\nname = \"no-push\"\ndecide = \"deny\"\ncommand = \"git push\"");
    for command in [
        ": \"$(case x in x) git push;; esac)\"",
        ": \"${x:-'$(git push)'}\"",
        "git {push,}",
        "env -S'git push'",
        "echo push | xargs git",
        "git rebase -x 'git push'",
        "git submodule foreach 'git push'",
        "git bisect run git push",
        "sed '1e git push'",
        "(( x = 1 << 2 ))\ngit push",
        "env --split-string='git push'",
        "$(echo env --split-string='git push')",
        "command -- flock f1 git push --force",
        "env -u A -- flock f1 git -C src push",
        "echo sudo -n -u root -- git push | xargs -L1 nice",
        "git bisect run ssh -p 22 -o X=y me@localhost git push --force",
        "git submodule foreach A=$((1<<2)) B='#' git push",
        "git bisect run nice git submodule foreach nice git push",
        "git bisect run ~/b*/git push",
        "x1=$(command -v git) && x2=(\"$x1\" push) && \"${x2[@]}\"",
        "x2=(gi${HOME+t} push)\n\"${x2[@]}\"",
        "x1=p.q; x2=(git ${x1%.q}ush); \"${x2[@]}\"",
        "python3 -c 'import os; os.popen(\"g\\\nit push --force\").read()'",
        "python3 -c 'import os; os.popen(\"g\"\"it push --force\").read()'",
        "python3 -c 'import os; os.popen(\"g\" \"i\" \"t push\").read()'",
        "python3 -c 'import os; os.popen(\"git -c a=b pus`echo \\`echo h\\``\").read()'",
        "[ -n \"$(x3=($((git push) < f))\n)\n)\" ]",
    ] {
        assert_eq!(decide(&policy, command).decision, RuleDecision::Deny, "{command:?}");
    }
}

#[test]
fn short_programs_are_judged_by_their_words() {
    let rule = "[[rule]]\nname = \"keys\"\ndecide = \"deny\"\npath = \"~/.ssh\"";
    let policy = policy(rule);
    for command in ["python3 -c 'print(1,2)'", "python3 -c 'x=[1,2]; print(x[0], len(x))'"] {
        let verdict = decide(&policy, command);
        assert!(!verdict.wants_person, "{command:?}: {}", verdict.because);
        assert_eq!(verdict.decision, RuleDecision::Ask, "{command:?}: {}", verdict.because);
    }
    let command = "python3 -c 'open(\"/home/ada/.ssh/id\")'";
    assert_eq!(decide(&policy, command).decision, RuleDecision::Deny);
}

#[test]
fn what_could_be_denied_is_asked_about() {
    let policy = policy("[[rule]]\nname = \"no-push\"\ndecide = \"deny\"\ncommand = \"git push\"");
    for command in [
        "git $x",
        "git$x push",
        "\"$x\" --no-pager push origin",
        "$x $y",
        "$x pull",
        "env --split-string='git -c alias.p=push p'",
        "git rebase --exec='trap \"x1=q y1=qgit && ${y1#$x1} push\" EXIT' main",
        "git rebase --exec='bash -c \"git pus$9h\" x y' main",
        "=bash -c \"$x\"",
        "=xargs git <<< push",
    ] {
        let verdict = decide(&policy, command);
        assert_eq!(verdict.decision, RuleDecision::Ask, "{command:?}");
        assert!(verdict.wants_person && verdict.is_unclear, "{command:?}: {}", verdict.because);
    }
}

/// A shell's tool runs the command alone, or takes the arguments after all.
#[test]
fn arguments_that_a_tool_may_not_know_are_read_both_ways() {
    let policy = policy(
        "[[rule]]\nname = \"a\"\ndecide = \"deny\"\ncommand = [\"clean\", \"git push\"]\n\
         [[rule]]\nname = \"b\"\ndecide = \"allow\"\ncommand = \"*\"",
    );
    for (input, expected) in [
        (json!({ "command": "clean", "args": ["--dry-run"] }), RuleDecision::Deny),
        (json!({ "command": "git", "args": ["push"] }), RuleDecision::Deny),
        (json!({ "command": "git", "args": "push" }), RuleDecision::Deny),
        (json!({ "command": "ls", "args": ["-l"] }), RuleDecision::Ask),
        (json!({ "command": "ls" }), RuleDecision::Allow),
    ] {
        let home = "/home/ada";
        let act = Act::from_call("Bash", &input.to_string(), home, "claude", home);
        let verdict = judge_act(&policy, &act, &NoLinks, &Moment::from_unix_ms(0, 0));
        assert_eq!(verdict.decision, expected, "{input}: {}", verdict.because);
    }
}
