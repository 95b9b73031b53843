//! The rules of VCDM 1.1 and 2.0 as JWTs, in the order they are judged.

use selfsame_crypto::{PublicKey, jws, time::UnixTime};
use selfsame_did::Relationship;

use super::{
    Binding, Court, Malformed,
    checklist::{Checklist, Failure, Law},
    holder, issuer, status,
};
use crate::{
    evidence::{Evidence, Need},
    issuer_key::{self, Claimed, Finding, Identity, Roots},
    vc_jwt::{VcJwt, VcJwtError, VpJwt, rules},
};

const WELL_FORMED: Law = Law::new(
    "well_formed",
    "VCDM 1.1 §6.3.1, VC-JOSE-COSE §3.1",
    Failure::Invalid,
);
const TYPE: Law = Law::new(
    "type_header",
    "VCDM 1.1 §6.3.1, VC-JOSE-COSE §3.1.1",
    Failure::Invalid,
);
const CONTEXT: Law = Law::new("context", "VCDM 1.1 §4.1, VCDM 2.0 §4.3", Failure::Invalid);
const IDENTIFIER: Law = Law::new(
    "identifier",
    "VCDM 1.1 §4.2, VCDM 2.0 §4.4",
    Failure::Invalid,
);
const CREDENTIAL_TYPE: Law = Law::new(
    "credential_type",
    "VCDM 1.1 §4.3, VCDM 2.0 §4.5",
    Failure::Invalid,
);
const MEMBERS: Law = Law::new(
    "required_members",
    "VCDM 1.1 §4.4-4.6, VCDM 2.0 §4.7-4.8",
    Failure::Invalid,
);
const CLAIMS_AGREE: Law = Law::new(
    "claims_agree",
    "VCDM 1.1 §6.3.1, VC-JOSE-COSE §3.1.3",
    Failure::Invalid,
);
const HOLDER_TYPE: Law = Law::new(
    "holder_type",
    "VCDM 1.1 §6.3.1, VC-JOSE-COSE §3.1.2",
    Failure::Invalid,
);
const PRESENTATION_TYPE: Law = Law::new(
    "presentation_type",
    "VCDM 1.1 §4.10, VCDM 2.0 §4.13",
    Failure::Invalid,
);
const HOLDER_ALGORITHM: Law = Law::new("holder_algorithm", "RFC 8725 §3.1", Failure::Invalid);
const HOLDER_KEY: Law = Law::new(
    "holder_key",
    "OpenID4VP §B.1.3, RFC 7800 §3, VCDM 2.0 §4.13",
    Failure::Invalid,
);
const HOLDER_SIGNATURE: Law = Law::new("holder_signature", "RFC 7515 §5.2", Failure::Invalid);

/// Every rule on a W3C credential.
pub(super) const CREDENTIAL_LAWS: &[&Law] = &[
    &WELL_FORMED,
    &TYPE,
    &issuer::ALGORITHM,
    &CONTEXT,
    &IDENTIFIER,
    &CREDENTIAL_TYPE,
    &MEMBERS,
    &CLAIMS_AGREE,
    &issuer::ISSUER_KEY,
    &issuer::KEYS_AS_OF,
    &issuer::CERTIFICATE_CHAIN,
    &issuer::ISSUER_SIGNATURE,
    &issuer::ISSUER_TRUSTED,
    &issuer::TIMES,
    &issuer::NOT_BEFORE,
    &issuer::EXPIRY,
    &status::REFERENCE,
    &status::LIST,
    &status::LIST_SIGNATURE,
    &status::LIST_FRESH,
    &status::STATUS,
];

/// The further rules on a presentation of one.
pub(super) const HOLDER_LAWS: &[&Law] = &[
    &HOLDER_TYPE,
    &PRESENTATION_TYPE,
    &HOLDER_ALGORITHM,
    &HOLDER_KEY,
    &HOLDER_SIGNATURE,
    &holder::TIME,
    &holder::AUDIENCE,
    &holder::NONCE,
];

pub(super) fn malformed(error: VcJwtError) -> Malformed {
    let law = match error {
        VcJwtError::Algorithm => &issuer::ALGORITHM,
        _ => &WELL_FORMED,
    };
    Malformed {
        law,
        detail: error.into(),
    }
}

/// What is missing to judge a credential, and its `holder` who presents it.
pub(super) fn needs(credential: &VcJwt, holder: Option<Need>, court: &Court<'_>) -> Vec<Need> {
    let references = credential.statuses().unwrap_or_default();
    let signed = (credential.jwt(), claimed(credential, court));
    status::needs(signed, (&references, holder), court)
}

fn claimed<'a>(credential: &'a VcJwt, court: &Court<'a>) -> Claimed<'a> {
    Claimed {
        header: &credential.jwt().header,
        id: credential.issuer(),
        relationship: Relationship::AssertionMethod,
        dids_allowed: true,
        roots: court.roots(),
    }
}

/// What a credential's issuer was found to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Issuer {
    /// The signature is his, and the policy trusts him: what he names may be fetched.
    ReliedUpon,
    /// Anything less.
    Stranger,
}

