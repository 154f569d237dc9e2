//! Checks what was said and fills in what was not.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_wire::approval::LEGACY_SOCKET;

use super::places::Surroundings;
use super::problem::{Matter, Origin, Problem, Setting};
use super::raw::{Entry, Given, RawConfig};
use super::token::TokenSource;
use super::{Config, HookSettings, Telegram};

/// The longest path that a Unix socket can have, in bytes.
pub(crate) const LONGEST_SOCKET_PATH: usize = 107;
/// How long a question may stay open.
pub(crate) const TIMEOUT: RangeInclusive<i64> = 1..=3600;
/// How long a waiting hook may look for a daemon that has died.
pub(crate) const GRACE: RangeInclusive<i64> = 0..=600;
/// How long the phone may be left in peace.
const PHONE_AFTER: RangeInclusive<i64> = 0..=3600;
/// The name of the socket at which hooks ask, in the folder of all our sockets.
const ASK_SOCKET: &str = "ask.sock";
const DEFAULT_API_URL: &str = "https://api.telegram.org";
/// Only one of these may say where the token is.
const TOKEN_KEYS: &[&str] =
    &["telegram.token", "telegram.token_file", "telegram.token_command", "telegram.token_keyring"];

/// The checks, which collect all that is wrong.
pub(crate) struct Check<'a> {
    pub(super) raw: &'a RawConfig,
    pub(super) around: &'a Surroundings,
    /// What is wrong.
    pub(crate) problems: Vec<Problem>,
}

impl<'a> Check<'a> {
    pub(crate) fn new(raw: &'a RawConfig, around: &'a Surroundings) -> Self {
        Self { raw, around, problems: raw.problems.clone() }
    }

    /// Everything.
    pub(crate) fn config(&mut self) -> Config {
        let database = self.database();
        let agent = self.agent(&database);
        let socket = self.socket(&database.value);
        let config = Config {
            file: self.raw.file.clone(),
            timeout: self.timeout(),
            grace: self.grace(),
            desk_socket: self.socket_or("desk_socket", "desk.sock", &database.value),
            database,
            rules: self.rules(),
            legacy_socket: self.legacy_socket(&socket),
            socket,
            phone_after: self.seconds("phone_after_seconds", PHONE_AFTER, 0),
            notify_on_stop: self.switch("notify_on_stop", false),
            gate: self.gate(),
            telegram: Telegram {
                token: self.token(TOKEN_KEYS),
                api_url: self.url("telegram.api_url", DEFAULT_API_URL, "token"),
                allowed_chats: self.ids("telegram.allowed_chats", i64::MIN),
                allowed_users: self.ids("telegram.allowed_users", 1),
            },
            agent,
        };
        if config.phone_after.value > Duration::ZERO
            && config.phone_after.value >= config.timeout.value
        {
            let text = "`phone_after_seconds` must be less than `timeout_seconds`, \
                        or the phone is never asked";
            self.wrong("phone_after_seconds", config.phone_after.origin.clone(), text);
        }
        config
    }

    /// Checks only what the hook needs to ask.
    pub(crate) fn hook(&mut self) -> HookSettings {
        let database = self.database().value;
        let socket = self.socket(&database);
        let is_beside =
            socket.origin == Origin::Default && socket.value == database.with_file_name(ASK_SOCKET);
        let settings = HookSettings {
            socket: socket.value,
            timeout: self.timeout().value,
            grace: self.grace().value,
        };
        // Where the database is matters only to a socket that is beside it.
        let place = if is_beside { "database" } else { "socket" };
        self.mind_only(&["socket", place, "timeout_seconds", "grace_seconds"]);
        settings
    }

    /// Forgets what is wrong with other keys than these. A file that cannot be read may have set
    /// any of them.
    pub(crate) fn mind_only(&mut self, keys: &[&str]) {
        self.problems.retain(|problem| match problem.matter {
            Matter::File => true,
            Matter::Unknown => false,
            Matter::Key(name) => keys.contains(&name),
        });
    }

    /// Forgets what is wrong with these keys and with the whole file: whoever uses them complains.
    pub(crate) fn forget(&mut self, keys: &[&str]) {
        self.problems.retain(|problem| match problem.matter {
            Matter::File => false,
            Matter::Unknown => true,
            Matter::Key(name) => !keys.contains(&name),
        });
    }

    fn timeout(&mut self) -> Setting<Duration> {
        self.seconds("timeout_seconds", TIMEOUT, 300)
    }

    fn grace(&mut self) -> Setting<Duration> {
        self.seconds("grace_seconds", GRACE, 15)
    }

    fn socket(&mut self, database: &Path) -> Setting<PathBuf> {
        self.socket_or("socket", ASK_SOCKET, database)
    }

