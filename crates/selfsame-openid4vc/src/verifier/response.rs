//! Receives a wallet's answer and verifies it (OpenID4VP 1.0 §8).

use std::collections::BTreeMap;

use selfsame_credential::{
    Format, Held,
    evidence::{Evidence, Need, Step},
    format::Profile,
    mdoc::transcript::{DcApiHandover, RedirectHandover, SessionTranscript},
    sd_jwt::{SdJwt, Withheld, key_binding::KeyBinding},
    verdict::{Outcome, Policy, Rule, Verdict},
    verify::{Binding, Budget, Examination, Malformed, Presented, is_by_a_trusted_issuer},
};
use selfsame_crypto::{
    ctx::Ctx,
    hash::{ct_eq, sha256},
    time::UnixTime,
    x509::Chain,
};
use serde_json::Value;
use url::Url;

use super::{
    AnsweredRequest, Asked, Declined, Fetched, Judged, JudgedCredential, RefusedAnswers, Reply,
    VerificationState, VerifierNext,
};
use crate::{
    dcql::{self, Candidate, CredentialQuery},
    error::Error,
    wire::{
        encryption::EncryptionKey,
        request::ORIGIN,
        response::{AuthorizationResponse, Receipt, VpResponse, VpToken},
        transaction::{self, AskedTransaction},
    },
};

/// Maximum number of answers that do not count. Anyone who sees a request can send one, so the first such answer leaves
/// the request open for the person it was meant for; the last one closes it.
const ANSWERS_MAX: u32 = 5;

/// An answer, and how it came.
#[derive(Clone, Copy)]
pub(super) struct CameBack<'a> {
    pub response: &'a AuthorizationResponse,
    /// The origin of the page that a browser brought it back to; `None` if a wallet posted it.
    pub origin: Option<&'a str>,
}

