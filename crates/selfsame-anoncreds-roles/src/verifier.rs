//! The verifier: verifies a presentation, and says what could change the verdict.

use selfsame_anoncreds::format::{
    Overrides, Presentation, PresentationRequest, RevocationStatusList,
};
use selfsame_anoncreds::verdict::{AnoncredsVerdict, Outcome, Verdict};
use selfsame_anoncreds::verifier::{Encoding, Policy, verify_presentation};

use crate::{PublishedObjects, RoleError};

/// What a verifier accepts beside what its request says.
#[derive(Clone, Debug, Default)]
pub struct Leniency {
    /// Lists that were the newest when an interval begins; accepted although they are older.
    pub in_force: Vec<RevocationStatusList>,
    /// How raw values must be encoded.
    pub encoding: Encoding,
}

/// A verdict, with what could change it.
pub struct Judged {
    /// The verdict, and what is proven of each credential.
    pub presentation: AnoncredsVerdict,
    /// What could change it, in the order of the rules.
    pub remedies: Vec<Remedy>,
}

/// What could change a verdict.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Remedy {
    /// Published objects are missing.
    MoreObjects,
    /// A list that was in force when the interval begins could be accepted.
    ListInForce,
    /// A definition names its schema by a number, and the schema of that number is not named.
    SchemaNumber,
}

/// Verifies a presentation of this request.
///
/// # Errors
/// [`RoleError::Refused`] if an identifier of a published object is malformed.
pub fn verify(
    presentation: &Presentation,
    request: &PresentationRequest,
    mut published: PublishedObjects,
    leniency: Leniency,
) -> Result<Judged, RoleError> {
    let Leniency { in_force, encoding } = leniency;
    let policy = Policy {
        encoding,
        overrides: overrides(&in_force, request),
    };
    published.lists.extend(in_force);
    let presentation = verify_presentation(presentation, request, &published.known()?, &policy);
    Ok(Judged {
        remedies: remedies(&presentation.verdict, request, &published),
        presentation,
    })
}

fn remedies(
    verdict: &Verdict,
    request: &PresentationRequest,
    published: &PublishedObjects,
) -> Vec<Remedy> {
    let mut remedies = Vec::new();
    if verdict.outcome == Outcome::Unverifiable {
        remedies.push(Remedy::MoreObjects);
    }
    let older =
        |list: &RevocationStatusList| begins(request).any(|from| list.timestamp < Some(from));
    let at_fault = verdict.reason().map(|rule| &*rule.name);
    if at_fault == Some("non_revocation") && published.lists.iter().any(older) {
        remedies.push(Remedy::ListInForce);
    }
    let mut definitions = published.definitions.values();
    let numbered = definitions.any(|of| of.definition().schema_id.is_sequence_number());
    if at_fault == Some("restrictions") && numbered {
        remedies.push(Remedy::SchemaNumber);
    }
    remedies
}

/// The beginnings of the requested intervals.
fn begins(request: &PresentationRequest) -> impl Iterator<Item = u64> {
    let attributes = request.requested_attributes.values();
    let predicates = request.requested_predicates.values();
    let own = attributes.map(|asked| asked.non_revoked);
    own.chain(predicates.map(|asked| asked.non_revoked))
        .chain([request.non_revoked])
        .filter_map(|interval| interval?.from)
}

/// For each interval that begins after such a list, the newest of the lists before it. (AnonCreds v1.0, "Collecting
/// Data for Generating the Non-Revocation Proof": the list "active at the time of the `from` value".)
fn overrides(in_force: &[RevocationStatusList], request: &PresentationRequest) -> Overrides {
    let mut overrides = Overrides::new();
    for list in in_force {
        let (Some(registry), Some(at)) = (&list.rev_reg_def_id, list.timestamp) else {
            continue;
        };
        let of_it = overrides.entry(registry.clone()).or_default();
        for from in begins(request).filter(|from| at < *from) {
            let newest = of_it.entry(from).or_insert(at);
            *newest = at.max(*newest);
        }
    }
    overrides
}
