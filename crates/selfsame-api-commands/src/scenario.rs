//! The healthcare scenarios over the public API: issue, accept, present, verify, revoke, refuse. One prescription
//! is used up, and the pharmacy revokes another. A driving licence is a mobile document.

use std::time::{Duration, Instant};

use selfsame_core::view::InstanceDid;
use selfsame_credential::verdict::Outcome;
use selfsame_crypto::SecretString;
use selfsame_openid::view::issuer::{IssuedCredential, Offer};
use selfsame_openid::view::verifier::{SpendingState, VerificationStatus};
use selfsame_terminal::exit::Failure;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Client;

/// Maximum seconds from a presentation to its verdict.
const VERDICT: u64 = 20;

/// A scenario by its name on the command line.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Scenario {
    /// A clinic issues a vaccination credential, a border control verifies it, and the clinic revokes it.
    Immunization,
    /// A doctor issues two prescriptions; a pharmacy uses up one, and revokes the other on the doctor's behalf.
    Prescription,
    /// A laboratory issues a report, and a hospital asks whether its holder may give blood to A+: yes or no, and nothing else.
    Blood,
    /// A road office issues a driving licence as a mobile document; a car rental sees two elements and whether its holder is
    /// of age, and the office revokes it.
    Licence,
    /// A clinic issues a record of allergies, a hospital verifies it, and the clinic revokes it.
    Allergies,
    /// The same with clinical notes.
    ClinicalNotes,
    /// The same with a laboratory's results.
    LaboratoryResults,
    /// The same with a record of procedures.
    Procedures,
}

impl Scenario {
    /// The scenario's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Immunization => "immunization",
            Self::Prescription => "prescription",
            Self::Blood => "blood",
            Self::Licence => "licence",
            Self::Allergies => "allergies",
            Self::ClinicalNotes => "clinical-notes",
            Self::LaboratoryResults => "laboratory-results",
            Self::Procedures => "procedures",
        }
    }
}

/// The instances with the four roles; one instance may have all.
pub struct Cast {
    /// The issuer, called with the operator's token.
    pub issuer: Client,
    /// The wallet.
    pub wallet: Client,
    /// The verifier, called with the operator's token.
    pub verifier: Client,
}

/// The result of a scenario, step by step.
#[derive(Debug, Serialize)]
pub struct Story {
    /// The scenario's name.
    pub scenario: &'static str,
    /// Each step with its duration.
    pub steps: Vec<StepTime>,
    /// The verdict on the presentation.
    pub verdict: Outcome,
    /// The verdict on the same credential after it was used up; `None` if the scenario uses nothing up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_spending: Option<Outcome>,
    /// The verdict on a credential after its revocation.
    pub after_revocation: Outcome,
    /// The first verdict in full, for people.
    #[serde(skip)]
    pub first: VerificationStatus,
}

/// A step and its duration.
#[derive(Debug, Serialize)]
pub struct StepTime {
    /// The step's name.
    pub name: &'static str,
    /// Milliseconds.
    pub ms: f64,
}

#[derive(Deserialize)]
struct Session {
    token: String,
}

/// A page of a list.
#[derive(Deserialize)]
pub struct Items<T> {
    /// Its items.
    pub items: Vec<T>,
}

#[derive(Deserialize)]
struct Made {
    id: String,
    uri: String,
}

struct Walk<'a> {
    cast: &'a Cast,
    steps: Vec<StepTime>,
    tell: &'a mut dyn FnMut(&StepTime),
}

