//! The reference of the API: the OpenAPI description as a page.

mod kind;

use std::sync::LazyLock;

use askama::Template;
use axum::extract::State;
use serde_json::Value;

use super::Frame;
use crate::error::Handled;
use crate::router::openapi;
use crate::server::Server;
use kind::Kind;

const METHODS: [&str; 4] = ["get", "post", "put", "delete"];

#[derive(Template)]
#[template(path = "reference.html")]
struct ReferencePage {
    frame: Frame,
    /// The base of the addresses, without a slash at its end.
    origin: String,
    reference: &'static Reference,
}

/// Everything that the page says, whatever the instance.
struct Reference {
    sections: Vec<Section>,
    types: Vec<SchemaShown>,
}

/// The operations with one tag.
struct Section {
    name: String,
    description: String,
    operations: Vec<OperationShown>,
}

struct OperationShown {
    name: String,
    method: String,
    path: String,
    summary: String,
    details: String,
    /// The token that it needs.
    right: &'static str,
    parameters: Vec<Member>,
    request: Option<Body>,
    responses: Vec<ResponseShown>,
    call: Call,
}

/// A command that calls an operation, in two parts with the origin between them.
struct Call {
    before: String,
    after: String,
}

/// A parameter, or a member of an object.
struct Member {
    name: String,
    /// Where a parameter is sent: `path` or `query`.
    place: String,
    kind: Kind,
    required: bool,
    description: String,
}

struct Body {
    content_type: String,
    kind: Kind,
    example: Option<String>,
}

struct ResponseShown {
    status: String,
    bodies: Vec<Body>,
}

/// A type of the description's components.
struct SchemaShown {
    name: String,
    description: String,
    words: Vec<String>,
    members: Vec<Member>,
}

/// The page.
pub async fn page(State(server): State<Server>, frame: Frame) -> Handled {
    static REFERENCE: LazyLock<Reference> = LazyLock::new(Reference::read);
    let origin = server.app().config().origin.as_str();
    super::html(&ReferencePage {
        frame: frame.titled("API reference"),
        origin: origin.trim_end_matches('/').to_owned(),
        reference: &REFERENCE,
    })
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

impl Reference {
    fn read() -> Self {
        let document: Value = serde_json::from_str(openapi::text()).unwrap_or_default();
        let sections = list(&document["tags"]).iter();
        let types = members(&document["components"]["schemas"]);
        Self {
            sections: sections.map(|tag| Section::of(tag, &document)).collect(),
            types: types
                .map(|(name, schema)| SchemaShown::of(name, schema))
                .collect(),
        }
    }
}

impl Section {
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
        let request = Body::all(&operation["requestBody"]).into_iter().next();
        let parameters: Vec<Member> = list(&operation["parameters"])
            .iter()
            .map(Member::parameter)
            .collect();
        let right = right(&operation["security"]);
        let mut call = Call::of(path, &parameters);
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
                    bodies: Body::all(response),
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

impl Call {
    fn of(path: &str, parameters: &[Member]) -> Self {
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

    fn add_request(&mut self, method: &str, needs_token: bool, request: Option<&Body>) {
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

impl Member {
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

impl Body {
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
        let shown = members(&schema["properties"]).map(|(name, member)| Member {
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
