//! Turns a schema document into rules.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::document::{SchemaDocument, SchemaPlace, dynamic_name, schema_key};
use super::draft::SchemaDraft;
use super::number::integer_value;
use super::pattern::EcmaPattern;
use super::rule::{
    JsonType, MemberSchemas, NodeIndex, NumberLimit, SchemaGraph, SchemaNode, SchemaRule, SizeRange,
};
use super::uri;

/// Reads a schema. The error says what in it is wrong or not supported.
pub(super) fn build_graph(schema: &Value) -> Result<SchemaGraph, String> {
    let mut reader = SchemaReader {
        document: SchemaDocument::from_root(schema)?,
        nodes: Vec::new(),
        known: HashMap::new(),
        waiting: Vec::new(),
        dynamic_anchors: HashMap::new(),
    };
    reader.node_of_schema(schema);
    while let Some((node, schema)) = reader.waiting.pop() {
        reader.nodes[node] = reader.read_node(schema)?;
    }
    let graph = SchemaGraph { nodes: reader.nodes, dynamic_anchors: reader.dynamic_anchors };
    if has_circle(&graph.nodes) {
        Err("it refers to itself without end".to_owned())
    } else {
        Ok(graph)
    }
}

struct SchemaReader<'s> {
    document: SchemaDocument<'s>,
    nodes: Vec<SchemaNode>,
    /// The nodes by what tells their schemas apart.
    known: HashMap<usize, NodeIndex>,
    /// The schemas that are not read yet.
    waiting: Vec<(NodeIndex, &'s Value)>,
    dynamic_anchors: HashMap<(usize, String), NodeIndex>,
}

/// The keywords of one schema, of those that its draft knows.
struct SchemaKeywords<'s> {
    members: &'s Map<String, Value>,
    place: SchemaPlace,
}

impl<'s> SchemaKeywords<'s> {
    fn get(&self, keyword: &str) -> Option<&'s Value> {
        self.members.get(keyword).filter(|_| self.place.draft.keyword_form(keyword).is_some())
    }

    fn text(&self, keyword: &str) -> Option<&'s str> {
        self.get(keyword)?.as_str()
    }

    fn is_true(&self, keyword: &str) -> bool {
        self.get(keyword) == Some(&Value::Bool(true))
    }

    fn object_members(&self, keyword: &str) -> impl Iterator<Item = (&'s String, &'s Value)> {
        self.get(keyword).and_then(Value::as_object).into_iter().flatten()
    }

    /// Returns the range between two keywords, if there is one of them.
    fn range(&self, least: &str, most: &str) -> Option<SizeRange> {
        let count = |keyword| {
            let count = self.get(keyword)?.as_number().and_then(integer_value)?;
            Some(usize::try_from(count).unwrap_or(usize::MAX))
        };
        let (least, most) = (count(least), count(most));
        (least.is_some() || most.is_some())
            .then(|| SizeRange { least: least.unwrap_or(0), most: most.unwrap_or(usize::MAX) })
    }

    fn parse_pattern(&self, keyword: &str, text: &str) -> Result<EcmaPattern, String> {
        let fault = |error| {
            self.place.describe_fault(keyword, &format!("{text:?} cannot be used: {error}"))
        };
        EcmaPattern::from_source(text).map_err(fault)
    }
}

impl<'s> SchemaReader<'s> {
    /// Returns the node of a schema, which is read later.
    fn node_of_schema(&mut self, schema: &'s Value) -> NodeIndex {
        let next = self.nodes.len();
        let node = *self.known.entry(schema_key(schema)).or_insert(next);
        if node == next {
            self.nodes.push(SchemaNode::default());
            // Schemas may refer to each other in circles, so a schema is not read within another.
            self.waiting.push((node, schema));
        }
        node
    }

    fn optional_node(&mut self, schema: Option<&'s Value>) -> Option<NodeIndex> {
        schema.map(|schema| self.node_of_schema(schema))
    }

    fn nodes_of_schemas(&mut self, schemas: Option<&'s Value>) -> Vec<NodeIndex> {
        let schemas = schemas.and_then(Value::as_array).into_iter().flatten();
        schemas.map(|schema| self.node_of_schema(schema)).collect()
    }

    fn read_node(&mut self, schema: &'s Value) -> Result<SchemaNode, String> {
        let place = self.document.find_place(schema).cloned();
        let place = place.ok_or_else(|| "a reference leads to nothing".to_owned())?;
        let resource = place.resource;
        let rules = match schema {
            Value::Object(members) => self.read_rules(&SchemaKeywords { members, place })?,
            Value::Bool(false) => vec![SchemaRule::Never],
            _ => Vec::new(),
        };
        Ok(SchemaNode { rules, resource })
    }