/// Runs a scenario; calls `tell` after each step.
///
/// # Errors
/// The first step that fails.
pub async fn play(
    scenario: Scenario,
    cast: &Cast,
    tell: &mut dyn FnMut(&StepTime),
) -> Result<Story, Failure> {
    let mut walk = Walk {
        cast,
        steps: Vec::new(),
        tell,
    };
    let wallet = walk.step("register_holder", register(&cast.wallet)).await?;
    let end = match scenario {
        Scenario::Immunization
        | Scenario::Allergies
        | Scenario::ClinicalNotes
        | Scenario::LaboratoryResults
        | Scenario::Procedures => {
            let name = scenario.name();
            let ask = json!({"type": name, "max_status_age": 0});
            walk.until_revoked(name, &ask, &wallet).await?
        }
        Scenario::Blood => {
            let name = "laboratory-results";
            let answer = json!([["can_give_to", "a_pos"]]);
            let ask = json!({"type": name, "claims": answer, "max_status_age": 0});
            walk.until_revoked(name, &ask, &wallet).await?
        }
        Scenario::Licence => {
            let name = "driving-licence";
            let elements = json!([["family_name"], ["driving_privileges"], ["age_over_18"]]);
            let ask = json!({"type": name, "claims": elements, "max_status_age": 0});
            walk.until_revoked(name, &ask, &wallet).await?
        }
        Scenario::Prescription => walk.prescription(&wallet).await?,
    };
    Ok(Story {
        scenario: scenario.name(),
        verdict: outcome(&end.first)?,
        after_spending: end.spent.as_ref().map(outcome).transpose()?,
        after_revocation: outcome(&end.revoked)?,
        steps: walk.steps,
        first: end.first,
    })
}

/// The results of a scenario's presentations.
struct Ends {
    first: VerificationStatus,
    spent: Option<VerificationStatus>,
    revoked: VerificationStatus,
}

impl Walk<'_> {
    /// A credential of this type is issued, presented, revoked and refused.
    async fn until_revoked(
        &mut self,
        kind: &str,
        ask: &Value,
        wallet: &Client,
    ) -> Result<Ends, Failure> {
        let issuer = &self.cast.issuer;
        let offer = self.issue(["create_offer", "accept_offer"], kind, wallet);
        let offer = offer.await?;
        let first = self.present(["present", "verify"], ask, wallet).await?;
        let issued = issued_from(issuer, &offer.id).await?;
        let path = format!("/api/issuer/credentials/{}/status", issued.id);
        let revoked = json!({"status": "revoked"});
        let revoke = issuer.put(&path, &revoked);
        let _: Value = self.step("revoke", revoke).await?;
        self.step("publish_status", until_published(issuer, &issued.id))
            .await?;
        let names = ["present_again", "refuse"];
        let revoked = self.present(names, ask, wallet).await?;
        Ok(Ends {
            first,
            spent: None,
            revoked,
        })
    }

    /// The doctor delegates using up and revoking to the pharmacy, which dispenses one prescription and revokes
    /// another.
    async fn prescription(&mut self, wallet: &Client) -> Result<Ends, Failure> {
        let name = "prescription";
        let (issuer, verifier) = (&self.cast.issuer, &self.cast.verifier);
        let new = json!({"method": "selfsame"});
        let make = verifier.post("/api/dids", &new);
        let pharmacy: InstanceDid = self.step("create_pharmacy_did", make).await?;
        for (step, action) in [
            ("delegate_use", "consume"),
            ("delegate_revocation", "revoke"),
        ] {
            let new = json!({"to": pharmacy.did, "action": action, "types": [name]});
            let delegate = issuer.post("/api/issuer/delegations", &new);
            let _: Value = self.step(step, delegate).await?;
        }
        let plain = json!({"type": name, "max_status_age": 0});
        let dispense = json!({"type": name, "spend": true, "spender": pharmacy.did});
        self.issue(["create_offer", "accept_offer"], name, wallet)
            .await?;
        let first = self
            .present(["present", "verify_and_spend"], &dispense, wallet)
            .await?;
        done(&first).map_err(|failure| failure.at("step `verify_and_spend` failed"))?;
        let spent = self
            .present(["present_again", "refuse_spent"], &plain, wallet)
            .await?;
        self.issue(["create_second_offer", "accept_second_offer"], name, wallet)
            .await?;
        let look = json!({
            "type": name,
            "claims": [["identifier"], ["medication", "name"], ["single_use_handle"]],
        });
        let shown = self
            .present(["present_second", "verify_second"], &look, wallet)
            .await?;
        let path = format!(
            "/api/verifier/requests/{}/revoke?by={}",
            shown.id, pharmacy.did
        );
        let nothing = json!({});
        let revoke = verifier.post(&path, &nothing);
        let revoked = done(&self.step("revoke_by_delegation", revoke).await?);
        revoked.map_err(|failure| failure.at("step `revoke_by_delegation` failed"))?;
        let names = ["present_second_again", "refuse_revoked"];
        let revoked = self.present(names, &plain, wallet).await?;
        Ok(Ends {
            first,
            spent: Some(spent),
            revoked,
        })
    }

    async fn issue(
        &mut self,
        [create, accept]: [&'static str; 2],
        kind: &str,
        wallet: &Client,
    ) -> Result<Offer, Failure> {
        let new = json!({"type": kind, "examples": true});
        let offering = self.cast.issuer.post("/api/issuer/offers", &new);
        let offer: Offer = self.step(create, offering).await?;
        let taken = json!({"offer": offer.uri});
        let accepting = wallet.post("/api/wallet/offers/accept", &taken);
        let _: Value = self.step(accept, accepting).await?;
        Ok(offer)
    }

    async fn step<T>(
        &mut self,
        name: &'static str,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the scenario shows how long each step took"
        )]
        let began = Instant::now();
        let done = work
            .await
            .map_err(|failure| failure.at(&format!("step `{name}` failed")))?;
        let step = StepTime {
            name,
            ms: (began.elapsed().as_secs_f64() * 1e5).round() / 1e2,
        };
        (self.tell)(&step);
        self.steps.push(step);
        Ok(done)
    }

    async fn present(
        &mut self,
        [present, verify]: [&'static str; 2],
        ask: &Value,
        wallet: &Client,
    ) -> Result<VerificationStatus, Failure> {
        let verifier = &self.cast.verifier;
        let request: Made = verifier.post("/api/verifier/requests", ask).await?;
        let answer = json!({"request": request.uri, "policy": "newest"});
        let _: Value = self
            .step(present, wallet.post("/api/wallet/requests/answer", &answer))
            .await?;
        self.step(verify, verifier.verification(&request.id, VERDICT))
            .await
    }
}

