//! The Bot API over HTTP: calls, their results, and kinds of failure. No error contains the token,
//! although every URL does.

use std::fmt;
use std::time::Duration;

use callgate_http::{client_builder, read_body};
use reqwest::{Client, Proxy, StatusCode, Url, header};
use serde_json::{Value, json};

use super::BotSettings;

/// The longest response, in bytes; a hundred updates with the longest texts stay below it.
const MAX_ANSWER: usize = 16 * 1024 * 1024;
/// The longest pause that is kept at a server's wish. After it, the server may ask for another.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

pub(super) struct BotApi {
    client: Client,
    /// The URL up to the method's name, with the token.
    base: String,
    token: String,
}

impl fmt::Debug for BotApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the fields, two of which contain the token.
        f.write_str("Api(…)")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TelegramFault {
    /// It may work later.
    Passing {
        why: String,
        /// How long to wait, if the server says so.
        wait: Option<Duration>,
    },
    Refused {
        code: u16,
        /// What is wrong, in the server's words.
        why: String,
    },
    /// The server does not know the bot.
    Token {
        /// What is wrong and what to do.
        why: String,
    },
}

impl TelegramFault {
    fn passing(why: impl Into<String>) -> Self {
        Self::Passing { why: why.into(), wait: None }
    }

    pub(super) fn why(&self) -> &str {
        match self {
            Self::Passing { why, .. } | Self::Refused { why, .. } | Self::Token { why } => why,
        }
    }
}

impl BotApi {
    /// Makes an API client. Returns an error if the address or the proxy is invalid.
    pub(super) fn new(settings: &BotSettings) -> Result<Self, String> {
        let address = settings.api_url.trim_end_matches('/');
        let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        // The token and the name of a method are appended to the address.
        if url.is_none_or(|url| url.query().is_some() || url.fragment().is_some()) {
            return Err(format!(
                "`api_url` is not the address of a Bot API server: {address}; use one like {}",
                super::API_URL
            ));
        }
        let mut client = client_builder();
        if let Some(proxy) = &settings.proxy {
            let proxy =
                Proxy::all(proxy).map_err(|_| "`proxy` is not the address of a proxy".to_owned());
            client = client.proxy(proxy?);
        }
        let token = settings.token.0.reveal().to_owned();
        let client = client.build().map_err(|error| {
            let why = describe_error(error, &token);
            format!(
                "cannot connect to Telegram: {why}; are the machine's root certificates \
                 installed (the package ca-certificates)?"
            )
        })?;
        Ok(Self { client, base: format!("{address}/bot{token}/"), token })
    }

    /// Calls a method and returns its result. `limit` is the timeout of the whole call.
    pub(super) async fn call(
        &self,
        method: &str,
        params: &Value,
        limit: Duration,
    ) -> Result<Value, TelegramFault> {
        self.post(method, "application/json", params.to_string().into_bytes(), limit).await
    }

    /// Sends a text as a file with a caption in HTML.
    pub(super) async fn send_document(
        &self,
        chat: i64,
        caption: &str,
        (name, content): (&str, &str),
        limit: Duration,
    ) -> Result<Value, TelegramFault> {
        // The boundary is random, so it does not occur in the content.
        let boundary = crate::asker::fresh_id().to_string();
        let mut body = Vec::new();
        let mut part = |head: &str, content: &str| {
            let head = format!("--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n");
            for piece in [head.as_str(), content, "\r\n"] {
                body.extend_from_slice(piece.as_bytes());
            }
        };
        part("name=\"chat_id\"", &chat.to_string());
        part("name=\"caption\"", caption);
        part("name=\"parse_mode\"", "HTML");
        let kind = "Content-Type: text/plain; charset=utf-8";
        part(&format!("name=\"document\"; filename=\"{name}\"\r\n{kind}"), content);
        body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        let kind = format!("multipart/form-data; boundary={boundary}");
        self.post("sendDocument", &kind, body, limit).await
    }

