//! Which names mean a secret: `DB_PASSWORD`, `apiKey`, `X-Api-Key`, `client_secret`, …

use crate::word_list::WordList;
use crate::words;

/// How strongly a name suggests that its value is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameStrength {
    /// Only if the value looks random: `auth`, `signature`, `session`.
    Weak,
    /// The word `pass` alone, which also has other meanings.
    Pass,
    /// A token, which is never a small number.
    Token,
    /// A password or a key.
    Strong,
}

/// The kind of a value, judged by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameRole {
    Secret(NameStrength),
    /// It is the value of an `Authorization` header.
    Authorization,
    /// It is a list of cookies.
    Cookie,
}

/// How many bytes at the end of a name are examined.
const LONGEST_NAME: usize = 64;

/// Words that make a name secret by themselves.
const STRONG: &WordList = words!(
    "password passwords passwd passphrase passcode pwd pw secret secrets credential credentials \
    passwort kennwort contraseña senha пароль Пароль 密码 密碼 パスワード 비밀번호 apikey pgpass sshpass psk \
    mnemonic"
);

/// Endings of a word that make a name secret, as in `dbpassword`.
const STRONG_ENDINGS: &str = "\
    password passwd passphrase secret apikey pwd passwort secretkey privatekey accesskey \
    accountkey authkey signingkey masterkey";

/// Words that make a following `key` a secret.
const KEYS: &WordList = words!(
    "api access secret private signing encryption decryption master account shared auth storage \
    session hmac subscription app application license jwt crypt write integration service admin \
    aes symmetric consumer cipher ssh deploy preshared"
);

/// Words that may follow the decisive one.
const TRAILERS: &WordList = words!(
    "base value prod production dev development staging test live old new current previous plain \
    text string raw default base64 primary"
);

/// Words that give `token` and the like another meaning: a part of a text or a page.
const HARMLESS: &WordList = words!(
    "progress next page continuation cursor eos bos pad unk mask sep cls special stop max min num \
    per prompt completion input output no not has is use show hide forgot reset public enable \
    disable require required allow invalid missing wrong change"
);

/// Names whose values are secrets only if they look random.
const WEAK: &WordList = words!("auth sig signature hmac sessionid sid sas salt");

/// Words that end in `pass` and name no password; the value of `SSH_ASKPASS` is a program.
const NOT_PASS: &str = "askpass compass bypass encompass trespass surpass overpass underpass";

/// Returns the kind of the value of `name`, if the name indicates one.
pub(super) fn role_of_name(name: &[u8]) -> Option<NameRole> {
    if name.ends_with(b"client-key-data") {
        return Some(NameRole::Secret(NameStrength::Strong));
    }
    // The value of a git alias runs.
    if name.starts_with(b"alias.") {
        return None;
    }
    let words = NameWords::split(name);
    match words.last(0)? {
        "authorization" => return Some(NameRole::Authorization),
        "cookie" | "cookies" => return Some(NameRole::Cookie),
        _ => {}
    }
    let skip =
        usize::from(words.count > 1 && TRAILERS.contains_in_any_case(words.last(0)?.as_bytes()));
    name_strength(&words, skip).map(NameRole::Secret)
}

fn name_strength(words: &NameWords, skip: usize) -> Option<NameStrength> {
    let last = words.last(skip)?;
    let before = words.last(skip + 1);
    let is_harmless = before.is_some_and(|word| HARMLESS.contains_in_any_case(word));
    // A package such as `libsecret` is followed by its version.
    if is_harmless || last == "oldpwd" || last.starts_with("lib") {
        return None;
    }
    // By itself `key` is the key of a map or of a keyboard far more often.
    if last == "key" {
        return before.filter(|word| KEYS.contains_in_any_case(word)).map(|_| NameStrength::Strong);
    }
    if last == "pass" && before.is_none() {
        return Some(NameStrength::Pass);
    }
    let is_pass = last.ends_with("pass") && !NOT_PASS.split(' ').any(|word| last.ends_with(word));
    if is_pass
        || STRONG.contains_in_any_case(last)
        || STRONG_ENDINGS.split(' ').any(|end| last.ends_with(end))
    {
        return Some(NameStrength::Strong);
    }
    if last.ends_with("token") || matches!(last, "jwt" | "bearer") {
        return Some(NameStrength::Token);
    }
    WEAK.contains_in_any_case(last).then_some(NameStrength::Weak)
}

/// Returns true if a query parameter that no other name rule covers may contain a secret.
pub(super) fn is_query_secret(name: &[u8]) -> bool {
    let words = NameWords::split(name);
    matches!(words.last(0), Some("key" | "sig" | "signature" | "code" | "auth" | "hmac" | "st"))
}

/// The words of a name in lower case, without digits at their ends. They are kept on the stack,
/// because a long text has a name before each of many thousand signs.
struct NameWords {
    buffer: [u8; LONGEST_NAME],
    /// Where each word begins and ends, the last word first.
    ends: [(u8, u8); Self::MOST],
    count: usize,
}

impl NameWords {
    const MOST: usize = 4;

    fn split(name: &[u8]) -> Self {
        // The end is kept, because the last words of a name say what it is.
        let name = &name[name.len().saturating_sub(LONGEST_NAME)..];
        let mut words = Self { buffer: [0; LONGEST_NAME], ends: [(0, 0); Self::MOST], count: 0 };
        for (to, byte) in words.buffer.iter_mut().zip(name) {
            *to = byte.to_ascii_lowercase();
        }
        let mut end = name.len();
        while end > 0 && words.count < Self::MOST {
            let start = word_start(name, end);
            words.push(start, end);
            end = start;
            while end > 0 && !is_word_byte(name[end - 1]) {
                end -= 1;
            }
        }
        words
    }

    #[expect(clippy::cast_possible_truncation, reason = "a name has at most 64 bytes")]
    fn push(&mut self, start: usize, end: usize) {
        let letters = |byte: &&u8| byte.is_ascii_digit();
        let digits = self.buffer[start..end].iter().rev().take_while(letters).count();
        // A word of digits alone, such as a number at the end, is not a word.
        if digits < end - start {
            self.ends[self.count] = (start as u8, (end - digits) as u8);
            self.count += 1;
        }
    }

    /// Returns the word at this position from the end.
    fn last(&self, place: usize) -> Option<&str> {
        let (start, end) = *self.ends[..self.count].get(place)?;
        std::str::from_utf8(&self.buffer[usize::from(start)..usize::from(end)]).ok()
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// Returns where the word that ends at `end` begins: after a separator, or where a capital follows
/// a small letter.
fn word_start(name: &[u8], end: usize) -> usize {
    let mut start = end;
    while start > 0 && is_word_byte(name[start - 1]) {
        start -= 1;
        let starts_capital = name[start].is_ascii_uppercase()
            && start > 0
            && (name[start - 1].is_ascii_lowercase()
                || (name[start - 1].is_ascii_uppercase()
                    && name.get(start + 1).is_some_and(u8::is_ascii_lowercase)));
        if starts_capital {
            break;
        }
    }
    start
}
