//! Resolves references between schemas, as RFC 3986 describes it.

/// Splits a reference into its address and its fragment.
pub(super) fn split_fragment(reference: &str) -> (&str, &str) {
    reference.split_once('#').unwrap_or((reference, ""))
}

/// Returns the address that a reference without fragment means, seen from a base.
pub(super) fn resolve_reference(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    if find_scheme(reference).is_some() {
        return reference.to_owned();
    }
    let start = find_scheme(base).map_or("", |scheme| &base[..=scheme.len()]);
    if reference.starts_with("//") {
        return format!("{start}{reference}");
    }
    let rest = &base[start.len()..];
    let host = rest.strip_prefix("//").map_or(0, |rest| 2 + rest.find('/').unwrap_or(rest.len()));
    let (host, path) = rest.split_at(host);
    let path = path.split('?').next().unwrap_or_default();
    let folder = path.rfind('/').map_or("", |end| &path[..=end]);
    let path = match reference.as_bytes() {
        [b'/', ..] => reference.to_owned(),
        [b'?', ..] => format!("{path}{reference}"),
        _ if folder.is_empty() && !host.is_empty() => format!("/{reference}"),
        _ => format!("{folder}{reference}"),
    };
    format!("{start}{host}{}", without_dots(&path))
}

fn find_scheme(address: &str) -> Option<&str> {
    let (scheme, _) = address.split_once(':')?;
    let is_good = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    (scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_good))
        .then_some(scheme)
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let last = path.split('/').count() - 1;
    for (place, segment) in path.split('/').enumerate() {
        match segment {
            "." | ".." => {
                // The first segment of an absolute path is the empty one before its slash.
                if segment == ".." && kept.len() > 1 {
                    kept.pop();
                }
                if place == last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    kept.join("/")
}

/// Returns a fragment without percent-encoding; `None` if it is malformed.
pub(super) fn decode_fragment(fragment: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
        } else {
            byte
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_as_the_standard_says() {
        for (base, reference, expected) in [
            ("", "a.json", "a.json"),
            ("http://h/a/b.json", "", "http://h/a/b.json"),
            ("http://h/a/b.json", "c.json", "http://h/a/c.json"),
            ("http://h/a/b.json?q", "?r", "http://h/a/b.json?r"),
            ("http://h/a/b/c", "../d", "http://h/a/d"),
            ("http://h/a/b/c", "../../../d", "http://h/d"),
            ("http://h/a/b/c", "./", "http://h/a/b/"),
            ("http://h/a/b/c", "/d", "http://h/d"),
            ("http://h", "d", "http://h/d"),
            ("http://h/a", "//i/d", "http://i/d"),
            ("http://h/a", "urn:x:y", "urn:x:y"),
            ("urn:x:y", "", "urn:x:y"),
            ("folder/a", "b", "folder/b"),
        ] {
            assert_eq!(resolve_reference(base, reference), expected, "{base} {reference}");
        }
        assert_eq!(decode_fragment("a%25b").as_deref(), Some("a%b"));
        assert_eq!(decode_fragment("a%2"), None);
    }
}
