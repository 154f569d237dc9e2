//! A settings file without our hooks: what is said about it, and how it is written.

use super::InstallError;
use crate::agents::settings_file::{BackupChoice, SeenFile, SettingsFile};

/// A settings file after our hooks were removed from its text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RemovedHooks {
    /// There were no hooks of ours.
    Nothing,
    /// The file is to be as it was before the installation: this text.
    AsBefore(String),
    /// The file was created by us and contains nothing else.
    File,
    /// The new text; the rest has changed since the installation.
    Ours(String),
}

impl RemovedHooks {
    /// Says what becomes of the file, or with `is_dry` what would.
    pub(crate) fn sentence(&self, place: &SettingsFile, is_dry: bool) -> String {
        let path = place.path().display();
        let would = if is_dry { "would be " } else { "" };
        match self {
            Self::Nothing => format!("{path} has no hook of callgate"),
            Self::AsBefore(_) => format!("{path} {would}as it was before callgate"),
            Self::File => format!("{path} {would}removed, it held nothing else"),
            Self::Ours(_) => format!("callgate's hooks {would}removed from {path}"),
        }
    }

    /// Changes the file, unless somebody else has changed it since it was read.
    pub(crate) fn write_to_file(
        &self,
        place: &SettingsFile,
        seen: &SeenFile,
    ) -> Result<(), InstallError> {
        match self {
            Self::Nothing => {}
            Self::AsBefore(text) => {
                place.write(Some(seen), text, BackupChoice::Leave)?;
                // The backup goes last, because it is still needed if the file cannot be written.
                place.remove_backup();
            }
            Self::File => place.remove(seen)?,
            Self::Ours(text) => place.write(Some(seen), text, BackupChoice::Leave)?,
        }
        Ok(())
    }
}
