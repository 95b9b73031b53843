//! Answers a request with presentations or a refusal (OpenID4VP 1.0 §8).

use std::collections::BTreeMap;

use selfsame_credential::{
    Held, Signer,
    evidence::{Evidence, Step},
    format::{
        Profile,
        ldp_vc::{self, LdpPresent},
        mso_mdoc::MdocPresent,
        sd_jwt_vc::KeyBindingClaims,
        w3c::Present,
    },
};
use selfsame_crypto::{Algorithm, ctx::Ctx, json};
use selfsame_did::DidUrl;
use serde_json::{Map, Value};
use url::Url;

use super::{
    Answering, AwaitingConsent, Choice, Declining, Delivery, Done, Failed, HolderKey, HolderNext,
    PresentationState, Verifier,
};
use crate::{
    dcql::CredentialQuery,
    error::{Error, PresentationCode},
    wire::{
        client_metadata::VpFormat,
        limits,
        request::{RefusedRequest, Request},
        response::{AuthorizationResponse, Receipt, VpResponse, VpToken, encryption_to, not_taken},
        transaction,
    },
};

/// Lifetime of a W3C presentation, in seconds.
const LIFETIME: u64 = 300;

pub(super) fn present(
    asked: &AwaitingConsent,
    choices: &[Choice<'_>],
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<HolderNext>, Error> {
    let vp_token = match presentations(asked, choices, evidence, ctx)? {
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
        Step::Done(vp_token) => vp_token,
    };
    let state = PresentationState::Answering(Answering {
        verifier: asked.verifier.clone(),
        query_ids: vp_token.keys().cloned().collect(),
    });
    send(asked, VpResponse::Presented(vp_token), state, ctx).map(Step::Done)
}

fn presentations(
    asked: &AwaitingConsent,
    choices: &[Choice<'_>],
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<VpToken>, Error> {
    let queries = queries(asked, choices)?;
    let presented: Vec<&str> = choices.iter().map(|choice| choice.query_id).collect();
    let mut transactions = asked.request.transaction_data.iter();
    if transactions.any(|one| one.authorised_by(&presented).is_none()) {
        return Err(Error::Choice(
            "none of the chosen credentials can authorise the transaction",
        ));
    }
    let mut vp_token: VpToken = BTreeMap::new();
    let mut needs = Vec::new();
    for (choice, query) in choices.iter().zip(queries) {
        let one = One {
            request: &asked.request,
            query,
            choice,
            presented: &presented,
        };
        match one.presentation(evidence, ctx)? {
            Step::Needs(more) => needs.extend(more),
            Step::Done(presentation) => {
                let list = vp_token.entry(choice.query_id.to_owned()).or_default();
                list.push(presentation);
            }
        }
    }
    match needs.is_empty() {
        true => Ok(Step::Done(vp_token)),
        false => Ok(Step::Needs(needs)),
    }
}

/// The credential query of each choice. A credential may be chosen once per query, and a query without `multiple` takes
/// only one credential.
fn queries<'a>(
    asked: &'a AwaitingConsent,
    choices: &[Choice<'_>],
) -> Result<Vec<&'a CredentialQuery>, Error> {
    if choices.is_empty() {
        return Err(Error::Choice("no credential was chosen"));
    }
    let mut seen: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut queries = Vec::with_capacity(choices.len());
    for choice in choices {
        let query = asked
            .request
            .query
            .credential(choice.query_id)
            .ok_or(Error::Choice(
                "a credential query is answered that was not requested",
            ))?;
        let before = seen.entry(choice.query_id).or_default();
        if before.contains(&choice.held.raw.as_str()) || (!before.is_empty() && !query.multiple) {
            return Err(Error::Choice(
                "several credentials answer one credential query",
            ));
        }
        before.push(&choice.held.raw);
        queries.push(query);
    }
    Ok(queries)
}

pub(super) fn decline(asked: &AwaitingConsent, ctx: &Ctx) -> Result<HolderNext, Error> {
    // §15.4.1: the verifier must not learn whether the person did not want to present or had nothing to present.
    let refusal = VpResponse::Refused {
        error: PresentationCode::AccessDenied.as_str().to_owned(),
        description: None,
    };
    let state = PresentationState::Declining(Declining {
        verifier: asked.verifier.clone(),
    });
    send(asked, refusal, state, ctx)
}

/// The error response to the verifier; `None` if the verifier's identity is not known.
pub fn refusal(refused: &RefusedRequest) -> Option<Delivery> {
    let body = refused.error.body()?;
    let response = AuthorizationResponse {
        state: refused.state.clone(),
        answer: VpResponse::Refused {
            error: body.error,
            description: body.error_description,
        },
    };
    let url = refused.response_uri.clone()?;
    Some(Delivery {
        url,
        form: response.parameters(),
    })
}

pub(super) fn delivered(
    verifier: &Verifier,
    presented: bool,
    status: u16,
    body: &[u8],
) -> HolderNext {
    let failed = |reason: &str| failed(verifier, reason.to_owned());
    // §8.2 and the errata on HTTP redirects: only status 200 is accepted.
    if status != 200 {
        return failed(&not_taken(body));
    }
    let Ok(receipt) = json::parse_as::<Receipt>(body, &limits()) else {
        return failed("the verifier's reply is not a valid JSON object");
    };
    // Only web addresses are passed to a browser.
    let redirect_uri = receipt
        .redirect_uri
        .and_then(|text| Url::parse(&text).ok())
        .filter(|url| matches!(url.scheme(), "https" | "http") && url.host().is_some());
    let done = Done {
        verifier: verifier.clone(),
        presented,
        redirect_uri,
    };
    HolderNext::ended(PresentationState::Done(done))
}

pub(super) fn unreachable(verifier: &Verifier, reason: &str) -> HolderNext {
    failed(
        verifier,
        format!("the verifier cannot be reached: {reason}"),
    )
}

fn failed(verifier: &Verifier, reason: String) -> HolderNext {
    let failed = Failed {
        verifier: verifier.clone(),
        reason,
        advice: "Ask the verifier for a new request.".to_owned(),
    };
    HolderNext::ended(PresentationState::Failed(failed))
}

/// Posts an answer, after which the state is this one; one to a page goes back by the browser, and that is all.
fn send(
    asked: &AwaitingConsent,
    answer: VpResponse,
    posted: PresentationState,
    ctx: &Ctx,
) -> Result<HolderNext, Error> {
    let request = &asked.request;
    let encryption = match request.encrypted {
        true => Some(encryption_to(&request.metadata)?),
        false => None,
    };
    let response = AuthorizationResponse {
        state: request.state.clone(),
        answer,
    };
    if request.page.is_some() {
        let done = Done {
            verifier: asked.verifier.clone(),
            presented: matches!(response.answer, VpResponse::Presented(_)),
            redirect_uri: None,
        };
        let data = response.to_data(encryption.as_ref(), ctx)?;
        return Ok(HolderNext::returning(PresentationState::Done(done), data));
    }
    let form = match &encryption {
        None => response.parameters(),
        Some(to) => response.encrypted(to, ctx)?,
    };
    let url = request.response_uri.clone();
    Ok(HolderNext::delivering(posted, Delivery { url, form }))
}

/// One presentation to create.
struct One<'a> {
    request: &'a Request,
    query: &'a CredentialQuery,
    choice: &'a Choice<'a>,
    /// The queries that are answered.
    presented: &'a [&'a str],
}

impl One<'_> {
    fn presentation(&self, evidence: &Evidence, ctx: &Ctx) -> Result<Step<String>, Error> {
        let held = self.choice.held;
        if self.query.known_format() != Some(held.format) {
            return Err(Error::Choice(
                "a credential has another format than the requested one",
            ));
        }
        let key = match self.query.require_cryptographic_holder_binding {
            false => None,
            true => {
                let key = self.choice.key;
                Some(key.ok_or(Error::Choice(
                    "a credential is not bound to a key in this wallet",
                ))?)
            }
        };
        can_be_checked(self.request, held, key)?;
        match (held.format.describe().profile, key) {
            (Profile::SdJwtVc, key) => self.sd_jwt(key, evidence, ctx),
            (Profile::W3c, Some(key)) => self.w3c(key, evidence, ctx),
            (Profile::DataIntegrity, Some(key)) => self.integrity(key, evidence, ctx),
            (Profile::W3c | Profile::DataIntegrity, None) => Ok(Step::Done(held.raw.clone())),
            (Profile::Mdoc, Some(key)) => self.mdoc(key, evidence),
            (Profile::Mdoc, None) => Err(Error::Choice(
                "an mdoc is presented with the proof of its key, and the request asks for none",
            )),
            (Profile::Compact, _) => Err(Error::Choice(
                "a compact credential is presented in TLS handshakes, not to a verifier",
            )),
        }
    }

    fn sd_jwt(
        &self,
        key: Option<&HolderKey>,
        evidence: &Evidence,
        ctx: &Ctx,
    ) -> Result<Step<String>, Error> {
        let broken = || Error::Setup("a credential in the wallet cannot be read".to_owned());
        let sd_jwt = self.choice.held.sd_jwt().ok_or_else(broken)?;
        let presentation = sd_jwt.present(self.choice.reveal).map_err(|_| broken())?;
        let Some(key) = key else {
            return Ok(Step::Done(presentation.unbound()));
        };
        let claims = KeyBindingClaims {
            audience: self.request.audience(),
            nonce: self.request.nonce.clone(),
            issued_at: ctx.now(),
            further: self.transactions(),
        };
        let draft = claims.bind(presentation, key.key.clone(), key.algorithm);
        Ok(draft.step(evidence))
    }

    /// A response with one document (Appendix B.2), bound to the request and to the key that the answer is encrypted to.
    fn mdoc(&self, key: &HolderKey, evidence: &Evidence) -> Result<Step<String>, Error> {
        let request = self.request;
        let encryption = request.encrypted.then(|| encryption_to(&request.metadata));
        let transcript = request.session(encryption.transpose()?.map(|to| to.thumbprint));
        let present = MdocPresent {
            credential: &self.choice.held.raw,
            reveal: self.choice.reveal,
            transcript: &transcript,
            key: &key.key,
            algorithm: key.algorithm,
        };
        let step = present.step(evidence);
        step.map_err(|error| Error::Setup(error.to_string()))
    }

    /// What the key binding says of the transactions that this presentation authorises (Appendix B.3.3.1).
    fn transactions(&self) -> Map<String, Value> {
        let all = self.request.transaction_data.iter();
        let own = all.filter(|one| one.authorised_by(self.presented) == Some(&*self.query.id));
        transaction::binding(&own.collect::<Vec<_>>())
    }

    /// A presentation with a proof for the request alone (Appendix B.1.3.2).
    fn integrity(
        &self,
        key: &HolderKey,
        evidence: &Evidence,
        ctx: &Ctx,
    ) -> Result<Step<String>, Error> {
        let (url, signer) = signer(key)?;
        let format = formats(self.request, self.choice.held)?;
        let accepted = format.and_then(|format| format.cryptosuite_values.as_deref());
        let suite = ldp_vc::suite_for(key.algorithm, accepted);
        let present = LdpPresent {
            credential: &self.choice.held.raw,
            holder: url.did.as_str(),
            audience: &self.request.audience(),
            nonce: &self.request.nonce,
            issued_at: ctx.now(),
            lifetime: LIFETIME,
            suite: suite
                .ok_or_else(|| lacks("the verifier cannot check signatures of this key"))?,
            signer: &signer,
        };
        let step = present.step(evidence);
        step.map_err(|error| Error::Setup(error.to_string()))
    }

    fn w3c(&self, key: &HolderKey, evidence: &Evidence, ctx: &Ctx) -> Result<Step<String>, Error> {
        let (url, signer) = signer(key)?;
        let present = Present {
            format: self.choice.held.format,
            credential: self.choice.held.raw.clone(),
            holder: Some(url.did.as_str().to_owned()),
            audience: self.request.audience(),
            nonce: self.request.nonce.clone(),
            issued_at: ctx.now(),
            lifetime: LIFETIME,
            signer,
        };
        let draft = present
            .draft()
            .map_err(|error| Error::Setup(error.to_string()))?;
        Ok(draft.step(evidence))
    }
}

