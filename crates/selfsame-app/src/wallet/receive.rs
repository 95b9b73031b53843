//! Taking an offer: preview, consent, and the flow that ends with cards (OpenID4VCI 1.0).

use std::sync::Arc;

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::{KeyType, SecretString};
use selfsame_net::{Authorization, Body, Call, Fresh, Method, NetError, Request, Response};
use selfsame_openid4vc::wallet::offer::Source;
use selfsame_openid4vc::wallet::{self, Answer, Binding, Effect, Input, State};
use selfsame_openid4vc::wire::metadata::Configuration;
use selfsame_openid4vc::wire::offer::{CredentialOffer, InputMode};
use selfsame_store::{Batch, Leased, Put, Record};
use serde::{Deserialize, Serialize};
use url::Url;

use super::cards::{CardRecord, Look};
use super::history::Entry;
use super::{KnownIssuer, Wallet};
use crate::accounts::{decode, encode};
use crate::error::{Error, ErrorKind, Result};
use crate::events::EventKind;
use crate::gather::Freshness;
use crate::outbox::Job;
use crate::view::wallet::{
    AcceptOffer, CardSummary, OfferPreview, OfferedCredential, Person, TxCodePrompt,
};

const FLOW: &str = "receiving";
const COPIES_MAX: usize = 20;
/// A flow that has not ended by then never will.
const FLOW_SECONDS: u64 = 24 * 3600;

/// What is on its way into a wallet.
#[derive(Deserialize, Serialize)]
struct Flow {
    state: State,
    /// How to show each configuration's cards.
    looks: std::collections::BTreeMap<String, Look>,
}

/// What a flow has come to when nothing more is to be done for it now.
pub(crate) enum End {
    /// The cards are kept.
    Kept(Vec<CardSummary>),
    /// It did not work out.
    Failed(Error),
    /// It goes on later.
    Waiting,
}

impl Wallet {
    /// What an offer would bring; nothing is sent but the fetches of public documents.
    ///
    /// # Errors
    /// What is wrong with the offer or its issuer.
    pub async fn preview_offer(&self, link: &str) -> Result<OfferPreview> {
        let offer = self.offer(link).await?;
        let known = self.issuer_of(&offer).await?;
        let tx_code = offer
            .pre_authorized_code()
            .and_then(|grant| grant.tx_code.as_ref());
        Ok(OfferPreview {
            issuer: offer.credential_issuer.clone(),
            issuer_name: known
                .issuer
                .display
                .first()
                .and_then(|display| display.name.clone()),
            trusted: self.shared.trusts_issuer(&offer.credential_issuer),
            credentials: offered(&offer, &known),
            tx_code: tx_code.map(|code| TxCodePrompt {
                input_mode: match code.input_mode {
                    InputMode::Numeric => "numeric".to_owned(),
                    InputMode::Text => "text".to_owned(),
                },
                length: code.length.map(u64::from),
                description: code.description.clone(),
            }),
        })
    }

    /// Takes an offer, and gives the cards that came of it.
    ///
    /// # Errors
    /// What is wrong with the offer, its issuer, or the transaction code.
    pub async fn accept_offer(
        self: &Arc<Self>,
        person: &Person,
        accept: &AcceptOffer,
    ) -> Result<Vec<CardSummary>> {
        let offer = self.offer(&accept.offer).await?;
        let known = self.issuer_of(&offer).await?;
        let copies = accept.copies.unwrap_or(1);
        if !(1..=COPIES_MAX).contains(&copies) {
            return Err(Error::bad_request(format!(
                "1 to {COPIES_MAX} copies can be asked for"
            )));
        }
        let batch = Batch::new(person.tenant.clone());
        let (bindings, batch) = self
            .bindings(person, accept.did.as_deref(), copies, batch)
            .await?;
        let tx_code = accept.tx_code.clone().map(SecretString::from);
        let (state, effects) = wallet::begin(&wallet::Accept {
            offer: &offer,
            issuer: &known.issuer,
            server: &known.server,
            tx_code: tx_code.as_ref(),
            bindings: &bindings,
        })?;
        let looks = offer
            .credential_configuration_ids
            .iter()
            .filter_map(|id| Some((id.clone(), Look::of(known.issuer.configuration(id)?))))
            .collect();
        let id = self.shared.clock.ctx().token("flow/id");
        let put = Put::new(FLOW, &id, encode(&Flow { state, looks })?)
            .expires(self.shared.clock.now().plus(FLOW_SECONDS));
        let batch = self.enqueued(batch.put(put), &id, effects)?;
        // Nothing is lost with this commit that is not lost without it: until the code is redeemed the offer is
        // good, and what a power failure takes after that no record made before it brings back.
        let committed = self.shared.store.commit(batch.deferred()).await?;
        let first = committed.outbox.first().copied();
        match self.finish(first).await? {
            End::Kept(cards) => Ok(cards),
            End::Failed(error) => Err(error),
            End::Waiting => Err(Error::upstream(
                "the issuer does not answer now; what it sends later will be kept",
            )),
        }
    }

