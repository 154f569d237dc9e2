//! The settings of the agent runtime.

use callgate_agent::budget::Budget;
use callgate_agent::budget::price::{ModelPrices, TokenPrices};
use callgate_agent::mcp::{McpTransport, OauthSettings};
use callgate_agent::session::{LogLevel, ResumedConversation};
use callgate_wire::HiddenText;

use super::*;
use crate::secrets::read_secret;

/// What is wrong with a settings file for the runtime, without the file's name.
fn check_wrong_for_agent(text: &str, expected: &[&str]) {
    let place = "~/.config/callgate/config.toml:";
    let home = Home::with(text);
    let problems = home.told(&home.load_for_agent().unwrap_err());
    let short: Vec<&str> = problems.iter().map(|p| p.strip_prefix(place).unwrap_or(p)).collect();
    assert_eq!(short, expected, "{text}");
}

fn agent(home: &Home) -> AgentSettings {
    home.load_for_agent().unwrap_or_else(|problems| panic!("{problems}")).agent
}

fn read_key(settings: AgentSettings) -> Result<HiddenText, String> {
    read_secret(&settings.api_key.unwrap().value, token_source::MODEL)
}

#[test]
fn every_key_has_a_flag_but_those_that_hold_secrets() {
    let command = AgentFlags::augment_args(clap::Command::new("test"));
    let flags: Vec<&str> = command.get_arguments().filter_map(|arg| arg.get_long()).collect();
    let desk = ["socket", "timeout_seconds", "grace_seconds", "database", "desk_socket", "rules"];
    let named = |name: &str| match name {
        "agent.roots" => "root".to_owned(),
        "agent.keep_history" => "no-history".to_owned(),
        "agent.project_instructions" => "no-project-instructions".to_owned(),
        "agent.snapshots" => "no-snapshots".to_owned(),
        name => name.trim_start_matches("agent.").replace('_', "-"),
    };
    let has_flag = |key: &&SettingKey| {
        (key.name.starts_with("agent.") || desk.contains(&key.name))
            && ![
                "agent.proxy",
                "agent.api_key",
                "agent.api_key_command",
                "agent.api_key_keyring",
                "agent.openai_key",
                "agent.openai_key_command",
                "agent.openai_key_keyring",
                "agent.mcp_servers",
            ]
            .contains(&key.name)
    };
    let expected: Vec<String> = iter_keys().filter(has_flag).map(|key| named(key.name)).collect();
    assert_eq!(flags, expected);
    for (number, key) in iter_keys().enumerate().filter(|(_, key)| has_flag(key)) {
        let mut home = Home::new().beside(key);
        let none = home.load_for_agent().ok();
        home.flags.push(format!("--{}", named(key.name)));
        if !matches!(key.flag, KeyFlag::Fixed(..)) {
            home.flags.push(example(key, number));
        }
        assert_ne!(home.load_for_agent().ok(), none, "{}", key.name);
    }
}

#[test]
fn each_server_has_a_table_of_its_own() {
    let text = "[agent.mcp_servers.files]\ncommand = \"npx\"\nargs = [\"a b\"]\nenv = { K = \"v\" }\n\
        [agent.mcp_servers.far]\nurl = \"https://example.org/${WHERE}\"\n";
    let servers = agent(&Home::with(text).variable("WHERE", "mcp")).mcp_servers;
    let [far, files] = &servers[..] else { panic!("{servers:?}") };
    let url = "https://example.org/mcp".to_owned();
    assert_eq!(
        far.transport,
        McpTransport::Http { url, headers: Vec::new(), oauth: OauthSettings::default() }
    );
    let env = vec![("K".to_owned(), "v".to_owned())];
    let args = vec!["a b".to_owned()];
    assert_eq!(files.transport, McpTransport::Command { command: "npx".to_owned(), args, env });
    // Nobody else needs its variables.
    assert!(Home::with(text).load().is_ok());
}

