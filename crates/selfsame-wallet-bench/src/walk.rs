//! The path through all six issuers, walked by a wallet over the public API.

use std::collections::BTreeMap;
use std::time::Instant;

use async_trait::async_trait;
use selfsame_applications::view::{ApplicationState, ShownApplication};
use selfsame_core::organisation::view::OrganisationView;
use selfsame_openid::view::issuer::Offer;
use selfsame_types::{TypeDefinition, TypeSummary};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::business::Business;
use crate::permits::{Office, PERMITS, Permit};

/// The API of an instance, called with somebody's token.
#[async_trait]
pub trait InstanceApi: Send + Sync {
    /// Calls an address and gives the body of the answer.
    async fn call(&self, call: ApiCall<'_>) -> Result<Value, WalkError>;
}

/// A call of the API.
#[derive(Clone, Copy, Debug)]
pub struct ApiCall<'a> {
    /// `GET`, `POST` or `PUT`.
    pub method: &'static str,
    /// The organisation that is called; the first one of the instance without a name.
    pub organisation: Option<&'a str>,
    /// The address below the organisation's.
    pub path: &'a str,
    /// The body; null for none.
    pub body: &'a Value,
}

/// Why a walk ended early: what was refused or went wrong, in words.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct WalkError(pub String);

impl WalkError {
    pub(crate) fn new(told: impl Into<String>) -> Self {
        Self(told.into())
    }
}

/// An office of an organisation, or a wallet: whose token is used, and where.
#[derive(Clone, Copy)]
pub(crate) struct OfficeCaller<'a> {
    pub api: &'a dyn InstanceApi,
    pub organisation: Option<&'a str>,
}

impl OfficeCaller<'_> {
    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, WalkError> {
        self.call("GET", path, &Value::Null).await
    }

    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<T, WalkError> {
        self.call("POST", path, body).await
    }

    async fn put<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, WalkError> {
        self.call("PUT", path, body).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: &'static str,
        path: &str,
        body: &Value,
    ) -> Result<T, WalkError> {
        let call = ApiCall {
            method,
            organisation: self.organisation,
            path,
            body,
        };
        let answer = self.api.call(call).await?;
        serde_json::from_value(answer).map_err(|error| WalkError::new(format!("{path}: {error}")))
    }
}

/// What happened on the path.
#[derive(Debug, Serialize)]
pub struct PermitsStory {
    /// The seed of the business.
    pub seed: u64,
    /// The business that applied.
    pub business: Business,
    /// Each permit, in the order in which it was issued.
    pub steps: Vec<PermitStep>,
    /// What was refused, as it should be.
    pub refused: Vec<RefusedTry>,
}

/// A permit that was issued.
#[derive(Debug, Serialize)]
pub struct PermitStep {
    /// The id of its type.
    pub permit: &'static str,
    /// Its title.
    pub title: String,
    /// Who issued it.
    pub issuer: &'static str,
    /// The titles of the permits that were proven for it.
    pub proven: Vec<String>,
    /// Number of claims that were filled from the proof and by the issuer.
    pub filled: usize,
    /// Number of claims that the business typed.
    pub typed: usize,
    /// Milliseconds from the application to the card in the wallet.
    pub ms: f64,
}

impl PermitsStory {
    /// What was refused, and the end, for people.
    #[must_use]
    pub fn told(&self) -> Vec<String> {
        let refused = self.refused.iter();
        let refused = refused.map(|one| format!("refused: {}: {}", one.tried, one.why));
        let all = format!("{} permits in the wallet", self.steps.len());
        refused.chain([all]).collect()
    }
}

impl PermitStep {
    /// The step for people, in two lines.
    #[must_use]
    pub fn told(&self) -> [String; 2] {
        let proven = match self.proven.as_slice() {
            [] => "needs nothing".to_owned(),
            proven => format!("proven: {}", proven.join(", ")),
        };
        let (title, issuer, ms) = (&self.title, self.issuer, self.ms);
        let (filled, typed) = (self.filled, self.typed);
        [
            format!("  {title:<20} {issuer:<36} {ms:>8.2} ms"),
            format!("    {proven} · {filled} claims filled in, {typed} typed"),
        ]
    }
}

/// Something that was tried and refused.
#[derive(Debug, Serialize)]
pub struct RefusedTry {
    /// What was tried.
    pub tried: &'static str,
    /// Why it was refused.
    pub why: String,
}

