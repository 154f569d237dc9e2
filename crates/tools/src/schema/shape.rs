//! Simple JSON Schemas, validated with little memory and in little time.
//!
//! A library for all of JSON Schema takes megabytes once it is used. Nearly every schema of a tool
//! uses only a small part of the language, which is implemented here. Nothing is guessed: a schema
//! with anything unusual has no shape, and a value that is hard to judge gets no verdict. The
//! library then decides.

mod read;

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

/// How many rules are evaluated before a value is left to the library.
const MOST_STEPS: usize = 1_000_000;
/// How deeply rules may be nested, in schemas and during validation.
const DEEPEST: usize = 200;

/// A schema that uses only the part of the language implemented here.
#[derive(Debug)]
pub(super) struct SchemaShape {
    /// The whole schema, followed by its `$defs`; rules refer to them by index.
    nodes: Vec<ShapeNode>,
}

/// One schema: a value fits it if it keeps all rules.
type ShapeNode = Vec<ShapeRule>;

#[derive(Debug)]
enum ShapeRule {
    /// Nothing keeps it.
    Never,
    /// The value is of one of these types.
    Types(Vec<JsonType>),
    /// The value is one of these.
    Among(Vec<Value>),
    /// A number compares to `limit` in a way that `is_kept` accepts.
    Number {
        limit: Number,
        is_kept: fn(Ordering) -> bool,
    },
    /// A string's length is between these, in characters.
    Letters(usize, usize),
    /// An array's length is between these.
    Count(usize, usize),
    /// An object's number of members is between these.
    Size(usize, usize),
    /// The first items fit these schemas, and the others fit `rest`.
    Items {
        first: Vec<ShapeNode>,
        rest: ShapeNode,
    },
    /// Members with these names fit these schemas, and the others fit `rest`.
    Members {
        named: BTreeMap<String, ShapeNode>,
        rest: ShapeNode,
    },
    /// An object has these members.
    Required(Vec<String>),
    /// The schema at this index.
    At(usize),
    All(Vec<ShapeNode>),
    Any(Vec<ShapeNode>),
    One(Vec<ShapeNode>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonType {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

/// Whether a rule is kept; `None` if that is uncertain.
type FitVerdict = Option<bool>;

impl SchemaShape {
    /// Reads a schema. Returns `None` if anything in it is unusual or wrong.
    pub(super) fn read(schema: &Value) -> Option<Self> {
        read::shape(schema)
    }

    /// Returns whether the value fits the schema; `None` if that is uncertain.
    pub(super) fn fits(&self, value: &Value) -> FitVerdict {
        ShapeCheck { shape: self, steps: Cell::new(0) }.rule(&ShapeRule::At(0), value, 0)
    }
}

/// The validation of one value.
struct ShapeCheck<'a> {
    shape: &'a SchemaShape,
    steps: Cell<usize>,
}

impl ShapeCheck<'_> {
    fn node(&self, node: &ShapeNode, value: &Value, depth: usize) -> FitVerdict {
        all(node.iter().map(|rule| self.rule(rule, value, depth)))
    }

    fn rule(&self, rule: &ShapeRule, value: &Value, depth: usize) -> FitVerdict {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > MOST_STEPS || depth > DEEPEST {
            return None;
        }
        match (rule, value) {
            (ShapeRule::Never, _) => Some(false),
            (ShapeRule::Types(types), _) => any(types.iter().map(|one| one.holds(value))),
            (ShapeRule::Among(values), _) => any(values.iter().map(|one| same(one, value))),
            (ShapeRule::Number { limit, is_kept }, Value::Number(number)) => {
                compare(number, limit).map(is_kept)
            }
            (ShapeRule::Letters(least, most), Value::String(text)) => {
                Some((*least..=*most).contains(&text.chars().count()))
            }
            (ShapeRule::Count(least, most), Value::Array(items)) => {
                Some((*least..=*most).contains(&items.len()))
            }
            (ShapeRule::Size(least, most), Value::Object(members)) => {
                Some((*least..=*most).contains(&members.len()))
            }
            (ShapeRule::Items { first, rest }, Value::Array(items)) => {
                let nodes = first.iter().chain(std::iter::repeat(rest));
                all(items.iter().zip(nodes).map(|(item, node)| self.node(node, item, depth + 1)))
            }
            (ShapeRule::Members { named, rest }, Value::Object(members)) => {
                self.members(named, rest, members, depth)
            }
            (ShapeRule::Required(names), Value::Object(members)) => {
                Some(names.iter().all(|name| members.contains_key(name)))
            }
            (ShapeRule::At(place), _) => self.node(self.shape.nodes.get(*place)?, value, depth + 1),
            (ShapeRule::All(nodes), _) => all(self.each(nodes, value, depth)),
            (ShapeRule::Any(nodes), _) => any(self.each(nodes, value, depth)),
            (ShapeRule::One(nodes), _) => one(self.each(nodes, value, depth)),
            // A rule about one type is kept by values of every other type.
            _ => Some(true),
        }
    }

    fn each(
        &self,
        nodes: &[ShapeNode],
        value: &Value,
        depth: usize,
    ) -> impl Iterator<Item = FitVerdict> {
        nodes.iter().map(move |node| self.node(node, value, depth + 1))
    }

    fn members(
        &self,
        named: &BTreeMap<String, ShapeNode>,
        rest: &ShapeNode,
        members: &Map<String, Value>,
        depth: usize,
    ) -> FitVerdict {
        all(members
            .iter()
            .map(|(name, value)| self.node(named.get(name).unwrap_or(rest), value, depth + 1)))
    }
}

impl JsonType {
    fn holds(self, value: &Value) -> FitVerdict {
        match (self, value) {
            // A float may be a whole number too.
            (Self::Integer, Value::Number(number)) if number.is_f64() => None,
            (Self::Integer | Self::Number, Value::Number(_)) => Some(true),
            _ => Some(Some(self) == Self::of(value)),
        }
    }

    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(Self::Null),
            Value::Bool(_) => Some(Self::Boolean),
            Value::Number(_) => None,
            Value::String(_) => Some(Self::String),
            Value::Array(_) => Some(Self::Array),
            Value::Object(_) => Some(Self::Object),
        }
    }
}

