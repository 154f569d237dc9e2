//! The environment without secrets.

use std::ffi::{OsStr, OsString};

use callgate_rules::mask;

/// What belongs to somebody who holds keys: these names go whatever their values are.
const PREFIXES: [&str; 12] = [
    "ANTHROPIC_",
    "AWS_",
    "AZURE_",
    "CALLGATE_",
    "CLAUDE",
    "CLOUDFLARE_",
    "DIGITALOCEAN_",
    "GOOGLE_APPLICATION_",
    "OPENAI_",
    "STRIPE_",
    "TELEGRAM_",
    "VAULT_",
];
/// What makes a secret of a name wherever it stands in it.
const PARTS: [&str; 9] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "APIKEY",
    "PRIVATE",
    "COOKIE",
];
/// What makes a secret of a name as a word of it: `DB_PASS`, `SSH_AUTH_SOCK`.
const WORDS: [&str; 9] =
    ["KEYS", "AUTH", "OAUTH", "AUTHORIZATION", "PASS", "PWD", "CREDS", "DSN", "JWT"];
/// Without these hardly anything runs, and they are places and languages.
const NEEDED: [&str; 13] = [
    "PATH", "HOME", "PWD", "OLDPWD", "SHELL", "USER", "LOGNAME", "LANG", "LANGUAGE", "TMPDIR",
    "TZ", "TERM", "DISPLAY",
];

/// The variables that a command may see: those without what is a secret by its name or by its
/// value.
///
/// By its name: one that has `TOKEN`, `SECRET`, `PASSWORD`, `CREDENTIAL` and the like in it; one
/// with a word that ends in `KEY`, or is `AUTH`, `PASS` or alike (so also `SSH_AUTH_SOCK`, which
/// lends all of a person's logins); those of providers (`ANTHROPIC_…`, `AWS_…`) and our own. By its
/// value: one in which [`mask`] finds a secret, such as a URL with a password. `PATH`, `HOME` and
/// a few more stay always, and so do those named in `keep`.
#[must_use]
pub fn scrub(vars: Vec<(OsString, OsString)>, keep: &[String]) -> Vec<(OsString, OsString)> {
    let stays = |(name, value): &(OsString, OsString)| {
        let name = name.to_string_lossy();
        NEEDED.contains(&&*name)
            || keep.iter().any(|kept| *kept == name)
            || !(is_secret_name(&name) || is_secret_value(&name, value))
    };
    vars.into_iter().filter(stays).collect()
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_uppercase();
    let is_secret_word = |word: &str| word.ends_with("KEY") || WORDS.contains(&word);
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || PARTS.iter().any(|part| name.contains(part))
        || name.split(|c: char| !c.is_alphanumeric()).any(is_secret_word)
}

fn is_secret_value(name: &str, value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    mask::text(&value).hidden() > 0 || mask::text(&format!("{name}={value}")).hidden() > 0
}

#[cfg(test)]
mod tests;
