//! The rules for W3C credentials with Data Integrity proofs, and for presentations of them, in the order in which they
//! are checked.

use std::sync::Arc;

use selfsame_crypto::PublicKey;
use selfsame_crypto::hash::ct_eq;
use selfsame_data_integrity::vc::{has_required, is_typed, model_of};
use selfsame_data_integrity::{
    Contexts, ExpectedProof, IntegrityError, IntegrityProof, ProofPurpose,
};
use selfsame_did::Relationship;
use selfsame_verdict::{BrokenRule, Checklist, Law};
use serde_json::{Map, Value};

use super::proof::{ISSUER_KEY, ISSUER_SIGNATURE, OwnProof};
use super::read::{NotLdp, ReadLdp, ReadLdpPresentation};
use crate::budget::Budget;
use crate::evidence::{Evidence, Need};
use crate::format::view::Subject;
use crate::issuer_key::{self, Claimed, Finding, IssuerIdentity};
use crate::rules::{
    Binding, Court, IssuerStanding, Malformed, SignedToken, holder, issuer, status,
};
use crate::verdict::Verdict;

const WELL_FORMED: Law = Law::new(
    "well_formed",
    "Data Integrity §2.1, §4.5",
    BrokenRule::Invalid,
);
const CONTEXT: Law = Law::new(
    "context",
    "VCDM 1.1 §4.1, VCDM 2.0 §4.3, Data Integrity §2.4.1",
    BrokenRule::Invalid,
);
const CREDENTIAL_TYPE: Law = Law::new(
    "credential_type",
    "VCDM 1.1 §4.3, VCDM 2.0 §4.5",
    BrokenRule::Invalid,
);
const MEMBERS: Law = Law::new(
    "required_members",
    "VCDM 1.1 §4.2-4.10, VCDM 2.0 §4.4-4.13",
    BrokenRule::Invalid,
);
const PROOF_ASKED: Law = Law::new(
    "proof_purpose",
    "Data Integrity §2.1, §4.4",
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
    "OpenID4VP §B.1.3.2, VCDM 2.0 §4.13, Data Integrity §2.1",
    BrokenRule::Invalid,
);
const HOLDER_PURPOSE: Law = Law::new(
    "holder_proof_purpose",
    "OpenID4VP §B.1.3.2, Data Integrity §4.4",
    BrokenRule::Invalid,
);
const HOLDER_SIGNATURE: Law = Law::new(
    "holder_signature",
    "Data Integrity §4.4, §4.5",
    BrokenRule::Invalid,
);
const HOLDER_TIME: Law = holder::TIME.resting_on("Data Integrity §2.1");
const HOLDER_DOMAIN: Law = holder::AUDIENCE.resting_on("OpenID4VP §B.1.3.2, Data Integrity §4.4");
const HOLDER_CHALLENGE: Law = holder::NONCE.resting_on("OpenID4VP §B.1.3.2, Data Integrity §4.4");

/// Every rule for a credential.
pub(crate) const CREDENTIAL_LAWS: &[&Law] = &[
    &WELL_FORMED,
    &issuer::ALGORITHM,
    &CONTEXT,
    &CREDENTIAL_TYPE,
    &MEMBERS,
    &PROOF_ASKED,
    &ISSUER_KEY,
    &issuer::KEYS_AS_OF,
    &issuer::CERTIFICATE_CHAIN,
    &ISSUER_SIGNATURE,
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
    &PRESENTATION_TYPE,
    &HOLDER_KEY,
    &HOLDER_ALGORITHM,
    &HOLDER_PURPOSE,
    &HOLDER_SIGNATURE,
    &HOLDER_TIME,
    &HOLDER_DOMAIN,
    &HOLDER_CHALLENGE,
];

pub(super) fn read_credential(
    raw: &str,
    budget: &mut Budget,
) -> Result<Arc<dyn Subject>, Malformed> {
    let credential = ReadLdp::parse(raw, budget).map_err(malformed)?;
    Ok(Arc::new(BareLdp(Arc::new(credential))))
}

pub(super) fn read_presentation(
    raw: &str,
    budget: &mut Budget,
) -> Result<Arc<dyn Subject>, Malformed> {
    let presentation = ReadLdpPresentation::parse(raw, budget).map_err(malformed)?;
    Ok(Arc::new(ReceivedLdp(presentation)))
}

pub(super) fn too_much() -> Malformed {
    malformed(NotLdp::TooMuch)
}

