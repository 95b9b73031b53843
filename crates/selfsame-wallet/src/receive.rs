//! Accepting an offer: preview, consent, and the flow that ends with cards (OpenID4VCI 1.0).

mod attested;
mod by_sign_in;
pub(crate) mod flow;
mod judge;
mod notifying;
mod possession;
mod signed;

use std::collections::BTreeMap;
use std::iter;
use std::sync::Arc;

use selfsame_crypto::{KeyType, SecretString, time::UnixTime};
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::decode;
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_net::{Authorization, Body, Call, Fresh, Method, NetError, Request, Response};
use selfsame_oauth::ServerMetadata;
use selfsame_oauth::client::possession::kind_of_key;
use selfsame_openid4vc::wallet::metadata::AuthorizationServer;
use selfsame_openid4vc::wallet::offer::OfferSource;
use selfsame_openid4vc::wallet::{self, Binding};
use selfsame_openid4vc::wire::metadata::{Configuration, IssuerMetadata};
use selfsame_openid4vc::wire::offer::{CredentialOffer, InputMode};
use selfsame_store::{Batch, TenantId};
use url::Url;

use crate::cards::Look;
use crate::history::KEPT;
use crate::known::{KnownIssuer, OfferingIssuer};
use crate::view::{
    AcceptOffer, CardSummary, OfferPreview, OfferedCredential, Person, PreparedCredential,
    TxCodePrompt,
};
use crate::{ISSUER_REST, Wallet};
use attested::SenderKeys;
use flow::{Flow, FlowEnd};
use possession::PossessedKey;
use selfsame_core::Recency;
use selfsame_core::view::readable;
use selfsame_holder::recording::SeenFetch;
use selfsame_holder::refusal;
use selfsame_wire::WalletFetch;

pub(crate) use flow::Receiving;
pub(crate) use notifying::NotifyingIssuer;

/// The media type of documents.
const JSON: &str = "application/json";
const COPIES_MAX: usize = 20;
/// Maximum age in seconds of an issuer's documents when a code is redeemed: if an endpoint has moved since, the code
/// would be lost.
const REDEEMING_AGE: u64 = 10;

/// An offer, and its issuer's documents.
struct OfferToAccept {
    offer: CredentialOffer,
    known: Arc<OfferingIssuer>,
    /// The form that redeems the code of a sign-in; `None` for the code of the offer.
    redemption: Option<SecretString>,
    /// The keys by which the server of the sign-in knows the wallet.
    sender: Option<SenderKeys>,
}

impl OfferToAccept {
    /// An offer whose own code is redeemed.
    fn by_itself(offer: CredentialOffer, known: Arc<OfferingIssuer>) -> Self {
        Self {
            offer,
            known,
            redemption: None,
            sender: None,
        }
    }
}

impl Wallet {
    /// Previews an offer. Nothing is sent except requests for public documents.
    ///
    /// # Errors
    /// If the offer or the issuer's documents are invalid, or can't be fetched.
    pub async fn preview_offer(&self, link: &str) -> Result<OfferPreview> {
        let offer = self.offer(link, None).await?;
        let known = self.issuer_of(&offer, u64::MAX).await?;
        check_for_people(&offer, &known.issuer)?;
        let mut credentials = offered(&offer, &known.issuer);
        for credential in &mut credentials {
            self.show_here(&mut credential.display).await?;
        }
        let tx_code = offer
            .pre_authorized_code()
            .and_then(|grant| grant.tx_code.as_ref());
        Ok(OfferPreview {
            issuer: offer.credential_issuer.clone(),
            issuer_name: known
                .issuer
                .display
                .first()
                .and_then(|display| display.name.as_deref().map(readable)),
            issuer_logo: self.logo_of(&known.issuer).await?,
            trusted: self.trusts_issuer(&offer.credential_issuer),
            sign_in: offer
                .authorization_code()
                .map(|_| known.server.issuer.clone()),
            credentials,
            tx_code: tx_code.map(|code| TxCodePrompt {
                input_mode: match code.input_mode {
                    InputMode::Numeric => "numeric".to_owned(),
                    InputMode::Text => "text".to_owned(),
                },
                length: code.length.map(u64::from),
                description: code.description.as_deref().map(readable),
            }),
        })
    }

