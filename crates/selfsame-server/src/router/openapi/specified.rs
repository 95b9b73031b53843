//! The addresses beside the API, for `/openapi.json`. A specification or a document describes their bodies; each
//! entry says where.

use std::collections::BTreeMap;

use selfsame_app::config::Roles;
use utoipa::Modify;
use utoipa::openapi::path::{
    HttpMethod, Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn,
};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{Object, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Content, ObjectBuilder, Required, Response, ResponseBuilder};

use crate::error::Face;
use crate::router;

const JSON: &str = "application/json";
const JWT: &str = "application/jwt";
const FORM: &str = "application/x-www-form-urlencoded";
const CBOR: &str = "application/cbor";
const TEXT: &str = "text/plain";
const PROBLEM: &str = "application/problem+json";
const DID_DOCUMENT: &str = "application/did";
const RESOLUTION: &str = "application/did-resolution";
const DEREFERENCING: &str = "application/did-url-dereferencing";
const REQUEST_OBJECT: &str = "application/oauth-authz-req+jwt";

/// The authentication of an operation.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Door {
    Open,
    Operator,
}

/// One operation.
struct Specified {
    method: &'static str,
    path: &'static str,
    /// Its summary.
    what: &'static str,
    /// Where its bodies are specified.
    by: &'static str,
    /// The parameters of its query; a `?` marks the optional ones.
    query: &'static [&'static str],
    takes: Option<&'static str>,
    gives: &'static str,
    /// Other content types of its response.
    or: &'static [&'static str],
    /// The format of its own errors, beside those of its group of addresses.
    refuses: &'static [&'static str],
    door: Door,
}

const fn get(path: &'static str, gives: &'static str, what: &'static str) -> Specified {
    Specified {
        method: "GET",
        path,
        what,
        by: "",
        query: &[],
        takes: None,
        gives,
        or: &[],
        refuses: &[],
        door: Door::Open,
    }
}

const fn post(path: &'static str, gives: &'static str, what: &'static str) -> Specified {
    Specified {
        method: "POST",
        ..get(path, gives, what)
    }
}

impl Specified {
    const fn by(mut self, by: &'static str) -> Self {
        self.by = by;
        self
    }

    const fn asks(mut self, query: &'static [&'static str]) -> Self {
        self.query = query;
        self
    }

    const fn takes(mut self, takes: &'static str) -> Self {
        self.takes = Some(takes);
        self
    }

    const fn or(mut self, or: &'static [&'static str]) -> Self {
        self.or = or;
        self
    }

    const fn refuses(mut self, refuses: &'static [&'static str]) -> Self {
        self.refuses = refuses;
        self
    }

    const fn of_the_operator(mut self) -> Self {
        self.door = Door::Operator;
        self
    }
}

const SUPERVISION: [Specified; 4] = [
    get(
        "/livez",
        TEXT,
        "Whether the process is alive; 503 while an event loop is stuck.",
    ),
    get(
        "/readyz",
        TEXT,
        "Whether the instance is ready to serve requests; 503 if not.",
    ),
    get(
        "/metrics",
        TEXT,
        "Metrics, for the operator and for this machine; 401 for others.",
    )
    .by("Prometheus text format 0.0.4"),
    get("/openapi.json", JSON, "This description.").by("OpenAPI 3.1"),
];

const DIDS: [Specified; 4] = [
    get(
        "/1.0/identifiers/{did}",
        RESOLUTION,
        "Resolves a DID, or dereferences a DID URL of a linked resource; the document alone if `Accept` asks for it.",
    )
    .by("DID Resolution §7.1")
    .asks(&["versionId?", "versionTime?"])
    .or(&[
        DID_DOCUMENT,
        "application/did+json",
        "application/did+ld+json",
        DEREFERENCING,
    ])
    .refuses(&[RESOLUTION, DEREFERENCING]),
    get("/dids/{name}/did.json", DID_DOCUMENT, "A did:web document that the operator hosts here.").by("did:web"),
    get("/issuer/did.json", DID_DOCUMENT, "The issuer's did:web document.").by("did:web"),
    get("/verifier/did.json", DID_DOCUMENT, "The verifier's did:web document.").by("did:web"),
];