pub(super) fn take(
    open: &Fetched,
    CameBack { response, origin }: CameBack<'_>,
    policy: &Policy,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<VerifierNext>, Error> {
    let asked = &open.asked;
    if ctx.now() >= asked.expires {
        return Err(Error::Expired("the request has expired"));
    }
    // Appendix A.2: `state` is not defined for a browser's answer, which comes back to the page that asked.
    let state = response.state.as_deref().unwrap_or_default();
    if origin.is_none() && !ct_eq(state.as_bytes(), asked.state.as_bytes()) {
        return Err(Error::invalid_request("state differs from the request's"));
    }
    let presentations = match &response.answer {
        VpResponse::Refused { error, .. } => return Ok(Step::Done(decline(asked, error, ctx))),
        VpResponse::Presented(presentations) => presentations,
    };
    let bench = Basis {
        policy,
        evidence,
        now: ctx.now(),
    };
    let items = items(asked, presentations, origin)?;
    let shown = bench.read(&items);
    let needs = bench.needs(&shown);
    if !needs.is_empty() {
        return Ok(Step::Needs(needs));
    }
    let judged = bench.judge(asked, &shown);
    if !counts(&judged) {
        return Ok(Step::Done(refuse(open, judged, presentations, ctx)));
    }
    let (receipt, response_code) = receipt(asked, ctx);
    let answered = AnsweredRequest {
        asked: asked.closed(),
        vp_token: presentations.clone(),
        at: ctx.now(),
        judged,
        response_code,
    };
    let state = VerificationState::Answered(Box::new(answered));
    let reply = Reply::Receipt(receipt);
    Ok(Step::Done(VerifierNext::replying(state, reply)))
}

/// Verifies the credentials again. The holder's proof is left out: it was verified while it was fresh, and is stale by
/// now. A forged presentation stays refused, and one that could not be verified then must be presented again.
pub(super) fn recheck(
    answered: &AnsweredRequest,
    policy: &Policy,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<VerifierNext>, Error> {
    let bench = Basis {
        policy,
        evidence,
        now: ctx.now(),
    };
    let mut items = items(&answered.asked, &answered.vp_token, None)?;
    for (item, before) in items.iter_mut().zip(&answered.judged.credentials) {
        match before.claims {
            Some(_) => item.unwrap(),
            None => item.before = Some(before.clone()),
        }
    }
    let shown = bench.read(&items);
    let needs = bench.needs(&shown);
    if !needs.is_empty() {
        return Ok(Step::Needs(needs));
    }
    let answered = AnsweredRequest {
        judged: bench.judge(&answered.asked, &shown),
        ..answered.clone()
    };
    let state = VerificationState::Answered(Box::new(answered));
    let reply = None;
    Ok(Step::Done(VerifierNext { state, reply }))
}

/// Whether an answer closes the request, valid or not: it matches the request, and something in it is signed by a
/// trusted issuer. Anyone who knows the request can make an answer without that.
fn counts(judged: &Judged) -> bool {
    let mut credentials = judged.credentials.iter();
    judged.outcome != Outcome::Invalid
        && credentials.any(|credential| is_by_a_trusted_issuer(&credential.verdict))
}

/// Refuses an answer that does not count (§8.6) and leaves the request open. The rules it breaks are recorded, but not
/// its claims.
fn refuse(open: &Fetched, judged: Judged, vp_token: &VpToken, ctx: &Ctx) -> VerifierNext {
    let before = open.refused.as_ref().map_or(0, |refused| refused.count);
    let count = before.saturating_add(1);
    let refusal = Reply::Refusal {
        error: Error::invalid_request(why(&judged)),
        judged: Box::new(judged.clone()),
    };
    let state = if count < ANSWERS_MAX {
        let mut last = judged;
        for credential in &mut last.credentials {
            credential.claims = None;
        }
        VerificationState::Fetched(Fetched {
            asked: open.asked.clone(),
            refused: Some(Box::new(RefusedAnswers { count, last })),
        })
    } else {
        VerificationState::Answered(Box::new(AnsweredRequest {
            asked: open.asked.closed(),
            vp_token: vp_token.clone(),
            at: ctx.now(),
            judged,
            response_code: None,
        }))
    };
    VerifierNext::replying(state, refusal)
}

/// The rules whose details would reveal which issuers this verifier trusts.
const TRUST_RULES: [&str; 4] = [
    "signer_certificate",
    "issuer_trusted",
    "issuer_trusted_for_request",
    "certificate_chain",
];

/// The reason sent to a wallet whose answer does not count: the rules it breaks. Of the issuers this verifier trusts,
/// it reveals only that none of them issued this.
fn why(judged: &Judged) -> String {
    if judged.outcome != Outcome::Invalid {
        return match judged.outcome {
            Outcome::Unverifiable => {
                "it can't be verified at the moment that anything in the answer is by an issuer that this verifier trusts"
            }
            _ => "nothing in the answer is by an issuer that this verifier trusts to issue it",
        }
        .to_owned();
    }
    let broken = judged
        .credentials
        .iter()
        .flat_map(|credential| &credential.verdict.rules)
        .filter(|rule| rule.passed == Some(false))
        .filter(|rule| !TRUST_RULES.contains(&&*rule.name))
        .map(|rule| format!("{}: {}", rule.name, rule.detail));
    let mut reasons: Vec<String> = broken.collect();
    reasons.extend(judged.reason.clone());
    reasons.join("; ")
}

fn decline(asked: &Asked, error: &str, ctx: &Ctx) -> VerifierNext {
    let (receipt, response_code) = receipt(asked, ctx);
    let declined = Declined {
        asked: asked.closed(),
        error: error.to_owned(),
        at: ctx.now(),
        response_code,
    };
    VerifierNext::replying(
        VerificationState::Declined(declined),
        Reply::Receipt(receipt),
    )
}

// §8.2: the redirect URI carries a fresh secret that only the browser next to the wallet learns (§14.2).
fn receipt(asked: &Asked, ctx: &Ctx) -> (Receipt, Option<[u8; 32]>) {
    let Some(redirect_uri) = &asked.redirect_uri else {
        return (Receipt::default(), None);
    };
    let code = ctx.token("verifier/response_code");
    let mut url: Url = redirect_uri.clone();
    url.query_pairs_mut().append_pair("response_code", &code);
    (
        Receipt {
            redirect_uri: Some(url.into()),
        },
        Some(sha256(code.as_bytes())),
    )
}

/// One presentation to verify.
struct PresentationItem<'a> {
    query: &'a CredentialQuery,
    format: Format,
    raw: String,
    binding: Option<Binding>,
    /// Whether the holder's proof was verified before.
    proven: bool,
    /// The earlier result, if it still stands.
    before: Option<JudgedCredential>,
}

// §8.1: `vp_token` answers credential queries of the request, with at most the number of presentations each allows.
fn items<'a>(
    asked: &'a Asked,
    presentations: &VpToken,
    origin: Option<&str>,
) -> Result<Vec<PresentationItem<'a>>, Error> {
    let refuse = Error::invalid_request;
    let mut items = Vec::new();
    for (id, list) in presentations {
        let query = asked
            .query
            .credential(id)
            .ok_or_else(|| refuse("vp_token answers a credential query that was not requested"))?;
        let format = query
            .known_format()
            .ok_or_else(|| refuse("vp_token answers a query for a format that can't be checked"))?;
        if list.len() > 1 && !query.multiple {
            return Err(refuse(
                "vp_token has several presentations where one was requested",
            ));
        }
        let bound = query.require_cryptographic_holder_binding;
        let binding = match bound {
            true => Some(binding(asked, origin)?),
            false => None,
        };
        // Appendix B.1.3.1, B.3.4: a wallet may prove holder binding even if it is not required. RFC 9901 §7.3: the
        // proof's presence does not decide whether it is checked.
        let read = |raw: &String| match bound {
            true => raw.clone(),
            false => format.bare(raw).unwrap_or_else(|| raw.clone()),
        };
        items.extend(list.iter().map(|raw| PresentationItem {
            query,
            format,
            raw: read(raw),
            binding: binding.clone(),
            proven: false,
            before: None,
        }));
    }
    Ok(items)
}

