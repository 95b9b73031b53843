//! The reference of the API: its OpenAPI document as a page, in the order and the words in which people read it.

mod kind;

use askama::Template;
use serde_json::Value;

use crate::Frame;

pub use kind::Kind;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// The page.
#[derive(Template)]
#[template(path = "reference.html")]
pub struct ReferencePage {
    /// What stands around it.
    pub frame: Frame,
    /// The base of the addresses, without a slash at its end.
    pub origin: String,
    /// The tokens that operations need.
    pub tokens: Vec<TokenShown>,
    /// What it describes.
    pub reference: &'static ApiReference,
}

/// A token that operations need.
pub struct TokenShown {
    /// The name of its security scheme.
    pub name: &'static str,
    /// How to get it.
    pub words: &'static str,
}

/// Everything that the page says, whatever the instance.
pub struct ApiReference {
    /// The operations, by their tags.
    pub sections: Vec<SectionShown>,
    /// The types of the bodies.
    pub types: Vec<SchemaShown>,
}

/// The operations with one tag.
pub struct SectionShown {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its operations.
    pub operations: Vec<OperationShown>,
}

/// An operation.
pub struct OperationShown {
    /// Its name.
    pub name: String,
    /// Its method.
    pub method: String,
    /// Its address, as a pattern.
    pub path: String,
    /// What it does.
    pub summary: String,
    /// More about it; may be empty.
    pub details: String,
    /// The token that it needs.
    pub right: &'static str,
    /// Its parameters.
    pub parameters: Vec<MemberShown>,
    /// The body of its request.
    pub request: Option<BodyShown>,
    /// Its responses.
    pub responses: Vec<ResponseShown>,
    /// A command that calls it.
    pub call: CallLine,
}

/// A command that calls an operation, in two parts with the origin between them.
pub struct CallLine {
    /// The part before the origin.
    pub before: String,
    /// The part after the origin.
    pub after: String,
}

/// A parameter, or a member of an object.
pub struct MemberShown {
    /// Its name.
    pub name: String,
    /// Where a parameter is sent: `path` or `query`.
    pub place: String,
    /// The kind of its value.
    pub kind: Kind,
    /// Whether it must be there.
    pub required: bool,
    /// Its description.
    pub description: String,
}

/// A body.
pub struct BodyShown {
    /// Its content type.
    pub content_type: String,
    /// The kind of its value.
    pub kind: Kind,
    /// An example, as text.
    pub example: Option<String>,
}

/// A response.
pub struct ResponseShown {
    /// Its status, or `default` for errors.
    pub status: String,
    /// Its bodies, one for each content type.
    pub bodies: Vec<BodyShown>,
}

/// A type of the description's components.
pub struct SchemaShown {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The words that a value may be; empty if it may be others.
    pub words: Vec<String>,
    /// Its members, if it is an object.
    pub members: Vec<MemberShown>,
}

/// A part of a description.
pub struct Span<'a> {
    /// Its text.
    pub text: &'a str,
    /// Whether it is an identifier or a value.
    pub is_code: bool,
}

/// The parts of a description: what is between backticks is code.
pub fn spans(description: &str) -> Vec<Span<'_>> {
    let parts = description.split('`').enumerate();
    parts
        .map(|(index, text)| Span {
            text,
            is_code: index % 2 == 1,
        })
        .collect()
}

/// A member of an object that is text; empty if it is absent.
fn text(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_default().to_owned()
}

/// The elements of a list; none if it is absent.
fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

impl ApiReference {
    /// The reference of an OpenAPI document in JSON; empty if it is not JSON.
    pub fn read(document: &str) -> Self {
        let document: Value = serde_json::from_str(document).unwrap_or_default();
        let sections = list(&document["tags"]).iter();
        let types = members(&document["components"]["schemas"]);
        Self {
            sections: sections
                .map(|tag| SectionShown::of(tag, &document))
                .collect(),
            types: types
                .map(|(name, schema)| SchemaShown::of(name, schema))
                .collect(),
        }
    }
}

impl SectionShown {
    fn of(tag: &Value, document: &Value) -> Self {
        let paths = members(&document["paths"]);
        let operations = paths.flat_map(|(path, item)| {
            let methods = METHODS.into_iter();
            methods.filter_map(move |method| Some((path, method, item.get(method)?)))
        });
        let tagged =
            operations.filter(|(.., operation)| list(&operation["tags"]).contains(&tag["name"]));
        Self {
            name: text(tag, "name"),
            description: text(tag, "description"),
            operations: tagged
                .map(|(path, method, operation)| OperationShown::of(path, method, operation))
                .collect(),
        }
    }
}

