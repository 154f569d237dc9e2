//! The engine for Chat Completions, which the servers of many models understand: those in the
//! cloud, and those that run on this machine.
//!
//! One answer is one streamed request. `request` writes it and `stream` reads the answer; both are
//! pure, and the rest is shared with other engines. Without an address, a server on this machine is
//! looked for (`local_servers`), at the first use and never before.

mod chunk;
mod local_servers;
mod request;
mod stream;
mod thought_tags;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_claude::Effort;
use callgate_http::is_loopback;
use callgate_link::sync::lock;
use callgate_wire::session::ModelListing;
use reqwest::Url;
use reqwest::header::{self, HeaderMap, HeaderValue};
use tokio::sync::OnceCell;

use crate::BoxFuture;
use crate::engine::model_api::{
    ApiKey, ApiLink, ApiRequest, ApiWords, AskedProvider, IDLE, LOCAL_IDLE, ListedModel,
    ProviderTools, StreamedAnswer, base_address, list_models, with_member,
};
use crate::engine::{AnswerStream, Engine, EngineCall, EngineError};
use crate::message::estimate::call_tokens;
use local_servers::LocalServer;
pub use local_servers::USUAL_PORTS;
use request::AnswerLimit;
use stream::ChunkDecoder;

/// The default address of the API.
pub const API_URL: &str = "https://api.openai.com/v1";
/// The model that the default address is asked for, unless another one is chosen.
const CLOUD_MODEL: &str = "gpt-5";
/// The member that newer models want instead of `max_tokens`, as errors name it.
const NEW_LIMIT: &str = "max_completion_tokens";
const CLOUD_HOST: &str = "api.openai.com";
/// How long a server may take to list its models. Shorter than the limit of the registry, whose
/// error does not name the server.
const LISTED_WITHIN: Duration = Duration::from_secs(4);

const WORDS: ApiWords = ApiWords {
    api: "Chat Completions API",
    key: "OPENAI_API_KEY",
    base_url: "OPENAI_BASE_URL",
    model: "OPENAI_MODEL",
    example: API_URL,
};

#[derive(Debug, Clone)]
pub struct OpenAiSettings {
    pub server: OpenAiServer,
    /// The model, as the server names it. Without one, the server's first model is used.
    pub model: Option<String>,
    pub idle: Duration,
    /// How much effort the model puts into an answer; its default if `None`.
    pub effort: Option<Effort>,
}

#[derive(Debug, Clone)]
pub enum OpenAiServer {
    At {
        /// Its address, such as [`API_URL`]. Without a path, `/v1` is added.
        base_url: String,
        key: Option<ApiKey>,
        proxy: Option<String>,
    },
    /// The first server that listens at one of these ports on this machine.
    Local(Vec<u16>),
}

impl OpenAiSettings {
    pub fn new(server: OpenAiServer) -> Self {
        let idle = if server.is_local() { LOCAL_IDLE } else { IDLE };
        Self { server, model: None, idle, effort: None }
    }
}

impl OpenAiServer {
    fn is_local(&self) -> bool {
        let Self::At { base_url, .. } = self else { return true };
        Url::parse(base_url).is_ok_and(|url| is_loopback(&url))
    }
}

#[derive(Debug, Clone)]
pub struct OpenAi {
    settings: Arc<OpenAiSettings>,
    server: Arc<OnceCell<Arc<ChatServer>>>,
    tools: Arc<ProviderTools>,
}

#[derive(Debug)]
struct ChatServer {
    link: Arc<ApiLink>,
    base: Url,
    key: Option<ApiKey>,
    /// The form in which it is sent the limit of an answer's length.
    limit: AnswerLimit,
    /// The form of the limit that the server demanded for these models.
    learned_limits: Mutex<HashMap<Arc<str>, AnswerLimit>>,
    /// Where it was found, if it was not configured.
    place: Option<String>,
    /// The context windows that the server reported, by model.
    windows: Mutex<HashMap<String, u64>>,
}

impl OpenAi {
    /// Validates the settings. Connects only at the first use.
    pub fn new(settings: OpenAiSettings) -> Result<Self, String> {
        let server = match &settings.server {
            OpenAiServer::At { base_url, key, proxy } => {
                let proxy = proxy.as_deref();
                let server = ChatServer::at_address(base_url, key.clone(), proxy, settings.idle);
                OnceCell::from(Arc::new(server?))
            }
            OpenAiServer::Local(_) => OnceCell::new(),
        };
        let (settings, server) = (Arc::new(settings), Arc::new(server));
        Ok(Self { settings, server, tools: Arc::default() })
    }

    /// Returns the server, and looks for it if necessary. A failure is not remembered, because a
    /// server may be started at any time.
    async fn server(&self) -> Result<Arc<ChatServer>, EngineError> {
        let find = || async {
            let OpenAiServer::Local(ports) = &self.settings.server else {
                return Err(nothing_found(&[]));
            };
            let found =
                local_servers::find_with_model(ports).await.ok_or_else(|| nothing_found(ports))?;
            ChatServer::from_local(&found, self.settings.idle)
                .map(Arc::new)
                .map_err(EngineError::refused)
        };
        self.server.get_or_try_init(find).await.cloned()
    }
}

