//! Removes secrets from the environment of commands.

use std::ffi::OsString;

use callgate_mask::is_secret_variable;

/// Prefixes of variables that belong to providers and password stores, with blanks between them.
/// Such variables are removed whatever their values are.
const PREFIXES: &str = "\
    ANTHROPIC_ AWS_ AZURE_ BW_ CALLGATE_ CLAUDE CLOUDFLARE_ DIGITALOCEAN_ GOOGLE_APPLICATION_ \
    LPASS_ OPENAI_ OP_ STRIPE_ TELEGRAM_ VAULT_";
/// Variables that hardly any program runs without, and that contain only paths and languages.
const NEEDED: [&str; 13] = [
    "PATH", "HOME", "PWD", "OLDPWD", "SHELL", "USER", "LOGNAME", "LANG", "LANGUAGE", "TMPDIR",
    "TZ", "TERM", "DISPLAY",
];

/// Returns the variables that a command may see: those without secrets.
///
/// A variable is removed if its name or its value is secret (see [`is_secret_variable`]; this
/// includes `SSH_AUTH_SOCK`, which gives access to all of a person's logins), or if it belongs to
/// callgate, to a provider or to a password store (`ANTHROPIC_…`, `AWS_…`, `OP_…`). `PATH`, `HOME`
/// and a few more always stay, and so do those in `keep`.
pub fn scrub_variables(
    vars: Vec<(OsString, OsString)>,
    keep: &[String],
) -> Vec<(OsString, OsString)> {
    let stays = |(name, value): &(OsString, OsString)| {
        let text = name.to_string_lossy();
        let upper = text.to_uppercase();
        NEEDED.contains(&&*text)
            || keep.iter().any(|kept| *kept == text)
            || !(PREFIXES.split(' ').any(|prefix| upper.starts_with(prefix))
                || is_secret_variable(name, value))
    };
    vars.into_iter().filter(stays).collect()
}

#[cfg(test)]
mod tests;
