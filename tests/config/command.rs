//! `callgate config` as people, scripts and the desktop shell run it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use callgate_testkit::process::{DEADLINE, Finished, run};
use callgate_testkit::test_home::TestHome;
use serde_json::{Value, json};

/// A home with a settings file, or none.
pub(crate) struct Home {
    pub(crate) home: TestHome,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { home: TestHome::new() }
    }

    fn with(text: &str) -> Self {
        let home = Self::new();
        home.home.write_settings(text);
        home
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.home.settings_file()
    }

    pub(crate) fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(env!("CARGO_BIN_EXE_callgate"), &["config"]);
        command.args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        run(self.command(arguments), DEADLINE)
    }

    /// The command with something to read.
    pub(crate) fn fed_command(&self, arguments: &[&str], input: &str) -> Command {
        self.home.write("input", input);
        let mut command = self.home.command("/bin/sh", &["-c", "exec \"$0\" config \"$@\" <input"]);
        command.arg(env!("CARGO_BIN_EXE_callgate")).args(arguments);
        command
    }

    fn feed(&self, arguments: &[&str], input: &str) -> Finished {
        run(self.fed_command(arguments, input), DEADLINE)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run(arguments).success().stdout).unwrap()
    }

    /// What a failed command says, with the home folder as `~`, and its exit code.
    fn refused(&self, arguments: &[&str]) -> (i32, String) {
        let done = self.run(arguments);
        assert_eq!(done.stdout, "", "{arguments:?}");
        let said = done.stderr.replace(self.home.folder().to_str().unwrap(), "~");
        (done.status.code().unwrap(), said)
    }
}

fn setting<'a>(shown: &'a Value, key: &str) -> &'a Value {
    shown["settings"].as_array().unwrap().iter().find(|it| it["key"] == key).unwrap()
}

#[test]
fn every_setting_is_shown_with_its_value_and_its_origin() {
    let home = Home::with(
        "timeout_seconds = 60\n[telegram]\ntoken = \"1:SECRET\"\n[agent]\nmodel = \"m\"\n\
         proxy = \"http://u:SECRET@p\"\nopenai_key_command = [\"pass\", \"SECRET\"]\n\
         [agent.mcp_servers.files]\ncommand = \"x\"\nenv = { A = \"SECRET\" }\n",
    );
    fs::set_permissions(home.file(), Permissions::from_mode(0o600)).unwrap();
    let mut command = home.command(&["show", "--json", "--max-tokens", "5000", "--page-port=7"]);
    command.env("CALLGATE_GRACE_SECONDS", "7").env("ANTHROPIC_API_KEY", "sk-SECRET");
    let said = run(command, DEADLINE).success().stdout;
    assert!(!said.contains("SECRET"), "{said}");
    let shown: Value = serde_json::from_str(&said).unwrap();
    let file = home.file().display().to_string();
    assert_eq!(shown["file"], file);
    assert_eq!(shown["problems"], json!([]));
    assert_eq!(shown["has_api_key"], true);
    let check = |key: &str, value: Value, origin: &str| {
        let found = setting(&shown, key);
        assert_eq!(found["value"], value, "{key}");
        assert_eq!(found["origin"], origin.replace('~', &file), "{key}");
    };
    check("timeout_seconds", json!(60), "~:1:19");
    check("grace_seconds", json!(7), "environment CALLGATE_GRACE_SECONDS");
    check("agent.max_tokens", json!(5000), "flag --max-tokens");
    check("page.port", json!(7), "flag --page-port");
    check("agent.model", json!("m"), "~:5:9");
    check("telegram.token", json!("set"), "~:3:9");
    check("agent.proxy", json!("set"), "~:6:9");
    check("agent.api_key", json!("set"), "environment ANTHROPIC_API_KEY");
    check("agent.openai_key_command", json!("pass …"), "~:7:22");
    check("agent.mcp_servers", json!(["files"]), "~:8:8");
    check("agent.openai_model", Value::Null, "default");
    check("agent.local_ports", json!([11434, 1234, 8080, 8000]), "default");
    check("agent.roots", json!([home.home.folder()]), "default");
    check("shell.shortcut", json!("Ctrl+Shift+Space"), "default");
    check("shell.theme", json!("system"), "default");
    let database = home.home.folder().join(".local/share/callgate/callgate.db");
    check("database", json!(database), "default");
    check("agent.history", json!(database), "default");
    let theme = setting(&shown, "shell.theme");
    assert_eq!(theme["choices"], json!(["system", "light", "dark"]));
    assert_eq!(theme["help"], "The colours of the desktop shell: system, light or dark");
    assert_eq!((&theme["is_secret"], &theme["choices"][0]), (&json!(false), &json!("system")));
    assert_eq!(setting(&shown, "agent.api_key")["is_secret"], true);
    assert!(setting(&shown, "agent.model").get("choices").is_none());
    let table = home.run(&["show"]).success().stdout;
    let row = table.lines().find(|row| row.starts_with("timeout_seconds ")).unwrap();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(words, ["timeout_seconds", "60", &format!("{file}:1:19")]);
    assert!(table.starts_with(&format!("settings file: {file}\n\n")), "{table}");
    assert!(!table.contains("SECRET"), "{table}");
}

