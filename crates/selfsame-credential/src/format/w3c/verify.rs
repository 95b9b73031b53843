//! The rules of VCDM 1.1 and 2.0 as JWTs, in the order in which they are checked.

use std::sync::Arc;

use selfsame_crypto::{PublicKey, jws};
use selfsame_did::Relationship;
use selfsame_verdict::{BrokenRule, Checklist, Law};
use serde_json::Value;

use crate::{
    budget::Budget,
    evidence::{Evidence, Need},
    format::{sd_jwt_form, view::Subject},
    issuer_key::{self, Claimed, Finding, IssuerIdentity},
    rules::{Binding, Court, IssuerStanding, Malformed, holder, issuer, status},
    sd_jwt::SdJwtError,
    verdict::Verdict,
    w3c::{Model, VcJwt, VcJwtError, VpJwt, rules},
};

const WELL_FORMED: Law = Law::new(
    "well_formed",
    "VCDM 1.1 §6.3.1, VC-JOSE-COSE §3.1",
    BrokenRule::Invalid,
);
const TYPE: Law = Law::new(
    "type_header",
    "VCDM 1.1 §6.3.1, VC-JOSE-COSE §3.1.1",
    BrokenRule::Invalid,
);
const CONTEXT: Law = Law::new(
    "context",
    "VCDM 1.1 §4.1, VCDM 2.0 §4.3",
    BrokenRule::Invalid,
);
const IDENTIFIER: Law = Law::new(
    "identifier",
    "VCDM 1.1 §4.2, VCDM 2.0 §4.4",
    BrokenRule::Invalid,
);
const CREDENTIAL_TYPE: Law = Law::new(
    "credential_type",
    "VCDM 1.1 §4.3, VCDM 2.0 §4.5",
    BrokenRule::Invalid,
);
const MEMBERS: Law = Law::new(
    "required_members",
    "VCDM 1.1 §4.4-4.6, VCDM 2.0 §4.7-4.8",
    BrokenRule::Invalid,
);
const CLAIMS_AGREE: Law = Law::new(
    "claims_agree",
    "VCDM 1.1 §6.3.1, VC-JOSE-COSE §3.1.3",
    BrokenRule::Invalid,
);
const HOLDER_TYPE: Law = Law::new(
    "holder_type",
    "VCDM 1.1 §6.3.1, VC-JOSE-COSE §3.1.2",
    BrokenRule::Invalid,
);
const PRESENTATION_TYPE: Law = Law::new(
    "presentation_type",
    "VCDM 1.1 §4.10, VCDM 2.0 §4.13",
    BrokenRule::Invalid,
);
const HOLDER_ALGORITHM: Law = Law::new("holder_algorithm", "RFC 8725 §3.1", BrokenRule::Invalid);
const HOLDER_KEY: Law = Law::new(
    "holder_key",
    "OpenID4VP §B.1.3, RFC 7800 §3, VCDM 2.0 §4.13",
    BrokenRule::Invalid,
);
const HOLDER_SIGNATURE: Law = Law::new("holder_signature", "RFC 7515 §5.2", BrokenRule::Invalid);

