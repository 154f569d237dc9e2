//! Tests of what is guarded.

mod agents;
mod terminals;

use callgate_wire::tool_act::{OWN_AGENT, ToolKind};
use serde_json::json;

use super::*;

fn guarded() -> GuardedSet {
    let mut guarded = GuardedSet::new("/home/ada");
    guarded.add_path(GuardedKind::Socket, "/run/user/1000/callgate/desk.sock");
    guarded.add_path(GuardedKind::Own, "/srv/callgate-data");
    guarded
}

fn asks(tool: &str, input: &serde_json::Value, cwd: &str) -> bool {
    let agent = if ToolKind::is_tool_of(OWN_AGENT, tool) { OWN_AGENT } else { "claude" };
    guarded().touches(&Act::from_call(tool, &input.to_string(), cwd, agent, "/home/ada")).is_some()
}

fn check(commands: &[&str], expected: bool) {
    for command in commands {
        let asks = asks("Bash", &json!({ "command": command }), "/home/ada/engine");
        assert_eq!(asks, expected, "{command:?}");
    }
}

#[test]
fn commands_that_touch_the_gate_ask() {
    check(
        &[
            "cat ~/.config/callgate/config.toml",
            "cat /home/ada/.config/callgate/config.toml",
            "cat $HOME/.config/callgate/config.toml",
            "cat \"${HOME}\"/.config/callgate/config.toml",
            "cat ~/.config/../.config/callgate/x",
            "cat ../.config/callgate/x",
            "cat ../../ada/.config/callgate/x",
            "cat /../home/ada//.config/./callgate",
            "cat ~/.config/call*/x",
            "cat ~/.config/c?llgate/x",
            "cat ~/.config/*/config.toml",
            "cat ~/.*/callgate/x",
            "cat ~/.config/[c]allgate/x",
            "cat ~/.CONFIG/Callgate/x",
            "cat ~/.config/call\u{200c}gate/x",
            "cat '/home/ada/.config/callgate/x'",
            "cat /home/ada/.con'fig'/callgate",
            "cd ~/.config && cat callgate/config.toml",
            "cd ~/.config/callgate; cat config.toml",
            "cd ..; cd .config; ls callgate",
            "(cd ~/.config/callgate && cat *)",
            "echo x > ~/.claude/settings.json",
            "echo x >> .claude/settings.local.json",
            "echo x | tee .claude/settings.json",
            "cat < .claude/settings.json",
            "sed -i s/a/b/ .claude/settings.json",
            "sed -i s/a/b/ sub/.claude/settings.json",
            "cp x.json .claude/settings.json",
            "cp settings.json .claude",
            "cp settings.json .claude/",
            "cp /tmp/x/settings.json ~/.claude",
            "cd .claude && cp /tmp/settings.json .",
            "mv /tmp/settings.local.json .claude/",
            "ln -s /tmp/x .claude/settings.json",
            "git -C ~/.claude checkout settings.json",
            "make -C ~/.codex x",
            "dd if=x of=.claude/settings.json",
            "tar --directory=.claude -xf a.tar settings.json",
            "rm -rf .claude",
            "rm -rf .c*",
            "rm -rf ~/.config",
            "rm -rf ~",
            "rm -rf /",
            "rm -rf .",
            "rm -rf ../engine",
            "rm -rf \"$PWD\"/../.callgate/rules.toml",
            "mv ~/.claude ~/x",
            "mv .claude x",
            "chmod -R 777 ~",
            "find ~ -delete",
            "find . -exec rm {} +",
            "find ~/.claude -type f | xargs rm",
            "find ~/.claude -type f | xargs -n1 rm",
            "cd ~/.claude && ls | xargs rm",
            "ls | xargs rm",
            "time cd ~/.claude && cat settings.json",
            "command cd ~/.claude; cat s*",
            "builtin cd ~/.claude; cat settings.json",
            "time -p pushd ~/.claude; cat settings.json",
            "cp -r evil/. .",
            "rsync -a evil/ .",
            "grep -r token ~/.config",
            "rg token ~",
            "tar cf x.tar ~/.local",
            "cp -r ~/.config /tmp/x",
            "cd ~ && rg token",
            "python3 -c \"open('/home/ada/.claude/settings.json','w')\"",
            "node -e 'fs.writeFileSync(\".callgate/rules.toml\")'",
            "bash -c 'cat ~/.config/callgate/x'",
            "bash -c \"echo x > .claude/settings.json\"",
            "cat <<EOF > .callgate/rules.toml\nx\nEOF",
            "echo $(cat .codex/config.toml)",
            "nc -U /tmp/vibe-reachout.sock",
            "curl --unix-socket /run/user/1000/callgate/desk.sock http://x",
            "ls /srv/callgate-data/ledger.db",
            "sqlite3 -x=/srv/callgate-data/ledger.db",
            "CALLGATE_GATED=1 claude -p x",
            "env CALLGATE_GATED=1 claude",
            "export CALLGATE_SOCKET=/x",
        ],
        true,
    );
}

