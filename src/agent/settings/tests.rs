//! What the settings come to for the runtime.

use std::fs;
use std::path::PathBuf;

use clap::{Args, FromArgMatches};
use tempfile::TempDir;

use super::*;
use crate::config::Surroundings;

/// The settings of a home folder with this file, these variables and these flags.
fn load(file: &str, variables: &[(&str, &str)], flags: &[&str]) -> Result<AgentSettings, Problems> {
    let home = TempDir::new().unwrap();
    let path = home.path().join("config.toml");
    fs::write(&path, file).unwrap();
    let command = AgentFlags::augment_args(clap::Command::new("test").no_binary_name(true));
    let matches = command.try_get_matches_from(flags).unwrap();
    let flags = AgentFlags::from_arg_matches(&matches).unwrap();
    let around = Surroundings::of_test(home.path(), variables);
    let config = Config::load_for_agent_in(Some(&path), &flags, &around)?;
    AgentSettings::of(&config.agent)
}

fn settings(file: &str, variables: &[(&str, &str)], flags: &[&str]) -> AgentSettings {
    load(file, variables, flags).unwrap_or_else(|problems| panic!("{problems}"))
}

fn engine(file: &str, variables: &[(&str, &str)], flags: &[&str]) -> (EngineKind, String) {
    let Chosen { engine, because } = settings(file, variables, flags).engine;
    (engine, because)
}

#[test]
fn with_nothing_set_the_built_in_engine_works_in_the_working_folder() {
    let found = settings("", &[], &[]);
    assert_eq!(found.engine.engine, EngineKind::Offline);
    assert_eq!(
        (&*found.model, &*found.base_url),
        ("claude-sonnet-5-5", "https://api.anthropic.com")
    );
    assert_eq!((found.max_tokens, found.thinking_tokens), (16_384, None));
    assert_eq!((found.context_tokens, found.max_rounds), (200_000, 50));
    assert_eq!(found.roots, [PathBuf::from("/here")]);
    assert_eq!(found.folder, PathBuf::from("/here"));
    assert_eq!(found.max_file_size, 10 * 1024 * 1024);
    assert_eq!(found.command_timeout, Duration::from_secs(50));
    assert!(found.history.is_some_and(|history| history.ends_with("callgate/callgate.db")));
    assert!(!found.resume && found.system_prompt_file.is_none());
    assert_eq!((found.limits, found.prices), (Limits::default(), Prices::default()));
    assert_eq!(found.log_level, LogLevel::Info);
}

#[test]
fn the_engine_is_chosen_by_what_is_set_else_by_what_is_found() {
    let none = "because no key of a model's API was found: set ANTHROPIC_API_KEY for a real model";
    assert_eq!(engine("", &[], &[]), (EngineKind::Offline, none.to_owned()));
    let key = [("ANTHROPIC_API_KEY", "sk-1")];
    let found = "because there is a key of the API (environment ANTHROPIC_API_KEY)";
    assert_eq!(engine("", &key, &[]), (EngineKind::Anthropic, found.to_owned()));
    assert_eq!(
        engine("agent.engine = \"auto\"", &key, &[]),
        (EngineKind::Anthropic, found.to_owned())
    );
    let flag = "because flag --engine says so";
    assert_eq!(engine("", &key, &["--engine", "offline"]), (EngineKind::Offline, flag.to_owned()));
    let variable = [("CALLGATE_AGENT_ENGINE", "anthropic")];
    let because = "because environment CALLGATE_AGENT_ENGINE says so";
    assert_eq!(
        engine("", &variable, &[]),
        (EngineKind::Anthropic, because.to_owned()),
        "without a key"
    );
    let (name, because) = engine("agent.api_key_file = \"/key\"", &[], &[]);
    assert!(name == EngineKind::Anthropic && because.ends_with("config.toml:1:22)"), "{because}");
}

#[test]
fn relative_paths_begin_in_the_working_folder_if_it_is_in_a_root() {
    let folder = |flags: &[&str]| settings("", &[], flags).folder;
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
    assert_eq!((found.max_tokens, found.thinking_tokens), (4_000, Some(2_000)));
    assert_eq!(found.max_file_size, 2 * 1024 * 1024);
    assert_eq!(found.history, None);
    assert!(found.resume);
    let limits = Limits {
        conversation_usd: Some(Millionths(1_000_000)),
        day_usd: Some(Millionths(2_500_000)),
        conversation_tokens: Some(1_000),
        day_tokens: None,
        requests_per_minute: Some(6),
    };
    assert_eq!(found.limits, limits);
    let prices = Prices { input: Some(Millionths(250_000)), output: Some(Millionths(1_000_001)) };
    assert_eq!(found.prices, prices);
}

#[test]
fn the_key_is_read_when_it_is_wanted_and_shown_nowhere() {
    assert!(settings("", &[], &[]).api_key().is_none());
    let found = settings("", &[("ANTHROPIC_API_KEY", " sk-SECRET/1 ")], &[]);
    assert!(!format!("{found:?}").contains("SECRET"));
    assert_eq!(found.api_key().unwrap().unwrap().reveal(), "sk-SECRET/1");
    let absent = settings("agent.api_key_file = \"/nowhere/key\"", &[], &[]);
    let error = absent.api_key().unwrap().unwrap_err().to_string();
    assert!(error.starts_with("cannot read the API key in /nowhere/key: No such file"), "{error}");
}
