//! The settings: every key, every source, and every complaint.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use clap::{Args, FromArgMatches};
use tempfile::TempDir;

use super::keys::{KEYS, KeyFlag};
use super::value::ValueKind;
use super::*;

mod agent;
mod bot_token;
mod hook;

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
        Surroundings::of_test(self.folder.path(), &variables)
    }

    fn parsed_flags(&self) -> DeskFlags {
        let command = DeskFlags::augment_args(clap::Command::new("test").no_binary_name(true));
        DeskFlags::from_arg_matches(&command.try_get_matches_from(&self.flags).unwrap()).unwrap()
    }

    fn load(&self) -> Result<Config, ConfigProblems> {
        let flags = self.parsed_flags();
        Config::load_in(None, flags.given(), &self.around(), VariableScope::Ours)
    }

    fn load_for_agent(&self) -> Result<Config, ConfigProblems> {
        let command = AgentFlags::augment_args(clap::Command::new("test").no_binary_name(true));
        let matches = command.try_get_matches_from(&self.flags).unwrap();
        let flags = AgentFlags::from_arg_matches(&matches).unwrap();
        Config::load_for_agent_in(None, &flags, &self.around())
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
    assert_eq!(config.legacy_socket, Some("/tmp/vibe-reachout.sock".into()));
    assert_eq!(config.timeout, Duration::from_mins(5));
    assert_eq!(config.grace, Duration::from_secs(15));
    assert_eq!(config.database, home.path(".local/share/callgate/callgate.db"));
    assert_eq!(config.desk_socket.value, home.path(".local/share/callgate/desk.sock"));
    assert_eq!(config.rules, home.path(".config/callgate/rules.toml"));
    assert_eq!(config.phone_after, Duration::ZERO);
    assert!(!config.notify_on_stop);
    assert_eq!(config.telegram.token, None);
    assert_eq!(config.telegram.api_url, "https://api.telegram.org");
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
        let config = HookConfig::read_in(&HookFlags::default(), home.around());
        config.desk().map(|settings| settings.socket)
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
        assert_eq!(found, expected.map(PathBuf::from), "{text}");
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
        [telegram]
        token_file = "~/token"
        api_url = "http://127.0.0.1:8081/"
        allowed_chats = [12, -100123]
        allowed_users = [1, 7]
        "#,
    );
    let config = home.config();
    assert_eq!(config.socket.value, PathBuf::from("/s.sock"));
    assert_eq!(config.timeout, Duration::from_secs(1000));
    assert_eq!(config.grace, Duration::from_secs(10));
    assert_eq!(config.database, home.path("ledger.db"));
    assert_eq!(config.desk_socket.value, PathBuf::from("/d.sock"));
    assert_eq!(config.rules, PathBuf::from("/r.toml"));
    assert_eq!(config.phone_after, Duration::from_secs(30));
    assert!(config.notify_on_stop);
    assert_eq!(config.telegram.token.unwrap(), TokenSource::File(home.path("token")));
    assert_eq!(config.telegram.api_url, "http://127.0.0.1:8081");
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
    assert_eq!(config.timeout, Duration::from_secs(30));
    assert!(!config.notify_on_stop);
    assert_eq!(config.grace, Duration::from_secs(1), "an empty variable is not set");
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
        ValueKind::Text { .. } | ValueKind::Url { .. } => "https://example.org".to_owned(),
        ValueKind::Whole { .. } if key.name == "agent.context_tokens" => "50000".to_owned(),
        ValueKind::Whole { .. } if key.name.ends_with("_tokens") => "5000".to_owned(),
        ValueKind::Whole { .. } => "5".to_owned(),
        ValueKind::Dollars => "0.5".to_owned(),
        ValueKind::Switch => (key.default == "false").to_string(),
        ValueKind::Ids { .. } => "5,6".to_owned(),
        ValueKind::Secret => "5:AB".to_owned(),
        ValueKind::Command | ValueKind::Servers => unreachable!("no variable holds it"),
    }
}

#[test]
fn every_variable_and_every_flag_changes_its_setting() {
    for (number, key) in KEYS.iter().enumerate() {
        let Some(variable) = key.variable() else { continue };
        let beside = Home::new().beside(key);
        let none = beside.load().ok();
        let home = beside.variable(&variable, &example(key, number));
        assert_ne!(Some(home.config()), none, "{variable}");
    }
    let command = DeskFlags::augment_args(clap::Command::new("test"));
    let flags: Vec<&str> = command.get_arguments().filter_map(|arg| arg.get_long()).collect();
    let named = |key: &keys::SettingKey| key.name.replace(['.', '_'], "-");
    let secret = ["telegram-token", "telegram-token-command", "telegram-token-keyring"];
    let has_flag = |key: &&SettingKey| {
        let is_of_others = key.name.starts_with("agent.") || key.name.starts_with("shell.");
        !is_of_others && !secret.contains(&&named(key)[..])
    };
    let expected: Vec<String> = KEYS.iter().filter(has_flag).map(named).collect();
    assert_eq!(flags, expected, "every key has a flag but the token, which has none");
    for (number, key) in KEYS.iter().enumerate().filter(|(_, key)| has_flag(key)) {
        let home = Home::new();
        let none = home.config();
        let home = home.flag(&format!("--{}", named(key)), &example(key, number));
        assert_ne!(home.config(), none, "{}", key.name);
    }
}

