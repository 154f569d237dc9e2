//! One guarded place, and the relation of a path to it.

use std::sync::LazyLock;

use super::agents::AGENT_FOLDERS;
use crate::glob::{
    ComparisonBias, PatternToken, begins_otherwise, can_meet, is_text, literal_toks,
};
use crate::place::folders_above;
use crate::steps;

/// The folder, in an agent's own, in which it keeps worktrees.
static WORKTREES: LazyLock<Vec<PatternToken>> = LazyLock::new(|| literal_toks("/worktrees"));

/// What follows a place in the paths below it.
const BELOW: [PatternToken; 2] = [PatternToken::Is('/'), PatternToken::Cross];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardedKind {
    /// Callgate's own: even reading it asks, since it may contain secrets.
    Own,
    /// A socket of callgate: like its files, but a search of a folder above finds nothing in it.
    Socket,
    /// A terminal: whoever writes there types for the user, or changes what the user sees.
    Terminal,
    /// Settings that determine whether an agent asks: rules decide on reading them with a tool.
    Settings,
    /// Files that make an agent or git run programs: rules decide on reading them, also with a
    /// command that does nothing else.
    Hooks,
}

impl GuardedKind {
    /// Returns true if reading it with a tool asks.
    pub(super) fn is_private(self) -> bool {
        matches!(self, Self::Own | Self::Socket | Self::Terminal)
    }
}

#[derive(Debug, Clone)]
pub(super) struct GuardedPlace {
    pub(super) kind: GuardedKind,
    /// The text by which it is recognised inside other texts, in lower case.
    pub(super) mark: String,
    pub(super) shown: String,
    is_anywhere: bool,
    /// The place, then a slash and anything below it.
    toks: Vec<PatternToken>,
    /// How many tokens of the place each known folder above it has.
    above: Vec<usize>,
}

impl GuardedPlace {
    /// Creates a place at an absolute path.
    pub(super) fn at(kind: GuardedKind, path: &str) -> Self {
        // The last two names distinguish it from everything else in a text.
        let mut cuts = path.rmatch_indices('/').map(|(at, _)| at + 1).filter(|at| *at < path.len());
        let mark = cuts.nth(1).map_or(path, |at| &path[at..]).trim_matches('/').to_lowercase();
        let above = folders_above(path).map(|folder| folder.chars().count()).collect();
        Self { mark, above, ..Self::new(kind, path, literal_toks(path)) }
    }

    pub(super) fn anywhere(kind: GuardedKind, path: &str) -> Self {
        let toks =
            [&[PatternToken::Cross, PatternToken::Is('/')], literal_toks(path).as_slice()].concat();
        // Two tokens come before the path in `toks`: anything, and a slash.
        let above = path.rsplit_once('/').map(|(folder, _)| 2 + folder.chars().count());
        // A folder is recognised by its slash; a file has a distinctive name.
        let mark = match path {
            _ if path.contains('/') => path.trim_end_matches(".json").into(),
            _ if path.contains(".json") => path.into(),
            _ => format!("{path}/"),
        };
        let above = above.into_iter().collect();
        Self { mark, above, is_anywhere: true, ..Self::new(kind, path, toks) }
    }

    /// Creates a place for all terminal devices whose paths begin like this.
    pub(super) fn for_terminals(path: &str) -> Self {
        let mut toks = literal_toks(path);
        toks.push(PatternToken::Run);
        let mark = path.trim_start_matches('/').into();
        Self { mark, ..Self::new(GuardedKind::Terminal, path, toks) }
    }

    fn new(kind: GuardedKind, shown: &str, mut toks: Vec<PatternToken>) -> Self {
        toks.extend(BELOW);
        let (mark, shown) = (String::new(), shown.to_owned());
        Self { kind, mark, shown, is_anywhere: false, toks, above: Vec::new() }
    }

    /// Returns the known folders above it, each with the rest of the path and [`BELOW`].
    fn parents(&self) -> impl Iterator<Item = (&[PatternToken], &[PatternToken])> {
        self.above.iter().map(|length| {
            let (folder, rest) = self.toks.split_at(*length);
            (folder, rest.strip_prefix(&[PatternToken::Is('/')]).unwrap_or(rest))
        })
    }

