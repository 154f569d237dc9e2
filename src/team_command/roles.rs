//! `callgate team roles`: what the people of a team may answer.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use callgate_link::text_file::read_text_file;
use callgate_mask::text::{counted_noun, visible_text, without_mark};
use callgate_policy::roles_path;
use callgate_rules::{RoleFile, file::LARGEST_FILE};
use callgate_wire::ledger::{MemberKind, TeamRoster};

use super::BY;
use crate::config::Config;
use crate::failure::{Failure, write_error_line};
use crate::team::{all_problems, put_roles, read_roles, write_roles};
use crate::team_database::open_store;
use crate::team_register::TeamRegister;

/// Checks a file of roles and makes it the roles of the team, at all its desks; without a file,
/// removes the roles.
pub(super) fn set_roles(config: &Config, file: Option<&Path>) -> Result<(), Failure> {
    let text = file.map(read_checked_roles).transpose()?;
    let told = match open_store(config)? {
        Some(mut store) => {
            put_roles(store.as_mut(), text.as_deref(), BY)?;
            "All desks of the team take them.".to_owned()
        }
        None => write_roles(config, text.as_deref(), BY)? + ".",
    };
    writeln!(io::stdout(), "{told}")?;
    Ok(())
}

fn read_checked_roles(path: &Path) -> Result<String, Failure> {
    let name = path.display().to_string();
    let unread = |error| Failure::Failed(format!("cannot read {name}: {error}"));
    let text = read_text_file(path, LARGEST_FILE as u64).map_err(unread)?;
    let checked = RoleFile::from_toml(&name, without_mark(&text));
    for problem in &checked.problems {
        write_error_line(&visible_text(&problem.to_string()));
    }
    if checked.has_errors() {
        return Err("the roles have errors, so nothing was changed".into());
    }
    Ok(text)
}

/// Shows who may answer what, and what is wrong with the file.
pub(super) fn show_roles(config: &Config) -> Result<ExitCode, Failure> {
    let path = roles_path(config);
    let roster = TeamRegister::open(config)?.read_roster()?;
    let mut out = io::stdout().lock();
    let Some(file) = read_roles(&path) else {
        let path = path.display();
        writeln!(out, "There is no {path}: every person of the team may answer everything.")?;
        return Ok(ExitCode::SUCCESS);
    };
    let roles = counted_noun(file.roles.len(), "role");
    writeln!(out, "{}: {roles}", visible_text(&file.name))?;
    if file.has_errors() {
        writeln!(
            out,
            "It has errors: until they are corrected only the owner of this desk answers."
        )?;
    }
    for problem in all_problems(&file, &roster) {
        writeln!(out, "{}", visible_text(&problem.to_string()))?;
    }
    writeln!(out, "the owner of this desk: everything")?;
    for (person, answers) in answers_of_people(&file, &roster) {
        writeln!(out, "{}: {}", visible_text(&person), visible_text(&answers))?;
    }
    Ok(if file.has_errors() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Returns what each person of the team may answer, in words.
fn answers_of_people(file: &RoleFile, roster: &TeamRoster) -> BTreeMap<String, String> {
    let people = roster.members.iter().filter(|(_, member)| member.kind == MemberKind::Person);
    let answers = |person: &str| {
        let roles: Vec<String> = file
            .roles_of(person)
            .map(|role| format!("{} ({})", role.name, role.describe_scope()))
            .collect();
        match &roles[..] {
            _ if file.has_errors() => "nothing".to_owned(),
            [] => "nothing: no role names them".to_owned(),
            roles => roles.join(", "),
        }
    };
    people.map(|(person, _)| (person.clone(), answers(person))).collect()
}

#[cfg(test)]
mod tests {
    use callgate_wire::ledger::TeamMember;

    use super::*;

    #[test]
    fn what_each_person_may_answer_is_told_in_words() {
        let text = "[[role]]\nname = \"x\"\npeople = \"ada\"\nmachine = [\"build\", \"desk\"]\n";
        let file = RoleFile::from_toml("roles.toml", text);
        let person = TeamMember {
            kind: MemberKind::Person,
            owner: None,
            invitation: None,
            token: None,
            has_joined: true,
        };
        let members = ["ada", "dora"].map(|name| (name.to_owned(), person.clone()));
        let roster = TeamRoster { members: members.into(), ..TeamRoster::default() };
        let answers: Vec<String> = answers_of_people(&file, &roster).into_values().collect();
        assert_eq!(answers, ["x (machine build, desk)", "nothing: no role names them"]);
    }
}
