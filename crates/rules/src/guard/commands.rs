//! Commands that touch what is guarded, run callgate, or end it.

use super::places::{Kind, Place};
use super::{Guarded, HOOK, PROGRAM, plain};
use crate::act::{Act, touch};
use crate::glob::{Lean, Tok, is_text, literal, meets};
use crate::place::{above, last_name, normal_toks};
use crate::shell::names::{INTERPRETERS, MOVERS, SEARCHERS, SHELLS, is_one_of};
use crate::shell::{Command, Word};

/// Programs that end others.
const KILLERS: &str = "kill pkill killall skill fuser xkill tskill snice";
/// Programs that start and stop services.
const SERVICES: &str = "systemctl service launchctl rc-service initctl supervisorctl loginctl";
/// Programs that put files into the folder that they name last.
const COPIERS: &str = "cp gcp mv gmv ln gln install ginstall rsync scp";

/// Programs that run another one on what they are fed.
const FEEDERS: &str = "xargs gxargs parallel";

impl Guarded {
    /// Why a command touches what is guarded.
    pub(super) fn command(&self, command: &Command, act: &Act) -> Option<String> {
        let all = || command.words.iter().chain(&command.assigns).chain(&command.redirects);
        if let Some(why) = all().find_map(|word| self.marked(&word.known_text())) {
            return Some(why);
        }
        let mut paths = Vec::new();
        touch::of_command(command, &act.home, &mut paths);
        // What is not known at all is asked about anyway, for a better reason.
        paths.retain(|path| act.is_clear() || is_text(path));
        let paths: Vec<Vec<Tok>> = paths.iter().map(|path| plain(path)).collect();
        let others = relatives(command);
        let is_hit = |place: &&Place| {
            paths.iter().any(|path| place.holds(path) || place.is_joined(path, &others))
        };
        self.places.iter().find(is_hit).map(Place::why).or_else(|| self.swept(command, act, &paths))
    }

    /// Why a command takes what is guarded along with a folder above it.
    fn swept(&self, command: &Command, act: &Act, paths: &[Vec<Tok>]) -> Option<String> {
        let is =
            |list| command.words.iter().filter_map(Word::text).any(|word| is_one_of(word, list));
        let is_moving = is(MOVERS) && changes(command, act);
        let mut moved = if is_moving { sources(command, act) } else { Vec::new() };
        if is_moving && is(FEEDERS) {
            // What it is fed may be any file here.
            moved.extend(command.folders.iter().map(|folder| literal(folder)));
        }
        let mut read = Vec::new();
        if is(COPIERS) {
            read = sources(command, act);
        } else if is(SEARCHERS) {
            read.extend_from_slice(paths);
            read.extend(command.folders.iter().map(|folder| literal(folder)));
        }
        let is_hit = |place: &&Place| {
            moved.iter().any(|path| place.is_below(path))
                || (place.kind == Kind::Own && read.iter().any(|path| place.is_below(path)))
        };
        let holds_project = |path: &Vec<Tok>| {
            let project = [act.project.as_str()].into_iter().chain(above(&act.project));
            project.into_iter().any(|folder| meets(path, &literal(folder), Lean::Generous))
        };
        self.places.iter().find(is_hit).map(Place::why).or_else(|| {
            let why =
                "it could change the whole project, and with it the settings that are guarded";
            moved.iter().any(holds_project).then(|| why.into())
        })
    }
}

/// Whether a program that can change folders is told to, or its findings are handed to another.
fn changes(command: &Command, act: &Act) -> bool {
    let feeds = |words: &[Word]| {
        words.first().and_then(Word::text).is_some_and(|program| {
            [FEEDERS, SHELLS, INTERPRETERS].iter().any(|list| is_one_of(program, list))
        })
    };
    let is_find = command
        .words
        .iter()
        .filter_map(Word::text)
        .any(|word| is_one_of(word, "find gfind fd fdfind"));
    let is_action = |text: &str| {
        let actions = ["-delete", "-exec", "-ok", "-fprint", "-fls", "-x", "-X", "--exec"];
        actions.iter().any(|action| text.starts_with(action))
    };
    let is_fed = || act.runs.each().any(|(other, words)| other != command && feeds(words));
    !is_find || is_fed() || command.words.iter().any(|word| word.text().is_none_or(is_action))
}

