//! Rules about writing apply to commands that write, by the paths that they write.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_rules::{
    Act, GuardedSet, Moment, NoLinks, Policy, RuleDecision, RuleFile, Trust, Verdict, judge_act,
};
use serde_json::json;

const OUTSIDE: &str = r#"
[[rule]]
name = "outside"
decide = "ask"
class = "write"
path = ["!**", "!/tmp/**"]

[[rule]]
name = "everything else"
decide = "allow"
command = "*"
"#;

fn decide(rules: &str, command: &str) -> Verdict {
    let file = RuleFile::from_toml("rules.toml", rules, Trust::User);
    assert!(!file.has_errors(), "{:?}", file.problems);
    let policy = Policy::new(GuardedSet::new("/home/ada")).with_file(&file, None);
    let input = json!({ "command": command }).to_string();
    let act = Act::from_call("Bash", &input, "/home/ada/engine", "claude", "/home/ada");
    judge_act(&policy, &act, &NoLinks, &Moment::from_unix_ms(0, 0))
}

/// Checks which commands are asked about, by the rule about writes outside of the project or
/// because they could also touch what is guarded, or are not understood.
fn check(is_asked: bool, commands: &[&str]) {
    let is_wrong = |command: &&str| {
        let verdict = decide(OUTSIDE, command);
        let is_by_rule = verdict.rule.as_ref().is_some_and(|rule| rule.name == "outside");
        let is_else = verdict.is_guarded || verdict.is_unclear;
        let is_wrong = (is_by_rule || (is_asked && is_else)) != is_asked;
        is_wrong.then(|| format!("{command}: {}", verdict.because))
    };
    let wrong: Vec<String> = commands.iter().filter_map(is_wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_command_that_writes_outside_the_project_is_asked_about() {
    check(
        true,
        &[
            "echo 'curl x | sh' >> ~/.bashrc",
            "echo x > /etc/cron.d/x",
            "echo x >| ../x",
            "make &> /var/log/x",
            "make >& /var/log/x",
            "cat <> /etc/x",
            "make 2> ~/x",
            "{ echo x; } > ~/.profile",
            "for i in 1; do echo $i; done > ~/.profile",
            "(cd src; ls) > ~/x",
            "> ~/.profile",
            "cat > ~/.profile <<'EOF'\nx\nEOF",
            "echo x > \"$HOME/.profile\"",
            "echo x > \"$FILE\"",
            "echo x > src/../../x",
            "echo x > src/.*/x",
            "cd .. && touch x",
            "cd \"$X\" && touch x",
            "cd - && echo x > x",
            "bash -c 'cd $X; touch x'",
            "cp x ~/.profile",
            "cp -r x ~/.profile -v",
            "cp x ~/.profile --suffix .bak",
            "cp -t ~/bin x",
            "cp -vt ~/bin x",
            "cp --target-directory=/home/ada/bin x",
            "cp --target=/home/ada/bin x",
            "/bin/cp x ~/.profile",
            "sudo cp x /etc/x",
            "env A=1 cp x /etc/x",
            "mv x ~/x",
            "mv ~/x .",
            "make | tee -a ~/x",
            "make | tee src/log ~/x",
            "install -m 755 x ~/bin/x",
            "install -d ~/bin/x",
            "ln -sf \"$PWD/x\" ~/.bashrc",
            "ln -s ../x ~/.bashrc",
            "sed -i s/a/b/ ~/.bashrc",
            "sed -i.bak -e s/a/b/ ~/.bashrc",
            "sed -Ei s/a/b/ src/a ~/.bashrc",
            "sed --in-place=.x s/a/b/ ~/.bashrc",
            "sed -ne 's/a/b/w /home/ada/x' src/a",
            "sed -n 'w /home/ada/x' src/a",
            "awk '{print > \"/home/ada/x\"}' src/a",
            "perl -pi -e s/a/b/ ~/.bashrc",
            "perl -i.bak -pe s/a/b/ ~/.bashrc",
            "dd if=x of=/dev/sda",
            "dd if=x of=\"$X\"",
            "truncate -s 0 ~/x",
            "touch ~/x",
            "mkdir -p ~/x/y",
            "tar -C / -xf x.tar",
            "tar xf x.tar -C /",
            "tar -xf x.tar --directory=/",
            "tar xPf x.tar",
            "tar czf ~/x.tgz src",
            "tar -cf ~/x.tar src",
            "unzip x.zip -d ~/x",
            "cd /opt && unzip x.zip",
            "rsync -a src/ ~/x",
            "curl -fsSLo ~/bin/x https://x.example",
            "wget -P ~/bin https://x.example",
            "sort x -o ~/y",
            "gcc -o ~/bin/x x.c",
            "find ~ -name x -exec sed -i s/a/b/ {} +",
            "find . -name x -fprint ~/y",
            "ls | xargs -I{} cp x {}",
            "git clone https://x.example/y ~/y",
            "git worktree add ../y",
            "git -C ~/other commit -m x",
            "git --work-tree=/home/ada/other checkout .",
            "git archive HEAD --output=/home/ada/x.tar",
            "ed ~/.bashrc",
            "chmod 777 ~/.ssh",
            "bash -c 'echo x > ~/x'",
            "echo $(touch ~/x)",
            "make > /tmp/../etc/x",
            // What a variable is may be an option, and may be a file.
            "f=-v; [ \"$X\" ] && f=~/.bashrc; cp x $f",
            "f=~/.bashrc; [ \"$X\" ] && f=-v; cp x $f",
            "f=-v; [ \"$X\" ] && f=--; cp x ~/.bashrc $f",
            "f=-v; [ \"$X\" ] && f=~/.bashrc; touch $f",
            "f=-n; [ \"$X\" ] && f=-i; sed $f s/a/b/ ~/.bashrc",
            "f=-e; [ \"$X\" ] && f=-i; sed $f s/a/b/ ~/.bashrc",
            "f=-vsrc; [ \"$X\" ] && f=-t/home/ada/bin; cp $f x",
            "o=of=a; [ \"$X\" ] && o=of=/home/ada/.bashrc; dd if=x $o",
            "f=-c; [ \"$X\" ] && f=-k; gzip $f ~/x",
            "f=-tf; [ \"$X\" ] && f=-xf; tar $f x.tar -C ~",
            "f=-xf; [ \"$X\" ] && f=-cf; tar $f ~/x.tar src",
            "g=status; [ \"$X\" ] && g=clone; git $g https://x.example/y ~/y",
            "g=--no-pager; [ \"$X\" ] && g=clone; git $g https://x.example/y ~/y",
        ],
    );
}

#[test]
fn reading_outside_and_writing_inside_are_no_writes_outside() {
    check(
        false,
        &[
            "cat /etc/hosts",
            "ls /usr/include",
            "grep -r x /usr/include | head -5",
            "cat < /etc/hosts",
            "cp /etc/hosts src/hosts",
            "cp -r /usr/share/x .",
            "ln -sf /usr/lib/x lib/x",
            "make > /dev/null 2>&1",
            "make &> /dev/null",
            "make >&2",
            "make 2>&-",
            "make > build.log 2>&1",
            "make | tee /tmp/log",
            "echo x >> /tmp/a/b",
            "cat > src/a.rs <<'EOF'\nx > /etc/x\nEOF",
            "sed -n '/foo/,/bar/p' /etc/hosts",
            "sed 's/a/b/' /etc/hosts",
            "sed -i s/a/b/ src/*.rs",
            "sed -i '/foo/d' src/a.rs",
            "sed -i -e '/foo/d' src/a.rs",
            "awk '$3 > 5' /etc/passwd",
            "awk -F: '/w/ {print $1}' /etc/passwd",
            "perl -ne 'print if /i/' /etc/hosts",
            "dd if=/dev/zero of=x",
            "tar tf /opt/x.tar",
            "tar xf /opt/x.tar",
            "tar czf x.tgz /opt/x",
            "cd src && touch x",
            "find /usr -name 'x*'",
            "find . -name x -exec sed -i s/a/b/ {} +",
            "find . -exec grep x {} +",
            "gunzip -c /usr/share/x.gz",
            "git -C ../other log",
            "git diff /etc/hosts /etc/passwd",
            "git commit -m 'touch ~/x'",
            "git clone https://x.example/y",
            "rm -rf target/*",
            "mkdir -p src/a src/b",
            "touch -d '2 days ago' x",
            "for i in 1 2; do cat \"$i\"; done",
            "for f in *.x; do cp \"$f\" out/; done",
            "make 2>&1 | tail -5",
            "v=; [ \"$CI\" ] && v=-v; cp $v a src/b",
            "v=-q; [ \"$CI\" ] && v=-v; tar xf x.tar $v",
            "n=-n; [ \"$CI\" ] && n=-ne; sed $n s/a/b/ /etc/hosts",
        ],
    );
}

#[test]
fn a_rule_about_written_paths_leaves_reading_alone() {
    let rules = "[[rule]]\nname = \"docs\"\ndecide = \"deny\"\nclass = \"write\"\n\
                 path = \"docs/**\"\n[[rule]]\nname = \"all\"\ndecide = \"allow\"\ncommand = \"*\"\n";
    for (command, expected) in [
        ("cat docs/a", RuleDecision::Allow),
        ("cp docs/a src/a", RuleDecision::Allow),
        ("grep -r x docs", RuleDecision::Allow),
        ("cp src/a docs/a", RuleDecision::Deny),
        ("rm docs/*", RuleDecision::Deny),
        ("echo x > docs/a", RuleDecision::Deny),
        // What is written contains the folder.
        ("rm -r .", RuleDecision::Ask),
    ] {
        assert_eq!(decide(rules, command).decision, expected, "{command}");
    }
    let rules = "[[rule]]\nname = \"any\"\ndecide = \"ask\"\nclass = \"write\"\n";
    assert_eq!(
        decide(rules, "touch a b").because,
        "asked by rule `any` (rules.toml:1): it could write /home/ada/engine/a, /home/ada/engine/b"
    );
    assert_eq!(decide(rules, "ls").rule, None);
}

#[test]
fn a_list_of_paths_may_have_exceptions() {
    let rules = "[[rule]]\nname = \"env\"\ndecide = \"deny\"\n\
                 path = [\"/**/.env\", \"/**/.env.*\", \"!/**/.env.example\"]\n";
    for (command, is_denied) in [
        ("cat .env", true),
        ("cat .env.staging", true),
        ("cat .env.example", false),
        ("cat .env.example .env.local", true),
        ("cat .env.example/x", true),
        ("cat .env.e*", true),
        ("cat .ENV.EXAMPLE", true),
        ("cat src/.env.example", false),
    ] {
        let verdict = decide(rules, command);
        assert_eq!(verdict.decision == RuleDecision::Deny, is_denied, "{command}");
    }
}
