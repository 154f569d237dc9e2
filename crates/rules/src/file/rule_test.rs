//! The tests in a file of rules: an act, and the expected decision.

use callgate_wire::approval::AllowDemands;
use serde_json::{Value, json};

use super::fields::{FileSource, TableFields};
use crate::act::Act;
use crate::moment::{Moment, RuleEnd};
use crate::rule::RuleDecision;

const KEYS: [&str; 12] = [
    "name",
    "tool",
    "command",
    "path",
    "url",
    "input",
    "project",
    "agent",
    "at",
    "expect",
    "two_people",
    "not_own",
];

#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RuleTest {
    /// The text that is shown for it: its name, or what it is about.
    pub name: String,
    pub line: usize,
    pub expect: RuleDecision,
    /// What has to be demanded of an allow; more may be.
    pub demands: AllowDemands,
    tool: String,
    input: Value,
    project: Option<String>,
    agent: String,
    /// The time at which it happens, if the test names one.
    pub(crate) at: Option<Moment>,
}

impl RuleTest {
    pub fn expected_words(&self) -> String {
        let demands = self.demands.list().map(|demand| format!(" with {demand}"));
        [self.expect.name().to_owned()].into_iter().chain(demands).collect()
    }

    /// Returns the act to decide on, for a user with this home and this project unless it names
    /// others.
    pub fn act(&self, home: &str, project: &str) -> Act {
        let project = self.project.as_deref().unwrap_or(project);
        // Against the root, because a test is in no folder in which a relative path could begin.
        let project =
            crate::place::resolve_path(project, crate::place::BaseFolders { cwd: "/", home });
        Act::from_call(&self.tool, &self.input.to_string(), &project, &self.agent, home)
    }
}

pub(super) fn parse_test(
    fields: &TableFields<'_>,
    source: &mut FileSource<'_>,
) -> Option<RuleTest> {
    fields.report_unknown_keys(&KEYS, source);
    let expect = fields.decision("expect", source);
    let demands = fields.demands(source);
    let mut text = |name: &str| fields.text(name, source).map(|text| String::from(text.text));
    let (name, tool, command, path, url) =
        (text("name"), text("tool"), text("command"), text("path"), text("url"));
    let (project, agent, at) = (text("project"), text("agent"), text("at"));
    let input = fields.json("input", source);
    let given: Vec<&str> =
        ["command", "path", "url", "input"].into_iter().filter(|name| fields.has(name)).collect();
    if given.len() > 1 {
        source.error(
            fields.at(),
            format!("a test has one of command, path, url and input, not {}", given.join(" and ")),
        );
        return None;
    }
    let about = command.as_ref().or(path.as_ref()).or(url.as_ref()).or(tool.as_ref()).cloned();
    let (default, input) = match (command, path, url, input) {
        (Some(command), ..) => (Some("Bash"), json!({ "command": command })),
        (_, Some(path), ..) => (Some("Read"), json!({ "file_path": path })),
        (_, _, Some(url), _) => (Some("WebFetch"), json!({ "url": url })),
        (.., input) => (None, input.unwrap_or(json!({}))),
    };
    let Some(tool) = tool.or(default.map(Into::into)) else {
        source.error(
            fields.at(),
            "a test names what it is about: command, path, url, or tool with input",
        );
        return None;
    };
    // A date without a time means noon. The end of a rule would take it for the end of that day.
    let at = at.map(|at| if at.len() == 10 { at + "T12:00" } else { at });
    let moment = match at.map(|at| RuleEnd::from_text(&at)).transpose() {
        Ok(at) => at.map(RuleEnd::moment),
        Err(reason) => {
            source.error(fields.find_member("at"), format!("`at`: {reason}"));
            return None;
        }
    };
    Some(RuleTest {
        name: name.or(about).unwrap_or_default(),
        line: source.line(fields.at()),
        expect: expect?,
        demands,
        tool,
        input,
        project,
        agent: agent.unwrap_or_else(|| "claude".into()),
        at: moment,
    })
}
