//! The credential endpoint: checks key proofs and issues credentials (OpenID4VCI 1.0 §8).

use selfsame_attestation::key;
use selfsame_credential::{
    ClaimPath, Format,
    evidence::{Evidence, Need, SignatureRequest, Step},
    format::{
        Profile,
        cwt::{self, CoseDraft, CoseStatus, CoseSubject, CoseVc},
        ldp_vc::{self, LdpIssue},
        mso_mdoc::MdocIssue,
        sd_jwt_vc, w3c,
    },
    mdoc::issue::IssuedNamespace,
    sd_jwt::DigestAlgorithm,
    signer::{Signer, Unsigned},
    status::Reference,
    w3c::Model,
};
use selfsame_crypto::{
    PublicKey, ctx::Ctx, encoding::base64url_encode, hash::sha256, time::UnixTime,
};
use selfsame_did::{Did, jwk};
use selfsame_oauth::{Code, Error as OAuthError};
use serde_json::{Map, Value, json};

use super::{
    EnforcedConfiguration, Given, Granted, Issuance, IssuanceState, IssuerSettings,
    proof::{self, Holder, ProvenHolders},
};
use crate::{
    error::{CredentialCode, Error},
    wire::credential::{CredentialRequest, CredentialResponse, WantedCredential},
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
}

