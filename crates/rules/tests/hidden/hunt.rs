//! Judges the lines of many seeds, runs those that are let through, and collects the holes.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use callgate_rules::{
    Act, Disk, DiskEntry, FolderListing, GuardedSet, Moment, Policy, RuleDecision, RuleFile, Trust,
    Verdict, judge_act,
};
use serde_json::json;

use super::grammar;
use super::scratch::PROJECT;
use super::shells::{LineRunner, TestedShell};

const RULES: &str = r#"
[[rule]]
name = "no-push"
decide = "deny"
command = "git push"

[[rule]]
name = "no-keys"
decide = "deny"
path = "~/.aws"
"#;

/// One in so many lines that are not let through is run all the same.
const SAMPLED: u64 = 50;
/// How many seeds a worker takes at once.
const SHARE: u64 = 64;
/// How many seeds lie between two lines of progress.
const STEP: u64 = 20_000;
/// The name of the home while lines are compared.
const ANY_HOME: &str = "/home/ada";

/// In which shells a line runs.
#[derive(Clone, Debug)]
pub(crate) enum ShellChoice {
    /// In each of these.
    Each(Vec<TestedShell>),
    /// In one of these, by its seed.
    Turns(Vec<TestedShell>),
}

impl ShellChoice {
    fn of(&self, seed: u64) -> Vec<TestedShell> {
        match self {
            Self::Each(shells) => shells.clone(),
            Self::Turns(shells) => {
                let count = u64::try_from(shells.len()).expect("a few shells");
                vec![shells[usize::try_from(seed % count).expect("less than a few")]]
            }
        }
    }
}

/// A line that does what is denied although nobody was asked.
#[derive(Clone, Debug)]
pub(crate) struct RuleHole {
    seed: u64,
    shell: TestedShell,
    techniques: String,
    line: String,
    /// The smallest line of the same seed that is a hole too.
    smaller: String,
    smaller_techniques: String,
    reached: String,
    verdict: String,
}

impl fmt::Display for RuleHole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {} in {}: {}", self.seed, self.shell.name(), self.techniques)?;
        writeln!(f, "    line     {:?}", self.line)?;
        writeln!(f, "    smaller  {:?}  ({})", self.smaller, self.smaller_techniques)?;
        writeln!(f, "    reached  {}", self.reached)?;
        write!(f, "    verdict  {}", self.verdict)
    }
}

/// What a hunt found.
#[derive(Clone, Debug, Default)]
pub(crate) struct HuntReport {
    pub(crate) lines: u64,
    pub(crate) distinct: u64,
    pub(crate) let_through: u64,
    /// How many times a line that was let through ran.
    pub(crate) runs: u64,
    /// How many times a line ran that was not let through, and how many of these did what is
    /// denied.
    pub(crate) sampled: u64,
    pub(crate) sampled_reached: u64,
    pub(crate) overdue: u64,
    /// How many holes did not show themselves a second time.
    pub(crate) unsteady: u64,
    pub(crate) hole_count: u64,
    /// The first hole of each kind.
    pub(crate) holes: BTreeMap<String, RuleHole>,
}

impl HuntReport {
    fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.distinct += other.distinct;
        self.let_through += other.let_through;
        self.runs += other.runs;
        self.sampled += other.sampled;
        self.sampled_reached += other.sampled_reached;
        self.overdue += other.overdue;
        self.unsteady += other.unsteady;
        self.hole_count += other.hole_count;
        for (kind, hole) in other.holes {
            self.holes.entry(kind).or_insert_with(|| {
                eprintln!("{hole}");
                hole
            });
        }
    }
}

impl fmt::Display for HuntReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} lines, {} distinct, {} let through; {} runs of these, {} holes ({} kinds shown, {} \
             unsteady, {} runs overdue); of {} others that ran as a sample, {} did what is denied",
            self.lines,
            self.distinct,
            self.let_through,
            self.runs,
            self.hole_count,
            self.holes.len(),
            self.unsteady,
            self.overdue,
            self.sampled,
            self.sampled_reached,
        )
    }
}

/// Judges the lines of these seeds, and runs in each of their shells those that are let through.
/// Stops after so many kinds of holes.
pub(crate) fn hunt(seeds: Range<u64>, choice: &ShellChoice, most_holes: usize) -> HuntReport {
    let next = AtomicU64::new(seeds.start);
    let known = Mutex::new(HashSet::new());
    let total = Mutex::new(HuntReport::default());
    let started = Instant::now();
    let workers = thread::available_parallelism().map_or(2, usize::from).min(8);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut hunter = LineHunter::new(choice);
                loop {
                    let first = next.fetch_add(SHARE, Ordering::Relaxed);
                    if first >= seeds.end {
                        return;
                    }
                    for seed in first..seeds.end.min(first + SHARE) {
                        hunter.try_seed(seed, &known);
                    }
                    let mut total = total.lock().expect("no worker fails");
                    let before = total.lines / STEP;
                    total.add(std::mem::take(&mut hunter.report));
                    if total.lines / STEP > before {
                        let seconds = started.elapsed().as_secs();
                        eprintln!("{seconds} s, seed {first}: {total}");
                    }
                    if total.holes.len() >= most_holes {
                        eprintln!("stops at seed {first}");
                        return;
                    }
                }
            });
        }
    });
    total.into_inner().expect("no worker failed")
}

