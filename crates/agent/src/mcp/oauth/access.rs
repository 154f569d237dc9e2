//! What a server is shown with each request, and what it takes to be let in again.

use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use callgate_mask::SecretVariables;
use callgate_wire::HiddenText;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, WWW_AUTHENTICATE};
use reqwest::{StatusCode, Url};
use serde_json::json;
use tokio::time::timeout;

use super::challenge::AccessChallenge;
use super::fetch::{ANSWER_WITHIN, SignInClient};
use super::sign_in::{FinishedSignIn, PendingSignIn};
use super::sign_in_record::{ServerSignIn, SignInStore};
use super::tokens;
use crate::mcp::{McpServerSettings, McpTransport, OauthSettings, Warning};

/// A token that expires within this time, in milliseconds, is renewed before it is used. Otherwise
/// it could expire on its way.
const SOON: u64 = 30_000;

/// The most tokens that are remembered, so that no text shows them.
const MOST_REMEMBERED: usize = 16;

/// The way into a server on the network: the sign-in to it, and its last refusal.
pub(in crate::mcp) struct ServerAccess {
    url: Url,
    settings: OauthSettings,
    http: SignInClient,
    store: Arc<dyn SignInStore>,
    warn: Warning,
    /// The sign-in. It is held while a token is renewed, so that this happens once.
    sign_in: tokio::sync::Mutex<HeldSignIn>,
    /// The refusal that nobody has dealt with.
    challenge: Mutex<Option<AccessChallenge>>,
    /// The latest tokens.
    used: Mutex<Vec<String>>,
}

#[derive(Default)]
struct HeldSignIn {
    sign_in: Option<ServerSignIn>,
    /// Whether it could not be stored, so that what is stored is older.
    is_unsaved: bool,
}

impl ServerAccess {
    /// Returns the way into a server, or `None` if nobody signs in to it: it is a program, or its
    /// settings have a header that lets us in.
    pub(in crate::mcp) fn new(
        server: &McpServerSettings,
        proxy: Option<String>,
        store: Arc<dyn SignInStore>,
        warn: Warning,
    ) -> Option<Arc<Self>> {
        let McpTransport::Http { url, headers, oauth } = &server.transport else { return None };
        let lets_in = |name: &str| name.eq_ignore_ascii_case(AUTHORIZATION.as_str());
        if headers.iter().any(|(name, _)| lets_in(name)) {
            return None;
        }
        Some(Arc::new(Self {
            url: Url::parse(url).ok()?,
            settings: oauth.clone(),
            http: SignInClient::new(proxy),
            store,
            warn,
            sign_in: tokio::sync::Mutex::default(),
            challenge: Mutex::default(),
            used: Mutex::default(),
        }))
    }

    /// Forgets earlier refusals and reads the sign-in, which another process may have renewed.
    pub(in crate::mcp) async fn reload(&self) {
        *lock(&self.challenge) = None;
        let mut held = self.sign_in.lock().await;
        if !held.is_unsaved {
            held.sign_in = self.load_stored().await;
        }
    }

    async fn load_stored(&self) -> Option<ServerSignIn> {
        let (store, url) = (Arc::clone(&self.store), self.url.to_string());
        let loaded = tokio::task::spawn_blocking(move || store.load(&url)).await;
        let loaded = loaded.map_err(|error| error.to_string()).flatten();
        let stored = loaded.unwrap_or_else(|why| {
            (self.warn)(&format!("cannot read a sign-in: {why}"));
            None
        });
        // A token must not go to another server than the one for which it was stored.
        let stored = stored.filter(|stored| stored.url == self.url.as_str());
        if let Some(stored) = &stored {
            self.note_secrets(stored);
        }
        stored
    }

    fn note_secrets(&self, sign_in: &ServerSignIn) {
        let mut used = lock(&self.used);
        for secret in sign_in.secrets() {
            if !used.iter().any(|known| known == secret) {
                used.push(secret.to_owned());
            }
        }
        let old = used.len().saturating_sub(MOST_REMEMBERED);
        used.drain(..old);
    }

    pub(in crate::mcp) async fn accept(&self, finished: &FinishedSignIn) {
        *lock(&self.challenge) = None;
        let mut held = self.sign_in.lock().await;
        self.keep_sign_in(&mut held, finished.sign_in.clone()).await;
    }

    async fn keep_sign_in(&self, held: &mut HeldSignIn, sign_in: ServerSignIn) {
        self.note_secrets(&sign_in);
        let (store, kept) = (Arc::clone(&self.store), sign_in.clone());
        let saved = tokio::task::spawn_blocking(move || store.save(&kept)).await;
        let saved = saved.map_err(|error| error.to_string()).flatten();
        if let Err(why) = &saved {
            (self.warn)(&format!("a sign-in is forgotten when callgate ends: {why}"));
        }
        *held = HeldSignIn { sign_in: Some(sign_in), is_unsaved: saved.is_err() };
    }

    /// Returns the token for the next request, if there is a sign-in.
    pub(in crate::mcp) async fn token(&self) -> Option<HiddenText> {
        let mut held = self.sign_in.lock().await;
        let is_old = |sign_in: &ServerSignIn| {
            sign_in.expires_at.is_some_and(|end| end <= tokens::unix_time_ms().saturating_add(SOON))
        };
        let current = held.sign_in.as_ref();
        if current.is_some_and(|sign_in| is_old(sign_in) && sign_in.refresh_token.is_some()) {
            // If this fails, the server refuses the old token and says what it wants.
            self.renew(&mut held).await;
        }
        held.sign_in.as_ref().map(|sign_in| HiddenText::new(sign_in.access_token.as_str()))
    }