    /// Works on a flow's effects, one after another, as long as they lead to each other.
    async fn finish(self: &Arc<Self>, first: Option<selfsame_store::OutboxId>) -> Result<End> {
        let mut next = first;
        while let Some(id) = next {
            let Some(leased) = self.shared.store.lease_early(id).await? else {
                return Ok(End::Waiting);
            };
            // On a task of its own: a person who goes away does not stop what cannot be repeated.
            let wallet = self.clone();
            let done = tokio::spawn(async move { wallet.perform_received(leased).await });
            match done.await.map_err(Error::internal)?? {
                Done::Next(then) => next = then,
                Done::End(end) => return Ok(end),
            }
        }
        Ok(End::Waiting)
    }

    /// Carries out one effect of a flow and takes its next step.
    pub(crate) async fn perform_received(&self, leased: Leased) -> Result<Done> {
        let Job::Receive { flow: id, effect } = Job::read(&leased)? else {
            return Err(Error::internal("another kind of effect came to the wallet"));
        };
        let tenant = leased.tenant.clone();
        let Some(record) = self.shared.store.read(&tenant, FLOW, &id).await? else {
            self.shared
                .store
                .commit(Batch::new(tenant).settle(leased.id))
                .await?;
            return Ok(Done::End(End::Waiting));
        };
        let flow: Flow = decode(&record.value)?;
        let answer = match self.called(&effect).await {
            Ok(answer) => answer,
            Err(error)
                if error.is_transient() && effect.may_be_repeated() && leased.attempts < 5 =>
            {
                let wait = 1_u64 << leased.attempts;
                let batch = Batch::new(tenant).retry(leased.id, self.shared.clock.now().plus(wait));
                self.shared.store.commit(batch).await?;
                return Ok(Done::End(End::Waiting));
            }
            Err(error) => {
                let reason = error.to_string();
                return self
                    .taken(&leased, (&record, flow), &Input::Unreachable(&reason))
                    .await;
            }
        };
        let seen = Answer {
            status: answer.status,
            content_type: answer.content_type.as_deref(),
            body: &answer.body,
        };
        let input = match &effect {
            Effect::RedeemToken { .. } => Input::Token(seen),
            Effect::FetchNonce { .. } => Input::Nonce(seen),
            Effect::RequestCredential { .. } => Input::Credential(seen),
            Effect::Keep(_) => {
                return Err(Error::internal(
                    "credentials are kept with the step that brings them",
                ));
            }
        };
        self.taken(&leased, (&record, flow), &input).await
    }

