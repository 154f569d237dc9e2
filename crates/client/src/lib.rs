//! For front ends: starts an agent runtime, keeps it alive and speaks the session protocol with it.
//!
//! A [`Client`] starts the runtime's process and starts it again when it dies. What is
//! [sent](Client::send) is a [`SentRequest`], which tells what happens about it until exactly one end;
//! what happens about all of them, and to the process, a [`SessionWatch`] tells, from any number on that
//! is still kept. When the last of these is dropped, the process is ended.
//!
//! ```no_run
//! use callgate_client::{Client, Happened, Settings};
//! use callgate_wire::approval::{Action, Press};
//! use callgate_wire::session::Event;
//!
//! # async fn example() -> Result<(), callgate_client::ClientError> {
//! let client = Client::start(Settings::new("callgate").arg("agent"))?;
//! let mut request = client.user_message("What does this folder hold?").await;
//! while let Some(happened) = request.next().await {
//!     match happened {
//!         Happened::Said(reply) => match &reply.event {
//!             Event::Token(text) => eprint!("{text}"),
//!             Event::PermissionRequest(asked) => {
//!                 client.answer(&asked.question, Press::Button(Action::Deny)).await?;
//!             }
//!             Event::Error { error, .. } => eprintln!("{error}"),
//!             _ => {}
//!         },
//!         Happened::Failed(error) => eprintln!("{error}"),
//!     }
//! }
//! client.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! # When the runtime does not do as it should
//!
//! - It dies: every open request fails at once, and it is started again after a while
//!   ([`RestartBackOff`]). What is sent meanwhile waits, up to [`ClientSettings::taken`].
//! - It stalls: a request about which nothing is heard for [`ClientSettings::idle`] fails and is
//!   cancelled, unless it queues behind another or a question of it is open.
//! - It floods: the events of a request wait up to [`ClientSettings::unread`] bytes; then its output is no
//!   longer read, so that it has to wait itself. Whoever has not read half of that within
//!   [`ClientSettings::patience`] loses the request, and the others go on. Watchers hold nobody up: one
//!   that is too slow hears what it has [missed](Seen::Missed).
//! - It lies: what cannot be read, or is about no open request, is passed over and counted
//!   ([`Client::passed_over`]). Where its numbers show that something is missing, it is asked to
//!   say it again; if it cannot, the answers under way fail.

mod client;
mod core;
mod error;
mod event;
mod outbox;
mod process;
mod pump;
mod queue;
mod request;
mod ring;
mod settings;
mod shared;
mod stderr;
mod watch;

pub use client::Client;
pub use error::ClientError;
pub use event::{PassedOver, RequestEvent, RuntimeState, WatchedEvent, WatchedItem};
pub use request::SentRequest;
pub use ring::WatchStart;
pub use settings::{
    ClientSettings, MOST_ERRANDS, MOST_TURNS, MOST_UNSENT, RestartBackOff, StderrTarget,
};
pub use watch::SessionWatch;
