//! The rules that hold now: read from their files, and read again when these change.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use callgate_approval::desk::Ruling;
use callgate_rules::{
    Act, Bounds, Decision, Defaults, Guarded, Kind, Moment, Policy, RuleFile, Trust, Verdict, disk,
    judge, mask,
};
use callgate_wire::approval::Request;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustix::fs::OFlags;

use crate::config::{Config, Surroundings};
use crate::disk::RealDisk;

/// Where the rules of a project are, below its folder.
pub(crate) const PROJECT_RULES: &str = ".callgate/rules.toml";
/// How many folders above an agent's own may hold rules.
const MOST_FOLDERS: usize = 32;
/// No rule file is longer.
const LONGEST_FILE: u64 = 1024 * 1024;
/// No description of a time zone is longer.
const LONGEST_ZONE: u64 = 1024 * 1024;
/// How many files are remembered; agents work in few projects at a time.
const MOST_FILES: usize = 256;
/// How many folders of agents' settings are learnt from those who ask.
const MOST_SETTINGS_FOLDERS: usize = 64;
/// For how many folders the policy is kept.
const MOST_BUILT: usize = 16;

/// What of agents and git in the user's home may be a link into another folder.
const LINKED: [(Kind, &str); 10] = [
    (Kind::Settings, ".claude/settings.json"),
    (Kind::Settings, ".claude/settings.local.json"),
    (Kind::Settings, ".claude.json"),
    (Kind::Settings, ".codex"),
    (Kind::Hooks, ".claude"),
    (Kind::Hooks, ".gemini"),
    (Kind::Hooks, ".copilot"),
    (Kind::Hooks, ".cursor"),
    (Kind::Hooks, ".config/opencode"),
    (Kind::Hooks, ".gitconfig"),
];
/// The variables with which agents and git are told where their settings are, and what of that
/// folder is guarded.
const AGENT_VARIABLES: [(Kind, &str, &str); 14] = [
    (Kind::Settings, "CLAUDE_CONFIG_DIR", "settings.json"),
    (Kind::Settings, "CLAUDE_CONFIG_DIR", ".claude.json"),
    (Kind::Hooks, "CLAUDE_CONFIG_DIR", ""),
    (Kind::Settings, "CODEX_HOME", ""),
    (Kind::Hooks, "COPILOT_HOME", ""),
    (Kind::Hooks, "OPENCODE_CONFIG", ""),
    (Kind::Hooks, "OPENCODE_CONFIG_DIR", ""),
    (Kind::Hooks, "GEMINI_CLI_SYSTEM_SETTINGS_PATH", ""),
    (Kind::Hooks, "GIT_CONFIG_GLOBAL", ""),
    (Kind::Hooks, "XDG_CONFIG_HOME", "opencode"),
    (Kind::Hooks, "XDG_CONFIG_HOME", "goose"),
    (Kind::Hooks, "XDG_CONFIG_HOME", "amp"),
    (Kind::Hooks, "XDG_CONFIG_HOME", "cursor"),
    (Kind::Hooks, "XDG_CONFIG_HOME", "git"),
];

/// Says what the rules make of a question.
pub(crate) struct Ruler {
    user: PathBuf,
    guarded: Guarded,
    /// The folders in which agents have said that their settings are.
    settings_folders: Vec<String>,
    defaults: Defaults,
    bounds: Option<Bounds>,
    home: String,
    files: HashMap<PathBuf, Known>,
    built: HashMap<PathBuf, Built>,
    warn: Arc<dyn Fn(&str) + Send + Sync>,
}

/// A rule file as it was when it was read.
struct Known {
    stamp: Option<Stamp>,
    file: RuleFile,
}

/// The policy for a folder, and the files that it was built from as they were then.
struct Built {
    policy: Arc<Policy>,
    files: Vec<(PathBuf, Option<Stamp>)>,
}

/// What changes when a file is changed.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    length: u64,
    changed: (i64, i64),
}

impl Ruler {
    /// The rules of these settings. What is wrong with a file is told once, when it is read.
    pub(crate) fn new(config: &Config, warn: Arc<dyn Fn(&str) + Send + Sync>) -> Self {
        let mut ruler = Self {
            user: config.rules.value.clone(),
            guarded: guarded(config),
            settings_folders: Vec::new(),
            defaults: Defaults::default(),
            bounds: None,
            home: home(),
            files: HashMap::new(),
            built: HashMap::new(),
            warn,
        };
        // What is wrong with the user's own rules is told at the start, not at the first question.
        let user = ruler.user.clone();
        ruler.refresh(&user, Trust::User);
        ruler
    }

    /// Sets what holds where no rule decides.
    pub(crate) fn with_defaults(mut self, defaults: Defaults) -> Self {
        self.defaults = defaults;
        self.built.clear();
        self
    }

