//! Says what is wrong with a value, in words that help a model to correct its call.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io;

use serde_json::{Map, Value};

use super::budget::CheckTooLong;
use super::check::{SchemaCheck, SchemaScope};
use super::rule::{
    JsonType, NodeIndex, NumberLimit, SchemaNode, SchemaRule, SizeRange, order_values,
};

/// How many errors are reported; more do not help a model to correct its call.
const MOST_ERRORS: usize = 5;
/// The longest error, in characters.
const LONGEST_REASON: usize = 200;
/// How much of a value an error repeats, in bytes.
const LONGEST_VALUE: usize = 60;

/// Returns what is wrong with a value that does not fit a schema.
pub(super) fn explain_misfit(check: &SchemaCheck<'_>, value: &Value) -> Vec<String> {
    let mut errors = SchemaErrors { check, path: String::new(), found: Vec::new() };
    // What was found before the check had to be given up is true all the same.
    let is_whole = errors.explain_node(0, value, &SchemaScope::root()).is_ok();
    if errors.found.is_empty() {
        debug_assert!(!is_whole, "a value that does not fit has an error");
        errors.add_error("it does not fit");
    }
    errors.found
}

struct SchemaErrors<'a> {
    check: &'a SchemaCheck<'a>,
    /// The JSON pointer to the value that is looked at.
    path: String,
    found: Vec<String>,
}

