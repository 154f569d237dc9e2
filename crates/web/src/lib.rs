//! The host of callgate's page: serves the files of `ui/` to browsers on this machine, and carries
//! their requests to the desk, and to the runtime of the chat.
//!
//! It is a viewer of the desk like any other: it knows the desk's socket and its protocol, and no
//! rules, questions or ledger. A page can do what the key of its session allows, and nothing else.
//! The normative text is `docs/protocol/page.md`.

mod address;
mod chat;
mod connections;
mod desk_relay;
mod events;
mod files;
mod headers;
mod host;
mod machine_routes;
mod message_body;
mod origin;
// The build script uses it; its tests are run with those of the crate.
#[cfg(test)]
#[path = "../page_bundle.rs"]
mod page_bundle;
mod page_limits;
mod pairing;
mod patience;
mod refusal;
mod request_body;
mod sessions;
mod state;
mod team_host;
mod team_page;
mod team_people;
mod team_sign_in;
mod tls_authority;
mod tls_door;
mod wrong_attempts;

pub use address::{PageAddress, address_path};
pub use chat::RuntimeCommand;
pub use host::{PageHost, PageHostError, PageOptions};
pub use machine_routes::{DeskFuture, LinePlace, LineStream, MachineDesk, machine_routes};
pub use page_limits::PageLimits;
pub use team_host::{TeamHost, TeamHostError, TeamHostOptions};
pub use team_page::{TeamPageOptions, team_page_routes};
pub use team_people::{PageJoined, TeamPeople, WantedPage};
pub use team_sign_in::{AccountProvider, BegunSignIn, ProviderAnswer, SignInTicket};
pub use tls_authority::{TlsAuthority, TlsError, TlsIdentity};
