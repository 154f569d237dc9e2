//! Which requests come from the page itself: those of other sites, and those that reach this
//! machine under another name, are refused.

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::address::PageAddress;
use crate::headers;
use crate::refusal::HttpRefusal;

/// The origin under which a browser sees the page, such as `http://127.0.0.1:7420`. A session
/// belongs to one origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageOrigin(pub(crate) String);

/// Lets a request pass if it comes from the page, and gives every answer its headers.
pub(crate) async fn guard_request(
    State(address): State<PageAddress>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let mut response = match check_origin(&parts, address.port()) {
        Ok(origin) => {
            parts.extensions.insert(origin);
            next.run(Request::from_parts(parts, body)).await
        }
        Err(refusal) => refusal.into_response(),
    };
    headers::add_protection(response.headers_mut());
    response
}

/// Returns the origin of a request from the page.
fn check_origin(parts: &Parts, port: u16) -> Result<PageOrigin, HttpRefusal> {
    let host = check_host(parts, port)?;
    let origin = PageOrigin(format!("http://{host}"));
    let is_api = parts.uri.path().starts_with("/api/");
    let same_origin = |value: &HeaderValue| value.as_bytes() == origin.0.as_bytes();
    if !has_only_matching(&parts.headers, &header::ORIGIN, same_origin) {
        return Err(foreign_site_refusal());
    }
    // A person who follows a bookmark or types the address comes from no site.
    let is_from_here = |value: &HeaderValue| match value.as_bytes() {
        b"same-origin" => true,
        b"none" => !is_api && parts.method == Method::GET,
        _ => false,
    };
    if !has_only_matching(&parts.headers, &SEC_FETCH_SITE, is_from_here) {
        return Err(foreign_site_refusal());
    }
    if parts.method == Method::POST && !is_json(&parts.headers) {
        let text = "the body must be JSON: set Content-Type to application/json";
        return Err(HttpRefusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    Ok(origin)
}

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Returns the host that the request names, which must be this machine. Another name means that a
/// site's own name resolves to this machine.
fn check_host(parts: &Parts, port: u16) -> Result<String, HttpRefusal> {
    let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let mut named = parts.headers.get_all(header::HOST).iter().map(HeaderValue::as_bytes);
    let found = match (named.next(), named.next()) {
        (Some(name), None) => ours.into_iter().find(|ours| ours.as_bytes() == name),
        _ => None,
    };
    let is_same = |found: &String| {
        parts.uri.authority().is_none_or(|authority| authority.as_str() == found.as_str())
    };
    found.filter(is_same).ok_or_else(|| {
        let text = "the page is served under 127.0.0.1 and localhost only";
        HttpRefusal::new(StatusCode::MISDIRECTED_REQUEST, text)
    })
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
        let mut lines = request.lines().map(str::trim);
        let (method, path) = lines.next().unwrap().split_once(' ').unwrap();
        let mut builder = Request::builder().method(method).uri(path);
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            builder = builder.header(name, value);
        }
        let (parts, _) = builder.body(Body::empty()).unwrap().into_parts();
        check_origin(&parts, 7420).map_or_else(|refusal| refusal_status(&refusal), |_| 200)
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