#[test]
fn wrong_settings_are_shown_as_far_as_they_can_be() {
    let home =
        Home::with("timeout_seconds = 0\n[agent]\nmodel = \"m\"\nbase_url = \"http://SECRET@x\"\n");
    let done = home.run(&["show", "--json"]);
    assert_eq!(done.status.code(), Some(78));
    let shown: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(setting(&shown, "timeout_seconds")["value"], Value::Null);
    assert_eq!(setting(&shown, "agent.model")["value"], "m");
    assert_eq!(shown["problems"].as_array().unwrap().len(), 2);
    assert!(!done.stdout.contains("SECRET"), "{}", done.stdout);
    assert!(done.stderr.contains("`timeout_seconds` is 0, but must be 1 to 3600"));
    // What is wrong elsewhere does not concern a single key.
    assert_eq!(home.run(&["get", "agent.model"]).success().stdout, "m\n");
    assert_eq!(home.refused(&["get", "timeout_seconds"]).0, 78);
}

#[test]
fn one_value_is_printed_as_a_script_wants_it() {
    let home = Home::with("[agent]\nroots = [\"/a\", \"~/b c\"]\napi_key = \"sk-SECRET\"\n");
    let get = |key: &str| home.run(&["get", key]).success().stdout;
    assert_eq!(get("timeout_seconds"), "300\n");
    assert_eq!(get("agent.roots"), format!("/a\n{}/b c\n", home.home.folder().display()));
    assert_eq!(get("page.enabled"), "true\n");
    assert_eq!(get("agent.api_key"), "set\n");
    assert_eq!(home.refused(&["get", "agent.day_usd"]), (1, String::new()));
    assert_eq!(home.json(&["get", "agent.day_usd", "--json"])["value"], Value::Null);
    let nearest = "callgate: there is no key `agent.modle`; did you mean `agent.model`?\n";
    assert_eq!(home.refused(&["get", "agent.modle"]), (64, nearest.to_owned()));
    assert_eq!(home.refused(&["set", "agent.modle", "x"]), (64, nearest.to_owned()));
    assert_eq!(home.refused(&["unset", "agent.modle"]), (64, nearest.to_owned()));
}

#[test]
fn the_guide_shows_what_programs_get() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guide/settings.md");
    let guide = fs::read_to_string(guide).unwrap();
    let (_, rest) = guide.split_once("```json\n").unwrap();
    let example: Value = serde_json::from_str(rest.split_once("```").unwrap().0).unwrap();
    assert_eq!(Home::new().json(&["get", "shell.theme", "--json"]), example);
}