#[test]
fn the_file_can_be_named() {
    let home = Home::new();
    let named = home.write("other.toml", "timeout_seconds = 7");
    let text = named.to_str().unwrap();
    let home = home.variable("CALLGATE_CONFIG", text);
    let config = home.config();
    assert_eq!(config.timeout, Duration::from_secs(7));
    assert_eq!(
        config.file.unwrap().origin,
        SettingOrigin::Environment("CALLGATE_CONFIG".to_owned())
    );
    let flagged = home.write("flagged.toml", "timeout_seconds = 8");
    let config = Config::load_in(Some(&flagged), &[], &home.around(), VariableScope::Ours).unwrap();
    assert_eq!(config.timeout, Duration::from_secs(8));
    // One that was named has to be there; the default need not.
    let absent = Home::new().variable("CALLGATE_CONFIG", "/nowhere/c.toml").problems();
    assert_eq!(
        absent,
        [
            "environment CALLGATE_CONFIG: cannot read the settings in /nowhere/c.toml: there is no such file"
        ]
    );
}

#[test]
fn wrong_keys_are_named_with_their_line_and_the_nearest_right_one() {
    check_wrong(
        "timout_seconds = 3",
        &["1:1: there is no key `timout_seconds`; did you mean `timeout_seconds`?"],
    );
    check_wrong(
        "\n[telegram]\n  tokn = \"x\"",
        &["3:3: there is no key `telegram.tokn`; did you mean `telegram.token`?"],
    );
    check_wrong(
        "token = \"secret\"",
        &["1:1: there is no key `token`; did you mean `telegram.token`?"],
    );
    check_wrong("telegram = 3", &["1:1: `telegram` is a table; write [telegram] on a line"]);
    check_wrong(
        "[telgram]\ntoken = 1",
        &["1:2: there is no key `telgram`; did you mean `telegram`?"],
    );
    let problems = Home::with("colour = 1").problems();
    assert!(problems[0].contains("there is no key `colour`; there are socket, timeout_seconds,"));
}

#[test]
fn wrong_values_are_named_with_their_line_and_what_would_be_right() {
    check_wrong("timeout_seconds = 0", &["1:19: `timeout_seconds` is 0, but must be 1 to 3600"]);
    check_wrong(
        "timeout_seconds = 3601",
        &["1:19: `timeout_seconds` is 3601, but must be 1 to 3600"],
    );
    check_wrong("timeout_seconds = -5", &["1:19: `timeout_seconds` is -5, but must be 1 to 3600"]);
    check_wrong("timeout_seconds = \"5\"", &["1:19: `timeout_seconds` must be a whole number"]);
    check_wrong("timeout_seconds = 1.5", &["1:19: `timeout_seconds` must be a whole number"]);
    check_wrong(
        "timeout_seconds = 99999999999999999999",
        &["1:19: `timeout_seconds` must be a whole number"],
    );
    check_wrong("grace_seconds = 601", &["1:17: `grace_seconds` is 601, but must be 0 to 600"]);
    check_wrong("notify_on_stop = 1", &["1:18: `notify_on_stop` must be true or false"]);
    check_wrong("socket = 1", &["1:10: `socket` must be a path in quotes"]);
    check_wrong("socket = \"a/b\"", &["1:10: `socket` must be an absolute path, or begin with ~/"]);
    check_wrong(
        "socket = \"~x/b\"",
        &["1:10: `socket` must be an absolute path, or begin with ~/"],
    );
    check_wrong(
        "telegram.allowed_chats = [1, \"2\"]",
        &["1:26: `telegram.allowed_chats` must be a list of whole numbers, such as [1, 2]"],
    );
    check_wrong(
        "telegram.allowed_chats = [0]",
        &["1:26: `telegram.allowed_chats` contains 0, which is not an id"],
    );
    check_wrong(
        "telegram.allowed_users = [-1]",
        &["1:26: `telegram.allowed_users` contains -1, which is not an id"],
    );
    check_wrong(
        "telegram.token_command = []",
        &["1:26: `telegram.token_command` must name a program"],
    );
    check_wrong(
        "timeout_seconds = 30\nphone_after_seconds = 30",
        &[
            "2:23: `phone_after_seconds` must be less than `timeout_seconds`, or the phone is never asked",
        ],
    );
}

