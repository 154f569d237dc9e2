//! What a server says when it refuses a request for want of a sign-in. Pure.

/// The longest header that is read, in bytes.
const LONGEST: usize = 8 * 1024;
/// The most scopes, and the longest one in bytes.
const MOST_SCOPES: usize = 64;
const LONGEST_SCOPE: usize = 256;

/// The answer of a server that wants another sign-in, from `WWW-Authenticate`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::mcp) struct AccessChallenge {
    /// Where the server describes itself.
    pub(in crate::mcp) metadata: Option<String>,
    /// What the sign-in has to permit.
    pub(in crate::mcp) scopes: Vec<String>,
    /// Why the request was refused.
    error: Option<String>,
}

impl AccessChallenge {
    pub(in crate::mcp) fn from_headers<'a>(headers: impl Iterator<Item = &'a str>) -> Self {
        let mut found = Self::default();
        for (name, value) in headers.filter(|text| text.len() <= LONGEST).flat_map(bearer_members) {
            match name.as_str() {
                "resource_metadata" if found.metadata.is_none() => found.metadata = Some(value),
                "scope" if found.scopes.is_empty() => {
                    found.scopes = unique_scopes(value.split(' '));
                }
                "error" if found.error.is_none() => found.error = Some(value),
                _ => {}
            }
        }
        found
    }

    /// Returns true if the sign-in is valid and permits too little.
    pub(in crate::mcp) fn is_about_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

/// Returns the words that can be scopes, each once.
pub(super) fn unique_scopes<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let is_scope = |word: &&str| {
        let is_letter = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
        (1..=LONGEST_SCOPE).contains(&word.len()) && word.bytes().all(is_letter)
    };
    let mut found: Vec<String> = Vec::new();
    for word in words.filter(is_scope).take(MOST_SCOPES) {
        if !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    found
}

/// Returns the members of the scheme `Bearer`, with their names in lower case. A header may name
/// several schemes, whose members must not be mixed up.
fn bearer_members(header: &str) -> Vec<(String, String)> {
    let (mut members, mut is_bearer, mut rest) = (Vec::new(), false, header);
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let end = rest.find([' ', '\t', ',', '=']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let value = after.trim_start_matches([' ', '\t']).strip_prefix('=');
        match value {
            Some(value) => {
                let (value, after) = member_value(value.trim_start_matches([' ', '\t']));
                if is_bearer {
                    members.push((word.to_ascii_lowercase(), value));
                }
                rest = after;
            }
            None if word.is_empty() => return members,
            None => (is_bearer, rest) = (word.eq_ignore_ascii_case("bearer"), after),
        }
    }
}

/// Returns the value at the start of a text, with or without quotes, and what follows it.
fn member_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, after) = text.split_at(text.find([' ', '\t', ',']).unwrap_or(text.len()));
        return (value.to_owned(), after);
    };
    let (mut value, mut letters) = (String::new(), quoted.char_indices());
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
            letter => value.push(letter),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: &str) -> AccessChallenge {
        AccessChallenge::from_headers([header].into_iter())
    }

    #[test]
    fn a_challenge_is_read_however_it_is_written() {
        for header in [
            r#"Bearer resource_metadata="https://a/.well-known/x", scope="read write""#,
            r#"bearer scope="read write",RESOURCE_METADATA=https://a/.well-known/x"#,
            r#"Basic realm="a, b=c", Bearer realm="x\"y" , scope = "read write", resource_metadata = "https://a/.well-known/x""#,
            r#"Negotiate, Bearer error=invalid_token, scope="read write read", resource_metadata="https://a/.well-known/x", Digest scope="other""#,
        ] {
            let read = read(header);
            assert_eq!(read.metadata.as_deref(), Some("https://a/.well-known/x"), "{header}");
            assert_eq!(read.scopes, ["read", "write"], "{header}");
            assert!(!read.is_about_scope(), "{header}");
        }
        assert!(read(r#"Bearer error="insufficient_scope", scope="admin""#).is_about_scope());
    }

    #[test]
    fn what_is_no_challenge_says_nothing() {
        let long = format!("Bearer scope=\"{}\"", "a ".repeat(LONGEST));
        for header in [
            "",
            ",,,",
            "Bearer",
            "Basic scope=a",
            "=",
            "Bearer =",
            "Bearer scope=\"\u{e9}\"",
            &long,
        ] {
            assert_eq!(read(header), AccessChallenge::default(), "{header}");
        }
        assert_eq!(read("Bearer scope=\"a").scopes, ["a"]);
        let many = (0..100).map(|at| at.to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(read(&format!("Bearer scope=\"{many}\"")).scopes.len(), MOST_SCOPES);
    }
}