    /// Reads the rules of a schema, in the order in which they are checked: first what is quick,
    /// last what depends on the other rules.
    fn read_rules(&mut self, keywords: &SchemaKeywords<'s>) -> Result<Vec<SchemaRule>, String> {
        let mut rules = Vec::new();
        let draft = keywords.place.draft;
        self.read_reference_rules(keywords, &mut rules)?;
        if draft.lets_ref_stand_alone() && !rules.is_empty() {
            return Ok(rules);
        }
        read_value_rules(keywords, &mut rules);
        read_number_rules(keywords, &mut rules);
        if let Some(range) = keywords.range("minLength", "maxLength") {
            rules.push(SchemaRule::Length(range));
        }
        if let Some(text) = keywords.text("pattern") {
            rules.push(SchemaRule::Pattern(keywords.parse_pattern("pattern", text)?));
        }
        self.read_item_rules(keywords, &mut rules);
        self.read_member_rules(keywords, &mut rules)?;
        self.read_combination_rules(keywords, &mut rules);
        if let Some(schema) = keywords.get("unevaluatedItems") {
            rules.push(SchemaRule::UnevaluatedItems(self.node_of_schema(schema)));
        }
        if let Some(schema) = keywords.get("unevaluatedProperties") {
            rules.push(SchemaRule::UnevaluatedMembers(self.node_of_schema(schema)));
        }
        Ok(rules)
    }

    fn read_reference_rules(
        &mut self,
        keywords: &SchemaKeywords<'s>,
        rules: &mut Vec<SchemaRule>,
    ) -> Result<(), String> {
        let SchemaPlace { resource, draft, .. } = keywords.place;
        for keyword in ["$ref", "$recursiveRef", "$dynamicRef"] {
            let Some(reference) = keywords.text(keyword) else { continue };
            let found = self.document.find_schema(reference, resource);
            let schema = found.map_err(|what| keywords.place.describe_fault(keyword, &what))?;
            let node = self.node_of_schema(schema);
            let there = self.document.find_place(schema).map_or(draft, |place| place.draft);
            let name = dynamic_name(schema, there)
                .filter(|name| uri::split_fragment(reference).1 == *name);
            rules.push(match name {
                Some(name) if keyword != "$ref" => {
                    self.note_dynamic_anchors();
                    SchemaRule::ReferDynamic { name: name.to_owned(), otherwise: node }
                }
                _ => SchemaRule::Refer(node),
            });
        }
        Ok(())
    }

    fn note_dynamic_anchors(&mut self) {
        // All of them, because which one a reference means is known only during a check.
        for (resource, name, schema) in self.document.dynamic_anchors().to_vec() {
            let node = self.node_of_schema(schema);
            self.dynamic_anchors.entry((resource, name)).or_insert(node);
        }
    }

    fn read_item_rules(&mut self, keywords: &SchemaKeywords<'s>, rules: &mut Vec<SchemaRule>) {
        if let Some(range) = keywords.range("minItems", "maxItems") {
            rules.push(SchemaRule::ItemCount(range));
        }
        let items = keywords.get("items");
        let (first, rest) = match items {
            Some(Value::Array(_)) => (items, keywords.get("additionalItems")),
            _ => (keywords.get("prefixItems"), items),
        };
        if first.is_some() || rest.is_some() {
            let (first, rest) = (self.nodes_of_schemas(first), self.optional_node(rest));
            rules.push(SchemaRule::Items { first, rest });
        }
        if keywords.is_true("uniqueItems") {
            rules.push(SchemaRule::UniqueItems);
        }
        if let Some(schema) = keywords.get("contains") {
            // Without `minContains` one is needed.
            let least = usize::from(keywords.get("minContains").is_none());
            let range = keywords.range("minContains", "maxContains");
            let range = range.unwrap_or(SizeRange { least, most: usize::MAX });
            let range = SizeRange { least: range.least.max(least), ..range };
            let evaluates = keywords.place.draft >= SchemaDraft::V2020;
            rules.push(SchemaRule::Contains {
                node: self.node_of_schema(schema),
                range,
                evaluates,
            });
        }
    }

    fn read_member_rules(
        &mut self,
        keywords: &SchemaKeywords<'s>,
        rules: &mut Vec<SchemaRule>,
    ) -> Result<(), String> {
        if let Some(range) = keywords.range("minProperties", "maxProperties") {
            rules.push(SchemaRule::MemberCount(range));
        }
        if let Some(names) = keywords.get("required") {
            rules.push(SchemaRule::Required(string_items(names)));
        }
        let parts = ["properties", "patternProperties", "additionalProperties"];
        if parts.iter().any(|keyword| keywords.get(keyword).is_some()) {
            let named = keywords.object_members("properties");
            let named =
                named.map(|(name, schema)| (name.clone(), self.node_of_schema(schema))).collect();
            let mut matching = Vec::new();
            for (text, schema) in keywords.object_members("patternProperties") {
                let pattern = keywords.parse_pattern("patternProperties", text)?;
                matching.push((pattern, self.node_of_schema(schema)));
            }
            let rest = self.optional_node(keywords.get("additionalProperties"));
            rules.push(SchemaRule::Members(MemberSchemas { named, matching, rest }));
        }
        if let Some(schema) = keywords.get("propertyNames") {
            rules.push(SchemaRule::MemberNames(self.node_of_schema(schema)));
        }
        self.read_dependency_rules(keywords, rules);
        Ok(())
    }

