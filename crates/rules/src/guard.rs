//! The agent may not open its own gate: what touches callgate always asks, and no rule allows it.

mod commands;
mod places;
mod program;

use crate::act::{Act, Class};
use crate::glob::{Tok, literal};
use crate::place::{Base, resolve};
pub use places::Kind;
use places::Place;

/// The name of the program itself.
const PROGRAM: &str = "callgate";
/// The name of the small program that is its hook.
const HOOK: &str = "callgate-hook";
/// How its environment variables begin; one of them makes the hook silent.
const VARIABLES: &str = "callgate_";

/// The files, folders, sockets and programs that are callgate's own, or that say whether an agent
/// asks at all.
#[derive(Debug, Clone)]
pub struct Guarded {
    places: Vec<Place>,
}

impl Guarded {
    /// What is guarded for everybody: callgate's folders in their usual places, its socket, the
    /// settings of Claude Code and of Codex, and the rules of every project.
    #[must_use]
    pub fn new(home: &str) -> Self {
        let mut guarded = Self { places: Vec::new() };
        for own in [
            ".config/callgate",
            ".local/share/callgate",
            ".local/state/callgate",
            ".cache/callgate",
        ] {
            guarded.add(Kind::Own, &format!("{home}/{own}"));
        }
        guarded.add(Kind::Socket, "/tmp/vibe-reachout.sock");
        for settings in
            [".claude.json", ".claude/plugins", "Library/Application Support/ClaudeCode"]
        {
            guarded.add(Kind::Settings, &format!("{home}/{settings}"));
        }
        guarded.add(Kind::Settings, "/etc/claude-code");
        for anywhere in
            [".claude/settings.json", ".claude/settings.local.json", ".codex", ".callgate"]
        {
            guarded.places.push(Place::anywhere(anywhere));
        }
        guarded
    }

    /// Guards one more file or folder, by its absolute path.
    pub fn add(&mut self, kind: Kind, path: &str) {
        self.places.push(Place::at(kind, &crate::place::normal(path)));
    }

    /// Why an act touches what is guarded, in words that follow "because"; nothing if it does not.
    #[must_use]
    pub fn touches(&self, act: &Act) -> Option<String> {
        if act.is_lost {
            return Some("a path in it may lead anywhere, also to what is guarded".into());
        }
        if act.script.is_some() {
            return act
                .runs
                .commands
                .iter()
                .find_map(|command| self.command(command, act))
                .or_else(|| self.entered(act))
                .or_else(|| program::runs_us(act));
        }
        match act.class {
            Class::Read => self.read(act),
            Class::Write => self.written(act),
            _ => self.mentioned(act),
        }
    }

    /// A command that is told to run in a guarded folder.
    fn entered(&self, act: &Act) -> Option<String> {
        let mut folders = act.cwds.iter().map(|folder| plain(&literal(folder)));
        folders.find_map(|folder| {
            self.places.iter().find(|place| place.holds(&folder)).map(Place::why)
        })
    }

    /// Files may be read, but not those that hold our secrets.
    fn read(&self, act: &Act) -> Option<String> {
        let own = || self.places.iter().filter(|place| place.kind != Kind::Settings);
        act.paths.iter().find_map(|path| {
            let toks = plain(&literal(path));
            let finds =
                |place: &Place| act.is_search && place.kind == Kind::Own && place.is_below(&toks);
            own().find(|place| place.holds(&toks) || finds(place)).map(Place::why)
        })
    }

    fn written(&self, act: &Act) -> Option<String> {
        if act.paths.iter().any(|path| program::names_us(&literal(path))) {
            return Some("it could change the program callgate".into());
        }
        act.paths
            .iter()
            .find_map(|path| {
                let toks = plain(&literal(path));
                self.places
                    .iter()
                    .find(|place| place.holds(&toks) || place.is_below(&toks))
                    .map(Place::why)
            })
            .or_else(|| self.mentioned(act))
    }

    /// All texts of an input that is not known.
    fn mentioned(&self, act: &Act) -> Option<String> {
        let is_path = |path: &&Vec<Tok>| act.is_clear() && !path.contains(&Tok::Cross);
        // A folder and a name in it may stand apart.
        let others: Vec<Vec<Tok>> = act.strings.iter().map(|text| plain(&literal(text))).collect();
        let by_path = act.touched.iter().filter(is_path).find_map(|path| {
            let path = plain(path);
            let is_hit = |place: &&Place| place.holds(&path) || place.is_joined(&path, &others);
            self.places.iter().find(is_hit).map(Place::why)
        });
        by_path
            .or_else(|| act.strings.iter().find_map(|text| self.marked(text)))
            .or_else(|| act.strings.iter().find_map(|text| self.told(text, act)))
    }

    /// A text that is a folder above a place, or a command that touches one.
    fn told(&self, text: &str, act: &Act) -> Option<String> {
        let text = text.trim();
        let is_path = text.starts_with(['/', '~', '.']) && !text.contains('\n');
        let base = Base { cwd: &act.project, home: &act.home };
        let path = is_path.then(|| plain(&literal(&resolve(text, base))));
        let is_above = |place: &&Place| path.as_ref().is_some_and(|path| place.is_below(path));
        let is_line = text.contains(['*', '?', '[', '/', '~']);
        let said = || is_line.then(|| self.said(text, act)).flatten();
        self.places.iter().find(is_above).map(Place::why).or_else(said)
    }

    /// Whether a text holds the name of something guarded.
    fn marked(&self, text: &str) -> Option<String> {
        let text = plain_text(text);
        if text.contains(VARIABLES) {
            return Some("it names a variable of callgate".into());
        }
        self.places.iter().find(|place| text.contains(&place.mark)).map(Place::why)
    }
}

/// Whether a file system may leave the character out of a name.
fn is_ignored(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// A text in small letters, without what is not seen.
fn plain_text(text: &str) -> String {
    text.chars().filter(|c| !is_ignored(*c)).flat_map(char::to_lowercase).collect()
}

fn plain(path: &[Tok]) -> Vec<Tok> {
    path.iter().filter(|tok| !matches!(tok, Tok::Is(c) if is_ignored(*c))).copied().collect()
}

#[cfg(test)]
mod tests;
