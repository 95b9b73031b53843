//! Credentials as JWTs: W3C credentials and SD-JWT VCs, judged by selfsame-credential, except for their status.

use std::sync::Arc;

use selfsame_credential::format::cwt;
use selfsame_credential::sd_jwt::SdJwt;
use selfsame_credential::status::Reference;
use selfsame_credential::validity::Validity;
use selfsame_credential::verdict::{Policy, Rule, Trust};
use selfsame_credential::verify::{Presented, verify};
use selfsame_credential::w3c::{Model, VcJwt};
use selfsame_credential::{Evidence, Fetched, Format};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Jwk, PublicKey};
use selfsame_did::{
    Did, DidUrl, Document, Relationship, Representation, Resolution, VerificationMethod, key,
};
use serde_json::{Map, Value};

use super::credential::{BAD_SUBJECT, Credential, EXPIRED, MALFORMED, UNSIGNED, UNTRUSTED};
use super::policy::{IdentityPolicy, TrustedIssuer};
use crate::alert::{Alert, Refusal};
use crate::codec::Vc;
use crate::named::VcFormat;

/// Rules about the current status, which are judged elsewhere.
const OF_STATUS: [&str; 4] = [
    "status_list",
    "status_list_signature",
    "status_list_fresh",
    "status",
];

/// The content of a credential of either format.
struct JoseContent {
    issuer: String,
    key_id: Option<String>,
    subject: Did,
    validity: Validity,
    types: Vec<String>,
    claims: Map<String, Value>,
    statuses: Vec<Reference>,
}

/// The numbers of the formats that are JWTs.
const NUMBERS: [(VcFormat, Format); 3] = [
    (VcFormat::VC_JWT, Format::VcJwt),
    (VcFormat::JWT_VC_JSON, Format::JwtVcJson),
    (VcFormat::SD_JWT_VC, Format::SdJwtVc),
];

/// The format in selfsame-credential, if it is a JWT.
pub(super) fn format_of(number: VcFormat) -> Option<Format> {
    let mut numbers = NUMBERS.into_iter();
    numbers.find_map(|(listed, format)| (listed == number).then_some(format))
}

impl Vc {
    /// A credential as a handshake carries it, from its text; `None` if TLS has no number for its format, or the text is
    /// not of this format.
    #[must_use]
    pub fn of_text(format: Format, raw: &str) -> Option<Self> {
        if format == Format::Cwt {
            return cwt::to_bytes(raw).map(Self::compact);
        }
        let mut numbers = NUMBERS.into_iter();
        let number = numbers.find_map(|(number, listed)| (listed == format).then_some(number))?;
        Some(Self {
            format: number,
            bytes: raw.as_bytes().to_vec(),
        })
    }
}

/// Parses a credential, and verifies that a trusted issuer signed it.
pub(super) fn accept(
    vc: Vc,
    format: Format,
    policy: &IdentityPolicy,
    now: UnixTime,
) -> Result<Credential, Refusal> {
    let raw = std::str::from_utf8(&vc.bytes).map_err(|_| MALFORMED)?;
    let read = match Model::of(format) {
        Some(model) => JoseContent::of_jwt(raw, model)?,
        None => JoseContent::of_sd_jwt(raw)?,
    };
    let issuer = policy.issuer(&read.issuer)?;
    let presented = Presented {
        format,
        raw,
        expected: None,
    };
    let rules = Policy {
        trusted_issuers: Trust::Listed(vec![read.issuer.clone()]),
        leeway: policy.skew,
        accept_did_issuers: true,
        ..Policy::default()
    };
    let (verdict, _) = verify(&presented, &rules, &evidence(issuer, now), now);
    let broken = |rule: &&Rule| rule.passed == Some(false) && !OF_STATUS.contains(&&*rule.name);
    match verdict.rules.iter().find(broken) {
        None => {}
        Some(rule) => return Err(refusal(rule)),
    }
    Ok(Credential {
        key_id: key_id(issuer, read.key_id.as_deref()).ok_or(UNTRUSTED)?,
        issuer: issuer.did.clone(),
        subject: read.subject,
        validity: read.validity,
        types: read.types,
        claims: read.claims,
        statuses: read.statuses,
        vc,
    })
}

/// The issuer that a credential names, not yet verified.
pub(super) fn named_issuer(vc: &Vc, format: Format) -> Result<String, Refusal> {
    let raw = std::str::from_utf8(&vc.bytes).map_err(|_| MALFORMED)?;
    let read = match Model::of(format) {
        Some(model) => JoseContent::of_jwt(raw, model)?,
        None => JoseContent::of_sd_jwt(raw)?,
    };
    Ok(read.issuer)
}

