//! The rules of RFC 9901 §7 and SD-JWT VC, in the order in which they are checked.

use std::sync::Arc;

use selfsame_crypto::{Jwk, PublicKey, hash::ct_eq, jws};
use selfsame_did::Relationship;
use selfsame_verdict::{BrokenRule, Checklist, Law};
use serde_json::Value;

use super::describe;
use crate::{
    budget::Budget,
    evidence::Need,
    format::sd_jwt_form::WELL_FORMED,
    format::view::Subject,
    issuer_key::{Claimed, IssuerIdentity},
    rules::{Binding, Court, Malformed, holder, issuer, single_use, status},
    sd_jwt::{KeyBinding, ProcessError, Processed, SdJwt, SdJwtError, Withheld, key_binding},
    status::{Reference, StatusError},
    validity::{BadTime, Validity, numeric_date},
    verdict::Verdict,
};

const TYPE: Law = Law::new("type_header", "SD-JWT VC §2.2.1", BrokenRule::Invalid);
const DIGEST_ALGORITHM: Law = Law::new(
    "digest_algorithm",
    "RFC 9901 §7.1 (2.d)",
    BrokenRule::Invalid,
);
const DIGESTS_UNIQUE: Law = Law::new("digests_unique", "RFC 9901 §7.1 (4)", BrokenRule::Invalid);
const DISCLOSURES_REFERENCED: Law = Law::new(
    "disclosures_referenced",
    "RFC 9901 §7.1 (5)",
    BrokenRule::Invalid,
);
const DISCLOSURES_FIT: Law = Law::new(
    "disclosures_fit",
    "RFC 9901 §7.1 (3.c)",
    BrokenRule::Invalid,
);
const CLAIM_NAMES: Law = Law::new(
    "claim_names",
    "RFC 9901 §4.1, §7.1 (3.c.ii.2)",
    BrokenRule::Invalid,
);
const NO_COLLISION: Law = Law::new(
    "no_collision",
    "RFC 9901 §7.1 (3.c.ii.3)",
    BrokenRule::Invalid,
);
const VCT: Law = Law::new("vct", "SD-JWT VC §2.2.2.1", BrokenRule::Invalid);
const AKA_VCTS: Law = Law::new("aka_vcts", "SD-JWT VC §2.2.2.2", BrokenRule::Invalid);
const ISSUER_CLAIM: Law = Law::new("issuer_claim", "RFC 7519 §4.1.1", BrokenRule::Invalid);
const NEVER_DISCLOSED: Law = Law::new("never_disclosed", "SD-JWT VC §2.2.2.3", BrokenRule::Invalid);
const KB_PRESENCE: Law = Law::new(
    "key_binding",
    "RFC 9901 §7.3 (1, 2), §4",
    BrokenRule::Invalid,
);
const KB_TYPE: Law = Law::new("holder_type", "RFC 9901 §7.3 (5.d)", BrokenRule::Invalid);
const KB_ALGORITHM: Law = Law::new(
    "holder_algorithm",
    "RFC 9901 §7.3 (5.b)",
    BrokenRule::Invalid,
);
const KB_KEY: Law = Law::new("holder_key", "RFC 9901 §7.3 (5.a)", BrokenRule::Invalid);
const KB_SIGNATURE: Law = Law::new(
    "holder_signature",
    "RFC 9901 §7.3 (5.c)",
    BrokenRule::Invalid,
);
const KB_SD_HASH: Law = Law::new("sd_hash", "RFC 9901 §7.3 (5.g)", BrokenRule::Invalid);

/// Every rule for an SD-JWT VC.
pub(crate) const LAWS: &[&Law] = &[
    &WELL_FORMED,
    &TYPE,
    &issuer::ALGORITHM,
    &DIGEST_ALGORITHM,
    &DIGESTS_UNIQUE,
    &DISCLOSURES_REFERENCED,
    &DISCLOSURES_FIT,
    &CLAIM_NAMES,
    &NO_COLLISION,
    &VCT,
    &AKA_VCTS,
    &ISSUER_CLAIM,
    &NEVER_DISCLOSED,
    &issuer::ISSUER_KEY,
    &issuer::KEYS_AS_OF,
    &issuer::CERTIFICATE_CHAIN,
    &issuer::ISSUER_SIGNATURE,
    &issuer::ISSUER_TRUSTED,
    &KB_PRESENCE,
    &KB_TYPE,
    &KB_ALGORITHM,
    &KB_KEY,
    &KB_SIGNATURE,
    &holder::TIME,
    &holder::AUDIENCE,
    &holder::NONCE,
    &KB_SD_HASH,
    &issuer::TIMES,
    &issuer::NOT_BEFORE,
    &issuer::EXPIRY,
    &status::REFERENCE,
    &status::LIST,
    &status::LIST_SIGNATURE,
    &status::LIST_FRESH,
    &status::STATUS,
    &single_use::REFERENCE,
    &single_use::SINGLE_USE,
];