impl OperationShown {
    fn of(path: &str, method: &str, operation: &Value) -> Self {
        let request = BodyShown::all(&operation["requestBody"]).into_iter().next();
        let parameters: Vec<MemberShown> = list(&operation["parameters"])
            .iter()
            .map(MemberShown::parameter)
            .collect();
        let right = right(&operation["security"]);
        let mut call = CallLine::of(path, &parameters);
        call.add_request(
            method,
            operation["security"] != Value::Array(Vec::new()),
            request.as_ref(),
        );
        Self {
            name: text(operation, "operationId"),
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            summary: text(operation, "summary"),
            details: text(operation, "description"),
            right,
            parameters,
            request,
            responses: members(&operation["responses"])
                .map(|(status, response)| ResponseShown {
                    status: status.clone(),
                    bodies: BodyShown::all(response),
                })
                .collect(),
            call,
        }
    }
}

/// The token that an operation needs, for people.
fn right(security: &Value) -> &'static str {
    let alternatives = list(security);
    let takes = |name: &str| alternatives.iter().any(|one| one.get(name).is_some());
    let open = alternatives.iter().any(|one| members(one).next().is_none());
    match (takes("operator"), takes("wallet"), open) {
        (true, _, false) => "The operator’s token",
        (true, _, true) => "The operator’s token, unless the operator lets everyone in",
        (_, true, _) => "A person’s session token",
        _ => "No token",
    }
}

impl CallLine {
    fn of(path: &str, parameters: &[MemberShown]) -> Self {
        let mut address = path.to_owned();
        let mut query = Vec::new();
        for parameter in parameters.iter().filter(|parameter| parameter.required) {
            let value = parameter.name.to_uppercase();
            match parameter.place.as_str() {
                "path" => address = address.replace(&format!("{{{}}}", parameter.name), &value),
                _ => query.push(format!("{}={value}", parameter.name)),
            }
        }
        if !query.is_empty() {
            address = format!("{address}?{}", query.join("&"));
        }
        Self {
            before: "curl '".to_owned(),
            after: format!("{address}'"),
        }
    }

    fn add_request(&mut self, method: &str, needs_token: bool, request: Option<&BodyShown>) {
        if method != "get" {
            self.before = format!("curl -X {} '", method.to_ascii_uppercase());
        }
        if needs_token {
            self.after += " \\\n  -H \"Authorization: Bearer $TOKEN\"";
        }
        let Some(body) = request else { return };
        self.after += &format!(" \\\n  -H 'Content-Type: {}'", body.content_type);
        self.after += &match &body.example {
            Some(example) => format!(" \\\n  -d '{}'", example.replace('\'', "'\\''")),
            None => " \\\n  --data-binary @FILE".to_owned(),
        };
    }
}

impl MemberShown {
    fn parameter(parameter: &Value) -> Self {
        Self {
            name: text(parameter, "name"),
            place: text(parameter, "in"),
            kind: Kind::of(&parameter["schema"]),
            required: parameter["required"] == true,
            description: text(parameter, "description"),
        }
    }
}

impl BodyShown {
    /// The bodies of a request or a response, one for each content type.
    fn all(described: &Value) -> Vec<Self> {
        let contents = members(&described["content"]);
        let bodies = contents.map(|(content_type, content)| Self {
            content_type: content_type.clone(),
            kind: Kind::of(&content["schema"]),
            example: content
                .get("example")
                .and_then(|example| serde_json::to_string_pretty(example).ok()),
        });
        bodies.collect()
    }
}

impl SchemaShown {
    fn of(name: &str, schema: &Value) -> Self {
        let required = list(&schema["required"]);
        let shown = members(&schema["properties"]).map(|(name, member)| MemberShown {
            name: name.clone(),
            place: String::new(),
            kind: Kind::of(member),
            required: required.iter().any(|required| required == name),
            description: text(member, "description"),
        });
        Self {
            name: name.to_owned(),
            description: text(schema, "description"),
            words: kind::words(schema),
            members: shown.collect(),
        }
    }
}