/// Waits until the status list shows the revocation, normally within a second.
async fn until_published(issuer: &Client, id: &str) -> Result<(), Failure> {
    let path = format!("/api/issuer/credentials/{id}");
    for _ in 0..100 {
        let issued: IssuedCredential = issuer.get(&path).await?;
        if issued.published {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(Failure::ours(
        "the status list was not published within five seconds",
    ))
}

/// Registers a person for a demonstration, and gives a client with their session.
pub async fn register(wallet: &Client) -> Result<Client, Failure> {
    // A person for this demonstration only: its password is not kept, so it can't be used to sign in again.
    let nonce = selfsame_crypto::encoding::hex_encode(&selfsame_crypto::seal::random_seed());
    let email = format!(
        "maja.musterfrau+{}@example.org",
        nonce.get(..12).unwrap_or(&nonce)
    );
    let session: Session = wallet
        .post(
            "/api/wallet/register",
            &json!({"email": email, "password": nonce}),
        )
        .await?;
    Ok(wallet.with_token(SecretString::new(session.token)))
}

async fn issued_from(issuer: &Client, offer: &str) -> Result<IssuedCredential, Failure> {
    let path = format!("/api/issuer/credentials?offer={offer}");
    let issued: Items<IssuedCredential> = issuer.get(&path).await?;
    issued
        .items
        .into_iter()
        .next()
        .ok_or_else(|| Failure::ours("the issuer does not list the credential that it issued"))
}

/// Checks that the registry accepted the pharmacy's action.
fn done(status: &VerificationStatus) -> Result<(), Failure> {
    let spending = status.spending.as_ref();
    match spending.map(|spending| (spending.state, &spending.reason)) {
        Some((SpendingState::Done, _)) => Ok(()),
        Some((_, Some(reason))) => Err(Failure::ours(format!("the registry refused: {reason}"))),
        _ => Err(Failure::ours("the registry did not answer in time")),
    }
}

fn outcome(status: &VerificationStatus) -> Result<Outcome, Failure> {
    status
        .verdict
        .as_ref()
        .map(|verdict| verdict.outcome)
        .ok_or_else(|| Failure::ours("the verifier did not reach a verdict in time"))
}