/// Reads an SD-JWT VC, or a presentation of one.
pub(super) fn read(raw: &str, budget: &mut Budget) -> Result<Arc<dyn Subject>, Malformed> {
    let sd_jwt = SdJwt::parse_within(raw, budget).map_err(malformed)?;
    Ok(Arc::new(ReceivedSdJwt {
        processed: sd_jwt.process().map(Arc::new),
        sd_jwt: Arc::new(sd_jwt),
    }))
}

pub(super) fn malformed(error: SdJwtError) -> Malformed {
    let law = match error {
        SdJwtError::Algorithm => &issuer::ALGORITHM,
        SdJwtError::DigestAlgorithm => &DIGEST_ALGORITHM,
        _ => &WELL_FORMED,
    };
    Malformed::new(law, &error)
}

fn references(sd_jwt: &SdJwt) -> Result<Vec<Reference>, StatusError> {
    Ok(Reference::in_jwt_claims(sd_jwt.payload())?
        .into_iter()
        .collect())
}

/// `iss` and `status` are read from the payload itself: a disclosure can't contain them.
fn claimed<'a>(sd_jwt: &'a SdJwt, court: &Court<'a>) -> Claimed<'a> {
    Claimed {
        header: &sd_jwt.jwt().header,
        id: sd_jwt.payload().get("iss").and_then(Value::as_str),
        relationship: Relationship::AssertionMethod,
        dids_allowed: court.policy.accept_did_issuers,
        certificates_alone: court.policy.certificates_alone,
        roots: court.roots(),
    }
}

/// An SD-JWT as it was received, and the result of its processing.
#[derive(Debug)]
pub(super) struct ReceivedSdJwt {
    pub sd_jwt: Arc<SdJwt>,
    pub processed: Result<Arc<Processed>, ProcessError>,
}

impl Subject for ReceivedSdJwt {
    fn needs(&self, court: &Court<'_>) -> Vec<Need> {
        let stated = status::Stated {
            token: self.sd_jwt.jwt(),
            claimed: claimed(&self.sd_jwt, court),
            references: references(&self.sd_jwt).unwrap_or_default(),
            further: single_use::need(self.sd_jwt.payload(), court.evidence),
        };
        status::needs(stated, court)
    }

    fn judge(&self, expected: Option<&Binding>, court: &Court<'_>) -> (Verdict, Option<&Value>) {
        let mut list = Checklist::new(&[LAWS]);
        judge(self, expected, court, &mut list);
        let processed = self.processed.as_ref().ok();
        list.conclude(processed.map(|processed| &processed.claims))
    }

    fn withheld(&self) -> Option<&Withheld> {
        let processed = self.processed.as_ref().ok();
        processed.map(|processed| &processed.withheld)
    }
}

fn judge(
    received: &ReceivedSdJwt,
    expected: Option<&Binding>,
    court: &Court<'_>,
    list: &mut Checklist,
) {
    let ReceivedSdJwt { sd_jwt, processed } = received;
    list.passes(&WELL_FORMED, "");
    list.check(
        &TYPE,
        describe::has_type(sd_jwt),
        "the header's typ is not dc+sd-jwt",
    );
    issuer::algorithm(sd_jwt.jwt(), court, list);
    list.passes(&DIGEST_ALGORITHM, sd_jwt.digest_algorithm().as_str());
    disclosures(processed, list);
    list.check(
        &VCT,
        describe::names_its_type(sd_jwt),
        "the claim vct is missing",
    );
    list.check(
        &AKA_VCTS,
        describe::names_its_other_types(sd_jwt),
        "aka_vcts is not as specified",
    );
    list.check(
        &ISSUER_CLAIM,
        describe::names_its_issuer_as_specified(sd_jwt),
        "iss is not a string",
    );
    let claimed = claimed(sd_jwt, court);
    let signed = issuer::signature(sd_jwt.jwt(), &claimed, court, list);
    let identity = signed.as_ref().map(|signed| IssuerIdentity {
        id: claimed.id,
        leaf: signed.leaf(),
    });
    if let Some(identity) = &identity {
        issuer::trust(identity, &describe::types(sd_jwt), court, list);
    }
    key_binding(sd_jwt, expected, court, list);
    let validity = validity(sd_jwt, processed);
    issuer::validity(validity, court, list);
    if let Some(identity) = &identity {
        status::judge(references(sd_jwt), &claimed, identity, court, list);
        let claims = single_use::Claims {
            signed: sd_jwt.payload(),
            disclosed: processed.as_ref().ok().map(|processed| &processed.claims),
        };
        single_use::judge(claims, identity, court, list);
    }
}

