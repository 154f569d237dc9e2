//! The schemas inside a document: where each is, which draft it uses, and where references lead.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::draft::SchemaDraft;
use super::explain::brief_value;
use super::uri;

/// How deeply schemas may be nested.
const DEEPEST: usize = 200;

/// A document whose schemas all have the form that their draft demands.
pub(super) struct SchemaDocument<'s> {
    resources: Vec<SchemaResource<'s>>,
    by_address: HashMap<String, usize>,
    /// Named schemas, by resource and name.
    anchors: HashMap<(usize, String), &'s Value>,
    /// The named schemas that dynamic references look for.
    dynamic_anchors: Vec<(usize, String, &'s Value)>,
    /// Every schema, by its address in memory.
    places: HashMap<usize, SchemaPlace>,
}

/// A schema with an address of its own: the whole document, or one that has an `$id`.
struct SchemaResource<'s> {
    address: String,
    root: &'s Value,
}

#[derive(Debug, Clone)]
pub(super) struct SchemaPlace {
    /// The index of its resource.
    pub(super) resource: usize,
    pub(super) draft: SchemaDraft,
    /// The JSON pointer to it.
    pointer: String,
    depth: usize,
}

impl SchemaPlace {
    /// Describes what is wrong with a keyword of the schema.
    pub(super) fn describe_fault(&self, keyword: &str, what: &str) -> String {
        format!("{}/{keyword}: {what}", self.pointer)
    }
}

impl<'s> SchemaDocument<'s> {
    pub(super) fn from_root(root: &'s Value) -> Result<Self, String> {
        let draft = own_draft(root)?.unwrap_or(SchemaDraft::V2020);
        let mut document = Self {
            resources: vec![SchemaResource { address: String::new(), root }],
            by_address: HashMap::from([(String::new(), 0)]),
            anchors: HashMap::new(),
            dynamic_anchors: Vec::new(),
            places: HashMap::new(),
        };
        let place = SchemaPlace { resource: 0, draft, pointer: String::new(), depth: 0 };
        document.index_schema(root, place)?;
        Ok(document)
    }

    /// Returns the place of a schema that has been indexed.
    pub(super) fn find_place(&self, schema: &Value) -> Option<&SchemaPlace> {
        self.places.get(&schema_key(schema))
    }

