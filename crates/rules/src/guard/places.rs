//! One guarded place, and how a path lies to it.

use crate::glob::{Lean, Tok, literal, meets};
use crate::place::above;

/// What a guarded place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Callgate's own: it may not even be read without asking, since it may hold secrets.
    Own,
    /// A socket of callgate: like its files, but a search of a folder above finds nothing in it.
    Socket,
    /// Settings that say whether an agent asks: reading them is left to rules.
    Settings,
}

#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) kind: Kind,
    /// The text by which it is known inside of other texts, in small letters.
    pub(super) mark: String,
    shown: String,
    /// The place, and the folders above it that are known.
    path: Vec<Tok>,
    above: Vec<Above>,
}

/// A folder above a place, and the rest of the way.
#[derive(Debug, Clone)]
struct Above {
    folder: Vec<Tok>,
    rest: Vec<Tok>,
}

impl Place {
    /// A place at an absolute path.
    pub(super) fn at(kind: Kind, path: &str) -> Self {
        let above = above(path).map(|folder| {
            let rest = path[folder.len()..].trim_start_matches('/');
            Above { folder: literal(folder), rest: literal(rest) }
        });
        // The last two names tell it apart from everything else in a text.
        let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
        let mark = names[names.len().saturating_sub(2)..].join("/").to_lowercase();
        Self { kind, mark, shown: path.into(), path: literal(path), above: above.collect() }
    }

    /// A place in every folder.
    pub(super) fn anywhere(path: &str) -> Self {
        let somewhere = |path: &str| {
            let mut toks = vec![Tok::Cross, Tok::Is('/')];
            toks.extend(literal(path));
            toks
        };
        let cut = path.rsplit_once('/');
        let above =
            cut.map(|(folder, rest)| Above { folder: somewhere(folder), rest: literal(rest) });
        let mark = if path.contains('/') {
            path.trim_end_matches(".json").into()
        } else {
            format!("{path}/")
        };
        Self {
            kind: Kind::Settings,
            mark,
            shown: path.into(),
            path: somewhere(path),
            above: above.into_iter().collect(),
        }
    }

    pub(super) fn why(&self) -> String {
        format!("it could touch {}, which is guarded", self.shown)
    }

    /// Whether a path is this place or lies in it.
    pub(super) fn holds(&self, path: &[Tok]) -> bool {
        is_or_below(path, &self.path)
    }

    /// Whether this place lies below a path.
    pub(super) fn is_below(&self, path: &[Tok]) -> bool {
        self.above.iter().any(|above| meets(path, &above.folder, Lean::Generous))
    }

    /// Whether a path joined with one of these relative paths is this place or lies in it.
    pub(super) fn is_joined(&self, path: &[Tok], others: &[Vec<Tok>]) -> bool {
        let ways = self.above.iter().filter(|above| meets(path, &above.folder, Lean::Generous));
        ways.into_iter().any(|above| others.iter().any(|other| is_or_below(other, &above.rest)))
    }
}

fn is_or_below(path: &[Tok], place: &[Tok]) -> bool {
    let mut below = place.to_vec();
    below.extend([Tok::Is('/'), Tok::Cross]);
    meets(path, place, Lean::Generous) || meets(path, &below, Lean::Generous)
}