#[test]
fn what_is_wrong_with_a_server_is_said_without_its_values() {
    let check = |text: &str, expected: &str| {
        let problems = Home::with(text).load_for_agent().unwrap_err().to_string();
        assert!(problems.contains(expected), "{expected} is not in {problems}");
        assert!(!problems.contains("s3cret"), "{problems}");
    };
    check("agent.mcp_servers = 5", "`agent.mcp_servers` must be a table for each server");
    check("agent.mcp_servers.a = { command = 5 }", "must be a table for each server");
    check(
        "agent.mcp_servers.a = { command = \"x\", enviroment = { T = \"s3cret\" } }",
        "the server `a` has no `enviroment`",
    );
    check(
        "agent.mcp_servers.a = { url = \"http://s3cret.example.org\" }",
        "must begin with https://",
    );
    check("agent.mcp_servers.a = { command = \"${NOT_SET}\" }", "the variable \"NOT_SET\"");
}

#[test]
fn the_variables_of_others_stand_below_ours_and_over_the_file() {
    for (number, key) in iter_keys().enumerate() {
        let Some(common) = key.common else { continue };
        let home = Home::new();
        let (none, none_for_agent) = (home.config(), home.load_for_agent().unwrap());
        let home = home.variable(common, &example(key, number));
        assert_ne!(home.load_for_agent().unwrap(), none_for_agent, "{common}");
        assert_eq!(home.config(), none, "{common} is for the agent alone");
    }
    let home = Home::with("agent.model = \"file\"").variable("ANTHROPIC_MODEL", "theirs");
    assert_eq!(agent(&home).model, "theirs");
    let home = home.variable("CALLGATE_AGENT_MODEL", "ours");
    assert_eq!(agent(&home).model, "ours");
    assert_eq!(agent(&home.flag("--model", "flag")).model, "flag");
}

#[test]
fn a_name_that_begins_like_this_machine_is_another() {
    for url in ["http://127.0.0.1.example.org", "http://localhost.example.org", "http://127.1.x"] {
        let home = Home::new().variable("ANTHROPIC_BASE_URL", url);
        assert!(home.load_for_agent().is_err(), "{url}");
    }
    for url in ["http://127.0.0.1:8080", "http://127.9.9.9", "http://[::1]:1", "http://localhost"] {
        let home = Home::new().variable("ANTHROPIC_BASE_URL", url);
        assert_eq!(&*agent(&home).base_url, url);
    }
}

/// Nothing that is wrong in them keeps another command from its work.
#[test]
fn the_variables_of_others_are_checked_for_the_agent_alone() {
    let home = Home::new()
        .variable("MAX_TOKENS", "many")
        .variable("LOG_LEVEL", "loud")
        .variable("ANTHROPIC_BASE_URL", "http://a.example");
    home.config();
    let problems = home.told(&home.load_for_agent().unwrap_err());
    assert_eq!(
        problems,
        [
            "environment MAX_TOKENS: `agent.max_tokens` must be a whole number",
            "environment ANTHROPIC_BASE_URL: `agent.base_url` must begin with https://: \
             the API key would go unencrypted to another machine",
            "environment LOG_LEVEL: `agent.log_level` must be error, warn, info or debug",
        ]
    );
}

#[test]
fn the_key_of_the_api_is_kept_in_one_place_and_shown_nowhere() {
    let home = Home::with("agent.api_key = \"sk-SECRET\"").variable("ANTHROPIC_API_KEY", "sk-TWO");
    let key = agent(&home).api_key.unwrap().value;
    assert_eq!(key, TokenSource::Environment(HiddenText::new("sk-TWO")));
    assert!(!format!("{key:?}").contains("TWO"));
    let home = home.variable("CALLGATE_AGENT_API_KEY_FILE", "/key");
    let key = agent(&home).api_key.unwrap().value;
    assert_eq!(key, TokenSource::File("/key".into()), "ours stand over theirs");
    check_wrong_for_agent(
        "[agent]\napi_key = \"1\"\napi_key_file = \"/t\"",
        &["3:16: there are both `agent.api_key` and `agent.api_key_file`; keep one"],
    );
    let file = Home::with("agent.api_key_file = \"~/key\"");
    let path = file.write("key", "sk-ant/+SECRET=\n");
    let read = || read_key(agent(&file));
    assert_eq!(read().unwrap().reveal(), "sk-ant/+SECRET=");
    fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    let error = read().unwrap_err();
    assert!(error.starts_with("others can read the API key in "), "{error}");
    file.write("key", "two words");
    fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    let expected = "the API key has characters that no API key has; \
                    the provider of the model gives you one";
    assert_eq!(read().unwrap_err(), expected);
    let command = Home::with("agent.api_key_command = [\"/bin/echo\", \"sk-run\"]");
    assert_eq!(read_key(agent(&command)).unwrap().reveal(), "sk-run");
}

