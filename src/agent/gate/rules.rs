//! What the rules say about a use of a tool. They are those of the desk; where none decides,
//! reading inside of the roots is allowed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use callgate_rules::{Act, Class, Decision, Defaults, Moment, Policy, Verdict, mask};
use serde_json::json;

use super::always::Like;
use super::hidden::Judge;
use super::led;
use super::{AGENT, Warn};
use crate::config::Config;
use crate::policy::{Ruler, home, moment};

/// How many links to what is not there are followed, one after the other: as many as the tools
/// follow.
const MOST_LINKS: usize = 40;
/// How strict a verdict is.
const ASKED: u8 = 1;
pub(super) const GUARDED: u8 = 2;
pub(super) const DENIED: u8 = 3;

/// What the rules say.
#[derive(Debug)]
pub(super) enum Ruled {
    /// It may run.
    Allow {
        /// By which rule, and why.
        because: String,
    },
    /// It may not.
    Deny {
        /// By which rule, and why.
        because: String,
    },
    /// A person decides.
    Ask(Ask),
}

/// Why and how a person is asked.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    /// Why, when there is a reason beside that nothing allows it. The daemon is told, since it
    /// sees no links and might allow it.
    pub(super) because: Option<String>,
    /// Whether it touches callgate itself.
    pub(super) is_guarded: bool,
    /// What may be allowed from now on, if anything.
    pub(super) like: Option<Like>,
}

/// The rules, read when the first question comes.
pub(super) struct Rules {
    config: Config,
    folder: PathBuf,
    roots: Vec<PathBuf>,
    warn: Warn,
    known: Mutex<Option<Known>>,
}

struct Known {
    ruler: Ruler,
    home: Arc<str>,
}

impl Rules {
    pub(super) fn new(config: &Config, folder: &Path, roots: &[PathBuf], warn: Warn) -> Self {
        let (config, known) = (config.clone(), Mutex::new(None));
        Self { config, folder: folder.to_owned(), roots: roots.to_owned(), warn, known }
    }

    /// What the rules say about this use of a tool. With unchanged files it costs a look at each.
    pub(super) fn rule(&self, tool: &str, input: &str, must_ask: Option<&str>) -> Ruled {
        let (policy, home) = self.now();
        // A folder whose name is no text makes an act that nothing allows.
        let folder = self.folder.to_str().unwrap_or_default();
        let act = Act::of(tool, input, folder, AGENT, &home);
        let (verdict, places, is_led) = strictest(&policy, &act);
        let because = mask::text(&verdict.because).into_shown();
        match verdict.decision {
            Decision::Deny => Ruled::Deny { because },
            Decision::Allow if must_ask.is_none() => Ruled::Allow { because },
            decision => {
                let by_rule = verdict.rule.is_some() && decision == Decision::Ask;
                let is_said = verdict.is_guarded || by_rule;
                let led = || is_led.then(|| format!("it leads through a link, and {because}"));
                let said = if is_said { Some(because.clone()) } else { led() };
                let like =
                    Like::of(&act, &places, input).filter(|_| !is_said && must_ask.is_none());
                let because = must_ask.map(|why| mask::text(why).into_shown()).or(said);
                Ruled::Ask(Ask { because, is_guarded: verdict.is_guarded, like })
            }
        }
    }

    /// The rules as they are now, to judge many files by.
    pub(super) fn judge(&self) -> Judge {
        let (policy, home) = self.now();
        Judge {
            policy: Policy::clone(&policy),
            folder: self.folder.to_str().unwrap_or_default().to_owned(),
            home: home.as_ref().to_owned(),
            now: moment(SystemTime::now()),
        }
    }

    /// The policy as it is now, and the home of its rules. Nobody who decides by it keeps others
    /// from it.
    fn now(&self) -> (Arc<Policy>, Arc<str>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Known { ruler, home } = known.get_or_insert_with(|| self.read());
        (ruler.policy(&self.folder), Arc::clone(home))
    }

    fn read(&self) -> Known {
        // A root that is a link, or lies behind one, has two names.
        let real = self.roots.iter().filter_map(|root| fs::canonicalize(root).ok());
        let mut roots: Vec<PathBuf> = self.roots.iter().cloned().chain(real).collect();
        roots.sort();
        roots.dedup();
        let defaults = Defaults::read_inside(roots.iter().filter_map(|root| root.to_str()));
        let ruler = Ruler::new(&self.config, self.warn.clone()).with_defaults(defaults);
        Known { ruler, home: home().into() }
    }
}

/// The verdict on an act, by the names in it and by where these names really lead: whichever is
/// stricter. And the places, if they all have names that are text, and whether only they forbid it.
fn strictest(policy: &Policy, act: &Act) -> (Verdict, Vec<String>, bool) {
    let now = moment(SystemTime::now());
    let verdict = policy.decide(act, &now);
    let was_allowed = verdict.decision == Decision::Allow;
    let (verdict, places) = led_by(policy, act, &now, verdict);
    let is_led = was_allowed && verdict.decision != Decision::Allow;
    (verdict, places, is_led)
}

fn led_by(
    policy: &Policy,
    act: &Act,
    now: &Moment,
    mut verdict: Verdict,
) -> (Verdict, Vec<String>) {
    let mut places = Vec::new();
    if act.class == Class::Run {
        return (led::strictest(policy, act, now, verdict), places);
    }
    if !matches!(act.class, Class::Read | Class::Write) {
        return (verdict, places);
    }
    for path in &act.paths {
        let place = real(Path::new(path));
        if place != Path::new(path) {
            let input = json!({ "path": place.to_string_lossy() }).to_string();
            let really = Act::of(&act.tool, &input, &act.project, &act.agent, &act.home);
            let other = policy.decide(&really, now);
            if rank(&other) > rank(&verdict) {
                verdict = other;
            }
        }
        places.extend(place.to_str().map(str::to_owned));
    }
    (verdict, places)
}

pub(super) fn rank(verdict: &Verdict) -> u8 {
    match verdict.decision {
        Decision::Allow => 0,
        Decision::Ask if verdict.is_guarded => GUARDED,
        Decision::Ask => ASKED,
        Decision::Deny => DENIED,
    }
}

/// Where a path leads, links resolved; of what is not there yet, by the folder that is.
pub(super) fn real(path: &Path) -> PathBuf {
    follow(path, MOST_LINKS)
}

fn follow(path: &Path, links: usize) -> PathBuf {
    for above in path.ancestors() {
        let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
        if let Ok(real) = fs::canonicalize(above) {
            return joined(&real, rest);
        }
        // A link to what is not there yet leads there all the same.
        if let (Ok(target), Some(folder)) = (fs::read_link(above), above.parent())
            && links > 0
        {
            return follow(&joined(&folder.join(target), rest), links - 1);
        }
    }
    path.to_owned()
}

/// Without a slash at the end where nothing follows.
fn joined(folder: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { folder.to_owned() } else { folder.join(rest) }
}
