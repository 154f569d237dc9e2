//! Tests of what agents and git run: no rule lets an agent write there.

use serde_json::json;

use callgate_wire::hook::agents::{AGENTS, SettingsFormat};

use super::{asks, check};
use crate::{Act, GuardedSet, Moment, Policy, RuleDecision, RuleFile, Trust};

/// Files that the next session or the next commit takes what it runs from.
const FILES: &[&str] = &[
    "/home/ada/engine/.claude/agents/x.md",
    "/home/ada/engine/.claude/commands/x.md",
    "/home/ada/engine/.claude/skills/x/SKILL.md",
    "/home/ada/engine/.claude/CLAUDE.md",
    "/home/ada/engine/deep/er/.claude/hooks/x.sh",
    "/home/ada/.claude/agents/x.md",
    "/home/ada/engine/.mcp.json",
    "/home/ada/engine/deep/er/.mcp.json",
    "/home/ada/engine/.codex/config.toml",
    "/home/ada/engine/.git/config",
    "/home/ada/engine/.git/config.worktree",
    "/home/ada/engine/.git/commondir",
    "/home/ada/engine/.git/rebase-merge/git-rebase-todo",
    "/home/ada/engine/.git/hooks/pre-commit",
    "/home/ada/engine/.git/modules/x/config",
    "/home/ada/engine/.git/worktrees/x/config.worktree",
    "/home/ada/engine/vendor/x/.git/hooks/post-checkout",
    "/home/ada/engine/.git",
    "/home/ada/.gitconfig",
    "/home/ada/.config/git/config",
    "/home/ada/.gemini/settings.json",
    "/home/ada/.gemini/policies/x.toml",
    "/home/ada/engine/.gemini/settings.json",
    "/home/ada/.qwen/settings.json",
    "/home/ada/engine/.qwen/settings.json",
    "/home/ada/.copilot/hooks/x.json",
    "/home/ada/engine/.github/hooks/x.json",
    "/home/ada/engine/.github/agents/x.md",
    "/home/ada/.config/opencode/plugin/x.js",
    "/home/ada/.config/opencode/opencode.json",
    "/home/ada/engine/.opencode/plugin/x.js",
    "/home/ada/engine/opencode.json",
    "/home/ada/engine/opencode.jsonc",
    "/home/ada/.cline/hooks/PreToolUse",
    "/home/ada/engine/.clinerules/hooks/PreToolUse",
    "/home/ada/.kimi-code/config.toml",
    "/home/ada/.factory/settings.json",
    "/home/ada/.config/goose/config.yaml",
    "/home/ada/engine/.cursor/hooks.json",
    "/home/ada/.cursor/hooks.json",
    "/home/ada/.config/amp/settings.json",
    "/home/ada/engine/.amp/settings.json",
    "/home/ada/engine/.kiro/agents/x.json",
    "/etc/codex/config.toml",
    "/etc/codex/requirements.toml",
    "/etc/claude-code/managed-settings.d/90-callgate.json",
    "/etc/grok/requirements.toml",
    "/etc/ld.so.preload",
    "/home/ada/.grok/hooks/x.json",
    "/home/ada/.pi/agent/extensions/x.ts",
    "/home/ada/engine/.openhands/hooks.json",
    "/home/ada/.agents/plugins/x/hooks/hooks.json",
    "/home/ada/.config/kilo/plugin/x.ts",
    "/etc/gemini-cli/settings.json",
];

#[test]
fn no_rule_allows_writing_what_agents_and_git_run() {
    let rules = r#"
        [[rule]]
        name = "writes"
        decide = "allow"
        class = ["write", "read"]
        path = ["**", "/**"]

        [[rule]]
        name = "commands"
        decide = "allow"
        command = "*"
    "#;
    let file = RuleFile::from_toml("rules.toml", rules, Trust::User);
    assert!(!file.has_errors(), "{:?}", file.problems);
    let policy = Policy::new(GuardedSet::new("/home/ada")).with_file(&file, None);
    let decide = |tool: &str, input: serde_json::Value| {
        let act =
            Act::from_call(tool, &input.to_string(), "/home/ada/engine", "claude", "/home/ada");
        policy.decide_by_names(&act, &Moment::from_unix_ms(0, 0)).decision
    };
    assert_eq!(decide("Write", json!({"file_path": "src/a.rs"})), RuleDecision::Allow);
    assert_eq!(decide("Bash", json!({"command": "cp a b"})), RuleDecision::Allow);
    for file in FILES {
        for tool in ["Write", "Edit", "MultiEdit", "write_file", "edit_file"] {
            let decision = decide(tool, json!({"file_path": file, "path": null}));
            assert_eq!(decision, RuleDecision::Ask, "{tool} {file}");
        }
        for command in [
            format!("cp x {file}"),
            format!("mv x {file}"),
            format!("tee {file}"),
            format!("rm {file}"),
            format!("touch {file}"),
            format!("sed -i s/a/b/ {file}"),
            format!("curl -o {file} https://example.com"),
            format!("install -m755 x {file}"),
        ] {
            assert_eq!(decide("Bash", json!({"command": command})), RuleDecision::Ask, "{command}");
        }
    }
}