#[test]
fn links_and_what_is_unpacked_from_above_ask() {
    check(
        &[
            "cat /proc/self/root/home/ada/.config/c*/config.toml",
            "cat /proc/1/root/home/ada/.config/callgat?/config.toml",
            "cat /proc/s*/root/home/ada/.config/callgate",
            "cat /pro[cx]/self/root/home/ada/x",
            "cat /proc/self/cwd/../.config/c*/config.toml",
            "cat /proc/net/../root/home/ada/x",
            "cat /dev/fd/3",
            "cat /dev/fd/../root/x",
            "cat /proc/self/task/7/root/x",
            "cat --file=/proc/9/fd/4",
            "cat /proc/9/exe",
            "cat /proc/9/map_files/0-1",
            "cd /proc/self/root/home/ada/.config; cat callgate/config.toml",
            "cd /proc/self/root/home/ada && cd .config && cat callgate/x",
            "cd /proc/self; cat root/home/ada/.config/callgate/x",
            "cd /proc/self/cwd; cat x",
            "cd /proc/self/fd; cat 3",
            "git -C ~ apply x.patch",
            "cd ~ && git checkout .",
            "cd ~; git stash pop",
            "patch -p0 -d ~ -i x.patch",
            "patch -d/home/ada < x",
            "cd ~ && patch -p0",
            "tar xf x.tar -C ~",
            "unzip x.zip -d ~",
        ],
        true,
    );
}

