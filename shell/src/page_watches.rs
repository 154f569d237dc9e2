//! The streams of events that the page reads through channels.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex};

use callgate_client::PageEvent;
use serde::Serialize;
use serde_json::value::RawValue;
use tauri::async_runtime::{JoinHandle, spawn};
use tauri::ipc::Channel;

use crate::command_refusal::CommandRefusal;
use crate::sync::lock;

const MOST_OPEN: usize = 24;

/// An event as the page receives it.
#[derive(Debug, Serialize)]
pub(crate) struct ChannelEvent {
    event: &'static str,
    id: Option<u64>,
    data: Option<Box<RawValue>>,
}

impl From<PageEvent> for ChannelEvent {
    fn from(PageEvent { event, id, data }: PageEvent) -> Self {
        // It is JSON already.
        Self { event, id, data: RawValue::from_string(data).ok() }
    }
}

const END: ChannelEvent = ChannelEvent { event: "end", id: None, data: None };

/// The open streams of the page. Clones are handles of the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageWatches(Arc<Mutex<OpenWatches>>);

#[derive(Debug, Default)]
struct OpenWatches {
    last: u64,
    open: HashMap<u64, JoinHandle<()>>,
}

impl PageWatches {
    /// Runs a stream, and sends its end when it has ended by itself. Returns its number.
    pub(crate) fn run_stream(
        &self,
        channel: Channel<ChannelEvent>,
        stream: impl Future<Output = ()> + Send + 'static,
    ) -> Result<u64, CommandRefusal> {
        let mut watches = lock(&self.0);
        // Those that have ended by themselves make room.
        watches.open.retain(|_, task| !task.inner().is_finished());
        if watches.open.len() >= MOST_OPEN {
            return Err(CommandRefusal::new(503, "too many streams are open"));
        }
        watches.last += 1;
        let task = spawn(async move {
            stream.await;
            // A page that is gone needs no end.
            channel.send(END).ok();
        });
        let number = watches.last;
        watches.open.insert(number, task);
        Ok(number)
    }

    /// Ends a stream without a last event. Does nothing if it has ended already.
    pub(crate) fn end_stream(&self, number: u64) {
        if let Some(task) = lock(&self.0).open.remove(&number) {
            task.abort();
        }
    }

    /// Ends all streams, because the page that read them is gone.
    pub(crate) fn end_all(&self) {
        for (_, task) in lock(&self.0).open.drain() {
            task.abort();
        }
    }
}
