//! The host in a URL, or `None` when the URL could be read in two ways.

/// Returns the host of a URL, in lower case, with its port if one is given.
pub(crate) fn host_of(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let is_scheme = !scheme.is_empty()
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    // Programs disagree on what a backslash, a blank or a control character in a URL means.
    let is_odd = url.contains(|c: char| c == '\\' || c.is_whitespace() || c.is_control());
    let authority = rest.split(['/', '?', '#']).next()?;
    if !is_scheme || is_odd || authority.matches('@').count() > 1 {
        return None;
    }
    let host = authority.rsplit('@').next()?.to_ascii_lowercase();
    let is_host = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    let (name, port) = split_port(&host);
    let name = name.strip_suffix('.').unwrap_or(name);
    (!name.is_empty() && host.chars().all(is_host)).then(|| match port {
        Some(port) => format!("{name}:{port}"),
        None => name.to_owned(),
    })
}

/// Takes the port from the end of a host.
pub(crate) fn split_port(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => {
            // Without brackets more colons are an address of the sixth version and no port.
            if name.contains(':') && !name.ends_with(']') {
                (host, None)
            } else {
                (name, Some(port))
            }
        }
        _ => (host, None),
    }
}

#[cfg(test)]
mod tests {
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
}
