//! `/openapi.json`: describes the API and everything else that is served to programs.

mod specified;

use std::sync::OnceLock;

use axum::response::IntoResponse as _;
use http::header::CONTENT_TYPE;
use serde::Serialize;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Content, RefOr, Required, ResponseBuilder};
use utoipa::{Modify, OpenApi, ToSchema};

use self::specified::Others;
use crate::api::{dids, instance, issuer, registry, verifier, wallet};
use crate::error::Answer;

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
    /// What that person can do about it.
    hint: Option<String>,
}

/// The OpenAPI description.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Selfsame",
        description = "Issue, hold, present, verify and revoke credentials: everything the pages do. \
            `issuer`, `verifier`, `dids`, `registry` and `instance` take the operator's token, `wallet` a person's. \
            Endpoints of standard protocols are included, each with the specification that defines it.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    paths(
        issuer::templates, issuer::create_offer, issuer::offers, issuer::offer, issuer::credentials,
        issuer::credential, issuer::set_status,
        issuer::delegate, issuer::delegations, issuer::withdraw_delegation,
        verifier::create, verifier::list, verifier::one, verifier::events, verifier::recheck, verifier::revoke,
        verifier::verify,
        wallet::register, wallet::invite, wallet::sign_in, wallet::sign_out, wallet::preview_offer, wallet::accept_offer,
        wallet::preview_request, wallet::answer_request, wallet::decline_request, wallet::cards, wallet::card,
        wallet::delete_card, wallet::history, wallet::keys, wallet::create_key, wallet::dids, wallet::create_did,
        dids::create, dids::list, dids::rotate, dids::deactivate,
        registry::status,
        registry::node,
        registry::clock,
        registry::confirm_clock,
        registry::entries,
        registry::history,
        instance::status, instance::copy, instance::link,
    ),
    components(schemas(ProblemDetails)),
    modifiers(&Common, &Others),
)]
struct Description;

/// The parts common to every operation: the bearer token, and the error format.
struct Common;

impl Modify for Common {
    fn modify(&self, description: &mut utoipa::openapi::OpenApi) {
        let components = description.components.get_or_insert_default();
        components.add_security_scheme(
            "token",
            SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)),
        );
        description.security = Some(vec![SecurityRequirement::new("token", [""; 0])]);
        let problem = ResponseBuilder::new()
            .description("The error.")
            .content(
                "application/problem+json",
                Content::new(Some(reference("Problem"))),
            )
            .build();
        for item in description.paths.paths.values_mut() {
            let operations = [
                &mut item.get,
                &mut item.post,
                &mut item.put,
                &mut item.delete,
            ];
            for operation in operations.into_iter().flatten() {
                operation
                    .responses
                    .responses
                    .insert("default".to_owned(), RefOr::T(problem.clone()));
                if let Some(body) = &mut operation.request_body {
                    body.required = Some(Required::True);
                }
            }
        }
    }
}

fn reference(name: &str) -> utoipa::openapi::Ref {
    utoipa::openapi::Ref::from_schema_name(name)
}

/// The description as JSON, built once.
pub fn text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| Description::openapi().to_pretty_json().unwrap_or_default())
}

/// Serves the description.
pub async fn serve() -> Answer {
    Ok(([(CONTENT_TYPE, "application/json")], text()).into_response())
}
