//! The commands about a running desk: the desk protocol.

use callgate_client::PageEvent;
use callgate_client::desk::PageRequest;
use callgate_client::wire::desk::MAX_LINE;
use serde_json::value::RawValue;
use tauri::ipc::Channel;
use tauri::{State, Webview};

use crate::command_refusal::CommandRefusal;
use crate::paced_channel::PacedChannel;
use crate::page_watches::ChannelEvent;
use crate::shell_state::ShellState;

/// Makes one request, and sends the desk's messages for it to the channel. Returns after the last.
#[tauri::command]
pub(crate) async fn desk_request(
    state: State<'_, ShellState>,
    key: Option<String>,
    line: String,
    messages: Channel<Box<RawValue>>,
    page: Webview,
) -> Result<(), CommandRefusal> {
    if line.len() > MAX_LINE {
        return Err(CommandRefusal::new(413, "the request is too long"));
    }
    let request = PageRequest::decode(line.as_bytes())
        .map_err(|wrong| CommandRefusal::unreadable(wrong.to_string()))?;
    if !request.is_allowed() {
        return Err(CommandRefusal::forbidden("a page cannot ask the desk for this"));
    }
    let desk = state.desk.shared_connection(key).await?;
    let mut replies = request.send(&desk.client).await?;
    let mut messages = PacedChannel::new(page, messages);
    while let Some(message) = replies.next().await? {
        let Some(message) = line_as_json(message.to_line()) else { continue };
        let bytes = message.get().len();
        if messages.send(message, bytes).await.is_err() {
            break;
        }
    }
    Ok(())
}

fn line_as_json(line: Vec<u8>) -> Option<Box<RawValue>> {
    RawValue::from_string(String::from_utf8(line).ok()?.trim_end().to_owned()).ok()
}

/// Opens a stream of the ledger's entries after a number, or from now on. Returns its number.
#[tauri::command]
pub(crate) async fn desk_watch(
    state: State<'_, ShellState>,
    key: Option<String>,
    after: Option<u64>,
    events: Channel<ChannelEvent>,
    page: Webview,
) -> Result<u64, CommandRefusal> {
    // Kept open as long as the stream, so that presses come from one viewer.
    let session = state.desk.shared_connection(key.clone()).await?;
    let desk = state.desk.connect(key).await?;
    let mut watch = desk.watch(after.map(|after| after.saturating_add(1))).await?;
    let mut channel = PacedChannel::new(page, events.clone());
    let stream = async move {
        let _kept = (session, desk);
        let first = PageEvent::watching(watch.head, after.is_none());
        let mut next = Some(first);
        while let Some(event) = next {
            let is_last = event.event == "locked";
            let bytes = event.data.len();
            if channel.send(event.into(), bytes).await.is_err() || is_last {
                return;
            }
            next = match watch.next().await {
                Ok(message) => PageEvent::from_desk(&message),
                Err(_) => None,
            };
        }
    };
    state.watches.run_stream(events, stream)
}

#[tauri::command]
#[allow(clippy::needless_pass_by_value, reason = "commands receive their arguments so")]
pub(crate) fn desk_unwatch(state: State<'_, ShellState>, watch: u64) {
    state.watches.end_stream(watch);
}

/// Links the page by a code. Returns its key.
#[tauri::command]
pub(crate) async fn desk_pair(
    state: State<'_, ShellState>,
    code: String,
    name: String,
) -> Result<String, CommandRefusal> {
    state.desk.pair(code, name).await
}
