//! Where agents and git keep what they run: settings, hooks, plugins, subagents and servers.
//!
//! Whoever writes there determines what the next session or the next commit runs, and whether the
//! agent asks at all. The profiles of the agents that run our hook name their folders, and the
//! lists here add other agents and other places. An agent's folder is guarded as a whole, since
//! each release loads new things from it.

use callgate_mask::word_list::WordList;
use callgate_mask::words;
use std::sync::LazyLock;

use callgate_wire::hook::agents::{AGENTS, AgentSettingsPlace};

/// Folders that may be in any folder, including the user's home. Each may contain worktrees.
pub(super) static AGENT_FOLDERS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    // A folder that others use, too, is in a list below with what an agent has in it.
    let is_own = |folder: &&str| !folder.contains('/') && *folder != ".github";
    let mut folders: Vec<&str> = profile_folders().filter(is_own).collect();
    folders.extend(OTHER_FOLDERS.split_ascii_whitespace());
    folders.sort_unstable();
    folders.dedup();
    folders
});

fn profile_folders() -> impl Iterator<Item = &'static str> {
    let folders = |place: &'static AgentSettingsPlace| {
        [Some(place.folder), place.project_folder].into_iter().flatten()
    };
    // Taken from the profiles, so that a new agent is guarded as soon as its hook can be installed.
    AGENTS.into_iter().flat_map(move |agent| folders(&agent.settings))
}

/// Returns the folders with settings in the user's home that are in a folder that others use, too.
pub(super) fn folders_in_home() -> impl Iterator<Item = &'static str> {
    profile_folders().filter(|folder| folder.contains('/'))
}

/// Such folders of agents without a profile, and further ones of those that have one.
const OTHER_FOLDERS: &str = "\
    .clinerules .kimi .goose .cursor .amp .kiro .amazonq .callgate";

/// Those of them that not even a read-only command may name: they contain credentials, or
/// callgate's own rules.
pub(super) const STRICT_FOLDERS: &WordList = words!(".codex .callgate");

/// Other files and folders that may be in any folder. Those of git contain hooks, settings that
/// name programs to run, the name of a folder that has other settings (`commondir`), and the
/// commands that a rebase runs; those of submodules and worktrees are below them.
pub(super) const ANYWHERE: &str = "\
    .mcp.json .claude.json .agents/plugins opencode.json opencode.jsonc .github/hooks .github/agents \
    .github/copilot .git/config .git/config.worktree .git/hooks .git/modules .git/worktrees \
    .git/commondir .git/rebase-merge";

/// Files and folders in the user's home.
pub(super) const IN_HOME: &str = "\
    .config/goose .config/cursor .config/github-copilot .config/git .gitconfig \
    .aws/amazonq Documents/Cline";

/// Folders in the user's home on macOS, where the name of the folder above them has a blank.
pub(super) const IN_APPLICATION_SUPPORT: &str = "ClaudeCode GeminiCli Cursor";

/// Files and folders of the whole machine.
pub(super) const OF_MACHINE: &str = "\
    /etc/claude-code /etc/codex /etc/gemini-cli /etc/qwen-code /etc/cursor /etc/grok \
    /etc/gitconfig /etc/ld.so.preload";
