//! What texts may be that settings hold: addresses, names, keys to press.

use std::net::IpAddr;

/// The longest name of a model, in bytes.
const LONGEST_MODEL: usize = 256;
/// The keys that change what others mean, by all their names.
const MODIFIERS: &str = "ctrl control alt option shift super cmd command \
    cmdorctrl cmdorcontrol commandorctrl commandorcontrol";
/// The keys with a name, besides letters, digits and F1 to F24.
const NAMED_KEYS: &str = "space tab enter backspace delete insert home end pageup pagedown up down \
    left right";

pub(crate) fn is_model_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST_MODEL && !text.contains(char::is_control)
}

/// Returns true for the address of an issuer, which may be plain on this machine.
pub(crate) fn is_issuer(text: &str) -> bool {
    is_plain_text(text) && check_url(text, "", "").is_ok()
}

/// Returns true for a text without spaces and hidden characters.
pub(crate) fn is_plain_text(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

pub(crate) fn is_host(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte);
    let parts = text.rsplit_once(':');
    parts.is_some_and(|(host, port)| {
        !host.is_empty() && host.bytes().all(is_plain) && port.parse::<u16>().is_ok()
    })
}

/// Checks the address of a server. The secret is a part of every request, so it goes unencrypted
/// to this machine only.
pub(crate) fn check_url(url: &str, example: &str, secret: &str) -> Result<(), String> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Err("must begin with https://".to_owned());
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    // A name such as 127.0.0.1.example.org belongs to another machine.
    let is_local =
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    match scheme {
        // What precedes an `@` looks like the host and is not.
        _ if rest.contains(['?', '#', '@', ' ']) || host.is_empty() => {
            Err(format!("must be an address such as {example}"))
        }
        "https" => Ok(()),
        "http" if is_local => Ok(()),
        "http" => Err(format!(
            "must begin with https://: the {secret} would go unencrypted to another machine"
        )),
        _ => Err("must begin with https://".to_owned()),
    }
}

/// Returns true if a text names keys that can be pressed together, such as `Ctrl+Shift+Space`, or
/// is empty. A key that types something needs more than Shift, or it could not be typed any more.
pub(crate) fn is_shortcut(text: &str) -> bool {
    if text.is_empty() {
        return true;
    }
    let text = text.to_ascii_lowercase();
    let mut keys: Vec<&str> = text.split('+').map(str::trim).collect();
    let Some(key) = keys.pop() else { return false };
    let is_twice = |at: usize, key: &str| keys[..at].contains(&key);
    if keys.iter().enumerate().any(|(at, key)| !has_word(MODIFIERS, key) || is_twice(at, key)) {
        return false;
    }
    is_function(key) || (is_typed(key) && keys.iter().any(|modifier| *modifier != "shift"))
}

fn has_word(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

fn is_typed(key: &str) -> bool {
    let is_single = key.len() == 1 && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_single || has_word(NAMED_KEYS, key)
}

fn is_function(key: &str) -> bool {
    // `parse` would also take F01 and F+1.
    let number = key.strip_prefix('f').filter(|number| !number.starts_with(['0', '+']));
    number.and_then(|number| number.parse().ok()).is_some_and(|number: u8| number <= 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_is_plain_on_this_machine_alone() {
        for good in [
            "https://id.example.org",
            "https://id.example.org:8443/realms/acme",
            "http://localhost:9000",
            "http://127.0.0.1",
            "http://[::1]:9000/op",
        ] {
            assert!(is_issuer(good), "{good}");
        }
        for bad in [
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example/",
            "http://127.0.0.1@evil.example",
            "http://id.example.org",
            "https://",
            "https://id.example.org/ two",
            "ftp://127.0.0.1",
            "id.example.org",
            "",
        ] {
            assert!(!is_issuer(bad), "{bad}");
        }
    }

    #[test]
    fn a_shortcut_is_modifiers_and_one_key() {
        for good in [
            "Ctrl+Shift+Space",
            "ctrl + alt + k",
            "Super+1",
            "CmdOrCtrl+Shift+Space",
            "F12",
            "Shift+F1",
            "Alt+PageUp",
            "",
        ] {
            assert!(is_shortcut(good), "{good}");
        }
        for bad in [
            "Ctrl",
            "Ctrl+",
            "+Space",
            "Space",
            "k",
            "Shift+K",
            "Ctrl+Ctrl+K",
            "Ctrl+K+L",
            "K+Ctrl",
            "Hyper+K",
            "Ctrl+F25",
            "F0",
            "F+1",
            "Ctrl+ä",
            "Ctrl+KK",
            "Ctrl Shift Space",
        ] {
            assert!(!is_shortcut(bad), "{bad}");
        }
    }
}