fn malformed(error: NotLdp) -> Malformed {
    let law = match error {
        NotLdp::Model => &CONTEXT,
        NotLdp::Proof => &ISSUER_KEY,
        _ => &WELL_FORMED,
    };
    Malformed::new(law, &error)
}

/// A credential without a presentation.
#[derive(Debug)]
pub(super) struct BareLdp(pub Arc<ReadLdp>);

/// A presentation of one credential.
#[derive(Debug)]
struct ReceivedLdp(ReadLdpPresentation);

impl Subject for BareLdp {
    fn needs(&self, court: &Court<'_>) -> Vec<Need> {
        needs(&self.0, None, court)
    }

    fn judge(&self, _: Option<&Binding>, court: &Court<'_>) -> (Verdict, Option<&Value>) {
        let mut list = Checklist::new(&[CREDENTIAL_LAWS]);
        judge(&self.0, court, &mut list);
        list.conclude(Some(&self.0.credential))
    }
}

impl Subject for ReceivedLdp {
    fn needs(&self, court: &Court<'_>) -> Vec<Need> {
        let holder = match holder_key(&self.0, court.evidence) {
            Err(Finding::Missing(need)) => Some(need),
            _ => None,
        };
        needs(&self.0.credential, holder, court)
    }

    fn judge(&self, expected: Option<&Binding>, court: &Court<'_>) -> (Verdict, Option<&Value>) {
        let credential = &self.0.credential;
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
        list.conclude(Some(&credential.credential))
    }
}

fn needs(credential: &ReadLdp, holder: Option<Need>, court: &Court<'_>) -> Vec<Need> {
    let stated = status::Stated {
        token: &credential.own,
        claimed: issuer_claimed(credential),
        references: credential.statuses().unwrap_or_default(),
        further: holder,
    };
    status::needs(stated, court)
}

fn issuer_claimed(credential: &ReadLdp) -> Claimed<'_> {
    let issuer = credential.issuer().unwrap_or_default();
    Claimed::of_did(
        &credential.own.header,
        issuer,
        Relationship::AssertionMethod,
    )
}

fn judge(credential: &ReadLdp, court: &Court<'_>, list: &mut Checklist) -> IssuerStanding {
    list.passes(&WELL_FORMED, "");
    issuer::algorithm(&credential.own, court, list);
    judge_members(credential, list);
    if let Some(proof) = credential.own.proof() {
        let asked = is_asked(proof, ProofPurpose::AssertionMethod, court);
        record(&PROOF_ASKED, asked, list);
    }
    let claimed = issuer_claimed(credential);
    let signed = issuer::signature(&credential.own, &claimed, court, list);
    let identity = signed.as_ref().map(|signed| IssuerIdentity {
        id: claimed.id,
        leaf: signed.leaf(),
    });
    if let Some(identity) = &identity {
        let expanded = super::read::asked_types(&credential.credential);
        let types = credential.types();
        let own: Vec<&str> = types
            .into_iter()
            .filter(|name| *name != "VerifiableCredential")
            .collect();
        issuer::in_general(identity, &own, court, list);
        // A request names types as its queries do.
        let asked: Vec<&str> = own
            .into_iter()
            .chain(expanded.iter().map(String::as_str))
            .collect();
        issuer::for_request(identity, &asked, court, list);
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

fn judge_members(credential: &ReadLdp, list: &mut Checklist) {
    let empty = Map::new();
    let members = credential.members().unwrap_or(&empty);
    record(&CONTEXT, Contexts::known().check(members), list);
    list.check(
        &CREDENTIAL_TYPE,
        is_typed(members, "VerifiableCredential"),
        "the type VerifiableCredential is missing",
    );
    list.check(
        &MEMBERS,
        has_required(members, credential.model),
        "a required member is missing or malformed",
    );
}

/// The proof is for this purpose, and its times include now (Data Integrity §4.4).
fn is_asked(
    proof: &IntegrityProof,
    purpose: ProofPurpose,
    court: &Court<'_>,
) -> Result<(), IntegrityError> {
    let expected = ExpectedProof {
        purpose,
        domain: None,
        challenge: None,
        now: court.now,
        leeway: court.policy.leeway,
    };
    proof.check(&expected)
}

fn record(law: &'static Law, result: Result<(), IntegrityError>, list: &mut Checklist) {
    match result {
        Ok(()) => list.passes(law, ""),
        Err(error) => list.fails(law, error.to_string()),
    }
}

/// The key that must have signed: one of the subject's DID, for authentication. So the signer is the holder that the
/// credential was issued to.
fn holder_key<'p>(
    presentation: &'p ReadLdpPresentation,
    evidence: &Evidence,
) -> Result<(&'p OwnProof, PublicKey), Finding> {
    let subject = presentation.credential.subject();
    let Some(subject) = subject.filter(|subject| subject.starts_with("did:")) else {
        return Err(Finding::Refused("the credential is not bound to a DID"));
    };
    if presentation
        .holder()
        .is_some_and(|holder| holder != subject)
    {
        return Err(Finding::Refused(
            "the presentation's holder is not the credential's subject",
        ));
    }
    let Some(own) = &presentation.own else {
        return Err(Finding::Refused(
            "no proof is by a verification method of the credential's subject",
        ));
    };
    let claimed = Claimed::of_did(&own.header, subject, Relationship::Authentication);
    match issuer_key::find(&claimed, evidence) {
        Finding::Key(key) => Ok((own, *key)),
        other => Err(other),
    }
}

/// The proof that the holder presents a credential.
struct HolderProof<'a> {
    presentation: &'a ReadLdpPresentation,
    /// The issuer of the credential in it.
    issuer: IssuerStanding,
    /// The values that the proof must be bound to.
    expected: &'a Binding,
}

