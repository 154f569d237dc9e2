//! Where a person signs in to a server: the description of the server, and of the authorization
//! server that it names. Both are other people's words, so each address in them is checked.

use callgate_http::{is_loopback, is_private};
use reqwest::Url;
use serde_json::Value;

use super::challenge::{AccessChallenge, unique_scopes};
use super::fetch::SignInClient;
use crate::mcp::http_client::has_login;

/// The longest address, in bytes.
const LONGEST_ADDRESS: usize = 2_048;
/// The name of the documents about servers, and of those about authorization servers.
const RESOURCE: &str = "oauth-protected-resource";
const AUTHORIZATION: &str = "oauth-authorization-server";
const OPENID: &str = "openid-configuration";
/// The scope with which a sign-in can be renewed, at servers that list it.
const OFFLINE: &str = "offline_access";

/// The authorization server at which a person signs in.
#[derive(Debug)]
pub(super) struct AuthorizationServer {
    pub(super) issuer: String,
    pub(super) authorize: Url,
    pub(super) token: Url,
    pub(super) register: Option<Url>,
    /// Whether its answers say from whom they are.
    pub(super) names_itself: bool,
    /// Whether a client may send its secret in the form.
    pub(super) takes_posted_secret: bool,
}

/// What a sign-in asks for, and where.
#[derive(Debug)]
pub(super) struct SignInPlan {
    /// The server, as tokens name it.
    pub(super) resource: String,
    pub(super) scopes: Vec<String>,
    pub(super) server: AuthorizationServer,
}

/// Finds out where a person signs in to the server at `url`.
pub(super) async fn discover_sign_in(
    client: &SignInClient,
    url: &Url,
    challenge: &AccessChallenge,
) -> Result<SignInPlan, String> {
    let described = resource_document(client, url, challenge).await?;
    let (resource, issuer, offered) = match &described {
        Some(document) => read_resource(url, document)?,
        // Servers of the first version of the specification are their own authorization servers.
        None => (canonical_name(url), url.origin().ascii_serialization(), Vec::new()),
    };
    let document = issuer_document(client, url, &issuer).await?;
    let server = read_issuer(url, &issuer, &document)?;
    // What the server has just asked for counts more than what it offers in general.
    let wanted = if challenge.scopes.is_empty() { offered } else { challenge.scopes.clone() };
    let offline = texts_in_array(&document["scopes_supported"]).find(|scope| *scope == OFFLINE);
    let scopes = unique_scopes(wanted.iter().map(String::as_str).chain(offline));
    Ok(SignInPlan { resource, scopes, server })
}

/// Returns the document in which a server describes itself, or `None` if it has none.
async fn resource_document(
    client: &SignInClient,
    url: &Url,
    challenge: &AccessChallenge,
) -> Result<Option<Value>, String> {
    let places = match &challenge.metadata {
        Some(named) => vec![checked_address(url, named, "the address of its description")?],
        None => well_known(url, RESOURCE),
    };
    match first_document(client, &places).await? {
        // Not taken for a server without a description, which would be asked to sign people in
        // itself.
        None if challenge.metadata.is_some() => {
            Err("its description is not where it says".to_owned())
        }
        found => Ok(found),
    }
}

async fn issuer_document(client: &SignInClient, url: &Url, issuer: &str) -> Result<Value, String> {
    let address = checked_address(url, issuer, "its authorization server")?;
    if address.query().is_some() {
        return Err("the address of its authorization server has a query".to_owned());
    }
    let mut places = Vec::new();
    let path = address.path().trim_end_matches('/').to_owned();
    for name in [AUTHORIZATION, OPENID] {
        places.extend(well_known(&address, name).into_iter().next());
    }
    if !path.is_empty() {
        let mut appended = address.clone();
        appended.set_path(&format!("{path}/.well-known/{OPENID}"));
        places.push(appended);
    }
    let host = address.host_str().unwrap_or_default();
    let none = || format!("{host} does not say how to sign in");
    first_document(client, &places).await?.ok_or_else(none)
}

async fn first_document(client: &SignInClient, places: &[Url]) -> Result<Option<Value>, String> {
    for place in places {
        let reply = client.get(place).await?;
        let host = place.host_str().unwrap_or_default();
        match reply.body {
            body if reply.status.is_success() && body.is_object() => return Ok(Some(body)),
            // Only a document that is missing is looked for elsewhere: a server that fails may have
            // it.
            _ if reply.status.is_client_error() => {}
            _ => {
                return Err(format!(
                    "{host} answers with HTTP {} to {}",
                    reply.status,
                    place.path()
                ));
            }
        }
    }
    Ok(None)
}

