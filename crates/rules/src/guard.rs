//! The agent must not open its own gate: what touches callgate always asks, and no rule allows it.

mod agents;
mod certain;
mod commands;
mod git;
mod interactive;
mod looks;
mod names;
mod places;
mod program;
mod terminals;

use crate::act::{Act, ActClass};
use crate::glob::{PatternToken, literal_toks};
use crate::place::{self, BaseFolders, resolve_path};
use crate::steps;
use agents::{
    AGENT_FOLDERS, ANYWHERE, IN_APPLICATION_SUPPORT, IN_HOME, OF_MACHINE, STRICT_FOLDERS,
    folders_in_home,
};
pub use places::GuardedKind;
use places::GuardedPlace;

const PROGRAM: &str = "callgate";
/// The name of the small program that is its hook.
const HOOK: &str = "callgate-hook";
/// The prefix of its environment variables; one of them silences the hook.
const VARIABLES: &str = "callgate_";

/// The files, folders, sockets and programs that belong to callgate, or that determine whether an
/// agent asks at all.
#[derive(Debug, Clone)]
pub struct GuardedSet {
    places: Vec<GuardedPlace>,
}

impl GuardedSet {
    /// Returns what is guarded for everybody: callgate's folders in their usual places, its socket,
    /// the files that determine what agents and git run, terminals, and the rules of every project.
    pub fn new(home: &str) -> Self {
        let mut guarded = Self { places: Vec::new() };
        for folder in [".config", ".local/share", ".local/state", ".cache"] {
            guarded.add_path(GuardedKind::Own, &format!("{home}/{folder}/callgate"));
        }
        // Old clients ask at this socket, and a desk serves it beside its own.
        guarded.add_path(GuardedKind::Socket, "/tmp/vibe-reachout.sock");
        guarded.add_path(GuardedKind::Settings, &format!("{home}/.claude.json"));
        guarded.add_path(GuardedKind::Settings, &format!("{home}/.claude/plugins"));
        for settings in [".claude/settings.json", ".claude/settings.local.json"] {
            guarded.places.push(GuardedPlace::anywhere(GuardedKind::Settings, settings));
        }
        for folder in AGENT_FOLDERS.iter().copied() {
            let is_strict = STRICT_FOLDERS.contains(folder);
            let kind = if is_strict { GuardedKind::Settings } else { GuardedKind::Hooks };
            guarded.places.push(GuardedPlace::anywhere(kind, folder));
        }
        for path in ANYWHERE.split_ascii_whitespace() {
            guarded.places.push(GuardedPlace::anywhere(GuardedKind::Hooks, path));
        }
        for path in IN_HOME.split_ascii_whitespace().chain(folders_in_home()) {
            guarded.add_path(GuardedKind::Hooks, &format!("{home}/{path}"));
        }
        for name in IN_APPLICATION_SUPPORT.split_ascii_whitespace() {
            let path = format!("{home}/Library/Application Support/{name}");
            guarded.add_path(GuardedKind::Hooks, &path);
        }
        for path in OF_MACHINE.split_ascii_whitespace() {
            guarded.add_path(GuardedKind::Settings, path);
        }
        for path in
            ["/dev/tty", "/dev/vcs", "/dev/pts", "/dev/console", "/dev/uinput", "/dev/input"]
        {
            guarded.places.push(GuardedPlace::for_terminals(path));
        }
        guarded
    }

    /// Guards one more file or folder, by its absolute path.
    pub fn add_path(&mut self, kind: GuardedKind, path: &str) {
        self.places.push(GuardedPlace::at(kind, &crate::place::normal_path(path)));
    }

    /// Returns why an act touches what is guarded, in words that follow "because".
    pub fn touches(&self, act: &Act) -> Option<String> {
        if act.is_lost {
            return Some("a path in it may lead anywhere, also to what is guarded".into());
        }
        // It is asked about anyway: nothing that was judged without a budget is allowed.
        if steps::is_spent() {
            return None;
        }
        if act.script.is_some() {
            return self.commands_touch(act);
        }
        match act.class {
            ActClass::Read => self.reads_private(act),
            ActClass::Write => self.writes_guarded(act),
            _ if act.has_possible_commands() => {
                self.mentions_guarded(act).or_else(|| self.commands_touch(act))
            }
            _ => self.mentions_guarded(act),
        }
    }

    /// Returns why a command that could run touches what is guarded.
    fn commands_touch(&self, act: &Act) -> Option<String> {
        act.runs
            .commands
            .iter()
            .take_while(|_| !steps::is_spent())
            .find_map(|command| self.command_touches(command, act))
            .or_else(|| self.runs_inside(act))
            .or_else(|| program::runs_us(act))
            .or_else(|| git::changes_settings(act))
            .or_else(|| terminals::terminal_typing_reason(act))
            .or_else(|| interactive::typing_program_reason(act))
    }

