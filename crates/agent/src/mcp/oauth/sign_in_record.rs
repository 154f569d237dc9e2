//! A sign-in to a server, as it is kept between runs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A sign-in to a server: its tokens, and whom they are for. They are sent to this server and to
/// this issuer's address for tokens, and nowhere else.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerSignIn {
    pub url: String,
    /// The authorization server that has issued the tokens.
    pub issuer: String,
    /// What the sign-in permits, as far as it is known.
    pub scopes: Vec<String>,
    /// When the access token expires, in milliseconds since 1970.
    pub expires_at: Option<u64>,
    /// The server, as tokens name it.
    pub(super) resource: String,
    /// Where tokens are renewed.
    pub(super) token_address: String,
    pub(super) client: OauthClient,
    pub(super) access_token: String,
    pub(super) refresh_token: Option<String>,
}

/// What an authorization server knows this program as.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OauthClient {
    pub(super) id: String,
    pub(super) secret: Option<String>,
    /// Whether the secret is sent in the form, and not in a header.
    pub(super) is_secret_posted: bool,
}

impl ServerSignIn {
    /// Returns the tokens, which must not be shown.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &str> {
        let secrets = [Some(&self.access_token), self.refresh_token.as_ref()];
        secrets.into_iter().chain([self.client.secret.as_ref()]).flatten().map(String::as_str)
    }
}

impl fmt::Debug for ServerSignIn {
    /// Shows no token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ServerSignIn");
        shown.field("url", &self.url).field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

/// Keeps sign-ins between runs. Its functions may block, and their errors hold no token.
pub trait SignInStore: Send + Sync {
    fn load(&self, url: &str) -> Result<Option<ServerSignIn>, String>;

    /// Keeps a sign-in in place of an older one.
    fn save(&self, sign_in: &ServerSignIn) -> Result<(), String>;
}
