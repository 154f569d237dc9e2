//! The commands about the runtime: the session protocol.

use std::path::PathBuf;
use std::sync::Arc;

use callgate_client::wire::session::MAX_LINE;
use callgate_client::{ChatError, ChatRuntime};
use serde::Serialize;
use tauri::async_runtime::spawn;
use tauri::ipc::Channel;
use tauri::{State, Webview};

use crate::command_refusal::CommandRefusal;
use crate::paced_channel::PacedChannel;
use crate::page_watches::ChannelEvent;
use crate::shell_log;
use crate::shell_state::ShellState;

#[derive(Debug, Serialize)]
pub(crate) struct ChatPlace {
    session: String,
    folder: PathBuf,
}

/// Starts the runtime in a folder, or finds it there. Without a folder it is the one that runs, or
/// a new one in the home folder.
#[tauri::command]
pub(crate) async fn chat_start(
    state: State<'_, ShellState>,
    folder: Option<PathBuf>,
) -> Result<ChatPlace, CommandRefusal> {
    state.program.check_exists()?;
    let before = state.chats.running().await.map(|chat| chat.client.name().to_owned());
    let chat = if let Some(folder) = folder {
        state.chats.start(&folder).await?
    } else {
        let home = std::env::home_dir().ok_or(ChatError::NoFolder)?;
        state.chats.running_or_start(&home).await?
    };
    // A runtime that ran before is followed already.
    if before.as_deref() != Some(chat.client.name()) {
        spawn(shell_log::follow_runtime(Arc::clone(&chat), state.arguments.is_debug));
    }
    Ok(ChatPlace { session: chat.client.name().to_owned(), folder: chat.folder.clone() })
}

/// Sends one request, and returns its id. Its replies come with the events.
#[tauri::command]
pub(crate) async fn chat_send(
    state: State<'_, ShellState>,
    line: String,
) -> Result<String, CommandRefusal> {
    if line.len() > MAX_LINE {
        return Err(CommandRefusal::new(413, "the request is too long"));
    }
    let chat = running_chat(&state).await?;
    Ok(chat.send_line(line.as_bytes()).await?.to_string())
}

/// Opens a stream of everything that happens in the session. Returns its number, or nothing if no
/// runtime runs.
#[tauri::command]
pub(crate) async fn chat_watch(
    state: State<'_, ShellState>,
    session: Option<String>,
    after: Option<u64>,
    events: Channel<ChannelEvent>,
    page: Webview,
) -> Result<Option<u64>, CommandRefusal> {
    let Some(chat) = state.chats.running().await else { return Ok(None) };
    let seen = session.as_deref().zip(after);
    let mut happening = chat.events(seen);
    // A stream must not keep a runtime: its client lives as long as its handles.
    drop(chat);
    let mut channel = PacedChannel::new(page, events.clone());
    let stream = async move {
        while let Some(event) = happening.next().await {
            let bytes = event.data.len();
            if channel.send(event.into(), bytes).await.is_err() {
                return;
            }
        }
    };
    state.watches.run_stream(events, stream).map(Some)
}

#[tauri::command]
#[allow(clippy::needless_pass_by_value, reason = "commands receive their arguments so")]
pub(crate) fn chat_unwatch(state: State<'_, ShellState>, watch: u64) {
    state.watches.end_stream(watch);
}

#[tauri::command]
pub(crate) async fn chat_restart(state: State<'_, ShellState>) -> Result<(), CommandRefusal> {
    running_chat(&state).await?.client.restart();
    Ok(())
}

async fn running_chat(state: &ShellState) -> Result<Arc<ChatRuntime>, CommandRefusal> {
    state.chats.running().await.ok_or_else(CommandRefusal::no_runtime)
}
