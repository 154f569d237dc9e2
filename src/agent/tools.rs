//! The tools of the runtime: the built-in ones, MCP servers, and the user's own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use callgate_agent::history::History;
use callgate_agent::mcp::{McpServers, McpSurroundings, Warning};
use callgate_agent::session::LogLevel;
use callgate_agent::tool::custom::CustomTools;
use callgate_agent::tool::files::{self, AllowedFolders};
use callgate_agent::tool::{AgentTool, ToolSource};
use callgate_agent::tool::{ask_user, desktop, run, system, todo};

use crate::config::{AgentSettings, Config};
use crate::failure::Failure;
use crate::secrets::SignInFiles;

/// What follows the name of the file with the conversations in the name of the folder beside it.
const SNAPSHOTS: &str = "-snapshots";

/// Returns the files that the front end may offer to its user.
pub(super) fn build_file_picker(
    settings: &AgentSettings,
    hidden: files::HiddenFiles,
) -> Result<files::FilePicker, Failure> {
    Ok(files::FilePicker::new(open_tool_folders(settings)?, file_limits(settings), hidden))
}

/// Returns what keeps track of what turns change. What has to survive a kill lies beside the
/// conversations, or in memory if they are not kept.
pub(super) fn build_turn_tracker(
    config: &Config,
    hidden: files::HiddenFiles,
) -> Result<files::TurnTracker, Failure> {
    let settings = &config.agent;
    let own = settings.history.iter().chain([&config.database]);
    let folder = settings.history.as_ref().map(|history| {
        let mut folder = history.clone().into_os_string();
        folder.push(SNAPSHOTS);
        folder.into()
    });
    let tracked = files::TrackerSettings {
        folder,
        // Links are resolved, because the tracker compares these with real paths.
        private: own.map(|file| with_real_folder(file)).collect(),
        snapshots: settings.snapshots.then(files::SnapshotLimits::default),
    };
    Ok(files::TurnTracker::new(open_tool_folders(settings)?, hidden, tracked))
}

/// Returns a path whose folder has no links, if it exists.
fn with_real_folder(file: &Path) -> PathBuf {
    let real = || Some(file.parent()?.canonicalize().ok()?.join(file.file_name()?));
    real().unwrap_or_else(|| file.to_owned())
}

fn open_tool_folders(settings: &AgentSettings) -> Result<AllowedFolders, Failure> {
    AllowedFolders::open(settings.folder(), &settings.roots)
        .map_err(|error| Failure::Failed(format!("cannot use the folders for tools: {error}")))
}

fn file_limits(settings: &AgentSettings) -> files::FileLimits {
    files::FileLimits { max_file: settings.max_file_size(), ..files::FileLimits::default() }
}

pub(super) fn built_in(
    settings: &AgentSettings,
    hidden: files::HiddenFiles,
) -> Result<Vec<Arc<dyn AgentTool>>, Failure> {
    let mut tools =
        files::build_file_tools(open_tool_folders(settings)?, file_limits(settings), hidden);
    let commands = run_settings(settings);
    tools.push(todo::build_todo_tool());
    tools.push(ask_user::build_ask_user_tool());
    tools.push(system::build_system_tool(&commands));
    tools.extend(desktop::build_desktop_tools(&commands));
    tools.push(run::build_shell_tool(commands));
    Ok(tools)
}

/// Returns the sources of further tools. Nothing is read or started yet.
pub(super) fn build_tool_sources(
    settings: &AgentSettings,
    ledger: &History,
    sign_ins: SignInFiles,
) -> Vec<Arc<dyn ToolSource>> {
    let log = super::stderr_log(settings.log_level);
    let warn: Warning = Arc::new(move |what: &str| log.write_line(LogLevel::Warn, what));
    let around = McpSurroundings {
        folder: settings.folder().to_owned(),
        env: std::env::vars_os().collect(),
        proxy: settings.proxy.as_ref().map(|proxy| proxy.reveal().to_owned()),
        ledger: ledger.clone(),
        sign_ins: Arc::new(sign_ins),
        patience: settings.mcp_wait_seconds,
        warn: Arc::clone(&warn),
    };
    let servers = McpServers::new(settings.mcp_servers.clone(), around);
    let background = run::BackgroundCommands::new(run_settings(settings));
    let mut sources: Vec<Arc<dyn ToolSource>> = vec![Arc::new(background), Arc::new(servers)];
    if let Some(folder) = &settings.tools_folder {
        let custom = CustomTools::new(folder.clone(), run_settings(settings), warn);
        sources.push(Arc::new(custom));
    }
    sources
}

fn run_settings(settings: &AgentSettings) -> run::RunSettings {
    run::RunSettings {
        roots: settings.roots.clone(),
        timeout: settings.command_timeout_seconds,
        // The user's own limit counts even if it is above what a model may choose.
        max_timeout: settings.command_timeout_seconds.max(run::LONGEST_TIMEOUT),
        ..run::RunSettings::new(settings.folder().to_owned(), std::env::vars_os().collect())
    }
}
