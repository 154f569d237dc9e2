//! Programs that type into terminals: with them, an agent could answer its own question.
//!
//! The typed text runs in another program, about which nobody is asked, or presses the key that
//! answers a prompt. No rule allows it.

use callgate_mask::word_list::WordList;
use callgate_mask::words;
use std::sync::LazyLock;

use callgate_mask::programs::is_one_of;

use super::names::ProgramNames;
use crate::act::Act;
use crate::shell::ShellWord;

/// Programs whose purpose is to send keys or to put text into another terminal.
const TYPISTS: &WordList = words!(
    "xdotool ydotool wtype dotool dotoolc kdotool wlrctl xte xvkbd xmacroplay \
    evemu-play evemu-event ttyecho writevt conspy reptyr injcode cliclick sendkeys wdotool \
    wl-type autokey-run"
);
/// Terminal multiplexers, which can be told what to type.
const MULTIPLEXERS: &WordList = words!("tmux tmate byobu psmux");
/// The multiplexer commands that neither type nor run anything in an existing terminal. All others
/// ask, also because they can be abbreviated.
const TMUX_HARMLESS: &WordList = words!(
    "ls list-sessions lsw list-windows lsp list-panes lsc list-clients lsb \
    list-buffers has has-session show show-options showenv show-environment capture-pane capturep \
    new new-session neww new-window splitw split-window attach attach-session detach \
    detach-client kill-session kill-server start start-server"
);
/// Programs that only type when told to.
const SOMETIMES: &WordList = words!(
    "screen dtach kitty kitten wezterm zellij vi vim gvim nvim neovide nvr mvim \
    osascript"
);
/// The options of multiplexers that take the next word.
const TMUX_TAKES: &WordList = words!("-f -L -S -T -c");
/// Programs that inspect a running process and can change it.
const DEBUGGERS: &WordList = words!("gdb lldb strace ltrace");
/// The system call that types into a terminal, as programs write it.
const CALLS: [&str; 3] = ["tiocsti", "0x5412", "tioclinux"];

/// All these programs, because hardly any program of a line is one of them.
static KNOWN: LazyLock<ProgramNames> =
    LazyLock::new(|| ProgramNames::new(&[TYPISTS, MULTIPLEXERS, SOMETIMES, DEBUGGERS]));

/// Returns why an act may type into a terminal, in words that follow "because".
pub(super) fn terminal_typing_reason(act: &Act) -> Option<String> {
    let typist = KNOWN.run_by(act, may_type);
    let typist = typist.map(|name| format!("`{name}` could type into another terminal or program"));
    let commands = || act.runs.commands.iter().flat_map(|command| &command.words);
    let texts = || commands().flat_map(ShellWord::texts).chain(act.strings.iter().cloned());
    // Any text counts, because a program in any language can make the call.
    let calls = |text: String| {
        let text = text.to_lowercase();
        CALLS.iter().any(|call| text.contains(call))
    };
    typist.or_else(|| texts().any(calls).then(|| "it could type into a terminal".into()))
}

fn may_type(program: &str, words: &[String]) -> bool {
    let is = |list| is_one_of(program, list);
    let has = |word: &str| words.iter().any(|text| text == word);
    let begins = |start: &str| words.iter().any(|text| text.starts_with(start));
    let is_short = |text: &&String, letter| {
        text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
    };
    let has_letter = |letter: char| words.iter().any(|text| is_short(&text, letter));
    if is(TYPISTS) {
        true
    } else if is(MULTIPLEXERS) {
        !is_quiet_tmux(words)
    } else if is(words!("screen")) {
        has_letter('X') || has_letter('Q')
    } else if is(words!("dtach")) {
        has_letter('p')
    } else if is(words!("kitty kitten")) {
        begins("@")
    } else if is(words!("wezterm")) {
        has("cli") && (begins("send") || begins("spawn"))
    } else if is(words!("zellij")) {
        has("action") || has("ac")
    } else if is(words!("vi vim gvim nvim neovide nvr mvim")) {
        begins("--remote-s") || begins("--remote-e")
    } else if is(words!("osascript")) {
        let says = ["keystroke", "key code", "do script", "write text"];
        words.iter().any(|text| says.iter().any(|say| text.to_lowercase().contains(say)))
    } else if is(DEBUGGERS) {
        has_letter('p') || begins("--pid") || begins("--attach") || has("attach")
    } else {
        false
    }
}

/// Returns true if no command of a multiplexer touches an existing terminal.
fn is_quiet_tmux(words: &[String]) -> bool {
    let mut at = 0;
    while let Some(option) = words.get(at).filter(|text| text.starts_with('-')) {
        if option == "-V" {
            return true;
        }
        at += 1 + usize::from(TMUX_TAKES.contains(option));
    }
    // Its own `;` separates commands, also at the end of a word.
    let ends = |text: &String| text.ends_with(';');
    match words.get(at) {
        // Without a command it opens a session of its own.
        None => true,
        Some(command) => TMUX_HARMLESS.contains(command) && !words.iter().any(ends),
    }
}
