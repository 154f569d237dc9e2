//! The sign-ins to MCP servers: their tokens are in the keyring, or in a private file where there
//! is no keyring.
//!
//! There is a file for each server in any case, which says where its tokens are, so that the
//! keyring is not asked about servers to which nobody has signed in.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use callgate_agent::mcp::{ServerSignIn, SignInStore};
use callgate_link::file::{create_private_folder, open_secret, replace_private};
use callgate_link::text_file::read_limited;
use callgate_store::Sha256Hash;
use callgate_wire::HiddenText;
use serde::{Deserialize, Serialize};

use super::keyring::{LONGEST_SIGN_IN, clear_secret, look_up_sign_in, store_secret};

/// The folder of the files, beside the database.
const FOLDER: &str = "sign-ins";
/// The largest file that is read, in bytes.
const LARGEST: u64 = 256 * 1024;

/// The folder with the sign-ins.
#[derive(Debug, Clone)]
pub(crate) struct SignInFiles {
    folder: PathBuf,
}

/// What is known of a sign-in without the keyring.
#[derive(Serialize, Deserialize)]
pub(crate) struct SignInFile {
    /// The address of the server.
    url: String,
    /// Who has issued its tokens.
    pub(crate) issuer: String,
    /// The sign-in, or nothing if it is in the keyring.
    #[serde(skip_serializing_if = "Option::is_none")]
    sign_in: Option<ServerSignIn>,
    /// Whether the keyring may have an older sign-in, which could not be removed there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_older_in_keyring: bool,
}

impl SignInFile {
    pub(crate) fn is_in_keyring(&self) -> bool {
        self.sign_in.is_none()
    }

    fn needs_keyring(&self) -> bool {
        self.is_in_keyring() || self.has_older_in_keyring
    }
}

impl SignInFiles {
    /// Returns those that belong to a database.
    pub(crate) fn beside(database: &Path) -> Self {
        Self { folder: database.with_file_name(FOLDER) }
    }

    fn digest(url: &str) -> String {
        Sha256Hash::hash_bytes(url.as_bytes()).to_string()
    }

    fn path(&self, url: &str) -> PathBuf {
        self.folder.join(format!("{}.json", Self::digest(url)))
    }

    fn keyring_name(url: &str) -> String {
        format!("mcp-{}", Self::digest(url))
    }

    /// Reads the file of the sign-in to the server at this address, without asking the keyring.
    pub(crate) fn read(&self, url: &str) -> Result<Option<SignInFile>, String> {
        let path = self.path(url);
        let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let advice = "others can read it; sign in again after: chmod 600 on it";
        let Some(file) = open_secret(&path, advice).map_err(|error| failed(&error))? else {
            return Ok(None);
        };
        let content = read_limited(file, LARGEST).map_err(|error| failed(&error))?;
        // What is wrong with it could show a part of it.
        let read: SignInFile =
            serde_json::from_slice(&content).map_err(|_| failed(&"it cannot be understood"))?;
        // The address is compared, because tokens must not go to another server, whatever somebody
        // has put under this name.
        Ok(Some(read).filter(|read| read.url == url))
    }

    /// Writes a file in one step, so that no reader finds half of it.
    fn write(&self, url: &str, content: &SignInFile) -> io::Result<()> {
        create_private_folder(&self.folder)?;
        replace_private(&self.path(url), &serde_json::to_vec(content)?)
    }

    /// Removes the sign-in to the server at this address. Returns false if there is none.
    pub(crate) fn remove(&self, url: &str) -> Result<bool, String> {
        let Some(file) = self.read(url)? else { return Ok(false) };
        if file.needs_keyring() {
            clear_secret(&Self::keyring_name(url)).map_err(|error| error.to_string())?;
        }
        // The file goes last: without it nobody would know of the secret in the keyring.
        fs::remove_file(self.path(url)).map_err(|error| error.to_string())?;
        Ok(true)
    }
}

impl SignInStore for SignInFiles {
    fn load(&self, url: &str) -> Result<Option<ServerSignIn>, String> {
        let Some(file) = self.read(url)? else { return Ok(None) };
        if file.sign_in.is_some() {
            return Ok(file.sign_in);
        }
        let secret =
            look_up_sign_in(&Self::keyring_name(url)).map_err(|error| error.to_string())?;
        let sign_in = serde_json::from_str(secret.reveal());
        sign_in.map(Some).map_err(|_| "what the keyring has cannot be understood".to_owned())
    }

    fn save(&self, sign_in: &ServerSignIn) -> Result<(), String> {
        let url = &sign_in.url;
        let secret = serde_json::to_string(sign_in).map_err(|error| error.to_string())?;
        let fits = secret.len() <= LONGEST_SIGN_IN;
        let name = Self::keyring_name(url);
        let is_in_keyring = fits && store_secret(&name, &HiddenText::new(secret)).is_ok();
        // Tokens from before would stay in the keyring, where a sign-out no longer looked.
        let had_in_keyring =
            || self.read(url).ok().flatten().is_some_and(|file| file.needs_keyring());
        let has_older_in_keyring =
            !is_in_keyring && had_in_keyring() && clear_secret(&name).is_err();
        let file = SignInFile {
            url: url.clone(),
            issuer: sign_in.issuer.clone(),
            sign_in: (!is_in_keyring).then(|| sign_in.clone()),
            has_older_in_keyring,
        };
        self.write(url, &file).map_err(|error| format!("{}: {error}", self.folder.display()))
    }
}
