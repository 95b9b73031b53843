//! The token endpoint: codes of offers are redeemed (OpenID4VCI 1.0 §6).

use selfsame_approvals::possession::{self, NONCE};
use selfsame_attester::{AttestationHeaders, AttestedClient};
use selfsame_core::machine::{At, FlowStage, Machine, Next, Round};
use selfsame_credential::evidence::Step;
use selfsame_crypto::encoding;
use selfsame_driver::record::{RecordCache, encode};
use selfsame_driver::{Error, Result};
use selfsame_oauth::dpop::ProvenKey;
use selfsame_oauth::spent::SpentId;
use selfsame_oauth::{Code, TokenRequest, TokenResponse};
use selfsame_openid4vc::issuer::{self, IssuanceState, offer};
use selfsame_store::{Expect, Page, Put, Tag};

use super::Issuer;
use super::attested::{self, POP};
use super::offers::{OFFER, OfferRecord};
use super::protocol::{GRANT, GrantRecord};
use crate::refusal::refusal;

/// The headers of a token request that say who the wallet is, and which key it has.
#[derive(Clone, Copy, Default)]
pub struct TokenHeaders<'a> {
    /// Its attestation, with the proof that it has the attested key.
    pub attestation: Option<AttestationHeaders<'a>>,
    /// The header `DPoP`.
    pub dpop: Option<&'a str>,
}

/// Who redeems a code.
#[derive(Default)]
struct CodeHolder {
    /// The wallet, if it is attested.
    attested: Option<AttestedClient>,
    /// The key that the request proved.
    key: Option<ProvenKey>,
}

impl Issuer {
    /// Redeems a code for a caller in this process, who is no wallet.
    ///
    /// # Errors
    /// RFC 6749 §5.2, with its code.
    pub async fn token(&self, body: &[u8]) -> Result<TokenResponse> {
        self.redeemed(parsed(body)?, CodeHolder::default()).await
    }

    /// The token endpoint, for wallets, which may have to be attested. A token is bound to the key that the header
    /// `DPoP` proves, if this issuer binds tokens: its credentials may need an approval, or it keeps a profile.
    ///
    /// # Errors
    /// As [`Issuer::token`]; those of attestations (attestation-based client authentication, draft -07 §6.2);
    /// `invalid_dpop_proof` (RFC 9449 §5).
    pub async fn token_for(&self, body: &[u8], headers: TokenHeaders<'_>) -> Result<TokenResponse> {
        let mut request = parsed(body)?;
        let issuing = &self.context.config.issuer;
        issuing.check_token(headers.dpop)?;
        let attested = self.attested(headers.attestation, &mut request)?;
        let url = self.context.organisation.url("issuer/token")?;
        let proof = headers.dpop.filter(|_| issuing.binds_tokens());
        let key = proof.map(|proof| self.possession().at_token(proof, &url));
        let key = key.transpose()?;
        self.redeemed(request, CodeHolder { attested, key }).await
    }

    async fn redeemed(&self, request: TokenRequest, holder: CodeHolder) -> Result<TokenResponse> {
        let code = offer::code_hash(request.pre_authorized_code.expose());
        let _turn = self.memory.redeeming.enter(&code).await;
        let tag = Tag::hashed("code", encoding::base64url_encode(&code));
        let shared = &self.shared;
        let found = shared
            .store
            .find(self.tenant(), OFFER, &tag, &Page::first(1))
            .await?;
        let record = found.first().ok_or_else(unredeemable)?;
        let at = At {
            tenant: self.tenant(),
            id: &record.id,
        };
        let found = (self.memory.offers.read(record)?, record.version);
        let redeeming = Redeeming {
            issuer: self,
            holder,
        };
        let driven = shared
            .drive_from(&redeeming, at, Some(found), request)
            .await?;
        let redeemed = driven.reply?;
        self.memory.grants.hold(&driven.committed, redeemed.grant);
        Ok(redeemed.response)
    }
}

/// The machine that redeems an offer's code.
struct Redeeming<'a> {
    issuer: &'a Issuer,
    holder: CodeHolder,
}

/// A redeemed code.
struct Redeemed {
    response: TokenResponse,
    grant: GrantRecord,
}

impl Machine for Redeeming<'_> {
    const KIND: &'static str = OFFER;
    type Record = OfferRecord;
    type Input = TokenRequest;
    type Reply = Result<Redeemed>;

    fn records(&self) -> &RecordCache<OfferRecord> {
        &self.issuer.memory.offers
    }

    fn flow(&self, offer: &OfferRecord) -> Option<FlowStage> {
        let (state, origin) = ("offered", offer.origin);
        Some(FlowStage { state, origin })
    }

    fn step(
        &self,
        offer: &mut OfferRecord,
        request: &TokenRequest,
        round: &Round<'_>,
    ) -> Result<Step<Next<Self::Reply>>> {
        let current = self.issuer.latest();
        let taken = issuer::redeem(&offer.state, request, &current.settings, round.ctx);
        let issuer::Redemption { state, outcome } = taken.map_err(refusal)?;
        offer.state = state;
        let mut redeemed = match outcome {
            Ok(redeemed) => redeemed,
            Err(error) => {
                let next = Next::written(round, Err(refusal(error)));
                return Ok(Step::Done(self.spending(next)));
            }
        };
        let now = round.ctx.now();
        offer.accepted = Some(now);
        let key = self.holder.key.as_ref();
        if key.is_some() {
            let waits = offer.subject.needs_approval;
            let end = possession::bind(&mut redeemed.response, waits, now);
            redeemed.granted.expires = end.unwrap_or(redeemed.granted.expires);
        }
        let issuer::Redeemed { granted, response } = redeemed;
        let id = encoding::base64url_encode(&granted.token_hash);
        let expires = granted.expires;
        let grant = GrantRecord {
            state: IssuanceState::Granted(*granted),
            subject: offer.subject.clone(),
            origin: offer.origin,
            awaited: Vec::new(),
            key: key.map(|key| key.thumbprint.clone()),
            account: None,
        };
        let put = Put::new(GRANT, id, encode(&grant)?).expires(expires);
        let response = *response;
        let redeemed = Redeemed { response, grant };
        let next = Next::written(round, Ok(redeemed)).put(put);
        Ok(Step::Done(self.spending(next)))
    }

    fn absent(&self, _: &TokenRequest) -> Result<Self::Reply> {
        Ok(Err(unredeemable()))
    }

    fn conflict(&self, kind: &str) -> Option<Error> {
        match kind {
            POP => Some(attested::replayed()),
            NONCE => Some(possession::replayed()),
            _ => None,
        }
    }
}

impl Redeeming<'_> {
    /// The step after which the wallet's proofs of possession count no more.
    fn spending<R>(&self, mut next: Next<R>) -> Next<R> {
        let CodeHolder { attested, key } = &self.holder;
        if let Some(SpentId { id, expires }) = attested.as_ref().map(|one| &one.spent) {
            let put = Put::new(POP, id, Vec::new()).expires(*expires);
            next.batch = next.batch.expect(POP, id, Expect::Absent).put(put);
        }
        if let Some(key) = key {
            next.batch = possession::spend(next.batch, key);
        }
        next
    }
}

fn parsed(body: &[u8]) -> Result<TokenRequest> {
    TokenRequest::parse(body)
        .map_err(selfsame_openid4vc::Error::from)
        .map_err(refusal)
}

fn unredeemable() -> Error {
    Error::bad_request("code-unknown").with_code(Code::InvalidGrant.as_str())
}
