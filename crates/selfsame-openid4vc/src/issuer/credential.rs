//! The credential endpoint: checks key proofs and issues credentials (OpenID4VCI 1.0 §8).

mod signing;

use selfsame_attestation::key;
use selfsame_credential::{
    ClaimPath,
    evidence::{Evidence, Step},
    mdoc::issue::IssuedNamespace,
    signer::Signer,
};
use selfsame_crypto::{
    PublicKey, ctx::Ctx, encoding::base64url_encode, hash::sha256, time::UnixTime,
};
use selfsame_did::Did;
use selfsame_oauth::{Code, Error as OAuthError};
use serde_json::{Map, Value};

use super::{
    EnforcedConfiguration, Given, Granted, Issuance, IssuanceState, IssuerSettings,
    proof::{self, Holder, ProvenHolders},
};
use signing::sign;

use crate::{
    error::{CredentialCode, Error},
    wire::credential::{CredentialRequest, CredentialResponse, WantedCredential},
    wire::deferred::KeptHolder,
};

/// The content of the credentials of one data set.
#[derive(Clone, Debug)]
pub struct CredentialContent {
    /// The issuer's identifier within the credential: a DID or an https URL.
    pub issuer: String,
    /// The issuer's key.
    pub signer: Signer,
    /// The public key of the issuer's DID, by which verifiers of a compact credential find the issuer.
    pub public: PublicKey,
    /// The claims: for an SD-JWT VC its own claims, for a W3C credential those of its subject.
    pub claims: Map<String, Value>,
    /// The claims that the holder of an SD-JWT VC may withhold.
    pub disclosable: Vec<ClaimPath>,
    /// How many decoy digests hide the number of an SD-JWT VC's claims.
    pub decoys: usize,
    /// The elements of an mdoc by namespace, which stand in place of the claims.
    pub namespaces: Vec<IssuedNamespace>,
    /// The JSON-LD contexts of a W3C credential besides its model's own: URLs, or objects with terms.
    pub contexts: Vec<Value>,
    /// The address of the JSON Schema of a W3C credential (VCDM 2.0 §4.11).
    pub schema: Option<String>,
    /// The time at which the credential expires.
    pub expires: Option<UnixTime>,
    /// Whether further copies may be requested with the same access token (OpenID4VCI 1.0, "Multiple Accesses to the
    /// Credential Endpoint"). The copies of a single-use credential must come in one answer, since they count as one
    /// credential.
    pub further_copies: bool,
    /// The status references of the credentials, one per credential; empty if the credentials have no status.
    pub statuses: Vec<Status>,
}

/// A credential's status reference.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Status {
    /// The claim `status`, which any JWT may carry (Token Status List §6.1).
    pub claim: Option<Value>,
    /// The member `credentialStatus` of a W3C credential; an SD-JWT VC has none.
    pub member: Option<Value>,
}

/// A credential that was issued.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Issued {
    /// The configuration identifier.
    pub configuration_id: String,
    /// The status reference it was given.
    pub status: Option<Status>,
    /// The thumbprint of the holder's key; `None` for a credential without holder binding.
    pub holder: Option<String>,
}

/// How many credentials a request asks for: one for each key (Appendix F.1, F.3).
pub fn copies(request: &CredentialRequest) -> usize {
    match (&request.proofs, &request.attestation) {
        (Some(proofs), _) => proofs.len().max(key::count_in(proofs)),
        (None, Some(attestation)) => key::count(attestation).max(1),
        (None, None) => 1,
    }
}

/// The DIDs that a request's proofs use to name their keys; empty if the request has too many proofs.
pub fn dids_named(
    request: &CredentialRequest,
    settings: &IssuerSettings,
) -> impl Iterator<Item = Did> {
    let proofs = request.proofs.as_deref().unwrap_or_default();
    let few = proofs.len() <= settings.metadata.batch_size;
    proof::dids(if few { proofs } else { &[] })
}

/// How many status entries a request needs: 0 if it was answered before or will be denied. `further_copies` is the
/// field of its [`CredentialContent`].
pub fn entries_needed(
    granted: &Granted,
    request: &CredentialRequest,
    settings: &IssuerSettings,
    further_copies: bool,
) -> Result<usize, Error> {
    let configuration_id = configuration_of(granted, request, settings)?;
    let given = granted.issued.get(configuration_id);
    let given = given.map(Vec::as_slice).unwrap_or_default();
    let most = settings.metadata.batch_size;
    Ok(match answer_to(request, given) {
        Some(_) => 0,
        None if given.is_empty() => copies(request).min(most),
        None if further_copies && is_within(request, given, most) => copies(request),
        None => 0,
    })
}

