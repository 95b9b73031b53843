//! The endpoints that wallets call with an access token, and that of nonces (OpenID4VCI 1.0 §7, §8).

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_approvals::SoughtDeferral;
use selfsame_approvals::possession::{NONCE, OwnToken};
use selfsame_credential::evidence::Step;
use selfsame_credential::format::Profile;
use selfsame_credential::{ClaimPath, Format, single_use};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Result};
use selfsame_openid4vc::error::CredentialCode;
use selfsame_openid4vc::issuer::credential::CredentialAsked;
use selfsame_openid4vc::issuer::{self, DeferralAsked, Issuance, IssuanceState, credential, nonce};
use selfsame_openid4vc::wire::credential::{
    CredentialAnswer, CredentialRequest, CredentialResponse, RequestOutcome,
};
use selfsame_openid4vc::wire::deferred::DeferredResponse;
use selfsame_openid4vc::wire::nonce::NonceResponse;
use selfsame_store::{Batch, Expect, Put, Tag};
use selfsame_types::CredentialType;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::awaited::AwaitedNotification;
use super::register::IssuedCopies;
use super::signing::{CredentialKind, Signatory, signatory};
use super::{CredentialSubject, Current, Issuer};
use crate::refusal::refusal;
use crate::view::list_faces::ListPlace;
use selfsame_core::events::EventKind;
use selfsame_core::machine::{At, FlowOrigin, FlowStage, Machine, Next, Round};
use selfsame_driver::record::RecordCache;

pub(crate) use selfsame_approvals::possession::GRANT;
pub(super) use selfsame_approvals::possession::invalid_token;

#[derive(Deserialize, Serialize)]
pub(super) struct GrantRecord {
    pub state: IssuanceState,
    pub subject: CredentialSubject,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<FlowOrigin>,
    /// The responses that the wallet is to tell of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaited: Vec<AwaitedNotification>,
    /// The thumbprint of the key that the access token is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The account of the person who signed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

impl GrantRecord {
    /// Ends its access token at this time, unless it ends before, or has no offer: then it lasts as its sign-in does.
    fn end_by(&mut self, end: UnixTime) {
        if let IssuanceState::Granted(granted) = &mut self.state
            && !granted.offer_id.is_empty()
        {
            granted.expires = granted.expires.min(end);
        }
    }
}

/// A credential request with an access token.
#[derive(Clone, Copy)]
pub(super) struct WalletAsk<'a> {
    /// The id of the token's record.
    pub grant: &'a str,
    /// The thumbprint of the key that was proven with the token.
    pub key: Option<&'a str>,
    pub request: &'a CredentialRequest,
    /// The transaction that is looked for, if the request was deferred before.
    pub transaction: Option<&'a str>,
}

impl Issuer {
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
    pub async fn credential(
        &self,
        token: impl Into<OwnToken<'_>>,
        body: &[u8],
    ) -> Result<CredentialAnswer> {
        let token = token.into();
        let request = read(body, &*self.current().await?)?;
        let outcome = self.asked(&token, &request).await?;
        let ctx = self.shared.clock.ctx();
        let wanted = request.response_encryption.as_ref();
        CredentialAnswer::to(outcome, wanted, &ctx).map_err(refusal)
    }

    /// What a request of this process gets, which crosses no wire and is not encrypted.
    ///
    /// # Errors
    /// As [`Issuer::credential`]; `Internal` for an offer that needs an approval.
    pub async fn credential_here(
        &self,
        access_token: &str,
        request: &CredentialRequest,
    ) -> Result<CredentialResponse> {
        match self.asked(&access_token.into(), request).await? {
            RequestOutcome::Issued(response) => Ok(response),
            RequestOutcome::Deferred(_) => Err(Error::internal("nobody here waits")),
        }
    }

    async fn asked(
        &self,
        token: &OwnToken<'_>,
        request: &CredentialRequest,
    ) -> Result<RequestOutcome> {
        let (current, grant) = (self.current().await?, token.grant_id());
        let asked = WalletAsk {
            grant: &grant,
            key: token.key(),
            request,
            transaction: None,
        };
        self.issue(asked, current).await
    }