#[test]
fn roots_are_a_list_wherever_they_are_said() {
    let check = |home: &Home, expected: &[&str]| {
        let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
        assert_eq!(agent(home).roots, expected);
    };
    check(&Home::new(), &["/here"]);
    let home = Home::with("agent.roots = [\"/a\", \"/b\"]");
    check(&home, &["/a", "/b"]);
    let home = home.variable("ALLOWED_ROOT_DIR", "sub:folder");
    check(&home, &["/here/sub:folder"]);
    let home = home.variable("CALLGATE_AGENT_ROOTS", "/c:/d");
    check(&home, &["/c", "/d"]);
    check(&home.flag("--root", "e").flag("--root", "/f:g"), &["/here/e", "/f:g"]);
    check_wrong_for_agent("agent.roots = []", &["1:15: `agent.roots` must name 1 to 64 folders"]);
    check_wrong_for_agent(
        "agent.roots = [\"a\"]",
        &["1:15: `agent.roots` must be an absolute path, or begin with ~/"],
    );
    check_wrong_for_agent(
        "agent.roots = \"/a\"",
        &["1:15: `agent.roots` must be a list of paths, such as [\"~/engine\"]"],
    );
}

#[test]
fn amounts_have_six_decimals_at_most_and_no_sign() {
    let check = |text: &str, expected: Option<u64>| {
        let home = Home::with(&format!("agent.day_usd = {text}"));
        let found = home.load_for_agent().ok();
        let found = found.map(|config| config.agent.day_usd.unwrap());
        assert_eq!(found, expected.map(callgate_agent::budget::price::dollars_of_micro), "{text}");
        let home = Home::new().variable("CALLGATE_AGENT_DAY_USD", text);
        assert_eq!(home.load_for_agent().is_ok(), expected.is_some(), "{text}");
    };
    check("2.5", Some(2_500_000));
    check("3", Some(3_000_000));
    check("0.000001", Some(1));
    check("0", Some(0));
    check("1000000", Some(1_000_000_000_000));
    check("1000001", None);
    check("0.0000001", None);
    check("-1.5", None);
    check("1e3", None);
    check("nan", None);
}

#[test]
fn wrong_values_are_named_with_what_would_be_right() {
    check_wrong_for_agent(
        "agent.engine = \"gpt\"",
        &["1:16: `agent.engine` must be auto, anthropic, openai, claude-code or offline"],
    );
    check_wrong_for_agent(
        "agent.model = \"\"",
        &["1:15: `agent.model` must be the name of a model, such as claude-sonnet-5-5"],
    );
    check_wrong_for_agent(
        "agent.max_tokens = 200000",
        &["1:20: `agent.max_tokens` must be less than `agent.context_tokens`"],
    );
    let thinking = "1:25: `agent.thinking_tokens` must be 0 or at least 1024, \
                    and less than `agent.max_tokens`";
    check_wrong_for_agent("agent.thinking_tokens = 1023", &[thinking]);
    check_wrong_for_agent("agent.thinking_tokens = 16384", &[thinking]);
    check_wrong_for_agent(
        "agent.price_input = 3",
        &["1:21: there is `agent.price_input` without `agent.price_output`; set both"],
    );
    check_wrong_for_agent(
        "agent.max_rounds = 0",
        &["1:20: `agent.max_rounds` is 0, but must be 1 to 1000"],
    );
    check_wrong_for_agent(
        "agent.colour = 1",
        &[&Home::with("agent.colour = 1").problems()[0]
            .replace("~/.config/callgate/config.toml:", "")],
    );
    check_wrong_for_agent(
        "[agent]\nmodle = \"x\"\nday_usd = \"1\"\nresume = 1",
        &[
            "2:1: there is no key `agent.modle`; did you mean `agent.model`?",
            "3:11: `agent.day_usd` must be a number such as 2.50, with at most six decimals",
            "4:10: `agent.resume` must be true, false or the id of a conversation in quotes",
        ],
    );
}