/// The configured issuer keys, as evidence in the form of a resolved DID.
fn evidence(issuer: &TrustedIssuer, now: UnixTime) -> Evidence {
    let mut document = Document::new(issuer.did.clone());
    for (id, key) in &issuer.keys {
        if let Ok(id) = DidUrl::parse(id) {
            let method = VerificationMethod::json_web_key(id, key);
            document.add(method, &[Relationship::AssertionMethod]);
        }
    }
    let resolution = Resolution::found(document, Representation::default());
    let mut evidence = Evidence::default();
    let value = Ok(Arc::new(resolution));
    evidence.insert_did(issuer.did.clone(), Fetched { value, at: now });
    evidence
}

/// The full DID URL of the key. The header may contain only a part of it, or nothing if the issuer has just one key.
fn key_id(issuer: &TrustedIssuer, named: Option<&str>) -> Option<String> {
    match (named, issuer.keys.as_slice()) {
        (Some(named), _) => Some(DidUrl::join(&issuer.did, named).ok()?.to_string()),
        (None, [(only, _)]) => Some(only.clone()),
        (None, _) => None,
    }
}

fn refusal(rule: &Rule) -> Refusal {
    match &*rule.name {
        "issuer_signature" => UNSIGNED,
        "issuer_key" | "issuer_trusted" | "certificate_chain" => UNTRUSTED,
        "not_before" | "expiry" => EXPIRED,
        "status_reference" | "single_use_reference" | "single_use" => NO_STATUS,
        _ => MALFORMED,
    }
}

impl JoseContent {
    fn of_jwt(raw: &str, model: Model) -> Result<Self, Refusal> {
        let credential = VcJwt::parse(raw, model).map_err(|_| MALFORMED)?;
        let confirmed = credential.confirmed_key().transpose();
        let confirmed = confirmed.map_err(|_| MALFORMED)?;
        let claims = match credential.credential().get("credentialSubject") {
            Some(Value::Object(claims)) => claims.clone(),
            // With several subjects, it would be ambiguous which of them is the peer.
            _ => return Err(MALFORMED),
        };
        let types = credential.types().into_iter().map(str::to_owned);
        Ok(Self {
            issuer: credential.issuer().ok_or(MALFORMED)?.to_owned(),
            key_id: credential.jwt().header.kid.clone(),
            subject: subject(credential.subject(), confirmed)?,
            validity: credential.validity().map_err(|_| MALFORMED)?,
            types: types.collect(),
            claims,
            statuses: credential.statuses().map_err(|_| NO_STATUS)?,
        })
    }

    fn of_sd_jwt(raw: &str) -> Result<Self, Refusal> {
        let sd_jwt = SdJwt::parse(raw).map_err(|_| MALFORMED)?;
        let payload = sd_jwt.payload();
        let confirmed = payload.get("cnf").map(|cnf| {
            let jwk = cnf.get("jwk").ok_or(MALFORMED)?;
            Jwk::from_value(jwk).map_err(|_| MALFORMED)
        });
        let Value::Object(claims) = sd_jwt.process().map_err(|_| MALFORMED)?.claims else {
            return Err(MALFORMED);
        };
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        let others = claims.get("aka_vcts").and_then(Value::as_array);
        let types = others.into_iter().flatten().filter_map(Value::as_str);
        let types = text("vct").into_iter().chain(types).map(str::to_owned);
        let statuses = Reference::in_jwt_claims(payload).map_err(|_| NO_STATUS)?;
        Ok(Self {
            issuer: text("iss").ok_or(MALFORMED)?.to_owned(),
            key_id: sd_jwt.jwt().header.kid.clone(),
            subject: subject(text("sub"), confirmed.transpose()?)?,
            validity: Validity::of_jwt(&claims).map_err(|_| MALFORMED)?,
            types: types.collect(),
            statuses: statuses.into_iter().collect(),
            claims,
        })
    }
}

const NO_STATUS: Refusal = Refusal::new(
    Alert::UnsupportedCertificate,
    "a credential whose status can't be checked",
);

/// The DID that it names, or the key that it confirms; if there are both, they must match.
fn subject(named: Option<&str>, confirmed: Option<Jwk>) -> Result<Did, Refusal> {
    let named = named.map(Did::parse).transpose();
    let named = named.map_err(|_| BAD_SUBJECT)?;
    let key = confirmed.map(|jwk| PublicKey::from_jwk(&jwk)).transpose();
    let bound = key.map_err(|_| MALFORMED)?.map(|key| key::create(&key));
    match (named, bound) {
        (Some(named), Some(bound)) if named != bound => Err(MALFORMED),
        (named, bound) => named.or(bound).ok_or(MALFORMED),
    }
}

#[cfg(test)]
mod tests;
