//! Credentials and presentations of W3C's data models (VCDM 1.1, 2.0) with Data Integrity proofs, and the verdicts on
//! them. Nothing is fetched: [`methods_wanted`] says whose keys a judgement wants, and the rest is given. The status of
//! a credential is for the caller to judge.

mod laws;
mod model;
mod proofs;

use selfsame_crypto::PublicKey;
use selfsame_crypto::time::{UnixTime, seconds_of_rfc3339};
use selfsame_verdict::{Checklist, Verdict};
use serde_json::{Map, Value};

use crate::{Contexts, IntegrityError, ProofPurpose, Secured};

pub use model::{VcModel, has_required, id_of, is_typed, model_of};

/// Credentials of one presentation.
pub const CREDENTIALS_MAX: usize = 16;

/// By what credentials and presentations are judged.
#[derive(Clone, Copy, Debug)]
pub struct VcCourt<'a> {
    /// The time.
    pub now: UnixTime,
    /// The tolerated difference of clocks, in seconds.
    pub leeway: u64,
    /// The known contexts.
    pub contexts: &'a Contexts,
    /// The verification methods that were found.
    pub methods: &'a [KnownMethod<'a>],
}

/// A verification method, as its controller's document has it.
#[derive(Clone, Debug)]
pub struct KnownMethod<'a> {
    /// Its URL.
    pub url: &'a str,
    /// Its controller, in whose document it was found.
    pub controller: &'a str,
    /// What the document allows it for.
    pub purposes: &'a [ProofPurpose],
    /// Its key.
    pub key: PublicKey,
}

/// What a presentation was asked for with.
#[derive(Clone, Copy, Debug)]
pub struct VcRequest<'a> {
    /// What it must answer; in OpenID4VP the nonce.
    pub challenge: &'a str,
    /// For whom it must be; in OpenID4VP the client identifier. `None` if that does not matter.
    pub domain: Option<&'a str>,
}

/// A credential whose every rule that concerns its authenticity holds.
#[derive(Clone, Debug)]
pub struct VerifiedCredential {
    /// The version of the data model.
    pub model: VcModel,
    /// Its issuer.
    pub issuer: String,
    /// What the issuer signed, without proofs.
    pub document: Map<String, Value>,
}

/// Who made a presentation, and the credentials in it, on which nothing was judged.
#[derive(Clone, Debug)]
pub struct ProvenPresentation<'d> {
    /// Its holder.
    pub holder: String,
    /// Its credentials, as they stand in it.
    pub credentials: Vec<&'d Value>,
}

/// A presentation whose every rule that concerns its authenticity holds.
#[derive(Clone, Debug)]
pub struct VerifiedPresentation {
    /// Its holder.
    pub holder: String,
    /// Its credentials, each with its verdict.
    pub credentials: Vec<(Verdict, Option<VerifiedCredential>)>,
}

/// The verification methods whose keys a judgement of this document wants, those of its credentials included.
///
/// # Errors
/// [`IntegrityError`] if the document cannot be read.
pub fn methods_wanted(document: &Value) -> Result<Vec<String>, IntegrityError> {
    let secured = Secured::of(document.clone())?;
    let mut wanted: Vec<String> = secured
        .proofs()
        .iter()
        .map(|one| one.method.clone())
        .collect();
    for credential in model::credentials(secured.document())? {
        let inner = Secured::of(credential.clone())?;
        wanted.extend(inner.proofs().iter().map(|one| one.method.clone()));
    }
    wanted.sort_unstable();
    wanted.dedup();
    Ok(wanted)
}

/// The verdict on a credential, and the credential if it is genuine.
pub fn verify_credential(
    document: &Value,
    court: &VcCourt<'_>,
) -> (Verdict, Option<VerifiedCredential>) {
    let mut list = Checklist::new(laws::OF_CREDENTIALS);
    let secured = match Secured::of(document.clone()) {
        Ok(secured) => secured,
        Err(error) => {
            list.fails(&laws::READABLE, error.to_string());
            return list.conclude(None);
        }
    };
    list.passes(&laws::READABLE, "");
    let members = secured.document();
    let model = model::judge(members, court.contexts, &mut list);
    list.check(
        &laws::TYPE,
        is_typed(members, "VerifiableCredential"),
        "the type is missing",
    );
    let issuer = members.get("issuer").and_then(id_of);
    let is_whole = model.is_some_and(|model| has_required(members, model));
    list.check(
        &laws::MEMBERS,
        is_whole,
        "a required member is missing or malformed",
    );
    let asked = proofs::AskedProof {
        by: issuer,
        purpose: ProofPurpose::AssertionMethod,
        request: None,
    };
    proofs::judge(&secured, &asked, court, &mut list);
    if let Some(model) = model {
        judge_times(members, model, court, &mut list);
    }
    let verified = model.zip(issuer).map(|(model, issuer)| VerifiedCredential {
        model,
        issuer: issuer.to_owned(),
        document: members.clone(),
    });
    list.conclude(verified)
}