/// Creates the six organisations with their types, and walks the path with a person's wallet. Calls `tell` after each
/// permit.
///
/// # Errors
/// The first step that fails, and something that is not refused though it should be.
pub async fn walk(
    operator: &dyn InstanceApi,
    wallet: &dyn InstanceApi,
    seed: u64,
    tell: &mut dyn FnMut(&PermitStep),
) -> Result<PermitsStory, WalkError> {
    found_all(operator).await?;
    let business = Business::of(seed, 0);
    let walker = Walker {
        operator,
        wallet,
        business: &business,
    };
    let mut refused = vec![walker.without_proof().await?];
    let mut steps = Vec::with_capacity(PERMITS.len());
    for permit in &PERMITS {
        let step = walker.step(permit).await;
        let step = step.map_err(|error| WalkError(format!("`{}` failed: {error}", permit.id)))?;
        tell(&step);
        steps.push(step);
    }
    refused.push(walker.with_another_name().await?);
    Ok(PermitsStory {
        seed,
        business,
        steps,
        refused,
    })
}

/// Creates the organisations; each trusts the issuers of what it asks for, and publishes its type. Returns the offices by
/// their permits' ids.
pub(crate) async fn found_all(
    operator: &dyn InstanceApi,
) -> Result<BTreeMap<&'static str, Office>, WalkError> {
    let mut offices: BTreeMap<&str, Office> = BTreeMap::new();
    for permit in &PERMITS {
        let first = OfficeCaller {
            api: operator,
            organisation: None,
        };
        let made = first.founded(permit.organisation, permit.issuer).await?;
        let base = made.identifier.trim_end_matches("/issuer");
        let office = Office {
            title: permit.definition().ok_or_else(broken)?.name().to_owned(),
            issuer: made.did,
            get_at: format!("{base}/get/{}", permit.id),
        };
        offices.insert(permit.id, office);
    }
    for permit in &PERMITS {
        let own = OfficeCaller {
            api: operator,
            organisation: Some(permit.organisation),
        };
        let definition = permit.accepting(&offices).ok_or_else(broken)?;
        let declared = definition.prerequisites.as_deref();
        for need in declared.into_iter().flat_map(|declared| &declared.needs) {
            for issuer in &need.issuers {
                own.trusts(issuer, &need.name, &need.vct_values).await?;
            }
        }
        own.publishes(&definition).await?;
    }
    Ok(offices)
}

/// The file of a type is not valid, which a test detects.
pub(crate) fn broken() -> WalkError {
    WalkError::new("a type's file is not valid")
}

impl OfficeCaller<'_> {
    /// Creates an organisation.
    pub async fn founded(&self, name: &str, title: &str) -> Result<OrganisationView, WalkError> {
        // Their credentials name a DID that wallets resolve without the registry.
        let new = json!({"name": name, "title": title, "samples": false, "did_method": "jwk"});
        self.post("/api/organisations", &new).await
    }

    /// Lets the organisation trust an issuer of these types.
    pub async fn trusts(
        &self,
        issuer: &str,
        name: &str,
        types: &[String],
    ) -> Result<(), WalkError> {
        let trusted = json!({"issuer": issuer, "name": name, "types": types});
        self.post::<Value>("/api/trust", &trusted).await.map(drop)
    }

    /// Publishes a type of the organisation.
    pub async fn publishes(&self, definition: &TypeDefinition) -> Result<(), WalkError> {
        let path = format!("/api/types/{}", definition.id);
        let file = serde_json::to_value(definition);
        let file = file.map_err(|error| WalkError::new(error.to_string()))?;
        let _: TypeSummary = self.put(&path, &file).await?;
        let published = format!("{path}/publish");
        self.post::<TypeSummary>(&published, &json!({}))
            .await
            .map(drop)
    }
}

/// A business on the path, with its wallet.
pub(crate) struct Walker<'a> {
    pub operator: &'a dyn InstanceApi,
    pub wallet: &'a dyn InstanceApi,
    pub business: &'a Business,
}

