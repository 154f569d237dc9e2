//! The rules in force: read from their files, and read again when these change.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use callgate_approval::daemon::Warn;
use callgate_approval::desk::Ruling;
use callgate_link::sync::lock;
use callgate_mask::mask_text;
use callgate_mask::text::one_line;
use callgate_rules::{
    Act, CommandBounds, Disk, GuardedKind, GuardedSet, Policy, PolicyDefaults, RuleDecision,
    RuleFile, Trust, UnclearCommands, Verdict, disk, judge_act,
};
use callgate_settings::Config;
use callgate_wire::approval::ApprovalRequest;
use callgate_wire::tool_act::ToolKind;

use crate::local_clock::RuleSurroundings;
use crate::real_disk::RealDisk;
use crate::rule_files::{FileStamp, PROJECT_RULES, read_rule_file};
use crate::team_file::TeamFile;

/// How many folders above an agent's own may hold rules.
const MOST_FOLDERS: usize = 32;
/// How many rule files are cached; agents work in few projects at a time.
const MOST_FILES: usize = 256;
/// How many folders of agents' settings are learned from requests. Without a limit an agent could
/// fill the memory by naming ever new ones. Each further one is guarded for the requests that name
/// it.
const MOST_SETTINGS_FOLDERS: usize = 64;
/// For how many folders the policy is cached.
const MOST_BUILT: usize = 16;

/// Decides questions by the rules. A disk that does not respond delays only questions about files
/// on it.
pub struct LiveRules {
    team: PathBuf,
    user: PathBuf,
    defaults: PolicyDefaults,
    unclear: UnclearCommands,
    bounds: Option<CommandBounds>,
    around: RuleSurroundings,
    disk: Arc<dyn Disk + Send + Sync>,
    warn: Warn,
    /// Not locked while the disk is asked.
    memory: Mutex<RulerMemory>,
}

/// What a ruler remembers of earlier questions.
struct RulerMemory {
    guarded: Arc<GuardedSet>,
    /// The folders in which agents keep their settings, as their requests have named them.
    settings_folders: Vec<String>,
    files: HashMap<PathBuf, Arc<KnownRuleFile>>,
    built: HashMap<PathBuf, Arc<FolderPolicy>>,
}

/// A rule file and its metadata when it was read.
struct KnownRuleFile {
    stamp: Option<FileStamp>,
    file: RuleFile,
}

/// The policy for a folder, and the state of the files from which it was built.
struct FolderPolicy {
    policy: Arc<Policy>,
    guarded: Arc<GuardedSet>,
    files: Vec<(PathBuf, Option<FileStamp>)>,
}

impl LiveRules {
    /// Creates the rules for these settings, with what is `guarded` from the first question on.
    /// Problems of a file are reported once, when it is read.
    pub fn new(config: &Config, guarded: GuardedSet, around: RuleSurroundings, warn: Warn) -> Self {
        let ruler = Self {
            team: TeamFile::beside(&config.database).path().to_owned(),
            user: config.rules.clone(),
            defaults: PolicyDefaults::default(),
            unclear: config.gate.unclear,
            bounds: None,
            around,
            disk: Arc::new(RealDisk),
            warn,
            memory: Mutex::new(RulerMemory {
                guarded: Arc::new(guarded),
                settings_folders: Vec::new(),
                files: HashMap::new(),
                built: HashMap::new(),
            }),
        };
        // Problems of these rules are reported at the start, not at the first question.
        ruler.refresh(&ruler.team, Trust::Team);
        ruler.refresh(&ruler.user, Trust::User);
        ruler
    }

    /// Sets what applies where no rule decides.
    pub fn with_defaults(mut self, defaults: PolicyDefaults) -> Self {
        self.defaults = defaults;
        lock(&self.memory).built.clear();
        self
    }

    /// Sets the folders in which the commands of our own runtime may work.
    pub fn with_bounds(mut self, bounds: CommandBounds) -> Self {
        self.bounds = Some(bounds);
        lock(&self.memory).built.clear();
        self
    }

