//! The file with the user's rules, as viewers of the desk edit it.

use callgate_policy::UserRulesFile;

use crate::agents::settings_file::{BackupChoice, SettingsFile, SettingsFileError};
use crate::config::Config;

pub(crate) struct UserRules(SettingsFile);

impl UserRules {
    pub(crate) fn new(config: &Config) -> Self {
        Self(SettingsFile::new(config.rules.clone()))
    }

    fn replace_seen(
        &self,
        is_as_seen: &dyn Fn(&str) -> bool,
        text: &str,
    ) -> Result<bool, SettingsFileError> {
        let seen = self.0.read()?;
        if !is_as_seen(seen.as_ref().map_or("", |seen| &seen.text)) {
            return Ok(false);
        }
        // The write fails if somebody has changed the file since it was read above.
        self.0.write(seen.as_ref(), text, BackupChoice::Leave).map(|()| true)
    }
}

impl UserRulesFile for UserRules {
    fn read_text(&self) -> Result<Option<String>, String> {
        let seen = self.0.read().map_err(|error| error.to_string())?;
        Ok(seen.map(|seen| seen.text))
    }

    fn replace_text(&self, is_as_seen: &dyn Fn(&str) -> bool, text: &str) -> Result<bool, String> {
        self.replace_seen(is_as_seen, text).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_keeps_its_mode_and_is_replaced_only_as_it_was_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.toml");
        let rules = UserRules(SettingsFile::new(path.clone()));
        assert_eq!(rules.read_text(), Ok(None));
        assert_eq!(rules.replace_text(&|seen| seen.is_empty(), "a"), Ok(true));
        fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        assert_eq!(rules.replace_text(&|seen| seen.is_empty(), "b"), Ok(false));
        assert_eq!(rules.read_text(), Ok(Some("a".to_owned())));
        assert_eq!(rules.replace_text(&|seen| seen == "a", "b"), Ok(true));
        assert_eq!(fs::read_to_string(&path).unwrap(), "b");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