const ISSUANCE: [Specified; 11] = [
    get(
        "/.well-known/openid-credential-issuer/issuer",
        JSON,
        "The issuer's metadata.",
    )
    .by("OpenID4VCI 1.0 §12.2"),
    get(
        "/.well-known/oauth-authorization-server/issuer",
        JSON,
        "The authorization server's metadata.",
    )
    .by("RFC 8414"),
    get(
        "/.well-known/jwt-vc-issuer/issuer",
        JSON,
        "The keys that SD-JWT VCs are signed with.",
    )
    .by("SD-JWT VC, JWT VC Issuer Metadata"),
    get(
        "/issuer/offers/{id}",
        JSON,
        "An offer by reference; 410 once it has ended.",
    )
    .by("OpenID4VCI 1.0 §4.1.3"),
    post("/issuer/token", JSON, "Redeems a pre-authorized code.")
        .by("OpenID4VCI 1.0 §6")
        .takes(FORM),
    post("/issuer/nonce", JSON, "A nonce for proofs.").by("OpenID4VCI 1.0 §7"),
    post(
        "/issuer/credential",
        JSON,
        "Credentials, for an access token and proofs.",
    )
    .by("OpenID4VCI 1.0 §8")
    .takes(JSON),
    get(
        "/status/{list}",
        "application/statuslist+jwt",
        "A signed Token Status List.",
    )
    .by("Token Status List §8"),
    get(
        "/status/{list}/token",
        "application/statuslist+jwt",
        "The Token Status List, signed as W3C credentials are.",
    )
    .by("Token Status List §8"),
    get(
        "/status/{list}/registry",
        "application/statuslist+jwt",
        "The Token Status List, signed by the issuer's DID in the registry, for single-use credentials.",
    )
    .by("Token Status List §8"),
    get(
        "/status/{list}/{purpose}",
        JWT,
        "A signed Bitstring Status List of one purpose.",
    )
    .by("Bitstring Status List 1.0"),
];

const PRESENTATION: [Specified; 3] = [
    get(
        "/verifier/requests/{id}",
        REQUEST_OBJECT,
        "A signed request object; 410 once it has ended.",
    )
    .by("OpenID4VP 1.0 §5.10"),
    post(
        "/verifier/requests/{id}",
        REQUEST_OBJECT,
        "A signed request object with the wallet's nonce.",
    )
    .by("OpenID4VP 1.0 §5.10")
    .takes(FORM),
    post("/verifier/responses/{id}", JSON, "A wallet's response.")
        .by("OpenID4VP 1.0 §8.2")
        .takes(FORM),
];

const REGISTRY: [Specified; 9] = [
    get("/registry/genesis", CBOR, "The network's genesis.").by("docs/registry.md"),
    get(
        "/registry/checkpoint",
        TEXT,
        "The newest signed checkpoint.",
    )
    .by("C2SP tlog-checkpoint"),
    get(
        "/registry/read",
        CBOR,
        "An object of the state with its proof.",
    )
    .by("docs/registry.md")
    .asks(&["key", "trusted_height?"]),
    get(
        "/registry/reads",
        CBOR,
        "An object of the state and the objects that it leads to, with proofs: for a DID, its present version and its first.",
    )
    .by("docs/registry.md")
    .asks(&["key", "trusted_height?"]),
    get(
        "/registry/log",
        CBOR,
        "Transactions with the proofs that they are in the log.",
    )
    .by("docs/registry.md")
    .asks(&["numbers", "trusted_height?"]),
    get(
        "/registry/inclusion/{seq_no}",
        JSON,
        "The proof that a transaction is in the log.",
    )
    .by("RFC 9162 §2.1.3"),
    get(
        "/registry/consistency",
        "application/octet-stream",
        "The proof that the log of one size extends the log of another.",
    )
    .by("RFC 9162 §2.1.4")
    .asks(&["old", "new"]),
    post(
        "/registry/engine",
        JSON,
        "Headers and validators of the consensus engine, for nodes that join.",
    )
    .by("CometBFT RPC")
    .takes(JSON),
    post(
        "/registry/transactions",
        JSON,
        "Submits a signed transaction; submitting it again returns its first receipt.",
    )
    .by("docs/registry-objects.md")
    .takes(CBOR)
    .of_the_operator(),
];

