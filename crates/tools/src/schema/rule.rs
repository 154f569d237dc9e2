//! A schema in the form in which values are checked: rules that refer to other schemas by index.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use super::number;
use super::pattern::EcmaPattern;

/// The index of a schema among those of its document.
pub(super) type NodeIndex = usize;

/// The schemas of a document that its root can lead to. The root is the first.
#[derive(Debug)]
pub(super) struct SchemaGraph {
    pub(super) nodes: Vec<SchemaNode>,
    /// The schemas that dynamic references find, by resource and name.
    pub(super) dynamic_anchors: HashMap<(usize, String), NodeIndex>,
}

/// One schema: a value fits it if it keeps all rules.
#[derive(Debug, Default)]
pub(super) struct SchemaNode {
    pub(super) rules: Vec<SchemaRule>,
    /// The resource that the schema belongs to.
    pub(super) resource: usize,
}

#[derive(Debug)]
pub(super) enum SchemaRule {
    /// No value fits.
    Never,
    Types(Vec<JsonType>),
    Among(Vec<Value>),
    Exactly(Value),
    Limit(NumberLimit, Number),
    MultipleOf(Number),
    /// The length of a string, in characters.
    Length(SizeRange),
    /// The length of an array.
    ItemCount(SizeRange),
    /// The number of members of an object.
    MemberCount(SizeRange),
    Pattern(EcmaPattern),
    UniqueItems,
    /// The first items fit these schemas, and the others fit `rest`.
    Items {
        first: Vec<NodeIndex>,
        rest: Option<NodeIndex>,
    },
    /// The number of items that fit the schema is in this range. From draft 2020-12 on they count
    /// as evaluated.
    Contains {
        node: NodeIndex,
        range: SizeRange,
        evaluates: bool,
    },
    Required(Vec<String>),
    Members(MemberSchemas),
    MemberNames(NodeIndex),
    /// An object with the first member must have the others, too.
    DependentNames(Vec<(String, Vec<String>)>),
    /// An object with the member fits the schema.
    DependentSchemas(Vec<(String, NodeIndex)>),
    Refer(NodeIndex),
    /// The outermost schema of this name on the way here, or the given one.
    ReferDynamic {
        name: String,
        otherwise: NodeIndex,
    },
    All(Vec<NodeIndex>),
    Any(Vec<NodeIndex>),
    One(Vec<NodeIndex>),
    Not(NodeIndex),
    If {
        condition: NodeIndex,
        then: Option<NodeIndex>,
        otherwise: Option<NodeIndex>,
    },
    /// Every item that no other rule has looked at fits the schema.
    UnevaluatedItems(NodeIndex),
    UnevaluatedMembers(NodeIndex),
}

impl SchemaRule {
    /// Returns the schemas that the rule applies to the same value.
    pub(super) fn in_place(&self) -> Vec<NodeIndex> {
        match self {
            Self::Refer(node) | Self::Not(node) => vec![*node],
            Self::ReferDynamic { otherwise, .. } => vec![*otherwise],
            Self::All(nodes) | Self::Any(nodes) | Self::One(nodes) => nodes.clone(),
            Self::If { condition, then, otherwise } => {
                [Some(*condition), *then, *otherwise].into_iter().flatten().collect()
            }
            Self::DependentSchemas(schemas) => schemas.iter().map(|(_, node)| *node).collect(),
            _ => Vec::new(),
        }
    }
}

/// The schemas of an object's members.
#[derive(Debug)]
pub(super) struct MemberSchemas {
    pub(super) named: HashMap<String, NodeIndex>,
    pub(super) matching: Vec<(EcmaPattern, NodeIndex)>,
    /// For members that have neither such a name nor match a pattern.
    pub(super) rest: Option<NodeIndex>,
}

/// Limits of a count, both included.
#[derive(Debug, Clone, Copy)]
pub(super) struct SizeRange {
    pub(super) least: usize,
    pub(super) most: usize,
}

impl SizeRange {
    pub(super) fn holds(self, count: usize) -> bool {
        (self.least..=self.most).contains(&count)
    }
}

/// How a number has to compare to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberLimit {
    Minimum,
    Maximum,
    Above,
    Below,
}

impl NumberLimit {
    pub(super) fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Minimum => order.is_ge(),
            Self::Maximum => order.is_le(),
            Self::Above => order.is_gt(),
            Self::Below => order.is_lt(),
        }
    }
}

callgate_wire::words! {
    pub(super) enum JsonType {
        Null "null",
        Boolean "boolean",
        /// A whole number, however it is written.
        Integer "integer",
        /// A number that is written without fraction: the integer of draft 4.
        PlainInteger "integer",
        Number "number",
        String "string",
        Array "array",
        Object "object",
    }
}

impl JsonType {
    pub(super) fn holds(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Integer, Value::Number(number)) => number::integer_value(number).is_some(),
            // Integers that are too large for other types are read as floats.
            (Self::PlainInteger, Value::Number(number)) => {
                let range = i128::from(i64::MIN)..=i128::from(u64::MAX);
                !number.is_f64()
                    || number::integer_value(number).is_some_and(|it| !range.contains(&it))
            }
            (Self::Null, Value::Null)
            | (Self::Boolean, Value::Bool(_))
            | (Self::Number, Value::Number(_))
            | (Self::String, Value::String(_))
            | (Self::Array, Value::Array(_))
            | (Self::Object, Value::Object(_)) => true,
            _ => false,
        }
    }
}

/// Orders values so that equal ones are equal, however their numbers are written and their members
/// are ordered. The order has no other meaning; equal items are found by sorting.
pub(super) fn order_values(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        (Value::Number(one), Value::Number(other)) => number::compare_exactly(one, other),
        (Value::String(one), Value::String(other)) => one.cmp(other),
        (Value::Array(one), Value::Array(other)) => one.len().cmp(&other.len()).then_with(|| {
            let orders = one.iter().zip(other).map(|(one, other)| order_values(one, other));
            orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        }),
        (Value::Object(one), Value::Object(other)) => {
            one.len().cmp(&other.len()).then_with(|| order_members(one, other))
        }
        _ => type_rank(one).cmp(&type_rank(other)),
    }
}

fn order_members(one: &Map<String, Value>, other: &Map<String, Value>) -> Ordering {
    let sorted = |members: &Map<String, Value>| {
        let mut names: Vec<String> = members.keys().cloned().collect();
        names.sort_unstable();
        names
    };
    let names = sorted(one);
    names.cmp(&sorted(other)).then_with(|| {
        let orders = names.iter().map(|name| order_values(&one[name], &other[name]));
        orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    })
}

fn type_rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}