#[test]
fn a_value_is_set_and_everything_else_stays() {
    let text = "# mine\ntimeout_seconds = 60 # long\n\n[agent] # the agent\n# slow\nmodel = 'a'\n";
    let home = Home::with(text);
    fs::set_permissions(home.file(), Permissions::from_mode(0o640)).unwrap();
    let set = |arguments: &[&str]| home.run(&[&["set"][..], arguments].concat()).success().stdout;
    let said = set(&["agent.model", "b"]);
    assert_eq!(said, format!("agent.model: b ({}:6:9)\n", home.file().display()));
    assert_eq!(home.text(), text.replace("'a'", "\"b\""));
    assert_eq!(fs::metadata(home.file()).unwrap().mode() & 0o777, 0o640, "the mode is kept");
    set(&["shell.theme", "dark", "agent.price_input", "1", "agent.price_output", "2.5"]);
    let added = "price_input = 1.00\nprice_output = 2.50\n\n[shell]\ntheme = \"dark\"\n";
    assert_eq!(home.text(), text.replace("'a'", "\"b\"") + added);
    let json = home.json(&["set", "agent.roots", r#"["/a:b", "~/c"]"#, "--json"]);
    assert_eq!(json["key"], "agent.roots");
    assert_eq!(json["value"][0], "/a:b");
    set(&["agent.roots", "/x:/y", "telegram.allowed_chats", "[-5, 7]"]);
    set(&["agent.api_key_command", r#"["pass", "show", "k"]"#, "page.enabled", "0"]);
    let text = home.text();
    for line in [
        "roots = [\"/x\", \"/y\"]\n",
        "allowed_chats = [-5, 7]\n",
        "api_key_command = [\"pass\", \"show\", \"k\"]\n",
        "enabled = false\n",
        "timeout_seconds = 60 # long\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let left = home.run(&["unset", "timeout_seconds", "agent.roots"]).success().stdout;
    assert!(left.starts_with("timeout_seconds: 300 (default)\n"), "{left}");
    assert!(home.text().starts_with("# mine\n\n[agent] # the agent\n# slow\nmodel = \"b\"\n"));
    assert!(!home.text().contains("roots"), "{}", home.text());
    assert_eq!(home.feed(&["set", "agent.model", "--stdin"], "from stdin\n").success().stderr, "");
    assert_eq!(home.run(&["get", "agent.model"]).success().stdout, "from stdin\n");
    let files: Vec<_> = fs::read_dir(home.file().parent().unwrap()).unwrap().collect();
    assert_eq!(files.len(), 1, "{files:?}");
}

#[test]
fn a_first_setting_makes_a_private_file() {
    let home = Home::new();
    let _ = home.run(&["set", "shell.shortcut", "Alt+K"]).success();
    assert_eq!(home.text(), "[shell]\nshortcut = \"Alt+K\"\n");
    assert_eq!(fs::metadata(home.file()).unwrap().mode() & 0o777, 0o600);
    let folder = fs::metadata(home.file().parent().unwrap()).unwrap();
    assert_eq!(folder.mode() & 0o777, 0o700);
    // Another one can be named, also one that is not there yet.
    let command = home.command(&["set", "agent.model", "m", "--config", "other.toml"]);
    let _ = run(command, DEADLINE).success();
    let other = fs::read_to_string(home.home.path("other.toml")).unwrap();
    assert_eq!(other, "[agent]\nmodel = \"m\"\n");
    let mut command = home.command(&["set", "agent.model", "n"]);
    command.env("CALLGATE_AGENT_MODEL", "v");
    let done = run(command, DEADLINE).success();
    assert_eq!(done.stdout, "agent.model: v (environment CALLGATE_AGENT_MODEL)\n");
    let over = "callgate: environment CALLGATE_AGENT_MODEL overrides the settings file\n";
    assert_eq!(done.stderr, over);
}

/// A wrong value is refused in the words that reading it would have, and the file stays.
#[test]
fn a_wrong_value_is_refused_and_the_file_stays_as_it_was() {
    let text = "timeout_seconds = 60\n[agent]\napi_key_file = \"~/key\"\n";
    let home = Home::with(text);
    let check = |arguments: &[&str], code: i32, expected: &str| {
        let (found, said) = home.refused(&[&["set"][..], arguments].concat());
        assert_eq!(said.trim_end(), expected, "{arguments:?}");
        assert_eq!(found, code, "{arguments:?}");
        assert_eq!(home.text(), text, "{arguments:?}");
    };
    let wrong = |what: &str| format!("callgate: the settings are wrong:\n  {what}");
    let check_wrong = |key: &str, value: &str, what: &str| check(&[key, value], 78, &wrong(what));
    check_wrong("timeout_seconds", "0", "`timeout_seconds` is 0, but must be 1 to 3600");
    check_wrong("timeout_seconds", "long", "`timeout_seconds` must be a whole number");
    check_wrong("rules", "rules.toml", "`rules` must be an absolute path, or begin with ~/");
    check_wrong(
        "agent.roots",
        "[1]",
        "`agent.roots` must be a list of paths, such as [\"~/engine\"]",
    );
    check_wrong(
        "agent.engine",
        "gpt",
        "`agent.engine` must be auto, anthropic, openai, claude-code or offline",
    );
    check_wrong("shell.shortcut", "K", "`shell.shortcut` must be keys such as Ctrl+Shift+Space");
    check_wrong("shell.theme", "blue", "`shell.theme` must be system, light or dark");
    check_wrong(
        "agent.base_url",
        "http://example.org",
        "`agent.base_url` must begin with https://: the API key would go unencrypted to another \
         machine",
    );
    check_wrong(
        "agent.price_input",
        "1",
        "there is `agent.price_input` without `agent.price_output`; set both",
    );
    check_wrong(
        "agent.api_key_keyring",
        "true",
        "there are both `agent.api_key_file` and `agent.api_key_keyring`; keep one",
    );
    check_wrong(
        "phone_after_seconds",
        "60",
        "`phone_after_seconds` must be less than `timeout_seconds`, or the phone is never asked",
    );
    check(
        &["agent.api_key", "sk-1"],
        64,
        "callgate: everybody on this machine can read a command line; give `agent.api_key` by \
         standard input: callgate config set agent.api_key --stdin",
    );
    check(
        &["agent.mcp_servers", "{}"],
        64,
        "callgate: `agent.mcp_servers` is too large for a command line; edit the settings file",
    );
    check(
        &["agent.model"],
        64,
        "callgate: every key needs a value after it, and with --stdin the last one needs none",
    );
    // None of several is set if one of them is wrong.
    check(
        &["agent.model", "m", "timeout_seconds", "0"],
        78,
        &wrong("`timeout_seconds` is 0, but must be 1 to 3600"),
    );
}

#[test]
fn a_file_that_is_wrong_already_is_left_to_its_owner() {
    let text = "timout_seconds = 60\n\n[agent]\nmodel = \"a\"\n";
    let home = Home::with(text);
    let (code, said) = home.refused(&["set", "agent.day_usd", "2"]);
    let expected = "callgate: the settings are wrong:\n  ~/.config/callgate/config.toml:1:1: there \
                    is no key `timout_seconds`; did you mean `timeout_seconds`?\n";
    assert_eq!((code, &said[..], home.text()), (78, expected, text.to_owned()));
    fs::write(home.file(), "x = \n").unwrap();
    let (code, said) = home.refused(&["unset", "agent.model"]);
    assert!(code == 78 && said.contains("config.toml:1:"), "{said}");
    // What is wrong can be made right.
    let home = Home::with("timeout_seconds = 0\n");
    let _ = home.run(&["set", "timeout_seconds", "5"]).success();
    assert_eq!(home.text(), "timeout_seconds = 5\n");
    fs::set_permissions(home.file(), Permissions::from_mode(0o444)).unwrap();
    let (code, said) = home.refused(&["set", "timeout_seconds", "6"]);
    assert!(code == 1 && said.contains("is read-only"), "{said}");
}

#[test]
fn a_secret_goes_into_a_private_file_only() {
    let home = Home::with("# open\n");
    fs::set_permissions(home.file(), Permissions::from_mode(0o644)).unwrap();
    let set = || home.feed(&["set", "agent.api_key", "--stdin"], "sk-SECRET\n");
    let refused = set();
    assert_eq!(refused.status.code(), Some(1));
    assert!(refused.stderr.contains("others can read "), "{}", refused.stderr);
    assert_eq!(home.text(), "# open\n");
    fs::set_permissions(home.file(), Permissions::from_mode(0o600)).unwrap();
    let said = set().success();
    assert!(!(said.stdout + &said.stderr).contains("SECRET"));
    assert_eq!(home.text(), "# open\n\n[agent]\napi_key = \"sk-SECRET\"\n");
    let empty = home.feed(&["set", "agent.api_key", "--stdin"], "\n");
    assert_eq!(empty.status.code(), Some(78));
    assert!(empty.stderr.contains("the API key is empty"), "{}", empty.stderr);
}

/// Several changes at once are all made.
#[test]
fn changes_at_the_same_time_lose_nothing() {
    let home = Home::new();
    let keys = ["timeout_seconds", "grace_seconds", "page.port", "agent.max_rounds"];
    thread::scope(|scope| {
        for key in keys {
            scope.spawn(|| home.run(&["set", key, "77"]).success());
        }
    });
    for key in keys {
        assert_eq!(home.run(&["get", key]).success().stdout, "77\n", "{key}: {}", home.text());
    }
}

/// An agent cannot change the settings behind the gate's back, whatever the rules allow.
#[test]
fn an_agent_that_changes_the_settings_is_asked_about() {
    let home = Home::with("");
    let rules = "[[rule]]\nname = \"all\"\ndecide = \"allow\"\ncommand = \"callgate *\"\n\
                 [[rule]]\nname = \"tool\"\ndecide = \"allow\"\ncommand = \"secret-tool *\"\n";
    fs::write(home.file().with_file_name("rules.toml"), rules).unwrap();
    for command in [
        "callgate config set gate.unattended rules",
        "callgate config unset gate.when_absent",
        "printf sk-1 | callgate config set agent.api_key_keyring --stdin",
        "secret-tool lookup service callgate key agent-api-key",
    ] {
        let mut explain = Command::new(env!("CARGO_BIN_EXE_callgate"));
        explain.args(["rules", "explain", command]).current_dir(home.home.folder());
        explain.env_clear().env("HOME", home.home.folder());
        let said = run(explain, DEADLINE).success().stdout;
        assert!(said.starts_with("ask"), "{command}: {said}");
    }
}
