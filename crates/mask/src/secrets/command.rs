//! Secrets in commands: `--password X`, `mysql -pX`, `curl -u user:X`, `echo X | …
//! --password-stdin`.
//!
//! Words are split at blanks only, and quotes before a word are skipped, so that a command in
//! a command (`bash -c "mysql -pX"`) is read like any other.

mod hashes;
mod htpasswd;
mod inputs;
mod piped;
mod positions;
mod words;

use self::htpasswd::HtpasswdCall;
use self::words::{CommandWord, CommandWords};
use super::candidate::{NameLink, is_random};
use super::headers;
use super::names::{NameRole, NameStrength, role_of_name};
use super::program_options::{self, SecretPlacement};
use super::quotes::QuoteTracker;
use super::span::{SecretSpan, SpanList};
use super::used_variables::UsedVariables;
use super::value_search::ValueSearch;

pub(super) fn find_command_secrets(bytes: &[u8], uses: &UsedVariables, spans: &mut SpanList) {
    spans.begin_search();
    let search = ValueSearch { bytes, quotes: QuoteTracker::new(bytes), uses };
    let mut reader = CommandReader { search, state: CommandState::default(), input_end: 0 };
    let mut words = CommandWords::new(bytes);
    while let Some(word) = words.next() {
        reader.handle_word(word, spans);
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct CommandState {
    program: Option<&'static str>,
    subcommand: Option<&'static str>,
    next: NextWord,
    /// The first argument of an `echo` before the last `|`, and that of this command.
    piped: Option<usize>,
    echoed: Option<usize>,
    language: Option<WordLanguage>,
    htpasswd: Option<HtpasswdCall>,
    /// Whether the output of a command in an option is a secret: `--password-command "echo …"`.
    prints_secret: bool,
    /// Whether a program was named that works with commits or checksums.
    has_hashes: bool,
    last: Option<(usize, usize)>,
}

/// A language in which the word before a password says what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordLanguage {
    /// `.netrc`, and programs that write it in the same way: `login bob password …`.
    Netrc,
    Sql,
}

/// The meaning of the next word, because of those before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum NextWord {
    #[default]
    Any,
    /// The value of an option with the name of a secret.
    Secret(NameStrength),
    /// The value of a program's own option.
    Own(SecretPlacement),
    /// A secret if it is quoted, as in SQL.
    Quoted,
    /// A name whose value follows: `set -x NAME value`.
    Name,
    /// The text that `echo` prints.
    Echoed,
    /// `BY` after `IDENTIFIED`.
    By,
    /// A secret after this many other words.
    After(u8),
    /// `name=secret`
    Assigned,
}

struct CommandReader<'a> {
    search: ValueSearch<'a>,
    state: CommandState,
    /// Where the input of a command ends that was searched already.
    input_end: usize,
}

