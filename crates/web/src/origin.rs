//! Which requests come from the page itself: those of other sites, and those that reach this
//! machine under another name, are refused.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::headers;
use crate::refusal::HttpRefusal;

/// The origin under which a browser sees the page, such as `http://127.0.0.1:7420`. A session
/// belongs to one origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageOrigin(pub(crate) String);

#[derive(Debug)]
pub(crate) struct PageHosts {
    scheme: &'static str,
    /// Each with its port, unless that is the usual one of the scheme.
    hosts: Vec<String>,
    /// The answer to a request that names another host.
    otherwise: &'static str,
    /// The paths to which people come from other sites, by a link or after a sign-in.
    entrances: &'static [&'static str],
}

impl PageHosts {
    /// The hosts of the page on this machine.
    pub(crate) fn on_loopback(port: u16) -> Self {
        Self {
            scheme: "http",
            hosts: vec![format!("127.0.0.1:{port}"), format!("localhost:{port}")],
            otherwise: "the page is served under 127.0.0.1 and localhost only",
            entrances: &[],
        }
    }

    /// The hosts of the page of a team, each with its port.
    pub(crate) fn over_tls(hosts: &[String]) -> Self {
        let as_browsers_send = |host: &String| {
            let host = host.to_ascii_lowercase();
            // The usual port goes, because browsers leave it out.
            host.strip_suffix(":443").map(str::to_owned).unwrap_or(host)
        };
        Self {
            scheme: "https",
            hosts: hosts.iter().map(as_browsers_send).collect(),
            otherwise: "this desk is known under another name",
            entrances: &["/", SIGN_IN_RETURN],
        }
    }
}

pub(crate) const SIGN_IN_RETURN: &str = "/sign-in";

/// Lets a request pass if it comes from the page, and gives every answer its headers.
pub(crate) async fn guard_request(
    State(hosts): State<Arc<PageHosts>>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let mut response = match check_origin(&parts, &hosts) {
        Ok(origin) => {
            parts.extensions.insert(origin);
            next.run(Request::from_parts(parts, body)).await
        }
        Err(refusal) => refusal.into_response(),
    };
    // Also on a refusal, which is drawn by a browser as well.
    headers::add_protection(response.headers_mut());
    response
}