fn judge_presentation(one: &HolderProof<'_>, court: &Court<'_>, list: &mut Checklist) {
    let HolderProof {
        presentation,
        issuer,
        expected,
    } = *one;
    let members = &presentation.members;
    let is_presentation = is_typed(members, "VerifiablePresentation")
        && model_of(members).is_some()
        && Contexts::known().check(members).is_ok();
    list.check(
        &PRESENTATION_TYPE,
        is_presentation,
        "a context or the type is not that of a presentation",
    );
    let own = match (holder_key(presentation, court.evidence), issuer) {
        (Ok((own, key)), _) => {
            list.passes(&HOLDER_KEY, "");
            list.check(
                &HOLDER_SIGNATURE,
                own.is_signed(&key, court.evidence),
                "the presentation is not signed by the holder's key",
            );
            own
        }
        (Err(Finding::Missing(_)), IssuerStanding::Stranger) => {
            let detail = "the DID was not resolved, since the issuer is not proven and trusted";
            list.skips(&HOLDER_KEY, detail);
            return list.signer_unknown();
        }
        (Err(finding), _) => return no_key(finding, list),
    };
    let accepted = court.policy.accepts(own.algorithm());
    list.check(
        &HOLDER_ALGORITHM,
        accepted,
        "the policy does not accept the signature algorithm",
    );
    if let Some(proof) = own.proof() {
        judge_proof(proof, expected, court, list);
    }
}

fn no_key(finding: Finding, list: &mut Checklist) {
    match finding {
        Finding::Refused(reason) => list.fails(&HOLDER_KEY, reason),
        Finding::Unavailable(reason) => {
            list.fails_as(&HOLDER_KEY, BrokenRule::Unverifiable, reason);
        }
        _ => {
            let detail = "the holder's DID has not been resolved";
            list.fails_as(&HOLDER_KEY, BrokenRule::Unverifiable, detail);
        }
    }
}

/// The proof is for this verifier and answers its request: `domain` is the client identifier alone, `challenge` the
/// nonce.
fn judge_proof(
    proof: &IntegrityProof,
    expected: &Binding,
    court: &Court<'_>,
    list: &mut Checklist,
) {
    let asked = is_asked(proof, ProofPurpose::Authentication, court);
    record(&HOLDER_PURPOSE, asked, list);
    let is_recent = proof
        .created
        .is_none_or(|created| holder::is_recent(created, court));
    list.check(
        &HOLDER_TIME,
        is_recent,
        "the presentation was not made just now",
    );
    let is_for = proof.domain == [expected.audience.as_str()];
    list.check(
        &HOLDER_DOMAIN,
        is_for,
        "the presentation is for another verifier",
    );
    let challenge = proof.challenge.as_deref().unwrap_or_default();
    let answers = ct_eq(challenge.as_bytes(), expected.nonce.as_bytes());
    list.check(
        &HOLDER_CHALLENGE,
        answers,
        "the presentation answers another request",
    );
}
