//! The engines of the runtime, created from its settings.

use std::sync::Arc;

use callgate_agent::engine::Engine;
use callgate_agent::engine::anthropic::{Anthropic, AnthropicSettings};
use callgate_agent::engine::claude_code::{ClaudeCode, ClaudeCodeSettings};
use callgate_agent::engine::engine_registry::{DefaultEngine, EngineRegistry};
use callgate_agent::engine::model_api::ApiKey;
use callgate_agent::engine::offline::Offline;
use callgate_agent::engine::openai::{self, OpenAi, OpenAiServer, OpenAiSettings};

use crate::config::{AgentSettings, Config, EngineSetting, Setting, TokenSource, token_source};
use crate::failure::Failure;
use crate::secrets::read_secret;

/// Returns the engines. Only the one that the settings choose is created now, so that its errors
/// are reported before anything is served.
pub(super) fn build_registry(config: &Config) -> Result<EngineRegistry, Failure> {
    let (chosen, _) = config.agent.chosen_engine();
    let mut registry = EngineRegistry::new(default_engine(config));
    let makers: [(&'static str, EngineSetting, MakeEngine); 3] = [
        ("anthropic", EngineSetting::Anthropic, build_anthropic),
        ("openai", EngineSetting::OpenAi, build_openai),
        ("claude-code", EngineSetting::ClaudeCode, claude_code),
    ];
    for (name, setting, make) in makers {
        registry = if setting == chosen {
            registry.with_engine(make(config)?)
        } else {
            let config = config.clone();
            registry.with_maker(name, Arc::new(move || make(&config)))
        };
    }
    Ok(registry.with_engine(Arc::new(Offline)))
}

type MakeEngine = fn(&Config) -> Result<Arc<dyn Engine>, String>;

fn default_engine(config: &Config) -> DefaultEngine {
    let settings = &config.agent;
    let (setting, because) = settings.chosen_engine();
    let name = match setting {
        EngineSetting::Auto => {
            return DefaultEngine::IfFound {
                name: "openai",
                otherwise: "offline",
                because,
                advice: advice_without_key(claude_code_settings(config).is_installed()).to_owned(),
            };
        }
        engine => engine.name(),
    };
    DefaultEngine::Fixed { name, because }
}

/// Returns what somebody without a key can do for a real model.
fn advice_without_key(has_claude_code: bool) -> &'static str {
    if has_claude_code {
        "set ANTHROPIC_API_KEY for a real model, start a model server on this machine, or use the \
         Claude Code that is installed here: --engine claude-code, or /engine claude-code in a chat"
    } else {
        "set ANTHROPIC_API_KEY for a real model, or start a model server on this machine"
    }
}

fn build_anthropic(config: &Config) -> Result<Arc<dyn Engine>, String> {
    let settings = &config.agent;
    let source = settings.api_key.as_ref();
    let source = source.ok_or(
        "there is no API key: set ANTHROPIC_API_KEY, or store it in the keyring: callgate config set \
         agent.api_key_keyring --stdin",
    )?;
    let usual = AnthropicSettings::new(read_api_key(source)?, settings.model.clone());
    let engine = Anthropic::new(AnthropicSettings {
        base_url: settings.base_url.to_string(),
        proxy: proxy_for_url(settings, &settings.base_url),
        idle: settings.silence_seconds.unwrap_or(usual.idle),
        effort: settings.effort,
        cache_life: settings.cache_life,
        ..usual
    });
    Ok(Arc::new(engine?))
}

/// Returns the engine for the configured server. With neither a key nor an address, it looks for a
/// server on this machine.
fn build_openai(config: &Config) -> Result<Arc<dyn Engine>, String> {
    let settings = &config.agent;
    // With a key the public API is meant, and the key must not go to whatever listens on a port
    // here.
    let server = if settings.openai_key.is_none() && settings.openai_url.is_none() {
        OpenAiServer::Local(settings.local_ports.clone())
    } else {
        let url = settings.openai_url.as_ref().map_or(openai::API_URL, |url| &url.value);
        let base_url = url.to_owned();
        let proxy = proxy_for_url(settings, &base_url);
        let key = settings.openai_key.as_ref().map(read_api_key).transpose()?;
        OpenAiServer::At { base_url, key, proxy }
    };
    let model = settings.openai_model.clone();
    let usual = OpenAiSettings::new(server);
    let idle = settings.silence_seconds.unwrap_or(usual.idle);
    let engine = OpenAi::new(OpenAiSettings { model, idle, effort: settings.effort, ..usual });
    Ok(Arc::new(engine?))
}

/// Returns the engine that runs the Claude Code CLI, which is looked for when it is first used.
#[allow(clippy::unnecessary_wraps, reason = "all engines are created in the same way")]
fn claude_code(config: &Config) -> Result<Arc<dyn Engine>, String> {
    Ok(Arc::new(ClaudeCode::new(claude_code_settings(config))))
}

fn claude_code_settings(config: &Config) -> ClaudeCodeSettings {
    ClaudeCodeSettings {
        cli: config.agent.claude_cli.clone(),
        folder: config.agent.folder().to_owned(),
        roots: config.agent.roots.clone(),
        desk: config.desk_socket.value.clone(),
        effort: config.agent.effort,
    }
}

fn read_api_key(source: &Setting<TokenSource>) -> Result<ApiKey, String> {
    let key = read_secret(&source.value, token_source::MODEL)?;
    ApiKey::new(key.reveal()).map_err(|error| error.to_string())
}

/// Returns the proxy for an address. Only `https://` addresses are on other machines and need one.
fn proxy_for_url(settings: &AgentSettings, url: &str) -> Option<String> {
    let is_far = url.starts_with("https://");
    settings.proxy.as_ref().filter(|_| is_far).map(|proxy| proxy.reveal().to_owned())
}
