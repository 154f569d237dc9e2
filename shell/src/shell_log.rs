//! What the shell says on standard error. It never contains what people or models have written.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use callgate_client::{
    ChatRuntime, PassedOver, RequestEvent, RuntimeState, WatchStart, WatchedItem,
};

/// Writes one line to standard error.
pub(crate) fn log_complaint(text: &str) {
    // Nothing can be done without a standard error.
    let _ = writeln!(std::io::stderr(), "callgate-shell: {text}");
}

/// Follows a runtime until it is closed: its death and its unreadable lines are always logged, and
/// with `is_debug` the kind and the id of all that is received.
pub(crate) async fn follow_runtime(chat: Arc<ChatRuntime>, is_debug: bool) {
    log_folder(&chat.folder, is_debug);
    let mut watch = chat.client.watch(WatchStart::Oldest);
    let mut counted = chat.client.passed_over_updates();
    // The client lives as long as its handles.
    drop(chat);
    let mut known = PassedOver::default();
    loop {
        tokio::select! {
            item = watch.next() => match item {
                Some(item) => log_item(&item.what, is_debug),
                None => return,
            },
            Ok(()) = counted.changed() => {
                let now = *counted.borrow_and_update();
                log_passed_over(known, now);
                known = now;
            }
        }
    }
}

fn log_folder(folder: &Path, is_debug: bool) {
    if is_debug {
        log_complaint(&format!("the runtime works in {}", folder.display()));
    }
}

fn log_item(item: &WatchedItem, is_debug: bool) {
    match item {
        WatchedItem::State(RuntimeState::Died { reason, last_words, .. }) => {
            // The reason has them already if the process has ended by itself.
            let last_words = last_words.as_deref().filter(|words| !reason.contains(*words));
            match last_words {
                Some(last_words) => {
                    log_complaint(&format!("{reason}; its last words: {last_words}"));
                }
                None => log_complaint(reason),
            }
        }
        WatchedItem::State(state) if is_debug => {
            log_complaint(&format!("runtime: {}", name_of(state)));
        }
        WatchedItem::Asked(request) if is_debug => {
            log_complaint(&format!("sent {} {}", request.command.kind(), request.id));
        }
        WatchedItem::Happened { id, happened: RequestEvent::Said(reply) } if is_debug => {
            log_complaint(&format!("received {} {id}", reply.event.kind()));
        }
        WatchedItem::Happened { id, happened: RequestEvent::Failed(_) } if is_debug => {
            log_complaint(&format!("failed {id}"));
        }
        _ => {}
    }
}

fn log_passed_over(known: PassedOver, now: PassedOver) {
    let kinds = [
        ("unreadable", known.unreadable, now.unreadable),
        ("too long", known.too_long, now.too_long),
        ("unknown", known.unknown, now.unknown),
        ("stray", known.stray, now.stray),
    ];
    for (kind, known, now) in kinds {
        if now > known {
            log_complaint(&format!("ignored {} {kind} line(s) of the runtime", now - known));
        }
    }
}

fn name_of(state: &RuntimeState) -> &'static str {
    match state {
        RuntimeState::Starting => "starting",
        RuntimeState::Ready(_) => "ready",
        RuntimeState::Died { .. } => "died",
        RuntimeState::Restarting { .. } => "restarting",
        RuntimeState::GivenUp => "given up",
        RuntimeState::Ended => "ended",
    }
}
