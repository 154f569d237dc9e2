//! Checks the values that were given and fills in the defaults.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_approval::asker::AskerSettings;
use callgate_approval::desk::Unattended;
use callgate_settings::{
    ConfigProblem, Key, ProblemScope, Setting, SettingKey, SettingOrigin, SettingType,
    SettingValue, WhenAbsent, keys,
};
use callgate_wire::HiddenText;
use callgate_wire::approval;
use callgate_wire::hook::AgentProfile;
use callgate_wire::hook::agents::AGENTS;
use serde_json::Value;

use super::keyring::KeyringEntry;
use super::raw::{GivenSetting, RawConfig};
use super::surroundings::Surroundings;
use super::token::TokenSource;
use super::{
    AccountSettings, Config, GateSettings, PageSettings, ShellSettings, TeamSettings,
    TelegramSettings,
};

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
        let socket = self.socket(&keys::SOCKET, ASK_SOCKET, &database);
        let config = Config {
            file: self.raw.file.clone(),
            timeout: self.value(&keys::TIMEOUT_SECONDS),
            grace: self.value(&keys::GRACE_SECONDS),
            desk_socket: self.socket(&keys::DESK_SOCKET, "desk.sock", &database),
            database,
            rules: self.path_or(&keys::RULES, self.around.config_folder(), "rules.toml"),
            legacy_socket: self.legacy_socket(&socket),
            socket,
            phone_after: self.value(&keys::PHONE_AFTER_SECONDS),
            notify_on_stop: self.value(&keys::NOTIFY_ON_STOP),
            notify_on_wait: self.value(&keys::NOTIFY_ON_WAIT),
            record_runs: self.value(&keys::RECORD_RUNS),
            gate: self.check_gate_section(),
            page: PageSettings {
                enabled: self.value(&keys::PAGE_ENABLED),
                port: self.value(&keys::PAGE_PORT),
            },
            team: self.check_team_section(),
            telegram: TelegramSettings {
                token: self.token(&keys::TELEGRAM_TOKEN).map(|token| token.value),
                api_url: self.value(&keys::TELEGRAM_API_URL).0,
                allowed_chats: self.setting(&keys::TELEGRAM_ALLOWED_CHATS),
                allowed_users: self.setting(&keys::TELEGRAM_ALLOWED_USERS),
            },
            agent,
            shell: ShellSettings {
                shortcut: self.value(&keys::SHELL_SHORTCUT),
                theme: self.value(&keys::SHELL_THEME),
            },
        };
        if config.phone_after > Duration::ZERO && config.phone_after >= config.timeout {
            let text = "`phone_after_seconds` must be less than `timeout_seconds`, \
                        or the phone is never asked";
            self.add_problem(
                &keys::PHONE_AFTER_SECONDS,
                self.origin(&keys::PHONE_AFTER_SECONDS),
                text,
            );
        }
        config
    }

    /// Checks only what the hook needs to ask.
    pub(crate) fn check_hook_settings(&mut self) -> AskerSettings {
        let database = self.database();
        let Setting { value: socket, origin } = self.socket(&keys::SOCKET, ASK_SOCKET, &database);
        let is_beside =
            origin == SettingOrigin::Default && socket == database.with_file_name(ASK_SOCKET);
        let (timeout, grace) =
            (self.value(&keys::TIMEOUT_SECONDS), self.value(&keys::GRACE_SECONDS));
        // The database matters only to a socket beside it.
        let place = if is_beside { &*keys::DATABASE } else { &*keys::SOCKET };
        self.keep_problems_of(&[
            &keys::SOCKET,
            place,
            &keys::TIMEOUT_SECONDS,
            &keys::GRACE_SECONDS,
        ]);
        AskerSettings { socket, timeout, grace }
    }

    /// Drops the problems of all keys but these. A file that cannot be read may have set any of
    /// them.
    pub(crate) fn keep_problems_of(&mut self, keys: &[&SettingKey]) {
        self.problems.retain(|problem| match problem.scope {
            ProblemScope::File => true,
            ProblemScope::Unknown => false,
            ProblemScope::Key(name) => keys.iter().any(|key| key.name == name),
        });
    }

    /// Drops the problems of these keys and of the whole file: whoever uses them reports those.
    pub(crate) fn drop_problems_of(&mut self, keys: &[&SettingKey]) {
        self.problems.retain(|problem| match problem.scope {
            ProblemScope::File => false,
            ProblemScope::Unknown => true,
            ProblemScope::Key(name) => keys.iter().all(|key| key.name != name),
        });
    }

    fn database(&mut self) -> PathBuf {
        self.path_or(&keys::DATABASE, self.around.data_folder(), "callgate.db")
    }

    /// Returns the socket that the key sets, or the file of this name in the folder of all
    /// our sockets.
    fn socket(&mut self, key: &Key<PathBuf>, file: &str, database: &Path) -> Setting<PathBuf> {
        let value = self.path(key).unwrap_or_else(|| {
            let of_login = self.around.socket_of_login(file).filter(|path| is_short_enough(path));
            // The folder of the database is private, too.
            of_login.unwrap_or_else(|| database.with_file_name(file))
        });
        self.check_length(key, &value);
        Setting { value, origin: self.origin(key) }
    }

    /// Returns the second socket. If `socket` is set, there is none unless this one is set too.
    fn legacy_socket(&mut self, socket: &Setting<PathBuf>) -> Option<PathBuf> {
        match self.raw.get(&keys::LEGACY_SOCKET).map(|given| &given.value) {
            Some(SettingValue::Path(path)) if path.as_os_str().is_empty() => None,
            None => {
                (socket.origin == SettingOrigin::Default).then(|| approval::LEGACY_SOCKET.into())
            }
            Some(_) => {
                let path = self.path(&keys::LEGACY_SOCKET)?;
                self.check_length(&keys::LEGACY_SOCKET, &path);
                Some(path)
            }
        }
    }

    fn check_length(&mut self, key: &SettingKey, socket: &Path) {
        if !is_short_enough(socket) {
            let text = format!(
                "the path of a socket can have {LONGEST_SOCKET_PATH} bytes, {} has {}; \
                 set `{}` to a shorter one",
                socket.display(),
                socket.as_os_str().len(),
                key.name
            );
            self.add_problem(key, self.origin(key), &text);
        }
    }

    fn check_team_section(&mut self) -> TeamSettings {
        let listen = self.given_value(&keys::TEAM_LISTEN);
        let certificate = self.path(&keys::TEAM_CERTIFICATE);
        let key = self.path(&keys::TEAM_CERTIFICATE_KEY);
        if certificate.is_some() != key.is_some() {
            let text = "`team.certificate` and `team.certificate_key` belong together";
            let set =
                if key.is_some() { &keys::TEAM_CERTIFICATE_KEY } else { &keys::TEAM_CERTIFICATE };
            self.add_problem(set, self.origin(set), text);
        }
        let database_url = self.token(&keys::TEAM_DATABASE_URL);
        if let Some(url) = &database_url
            && certificate.is_none()
        {
            let text = "several desks need one certificate: set `team.certificate` and \
                        `team.certificate_key`";
            self.add_problem(&keys::TEAM_DATABASE_URL, url.origin.clone(), text);
        }
        TeamSettings {
            // What is not one is reported already.
            listen: listen.and_then(|listen| listen.trim().parse().ok()),
            address: self.given_value(&keys::TEAM_ADDRESS),
            certificate: certificate.zip(key),
            accounts: self.check_accounts(),
            database_url: database_url.map(|url| url.value),
            desk_name: self.given_value(&keys::TEAM_DESK_NAME),
            keep_days: self.value(&keys::TEAM_KEEP_DAYS),
        }
    }

    fn check_accounts(&mut self) -> Option<AccountSettings> {
        let issuer = self.given_value(&keys::TEAM_OIDC_ISSUER);
        let client_id = self.given_value(&keys::TEAM_OIDC_CLIENT_ID);
        let client_secret = self.path(&keys::TEAM_OIDC_CLIENT_SECRET_FILE);
        if issuer.is_some() != client_id.is_some() {
            let text = "`team.oidc_issuer` and `team.oidc_client_id` belong together";
            let set =
                if issuer.is_some() { &keys::TEAM_OIDC_ISSUER } else { &keys::TEAM_OIDC_CLIENT_ID };
            self.add_problem(set, self.origin(set), text);
        }
        Some(AccountSettings { issuer: issuer?, client_id: client_id?, client_secret })
    }

    /// Checks the section `[gate]`. A user who wants to be asked about everything does not want
    /// everything to run while nobody can be asked.
    fn check_gate_section(&mut self) -> GateSettings {
        let unattended = self.value(&keys::GATE_UNATTENDED);
        let when_absent = match unattended {
            Unattended::Ask if self.raw.get(&keys::GATE_WHEN_ABSENT).is_none() => WhenAbsent::Deny,
            _ => self.value(&keys::GATE_WHEN_ABSENT),
        };
        let unclear = self.value(&keys::GATE_UNCLEAR);
        GateSettings { unattended, when_absent, agents: self.gate_agents(), unclear }
    }

    /// Checks the tables `[gate.agents.NAME]`.
    fn gate_agents(&mut self) -> Vec<(&'static AgentProfile, WhenAbsent)> {
        const NAME: &str = keys::GATE_AGENTS.key.name;
        let Some(GivenSetting { value: SettingValue::Tables(tables), origin, .. }) =
            self.raw.get(&keys::GATE_AGENTS)
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
                    self.add_problem(&keys::GATE_AGENTS, origin.clone(), &text);
                }
            }
        }
        agents
    }

    /// Returns where a secret is kept, by the keys that begin with this one.
    pub(super) fn token(&mut self, key: &Key<HiddenText>) -> Option<Setting<TokenSource>> {
        let is_set = |given: &&GivenSetting| {
            let end = given.key.name.strip_prefix(key.name);
            end.is_some_and(|end| SECRET_KEYS.contains(&end))
                && given.value != SettingValue::Switch(false)
        };
        let set: Vec<&GivenSetting> = self.raw.given.iter().filter(is_set).collect();
        let last = *set.last()?;
        let is_same_layer =
            |given: &&GivenSetting| given.origin.source_rank() == last.origin.source_rank();
        if let [first, second, ..] = set.into_iter().filter(is_same_layer).collect::<Vec<_>>()[..] {
            let text =
                format!("there are both `{}` and `{}`; keep one", first.key.name, second.key.name);
            self.add_problem(second.key, second.origin.clone(), &text);
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
            (SettingValue::Path(_), _) => Some(TokenSource::File(self.given_path(given.key)?)),
            (SettingValue::Words(words), _) if words.first().is_none_or(String::is_empty) => {
                let text = format!("`{}` must name a program", given.key.name);
                self.add_problem(given.key, given.origin.clone(), &text);
                None
            }
            (SettingValue::Words(words), _) => Some(TokenSource::Command(words.clone())),
            _ => KeyringEntry::of_key(given.key).map(TokenSource::Keyring),
        }
    }

    /// Returns the value in effect, checked: the one given, else the default.
    pub(super) fn value<T: SettingType>(&mut self, key: &Key<T>) -> T {
        let default = || key.kind.read_text(OsStr::new(key.default), false);
        let has_default = !key.default.is_empty();
        let given = self.checked_value(key);
        T::of_value(given.or_else(|| has_default.then(default)?))
    }

    /// Returns the value that was given, checked.
    pub(super) fn given_value<T: SettingType>(&mut self, key: &Key<Option<T>>) -> Option<T> {
        self.checked_value(key).map(|value| T::of_value(Some(value)))
    }

    /// Returns the value in effect, checked, and where it came from.
    pub(super) fn setting<T: SettingType>(&mut self, key: &Key<T>) -> Setting<T> {
        Setting { value: self.value(key), origin: self.origin(key) }
    }

    fn checked_value(&mut self, key: &SettingKey) -> Option<SettingValue> {
        let given = self.raw.get(key)?;
        if let Err(text) = key.check_value(&given.value) {
            self.add_problem(key, given.origin.clone(), &text);
        }
        Some(given.value.clone())
    }

    fn path_or(&mut self, key: &Key<PathBuf>, folder: Option<PathBuf>, file: &str) -> PathBuf {
        let path = self.path(key).or_else(|| Some(folder?.join(file)));
        path.unwrap_or_else(|| {
            let text = format!("there is no home folder; set HOME or `{}`", key.name);
            self.add_problem(key, SettingOrigin::Default, &text);
            PathBuf::new()
        })
    }

    /// Returns the path that was given.
    pub(super) fn path(&mut self, key: &Key<PathBuf>) -> Option<PathBuf> {
        self.given_path(key)
    }

    /// Returns the path that was given to a key of any type.
    pub(super) fn given_path(&mut self, key: &SettingKey) -> Option<PathBuf> {
        let given = self.raw.get(key)?;
        let SettingValue::Path(path) = &given.value else { return None };
        Some(self.absolute_path(key, path, &given.origin))
    }

    /// Makes a path absolute. On a command line, and in a variable of other programs, it is
    /// relative to the working folder; elsewhere it has to be absolute, because callgate's
    /// commands run in many folders.
    pub(super) fn absolute_path(
        &mut self,
        key: &SettingKey,
        path: &Path,
        origin: &SettingOrigin,
    ) -> PathBuf {
        let is_typed = matches!(origin, SettingOrigin::Flag(_)) || origin.is_common_variable();
        let path = if is_typed { self.around.absolute(path) } else { self.around.expand(path) };
        if !path.is_absolute() {
            let text = format!("`{}` must be an absolute path, or begin with ~/", key.name);
            self.add_problem(key, origin.clone(), &text);
        }
        path
    }

    /// Returns where the value in effect came from.
    pub(super) fn origin(&self, key: &SettingKey) -> SettingOrigin {
        self.raw.get(key).map_or(SettingOrigin::Default, |given| given.origin.clone())
    }

    pub(super) fn add_problem(&mut self, key: &SettingKey, origin: SettingOrigin, text: &str) {
        let (scope, text) = (ProblemScope::Key(key.name), text.to_owned());
        self.problems.push(ConfigProblem { scope, origin, text });
    }
}

fn is_short_enough(socket: &Path) -> bool {
    socket.as_os_str().len() <= LONGEST_SOCKET_PATH
}
