//! One scenario as a story: each call with its time, for people.

use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use serde::Serialize;
use serde_json::Value;

use crate::agents::{ForeignAgents, Kind, material, material_of_type, request};
use crate::scenario::{Cast, IssuerMaterial};
use crate::study::STEPS;

/// The prescription, whose revocation registry has the fewest places that one can have.
const PRESCRIPTION: Kind = Kind::Prescription(4);

/// What is issued and proven.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StoryKind {
    /// A vaccination, which can't be revoked.
    Vaccination,
    /// A prescription, which is revoked and proven again.
    Prescription,
    /// A credential of this type, which the issuer's organisation has published; it is revoked and proven again.
    Type(&'static str),
}

/// A scenario, call by call.
#[derive(Clone, Debug, Serialize)]
pub struct AriesStory {
    /// Each call with its time.
    pub steps: Vec<StoryStep>,
    /// Whether the verifier accepted the proof.
    pub verified: bool,
    /// Whether it accepted one after the revocation; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified_after_revocation: Option<bool>,
}

/// A call with its time.
#[derive(Clone, Debug, Serialize)]
pub struct StoryStep {
    /// Its name.
    pub name: String,
    /// Milliseconds.
    pub ms: f64,
}

/// Plays the scenario by the admin APIs of these agents.
///
/// # Errors
/// The first call that fails.
pub async fn play(agents: &ForeignAgents, kind: StoryKind) -> Result<AriesStory, Error> {
    let issuer = BenchClient::new(&agents.issuer);
    let cast = Cast {
        material: match kind {
            StoryKind::Vaccination => material(&issuer, Kind::Vaccination).await?,
            StoryKind::Prescription => material(&issuer, PRESCRIPTION).await?,
            StoryKind::Type(id) => material_of_type(&issuer, id).await?,
        },
        issuer,
        verifier: BenchClient::new(&agents.verifier),
        holder: BenchClient::new(&agents.holder),
    };
    let (times, after) = match kind {
        StoryKind::Vaccination => {
            let walked = cast.walk(None).await;
            match walked.failed {
                Some(error) => return Err(error),
                None => (walked.times, None),
            }
        }
        StoryKind::Prescription | StoryKind::Type(_) => {
            let proven = cast.walk_and_revoke(|| again(kind, &cast.material)).await?;
            (proven.times, Some(proven.is_accepted))
        }
    };
    let again = STEPS.iter().skip(6).map(|name| format!("again_{name}"));
    let names = STEPS.iter().map(|name| (*name).to_owned());
    let names = names.chain(["issuer_revokes".to_owned()]).chain(again);
    let step = |(name, time): (String, std::time::Duration)| StoryStep {
        name,
        ms: (time.as_secs_f64() * 1e5).round() / 1e2,
    };
    Ok(AriesStory {
        steps: names.zip(times).map(step).collect(),
        verified: true,
        verified_after_revocation: after,
    })
}

/// The request of the second proof. The study's has a time that has passed by then.
fn again(kind: StoryKind, material: &IssuerMaterial) -> Value {
    match kind {
        StoryKind::Type(_) => material.request.clone(),
        _ => request(PRESCRIPTION, &material.schema_id),
    }
}