/// The validity period in the payload. `iat` may have been disclosed (SD-JWT VC §2.2.2.3), and must be a time then too.
fn validity(
    sd_jwt: &SdJwt,
    processed: &Result<Arc<Processed>, ProcessError>,
) -> Result<Validity, BadTime> {
    if let Ok(processed) = processed {
        numeric_date(processed.claims.get("iat"))?;
    }
    let claims = sd_jwt.payload().as_object();
    claims.map_or(Ok(Validity::default()), Validity::of_jwt)
}

/// RFC 9901 §7.1, steps 3 to 5; the first failing step ends the processing.
fn disclosures(processed: &Result<Arc<Processed>, ProcessError>, list: &mut Checklist) {
    let order: [&'static Law; 5] = [
        &DIGESTS_UNIQUE,
        &DISCLOSURES_REFERENCED,
        &DISCLOSURES_FIT,
        &CLAIM_NAMES,
        &NO_COLLISION,
    ];
    match processed {
        Ok(processed) => {
            for law in order {
                list.passes(law, "");
            }
            let may = describe::discloses_only_what_it_may(processed);
            list.check(
                &NEVER_DISCLOSED,
                may,
                "a claim was selectively disclosed that must not be",
            );
        }
        Err(error) => {
            let law = match error {
                ProcessError::DuplicateDigest => &DIGESTS_UNIQUE,
                ProcessError::Unreferenced => &DISCLOSURES_REFERENCED,
                ProcessError::Shape | ProcessError::TooDeep | ProcessError::TooLarge => {
                    &DISCLOSURES_FIT
                }
                ProcessError::ReservedName | ProcessError::Malformed => &CLAIM_NAMES,
                ProcessError::Collision => &NO_COLLISION,
            };
            list.fails(law, error.to_string());
        }
    }
}

/// RFC 9901 §7.3. Whether key binding is required is the verifier's decision, never the presentation's.
fn key_binding(
    sd_jwt: &SdJwt,
    expected: Option<&Binding>,
    court: &Court<'_>,
    list: &mut Checklist,
) {
    let (binding, expected) = match (sd_jwt.key_binding(), expected) {
        (Some(binding), Some(expected)) => (binding, expected),
        (None, None) => return list.skips(&KB_PRESENCE, "not required"),
        (Some(_), None) => {
            return list.fails(&KB_PRESENCE, "there is key binding, but none is expected");
        }
        (None, Some(_)) => return list.fails(&KB_PRESENCE, "there is no key binding"),
    };
    list.passes(&KB_PRESENCE, "");
    let header = &binding.jwt().header;
    let typed = header.is_of_type(key_binding::TYP);
    list.check(&KB_TYPE, typed, "the header's typ is not kb+jwt");
    let accepted = court.policy.accepts(header.alg);
    list.check(
        &KB_ALGORITHM,
        accepted,
        "the policy does not accept the signature algorithm",
    );
    holder_signature(sd_jwt, binding.jwt(), list);
    holder::time(binding.claims(), true, court, list);
    audience(binding, expected, list);
    holder::nonce(binding.claims(), expected, list);
    let stated = binding
        .claims()
        .get("sd_hash")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let same = ct_eq(stated.as_bytes(), sd_jwt.sd_hash().as_bytes());
    list.check(
        &KB_SD_HASH,
        same,
        "the key binding is for other disclosures",
    );
}

/// RFC 9901 §7.3 (5.a, 5.c): the key is the one that the issuer confirmed, not one that the holder provides.
fn holder_signature(sd_jwt: &SdJwt, jwt: &jws::Compact, list: &mut Checklist) {
    let jwk = sd_jwt.payload().get("cnf").and_then(|cnf| cnf.get("jwk"));
    let Some(jwk) = jwk else {
        return list.fails(&KB_KEY, "the issuer confirmed no holder's key by cnf.jwk");
    };
    let key = Jwk::from_value(jwk)
        .ok()
        .filter(|jwk| jwk.may_verify(jwt.header.alg))
        .and_then(|jwk| PublicKey::from_jwk(&jwk).ok());
    let Some(key) = key else {
        return list.fails(&KB_KEY, "the holder's key in cnf.jwk cannot be used");
    };
    list.passes(&KB_KEY, "");
    let genuine = jwt.verify(&key).is_ok();
    list.check(
        &KB_SIGNATURE,
        genuine,
        "the key binding is not by the holder's key",
    );
}

/// RFC 9901 §4.3: `aud` is a single string here.
fn audience(binding: &KeyBinding, expected: &Binding, list: &mut Checklist) {
    if binding.claims().get("aud").is_some_and(Value::is_string) {
        holder::audience(binding.claims(), expected, list);
    } else {
        list.fails(&holder::AUDIENCE, "aud is not a single string");
    }
}