fn all(mut verdicts: impl Iterator<Item = FitVerdict>) -> FitVerdict {
    let mut kept = Some(true);
    // A broken rule decides, even after an uncertain one.
    let is_broken = verdicts.any(|verdict| {
        kept = kept.and(verdict);
        verdict == Some(false)
    });
    if is_broken { Some(false) } else { kept }
}

fn any(verdicts: impl Iterator<Item = FitVerdict>) -> FitVerdict {
    not(all(verdicts.map(not)))
}

fn not(verdict: FitVerdict) -> FitVerdict {
    verdict.map(|is_kept| !is_kept)
}

fn one(verdicts: impl Iterator<Item = FitVerdict>) -> FitVerdict {
    let verdicts: Option<Vec<bool>> = verdicts.collect();
    verdicts.map(|verdicts| verdicts.into_iter().filter(|is_kept| *is_kept).count() == 1)
}

/// Returns whether two values are equal. Different notations of a number may be equal, so values
/// that hold numbers are uncertain unless they are identical.
fn same(one: &Value, other: &Value) -> FitVerdict {
    let is_plain = |value: &Value| matches!(value, Value::Null | Value::Bool(_) | Value::String(_));
    let is_certain = is_plain(one) || is_plain(other);
    if one == other { Some(true) } else { is_certain.then_some(false) }
}

/// Compares two numbers exactly, or not at all.
fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    if let (Some(one), Some(other)) = (one.as_i128(), other.as_i128()) {
        return Some(one.cmp(&other));
    }
    // Rounding may make different numbers equal, but never reverses their order.
    one.as_f64()?.partial_cmp(&other.as_f64()?).filter(|order| order.is_ne())
}

#[cfg(test)]
mod tests;