impl CommandReader<'_> {
    fn handle_word(&mut self, word: CommandWord, spans: &mut SpanList) {
        if word.starts_command {
            self.begin_command(word);
        }
        let text = &self.search.bytes[word.start..word.end];
        let mut next = std::mem::take(&mut self.state.next);
        if matches!(next, NextWord::Secret(_) | NextWord::Own(_)) && text.starts_with(b"--") {
            // Another option: the one before has no value.
            next = NextWord::Any;
        }
        match next {
            NextWord::Quoted if matches!(self.search.bytes[word.raw], b'"' | b'\'') => {
                self.hide_secret(word.raw, NameStrength::Strong, spans);
            }
            // OpenSSL names the source of a password: pass:…, env:…, file:…
            NextWord::Secret(level) if text.starts_with(b"pass:") => {
                self.hide_secret(word.start + "pass:".len(), level, spans);
            }
            NextWord::Secret(level) => self.hide_secret(word.raw, level, spans),
            NextWord::Own(takes) => self.hide_own_value(word.raw, takes, spans),
            NextWord::Name if text.starts_with(b"-") => {
                self.state.next = NextWord::Name;
                self.handle_option(word, spans);
            }
            NextWord::Name => self.handle_name(text),
            // Options, and the format of `printf`.
            NextWord::Echoed if text.starts_with(b"-") || text.starts_with(b"%") => {
                self.state.next = NextWord::Echoed;
            }
            NextWord::Echoed if self.state.prints_secret => {
                self.hide_secret(word.raw, NameStrength::Strong, spans);
            }
            NextWord::Echoed => self.state.echoed = Some(word.raw),
            NextWord::After(_) if text.starts_with(b"-") => self.state.next = next,
            // In prose, only what looks like a secret is one.
            NextWord::After(0) if self.previous_word() == Some(b"is") && !is_random(text) => {}
            NextWord::After(0) => self.hide_secret(word.raw, NameStrength::Strong, spans),
            NextWord::After(between) => self.state.next = NextWord::After(between - 1),
            NextWord::Assigned => self.hide_assigned(word, 0, spans),
            NextWord::By if text.eq_ignore_ascii_case(b"by") => self.state.next = NextWord::Quoted,
            NextWord::By | NextWord::Any | NextWord::Quoted => {}
        }
        if next == NextWord::Any || next == NextWord::Echoed {
            self.look_at(word, spans);
        }
        self.state.last = Some((word.start, word.end));
    }

    /// Begins a new command. After a `|` it reads the output of the one before.
    fn begin_command(&mut self, word: CommandWord) {
        // The language stays: entries of `.netrc` and statements of SQL have several lines.
        let CommandState { echoed, language, prints_secret, .. } = self.state;
        let piped = echoed.filter(|_| word.is_piped);
        // An option may run several commands.
        let prints_secret = prints_secret && word.is_piped;
        self.state = CommandState { piped, language, prints_secret, ..CommandState::default() };
    }

    /// Returns the word before the current one in its command.
    fn previous_word(&self) -> Option<&[u8]> {
        self.state.last.map(|(start, end)| &self.search.bytes[start..end])
    }

    fn look_at(&mut self, word: CommandWord, spans: &mut SpanList) {
        let bytes = self.search.bytes;
        let text = &bytes[word.start..word.end];
        if text.starts_with(b"-") {
            return self.handle_option(word, spans);
        }
        self.state.has_hashes |= hashes::is_about_hashes(text);
        self.hide_hash(word, spans);
        if let Some(htpasswd) = &mut self.state.htpasswd
            && htpasswd.is_password()
        {
            return self.hide_secret(word.raw, NameStrength::Strong, spans);
        }
        if prints_secret(text) {
            self.state.prints_secret = true;
        }
        if positions::reads_password(text) {
            self.hide_piped(spans);
        }
        if let Some(between) =
            positions::before_secret(self.previous_word(), text, word.starts_command)
        {
            self.state.next = NextWord::After(between);
            return;
        }
        if let Some(program) = program_options::known_program(text) {
            self.state.program = Some(program);
            return;
        }
        match text {
            b"login" => self.state.subcommand = Some("login"),
            b"nuget" => self.state.subcommand = Some("nuget"),
            b"put-parameter" => self.state.subcommand = Some("put-parameter"),
            // Before the other `set`, whose next word is a name alone.
            b"set" if self.previous_word().is_some_and(|last| last == b"secrets") => {
                self.state.next = NextWord::Assigned;
            }
            b"echo" | b"printf" => self.state.next = NextWord::Echoed,
            b"set" => (self.state.subcommand, self.state.next) = (Some("set"), NextWord::Name),
            b"setx" | b"setenv" | b"ENV" | b"ARG" | b"config" => self.state.next = NextWord::Name,
            _ if positions::file_name(text) == b"chpasswd" => {
                self.piped_after_user(spans);
                // The input may name the program again, and each time all of it would be searched.
                if word.end >= self.input_end {
                    self.input_end = inputs::after_users(self.search.bytes, word.end, spans);
                }
            }
            b"htpasswd" => self.state.htpasswd = Some(HtpasswdCall::default()),
            b"machine" if self.begins_line(word) => self.state.language = Some(WordLanguage::Netrc),
            b"default" if self.begins_line(word) && self.is_before(word, b" login ") => {
                self.state.language = Some(WordLanguage::Netrc);
            }
            b"nmcli" => self.state.language = Some(WordLanguage::Netrc),
            b"password" if self.state.language == Some(WordLanguage::Netrc) => {
                self.state.next = NextWord::Secret(NameStrength::Strong);
            }
            b"ConvertTo-SecureString" | b"PASSWORD" | b"PSK" => self.state.next = NextWord::Quoted,
            b"password" if self.state.language == Some(WordLanguage::Sql) => {
                self.state.next = NextWord::Quoted;
            }
            b"alter" | b"create" => self.state.language = Some(WordLanguage::Sql),
            _ if text.eq_ignore_ascii_case(b"identified") => self.state.next = NextWord::By,
            _ if text.starts_with(b"pass:") => {
                self.hide_secret(word.start + "pass:".len(), NameStrength::Strong, spans);
            }
            _ if text.starts_with(b"/p:") && self.state.program == Some("xfreerdp") => {
                self.hide_secret(word.start + "/p:".len(), NameStrength::Strong, spans);
            }
            _ => {}
        }
    }

    /// Parses the name in `set NAME value`. A name with a `=` in it is parsed elsewhere.
    fn handle_name(&mut self, text: &[u8]) {
        match text {
            b"set" => self.state.next = NextWord::Name,
            _ if text.contains(&b'=') => {}
            _ => {
                let is_used = self.search.uses.has(text);
                if let Some(NameRole::Secret(level)) = role_of_name(text)
                    && level != NameStrength::Pass
                    && !is_used
                {
                    self.state.next = NextWord::Secret(level);
                }
            }
        }
    }

    /// Returns true if a word begins a line, also one that is echoed.
    fn begins_line(&self, word: CommandWord) -> bool {
        word.starts_command || self.state.last.is_none() || word.raw < word.start
    }

    fn is_before(&self, word: CommandWord, text: &[u8]) -> bool {
        self.search.bytes[word.end..].starts_with(text)
    }

    /// Hides the secret in `name=secret`, which begins after `skipped` bytes of the word.
    fn hide_assigned(&mut self, word: CommandWord, skipped: usize, spans: &mut SpanList) {
        let from = word.start + skipped;
        if let Some(sign) = memchr::memchr(b'=', &self.search.bytes[from..word.end]) {
            self.hide_secret(from + sign + 1, NameStrength::Strong, spans);
        }
    }

    fn handle_option(&mut self, word: CommandWord, spans: &mut SpanList) {
        let text = &self.search.bytes[word.start..word.end];
        match text {
            b"--password-stdin" | b"--stdin" | b"-S" | b"--passphrase-fd" | b"--with-token" => {
                self.hide_piped(spans);
                inputs::here_string(self.search.bytes, word.end, spans);
            }
            // Options of `sudo` with `-S` among them.
            b"-kS" | b"-Sk" | b"-ES" | b"-SE" | b"-HS" | b"-SH" | b"-Sp" => self.hide_piped(spans),
            b"--from-literal" => {
                self.state.next = NextWord::Assigned;
                return;
            }
            _ if prints_secret(text) => self.state.prints_secret = true,
            _ => {}
        }
        if let Some(htpasswd) = &mut self.state.htpasswd {
            return htpasswd.handle_option(text);
        }
        if text.starts_with(b"--from-literal=") {
            return self.hide_assigned(word, "--from-literal=".len(), spans);
        }
        if let Some(program) = self.state.program
            && let Some((rule, len)) = program_options::find_rule(program, text)
            && rule.after.is_none_or(|after| self.state.subcommand == Some(after))
        {
            return self.own_option(word, rule.takes, len, spans);
        }
        let name = text.strip_prefix(b"--").or_else(|| text.strip_prefix(b"-")).unwrap_or(text);
        let is_name = name.len() >= 4
            && name
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
        if is_name
            && let Some(NameRole::Secret(level)) = role_of_name(name)
            && level != NameStrength::Weak
        {
            self.state.next = NextWord::Secret(level);
        }
    }

    fn own_option(
        &mut self,
        word: CommandWord,
        takes: SecretPlacement,
        len: usize,
        spans: &mut SpanList,
    ) {
        let attached = word.end - word.start > len;
        let sign = usize::from(self.search.bytes.get(word.start + len) == Some(&b'='));
        match (attached, takes) {
            (true, _) => self.hide_own_value(word.start + len + sign, takes, spans),
            // A quote right after the letter is attached too: -p'…'
            (false, SecretPlacement::Attached | SecretPlacement::Word) if word.is_quoted_on => {
                self.hide_own_value(word.end, takes, spans);
            }
            (false, SecretPlacement::Attached) => {}
            (false, _) => self.state.next = NextWord::Own(takes),
        }
    }

    /// Hides the word at `from`, which is the value of a program's own option.
    fn hide_own_value(&mut self, from: usize, takes: SecretPlacement, spans: &mut SpanList) {
        match takes {
            SecretPlacement::Word | SecretPlacement::Next | SecretPlacement::Attached
                if self.is_port(from) => {}
            SecretPlacement::Word | SecretPlacement::Next | SecretPlacement::Attached => {
                self.hide_secret(from, NameStrength::Strong, spans);
            }
            SecretPlacement::AfterUser => self.after_user(from, spans),
            SecretPlacement::Cookies => drop(headers::hide_cookies(self.search.bytes, from, spans)),
        }
    }

    /// Returns true for a port mapping of a container, `3306:3306`.
    fn is_port(&self, from: usize) -> bool {
        let rest = self.search.bytes.get(from..).unwrap_or_default();
        let len =
            rest.iter().take(16).take_while(|byte| byte.is_ascii_digit() || **byte == b':').count();
        rest[..len].contains(&b':') && rest.get(len).is_none_or(u8::is_ascii_whitespace)
    }

    /// Hides a word of 40 hexadecimal digits unless it is a commit or a checksum.
    fn hide_hash(&mut self, word: CommandWord, spans: &mut SpanList) {
        let bytes = self.search.bytes;
        let last = self.previous_word();
        let is_key = !word.starts_command
            && !self.state.has_hashes
            && hashes::is_hash(&bytes[word.start..word.end])
            && !last.is_some_and(hashes::announces_hash);
        if is_key {
            spans.push(SecretSpan::new(word.start, word.end, "key"));
        }
    }

    fn hide_secret(&mut self, from: usize, level: NameStrength, spans: &mut SpanList) {
        self.search.hide_value(from, level, NameLink::Option, spans);
    }
}

/// Returns true if a word begins an option or a variable whose value is a command that prints a
/// secret, with or without that value.
fn prints_secret(word: &[u8]) -> bool {
    const COMMAND: usize = "command".len();
    let name = word.split(|byte| *byte == b'=').next().unwrap_or_default();
    let Some((secret, command)) =
        name.len().checked_sub(COMMAND).and_then(|at| name.split_at_checked(at))
    else {
        return false;
    };
    let secret = secret.strip_suffix(b"-").or_else(|| secret.strip_suffix(b"_")).unwrap_or(secret);
    let ends = |end: &str| {
        secret
            .len()
            .checked_sub(end.len())
            .is_some_and(|at| secret[at..].eq_ignore_ascii_case(end.as_bytes()))
    };
    command.eq_ignore_ascii_case(b"command")
        && ["password", "passphrase", "pass", "token", "secret"].into_iter().any(ends)
}
