//! The endpoints that wallets call: token, nonce, credential (OpenID4VCI 1.0 §6 to §8).

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_attester::{AttestationHeaders, AttestedClient};
use selfsame_credential::evidence::Step;
use selfsame_credential::format::Profile;
use selfsame_credential::{ClaimPath, Format, single_use};
use selfsame_crypto::{SecretString, encoding, time::UnixTime};
use selfsame_driver::record::encode;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_oauth::spent::SpentId;
use selfsame_oauth::{Code, TokenRequest, TokenResponse};
use selfsame_openid4vc::error::CredentialCode;
use selfsame_openid4vc::issuer::credential::CredentialAsked;
use selfsame_openid4vc::issuer::{self, IssuanceState, credential, nonce, offer, token};
use selfsame_openid4vc::wire::credential::{
    CredentialAnswer, CredentialRequest, CredentialResponse,
};
use selfsame_openid4vc::wire::nonce::NonceResponse;
use selfsame_store::{Expect, Page, Put, Tag};
use selfsame_types::CredentialType;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::attested::{POP, replayed};
use super::awaited::AwaitedNotification;
use super::list_faces::ListPlace;
use super::offers::{OFFER, OfferRecord};
use super::signing::{CredentialKind, Signatory, signatory};
use super::{CredentialSubject, Current, Issuer};
use crate::refusal::refusal;
use selfsame_core::events::EventKind;
use selfsame_core::machine::{At, FlowOrigin, FlowStage, Machine, Next, Round};
use selfsame_driver::record::RecordCache;

pub(crate) const GRANT: &str = "grant";
const NONCE: &str = "nonce";

#[derive(Deserialize, Serialize)]
pub(super) struct GrantRecord {
    pub state: IssuanceState,
    pub subject: CredentialSubject,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<FlowOrigin>,
    /// The responses that the wallet is to tell of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaited: Vec<AwaitedNotification>,
}

impl Issuer {
    /// Redeems a code for a caller in this process, who is no wallet.
    ///
    /// # Errors
    /// RFC 6749 §5.2, with its code.
    pub async fn token(&self, body: &[u8]) -> Result<TokenResponse> {
        self.redeemed(parsed(body)?, None).await
    }

    /// The token endpoint, for wallets, which may have to be attested.
    ///
    /// # Errors
    /// As [`Issuer::token`]; those of attestations (attestation-based client authentication, draft -07 §6.2).
    pub async fn token_for(
        &self,
        body: &[u8],
        headers: Option<AttestationHeaders<'_>>,
    ) -> Result<TokenResponse> {
        let mut request = parsed(body)?;
        let attested = self.attested(headers, &mut request)?;
        self.redeemed(request, attested).await
    }

    async fn redeemed(
        &self,
        request: TokenRequest,
        attested: Option<AttestedClient>,
    ) -> Result<TokenResponse> {
        let code = offer::code_hash(request.pre_authorized_code.expose());
        let _turn = self.memory.redeeming.enter(&code).await;
        let tag = Tag::hashed("code", encoding::base64url_encode(&code));
        let shared = &self.shared;
        let found = shared
            .store
            .find(self.tenant(), OFFER, &tag, &Page::first(1))
            .await?;
        let record = found.first().ok_or_else(spent)?;
        let at = At {
            tenant: self.tenant(),
            id: &record.id,
        };
        let found = (self.memory.offers.read(record)?, record.version);
        let redeeming = Redeeming {
            issuer: self,
            attested,
        };
        let driven = shared
            .drive_from(&redeeming, at, Some(found), request)
            .await?;
        let redeemed = driven.reply?;
        self.memory.grants.hold(&driven.committed, redeemed.grant);
        Ok(redeemed.response)
    }

    /// The nonce endpoint.
    #[must_use]
    pub fn nonce(&self) -> NonceResponse {
        nonce::make(&self.latest().settings, &self.shared.clock.ctx())
    }

    /// Whether a proof of this credential request names its key by a DID that must be resolved at another host.
    #[must_use]
    pub fn asks_others(&self, body: &[u8]) -> bool {
        let current = self.latest();
        let Ok(request) = read(body, &current) else {
            return false;
        };
        let now = self.shared.clock.now();
        let mut dids = credential::dids_named(&request, &current.settings);
        dids.any(|did| self.shared.resolver.asks_others(&did, now))
    }

