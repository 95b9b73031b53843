//! The addresses. Below `/vc-api` they are those of VCALM 1.0.

use axum::extract::FromRequestParts;
use selfsame_http::route::{Route, post, tagged};

use crate::calls::{self, lenient, strict};
use crate::config::RefusedStatus;
use crate::here::VcApiHere;

const JSON: &str = "application/json";
const BY: &str = "VCALM 1.0 (docs/vc-api.md)";

/// The largest body, in bytes.
pub const BODY_MAX: usize = crate::bodies::BODY_MAX;

/// The state of a server that has the API.
pub trait VcApiState: Clone + Send + Sync + 'static {}

impl<S: Clone + Send + Sync + 'static> VcApiState for S {}

/// What signs in the name of an organisation.
pub fn issuing<S: VcApiState>() -> Vec<Route<S>>
where
    VcApiHere: FromRequestParts<S>,
{
    described(vec![
        post("/vc-api/credentials/issue", calls::issue)
            .named("vc_api_issue_credential")
            .gives(JSON, "Signs a credential as it is given.")
            .created(),
        post("/vc-api/credentials/status", calls::status)
            .named("vc_api_set_credential_status")
            .gives(
                JSON,
                "Revokes or suspends a credential, or lifts a suspension.",
            ),
        post("/vc-api/presentations", calls::present)
            .named("vc_api_create_presentation")
            .gives(JSON, "Signs a presentation as it is given.")
            .created(),
    ])
}

/// What verifies for an organisation, with this status for what is not verified.
pub fn verifying<S: VcApiState>(unverified: RefusedStatus) -> Vec<Route<S>>
where
    VcApiHere: FromRequestParts<S>,
{
    let (credential, presentation) = ("/vc-api/credentials/verify", "/vc-api/presentations/verify");
    let [credential, presentation] = match unverified {
        RefusedStatus::BadRequest => [
            post(credential, strict::credential),
            post(presentation, strict::presentation),
        ],
        RefusedStatus::Success => [
            post(credential, lenient::credential),
            post(presentation, lenient::presentation),
        ],
    };
    described(vec![
        credential
            .named("vc_api_verify_credential")
            .gives(
                JSON,
                "Verifies a credential; 400, or 200 if the settings say so, if it is not verified.",
            )
            .abroad(),
        presentation
            .named("vc_api_verify_presentation")
            .gives(
                JSON,
                "Verifies a presentation and its credentials; 400, or 200 if the settings say so, if one is not verified.",
            )
            .abroad(),
        post("/vc-api/challenges", calls::challenge)
            .named("vc_api_create_challenge")
            .gives(JSON, "A challenge that one presentation may answer."),
    ])
}

fn described<S>(routes: Vec<Route<S>>) -> Vec<Route<S>> {
    let routes = routes.into_iter().map(|route| route.by(BY).takes(JSON));
    tagged("vc-api", routes.collect())
}
