//! Validates values against a JSON Schema: a tool's arguments and results.
//!
//! All of drafts 4 to 2020-12 is supported that needs no other document. `format` and the
//! keywords about content are annotations, which are not checked.

mod budget;
mod check;
mod document;
mod draft;
mod evaluated;
mod explain;
mod number;
mod pattern;
mod read;
mod rule;
mod uri;

use serde_json::Value;

use check::{SchemaCheck, SchemaScope};
use rule::{JsonType, SchemaGraph, SchemaRule};

/// A schema that values are validated against.
#[derive(Debug)]
pub struct SchemaChecker {
    graph: SchemaGraph,
}

impl SchemaChecker {
    /// Reads the schema that a tool has as this member. The error says why it cannot be used.
    pub fn new(schema: &Value, member: &str) -> Result<Self, String> {
        let graph = read::build_graph(schema);
        let graph = graph.map_err(|error| format!("`{member}` is no JSON Schema: {error}"))?;
        Ok(Self { graph })
    }

    /// Returns what is wrong with a value, in one line.
    #[must_use]
    pub fn errors(&self, value: &Value) -> Option<String> {
        let check = SchemaCheck::new(&self.graph, value);
        match check.value_fits(0, value, &SchemaScope::root()) {
            Ok(true) => None,
            // To find the reasons costs more than the verdict, so it is done only here.
            Ok(false) => Some(explain::explain_misfit(&check, value).join("; ")),
            // What was not checked to its end is refused, or its size would take it past the
            // schema.
            Err(_) => Some("it is too large or nested too deeply to be checked".to_owned()),
        }
    }

    /// Returns true if every object fits the schema, so that there is nothing to check.
    pub(crate) fn takes_any_object(&self) -> bool {
        self.graph.nodes[0].rules.iter().all(|rule| match rule {
            SchemaRule::Types(types) => types.contains(&JsonType::Object),
            SchemaRule::Required(names) => names.is_empty(),
            SchemaRule::Members(members) => {
                let is_open = |node: &usize| self.graph.nodes[*node].rules.is_empty();
                members.named.is_empty()
                    && members.matching.is_empty()
                    && members.rest.as_ref().is_none_or(is_open)
            }
            _ => false,
        })
    }
}

/// Returns the error for arguments that do not fit the schema of a tool.
#[must_use]
pub fn misfit_message(tool: &str, reason: &str) -> String {
    format!("the arguments of {tool:?} do not fit: {reason}")
}

#[cfg(test)]
mod tests;