    /// Sets the folders in which the commands of our own runtime may work.
    pub(crate) fn with_bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = Some(bounds);
        self.built.clear();
        self
    }

    /// What the rules make of a question. One that asks without a reason is one on which nothing
    /// decides; with a reason a rule, the guard or the judge wants a person.
    pub(crate) fn rule(&mut self, request: &Request) -> Ruling {
        if let Some(context) = &request.context {
            self.guard_settings(context.settings_folder.as_deref());
        }
        let agent = request.agent.as_deref().unwrap_or_default();
        let (tool, input) = (&request.tool_name, request.tool_input.get());
        let verdict = self.judge(tool, input, &request.cwd, agent);
        let because = mask::text(&verdict.because).shown().to_owned();
        let must_ask = request.context.as_ref().and_then(|context| context.must_ask.as_deref());
        match verdict.decision {
            Decision::Deny => Ruling::Deny { because },
            // No rule can give the answer that a person is asked for.
            Decision::Allow if must_ask.is_none() && !asks_a_person(tool) => {
                Ruling::Allow { because }
            }
            decision => {
                let is_said = verdict.wants_person && decision != Decision::Allow;
                let because = match must_ask {
                    Some(why) if !is_said => Some(mask::text(why).shown().to_owned()),
                    _ => is_said.then_some(because),
                };
                Ruling::Ask { because, is_guarded: verdict.is_guarded }
            }
        }
    }

    /// Judges one use of a tool by an agent that works in `cwd`. It may wait for the disk.
    pub(crate) fn judge(&mut self, tool: &str, input: &str, cwd: &str, agent: &str) -> Verdict {
        let policy = self.policy(Path::new(cwd));
        let act = Act::of(tool, input, cwd, agent, &self.home);
        // Where no rule asks for the time, nobody has to find out what it is here.
        let now =
            if policy.depends_on_time() { moment(SystemTime::now()) } else { Moment::at(0, 0) };
        judge(&policy, &act, &RealDisk, &now)
    }

    /// Guards the folder in which an agent says that its settings are. Nothing but more questions
    /// can come of that, so that whoever asks may name one.
    fn guard_settings(&mut self, folder: Option<&str>) {
        let Some(folder) = folder.filter(|folder| folder.starts_with('/')) else { return };
        let is_new = !self.settings_folders.iter().any(|known| known == folder);
        if is_new && self.settings_folders.len() < MOST_SETTINGS_FOLDERS {
            self.settings_folders.push(folder.to_owned());
            guard(&mut self.guarded, Kind::Hooks, Path::new(folder));
            self.built.clear();
        }
    }

    /// The policy for an agent that works in `folder`. It is built again only when a file that it
    /// was built from has changed, has come or has gone; that is looked up each time, so that a
    /// rule holds as soon as it is written.
    pub(crate) fn policy(&mut self, folder: &Path) -> Arc<Policy> {
        if let Some(built) = self.built.get(folder).filter(|built| built.is_current()) {
            return Arc::clone(&built.policy);
        }
        let built = self.build(folder);
        let policy = Arc::clone(&built.policy);
        if self.built.len() >= MOST_BUILT {
            self.built.clear();
        }
        self.built.insert(folder.to_owned(), built);
        policy
    }

    fn build(&mut self, folder: &Path) -> Built {
        if self.files.len() > MOST_FILES {
            self.files.clear();
        }
        let mut files = Vec::new();
        let mut policy = Policy::new(self.guarded.clone()).with_defaults(self.defaults.clone());
        if let Some(bounds) = &self.bounds {
            policy = policy.with_bounds(bounds.clone());
        }
        let user = self.user.clone();
        let known = self.refresh(&user, Trust::User);
        policy = policy.with(&known.file, None);
        files.push((user, known.stamp));
        if folder.ancestors().count() > MOST_FOLDERS {
            // Rules that are not found may be the ones that deny.
            let why = "it lies too deep for all rules above it to be read";
            let name = folder.display().to_string();
            policy = policy.with(&RuleFile::unreadable(&name, why, Trust::Project), None);
        }
        for folder in folder.ancestors().take(MOST_FOLDERS) {
            let path = folder.join(PROJECT_RULES);
            let known = self.refresh(&path, Trust::Project);
            policy = policy.with(&known.file, folder.to_str());
            files.push((path, known.stamp));
        }
        Built { policy: Arc::new(policy), files }
    }

    /// A file as it is now, read again if it has changed.
    fn refresh(&mut self, path: &Path, trust: Trust) -> &Known {
        let stamp = stamp(path).ok();
        let is_known = self.files.get(path).is_some_and(|known| known.stamp == stamp);
        if !is_known {
            let file = read_file(path, trust);
            for problem in &file.problems {
                (self.warn)(&problem.to_string());
            }
            self.files.insert(path.to_owned(), Known { stamp, file });
        }
        &self.files[path]
    }
}