#[test]
fn levels_have_the_words_of_others_too() {
    for (text, expected) in [
        ("error", LogLevel::Error),
        ("WARN", LogLevel::Warn),
        ("warning", LogLevel::Warn),
        ("Info", LogLevel::Info),
        ("debug", LogLevel::Debug),
        ("trace", LogLevel::Debug),
    ] {
        assert_eq!(agent(&Home::new().variable("LOG_LEVEL", text)).log_level, expected);
    }
    assert!(LogLevel::Debug > LogLevel::Error);
}

/// The settings of a home folder with this file, these variables and these flags.
fn settings(file: &str, variables: &[(&str, &str)], flags: &[&str]) -> AgentSettings {
    let mut home = Home::with(file);
    for (name, value) in variables {
        home = home.variable(name, value);
    }
    home.flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
    agent(&home)
}

fn engine(file: &str, variables: &[(&str, &str)], flags: &[&str]) -> (EngineSetting, String) {
    settings(file, variables, flags).chosen_engine()
}

#[test]
fn with_nothing_set_the_built_in_engine_works_in_the_working_folder() {
    let found = settings("", &[], &[]);
    assert_eq!(found.engine.value, EngineSetting::Auto);
    assert_eq!(found.local_ports, [11434, 1234, 8080, 8000]);
    assert_eq!((&found.openai_url, &found.openai_model), (&None, &None));
    assert_eq!(
        (&*found.model, &*found.base_url),
        ("claude-sonnet-5-5", "https://api.anthropic.com")
    );
    assert_eq!((found.max_tokens, found.thinking()), (16_384, None));
    assert_eq!((found.context_tokens, found.max_rounds), (200_000, 50));
    assert_eq!(found.roots, [PathBuf::from("/here")]);
    assert_eq!(found.folder(), Path::new("/here"));
    assert_eq!(found.max_file_size(), 10 * 1024 * 1024);
    assert_eq!(found.command_timeout_seconds, Duration::from_secs(50));
    assert!(
        found.history.as_ref().is_some_and(|history| history.ends_with("callgate/callgate.db"))
    );
    assert!(found.resume == ResumedConversation::None && !found.all_folders);
    assert!(found.system_prompt_file.is_none() && found.project_instructions);
    assert!(found.snapshots);
    assert_eq!((found.budget(), found.model_prices()), (Budget::default(), ModelPrices::default()));
    assert_eq!(found.log_level, LogLevel::Info);
}

#[test]
fn the_engine_is_chosen_by_what_is_set_else_by_what_is_found() {
    use EngineSetting::{Anthropic, Auto, Offline, OpenAi};
    assert_eq!(engine("", &[], &[]), (Auto, "no API key was found".to_owned()));
    let key = [("ANTHROPIC_API_KEY", "sk-1"), ("OPENAI_API_KEY", "sk-2")];
    let found = "because there is an API key (environment ANTHROPIC_API_KEY)";
    assert_eq!(engine("", &key, &[]), (Anthropic, found.to_owned()));
    assert_eq!(engine("agent.engine = \"auto\"", &key, &[]), (Anthropic, found.to_owned()));
    let found = "because there is an API key (environment OPENAI_API_KEY)";
    assert_eq!(engine("", &key[1..], &[]), (OpenAi, found.to_owned()));
    let address = [("OPENAI_BASE_URL", "http://localhost:9000")];
    let found = "because there is an address (environment OPENAI_BASE_URL)";
    assert_eq!(engine("", &address, &[]), (OpenAi, found.to_owned()));
    let flag = "because flag --engine says so";
    assert_eq!(engine("", &key, &["--engine", "offline"]), (Offline, flag.to_owned()));
    let variable = [("CALLGATE_AGENT_ENGINE", "anthropic")];
    let because = "because environment CALLGATE_AGENT_ENGINE says so";
    assert_eq!(engine("", &variable, &[]), (Anthropic, because.to_owned()), "without a key");
    let (name, because) = engine("agent.api_key_file = \"/key\"", &[], &[]);
    assert!(name == Anthropic && because.ends_with("config.toml:1:22)"), "{because}");
}