/// The values that proofs are bound to (Appendix A.4, B.1.3.2, B.2.6, B.3.6).
fn binding(asked: &Asked, origin: Option<&str>) -> Result<Binding, Error> {
    let key = asked.encryption.as_deref().map(EncryptionKey::thumbprint);
    let (thumbprint, nonce) = (key.transpose()?, asked.nonce.as_str());
    let (audience, session) = match origin {
        Some(origin) => {
            let handover = DcApiHandover {
                origin,
                nonce,
                thumbprint,
            };
            let session = SessionTranscript::of_dc_api(&handover);
            (format!("{ORIGIN}{origin}"), session)
        }
        None => {
            let handover = RedirectHandover {
                client_id: &asked.client_id,
                nonce,
                thumbprint,
                response_uri: asked.response_uri.as_str(),
            };
            let session = SessionTranscript::of_redirect(&handover);
            (asked.client_id.clone(), session)
        }
    };
    Ok(Binding {
        audience,
        nonce: nonce.to_owned(),
        session: Some(session),
    })
}

impl PresentationItem<'_> {
    fn presented(&self) -> Presented<'_> {
        Presented {
            format: self.format,
            raw: &self.raw,
            expected: self.binding.as_ref(),
        }
    }

    /// Replaces the presentation with the credential in it.
    fn unwrap(&mut self) {
        if let (Some(_), Some(bare)) = (&self.binding, self.format.bare(&self.raw)) {
            self.raw = bare;
            self.binding = None;
            self.proven = true;
        }
    }

    fn candidate<'c>(
        &self,
        claims: &'c Value,
        withheld: Option<&'c Withheld>,
        bench: &Basis<'_>,
    ) -> Candidate<'c> {
        Candidate {
            format: self.format,
            types: self.format.asked_types(claims),
            claims,
            withheld,
            holder_bound: self.binding.is_some() || self.proven,
            authority_keys: self.authority_keys(bench),
        }
    }
}

