//! Any settings file takes our hooks and gives them back.

use proptest::prelude::*;

use super::*;

fn blanks() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        3 => Just(" ".to_owned()),
        3 => "(\n|\r\n)[ \t]{0,4}",
        1 => "[ \t\r\n]{0,6}",
    ]
}

/// A key or a string: plain, odd, with escapes, or one that means something elsewhere.
fn text() -> impl Strategy<Value = String> {
    let plain = prop_oneof!["[a-z]{0,6}", "[\\PC]{0,8}", Just("hooks \"]},".to_owned())];
    let quoted = plain.prop_map(|text| Value::from(text).to_string());
    prop_oneof![6 => quoted, 1 => Just(r#""\ud83d\u00e9\/\n""#.to_owned())]
}

fn scalar() -> impl Strategy<Value = String> {
    let word = prop_oneof![Just("true"), Just("null"), Just("-1.5e+10"), Just("0"), Just("[]")];
    prop_oneof![word.prop_map(str::to_owned), text()]
}

/// Children between brackets, with any blanks between any two tokens.
fn bracketed(
    brackets: (char, char),
    child: BoxedStrategy<String>,
    count: std::ops::Range<usize>,
) -> BoxedStrategy<String> {
    let (open, close) = brackets;
    let child = (blanks(), child, blanks()).prop_map(|(a, child, b)| format!("{a}{child}{b}"));
    (blanks(), prop::collection::vec(child, count))
        .prop_map(move |(empty, children)| match children.as_slice() {
            [] => format!("{open}{empty}{close}"),
            children => format!("{open}{}{close}", children.join(",")),
        })
        .boxed()
}

fn member(name: BoxedStrategy<String>, value: BoxedStrategy<String>) -> BoxedStrategy<String> {
    (name, blanks(), blanks(), value).prop_map(|(n, a, b, v)| format!("{n}{a}:{b}{v}")).boxed()
}

fn any_value() -> BoxedStrategy<String> {
    let leaf = scalar().boxed();
    let nested = leaf.prop_recursive(6, 24, 4, |inner| {
        let inner = inner.boxed();
        prop_oneof![
            bracketed(('[', ']'), inner.clone(), 0..4),
            bracketed(('{', '}'), member(text().boxed(), inner), 0..4),
        ]
    });
    let deep =
        (1..300_usize).prop_map(|depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    prop_oneof![8 => nested, 1 => deep].boxed()
}

fn named(name: &str, value: BoxedStrategy<String>) -> BoxedStrategy<String> {
    member(Just(format!("{name:?}")).boxed(), value)
}

/// An entry with handlers of others.
fn entry() -> BoxedStrategy<String> {
    let command = prop_oneof![Just("\"beep\"".to_owned()), text()].boxed();
    let handler = (named("command", command), any_value());
    let handler = handler.prop_map(|(command, x)| format!("{{{command},\"x\":{x}}}")).boxed();
    let list = named("hooks", bracketed(('[', ']'), handler, 0..3));
    (list, any_value()).prop_map(|(list, x)| format!("{{ \"matcher\":{x} , {list}}}")).boxed()
}

/// A settings file of somebody who has never heard of us. `least` is how much any list has.
pub(super) fn settings(least: usize) -> BoxedStrategy<String> {
    let events = prop::sample::subsequence(vec!["Stop", "PreToolUse", "Elicitation"], least..=3);
    let entries = || bracketed(('[', ']'), entry(), least..3);
    let event = (entries(), entries(), entries(), any_value(), blanks());
    let hooks = (events, event).prop_map(|(names, (a, b, c, foreign, blank))| {
        let mut events: Vec<String> = names
            .iter()
            .zip([a, b, c])
            .map(|(name, list)| format!("{blank}{name:?}: {list}"))
            .collect();
        if foreign.len() % 2 == 0 {
            events.insert(0, format!("{blank}\"PreCompact\":{foreign}"));
        }
        format!("\"hooks\":{{{}{blank}}}", events.join(","))
    });
    let others = prop::collection::vec(member(text().boxed(), any_value()), least..4);
    let parts = (others, prop::option::of(hooks), blanks(), blanks(), any::<prop::sample::Index>());
    parts
        .prop_map(|(mut members, hooks, a, b, at)| {
            if let Some(hooks) = hooks {
                members.insert(at.index(members.len() + 1), hooks);
            }
            let members: Vec<String> = members.into_iter().map(|m| format!("{b}{m}")).collect();
            format!("{a}{{{}{a}}}{b}", members.join(","))
        })
        .boxed()
}

/// The hooks as any callgate may have written them: with the large program or the small one.
pub(super) fn wanted() -> impl Strategy<Value = Vec<WantedHook>> {
    let commands = vec![
        "/bin/callgate hook",
        "/bin/callgate-hook",
        "'/an old/callgate' hook --agent codex",
        "'/an old/callgate-hook' --config '/c d.toml'",
    ];
    let hooks = |(command, timeout): (&str, u64)| {
        let with = |hook: WantedHook| WantedHook {
            command: command.to_owned(),
            is_direct: timeout % 2 == 0,
            timeout,
            ..hook
        };
        two().into_iter().map(with).collect()
    };
    (prop::sample::select(commands), 1..4000_u64).prop_map(hooks)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_file_takes_our_hooks_and_gives_them_back(before in settings(0), wanted in wanted()) {
        let done = round_trip(&before, &wanted);
        let found = FoundHooks::parse_claude_text(&done.text).unwrap();
        for hook in wanted {
            let ours = &found.event(&hook.event).unwrap().entries.last().unwrap().handlers[0];
            prop_assert_eq!(&ours.command.as_ref().unwrap().0, &hook.command);
            prop_assert_eq!(ours.args.is_some(), hook.is_direct);
            prop_assert_eq!(&done.text[ours.timeout.clone().unwrap()], hook.timeout.to_string());
        }
        // Only blanks inside of what was empty may be gone.
        let dense = |text: &str| text.replace([' ', '\t', '\r', '\n'], "");
        let mut rest = dense(&done.text);
        for left in dense(&before).chars() {
            let at = rest.find(left).unwrap();
            rest = rest[at + left.len_utf8()..].to_owned();
        }
    }

    #[test]
    fn without_a_backup_all_goes_back_too(before in settings(1), wanted in wanted()) {
        let done = install(&before, &wanted).unwrap();
        prop_assert_eq!(uninstall(&done.text, None).unwrap(), RemovedHooks::Ours(before));
    }

    #[test]
    fn a_new_path_is_put_in_place_of_the_old_one(
        before in settings(0), old in wanted(), wanted in wanted(),
    ) {
        let there = install(&before, &old).unwrap();
        let new = install(&there.text, &wanted).unwrap();
        prop_assert_eq!(new.text, install(&before, &wanted).unwrap().text);
        let updated: &[&str] = if old == wanted { &[] } else { &["PermissionRequest", "Stop"] };
        prop_assert_eq!(new.updated, updated);
    }

    #[test]
    fn any_text_is_edited_or_refused(text in "[\\[\\]{}\",: a-z\\\\\n]{0,40}") {
        let _ = install(&text, &two());
        let _ = uninstall(&text, None);
    }
}
