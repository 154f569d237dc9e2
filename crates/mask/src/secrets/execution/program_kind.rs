//! How programs run others, as far as masking has to know it.

use crate::programs::{INTERPRETERS, SHELLS, WRAPPERS, is_one_of};
use crate::word_list::WordList;
use crate::words;

/// How a program runs what its words and its input say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramKind {
    /// Evaluates all its words as code.
    Evaluator,
    /// Runs a script or a program that it is given, and what its input says.
    InputRunner,
    /// Runs a script that it is given, or else its input.
    Language,
    Container,
    Wrapper,
    /// Runs nothing that we know of.
    Other,
}

const EVALUATORS: &WordList = words!("eval trap alias iex invoke-expression");

/// Programs other than shells whose input is executed.
const INPUT_RUNNERS: &WordList =
    words!("xargs gxargs parallel su ssh at batch crontab ed ex expect tclsh source . socat");

const LANGUAGES: &WordList = words!(
    "python python2 python3 pypy pypy3 ipython perl ruby irb node nodejs deno bun php lua luajit \
    osascript R Rscript julia"
);

const CONTAINERS: &WordList = words!("docker podman nerdctl kubectl");

/// Programs that take an argument of their own before the program.
const WITH_ARGUMENT: &WordList = words!(
    "flock chroot taskset chrt ssh faketime setuidgid s6-setuidgid direnv mise asdf prlimit docker \
    podman nerdctl kubectl lxc-attach su wsl"
);

impl ProgramKind {
    pub(super) fn from_word(word: &[u8]) -> Self {
        let Ok(name) = std::str::from_utf8(word) else { return Self::Other };
        let is = |list: &WordList| is_one_of(name, list);
        // The order counts: `ssh` and `docker`, for example, are also in the lists of those that
        // run others.
        if is(EVALUATORS) {
            Self::Evaluator
        } else if is(SHELLS) || is(INPUT_RUNNERS) {
            Self::InputRunner
        } else if is(LANGUAGES) {
            Self::Language
        } else if is(CONTAINERS) {
            Self::Container
        } else if is(WRAPPERS) || is(INTERPRETERS) {
            Self::Wrapper
        } else {
            Self::Other
        }
    }
}

/// Returns how many arguments of its own a program takes before the one that it runs.
pub(super) fn own_arguments(word: &[u8]) -> u8 {
    std::str::from_utf8(word).map_or(0, |name| u8::from(is_one_of(name, WITH_ARGUMENT)))
}
