//! The hosts of URLs.

use super::*;

fn check(url: &str, expected: Option<&str>) {
    assert_eq!(host_of(url).as_deref(), expected, "{url:?}");
}

#[test]
fn the_host_is_found_or_nothing_is() {
    check("https://example.com/a", Some("example.com"));
    check("https://Example.COM.:8443?q", Some("example.com:8443"));
    check("https://good.com@evil.com/", Some("evil.com"));
    check("https://good.com:80@evil.com", Some("evil.com"));
    check("https://evil.com#@good.com", Some("evil.com"));
    check("https://evil.com?@good.com", Some("evil.com"));
    check("https://evil.com\\@good.com", None);
    check("https://a@b@c", None);
    check("https://%65vil.com", None);
    check("https://ex ample.com", None);
    check("https://exämple.com", None);
    check("https:///a", None);
    check("example.com", None);
    check("http://[::1]:80/", Some("[::1]:80"));
    check("http://127.0.0.1", Some("127.0.0.1"));
}
