//! What the keys of the line do.

use super::*;

#[test]
fn ctrl_c_cancels_the_answer_and_the_second_one_quits() {
    let mut core = core();
    type_line(&mut core, "hello");
    core.handle_key(NOW, KeyStroke::Ctrl('c'));
    assert!(matches!(core.take_actions()[..], [ChatAction::Cancel(1)]));
    assert!(shown(&mut core, NOW).contains("Ctrl-C again quits."));
    core.handle_event(1, &said(end("cancelled", None)));
    assert!(shown(&mut core, NOW).contains("· cancelled"));
    // Much later, Ctrl-C is the first one again, and clears the input.
    let later = NOW + Duration::from_mins(1);
    core.handle_key(later, KeyStroke::Char('x'));
    core.handle_key(later, KeyStroke::Ctrl('c'));
    assert!(core.editor.text().is_empty() && core.take_actions().is_empty());
    core.handle_key(later, KeyStroke::Ctrl('c'));
    assert!(core.take_actions().is_empty());
    core.handle_key(later + Duration::from_secs(1), KeyStroke::Ctrl('c'));
    assert!(matches!(core.take_actions()[..], [ChatAction::Quit(130)]));
    core.handle_key(later, KeyStroke::Ctrl('d'));
    assert!(matches!(core.take_actions()[..], [ChatAction::Quit(0)]));
}

#[test]
fn escape_interrupts_the_answer_and_keeps_what_is_typed() {
    let mut core = core();
    core.handle_key(NOW, KeyStroke::Escape);
    assert!(core.take_actions().is_empty());
    type_line(&mut core, "hello");
    for c in "and".chars() {
        core.handle_key(NOW, KeyStroke::Char(c));
    }
    core.handle_key(NOW, KeyStroke::Escape);
    assert!(matches!(core.take_actions()[..], [ChatAction::Cancel(1)]));
    core.handle_key(NOW, KeyStroke::Escape);
    assert!(core.take_actions().is_empty(), "it neither cancels twice nor quits");
    assert_eq!(core.editor.text(), "and");
    core.handle_event(1, &said(end("cancelled", None)));
    // Also while it waits for an answer.
    core.editor.take_text();
    type_line(&mut core, "again");
    core.handle_event(2, &said(question()));
    core.handle_key(NOW, KeyStroke::Escape);
    assert!(matches!(core.take_actions()[..], [ChatAction::Cancel(2)]));
}

#[test]
fn what_was_typed_before_is_searched() {
    let mut core = core();
    for line in ["make test", "list files", "make it"] {
        type_line(&mut core, line);
    }
    let press = |core: &mut ChatCore, keys: &[KeyStroke]| {
        for key in keys {
            core.handle_key(NOW, *key);
        }
        shown(core, NOW)
    };
    let letters: Vec<KeyStroke> = "mak".chars().map(KeyStroke::Char).collect();
    core.handle_key(NOW, KeyStroke::Char('x'));
    core.handle_key(NOW, KeyStroke::Ctrl('r'));
    let text = press(&mut core, &letters);
    assert!(text.contains("make it\nsearch› mak"), "{text}");
    let text = press(&mut core, &[KeyStroke::Ctrl('r')]);
    assert!(text.contains("make test\nsearch› mak"), "{text}");
    let text = press(&mut core, &[KeyStroke::Ctrl('r')]);
    assert!(text.contains("Nothing older contains that.\nmake test\nsearch› mak"), "{text}");
    press(&mut core, &[KeyStroke::Enter]);
    assert_eq!(core.editor.text(), "make test");
    assert!(core.take_actions().is_empty(), "it is not sent");
    // Escape brings back what was being typed.
    core.handle_key(NOW, KeyStroke::Ctrl('r'));
    press(&mut core, &letters);
    press(&mut core, &[KeyStroke::Escape]);
    assert_eq!((core.editor.text(), &core.mode), ("make test", &InputMode::Message));
}

#[test]
fn a_slash_opens_a_menu_from_which_a_command_is_taken() {
    let mut core = core();
    core.handle_key(NOW, KeyStroke::Char('/'));
    let text = shown(&mut core, NOW);
    assert!(text.contains("› /help") && text.contains("more\n› /\n"), "{text}");
    core.handle_key(NOW, KeyStroke::Char('r'));
    core.handle_key(NOW, KeyStroke::Down);
    core.handle_key(NOW, KeyStroke::Enter);
    assert_eq!(core.editor.text(), "/regenerate");
    assert!(core.take_actions().is_empty(), "it is taken, and not run");
    core.handle_key(NOW, KeyStroke::Enter);
    let actions = core.take_actions();
    assert!(
        matches!(&actions[1], ChatAction::Turn(_, SessionCommand::Regenerate { .. })),
        "{actions:?}"
    );
    core.handle_key(NOW, KeyStroke::Char('/'));
    core.handle_key(NOW, KeyStroke::Escape);
    assert!(!shown(&mut core, NOW).contains("/help "), "it is closed, and the answer goes on");
    assert!(core.take_actions().is_empty());
}

#[test]
fn a_backslash_continues_the_line_and_history_is_walked() {
    let mut core = core();
    assert!(type_line(&mut core, "one\\").is_empty());
    let actions = type_line(&mut core, "two");
    assert!(matches!(&actions[0], ChatAction::Remember(text) if text == "one\ntwo"));
    core.handle_key(NOW, KeyStroke::Char('x'));
    core.handle_key(NOW, KeyStroke::Up);
    assert_eq!(core.editor.text(), "one\ntwo");
    core.handle_key(NOW, KeyStroke::Down);
    assert_eq!(core.editor.text(), "x");
}