    /// Issues what a request asks for, or keeps it until it is approved.
    pub(super) async fn issue(
        &self,
        asked: WalletAsk<'_>,
        current: Arc<Current>,
    ) -> Result<RequestOutcome> {
        let at = At {
            tenant: self.tenant(),
            id: asked.grant,
        };
        let issuing = Issuing {
            issuer: self,
            current,
            asked,
        };
        let driven = self.shared.drive(&issuing, at, Allotted::default()).await?;
        let issued = driven.reply;
        issued.ids.iter().for_each(|id| issued.note(id));
        Ok(issued.outcome)
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

/// The machine that issues the credentials of a grant.
struct Issuing<'a> {
    issuer: &'a Issuer,
    current: Arc<Current>,
    asked: WalletAsk<'a>,
}

/// What a credential request is allotted. Places are allotted once, however often the step is taken again, and none is
/// allotted to repeat an answer.
#[derive(Default)]
struct Allotted {
    places: Vec<ListPlace>,
    content: Option<credential::CredentialContent>,
    /// The transaction that is looked for, as it was read for this try.
    sought: Option<SoughtDeferral>,
}

/// What a request led to, and the credentials issued; none if it waits, or the response was given before.
pub(super) struct IssuedResponse {
    outcome: RequestOutcome,
    ids: Vec<String>,
    type_id: String,
    format: String,
}

impl IssuedResponse {
    /// Of a request that waits.
    pub(super) fn deferred(response: DeferredResponse) -> Self {
        Self {
            outcome: RequestOutcome::Deferred(response),
            ids: Vec::new(),
            type_id: String::new(),
            format: String::new(),
        }
    }

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

    fn tags(&self, grant: &GrantRecord) -> Option<Vec<Tag>> {
        // Only the token of a credential that waited ends earlier than it was given.
        grant.subject.needs_approval.then(Vec::new)
    }

    fn expires(&self, grant: &GrantRecord) -> Option<UnixTime> {
        grant.state.granted().map(|granted| granted.expires)
    }

    fn flow(&self, grant: &GrantRecord) -> Option<FlowStage> {
        let (state, origin) = ("granted", grant.origin);
        Some(FlowStage { state, origin })
    }

    async fn prepare(
        &self,
        at: At<'_>,
        grant: &GrantRecord,
        allotted: &mut Allotted,
    ) -> Result<()> {
        let issuer = self.issuer;
        check_held(grant, self.asked.key, issuer.shared.clock.now())?;
        if let Some(transaction) = self.asked.transaction {
            allotted.sought = Some(issuer.sought(transaction, at.id).await?);
        }
        let subject = &grant.subject;
        let one = self
            .current
            .types
            .version(&subject.type_id, subject.version)?;
        if let Some(application) = &subject.application {
            issuer.still_proven(application, one).await?;
        }
        if self.waits(grant) {
            let granted = grant.state.granted();
            // A repeated request has its place.
            return match granted.is_some_and(|granted| granted.deferred.is_empty()) {
                true => {
                    issuer
                        .approvals()
                        .check_room(grant.account.as_deref())
                        .await
                }
                false => Ok(()),
            };
        }
        let format: Format = grant.subject.format.parse().map_err(Error::internal)?;
        let kind = match one.single_use {
            true => CredentialKind::for_one_use(&issuer.context, &issuer.identity, format),
            false => CredentialKind::of(format),
        };
        let offered = || Error::internal("a grant's record holds an offer");
        let granted = grant.state.granted().ok_or_else(offered)?;
        let (settings, copies) = (&self.current.settings, !kind.has_handle);
        let needed = credential::entries_needed(granted, self.asked.request, settings, copies);
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
        allotted: &Allotted,
        round: &Round<'_>,
    ) -> Result<Step<Next<IssuedResponse>>> {
        let (request, settings) = (self.asked.request, &self.current.settings);
        if self.waits(grant) {
            let asked = DeferralAsked { request, settings };
            return self.issuer.defer(grant, &asked, round);
        }
        let Allotted {
            content, sought, ..
        } = allotted;
        let unprepared = || Error::internal("a credential request has no content");
        let content = content.as_ref().ok_or_else(unprepared)?;
        let asked = CredentialAsked {
            request,
            content,
            settings,
            proven: sought.as_ref().map(|sought| &*sought.record.holders),
        };
        let taken = issuer::issue(&grant.state, &asked, round.evidence, round.ctx);
        match taken.map_err(refusal)? {
            Step::Needs(needs) => Ok(Step::Needs(needs)),
            Step::Done(issuance) => self.given(grant, allotted, issuance, round),
        }
    }

