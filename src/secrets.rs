//! Secrets: how they are read from where the settings say that they are kept, and what is kept
//! without a setting, the sign-ins to MCP servers.

mod keyring;
mod reading;
mod sign_in_files;

pub(crate) use keyring::{KeyringError, check_presence, store_secret};
pub(crate) use reading::read_secret;
pub(crate) use sign_in_files::SignInFiles;
