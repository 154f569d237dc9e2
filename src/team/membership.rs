//! The file of a machine that belongs to a team: where the team's desk is, and the token by which
//! that desk knows the machine. Only such a machine has one. It contains the invitation with which
//! the machine has joined, with the token in the place of the secret.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use callgate_link::file::{create_private_folder, open_secret, replace_private};
use callgate_link::text_file::read_limited_text;
use callgate_team::{Invitation, InvitationError};

/// The name of the file, beside the database.
const FILE: &str = "team-line";
/// The largest file that is read, in bytes.
const LARGEST: u64 = 64 * 1024;

/// The path of the file, which may be absent.
#[derive(Debug)]
pub(crate) struct MembershipFile {
    path: PathBuf,
}

impl MembershipFile {
    /// Returns the one that belongs to a database.
    pub(crate) fn beside(database: &Path) -> Self {
        Self { path: database.with_file_name(FILE) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file. Returns `None` if there is none.
    pub(crate) fn read(&self) -> Result<Option<Invitation>, String> {
        let advice = "others could read its token: join again with a new invitation, after \
                      `callgate team leave`";
        let Some(file) = open_secret(&self.path, advice).map_err(|error| self.failed(&error))?
        else {
            return Ok(None);
        };
        let text = read_limited_text(file, LARGEST).map_err(|error| self.failed(&error))?;
        text.parse().map(Some).map_err(|error: InvitationError| self.failed(&error))
    }

    pub(crate) fn write(&self, membership: &Invitation) -> Result<(), String> {
        if let Some(folder) = self.path.parent() {
            create_private_folder(folder).map_err(|error| self.failed(&error))?;
        }
        let text = membership.to_text();
        replace_private(&self.path, text.reveal().as_bytes()).map_err(|error| self.failed(&error))
    }

    /// Removes the file. Returns false if there is none.
    pub(crate) fn remove(&self) -> Result<bool, String> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true).map_err(|error| self.failed(&error)),
        }
    }

    fn failed(&self, why: &dyn std::fmt::Display) -> String {
        format!("{}: {why}", self.path.display())
    }
}
