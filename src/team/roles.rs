//! What the people of a team may answer, as the file of roles has it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use callgate_approval::answer_roles::{AnswerRoles, AnswerScope};
use callgate_approval::daemon::Warn;
use callgate_link::sync::lock;
use callgate_mask::text::without_mark;
use callgate_policy::{FileStamp, roles_path};
use callgate_rules::{DESK_MACHINE, Problem, RoleFile, RuleProblemLevel};
use callgate_surroundings::rule_surroundings;
use callgate_wire::ledger::{MemberKind, TeamRoster};

use crate::config::Config;

use super::roles_file::read_roles_text;
use super::shared_roles::subject_of_scope;

/// Why no machine can have the name of the desk: whoever may answer for one of the two could answer
/// for the other.
pub(crate) const NAME_OF_DESK: &str = "a machine cannot be called desk, by which roles mean the \
                                       team's desk itself: choose another name";

pub(crate) fn read_roles(path: &Path) -> Option<RoleFile> {
    let name = path.display().to_string();
    match read_roles_text(path) {
        Ok(text) => text.map(|text| RoleFile::from_toml(&name, without_mark(&text))),
        // An unreadable file is not the same as none, without which everybody may answer.
        Err(error) => Some(RoleFile::unreadable(&name, &error.to_string())),
    }
}

/// The roles as the file has them, read again when it has changed.
pub(crate) struct LiveRoles {
    path: PathBuf,
    home: String,
    warn: Warn,
    known: Mutex<KnownRoles>,
}

#[derive(Default)]
struct KnownRoles {
    /// Whether the file was ever looked at.
    is_read: bool,
    /// The state of the file then, if there was one.
    stamp: Option<FileStamp>,
    file: Option<Arc<RoleFile>>,
}

impl LiveRoles {
    /// Takes the roles beside these rules. The file is first looked at when somebody answers.
    pub(crate) fn new(config: &Config, warn: Warn) -> Self {
        let known = Mutex::default();
        Self { path: roles_path(config), home: rule_surroundings().home, warn, known }
    }

    fn current_file(&self) -> Option<Arc<RoleFile>> {
        let mut known = lock(&self.known);
        // The stamp is older than the text, so a change in between is noticed at the next look.
        let stamp = FileStamp::of_path(&self.path).ok();
        if !known.is_read || known.stamp != stamp {
            (known.is_read, known.stamp) = (true, stamp);
            known.file = read_roles(&self.path).map(Arc::new);
            for problem in known.file.iter().flat_map(|file| &file.problems) {
                (self.warn)(&problem.to_string());
            }
        }
        known.file.clone()
    }
}

impl fmt::Debug for LiveRoles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LiveRoles").field(&self.path).finish()
    }
}

impl AnswerRoles for LiveRoles {
    fn covers_question(&self, member: &str, scope: &AnswerScope) -> bool {
        let subject = subject_of_scope(scope, &self.home);
        self.current_file().is_none_or(|file| file.covers(member, subject))
    }
}

/// Returns what is wrong with the file, and which people and machines in it the team does not have.
pub(crate) fn all_problems(file: &RoleFile, roster: &TeamRoster) -> Vec<Problem> {
    let mut problems = file.problems.clone();
    // Patterns are not compared, because they may be for people and machines that are invited
    // later.
    let is_pattern = |name: &&str| name.contains(['*', '?']);
    for role in &file.roles {
        let mut warn = |message: String| {
            let (level, file) = (RuleProblemLevel::Warning, file.name.clone());
            problems.push(Problem { level, file, line: role.line, column: 1, message });
        };
        let is_person = |name: &str| {
            roster.members.get(name).is_some_and(|member| member.kind == MemberKind::Person)
        };
        for person in role.people().filter(|name| !is_pattern(name) && !is_person(name)) {
            warn(format!("role `{}` names `{person}`, who is not a person of the team", role.name));
        }
        let is_machine = |name: &str| {
            name == DESK_MACHINE
                || roster.members.get(name).is_some_and(|it| it.kind != MemberKind::Person)
        };
        for machine in role.machines().filter(|name| !is_pattern(name) && !is_machine(name)) {
            warn(format!(
                "role `{}` names `{machine}`, which is not a machine of the team",
                role.name
            ));
        }
    }
    problems.sort_by_key(|problem| (problem.line, problem.column));
    problems
}

#[cfg(test)]
mod tests {
    use std::fs;

    use callgate_wire::ledger::TeamMember;

    use super::*;

    fn roster(members: &[(&str, MemberKind)]) -> TeamRoster {
        let member = |(name, kind): &(&str, MemberKind)| {
            let member = TeamMember {
                kind: *kind,
                owner: None,
                invitation: None,
                token: None,
                has_joined: true,
            };
            ((*name).to_owned(), member)
        };
        TeamRoster { members: members.iter().map(member).collect(), ..TeamRoster::default() }
    }

    #[test]
    fn people_and_machines_that_the_team_does_not_have_are_named() {
        let text = "[[role]]\nname = \"x\"\npeople = [\"ada\", \"carl\", \"b*\"]\nmachine = [\"build\", \"desk\", \"old\"]\n";
        let file = RoleFile::from_toml("roles.toml", text);
        let roster = roster(&[("ada", MemberKind::Person), ("build", MemberKind::Machine)]);
        let problems: Vec<String> =
            all_problems(&file, &roster).iter().map(ToString::to_string).collect();
        assert_eq!(
            problems,
            [
                "roles.toml:1:1: warning: role `x` names `carl`, who is not a person of the team",
                "roles.toml:1:1: warning: role `x` names `old`, which is not a machine of the team",
            ]
        );
    }

    #[test]
    fn a_changed_file_counts_for_the_next_answer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("roles.toml");
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        let roles = LiveRoles {
            path: path.clone(),
            home: "/home/ada".to_owned(),
            warn: Arc::new(move |text| lock(&heard).push(text.to_owned())),
            known: Mutex::default(),
        };
        let scope = AnswerScope { tool: "Bash".to_owned(), ..AnswerScope::default() };
        assert!(roles.covers_question("ada", &scope), "without a file everybody may answer");
        fs::write(&path, "[[role]]\nname = \"x\"\npeople = \"ben\"\n").unwrap();
        assert!(!roles.covers_question("ada", &scope) && roles.covers_question("ben", &scope));
        fs::write(&path, "[[role]]\nname = \"x\"\n").unwrap();
        assert!(!roles.covers_question("ben", &scope), "a file with errors covers nothing");
        assert_eq!(lock(&told).len(), 1, "what is wrong is told once");
        fs::remove_file(&path).unwrap();
        assert!(roles.covers_question("ada", &scope));
    }
}