#[test]
fn commands_that_run_or_end_callgate_ask() {
    check(
        &[
            "callgate up",
            "callgate",
            "callgate rules check",
            "callgate config set gate.unattended rules",
            "callgate --config ~/x.toml config set agent.roots /",
            "callgate config unset gate.when_absent --json",
            "callgate config get agent.api_key",
            "callgate config set agent.base_url http://x --help",
            "echo sk-1 | callgate config set agent.api_key_keyring --stdin",
            "bash -c 'callgate config set rules /tmp/x'",
            "secret-tool lookup service callgate key agent-api-key",
            "echo x | secret-tool store --label=callgate service callgate key agent-api-key",
            "env A=1 secret-tool clear service Callgate",
            "security find-generic-password -s callgate -w",
            "/usr/local/bin/callgate uninstall",
            "./target/debug/callgate hook",
            "callgate-hook",
            "echo '{}' | ~/.cargo/bin/callgate-hook --agent codex",
            "Callgate-Hook < question.json",
            "timeout 5 callgate-hook",
            "Callgate uninstall",
            "sudo callgate uninstall",
            "env A=1 callgate uninstall",
            "nohup callgate up",
            "timeout 5 callgate ask x",
            "echo x | xargs callgate",
            "bash -c 'callgate uninstall'",
            "sh -c \"exec callgate uninstall\"",
            "ls; callgate uninstall",
            "echo $(callgate log)",
            "callgate --help; callgate uninstall",
            "callgate up --help x",
            "callgate 'up; x' --help",
            "pkill callgate",
            "pkill callgate-hook",
            "pkill hook",
            "pkill -f call",
            "pkill -f .",
            "pkill -u ada",
            "killall callgate",
            "killall -9 Callgate",
            "x=qte; killall callga${x#q}",
            "kill 1234",
            "kill -9 -1",
            "kill $(pidof callgate)",
            "kill",
            "systemctl --user stop callgate",
            "launchctl unload x.callgate.plist",
            "rm /usr/local/bin/callgate",
            "mv x ~/.cargo/bin/callgate",
            "cp /bin/true ~/.cargo/bin/callgate",
            "cp /bin/true ~/.cargo/bin/callgate-hook",
            "rm /usr/local/bin/Callgate-Hook",
            "chmod -x /opt/callgate",
            "sed -i s/a/b/ ~/.cargo/bin/callgate",
            "curl -o ~/.cargo/bin/callgate http://x",
            "curl -o/usr/local/bin/callgate-hook http://x",
            "curl --output=/usr/local/bin/callgate http://x",
            "cd ~/.cargo/bin && curl -O http://x/callgate",
            "wget -O ~/.cargo/bin/callgate-hoo* http://x",
            "gcc -o callgate x.c",
            "sort -o ~/.cargo/bin/callgate x",
            "patch ~/.cargo/bin/callgate x",
            "cd ~/.cargo/bin; tar xf x.tar callgate",
            "echo x > ~/.cargo/bin/Callgate",
            "sudo sed -i x /usr/bin/callgate",
            "cargo install callgate",
            "cargo +nightly install --path .",
            "cargo install --path=x --force",
        ],
        true,
    );
}

#[test]
fn other_commands_are_left_to_rules() {
    check(
        &[
            "git status",
            "ls",
            "ls -la .",
            "ls ..",
            "ls *",
            "ls ~",
            "cat src/*.rs",
            "grep -r callgate .",
            "grep -rn foo src",
            "rg foo",
            "find . -name '*.rs'",
            "find . -name '*.rs' | head",
            "ls | xargs cat",
            "cargo build -p callgate-rules",
            "callgate-hooks --all",
            "cd ~/src/callgate && cargo test",
            "git clone https://example.com/callgate",
            "ls -l ~/.cargo/bin/callgate",
            "which callgate",
            "timeout 5 ls /usr/bin/callgate",
            "file /usr/bin/callgate-hook",
            "cargo build -p callgate",
            "cargo install ripgrep",
            "git checkout main",
            "git apply x.patch",
            "patch -p1 -i x.patch",
            "unzip x.zip",
            "cat /proc/cpuinfo",
            "cat /proc/self/status",
            "ls /dev",
            "callgate --help",
            "callgate --version",
            "callgate help",
            "callgate rules check --help",
            "rm -rf target",
            "rm -rf ./build/*",
            "rm *.o",
            "cp a.txt .",
            "cp -r src /tmp/x",
            "mv a b",
            "mv *.txt ..",
            "chmod +x script.sh",
            "pkill node",
            "killall -9 webpack",
            "kill %1",
            "kill -l",
            "systemctl status nginx",
            "cat ~/.claude/CLAUDE.md",
            "ls ~/.claude/projects",
            "cat .claude/commands/x.md",
            "echo settings.json",
            "cat settings.json",
            "cp settings.json settings.bak",
            "echo $x",
            "cat \"$file\"",
            "tar xf a.tar",
            "ls /tmp",
            "cp a.txt /tmp",
        ],
        false,
    );
}

