//! The file with the secret half of a team's key, and the number of its last bundle. Only the
//! machine on which a team's rules are signed has one.

use std::path::{Path, PathBuf};

use callgate_link::file::{FileLock, create_private_folder, open_secret, replace_private};
use callgate_link::random::random_bytes;
use callgate_link::text_file::read_limited;
use callgate_store::Sha256Hash;
use callgate_team::{RuleBundle, TeamSigner};
use serde::{Deserialize, Serialize};

/// The name of the file, beside the database.
const FILE: &str = "team-signing.json";
/// The largest file that is read, in bytes.
const LARGEST: u64 = 4096;

/// The path of the file, which may be absent.
#[derive(Debug)]
pub(super) struct SigningFile {
    path: PathBuf,
}

/// What the file contains.
#[derive(Serialize, Deserialize)]
struct SigningState {
    team: String,
    /// From which the key is made, as hex digits.
    seed: String,
    /// The number of the last bundle.
    serial: u64,
}

impl SigningFile {
    /// Returns the one that belongs to a database.
    pub(super) fn beside(database: &Path) -> Self {
        Self { path: database.with_file_name(FILE) }
    }

    /// Signs rules under the next number. The first time, a key is made for `team`. The number is
    /// used up before the bundle is returned, so that there are never two with the same.
    pub(super) fn sign_next(
        &self,
        team: Option<&str>,
        now_ms: i64,
        rules: &str,
    ) -> Result<RuleBundle, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", self.path.display());
        if let Some(folder) = self.path.parent() {
            create_private_folder(folder).map_err(|error| failed(&error))?;
        }
        let lock = FileLock::try_lock(&self.path.with_extension("lock"));
        let Some(_lock) = lock.map_err(|error| failed(&error))? else {
            return Err("another callgate is signing rules; try again".to_owned());
        };
        let mut state = match (self.read()?, team) {
            (Some(state), Some(team)) if state.team != team => {
                return Err(format!(
                    "the key on this machine is that of the team `{}`",
                    state.team
                ));
            }
            (Some(state), _) => state,
            (None, Some(team)) => {
                let seed = random_bytes().map_err(|error| failed(&error))?;
                let seed = Sha256Hash(seed).to_string();
                SigningState { team: team.to_owned(), seed, serial: 0 }
            }
            (None, None) => {
                return Err("this machine has no team's key; name the team for which to make \
                            one: --team NAME"
                    .to_owned());
            }
        };
        state.serial += 1;
        let seed = state.seed.parse::<Sha256Hash>().ok();
        let signer = seed.and_then(|seed| TeamSigner::from_seed(&seed.0));
        let signer = signer.ok_or_else(|| failed(&"it has no key"))?;
        let bundle = RuleBundle::sign(&signer, &state.team, state.serial, now_ms, rules)
            .map_err(|error| error.to_string())?;
        let content = serde_json::to_vec(&state).map_err(|error| failed(&error))?;
        // If this fails the bundle is dropped: its number would be given to other rules next time.
        replace_private(&self.path, &content).map_err(|error| failed(&error))?;
        Ok(bundle)
    }

    fn read(&self) -> Result<Option<SigningState>, String> {
        let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", self.path.display());
        let advice = "others could read the key. Remove this file to have a new key made";
        let Some(file) = open_secret(&self.path, advice).map_err(|error| failed(&error))? else {
            return Ok(None);
        };
        let content = read_limited(file, LARGEST).map_err(|error| failed(&error))?;
        // What is wrong with it could show a part of it.
        serde_json::from_slice(&content).map(Some).map_err(|_| failed(&"it cannot be understood"))
    }
}
