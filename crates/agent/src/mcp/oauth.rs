//! Sign-ins to servers on the network: OAuth as MCP's authorization specification has it.
//!
//! A server that refuses a request names, directly or by a document at a known place, an
//! authorization server. A person visits its address; the browser is sent back to a port of this
//! machine with a code, which is exchanged for tokens. Every address comes from somebody else, so
//! it is checked; nothing follows a redirect; a code counts only with our state, our verifier and
//! the issuer that was asked; and tokens are sent only to the server and the issuer they are for.

mod access;
mod callback;
mod challenge;
mod discovery;
mod fetch;
mod sign_in;
mod sign_in_record;
mod tokens;

pub(super) use access::ServerAccess;
pub use sign_in::{FinishedSignIn, PendingSignIn};
pub use sign_in_record::{ServerSignIn, SignInStore};
