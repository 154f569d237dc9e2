//! Patterns of hosts: a name, or `*.` and a name.

use crate::act::{Act, split_port, touch};
use crate::glob::{ComparisonBias, PatternToken, can_meet, literal_toks};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostPattern {
    pub(crate) text: String,
    name: Vec<PatternToken>,
    port: Option<String>,
}

impl HostPattern {
    /// Parses a pattern. A `*` may be all of it, or the first part of the name.
    pub(crate) fn from_text(text: &str) -> Result<Self, String> {
        let lower = text.to_ascii_lowercase();
        if lower.contains("://") || lower.contains('/') {
            return Err("a host is a name without `https://` and without a path".into());
        }
        let (name, port) = split_port(&lower);
        let fixed = if name == "*" { "" } else { name.strip_prefix("*.").unwrap_or(name) };
        let is_host = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        // `example.*` would match hosts of anybody, such as `example.attacker.net`.
        if fixed.contains('*') {
            return Err(
                "in a host `*` stands alone or before the first dot, as in `*.example.com`".into(),
            );
        }
        if !fixed.chars().all(is_host) || (fixed.is_empty() && name != "*") {
            return Err(format!("`{text}` is not a host"));
        }
        let toks = name
            .chars()
            .map(|c| if c == '*' { PatternToken::Cross } else { PatternToken::Is(c) })
            .collect();
        Ok(Self { text: text.to_owned(), name: toks, port: port.map(Into::into) })
    }

    fn fits(&self, host: &str, lean: ComparisonBias) -> bool {
        let (name, port) = split_port(host);
        let is_port = match (&self.port, port) {
            (None, _) => true,
            (Some(wanted), Some(port)) => wanted == port,
            // A port that is not given may be any.
            (Some(_), None) => lean == ComparisonBias::Generous,
        };
        is_port && can_meet(&literal_toks(name), &self.name, lean)
    }
}

/// Checks that there are hosts and that all of them match.
pub(crate) fn check_all_hosts(patterns: &[HostPattern], act: &Act) -> Result<(), String> {
    if act.hosts.is_empty() {
        return Err("it names no host".into());
    }
    let is_meant =
        |host: &&String| patterns.iter().any(|pattern| pattern.fits(host, ComparisonBias::Strict));
    match act.hosts.iter().find(|host| !is_meant(host)) {
        Some(host) => Err(format!("the host is {host}")),
        None => Ok(()),
    }
}

/// Returns which host that the act mentions matches, or why none does.
pub(crate) fn find_mentioned_host(patterns: &[HostPattern], act: &Act) -> Result<String, String> {
    let hosts = touch::mentioned_hosts(act);
    for pattern in patterns {
        // Any word may be a host, so `*` needs a certain one.
        let is_meant = |(host, is_sure): &&(String, bool)| {
            (*is_sure || pattern.name != [PatternToken::Cross])
                && pattern.fits(host, ComparisonBias::Generous)
        };
        if let Some((host, _)) = hosts.iter().find(is_meant) {
            return Ok(format!("it could reach {host}"));
        }
    }
    Err("it names other hosts".into())
}
