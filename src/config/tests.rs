//! The settings: every key and every source.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use callgate_approval::asker::AskerSettings;
use callgate_approval::desk::Unattended;
use callgate_link::text_file::read_text_file;
use callgate_rules::UnclearCommands;
use callgate_settings::{HookConfig, HookFlags, KeyFlag, KeyringEntry, ValueKind, keys};
use clap::{Args, FromArgMatches};
use tempfile::TempDir;

use super::*;

mod agent;
mod bot_token;
mod complaints;
mod guide;
mod hook;

/// Returns surroundings with this home folder and these variables, which read real files.
pub(crate) fn test_surroundings(home: &Path, variables: &[(&str, &str)]) -> Surroundings {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).into());
    let variables: HashMap<String, OsString> = variables.iter().map(owned).collect();
    Surroundings {
        variable: Rc::new(move |name| variables.get(name).cloned()),
        home: Some(home.to_owned()),
        here: Some("/here".into()),
        read_file: read_text_file,
    }
}

/// Returns the settings of the agent runtime in other surroundings than those of this process.
pub(crate) fn test_config(around: &Surroundings) -> Config {
    Config::load(None, &[], around, VariableScope::Common).unwrap()
}

/// A home folder, and what the process has around it.
struct Home {
    folder: TempDir,
    variables: Vec<(String, String)>,
    flags: Vec<String>,
}

