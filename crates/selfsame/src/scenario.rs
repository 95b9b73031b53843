//! The two healthcare scenarios, walked over the public API: issue, accept, present, verify, revoke, refuse.

use std::time::{Duration, Instant};

use selfsame_app::view::issuer::{IssuedCredential, Offer};
use selfsame_app::view::verifier::VerificationStatus;
use selfsame_credential::verdict::Outcome;
use selfsame_crypto::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::client::Client;
use crate::exit::Failure;

/// A scenario by its name on the command line.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Scenario {
    /// A clinic attests a vaccination; a border control checks it; the clinic withdraws it.
    Immunization,
    /// A doctor prescribes; a pharmacy checks; the doctor withdraws it.
    Prescription,
}

impl Scenario {
    /// Its name, which is also its template's.
    pub fn name(self) -> &'static str {
        match self {
            Self::Immunization => "immunization",
            Self::Prescription => "prescription",
        }
    }
}

/// The instances that play the four roles; one may play all.
pub struct Cast {
    /// Issues, with the operator's token.
    pub issuer: Client,
    /// Keeps.
    pub wallet: Client,
    /// Asks, with the operator's token.
    pub verifier: Client,
}

/// What happened, step by step.
#[derive(Debug, Serialize)]
pub struct Story {
    /// The scenario's name.
    pub scenario: &'static str,
    /// Each step with its time.
    pub steps: Vec<StepTime>,
    /// The verdict on the presentation.
    pub verdict: Outcome,
    /// The verdict on the same credential after its revocation.
    pub after_revocation: Outcome,
    /// The first verdict in full, for people.
    #[serde(skip)]
    pub first: VerificationStatus,
}

/// A step and how long it took.
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

#[derive(Deserialize)]
struct Items<T> {
    items: Vec<T>,
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

/// Walks a scenario; `tell` hears of each step when it is done.
///
/// # Errors
/// The first thing that does not work.
pub async fn play(
    scenario: Scenario,
    cast: &Cast,
    tell: &mut dyn FnMut(&StepTime),
) -> Result<Story, Failure> {
    let name = scenario.name();
    let mut walk = Walk {
        cast,
        steps: Vec::new(),
        tell,
    };
    let wallet = walk.step("register_holder", register(&cast.wallet)).await?;
    let offer: Offer = walk
        .step(
            "create_offer",
            cast.issuer.post(
                "/api/issuer/offers",
                &json!({"template": name, "examples": true}),
            ),
        )
        .await?;
    let _: Value = walk
        .step(
            "accept_offer",
            wallet.post("/api/wallet/offers/accept", &json!({"offer": offer.uri})),
        )
        .await?;
    let first = walk.present("present", "verify", name, &wallet).await?;
    let issued = issued_from(&cast.issuer, &offer.id).await?;
    let path = format!("/api/issuer/credentials/{}/status", issued.id);
    let _: Value = walk
        .step(
            "revoke",
            cast.issuer.put(&path, &json!({"status": "revoked"})),
        )
        .await?;
    walk.step("publish_status", until_published(&cast.issuer, &issued.id))
        .await?;
    let second = walk
        .present("present_again", "refuse", name, &wallet)
        .await?;
    Ok(Story {
        scenario: name,
        verdict: outcome(&first)?,
        after_revocation: outcome(&second)?,
        steps: walk.steps,
        first,
    })
}

impl Walk<'_> {
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
        let done = work.await?;
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
        present: &'static str,
        verify: &'static str,
        template: &str,
        wallet: &Client,
    ) -> Result<VerificationStatus, Failure> {
        let request: Made = self
            .cast
            .verifier
            .post(
                "/api/verifier/requests",
                &json!({"template": template, "max_status_age": 0}),
            )
            .await?;
        let answer = json!({"request": request.uri, "policy": "newest"});
        let _: Value = self
            .step(present, wallet.post("/api/wallet/requests/answer", &answer))
            .await?;
        let path = format!("/api/verifier/requests/{}?wait=20", request.id);
        self.step(verify, self.cast.verifier.get(&path)).await
    }
}

/// The status list says so within a second of the revocation.
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
        "the status list is not out after five seconds",
    ))
}

async fn register(wallet: &Client) -> Result<Client, Failure> {
    // A person of the demonstration's own: nobody can sign in with a password that nobody keeps.
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
        .ok_or_else(|| Failure::ours("the issuer does not list the credential it has issued"))
}

fn outcome(status: &VerificationStatus) -> Result<Outcome, Failure> {
    status
        .verdict
        .as_ref()
        .map(|verdict| verdict.outcome)
        .ok_or_else(|| Failure::ours("the verifier came to no verdict in time"))
}
