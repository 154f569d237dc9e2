//! Where agents and git keep what they run: settings, hooks, plugins, subagents and servers.
//!
//! Whoever writes there determines what the next session or the next commit runs, and whether the
//! agent asks at all. The lists contain every agent whose gate is known; an agent's folder is
//! guarded as a whole, since each release loads new things from it.

/// Folders that may be in any folder, including the user's home. Each may contain worktrees.
pub(super) const AGENT_FOLDERS: &str = "\
    .claude .codex .gemini .qwen .copilot .opencode .cline .clinerules .kimi-code .kimi .factory \
    .goose .cursor .amp .kiro .amazonq .grok .pi .kilo .openhands .callgate";

/// Those of them that not even a read-only command may name: they contain credentials, or
/// callgate's own rules.
pub(super) const STRICT_FOLDERS: &str = ".codex .callgate";

/// Other files and folders that may be in any folder. Those of git contain hooks, settings that
/// name programs to run, the name of a folder that has other settings (`commondir`), and the
/// commands that a rebase runs; those of submodules and worktrees are below them.
pub(super) const ANYWHERE: &str = "\
    .mcp.json .claude.json .agents/plugins opencode.json opencode.jsonc .github/hooks .github/agents \
    .github/copilot .git/config .git/config.worktree .git/hooks .git/modules .git/worktrees \
    .git/commondir .git/rebase-merge";

/// Files and folders in the user's home.
pub(super) const IN_HOME: &str = "\
    .config/opencode .config/kilo .config/goose .config/cursor .config/amp .config/github-copilot .config/git \
    .gitconfig .aws/amazonq Documents/Cline";

/// Folders in the user's home on macOS, where the name of the folder above them has a blank.
pub(super) const IN_APPLICATION_SUPPORT: &str = "ClaudeCode GeminiCli Cursor";

/// Files and folders of the whole machine.
pub(super) const OF_MACHINE: &str = "\
    /etc/claude-code /etc/codex /etc/gemini-cli /etc/qwen-code /etc/cursor /etc/grok \
    /etc/gitconfig /etc/ld.so.preload";