impl Walker<'_> {
    fn office(&self, permit: &Permit) -> OfficeCaller<'_> {
        OfficeCaller {
            api: self.operator,
            organisation: Some(permit.organisation),
        }
    }

    fn wallet(&self) -> OfficeCaller<'_> {
        OfficeCaller {
            api: self.wallet,
            organisation: None,
        }
    }

    /// Gets a permit into the wallet.
    pub async fn step(&self, permit: &Permit) -> Result<PermitStep, WalkError> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the story shows how long each permit took"
        )]
        let began = Instant::now();
        let shown: TypeSummary = self
            .office(permit)
            .get(&format!("/api/types/{}", permit.id))
            .await?;
        let needs = shown
            .definition
            .as_ref()
            .and_then(|one| one.prerequisites.as_ref());
        let mut step = PermitStep {
            permit: permit.id,
            title: shown.title.clone(),
            issuer: permit.issuer,
            proven: Vec::new(),
            filled: 0,
            typed: 0,
            ms: 0.0,
        };
        let offer = match needs {
            None => self.given(permit, &mut step).await?,
            Some(_) => self.applied(permit, &mut step).await?,
        };
        let taken = json!({"offer": offer.uri});
        let _: Value = self
            .wallet()
            .post("/api/wallet/offers/accept", &taken)
            .await?;
        step.ms = (began.elapsed().as_secs_f64() * 1e5).round() / 1e2;
        Ok(step)
    }

    /// The offer of a permit that needs nothing.
    async fn given(&self, permit: &Permit, step: &mut PermitStep) -> Result<Offer, WalkError> {
        let claims = self.business.incorporation();
        step.typed = claims.len();
        let new = json!({"type": permit.id, "claims": claims});
        self.office(permit).post("/api/issuer/offers", &new).await
    }

    /// The offer of a permit whose needed ones were proven.
    async fn applied(&self, permit: &Permit, step: &mut PermitStep) -> Result<Offer, WalkError> {
        let application = self.proves(permit).await?;
        if application.state != ApplicationState::Proven {
            let reasons: Vec<String> = application.unmet.iter().map(ToString::to_string).collect();
            return Err(WalkError::new(format!("refused: {}", reasons.join("; "))));
        }
        let typed = self.business.typed(permit.id);
        step.proven = application
            .needs
            .iter()
            .map(|need| need.title.clone())
            .collect();
        (step.filled, step.typed) = (application.claims.len(), typed.len());
        self.submits(permit, &application.id, typed).await
    }

    /// Begins an application, and answers with the wallet.
    async fn proves(&self, permit: &Permit) -> Result<ShownApplication, WalkError> {
        let office = self.office(permit);
        let new = json!({"type": permit.id});
        let begun: ShownApplication = office.post("/api/issuer/applications", &new).await?;
        let answer = json!({"request": begun.uri, "policy": "newest"});
        let _: Value = self
            .wallet()
            .post("/api/wallet/requests/answer", &answer)
            .await?;
        office
            .get(&format!("/api/issuer/applications/{}", begun.id))
            .await
    }

    async fn submits(
        &self,
        permit: &Permit,
        application: &str,
        claims: Map<String, Value>,
    ) -> Result<Offer, WalkError> {
        let path = format!("/api/issuer/applications/{application}/offer");
        let form = json!({"claims": claims});
        self.office(permit).post(&path, &form).await
    }

    /// Somebody at the office makes an offer without a proof.
    async fn without_proof(&self) -> Result<RefusedTry, WalkError> {
        let [_, letter, ..] = &PERMITS;
        let new = json!({"type": letter.id, "examples": true});
        let made: Result<Offer, WalkError> =
            self.office(letter).post("/api/issuer/offers", &new).await;
        refusal("an offer without a proof", made)
    }

    /// The form comes back with the name of another business.
    async fn with_another_name(&self) -> Result<RefusedTry, WalkError> {
        let [.., license] = &PERMITS;
        let application = self.proves(license).await?;
        let mut form = self.business.typed(license.id);
        form.insert("legal_name".to_owned(), "Another Business Ltd.".into());
        let made = self.submits(license, &application.id, form).await;
        refusal("a form with another name than was proven", made)
    }
}

fn refusal(tried: &'static str, made: Result<Offer, WalkError>) -> Result<RefusedTry, WalkError> {
    match made {
        Ok(_) => Err(WalkError::new(format!("{tried} was not refused"))),
        Err(failure) => {
            let why = failure.0;
            Ok(RefusedTry { tried, why })
        }
    }
}
