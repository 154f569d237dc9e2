//! Keys that are pressed together, as settings name them: `Ctrl+Shift+Space`.

use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyChord {
    /// The modifiers, as X11 has them in a mask.
    pub(crate) modifiers: u16,
    /// The key, as X11 names keys by numbers.
    pub(crate) keysym: u32,
}

/// Why a text names no keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeyChordError {
    #[error("a shortcut needs Ctrl, Alt or Super, such as Ctrl+Shift+Space")]
    NoModifier,
    #[error("a shortcut is one key with its modifiers, such as Ctrl+Shift+Space")]
    NotOneKey,
    #[error("there is no key `{0}`: use a letter, a digit, F1 to F24, or a name such as Space")]
    NoSuchKey(String),
}

const SHIFT: u16 = 1;
const CONTROL: u16 = 1 << 2;
const ALT: u16 = 1 << 3;
const SUPER: u16 = 1 << 6;
/// The number of the first function key.
const F1: u32 = 0xffbe;
const LAST_F: u32 = 24;

impl FromStr for KeyChord {
    type Err = KeyChordError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (mut modifiers, mut keysym) = (0, None);
        for name in text.split('+').map(str::trim) {
            match parse_modifier(&name.to_lowercase()) {
                Some(modifier) => modifiers |= modifier,
                None if keysym.is_some() => return Err(KeyChordError::NotOneKey),
                None => keysym = Some(parse_key(name)?),
            }
        }
        let keysym = keysym.ok_or(KeyChordError::NotOneKey)?;
        // A function key types nothing that could not be typed any more.
        if modifiers & !SHIFT == 0 && !(F1..F1 + LAST_F).contains(&keysym) {
            return Err(KeyChordError::NoModifier);
        }
        Ok(Self { modifiers, keysym })
    }
}

fn parse_modifier(name: &str) -> Option<u16> {
    Some(match name {
        "ctrl" | "control" | "cmdorctrl" | "cmdorcontrol" | "commandorctrl"
        | "commandorcontrol" => CONTROL,
        "shift" => SHIFT,
        "alt" | "option" => ALT,
        "super" | "cmd" | "command" | "meta" => SUPER,
        _ => return None,
    })
}

fn parse_key(name: &str) -> Result<u32, KeyChordError> {
    let lower = name.to_lowercase();
    let named = match lower.as_str() {
        "space" => Some(0x20),
        "backspace" => Some(0xff08),
        "tab" => Some(0xff09),
        "enter" | "return" => Some(0xff0d),
        "home" => Some(0xff50),
        "left" => Some(0xff51),
        "up" => Some(0xff52),
        "right" => Some(0xff53),
        "down" => Some(0xff54),
        "pageup" => Some(0xff55),
        "pagedown" => Some(0xff56),
        "end" => Some(0xff57),
        "insert" => Some(0xff63),
        "delete" => Some(0xffff),
        "" => return Err(KeyChordError::NotOneKey),
        _ => None,
    };
    let function = || lower.strip_prefix('f')?.parse().ok().filter(|at| (1..=LAST_F).contains(at));
    let single = || {
        // The numbers of letters and digits are those of ASCII.
        let mut characters = lower.chars();
        let first = characters.next().filter(char::is_ascii_alphanumeric)?;
        characters.next().is_none().then_some(u32::from(first))
    };
    let found = named.or_else(single).or_else(|| function().map(|at: u32| F1 + at - 1));
    found.ok_or_else(|| KeyChordError::NoSuchKey(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &Result<(u16, u32), KeyChordError>) {
        let chord = text.parse::<KeyChord>();
        assert_eq!(&chord.map(|chord| (chord.modifiers, chord.keysym)), expected, "{text}");
    }

    #[test]
    fn chords_are_read() {
        check("Ctrl+Shift+Space", &Ok((CONTROL | SHIFT, 0x20)));
        check("cmd + k", &Ok((SUPER, u32::from('k'))));
        check("Alt+F12", &Ok((ALT, 0xffc9)));
        check("CmdOrCtrl+PageUp", &Ok((CONTROL, 0xff55)));
        check("F12", &Ok((0, 0xffc9)));
        check("Ctrl+7", &Ok((CONTROL, u32::from('7'))));
    }

    #[test]
    fn what_is_no_chord_is_refused_with_the_reason() {
        check("Space", &Err(KeyChordError::NoModifier));
        check("Shift+A", &Err(KeyChordError::NoModifier));
        check("Ctrl", &Err(KeyChordError::NotOneKey));
        check("Ctrl+A+B", &Err(KeyChordError::NotOneKey));
        check("Ctrl+", &Err(KeyChordError::NotOneKey));
        check("Ctrl+F25", &Err(KeyChordError::NoSuchKey("F25".to_owned())));
        check("Ctrl+Ö", &Err(KeyChordError::NoSuchKey("Ö".to_owned())));
    }
}
