//! Arguments that are themselves patterns: the files among which a tool searches.

use crate::glob::{ComparisonBias, PatternToken, can_meet, literal_toks};
use crate::steps;

/// The name of the argument by which the search tools choose files.
pub(super) const NAME: &str = "glob";
/// The most alternatives of one pattern, as in `*.{rs,toml}`. Those of several braces multiply.
const MOST_CHOICES: usize = 64;

/// Returns true if the pattern chooses files with this name in particular. One that also finds
/// files with ordinary names chooses nothing.
pub(super) fn is_aimed_at(glob: &str, name: &[PatternToken]) -> bool {
    let glob = glob.trim();
    // A `!` excludes files from the search.
    !glob.starts_with('!') && steps::spend_budget(glob.len()) && {
        let choices = glob_alternatives(glob);
        // With too many alternatives to compare, one of them may name the file.
        choices.len() > MOST_CHOICES
            || choices.iter().map(|choice| glob_toks(choice)).any(|choice| {
                let last =
                    choice.rsplit(|tok| *tok == PatternToken::Is('/')).next().unwrap_or_default();
                let is_ordinary = ["x", "x.y"]
                    .iter()
                    .any(|x| can_meet(last, &literal_toks(x), ComparisonBias::Strict));
                !is_ordinary && can_meet(&choice, name, ComparisonBias::Generous)
            })
    }
}

/// Returns the pattern once for each of its alternatives.
fn glob_alternatives(glob: &str) -> Vec<String> {
    let mut open = vec![glob.to_owned()];
    let mut found = Vec::new();
    while let Some(text) = open.pop() {
        // The innermost braces first: the last `{` before the first `}`.
        let inner = text.find('}').and_then(|end| Some((text[..end].rfind('{')?, end)));
        match inner {
            Some((begin, end)) if found.len() + open.len() <= MOST_CHOICES => {
                let (before, after) = (&text[..begin], &text[end + 1..]);
                let each = text[begin + 1..end].split(',');
                open.extend(each.map(|choice| format!("{before}{choice}{after}")));
            }
            _ => found.push(text),
        }
    }
    found
}

fn glob_toks(glob: &str) -> Vec<PatternToken> {
    let mut toks = Vec::new();
    let mut chars = glob.chars().peekable();
    while let Some(c) = chars.next() {
        toks.push(match c {
            '*' if chars.next_if_eq(&'*').is_some() => PatternToken::Cross,
            '*' => PatternToken::Run,
            '?' => PatternToken::One,
            '[' => {
                let _ = chars.by_ref().take_while(|c| *c != ']').count();
                PatternToken::One
            }
            '\\' => PatternToken::Is(chars.next().unwrap_or('\\')),
            c => PatternToken::Is(c),
        });
    }
    toks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_chooses_a_name_if_it_finds_it_and_no_ordinary_one() {
        for (glob, expected) in [
            (".env", true),
            (".e*", true),
            (".*", true),
            ("*env*", true),
            ("?env", true),
            ("[.]env", true),
            ("**/.env", true),
            ("src/.e*", true),
            ("*.{rs,env}", true),
            ("{a,{b,.env}}", true),
            ("\\.env", true),
            (".ENV", true),
            ("*", false),
            ("*.*", false),
            ("**/*", false),
            ("src/**", false),
            ("*.rs", false),
            ("**/*.{ts,tsx}", false),
            ("!.env", false),
            (".env.example", false),
        ] {
            let names = [
                literal_toks(".env"),
                [&[PatternToken::Cross], literal_toks("/.env").as_slice()].concat(),
            ];
            let is_chosen = names.iter().any(|name| is_aimed_at(glob, name));
            assert_eq!(is_chosen, expected, "{glob}");
        }
    }
}