fn check_origin(parts: &Parts, hosts: &PageHosts) -> Result<PageOrigin, HttpRefusal> {
    let host = check_host(parts, hosts)?;
    let origin = PageOrigin(format!("{}://{host}", hosts.scheme));
    let is_api = parts.uri.path().starts_with("/api/");
    let same_origin = |value: &HeaderValue| value.as_bytes() == origin.0.as_bytes();
    // All values of a header are looked at: another program may read another one than we do.
    if !has_only_matching(&parts.headers, &header::ORIGIN, same_origin) {
        return Err(foreign_site_refusal());
    }
    // A person who follows a bookmark or types the address comes from no site.
    let is_from_here = |value: &HeaderValue| match value.as_bytes() {
        b"same-origin" => true,
        // Nobody types the address of a request that does something.
        b"none" => !is_api && parts.method == Method::GET,
        b"same-site" | b"cross-site" => is_visit(parts, hosts),
        _ => false,
    };
    if !has_only_matching(&parts.headers, &SEC_FETCH_SITE, is_from_here) {
        return Err(foreign_site_refusal());
    }
    // A form of another site cannot send JSON without being asked for permission first.
    if parts.method == Method::POST && !is_json(&parts.headers) {
        let text = "the body must be JSON: set Content-Type to application/json";
        return Err(HttpRefusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    Ok(origin)
}

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Returns true if a person follows a link to an entrance of the page, in a tab of their own.
fn is_visit(parts: &Parts, hosts: &PageHosts) -> bool {
    let is = |name: &HeaderName, value: &[u8]| {
        parts.headers.get(name).is_some_and(|found: &HeaderValue| found.as_bytes() == value)
    };
    parts.method == Method::GET
        && hosts.entrances.contains(&parts.uri.path())
        && is(&SEC_FETCH_MODE, b"navigate")
        // In a frame another site could have a person press what they do not see.
        && is(&SEC_FETCH_DEST, b"document")
}

/// Returns the host that the request names, which must be one of the page's. Another name means
/// that a site's own name resolves to this machine.
fn check_host(parts: &Parts, hosts: &PageHosts) -> Result<String, HttpRefusal> {
    let mut named = parts.headers.get_all(header::HOST).iter().map(HeaderValue::as_bytes);
    let found = match (named.next(), named.next()) {
        // Two `Host` headers are refused, because a proxy could go by the other one.
        (Some(name), None) => hosts.hosts.iter().find(|ours| ours.as_bytes() == name),
        _ => None,
    };
    let is_same = |found: &&String| {
        // A request line may name a host as well, which must not be another one.
        parts.uri.authority().is_none_or(|authority| authority.as_str() == found.as_str())
    };
    let misdirected = || HttpRefusal::new(StatusCode::MISDIRECTED_REQUEST, hosts.otherwise);
    found.filter(is_same).cloned().ok_or_else(misdirected)
}

pub(crate) fn foreign_site_refusal() -> HttpRefusal {
    HttpRefusal::new(StatusCode::FORBIDDEN, "the request comes from another site")
}

fn is_json(headers: &HeaderMap) -> bool {
    let media_type = |value: &HeaderValue| {
        let value = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
        value.trim().eq_ignore_ascii_case("application/json")
    };
    headers.contains_key(header::CONTENT_TYPE)
        && has_only_matching(headers, &header::CONTENT_TYPE, media_type)
}

/// Returns true if no value of a header fails the test.
fn has_only_matching(
    headers: &HeaderMap,
    name: &HeaderName,
    test: impl Fn(&HeaderValue) -> bool,
) -> bool {
    headers.get_all(name).iter().all(test)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    /// Returns the status of a request, a line of which is `METHOD PATH`, others are headers.
    fn status(request: &str) -> u16 {
        status_at(request, &PageHosts::on_loopback(7420))
    }

    fn status_at(request: &str, hosts: &PageHosts) -> u16 {
        let mut lines = request.lines().map(str::trim);
        let (method, path) = lines.next().unwrap().split_once(' ').unwrap();
        let mut builder = Request::builder().method(method).uri(path);
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            builder = builder.header(name, value);
        }
        let (parts, _) = builder.body(Body::empty()).unwrap().into_parts();
        check_origin(&parts, hosts).map_or_else(|refusal| refusal_status(&refusal), |_| 200)
    }

    fn refusal_status(refusal: &HttpRefusal) -> u16 {
        refusal.clone().into_response().status().as_u16()
    }

    #[test]
    fn only_the_names_of_this_machine_are_served() {
        assert_eq!(status("GET /\nHost: 127.0.0.1:7420"), 200);
        assert_eq!(status("GET /\nHost: localhost:7420"), 200);
        for host in [
            "evil.example:7420",
            "127.0.0.1",
            "127.0.0.1:7421",
            "localhost.evil.example:7420",
            "LOCALHOST:7420",
            "[::1]:7420",
            "127.0.0.1:7420.",
            "0.0.0.0:7420",
        ] {
            assert_eq!(status(&format!("GET /\nHost: {host}")), 421, "{host}");
        }
        assert_eq!(status("GET /"), 421, "no name at all");
        assert_eq!(status("GET /\nHost: 127.0.0.1:7420\nHost: evil.example"), 421);
        assert_eq!(status("GET http://evil.example/\nHost: 127.0.0.1:7420"), 421);
        assert_eq!(status("GET http://127.0.0.1:7420/\nHost: 127.0.0.1:7420"), 200);
    }

    #[test]
    fn people_of_a_team_come_from_elsewhere_by_a_link_and_not_otherwise() {
        let hosts = ["desk.example.org:7443".to_owned(), "Desk.Example.Org:443".to_owned()];
        let hosts = PageHosts::over_tls(&hosts);
        let check = |request: &str, more: &str, expected: u16| {
            let request = format!("{request}\nHost: desk.example.org:7443\n{more}");
            assert_eq!(status_at(request.trim_end(), &hosts), expected, "{request}");
        };
        let link = "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document";
        check("GET /", link, 200);
        check("GET /sign-in", link, 200);
        check("GET /ui/app.js", link, 403);
        check("GET /api/events", link, 403);
        check("GET /", &link.replace("document", "iframe"), 403);
        check("GET /", &link.replace("navigate", "no-cors"), 403);
        check("POST /", &format!("{link}\nContent-Type: application/json"), 403);
        check("GET /api/events", "Origin: https://desk.example.org:7443", 200);
        check("GET /api/events", "Origin: http://desk.example.org:7443", 403);
        check("GET /api/events", "Origin: https://evil.example", 403);
        assert_eq!(status_at("GET /\nHost: desk.example.org", &hosts), 200, "the usual port");
        for host in ["127.0.0.1:7443", "localhost:7443", "desk.example.org:7444", "evil.example"] {
            assert_eq!(status_at(&format!("GET /\nHost: {host}"), &hosts), 421, "{host}");
        }
        let loopback = format!("GET /\nHost: 127.0.0.1:7420\n{link}");
        assert_eq!(status(&loopback), 403, "nobody is sent a link to the page on a machine");
    }

    #[test]
    fn other_sites_are_refused() {
        let check = |path: &str, header: &str, expected: u16| {
            let (method, path) = path.split_once(' ').unwrap();
            let json = if method == "POST" { "\nContent-Type: application/json" } else { "" };
            let request = format!("{method} {path}\nHost: 127.0.0.1:7420\n{header}{json}");
            assert_eq!(status(&request), expected, "{request}");
        };
        check("POST /api/desk", "Origin: http://127.0.0.1:7420", 200);
        check("POST /api/desk", "Origin: http://localhost:7420", 403);
        check("POST /api/desk", "Origin: http://127.0.0.1:3000", 403);
        check("POST /api/desk", "Origin: https://evil.example", 403);
        check("POST /api/desk", "Origin: null", 403);
        check("GET /", "Origin: https://evil.example", 403);
        check("POST /api/desk", "Sec-Fetch-Site: same-origin", 200);
        check("GET /api/events", "Sec-Fetch-Site: same-origin", 200);
        check("POST /api/desk", "Sec-Fetch-Site: none", 403);
        check("GET /api/events", "Sec-Fetch-Site: none", 403);
        check("GET /", "Sec-Fetch-Site: none", 200);
        for site in ["same-site", "cross-site", "nonsense"] {
            check("GET /", &format!("Sec-Fetch-Site: {site}"), 403);
            check("POST /api/desk", &format!("Sec-Fetch-Site: {site}"), 403);
        }
    }

    #[test]
    fn a_form_cannot_post() {
        let check = |kind: &str, expected: u16| {
            let request = format!("POST /api/desk\nHost: 127.0.0.1:7420{kind}");
            assert_eq!(status(&request), expected, "{kind}");
        };
        check("\nContent-Type: application/json", 200);
        check("\nContent-Type: application/json; charset=utf-8", 200);
        check("\nContent-Type: text/plain", 415);
        check("\nContent-Type: application/x-www-form-urlencoded", 415);
        check("\nContent-Type: multipart/form-data; boundary=application/json", 415);
        check("", 415);
    }
}