#[test]
fn other_tools_ask_by_their_paths_and_texts() {
    let cwd = "/home/ada/engine";
    for (tool, input, expected) in [
        ("Write", json!({"file_path": ".claude/settings.json"}), true),
        ("Edit", json!({"file_path": "/home/ada/.claude/settings.json"}), true),
        ("Write", json!({"file_path": "sub/.callgate/rules.toml"}), true),
        ("Write", json!({"file_path": "/home/ada/.codex/config.toml"}), true),
        ("Write", json!({"file_path": "~/.claude.json"}), true),
        ("Write", json!({"file_path": "src/../.claude/SETTINGS.json"}), true),
        ("Write", json!({"file_path": "a.md", "content": "see .claude/settings.json"}), false),
        ("Write", json!({"file_path": ".claude/commands/x.md"}), true),
        ("apply_patch", json!({"input": "*** Add File: .callgate/rules.toml\n+x"}), true),
        ("apply_patch", json!({"input": "nothing of .callgate/ known"}), true),
        ("Read", json!({"file_path": "~/.config/callgate/config.toml"}), true),
        ("Read", json!({"file_path": ".claude/settings.json"}), false),
        ("Read", json!({"file_path": "src/main.rs"}), false),
        ("Grep", json!({"pattern": "token", "path": "~"}), true),
        ("Grep", json!({"pattern": "token", "path": "~/.config"}), true),
        ("Grep", json!({"pattern": "x"}), false),
        ("Glob", json!({"pattern": "/home/ada/.config/**"}), true),
        ("mcp__fs__write", json!({"target": "/home/ada/engine/.claude/settings.json"}), true),
        ("mcp__fs__write", json!({"dir": "/home/ada/.claude", "name": "settings.json"}), true),
        ("mcp__fs__write", json!({"dir": "src", "name": "settings.json"}), false),
        ("mcp__fs__write", json!({"deep": [{"x": "../.config/callgate/a"}]}), true),
        ("mcp__fs__write", json!({"x": "file:///home/ada/.config/callgate/a"}), true),
        ("mcp__sh__run", json!({"cmd": "echo '{}' > .claude/settings.json"}), true),
        ("mcp__sh__run", json!({"env": {"CALLGATE_GATED": "1"}}), true),
        ("mcp__fs__write", json!({"target": "src/main.rs"}), false),
        ("mcp__fs__rm", json!({"path": "/home/ada"}), true),
        ("mcp__fs__rm", json!({"path": "~"}), true),
        ("mcp__fs__rm", json!({"path": ".."}), true),
        ("mcp__fs__mv", json!({"from": "/home/ada/.config", "to": "/tmp/x"}), true),
        ("mcp__sh__run", json!({"cmd": "cat ~/.config/call*/config.toml"}), true),
        ("mcp__sh__run", json!({"cmd": "cd ~/.config; cat callgate/config.toml"}), true),
        ("mcp__sh__run", json!({"cmd": "rm -rf ~"}), true),
        ("mcp__fs__get", json!({"glob": "~/.config/call*"}), true),
        ("mcp__fs__get", json!({"p": ["/home/ada", ".config", "callgate", "x"]}), true),
        ("mcp__fs__get", json!({"p": "/proc/self/root/home/ada/.config/callgate"}), true),
        ("mcp__fs__get", json!({"p": "/proc/self/cwd/x"}), true),
        ("mcp__fs__get", json!({"p": ["src", "main.rs"]}), false),
        ("mcp__doc__add", json!({"text": "- [ ] is a[0] / b the *same*? See src/*.rs"}), false),
        ("Read", json!({"file_path": "/proc/self/root/home/ada/.config/callgate/x"}), true),
        ("Write", json!({"file_path": "/proc/8/root/home/ada/.claude.json"}), true),
        ("Read", json!({"file_path": "/proc/self/cwd/a"}), true),
        ("Edit", json!({"file_path": "/proc/self/fd/3"}), true),
        ("Grep", json!({"pattern": "x", "path": "/proc/self/root/home/ada/.config"}), true),
        ("Glob", json!({"pattern": "/proc/self/cwd/*"}), true),
        ("Write", json!({"file_path": "/home/ada/.cargo/bin/callgate"}), true),
        ("Edit", json!({"file_path": "/usr/local/bin/Callgate-Hook"}), true),
        ("Write", json!({"file_path": "/home/ada/src/callgate/x.rs"}), false),
        ("Bash", json!({"command": "ls", "cmd": "cat ~/.config/callgate/x"}), true),
        ("shell", json!({"command": ["ls"], "cmd": "callgate uninstall"}), true),
        (
            "shell",
            json!({"command": "cat x", "workdir": "/tmp", "cwd": "~/.config/callgate"}),
            true,
        ),
        (
            "shell",
            json!({"command": ["apply_patch", "*** Add File: x"], "workdir": "~/.codex"}),
            true,
        ),
        ("Write", json!({"file_path": "a", "path": "~/.claude.json"}), true),
        ("Write", json!({"file_path": "a", "filename": "~/.claude.json"}), true),
        (
            "apply_patch",
            json!({"input": "*** Add File: a", "command": "*** Add File: ~/.codex/x"}),
            true,
        ),
        ("apply_patch", json!({"input": "*** Add File: a\n+x\r*** Add File: ~/.codex/x"}), true),
        ("apply_patch", json!({"input": "*** Add File: a\n***  Add File: ~/.codex/x"}), true),
        ("WebFetch", json!({"url": "https://example.com"}), false),
        ("Task", json!({"prompt": "look at .claude/settings.json"}), false),
    ] {
        assert_eq!(asks(tool, &input, cwd), expected, "{tool} {input}");
    }
}