    /// Returns the socket that the key `name` sets, or the file of this name in the folder of all
    /// our sockets.
    fn socket_or(&mut self, name: &'static str, file: &str, database: &Path) -> Setting<PathBuf> {
        let socket = self.path(name).unwrap_or_else(|| {
            let of_login = self.around.socket_of_login(file).filter(|path| is_short_enough(path));
            // Beside the database, whose folder is private, too.
            default(of_login.unwrap_or_else(|| database.with_file_name(file)))
        });
        self.short_enough(name, &socket);
        socket
    }

    /// A socket that somebody has named is the only one, unless they name this one, too.
    fn legacy_socket(&mut self, socket: &Setting<PathBuf>) -> Setting<Option<PathBuf>> {
        const NAME: &str = "legacy_socket";
        match self.raw.get(NAME) {
            Some(Entry { given: Given::Path(path), origin, .. }) if path.as_os_str().is_empty() => {
                return Setting { value: None, origin: origin.clone() };
            }
            None => {
                let is_default = socket.origin == Origin::Default;
                return default(is_default.then(|| LEGACY_SOCKET.into()));
            }
            Some(_) => {}
        }
        let Some(path) = self.path(NAME) else { return default(None) };
        self.short_enough(NAME, &path);
        Setting { value: Some(path.value), origin: path.origin }
    }

    fn database(&mut self) -> Setting<PathBuf> {
        let folder = self.around.data_folder();
        self.path_or("database", folder.map(|folder| folder.join("callgate.db")))
    }

    fn rules(&mut self) -> Setting<PathBuf> {
        let folder = self.around.config_folder();
        self.path_or("rules", folder.map(|folder| folder.join("rules.toml")))
    }

    fn short_enough(&mut self, name: &'static str, socket: &Setting<PathBuf>) {
        if is_short_enough(&socket.value) {
            return;
        }
        let text = format!(
            "the path of a socket can have {LONGEST_SOCKET_PATH} bytes, {} has {}; \
             set `{name}` to a shorter one",
            socket.value.display(),
            socket.value.as_os_str().len()
        );
        self.wrong(name, socket.origin.clone(), &text);
    }

    /// Where a secret is kept, by one of these keys.
    pub(super) fn token(&mut self, keys: &[&str]) -> Option<Setting<TokenSource>> {
        let is_off = |entry: &Entry| entry.given == Given::Switch(false);
        let said: Vec<&Entry> =
            self.raw.entries.iter().filter(|e| keys.contains(&e.name)).collect();
        let said: Vec<&Entry> = said.into_iter().filter(|entry| !is_off(entry)).collect();
        let last = *said.last()?;
        let same_layer = |entry: &&&Entry| layer(&entry.origin) == layer(&last.origin);
        if let [first, second, ..] = said.iter().filter(same_layer).collect::<Vec<_>>()[..] {
            let text = format!("there are both `{}` and `{}`; keep one", first.name, second.name);
            self.wrong(second.name, second.origin.clone(), &text);
        }
        let value = self.token_source(last)?;
        Some(Setting { value, origin: last.origin.clone() })
    }

    fn token_source(&mut self, entry: &Entry) -> Option<TokenSource> {
        match (&entry.given, &entry.origin) {
            (Given::Secret(token), Origin::File { path, .. }) => {
                Some(TokenSource::Config(token.clone(), path.clone()))
            }
            (Given::Secret(token), _) => Some(TokenSource::Environment(token.clone())),
            (Given::Path(_), _) => Some(TokenSource::File(self.path(entry.name)?.value)),
            (Given::Words(words), _) if words.first().is_none_or(String::is_empty) => {
                let text = format!("`{}` must name a program", entry.name);
                self.wrong(entry.name, entry.origin.clone(), &text);
                None
            }
            (Given::Words(words), _) => Some(TokenSource::Command(words.clone())),
            _ => Some(TokenSource::Keyring),
        }
    }

    /// An address to which a secret goes.
    pub(super) fn url(
        &mut self,
        name: &'static str,
        otherwise: &str,
        secret: &str,
    ) -> Setting<String> {
        let Some(Entry { given: Given::Text(text), origin, .. }) = self.raw.get(name) else {
            return default(otherwise.to_owned());
        };
        let url = text.trim_end_matches('/').to_owned();
        if let Err(what) = check_url(&url, otherwise, secret) {
            self.wrong(name, origin.clone(), &format!("`{name}` {what}"));
        }
        Setting { value: url, origin: origin.clone() }
    }

    /// A list of ids, each at least `least` and none of them 0.
    fn ids(&mut self, name: &'static str, least: i64) -> Setting<Vec<i64>> {
        let Some(Entry { given: Given::Numbers(ids), origin, .. }) = self.raw.get(name) else {
            return default(Vec::new());
        };
        if let Some(id) = ids.iter().find(|id| **id < least || **id == 0) {
            self.wrong(name, origin.clone(), &format!("`{name}` holds {id}, which is no id"));
        }
        Setting { value: ids.clone(), origin: origin.clone() }
    }

