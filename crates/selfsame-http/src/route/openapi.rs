//! The OpenAPI document of a list of routes: each describes its operation itself, or names the document that does.

use std::collections::BTreeMap;

use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::openapi::path::{
    HttpMethod, Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn,
};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{ArrayItems, Object, Schema, SchemaType, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Content, ObjectBuilder, OpenApi, Ref, RefOr, Required, Response, ResponseBuilder,
};
// utoipa's own routers take the tags of an operation, and the schemas that it refers to, from here too.
use utoipa::__dev::{SchemaReferences, Tags};
use utoipa::{Path, ToSchema};

use super::Route;
use crate::error::Face;

const PROBLEM: &str = "application/problem+json";
const JSON: &str = "application/json";

/// An error of the API (RFC 9457).
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemDetails {
    /// The status as text.
    title: String,
    /// The HTTP status.
    status: u16,
    /// The error, for the person who must act.
    detail: String,
    /// The specification's code, if there is one, or else one for the status, such as `upstream`.
    code: String,
    /// The id of the reason, the same in every language, such as `offer-over`.
    reason: String,
    /// What that person can do about it.
    hint: Option<String>,
    /// Of a request with many rows or ids: the first that is refused, counted from 1.
    row: Option<usize>,
}

/// An error of a protocol (RFC 6749 §5.2).
#[derive(Serialize, ToSchema)]
pub struct ProtocolError {
    /// The specification's code, such as `invalid_grant`.
    error: String,
    /// The error, for the person who must act.
    error_description: Option<String>,
}

/// A token of the API: each is a security scheme of the description.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Token {
    /// The operator's.
    Operator,
    /// That of a person's session.
    Wallet,
}

impl Token {
    /// Every token.
    pub const ALL: [Self; 2] = [Self::Operator, Self::Wallet];

    /// The name of its security scheme.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Wallet => "wallet",
        }
    }

    /// How to get it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Operator => {
                "An API key, or the operator token. The first start writes the operator token into the file `operator-token` in the data directory."
            }
            Self::Wallet => {
                "The token of a person's session. `wallet_register` and `wallet_sign_in` return it."
            }
        }
    }
}

/// Who may call an operation, and the format of its errors.
#[derive(Clone)]
pub struct Access {
    /// The format of its errors.
    pub face: Face,
    /// The token that it takes.
    pub token: Option<Token>,
    /// Whether it also answers callers without a token.
    pub open: bool,
    /// The right that its caller needs, such as `issuer:write`.
    pub right: Option<String>,
}

impl Access {
    /// The alternatives; an empty list lets everyone in, and so does an empty alternative (OpenAPI 3.1, Operation
    /// Object). The right is a role name of the alternative (Security Requirement Object).
    fn alternatives(self) -> Vec<SecurityRequirement> {
        let token = self
            .token
            .map(|token| SecurityRequirement::new(token.name(), self.right));
        let nothing = (token.is_some() && self.open).then(SecurityRequirement::default);
        token.into_iter().chain(nothing).collect()
    }
}

/// Bodies of an operation, as they are sent.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Example {
    /// The body of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    /// The body of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Value>,
}

impl Example {
    /// Puts the bodies into the operation's JSON contents.
    fn show(self, operation: &mut Operation) {
        let request = operation.request_body.as_mut();
        if let Some(content) = request.and_then(|body| body.content.get_mut(JSON)) {
            content.example = self.request;
        }
        let responses = operation.responses.responses.iter_mut();
        let answers = responses.filter(|(status, _)| status.starts_with('2'));
        for (_, response) in answers {
            if let RefOr::T(response) = response
                && let Some(content) = response.content.get_mut(JSON)
            {
                content.example = self.response.clone();
            }
        }
    }
}

/// The description of a route.
#[derive(Clone, Copy)]
pub enum Description {
    /// An operation whose bodies are described by their types.
    Typed(Typed),
    /// An operation whose bodies are described elsewhere.
    Specified(Specified),
}

/// What `#[utoipa::path]` states of a handler.
pub trait Described: Path + SchemaReferences + Tags<'static> {}

impl<P: Path + SchemaReferences + Tags<'static>> Described for P {}

/// What `#[utoipa::path]` states of one handler, when it is asked for.
#[derive(Clone, Copy)]
pub struct Typed {
    operation: fn() -> Operation,
    tags: fn() -> Vec<&'static str>,
    schemas: fn(&mut Vec<(String, RefOr<Schema>)>),
}

impl Typed {
    /// What it states as `P`.
    pub(crate) fn of<P: Described>() -> Self {
        Self {
            operation: P::operation,
            tags: P::tags,
            schemas: P::schemas,
        }
    }

    /// The operation, with the parts that all of its kind have in common.
    fn described(self) -> Operation {
        let mut operation = (self.operation)();
        let tags = (self.tags)().into_iter().map(str::to_owned);
        operation.tags = Some(tags.collect());
        let error = ResponseBuilder::new()
            .description("The error.")
            .content(
                PROBLEM,
                Content::new(Some(Ref::from_schema_name("Problem"))),
            )
            .build();
        let responses = &mut operation.responses.responses;
        responses.insert("default".to_owned(), RefOr::T(error));
        if let Some(body) = &mut operation.request_body {
            body.required = Some(Required::True);
        }
        operation
    }
}