    async fn logo_of(&self, issuer: &IssuerMetadata) -> Result<Option<String>> {
        let display = issuer.display.first();
        let logo = display.and_then(|display| display.logo.as_ref());
        match logo.and_then(|logo| Url::parse(&logo.uri).ok()) {
            Some(logo) => self.own_logo(&logo, &issuer.credential_endpoint).await,
            None => Ok(None),
        }
    }

    /// Accepts an offer, and returns the cards received.
    ///
    /// # Errors
    /// If the offer, the issuer's documents or the transaction code are wrong, if it offers what only machines hold, or
    /// the issuer can't be reached.
    pub async fn accept_offer(
        &self,
        person: &Person,
        accept: &AcceptOffer,
    ) -> Result<Vec<CardSummary>> {
        let offer = self.offer(&accept.offer, Some(&person.tenant)).await?;
        let known = self.issuer_of(&offer, REDEEMING_AGE).await?;
        check_for_people(&offer, &known.issuer)?;
        self.accept(person, accept, OfferToAccept::by_itself(offer, known))
            .await
    }

    /// The credentials of accepted offers that their issuers still prepare, the newest first. A page can have fewer
    /// entries than asked for, and a next page: other offers that are in progress are left out.
    ///
    /// # Errors
    /// The store's.
    pub async fn prepared(
        &self,
        person: &Person,
        paging: &Paging,
    ) -> Result<Listing<PreparedCredential>> {
        let store = &self.shared.store;
        let records = store
            .list(&person.tenant, flow::FLOW, &page(paging))
            .await?;
        let listed = listing(&records, paging, |record| {
            Ok(decode::<Flow>(&record.value)?.prepared())
        })?;
        Ok(Listing {
            items: listed.items.into_iter().flatten().collect(),
            next: listed.next,
        })
    }

    /// Accepts an offer for a machine, whose keys are this instance's.
    ///
    /// # Errors
    /// As above, but credentials of every format are accepted.
    pub async fn accept_for_machine(
        &self,
        person: &Person,
        accept: &AcceptOffer,
    ) -> Result<Vec<CardSummary>> {
        let offer = self.offer(&accept.offer, Some(&person.tenant)).await?;
        let known = self.described(&offer, REDEEMING_AGE).await?;
        self.accept(person, accept, OfferToAccept::by_itself(offer, known))
            .await
    }

    async fn accept(
        &self,
        person: &Person,
        accept: &AcceptOffer,
        to_accept: OfferToAccept,
    ) -> Result<Vec<CardSummary>> {
        let OfferToAccept {
            offer,
            known,
            redemption,
            sender,
        } = to_accept;
        let key = issuer_key(&offer);
        let copies = accept.copies.unwrap_or(1);
        if !(1..=COPIES_MAX).contains(&copies) {
            return Err(Error::bad_request("copies-limit").with("maximum", &COPIES_MAX));
        }
        let cards = offer.credential_configuration_ids.len();
        self.quotas
            .has_room_for_cards(person, cards.saturating_mul(copies))
            .await?;
        self.quotas.has_room_for_a_flow(person, flow::FLOW).await?;
        let batch = self.quotas.room_on(&person.tenant, &KEPT).await?;
        let (bindings, batch, is_fresh) = match accept.did.as_deref() {
            Some(did) => (vec![self.did_binding(person, did).await?], batch, false),
            None => {
                let kinds = wallet::kinds_of_keys(&offer, &known.issuer);
                let (bindings, batch) = self.fresh_bindings(person, &kinds, copies, batch)?;
                (bindings, batch, true)
            }
        };
        let (sender, batch) = self.sender(person, &known.server, sender, batch).await?;
        let tx_code = accept.tx_code.clone().map(SecretString::from);
        let mut begun = wallet::begin(&wallet::Accept {
            offer: &offer,
            issuer: &known.issuer,
            server: &known.server,
            tx_code: tx_code.as_ref(),
            bindings: &bindings,
            with_proof: sender.possessed.is_some(),
            redemption: redemption.as_ref(),
        })
        .map_err(refusal)?;
        self.attest_keys(&mut begun.state, &known.issuer).await?;
        let looks = looks(&known.issuer, &offer.credential_configuration_ids);
        let id = self.shared.clock.ctx().token("flow/id");
        let keys = bindings.into_iter().filter(|_| is_fresh);
        let now = self.shared.clock.now();
        let flow = Flow::new(offer.credential_issuer, begun.state, now)
            .showing(looks)
            .with_keys(keys.map(|binding| binding.key).collect())
            .sent_by(sender);
        let entry = begun.call.map(|call| flow::entry(&id, &flow, call, now));
        let batch = entry.transpose()?.into_iter().fold(batch, Batch::enqueue);
        let put = flow.put(&id)?;
        // Deferring this commit loses nothing: until the code is redeemed the offer stays valid, and a record made
        // before the redemption could not bring back what a power failure takes after it.
        let first = self
            .shared
            .begin(&self.receiving, put, flow, batch.deferred())
            .await?;
        let end = self.shared.go_on(&self.receiving, first).await?;
        let end = end.unwrap_or(FlowEnd::Waiting);
        if matches!(end, FlowEnd::Failed(_)) {
            // The issuer's cached documents may be outdated.
            self.issuers.forget(&key);
        }
        end.cards()
    }

