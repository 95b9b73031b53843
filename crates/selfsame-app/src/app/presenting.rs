//! The verifiers of organisations, for people who sign in with a credential.

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_asked::definition::{RequestDefinition, RequestPolicy};
use selfsame_credential::Format;
use selfsame_credential::format::Profile;
use selfsame_credential::verdict::Outcome;
use selfsame_driver::{Error, Result};
use selfsame_identity::presentation::{
    AnswerPlace, OpenedPresentation, PresentationAnswer, PresentationDesk, ReturnedBrowser,
    ShownCredential, WantedCredential, WantedPresentation,
};
use selfsame_openid::Roles;
use selfsame_openid::verifier::Verifier;
use selfsame_openid::view::verifier::{RequestState, VerificationStatus};
use selfsame_saved_requests::{AskingPage, SavedRequests};
use selfsame_store::TenantId;
use serde_json::{Value, json};

/// The name of what is asked, among the requests of the verifier.
const NAME: &str = "sign-in";
const TITLE: &str = "Sign-in";

/// The verifiers of the organisations of an instance.
pub(super) struct VerifierDesk(pub Arc<Roles>);

impl VerifierDesk {
    /// The verifier of the organisation whose provider has this tenant.
    async fn verifier(&self, tenant: &TenantId) -> Result<Arc<Verifier>> {
        let roles = &self.0;
        if *tenant == roles.main.organisation.issuer {
            return roles.main.verifier().cloned();
        }
        let hosted = roles.organisations().of_tenant(tenant).await?;
        let hosted = hosted.ok_or_else(|| Error::not_found("address-unknown"))?;
        roles.of(&hosted).await?.verifier().cloned()
    }
}

#[async_trait]
impl PresentationDesk for VerifierDesk {
    async fn check(&self, tenant: &TenantId, wanted: &WantedPresentation) -> Result<()> {
        let verifier = self.verifier(tenant).await?;
        let definition = definition(wanted, false)?;
        SavedRequests::of(&verifier)
            .check(&definition)
            .await
            .map(drop)
    }

    async fn open(
        &self,
        tenant: &TenantId,
        wanted: &WantedPresentation,
        place: &AnswerPlace,
    ) -> Result<OpenedPresentation> {
        let verifier = self.verifier(tenant).await?;
        let definition = definition(wanted, place.is_here)?;
        let page = AskingPage {
            path: &place.page,
            browser: &place.browser,
        };
        let made = SavedRequests::of(&verifier)
            .ask_on_page(definition, &page)
            .await?;
        Ok(OpenedPresentation {
            id: made.id,
            uri: made.uri,
        })
    }

    async fn answer(&self, tenant: &TenantId, id: &str) -> Result<PresentationAnswer> {
        let verifier = self.verifier(tenant).await?;
        Ok(answer(verifier.request(id).await?))
    }

    async fn returned(
        &self,
        tenant: &TenantId,
        back: &ReturnedBrowser<'_>,
    ) -> Result<PresentationAnswer> {
        let verifier = self.verifier(tenant).await?;
        let status = verifier.same_device_result(back.id, back.code, back.browser.expose());
        Ok(answer(status.await?))
    }
}

fn definition(wanted: &WantedPresentation, same_device: bool) -> Result<RequestDefinition> {
    let credentials = wanted.credentials.iter();
    let queries: Vec<Value> = credentials.map(query).collect::<Result<_>>()?;
    let options: Vec<Value> = queries.iter().map(|query| json!([query["id"]])).collect();
    let issuers = wanted.credentials.iter();
    let issuers = issuers.map(|one| (one.kind.clone(), one.issuers.clone()));
    Ok(RequestDefinition {
        name: NAME.to_owned(),
        title: TITLE.to_owned(),
        purpose: wanted.purpose.clone(),
        enabled: true,
        same_device,
        spend: false,
        origins: Vec::new(),
        policy: RequestPolicy {
            max_status_age: None,
            trusted_issuers: issuers.collect(),
        },
        questions: Vec::new(),
        dcql_query: Some(json!({
            "credentials": queries,
            "credential_sets": [{"options": options}],
        })),
    })
}

