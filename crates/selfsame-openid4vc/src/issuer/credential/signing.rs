//! Credentials in their formats, signed.

use selfsame_credential::{
    Format,
    evidence::{Evidence, Need, SignatureRequest, Step},
    format::{
        Profile,
        cwt::{self, CoseDraft, CoseStatus, CoseSubject, CoseVc},
        ldp_vc::{self, LdpIssue},
        mso_mdoc::MdocIssue,
        sd_jwt_vc, w3c,
    },
    sd_jwt::DigestAlgorithm,
    signer::{Signer, Unsigned},
    status::Reference,
    w3c::Model,
};
use selfsame_crypto::{ctx::Ctx, time::UnixTime};
use selfsame_did::jwk;
use serde_json::{Value, json};

use super::{CredentialCall, Status};
use crate::error::Error;
use crate::issuer::EnforcedConfiguration;
use crate::issuer::proof::{Holder, ProvenHolders};

/// A credential without its signature.
enum CredentialDraft {
    SdJwt(Box<sd_jwt_vc::Draft>),
    Jwt(Box<Unsigned>),
    Compact(Box<CoseDraft>),
    /// Each signature is made in a step of its own.
    Signed(Step<String>),
}

/// Signs a credential for each key that was proven.
pub(super) fn sign(
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