/// The answer given to an identical earlier request.
fn answer_to<'a>(request: &CredentialRequest, given: &'a [Given]) -> Option<&'a Given> {
    let hash = sha256(request.to_json().as_bytes());
    given.iter().find(|given| given.request_hash == hash)
}

/// Whether a further request keeps the total within the batch size.
fn is_within(request: &CredentialRequest, given: &[Given], most: usize) -> bool {
    let numbers = given.iter().map(|given| given.response.credentials.len());
    let sum = numbers.fold(copies(request), usize::saturating_add);
    sum <= most
}

/// The credential configuration that a request asks for, checked against its access token (OpenID4VCI 1.0 §8.2).
pub fn configuration_of<'a>(
    granted: &'a Granted,
    request: &CredentialRequest,
    settings: &IssuerSettings,
) -> Result<&'a str, Error> {
    let refuse = |code, reason: &str| Err(Error::credential(code, reason));
    let with_identifiers = granted.credentials.values().any(Option::is_some);
    match &request.wanted {
        WantedCredential::CredentialIdentifier(wanted) => {
            let found = granted
                .credentials
                .iter()
                .find(|(_, id)| id.as_ref() == Some(wanted));
            match found {
                Some((configuration_id, _)) => Ok(configuration_id),
                None => refuse(
                    CredentialCode::UnknownCredentialIdentifier,
                    "the credential identifier is unknown",
                ),
            }
        }
        WantedCredential::CredentialConfigurationId(_) if with_identifiers => refuse(
            CredentialCode::InvalidCredentialRequest,
            "the token response has credential identifiers; one of them must be used",
        ),
        WantedCredential::CredentialConfigurationId(wanted) => {
            if settings.metadata.configuration(wanted).is_none() {
                return refuse(
                    CredentialCode::UnknownCredentialConfiguration,
                    "the credential configuration is unknown",
                );
            }
            let found = granted.credentials.get_key_value(wanted);
            found.map(|(id, _)| id.as_str()).ok_or_else(|| {
                let reason = "the access token does not cover this credential";
                OAuthError::new(Code::InsufficientScope, reason).into()
            })
        }
    }
}

/// A credential request, and what it is answered with.
#[derive(Clone, Copy, Debug)]
pub struct CredentialAsked<'a> {
    /// The request.
    pub request: &'a CredentialRequest,
    /// The content of the credentials.
    pub content: &'a CredentialContent,
    /// The issuer's configuration.
    pub settings: &'a IssuerSettings,
    /// The keys of a request that was deferred: they were proven when it came.
    pub proven: Option<&'a [KeptHolder]>,
}

/// A request, and what it is checked against.
pub(super) struct RequestInHand<'a> {
    pub granted: &'a Granted,
    pub request: &'a CredentialRequest,
    pub settings: &'a IssuerSettings,
}

struct CredentialCall<'a> {
    granted: &'a Granted,
    request: &'a CredentialRequest,
    content: &'a CredentialContent,
    settings: &'a IssuerSettings,
}

/// Refuses an access token that has expired.
pub(super) fn lasting(granted: &Granted, ctx: &Ctx) -> Result<(), Error> {
    match ctx.now() < granted.expires {
        true => Ok(()),
        false => Err(OAuthError::new(Code::InvalidToken, "the access token has expired").into()),
    }
}

/// A configuration that the issuer has.
pub(super) fn configuration_named<'a>(
    settings: &'a IssuerSettings,
    id: &str,
) -> Result<&'a EnforcedConfiguration, Error> {
    settings.metadata.configuration(id).ok_or_else(|| {
        Error::credential(
            CredentialCode::UnknownCredentialConfiguration,
            "the credential configuration is no longer issued",
        )
    })
}