    /// The credential endpoint.
    ///
    /// # Errors
    /// OpenID4VCI 1.0 §8.3.1 or RFC 6750 §3.1, with the code.
    pub async fn credential(&self, access_token: &str, body: &[u8]) -> Result<CredentialAnswer> {
        let request = read(body, &*self.current().await?)?;
        let response = self.credential_here(access_token, &request).await?;
        let ctx = self.shared.clock.ctx();
        CredentialAnswer::of(response, &request, &ctx).map_err(refusal)
    }

    /// What a request of this process gets, which crosses no wire and is not encrypted.
    ///
    /// # Errors
    /// As [`Issuer::credential`].
    pub async fn credential_here(
        &self,
        access_token: &str,
        request: &CredentialRequest,
    ) -> Result<CredentialResponse> {
        let current = self.current().await?;
        let token = SecretString::from(access_token.to_owned());
        let id = encoding::base64url_encode(&token::token_hash(&token));
        self.issue(&id, request, current).await
    }

    /// Issues what a request asks for with the grant of this id.
    pub(super) async fn issue(
        &self,
        id: &str,
        request: &CredentialRequest,
        current: Arc<Current>,
    ) -> Result<CredentialResponse> {
        let tenant = self.tenant();
        let at = At { tenant, id };
        let issuing = Issuing {
            issuer: self,
            current,
            request,
        };
        let driven = self.shared.drive(&issuing, at, Allotted::default()).await?;
        let issued = driven.reply;
        issued.ids.iter().for_each(|id| issued.note(id));
        Ok(issued.response)
    }

    /// By whom a credential of this kind is signed, and until when it can be valid.
    async fn signing(&self, one: &CredentialType, kind: CredentialKind) -> Result<Signing> {
        let days = one.validity_days.saturating_mul(24 * 3600);
        let end = self.shared.clock.now().plus(days);
        if kind.format.describe().profile != Profile::Mdoc {
            let signatory = signatory(&self.context, &self.identity, kind);
            return Ok(Signing {
                kind,
                signatory,
                end,
            });
        }
        let certified = self.context.document_signer(end).await?;
        let signatory = Signatory {
            issuer: self.identifier(),
            signer: certified.signer,
        };
        // A document is not valid after the certificate of its signer has ended.
        let end = end.min(certified.not_after);
        Ok(Signing {
            kind,
            signatory,
            end,
        })
    }

    fn content(
        &self,
        one: &CredentialType,
        signing: Signing,
        subject: &CredentialSubject,
        places: &[ListPlace],
    ) -> Result<credential::CredentialContent> {
        let Signing {
            kind,
            signatory: Signatory { issuer, signer },
            end,
        } = signing;
        // Where claims are disclosed one by one, they stand at the top of the credential.
        let mut disclosable = one.disclosable()?;
        let profile = kind.format.describe().profile;
        let is_sd_jwt = profile == Profile::SdJwtVc;
        let ctx = self.shared.clock.ctx();
        let now = ctx.now();
        let mut claims = subject.claims.clone();
        if let Some(served) = one.served.as_ref().filter(|_| is_sd_jwt) {
            claims.insert("vct#integrity".to_owned(), served.integrity.as_str().into());
        }
        if kind.has_handle {
            // All copies of a batch stand for one use, so they share one handle.
            let handle = ctx.random::<32>("single_use/handle");
            let own = single_use::claims(&one.vct, &handle);
            claims.extend(own.map(|(name, value)| (name.to_owned(), value)));
            disclosable.push(ClaimPath::of_names([single_use::HANDLE]).map_err(Error::internal)?);
        }
        let namespaces = match profile {
            Profile::Mdoc => one.elements(&claims)?,
            _ => Vec::new(),
        };
        Ok(credential::CredentialContent {
            issuer,
            signer,
            public: self.identity.public().clone(),
            claims,
            disclosable,
            decoys: 2,
            namespaces,
            // The terms of the samples have no vocabulary of their own.
            contexts: match (profile, &one.served) {
                (Profile::DataIntegrity, _) => one.linked_contexts().into_iter().skip(1).collect(),
                (_, Some(served)) => vec![served.addresses.context().into()],
                (_, None) => {
                    Vec::from_iter(kind.format.describe().undefined_terms.map(Value::from))
                }
            },
            schema: match &one.served {
                Some(served) if kind.format.describe().names_schema => {
                    Some(served.addresses.schema())
                }
                _ => None,
            },
            // As the credential will state it, because the register states it too.
            expires: Some(self.latest().settings.stated_end(end, now)),
            further_copies: !kind.has_handle,
            statuses: places
                .iter()
                .map(|place| self.lists.entry(place, kind))
                .collect(),
        })
    }
}