/// An operation that a specification or a document describes.
#[derive(Clone, Copy)]
pub struct Specified {
    pub(crate) tag: &'static str,
    /// Its summary.
    what: &'static str,
    /// Where its bodies are specified.
    pub(crate) by: &'static str,
    /// The parameters of its query; a `?` marks the optional ones.
    pub(crate) query: &'static [&'static str],
    pub(crate) takes: Option<&'static str>,
    gives: &'static str,
    /// Whether its response says that it made something (201).
    pub(crate) is_created: bool,
    /// Other content types of its response.
    pub(crate) or: &'static [&'static str],
    /// The format of its own errors, beside those of its face.
    pub(crate) refuses: &'static [&'static str],
}

impl Specified {
    /// An operation with this summary, whose response has the content type `gives`.
    pub(crate) fn new(gives: &'static str, what: &'static str) -> Self {
        Self {
            tag: "",
            what,
            by: "",
            query: &[],
            takes: None,
            gives,
            is_created: false,
            or: &[],
            refuses: &[],
        }
    }

    fn described(self, path: &str, face: Face) -> Operation {
        let specified = (!self.by.is_empty()).then(|| format!("Specified by {}.", self.by));
        let body = self.takes.map(|kind| {
            RequestBodyBuilder::new()
                .content(kind, any())
                .required(Some(Required::True))
                .build()
        });
        let (status, response) = match self.is_created {
            true => ("201", "What was made."),
            false => ("200", "The requested content."),
        };
        let operation = OperationBuilder::new()
            .tag(self.tag)
            .summary(Some(self.what))
            .description(specified)
            .request_body(body)
            .response(status, answer(response, self.gives, self.or))
            .response("default", self.error(face));
        let parameters = path_parameters(path).chain(self.query_parameters());
        operation.parameters(Some(parameters)).build()
    }

    /// The error in the format of the face, and in those of the operation itself.
    fn error(&self, face: Face) -> Response {
        let (kind, schema) = match face {
            Face::Protocol => (JSON, "ProtocolError"),
            Face::Text => ("text/plain", "Problem"),
            Face::Api | Face::Page(_) => (PROBLEM, "Problem"),
        };
        let content = Content::new(Some(Ref::from_schema_name(schema)));
        let error = ResponseBuilder::new().description("The error.");
        let described = self.refuses.iter();
        described
            .fold(error.content(kind, content), |error, kind| {
                error.content(*kind, any())
            })
            .build()
    }

    fn query_parameters(&self) -> impl Iterator<Item = Parameter> {
        self.query.iter().map(|name| match name.strip_suffix('?') {
            Some(name) => parameter(name, ParameterIn::Query, Required::False),
            None => parameter(name, ParameterIn::Query, Required::True),
        })
    }
}

/// Adds the bearer tokens that operations may need.
pub fn add_tokens(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    for token in Token::ALL {
        let bearer = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some(token.words()))
            .build();
        components.add_security_scheme(token.name(), SecurityScheme::Http(bearer));
    }
}

/// Adds the operation of a route, if it has a description, with the example that has its name.
pub fn add<S>(
    document: &mut OpenApi,
    route: &Route<S>,
    access: Access,
    examples: &BTreeMap<String, Example>,
) {
    // The document has no notation for a parameter that covers several segments.
    let path = route.path.replace("{*", "{");
    let mut operation = match route.description {
        None => return,
        Some(Description::Typed(typed)) => {
            let mut schemas = Vec::new();
            (typed.schemas)(&mut schemas);
            let components = document.components.get_or_insert_default();
            components.schemas.extend(schemas);
            typed.described()
        }
        Some(Description::Specified(specified)) => specified.described(&path, access.face),
    };
    if !route.name.is_empty() {
        operation.operation_id = Some(route.name.to_owned());
    }
    operation.security = Some(access.alternatives());
    let name = operation.operation_id.as_deref().unwrap_or_default();
    if let Some(example) = examples.get(name).cloned() {
        example.show(&mut operation);
    }
    let method = match route.method {
        Method::POST => HttpMethod::Post,
        Method::PUT => HttpMethod::Put,
        Method::PATCH => HttpMethod::Patch,
        Method::DELETE => HttpMethod::Delete,
        _ => HttpMethod::Get,
    };
    (document.paths).add_path_operation(&path, vec![method], operation);
}

/// Lets the lists in the description refer to the types of their entries. utoipa writes the argument of a generic type
/// in place, and clients would then have a second type for the same thing.
pub fn refer_to_entries(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    let known = components.schemas.clone();
    for (name, schema) in &mut components.schemas {
        let entry = name.split_once('_').map_or("", |(_, entry)| entry);
        if let RefOr::T(Schema::Object(list)) = schema
            && let Some(RefOr::T(Schema::Array(items))) = list.properties.get_mut("items")
            && let ArrayItems::RefOrSchema(inner) = &mut items.items
            && known.get(entry) == Some(&**inner)
        {
            **inner = Ref::from_schema_name(entry).into();
        }
    }
}

fn path_parameters(path: &str) -> impl Iterator<Item = Parameter> {
    let names = path.split('/').filter_map(|segment| {
        let name = segment.strip_prefix('{')?;
        name.strip_suffix('}')
    });
    names.map(|name| parameter(name, ParameterIn::Path, Required::True))
}

fn parameter(name: &str, place: ParameterIn, required: Required) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(required)
        .schema(Some(Object::with_type(Type::String)))
        .build()
}

fn answer(what: &str, kind: &str, others: &[&str]) -> Response {
    let kinds = std::iter::once(&kind).chain(others);
    let described = ResponseBuilder::new().description(what);
    kinds
        .fold(described, |described, kind| described.content(*kind, any()))
        .build()
}

/// A body that is described elsewhere.
fn any() -> Content {
    Content::new(Some(
        ObjectBuilder::new()
            .schema_type(SchemaType::AnyValue)
            .build(),
    ))
}