    pub(super) fn reason(&self) -> String {
        match self.kind {
            GuardedKind::Terminal => format!("it could type into a terminal ({}…)", self.shown),
            _ => format!("it could touch {}, which is guarded", self.shown),
        }
    }

    /// Returns true if a path is this place or is in it.
    pub(super) fn holds(&self, path: &[PatternToken]) -> bool {
        if self.is_anywhere && !may_be_hidden(path) {
            return false;
        }
        let path = if self.is_anywhere { in_worktree(path) } else { path };
        // A wildcard matches no name with a leading dot, but any other.
        if self.is_anywhere && !self.shown.starts_with('.') && !is_written(path) {
            return false;
        }
        is_or_below(path, &self.toks)
    }

    /// Returns true if this place is below a path.
    pub(super) fn is_below(&self, path: &[PatternToken]) -> bool {
        self.parents().any(|(folder, _)| can_meet(path, folder, ComparisonBias::Generous))
    }

    /// Returns true if one of these paths, joined with one of these relative ones, is this place or
    /// is in it.
    pub(super) fn is_joined(
        &self,
        paths: &[Vec<PatternToken>],
        others: &[Vec<PatternToken>],
    ) -> bool {
        self.parents().any(|(folder, rest)| {
            others.iter().any(|other| is_or_below(other, rest))
                && paths.iter().any(|path| can_meet(path, folder, ComparisonBias::Generous))
        })
    }
}

/// Returns true if a path is a place or in it, which ends in [`BELOW`].
fn is_or_below(path: &[PatternToken], toks: &[PatternToken]) -> bool {
    let place = &toks[..toks.len() - BELOW.len()];
    if begins_otherwise(path, place.iter().copied(), ComparisonBias::Generous)
        || !steps::spend_budget(4)
    {
        return false;
    }
    can_meet(path, place, ComparisonBias::Generous)
        || can_meet(path, toks, ComparisonBias::Generous)
}

/// Returns true if a path could contain the name of a place that may be anywhere: nearly all of
/// them begin with a dot. It saves comparing every path with every place.
fn may_be_hidden(path: &[PatternToken]) -> bool {
    let mut is_start = false;
    path.iter().any(|tok| match tok {
        // `opencode.json` and `opencode.jsonc` are those that do not begin with a dot.
        PatternToken::Is('j' | 'J') => true,
        PatternToken::Is(c) => {
            is_start && *c == '.' || {
                is_start = *c == '/';
                false
            }
        }
        _ => true,
    })
}

/// Returns true if more than a few characters of the last name are literal.
fn is_written(path: &[PatternToken]) -> bool {
    let name = path.rsplit(|tok| *tok == PatternToken::Is('/')).next().unwrap_or_default();
    name.iter().filter(|tok| matches!(tok, PatternToken::Is(_))).count() > 5
}

/// Returns the rest of a path that leads into a worktree in an agent's own folder, such as
/// `.claude/worktrees/NAME`: that is a separate project, and only what is in it counts.
fn in_worktree(path: &[PatternToken]) -> &[PatternToken] {
    let (mut rest, mut names) = (path, path);
    if !path.windows(WORKTREES.len()).any(|names| names == *WORKTREES) {
        return path;
    }
    while let Some((name, after)) = first_name(names) {
        if !is_text(name) {
            break;
        }
        names = after;
        if !AGENT_FOLDERS
            .iter()
            .any(|folder| can_meet(name, &literal_toks(folder), ComparisonBias::Generous))
        {
            continue;
        }
        let Some((folder, after)) = first_name(names) else { break };
        let Some((worktree, after)) = first_name(after) else { break };
        if folder != &WORKTREES[1..] || !is_text(worktree) {
            break;
        }
        (rest, names) = (after, after);
    }
    rest
}

/// Returns the first name of a path, and what follows it with its slash.
fn first_name(path: &[PatternToken]) -> Option<(&[PatternToken], &[PatternToken])> {
    let path = path.strip_prefix(&[PatternToken::Is('/')])?;
    let end = path.iter().position(|tok| *tok == PatternToken::Is('/')).unwrap_or(path.len());
    (end > 0).then(|| path.split_at(end))
}
