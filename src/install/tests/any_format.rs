//! Any settings file of any format takes our hooks and gives them back.

use callgate_wire::hook::agents::{AGENTS, SettingsFormat};
use proptest::prelude::*;

use super::any_settings::{settings, wanted};
use super::*;
use crate::agents::json::without_comments;
use crate::install::{delegate, toml_hooks};

/// The form of Claude Code, with comments.
const COMMENTED: JsonHooks = JsonHooks { has_comments: true, ..JsonHooks::CLAUDE };

/// Puts comments where JSON has blanks.
fn with_comments(text: &str, picks: &[usize]) -> String {
    let mut new = String::from("// one\n");
    let (mut is_text, mut is_escaped, mut count) = (false, false, 0);
    for letter in text.chars() {
        new.push(letter);
        let ends = letter == '"' && !is_escaped;
        is_escaped = is_text && letter == '\\' && !is_escaped;
        is_text ^= ends;
        if !is_text && "{[,:".contains(letter) {
            new += ["", "", "/* \"},[ */", "// \"{],\n"][picks[count % picks.len()]];
            count += 1;
        }
    }
    new
}

fn count_comments(text: &str) -> usize {
    // Everything that `without_comments` blanks begins in one of these ways.
    let plain = without_comments(text);
    let pairs = text.char_indices().zip(text.chars().skip(1));
    let is_start = |((at, first), second): &((usize, char), char)| {
        *first == '/' && "/*".contains(*second) && &plain[*at..=*at] == " "
    };
    pairs.filter(is_start).filter(|((at, _), _)| !text[..*at].ends_with('/')).count()
}

/// Returns the text without comments and blanks.
fn dense(text: &str) -> String {
    without_comments(text).replace([' ', '\t', '\r', '\n'], "")
}

/// A TOML file of somebody who has never heard of us.
fn toml_file() -> impl Strategy<Value = String> {
    let parts = prop::collection::vec(0..6_usize, 0..8);
    let ends = (prop_oneof![Just("\n"), Just("\r\n")], any::<bool>());
    (parts, ends).prop_map(|(parts, (newline, has_end))| {
        let part = |(at, kind): (usize, &usize)| match kind {
            0 => format!("# note {at}"),
            1 => String::new(),
            2 => format!("[t{at}] # table"),
            3 => format!("k{at} = 'a # b'"),
            4 => format!("m{at} = \"[[hooks]]\" # no header"),
            _ => "[[hooks]]\nevent = \"Stop\"\ncommand = \"beep\"\n# after".to_owned(),
        };
        let text = parts.iter().enumerate().map(part).collect::<Vec<_>>().join("\n");
        let text = text.replace('\n', newline);
        if has_end && !text.is_empty() { text + newline } else { text }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn comments_in_json_stay(before in settings(1), picks in prop::collection::vec(0..4_usize, 1..9), wanted in wanted()) {
        let before = with_comments(&before, &picks);
        let done = edit::install_json_hooks(&COMMENTED, &before, &wanted).unwrap();
        prop_assert_eq!(&edit::install_json_hooks(&COMMENTED, &done.text, &wanted).unwrap().text, &done.text);
        prop_assert_eq!(count_comments(&done.text), count_comments(&before));
        let back = edit::uninstall_json_hooks(&COMMENTED, &done.text, Some(&before)).unwrap();
        prop_assert_eq!(back, RemovedHooks::AsBefore(before.clone()));
        let RemovedHooks::Ours(left) = edit::uninstall_json_hooks(&COMMENTED, &done.text, None).unwrap() else {
            panic!("there is more in it");
        };
        prop_assert_eq!(dense(&left), dense(&before));
        prop_assert_eq!(count_comments(&left), count_comments(&before));
    }

    #[test]
    fn every_form_of_json_comes_back(before in settings(0), wanted in wanted()) {
        for agent in AGENTS {
            let SettingsFormat::Json(form) = agent.settings.format else { continue };
            // Handlers of others have another place in a flat list.
            let before = if form.is_flat { r#"{"hooks":{"Stop":[]}}"# } else { &before };
            let done = edit::install_json_hooks(&form, before, &wanted).unwrap();
            let again = edit::install_json_hooks(&form, &done.text, &wanted).unwrap();
            prop_assert_eq!(&again.text, &done.text, "{}", agent.word);
            let back = edit::uninstall_json_hooks(&form, &done.text, Some(before)).unwrap();
            prop_assert_eq!(back, RemovedHooks::AsBefore(before.to_owned()), "{}", agent.word);
        }
    }

    #[test]
    fn toml_comes_back(before in toml_file(), wanted in wanted(), more in toml_file()) {
        let through_shell = |hook| WantedHook { is_direct: false, ..hook };
        let wanted: Vec<WantedHook> = wanted.into_iter().map(through_shell).collect();
        let done = toml_hooks::install_toml_hooks(&before, &wanted).unwrap();
        prop_assert_eq!(&toml_hooks::install_toml_hooks(&done.text, &wanted).unwrap().text, &done.text);
        let back = toml_hooks::uninstall_toml_hooks(&done.text, Some(&before)).unwrap();
        prop_assert_eq!(back, RemovedHooks::AsBefore(before.clone()));
        // Others have added something since.
        let changed = format!("{}\n# more\n[more]\n{}", done.text, more.replace("[t", "[u"));
        let RemovedHooks::Ours(left) = toml_hooks::uninstall_toml_hooks(&changed, Some(&before)).unwrap() else {
            panic!("there is more in it");
        };
        let lines = |text: &str| -> Vec<String> {
            let lines = text.lines().map(|line| line.trim_end().to_owned());
            lines.filter(|line| !line.is_empty()).collect()
        };
        let expected = format!("{before}\n# more\n[more]\n{}", more.replace("[t", "[u"));
        prop_assert_eq!(lines(&left), lines(&expected));
    }

    #[test]
    fn rules_of_amp_come_back(before in settings(0), picks in prop::collection::vec(0..4_usize, 1..9)) {
        let before = with_comments(&before, &picks);
        let done = delegate::install_rule(&before, "/a b/callgate-hook").unwrap();
        let again = delegate::install_rule(&done.text, "/a b/callgate-hook").unwrap();
        prop_assert_eq!(&again.text, &done.text);
        prop_assert_eq!(delegate::find_our_rule(&done.text).unwrap(), Some(("/a b/callgate-hook".into(), true)));
        let back = delegate::uninstall_rule(&done.text, Some(&before)).unwrap();
        prop_assert_eq!(back, RemovedHooks::AsBefore(before));
    }
}