#[test]
fn commands_that_change_what_agents_and_git_run_ask() {
    check(
        &[
            "echo x > .claude/agents/x.md",
            "cat > .claude/agents/x.md <<'EOF'\n---\nhooks: x\n---\nEOF",
            "mkdir -p .claude/agents",
            "cd .claude && touch agents/x.md",
            "cd .claude && npm init -y",
            "cd sub/.claude/agents; python3 make.py",
            "cp -r evil/.claude .",
            "mv evil .claude",
            "ln -s /tmp/evil .claude/agents",
            "rm -rf .git",
            "mv .git x",
            "cp config .git/",
            "cd .git && cp /tmp/x config",
            "cd .git/hooks && cp /tmp/x pre-commit",
            "chmod +x .git/hooks/pre-commit",
            "echo 'gitdir: /tmp/evil' > sub/.git",
            "git checkout evil -- .claude/agents/x.md",
            "git restore --source evil .mcp.json",
            "git -c x=y diff --output=.git/hooks/pre-commit",
            "git diff --output=.git/hooks/pre-commit",
            "find .claude -name '*.md' -delete",
            "find .claude -name '*.md' | xargs rm",
            "python3 -c \"open('.claude/agents/x.md','w').write('x')\"",
            "node -e 'fs.writeFileSync(\".git/hooks/pre-commit\", x)'",
            "echo \"open('.claude/agents/x.md','w')\" | python3",
            "echo 'touch .claude/x' | sh",
            "bash -c 'echo x > .claude/agents/x.md'",
            "sudo cp x /etc/codex/hooks.json",
            "X=1 cat .claude/x",
            "git config core.hooksPath /tmp/evil",
            "git config --global core.fsmonitor /tmp/evil",
            "git config --local alias.st '!touch x'",
            "git config set core.pager list",
            "git config core.pager list",
            "git config core.pager get",
            "git -C sub config core.hooksPath hooks",
            "git --git-dir=.git config core.sshCommand x",
            "git config -e",
            "git config --edit",
            "git config --unset user.name",
            "git config --add include.path ../x",
            "git config -f x user.name y",
            "git config --file=x --list",
            "sh -c 'git config core.hooksPath x'",
            "env A=1 git config core.hooksPath x",
            "git init --template=/tmp/evil",
            "git clone -c core.hooksPath=/tmp/evil https://example.com/x",
            "git clone --config core.fsmonitor=x https://example.com/x",
        ],
        true,
    );
}

#[test]
fn looking_and_everyday_git_are_left_to_rules() {
    check(
        &[
            "cat .claude/CLAUDE.md",
            "ls -la .claude",
            "head -5 .claude/agents/x.md",
            "grep -rn x .claude",
            "cd .claude && ls",
            "diff .claude/a.md .claude/b.md",
            "cat .git/config",
            "cat .mcp.json | jq .",
            "ls .git/hooks",
            "wc -l .github/hooks/x.json",
            "find .claude -name '*.md'",
            "cat ~/.gemini/settings.json",
            "git status",
            "git diff",
            "git diff .claude/agents/x.md",
            "git add .claude/agents/x.md .mcp.json",
            "git add -A",
            "git commit -m 'describe .claude/agents and .git/config'",
            "git commit -m \"see ./.claude/agents\"",
            "git push origin main",
            "git log --oneline -- .claude",
            "git config user.name",
            "git config --get core.hooksPath",
            "git config --list",
            "git config list",
            "git config get core.pager",
            "git config user.email ada@example.com",
            "git config --global init.defaultBranch main",
            "git config set user.name Ada",
            "git clone https://example.com/x.git",
            "git init",
            "git init -q sub",
            "git fetch --all",
            "git worktree add ../x",
            "git submodule update --init",
            "rm .git/index.lock",
            "gh pr create --body 'changes .claude/agents'",
            "echo 'see .claude/agents' > notes.md",
            "cat .gitignore",
            "cp a .gitignore",
            "touch claude/x .github/workflows/x.yml",
            "mkdir -p git/config",
            "npm test",
        ],
        false,
    );
}

