//! What no rule can allow an agent to touch: the gate itself, and everything that decides whether
//! an agent asks.

use std::path::{Path, PathBuf};

use callgate_rules::disk::PathFollower;
use callgate_rules::{GuardedKind, GuardedSet};
use callgate_settings::{Config, Surroundings};
use callgate_wire::hook::agents::{AGENTS, CLAUDE, CODEX};

use crate::local_clock::home_of_rules;
use crate::real_disk::RealDisk;
use crate::rule_files::roles_path;

/// The settings of agents and git in the user's home that may be links into another folder.
const LINKED: [(GuardedKind, &str); 7] = [
    (GuardedKind::Settings, ".claude/settings.json"),
    (GuardedKind::Settings, ".claude/settings.local.json"),
    (GuardedKind::Settings, ".claude.json"),
    (GuardedKind::Settings, ".codex"),
    (GuardedKind::Hooks, ".claude"),
    (GuardedKind::Hooks, ".cursor"),
    (GuardedKind::Hooks, ".gitconfig"),
];
/// The variables that tell agents and git where their settings are, and what of that folder is
/// guarded.
const AGENT_VARIABLES: [(GuardedKind, &str, &str); 11] = [
    (GuardedKind::Settings, "CLAUDE_CONFIG_DIR", "settings.json"),
    (GuardedKind::Settings, "CLAUDE_CONFIG_DIR", ".claude.json"),
    (GuardedKind::Hooks, "CLAUDE_CONFIG_DIR", ""),
    (GuardedKind::Settings, "CODEX_HOME", ""),
    (GuardedKind::Hooks, "OPENCODE_CONFIG", ""),
    (GuardedKind::Hooks, "OPENCODE_CONFIG_DIR", ""),
    (GuardedKind::Hooks, "GEMINI_CLI_SYSTEM_SETTINGS_PATH", ""),
    (GuardedKind::Hooks, "GIT_CONFIG_GLOBAL", ""),
    (GuardedKind::Hooks, "XDG_CONFIG_HOME", "goose"),
    (GuardedKind::Hooks, "XDG_CONFIG_HOME", "cursor"),
    (GuardedKind::Hooks, "XDG_CONFIG_HOME", "git"),
];

/// Returns what no rule can allow an agent to touch, with this `program` of ours.
pub fn build_guarded(config: &Config, around: &Surroundings, program: Option<&Path>) -> GuardedSet {
    let home = home_of_rules(around);
    let mut guarded = GuardedSet::new(&home);
    // The places are in few folders, and the hook looks at them at every call.
    let follower = PathFollower::new(&RealDisk);
    let mut add = |kind, path: &Path| guard_path(&mut guarded, &follower, kind, path);
    let folder = PathBuf::from(home);
    // Those of Claude Code and Codex are in the lists, with what is stricter about them.
    let others = || AGENTS.into_iter().filter(|agent| ![&CLAUDE, &CODEX].contains(agent));
    let linked = others().map(|agent| (GuardedKind::Hooks, agent.settings.folder));
    for (kind, path) in LINKED.into_iter().chain(linked) {
        // It is guarded by its own name already.
        let path = folder.join(path);
        let place = path.to_str().and_then(|path| follower.real_path(path)).map(PathBuf::from);
        if let Some(place) = place.filter(|place| *place != path) {
            add(kind, &place);
        }
    }
    for (kind, variable, below) in AGENT_VARIABLES {
        if let Some(folder) = around.variable(variable) {
            add(kind, &around.absolute(Path::new(&folder)).join(below));
        }
    }
    for agent in others() {
        let usual = folder.join(agent.settings.folder);
        let named = around.agent_folder(&agent.settings).filter(|named| *named != usual);
        if let Some(named) = named {
            add(GuardedKind::Hooks, &named);
        }
    }
    for own in [".config/callgate", ".local/share/callgate"] {
        add(GuardedKind::Own, &folder.join(own));
    }
    add(GuardedKind::Socket, &config.socket.value);
    add(GuardedKind::Socket, &config.desk_socket.value);
    if let Some(socket) = &config.legacy_socket.0 {
        add(GuardedKind::Socket, socket);
    }
    if let Some(folder) = around.runtime_folder() {
        add(GuardedKind::Own, &folder);
    }
    if let Some(folder) = around.config_folder() {
        // The unit says which program runs as the desk, and each drop-in can change that.
        let units = folder.with_file_name("systemd").join("user");
        add(GuardedKind::Own, &units.join("callgate.service"));
        add(GuardedKind::Own, &units.join("callgate.service.d"));
    }
    add(GuardedKind::Own, &config.rules);
    if let Some((_, key)) = config.team.certificate_files() {
        add(GuardedKind::Own, key);
    }
    // Beside rules in the usual place they are guarded with their folder.
    if config.rules.parent() != Some(&*folder.join(".config/callgate")) {
        add(GuardedKind::Own, &roles_path(config));
    }
    // Their folders, because the ledger and a team have further files there.
    let settings = config.file.as_ref().map(|file| &file.value);
    for file in settings.into_iter().chain([&config.database]) {
        add(GuardedKind::Own, file.parent().unwrap_or(file));
    }
    // Whoever can replace the programs needs no permission any more.
    if let Some(program) = program {
        add(GuardedKind::Settings, &program.with_file_name("callgate-hook"));
        add(GuardedKind::Settings, program);
    }
    guarded
}

/// Guards a path by both its names: as it is written, and without links.
fn guard_path(
    guarded: &mut GuardedSet,
    follower: &PathFollower<'_>,
    kind: GuardedKind,
    path: &Path,
) {
    if let Some(path) = path.to_str() {
        guarded.add_path(kind, path);
        if let Some(place) = follower.real_path(path).filter(|place| place != path) {
            guarded.add_path(kind, &place);
        }
    }
}