#[test]
fn a_command_does_not_run_in_a_guarded_folder_unasked() {
    for (folder, expected) in [
        ("/home/ada/.config/callgate", true),
        ("/home/ada/.codex/x", true),
        ("../.config/callgate", true),
        ("/home/ada/engine/src", false),
        ("src", false),
    ] {
        let input = json!({"command": "ls", "cwd": folder});
        assert_eq!(asks("run_shell_command", &input, "/home/ada/engine"), expected, "{folder}");
    }
}

#[test]
fn the_names_in_a_folder_above_the_gate_are_no_secret() {
    let (home, own) = ("/home/ada", "/home/ada/.config/callgate");
    assert!(!asks("list_files", &json!({}), home));
    assert!(!asks("list_files", &json!({"path": home}), "/home/ada/engine"));
    assert!(asks("list_files", &json!({"path": own}), "/home/ada/engine"));
    assert!(asks("search_text", &json!({"pattern": "token"}), home));
}

#[test]
fn every_guarded_place_is_guarded_against_every_writing_tool() {
    for place in [
        "/home/ada/.config/callgate/rules.toml",
        "/home/ada/.local/share/callgate/ledger.db",
        "/home/ada/.local/state/callgate/x",
        "/tmp/vibe-reachout.sock",
        "/home/ada/.claude/settings.json",
        "/home/ada/.claude/settings.local.json",
        "/home/ada/.claude.json",
        "/home/ada/.claude/plugins/x/hooks.json",
        "/home/ada/.codex/hooks.json",
        "/home/ada/engine/.claude/settings.json",
        "/home/ada/engine/.claude/settings.local.json",
        "/home/ada/engine/.callgate/rules.toml",
        "/etc/claude-code/managed-settings.json",
        "/srv/callgate-data/x",
        "/run/user/1000/callgate/desk.sock",
    ] {
        for tool in ["Write", "Edit", "MultiEdit", "write_file", "edit_file"] {
            assert!(asks(tool, &json!({"file_path": place}), "/home/ada/engine"), "{tool} {place}");
        }
        for command in [format!("cat {place}"), format!("echo x > {place}"), format!("rm {place}")]
        {
            assert!(asks("Bash", &json!({"command": command}), "/home/ada/engine"), "{command}");
        }
    }
}