struct CredentialCall<'a> {
    granted: &'a Granted,
    request: &'a CredentialRequest,
    content: &'a CredentialContent,
    settings: &'a IssuerSettings,
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
    if ctx.now() >= call.granted.expires {
        return Err(OAuthError::new(Code::InvalidToken, "the access token has expired").into());
    }
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
    let configuration = call
        .settings
        .metadata
        .configuration(configuration_id)
        .ok_or_else(|| {
            Error::credential(
                CredentialCode::UnknownCredentialConfiguration,
                "the credential configuration is no longer issued",
            )
        })?;
    let proven = match prove(call, configuration, evidence, ctx)? {
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
        Step::Done(proven) => proven,
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

fn prove(
    call: &CredentialCall<'_>,
    configuration: &EnforcedConfiguration,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<ProvenHolders>, Error> {
    let refuse = |reason: &str| Err(Error::credential(CredentialCode::InvalidProof, reason));
    let (proofs, attestation) = (&call.request.proofs, &call.request.attestation);
    let Some(accepted) = &configuration.proofs else {
        return match proofs.is_some() || attestation.is_some() {
            true => refuse("this credential accepts no proofs"),
            false => Ok(Step::Done(ProvenHolders::default())),
        };
    };
    let rules = proof::Rules {
        settings: call.settings,
        accepted,
        granted: call.granted,
    };
    match (proofs, attestation) {
        (Some(jwts), _) => proof::verify(&rules, jwts, evidence, ctx.now()),
        (None, Some(attestation)) => proof::attested(&rules, attestation, ctx.now()),
        (None, None) => refuse("proofs are required for this credential"),
    }
}

/// A credential without its signature.
enum CredentialDraft {
    SdJwt(Box<sd_jwt_vc::Draft>),
    Jwt(Box<Unsigned>),
    Compact(Box<CoseDraft>),
    /// Each signature is made in a step of its own.
    Signed(Step<String>),
}

fn sign(
    call: &CredentialCall<'_>,
    configuration: &EnforcedConfiguration,
    proven: &ProvenHolders,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<Vec<String>>, Error> {
    let holders: Vec<Option<&Holder>> = match proven.holders.as_slice() {
        [] => vec![None],
        holders => holders.iter().map(Some).collect(),
    };
    let statuses = &call.content.statuses;
    if !statuses.is_empty() && statuses.len() < holders.len() {
        let reason = "there are fewer status entries than credentials";
        return Err(Error::Setup(reason.to_owned()));
    }
    let signer = &call.content.signer;
    let (mut credentials, mut needs) = (Vec::with_capacity(holders.len()), Vec::new());
    for (position, holder) in holders.into_iter().enumerate() {
        let one = One {
            configuration,
            holder,
            position,
            status: statuses.get(position),
        };
        let signed = match draft(call, &one, evidence, ctx)? {
            CredentialDraft::Signed(step) => step,
            CredentialDraft::SdJwt(draft) => draft.step(evidence),
            CredentialDraft::Jwt(unsigned) => unsigned.step(evidence),
            CredentialDraft::Compact(draft) => compact_signed(*draft, signer, evidence),
        };
        match signed {
            Step::Done(credential) => credentials.push(credential),
            Step::Needs(more) => needs.extend(more),
        }
    }
    Ok(if needs.is_empty() {
        Step::Done(credentials)
    } else {
        Step::Needs(needs)
    })
}

struct One<'a> {
    configuration: &'a EnforcedConfiguration,
    holder: Option<&'a Holder>,
    position: usize,
    status: Option<&'a Status>,
}

fn draft(
    call: &CredentialCall<'_>,
    one: &One<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<CredentialDraft, Error> {
    let format = one.configuration.format;
    match format.describe().profile {
        Profile::SdJwtVc => sd_jwt(call, one, ctx),
        Profile::W3c => w3c(call, one, format, ctx.now()),
        Profile::DataIntegrity => integrity(call, one, evidence, ctx.now()),
        Profile::Mdoc => mdoc(call, one, evidence, ctx),
        Profile::Compact => compact(call, one, ctx.now()),
    }
}

fn sd_jwt(call: &CredentialCall<'_>, one: &One<'_>, ctx: &Ctx) -> Result<CredentialDraft, Error> {
    let content = call.content;
    let vct = one.configuration.vct.as_deref().unwrap_or_default();
    let issued_at = ctx.now().rounded_down(call.settings.round_times_to);
    let mut claims = content.claims.clone();
    claims.insert("iss".to_owned(), Value::from(content.issuer.as_str()));
    claims.insert("vct".to_owned(), Value::from(vct));
    claims.insert("iat".to_owned(), Value::from(issued_at.0));
    if let Some(expires) = content.expires {
        claims.insert(
            "exp".to_owned(),
            Value::from(call.settings.stated_end(expires, ctx.now()).0),
        );
    }
    if let Some(claim) = one.status.and_then(|status| status.claim.as_ref()) {
        claims.insert("status".to_owned(), claim.clone());
    }
    let issue = sd_jwt_vc::Issue {
        claims,
        disclosable: content.disclosable.clone(),
        decoys: content.decoys,
        cnf: one.holder.map(|holder| holder.key.to_jwk()),
        digest: DigestAlgorithm::Sha256,
        signer: content.signer.clone(),
        label: format!("issuer/credential/{}", one.position),
    };
    let draft = issue
        .draft(ctx)
        .map_err(|error| Error::Setup(error.to_string()))?;
    Ok(CredentialDraft::SdJwt(Box::new(draft)))
}

/// The member that names a schema (Verifiable Credentials JSON Schema Specification §2.1).
fn schema(address: &String) -> (String, Value) {
    let schema = json!({"id": address, "type": "JsonSchema"});
    ("credentialSchema".to_owned(), schema)
}

fn w3c(
    call: &CredentialCall<'_>,
    one: &One<'_>,
    format: Format,
    now: UnixTime,
) -> Result<CredentialDraft, Error> {
    let draft = w3c_content(call, one, format, now).draft();
    let draft = draft.map_err(|error| Error::Setup(error.to_string()))?;
    Ok(CredentialDraft::Jwt(Box::new(draft)))
}

/// A credential of data model 2.0 with a proof in the preferred suite of the issuer's key.
fn integrity(
    call: &CredentialCall<'_>,
    one: &One<'_>,
    evidence: &Evidence,
    now: UnixTime,
) -> Result<CredentialDraft, Error> {
    let setup = |reason: &str| Error::Setup(reason.to_owned());
    let suite = ldp_vc::suite_for(call.content.signer.algorithm, None);
    let issue = LdpIssue {
        content: w3c_content(call, one, one.configuration.format, now),
        model: Model::V2,
        suite: suite.ok_or_else(|| setup("the issuer's key is of no cryptosuite"))?,
    };
    let step = issue.step(evidence);
    step.map(CredentialDraft::Signed)
        .map_err(|error| setup(&error.to_string()))
}

fn w3c_content(
    call: &CredentialCall<'_>,
    one: &One<'_>,
    format: Format,
    now: UnixTime,
) -> w3c::Issue {
    let content = call.content;
    // A key without a DID is given a did:jwk: a W3C credential identifies its subject by an identifier.
    let subject = one.holder.map(|holder| match &holder.did {
        Some(did) => did.as_str().to_owned(),
        None => jwk::create(&holder.key).as_str().to_owned(),
    });
    w3c::Issue {
        format,
        issuer: content.issuer.clone(),
        subject,
        types: own_types(one.configuration),
        contexts: content.contexts.clone(),
        claims: content.claims.clone(),
        id: None,
        valid_from: now.rounded_down(call.settings.round_times_to),
        valid_until: content
            .expires
            .map(|expires| call.settings.stated_end(expires, now)),
        status: one.status.and_then(|status| status.member.clone()),
        token_status: one.status.and_then(|status| status.claim.clone()),
        cnf: None,
        further: content.schema.iter().map(schema).collect(),
        signer: content.signer.clone(),
    }
}

/// A document is always bound, since a presentation of it is by its holder's key.
fn mdoc(
    call: &CredentialCall<'_>,
    one: &One<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<CredentialDraft, Error> {
    let content = call.content;
    let setup = |reason: &str| Error::Setup(reason.to_owned());
    let holder = one
        .holder
        .ok_or_else(|| setup("an mdoc needs a proof of a key"))?;
    let end = content
        .expires
        .ok_or_else(|| setup("an mdoc needs an end"))?;
    let doctype = one.configuration.types.first();
    let status = one.status.and_then(|status| status.claim.as_ref());
    let status = status.map(Reference::in_status).transpose();
    let issue = MdocIssue {
        doc_type: doctype.ok_or_else(|| setup("an mdoc needs a document type"))?,
        namespaces: &content.namespaces,
        holder: &holder.key,
        valid_from: ctx.now().rounded_down(call.settings.round_times_to),
        valid_until: call.settings.stated_end(end, ctx.now()),
        status: status.map_err(|_| setup("an mdoc needs a place in a Token Status List"))?,
        decoys: content.decoys,
        signer: &content.signer,
        label: &format!("issuer/credential/{}", one.position),
    };
    let step = issue.step(evidence, ctx);
    step.map(CredentialDraft::Signed)
        .map_err(|error| setup(&error.to_string()))
}

/// A compact credential is always bound, since the proof of a handshake is by its subject's key.
fn compact(
    call: &CredentialCall<'_>,
    one: &One<'_>,
    now: UnixTime,
) -> Result<CredentialDraft, Error> {
    let content = call.content;
    let setup = |reason: &str| Error::Setup(reason.to_owned());
    let holder = one.holder;
    let holder = holder.ok_or_else(|| setup("a compact credential needs a proof of a key"))?;
    // A DID without a binary form leaves the key that proved it.
    let did = holder.did.clone().filter(|did| did.to_binary().is_some());
    let end = content.expires;
    let end = end.ok_or_else(|| setup("a compact credential needs an end"))?;
    let status = one.status.and_then(|status| status.claim.as_ref());
    let content = CoseVc {
        subject: did.map_or_else(|| CoseSubject::Key(holder.key.clone()), CoseSubject::Did),
        not_before: None,
        expires: call.settings.stated_end(end, now),
        types: own_types(one.configuration),
        claims: content.claims.clone(),
        status: status.map(place).transpose()?,
    };
    let draft = content.draft(&call.content.public);
    let draft = draft.map_err(|error| setup(&error.to_string()))?;
    Ok(CredentialDraft::Compact(Box::new(draft)))
}

/// The place that a claim `status` states (Token Status List §6.1).
fn place(status: &Value) -> Result<CoseStatus, Error> {
    let wrong =
        || Error::Setup("a compact credential needs a place in a Token Status List".to_owned());
    let found = Reference::in_status(status).map_err(|_| wrong())?;
    let Reference { uri, index, .. } = found;
    Ok(CoseStatus::List { index, uri })
}

fn compact_signed(draft: CoseDraft, signer: &Signer, evidence: &Evidence) -> Step<String> {
    let request = SignatureRequest {
        key: signer.key.clone(),
        bytes: draft.signing_bytes(),
    };
    match evidence.signature(&request) {
        Some(signature) => Step::Done(cwt::to_text(&draft.finish(signature))),
        None => Step::Needs(vec![Need::Signature(request)]),
    }
}

/// The types of a configuration besides the one that every credential has.
fn own_types(configuration: &EnforcedConfiguration) -> Vec<String> {
    let types = configuration.types.iter();
    let own = types.filter(|name| *name != "VerifiableCredential");
    own.cloned().collect()
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
