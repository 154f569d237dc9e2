//! The file with the team's rules: the key that this machine trusts, and the bundle that it took
//! last. It is beside the database, and only a machine that belongs to a team has one.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use callgate_link::file::{FileLock, create_private_folder, replace_private};
use callgate_link::text_file::read_text_file;
use callgate_rules::{RuleFile, Trust};
use callgate_team::{LARGEST_BUNDLE, TeamRules};

/// The name of the file, beside the database.
const FILE: &str = "team.json";
/// The name of the rules of a team while they cannot be read.
const UNNAMED: &str = "the team's bundle of rules";

/// How long somebody else may hold the lock. Rules that arrive over the line of a team arrive once,
/// and must not be lost because other rules are being taken at that moment.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the lock is tried meanwhile.
const LOOK: Duration = Duration::from_millis(5);

/// The path of the file, which may be absent.
/// It is not in the database, because the hook reads it without a desk, and opening the database
/// would take longer than all else that the hook does.
#[derive(Debug, Clone)]
pub struct TeamFile {
    path: PathBuf,
}

impl TeamFile {
    /// Returns the one that belongs to a database.
    pub fn beside(database: &Path) -> Self {
        Self { path: database.with_file_name(FILE) }
    }

    pub(crate) fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file and checks its signature. Returns `None` if there is no file.
    pub fn read(&self) -> Result<Option<TeamRules>, String> {
        match read_text_file(&self.path, LARGEST_BUNDLE as u64) {
            Ok(text) => TeamRules::from_json(&text).map(Some).map_err(|error| error.to_string()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Changes the file: `change` gets what it contains, and returns what it shall contain. Only
    /// one process does so at a time, so that none replaces newer rules by older ones.
    pub fn change(
        &self,
        change: impl FnOnce(Option<TeamRules>) -> Result<TeamRules, String>,
    ) -> Result<(), String> {
        // Before the file is read: what `change` gets must still be there when it is replaced.
        let _lock = self.lock()?;
        let rules = change(self.read()?)?;
        replace_private(&self.path, rules.to_json().as_bytes())
            .map_err(|error| self.unwritten(&error))
    }

    pub fn remove(&self) -> Result<(), String> {
        let _lock = self.lock()?;
        fs::remove_file(&self.path).map_err(|error| self.unwritten(&error))
    }

    fn lock(&self) -> Result<FileLock, String> {
        let folder = self.path.parent().map_or(Ok(()), create_private_folder);
        folder.map_err(|error| self.unwritten(&error))?;
        let end = Instant::now() + PATIENCE;
        loop {
            let lock = FileLock::try_lock(&self.path.with_extension("lock"));
            match lock.map_err(|error| self.unwritten(&error))? {
                Some(lock) => return Ok(lock),
                None if Instant::now() < end => thread::sleep(LOOK),
                None => {
                    let text = "another callgate is changing the team's rules; try again";
                    return Err(text.to_owned());
                }
            }
        }
    }

    fn unwritten(&self, error: &io::Error) -> String {
        format!("cannot write {}: {error}", self.path.display())
    }

    /// Returns the rules of the team. Without a file there are none; a file whose signature is
    /// wrong allows nothing.
    pub(crate) fn rule_file(&self) -> RuleFile {
        match self.read() {
            Ok(rules) => match rules.as_ref().and_then(TeamRules::bundle) {
                Some(bundle) => {
                    RuleFile::from_toml(&bundle.render_name(), bundle.rules(), Trust::Team)
                }
                None => RuleFile::from_toml(UNNAMED, "", Trust::Team),
            },
            Err(error) => {
                let why = format!("{}: {error}", self.path.display());
                RuleFile::unreadable(UNNAMED, &why, Trust::Team)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use callgate_team::{RuleBundle, TeamSigner};

    use super::*;

    #[test]
    fn all_who_take_rules_at_once_take_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = TeamFile::beside(&folder.path().join("callgate.db"));
        let signer = TeamSigner::from_seed(&[1; 32]).unwrap();
        file.change(|_| Ok(TeamRules::trusting(signer.public_key()))).unwrap();
        let bundle = |serial| RuleBundle::sign(&signer, "acme", serial, 0, "").unwrap();
        thread::scope(|scope| {
            for serial in 1..=20 {
                let (file, bundle) = (&file, bundle(serial));
                scope.spawn(move || {
                    let taken = file.change(|rules| {
                        let mut rules = rules.unwrap();
                        // One that is older by now changes nothing.
                        rules.take(bundle).ok();
                        Ok(rules)
                    });
                    taken.unwrap();
                });
            }
        });
        assert_eq!(file.read().unwrap().unwrap().bundle().unwrap().serial(), 20);
    }
}