    /// Rules on a question. `Ask` without a reason means that nothing decides it; with a reason, a
    /// rule, the guard or the judge requires a person.
    pub fn judge_request(&self, request: &ApprovalRequest) -> Ruling {
        let folder = request.context.as_ref().and_then(|it| it.settings_folder.as_deref());
        let unlearned = self.guard_settings(folder);
        let agent = request.agent.as_deref().unwrap_or_default();
        let (tool, input) = (&request.tool_name, request.tool_input.get());
        let verdict = if unlearned.is_empty() {
            self.judge_tool_use(tool, input, &request.cwd, agent)
        } else {
            let policy = self.policy_with_guarded(&request.cwd, &unlearned);
            self.judge_by_policy(&policy, tool, input, &request.cwd, agent)
        };
        let asks_a_person = ToolKind::for_tool(agent, tool).asks_a_person();
        let must_ask = request.context.as_ref().and_then(|context| context.must_ask.as_deref());
        let must_ask = must_ask.map(|why| mask_text(why).into_shown());
        let is_guarded = verdict.is_guarded;
        match ruling_of(&verdict) {
            Ruling::Ask { because: None, .. } => Ruling::Ask { because: must_ask, is_guarded },
            // No rule can give an answer in words, which only a person has.
            Ruling::Allow { .. } if must_ask.is_some() || asks_a_person => {
                Ruling::Ask { because: must_ask, is_guarded }
            }
            // At the desk it could not be answered: the typed word and the second person are for a
            // plain allow.
            Ruling::AtDesk { because, .. } if asks_a_person => {
                Ruling::Ask { because: Some(because), is_guarded }
            }
            ruling => ruling,
        }
    }

    /// Judges one use of a tool by an agent that works in `cwd`. It may block on the disk.
    pub fn judge_tool_use(&self, tool: &str, input: &str, cwd: &str, agent: &str) -> Verdict {
        self.judge_by_policy(&self.policy_for_folder(Path::new(cwd)), tool, input, cwd, agent)
    }

    fn judge_by_policy(
        &self,
        policy: &Policy,
        tool: &str,
        input: &str,
        cwd: &str,
        agent: &str,
    ) -> Verdict {
        let act = Act::from_call(tool, input, cwd, agent, &self.around.home);
        judge_act(policy, &act, &*self.disk, &self.around.moment_for(policy))
    }

    pub fn around(&self) -> &RuleSurroundings {
        &self.around
    }

    /// Returns what no rule can allow an agent to touch, as far as it is known now.
    pub(crate) fn guarded(&self) -> Arc<GuardedSet> {
        Arc::clone(&lock(&self.memory).guarded)
    }

    /// Returns the policy that these rules of the user would be alone.
    pub(crate) fn policy_of(&self, file: &RuleFile) -> Policy {
        Policy::new(self.guarded()).with_unclear(self.unclear).with_file(file, None)
    }

    /// Guards the folder in which an agent says that its settings are. That can only lead to more
    /// questions, so any agent may name one. Returns the paths that are to be guarded for this
    /// request alone, because too many folders were named before.
    fn guard_settings(&self, folder: Option<&str>) -> Vec<String> {
        let Some(folder) = folder.filter(|folder| folder.starts_with('/')) else {
            return Vec::new();
        };
        let is_known =
            |memory: &RulerMemory| memory.settings_folders.iter().any(|known| known == folder);
        if is_known(&lock(&self.memory)) {
            return Vec::new();
        }
        // This is done without the lock, because the disk may not respond.
        let place = disk::real_path(folder, &*self.disk).filter(|place| place != folder);
        let paths: Vec<String> = [folder.to_owned()].into_iter().chain(place).collect();
        let mut memory = lock(&self.memory);
        // Another thread may have been faster.
        if is_known(&memory) {
            return Vec::new();
        }
        // None is forgotten for another: whoever names many would then unguard the first.
        if memory.settings_folders.len() >= MOST_SETTINGS_FOLDERS {
            return paths;
        }
        memory.settings_folders.push(folder.to_owned());
        // A copy if a policy has it: a verdict that is being made keeps what it began with.
        guard_hooks(Arc::make_mut(&mut memory.guarded), &paths);
        memory.built.clear();
        Vec::new()
    }

    /// Returns the policy for an agent that works in `folder`, which guards these paths as well. It
    /// is not cached.
    fn policy_with_guarded(&self, folder: &str, paths: &[String]) -> Policy {
        let mut guarded = GuardedSet::clone(&self.guarded());
        guard_hooks(&mut guarded, paths);
        self.build_policy(Path::new(folder), &Arc::new(guarded)).0
    }

    /// Returns the policy for an agent that works in `folder`. It is rebuilt only if one of its
    /// files was changed, added or removed, which is checked each time, so that a rule applies as
    /// soon as it is written.
    pub fn policy_for_folder(&self, folder: &Path) -> Arc<Policy> {
        let known = lock(&self.memory).built.get(folder).map(Arc::clone);
        if let Some(built) = known.filter(|built| built.is_current()) {
            return Arc::clone(&built.policy);
        }
        let built = Arc::new(self.build_folder_policy(folder));
        self.cache_policy(folder, &built);
        Arc::clone(&built.policy)
    }

