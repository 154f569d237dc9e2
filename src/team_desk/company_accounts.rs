//! The accounts of a company: an OpenID Connect provider says who signs in to the team's page.

use callgate_approval::daemon::Warn;
use callgate_http::{ProxyChoice, TextSource, form_text};
use callgate_link::random::random_bytes;
use callgate_store::{Sha256Hash, now_ms};
use callgate_team::{ExpectedIdToken, code_challenge, verify_id_token};
use callgate_web::{AccountProvider, BegunSignIn, DeskFuture, ProviderAnswer, SignInTicket};
use callgate_wire::HiddenText;
use serde_json::Value;

/// The longest answer of a provider, in bytes.
const LONGEST_ANSWER: usize = 64 * 1024;

/// A provider, and this desk as its client.
pub(crate) struct CompanyAccounts {
    pub(crate) issuer: String,
    pub(crate) client_id: String,
    pub(crate) client_secret: Option<HiddenText>,
    pub(crate) proxy: ProxyChoice,
    pub(crate) warn: Warn,
}

struct ProviderAddresses {
    authorize: String,
    token: String,
    keys: String,
    /// Whether its answers say from whom they are.
    names_itself: bool,
}

impl CompanyAccounts {
    /// Reads the description of the provider.
    async fn find_addresses(&self) -> Result<ProviderAddresses, String> {
        let issuer = self.issuer.trim_end_matches('/');
        let described =
            self.fetch_json(&format!("{issuer}/.well-known/openid-configuration")).await?;
        // Otherwise one provider could lead to the sign-in of another.
        if described["issuer"] != *self.issuer {
            return Err("the provider names another issuer than `team.oidc_issuer`".to_owned());
        }
        let address = |name: &str| {
            let found = described[name].as_str().map(str::to_owned);
            found.ok_or_else(|| format!("the provider's description has no `{name}`"))
        };
        Ok(ProviderAddresses {
            authorize: address("authorization_endpoint")?,
            token: address("token_endpoint")?,
            keys: address("jwks_uri")?,
            names_itself: described["authorization_response_iss_parameter_supported"] == true,
        })
    }

    /// Opens an address of the provider, which has to be encrypted or on this machine.
    fn open(&self, address: &str) -> Result<TextSource, String> {
        TextSource::new(address, &self.proxy).map_err(|error| format!("the provider: {error}"))
    }

    async fn fetch_json(&self, address: &str) -> Result<Value, String> {
        let text = self.open(address)?.fetch(LONGEST_ANSWER).await;
        parse_answer(&text.map_err(|error| format!("the provider: {error}"))?)
    }

    async fn begin(&self, redirect: &str) -> Result<BegunSignIn, String> {
        let ProviderAddresses { authorize, .. } = self.find_addresses().await?;
        // A browser is led there, so it has to be an address like the others.
        self.open(&authorize)?;
        let (state, verifier, nonce) = (random_text()?, random_text()?, random_text()?);
        let challenge = code_challenge(&verifier);
        let query = form_text(&[
            ("response_type", "code"),
            ("client_id", &self.client_id),
            ("redirect_uri", redirect),
            ("scope", "openid email"),
            ("state", &state),
            ("nonce", &nonce),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ]);
        // The address of a provider may have a query of its own.
        let joint = if authorize.contains('?') { '&' } else { '?' };
        let address = format!("{authorize}{joint}{query}");
        Ok(BegunSignIn { address, ticket: SignInTicket { state, verifier, nonce } })
    }

    async fn finish(
        &self,
        ticket: &SignInTicket,
        redirect: &str,
        answer: &ProviderAnswer,
    ) -> Result<String, String> {
        // Sign-ins are rare, so everything is fetched anew for each, and a new key of the provider
        // counts at once.
        let addresses = self.find_addresses().await?;
        let is_other = match &answer.issuer {
            Some(issuer) => *issuer != self.issuer,
            // A provider that says it names itself does so in every answer (RFC 9207).
            None => addresses.names_itself,
        };
        if is_other {
            return Err("the answer is of another provider".to_owned());
        }
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", answer.code.as_str()),
            ("redirect_uri", redirect),
            ("code_verifier", ticket.verifier.as_str()),
        ];
        // RFC 6749 wants both encoded like a form before they go into the header (section 2.3.1).
        let quoted = |text: &str| form_text(&[("", text)]).trim_start_matches('=').to_owned();
        let login = self.client_secret.as_ref();
        let login = login.map(|secret| (quoted(&self.client_id), quoted(secret.reveal())));
        // Only without a secret, because otherwise the header of the login names the client.
        if login.is_none() {
            fields.push(("client_id", &self.client_id));
        }
        let login = login.as_ref().map(|(name, secret)| (name.as_str(), secret.as_str()));
        let tokens = self.open(&addresses.token)?.post_form(&fields, login, LONGEST_ANSWER).await;
        let tokens =
            tokens.map_err(|error| format!("the provider returned no ID token: {error}"))?;
        let tokens = parse_answer(&tokens)?;
        let token = tokens["id_token"].as_str().ok_or("the provider's answer has no ID token")?;
        let keys = self.fetch_json(&addresses.keys).await?;
        let expected = ExpectedIdToken {
            issuer: &self.issuer,
            client_id: &self.client_id,
            nonce: &ticket.nonce,
            now: now_ms() / 1_000,
        };
        verify_id_token(token, &keys, expected).map_err(|error| error.to_string())
    }
}

impl AccountProvider for CompanyAccounts {
    fn begin_sign_in<'a>(
        &'a self,
        redirect: &'a str,
    ) -> DeskFuture<'a, Result<BegunSignIn, String>> {
        Box::pin(self.begin(redirect))
    }

    fn finish_sign_in<'a>(
        &'a self,
        ticket: &'a SignInTicket,
        redirect: &'a str,
        answer: &'a ProviderAnswer,
    ) -> DeskFuture<'a, Result<String, String>> {
        Box::pin(self.finish(ticket, redirect, answer))
    }

    fn report_failure(&self, why: &str) {
        (self.warn)(&format!("somebody could not sign in to the team's page: {why}"));
    }
}

fn parse_answer(text: &str) -> Result<Value, String> {
    // The words of the parser are left out, because they may repeat a part of the answer, which has
    // tokens.
    serde_json::from_str(text).map_err(|_| "the provider's answer is not JSON".to_owned())
}

fn random_text() -> Result<String, String> {
    let bytes = random_bytes::<32>().map_err(|error| error.to_string())?;
    Ok(Sha256Hash(bytes).to_string())
}