const VON_NETWORK: [Specified; 7] = [
    get(
        "/genesis",
        TEXT,
        "The trust root and the network's genesis, one JSON object per line.",
    )
    .by("docs/registry-pages.md"),
    get(
        "/status",
        JSON,
        "The status of the registry; with `validators`, also of each validator.",
    )
    .by("docs/registry-pages.md")
    .asks(&["validators?"]),
    get("/status/text", TEXT, "The validators as plain text.").by("docs/registry-pages.md"),
    get("/ledger/{ledger}", JSON, "A page of one of Indy's ledgers.")
        .by("docs/registry-pages.md")
        .asks(&["page?", "page_size?", "query?", "type?"]),
    get("/ledger/{ledger}/text", TEXT, "A page of one of Indy's ledgers as plain text.")
        .by("docs/registry-pages.md")
        .asks(&["page?", "page_size?", "query?", "type?"]),
    get(
        "/ledger/{ledger}/{transaction}",
        JSON,
        "One transaction, by its number or its hash.",
    )
    .by("docs/registry-pages.md"),
    post(
        "/register",
        JSON,
        "Registers a DID by seed or key; for the operator, or for everyone if the operator allows it.",
    )
    .by("docs/registry-pages.md")
    .takes(JSON),
];

/// Adds all of these operations to the description.
pub struct Others;

impl Modify for Others {
    fn modify(&self, description: &mut utoipa::openapi::OpenApi) {
        let groups: [(&str, &[Specified]); 6] = [
            ("supervision", &SUPERVISION),
            ("resolution", &DIDS),
            ("issuance", &ISSUANCE),
            ("presentation", &PRESENTATION),
            ("registry", &REGISTRY),
            ("von-network", &VON_NETWORK),
        ];
        let faces = faces();
        for (tag, operations) in groups {
            for one in operations {
                let method = match one.method {
                    "POST" => HttpMethod::Post,
                    _ => HttpMethod::Get,
                };
                let face = faces.get(one.path).copied().unwrap_or(Face::Api);
                let operation = one.described(tag, face);
                (description.paths).add_path_operation(one.path, vec![method], operation);
            }
        }
    }
}

/// The error format of each address.
fn faces() -> BTreeMap<String, Face> {
    let groups = router::groups(&Roles::ALL).into_iter();
    let faces = groups.flat_map(|group| {
        let face = group.audience.face();
        let routes = group.routes.into_iter();
        routes.map(move |route| (route.path.replace("{*", "{"), face))
    });
    faces.collect()
}

impl Specified {
    fn described(&self, tag: &str, face: Face) -> Operation {
        let specified = (!self.by.is_empty()).then(|| format!("Specified by {}.", self.by));
        let body = self.takes.map(|kind| {
            RequestBodyBuilder::new()
                .content(kind, any())
                .required(Some(Required::True))
                .build()
        });
        let mut operation = OperationBuilder::new()
            .tag(tag)
            .summary(Some(self.what))
            .description(specified)
            .request_body(body)
            .response("200", answer("The requested content.", self.gives, self.or))
            .response("default", answer("The error.", written(face), self.refuses));
        // An empty list lets everyone in (OpenAPI 3.1, Operation Object); an absent list means the default.
        if self.door == Door::Open {
            operation = operation.securities(Some(Vec::<SecurityRequirement>::new()));
        }
        let parameters = self.path_parameters().chain(self.query_parameters());
        operation.parameters(Some(parameters)).build()
    }

    fn path_parameters(&self) -> impl Iterator<Item = Parameter> {
        let names = self.path.split('/').filter_map(|segment| {
            let name = segment.strip_prefix('{')?;
            name.strip_suffix('}')
        });
        names.map(|name| parameter(name, ParameterIn::Path, Required::True))
    }

    fn query_parameters(&self) -> impl Iterator<Item = Parameter> {
        self.query.iter().map(|name| match name.strip_suffix('?') {
            Some(name) => parameter(name, ParameterIn::Query, Required::False),
            None => parameter(name, ParameterIn::Query, Required::True),
        })
    }
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
        Face::Protocol => JSON,
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
            .schema_type(utoipa::openapi::schema::SchemaType::AnyValue)
            .build(),
    ))
}