impl PresentationItem<'_> {
    /// The authority keys of the certificates on a path to a trust anchor; other certificates in the header prove
    /// nothing. They are read only if the query restricts the authorities.
    fn authority_keys(&self, bench: &Basis<'_>) -> Vec<Vec<u8>> {
        if self.query.trusted_authorities.is_empty() {
            return Vec::new();
        }
        let bare = self.format.bare(&self.raw);
        let held = Held::parse(bare.as_ref().unwrap_or(&self.raw), self.format).ok();
        let x5c = held.as_ref().and_then(|held| held.header().x5c.as_deref());
        let chain = x5c.and_then(|x5c| Chain::parse(x5c).ok());
        let anchors = match self.format.describe().profile {
            Profile::Mdoc => &bench.policy.authorities,
            _ => &bench.policy.trust_anchors,
        };
        let path = chain.and_then(|chain| chain.path(anchors, bench.now).ok());
        dcql::authority_keys(&path.unwrap_or_default())
    }
}

/// The basis of verification: policy, evidence and time.
struct Basis<'a> {
    policy: &'a Policy,
    evidence: &'a Evidence,
    now: UnixTime,
}

/// An item and the result of reading it; `None` if its earlier result still stands.
struct ReadItem<'a> {
    item: &'a PresentationItem<'a>,
    says: Option<Result<Examination<'a>, Malformed>>,
}

impl Basis<'_> {
    /// Reads each item once, within one common budget, so that the work for a whole answer is bounded however many
    /// parts it has.
    fn read<'a>(&self, items: &'a [PresentationItem<'a>]) -> Vec<ReadItem<'a>> {
        let mut budget = Budget::of_all(items.iter().map(|item| item.raw.as_str()));
        let mut says = |item: &'a PresentationItem<'a>| match item.before {
            Some(_) => None,
            None => Some(Examination::among(
                &item.presented(),
                self.evidence,
                &mut budget,
            )),
        };
        let read = items.iter().map(|item| ReadItem {
            item,
            says: says(item),
        });
        read.collect()
    }

    fn needs(&self, shown: &[ReadItem<'_>]) -> Vec<Need> {
        let mut needs: Vec<Need> = Vec::new();
        // An item that cannot be read needs no evidence; its verdict says that it is malformed.
        let readable = shown
            .iter()
            .filter_map(|one| one.says.as_ref()?.as_ref().ok());
        for examination in readable {
            for need in examination.needs(self.policy, self.evidence, self.now) {
                if !needs.contains(&need) {
                    needs.push(need);
                }
            }
        }
        needs
    }

    fn judge(&self, asked: &Asked, shown: &[ReadItem<'_>]) -> Judged {
        let mut credentials = Vec::with_capacity(shown.len());
        let (mut valid, mut genuine) = (Candidates::new(), Candidates::new());
        for ReadItem { item, says } in shown {
            let id = &item.query.id;
            let Some(says) = says else {
                credentials.extend(item.before.clone());
                continue;
            };
            let (mut verdict, claims) = match says {
                Ok(examination) => examination.verify(self.policy, self.evidence, self.now),
                Err(malformed) => (malformed.verdict(), None),
            };
            let withheld = says.as_ref().ok().and_then(Examination::withheld);
            let candidate = claims.map(|claims| item.candidate(claims, withheld, self));
            let matches = candidate
                .as_ref()
                .is_some_and(|candidate| match_query(item, candidate, &mut verdict));
            let matches = matches && match_transactions(asked, shown, item, &mut verdict);
            let counts = verdict.outcome == Outcome::Valid;
            let counting = candidate.clone().filter(|_| counts);
            valid.entry(id.clone()).or_default().push(counting);
            genuine.entry(id.clone()).or_default().push(candidate);
            credentials.push(JudgedCredential {
                query_id: id.clone(),
                format: item.format,
                verdict,
                claims: claims.filter(|_| matches).cloned(),
            });
        }
        let (mut outcome, mut reason) = conclude(asked, &valid, &genuine, &credentials);
        let presented = presented(shown);
        let mut transactions = asked.transaction_data.iter();
        if transactions.any(|one| one.authorised_by(&presented).is_none()) {
            outcome = Outcome::Invalid;
            reason = Some("no presentation authorises the transaction".to_owned());
        }
        Judged {
            outcome,
            reason,
            credentials,
        }
    }
}

type Candidates<'a> = BTreeMap<String, Vec<Option<Candidate<'a>>>>;

// §8.6: presentations that fail are discarded; the answer fails if the rest does not satisfy the query. If it failed
// only because credentials are revoked, expired or the like, the outcome says which.
fn conclude(
    asked: &Asked,
    valid: &Candidates<'_>,
    genuine: &Candidates<'_>,
    credentials: &[JudgedCredential],
) -> (Outcome, Option<String>) {
    let unmet = match dcql::check(&asked.query, valid) {
        Ok(_) => return (Outcome::Valid, None),
        Err(unmet) => unmet,
    };
    let worst = |genuine_only: bool| {
        let counting = credentials
            .iter()
            .filter(|credential| !genuine_only || credential.claims.is_some());
        counting
            .map(|credential| credential.verdict.outcome)
            .max_by_key(|outcome| gravity(*outcome))
    };
    if let (Ok(_), Some(worst)) = (dcql::check(&asked.query, genuine), worst(true)) {
        let reason = "a credential that is required is not valid".to_owned();
        return (worst, Some(reason));
    }
    let outcome = match worst(false) {
        Some(Outcome::Unverifiable) => Outcome::Unverifiable,
        _ => Outcome::Invalid,
    };
    (outcome, Some(unmet.to_string()))
}

const QUERY_MATCH: (&str, &str) = ("query_match", "OpenID4VP §6.4.1, §8.6");

/// Whether a genuine credential matches its query; if not, it must not be accepted as an answer to that query.
fn match_query(
    item: &PresentationItem<'_>,
    candidate: &Candidate<'_>,
    verdict: &mut Verdict,
) -> bool {
    let mismatch = dcql::mismatch(item.query, candidate);
    let detail = mismatch.as_ref().map(ToString::to_string);
    verdict.rules.push(Rule {
        name: QUERY_MATCH.0.into(),
        passed: Some(mismatch.is_none()),
        detail: detail.unwrap_or_default(),
        paragraph: QUERY_MATCH.1.into(),
    });
    if mismatch.is_some() {
        verdict.outcome = Outcome::Invalid;
    }
    mismatch.is_none()
}

/// The credential queries that are answered.
fn presented<'a>(shown: &[ReadItem<'a>]) -> Vec<&'a str> {
    shown.iter().map(|one| &*one.item.query.id).collect()
}

