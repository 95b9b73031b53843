//! JSON Schema: an object whose properties are claims, or a W3C credential whose subject is such an object.

use selfsame_driver::Reason;
use serde_json::Value;

use super::{Draft, below, label, shown, text};
use crate::fill::pattern;
use crate::model::{ClaimKind, EnumerationValue, Labels, TypeClaim, TypeDefinition};

/// Maximum number of schemas within each other, references included.
const DEPTH_MAX: usize = 10;
/// Maximum number of claims, so that references to references cannot grow without bound.
const CLAIMS_MAX: usize = 400;
/// What is read of any schema; notes that constrain nothing are passed over in silence.
const KNOWN: [&str; 8] = [
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "type",
];

pub(super) fn import(schema: &Value, draft: &mut Draft) {
    label(&mut draft.definition.title, "en", schema.get("title"));
    label(
        &mut draft.definition.description,
        "en",
        schema.get("description"),
    );
    let mut reader = Reader {
        root: schema,
        draft,
        claims: 0,
    };
    let subject = schema
        .get("properties")
        .and_then(|properties| properties.get("credentialSubject"))
        .filter(|subject| subject.get("properties").is_some());
    let at = match subject {
        Some(subject) => At {
            schema: subject,
            place: "properties.credentialSubject".to_owned(),
            depth: 0,
        },
        None => At {
            schema,
            place: String::new(),
            depth: 0,
        },
    };
    let mut claims = reader.properties(&at);
    if subject.is_some() {
        claims.retain(|claim| claim.path != ["id"]);
    }
    draft.definition.claims = claims;
    name_requests(&mut draft.definition);
}

/// A schema, and where it is.
struct At<'a> {
    schema: &'a Value,
    place: String,
    depth: usize,
}

struct Reader<'a, 'd> {
    root: &'a Value,
    draft: &'d mut Draft,
    claims: usize,
}