    fn absent(&self, _: &Allotted) -> Result<IssuedResponse> {
        Err(invalid_token())
    }

    fn conflict(&self, kind: &str) -> Option<Error> {
        let code = CredentialCode::InvalidNonce.as_str();
        (kind == NONCE).then(|| Error::bad_request("nonce-used").with_code(code))
    }
}

impl Issuing<'_> {
    /// Whether the request is kept until somebody approves it.
    fn waits(&self, grant: &GrantRecord) -> bool {
        self.asked.transaction.is_none() && grant.subject.needs_approval
    }

    /// What is written of credentials that were issued.
    fn given(
        &self,
        grant: &mut GrantRecord,
        allotted: &Allotted,
        issuance: Issuance,
        round: &Round<'_>,
    ) -> Result<Step<Next<IssuedResponse>>> {
        let unprepared = || Error::internal("a credential request has no content");
        let content = allotted.content.as_ref().ok_or_else(unprepared)?;
        let types = &self.current.types;
        let one = IssuedCopies::of(&grant.subject, content, types, round.ctx);
        let placed = issuance.issued.iter().zip(&allotted.places);
        let puts = placed.map(|(_, place)| self.issuer.issued_put(&one, place));
        let puts: Vec<Put> = puts.collect::<Result<_>>()?;
        let left = self.issuer.left_to_book(&one, &issuance, types)?;
        let ids: Vec<String> = puts.iter().map(|put| put.id.clone()).collect();
        let name = self.issuer.name_for(round.at.id, self.asked.request);
        let issued = IssuedResponse {
            outcome: RequestOutcome::Issued(CredentialResponse {
                notification_id: name.clone(),
                ..issuance.response
            }),
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
        next.batch = spent(next.batch.and(left), issuance.spent);
        if let Some(sought) = &allotted.sought {
            next.batch = sought.delivered_in(next.batch, round.ctx.now())?;
            grant.end_by(sought.token_end(round.ctx.now()));
        }
        let next = puts.into_iter().fold(next, Next::put);
        let told = |next: Next<_>, id| next.tell(EventKind::Issued, id);
        Ok(Step::Done(ids.into_iter().fold(next, told)))
    }
}

/// A credential request as it was posted, decrypted if it is encrypted.
pub(super) fn read(body: &[u8], current: &Current) -> Result<CredentialRequest> {
    CredentialRequest::read(body, current.settings.encryption.as_ref()).map_err(refusal)
}

/// Refuses a grant whose access token has ended, or is bound to another key. RFC 9449 §7.1: a bound token is no bearer
/// token, and the reverse.
pub(super) fn check_held(grant: &GrantRecord, key: Option<&str>, now: UnixTime) -> Result<()> {
    let granted = grant.state.granted().ok_or_else(invalid_token)?;
    match grant.key.as_deref() == key && now < granted.expires {
        true => Ok(()),
        false => Err(invalid_token()),
    }
}

/// Marks nonces as used. One that is used already is a conflict.
pub(super) fn spent(batch: Batch, spent: Vec<nonce::Spent>) -> Batch {
    spent.into_iter().fold(batch, |batch, nonce| {
        batch
            .expect(NONCE, &nonce.id, Expect::Absent)
            .put(Put::new(NONCE, &nonce.id, Vec::new()).expires(nonce.expires))
    })
}