    /// Caches a policy, unless more has to be guarded since it was built.
    fn cache_policy(&self, folder: &Path, built: &Arc<FolderPolicy>) {
        let mut memory = lock(&self.memory);
        // Otherwise a policy that does not guard the new folder would stay until a file changes.
        if Arc::ptr_eq(&built.guarded, &memory.guarded) {
            if memory.built.len() >= MOST_BUILT {
                memory.built.clear();
            }
            memory.built.insert(folder.to_owned(), Arc::clone(built));
        }
    }

    fn build_folder_policy(&self, folder: &Path) -> FolderPolicy {
        let guarded = {
            let mut memory = lock(&self.memory);
            if memory.files.len() > MOST_FILES {
                memory.files.clear();
            }
            Arc::clone(&memory.guarded)
        };
        let (policy, files) = self.build_policy(folder, &guarded);
        FolderPolicy { policy: Arc::new(policy), guarded, files }
    }

    /// Builds the policy for an agent that works in `folder`. Returns it with the state of the
    /// files from which it was built.
    fn build_policy(
        &self,
        folder: &Path,
        guarded: &Arc<GuardedSet>,
    ) -> (Policy, Vec<(PathBuf, Option<FileStamp>)>) {
        let mut files = Vec::new();
        let mut policy = Policy::new(Arc::clone(guarded))
            .with_unclear(self.unclear)
            .with_defaults(self.defaults.clone());
        if let Some(bounds) = &self.bounds {
            policy = policy.with_bounds(bounds.clone());
        }
        for (path, trust) in [(&self.team, Trust::Team), (&self.user, Trust::User)] {
            let known = self.refresh(path, trust);
            policy = policy.with_file(&known.file, None);
            files.push((path.clone(), known.stamp));
        }
        if folder.ancestors().count() > MOST_FOLDERS {
            // Rules that cannot be found may be the ones that deny.
            let why = "it is nested too deeply for all rules above it to be read";
            let name = folder.display().to_string();
            policy = policy.with_file(&RuleFile::unreadable(&name, why, Trust::Project), None);
        }
        for folder in folder.ancestors().take(MOST_FOLDERS) {
            let path = folder.join(PROJECT_RULES);
            let known = self.refresh(&path, Trust::Project);
            policy = policy.with_file(&known.file, folder.to_str());
            files.push((path, known.stamp));
        }
        (policy, files)
    }

    /// Returns a file as it is now, read again if it has changed.
    fn refresh(&self, path: &Path, trust: Trust) -> Arc<KnownRuleFile> {
        // The stamp is older than the text: a change in between is then noticed at the next
        // question.
        let stamp = FileStamp::of_path(path).ok();
        let remembered = |memory: &RulerMemory| {
            memory.files.get(path).filter(|known| known.stamp == stamp).map(Arc::clone)
        };
        if let Some(known) = remembered(&lock(&self.memory)) {
            return known;
        }
        let known = Arc::new(KnownRuleFile { stamp, file: read_rule_file(path, trust) });
        {
            let mut memory = lock(&self.memory);
            // Another thread may have read the file and reported the same.
            if let Some(known) = remembered(&memory) {
                return known;
            }
            memory.files.insert(path.to_owned(), Arc::clone(&known));
        }
        for problem in &known.file.problems {
            (self.warn)(&problem.to_string());
        }
        known
    }
}

fn guard_hooks(guarded: &mut GuardedSet, paths: &[String]) {
    for path in paths {
        guarded.add_path(GuardedKind::Hooks, path);
    }
}

impl FolderPolicy {
    fn is_current(&self) -> bool {
        self.files.iter().all(|(path, then)| FileStamp::of_path(path).ok() == *then)
    }
}

/// Returns what the desk does about a verdict. Its reason, which may name a path of the agent or
/// quote the rules of a project, is on one line, with secrets masked.
pub fn ruling_of(verdict: &Verdict) -> Ruling {
    let because = || one_line(mask_text(&verdict.because).shown()).into_owned();
    let (needs_word, demands) = (verdict.decision == RuleDecision::Confirm, verdict.demands);
    match verdict.decision {
        RuleDecision::Deny => Ruling::Deny { because: because() },
        RuleDecision::Allow => Ruling::Allow { because: because() },
        _ if needs_word || !demands.is_empty() => {
            Ruling::AtDesk { because: because(), needs_word, demands }
        }
        RuleDecision::Ask | RuleDecision::Confirm => Ruling::Ask {
            because: verdict.wants_person.then(because),
            is_guarded: verdict.is_guarded,
        },
    }
}

#[cfg(test)]
mod tests;
