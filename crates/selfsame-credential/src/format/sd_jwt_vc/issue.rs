//! Issuing an SD-JWT VC (RFC 9901 §4).

use selfsame_crypto::{Jwk, ctx::Ctx};
use serde_json::{Map, Value, json};

use super::describe::NEVER_DISCLOSED;
use crate::{
    evidence::{Evidence, Step},
    format::sd_jwt_form::TYP,
    path::{ClaimPath, Segment},
    sd_jwt::{
        DigestAlgorithm,
        conceal::{ConcealError, Concealed, Concealment},
    },
    signer::{Signer, Unsigned},
};

/// The content of an SD-JWT VC to issue.
#[derive(Clone, Debug)]
pub struct Issue {
    /// All claims, not hidden.
    pub claims: Map<String, Value>,
    /// The claims that the holder may withhold. A path below another one makes a recursive disclosure (§4.2.6). A path
    /// that leads to no claim has no effect.
    pub disclosable: Vec<ClaimPath>,
    /// The number of decoy digests in every object and array that hides something (§4.2.5).
    pub decoys: usize,
    /// The holder's key (§4.1.2).
    pub cnf: Option<Jwk>,
    /// The digest algorithm.
    pub digest: DigestAlgorithm,
    /// The issuer's key.
    pub signer: Signer,
    /// The label of this credential among all that are made with one `Ctx`, so that no two have an equal salt.
    pub label: String,
}

/// Why claims can't be issued.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum IssueError {
    /// The claims can't be concealed.
    #[error(transparent)]
    Conceal(#[from] ConcealError),
    /// A claim that a verifier must always see would be selectively disclosable (SD-JWT VC §2.2.2.3).
    #[error("iss, nbf, exp, cnf, vct, aka_vcts and status must not be selectively disclosable")]
    NeverDisclosed,
    /// The type is missing (SD-JWT VC §2.2.2.1).
    #[error("the claim vct is missing or not a string")]
    Type,
    /// The claims contain `cnf`, although the holder's key is given separately.
    #[error("the claims must not contain cnf, which is set from the holder's key")]
    Confirmation,
}

/// An SD-JWT without its issuer's signature.
#[derive(Clone, Debug)]
pub struct Draft {
    unsigned: Unsigned,
    disclosures: Vec<String>,
}

impl Draft {
    /// The bytes that the issuer signs.
    pub fn signing_input(&self) -> &[u8] {
        self.unsigned.signing_input()
    }

    /// The disclosures, base64url-encoded as they will be sent.
    pub fn disclosures(&self) -> &[String] {
        &self.disclosures
    }

    /// The SD-JWT, with its signature.
    pub fn finish(self, signature: &[u8]) -> String {
        with_disclosures(&self.unsigned.finish(signature), &self.disclosures)
    }

    /// The SD-JWT if its signature is in the evidence, otherwise the need for the signature.
    pub fn step(self, evidence: &Evidence) -> Step<String> {
        match self.unsigned.step(evidence) {
            Step::Done(jwt) => Step::Done(with_disclosures(&jwt, &self.disclosures)),
            Step::Needs(needs) => Step::Needs(needs),
        }
    }
}

fn with_disclosures(jwt: &str, disclosures: &[String]) -> String {
    let mut text = jwt.to_owned();
    for disclosure in disclosures {
        text.push('~');
        text.push_str(disclosure);
    }
    text.push('~');
    text
}

impl Issue {
    /// Hides the selectively disclosable claims. The salts come from `ctx`, so a step that runs again makes an equal
    /// draft.
    pub fn draft(self, ctx: &Ctx) -> Result<Draft, IssueError> {
        self.check()?;
        let way = Concealment {
            disclosable: &self.disclosable,
            decoys: self.decoys,
            digest: self.digest,
            label: &self.label,
        };
        let Concealed {
            mut payload,
            disclosures,
        } = way.of(&self.claims, ctx)?;
        if let Some(key) = &self.cnf {
            payload.insert("cnf".to_owned(), json!({ "jwk": key.to_value() }));
        }
        let unsigned = Unsigned::new(&self.signer, TYP, &Value::Object(payload));
        Ok(Draft {
            unsigned,
            disclosures,
        })
    }

    fn check(&self) -> Result<(), IssueError> {
        if !self.claims.get("vct").is_some_and(Value::is_string) {
            return Err(IssueError::Type);
        }
        if self.cnf.is_some() && self.claims.contains_key("cnf") {
            return Err(IssueError::Confirmation);
        }
        let first_names = self
            .disclosable
            .iter()
            .filter_map(|path| path.segments().first());
        for first in first_names {
            if matches!(first, Segment::Name(name) if NEVER_DISCLOSED.contains(&name.as_str())) {
                return Err(IssueError::NeverDisclosed);
            }
        }
        Ok(())
    }
}
