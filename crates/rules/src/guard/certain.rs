//! What certainly touches the gate, for the person who is asked.

use callgate_mask::programs::is_one_of;
use callgate_mask::word_list::WordList;
use callgate_mask::words;

use super::places::GuardedPlace;
use super::program::{KEYRINGS, KILLERS, SERVICES, is_harmless_call};
use super::{GuardedSet, HOOK, PROGRAM, VARIABLES, plain_toks};
use crate::act::Act;
use crate::certain::CertainReading;
use crate::glob::literal_toks;

/// Programs that remove, move or close a whole folder.
const REMOVERS: &WordList = words!("rm rmdir mv shred trash trash-put chmod chown");

impl GuardedSet {
    /// Returns what of the guarded an act certainly touches, if it could for this reason.
    pub(crate) fn surely_touched(
        &self,
        act: &Act,
        reason: &str,
        reading: &CertainReading<'_>,
    ) -> Option<String> {
        if act.is_lost {
            // A path that may lead anywhere certainly touches nothing in particular.
            return None;
        }
        if act.script.is_none() {
            return Some(reason.to_owned());
        }
        let paths: Vec<_> = reading.paths().map(|path| plain_toks(&literal_toks(path))).collect();
        let is_named = |place: &&GuardedPlace| paths.iter().any(|path| place.holds(path));
        let named = self.places.iter().find(is_named);
        let removed = || {
            let is_remover = |name: &str| is_one_of(name, REMOVERS);
            // A folder above a guarded place is affected only by a program that treats it as a
            // whole.
            let mut programs = reading.runs().filter_map(|run| run.texts().next());
            let is_above = |place: &&GuardedPlace| paths.iter().any(|path| place.is_below(path));
            programs.any(is_remover).then(|| self.places.iter().find(is_above))?
        };
        named
            .or_else(removed)
            .map(|place| place.shown.clone())
            .or_else(|| runs_us(reading))
            .or_else(|| sets_ours(reading))
    }
}

/// Returns why an act certainly runs callgate, ends it or reads its secrets.
fn runs_us(reading: &CertainReading<'_>) -> Option<String> {
    reading.runs().find_map(|run| {
        let rest: Vec<String> = run.texts().skip(1).map(str::to_lowercase).collect();
        if (run.is_named(PROGRAM) || run.is_named(HOOK)) && !is_harmless_call(&rest) {
            return Some("it runs callgate itself".into());
        }
        // These are harmless unless one of their arguments names callgate.
        let acts = run.texts().next().is_some_and(|program| {
            [KILLERS, SERVICES, KEYRINGS].iter().any(|list| is_one_of(program, list))
        });
        let names_us = rest.iter().any(|word| word.contains(PROGRAM));
        (acts && names_us).then(|| "callgate".to_owned())
    })
}

/// Returns which variable of callgate an act sets or removes.
fn sets_ours(reading: &CertainReading<'_>) -> Option<String> {
    let words = reading.runs().flat_map(|run| run.texts());
    let name = reading.assigns().chain(words).map(|word| word.split('=').next().unwrap_or(word));
    let mut ours = name.filter(|name| name.to_lowercase().starts_with(VARIABLES));
    ours.next().map(str::to_owned)
}
