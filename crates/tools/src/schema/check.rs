//! Checks a value against the rules of a schema.

use serde_json::{Map, Value};

use super::budget::{CheckTooLong, FitVerdict, StepBudget};
use super::number;
use super::rule::{MemberSchemas, NodeIndex, SchemaGraph, SchemaNode, SchemaRule, order};

/// How deeply schemas may be nested during a check.
const DEEPEST: usize = 1050;

/// The way to a schema: the resources that were entered, the innermost first.
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
        let outer = if resource == self.resource { self.outer } else { Some(self) };
        Ok(Self { resource, depth, outer })
    }

    fn resources(&'a self) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(self), |scope| scope.outer).map(|scope| scope.resource)
    }
}

/// The check of one value.
#[derive(Debug)]
pub(super) struct SchemaCheck<'a> {
    pub(super) graph: &'a SchemaGraph,
    pub(super) budget: StepBudget,
}

impl<'a> SchemaCheck<'a> {
    pub(super) fn new(graph: &'a SchemaGraph, value: &Value) -> Self {
        Self { graph, budget: StepBudget::for_value(value) }
    }

    /// Enters a schema.
    pub(super) fn enter<'s>(
        &self,
        node: NodeIndex,
        scope: &'s SchemaScope<'s>,
    ) -> Result<(&'a SchemaNode, SchemaScope<'s>), CheckTooLong> {
        let node = &self.graph.nodes[node];
        Ok((node, scope.enter(node.resource)?))
    }

    pub(super) fn fits(
        &self,
        node: NodeIndex,
        value: &Value,
        scope: &SchemaScope<'_>,
    ) -> FitVerdict {
        let (node, scope) = self.enter(node, scope)?;
        for rule in &node.rules {
            if !self.keeps(node, rule, value, &scope)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether a value keeps a rule. A rule about one type is kept by values of every
    /// other type.
    pub(super) fn keeps(
        &self,
        node: &SchemaNode,
        rule: &SchemaRule,
        value: &Value,
        scope: &SchemaScope<'_>,
    ) -> FitVerdict {
        self.budget.spend(1)?;
        match (rule, value) {
            (SchemaRule::Items { first, rest }, Value::Array(items)) => {
                self.items_fit(first, *rest, items, scope)
            }
            (SchemaRule::Members(schemas), Value::Object(members)) => {
                self.members_fit(schemas, members, scope)
            }
            (SchemaRule::Contains { node, range, .. }, Value::Array(items)) => {
                let most = range.most.saturating_add(1);
                Ok(range.holds(self.count_items(*node, items, most, scope)?))
            }
            (SchemaRule::MemberNames(node), Value::Object(members)) => {
                self.names_fit(*node, members, scope)
            }
            (SchemaRule::UnevaluatedItems(rest), Value::Array(items)) => {
                let evaluated = self.evaluated(node, value, scope)?.items;
                self.unevaluated_items_fit(*rest, items, &evaluated, scope)
            }
            (SchemaRule::UnevaluatedMembers(rest), Value::Object(members)) => {
                let left = self.unevaluated_members(node, value, members, scope)?;
                self.unevaluated_members_fit(*rest, members, &left, scope)
            }
            (SchemaRule::Refer(node), _) => self.fits(*node, value, scope),
            (SchemaRule::ReferDynamic { name, otherwise }, _) => {
                self.fits(self.dynamic(name, *otherwise, scope), value, scope)
            }
            (SchemaRule::All(nodes), _) => {
                Ok(self.count_fitting(nodes, value, scope, false)? == nodes.len())
            }
            (SchemaRule::Any(nodes), _) => self.any_fits(nodes, value, scope),
            (SchemaRule::One(nodes), _) => Ok(self.count_fitting(nodes, value, scope, true)? == 1),
            (SchemaRule::Not(node), _) => Ok(!self.fits(*node, value, scope)?),
            (SchemaRule::If { .. } | SchemaRule::DependentSchemas(_), _) => {
                let nodes = self.conditional(rule, value, scope)?;
                Ok(self.count_fitting(&nodes, value, scope, false)? == nodes.len())
            }
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
                values.iter().any(|one| order(one, value).is_eq())
            }
            (SchemaRule::Exactly(only), _) => order(only, value).is_eq(),
            (SchemaRule::Limit(limit, than), Value::Number(number)) => {
                limit.holds(number::compare(number, than))
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

    fn items_fit(
        &self,
        first: &[NodeIndex],
        rest: Option<NodeIndex>,
        items: &[Value],
        scope: &SchemaScope<'_>,
    ) -> FitVerdict {
        for (at, item) in items.iter().enumerate() {
            let Some(node) = first.get(at).copied().or(rest) else { break };
            if !self.fits(node, item, scope)? {
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
            for node in self.nodes_of_member(schemas, name)? {
                if !self.fits(node, value, scope)? {
                    return Ok(false);
                }
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
            if !self.fits(node, &Value::from(name.as_str()), scope)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn unevaluated_items_fit(
        &self,
        rest: NodeIndex,
        items: &[Value],
        evaluated: &[bool],
        scope: &SchemaScope<'_>,
    ) -> FitVerdict {
        for (item, is_evaluated) in items.iter().zip(evaluated) {
            if !is_evaluated && !self.fits(rest, item, scope)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn unevaluated_members_fit(
        &self,
        rest: NodeIndex,
        members: &Map<String, Value>,
        left: &[&String],
        scope: &SchemaScope<'_>,
    ) -> FitVerdict {
        for name in left {
            if !self.fits(rest, &members[*name], scope)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns how many items fit a schema, counted up to `most`.
    fn count_items(
        &self,
        node: NodeIndex,
        items: &[Value],
        most: usize,
        scope: &SchemaScope<'_>,
    ) -> Result<usize, CheckTooLong> {
        let mut count = 0;
        for item in items {
            count += usize::from(self.fits(node, item, scope)?);
            if count == most {
                break;
            }
        }
        Ok(count)
    }

    fn any_fits(&self, nodes: &[NodeIndex], value: &Value, scope: &SchemaScope<'_>) -> FitVerdict {
        for node in nodes {
            if self.fits(*node, value, scope)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns how many schemas a value fits. Counts up to two if only one may fit, and otherwise
    /// up to the first that does not.
    fn count_fitting(
        &self,
        nodes: &[NodeIndex],
        value: &Value,
        scope: &SchemaScope<'_>,
        is_one_enough: bool,
    ) -> Result<usize, CheckTooLong> {
        let mut count = 0;
        for node in nodes {
            let fits = self.fits(*node, value, scope)?;
            count += usize::from(fits);
            if is_one_enough && count == 2 || !is_one_enough && !fits {
                break;
            }
        }
        Ok(count)
    }

    /// Returns the schemas that a condition chooses for a value.
    pub(super) fn conditional(
        &self,
        rule: &SchemaRule,
        value: &Value,
        scope: &SchemaScope<'_>,
    ) -> Result<Vec<NodeIndex>, CheckTooLong> {
        Ok(match rule {
            SchemaRule::If { condition, then, otherwise } => {
                let is_so = self.fits(*condition, value, scope)?;
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
    pub(super) fn dynamic(
        &self,
        name: &str,
        otherwise: NodeIndex,
        scope: &SchemaScope<'_>,
    ) -> NodeIndex {
        let named = |resource| self.graph.dynamic_anchors.get(&(resource, name.to_owned()));
        scope.resources().filter_map(named).last().copied().unwrap_or(otherwise)
    }
}

fn are_unique(items: &[Value]) -> bool {
    let mut sorted: Vec<&Value> = items.iter().collect();
    sorted.sort_unstable_by(|one, other| order(one, other));
    sorted.windows(2).all(|pair| order(pair[0], pair[1]).is_ne())
}