/// The verdict on a presentation and on each of its credentials. The verdict on the presentation concerns itself alone.
/// One without a credential is refused.
pub fn verify_presentation(
    document: &Value,
    request: &VcRequest<'_>,
    court: &VcCourt<'_>,
) -> (Verdict, Option<VerifiedPresentation>) {
    let (verdict, proven) = presentation(document, &LeastPresented(request, 1), court);
    let verified = proven.map(|proven| VerifiedPresentation {
        holder: proven.holder,
        credentials: proven
            .credentials
            .into_iter()
            .map(|one| verify_credential(one, court))
            .collect(),
    });
    (verdict, verified)
}

/// The verdict on a presentation alone, which may be without credentials (VCDM 2.0 §4.13).
pub fn judge_presentation<'d>(
    document: &'d Value,
    request: &VcRequest<'_>,
    court: &VcCourt<'_>,
) -> (Verdict, Option<ProvenPresentation<'d>>) {
    presentation(document, &LeastPresented(request, 0), court)
}

/// A request, and how many credentials must be presented at least.
struct LeastPresented<'a>(&'a VcRequest<'a>, usize);

fn presentation<'d>(
    document: &'d Value,
    asked: &LeastPresented<'_>,
    court: &VcCourt<'_>,
) -> (Verdict, Option<ProvenPresentation<'d>>) {
    let mut list = Checklist::new(laws::OF_PRESENTATIONS);
    let secured = match Secured::of(document.clone()) {
        Ok(secured) => secured,
        Err(error) => {
            list.fails(&laws::READABLE, error.to_string());
            return list.conclude(None);
        }
    };
    list.passes(&laws::READABLE, "");
    let members = secured.document();
    model::judge(members, court.contexts, &mut list);
    list.check(
        &laws::TYPE,
        is_typed(members, "VerifiablePresentation"),
        "the type is missing",
    );
    let LeastPresented(request, least) = *asked;
    let presented = document.as_object().map(model::credentials);
    let credentials = match presented {
        Some(Ok(credentials)) if credentials.len() >= least => credentials,
        _ => {
            list.fails(
                &laws::MEMBERS,
                "there is no credential, or there are too many",
            );
            return list.conclude(None);
        }
    };
    list.passes(&laws::MEMBERS, "");
    let asked = proofs::AskedProof {
        by: members.get("holder").and_then(id_of),
        purpose: ProofPurpose::Authentication,
        request: Some(request),
    };
    let holder = proofs::judge(&secured, &asked, court, &mut list);
    list.conclude(holder.map(|holder| ProvenPresentation {
        holder,
        credentials,
    }))
}

/// VCDM 1.1 §4.6, §4.8; VCDM 2.0 §4.9.
fn judge_times(
    members: &Map<String, Value>,
    model: VcModel,
    court: &VcCourt<'_>,
    list: &mut Checklist,
) {
    let (from, until) = model.dates();
    let time = |name: &str| match members.get(name) {
        None => Ok(None),
        Some(value) => value
            .as_str()
            .and_then(seconds_of_rfc3339)
            .map(Some)
            .ok_or(()),
    };
    let (Ok(from), Ok(until)) = (time(from), time(until)) else {
        list.fails(&laws::TIMES, "a date is malformed");
        return;
    };
    let is_ordered = from.zip(until).is_none_or(|(from, until)| from <= until);
    list.check(&laws::TIMES, is_ordered, "it ends before it begins");
    let seconds = |time: UnixTime| i64::try_from(time.0).unwrap_or(i64::MAX);
    let latest = seconds(court.now.plus(court.leeway));
    let earliest = seconds(court.now.minus(court.leeway));
    list.check(
        &laws::NOT_BEFORE,
        from.is_none_or(|from| from <= latest),
        "it is not valid yet",
    );
    list.check(
        &laws::EXPIRY,
        until.is_none_or(|until| until >= earliest),
        "it has expired",
    );
}

#[cfg(test)]
mod tests;