/// The signer of a W3C presentation, and the URL of its key.
fn signer(key: &HolderKey) -> Result<(DidUrl, Signer), Error> {
    let unnamed = || Error::Setup("a W3C credential's key has no DID URL".to_owned());
    let kid = key.kid.as_deref().ok_or_else(unnamed)?;
    let url = DidUrl::parse(kid).map_err(|_| unnamed())?;
    Ok((url, Signer::with_kid(key.key.clone(), key.algorithm, kid)))
}

fn lacks(reason: &str) -> Error {
    Error::presentation(PresentationCode::VpFormatsNotSupported, reason)
}

/// What the verifier's metadata says of a credential's format; `None` if it says nothing of any.
fn formats<'r>(request: &'r Request, held: &Held) -> Result<Option<&'r VpFormat>, Error> {
    let formats = &request.metadata.vp_formats_supported;
    match formats.get(held.format.as_str()) {
        None if !formats.is_empty() => Err(lacks(
            "the verifier requests a format that its metadata does not support",
        )),
        format => Ok(format),
    }
}

/// Checks that the verifier declares support for this credential: its format, the algorithm of its issuer's signature
/// and, if it is bound to a key, the algorithm of that key (Appendix B.1.3.1.4, B.3.4.2).
///
/// # Errors
/// `vp_formats_not_supported` if it does not.
pub fn can_be_checked(
    request: &Request,
    held: &Held,
    key: Option<&HolderKey>,
) -> Result<(), Error> {
    let Some(format) = formats(request, held)? else {
        return Ok(());
    };
    let (issuers, holders) = match held.format.describe().profile {
        Profile::Mdoc => return check_numbers(format, held, key),
        Profile::DataIntegrity => return check_suites(format, held, key),
        Profile::SdJwtVc => (&format.sd_jwt_alg_values, &format.kb_jwt_alg_values),
        Profile::W3c | Profile::Compact => (&format.alg_values, &format.alg_values),
    };
    let checks = |listed: &Option<Vec<String>>, algorithm: Algorithm| {
        let is_it = |name: &String| name.parse::<Algorithm>().is_ok_and(|it| it == algorithm);
        listed.as_ref().is_none_or(|names| names.iter().any(is_it))
    };
    if !checks(issuers, held.header().alg) {
        return Err(lacks("the verifier cannot check the issuer's signature"));
    }
    match key {
        Some(key) if !checks(holders, key.algorithm) => {
            Err(lacks("the verifier cannot check signatures of this key"))
        }
        _ => Ok(()),
    }
}