    pub(super) fn dynamic_anchors(&self) -> &[(usize, String, &'s Value)] {
        &self.dynamic_anchors
    }

    /// Returns the schema that a reference from a resource leads to.
    pub(super) fn find_schema(
        &mut self,
        reference: &str,
        resource: usize,
    ) -> Result<&'s Value, String> {
        let (address, fragment) = uri::split_fragment(reference);
        let address = uri::resolve_reference(&self.resources[resource].address, address);
        let Some(resource) = self.by_address.get(&address).copied() else {
            return Err(format!("{reference:?} leads out of the schema, and nothing is fetched"));
        };
        let lost = || format!("{reference:?} leads to nothing");
        let fragment = uri::decode_fragment(fragment).ok_or_else(lost)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.follow_pointer(&fragment, resource)?.ok_or_else(lost);
        }
        self.anchors.get(&(resource, fragment)).copied().ok_or_else(lost)
    }

    /// Follows a JSON pointer. What it leads to may be a schema only because of the reference.
    fn follow_pointer(
        &mut self,
        pointer: &str,
        resource: usize,
    ) -> Result<Option<&'s Value>, String> {
        let mut value = self.resources[resource].root;
        let Some(mut place) = self.find_place(value).cloned() else { return Ok(None) };
        for token in pointer.split('/').skip(1) {
            let name = token.replace("~1", "/").replace("~0", "~");
            let next = match value {
                Value::Object(members) => members.get(&name),
                Value::Array(values) => name.parse().ok().and_then(|at: usize| values.get(at)),
                _ => None,
            };
            let Some(next) = next else { return Ok(None) };
            value = next;
            let pointer = format!("{}/{token}", place.pointer);
            place = self.find_place(value).cloned().unwrap_or(SchemaPlace { pointer, ..place });
        }
        if self.find_place(value).is_none() {
            self.index_schema(value, place)?;
        }
        Ok(Some(value))
    }

    /// Checks a schema and all schemas in it, and notes their names.
    fn index_schema(&mut self, schema: &'s Value, place: SchemaPlace) -> Result<(), String> {
        let mut waiting = vec![(schema, place)];
        while let Some((schema, mut place)) = waiting.pop() {
            if place.depth > DEEPEST {
                return Err(format!("it is nested deeper than {DEEPEST} levels"));
            }
            if let Value::Object(members) = schema {
                self.note_names(schema, members, &mut place)?;
                check_flags(members, &place)?;
                for (keyword, value) in members {
                    let Some(form) = place.draft.keyword_form(keyword) else { continue };
                    if let Some(expected) = form.expected_instead(value, place.draft) {
                        let what = format!("{} is not {expected}", brief_value(value));
                        return Err(place.describe_fault(keyword, &what));
                    }
                    for (inner_pointer, inner) in form.inner_schemas(value) {
                        let pointer = format!("{}/{keyword}{inner_pointer}", place.pointer);
                        let depth = place.depth + 1;
                        waiting.push((inner, SchemaPlace { pointer, depth, ..place.clone() }));
                    }
                }
            } else if !schema.is_boolean() {
                return Err(format!("{} is not a schema: {}", place.pointer, brief_value(schema)));
            }
            self.places.insert(schema_key(schema), place);
        }
        Ok(())
    }

    /// Notes the addresses and names of a schema.
    fn note_names(
        &mut self,
        schema: &'s Value,
        members: &'s Map<String, Value>,
        place: &mut SchemaPlace,
    ) -> Result<(), String> {
        let is_own = |draft: SchemaDraft| {
            let is_reference = draft.lets_ref_stand_alone() && members.contains_key("$ref");
            members.get(draft.id_keyword()).and_then(Value::as_str).filter(|_| !is_reference)
        };
        let draft = own_draft(schema)?.unwrap_or(place.draft);
        if let Some(id) = is_own(draft) {
            let (address, name) = uri::split_fragment(id);
            if !name.is_empty() && draft > SchemaDraft::V7 {
                return Err(place.describe_fault("$id", "it has a fragment"));
            }
            if !address.is_empty() {
                let address =
                    uri::resolve_reference(&self.resources[place.resource].address, address);
                place.resource = self.resources.len();
                // Only here: `$schema` has no effect in a schema without an address of its own.
                place.draft = draft;
                self.by_address.entry(address.clone()).or_insert(place.resource);
                self.resources.push(SchemaResource { address, root: schema });
            }
            if !name.is_empty() {
                self.anchors.insert((place.resource, name.to_owned()), schema);
            }
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            let name = members.get(keyword).filter(|_| place.draft.keyword_form(keyword).is_some());
            if let Some(name) = name.and_then(Value::as_str) {
                self.anchors.insert((place.resource, name.to_owned()), schema);
            }
        }
        if let Some(name) = dynamic_name(schema, place.draft) {
            self.dynamic_anchors.push((place.resource, name.to_owned(), schema));
        }
        Ok(())
    }
}

/// Returns the name by which dynamic references find a schema. It is empty for those of the draft
/// that gave them no names.
pub(super) fn dynamic_name(schema: &Value, draft: SchemaDraft) -> Option<&str> {
    match draft {
        SchemaDraft::V2020 => schema.get("$dynamicAnchor")?.as_str(),
        SchemaDraft::V2019 => (schema.get("$recursiveAnchor")? == true).then_some(""),
        _ => None,
    }
}

fn own_draft(schema: &Value) -> Result<Option<SchemaDraft>, String> {
    let Some(uri) = schema.get("$schema").and_then(Value::as_str) else { return Ok(None) };
    let unknown = || format!("/$schema: {uri:?} is not a draft from 4 to 2020-12");
    SchemaDraft::from_uri(uri).map(Some).ok_or_else(unknown)
}

/// Checks that flags about a limit have one, in the draft where they are flags.
fn check_flags(members: &Map<String, Value>, place: &SchemaPlace) -> Result<(), String> {
    for (flag, limit) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        let is_lost = members.contains_key(flag) && !members.contains_key(limit);
        if place.draft == SchemaDraft::V4 && is_lost {
            return Err(place.describe_fault(flag, &format!("there is no `{limit}`")));
        }
    }
    Ok(())
}

/// Returns what tells a schema from all others of its document.
/// It is the place and not the content, because equal schemas may lead to different ones by their
/// references.
pub(super) fn schema_key(schema: &Value) -> usize {
    std::ptr::from_ref(schema).addr()
}
