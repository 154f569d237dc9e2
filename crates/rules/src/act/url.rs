//! The host in a URL, or `None` if the URL is ambiguous.

/// Returns the host of a URL, in lower case, with its port if one is given.
pub(crate) fn host_of(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let is_scheme = !scheme.is_empty()
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    // Programs disagree on the meaning of a backslash, a blank or a control character in a URL.
    let is_odd = url.contains(|c: char| c == '\\' || c.is_whitespace() || c.is_control());
    let authority = rest.split(['/', '?', '#']).next()?;
    // Programs also disagree on which of several `@` ends the user.
    if !is_scheme || is_odd || authority.matches('@').count() > 1 {
        return None;
    }
    let host = authority.rsplit('@').next()?.to_ascii_lowercase();
    let is_host = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    let (name, port) = split_port(&host);
    // With the dot of the root it is the same host, which a deny must not miss.
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
            // Without brackets, several colons are an IPv6 address without a port.
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
mod tests;
