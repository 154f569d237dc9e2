//! A client for front ends: starts an agent runtime, keeps it alive, and speaks the session
//! protocol with it. The desk has clients of its own: [`desk`] on tokio, and a blocking [`viewer`].
//!
//! A [`Client`] starts the process of the runtime, and starts it again when it dies. Each
//! [sent request](Client::send) is a [`SentRequest`], which yields its events up to exactly one
//! end. A [`SessionWatch`] yields the events of all requests and the state of the process, from any
//! number that is still kept. When the last of these is dropped, the process is ended.
//! [`ChatRuntimes`] is the client of hosts of the chat page, which passes lines and [`PageEvent`]s
//! on and leaves their meaning to the page.
//!
//! ```no_run
//! use callgate_client::{Client, ClientSettings, RequestEvent};
//! use callgate_wire::approval::{Action, Press};
//! use callgate_wire::session::SessionEvent;
//!
//! # async fn example() -> Result<(), callgate_client::ClientError> {
//! let client = Client::start(ClientSettings::new("callgate").arg("agent"))?;
//! let mut request = client.user_message("What does this folder hold?").await;
//! while let Some(event) = request.next().await {
//!     match event {
//!         RequestEvent::Said(reply) => match &reply.event {
//!             SessionEvent::Token(text) => eprint!("{text}"),
//!             SessionEvent::PermissionRequest(asked) => {
//!                 client.answer(&asked.question, Press::Button(Action::Deny)).await?;
//!             }
//!             SessionEvent::Error { error, .. } => eprintln!("{error}"),
//!             _ => {}
//!         },
//!         RequestEvent::Failed(error) => eprintln!("{error}"),
//!     }
//! }
//! client.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! # When the runtime misbehaves
//!
//! - It dies: every open request fails at once, and the process is started again after a pause
//!   ([`RestartBackOff`]). Requests that are sent meanwhile wait, up to [`ClientSettings::taken`].
//! - It stalls: a request without events for [`ClientSettings::idle`] fails and is cancelled,
//!   unless it waits for another request or for a person's answer.
//! - It floods: up to [`ClientSettings::unread`] bytes of events wait in a request; then the output
//!   of the runtime is not read until they are. A request that does not read half of that within
//!   [`ClientSettings::patience`] fails, and the others continue. Watchers delay no one: a slow one
//!   gets [`WatchedItem::Missed`].
//! - It lies: lines that cannot be read, or that belong to no open request, are ignored and counted
//!   ([`Client::passed_over_updates`]). If numbers are missing, the runtime is asked to send those
//!   lines again; if it cannot, the running requests fail.

mod chat_runtime;
mod client;
mod core;
pub mod desk;
mod desk_error;
mod error;
mod event;
mod outbox;
mod page_event;
mod process;
mod pump;
mod queue;
mod request;
mod ring;
mod settings;
mod shared;
mod stderr;
pub mod viewer;
mod watch;

pub use callgate_wire as wire;
pub use chat_runtime::{ChatError, ChatEvents, ChatRuntime, ChatRuntimes};
pub use client::Client;
pub use desk_error::DeskError;
pub use error::ClientError;
pub use event::{PassedOver, RequestEvent, RuntimeState, WatchedEvent, WatchedItem};
pub use page_event::PageEvent;
pub use request::SentRequest;
pub use ring::WatchStart;
pub use settings::{
    ClientSettings, MOST_OTHER_REQUESTS, MOST_TURNS, MOST_UNSENT, RestartBackOff, StderrTarget,
};
pub use watch::SessionWatch;
