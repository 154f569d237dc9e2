//! The file with the roles of a desk.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use callgate_link::file::{create_private_folder, replace_private};
use callgate_link::text_file::read_text_file;
use callgate_mask::text::{counted_noun, without_mark};
use callgate_policy::roles_path;
use callgate_rules::{RoleFile, file::LARGEST_FILE};

use super::recorded_change::record_change;
use crate::config::Config;

pub(super) fn read_roles_text(path: &Path) -> io::Result<Option<String>> {
    match read_text_file(path, LARGEST_FILE as u64 + 1) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// Makes these the roles of this desk, and records it. Returns what was done.
pub(crate) fn write_roles(
    config: &Config,
    roles: Option<&str>,
    by: &str,
) -> Result<String, String> {
    let path = roles_path(config);
    let count = roles.map_or(0, |text| RoleFile::from_toml("", without_mark(text)).roles.len());
    let told = match roles {
        Some(_) => format!("{} of the team apply now", counted_noun(count, "role")),
        None => "The team no longer has roles".to_owned(),
    };
    // They are recorded before they apply, so that no roles hold that the ledger does not know.
    record_change(config, "team roles", by, told.clone(), count, roles.unwrap_or_default())?;
    let written = match roles {
        Some(text) => {
            let folder = path.parent().map_or(Ok(()), create_private_folder);
            folder.and_then(|()| replace_private(&path, text.as_bytes()))
        }
        None => fs::remove_file(&path),
    };
    match written {
        // A file that is to be removed may be gone already.
        Err(error) if roles.is_some() || error.kind() != ErrorKind::NotFound => {
            Err(format!("cannot write {}: {error}", path.display()))
        }
        _ => Ok(told),
    }
}