pub(super) fn judge(credential: &VcJwt, court: &Court<'_>, list: &mut Checklist) -> Issuer {
    list.passes(&WELL_FORMED, "");
    let typed = rules::credential_has_type(credential);
    list.check(&TYPE, typed, "the header's typ is that of something else");
    issuer::algorithm(credential.jwt(), court, list);
    let object = credential.credential().as_object();
    let model = credential.model();
    let context = object.is_some_and(|object| rules::has_base_context(object, model));
    list.check(
        &CONTEXT,
        context,
        "the first context is not the data model's",
    );
    let identified = rules::is_identified_as_specified(credential);
    list.check(&IDENTIFIER, identified, "the credential's id is not a URL");
    let named = object.is_some_and(|object| rules::is_typed(object, "VerifiableCredential"));
    list.check(
        &CREDENTIAL_TYPE,
        named,
        "the type VerifiableCredential is missing",
    );
    let complete = rules::has_required_members(credential);
    list.check(
        &MEMBERS,
        complete,
        "issuer, subject or date of issue is missing",
    );
    match credential.contradiction() {
        None => list.passes(&CLAIMS_AGREE, ""),
        Some(claim) => list.fails(&CLAIMS_AGREE, format!("the credential contradicts {claim}")),
    }
    let claimed = claimed(credential, court);
    let signed = issuer::signature(credential.jwt(), &claimed, court, list);
    let identity = signed.as_ref().map(|signed| Identity {
        id: claimed.id,
        leaf: signed.leaf(),
    });
    if let Some(identity) = &identity {
        let types = credential.types();
        let own: Vec<&str> = types
            .into_iter()
            .filter(|name| *name != "VerifiableCredential")
            .collect();
        issuer::trust(identity, &own, (court, list));
    }
    issuer::validity(credential.validity(), court, list);
    let Some(identity) = &identity else {
        return Issuer::Stranger;
    };
    status::judge(credential.statuses(), &claimed, identity, (court, list));
    match status::is_relied_upon(identity, court) {
        true => Issuer::ReliedUpon,
        false => Issuer::Stranger,
    }
}

/// The holder's DID, where it is to be resolved.
pub(super) fn holder_need(presentation: &VpJwt, evidence: &Evidence) -> Option<Need> {
    match holder_key(presentation, evidence) {
        Err(Finding::Missing(need)) => Some(need),
        _ => None,
    }
}

/// The key that must have signed: the one the issuer confirmed, else one of the subject's DID. So whoever signs
/// is the one the credential was issued to.
fn holder_key(presentation: &VpJwt, evidence: &Evidence) -> Result<PublicKey, Finding> {
    let credential = presentation.credential();
    if let Some(confirmed) = credential.confirmed_key() {
        let algorithm = presentation.jwt().header.alg;
        let key = confirmed
            .ok()
            .filter(|jwk| jwk.may_verify(algorithm))
            .and_then(|jwk| PublicKey::from_jwk(&jwk).ok());
        return key.ok_or(Finding::Refused(
            "the holder's key in cnf.jwk cannot be used",
        ));
    }
    let Some(subject) = credential
        .subject()
        .filter(|subject| subject.starts_with("did:"))
    else {
        return Err(Finding::Refused(
            "the credential is bound to no key and no DID",
        ));
    };
    if presentation.holders().any(|holder| holder != subject) {
        return Err(Finding::Refused(
            "the presentation's holder is not the credential's subject",
        ));
    }
    let header = &presentation.jwt().header;
    if header.x5c.is_some() {
        return Err(Finding::Refused(
            "a holder is not identified by certificate",
        ));
    }
    let claimed = Claimed {
        header,
        id: Some(subject),
        relationship: Relationship::Authentication,
        dids_allowed: true,
        roots: Roots {
            anchors: &[],
            now: UnixTime(0),
        },
    };
    match issuer_key::find(&claimed, evidence) {
        Finding::Key(key) => Ok(*key),
        other => Err(other),
    }
}

pub(super) fn judge_presentation(
    (presentation, issuer): (&VpJwt, Issuer),
    expected: &Binding,
    court: &Court<'_>,
    list: &mut Checklist,
) {
    let typed = rules::presentation_has_type(presentation);
    list.check(
        &HOLDER_TYPE,
        typed,
        "the header's typ is that of something else",
    );
    let object = presentation.object();
    let named = rules::is_typed(object, "VerifiablePresentation")
        && rules::has_base_context(object, presentation.model());
    list.check(
        &PRESENTATION_TYPE,
        named,
        "context or type is not that of a presentation",
    );
    let accepted = court.policy.accepts(presentation.jwt().header.alg);
    list.check(
        &HOLDER_ALGORITHM,
        accepted,
        "the policy does not accept the signature algorithm",
    );
    match (holder_key(presentation, court.evidence), issuer) {
        (Err(Finding::Missing(_)), Issuer::Stranger) => {
            let detail = "the DID was not looked for, since the issuer is not proven and trusted";
            list.skips(&HOLDER_KEY, detail);
            list.nobody_proven();
        }
        (key, _) => holder_signature(presentation.jwt(), key, list),
    }
    holder::time(presentation.payload(), false, court, list);
    holder::audience(presentation.payload(), expected, list);
    holder::nonce(presentation.payload(), expected, list);
}

fn holder_signature(jwt: &jws::Compact, key: Result<PublicKey, Finding>, list: &mut Checklist) {
    match key {
        Ok(key) => {
            list.passes(&HOLDER_KEY, "");
            let genuine = jwt.verify(&key).is_ok();
            list.check(
                &HOLDER_SIGNATURE,
                genuine,
                "the presentation is not by the holder's key",
            );
        }
        Err(Finding::Refused(reason)) => list.fails(&HOLDER_KEY, reason),
        Err(Finding::Unavailable(reason)) => {
            list.fails_as(&HOLDER_KEY, Failure::Unverifiable, reason);
        }
        Err(_) => {
            let detail = "the holder's DID has not been resolved";
            list.fails_as(&HOLDER_KEY, Failure::Unverifiable, detail);
        }
    }
}
