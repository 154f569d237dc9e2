//! Tests of programs that type, and of programs into which an agent can type.

use serde_json::json;

use super::{asks, check, guarded};
use crate::{Act, Moment, Policy, RuleDecision, RuleFile, Trust};

#[test]
fn programs_that_type_into_terminals_ask() {
    let typists = [
        "tmux send-keys -t main 'y' Enter",
        "tmux send -t 0 y",
        "tmux -L work send-keys y",
        "tmux ls \\; send-keys y",
        "tmux ls ';' send-keys y",
        "tmux pa",
        "tmux paste-buffer",
        "tmux run-shell 'x'",
        "tmux pipe-pane x",
        "screen -S main -X stuff 'y\\n'",
        "screen -X stuff y",
        "xdotool key Return",
        "ydotool type y",
        "wtype y",
        "dotool",
        "kitty @ send-text y",
        "kitten @ send-text y",
        "wezterm cli send-text --no-paste y",
        "zellij action write-chars y",
        "nvim --server x --remote-send y",
        "osascript -e 'tell application \"System Events\" to keystroke \"y\"'",
        "reptyr 1234",
        "gdb -p 1234",
        "gdb --pid=1234",
        "strace -p 1234",
        "python3 -c 'import fcntl,termios; fcntl.ioctl(3, termios.TIOCSTI, b\"y\")'",
        "perl -e 'ioctl(STDIN, 0x5412, \"y\")'",
    ];
    check(&typists, true);
    for typist in typists.iter().filter(|typist| !typist.contains(['\'', ';'])) {
        for wrapped in [
            format!("sudo {typist}"),
            format!("env A=1 {typist}"),
            format!("nohup {typist}"),
            format!("timeout 5 {typist}"),
            format!("sh -c '{typist}'"),
            format!("echo y | xargs {typist}"),
            format!("ls; {typist}"),
            format!("/usr/bin/{typist}"),
            format!("sleep 1 && ({typist})"),
        ] {
            check(&[&wrapped], true);
        }
    }
}

#[test]
fn terminals_are_not_written_to_unasked() {
    check(
        &[
            "echo y > /dev/pts/3",
            "echo y >> /dev/pts/3",
            "tee /dev/pts/3",
            "cp x /dev/pts/3",
            "cat x > /dev/pts/*",
            "echo y > /dev/tty1",
            "echo y > /dev/tty",
            "printf y > /dev/console",
            "cat /dev/pts/3",
            "echo y > /proc/1234/fd/0",
            "cd /dev/pts && tee 3",
            "dd of=/dev/pts/3",
            "python3 -c \"open('/dev/pts/3','w').write('y')\"",
            "echo x > /dev/uinput",
        ],
        true,
    );
    for tool in ["Write", "Edit", "Read"] {
        assert!(asks(tool, &json!({"file_path": "/dev/pts/3"}), "/home/ada/engine"), "{tool}");
    }
    let input = json!({"target": "/dev/pts/3", "text": "y"});
    assert!(asks("mcp__fs__write", &input, "/home/ada/engine"));
    check(
        &[
            "ls /dev",
            "echo x > /dev/null",
            "cat /dev/urandom",
            "tty",
            "tmux ls",
            "tmux new-session -d -s x 'npm run dev'",
            "tmux capture-pane -p -t x",
            "tmux kill-session -t x",
            "tmux -V",
            "screen -ls",
            "screen -dmS x make",
            "kitty --version",
            "wezterm ls-fonts",
            "nvim --headless +q",
            "gdb ./a.out",
            "strace ls",
            "grep -rn xdotool src",
            "echo tmux send-keys",
        ],
        false,
    );
}

#[test]
fn no_rule_allows_a_bare_interpreter_for_an_agent_that_types_unseen() {
    let rules = "[[rule]]\nname = \"all\"\ndecide = \"allow\"\ncommand = \"*\"\n";
    let file = RuleFile::from_toml("rules.toml", rules, Trust::User);
    let policy = Policy::new(guarded()).with_file(&file, None);
    let decide = |agent: &str, command: &str| {
        let input = json!({ "command": command }).to_string();
        let act = Act::from_call("Bash", &input, "/home/ada/engine", agent, "/home/ada");
        policy.decide_by_names(&act, &Moment::from_unix_ms(0, 0)).decision
    };
    for command in [
        "bash",
        "bash -i",
        "bash -l",
        "bash -s",
        "sh",
        "/bin/sh",
        "zsh -f",
        "python",
        "python3",
        "python3 -i x.py",
        "python3 -",
        "python3 -q",
        "python3.12",
        "python3 -m pdb x.py",
        "node",
        "node -i",
        "node inspect x.js",
        "deno",
        "bun repl",
        "ruby",
        "irb",
        "perl",
        "perl -d x.pl",
        "php -a",
        "lua",
        "R",
        "psql",
        "psql mydb",
        "psql -h db -U ada mydb",
        "mysql mydb",
        "sqlite3 x.db",
        "mongosh mongodb://x",
        "redis-cli",
        "ssh host",
        "ssh -p 22 ada@host",
        "ssh -t host top",
        "docker exec -it c bash",
        "docker run --interactive x",
        "kubectl exec -it pod -- sh",
        "vim x",
        "less x",
        "gdb ./a.out",
        "timeout 9 bash",
        "nice python3",
        "sh -c bash",
        "sh -c 'cd x; python3'",
        "ls; bash",
    ] {
        assert_eq!(decide("codex", command), RuleDecision::Ask, "{command}");
    }
    for command in [
        "bash -c ls",
        "bash -lc ls",
        "bash x.sh",
        "python3 x.py",
        "python3 -c 1",
        "python3 -m pytest",
        "python3 --version",
        "node x.js",
        "node -e 1",
        "node --test",
        "ruby x.rb",
        "perl -ne print x",
        "psql -c 'select 1'",
        "psql -f x.sql mydb",
        "psql --command='select 1' mydb",
        "mysql -e 'select 1' mydb",
        "sqlite3 x.db 'select 1'",
        "redis-cli get x",
        "ssh host ls",
        "ssh -p 22 ada@host ls -l",
        "docker exec c ls",
        "docker build .",
        "cargo test",
        "git status",
        "vim --version",
    ] {
        assert_eq!(decide("codex", command), RuleDecision::Allow, "{command}");
    }
    for command in ["bash", "python3", "ssh host", "psql mydb"] {
        assert_eq!(decide("claude", command), RuleDecision::Allow, "{command}");
    }
}
