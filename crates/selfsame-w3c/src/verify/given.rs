//! What is given to be verified: documents with proofs, and JWTs in envelopes.

use selfsame_credential::Format;
use selfsame_credential::format::Profile;
use selfsame_data_integrity::vc::{CREDENTIALS_MAX, is_typed};
use serde_json::{Map, Value};

use crate::problem::{VcProblem, code};

/// The type of a JWT in an envelope (VCDM 2.0 §4.12).
const ENVELOPED: &str = "EnvelopedVerifiableCredential";
/// What the identifier of an envelope begins with: the media types of VC-JOSE-COSE §3.1.
const DATA: [&str; 2] = ["data:application/vc+jwt,", "data:application/vc-ld+jwt,"];

/// Proofs of one presentation: each costs the work on the whole document.
const PROOFS_MAX: usize = 4;

/// A credential that is given to be verified.
#[derive(Clone, Debug)]
pub struct GivenCredential {
    /// As it was given.
    pub(crate) value: Value,
    pub(crate) format: Format,
    /// What the format reads.
    pub(crate) raw: String,
}

/// A presentation that is given to be verified.
#[derive(Clone, Debug)]
pub struct GivenPresentation {
    pub(crate) value: Value,
    pub(crate) credentials: Vec<GivenCredential>,
    /// Whether somebody has to have signed it.
    pub(crate) is_proven: bool,
}

impl GivenCredential {
    /// Takes a document with a proof, a JWT in an envelope, or a JWT.
    ///
    /// # Errors
    /// For anything else.
    pub fn of(value: Value) -> Result<Self, VcProblem> {
        let unreadable = |detail: &str| VcProblem::new(code::PARSING, detail);
        let jwt = match &value {
            Value::String(jwt) => Some(jwt.as_str()),
            Value::Object(members) if is_typed(members, ENVELOPED) => {
                let detail = "an envelope must have the `id` data:application/vc+jwt,…";
                Some(enveloped(members).ok_or_else(|| unreadable(detail))?)
            }
            Value::Object(_) => None,
            _ => return Err(unreadable("a credential must be an object")),
        };
        let (format, raw) = match jwt {
            None => (
                Format::of_profile(Profile::DataIntegrity),
                value.to_string(),
            ),
            Some(jwt) => (Format::guess(jwt), jwt.to_owned()),
        };
        let is_taken = matches!(
            format.describe().profile,
            Profile::DataIntegrity | Profile::W3c
        );
        match is_taken {
            true => Ok(Self { value, format, raw }),
            false => Err(unreadable(
                "only credentials of W3C's data models are taken here",
            )),
        }
    }

    /// The members of a document; `None` for a JWT.
    pub(crate) fn members(&self) -> Option<&Map<String, Value>> {
        let is_document = self.format.describe().profile == Profile::DataIntegrity;
        self.value.as_object().filter(|_| is_document)
    }
}

fn enveloped(members: &Map<String, Value>) -> Option<&str> {
    let id = members.get("id")?.as_str()?;
    DATA.iter().find_map(|start| id.strip_prefix(start))
}

fn proofs_of(members: &Map<String, Value>) -> usize {
    match members.get("proof") {
        Some(Value::Array(several)) => several.len(),
        one => usize::from(one.is_some()),
    }
}

impl GivenPresentation {
    /// Takes a presentation. Without proofs, its credentials alone are verified.
    ///
    /// # Errors
    /// If it is no object, has more than 16 credentials, or one that is none; if it is not to have a proof and has one, or
    /// has no credential either; if it has more than 4 proofs.
    pub fn of(value: Value, is_proven: bool) -> Result<Self, VcProblem> {
        let Some(members) = value.as_object() else {
            let detail = "a presentation must be an object with its proof, not a JWT";
            return Err(VcProblem::new(code::PARSING, detail));
        };
        if !is_proven && members.contains_key("proof") {
            let detail = "give a presentation with a proof as `verifiablePresentation`";
            return Err(VcProblem::malformed(detail));
        }
        if proofs_of(members) > PROOFS_MAX {
            let detail = format!("a presentation has at most {PROOFS_MAX} proofs");
            return Err(VcProblem::malformed(detail));
        }
        let credentials = match members.get("verifiableCredential") {
            None => Vec::new(),
            Some(Value::Array(several)) => several.clone(),
            Some(one) => vec![one.clone()],
        };
        if credentials.len() > CREDENTIALS_MAX {
            let detail = format!("a presentation has at most {CREDENTIALS_MAX} credentials");
            return Err(VcProblem::malformed(detail));
        }
        if !is_proven && credentials.is_empty() {
            let detail = "a presentation without a proof must have a credential: nothing else in it can be verified";
            return Err(VcProblem::malformed(detail));
        }
        let credentials = credentials.into_iter().map(GivenCredential::of);
        Ok(Self {
            credentials: credentials.collect::<Result<_, _>>()?,
            value,
            is_proven,
        })
    }

    /// As it was given.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_jwt_comes_in_an_envelope_or_bare() {
        // {"alg":"ES256","typ":"vc+jwt"}
        let jwt = "eyJhbGciOiJFUzI1NiIsInR5cCI6InZjK2p3dCJ9.e30.AAAA";
        for id in DATA.map(|start| format!("{start}{jwt}")) {
            let envelope = json!({"type": ENVELOPED, "id": id});
            let given = GivenCredential::of(envelope).unwrap();
            assert_eq!(given.raw, jwt);
            assert!(given.members().is_none());
        }
        assert!(GivenCredential::of(json!(jwt)).is_ok());
        let other = json!({"type": ENVELOPED, "id": format!("data:application/pdf,{jwt}")});
        assert_eq!(
            GivenCredential::of(other).unwrap_err().title(),
            "PARSING_ERROR"
        );
        for value in [json!(1), json!(null), json!([])] {
            assert!(GivenCredential::of(value).is_err());
        }
    }

    #[test]
    fn a_presentation_is_bounded_and_says_by_its_place_whether_it_is_signed() {
        let of = |count: usize| json!({"verifiableCredential": vec![json!({"proof": {}}); count]});
        assert!(GivenPresentation::of(of(CREDENTIALS_MAX), true).is_ok());
        assert!(GivenPresentation::of(of(CREDENTIALS_MAX + 1), true).is_err());
        assert!(GivenPresentation::of(json!("a.b.c"), true).is_err());
        assert!(GivenPresentation::of(json!({"proof": {}}), false).is_err());
        assert!(GivenPresentation::of(of(1), false).is_ok());
        for empty in [json!({}), of(0)] {
            let refused = GivenPresentation::of(empty.clone(), false).unwrap_err();
            assert_eq!(refused.title(), "MALFORMED_VALUE_ERROR");
            // With a proof it says who presents nothing.
            assert!(GivenPresentation::of(empty, true).is_ok());
        }
        let proven = |count: usize| json!({"proof": vec![json!({}); count]});
        assert!(GivenPresentation::of(proven(PROOFS_MAX), true).is_ok());
        assert!(GivenPresentation::of(proven(PROOFS_MAX + 1), true).is_err());
    }
}