#[test]
fn the_token_goes_unencrypted_to_this_machine_only() {
    let fine = [
        "https://a.example",
        "https://a.example:444/x",
        "http://localhost:1",
        "http://[::1]:1/",
        "http://127.0.0.2",
    ];
    for url in fine {
        let text = format!("telegram.api_url = {url:?}");
        assert_eq!(Home::with(&text).config().telegram.api_url, url.trim_end_matches('/'));
    }
    let open = Home::with("telegram.api_url = \"http://a.example\"").problems();
    assert!(open[0].ends_with("the token would go unencrypted to another machine"), "{open:?}");
    let wrong = [
        "http://a.example",
        "http://127.evil@a.example",
        "ftp://a",
        "a.example",
        "https://",
        "https://a/?b",
        "https://a b",
        "",
    ];
    for url in wrong {
        let problems = Home::with(&format!("telegram.api_url = {url:?}")).problems();
        assert!(problems[0].contains("1:20: `telegram.api_url` must b"), "{url}: {problems:?}");
    }
}

#[test]
fn all_that_is_wrong_is_told_at_once_and_in_order() {
    let text = "socket = 1\ntimeout_seconds = 0\n\"übel\" = 1\n[telegram]\nchats = [1]\n";
    let home = Home::with(text).variable("CALLGATE_GRACE_SECONDS", "long").flag("--rules", "");
    check_wrong(
        text,
        &[
            "1:10: `socket` must be a path in quotes",
            "2:19: `timeout_seconds` is 0, but must be 1 to 3600",
            &Home::with("\"übel\" = 1").problems()[0]
                .replace("~/.config/callgate/config.toml:1", "3"),
            "5:1: there is no key `telegram.chats`; did you mean `telegram.allowed_chats`?",
        ],
    );
    let problems = home.problems();
    assert!(problems.contains(
        &"environment CALLGATE_GRACE_SECONDS: `grace_seconds` must be a whole number".to_owned()
    ));
    let text = home.load().unwrap_err().to_string();
    assert_eq!(text.lines().count(), 1 + problems.len(), "{text}");
}

#[test]
fn a_file_that_is_no_toml_is_told_with_all_its_lines() {
    let problems = Home::with("socket = \"/a\ntimeout_seconds = = 3\n").problems();
    assert!(problems.len() >= 2, "{problems:?}");
    assert!(problems[0].starts_with("~/.config/callgate/config.toml:1:"), "{problems:?}");
    assert!(
        problems.iter().any(|p| p.starts_with("~/.config/callgate/config.toml:2:")),
        "{problems:?}"
    );
    let twice = Home::with("socket = \"/a\"\nsocket = \"/b\"").problems();
    assert!(twice[0].starts_with("~/.config/callgate/config.toml:2:1: duplicate"), "{twice:?}");
    let home = Home::new();
    fs::create_dir_all(home.path(".config/callgate")).unwrap();
    fs::write(home.path(".config/callgate/config.toml"), b"\xff\xfe").unwrap();
    assert!(home.problems()[0].ends_with("it is not UTF-8 text"));
    let large = Home::with(&"#".repeat((1 << 20) + 1));
    assert!(large.problems()[0].ends_with("it is larger than 1048576 bytes"));
}

/// Returns the row of a key in the guide.
fn guide_row(key: &SettingKey) -> String {
    let default = match (key.default, &key.kind) {
        ("", _) => "none".to_owned(),
        (words, _) if words.contains(' ') => words.to_owned(),
        (value, ValueKind::Whole { .. } | ValueKind::Switch) => value.to_owned(),
        (value, _) => format!("`{value}`"),
    };
    let note = if key.note.is_empty() { "" } else { "; " };
    let variables = match (key.variable(), key.common) {
        (None, _) => "none".to_owned(),
        (Some(ours), None) => format!("`{ours}`"),
        (Some(ours), Some(common)) => format!("`{ours}`, `{common}`"),
    };
    let (name, help) = (key.name, key.help());
    format!("| `{name}` | {default} | {help}{note}{} | {variables} |", key.note)
}

/// The guide's table is the table of the keys, and its example is a settings file.
#[test]
fn the_guide_tells_of_every_key_and_no_other() {
    let guide = include_str!("../../docs/guide/settings.md");
    let rows: Vec<&str> = guide.lines().filter(|line| line.starts_with("| `")).collect();
    let expected: Vec<String> = KEYS.iter().map(guide_row).collect();
    assert_eq!(rows, expected, "the table in the guide has to be:\n{}\n", expected.join("\n"));
    let (_, rest) = guide.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    assert_ne!(Home::with(example).config().timeout, Home::new().config().timeout);
}

/// Defaults that depend on the machine are not read from the table, which only names them.
#[test]
fn the_table_names_the_defaults_that_depend_on_the_machine() {
    let home = Home::new().variable("XDG_RUNTIME_DIR", "/$XDG_RUNTIME_DIR");
    let config = home.config();
    let check = |name: &str, path: &Path| {
        let path = path.display().to_string().replace("/$XDG", "$XDG");
        let path = path.replace(home.folder.path().to_str().unwrap(), "~");
        assert_eq!(keys::find(name).unwrap().default, path);
    };
    check("socket", &config.socket.value);
    check("desk_socket", &config.desk_socket.value);
    check("database", &config.database);
    check("rules", &config.rules);
    check("legacy_socket", &config.legacy_socket.unwrap());
}