    /// Takes a step with what came in, and commits all that follows from it at once.
    async fn taken(
        &self,
        leased: &Leased,
        (record, flow): (&Record, Flow),
        input: &Input<'_>,
    ) -> Result<Done> {
        let (tenant, id) = (leased.tenant.clone(), record.id.as_str());
        let ctx = self.shared.clock.ctx();
        let freshness = Freshness { max_status_age: 0 };
        let (state, effects) = self
            .shared
            .run(&tenant, freshness, |evidence| {
                wallet::step(&flow.state, input, evidence, &ctx)
            })
            .await?;
        let batch = Batch::new(tenant).settle(leased.id);
        let (batch, cards, further) = kept(effects, &flow, &ctx, batch)?;
        let asks_for_credential = further
            .iter()
            .any(|effect| matches!(effect, Effect::RequestCredential { .. }));
        let batch = self.enqueued(batch, id, further)?;
        let (batch, end) = match &state {
            State::Received(received) => {
                let entry = Entry::new("received", &received.issuer, titles(&cards), Vec::new());
                let batch = batch.delete(FLOW, id).put(entry.put(&ctx)?);
                (batch, Some(End::Kept(cards.clone())))
            }
            State::Failed(failed) => {
                tracing::warn!(reason = %failed.reason, code = failed.code.as_deref(), "an offer could not be taken");
                let kind = match failed.code.as_deref() {
                    // A spent or expired code is nobody's fault, and no later attempt helps.
                    Some("invalid_grant") => ErrorKind::Gone,
                    _ => ErrorKind::Upstream,
                };
                let error =
                    Error::new(kind, failed.reason.clone()).with_hint(failed.advice.clone());
                (batch.delete(FLOW, id), Some(End::Failed(error)))
            }
            State::Redeeming(_) | State::Proving(_) | State::Requesting(_) => {
                let flow = Flow {
                    state,
                    looks: flow.looks,
                };
                (batch.update(FLOW, record, encode(&flow)?), None)
            }
        };
        // The token alone is worth no flush of its own: it goes to the disk with the request that spends it.
        let batch = match &end {
            None if !asks_for_credential => batch.deferred(),
            _ => batch,
        };
        let committed = self.shared.store.commit(batch).await?;
        for card in &cards {
            self.shared.events.tell(EventKind::Received, &card.id);
        }
        Ok(match end {
            Some(end) => Done::End(end),
            None => Done::Next(committed.outbox.first().copied()),
        })
    }

    fn enqueued(&self, batch: Batch, flow: &str, effects: Vec<Effect>) -> Result<Batch> {
        effects.into_iter().try_fold(batch, |batch, effect| {
            let job = Job::Receive {
                flow: flow.to_owned(),
                effect,
            };
            Ok(batch.enqueue(job.own_entry("issuer", flow, self.shared.clock.now())?))
        })
    }

    async fn called(&self, effect: &Effect) -> std::result::Result<Response, NetError> {
        let net = &self.shared.net;
        match effect {
            Effect::RedeemToken { url, form } => {
                let body = Body::Bytes {
                    content_type: "application/x-www-form-urlencoded".to_owned(),
                    bytes: form.expose().as_bytes().to_vec(),
                };
                net.post(url, body, Authorization::None).await
            }
            Effect::FetchNonce { url } => net.post(url, Body::Empty, Authorization::None).await,
            Effect::RequestCredential { url, token, body } => {
                let authorization = Authorization::Bearer(token.clone());
                let body = Body::Json(body.clone().into_bytes());
                net.post(url, body, authorization).await
            }
            Effect::Keep(_) => Err(NetError::BadCall("credentials are not sent anywhere")),
        }
    }

    async fn offer(&self, link: &str) -> Result<CredentialOffer> {
        match wallet::offer::locate(link, &self.transport)? {
            Source::Value(offer) => Ok(offer),
            Source::Reference(url) => {
                let response = self
                    .fetched(&url)
                    .await
                    .map_err(|error| unreachable("the offer", &error))?;
                if !response.is_success() {
                    return Err(Error::upstream("the offer was taken or has expired")
                        .with_hint("ask the issuer for a new one"));
                }
                Ok(wallet::offer::read(
                    &response.body,
                    response.content_type.as_deref(),
                )?)
            }
        }
    }

    async fn issuer_of(&self, offer: &CredentialOffer) -> Result<Arc<KnownIssuer>> {
        let now = self.shared.clock.now();
        let mut wrong = None;
        let fetched = self
            .issuers
            .get(&offer.credential_issuer, now, async {
                match self.fetch_issuer(offer).await {
                    Ok(known) => Ok(Fresh::new(known)),
                    Err(error) => {
                        wrong = Some(error);
                        Err(NetError::Malformed("the issuer's documents"))
                    }
                }
            })
            .await;
        match (fetched, wrong) {
            (Ok((known, _)), _) => Ok(known),
            (Err(_), Some(error)) => Err(error),
            (Err(error), None) => Err(unreachable("the issuer", &error)),
        }
    }