    /// A fresh key for the access token, if the server binds tokens to keys.
    fn possessed_at(
        &self,
        person: &Person,
        server: &ServerMetadata,
        batch: Batch,
    ) -> Result<(Option<PossessedKey>, Batch)> {
        let Some(kind) = kind_of_key(server) else {
            return Ok((None, batch));
        };
        let (_, key, batch) = self.shared.keys.create(&person.tenant, kind, batch)?;
        Ok((Some(PossessedKey::new(key)), batch))
    }

    async fn offer(&self, link: &str, reader: Option<&TenantId>) -> Result<CredentialOffer> {
        let source = wallet::offer::locate(link, &self.transport).map_err(|wrong| Error {
            // Nothing was fetched yet, so the link is at fault.
            kind: ErrorKind::BadRequest,
            ..refusal(wrong)
        })?;
        match source {
            OfferSource::Value(offer) => Ok(offer),
            OfferSource::Reference(url) => {
                let response = self
                    .fetched(&url)
                    .await
                    .map_err(|error| unreachable(Reason::new("the-offer"), &error))?;
                if let Some(tenant) = reader {
                    let fetched = SeenFetch {
                        what: WalletFetch::Offer,
                        url: &url,
                        form: None,
                        response: &response,
                    };
                    fetched.record(&self.wire, tenant).await;
                }
                if !response.is_success() {
                    return Err(not_given(response.status));
                }
                Ok(
                    wallet::offer::read(&response.body, response.content_type.as_deref())
                        .map_err(refusal)?,
                )
            }
        }
    }

    /// The issuer's documents, which describe what is offered, of an issuer that keeps the profile of the wallet.
    async fn issuer_of(
        &self,
        offer: &CredentialOffer,
        age_max: u64,
    ) -> Result<Arc<OfferingIssuer>> {
        let known = self.described(offer, age_max).await?;
        self.check_offer(offer, &known)?;
        Ok(known)
    }

    /// The issuer's documents, which describe what is offered. If the cached copy does not, they are fetched again:
    /// issuers add credentials (OpenID4VCI 1.0 §4.1.1, §12.2). Repeated offers of credentials that do not exist cause
    /// such a fetch only as often as an unreachable issuer would: once in `ISSUER_REST` seconds.
    ///
    /// A copy older than `age_max` seconds is fetched again too; if that fails, the old copy is used.
    async fn described(
        &self,
        offer: &CredentialOffer,
        age_max: u64,
    ) -> Result<Arc<OfferingIssuer>> {
        let key = issuer_key(offer);
        let now = self.shared.clock.now();
        let (mut known, mut fetched) = self.issuer_at_hand(&key, offer, Recency::any(now)).await?;
        if now.seconds_since(fetched) > age_max {
            let outdated = Some(fetched);
            let when = Recency { now, outdated };
            (known, fetched) = self.issuer_at_hand(&key, offer, when).await?;
        }
        let offering = self.recent.offering(&known, offer)?;
        let Err(lacking) = wallet::metadata::check_offered(&offering.issuer, offer) else {
            return Ok(offering);
        };
        if known.lacks && now < fetched.plus(ISSUER_REST) {
            return Err(refusal(lacking));
        }
        let outdated = Some(fetched);
        let when = Recency { now, outdated };
        let (known, _) = self.issuer_at_hand(&key, offer, when).await?;
        let offering = self.recent.offering(&known, offer)?;
        wallet::metadata::check_offered(&offering.issuer, offer).map_err(refusal)?;
        Ok(offering)
    }