    /// Returns why a command has to run in a guarded folder.
    fn runs_inside(&self, act: &Act) -> Option<String> {
        let mut folders = act.cwds.iter().map(|folder| plain_toks(&literal_toks(folder)));
        folders.find_map(|folder| {
            self.places.iter().find(|place| place.holds(&folder)).map(GuardedPlace::reason)
        })
    }

    /// Returns why an act reads a file that contains our secrets. Other files may be read.
    fn reads_private(&self, act: &Act) -> Option<String> {
        let own = || self.places.iter().filter(|place| place.kind.is_private());
        act.paths.iter().find_map(|path| {
            let toks = plain_toks(&literal_toks(path));
            let finds = |place: &GuardedPlace| {
                act.is_search && place.kind == GuardedKind::Own && place.is_below(&toks)
            };
            own().find(|place| place.holds(&toks) || finds(place)).map(GuardedPlace::reason)
        })
    }

    fn writes_guarded(&self, act: &Act) -> Option<String> {
        if act.paths.iter().any(|path| program::names_us(&literal_toks(path))) {
            return Some("it could change the program callgate".into());
        }
        act.paths
            .iter()
            .find_map(|path| {
                let toks = plain_toks(&literal_toks(path));
                self.places
                    .iter()
                    .find(|place| place.holds(&toks) || place.is_below(&toks))
                    .map(GuardedPlace::reason)
            })
            // A patch that is not understood may name further files in its text.
            .or_else(|| self.mentions_guarded(act))
    }

    /// Returns why a text in the input of an unknown tool names something guarded.
    fn mentions_guarded(&self, act: &Act) -> Option<String> {
        // A path that could be anything would be every guarded place, so that nearly every text
        // would ask.
        let is_path = |path: &&Vec<PatternToken>| !path.contains(&PatternToken::Cross);
        // A folder and a name in it may be given separately.
        let names = act.strings.iter().filter(|text| text.len() <= place::LONGEST);
        let others: Vec<Vec<PatternToken>> =
            names.map(|text| plain_toks(&literal_toks(text))).collect();
        let touched = act.touched.iter().take_while(|_| !steps::is_spent());
        let paths: Vec<Vec<PatternToken>> =
            touched.filter(is_path).map(|path| plain_toks(path)).collect();
        let is_hit = |place: &&GuardedPlace| {
            paths.iter().any(|path| place.holds(path)) || place.is_joined(&paths, &others)
        };
        let by_path = self.places.iter().find(is_hit).map(GuardedPlace::reason);
        by_path
            .or_else(|| act.strings.iter().find_map(|text| self.names_guarded_by(text, |_| true)))
            .or_else(|| self.some_text_touches(act))
            .or_else(|| terminals::terminal_typing_reason(act))
    }

    fn some_text_touches(&self, act: &Act) -> Option<String> {
        let mut strings = act.strings.iter().take_while(|_| !steps::is_spent());
        strings.find_map(|text| self.text_touches(text, act))
    }

    /// Returns why a text is a folder above a guarded place, or a command that touches one.
    fn text_touches(&self, text: &str, act: &Act) -> Option<String> {
        let text = text.trim();
        let is_path = text.starts_with(['/', '~', '.']) && !text.contains('\n');
        let base = BaseFolders { cwd: &act.project, home: &act.home };
        let path = is_path.then(|| plain_toks(&literal_toks(&resolve_path(text, base))));
        let is_above =
            |place: &&GuardedPlace| path.as_ref().is_some_and(|path| place.is_below(path));
        let is_line = text.contains(['*', '?', '[', '/', '~']);
        let said = || is_line.then(|| self.line_touches(text, act)).flatten();
        self.places.iter().find(is_above).map(GuardedPlace::reason).or_else(said)
    }

    /// Returns why a text names something guarded among the places that count.
    fn names_guarded_by(
        &self,
        text: &str,
        counts: impl Fn(&&GuardedPlace) -> bool,
    ) -> Option<String> {
        let text = plain_text(text);
        if text.contains(VARIABLES) {
            return Some("it names a variable of callgate".into());
        }
        let is_named = |place: &&GuardedPlace| !place.mark.is_empty() && text.contains(&place.mark);
        self.places.iter().filter(counts).find(is_named).map(GuardedPlace::reason)
    }
}

/// Returns true if a file system may ignore the character in a name.
fn is_ignored(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// Returns a text in lower case and without invisible characters, because there are file systems
/// that ignore both.
fn plain_text(text: &str) -> String {
    text.chars().filter(|c| !is_ignored(*c)).flat_map(char::to_lowercase).collect()
}

fn plain_toks(path: &[PatternToken]) -> Vec<PatternToken> {
    path.iter()
        .filter(|tok| !matches!(tok, PatternToken::Is(c) if is_ignored(*c)))
        .copied()
        .collect()
}

#[cfg(test)]
mod tests;
