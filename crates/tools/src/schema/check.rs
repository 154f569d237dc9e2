//! Checks a value against the rules of a schema.

use serde_json::{Map, Value};

use super::budget::{CheckTooLong, FitVerdict, StepBudget};
use super::number;
use super::rule::{MemberSchemas, NodeIndex, SchemaGraph, SchemaNode, SchemaRule, order_values};

/// How deeply schemas may be nested during a check. A result may have 500 levels, each of which
/// takes two schemas if one refers to the other. The recursion fits into the smallest stack that
/// Rust gives a thread.
const DEEPEST: usize = 1050;

/// The path to a schema: the resources that were entered, the innermost first.
#[derive(Debug, Clone, Copy)]
pub(super) struct SchemaScope<'a> {
    resource: usize,
    depth: usize,
    outer: Option<&'a Self>,
}

impl<'a> SchemaScope<'a> {
    pub(super) fn root() -> Self {
        Self { resource: 0, depth: 0, outer: None }
    }

    fn enter(&'a self, resource: usize) -> Result<Self, CheckTooLong> {
        let depth = Some(self.depth + 1).filter(|depth| *depth < DEEPEST).ok_or(CheckTooLong)?;
        // A path within one resource counts once: dynamic references look at resources only.
        let outer = if resource == self.resource { self.outer } else { Some(self) };
        Ok(Self { resource, depth, outer })
    }

    fn resources(&'a self) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(self), |scope| scope.outer).map(|scope| scope.resource)
    }
}

#[derive(Debug)]
pub(super) struct SchemaCheck<'a> {
    pub(super) graph: &'a SchemaGraph,
    pub(super) budget: StepBudget,
}

impl<'a> SchemaCheck<'a> {
    pub(super) fn new(graph: &'a SchemaGraph, value: &Value) -> Self {
        Self { graph, budget: StepBudget::for_value(value) }
    }