impl SchemaErrors<'_> {
    fn add_error(&mut self, words: &str) {
        let reason =
            if self.path.is_empty() { words.to_owned() } else { format!("{}: {words}", self.path) };
        if self.found.len() < MOST_ERRORS && !self.found.contains(&reason) {
            self.found.push(shortened_reason(reason));
        }
    }

    /// Adds the errors of a part of the value.
    fn explain_part(
        &mut self,
        name: &str,
        node: NodeIndex,
        value: &Value,
        scope: &SchemaScope<'_>,
    ) -> Result<(), CheckTooLong> {
        let end = self.path.len();
        self.path.push('/');
        self.path.push_str(&name.replace('~', "~0").replace('/', "~1"));
        let done = self.explain_node(node, value, scope);
        self.path.truncate(end);
        done
    }

    fn explain_node(
        &mut self,
        node: NodeIndex,
        value: &Value,
        scope: &SchemaScope<'_>,
    ) -> Result<(), CheckTooLong> {
        let (node, scope) = self.check.enter_node(node, scope)?;
        for rule in &node.rules {
            if self.found.len() == MOST_ERRORS {
                break;
            }
            let before = self.found.len();
            self.explain_rule(node, rule, value, &scope)?;
            let is_kind = matches!(
                rule,
                SchemaRule::Types(_) | SchemaRule::Among(_) | SchemaRule::Exactly(_)
            );
            if is_kind && self.found.len() > before {
                break; // Nothing else helps a value of the wrong kind.
            }
        }
        Ok(())
    }

    fn explain_rule(
        &mut self,
        node: &SchemaNode,
        rule: &SchemaRule,
        value: &Value,
        scope: &SchemaScope<'_>,
    ) -> Result<(), CheckTooLong> {
        let check = self.check;
        match (rule, value) {
            (SchemaRule::Refer(node), _) => self.explain_node(*node, value, scope),
            (SchemaRule::ReferDynamic { name, otherwise }, _) => {
                self.explain_node(check.dynamic_node(name, *otherwise, scope), value, scope)
            }
            (SchemaRule::All(nodes), _) => self.explain_nodes(nodes, value, scope),
            (SchemaRule::If { .. } | SchemaRule::DependentSchemas(_), _) => {
                self.explain_nodes(&check.conditional_nodes(rule, value, scope)?, value, scope)
            }
            (SchemaRule::Any(nodes) | SchemaRule::One(nodes), _) => {
                self.explain_choice(node, rule, nodes, value, scope)
            }
            (SchemaRule::Items { first, rest }, Value::Array(items)) => {
                self.explain_items(first, *rest, items, scope)
            }
            (SchemaRule::Members(schemas), Value::Object(members)) => {
                self.explain_members(members, scope, &|name| check.nodes_of_member(schemas, name))
            }
            (SchemaRule::UnevaluatedMembers(rest), Value::Object(members)) => {
                let left = check.unevaluated_members(node, value, members, scope)?;
                let left: HashSet<&String> = left.into_iter().collect();
                self.explain_members(members, scope, &|name| {
                    Ok(left.get(name).map(|_| *rest).into_iter().collect())
                })
            }
            _ => {
                if !check.keeps_rule(node, rule, value, scope)? {
                    self.explain_simple_rule(rule, value);
                }
                Ok(())
            }
        }
    }

    fn explain_nodes(
        &mut self,
        nodes: &[NodeIndex],
        value: &Value,
        scope: &SchemaScope<'_>,
    ) -> Result<(), CheckTooLong> {
        for node in nodes {
            self.explain_node(*node, value, scope)?;
        }
        Ok(())
    }

    fn explain_items(
        &mut self,
        first: &[NodeIndex],
        rest: Option<NodeIndex>,
        items: &[Value],
        scope: &SchemaScope<'_>,
    ) -> Result<(), CheckTooLong> {
        for (at, item) in items.iter().enumerate() {
            let Some(node) = first.get(at).copied().or(rest) else { break };
            if self.found.len() == MOST_ERRORS {
                break;
            }
            self.explain_part(&at.to_string(), node, item, scope)?;
        }
        Ok(())
    }

    /// Adds the errors of members, and one for all that are not allowed.
    fn explain_members(
        &mut self,
        members: &Map<String, Value>,
        scope: &SchemaScope<'_>,
        nodes: &dyn Fn(&String) -> Result<Vec<NodeIndex>, CheckTooLong>,
    ) -> Result<(), CheckTooLong> {
        let mut unexpected = Vec::new();
        for (name, value) in members {
            for node in nodes(name)? {
                if matches!(self.check.graph.nodes[node].rules[..], [SchemaRule::Never]) {
                    unexpected.push(name);
                } else if self.found.len() < MOST_ERRORS {
                    self.explain_part(name, node, value, scope)?;
                }
            }
        }
        if let [first, others @ ..] = unexpected.as_slice() {
            let mut names = brief_text(first);
            others.iter().take(MOST_ERRORS).for_each(|name| {
                write!(names, ", {}", brief_text(name)).ok();
            });
            let are = if others.is_empty() { "is" } else { "are" };
            self.add_error(&format!("{names} {are} not allowed here"));
        }
        Ok(())
    }

    /// Adds what is wrong with a value that has to fit one of several schemas. If only one of them
    /// can be meant, its errors tell more than that none fits.
    fn explain_choice(
        &mut self,
        node: &SchemaNode,
        rule: &SchemaRule,
        nodes: &[NodeIndex],
        value: &Value,
        scope: &SchemaScope<'_>,
    ) -> Result<(), CheckTooLong> {
        if self.check.keeps_rule(node, rule, value, scope)? {
            return Ok(());
        }
        let before = self.found.len();
        let meant: Vec<_> = nodes.iter().filter(|node| self.is_meant(**node, value)).collect();
        if let [only] = meant.as_slice() {
            self.explain_node(**only, value, scope)?;
        }
        if self.found.len() == before {
            self.explain_simple_rule(rule, value);
        }
        Ok(())
    }

    /// Returns false if a schema is clearly for other values: of another type, or with another tag.
    fn is_meant(&self, node: NodeIndex, value: &Value) -> bool {
        self.check.graph.nodes[node].rules.iter().all(|rule| match (rule, value) {
            (SchemaRule::Types(types), _) => types.iter().any(|one| one.holds(value)),
            (SchemaRule::Refer(node), _) => self.is_meant(*node, value),
            (SchemaRule::Exactly(only), _) => order_values(only, value).is_eq(),
            (SchemaRule::Members(schemas), Value::Object(members)) => {
                schemas.named.iter().all(|(name, node)| {
                    let rules = &self.check.graph.nodes[*node].rules;
                    members.get(name).is_none_or(|member| {
                        rules.iter().all(|rule| match rule {
                            SchemaRule::Exactly(tag) => order_values(tag, member).is_eq(),
                            _ => true,
                        })
                    })
                })
            }
            _ => true,
        })
    }

    fn explain_simple_rule(&mut self, rule: &SchemaRule, value: &Value) {
        if let (SchemaRule::Required(names), Value::Object(members)) = (rule, value) {
            for name in names.iter().filter(|name| !members.contains_key(*name)) {
                self.add_error(&format!("{} is a required property", brief_text(name)));
            }
            return;
        }
        self.add_error(&describe_violation(rule, value));
    }
}

