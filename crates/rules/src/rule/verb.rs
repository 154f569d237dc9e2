//! The words in the name of a tool, and what they say that it does.

use callgate_wire::tool_act::server_and_tool;

use super::NamePattern;
use crate::glob::ComparisonBias;

/// Words that join two verbs; a tool that reads and does something else as well does not only read.
const CONJUNCTIONS: [&str; 3] = ["and", "or", "then"];

/// Returns true if the name of a tool has one of these verbs. For a rule that denies or asks, any
/// word of the name may be the verb. For one that allows, it has to be the first, after the name
/// of the server if the tool's name begins with that.
pub(crate) fn has_matching_verb(verbs: &[NamePattern], tool: &str, lean: ComparisonBias) -> bool {
    let is_verb = |word: &String| verbs.iter().any(|verb| verb.fits(word, lean));
    let (server, name) = server_and_tool(tool).unwrap_or(("", tool));
    let words = name_words(name);
    match lean {
        ComparisonBias::Generous => words.iter().any(is_verb),
        ComparisonBias::Strict => {
            // Some servers repeat their name in those of their tools.
            let own = &words[server_words(server, &words)..];
            let is_joined = own.iter().any(|word| CONJUNCTIONS.contains(&word.as_str()));
            !is_joined && own.first().is_some_and(is_verb)
        }
    }
}

/// Returns how many words at the beginning of a tool's name repeat the name of its server.
fn server_words(server: &str, words: &[String]) -> usize {
    let server = self::name_words(server).concat();
    let repeats = |count: &usize| words[..*count].concat() == server;
    if server.is_empty() { 0 } else { (1..=words.len()).find(repeats).unwrap_or(0) }
}

/// Returns the words of a name in lower case: `GitHub_CreateIssue` has four.
fn name_words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, c) in chars.iter().enumerate() {
        let is_upper = |at: usize| chars.get(at).is_some_and(|c| c.is_uppercase());
        let is_lower = |at: usize| chars.get(at).is_some_and(|c| c.is_lowercase());
        // In `HTTPServer` the new word begins at the `S`, and not after it.
        let ends_acronym = at > 0 && is_upper(at - 1) && is_lower(at + 1);
        let begins = c.is_uppercase() && at > 0 && (!is_upper(at - 1) || ends_acronym);
        if begins || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_into_words() {
        for (name, expected) in [
            ("send_message", "send message"),
            ("notion-create-page", "notion create page"),
            ("GitHub_CreateIssue", "git hub create issue"),
            ("getHTTPResponse2", "get http response2"),
            ("a.b/c", "a b c"),
            ("__", ""),
        ] {
            assert_eq!(name_words(name).join(" "), expected, "{name}");
        }
    }

    #[test]
    fn an_allow_wants_the_verb_first_and_alone() {
        let verbs = ["get", "find"].map(NamePattern::new);
        for (tool, is_allowed, is_asked) in [
            ("mcp__x__get_page", true, true),
            ("mcp__x__getPage", true, true),
            ("mcp__slack__slack_get_page", true, true),
            ("mcp__github__GitHub_GetIssue", true, true),
            ("mcp__x__slack_get_page", false, true),
            ("mcp__x__find_and_modify", false, true),
            ("mcp__x__GetOrCreate", false, true),
            ("mcp__get__page", false, false),
            ("mcp__x__forget", false, false),
            ("mcp__x__", false, false),
        ] {
            assert_eq!(
                has_matching_verb(&verbs, tool, ComparisonBias::Strict),
                is_allowed,
                "{tool}"
            );
            assert_eq!(
                has_matching_verb(&verbs, tool, ComparisonBias::Generous),
                is_asked,
                "{tool}"
            );
        }
    }
}