/// The paths that a command removes, moves or changes with all that is in them.
fn sources(command: &Command, act: &Act) -> Vec<Vec<Tok>> {
    let mut command = command.clone();
    let is_copier =
        command.words.iter().filter_map(Word::text).any(|word| is_one_of(word, COPIERS));
    let is_whole = |word: &Word| {
        let text = word.known_text();
        text.ends_with('/') || matches!(last_name(&text), "." | "..")
    };
    let names_target =
        |word: &Word| word.known_text().starts_with("-t") || word.known_text().starts_with("--t");
    let rest = &command.words[1..];
    let all_but_last = rest.get(..rest.len().saturating_sub(1)).unwrap_or_default();
    // What is copied into a folder by its own name changes nothing else in it.
    if is_copier && !all_but_last.iter().any(is_whole) && !rest.iter().any(names_target) {
        command.words.pop();
    }
    let mut paths = Vec::new();
    touch::of_command(&command, &act.home, &mut paths);
    paths.retain(|path| act.is_clear() || is_text(path));
    paths.iter().map(|path| plain(path)).collect()
}

/// The words of a command as paths within some folder: as they are, and by their last name.
fn relatives(command: &Command) -> Vec<Vec<Tok>> {
    let mut found = Vec::new();
    for word in command.words.iter().skip(1).chain(&command.redirects) {
        let toks = plain(&word.toks());
        for part in touch::parts(&toks) {
            let whole = normal_toks(&[&[Tok::Is('/')], part].concat());
            let name = whole.rsplit(|tok| *tok == Tok::Is('/')).next().unwrap_or_default().to_vec();
            if !name.is_empty() && !name.contains(&Tok::Cross) {
                found.extend([name, whole[1..].to_vec()]);
            }
        }
    }
    found
}

/// Why an act runs callgate, or ends it.
pub(super) fn runs_us(act: &Act) -> Option<String> {
    act.runs
        .each()
        .find_map(|(_, words)| {
            let (program, rest) = words.split_first()?;
            let program = program.known_text();
            let name = last_name(&program).to_lowercase();
            let texts: Vec<String> =
                rest.iter().map(|word| word.known_text().to_lowercase()).collect();
            if is_us(&name) && !is_harmless(&texts) {
                return Some("it runs callgate itself".into());
            }
            if is_one_of(&name, KILLERS) && !kills_others(&name, &texts) {
                return Some("it could end callgate".into());
            }
            let names_us = texts.iter().any(|text| text.contains(PROGRAM));
            (is_one_of(&name, SERVICES) && names_us).then(|| "it could stop callgate".into())
        })
        .or_else(|| moves_us(act))
}

/// Whether this is the name of one of our programs, in small letters.
fn is_us(name: &str) -> bool {
    [PROGRAM, HOOK].contains(&name)
}

/// Whether callgate only says what it is.
fn is_harmless(words: &[String]) -> bool {
    let is_name = |word: &String| word.chars().all(|c| c.is_ascii_lowercase());
    match words {
        [only] if matches!(only.as_str(), "--help" | "-h" | "--version" | "-v" | "help") => true,
        [names @ .., last] if last == "--help" => names.len() <= 2 && names.iter().all(is_name),
        _ => false,
    }
}

/// Whether a program that ends others is told names that cannot be ours.
fn kills_others(program: &str, words: &[String]) -> bool {
    let is_signal = |word: &str| {
        let name = word.trim_start_matches('-');
        word.starts_with('-')
            && (name.parse::<u8>().is_ok_and(|signal| signal > 0)
                || ["term", "kill", "int", "hup", "quit", "usr1", "usr2", "x", "n", "o"]
                    .contains(&name))
    };
    let (signals, names): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|word| word.starts_with('-'));
    if program == "kill" {
        let is_job = |name: &&String| {
            name.strip_prefix('%').is_some_and(|job| job.bytes().all(|b| b.is_ascii_digit()))
        };
        return words == ["-l"] || (!names.is_empty() && names.iter().all(is_job));
    }
    let is_other = |name: &&String| {
        name.len() > 1
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
            && !HOOK.contains(name.as_str())
            && !name.contains(PROGRAM)
    };
    matches!(program, "pkill" | "killall")
        && !names.is_empty()
        && names.iter().all(is_other)
        && signals.iter().all(|word| is_signal(word))
}

/// Why an act removes or replaces the program.
fn moves_us(act: &Act) -> Option<String> {
    let names_us = |word: &Word| is_us(&last_name(&word.known_text()).to_lowercase());
    let is_mover = |words: &[Word]| {
        words.first().and_then(Word::text).is_some_and(|program| is_one_of(program, MOVERS))
    };
    let mut each = act.runs.each();
    each.any(|(command, words)| {
        is_mover(words)
            && changes(command, act)
            && words[1..].iter().chain(&command.redirects).any(names_us)
    })
    .then(|| "it could change the program callgate".into())
}
