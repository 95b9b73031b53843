//! Issues a credential as it is given.

use selfsame_credential::Format;
use selfsame_credential::format::Profile;
use selfsame_crypto::time::UnixTime;
use selfsame_data_integrity::vc::{VcModel, id_of};
use selfsame_data_integrity::{Cryptosuite, ProofPurpose};
use selfsame_openid::issuer::lists::{CredentialKind, ListPlace};
use selfsame_openid::issuer::{Issuer, SignedElsewhere};
use serde_json::{Map, Value};

use crate::problem::{VcProblem, W3cError};
use crate::signing::{OwnSigner, WantedProof, with_context, with_proof_context};
use crate::{W3cDesk, document};

/// The context of status entries, for credentials of VCDM 1.1.
const OF_STATUS: [&str; 1] = ["https://www.w3.org/ns/credentials/status/v1"];

/// Characters of a type in the register.
const KIND_MAX: usize = 200;

/// A credential that is to be issued.
#[derive(Debug)]
pub struct IssueOrder {
    /// What is signed, without a proof.
    pub credential: Map<String, Value>,
    /// The suite; by default the preferred one of the issuer's key.
    pub suite: Option<Cryptosuite>,
    /// By what its status is changed later; by default its `id`.
    pub id: Option<String>,
    /// Whether it gets an entry in the issuer's status lists.
    pub has_status: bool,
}

impl W3cDesk {
    /// Issues a credential.
    ///
    /// # Errors
    /// `Refused` for one that does not follow its data model, names another issuer, has a proof, or can't be signed;
    /// `Failed` with `Conflict` if a credential with a status has its id already, and with the store's errors.
    pub async fn issue(&self, order: IssueOrder) -> Result<Map<String, Value>, W3cError> {
        let issuer = self.roles.issuer()?;
        let mut credential = order.credential;
        if credential.contains_key("proof") {
            return Err(VcProblem::malformed("the credential has a proof already").into());
        }
        let model = document::credential(&credential)?;
        let identity = issuer.identity();
        let named = credential.get("issuer").and_then(id_of).unwrap_or_default();
        let signer = OwnSigner::of(identity, named);
        let signer = signer.ok_or_else(|| another(&identity.names()))?;
        with_proof_context(&mut credential, model);
        let registered = match order.has_status {
            true => {
                let id = order.id.as_deref();
                let id = id.or(credential.get("id").and_then(Value::as_str));
                // A refused credential takes no place in the lists.
                let one = StatusRecord::of(&credential, model, id)?;
                Some((one, given_status(issuer, &mut credential, model).await?))
            }
            false => None,
        };
        let wanted = WantedProof {
            suite: order.suite,
            purpose: ProofPurpose::AssertionMethod,
            challenge: None,
            domain: None,
        };
        let signed = self.signed(credential, &signer, wanted).await?;
        if let Some((one, place)) = registered {
            let (id, kind) = (one.id.as_str(), one.kind.as_str());
            let signed = SignedElsewhere {
                id,
                kind,
                format: Format::of_profile(Profile::DataIntegrity),
                place,
                until: one.until,
            };
            issuer.register_signed(signed).await?;
        }
        Ok(signed)
    }
}

/// What the register of issued credentials has of one.
struct StatusRecord {
    id: String,
    kind: String,
    until: Option<UnixTime>,
}

impl StatusRecord {
    fn of(
        credential: &Map<String, Value>,
        model: VcModel,
        id: Option<&str>,
    ) -> Result<Self, VcProblem> {
        let needed = "a credential with a status needs an `id`, or the option `credentialId`";
        let id = id.ok_or_else(|| VcProblem::malformed(needed))?;
        let (_, until) = model.dates();
        let until = credential.get(until).and_then(Value::as_str);
        Ok(Self {
            id: crate::status::record_of(id),
            kind: kind_of(credential),
            until: until.and_then(UnixTime::parse_rfc3339),
        })
    }
}

/// The most specific type of a credential, as long as the register takes it.
fn kind_of(credential: &Map<String, Value>) -> String {
    let types = match credential.get("type") {
        Some(Value::Array(several)) => several.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let last = types.last().and_then(Value::as_str);
    let last = last.unwrap_or("VerifiableCredential");
    last.chars().take(KIND_MAX).collect()
}

/// Gives a credential entries in the issuer's status lists.
async fn given_status(
    issuer: &Issuer,
    credential: &mut Map<String, Value>,
    model: VcModel,
) -> Result<ListPlace, W3cError> {
    if credential.contains_key("credentialStatus") {
        let detail = "the credential has a status already";
        return Err(VcProblem::malformed(detail).into());
    }
    let lists = issuer.lists();
    let place = lists.place().await?;
    let kind = CredentialKind::of(Format::of_profile(Profile::DataIntegrity));
    let entries = lists.entry(&place, kind).member;
    credential.insert("credentialStatus".to_owned(), entries.unwrap_or_default());
    with_context(credential, model, &OF_STATUS);
    Ok(place)
}

fn another(names: &[String]) -> VcProblem {
    let names = names.join(", ");
    VcProblem::malformed(format!("`issuer` must be this issuer: {names}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_credential_is_registered_by_its_last_type_within_a_bound() {
        let of = |types: Value| kind_of(&Map::from_iter([("type".to_owned(), types)]));
        assert_eq!(of(json!(["VerifiableCredential", "Licence"])), "Licence");
        assert_eq!(of(json!("VerifiableCredential")), "VerifiableCredential");
        assert_eq!(of(json!("a".repeat(300))), "a".repeat(200));
    }
}