impl<'a> Reader<'a, '_> {
    fn properties(&mut self, at: &At<'a>) -> Vec<TypeClaim> {
        let known: Vec<&str> = KNOWN
            .into_iter()
            .chain(["properties", "required", "additionalProperties"])
            .collect();
        self.draft.ignore_others(at.schema, &known, &at.place);
        let properties = at.schema.get("properties").and_then(Value::as_object);
        let required = at.schema.get("required").and_then(Value::as_array);
        let is_required = |name: &String| {
            let mut names = required.into_iter().flatten();
            names.any(|one| one.as_str() == Some(name))
        };
        let mut claims = Vec::new();
        for (name, schema) in properties.into_iter().flatten() {
            let place = below(&at.place, &format!("properties.{name}"));
            let inner = At {
                schema,
                place,
                depth: at.depth + 1,
            };
            if let Some(mut claim) = self.claim(vec![name.clone()], inner) {
                claim.required = is_required(name);
                claims.push(claim);
            }
        }
        claims
    }

    /// The claim that a schema describes.
    fn claim(&mut self, path: Vec<String>, at: At<'a>) -> Option<TypeClaim> {
        self.claims += 1;
        let at = self.followed(at)?;
        if at.depth > DEPTH_MAX || self.claims > CLAIMS_MAX {
            self.draft.ignore(&at.place);
            return None;
        }
        let mut claim = TypeClaim::new(path, ClaimKind::Text);
        label(&mut claim.label, "en", at.schema.get("title"));
        label(&mut claim.help, "en", at.schema.get("description"));
        claim.example = first_example(at.schema);
        let values = at.schema.get("enum").and_then(Value::as_array);
        let values = values
            .cloned()
            .or_else(|| Some(vec![at.schema.get("const")?.clone()]));
        if let Some(values) = values {
            self.enumeration(&mut claim, &values, &at);
            return Some(claim);
        }
        match self.type_of(&at) {
            "string" => self.text(&mut claim, &at),
            "integer" | "number" => self.number(&mut claim, &at),
            "boolean" => {
                claim.kind = ClaimKind::Boolean;
                self.ignore(&at, &[]);
            }
            "object" => {
                claim.kind = ClaimKind::Object;
                claim.example = None;
                claim.claims = self.properties(&at);
            }
            "array" => self.list(&mut claim, &at),
            _ => {
                let place = shown(&at.place).to_owned();
                self.draft
                    .leave_out(Reason::new("import-kind").with("place", &place));
            }
        }
        Some(claim)
    }

    /// The schema that a reference within the same document leads to.
    fn followed(&mut self, mut at: At<'a>) -> Option<At<'a>> {
        while let Some(reference) = at.schema.get("$ref").and_then(Value::as_str) {
            let target = reference
                .strip_prefix('#')
                .and_then(|path| self.root.pointer(path));
            at.depth += 1;
            match target {
                Some(schema) if at.depth <= DEPTH_MAX => at.schema = schema,
                _ => {
                    self.draft.ignore(&at.place);
                    return None;
                }
            }
        }
        Some(at)
    }

    /// The type that a schema names; of several, the first that is not `null`.
    fn type_of(&self, at: &At<'a>) -> &'a str {
        match at.schema.get("type") {
            Some(Value::String(name)) => name,
            Some(Value::Array(names)) => {
                let mut names = names.iter().filter_map(Value::as_str);
                names.find(|name| *name != "null").unwrap_or_default()
            }
            _ if at.schema.get("properties").is_some() => "object",
            _ => "",
        }
    }

    fn ignore(&mut self, at: &At<'a>, further: &[&str]) {
        let common = KNOWN
            .iter()
            .chain(&["examples", "default", "readOnly", "writeOnly"]);
        let known: Vec<&str> = common.chain(further).copied().collect();
        self.draft.ignore_others(at.schema, &known, &at.place);
    }

    fn enumeration(&mut self, claim: &mut TypeClaim, values: &[Value], at: &At<'a>) {
        self.ignore(at, &["enum", "const"]);
        claim.kind = ClaimKind::Enumeration;
        let choice = |value: &Value| {
            Some(EnumerationValue {
                value: text(value)?,
                label: Labels::new(),
            })
        };
        claim.values = values.iter().filter_map(choice).collect();
        if claim.values.len() < values.len() {
            self.draft.ignore(&below(&at.place, "enum"));
        }
        let is_value = |example: &Value| claim.values.iter().any(|choice| *example == choice.value);
        claim.example = claim.example.take().filter(is_value);
    }

    fn text(&mut self, claim: &mut TypeClaim, at: &At<'a>) {
        match at.schema.get("format").and_then(Value::as_str) {
            Some("date") => {
                claim.kind = ClaimKind::Date;
                self.ignore(at, &["format"]);
                return;
            }
            Some(_) => self.draft.ignore(&below(&at.place, "format")),
            None => {}
        }
        self.ignore(at, &["format", "maxLength", "pattern"]);
        let most = at.schema.get("maxLength").and_then(Value::as_u64);
        claim.max_length = most.map(|most| u32::try_from(most.clamp(1, 100_000)).unwrap_or(1));
        let Some(wanted) = at.schema.get("pattern").and_then(Value::as_str) else {
            return;
        };
        let wanted = whole(wanted);
        match pattern(&wanted) {
            Some(_) => claim.pattern = Some(wanted),
            None => self.draft.ignore(&below(&at.place, "pattern")),
        }
    }

    fn number(&mut self, claim: &mut TypeClaim, at: &At<'a>) {
        self.ignore(at, &["minimum", "maximum"]);
        claim.kind = ClaimKind::Number;
        claim.integer = self.type_of(at) == "integer";
        claim.min = at.schema.get("minimum").and_then(Value::as_f64);
        claim.max = at.schema.get("maximum").and_then(Value::as_f64);
    }

    fn list(&mut self, claim: &mut TypeClaim, at: &At<'a>) {
        self.ignore(at, &["items"]);
        claim.kind = ClaimKind::List;
        claim.example = None;
        let element = at.schema.get("items").and_then(|schema| {
            let inner = At {
                schema,
                place: below(&at.place, "items"),
                depth: at.depth + 1,
            };
            self.claim(Vec::new(), inner)
        });
        let text = || TypeClaim::new(Vec::new(), ClaimKind::Text);
        claim.of = Some(Box::new(element.unwrap_or_else(text)));
    }
}

fn first_example(schema: &Value) -> Option<Value> {
    let examples = schema.get("examples").and_then(Value::as_array);
    examples?
        .first()
        .filter(|example| !example.is_null())
        .cloned()
}

/// A pattern that matches whole texts, from one that may match a part (JSON Schema Validation §6.3.3).
fn whole(pattern: &str) -> String {
    let begin = if pattern.starts_with('^') { "" } else { ".*" };
    let end = if pattern.ends_with('$') && !pattern.ends_with("\\$") {
        ""
    } else {
        ".*"
    };
    let inner = pattern.trim_start_matches('^');
    let inner = if end.is_empty() {
        inner.trim_end_matches('$')
    } else {
        inner
    };
    match (begin, end) {
        ("", "") => inner.to_owned(),
        _ => format!("{begin}(?:{inner}){end}"),
    }
}

/// An imported schema has no card: the first two required claims tell the cards apart.
fn name_requests(definition: &mut TypeDefinition) {
    let is_plain = |claim: &&TypeClaim| {
        claim.required
            && !matches!(
                claim.kind,
                ClaimKind::Object | ClaimKind::List | ClaimKind::Image
            )
    };
    let front = definition.claims.iter().filter(is_plain).take(2);
    definition.card.front = front.map(|claim| claim.path.clone()).collect();
}