/// The disk as verdicts see it.
struct ScratchDisk;

impl Disk for ScratchDisk {
    fn entry(&self, path: &str) -> DiskEntry {
        match std::fs::read_link(path) {
            Ok(target) => DiskEntry::Link(target.to_string_lossy().into_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => DiskEntry::Missing,
            Err(_) => DiskEntry::Present,
        }
    }

    fn list(&self, folder: &str, most: usize) -> FolderListing {
        let mut listing = FolderListing::default();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten().take(most) {
            listing.read_count += 1;
            let name = entry.file_name().to_string_lossy().into_owned();
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => listing.links.push(name),
                Ok(kind) if kind.is_dir() => listing.folders.push(name),
                _ => {}
            }
        }
        listing
    }
}

/// Judges and runs lines in a home of its own.
struct LineHunter<'a> {
    runner: LineRunner,
    policy: Policy,
    choice: &'a ShellChoice,
    report: HuntReport,
}

impl<'a> LineHunter<'a> {
    fn new(choice: &'a ShellChoice) -> Self {
        let runner = LineRunner::new();
        let file = RuleFile::from_toml("rules.toml", RULES, Trust::User);
        assert!(!file.has_errors(), "{:?}", file.problems);
        let policy = Policy::new(GuardedSet::new(runner.scratch.home())).with_file(&file, None);
        Self { runner, policy, choice, report: HuntReport::default() }
    }

    fn verdict(&self, line: &str) -> Verdict {
        let home = self.runner.scratch.home();
        let input = json!({ "command": line }).to_string();
        let act = Act::from_call("Bash", &input, &format!("{home}/{PROJECT}"), "claude", home);
        judge_act(&self.policy, &act, &ScratchDisk, &Moment::from_unix_ms(0, 0))
    }

    fn try_seed(&mut self, seed: u64, known: &Mutex<HashSet<u64>>) {
        self.report.lines += 1;
        let mut hasher = DefaultHasher::new();
        grammar::line(seed, ANY_HOME, 0).text.hash(&mut hasher);
        if !known.lock().expect("no worker fails").insert(hasher.finish()) {
            return;
        }
        self.report.distinct += 1;
        let line = grammar::line(seed, self.runner.scratch.home(), 0).text;
        let verdict = self.verdict(&line);
        let is_open = lets_through(&verdict);
        self.report.let_through += u64::from(is_open);
        if !is_open && !seed.is_multiple_of(SAMPLED) {
            return;
        }
        for shell in self.choice.of(seed) {
            let run = self.runner.run(shell, &line);
            self.report.overdue += u64::from(run.is_overdue);
            let has_reached = !run.reached.is_empty();
            if !is_open {
                self.report.sampled += 1;
                self.report.sampled_reached += u64::from(has_reached);
                continue;
            }
            self.report.runs += 1;
            if has_reached {
                self.add_hole(seed, shell);
            }
        }
    }

    /// Runs the line again, makes it smaller, and keeps it as a hole if it is one of a new kind.
    fn add_hole(&mut self, seed: u64, shell: TestedShell) {
        let Some(mut smallest) = self.hole(seed, shell, 0) else {
            self.report.unsteady += 1;
            return;
        };
        self.report.hole_count += 1;
        let home = self.runner.scratch.home().to_owned();
        let original = grammar::line(seed, &home, 0);
        let mut left_out = 0;
        for turn in 0..original.turns {
            let fewer = left_out | 1 << turn;
            if let Some(smaller) = self.hole(seed, shell, fewer) {
                smallest = smaller;
                left_out = fewer;
            }
        }
        let smaller = grammar::line(seed, &home, left_out);
        let mut techniques = smaller.techniques;
        techniques.sort_unstable();
        techniques.dedup();
        let techniques = techniques.join(", ");
        let (verdict, reached) = smallest;
        let found = RuleHole {
            seed,
            shell,
            techniques: original.techniques.join(", "),
            line: original.text.replace(&home, ANY_HOME),
            smaller: smaller.text.replace(&home, ANY_HOME),
            smaller_techniques: techniques.clone(),
            reached: reached.join(", "),
            verdict: format!("{:?}: {}", verdict.decision, verdict.because),
        };
        self.report.holes.entry(techniques).or_insert(found);
    }

    /// Returns the verdict and what was reached, if the line of a seed is a hole.
    fn hole(
        &mut self,
        seed: u64,
        shell: TestedShell,
        left_out: u64,
    ) -> Option<(Verdict, Vec<String>)> {
        let line = grammar::line(seed, self.runner.scratch.home(), left_out).text;
        let verdict = self.verdict(&line);
        if !lets_through(&verdict) {
            return None;
        }
        let reached = self.runner.run(shell, &line).reached;
        (!reached.is_empty()).then_some((verdict, reached))
    }
}

/// Returns true if an agent that asks nobody would run what has this verdict.
fn lets_through(verdict: &Verdict) -> bool {
    verdict.decision != RuleDecision::Deny && !verdict.wants_person && !verdict.is_guarded
}
