//! The environment without secrets.

use std::ffi::{OsStr, OsString};

use callgate_rules::mask;

/// What belongs to somebody who holds keys: these names go whatever their values are.
const PREFIXES: [&str; 15] = [
    "ANTHROPIC_",
    "AWS_",
    "AZURE_",
    "BW_",
    "CALLGATE_",
    "CLAUDE",
    "CLOUDFLARE_",
    "DIGITALOCEAN_",
    "GOOGLE_APPLICATION_",
    "LPASS_",
    "OPENAI_",
    "OP_",
    "STRIPE_",
    "TELEGRAM_",
    "VAULT_",
];
/// What makes a secret of a name wherever it stands in it.
const PARTS: [&str; 13] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PASSCODE",
    "PINCODE",
    "MNEMONIC",
    "KEYRING",
    "CREDENTIAL",
    "APIKEY",
    "PRIVATE",
    "COOKIE",
];
/// What makes a secret of a name as a word of it: `DB_PASS`, `SSH_AUTH_SOCK`.
const WORDS: [&str; 19] = [
    "KEYS",
    "AUTH",
    "OAUTH",
    "AUTHORIZATION",
    "BEARER",
    "PASS",
    "PWD",
    "CREDS",
    "DSN",
    "JWT",
    "MFA",
    "OTP",
    "TOTP",
    "PEPPER",
    "PHRASE",
    "PIN",
    "SEED",
    "SESSION",
    "SESSIONID",
];
/// Sessions of a desktop, which are places and kinds. `SESSION` means a login everywhere else.
const DESKTOP_SESSIONS: [&str; 4] =
    ["DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "SESSION_MANAGER", "XDG_SESSION_"];
/// The longest number that counts as the seed of a random generator and not of a key, in digits.
const LONGEST_RANDOM_SEED: usize = 20;
/// Without these hardly anything runs, and they are places and languages.
const NEEDED: [&str; 13] = [
    "PATH", "HOME", "PWD", "OLDPWD", "SHELL", "USER", "LOGNAME", "LANG", "LANGUAGE", "TMPDIR",
    "TZ", "TERM", "DISPLAY",
];

/// The variables that a command may see: those without what is a secret by its name or by its
/// value.
///
/// By its name: one that has `TOKEN`, `SECRET`, `PASSWORD`, `MNEMONIC` and the like in it; one
/// with a word that ends in `KEY`, or is `AUTH`, `PASS`, `PIN`, `SEED`, `SESSION` or alike (so also
/// `SSH_AUTH_SOCK`, which lends all of a person's logins); those of providers and password stores
/// (`ANTHROPIC_…`, `AWS_…`, `OP_…`) and our own. By its value: one in which [`mask`] finds a
/// secret, such as a URL with a password. `PATH`, `HOME`, a seed that is a short number, what
/// describes a desktop's session and a few more stay always, and so do those named in `keep`.
#[must_use]
pub fn scrub(vars: Vec<(OsString, OsString)>, keep: &[String]) -> Vec<(OsString, OsString)> {
    let stays = |(name, value): &(OsString, OsString)| {
        let name = name.to_string_lossy();
        NEEDED.contains(&&*name)
            || DESKTOP_SESSIONS.iter().any(|desktop| name.starts_with(desktop))
            || keep.iter().any(|kept| *kept == name)
            || !(is_secret_name(&name, value) || is_secret_value(&name, value))
    };
    vars.into_iter().filter(stays).collect()
}

fn is_secret_name(name: &str, value: &OsStr) -> bool {
    let name = name.to_uppercase();
    let is_secret_word = |word: &str| match word {
        "SEED" => !is_random_seed(value),
        word => word.ends_with("KEY") || WORDS.contains(&word),
    };
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || PARTS.iter().any(|part| name.contains(part))
        || name.split(|c: char| !c.is_alphanumeric()).any(is_secret_word)
}

/// Returns true for `42`, which makes a test run repeatable and signs nothing.
fn is_random_seed(value: &OsStr) -> bool {
    let value = value.as_encoded_bytes();
    (1..=LONGEST_RANDOM_SEED).contains(&value.len()) && value.iter().all(u8::is_ascii_digit)
}

fn is_secret_value(name: &str, value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    mask::text(&value).hidden() > 0 || mask::text(&format!("{name}={value}")).hidden() > 0
}

#[cfg(test)]
mod tests;