/// As [`can_be_checked`], for Data Integrity proofs, whose algorithms are cryptosuites (Appendix B.1.3.2).
fn check_suites(format: &VpFormat, held: &Held, key: Option<&HolderKey>) -> Result<(), Error> {
    let has = |listed: &Option<Vec<String>>, name: &str| {
        let listed = listed.as_ref();
        listed.is_none_or(|names| names.iter().any(|one| one == name))
    };
    let suite = held.cryptosuite().unwrap_or_default();
    if !has(&format.proof_type_values, ldp_vc::PROOF_TYPE)
        || !has(&format.cryptosuite_values, suite)
    {
        return Err(lacks("the verifier cannot check the issuer's signature"));
    }
    let accepted = format.cryptosuite_values.as_deref();
    match key {
        Some(key) if ldp_vc::suite_for(key.algorithm, accepted).is_none() => {
            Err(lacks("the verifier cannot check signatures of this key"))
        }
        _ => Ok(()),
    }
}

/// As [`can_be_checked`], for an mdoc, whose algorithms are COSE numbers (Appendix B.2.2).
fn check_numbers(format: &VpFormat, held: &Held, key: Option<&HolderKey>) -> Result<(), Error> {
    let checks = |listed: &Option<Vec<i64>>, algorithm: Algorithm| {
        let is_it = |number: &i64| algorithm.cose_numbers().contains(number);
        listed
            .as_ref()
            .is_none_or(|numbers| numbers.iter().any(is_it))
    };
    if !checks(&format.issuerauth_alg_values, held.header().alg) {
        return Err(lacks("the verifier cannot check the issuer's signature"));
    }
    match key {
        Some(key) if !checks(&format.deviceauth_alg_values, key.algorithm) => {
            Err(lacks("the verifier cannot check signatures of this key"))
        }
        _ => Ok(()),
    }
}
