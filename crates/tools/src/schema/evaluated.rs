//! Finds out which parts of a value the rules of a schema have looked at, for `unevaluatedItems`
//! and `unevaluatedProperties`.

use serde_json::{Map, Value};

use super::budget::CheckTooLong;
use super::check::{SchemaCheck, SchemaScope};
use super::rule::{MemberSchemas, NodeIndex, SchemaNode, SchemaRule};

/// The items and members of a value that the rules of a schema have looked at.
#[derive(Debug, Default)]
pub(super) struct EvaluatedParts {
    pub(super) items: Vec<bool>,
    members: Vec<bool>,
}

impl EvaluatedParts {
    fn none_of(value: &Value) -> Self {
        match value {
            Value::Array(items) => Self { items: vec![false; items.len()], members: Vec::new() },
            Value::Object(members) => {
                Self { items: Vec::new(), members: vec![false; members.len()] }
            }
            _ => Self::default(),
        }
    }
}

impl SchemaCheck<'_> {
    /// Returns the names of members that no rule of the schema has looked at.
    pub(super) fn unevaluated_members<'m>(
        &self,
        node: &SchemaNode,
        value: &Value,
        members: &'m Map<String, Value>,
        scope: &SchemaScope<'_>,
    ) -> Result<Vec<&'m String>, CheckTooLong> {
        let evaluated = self.evaluated_parts(node, value, scope)?.members;
        let left = members.keys().zip(evaluated).filter(|(_, is_evaluated)| !is_evaluated);
        Ok(left.map(|(name, _)| name).collect())
    }

    /// Returns the parts of a value that the rules of a schema have looked at.
    pub(super) fn evaluated_parts(
        &self,
        node: &SchemaNode,
        value: &Value,
        scope: &SchemaScope<'_>,
    ) -> Result<EvaluatedParts, CheckTooLong> {
        let mut parts = EvaluatedParts::none_of(value);
        for rule in &node.rules {
            // Those of the schema itself wait for the answer.
            let is_waiting =
                matches!(rule, SchemaRule::UnevaluatedItems(_) | SchemaRule::UnevaluatedMembers(_));
            if !is_waiting {
                self.note_evaluated(rule, value, scope, &mut parts)?;
            }
        }
        Ok(parts)
    }

    /// Notes the parts that a rule looks at, which the value keeps.
    fn note_evaluated(
        &self,
        rule: &SchemaRule,
        value: &Value,
        scope: &SchemaScope<'_>,
        parts: &mut EvaluatedParts,
    ) -> Result<(), CheckTooLong> {
        self.budget.spend(1)?;
        match (rule, value) {
            (SchemaRule::Items { rest: Some(_), .. } | SchemaRule::UnevaluatedItems(_), _) => {
                parts.items.fill(true);
            }
            (
                SchemaRule::UnevaluatedMembers(_)
                | SchemaRule::Members(MemberSchemas { rest: Some(_), .. }),
                _,
            ) => {
                parts.members.fill(true);
            }
            (SchemaRule::Items { first, .. }, _) => {
                parts.items.iter_mut().take(first.len()).for_each(|it| *it = true);
            }
            (SchemaRule::Contains { node, evaluates: true, .. }, Value::Array(items)) => {
                for (item, is_evaluated) in items.iter().zip(&mut parts.items) {
                    *is_evaluated = *is_evaluated || self.value_fits(*node, item, scope)?;
                }
            }
            (SchemaRule::Members(schemas), Value::Object(members)) => {
                for (name, is_evaluated) in members.keys().zip(&mut parts.members) {
                    *is_evaluated |= !self.nodes_of_member(schemas, name)?.is_empty();
                }
            }
            _ => {
                for node in self.applied_nodes(rule, value, scope)? {
                    let (node, scope) = self.enter_node(node, scope)?;
                    for rule in &node.rules {
                        self.note_evaluated(rule, value, &scope, parts)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the schemas that a rule applies to the same value, and that it fits.
    fn applied_nodes(
        &self,
        rule: &SchemaRule,
        value: &Value,
        scope: &SchemaScope<'_>,
    ) -> Result<Vec<NodeIndex>, CheckTooLong> {
        let candidates = match rule {
            SchemaRule::ReferDynamic { name, otherwise } => {
                vec![self.dynamic_node(name, *otherwise, scope)]
            }
            SchemaRule::If { .. } | SchemaRule::DependentSchemas(_) => {
                self.conditional_nodes(rule, value, scope)?
            }
            // What a negated schema looks at does not count, because the value must not fit it.
            SchemaRule::Not(_) => Vec::new(),
            rule => rule.in_place(),
        };
        let mut applied = Vec::new();
        for node in candidates {
            if self.value_fits(node, value, scope)? {
                applied.push(node);
            }
        }
        Ok(applied)
    }
}
