//! Programs that wait for typed input.
//!
//! Codex can type into a program that it has started, and has no hook for that: whoever allows
//! such a program allows everything that can be typed into it. For that agent, no rule allows a
//! program that waits for input unless its arguments determine what it does.

use callgate_mask::word_list::WordList;
use callgate_mask::words;
use std::sync::LazyLock;

use callgate_mask::programs::{SHELLS, is_one_of};

use super::names::ProgramNames;
use crate::act::Act;
use crate::place::last_name;

/// The name of the agent that types without asking.
const AGENT: &str = "codex";

/// Programs that always wait for input and can run others.
const ALWAYS: &WordList = words!(
    "vi vim nvim ex ed emacs nano pico micro joe less more most man irb pry ghci \
    utop iex jshell groovysh ipython bpython ptpython bc dc mycli pgcli litecli telnet ftp lftp \
    mosh login newgrp expect top htop screen tmux zellij mc ranger nnn vifm lazygit tig gdb lldb dlv \
    pdb"
);

/// Programs that wait unless an option or a file determines what they do: their names, and those
/// options.
const TOLD: [(&WordList, &str); 8] = [
    (words!("python pypy python2 python3 pypy3"), "-c -m -V -h --version --help"),
    (
        words!("node nodejs ts-node tsx"),
        "-e -p -c -v -h --eval --print --check --version --help --test",
    ),
    (words!("ruby perl"), "-e -E -n -v -V -h --version --help"),
    (words!("php"), "-r -f -l -S -v -i -m -h --version --help"),
    (
        words!("lua luajit tclsh wish guile racket sbcl clisp ocaml scala erl clj clojure gawk"),
        "-e -v --eval --version --help",
    ),
    (words!("R Rscript julia octave"), "-e -E -f -h -v --eval --version --help CMD"),
    (
        words!("mongo mongosh duckdb cqlsh influx clickhouse-client usql"),
        "--eval -c -e -f -q --query --command --execute --file --version --help",
    ),
    (
        words!("psql mysql mariadb"),
        "-c -f -l -e -V --command --file --list --execute --version --help",
    ),
];

/// Those of them for which the name of a file or database does not determine what they do.
const NAMED: &WordList =
    words!("psql mysql mariadb mongo mongosh duckdb cqlsh influx clickhouse-client usql");

/// Options after which a program waits regardless of its other arguments.
const WAITS: &str = "-i -a --interactive -it -ti -";

/// Programs that wait under conditions of their own.
const OTHERS: &WordList = words!(
    "sqlite3 redis-cli deno bun sftp nc ncat netcat socat ssh su script sudo doas \
    docker podman nerdctl kubectl lxc oc"
);

/// All these programs, because hardly any program of a line is one of them.
static KNOWN: LazyLock<ProgramNames> = LazyLock::new(|| {
    let told = TOLD.iter().map(|(names, _)| *names);
    ProgramNames::new(&[ALWAYS, SHELLS, OTHERS].into_iter().chain(told).collect::<Vec<_>>())
});

/// Returns why an act starts a program into which the agent can type unseen, in words that follow
/// "because".
pub(super) fn typing_program_reason(act: &Act) -> Option<String> {
    if !act.agent.to_lowercase().starts_with(AGENT) {
        return None;
    }
    let name = KNOWN.run_by(act, waits_for_input)?;
    Some(format!("`{name}` waits for input, and what {AGENT} types into it is not asked about"))
}

fn waits_for_input(program: &str, words: &[String]) -> bool {
    let is = |list| is_one_of(program, list);
    let is_option = |text: &&String| text.starts_with('-') && text.len() > 1;
    let plain = || words.iter().filter(|text| !is_option(text) && text.as_str() != "-");
    let has = |option: &str| {
        let is_long = option.starts_with("--");
        words.iter().any(|text| {
            text == option
                || (is_long && text.starts_with(option) && text[option.len()..].starts_with('='))
        })
    };
    let asks_version = || matches!(words, [only] if matches!(only.as_str(), "--version" | "--help" | "-V" | "-v" | "version"));
    if is(ALWAYS) {
        return !asks_version();
    }
    if is(SHELLS) {
        // The letters of a shell's options may be combined, as in `-lc`.
        let letters = |letter: char| {
            words
                .iter()
                .any(|text| is_option(&text) && !text.starts_with("--") && text.contains(letter))
        };
        let is_told = letters('c') || plain().next().is_some();
        return !asks_version() && (!is_told || letters('i') || letters('s'));
    }
    if let Some((_, told)) = TOLD.iter().find(|(names, _)| is(names)) {
        let is_module = |name: &str| words.windows(2).any(|two| two[0] == "-m" && two[1] == name);
        let is_told = told.split(' ').any(|option| has(option) || starts_with_value(words, option))
            || (!is(NAMED) && plain().next().is_some());
        let debugs = words.first().is_some_and(|word| word == "inspect" || word.starts_with("-d"));
        let is_repl = ["pdb", "code", "asyncio", "IPython"].into_iter().any(is_module);
        return !is_told || WAITS.split(' ').any(has) || debugs || is_repl;
    }
    match last_name(program) {
        // A database and a statement are enough; without the statement it reads from the terminal.
        "sqlite3" => plain().count() < 2 && !has("-version") && !has("--version"),
        "redis-cli" => plain().next().is_none() && !has("--version") && !has("-v"),
        "deno" | "bun" => words.is_empty() || words.first().is_some_and(|word| word == "repl"),
        "sftp" | "nc" | "ncat" | "netcat" | "socat" => !asks_version(),
        "ssh" => ssh_waits(words),
        "su" | "script" => !has("-c") && !has("--command"),
        "sudo" | "doas" => ["-i", "-s", "--login", "--shell"].into_iter().any(has),
        "docker" | "podman" | "nerdctl" | "kubectl" | "lxc" | "oc" => {
            ["-i", "-it", "-ti", "--interactive", "--stdin", "attach"].into_iter().any(has)
        }
        _ => false,
    }
}

/// Returns true if a short option shares a word with its value, as in `-c'…'`.
fn starts_with_value(words: &[String], option: &str) -> bool {
    option.len() == 2 && words.iter().any(|text| text.len() > 2 && text.starts_with(option))
}

/// Returns true if `ssh` has no command: without its options, only the host is left.
fn ssh_waits(words: &[String]) -> bool {
    const TAKES_NEXT: &str = "BbcDEeFIiJLlmOopQRSWw";
    let mut plain = 0;
    let mut at = 0;
    while let Some(text) = words.get(at) {
        let mut letters = text.chars();
        at += 1;
        match (letters.next(), letters.next()) {
            // These print something or forward ports, and start no shell on the other machine.
            (Some('-'), Some('V' | 'G' | 'Q' | 'N')) if plain == 0 => return false,
            // It asks for a terminal, which makes even a given command interactive.
            (Some('-'), Some('t')) if plain == 0 => return true,
            (Some('-'), Some(letter)) if plain == 0 => {
                at += usize::from(letters.next().is_none() && TAKES_NEXT.contains(letter));
            }
            _ => plain += 1,
        }
    }
    plain < 2
}