impl Home {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        Self { folder, variables: Vec::new(), flags: Vec::new() }
    }

    /// With this settings file.
    fn with(text: &str) -> Self {
        let home = Self::new();
        home.write(".config/callgate/config.toml", text);
        home
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        path
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With what a key cannot be set without.
    fn beside(self, key: &SettingKey) -> Self {
        match key.name {
            "agent.price_input" => self.variable("CALLGATE_AGENT_PRICE_OUTPUT", "1"),
            "agent.price_output" => self.variable("CALLGATE_AGENT_PRICE_INPUT", "1"),
            "team.certificate" => self.variable("CALLGATE_TEAM_CERTIFICATE_KEY", "/key"),
            "team.certificate_key" => self.variable("CALLGATE_TEAM_CERTIFICATE", "/certificate"),
            "team.oidc_issuer" => self.variable("CALLGATE_TEAM_OIDC_CLIENT_ID", "callgate"),
            "team.oidc_client_id" => {
                self.variable("CALLGATE_TEAM_OIDC_ISSUER", "https://example.org")
            }
            "team.oidc_client_secret_file" => self
                .variable("CALLGATE_TEAM_OIDC_ISSUER", "https://example.org")
                .variable("CALLGATE_TEAM_OIDC_CLIENT_ID", "callgate"),
            name if name.starts_with("team.database_url") => self
                .variable("CALLGATE_TEAM_CERTIFICATE", "/certificate")
                .variable("CALLGATE_TEAM_CERTIFICATE_KEY", "/key"),
            _ => self,
        }
    }

    fn flag(mut self, name: &str, value: &str) -> Self {
        self.flags.extend([name.to_owned(), value.to_owned()]);
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn around(&self) -> Surroundings {
        let variables: Vec<_> = self.variables.iter().map(|(n, v)| (&n[..], &v[..])).collect();
        test_surroundings(self.folder.path(), &variables)
    }

    fn parsed_flags(&self) -> DeskFlags {
        let command = DeskFlags::augment_args(clap::Command::new("test").no_binary_name(true));
        DeskFlags::from_arg_matches(&command.try_get_matches_from(&self.flags).unwrap()).unwrap()
    }

    fn load(&self) -> Result<Config, ConfigProblems> {
        let flags = self.parsed_flags();
        Config::load(None, flags.given_values(), &self.around(), VariableScope::Ours)
    }

    fn load_for_agent(&self) -> Result<Config, ConfigProblems> {
        let command = AgentFlags::augment_args(clap::Command::new("test").no_binary_name(true));
        let matches = command.try_get_matches_from(&self.flags).unwrap();
        let flags = AgentFlags::from_arg_matches(&matches).unwrap();
        Config::load(None, flags.given_values(), &self.around(), VariableScope::Common)
    }

    fn config(&self) -> Config {
        self.load().unwrap_or_else(|problems| panic!("{problems}"))
    }

    /// What is wrong, with the home folder as `~`.
    fn problems(&self) -> Vec<String> {
        self.told(&self.load().unwrap_err())
    }

    fn told(&self, ConfigProblems(problems): &ConfigProblems) -> Vec<String> {
        let home = self.folder.path().to_str().unwrap();
        problems.iter().map(|problem| problem.to_string().replace(home, "~")).collect()
    }
}

/// What is wrong with a settings file: its line and column, and the text.
fn check_wrong(text: &str, expected: &[&str]) {
    let place = "~/.config/callgate/config.toml:";
    let problems = Home::with(text).problems();
    let short: Vec<&str> = problems.iter().map(|p| p.strip_prefix(place).unwrap_or(p)).collect();
    assert_eq!(short, expected, "{text}");
}

#[test]
fn with_nothing_configured_everything_has_a_default() {
    let home = Home::new();
    let config = home.config();
    assert_eq!(config.socket.value, home.path(".local/share/callgate/ask.sock"));
    assert_eq!(config.legacy_socket.0, Some("/tmp/vibe-reachout.sock".into()));
    assert_eq!(config.timeout_seconds, Duration::from_mins(5));
    assert_eq!(config.grace_seconds, Duration::from_secs(15));
    assert_eq!(config.database, home.path(".local/share/callgate/callgate.db"));
    assert_eq!(config.desk_socket.value, home.path(".local/share/callgate/desk.sock"));
    assert_eq!(config.rules, home.path(".config/callgate/rules.toml"));
    assert_eq!(config.phone_after_seconds, Duration::ZERO);
    assert!(!config.notify_on_stop && config.notify_on_wait && config.record_runs);
    assert_eq!(config.telegram.token, None);
    assert_eq!(&*config.telegram.api_url, "https://api.telegram.org");
    assert!(config.telegram.allowed_chats.value.is_empty());
    assert!(config.telegram.allowed_users.value.is_empty());
    assert_eq!(config.file.unwrap().value, home.path(".config/callgate/config.toml"));
    assert_eq!(config.socket.origin, SettingOrigin::Default);
}

#[test]
fn the_folders_of_xdg_are_respected_if_they_are_absolute() {
    let home = Home::new()
        .variable("XDG_CONFIG_HOME", "/c")
        .variable("XDG_DATA_HOME", "/d")
        .variable("XDG_RUNTIME_DIR", "/run/user/1");
    let config = home.config();
    assert_eq!(config.file.unwrap().value, PathBuf::from("/c/callgate/config.toml"));
    assert_eq!(config.rules, PathBuf::from("/c/callgate/rules.toml"));
    assert_eq!(config.database, PathBuf::from("/d/callgate/callgate.db"));
    assert_eq!(config.desk_socket.value, PathBuf::from("/run/user/1/callgate/desk.sock"));
    assert_eq!(config.socket.value, PathBuf::from("/run/user/1/callgate/ask.sock"));
    let relative = Home::new().variable("XDG_DATA_HOME", "data").variable("XDG_RUNTIME_DIR", "");
    assert_eq!(relative.config().database, relative.path(".local/share/callgate/callgate.db"));
    let elsewhere = Home::with("database = \"/data/x.db\"");
    assert_eq!(elsewhere.config().desk_socket.value, PathBuf::from("/data/desk.sock"));
    assert_eq!(elsewhere.config().socket.value, PathBuf::from("/data/ask.sock"));
}

/// Two users, or one user with and without a login, never share a socket or its lock.
#[test]
fn every_user_and_every_command_has_the_same_place() {
    let hook = |home: &Home| {
        let config = HookConfig::read_settings(&HookFlags::default(), home.around());
        config.asker_settings().map(|settings| settings.socket)
    };
    let homes = [
        Home::new(),
        Home::new().variable("XDG_RUNTIME_DIR", "/run/user/1"),
        Home::with("database = \"/data/x.db\""),
        Home::with("socket = \"/s.sock\""),
    ];
    for home in &homes {
        assert_eq!(hook(home).unwrap(), home.config().socket.value);
        assert_eq!(home.load_for_agent().unwrap().socket, home.config().socket);
    }
    assert_ne!(hook(&homes[0]), hook(&Home::new()));
    // The database matters to the hook only where the socket is beside it.
    let wrong = Home::with("database = \"x.db\"");
    assert_eq!(wrong.told(&hook(&wrong).unwrap_err()), wrong.problems());
    let wrong = wrong.variable("XDG_RUNTIME_DIR", "/run/user/1");
    assert_eq!(hook(&wrong).unwrap(), PathBuf::from("/run/user/1/callgate/ask.sock"));
}

#[test]
fn the_socket_of_the_first_contract_goes_with_the_default_and_can_be_switched_off() {
    let check = |text: &str, expected: Option<&str>| {
        let found = Home::with(text).config().legacy_socket;
        assert_eq!(found.0, expected.map(PathBuf::from), "{text}");
    };
    check("", Some("/tmp/vibe-reachout.sock"));
    check("legacy_socket = \"\"", None);
    check("legacy_socket = \"/l.sock\"", Some("/l.sock"));
    check("socket = \"/s.sock\"", None);
    check("socket = \"/s.sock\"\nlegacy_socket = \"/l.sock\"", Some("/l.sock"));
    check_wrong(
        "legacy_socket = \"l.sock\"",
        &["1:17: `legacy_socket` must be an absolute path, or begin with ~/"],
    );
}

#[test]
fn a_socket_path_has_107_bytes_at_most() {
    let long = |bytes: usize| format!("/{}", "s".repeat(bytes - 1));
    assert_eq!(
        Home::with(&format!("socket = {:?}", long(107))).config().socket.value,
        PathBuf::from(long(107))
    );
    let text = format!(
        "1:10: the path of a socket can have 107 bytes, {} has 108; set `socket` to a shorter one",
        long(108)
    );
    check_wrong(&format!("socket = {:?}", long(108)), &[&text]);
    // The runtime folder is passed over where its socket would be too long.
    let home = Home::new().variable("XDG_RUNTIME_DIR", &long(92));
    assert_eq!(home.config().desk_socket.value, home.path(".local/share/callgate/desk.sock"));
    assert_eq!(home.config().socket.value, home.path(".local/share/callgate/ask.sock"));
    let home = Home::with(&format!("database = \"{}/x.db\"", long(100)));
    assert!(home.problems()[0].contains("set `socket` to a shorter one"));
    assert!(home.problems()[1].contains("set `desk_socket` to a shorter one"));
}

#[test]
fn every_key_can_be_set_in_the_file() {
    let home = Home::with(
        r#"
        socket = "/s.sock"
        timeout_seconds = 1_000
        grace_seconds = 0x0a
        database = "~/ledger.db"
        desk_socket = "/d.sock"
        rules = "/r.toml"
        legacy_socket = "/l.sock"
        phone_after_seconds = 30
        notify_on_stop = true
        notify_on_wait = false
        record_runs = false
        [telegram]
        token_file = "~/token"
        api_url = "http://127.0.0.1:8081/"
        allowed_chats = [12, -100123]
        allowed_users = [1, 7]
        "#,
    );
    let config = home.config();
    assert_eq!(config.socket.value, PathBuf::from("/s.sock"));
    assert_eq!(config.timeout_seconds, Duration::from_secs(1000));
    assert_eq!(config.grace_seconds, Duration::from_secs(10));
    assert_eq!(config.database, home.path("ledger.db"));
    assert_eq!(config.desk_socket.value, PathBuf::from("/d.sock"));
    assert_eq!(config.rules, PathBuf::from("/r.toml"));
    assert_eq!(config.phone_after_seconds, Duration::from_secs(30));
    assert!(config.notify_on_stop && !config.notify_on_wait && !config.record_runs);
    assert_eq!(config.telegram.token.unwrap().value, TokenSource::File(home.path("token")));
    assert_eq!(&*config.telegram.api_url, "http://127.0.0.1:8081");
    assert_eq!(config.telegram.allowed_chats.value, [12, -100_123]);
    assert_eq!(config.telegram.allowed_users.value, [1, 7]);
    assert_eq!(
        config.socket.origin.to_string(),
        format!("{}:2:18", home.path(".config/callgate/config.toml").display())
    );
}

#[test]
fn the_environment_stands_over_the_file_and_flags_over_both() {
    let file = "timeout_seconds = 10\ngrace_seconds = 1\nnotify_on_stop = true\nsocket = \"/f\"";
    let home = Home::with(file)
        .variable("CALLGATE_TIMEOUT_SECONDS", "20")
        .variable("CALLGATE_NOTIFY_ON_STOP", "0")
        .variable("CALLGATE_TELEGRAM_ALLOWED_CHATS", "1, -2")
        .variable("CALLGATE_GRACE_SECONDS", "")
        .flag("--timeout-seconds", "30")
        .flag("--socket", "here.sock")
        .flag("--telegram-allowed-users", "3,4");
    let config = home.config();
    assert_eq!(config.timeout_seconds, Duration::from_secs(30));
    assert!(!config.notify_on_stop);
    assert_eq!(config.grace_seconds, Duration::from_secs(1), "an empty variable is not set");
    assert_eq!(config.socket.value, PathBuf::from("/here/here.sock"), "as it was typed");
    assert_eq!(config.socket.origin, SettingOrigin::Flag("--socket".to_owned()));
    assert_eq!(config.telegram.allowed_chats.value, [1, -2]);
    let variable = "CALLGATE_TELEGRAM_ALLOWED_CHATS".to_owned();
    assert_eq!(config.telegram.allowed_chats.origin, SettingOrigin::Environment(variable));
    assert_eq!(config.telegram.allowed_users.value, [3, 4]);
}

/// A value that fits the key and is not its default, as a variable has it.
fn example(key: &SettingKey, number: usize) -> String {
    match key.kind {
        ValueKind::File | ValueKind::Socket | ValueKind::Folders => format!("/example/{number}"),
        ValueKind::Choice { words, .. } => words[words.len() - 1].to_owned(),
        ValueKind::Text { .. } if key.name == "shell.shortcut" => "Alt+Space".to_owned(),
        ValueKind::Text { .. } if key.name == "agent.prices" => "m=0.5/2".to_owned(),
        ValueKind::Text { .. } if key.name == "team.listen" => "127.0.0.1:7443".to_owned(),
        ValueKind::Text { .. } if key.name == "team.address" => "desk.example.org:7443".to_owned(),
        ValueKind::Text { .. } | ValueKind::Url { .. } => "https://example.org".to_owned(),
        ValueKind::Whole { .. } if key.name == "agent.context_tokens" => "50000".to_owned(),
        ValueKind::Whole { .. } if key.name.ends_with("_tokens") => "5000".to_owned(),
        ValueKind::Whole { .. } => "5".to_owned(),
        ValueKind::Dollars => "0.5".to_owned(),
        ValueKind::SwitchOrId => "conv-5".to_owned(),
        ValueKind::Switch => (key.default == "false").to_string(),
        ValueKind::Ids { .. } => "5,6".to_owned(),
        ValueKind::Secret => "5:AB".to_owned(),
        ValueKind::Command | ValueKind::Tables { .. } => unreachable!("no variable holds it"),
    }
}

#[test]
fn every_variable_and_every_flag_changes_its_setting() {
    for (number, key) in iter_keys().enumerate() {
        let Some(variable) = key.variable() else { continue };
        let beside = Home::new().beside(key);
        let none = beside.load().ok();
        let home = beside.variable(&variable, &example(key, number));
        assert_ne!(Some(home.config()), none, "{variable}");
    }
    let command = DeskFlags::augment_args(clap::Command::new("test"));
    let flags: Vec<&str> = command.get_arguments().filter_map(|arg| arg.get_long()).collect();
    let named = |key: &SettingKey| {
        key.flag_name().map_or_else(|| key.name.replace(['.', '_'], "-"), |name| name.clone())
    };
    let secrets = ["telegram.token", "team.database_url"];
    let has_flag = |key: &&SettingKey| {
        let is_of_others = key.name.starts_with("agent.") || key.name.starts_with("shell.");
        let form = secrets.iter().find_map(|secret| key.name.strip_prefix(secret));
        let is_secret = form.is_some_and(|form| ["", "_command", "_keyring"].contains(&form));
        !is_of_others && !is_secret && key.name != "gate.agents"
    };
    let expected: Vec<String> = iter_keys().filter(has_flag).map(named).collect();
    assert_eq!(flags, expected, "every key has a flag but secrets and tables");
    for (number, key) in iter_keys().enumerate().filter(|(_, key)| has_flag(key)) {
        let home = Home::new().beside(key);
        let none = home.load().ok();
        let home = home.flag(&format!("--{}", named(key)), &example(key, number));
        assert_ne!(Some(home.config()), none, "{}", key.name);
    }
}

#[test]
fn the_file_can_be_named() {
    let home = Home::new();
    let named = home.write("other.toml", "timeout_seconds = 7");
    let text = named.to_str().unwrap();
    let home = home.variable("CALLGATE_CONFIG", text);
    let config = home.config();
    assert_eq!(config.timeout_seconds, Duration::from_secs(7));
    assert_eq!(
        config.file.unwrap().origin,
        SettingOrigin::Environment("CALLGATE_CONFIG".to_owned())
    );
    let flagged = home.write("flagged.toml", "timeout_seconds = 8");
    let config = Config::load(Some(&flagged), &[], &home.around(), VariableScope::Ours).unwrap();
    assert_eq!(config.timeout_seconds, Duration::from_secs(8));
    // One that was named has to be there; the default need not.
    let absent = Home::new().variable("CALLGATE_CONFIG", "/nowhere/c.toml").problems();
    assert_eq!(
        absent,
        [
            "environment CALLGATE_CONFIG: cannot read the settings in /nowhere/c.toml: there is no such file"
        ]
    );
}
