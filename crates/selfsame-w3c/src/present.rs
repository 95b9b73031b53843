//! Presents credentials in the name of the organisation.

use selfsame_core::identity::Identity;
use selfsame_data_integrity::vc::{CREDENTIALS_MAX, id_of};
use selfsame_data_integrity::{Cryptosuite, ProofPurpose};
use serde_json::{Map, Value};

use crate::problem::{VcProblem, W3cError};
use crate::signing::{OwnSigner, WantedProof, with_proof_context};
use crate::{W3cDesk, document};

/// A presentation that is to be signed.
#[derive(Debug)]
pub struct PresentOrder {
    /// What is signed, without a proof. Without a `holder` it gets the signer's DID.
    pub presentation: Map<String, Value>,
    /// The suite; by default the preferred one of the holder's key.
    pub suite: Option<Cryptosuite>,
    /// The URL of the key; by default the one of the holder.
    pub method: Option<String>,
    /// What the presentation answers.
    pub challenge: Option<String>,
    /// For whom it is.
    pub domain: Option<String>,
}

impl W3cDesk {
    /// Signs a presentation.
    ///
    /// # Errors
    /// `Refused` for one that does not follow its data model, names another holder, has a proof, or can't be signed;
    /// `Failed` with the store's errors.
    pub async fn present(&self, order: PresentOrder) -> Result<Map<String, Value>, W3cError> {
        let mut presentation = order.presentation;
        if presentation.contains_key("proof") {
            return Err(VcProblem::malformed("the presentation has a proof already").into());
        }
        let model = document::presentation(&presentation)?;
        let count = match presentation.get("verifiableCredential") {
            None => 0,
            Some(Value::Array(several)) => several.len(),
            Some(_) => 1,
        };
        if count > CREDENTIALS_MAX {
            let detail = format!("a presentation has at most {CREDENTIALS_MAX} credentials");
            return Err(VcProblem::malformed(detail).into());
        }
        let identity = self.roles.issuer()?.identity();
        let signer = signer(identity, &mut presentation, order.method.as_deref())?;
        with_proof_context(&mut presentation, model);
        let wanted = WantedProof {
            suite: order.suite,
            purpose: ProofPurpose::Authentication,
            challenge: order.challenge,
            domain: order.domain,
        };
        self.signed(presentation, &signer, wanted).await
    }
}

/// The signer of a presentation, whose holder it is then.
fn signer<'a>(
    identity: &'a Identity,
    presentation: &mut Map<String, Value>,
    method: Option<&str>,
) -> Result<OwnSigner<'a>, VcProblem> {
    let names = identity.names();
    let of_method = method
        .and_then(|url| url.split_once('#'))
        .map(|(did, _)| did);
    let own = of_method.or(names.first().map(String::as_str));
    let named = presentation
        .get("holder")
        .and_then(id_of)
        .map(str::to_owned);
    let holder = named.or(own.map(str::to_owned)).unwrap_or_default();
    let signer = OwnSigner::of(identity, &holder);
    let is_asked = |signer: &OwnSigner<'_>| method.is_none_or(|url| url == signer.method);
    let signer = signer.filter(is_asked).ok_or_else(|| {
        let names = names.join(", ");
        let detail = format!("the holder and its key must be of this organisation: {names}");
        VcProblem::malformed(detail)
    })?;
    presentation
        .entry("holder")
        .or_insert_with(|| holder.into());
    Ok(signer)
}