/// By whom a credential is signed, and its end.
struct Signing {
    kind: CredentialKind,
    signatory: Signatory,
    end: UnixTime,
}

/// The machine that redeems an offer's code, for a wallet that may be attested.
struct Redeeming<'a> {
    issuer: &'a Issuer,
    attested: Option<AttestedClient>,
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
        let issuer::Redeemed { granted, response } = match outcome {
            Ok(redeemed) => redeemed,
            Err(error) => {
                return Ok(Step::Done(
                    self.spending(Next::written(round, Err(refusal(error)))),
                ));
            }
        };
        offer.accepted = Some(round.ctx.now());
        let id = encoding::base64url_encode(&granted.token_hash);
        let expires = granted.expires;
        let grant = GrantRecord {
            state: IssuanceState::Granted(*granted),
            subject: offer.subject.clone(),
            origin: offer.origin,
            awaited: Vec::new(),
        };
        let put = Put::new(GRANT, id, encode(&grant)?).expires(expires);
        let response = *response;
        let redeemed = Redeemed { response, grant };
        let next = Next::written(round, Ok(redeemed)).put(put);
        Ok(Step::Done(self.spending(next)))
    }

    fn absent(&self, _: &TokenRequest) -> Result<Self::Reply> {
        Ok(Err(spent()))
    }

    fn conflict(&self, kind: &str) -> Option<Error> {
        (kind == POP).then(replayed)
    }
}

impl Redeeming<'_> {
    /// The step after which the wallet's proof of possession counts no more.
    fn spending<R>(&self, mut next: Next<R>) -> Next<R> {
        if let Some(SpentId { id, expires }) = self.attested.as_ref().map(|one| &one.spent) {
            let put = Put::new(POP, id, Vec::new()).expires(*expires);
            next.batch = next.batch.expect(POP, id, Expect::Absent).put(put);
        }
        next
    }
}

/// The machine that issues the credentials of a grant.
struct Issuing<'a> {
    issuer: &'a Issuer,
    current: Arc<Current>,
    request: &'a CredentialRequest,
}

/// What a credential request is allotted. Places are allotted once, however often the step is taken again, and none is
/// allotted to repeat an answer.
#[derive(Default)]
struct Allotted {
    places: Vec<ListPlace>,
    content: Option<credential::CredentialContent>,
}

/// The credentials issued; none if the response is one that was given before.
struct IssuedResponse {
    response: CredentialResponse,
    ids: Vec<String>,
    type_id: String,
    format: String,
}

impl IssuedResponse {
    /// Logs that a credential was issued, but not its contents, its holder or its offer: an offer by reference is
    /// fetched by its id. The register has the offer under the credential's id.
    fn note(&self, id: &str) {
        let Self {
            type_id, format, ..
        } = self;
        tracing::info!(credential = id, "type" = type_id, format, "issued");
    }
}