impl AskedProvider for OpenAi {
    fn ask(self: Arc<Self>, call: EngineCall) -> Box<dyn AnswerStream> {
        Box::new(StreamedAnswer::new(async move {
            let server = self.server().await?;
            let (mut request, asked) = (server.request(&call)?, call_tokens(&call, 0));
            if let Some(effort) = self.settings.effort {
                let member = format!(r#""reasoning_effort":"{}""#, effort_name(effort));
                request.body = with_member(&request.body, &member);
            }
            let errors = Arc::clone(&server.link.errors);
            let decoder = ChunkDecoder::new(errors, asked, call.streams_tool_input);
            Ok((Arc::clone(&server.link), request, decoder))
        }))
    }

    fn learns_from(&self, model: &Arc<str>, error: &EngineError) -> bool {
        self.server.get().is_some_and(|server| server.learns_from(model, error))
    }
}

impl ChatServer {
    fn at_address(
        base_url: &str,
        key: Option<ApiKey>,
        proxy: Option<&str>,
        idle: Duration,
    ) -> Result<Self, String> {
        let mut base = base_address(base_url, &WORDS)?;
        let path = base.path().trim_end_matches('/');
        // Some give the address of the call itself.
        let path = path.strip_suffix("/chat/completions").unwrap_or(path);
        let path = if path.is_empty() { "/v1" } else { path }.to_owned();
        base.set_path(&path);
        let limit = match base.host_str() {
            Some(CLOUD_HOST) => AnswerLimit::MaxCompletionTokens,
            _ => AnswerLimit::MaxTokens,
        };
        let link = ApiLink::new(&base, proxy, key.clone(), &WORDS, idle)?;
        let (link, windows, learned_limits) = (Arc::new(link), Mutex::default(), Mutex::default());
        Ok(Self { link, base, key, limit, learned_limits, place: None, windows })
    }

    fn from_local(found: &LocalServer, idle: Duration) -> Result<Self, String> {
        let server = Self::at_address(&found.address, None, None, idle)?;
        server.learn_windows(&found.models);
        let place = Some(format!("{} at {}", found.name, found.address));
        Ok(Self { place, limit: AnswerLimit::Unlimited, ..server })
    }

    fn address(&self, call: &str) -> Url {
        let mut address = self.base.clone();
        address.set_path(&format!("{}{call}", self.base.path()));
        address
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(key) = &self.key {
            headers.insert(header::AUTHORIZATION, key.bearer());
        }
        headers
    }

    /// Asks for the models, and remembers their context windows.
    async fn models(&self) -> Result<Vec<ListedModel>, EngineError> {
        let address = self.address("/models");
        let listed = list_models(&self.link, address, self.headers(), LISTED_WITHIN).await?;
        self.learn_windows(&listed);
        Ok(listed)
    }

    fn learn_windows(&self, models: &[ListedModel]) {
        let mut windows = lock(&self.windows);
        windows.extend(
            models.iter().filter_map(|model| Some((model.id.clone(), model.context_window()?))),
        );
    }

    fn request(&self, call: &EngineCall) -> Result<ApiRequest, EngineError> {
        let mut headers = self.headers();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let learned = lock(&self.learned_limits).get(&call.model).copied();
        let body = request::encode_body(call, learned.unwrap_or(self.limit))?;
        Ok(ApiRequest { address: self.address("/chat/completions"), headers, body })
    }

    fn learns_from(&self, model: &Arc<str>, error: &EngineError) -> bool {
        let other = match self.limit {
            AnswerLimit::MaxTokens => AnswerLimit::MaxCompletionTokens,
            AnswerLimit::MaxCompletionTokens => AnswerLimit::MaxTokens,
            // No limit is sent that could be refused.
            AnswerLimit::Unlimited => return false,
        };
        let is_named = matches!(error.status, Some(400 | 422)) && error.text.contains(NEW_LIMIT);
        // Only once for each model: one that refuses both forms is not asked again and again.
        is_named && lock(&self.learned_limits).insert(Arc::clone(model), other).is_none()
    }
}

impl Engine for OpenAi {
    fn name(&self) -> &'static str {
        "openai"
    }

    fn default_model(&self) -> BoxFuture<'_, Result<Arc<str>, EngineError>> {
        Box::pin(async {
            if let Some(model) = &self.settings.model {
                return Ok(model.as_str().into());
            }
            let server = self.server().await?;
            if server.limit == AnswerLimit::MaxCompletionTokens {
                return Ok(CLOUD_MODEL.into());
            }
            // Asked each time: another model may have been loaded since.
            let models = server.models().await?;
            // Models for embeddings cannot talk.
            let talks = |model: &&ListedModel| !model.id.to_ascii_lowercase().contains("embed");
            let model = models.iter().find(talks).or(models.first());
            model.map(|model| model.id.as_str().into()).ok_or_else(|| {
                EngineError::refused(
                    "The server lists no model: load one, or set one in OPENAI_MODEL",
                )
            })
        })
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelListing>, EngineError>> {
        Box::pin(async {
            let models = self.server().await?.models().await?;
            Ok(models.into_iter().map(ModelListing::from).collect())
        })
    }

    fn found_place(&self) -> Option<String> {
        self.server.get()?.place.clone()
    }

    fn is_free(&self) -> bool {
        matches!(self.settings.server, OpenAiServer::Local(_))
    }

    fn is_local(&self) -> bool {
        self.settings.server.is_local()
    }

    fn context_window(&self, model: &str) -> Option<u64> {
        lock(&self.server.get()?.windows).get(model).copied()
    }

    fn answer(&self, call: EngineCall) -> Box<dyn AnswerStream> {
        self.tools.answer(call, Arc::new(self.clone()))
    }
}

/// Returns the API's name of a level.
fn effort_name(effort: Effort) -> &'static str {
    // The API has no level above this one.
    if effort == Effort::Max { Effort::ExtraHigh.name() } else { effort.name() }
}

fn nothing_found(ports: &[u16]) -> EngineError {
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    EngineError::refused(format!(
        "No model server was found on this machine (ports {}): start one, such as Ollama, or set \
         OPENAI_BASE_URL or OPENAI_API_KEY",
        ports.join(", ")
    ))
}

#[cfg(test)]
mod tests;
