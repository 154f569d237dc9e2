//! Checks the values that were given and fills in the defaults.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_approval::asker::AskerSettings;
use callgate_approval::desk::Unattended;
use callgate_rules::UnclearCommands;
use callgate_wire::approval::LEGACY_SOCKET;
use callgate_wire::hook::AgentProfile;
use callgate_wire::hook::agents::AGENTS;
use serde_json::Value;

use super::choices::WhenAbsent;
use super::keyring::KeyringEntry;
use super::keys;
use super::problem::{ConfigProblem, ProblemScope, Setting, SettingOrigin};
use super::raw::{GivenSetting, RawConfig};
use super::surroundings::Surroundings;
use super::token::TokenSource;
use super::value::SettingValue;
use super::{Config, GateSettings, PageSettings, ShellSettings, TelegramSettings};

/// The longest path that a Unix socket can have, in bytes.
const LONGEST_SOCKET_PATH: usize = 107;
/// The name of the socket at which hooks ask, in the folder of all our sockets.
const ASK_SOCKET: &str = "ask.sock";
/// The ends of the keys of a secret. Only one of these may say where it is.
const SECRET_KEYS: [&str; 4] = ["", "_file", "_command", "_keyring"];

/// The checks, which collect all problems.
pub(crate) struct ConfigCheck<'a> {
    pub(super) raw: &'a RawConfig,
    pub(super) around: &'a Surroundings,
    pub(crate) problems: Vec<ConfigProblem>,
}

impl<'a> ConfigCheck<'a> {
    pub(crate) fn new(raw: &'a RawConfig, around: &'a Surroundings) -> Self {
        Self { raw, around, problems: raw.problems.clone() }
    }

    /// Checks all settings.
    pub(crate) fn check_all(&mut self) -> Config {
        let database = self.database();
        let agent = self.check_agent_section(&database);
        let socket = self.socket("socket", ASK_SOCKET, &database);
        let config = Config {
            file: self.raw.file.clone(),
            timeout: self.seconds("timeout_seconds"),
            grace: self.seconds("grace_seconds"),
            desk_socket: self.socket("desk_socket", "desk.sock", &database),
            database,
            rules: self.path_or("rules", self.around.config_folder(), "rules.toml"),
            legacy_socket: self.legacy_socket(&socket),
            socket,
            phone_after: self.seconds("phone_after_seconds"),
            notify_on_stop: self.is_switched_on("notify_on_stop"),
            notify_on_wait: self.is_switched_on("notify_on_wait"),
            gate: self.check_gate_section(),
            page: PageSettings {
                enabled: self.is_switched_on("page.enabled"),
                // The table bounds it.
                port: self.whole("page.port").unwrap_or_default().try_into().unwrap_or_default(),
            },
            telegram: TelegramSettings {
                token: self.token("telegram.token").map(|token| token.value),
                api_url: self.url("telegram.api_url"),
                allowed_chats: self.ids("telegram.allowed_chats"),
                allowed_users: self.ids("telegram.allowed_users"),
            },
            agent,
            shell: ShellSettings {
                shortcut: self.text("shell.shortcut"),
                theme: self.text("shell.theme"),
            },
        };
        if config.phone_after > Duration::ZERO && config.phone_after >= config.timeout {
            let text = "`phone_after_seconds` must be less than `timeout_seconds`, \
                        or the phone is never asked";
            self.add_problem("phone_after_seconds", self.origin("phone_after_seconds"), text);
        }
        config
    }

    /// Checks only what the hook needs to ask.
    pub(crate) fn check_hook_settings(&mut self) -> AskerSettings {
        let database = self.database();
        let Setting { value: socket, origin } = self.socket("socket", ASK_SOCKET, &database);
        let is_beside =
            origin == SettingOrigin::Default && socket == database.with_file_name(ASK_SOCKET);
        let (timeout, grace) = (self.seconds("timeout_seconds"), self.seconds("grace_seconds"));
        // The database matters only to a socket beside it.
        let place = if is_beside { "database" } else { "socket" };
        self.keep_problems_of(&["socket", place, "timeout_seconds", "grace_seconds"]);
        AskerSettings { socket, timeout, grace }
    }

    /// Drops the problems of all keys but these. A file that cannot be read may have set any of
    /// them.
    pub(crate) fn keep_problems_of(&mut self, keys: &[&str]) {
        self.problems.retain(|problem| match problem.scope {
            ProblemScope::File => true,
            ProblemScope::Unknown => false,
            ProblemScope::Key(name) => keys.contains(&name),
        });
    }

    /// Drops the problems of these keys and of the whole file: whoever uses them reports those.
    pub(crate) fn drop_problems_of(&mut self, keys: &[&str]) {
        self.problems.retain(|problem| match problem.scope {
            ProblemScope::File => false,
            ProblemScope::Unknown => true,
            ProblemScope::Key(name) => !keys.contains(&name),
        });
    }