/// Returns where a document about an address may be: for its path, and for its host.
fn well_known(url: &Url, name: &str) -> Vec<Url> {
    let path = url.path().trim_end_matches('/');
    let place = |path: &str| {
        let mut place = url.clone();
        place.set_path(&format!("/.well-known/{name}{path}"));
        place.set_query(None);
        place.set_fragment(None);
        place
    };
    if path.is_empty() { vec![place("")] } else { vec![place(path), place("")] }
}

/// Reads a server's description: its name for tokens, its authorization server, and its scopes.
fn read_resource(url: &Url, document: &Value) -> Result<(String, String, Vec<String>), String> {
    let named = document["resource"].as_str().unwrap_or_default();
    // Otherwise a server could be sent a token that another one accepts.
    let is_it = Url::parse(named).is_ok_and(|resource| is_resource_of(&resource, url));
    if !is_it {
        return Err("its description is that of another server".to_owned());
    }
    let issuer = texts_in_array(&document["authorization_servers"]).next();
    let issuer = issuer.ok_or("its description names no authorization server")?;
    let offered = unique_scopes(texts_in_array(&document["scopes_supported"]));
    Ok((named.to_owned(), issuer.to_owned(), offered))
}

/// Returns true if a resource is the server at `url`, or contains it.
fn is_resource_of(resource: &Url, url: &Url) -> bool {
    let path = resource.path().trim_end_matches('/');
    let rest = url.path().strip_prefix(path);
    resource.origin() == url.origin()
        && resource.query().is_none_or(|query| url.query() == Some(query))
        && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the name of a server that does not describe itself.
fn canonical_name(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    url.as_str().trim_end_matches('/').to_owned()
}

fn read_issuer(url: &Url, issuer: &str, document: &Value) -> Result<AuthorizationServer, String> {
    // Otherwise one issuer could lead to the sign-in of another.
    if !is_same_issuer(document["issuer"].as_str().unwrap_or_default(), issuer) {
        return Err("its authorization server says that it is another".to_owned());
    }
    let address = |name: &str, what: &str| {
        let text = document[name].as_str();
        text.map(|text| checked_address(url, text, what)).transpose()
    };
    let missing = |what: &str| format!("its authorization server does not say {what}");
    let authorize = address("authorization_endpoint", "the address of the sign-in")?;
    let token = address("token_endpoint", "the address for tokens")?;
    let register = address("registration_endpoint", "the address for registrations")?;
    // Without PKCE, whoever reads the code on its way through the browser could use it.
    if !texts_in_array(&document["code_challenge_methods_supported"]).any(|method| method == "S256")
    {
        return Err(
            "its authorization server does not protect the code (PKCE with S256)".to_owned()
        );
    }
    Ok(AuthorizationServer {
        issuer: issuer.to_owned(),
        authorize: authorize.ok_or_else(|| missing("where to sign in"))?,
        token: token.ok_or_else(|| missing("where tokens are"))?,
        register,
        names_itself: document["authorization_response_iss_parameter_supported"] == true,
        takes_posted_secret: texts_in_array(&document["token_endpoint_auth_methods_supported"])
            .any(|method| method == "client_secret_post"),
    })
}

/// Returns true if two texts name the same issuer. Some write its address with a `/` at its end.
pub(super) fn is_same_issuer(one: &str, other: &str) -> bool {
    !one.is_empty() && one.trim_end_matches('/') == other.trim_end_matches('/')
}

/// Checks an address that somebody else has named. What is sent there may be secret; and a server
/// elsewhere must not make us call services of this machine.
fn checked_address(server: &Url, text: &str, what: &str) -> Result<Url, String> {
    let wrong = |why: &str| Err(format!("{what} {why}"));
    let url = match Url::parse(text) {
        Ok(url) if text.len() <= LONGEST_ADDRESS => url,
        _ => return wrong("is not a URL"),
    };
    if !is_private(&url) {
        return wrong("does not begin with https://");
    }
    if is_loopback(&url) && !is_loopback(server) {
        return wrong("is on this machine, and the server is not");
    }
    if has_login(&url) || url.fragment().is_some() {
        return wrong("has a password or a fragment");
    }
    Ok(url)
}

fn texts_in_array(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests;
