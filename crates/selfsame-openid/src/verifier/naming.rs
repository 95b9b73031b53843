//! Names the credentials that were shown: their types, their issuers, and until when they are valid.

use std::sync::Arc;

use selfsame_core::organisation::trust::TrustList;
use selfsame_credential::validity::Validity;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_types::TypeSet;
use serde_json::{Map, Value};

use super::Verifier;
use crate::view::verifier::{CredentialVerdict, NamedCredential, VerificationStatus};

/// The names that a verifier knows.
pub(super) struct KnownNames {
    types: Arc<TypeSet>,
    /// The identifiers under which its own organisation issues.
    own_issuers: Vec<String>,
    /// The name of its own organisation as an issuer.
    own_name: Arc<str>,
    /// The issuers that its organisation trusts.
    trusted: Arc<TrustList>,
}

impl Verifier {
    /// The names that it knows now.
    pub(super) async fn names(&self) -> Result<KnownNames> {
        Ok(KnownNames {
            types: self.context.types_now().await?,
            own_issuers: self.context.own_issuers().to_vec(),
            own_name: self.context.title(),
            trusted: self.trust.now().await?,
        })
    }

    /// The request with the names of what was shown.
    pub(super) async fn named(&self, mut status: VerificationStatus) -> Result<VerificationStatus> {
        if status.verdict.is_some() {
            self.names().await?.name(&mut status);
        }
        Ok(status)
    }
}

impl KnownNames {
    /// Names the credentials of a request's verdict.
    pub fn name(&self, status: &mut VerificationStatus) {
        let verdicts = status.verdict.iter_mut();
        verdicts
            .flat_map(|verdict| &mut verdict.credentials)
            .for_each(|one| self.name_one(one));
    }

    /// Names the credential of a verdict, from the claims that its issuer signed.
    pub fn name_one(&self, verdict: &mut CredentialVerdict) {
        let claims = verdict.claims.as_ref().and_then(Value::as_object);
        verdict.credential = claims.map(|claims| self.credential(claims));
    }

    /// The organisation's own name, or the one that it has given to an issuer that it trusts.
    fn name_of(&self, issuer: &str) -> Option<String> {
        if self.own_issuers.iter().any(|own| own == issuer) {
            return Some(self.own_name.to_string());
        }
        let mut entries = self.trusted.entries.iter();
        let entry = entries.find(|entry| entry.issuer == issuer)?;
        Some(entry.name.clone())
    }

    fn credential(&self, claims: &Map<String, Value>) -> NamedCredential {
        let issuer = issuer(claims);
        let (kind, known) = match (text(claims, "vct"), text(claims, "docType")) {
            (Some(vct), _) => (vct, self.types.like_vct(vct)),
            (None, Some(doctype)) => (doctype, self.types.by_doctype(doctype)),
            (None, None) => {
                let types = w3c_types(claims);
                let kind = types.last().copied().unwrap_or_default();
                (kind, self.types.by_w3c_types(&types))
            }
        };
        NamedCredential {
            kind: kind.to_owned(),
            title: known.map(|one| one.name().to_owned()),
            issuer_name: issuer.and_then(|issuer| self.name_of(issuer)),
            issuer: issuer.map(str::to_owned),
            valid_until: expires(claims).map(UnixTime::rfc3339),
        }
    }
}

/// SD-JWT VC §2.2.2: `iss`; VCDM 2.0 §4.7: `issuer`, an identifier or an object with one.
fn issuer(claims: &Map<String, Value>) -> Option<&str> {
    let member = || match claims.get("issuer")? {
        Value::Object(issuer) => text(issuer, "id"),
        issuer => issuer.as_str(),
    };
    text(claims, "iss").or_else(member)
}

fn w3c_types(claims: &Map<String, Value>) -> Vec<&str> {
    match claims.get("type") {
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
        Some(one) => one.as_str().into_iter().collect(),
        None => Vec::new(),
    }
}

/// The earliest end that the credential states, in any of its data models.
fn expires(claims: &Map<String, Value>) -> Option<UnixTime> {
    let jwt = Validity::of_jwt(claims).unwrap_or_default();
    let current = Validity::of_dates(claims, "validFrom", "validUntil").unwrap_or_default();
    let former = Validity::of_dates(claims, "issuanceDate", "expirationDate").unwrap_or_default();
    jwt.and(current).and(former).expires
}

fn text<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    claims.get(name).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OWN: &str = "did:web:clinic.example";

    fn named(claims: Value) -> NamedCredential {
        let names = KnownNames {
            types: Arc::new(TypeSet::of_samples("urn:selfsame:credential:")),
            own_issuers: vec![OWN.to_owned()],
            own_name: "Clinic at the Lake".into(),
            trusted: Arc::default(),
        };
        names.credential(claims.as_object().unwrap())
    }

    #[test]
    fn a_credential_of_this_organisation_has_the_names_of_its_type_and_its_issuer() {
        let kind = "urn:selfsame:credential:prescription";
        let one = named(json!({"vct": kind, "iss": OWN, "exp": 1_767_225_600}));
        assert_eq!(one.kind, kind);
        assert_eq!(one.title.as_deref(), Some("Drug prescription"));
        assert_eq!(one.issuer.as_deref(), Some(OWN));
        assert_eq!(one.issuer_name.as_deref(), Some("Clinic at the Lake"));
        assert_eq!(one.valid_until.as_deref(), Some("2026-01-01T00:00:00Z"));
    }

    #[test]
    fn an_issuer_elsewhere_is_named_by_its_identifier_alone() {
        let claims = json!({
            "type": ["VerifiableCredential", "Diploma"],
            "issuer": {"id": "did:web:school.example", "name": "Clinic at the Lake"},
            "validUntil": "2030-01-01T00:00:00Z",
            "exp": 1_767_225_600,
        });
        let one = named(claims);
        assert_eq!((one.kind.as_str(), one.title), ("Diploma", None));
        assert_eq!(one.issuer.as_deref(), Some("did:web:school.example"));
        assert_eq!(one.issuer_name, None);
        assert_eq!(one.valid_until.as_deref(), Some("2026-01-01T00:00:00Z"));
    }
}