    fn database(&mut self) -> PathBuf {
        self.path_or("database", self.around.data_folder(), "callgate.db")
    }

    /// Returns the socket that the key `name` sets, or the file of this name in the folder of all
    /// our sockets.
    fn socket(&mut self, name: &'static str, file: &str, database: &Path) -> Setting<PathBuf> {
        let value = self.path(name).unwrap_or_else(|| {
            let of_login = self.around.socket_of_login(file).filter(|path| is_short_enough(path));
            // The folder of the database is private, too.
            of_login.unwrap_or_else(|| database.with_file_name(file))
        });
        self.check_length(name, &value);
        Setting { value, origin: self.origin(name) }
    }

    /// Returns the second socket. If `socket` is set, there is none unless this one is set too.
    fn legacy_socket(&mut self, socket: &Setting<PathBuf>) -> Option<PathBuf> {
        const NAME: &str = "legacy_socket";
        match self.raw.get(NAME).map(|given| &given.value) {
            Some(SettingValue::Path(path)) if path.as_os_str().is_empty() => None,
            None => (socket.origin == SettingOrigin::Default).then(|| LEGACY_SOCKET.into()),
            Some(_) => {
                let path = self.path(NAME)?;
                self.check_length(NAME, &path);
                Some(path)
            }
        }
    }

    fn check_length(&mut self, name: &'static str, socket: &Path) {
        if !is_short_enough(socket) {
            let text = format!(
                "the path of a socket can have {LONGEST_SOCKET_PATH} bytes, {} has {}; \
                 set `{name}` to a shorter one",
                socket.display(),
                socket.as_os_str().len()
            );
            self.add_problem(name, self.origin(name), &text);
        }
    }

    /// Checks the section `[gate]`. A user who wants to be asked about everything does not want
    /// everything to run while nobody can be asked.
    fn check_gate_section(&mut self) -> GateSettings {
        let unattended = self.word("gate.unattended", Unattended::parse, Unattended::Rules);
        let when_absent = match unattended {
            Unattended::Ask if self.raw.get("gate.when_absent").is_none() => WhenAbsent::Deny,
            _ => self.word("gate.when_absent", WhenAbsent::parse, WhenAbsent::Agent),
        };
        let unclear = self.word("gate.unclear", UnclearCommands::parse, UnclearCommands::Ask);
        GateSettings { unattended, when_absent, agents: self.gate_agents(), unclear }
    }

    /// Checks the tables `[gate.agents.NAME]`.
    fn gate_agents(&mut self) -> Vec<(&'static AgentProfile, WhenAbsent)> {
        const NAME: &str = "gate.agents";
        let Some(GivenSetting { value: SettingValue::Tables(tables), origin, .. }) =
            self.raw.get(NAME)
        else {
            return Vec::new();
        };
        let read = |(name, table): (&String, &Value)| {
            let agent = AgentProfile::find(name).ok_or_else(|| {
                let known = AGENTS.map(|agent| agent.word).join(", ");
                format!("`{NAME}`: there is no agent `{name}`, only {known}")
            })?;
            let word = table["when_absent"].as_str().unwrap_or_default();
            let is_alone = table.as_object().is_some_and(|table| table.len() == 1);
            let meaning = WhenAbsent::parse(word).filter(|_| is_alone);
            let wrong = || format!("`{NAME}.{name}` must have `when_absent`, agent or deny, alone");
            Ok((agent, meaning.ok_or_else(wrong)?))
        };
        let (origin, read) = (origin.clone(), tables.iter_tables().map(read).collect::<Vec<_>>());
        let mut agents = Vec::new();
        for one in read {
            match one {
                Ok(agent) => agents.push(agent),
                Err(text) => {
                    let text: String = text;
                    self.add_problem(NAME, origin.clone(), &text);
                }
            }
        }
        agents
    }

    /// Returns where a secret is kept, by the keys that begin with this one.
    pub(super) fn token(&mut self, key: &str) -> Option<Setting<TokenSource>> {
        let is_set = |given: &&GivenSetting| {
            let end = given.name.strip_prefix(key);
            end.is_some_and(|end| SECRET_KEYS.contains(&end))
                && given.value != SettingValue::Switch(false)
        };
        let set: Vec<&GivenSetting> = self.raw.given.iter().filter(is_set).collect();
        let last = *set.last()?;
        let is_same_layer =
            |given: &&GivenSetting| given.origin.source_rank() == last.origin.source_rank();
        if let [first, second, ..] = set.into_iter().filter(is_same_layer).collect::<Vec<_>>()[..] {
            let text = format!("there are both `{}` and `{}`; keep one", first.name, second.name);
            self.add_problem(second.name, second.origin.clone(), &text);
        }
        let value = self.token_source(last)?;
        Some(Setting { value, origin: last.origin.clone() })
    }