fn describe_violation(rule: &SchemaRule, value: &Value) -> String {
    let value = brief_value(value);
    match rule {
        SchemaRule::Never => format!("{value} is not allowed here"),
        SchemaRule::Types(types) => format!("{value} is not of {}", type_names(types)),
        SchemaRule::Among(values) => format!("{value} is not one of {}", joined_values(values)),
        SchemaRule::Exactly(only) => format!("{value} is not {}", brief_value(only)),
        SchemaRule::Limit(limit, than) => {
            let is = match limit {
                NumberLimit::Minimum => "less than the minimum of",
                NumberLimit::Maximum => "greater than the maximum of",
                NumberLimit::Above => "not greater than",
                NumberLimit::Below => "not less than",
            };
            format!("{value} is {is} {than}")
        }
        SchemaRule::MultipleOf(divisor) => format!("{value} is not a multiple of {divisor}"),
        SchemaRule::Length(range) => {
            format!("{value} needs {}", size_range_text(*range, "character", "s"))
        }
        SchemaRule::ItemCount(range) => {
            format!("{value} needs {}", size_range_text(*range, "item", "s"))
        }
        SchemaRule::MemberCount(range) => {
            format!("{value} needs {}", size_range_text(*range, "propert", "ies"))
        }
        SchemaRule::Pattern(pattern) => format!("{value} does not match {:?}", pattern.source()),
        SchemaRule::UniqueItems => format!("{value} has equal items"),
        SchemaRule::Contains { range, .. } => {
            format!("{value} needs {} of a certain kind", size_range_text(*range, "item", "s"))
        }
        SchemaRule::MemberNames(_) => format!("{value} has a property whose name is not allowed"),
        SchemaRule::DependentNames(_) => {
            format!("{value} lacks a property that another one of it requires")
        }
        SchemaRule::Any(_) => format!("{value} fits none of the allowed forms"),
        SchemaRule::One(_) => format!("{value} does not fit exactly one of the allowed forms"),
        SchemaRule::Not(_) => format!("{value} is of a form that is not allowed"),
        SchemaRule::UnevaluatedItems(_) => format!("{value} has an item that is not allowed"),
        _ => format!("{value} does not fit"),
    }
}

fn type_names(types: &[JsonType]) -> String {
    let names: Vec<String> = types.iter().map(|one| format!("{:?}", one.name())).collect();
    format!("type{} {}", if names.len() == 1 { "" } else { "s" }, names.join(", "))
}

fn joined_values(values: &[Value]) -> String {
    let shown: Vec<String> = values.iter().take(2 * MOST_ERRORS).map(brief_value).collect();
    let more = if values.len() > shown.len() { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

fn size_range_text(range: SizeRange, noun: &str, plural: &str) -> String {
    let singular = if plural == "ies" { "y" } else { "" };
    let of = |count| format!("{count} {noun}{}", if count == 1 { singular } else { plural });
    match range {
        SizeRange { least, most } if least == most => of(least),
        SizeRange { least, most: usize::MAX } => format!("at least {}", of(least)),
        SizeRange { least: 0, most } => format!("at most {}", of(most)),
        SizeRange { least, most } => format!("{least} to {}", of(most)),
    }
}

fn shortened_reason(reason: String) -> String {
    match reason.char_indices().nth(LONGEST_REASON) {
        Some((end, _)) => format!("{}…", &reason[..end]),
        None => reason,
    }
}

fn brief_text(text: &str) -> String {
    brief_value(&Value::from(text.chars().take(LONGEST_VALUE + 1).collect::<String>()))
}

/// Returns the beginning of a value as JSON.
pub(super) fn brief_value(value: &Value) -> String {
    let mut start = ValueStart(Vec::new());
    let is_whole = serde_json::to_writer(&mut start, value).is_ok();
    let text = String::from_utf8_lossy(&start.0);
    // The cut may go through a character.
    if is_whole { text.into_owned() } else { format!("{}…", text.trim_end_matches('\u{fffd}')) }
}

/// Takes the beginning of what is written, and refuses the rest, so that a large value is not
/// written out for the sake of its first bytes.
struct ValueStart(Vec<u8>);

impl io::Write for ValueStart {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = LONGEST_VALUE - self.0.len();
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room { Err(io::ErrorKind::StorageFull.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