/// The credential query (OpenID4VP 1.0 §6.1).
fn query(wanted: &WantedCredential) -> Result<Value> {
    let format = match wanted.format.as_deref() {
        None => Format::DEFAULT,
        Some(name) => Format::of_people()
            .find(|format| format.as_str() == name)
            .ok_or_else(|| {
                Error::bad_request("format-unsupported").with("known", &Format::names())
            })?,
    };
    let meta = match format.describe().profile {
        Profile::SdJwtVc => json!({"vct_values": [wanted.kind]}),
        Profile::Mdoc => json!({"doctype_value": wanted.kind}),
        Profile::W3c | Profile::DataIntegrity | Profile::Compact => {
            json!({"type_values": [[wanted.kind]]})
        }
    };
    let id = |number: usize| format!("p{number}");
    let numbered = wanted.paths.iter().enumerate();
    let claims = numbered.map(|(number, path)| json!({"id": id(number), "path": path}));
    let mut query = json!({
        "id": wanted.id,
        "format": format.as_str(),
        "meta": meta,
        "claims": claims.collect::<Vec<_>>(),
    });
    if wanted.choices.len() > 1 {
        let choice = |one: &Vec<usize>| one.iter().copied().map(id).collect::<Vec<_>>();
        query["claim_sets"] = json!(wanted.choices.iter().map(choice).collect::<Vec<_>>());
    }
    Ok(query)
}

fn answer(status: VerificationStatus) -> PresentationAnswer {
    match status.state {
        RequestState::Created | RequestState::Fetched | RequestState::Spending => {
            PresentationAnswer::Awaited
        }
        RequestState::Declined | RequestState::Expired => PresentationAnswer::Over,
        RequestState::Answered => {
            let verdict = status.verdict;
            let verdict = verdict.filter(|verdict| verdict.outcome == Outcome::Valid);
            let shown = verdict.and_then(|verdict| verdict.credentials.into_iter().next());
            let shown = shown.and_then(|one| {
                Some(ShownCredential {
                    query: one.query,
                    issuer: one.credential.and_then(|credential| credential.issuer),
                    claims: one.claims?,
                })
            });
            shown.map_or(PresentationAnswer::Refused, |shown| {
                PresentationAnswer::Shown(Box::new(shown))
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> WantedCredential {
        WantedCredential {
            id: "c0".to_owned(),
            kind: "urn:library:card".to_owned(),
            format: None,
            issuers: vec!["did:web:library.example".to_owned()],
            paths: vec![vec!["name".to_owned()], vec!["number".to_owned()]],
            choices: vec![vec![0, 1], vec![1]],
        }
    }

    fn asked(credentials: Vec<WantedCredential>) -> Result<RequestDefinition> {
        let purpose = "To sign you in".to_owned();
        let wanted = WantedPresentation {
            purpose,
            credentials,
        };
        definition(&wanted, true)
    }

    #[test]
    fn the_query_asks_for_one_of_the_credentials_in_its_own_format() {
        let student = WantedCredential {
            id: "c1".to_owned(),
            kind: "Student".to_owned(),
            format: Some("jwt_vc_json".to_owned()),
            paths: vec![vec!["credentialSubject".to_owned(), "number".to_owned()]],
            choices: vec![vec![0]],
            ..card()
        };
        let asked = asked(vec![card(), student]).unwrap();
        let expected = json!({
            "credentials": [
                {"id": "c0", "format": "dc+sd-jwt", "meta": {"vct_values": ["urn:library:card"]},
                 "claims": [{"id": "p0", "path": ["name"]}, {"id": "p1", "path": ["number"]}],
                 "claim_sets": [["p0", "p1"], ["p1"]]},
                {"id": "c1", "format": "jwt_vc_json", "meta": {"type_values": [["Student"]]},
                 "claims": [{"id": "p0", "path": ["credentialSubject", "number"]}]}
            ],
            "credential_sets": [{"options": [["c0"], ["c1"]]}]
        });
        assert_eq!(asked.dcql_query, Some(expected));
        assert_eq!(asked.policy.trusted_issuers.len(), 2);
    }

    #[test]
    fn a_format_that_nobody_knows_is_refused() {
        let unknown = WantedCredential {
            format: Some("smoke-signals".to_owned()),
            ..card()
        };
        let refused = asked(vec![unknown]).unwrap_err();
        assert_eq!(refused.reason.id(), "format-unsupported");
    }
}