/// Every rule for a W3C credential.
pub(crate) const CREDENTIAL_LAWS: &[&Law] = &[
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

/// The additional rules for a presentation of one.
pub(crate) const HOLDER_LAWS: &[&Law] = &[
    &HOLDER_TYPE,
    &PRESENTATION_TYPE,
    &HOLDER_ALGORITHM,
    &HOLDER_KEY,
    &HOLDER_SIGNATURE,
    &holder::TIME,
    &holder::AUDIENCE,
    &holder::NONCE,
];

pub(in crate::format) fn read_credential(
    raw: &str,
    model: Model,
    budget: &mut Budget,
) -> Result<Arc<dyn Subject>, Malformed> {
    let credential = VcJwt::parse_within(raw, model, budget).map_err(malformed)?;
    // The last tilde is part of an SD-JWT. An SD-JWT that lost it looks like another JWT.
    if credential.jwt().header.is_of_type(sd_jwt_form::TYP) {
        return Err(Malformed::new(&sd_jwt_form::WELL_FORMED, &SdJwtError::Form));
    }
    Ok(Arc::new(BareCredential(Arc::new(credential))))
}

pub(in crate::format) fn read_presentation(
    raw: &str,
    model: Model,
    budget: &mut Budget,
) -> Result<Arc<dyn Subject>, Malformed> {
    let presentation = VpJwt::parse_within(raw, model, budget).map_err(malformed)?;
    Ok(Arc::new(ReceivedPresentation(presentation)))
}

pub(in crate::format) fn too_much() -> Malformed {
    malformed(VcJwtError::TooMuch)
}

/// A credential without a presentation.
#[derive(Debug)]
pub(super) struct BareCredential(pub Arc<VcJwt>);

/// A presentation of one credential.
#[derive(Debug)]
struct ReceivedPresentation(VpJwt);

impl Subject for BareCredential {
    fn needs(&self, court: &Court<'_>) -> Vec<Need> {
        needs(&self.0, None, court)
    }

    fn judge(&self, _: Option<&Binding>, court: &Court<'_>) -> (Verdict, Option<&Value>) {
        let mut list = Checklist::new(&[CREDENTIAL_LAWS]);
        judge(&self.0, court, &mut list);
        list.conclude(Some(self.0.credential()))
    }
}

impl Subject for ReceivedPresentation {
    fn needs(&self, court: &Court<'_>) -> Vec<Need> {
        let holder = holder_need(&self.0, court.evidence);
        needs(self.0.credential(), holder, court)
    }

    fn judge(&self, expected: Option<&Binding>, court: &Court<'_>) -> (Verdict, Option<&Value>) {
        let credential = self.0.credential();
        let mut list = Checklist::new(&[CREDENTIAL_LAWS, HOLDER_LAWS]);
        let issuer = judge(credential, court, &mut list);
        if let Some(expected) = expected {
            let proof = HolderProof {
                presentation: &self.0,
                issuer,
                expected,
            };
            judge_presentation(&proof, court, &mut list);
        }
        list.conclude(Some(credential.credential()))
    }
}

fn malformed(error: VcJwtError) -> Malformed {
    let law = match error {
        VcJwtError::Algorithm => &issuer::ALGORITHM,
        _ => &WELL_FORMED,
    };
    Malformed::new(law, &error)
}

/// The evidence that is needed to verify a credential and the `holder` that presents it.
fn needs(credential: &VcJwt, holder: Option<Need>, court: &Court<'_>) -> Vec<Need> {
    let stated = status::Stated {
        token: credential.jwt(),
        claimed: claimed(credential, court),
        references: credential.statuses().unwrap_or_default(),
        further: holder,
    };
    status::needs(stated, court)
}

fn claimed<'a>(credential: &'a VcJwt, court: &Court<'a>) -> Claimed<'a> {
    Claimed {
        header: &credential.jwt().header,
        id: credential.issuer(),
        relationship: Relationship::AssertionMethod,
        dids_allowed: true,
        certificates_alone: false,
        roots: court.roots(),
    }
}

fn judge(credential: &VcJwt, court: &Court<'_>, list: &mut Checklist) -> IssuerStanding {
    list.passes(&WELL_FORMED, "");
    let typed = rules::credential_has_type(credential);
    list.check(&TYPE, typed, "the header's typ is not that of a credential");
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
    let identity = signed.as_ref().map(|signed| IssuerIdentity {
        id: claimed.id,
        leaf: signed.leaf(),
    });
    if let Some(identity) = &identity {
        let types = credential.types();
        let own: Vec<&str> = types
            .into_iter()
            .filter(|name| *name != "VerifiableCredential")
            .collect();
        issuer::trust(identity, &own, court, list);
    }
    issuer::validity(credential.validity(), court, list);
    let Some(identity) = &identity else {
        return IssuerStanding::Stranger;
    };
    status::judge(credential.statuses(), &claimed, identity, court, list);
    match status::is_relied_upon(identity, court) {
        true => IssuerStanding::ReliedUpon,
        false => IssuerStanding::Stranger,
    }
}

/// The holder's DID, if it must be resolved.
fn holder_need(presentation: &VpJwt, evidence: &Evidence) -> Option<Need> {
    match holder_key(presentation, evidence) {
        Err(Finding::Missing(need)) => Some(need),
        _ => None,
    }
}

/// The key that must have signed: the one that the issuer confirmed, otherwise one of the subject's DID. So the signer
/// is the holder that the credential was issued to.
fn holder_key(presentation: &VpJwt, evidence: &Evidence) -> Result<PublicKey, Finding> {
    let credential = presentation.credential();
    if let Some(confirmed) = credential.confirmed_key() {
        let algorithm = presentation.jwt().header.alg;
        let key = confirmed
            .ok()
            .filter(|jwk| jwk.may_verify(algorithm))
            .and_then(|jwk| PublicKey::from_jwk(&jwk).ok());
        return key.ok_or(Finding::Refused(
            "the holder's key in cnf.jwk can't be used",
        ));
    }
    let Some(subject) = credential
        .subject()
        .filter(|subject| subject.starts_with("did:"))
    else {
        return Err(Finding::Refused(
            "the credential is bound neither to a key nor to a DID",
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
            "a holder can't be identified by a certificate",
        ));
    }
    let claimed = Claimed::of_did(header, subject, Relationship::Authentication);
    match issuer_key::find(&claimed, evidence) {
        Finding::Key(key) => Ok(*key),
        other => Err(other),
    }
}

/// The proof that the holder presents a credential.
struct HolderProof<'a> {
    presentation: &'a VpJwt,
    /// The issuer of the credential in it.
    issuer: IssuerStanding,
    /// The values that the proof must be bound to.
    expected: &'a Binding,
}

fn judge_presentation(proof: &HolderProof<'_>, court: &Court<'_>, list: &mut Checklist) {
    let HolderProof {
        presentation,
        issuer,
        expected,
    } = *proof;
    let typed = presentation.has_type();
    list.check(
        &HOLDER_TYPE,
        typed,
        "the header's typ is not that of a presentation",
    );
    let object = presentation.object();
    let named = rules::is_typed(object, "VerifiablePresentation")
        && rules::has_base_context(object, presentation.model());
    list.check(
        &PRESENTATION_TYPE,
        named,
        "the context or the type is not that of a presentation",
    );
    let accepted = court.policy.accepts(presentation.jwt().header.alg);
    list.check(
        &HOLDER_ALGORITHM,
        accepted,
        "the policy does not accept the signature algorithm",
    );
    match (holder_key(presentation, court.evidence), issuer) {
        (Err(Finding::Missing(_)), IssuerStanding::Stranger) => {
            let detail = "the DID was not resolved, since the issuer is not proven and trusted";
            list.skips(&HOLDER_KEY, detail);
            list.signer_unknown();
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
                "the presentation is not signed by the holder's key",
            );
        }
        Err(Finding::Refused(reason)) => list.fails(&HOLDER_KEY, reason),
        Err(Finding::Unavailable(reason)) => {
            list.fails_as(&HOLDER_KEY, BrokenRule::Unverifiable, reason);
        }
        Err(_) => {
            let detail = "the holder's DID has not been resolved";
            list.fails_as(&HOLDER_KEY, BrokenRule::Unverifiable, detail);
        }
    }
}
