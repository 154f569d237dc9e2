//! A sign-in: from the refusal of a server to its tokens.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use callgate_link::random::random_bytes;
use callgate_store::Sha256Hash;
use reqwest::Url;
use tokio::time::timeout;

use super::callback::{CallbackListener, CallbackParameters, WaitingBrowser};
use super::challenge::{AccessChallenge, unique_scopes};
use super::discovery::{SignInPlan, discover_sign_in, is_same_issuer};
use super::fetch::SignInClient;
use super::sign_in_record::{OauthClient, ServerSignIn};
use super::tokens::{IssuedCode, client_at, exchange_code, known_reason};
use crate::mcp::OauthSettings;

/// How long a person may take to sign in.
const SIGNED_IN_WITHIN: Duration = Duration::from_mins(10);
/// The longest address of a sign-in, in characters: a longer one could not be shown whole.
const LONGEST_ADDRESS: usize = 2_048;

pub struct PendingSignIn {
    url: Url,
    plan: SignInPlan,
    client: OauthClient,
    listener: CallbackListener,
    http: SignInClient,
    address: Url,
    state: String,
    verifier: String,
}

impl PendingSignIn {
    /// Prepares a sign-in to the server at `url`, which has refused a request. A sign-in from
    /// before permitted `held`.
    pub(super) async fn begin(
        http: SignInClient,
        url: Url,
        settings: &OauthSettings,
        challenge: &AccessChallenge,
        held: &[String],
    ) -> Result<Self, String> {
        let mut plan = discover_sign_in(&http, &url, challenge).await?;
        let wanted = held.iter().chain(&plan.scopes).chain(&settings.scopes);
        plan.scopes = unique_scopes(wanted.map(String::as_str));
        // Before the registration, of which its port is a part.
        let listener = CallbackListener::open(settings.callback_port).await?;
        let client = client_at(&http, &plan, settings, &listener.address()).await?;
        // Two, because the state passes through the browser, and the verifier must not.
        let (state, verifier) = (random_text()?, random_text()?);
        let mut address = plan.server.authorize.clone();
        let digest = URL_SAFE_NO_PAD.encode(Sha256Hash::hash_bytes(verifier.as_bytes()).0);
        address
            .query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &client.id)
            .append_pair("redirect_uri", &listener.address())
            .append_pair("code_challenge", &digest)
            .append_pair("code_challenge_method", "S256")
            .append_pair("state", &state)
            .append_pair("resource", &plan.resource);
        if !plan.scopes.is_empty() {
            address.query_pairs_mut().append_pair("scope", &plan.scopes.join(" "));
        }
        if address.as_str().len() > LONGEST_ADDRESS {
            return Err("the address of its sign-in is too long".to_owned());
        }
        Ok(Self { url, plan, client, listener, http, address, state, verifier })
    }

    /// Returns the address that the person is to visit.
    pub fn address(&self) -> &str {
        self.address.as_str()
    }

    pub fn host(&self) -> &str {
        self.address.host_str().unwrap_or_default()
    }

    /// Waits until the person has signed in, and gets the tokens. Dropping the future ends the
    /// sign-in.
    pub async fn finish(self) -> Result<FinishedSignIn, String> {
        let Self { url, plan, client, listener, http, state, verifier, .. } = self;
        let redirect = listener.address();
        let late = |_| Err("nobody has signed in within 10 minutes".to_owned());
        let received = timeout(SIGNED_IN_WITHIN, listener.receive(&state));
        let callback = received.await.unwrap_or_else(late)?;
        let done = match check_callback(&plan, &callback.parameters) {
            Ok(code) => {
                let issued = IssuedCode { code, verifier: &verifier, redirect: &redirect };
                exchange_code(&http, url.as_str(), &plan, client, issued).await
            }
            Err(why) => Err(why),
        };
        let browser = callback.browser;
        match done {
            Ok(sign_in) => Ok(FinishedSignIn { sign_in, browser }),
            Err(why) => {
                browser.show(false).await;
                Err(why)
            }
        }
    }
}

/// A sign-in whose person waits for the last page.
pub struct FinishedSignIn {
    pub sign_in: ServerSignIn,
    browser: WaitingBrowser,
}

impl FinishedSignIn {
    /// Shows the person whether the sign-in can be used.
    pub async fn show(self, is_usable: bool) {
        self.browser.show(is_usable).await;
    }
}

/// Returns the code, if it comes from the authorization server that was asked.
fn check_callback<'a>(
    plan: &SignInPlan,
    parameters: &'a CallbackParameters,
) -> Result<&'a str, String> {
    let is_from_it = match &parameters.iss {
        Some(issuer) => is_same_issuer(issuer, &plan.server.issuer),
        None => !plan.server.names_itself,
    };
    // First: of another server not even the error counts.
    if !is_from_it {
        return Err("another authorization server has answered than the one that was asked".into());
    }
    if let Some(error) = &parameters.error {
        return Err(format!("the sign-in was refused ({})", known_reason(error)));
    }
    parameters.code.as_deref().ok_or_else(|| "the sign-in has ended without a code".to_owned())
}

/// Returns a text that nobody can guess.
fn random_text() -> Result<String, String> {
    let bytes = random_bytes::<32>()
        .map_err(|error| format!("the system gives no random numbers: {error}"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
