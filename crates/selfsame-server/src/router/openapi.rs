//! `/openapi.json`: describes the API and everything else that is served to programs.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use axum::response::IntoResponse as _;
use http::Method;
use http::header::CONTENT_TYPE;
use selfsame_app::config::Roles;
use selfsame_http::route::openapi::{
    Access, Example, ProblemDetails, ProtocolError, add, add_tokens, refer_to_entries,
};
use selfsame_operators::Needed;
use utoipa::OpenApi;

use super::group::Routes;
use super::groups;
use crate::error::Handled;

/// The OpenAPI description.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Selfsame",
        description = "Issue, hold, present, verify and revoke credentials: everything the pages do. `wallet` takes the token of a person's session; the other resources take an API key or the operator token, and each operation states the right that it needs. Endpoints of standard protocols are included, each with the specification that defines it.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    servers((url = "/", description = "The instance that serves this description.")),
    tags(
        (name = "issuer", description = "Offer credentials, list the issued ones, and revoke them."),
        (name = "verifier", description = "Request presentations, and read their verdicts."),
        (name = "wallet", description = "A person's wallet: accounts, offers, requests, cards, keys."),
        (name = "dids", description = "The DIDs of the instance itself."),
        (name = "organisations", description = "The organisations that the instance hosts beside its first one."),
        (name = "people", description = "The people who work for an organisation, their roles, and API keys."),
        (name = "audit", description = "The audit trail of an organisation: who did what, when, from where."),
        (name = "book", description = "The credential book: a public register of credentials about others, as OrgBook's API shows it, and its entries."),
        (name = "types", description = "Credential types: drafts, versions, and the documents of each version."),
        (name = "webhooks", description = "Events sent to other programs, and their deliveries."),
        (name = "wire", description = "What happened on the wire: the recorded messages of issuances, presentations and sign-ins."),
        (name = "registry", description = "Read, verify and write the verifiable registry."),
        (name = "instance", description = "The status of the instance, its backups, and the operator's sign-in."),
        (name = "issuance", description = "OpenID4VCI: how any wallet receives a credential. Includes status lists."),
        (name = "vc-api", description = "W3C credentials and presentations, signed and verified as documents by the W3C's HTTP API."),
        (name = "presentation", description = "OpenID4VP: how any wallet presents a credential."),
        (name = "sign-in", description = "OpenID Connect: applications have people sign in here. Includes an organisation's clients."),
        (name = "esignet", description = "Sign-in as eSignet's clients and user interface call it. Served if the settings say so."),
        (name = "mock-identity-system", description = "The mock identity system, at the addresses of MOSIP's. Served if the settings say so."),
        (name = "remote-wallet", description = "Rows of Indy wallets of the type `remote`, at the addresses of TheOrgBook's key-value service of 2018. Served if the settings say so; takes an API key as `Authorization: Token`."),
        (name = "resolution", description = "Resolve DIDs; the DID documents that are hosted here."),
        (name = "tails", description = "The tails files of AnonCreds revocation registries, at the addresses of indy-tails-server, and the proofs of issuers' keys."),
        (name = "von-network", description = "The addresses of a von-network, for tools that know them."),
        (name = "supervision", description = "Health, metrics, and this description."),
    ),
    components(schemas(ProblemDetails, ProtocolError, selfsame_wallet::CardOrder, selfsame_wallet::GroupBy))
)]
struct DocumentDescription;

/// The examples of bodies, by the operations' names.
pub fn examples() -> BTreeMap<String, Example> {
    serde_json::from_str(include_str!("examples.json")).unwrap_or_default()
}

/// The description of all addresses as JSON, built once.
pub fn text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let mut document = DocumentDescription::openapi();
        add_tokens(&mut document);
        let examples = examples();
        for group in groups(&Roles::ALL) {
            let access = Access {
                face: group.audience.face(),
                token: group.audience.token(),
                open: !group.audience.needs_token(),
                right: None,
            };
            for route in &group.routes {
                let access = Access {
                    right: right(&group, &route.method),
                    ..access.clone()
                };
                add(&mut document, route, access, &examples);
            }
        }
        refer_to_entries(&mut document);
        document.to_pretty_json().unwrap_or_default()
    })
}

/// The right that an address needs, as text.
fn right(group: &Routes, method: &Method) -> Option<String> {
    match group.needed(method)? {
        Needed::Right(right) => Some(right.to_string()),
        Needed::Any => None,
    }
}

/// Serves the description.
pub async fn serve() -> Handled {
    Ok(([(CONTENT_TYPE, "application/json")], text()).into_response())
}
