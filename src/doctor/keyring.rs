//! Checks that the keys of models are in the keyring if the settings say so.

use callgate_settings::keys::keyring_key;

use super::finding::Findings;
use crate::config::{AgentSettings, TokenSource};
use crate::secrets::{KeyringError, check_presence};

const ABOUT: &str = "keyring";

/// Looks for the keys in the keyring, without asking anybody for its password.
pub(super) fn check_stored_keys(settings: &AgentSettings, findings: &mut Findings) {
    for source in [&settings.api_key, &settings.openai_key].into_iter().flatten() {
        let TokenSource::Keyring(entry) = source.value else { continue };
        match check_presence(entry) {
            Ok(()) => {
                let key = keyring_key(entry);
                findings.add_ok(ABOUT, format!("it has the API key of `{key}`"));
            }
            Err(error @ (KeyringError::Absent { .. } | KeyringError::NotInstalled)) => {
                findings.add_problem(ABOUT, error.to_string(), "then run this again");
            }
            // Only a warning, because a locked keyring may be unlocked when the key is needed.
            Err(error) => findings.add_warning(ABOUT, error.to_string(), "then run this again"),
        }
    }
}
