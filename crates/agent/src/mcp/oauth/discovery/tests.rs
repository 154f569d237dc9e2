//! Tests of what is believed of the descriptions of servers.

use super::*;
use serde_json::json;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn document() -> Value {
    json!({
        "issuer": "https://id.example",
        "authorization_endpoint": "https://id.example/authorize?a=b",
        "token_endpoint": "https://id.example/token",
        "registration_endpoint": "https://id.example/register",
        "code_challenge_methods_supported": ["plain", "S256"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
    })
}

#[test]
fn documents_are_looked_for_by_path_and_by_host() {
    let places = |of: &str| -> Vec<String> {
        well_known(&url(of), RESOURCE).iter().map(ToString::to_string).collect()
    };
    let root = "https://a.example/.well-known/oauth-protected-resource";
    assert_eq!(places("https://a.example/mcp/?x=1"), [format!("{root}/mcp"), root.to_owned()]);
    assert_eq!(places("https://a.example/"), [root]);
}

#[test]
fn a_description_has_to_be_that_of_the_server() {
    let server = url("https://a.example/team/mcp");
    let check = |resource: &str, is_its_own: bool| {
        let document = json!({
            "resource": resource,
            "authorization_servers": ["https://id.example"],
            "scopes_supported": ["read", "read", 7],
        });
        let read = read_resource(&server, &document);
        assert_eq!(read.is_ok(), is_its_own, "{resource}: {read:?}");
        if let Ok(read) = read {
            assert_eq!(read.1, "https://id.example");
            assert_eq!(read.2, ["read"]);
        }
    };
    for resource in ["https://a.example/team/mcp", "https://a.example/team/", "https://a.example"] {
        check(resource, true);
    }
    for resource in [
        "",
        "https://b.example/team/mcp",
        "http://a.example/team/mcp",
        "https://a.example:8443/team/mcp",
        "https://a.example/te",
        "https://a.example/team/mcp/more",
        "https://a.example/team/mcp?tenant=1",
    ] {
        check(resource, false);
    }
    let none = json!({"resource": "https://a.example", "authorization_servers": []});
    assert!(read_resource(&server, &none).unwrap_err().contains("names no authorization server"));
}

#[test]
fn an_issuer_has_to_be_the_one_that_was_named() {
    let server = url("https://a.example/mcp");
    let read = read_issuer(&server, "https://id.example/", &document()).unwrap();
    assert_eq!(read.authorize.as_str(), "https://id.example/authorize?a=b");
    assert!(read.takes_posted_secret && !read.names_itself);
    let check = |name: &str, value: Value, why: &str| {
        let mut document = document();
        document[name] = value;
        let error = read_issuer(&server, "https://id.example", &document).unwrap_err();
        assert!(error.contains(why), "{name}: {error}");
    };
    check("issuer", json!("https://other.example"), "says that it is another");
    check("issuer", Value::Null, "says that it is another");
    check("authorization_endpoint", Value::Null, "where to sign in");
    check("authorization_endpoint", json!("javascript:alert(1)"), "does not begin with https://");
    check("authorization_endpoint", json!("http://id.example/a"), "does not begin with https://");
    check("token_endpoint", json!("http://127.0.0.1:8000/token"), "is on this machine");
    check("token_endpoint", json!("https://me:x@id.example/token"), "has a password");
    check("token_endpoint", json!("/token"), "is not a URL");
    check("registration_endpoint", json!("https://localhost/r"), "is on this machine");
    check("code_challenge_methods_supported", json!(["plain"]), "PKCE");
    check("code_challenge_methods_supported", Value::Null, "PKCE");
    let long = format!("https://id.example/{}", "a".repeat(LONGEST_ADDRESS));
    check("token_endpoint", json!(long), "is not a URL");
}