    async fn issuer_at_hand(
        &self,
        key: &String,
        offer: &CredentialOffer,
        Recency { now, outdated }: Recency,
    ) -> Result<(Arc<KnownIssuer>, UnixTime)> {
        let mut wrong = None;
        let fetched = self
            .issuers
            .get_newer(key, now, outdated, async {
                match self.fetch_issuer(offer).await {
                    Ok(fresh) => Ok(fresh),
                    Err(error) => {
                        wrong = Some(error);
                        Err(NetError::Malformed("the issuer's documents"))
                    }
                }
            })
            .await;
        match (fetched, wrong) {
            (Ok(known), _) => Ok(known),
            (Err(_), Some(error)) => Err(error),
            (Err(error), None) => Err(unreachable(Reason::new("the-issuer"), &error)),
        }
    }

    async fn fetch_issuer(&self, offer: &CredentialOffer) -> Result<Fresh<KnownIssuer>> {
        let url = wallet::metadata::issuer_location(offer, &self.transport).map_err(refusal)?;
        let document = self.issuer_document(&url, &offer.credential_issuer).await?;
        let issuer = wallet::metadata::read_issuer(
            &document.body,
            document.content_type.as_deref(),
            offer,
            &self.transport,
        )
        .map_err(refusal)?;
        let servers =
            wallet::metadata::servers(&issuer, offer, &self.transport).map_err(refusal)?;
        let (server, server_age) = self.fetch_server(&servers, offer).await?;
        let lacks = wallet::metadata::check_offered(&issuer, offer).is_err();
        let known = KnownIssuer::new(issuer, &server, lacks)?;
        // RFC 9111 §4.2: cached no longer than both responses allow.
        Ok(Fresh::new(known)
            .at_most(age_of(&document.response))
            .at_most(server_age))
    }

    /// The first server that supports the grant of the offer (OpenID4VCI 1.0 §12.2.4); if none does, the result of the
    /// first server.
    async fn fetch_server(
        &self,
        servers: &[AuthorizationServer],
        offer: &CredentialOffer,
    ) -> Result<(ServerMetadata, u64)> {
        let mut first = None;
        let supports = |metadata: &ServerMetadata| match offer.authorization_code() {
            Some(_) => metadata.supports_authorization_code(),
            None => metadata.supports_pre_authorized_code(),
        };
        for server in servers {
            match self.server_metadata(server).await {
                Ok((metadata, age)) if supports(&metadata) => return Ok((metadata, age)),
                other => first.get_or_insert(other),
            };
        }
        first.unwrap_or_else(|| Err(Error::upstream("authorization-server-absent")))
    }

    /// A server's metadata, and for how many seconds it may be cached.
    async fn server_metadata(&self, server: &AuthorizationServer) -> Result<(ServerMetadata, u64)> {
        let response = self
            .document(&server.url, Reason::new("the-server-metadata"))
            .await?;
        let metadata = wallet::metadata::read_server(&response.body, server, &self.transport)
            .map_err(refusal)?;
        Ok((metadata, age_of(&response)))
    }

    async fn document(&self, url: &Url, what: Reason) -> Result<Response> {
        self.document_as(url, JSON, what).await
    }

    async fn document_as(&self, url: &Url, accept: &'static str, what: Reason) -> Result<Response> {
        let response = self
            .fetched_as(url, accept)
            .await
            .map_err(|error| unreachable(what.clone(), &error))?;
        if response.is_success() {
            Ok(response)
        } else {
            Err(Error::upstream("document-unfetched")
                .with_reason("what", what)
                .with("status", &response.status))
        }
    }

    async fn fetched(&self, url: &Url) -> std::result::Result<Response, NetError> {
        self.fetched_as(url, JSON).await
    }

    async fn fetched_as(
        &self,
        url: &Url,
        accept: &'static str,
    ) -> std::result::Result<Response, NetError> {
        let request = Request {
            accept: Some(accept),
            ..Request::default()
        };
        let call = Call {
            method: Method::Get,
            url,
            body: Body::Empty,
            authorization: Authorization::None,
            request,
        };
        self.shared.net.call(call).await
    }

