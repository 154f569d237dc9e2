//! Conditions of rules about writing, for the files that commands write.

use super::path::{self, PathPattern};
use crate::act::Act;
use crate::glob::{PatternToken, is_text};

/// Returns why a command could write a path other than these, or why it does not.
pub(crate) fn find_written_outside(patterns: &[PathPattern], act: &Act) -> Result<String, String> {
    let is_outside = |path: &&Vec<PatternToken>| !is_covered(patterns, path, act);
    match act.written.iter().find(is_outside) {
        Some(path) => Ok(format!("it could write {}", render_path(path))),
        None => Err("it writes paths that are left out".into()),
    }
}

pub(crate) fn shown_all(act: &Act) -> String {
    let paths: Vec<String> = act.written.iter().take(3).map(|path| render_path(path)).collect();
    format!("it could write {}", paths.join(", "))
}

/// Returns true if an allow with these paths would match a written path, whatever its wildcards
/// become.
fn is_covered(patterns: &[PathPattern], written: &[PatternToken], act: &Act) -> bool {
    let text = |toks: &[PatternToken]| {
        toks.iter().copied().filter_map(PatternToken::character).collect::<String>()
    };
    if is_text(written) {
        return path::check_all_paths(patterns, &[text(written)], act).is_ok();
    }
    let known = written.iter().take_while(|tok| matches!(tok, PatternToken::Is(_))).count();
    let folder =
        written[..known].iter().rposition(|tok| *tok == PatternToken::Is('/')).unwrap_or(0);
    // A variable may be anything, and `.*` may become `..`.
    let may_climb = written.contains(&PatternToken::Cross)
        || written[folder..]
            .windows(2)
            .any(|two| two == [PatternToken::Is('/'), PatternToken::Is('.')]);
    // Only a pattern that covers everything below its folder matches whatever the wildcards become.
    let whole: Vec<PathPattern> =
        patterns.iter().filter(|pattern| pattern.text.ends_with("**")).cloned().collect();
    !may_climb && path::check_all_paths(&whole, &[text(&written[..folder])], act).is_ok()
}

fn render_path(path: &[PatternToken]) -> String {
    let text: String = path.iter().map(|tok| tok.character().unwrap_or('…')).collect();
    if text == "…" { "any path".into() } else { text }
}