    pub(super) fn enter_node<'s>(
        &self,
        node: NodeIndex,
        scope: &'s SchemaScope<'s>,
    ) -> Result<(&'a SchemaNode, SchemaScope<'s>), CheckTooLong> {
        let node = &self.graph.nodes[node];
        Ok((node, scope.enter(node.resource)?))
    }

    pub(super) fn value_fits(
        &self,
        node: NodeIndex,
        value: &Value,
        scope: &SchemaScope<'_>,
    ) -> FitVerdict {
        let (node, scope) = self.enter_node(node, scope)?;
        for rule in &node.rules {
            if !self.keeps_rule(node, rule, value, &scope)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether a value keeps a rule. A rule about one type is kept by values of every
    /// other type.
    pub(super) fn keeps_rule(
        &self,
        node: &SchemaNode,
        rule: &SchemaRule,
        value: &Value,
        scope: &SchemaScope<'_>,
    ) -> FitVerdict {
        self.budget.spend(1)?;
        match (rule, value) {
            (SchemaRule::Items { first, rest }, Value::Array(items)) => {
                let node = |at: usize| first.get(at).copied().or(*rest);
                let parts = items.iter().enumerate();
                self.all_fit(parts.map_while(|(at, item)| Some((node(at)?, item))), scope)
            }
            (SchemaRule::Members(schemas), Value::Object(members)) => {
                self.members_fit(schemas, members, scope)
            }
            (SchemaRule::Contains { node, range, .. }, Value::Array(items)) => {
                // The counting ends where it is known that there are too many.
                let most = range.most.saturating_add(1);
                let parts = items.iter().map(|item| (*node, item));
                Ok(range.holds(self.count_fitting(parts, most, scope)?))
            }
            (SchemaRule::MemberNames(node), Value::Object(members)) => {
                self.names_fit(*node, members, scope)
            }
            (SchemaRule::UnevaluatedItems(rest), Value::Array(items)) => {
                let evaluated = self.evaluated_parts(node, value, scope)?.items;
                let left = items.iter().zip(evaluated).filter(|(_, is_evaluated)| !is_evaluated);
                self.all_fit(left.map(|(item, _)| (*rest, item)), scope)
            }
            (SchemaRule::UnevaluatedMembers(rest), Value::Object(members)) => {
                let left = self.unevaluated_members(node, value, members, scope)?;
                self.all_fit(left.into_iter().map(|name| (*rest, &members[name])), scope)
            }
            (SchemaRule::Refer(node), _) => self.value_fits(*node, value, scope),
            (SchemaRule::ReferDynamic { name, otherwise }, _) => {
                self.value_fits(self.dynamic_node(name, *otherwise, scope), value, scope)
            }
            (SchemaRule::All(nodes), _) => self.all_fit(pair_with_value(nodes, value), scope),
            (SchemaRule::Any(nodes), _) => {
                Ok(self.count_fitting(pair_with_value(nodes, value), 1, scope)? == 1)
            }
            (SchemaRule::One(nodes), _) => {
                // Two are enough to know that it is not exactly one.
                Ok(self.count_fitting(pair_with_value(nodes, value), 2, scope)? == 1)
            }
            (SchemaRule::Not(node), _) => Ok(!self.value_fits(*node, value, scope)?),
            (SchemaRule::If { .. } | SchemaRule::DependentSchemas(_), _) => self.all_fit(
                pair_with_value(&self.conditional_nodes(rule, value, scope)?, value),
                scope,
            ),
            _ => self.keeps_by_itself(rule, value),
        }
    }

    /// Returns whether a value keeps a rule that refers to no other schema.
    fn keeps_by_itself(&self, rule: &SchemaRule, value: &Value) -> FitVerdict {
        Ok(match (rule, value) {
            (SchemaRule::Never, _) => false,
            (SchemaRule::Types(types), _) => types.iter().any(|one| one.holds(value)),
            (SchemaRule::Among(values), _) => {
                self.budget.spend(values.len())?;
                values.iter().any(|one| order_values(one, value).is_eq())
            }
            (SchemaRule::Exactly(only), _) => order_values(only, value).is_eq(),
            (SchemaRule::Limit(limit, than), Value::Number(number)) => {
                limit.holds(number::compare_exactly(number, than))
            }
            (SchemaRule::MultipleOf(divisor), Value::Number(number)) => {
                number::is_multiple(number, divisor)
            }
            (SchemaRule::Length(range), Value::String(text)) => range.holds(text.chars().count()),
            (SchemaRule::ItemCount(range), Value::Array(items)) => range.holds(items.len()),
            (SchemaRule::MemberCount(range), Value::Object(members)) => range.holds(members.len()),
            (SchemaRule::Pattern(pattern), Value::String(text)) => {
                pattern.is_match(text, &self.budget)?
            }
            (SchemaRule::UniqueItems, Value::Array(items)) => are_unique(items),
            (SchemaRule::Required(names), Value::Object(members)) => {
                names.iter().all(|name| members.contains_key(name))
            }
            (SchemaRule::DependentNames(names), Value::Object(members)) => {
                names.iter().all(|(name, others)| {
                    !members.contains_key(name) || others.iter().all(|it| members.contains_key(it))
                })
            }
            _ => true,
        })
    }

    /// Returns whether each of these values fits its schema.
    fn all_fit<'v>(
        &self,
        parts: impl Iterator<Item = (NodeIndex, &'v Value)>,
        scope: &SchemaScope<'_>,
    ) -> FitVerdict {
        for (node, value) in parts {
            if !self.value_fits(node, value, scope)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn members_fit(
        &self,
        schemas: &MemberSchemas,
        members: &Map<String, Value>,
        scope: &SchemaScope<'_>,
    ) -> FitVerdict {
        for (name, value) in members {
            let nodes = self.nodes_of_member(schemas, name)?.into_iter();
            if !self.all_fit(nodes.map(|node| (node, value)), scope)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn names_fit(
        &self,
        node: NodeIndex,
        members: &Map<String, Value>,
        scope: &SchemaScope<'_>,
    ) -> FitVerdict {
        for name in members.keys() {
            if !self.value_fits(node, &Value::from(name.as_str()), scope)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns how many of these values fit their schemas, counted up to `most`.
    fn count_fitting<'v>(
        &self,
        parts: impl Iterator<Item = (NodeIndex, &'v Value)>,
        most: usize,
        scope: &SchemaScope<'_>,
    ) -> Result<usize, CheckTooLong> {
        let mut count = 0;
        for (node, value) in parts {
            count += usize::from(self.value_fits(node, value, scope)?);
            if count == most {
                break;
            }
        }
        Ok(count)
    }

    /// Returns the schemas that a condition chooses for a value.
    pub(super) fn conditional_nodes(
        &self,
        rule: &SchemaRule,
        value: &Value,
        scope: &SchemaScope<'_>,
    ) -> Result<Vec<NodeIndex>, CheckTooLong> {
        Ok(match rule {
            SchemaRule::If { condition, then, otherwise } => {
                let is_so = self.value_fits(*condition, value, scope)?;
                let chosen = if is_so { [Some(*condition), *then] } else { [*otherwise, None] };
                chosen.into_iter().flatten().collect()
            }
            SchemaRule::DependentSchemas(schemas) => {
                let applied = schemas.iter().filter(|(name, _)| value.get(name).is_some());
                applied.map(|(_, node)| *node).collect()
            }
            _ => Vec::new(),
        })
    }

    /// Returns the schemas for a member.
    pub(super) fn nodes_of_member(
        &self,
        schemas: &MemberSchemas,
        name: &str,
    ) -> Result<Vec<NodeIndex>, CheckTooLong> {
        let mut nodes: Vec<NodeIndex> = schemas.named.get(name).copied().into_iter().collect();
        for (pattern, node) in &schemas.matching {
            if pattern.is_match(name, &self.budget)? {
                nodes.push(*node);
            }
        }
        if nodes.is_empty() {
            nodes.extend(schemas.rest);
        }
        Ok(nodes)
    }

    /// Returns the schema that a dynamic reference means: that of the outermost resource that has
    /// one of this name.
    pub(super) fn dynamic_node(
        &self,
        name: &str,
        otherwise: NodeIndex,
        scope: &SchemaScope<'_>,
    ) -> NodeIndex {
        let named = |resource| self.graph.dynamic_anchors.get(&(resource, name.to_owned()));
        scope.resources().filter_map(named).last().copied().unwrap_or(otherwise)
    }
}

/// Pairs each of these schemas with a value.
fn pair_with_value<'v>(
    nodes: &'v [NodeIndex],
    value: &'v Value,
) -> impl Iterator<Item = (NodeIndex, &'v Value)> {
    nodes.iter().map(move |node| (*node, value))
}

fn are_unique(items: &[Value]) -> bool {
    // They are sorted, because to compare each with each would cost the square of their number.
    let mut sorted: Vec<&Value> = items.iter().collect();
    sorted.sort_unstable_by(|one, other| order_values(one, other));
    sorted.windows(2).all(|pair| order_values(pair[0], pair[1]).is_ne())
}