    /// The key of a DID, to bind credentials to.
    async fn did_binding(&self, person: &Person, did: &str) -> Result<Binding> {
        let (key, kid) = self.did_key(&person.tenant, did).await?;
        let public = key.public();
        Ok(Binding {
            key: selfsame_crypto::KeyHandle::of(public),
            algorithm: key.algorithm(),
            jwk: public.to_jwk(),
            kid: Some(kid),
        })
    }

    /// Fresh keys to bind credentials to, so that the credentials cannot be linked by their keys.
    fn fresh_bindings(
        &self,
        person: &Person,
        kinds: &[KeyType],
        copies: usize,
        mut batch: Batch,
    ) -> Result<(Vec<Binding>, Batch)> {
        let mut bindings = Vec::with_capacity(copies);
        for kind in kinds.iter().flat_map(|kind| iter::repeat_n(*kind, copies)) {
            let (key, handle, more) = self.shared.keys.create(&person.tenant, kind, batch)?;
            batch = more;
            bindings.push(Binding {
                key: handle,
                algorithm: key.algorithm(),
                jwk: key.public().to_jwk(),
                kid: None,
            });
        }
        Ok((bindings, batch))
    }
}

/// Refuses an offer of what only machines hold.
fn check_for_people(offer: &CredentialOffer, issuer: &IssuerMetadata) -> Result<()> {
    let mut offered = offer.credential_configuration_ids.iter();
    let is_for_machines = |id: &String| {
        let format = issuer
            .configuration(id)
            .and_then(Configuration::known_format);
        format.is_some_and(|format| format.describe().is_for_machines)
    };
    match offered.any(is_for_machines) {
        true => Err(Error::bad_request("offer-of-machine")),
        false => Ok(()),
    }
}

/// How to show the cards of these configurations.
fn looks(issuer: &IssuerMetadata, configurations: &[String]) -> BTreeMap<String, Look> {
    let look = |id: &String| {
        let configuration = issuer.configuration(id)?;
        Some((id.clone(), Look::of(configuration).by(issuer)))
    };
    configurations.iter().filter_map(look).collect()
}

/// The cache key of an issuer's documents; which of its authorization servers is used depends on the offer.
fn issuer_key(offer: &CredentialOffer) -> String {
    let server = offer.authorization_server().unwrap_or_default();
    let grant = offer.authorization_code().map_or("", |_| "code");
    format!("{} {server} {grant}", offer.credential_issuer)
}

/// For how many seconds a response may be cached, by its own headers.
fn age_of(response: &Response) -> u64 {
    response.cache_max_age.unwrap_or(u64::MAX)
}

fn offered(offer: &CredentialOffer, issuer: &IssuerMetadata) -> Vec<OfferedCredential> {
    let described = |id: &String| -> Option<OfferedCredential> {
        let configuration: &Configuration = issuer.configuration(id)?;
        let look = Look::of(configuration);
        Some(OfferedCredential {
            configuration: id.clone(),
            format: configuration.format.clone(),
            claims: look.lines().map(|path| look.label(path)).collect(),
            display: look.display(&types_of(configuration)),
        })
    };
    offer
        .credential_configuration_ids
        .iter()
        .filter_map(described)
        .collect()
}

/// The types of the credentials of a configuration.
fn types_of(configuration: &Configuration) -> Vec<String> {
    match (&configuration.vct, &configuration.credential_definition) {
        (Some(vct), _) => vec![vct.clone()],
        (None, None) if configuration.doctype.is_some() => {
            configuration.doctype.iter().cloned().collect()
        }
        (None, Some(definition)) => definition.types.clone(),
        (None, None) => Vec::new(),
    }
}

/// The error for an offer that its URL does not return: gone for good, or unavailable now.
fn not_given(status: u16) -> Error {
    match status {
        // Issuers differ in the status they use for this.
        400 | 404 | 410 => Error::new(ErrorKind::Gone, "offer-over-at-issuer"),
        _ => Error::upstream("offer-undelivered").with("status", &status),
    }
}

fn unreachable(what: Reason, error: &NetError) -> Error {
    tracing::warn!(reason = %error, %what, "a fetch for a wallet failed");
    Error::upstream("document-unreachable")
        .with_reason("what", what)
        .with("detail", &error.public_reason())
}