#[test]
fn servers_are_looked_for_at_the_ports_that_are_set() {
    assert!(settings("agent.local_ports = []", &[], &[]).local_ports.is_empty());
    assert_eq!(settings("", &[], &["--local-ports", "5,65535"]).local_ports, [5, 65535]);
    check_wrong_for_agent(
        "agent.local_ports = [65536]",
        &["1:21: `agent.local_ports` must hold ports, from 1 to 65535"],
    );
}

#[test]
fn relative_paths_begin_in_the_working_folder_if_it_is_in_a_root() {
    let folder = |flags: &[&str]| settings("", &[], flags).folder().to_owned();
    assert_eq!(folder(&["--root", "/"]), PathBuf::from("/here"));
    assert_eq!(folder(&["--root", "/a", "--root", "/here"]), PathBuf::from("/here"));
    assert_eq!(folder(&["--root", "/a", "--root", "/here/b"]), PathBuf::from("/a"));
}

#[test]
fn what_is_set_arrives_in_the_units_of_the_runtime() {
    let file = r"
        [agent]
        max_tokens = 4000
        thinking_tokens = 2000
        max_file_size_mb = 2
        day_usd = 2.5
        conversation_usd = 1
        conversation_tokens = 1_000
        requests_per_minute = 6
        price_input = 0.25
        price_output = 1.000001
    ";
    let found = settings(file, &[], &["--no-history", "--resume"]);
    assert_eq!((found.max_tokens, found.thinking()), (4_000, Some(2_000)));
    assert_eq!(found.max_file_size(), 2 * 1024 * 1024);
    assert_eq!(found.history, None);
    assert_eq!(found.resume, ResumedConversation::Last);
    let budget = Budget {
        conversation_usd: Some(1.0),
        day_usd: Some(2.5),
        conversation_tokens: Some(1_000),
        day_tokens: None,
        requests_per_minute: Some(6),
    };
    assert_eq!(found.budget(), budget);
    let others = TokenPrices { input: 0.25, output: 1.000_001, cached: None };
    assert_eq!(found.model_prices().others, Some(others));
}

#[test]
fn a_conversation_to_continue_is_the_last_one_or_has_an_id() {
    let found = settings("[agent]\nresume = \"conv-1\"", &[], &["--all-folders"]);
    assert_eq!(found.resume, ResumedConversation::Id("conv-1".to_owned()));
    assert!(found.all_folders);
    let found = settings("[agent]\nresume = true", &[], &["--resume", "conv-2"]);
    assert_eq!(found.resume, ResumedConversation::Id("conv-2".to_owned()));
    assert_eq!(
        settings("", &[("CALLGATE_AGENT_RESUME", "1")], &[]).resume,
        ResumedConversation::Last
    );
}

#[test]
fn the_key_is_read_when_it_is_wanted_and_shown_nowhere() {
    assert!(settings("", &[], &[]).api_key.is_none());
    let found = settings("", &[("ANTHROPIC_API_KEY", " sk-SECRET/1 ")], &[]);
    assert!(!format!("{found:?}").contains("SECRET"));
    assert_eq!(read_key(found).unwrap().reveal(), "sk-SECRET/1");
    let absent = settings("agent.api_key_file = \"/nowhere/key\"", &[], &[]);
    let error = read_key(absent).unwrap_err();
    assert!(error.starts_with("cannot read the API key in /nowhere/key: No such file"), "{error}");
}