    pub(super) fn seconds(
        &mut self,
        name: &'static str,
        range: RangeInclusive<i64>,
        otherwise: u64,
    ) -> Setting<Duration> {
        let Setting { value, origin } = self.whole(name, range, otherwise);
        Setting { value: Duration::from_secs(value), origin }
    }

    pub(super) fn whole(
        &mut self,
        name: &'static str,
        range: RangeInclusive<i64>,
        otherwise: u64,
    ) -> Setting<u64> {
        let Some(Entry { given: Given::Whole(number), origin, .. }) = self.raw.get(name) else {
            return default(otherwise);
        };
        if !range.contains(number) {
            let (least, most) = (range.start(), range.end());
            let text = format!("`{name}` is {number}, but must be {least} to {most}");
            self.wrong(name, origin.clone(), &text);
        }
        let value = u64::try_from(*number).unwrap_or(otherwise);
        Setting { value, origin: origin.clone() }
    }

    pub(super) fn switch(&mut self, name: &'static str, otherwise: bool) -> Setting<bool> {
        match self.raw.get(name) {
            Some(Entry { given: Given::Switch(value), origin, .. }) => {
                Setting { value: *value, origin: origin.clone() }
            }
            _ => default(otherwise),
        }
    }

    /// Reads one of a few words.
    pub(super) fn word<T>(
        &mut self,
        name: &'static str,
        parse: fn(&str) -> Option<T>,
        must: &str,
        otherwise: T,
    ) -> Setting<T> {
        let Some(Entry { given: Given::Text(text), origin, .. }) = self.raw.get(name) else {
            return default(otherwise);
        };
        let parsed = parse(text.trim());
        if parsed.is_none() {
            self.wrong(name, origin.clone(), &format!("`{name}` {must}"));
        }
        Setting { value: parsed.unwrap_or(otherwise), origin: origin.clone() }
    }

    fn path_or(&mut self, name: &'static str, otherwise: Option<PathBuf>) -> Setting<PathBuf> {
        if let Some(path) = self.path(name) {
            return path;
        }
        if otherwise.is_none() {
            let text = format!("there is no home folder; set HOME or `{name}`");
            self.wrong(name, Origin::Default, &text);
        }
        default(otherwise.unwrap_or_default())
    }

    /// A path as it was said. On a command line it is relative to the working folder; elsewhere
    /// it has to be absolute, because callgate's commands run in many folders.
    pub(super) fn path(&mut self, name: &'static str) -> Option<Setting<PathBuf>> {
        let Entry { given: Given::Path(said), origin, .. } = self.raw.get(name)? else {
            return None;
        };
        let value = self.placed(name, said, origin);
        Some(Setting { value, origin: origin.clone() })
    }

    /// Where a path leads that was said there. A variable that others use too is taken as they
    /// take it.
    pub(super) fn placed(&mut self, name: &'static str, said: &Path, origin: &Origin) -> PathBuf {
        let is_typed = matches!(origin, Origin::Flag(_)) || layer(origin) == COMMON;
        let path = if is_typed { self.around.absolute(said) } else { self.around.expand(said) };
        if !path.is_absolute() {
            let text = format!("`{name}` must be an absolute path, or begin with ~/");
            self.wrong(name, origin.clone(), &text);
        }
        path
    }

    pub(super) fn wrong(&mut self, name: &'static str, origin: Origin, text: &str) {
        self.problems.push(Problem { matter: Matter::Key(name), origin, text: text.to_owned() });
    }
}

pub(super) fn default<T>(value: T) -> Setting<T> {
    Setting { value, origin: Origin::Default }
}

fn is_short_enough(socket: &Path) -> bool {
    socket.as_os_str().len() <= LONGEST_SOCKET_PATH
}

/// The layer of the variables that others use too.
const COMMON: u8 = 2;

/// Which of the sources, each over those before it.
pub(super) fn layer(origin: &Origin) -> u8 {
    match origin {
        Origin::Default => 0,
        Origin::File { .. } => 1,
        Origin::Environment(name) if !name.starts_with("CALLGATE_") => COMMON,
        Origin::Environment(_) => 3,
        Origin::Flag(_) => 4,
    }
}

/// The secret is a part of every request, so it goes unencrypted to this machine only.
fn check_url(url: &str, example: &str, secret: &str) -> Result<(), String> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Err("must begin with https://".to_owned());
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    // A name such as 127.0.0.1.example.org is one of another machine.
    let is_here =
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    match scheme {
        _ if rest.contains(['?', '#', '@', ' ']) || host.is_empty() => {
            Err(format!("must be an address such as {example}"))
        }
        "https" => Ok(()),
        "http" if is_here => Ok(()),
        "http" => Err(format!(
            "must begin with https://: the {secret} would go unencrypted to another machine"
        )),
        _ => Err("must begin with https://".to_owned()),
    }
}