    async fn post(
        &self,
        method: &str,
        kind: &str,
        body: Vec<u8>,
        limit: Duration,
    ) -> Result<Value, TelegramFault> {
        let request = self.client.post(format!("{}{method}", self.base));
        let request = request.header(header::CONTENT_TYPE, kind).body(body).timeout(limit);
        let (status, body) = self.read_answer(request).await.map_err(|error| {
            TelegramFault::passing(format!(
                "Telegram cannot be reached: {}",
                describe_error(error, &self.token)
            ))
        })?;
        let body = body.ok_or_else(|| TelegramFault::passing("Telegram's answer is too long"))?;
        parse_result(status, &body)
    }

    /// Returns the status and the body, or no body if it is too long.
    async fn read_answer(
        &self,
        request: reqwest::RequestBuilder,
    ) -> reqwest::Result<(StatusCode, Option<Vec<u8>>)> {
        let mut response = request.send().await?;
        let mut body = Vec::new();
        let is_whole = read_body(&mut response, &mut body, MAX_ANSWER).await?;
        Ok((response.status(), is_whole.then_some(body)))
    }
}

/// Describes an error without the URL, which contains the token.
fn describe_error(error: reqwest::Error, token: &str) -> String {
    let timed_out = error.is_timeout();
    let error = error.without_url();
    let mut deepest: &dyn std::error::Error = &error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    let text = if timed_out { "no response in time".to_owned() } else { deepest.to_string() };
    text.replace(token, "…")
}

/// Returns the result of a call, or its kind of failure. If something other than the API responded,
/// such as a proxy, that may pass.
fn parse_result(status: StatusCode, body: &[u8]) -> Result<Value, TelegramFault> {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    if status.is_success() && answer["ok"] == json!(true) {
        return Ok(answer["result"].clone());
    }
    let code = status.as_u16();
    let words = answer["description"].as_str().map(|words| shortened_words(words).to_owned());
    let parameters = &answer["parameters"];
    Err(match (code, words) {
        (429, _) => {
            let seconds = parameters["retry_after"].as_u64().unwrap_or(1);
            let why = format!("Telegram asks for a pause of {seconds} s");
            let wait = Duration::from_secs(seconds).min(LONGEST_WAIT);
            TelegramFault::Passing { why, wait: Some(wait) }
        }
        // Something in front of the API, which does not know the bot.
        (401 | 404, None) => {
            let why = format!(
                "Telegram answered {code}, and not as the Bot API does: check `api_url` and `proxy`"
            );
            TelegramFault::Refused { code, why }
        }
        (401, Some(_)) => TelegramFault::Token { why: no_such_bot("401 Unauthorized") },
        // The API answers 404 to an unknown bot, and to an unknown method as well.
        (404, Some(words)) if !words.contains("method") => {
            TelegramFault::Token { why: no_such_bot("404 Not Found") }
        }
        // Whoever responded: the question cannot be shown.
        (400 | 403, None) => {
            TelegramFault::Refused { code, why: format!("Telegram answered {code}") }
        }
        (400..=499, Some(words)) => {
            let new = parameters["migrate_to_chat_id"].as_i64();
            let moved = |new| format!("the group has a new id, {new}: put it into `allowed_chats`");
            TelegramFault::Refused { code, why: new.map_or(words, moved) }
        }
        (_, words) => {
            let words = words.map(|words| format!(": {words}")).unwrap_or_default();
            TelegramFault::passing(format!("Telegram answered {code}{words}"))
        }
    })
}

fn no_such_bot(status: &str) -> String {
    format!(
        "Telegram does not know this bot ({status}): the token is wrong or was revoked. Get the \
         right one from @BotFather, put it into the settings and start again"
    )
}

/// Shortens a server's description, which may be anything.
fn shortened_words(words: &str) -> &str {
    &words[..words.floor_char_boundary(300)]
}

#[cfg(test)]
mod tests;