    fn read_dependency_rules(
        &mut self,
        keywords: &SchemaKeywords<'s>,
        rules: &mut Vec<SchemaRule>,
    ) {
        let (mut names, mut schemas) = (Vec::new(), Vec::new());
        for keyword in ["dependencies", "dependentRequired", "dependentSchemas"] {
            for (name, value) in keywords.object_members(keyword) {
                match value {
                    Value::Array(_) => names.push((name.clone(), string_items(value))),
                    schema => schemas.push((name.clone(), self.node_of_schema(schema))),
                }
            }
        }
        if !names.is_empty() {
            rules.push(SchemaRule::DependentNames(names));
        }
        if !schemas.is_empty() {
            rules.push(SchemaRule::DependentSchemas(schemas));
        }
    }

    fn read_combination_rules(
        &mut self,
        keywords: &SchemaKeywords<'s>,
        rules: &mut Vec<SchemaRule>,
    ) {
        let choices: [(_, fn(_) -> _); 3] =
            [("allOf", SchemaRule::All), ("anyOf", SchemaRule::Any), ("oneOf", SchemaRule::One)];
        for (keyword, rule) in choices {
            if let Some(schemas) = keywords.get(keyword) {
                rules.push(rule(self.nodes_of_schemas(Some(schemas))));
            }
        }
        if let Some(schema) = keywords.get("not") {
            rules.push(SchemaRule::Not(self.node_of_schema(schema)));
        }
        if let Some(condition) = keywords.get("if") {
            let condition = self.node_of_schema(condition);
            let then = self.optional_node(keywords.get("then"));
            let otherwise = self.optional_node(keywords.get("else"));
            rules.push(SchemaRule::If { condition, then, otherwise });
        }
    }
}

fn read_value_rules(keywords: &SchemaKeywords<'_>, rules: &mut Vec<SchemaRule>) {
    if let Some(types) = keywords.get("type") {
        let names = types.as_array().map_or(std::slice::from_ref(types), Vec::as_slice);
        let types = names.iter().filter_map(Value::as_str).filter_map(JsonType::parse);
        let is_plain = keywords.place.draft == SchemaDraft::V4;
        let types = types.map(|kind| match kind {
            // In draft 4 a number with a fraction is no integer, even if the fraction is zero.
            JsonType::Integer if is_plain => JsonType::PlainInteger,
            kind => kind,
        });
        rules.push(SchemaRule::Types(types.collect()));
    }
    if let Some(values) = keywords.get("enum").and_then(Value::as_array) {
        rules.push(SchemaRule::Among(values.clone()));
    }
    // Not by `get`, because any value will do for `const`, and the table of forms lacks it.
    if keywords.place.draft > SchemaDraft::V4
        && let Some(value) = keywords.members.get("const")
    {
        rules.push(SchemaRule::Exactly(value.clone()));
    }
}

fn read_number_rules(keywords: &SchemaKeywords<'_>, rules: &mut Vec<SchemaRule>) {
    for (keyword, limit, exclusive, beyond) in [
        ("minimum", NumberLimit::Minimum, "exclusiveMinimum", NumberLimit::Above),
        ("maximum", NumberLimit::Maximum, "exclusiveMaximum", NumberLimit::Below),
    ] {
        // A flag in draft 4, a limit of its own in the others.
        let limit = if keywords.is_true(exclusive) { beyond } else { limit };
        for (keyword, limit) in [(keyword, limit), (exclusive, beyond)] {
            if let Some(Value::Number(number)) = keywords.get(keyword) {
                rules.push(SchemaRule::Limit(limit, number.clone()));
            }
        }
    }
    if let Some(Value::Number(divisor)) = keywords.get("multipleOf") {
        rules.push(SchemaRule::MultipleOf(divisor.clone()));
    }
}

fn string_items(names: &Value) -> Vec<String> {
    let names = names.as_array().into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns true if a schema would be applied to the same value again and again. Where a dynamic
/// reference leads is known only during a check, whose depth is limited for that reason, too.
fn has_circle(nodes: &[SchemaNode]) -> bool {
    // How many schemas still wait for each one; those on a circle wait for ever.
    let edges = |node: &SchemaNode| -> Vec<NodeIndex> {
        node.rules.iter().flat_map(SchemaRule::in_place).collect()
    };
    let mut users = vec![0_usize; nodes.len()];
    nodes.iter().flat_map(edges).for_each(|node| users[node] += 1);
    let mut free: Vec<NodeIndex> = (0..nodes.len()).filter(|node| users[*node] == 0).collect();
    let mut freed = 0;
    while let Some(node) = free.pop() {
        freed += 1;
        for used in edges(&nodes[node]) {
            users[used] -= 1;
            if users[used] == 0 {
                free.push(used);
            }
        }
    }
    freed < nodes.len()
}
