//! The keys that call the window of the desktop shell.

/// The keys that change what others mean, by all their names.
const MODIFIERS: &str = "ctrl control alt option shift super cmd command \
    cmdorctrl cmdorcontrol commandorctrl commandorcontrol";
/// The keys with a name, besides letters, digits and F1 to F24.
const NAMED_KEYS: &str = "space tab enter backspace delete insert home end pageup pagedown up down \
    left right";

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
    let number = key.strip_prefix('f').filter(|number| !number.starts_with(['0', '+']));
    number.and_then(|number| number.parse().ok()).is_some_and(|number: u8| number <= 24)
}

#[cfg(test)]
mod tests {
    use super::*;

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