#[async_trait]
impl Machine for Issuing<'_> {
    const KIND: &'static str = GRANT;
    type Record = GrantRecord;
    type Input = Allotted;
    type Reply = IssuedResponse;

    fn records(&self) -> &RecordCache<GrantRecord> {
        &self.issuer.memory.grants
    }

    fn flow(&self, grant: &GrantRecord) -> Option<FlowStage> {
        let (state, origin) = ("granted", grant.origin);
        Some(FlowStage { state, origin })
    }

    async fn prepare(&self, _: At<'_>, grant: &GrantRecord, allotted: &mut Allotted) -> Result<()> {
        let issuer = self.issuer;
        let subject = &grant.subject;
        let one = self
            .current
            .types
            .version(&subject.type_id, subject.version)?;
        if let Some(application) = &subject.application {
            issuer.still_proven(application, one).await?;
        }
        let format: Format = grant.subject.format.parse().map_err(Error::internal)?;
        let kind = match one.single_use {
            true => CredentialKind::for_one_use(&issuer.context, &issuer.identity, format),
            false => CredentialKind::of(format),
        };
        let offered = || Error::internal("a grant's record holds an offer");
        let granted = grant.state.granted().ok_or_else(offered)?;
        let (settings, copies) = (&self.current.settings, !kind.has_handle);
        let needed = credential::entries_needed(granted, self.request, settings, copies);
        let needed = needed.map_err(refusal)?;
        while allotted.places.len() < needed {
            allotted.places.push(issuer.lists.place().await?);
        }
        let signing = issuer.signing(one, kind).await?;
        let content = issuer.content(one, signing, subject, &allotted.places)?;
        allotted.content = Some(content);
        Ok(())
    }

    fn step(
        &self,
        grant: &mut GrantRecord,
        Allotted { places, content }: &Allotted,
        round: &Round<'_>,
    ) -> Result<Step<Next<IssuedResponse>>> {
        let unprepared = || Error::internal("a credential request has no content");
        let content = content.as_ref().ok_or_else(unprepared)?;
        let asked = CredentialAsked {
            request: self.request,
            content,
            settings: &self.current.settings,
        };
        let taken = issuer::issue(&grant.state, &asked, round.evidence, round.ctx);
        let issuance = match taken.map_err(refusal)? {
            Step::Needs(needs) => return Ok(Step::Needs(needs)),
            Step::Done(issuance) => issuance,
        };
        let placed = issuance.issued.iter().zip(places);
        let puts = placed.map(|(_, place)| self.issuer.issued_put(&grant.subject, content, place));
        let puts: Vec<Put> = puts.collect::<Result<_>>()?;
        let ids: Vec<String> = puts.iter().map(|put| put.id.clone()).collect();
        let name = self.issuer.name_for(round.at.id, self.request);
        let issued = IssuedResponse {
            response: CredentialResponse {
                notification_id: name.clone(),
                ..issuance.response
            },
            ids: ids.clone(),
            type_id: grant.subject.type_id.clone(),
            format: grant.subject.format.clone(),
        };
        if ids.is_empty() {
            return Ok(Step::Done(Next::unchanged(round, issued)));
        }
        grant.state = issuance.state;
        let awaited = name.map(|name| AwaitedNotification::new(name, ids.clone()));
        grant.awaited.extend(awaited);
        let mut next = Next::written(round, issued);
        for nonce in issuance.spent {
            next.batch = next
                .batch
                .expect(NONCE, &nonce.id, Expect::Absent)
                .put(Put::new(NONCE, &nonce.id, Vec::new()).expires(nonce.expires));
        }
        let next = puts.into_iter().fold(next, Next::put);
        let told = |next: Next<_>, id| next.tell(EventKind::Issued, id);
        Ok(Step::Done(ids.into_iter().fold(next, told)))
    }

    fn absent(&self, _: &Allotted) -> Result<IssuedResponse> {
        Err(invalid_token())
    }

    fn conflict(&self, kind: &str) -> Option<Error> {
        let code = CredentialCode::InvalidNonce.as_str();
        (kind == NONCE).then(|| Error::bad_request("nonce-used").with_code(code))
    }
}

fn parsed(body: &[u8]) -> Result<TokenRequest> {
    TokenRequest::parse(body)
        .map_err(selfsame_openid4vc::Error::from)
        .map_err(refusal)
}

/// A credential request as it was posted, decrypted if it is encrypted.
pub(super) fn read(body: &[u8], current: &Current) -> Result<CredentialRequest> {
    CredentialRequest::read(body, current.settings.encryption.as_ref()).map_err(refusal)
}

fn spent() -> Error {
    Error::bad_request("code-unknown").with_code(Code::InvalidGrant.as_str())
}

pub(super) fn invalid_token() -> Error {
    let code = Code::InvalidToken.as_str();
    Error::new(ErrorKind::Unauthenticated, "access-token-unknown").with_code(code)
}
