//! Reads `roles.toml`, which says what the people of a team may answer.

use toml::de::DeTable;

use super::fields::{FileSource, TableFields};
use super::nearest::nearest_word_hint;
use super::read::{parse_classes, parse_each_table, parse_names, parse_patterns};
use super::{Problem, RuleProblemLevel};
use crate::act::{Act, ActClass};
use crate::glob::ComparisonBias;
use crate::rule::NamePattern;
use crate::rule::path::PathPattern;

/// The name under which roles know the machine of the team's desk itself.
pub const DESK_MACHINE: &str = "desk";
const KEYS: [&str; 6] = ["name", "people", "machine", "project", "agent", "class"];

#[derive(Debug, Clone)]
pub struct RoleFile {
    pub name: String,
    /// The roles that could be read.
    pub roles: Vec<TeamRole>,
    pub problems: Vec<Problem>,
}

#[derive(Debug, Clone)]
pub struct TeamRole {
    pub name: String,
    pub line: usize,
    people: Vec<NamePattern>,
    machine: Option<Vec<NamePattern>>,
    project: Option<Vec<PathPattern>>,
    agent: Option<Vec<NamePattern>>,
    class: Option<Vec<ActClass>>,
}

/// A question, as far as roles tell questions apart.
#[derive(Debug, Clone, Copy)]
pub struct RoleSubject<'a> {
    /// The machine that asks; `None` for that of the desk.
    pub machine: Option<&'a str>,
    /// The home folder of its user there.
    pub home: &'a str,
    /// The folder in which the agent works.
    pub project: &'a str,
    pub agent: &'a str,
    pub tool: &'a str,
}

impl RoleFile {
    /// Reads a file. It never fails: what is wrong is in [`RoleFile::problems`].
    pub fn from_toml(name: &str, text: &str) -> Self {
        let mut source = FileSource::new(name, text);
        let mut roles = Vec::new();
        source.parse_whole(|table, source| parse_roles(table, &mut roles, source));
        Self { name: name.into(), roles, problems: source.into_problems() }
    }

    /// Returns a file that exists and could not be read, for the reason given.
    pub fn unreadable(name: &str, reason: &str) -> Self {
        let problems = FileSource::unreadable(name, reason);
        Self { name: name.into(), roles: Vec::new(), problems }
    }

    /// Returns true if the file has errors, so that its meaning is uncertain.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.level == RuleProblemLevel::Error)
    }

    /// Returns true if one of a person's roles covers a question. While the file has errors none
    /// does: the role that could not be read may have been narrower.
    pub fn covers(&self, person: &str, subject: RoleSubject<'_>) -> bool {
        !self.has_errors() && self.roles_of(person).any(|role| role.covers(subject))
    }

    pub fn roles_of(&self, person: &str) -> impl Iterator<Item = &TeamRole> {
        self.roles.iter().filter(move |role| role.has_person(person))
    }
}

impl TeamRole {
    pub fn has_person(&self, person: &str) -> bool {
        fits_one(&self.people, person)
    }

    fn covers(&self, subject: RoleSubject<'_>) -> bool {
        let RoleSubject { machine, home, project, agent, tool } = subject;
        let fits = |patterns: &Option<Vec<NamePattern>>, name: &str| {
            patterns.as_ref().is_none_or(|patterns| fits_one(patterns, name))
        };
        // A subject has no input: its class is that of the tool alone.
        let act = Act::from_call(tool, "{}", project, agent, home);
        let is_there =
            |pattern: &PathPattern| pattern.holds(&act.project, &act, ComparisonBias::Strict);
        fits(&self.machine, machine.unwrap_or(DESK_MACHINE))
            && fits(&self.agent, agent)
            && self.class.as_ref().is_none_or(|classes| classes.contains(&act.class))
            && self.project.as_ref().is_none_or(|patterns| patterns.iter().any(is_there))
    }

    /// Returns the names and patterns of people as they are written.
    pub fn people(&self) -> impl Iterator<Item = &str> {
        self.people.iter().map(|person| &*person.text)
    }

    /// Returns the names and patterns of machines as they are written.
    pub fn machines(&self) -> impl Iterator<Item = &str> {
        self.machine.iter().flatten().map(|machine| &*machine.text)
    }

    pub fn describe_scope(&self) -> String {
        let texts = |patterns: &[NamePattern]| {
            patterns.iter().map(|pattern| pattern.text.to_string()).collect::<Vec<_>>()
        };
        let projects = self.project.iter().flatten().map(|pattern| pattern.text.to_string());
        let classes = self.class.iter().flatten().map(|class| class.name().to_owned());
        let parts = [
            ("machine", texts(self.machine.as_deref().unwrap_or_default())),
            ("project", projects.collect()),
            ("agent", texts(self.agent.as_deref().unwrap_or_default())),
            ("class", classes.collect()),
        ];
        let given = parts.into_iter().filter(|(_, texts)| !texts.is_empty());
        let given: Vec<_> =
            given.map(|(about, texts)| format!("{about} {}", texts.join(", "))).collect();
        if given.is_empty() { "everything".to_owned() } else { given.join("; ") }
    }
}