    fn token_source(&mut self, given: &GivenSetting) -> Option<TokenSource> {
        match (&given.value, &given.origin) {
            (SettingValue::Secret(token), SettingOrigin::File { path, .. }) => {
                Some(TokenSource::Config(token.clone(), path.clone()))
            }
            (SettingValue::Secret(token), _) => Some(TokenSource::Environment(token.clone())),
            (SettingValue::Path(_), _) => Some(TokenSource::File(self.path(given.name)?)),
            (SettingValue::Words(words), _) if words.first().is_none_or(String::is_empty) => {
                let text = format!("`{}` must name a program", given.name);
                self.add_problem(given.name, given.origin.clone(), &text);
                None
            }
            (SettingValue::Words(words), _) => Some(TokenSource::Command(words.clone())),
            _ => KeyringEntry::of_key(given.name).map(TokenSource::Keyring),
        }
    }

    /// Returns the value in effect, checked: the one given, else the default. `None` if the key
    /// has neither.
    pub(super) fn checked_value(&mut self, name: &'static str) -> Option<SettingValue> {
        let key = keys::find_setting_key(name)?;
        let Some(given) = self.raw.get(name) else {
            return (!key.default.is_empty())
                .then(|| key.kind.read_text(OsStr::new(key.default), false))?;
        };
        if let Err(text) = key.check_value(&given.value) {
            self.add_problem(name, given.origin.clone(), &text);
        }
        Some(given.value.clone())
    }

    pub(super) fn text(&mut self, name: &'static str) -> String {
        match self.checked_value(name) {
            Some(SettingValue::Text(text)) => text.trim().to_owned(),
            _ => String::new(),
        }
    }

    /// Returns an address, without a slash at its end.
    pub(super) fn url(&mut self, name: &'static str) -> String {
        self.text(name).trim_end_matches('/').to_owned()
    }

    /// Returns the meaning of a word. A word that is wrong is reported, and `otherwise` is returned.
    pub(super) fn word<T>(
        &mut self,
        name: &'static str,
        parse: fn(&str) -> Option<T>,
        otherwise: T,
    ) -> T {
        parse(&self.text(name)).unwrap_or(otherwise)
    }

    pub(super) fn whole(&mut self, name: &'static str) -> Option<u64> {
        match self.checked_value(name)? {
            SettingValue::Whole(number) => Some(u64::try_from(number).unwrap_or_default()),
            _ => None,
        }
    }

    pub(super) fn seconds(&mut self, name: &'static str) -> Duration {
        Duration::from_secs(self.whole(name).unwrap_or_default())
    }

    pub(super) fn is_switched_on(&mut self, name: &'static str) -> bool {
        self.checked_value(name) == Some(SettingValue::Switch(true))
    }

    pub(super) fn ids(&mut self, name: &'static str) -> Setting<Vec<i64>> {
        let value = match self.checked_value(name) {
            Some(SettingValue::Ids(ids)) => ids,
            _ => Vec::new(),
        };
        Setting { value, origin: self.origin(name) }
    }

    fn path_or(&mut self, name: &'static str, folder: Option<PathBuf>, file: &str) -> PathBuf {
        let path = self.path(name).or_else(|| Some(folder?.join(file)));
        path.unwrap_or_else(|| {
            let text = format!("there is no home folder; set HOME or `{name}`");
            self.add_problem(name, SettingOrigin::Default, &text);
            PathBuf::new()
        })
    }

    /// Returns the path that was given.
    pub(super) fn path(&mut self, name: &'static str) -> Option<PathBuf> {
        let given = self.raw.get(name)?;
        let SettingValue::Path(path) = &given.value else { return None };
        Some(self.absolute_path(name, path, &given.origin))
    }

    /// Makes a path absolute. On a command line, and in a variable of other programs, it is
    /// relative to the working folder; elsewhere it has to be absolute, because callgate's
    /// commands run in many folders.
    pub(super) fn absolute_path(
        &mut self,
        name: &'static str,
        path: &Path,
        origin: &SettingOrigin,
    ) -> PathBuf {
        let is_typed = matches!(origin, SettingOrigin::Flag(_)) || origin.is_common_variable();
        let path = if is_typed { self.around.absolute(path) } else { self.around.expand(path) };
        if !path.is_absolute() {
            let text = format!("`{name}` must be an absolute path, or begin with ~/");
            self.add_problem(name, origin.clone(), &text);
        }
        path
    }

    /// Returns where the value in effect came from.
    pub(super) fn origin(&self, name: &str) -> SettingOrigin {
        self.raw.get(name).map_or(SettingOrigin::Default, |given| given.origin.clone())
    }

    pub(super) fn add_problem(&mut self, name: &'static str, origin: SettingOrigin, text: &str) {
        let (scope, text) = (ProblemScope::Key(name), text.to_owned());
        self.problems.push(ConfigProblem { scope, origin, text });
    }
}

fn is_short_enough(socket: &Path) -> bool {
    socket.as_os_str().len() <= LONGEST_SOCKET_PATH
}
