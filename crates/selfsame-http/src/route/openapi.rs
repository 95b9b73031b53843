//! The OpenAPI document of a list of routes: each describes its operation itself, or names the document that does.

use http::Method;
use serde::Serialize;
use utoipa::openapi::path::{
    HttpMethod, Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn,
};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{Object, Schema, SchemaType, Type};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Content, ObjectBuilder, OpenApi, Ref, RefOr, Required, Response, ResponseBuilder,
};
// utoipa's own routers take the tags of an operation, and the schemas that it refers to, from here too.
use utoipa::__dev::{SchemaReferences, Tags};
use utoipa::{Path, ToSchema};

use super::Route;
use crate::error::Face;

const PROBLEM: &str = "application/problem+json";

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
            or: &[],
            refuses: &[],
        }
    }

    fn described(self, path: &str, face: Face, open: bool) -> Operation {
        let specified = (!self.by.is_empty()).then(|| format!("Specified by {}.", self.by));
        let body = self.takes.map(|kind| {
            RequestBodyBuilder::new()
                .content(kind, any())
                .required(Some(Required::True))
                .build()
        });
        let error = answer("The error.", written(face), self.refuses);
        let mut operation = OperationBuilder::new()
            .tag(self.tag)
            .summary(Some(self.what))
            .description(specified)
            .request_body(body)
            .response("200", answer("The requested content.", self.gives, self.or))
            .response("default", error);
        // An empty list lets everyone in (OpenAPI 3.1, Operation Object); an absent list means the default.
        if open {
            operation = operation.securities(Some(Vec::<SecurityRequirement>::new()));
        }
        let parameters = path_parameters(path).chain(self.query_parameters());
        operation.parameters(Some(parameters)).build()
    }

    fn query_parameters(&self) -> impl Iterator<Item = Parameter> {
        self.query.iter().map(|name| match name.strip_suffix('?') {
            Some(name) => parameter(name, ParameterIn::Query, Required::False),
            None => parameter(name, ParameterIn::Query, Required::True),
        })
    }
}

/// Adds the bearer token, which every operation needs unless it says otherwise.
pub fn need_token(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    components.add_security_scheme(
        "token",
        SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)),
    );
    document.security = Some(vec![SecurityRequirement::new("token", [""; 0])]);
}

/// Adds the operation of a route, if it has a description. `face` is the format of its errors, and `open` says whether
/// it needs no token.
pub fn add<S>(document: &mut OpenApi, route: &Route<S>, face: Face, open: bool) {
    // The document has no notation for a parameter that covers several segments.
    let path = route.path.replace("{*", "{");
    let operation = match route.description {
        None => return,
        Some(Description::Typed(typed)) => {
            let mut schemas = Vec::new();
            (typed.schemas)(&mut schemas);
            let components = document.components.get_or_insert_default();
            components.schemas.extend(schemas);
            typed.described()
        }
        Some(Description::Specified(specified)) => specified.described(&path, face, open),
    };
    let method = match route.method {
        Method::POST => HttpMethod::Post,
        Method::PUT => HttpMethod::Put,
        Method::PATCH => HttpMethod::Patch,
        Method::DELETE => HttpMethod::Delete,
        _ => HttpMethod::Get,
    };
    (document.paths).add_path_operation(&path, vec![method], operation);
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

/// The content type of an address's errors (RFC 6749 §5.2 for protocols).
fn written(face: Face) -> &'static str {
    match face {
        Face::Protocol => "application/json",
        Face::Api | Face::Page(_) => PROBLEM,
    }
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