fn fits_one(patterns: &[NamePattern], name: &str) -> bool {
    // A role gives rights, so its names are compared like those of an allow.
    patterns.iter().any(|pattern| pattern.fits(name, ComparisonBias::Strict))
}

fn parse_roles(table: &DeTable<'_>, roles: &mut Vec<TeamRole>, source: &mut FileSource<'_>) {
    for (key, value) in table {
        let name: &str = key.get_ref();
        if name != "role" {
            let hint = nearest_word_hint(name, &["role"]);
            source.error(key.span().start, format!("unknown key `{name}`{hint}"));
            continue;
        }
        parse_each_table(value, "role", source, |fields, source| {
            let role = parse_role(fields, source)?;
            if let Some(first) = roles.iter().find(|other| other.name == role.name) {
                let message = format!(
                    "the name `{}` is already used by the role in line {}",
                    role.name, first.line
                );
                source.error(fields.find_member("name"), message);
            }
            // It is kept in spite of the error, which makes `covers` return false in any case.
            roles.push(role);
            Some(())
        });
    }
}

fn parse_role(fields: &TableFields<'_>, source: &mut FileSource<'_>) -> Option<TeamRole> {
    let errors = source.error_count();
    fields.report_unknown_keys(&KEYS, source);
    let name = fields.text("name", source).map(|name| String::from(name.text));
    let people = parse_names(fields, "people", source);
    if name.as_ref().is_none_or(|name| name.trim().is_empty()) {
        source.error(fields.find_member("name"), "a role needs a `name` of its own");
    }
    if people.is_none() {
        source.error(fields.at(), "a role names its `people`, such as [\"ada\", \"ben\"]");
    }
    let project = parse_patterns(fields, "project", source, PathPattern::from_text);
    if project.iter().flatten().any(PathPattern::is_relative) {
        let message = "a `project` is an absolute path, or one that begins with `~/`";
        source.error(fields.find_member("project"), message);
    }
    let role = TeamRole {
        name: name?,
        line: source.line(fields.at()),
        people: people?,
        machine: parse_names(fields, "machine", source),
        project,
        agent: parse_names(fields, "agent", source),
        class: parse_classes(fields, source),
    };
    // A role with a mistake could cover more than was meant.
    (source.error_count() == errors).then_some(role)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    const ROLES: &str = r#"
[[role]]
name = "deployers"
people = ["ada", "ben"]
machine = "build-*"
class = "run"

[[role]]
name = "engine"
people = "cleo"
project = "~/engine"
agent = "claude*"

[[role]]
name = "all"
people = "dora"

[[role]]
name = "the desk's own"
people = "e*"
machine = "desk"
"#;

    const RUN: RoleSubject<'_> = RoleSubject {
        machine: Some("build-7"),
        home: "/home/bo",
        project: "/home/bo/engine/src",
        agent: "claude-code",
        tool: "Bash",
    };

    #[test]
    fn a_person_answers_what_one_of_their_roles_covers() {
        let file = RoleFile::from_toml("roles.toml", ROLES);
        assert_eq!(file.problems, []);
        let write = RoleSubject { tool: "Write", ..RUN };
        let other = RoleSubject { machine: Some("laptop"), project: "/srv", agent: "codex", ..RUN };
        let here = RoleSubject { machine: None, project: "/srv", ..RUN };
        let near = RoleSubject { project: "/home/bo/engines", ..RUN };
        let check = |person: &str, expected: [bool; 5]| {
            let covered = [RUN, write, other, here, near].map(|it| file.covers(person, it));
            assert_eq!(covered, expected, "{person}");
        };
        check("ada", [true, false, false, false, true]);
        check("cleo", [true, true, false, false, false]);
        check("dora", [true; 5]);
        check("emil", [false, false, false, true, false]);
        check("adam", [false; 5]);
        check("nobody", [false; 5]);
    }

    #[test]
    fn a_file_with_a_mistake_covers_nothing_and_says_why() {
        let text = format!(
            "{ROLES}\n[[role]]\npeople = []\nmachin = 1\n\n[[role]]\nname = \"all\"\nproject = \"x\"\n\n[other]\n"
        );
        let file = RoleFile::from_toml("roles.toml", &text);
        assert!(!file.covers("dora", RUN));
        let problems: Vec<String> = file.problems.iter().map(ToString::to_string).collect();
        expect![[r#"
            roles.toml:23:1: error: a role needs a `name` of its own
            roles.toml:24:10: error: `people` must be a string or a list of 1 to 256 strings
            roles.toml:25:1: error: unknown key `machin`; did you mean `machine`?
            roles.toml:27:1: error: a role names its `people`, such as ["ada", "ben"]
            roles.toml:29:11: error: a `project` is an absolute path, or one that begins with `~/`
            roles.toml:31:2: error: unknown key `other`; known are role"#]]
        .assert_eq(&problems.join("\n"));
    }
}