pub(super) fn issue(
    granted: &Granted,
    asked: &CredentialAsked<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<Issuance>, Error> {
    let call = &CredentialCall {
        granted,
        request: asked.request,
        content: asked.content,
        settings: asked.settings,
    };
    lasting(granted, ctx)?;
    let configuration_id = configuration_of(call.granted, call.request, call.settings)?;
    let given = call.granted.issued.get(configuration_id);
    let given = given.map(Vec::as_slice).unwrap_or_default();
    // A wallet that lost the answer repeats the identical request.
    if let Some(answer) = answer_to(call.request, given) {
        return Ok(Step::Done(Issuance {
            state: IssuanceState::Granted(granted.clone()),
            spent: Vec::new(),
            issued: Vec::new(),
            response: answer.response.clone(),
        }));
    }
    check_further(call, given)?;
    let configuration = configuration_named(call.settings, configuration_id)?;
    let asking = RequestInHand {
        granted,
        request: asked.request,
        settings: asked.settings,
    };
    let proven = match asked.proven {
        Some(kept) => ProvenHolders::of(kept)?,
        None => match prove(&asking, configuration, evidence, ctx)? {
            Step::Needs(needs) => return Ok(Step::Needs(needs)),
            Step::Done(proven) => proven,
        },
    };
    check_fresh(&proven, given)?;
    let credentials = match sign(call, configuration, &proven, evidence, ctx)? {
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
        Step::Done(credentials) => credentials,
    };
    let response = CredentialResponse::of(credentials);
    let mut granted = call.granted.clone();
    let given = Given {
        request_hash: sha256(call.request.to_json().as_bytes()),
        response: response.clone(),
        holders: proven.holders.iter().map(thumbprint).collect(),
    };
    let answers = granted.issued.entry(configuration_id.to_owned());
    answers.or_default().push(given);
    Ok(Step::Done(Issuance {
        state: IssuanceState::Granted(granted),
        issued: issued(configuration_id, call.content, &proven),
        spent: proven.nonces,
        response,
    }))
}

// "Multiple Accesses to the Credential Endpoint": a token may be used several times, also for the same credential; some
// wallets fetch their copies one by one. The total must not exceed what one request may ask for.
fn check_further(call: &CredentialCall<'_>, given: &[Given]) -> Result<(), Error> {
    let most = call.settings.metadata.batch_size;
    if given.is_empty() || (call.content.further_copies && is_within(call.request, given, most)) {
        return Ok(());
    }
    Err(Error::credential(
        CredentialCode::CredentialRequestDenied,
        "the maximum number of copies of this credential has been issued with this access token",
    ))
}

// §8.3: each key binds at most one credential; two copies with one key would be the same credential twice.
fn check_fresh(proven: &ProvenHolders, given: &[Given]) -> Result<(), Error> {
    let bound = |holder: &Holder| {
        let thumbprint = thumbprint(holder);
        given
            .iter()
            .any(|given| given.holders.contains(&thumbprint))
    };
    if proven.holders.iter().any(bound) {
        return Err(Error::credential(
            CredentialCode::InvalidProof,
            "a copy with one of these keys has been issued with this access token",
        ));
    }
    Ok(())
}

fn thumbprint(holder: &Holder) -> String {
    base64url_encode(&holder.key.thumbprint())
}

/// Verifies the proofs of a request.
pub(super) fn prove(
    asking: &RequestInHand<'_>,
    configuration: &EnforcedConfiguration,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<ProvenHolders>, Error> {
    let refuse = |reason: &str| Err(Error::credential(CredentialCode::InvalidProof, reason));
    let (proofs, attestation) = (&asking.request.proofs, &asking.request.attestation);
    let Some(accepted) = &configuration.proofs else {
        return match proofs.is_some() || attestation.is_some() {
            true => refuse("this credential accepts no proofs"),
            false => Ok(Step::Done(ProvenHolders::default())),
        };
    };
    let rules = proof::Rules {
        settings: asking.settings,
        accepted,
        granted: asking.granted,
    };
    match (proofs, attestation) {
        (Some(jwts), _) => proof::verify(&rules, jwts, evidence, ctx.now()),
        (None, Some(attestation)) => proof::attested(&rules, attestation, ctx.now()),
        (None, None) => refuse("proofs are required for this credential"),
    }
}

fn issued(
    configuration_id: &str,
    content: &CredentialContent,
    proven: &ProvenHolders,
) -> Vec<Issued> {
    let copies = proven.holders.len().max(1);
    (0..copies)
        .map(|position| Issued {
            configuration_id: configuration_id.to_owned(),
            status: content.statuses.get(position).cloned(),
            holder: proven.holders.get(position).map(thumbprint),
        })
        .collect()
}