#[test]
fn reading_with_a_tool_is_left_to_rules() {
    for file in FILES {
        assert!(!asks("Read", &json!({"file_path": file}), "/home/ada/engine"), "{file}");
    }
    for (tool, input) in [
        ("Write", json!({"file_path": ".gitignore"})),
        ("Write", json!({"file_path": ".github/workflows/ci.yml"})),
        ("Write", json!({"file_path": "claude/agents/x.md"})),
        ("Write", json!({"file_path": "docs/opencode.md"})),
        ("Write", json!({"file_path": "src/mcp.json"})),
        ("Grep", json!({"pattern": "x", "path": ".claude"})),
    ] {
        assert!(!asks(tool, &input, "/home/ada/engine"), "{tool} {input}");
    }
}

#[test]
fn a_worktree_in_an_agents_folder_is_a_project_of_its_own() {
    let tree = "/home/ada/engine/.claude/worktrees/feature";
    for (tool, input, expected) in [
        ("Write", json!({"file_path": "src/a.rs"}), false),
        ("Write", json!({"file_path": format!("{tree}/src/a.rs")}), false),
        ("Bash", json!({"command": "cargo test"}), false),
        ("Bash", json!({"command": "touch src/a.rs"}), false),
        ("Write", json!({"file_path": ".claude/agents/x.md"}), true),
        ("Write", json!({"file_path": ".mcp.json"}), true),
        ("Write", json!({"file_path": "../../agents/x.md"}), true),
        ("Write", json!({"file_path": "../x"}), false),
        ("Write", json!({"file_path": "/home/ada/engine/.claude/agents/worktrees/a/b"}), true),
        ("Write", json!({"file_path": "/home/ada/engine/.claude/agents/.x/worktrees/a/b"}), true),
        ("Write", json!({"file_path": "/home/ada/engine/.claude/worktrees"}), true),
        ("Bash", json!({"command": "touch ../../agents/x.md"}), true),
        ("Bash", json!({"command": "touch ../../*/x.md"}), true),
    ] {
        assert_eq!(asks(tool, &input, tree), expected, "{tool} {input}");
    }
    let codex = "/home/ada/.codex/worktrees/1a2b/engine";
    assert!(!asks("Write", &json!({"file_path": "src/a.rs"}), codex));
    assert!(asks("Write", &json!({"file_path": "/home/ada/.codex/config.toml"}), codex));
}

/// An agent must not take out its own hook, nor bring a file that replaces it.
#[test]
fn the_settings_of_every_agent_are_guarded() {
    for agent in AGENTS {
        let place = &agent.settings;
        let of = |folder: &str, files: &[&str], base: &str| -> Vec<String> {
            files.iter().map(|file| format!("{base}/{folder}/{file}")).collect()
        };
        let mut files = of(place.folder, place.files, "/home/ada");
        if let Some(folder) = place.project_folder {
            files.extend(of(folder, place.project_files, "/home/ada/engine/deep"));
        }
        if let SettingsFormat::Json(form) = place.format {
            let beside: Vec<&str> = form.beside.iter().map(|(name, _)| *name).collect();
            files.extend(of(place.folder, &beside, "/home/ada"));
        }
        for file in files {
            for tool in ["Write", "write_file", "Edit"] {
                let input = json!({ "file_path": file, "content": "{}" });
                assert!(asks(tool, &input, "/home/ada/engine"), "{tool} {file}");
            }
            let folder = file.rsplit_once('/').unwrap().0;
            check(
                &[
                    &format!("echo > {file}"),
                    &format!("rm -rf {folder}"),
                    &format!("mv {file} /tmp/x"),
                    &format!("cd {folder} && sed -i s/callgate/true/ *"),
                ],
                true,
            );
        }
    }
}