    async fn fetch_issuer(&self, offer: &CredentialOffer) -> Result<KnownIssuer> {
        let url = wallet::metadata::issuer_location(offer, &self.transport)?;
        let response = self.document(&url, "the issuer's metadata").await?;
        let issuer = wallet::metadata::read_issuer(
            &response.body,
            response.content_type.as_deref(),
            offer,
            &self.transport,
        )?;
        let server = wallet::metadata::server(&issuer, offer, &self.transport)?;
        let response = self
            .document(&server.url, "the authorization server's metadata")
            .await?;
        let server = wallet::metadata::read_server(&response.body, &server, &self.transport)?;
        Ok(KnownIssuer { issuer, server })
    }

    async fn document(&self, url: &Url, what: &str) -> Result<Response> {
        let response = self
            .fetched(url)
            .await
            .map_err(|error| unreachable(what, &error))?;
        if response.is_success() {
            Ok(response)
        } else {
            Err(Error::upstream(format!(
                "{what} can't be fetched: {}",
                response.status
            )))
        }
    }

    async fn fetched(&self, url: &Url) -> std::result::Result<Response, NetError> {
        let request = Request {
            accept: Some("application/json"),
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

    /// The keys that the credentials are bound to: those of a DID, or fresh ones, so that no two tell of each other.
    async fn bindings(
        &self,
        person: &Person,
        did: Option<&str>,
        copies: usize,
        mut batch: Batch,
    ) -> Result<(Vec<Binding>, Batch)> {
        if let Some(did) = did {
            let (key, kid) = self.did_key(&person.tenant, did).await?;
            let public = key.public();
            let binding = Binding {
                key: selfsame_crypto::KeyHandle::of(public),
                algorithm: key.algorithm(),
                jwk: public.to_jwk(),
                kid: Some(kid),
            };
            return Ok((vec![binding], batch));
        }
        let mut bindings = Vec::with_capacity(copies);
        for _ in 0..copies {
            let (key, handle, more) =
                self.shared
                    .keys
                    .create(&person.tenant, KeyType::P256, batch)?;
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

/// Puts the credentials to keep into the batch; gives their cards, and the effects that remain.
fn kept(
    effects: Vec<Effect>,
    flow: &Flow,
    ctx: &Ctx,
    mut batch: Batch,
) -> Result<(Batch, Vec<CardSummary>, Vec<Effect>)> {
    let mut cards = Vec::new();
    let mut further = Vec::new();
    for effect in effects {
        let Effect::Keep(credentials) = effect else {
            further.push(effect);
            continue;
        };
        for credential in credentials {
            let look = flow.looks.get(&credential.configuration_id);
            let card = CardRecord::of(
                credential,
                look.cloned().unwrap_or_default(),
                ctx,
                cards.len(),
            )?;
            let (put, summary) = card.into_put()?;
            cards.push(summary);
            batch = batch.put(put);
        }
    }
    Ok((batch, cards, further))
}

/// What follows an effect that was carried out.
pub(crate) enum Done {
    /// Another effect, if it can be carried out at once.
    Next(Option<selfsame_store::OutboxId>),
    /// Nothing more for now.
    End(End),
}

fn offered(offer: &CredentialOffer, known: &KnownIssuer) -> Vec<OfferedCredential> {
    let described = |id: &String| -> Option<OfferedCredential> {
        let configuration: &Configuration = known.issuer.configuration(id)?;
        let look = Look::of(configuration);
        Some(OfferedCredential {
            configuration: id.clone(),
            format: configuration.format.clone(),
            claims: look.labels.iter().map(|(_, label)| label.clone()).collect(),
            display: look.display(),
        })
    };
    offer
        .credential_configuration_ids
        .iter()
        .filter_map(described)
        .collect()
}

fn titles(cards: &[CardSummary]) -> Vec<String> {
    cards
        .iter()
        .map(|card| card.display.title.clone())
        .collect()
}

fn unreachable(what: &str, error: &NetError) -> Error {
    tracing::warn!(reason = %error, what, "a fetch for a wallet failed");
    Error::upstream(format!("{what} can't be reached: {error}"))
}
