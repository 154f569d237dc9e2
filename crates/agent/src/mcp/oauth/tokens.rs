//! The requests for tokens, and the registration before them.

use callgate_store::now_ms;
use serde_json::{Value, json};

use super::challenge::unique_scopes;
use super::discovery::SignInPlan;
use super::fetch::{SignInClient, SignInReply};
use super::sign_in_record::{OauthClient, ServerSignIn};
use crate::mcp::OauthSettings;

/// The longest token or name, in bytes.
const LONGEST_TOKEN: usize = 16 * 1024;
/// The reasons that authorization servers give. Others are not shown: they could repeat a secret.
const REASONS: [&str; 14] = [
    "access_denied",
    "consent_required",
    "interaction_required",
    "invalid_client",
    "invalid_client_metadata",
    "invalid_grant",
    "invalid_redirect_uri",
    "invalid_request",
    "invalid_scope",
    "invalid_target",
    "login_required",
    "server_error",
    "temporarily_unavailable",
    "unauthorized_client",
];

/// Returns the reason of an authorization server, if it is one that may be shown.
pub(super) fn known_reason(reason: &str) -> &'static str {
    REASONS.into_iter().find(|known| *known == reason).unwrap_or("no known reason")
}

/// Returns what this program is to an authorization server: by the settings, or by registration.
pub(super) async fn client_at(
    http: &SignInClient,
    plan: &SignInPlan,
    settings: &OauthSettings,
    redirect: &str,
) -> Result<OauthClient, String> {
    let server = &plan.server;
    if let Some(id) = &settings.client_id {
        let (id, secret) = (id.clone(), settings.client_secret.clone());
        return Ok(OauthClient { id, secret, is_secret_posted: server.takes_posted_secret });
    }
    let none = "its authorization server registers nobody: register callgate there by hand, and \
         write the client id into the settings (`oauth = { client_id = \"…\" }`)";
    let register = server.register.as_ref().ok_or(none)?;
    let mut wanted = json!({
        "client_name": "callgate",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        // PKCE protects the code, without which no sign-in is begun.
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    });
    if !plan.scopes.is_empty() {
        // Some let a client ask only for what it was registered for.
        wanted["scope"] = json!(plan.scopes.join(" "));
    }
    let SignInReply { status, body } = http.post_json(register, &wanted).await?;
    let id = member_text(&body, "client_id");
    let Some(id) = id.filter(|_| status.is_success()) else {
        let reason = known_reason(body["error"].as_str().unwrap_or_default());
        return Err(format!("its authorization server has not registered callgate ({reason})"));
    };
    // A server may register another method than the one that was wanted.
    let is_secret_posted = body["token_endpoint_auth_method"] != "client_secret_basic";
    Ok(OauthClient { id, secret: member_text(&body, "client_secret"), is_secret_posted })
}

/// A code that an authorization server has sent, and what proves that it is for us.
pub(super) struct IssuedCode<'a> {
    pub(super) code: &'a str,
    pub(super) verifier: &'a str,
    pub(super) redirect: &'a str,
}

pub(super) async fn exchange_code(
    http: &SignInClient,
    url: &str,
    plan: &SignInPlan,
    client: OauthClient,
    issued: IssuedCode<'_>,
) -> Result<ServerSignIn, String> {
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", issued.code),
        ("redirect_uri", issued.redirect),
        ("code_verifier", issued.verifier),
        ("resource", plan.resource.as_str()),
    ];
    let mut sign_in = ServerSignIn {
        url: url.to_owned(),
        issuer: plan.server.issuer.clone(),
        scopes: plan.scopes.clone(),
        expires_at: None,
        resource: plan.resource.clone(),
        token_address: plan.server.token.to_string(),
        client,
        access_token: String::new(),
        refresh_token: None,
    };
    let tokens = request_tokens(http, &sign_in, &fields).await?;
    take_tokens(&mut sign_in, &tokens)?;
    Ok(sign_in)
}

pub(super) async fn refresh_sign_in(
    http: &SignInClient,
    sign_in: &ServerSignIn,
) -> Result<ServerSignIn, String> {
    let token = sign_in.refresh_token.as_deref().ok_or("the sign-in has expired")?;
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", token),
        ("resource", sign_in.resource.as_str()),
    ];
    let tokens = request_tokens(http, sign_in, &fields).await?;
    let mut renewed = sign_in.clone();
    take_tokens(&mut renewed, &tokens)?;
    Ok(renewed)
}

async fn request_tokens(
    http: &SignInClient,
    sign_in: &ServerSignIn,
    fields: &[(&str, &str)],
) -> Result<Value, String> {
    let client = &sign_in.client;
    let address = sign_in.token_address.parse().map_err(|_| "the address for tokens is no URL")?;
    let mut fields = fields.to_vec();
    let mut basic = None;
    match client.secret.as_deref() {
        Some(secret) if !client.is_secret_posted => basic = Some((client.id.as_str(), secret)),
        secret => {
            fields.push(("client_id", &client.id));
            fields.extend(secret.map(|secret| ("client_secret", secret)));
        }
    }
    let SignInReply { status, body } = http.post_form(&address, &fields, basic).await?;
    if !status.is_success() {
        let reason = known_reason(body["error"].as_str().unwrap_or_default());
        return Err(format!("its authorization server has refused a token ({reason})"));
    }
    Ok(body)
}

fn take_tokens(sign_in: &mut ServerSignIn, answer: &Value) -> Result<(), String> {
    let is_bearer =
        answer["token_type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("bearer"));
    let token = member_text(answer, "access_token").filter(|token| {
        // It goes into a header, which takes no other bytes.
        token.bytes().all(|byte| byte.is_ascii_graphic())
    });
    let Some(token) = token.filter(|_| is_bearer) else {
        return Err("its authorization server has sent no token that can be used".to_owned());
    };
    sign_in.access_token = token;
    let lifetime = answer["expires_in"].as_u64();
    sign_in.expires_at =
        lifetime.map(|seconds| unix_time_ms().saturating_add(seconds.saturating_mul(1_000)));
    // Where no new one is sent the old one goes on to count.
    if let Some(token) = member_text(answer, "refresh_token") {
        sign_in.refresh_token = Some(token);
    }
    if let Some(granted) = answer["scope"].as_str() {
        sign_in.scopes = unique_scopes(granted.split(' '));
    }
    Ok(())
}

pub(super) fn unix_time_ms() -> u64 {
    now_ms().cast_unsigned()
}

/// Returns a member that is a text of a length that can be kept.
fn member_text(answer: &Value, name: &str) -> Option<String> {
    let text = answer[name].as_str()?;
    (1..=LONGEST_TOKEN).contains(&text.len()).then(|| text.to_owned())
}