    /// Renews the sign-in, unless another process has done so.
    async fn renew(&self, held: &mut HeldSignIn) -> bool {
        let Some(old) = held.sign_in.take() else { return false };
        // Looked at first, because a refresh token often counts only once, and another process may
        // have used it.
        let stored = if held.is_unsaved { None } else { self.load_stored().await };
        if let Some(newer) = stored.filter(|stored| stored.access_token != old.access_token) {
            held.sign_in = Some(newer);
            return true;
        }
        match tokens::refresh_sign_in(&self.http, &old).await {
            Ok(renewed) => {
                self.keep_sign_in(held, renewed).await;
                true
            }
            Err(why) => {
                (self.warn)(&format!("the sign-in at {} is not renewed: {why}", old.issuer));
                held.sign_in = Some(old);
                false
            }
        }
    }

    /// Handles a refusal. Returns true if the request is to be sent again, because there is another
    /// token than the one that was `used`; `None` means that another would not help.
    pub(in crate::mcp) async fn handle_refusal(
        &self,
        used: Option<&HiddenText>,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> bool {
        if status == StatusCode::UNAUTHORIZED
            && let Some(used) = used
        {
            let mut held = self.sign_in.lock().await;
            let is_other = |held: &ServerSignIn| held.access_token != used.reveal();
            // Another request may have renewed it since this one was sent.
            if held.sign_in.as_ref().is_some_and(is_other) || self.renew(&mut held).await {
                return true;
            }
        }
        let all = headers.get_all(WWW_AUTHENTICATE).iter();
        let challenge = AccessChallenge::from_headers(all.filter_map(|value| value.to_str().ok()));
        // Any other 403 stays after a new sign-in.
        if status == StatusCode::UNAUTHORIZED || challenge.is_about_scope() {
            *lock(&self.challenge) = Some(challenge);
        }
        false
    }

    /// Returns true if the server has refused a request, and a sign-in could help.
    pub(in crate::mcp) fn is_refused(&self) -> bool {
        lock(&self.challenge).is_some()
    }

    /// Asks the server for nothing in particular, without a token and with these headers. Returns
    /// true if it wants a sign-in.
    pub(in crate::mcp) async fn probe_sign_in(
        &self,
        headers: &[(String, String)],
    ) -> Result<bool, String> {
        *lock(&self.challenge) = None;
        let mut request = self.http.client(&self.url).await?.post(self.url.clone());
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let about = json!({"name": "callgate", "version": env!("CARGO_PKG_VERSION")});
        let params = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about,
        });
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        let accepted = "application/json, text/event-stream";
        let sent = request.header(ACCEPT, accepted).json(&hello).send();
        match timeout(ANSWER_WITHIN, sent).await {
            Ok(Ok(response)) => {
                self.handle_refusal(None, response.status(), response.headers()).await;
                Ok(self.is_refused())
            }
            Ok(Err(_)) => Err("it cannot be reached".to_owned()),
            Err(_) => Err("it has not answered within 10 s".to_owned()),
        }
    }

    /// Prepares a sign-in that answers the last refusal.
    pub(in crate::mcp) async fn begin_sign_in(&self) -> Result<PendingSignIn, String> {
        let challenge = lock(&self.challenge).clone().unwrap_or_default();
        let held = self.sign_in.lock().await.sign_in.clone();
        // The new token takes the place of the old one, so it has to permit what that permitted,
        // too.
        let held = held.filter(|_| challenge.is_about_scope()).map(|held| held.scopes);
        let (http, url) = (self.http.clone(), self.url.clone());
        let held = held.unwrap_or_default();
        PendingSignIn::begin(http, url, &self.settings, &challenge, &held).await
    }

    pub(in crate::mcp) fn mask(&self, text: &str) -> String {
        let used = lock(&self.used).clone();
        let named = used.into_iter().map(|token| ("TOKEN".into(), token.into()));
        SecretVariables::new(named).mask(text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::sign_in_record::OauthClient;
    use super::*;

    const URL: &str = "https://tools.test/mcp";

    fn sign_in(token: &str) -> ServerSignIn {
        ServerSignIn {
            url: URL.to_owned(),
            issuer: "https://issuer.test".to_owned(),
            scopes: Vec::new(),
            expires_at: None,
            resource: URL.to_owned(),
            token_address: "https://issuer.test/token".to_owned(),
            client: OauthClient { id: "c".to_owned(), secret: None, is_secret_posted: false },
            access_token: token.to_owned(),
            refresh_token: None,
        }
    }

    /// Has an old sign-in, and takes no other.
    struct FullStore;

    impl SignInStore for FullStore {
        fn load(&self, _: &str) -> Result<Option<ServerSignIn>, String> {
            Ok(Some(sign_in("old")))
        }

        fn save(&self, _: &ServerSignIn) -> Result<(), String> {
            Err("the disk is full".to_owned())
        }
    }

    #[tokio::test]
    async fn a_sign_in_that_cannot_be_stored_is_used_all_the_same() {
        let (headers, oauth) = (Vec::new(), OauthSettings::default());
        let transport = McpTransport::Http { url: URL.to_owned(), headers, oauth };
        let server = McpServerSettings { name: "tools".to_owned(), transport };
        let warn: Warning = Arc::new(|_: &str| ());
        let access = ServerAccess::new(&server, None, Arc::new(FullStore), warn).unwrap();
        let token = async || access.token().await.unwrap().reveal().to_owned();
        access.reload().await;
        assert_eq!(token().await, "old");
        access.keep_sign_in(&mut *access.sign_in.lock().await, sign_in("new")).await;
        // The server is connected again after a sign-in.
        access.reload().await;
        assert_eq!(token().await, "new");
    }
}
