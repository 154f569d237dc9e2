//! Makes Codex trust the installed hooks, and revokes that trust.

use std::path::Path;

use callgate_hooks::hook_command::{CommandOwner, command_owner};
use callgate_wire::hook::agents::CODEX;

use super::trust::{self, TrustedHook};
use super::{InstallError, change_settings_file};
use crate::agents::codex::{self, CodexError, CodexHook};
use crate::agents::hooks::EditRefusal;
use crate::agents::settings_file::{BackupChoice, SettingsFile};
use crate::agents::{AgentOnDisk, SettingsScope};
use crate::config::Surroundings;

/// The file in which Codex stores what its user trusts.
const FILE: &str = "config.toml";
/// What to do if the trust cannot be written or has no effect.
const BY_HAND: &str =
    "Codex skips hooks that it does not trust: start `codex`, open /hooks and trust callgate's";

/// Writes the trust in our hooks in `hooks` into the user's settings of Codex, and asks Codex
/// whether it accepts that, if there is a `codex` on PATH. Returns what was done.
pub(crate) fn trust_our_hooks(
    hooks: &SettingsFile,
    around: &Surroundings,
) -> Result<String, String> {
    let text = hooks.read().map_err(|error| error.to_string())?.map_or(String::new(), |it| it.text);
    let folder = around.here.as_deref().unwrap_or(Path::new("/"));
    let listed = codex::hooks_in_folder(folder);
    let known: Vec<TrustedHook> = our_listed_hooks(&listed, hooks.path())
        .map(|it| TrustedHook { key: it.key.clone(), hash: it.current_hash.clone() })
        .collect();
    let computed = trust::find_trusted_hooks(&text, &hooks.path().display().to_string());
    let computed = computed.map_err(|refusal| refusal.to_string())?;
    // The hashes that Codex itself lists are right in every version of it. Ours are for a Codex
    // that cannot be asked.
    let wanted = if known.len() == computed.len() { known } else { computed };
    // Codex keeps its trust in the user's settings, also for the hooks of a project.
    let config = codex_settings_file(around)?;
    let written = change_settings_file(&config, || {
        edit_settings_file(&config, |text| trust::add_trust(text, &wanted))
    });
    written.map_err(|error| format!("{error}\n  {BY_HAND}"))?;
    let path = config.path().display();
    match listed {
        Ok(_) => {}
        Err(error) if error.is_absent() => {
            return Ok(format!("written to {path}; not proved, as `codex` is not on PATH"));
        }
        Err(error) => return Ok(format!("written to {path}; not proved, as {error}")),
    }
    // Codex says nothing about a hook that it does not run, so it is asked.
    let proof = codex::hooks_in_folder(folder);
    let running =
        our_listed_hooks(&proof, hooks.path()).filter(|hook| hook.is_run_by_codex()).count();
    if running < wanted.len() {
        return Err(format!(
            "Codex runs {running} of {} hooks in {}; {BY_HAND}",
            wanted.len(),
            hooks.path().display()
        ));
    }
    Ok(format!("Codex trusts them, by {path}"))
}

/// Removes the trust in our hooks from Codex's settings. `text` is the text of `hooks`.
pub(crate) fn distrust_our_hooks(
    hooks: &SettingsFile,
    text: &str,
    around: &Surroundings,
) -> Result<(), String> {
    // Codex may know the file by its path without links.
    let real = hooks.path().canonicalize().unwrap_or_else(|_| hooks.path().to_owned());
    let mut known = Vec::new();
    for path in [hooks.path(), &real] {
        let ours = trust::find_trusted_hooks(text, &path.display().to_string());
        known.extend(ours.map_err(|refusal| refusal.to_string())?);
    }
    known.dedup();
    let config = codex_settings_file(around)?;
    change_settings_file(&config, || {
        edit_settings_file(&config, |text| trust::remove_trust(text, &known))
    })
}

/// Returns how many hooks of others have another position in `after` than in `before`. Codex does
/// not run them until they are trusted again.
pub(crate) fn count_moved_hooks(before: &str, after: &str) -> usize {
    let keys = |text: &str| trust::keys_of_others(text, "").unwrap_or_default();
    keys(before).iter().zip(keys(after)).filter(|(before, after)| *before != after).count()
}

pub(crate) fn our_listed_hooks<'a>(
    listed: &'a Result<Vec<CodexHook>, CodexError>,
    file: &'a Path,
) -> impl Iterator<Item = &'a CodexHook> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let file = real(file);
    let is_ours = move |hook: &&CodexHook| {
        let command = hook.command.as_deref().unwrap_or_default();
        command_owner(command) == CommandOwner::Ours && real(Path::new(&hook.source_path)) == file
    };
    listed.iter().flatten().filter(is_ours)
}

fn codex_settings_file(around: &Surroundings) -> Result<SettingsFile, String> {
    let folder = CODEX.settings_folder(SettingsScope::User, around);
    let folder = folder.ok_or("there is no home folder; set HOME")?;
    Ok(SettingsFile::new(folder.join(FILE)).with_base_folder(around.home.as_deref()))
}

/// Replaces the text of the file by what `edited` returns for it. A file that ends up empty is
/// removed.
fn edit_settings_file(
    config: &SettingsFile,
    edited: impl Fn(&str) -> Result<String, EditRefusal>,
) -> Result<(), InstallError> {
    let seen = config.read()?;
    let before = seen.as_ref().map_or("", |seen| seen.text.as_str());
    let after = edited(before)?;
    match &seen {
        _ if after == before => Ok(()),
        Some(seen) if after.trim().is_empty() => Ok(config.remove(seen)?),
        seen => Ok(config.write(seen.as_ref(), &after, BackupChoice::Leave)?),
    }
}
