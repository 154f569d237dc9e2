//! The engine for the Messages API.
//!
//! One answer is one streamed request. The request is serialised from the [`EngineCall`] without a
//! tree of JSON in between (`request`), and the events of its answer become pieces (`stream`); both
//! are pure. The rest is shared with other engines.

mod event;
mod request;
mod stream;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_claude::Effort;
use callgate_wire::session::ModelListing;
use reqwest::Url;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};

use crate::BoxFuture;
use crate::engine::model_api::{
    ApiKey, ApiLink, ApiRequest, ApiWords, AskedProvider, IDLE, ProviderTools, StreamedAnswer,
    base_address, list_models, with_member,
};
use crate::engine::{AnswerStream, CacheLife, Engine, EngineCall, EngineError};
use crate::history::compact;
use request::WrittenTurns;
use stream::PieceDecoder;

/// The default address of the Messages API.
pub const API_URL: &str = "https://api.anthropic.com";

/// The version of the API, which every server supports.
const VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");
/// How long the server may take to list its models. Shorter than the limit of the registry, which
/// takes an engine that is late for one that cannot be used.
const LISTED_WITHIN: Duration = Duration::from_secs(4);

const WORDS: ApiWords = ApiWords {
    api: "Messages API",
    key: "ANTHROPIC_API_KEY",
    base_url: "ANTHROPIC_BASE_URL",
    model: "ANTHROPIC_MODEL",
    example: API_URL,
};

#[derive(Debug, Clone)]
pub struct AnthropicSettings {
    /// The address of the API, such as [`API_URL`]; it may end with a path, a slash or `/v1`.
    pub base_url: String,
    pub key: ApiKey,
    pub model: String,
    pub proxy: Option<String>,
    /// How long an answer may stay silent; it may consist of nothing but pings for five times as
    /// long.
    pub idle: Duration,
    /// How much effort the model puts into an answer; its default if `None`.
    pub effort: Option<Effort>,
    /// How long the provider keeps the conversation in its cache.
    pub cache_life: CacheLife,
}

impl AnthropicSettings {
    pub fn new(key: ApiKey, model: impl Into<String>) -> Self {
        let (base_url, model) = (API_URL.to_owned(), model.into());
        let cache_life = CacheLife::default();
        Self { base_url, key, model, proxy: None, idle: IDLE, effort: None, cache_life }
    }
}

#[derive(Debug)]
pub struct Anthropic {
    server: Arc<MessagesServer>,
    tools: Arc<ProviderTools>,
}

/// The state that all answers share.
#[derive(Debug)]
struct MessagesServer {
    link: Arc<ApiLink>,
    settings: AnthropicSettings,
    address: Url,
    /// The serialised messages of the last request.
    written: Mutex<WrittenTurns>,
}

impl MessagesServer {
    fn headers(&self) -> HeaderMap {
        let key = self.settings.key.header();
        HeaderMap::from_iter([
            (HeaderName::from_static("x-api-key"), key),
            (HeaderName::from_static("anthropic-version"), VERSION),
        ])
    }

    fn request(&self, call: &EngineCall) -> Result<ApiRequest, EngineError> {
        // A request that panicked may have left incomplete turns, which would be sent as they are.
        let mut written = match self.written.lock() {
            Ok(written) => written,
            Err(poisoned) => {
                let mut written = poisoned.into_inner();
                *written = WrittenTurns::default();
                written
            }
        };
        let mut headers = self.headers();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut body = request::encode_body(call, self.settings.cache_life, &mut written)?;
        if let Some(effort) = self.settings.effort {
            let effort = effort.name();
            body = with_member(&body, &format!(r#""output_config":{{"effort":"{effort}"}}"#));
        }
        Ok(ApiRequest { address: self.address.clone(), headers, body })
    }
}

impl Anthropic {
    /// Validates the settings. Connects and reads from the disk only at the first answer.
    pub fn new(settings: AnthropicSettings) -> Result<Self, String> {
        if settings.model.trim().is_empty() {
            return Err("No model is set: set one in ANTHROPIC_MODEL".to_owned());
        }
        let address = messages_address(&settings.base_url)?;
        let (proxy, key) = (settings.proxy.as_deref(), Some(settings.key.clone()));
        let link = Arc::new(ApiLink::new(&address, proxy, key, &WORDS, settings.idle)?);
        let written = Mutex::default();
        let server = Arc::new(MessagesServer { link, settings, address, written });
        Ok(Self { server, tools: Arc::default() })
    }
}

/// Returns the URL to which messages are sent. The base URL may end with a slash or with the `/v1`
/// that belongs to the call.
fn messages_address(base: &str) -> Result<Url, String> {
    let mut url = base_address(base, &WORDS)?;
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/v1/messages").or(path.strip_suffix("/v1")).unwrap_or(path);
    let path = format!("{path}/v1/messages");
    url.set_path(&path);
    Ok(url)
}

impl Engine for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn default_model(&self) -> BoxFuture<'_, Result<Arc<str>, EngineError>> {
        Box::pin(async { Ok(self.server.settings.model.as_str().into()) })
    }

    /// Returns what the server lists, and the configured model alone if it lists nothing.
    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelListing>, EngineError>> {
        Box::pin(async {
            let server = &self.server;
            let address =
                Url::parse(&server.address.as_str().replace("/v1/messages", "/v1/models"));
            let listed = match address {
                Ok(address) => {
                    list_models(&server.link, address, server.headers(), LISTED_WITHIN).await
                }
                Err(_) => Ok(Vec::new()),
            };
            // Not every server that answers lists its models.
            let mut models: Vec<ModelListing> =
                listed.unwrap_or_default().into_iter().map(ModelListing::from).collect();
            if models.is_empty() {
                let id = server.settings.model.clone();
                models.push(ModelListing { id, ..ModelListing::default() });
            }
            for model in &mut models {
                model.context_window.get_or_insert(compact::model_window(&model.id));
            }
            Ok(models)
        })
    }

    fn cache_life(&self) -> CacheLife {
        self.server.settings.cache_life
    }

    fn answer(&self, call: EngineCall) -> Box<dyn AnswerStream> {
        self.tools.answer(call, Arc::<MessagesServer>::clone(&self.server))
    }
}

impl AskedProvider for MessagesServer {
    fn ask(self: Arc<Self>, call: EngineCall) -> Box<dyn AnswerStream> {
        Box::new(StreamedAnswer::new(async move {
            let (request, streams_tool_input) = (self.request(&call)?, call.streams_tool_input);
            drop(call);
            let link = Arc::clone(&self.link);
            let decoder = PieceDecoder::new(Arc::clone(&link.errors), streams_tool_input);
            Ok((link, request, decoder))
        }))
    }
}

#[cfg(test)]
mod tests;