const TRANSACTION_DATA: (&str, &str) = ("transaction_data", "OpenID4VP §8.4, B.3.3.1");

/// Whether a genuine presentation authorises the transactions that it is to authorise; if not, it is not accepted.
fn match_transactions(
    asked: &Asked,
    shown: &[ReadItem<'_>],
    item: &PresentationItem<'_>,
    verdict: &mut Verdict,
) -> bool {
    let presented = presented(shown);
    let all = asked.transaction_data.iter();
    let own = all.filter(|one| one.authorised_by(&presented) == Some(&*item.query.id));
    let own: Vec<&AskedTransaction> = own.collect();
    if own.is_empty() {
        return true;
    }
    let read = SdJwt::parse(&item.raw).ok();
    let claims = read.as_ref().and_then(SdJwt::key_binding);
    let claims = claims.map(KeyBinding::claims);
    let is_bound =
        |one: &&AskedTransaction| claims.is_some_and(|claims| transaction::is_bound(one, claims));
    // What was proven when the answer came is left out when it is verified again.
    let passed = item.proven || own.iter().all(is_bound);
    verdict.rules.push(Rule {
        name: TRANSACTION_DATA.0.into(),
        passed: Some(passed),
        detail: match passed {
            true => String::new(),
            false => "the key binding does not state the hash of the transaction".to_owned(),
        },
        paragraph: TRANSACTION_DATA.1.into(),
    });
    if !passed {
        verdict.outcome = Outcome::Invalid;
    }
    passed
}

const fn gravity(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Valid => 0,
        Outcome::NotYetValid => 1,
        Outcome::Expired => 2,
        Outcome::Suspended => 3,
        Outcome::Spent => 4,
        Outcome::Revoked => 5,
        Outcome::NotAuthorised => 6,
        Outcome::Untrusted => 7,
        Outcome::Unverifiable => 8,
        Outcome::Invalid => 9,
    }
}