impl Built {
    fn is_current(&self) -> bool {
        self.files.iter().all(|(path, then)| stamp(path).ok() == *then)
    }
}

/// Reads a rule file. One that is not there has no rules; one that cannot be read allows nothing.
pub(crate) fn read_file(path: &Path, trust: Trust) -> RuleFile {
    let name = path.display().to_string();
    let read = || {
        // A project can bring anything under this name: a pipe, a device, a link to one.
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
        let file = File::options().read(true).custom_flags(flags).open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() > LONGEST_FILE {
            return Err(io::Error::other("it is no file, or longer than a rule file can be"));
        }
        io::read_to_string(file.take(LONGEST_FILE))
    };
    match read() {
        Ok(text) => RuleFile::read(&name, &text, trust),
        Err(error) if is_absent(&error) => RuleFile::read(&name, "", trust),
        Err(error) => RuleFile::unreadable(&name, &error.to_string(), trust),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn stamp(path: &Path) -> io::Result<Stamp> {
    let metadata = fs::metadata(path)?;
    let changed = (metadata.mtime(), metadata.mtime_nsec());
    Ok(Stamp { inode: metadata.ino(), length: metadata.len(), changed })
}

/// What no rule can allow an agent to touch.
pub(crate) fn guarded(config: &Config) -> Guarded {
    guarded_in(config, &Surroundings::of_process())
}

fn guarded_in(config: &Config, around: &Surroundings) -> Guarded {
    let mut guarded = Guarded::new(&home());
    let mut add = |kind, path: &Path| guard(&mut guarded, kind, path);
    let folder = PathBuf::from(home());
    for (kind, path) in LINKED {
        // By its own name it is guarded already.
        let path = folder.join(path);
        let place = path.to_str().and_then(|path| disk::real(path, &RealDisk)).map(PathBuf::from);
        if let Some(place) = place.filter(|place| *place != path) {
            add(kind, &place);
        }
    }
    for (kind, variable, below) in AGENT_VARIABLES {
        if let Some(folder) = around.variable(variable) {
            add(kind, &around.absolute(Path::new(&folder)).join(below));
        }
    }
    for own in [".config/callgate", ".local/share/callgate"] {
        add(Kind::Own, &folder.join(own));
    }
    add(Kind::Socket, &config.socket.value);
    add(Kind::Socket, &config.desk_socket.value);
    if let Some(socket) = &config.legacy_socket.value {
        add(Kind::Socket, socket);
    }
    if let Some(folder) = around.runtime_folder() {
        add(Kind::Own, &folder);
    }
    add(Kind::Own, &config.rules.value);
    for file in [config.file.as_ref(), Some(&config.database)].into_iter().flatten() {
        add(Kind::Own, file.value.parent().unwrap_or(&file.value));
    }
    // Whoever may replace the programs needs no permission any more.
    if let Ok(program) = std::env::current_exe() {
        add(Kind::Settings, &program.with_file_name("callgate-hook"));
        add(Kind::Settings, &program);
    }
    guarded
}

/// Guards a path by both its names: a link to it, or on the way to it, leads to the same place.
fn guard(guarded: &mut Guarded, kind: Kind, path: &Path) {
    if let Some(path) = path.to_str() {
        guarded.add(kind, path);
        if let Some(place) = disk::real(path, &RealDisk).filter(|place| place != path) {
            guarded.add(kind, &place);
        }
    }
}

/// The user's folder, as rules know it.
pub(crate) fn home() -> String {
    let home = Surroundings::of_process().home().map(|home| home.display().to_string());
    home.unwrap_or_else(|| "/".to_owned())
}

/// A moment where the user is.
pub(crate) fn moment(at: SystemTime) -> Moment {
    let at = Timestamp::try_from(at).unwrap_or_default();
    let ahead = zone().to_offset(at).seconds() / 60;
    Moment::at(at.as_millisecond(), ahead)
}

/// The time zone of this machine. The file that describes it is read directly: to find it by its
/// name takes a walk through the files of all zones, at every start of a hook.
fn zone() -> TimeZone {
    let described = || {
        if std::env::var_os("TZ").is_some() {
            return None;
        }
        let file = File::open("/etc/localtime").ok()?;
        let mut description = Vec::new();
        file.take(LONGEST_ZONE).read_to_end(&mut description).ok()?;
        TimeZone::tzif("", &description).ok()
    };
    described().unwrap_or_else(TimeZone::system)
}

/// Whether the question of this tool is answered with more than yes or no.
fn asks_a_person(tool: &str) -> bool {
    matches!(tool, "AskUserQuestion" | "Elicitation" | "Ask")
}

#[cfg(test)]
mod tests;
