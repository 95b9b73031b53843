//! The endpoints that wallets call: token, nonce, credential (OpenID4VCI 1.0 §6 to §8).

use selfsame_credential::evidence::Step;
use selfsame_credential::{ClaimPath, Format, single_use};
use selfsame_crypto::{SecretString, encoding};
use selfsame_driver::record::encode;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_oauth::{Code, TokenRequest, TokenResponse};
use selfsame_openid4vc::error::CredentialCode;
use selfsame_openid4vc::issuer::{
    self, Effect, Event, Granted, Input, State, credential, nonce, offer, token,
};
use selfsame_openid4vc::wire::credential::{CredentialRequest, CredentialResponse};
use selfsame_openid4vc::wire::nonce::NonceResponse;
use selfsame_store::{Batch, Expect, Page, Put, StoreError, Tag};
use serde::{Deserialize, Serialize};

use super::lists::Place;
use super::offers::{OFFER, OfferRecord};
use super::signing::{Kind, Signatory, signatory};
use super::{Issuer, Subject, metadata, tenant};
use crate::events::EventKind;
use crate::gather::Freshness;
use crate::refusal::refusal;
use crate::view::issuer::Template;

pub(crate) const GRANT: &str = "grant";
const NONCE: &str = "nonce";
/// A step that lost a race is run again on the new state; more races than this are not accidental.
const RACES_MAX: usize = 4;

#[derive(Deserialize, Serialize)]
pub(super) struct GrantRecord {
    state: State,
    subject: Subject,
}

impl Issuer {
    /// The token endpoint.
    ///
    /// # Errors
    /// RFC 6749 §5.2, with its code.
    pub async fn token(&self, body: &[u8]) -> Result<TokenResponse> {
        let request = TokenRequest::parse(body)
            .map_err(selfsame_openid4vc::Error::from)
            .map_err(refusal)?;
        for _ in 0..RACES_MAX {
            match self.redeem(&request).await {
                Err(Lost::Race) => {}
                Err(Lost::For(error)) => return Err(error),
                Ok(response) => return Ok(response),
            }
        }
        Err(crowded("too many requests redeem this code at once"))
    }

    async fn redeem(&self, request: &TokenRequest) -> std::result::Result<TokenResponse, Lost> {
        let code = offer::code_hash(request.pre_authorized_code.expose());
        let _turn = self.redeeming.enter(&code).await;
        let tag = Tag::hashed("code", encoding::base64url_encode(&code));
        let store = &self.shared.store;
        let found = store.find(&tenant(), OFFER, &tag, &Page::first(1)).await?;
        let record = found.first().ok_or_else(spent)?;
        let mut offer: OfferRecord = self.offers_at_hand.read(record)?;
        let input = Input {
            settings: &self.settings,
            event: Event::Token(request),
        };
        let ctx = self.shared.clock.ctx();
        let (state, effects) = match issuer::step(&offer.state, input, &Default::default(), &ctx)? {
            Step::Done(done) => done,
            Step::Needs(_) => return Err(Error::internal("redeeming a code needs nothing").into()),
        };
        offer.state = state;
        let mut batch = Batch::new(tenant()).update(OFFER, record, encode(&offer)?);
        let (mut answer, mut made) = (None, None);
        for effect in effects {
            match effect {
                Effect::Grant(granted) => {
                    let id = encoding::base64url_encode(&granted.token_hash);
                    let expires = granted.expires;
                    let grant = GrantRecord {
                        state: State::Granted(*granted),
                        subject: offer.subject.clone(),
                    };
                    batch = batch.put(Put::new(GRANT, id, encode(&grant)?).expires(expires));
                    made = Some(grant);
                }
                Effect::AnswerToken(response) => answer = Some(Ok(*response)),
                Effect::Refuse(error) => answer = Some(Err(refusal(error))),
                other => return Err(unexpected(&other).into()),
            }
        }
        let committed = self.shared.store.commit(batch).await?;
        if let Some(grant) = made {
            self.grants_at_hand.hold(&committed, grant);
        }
        answer
            .unwrap_or_else(|| Err(Error::internal("a token request was not answered")))
            .map_err(Lost::For)
    }

    /// The nonce endpoint.
    #[must_use]
    pub fn nonce(&self) -> NonceResponse {
        nonce::make(&self.settings, &self.shared.clock.ctx())
    }

    /// Whether a proof of this credential request names its key by a DID that must be resolved at another host.
    #[must_use]
    pub fn asks_others(&self, body: &[u8]) -> bool {
        let Ok(request) = CredentialRequest::parse(body) else {
            return false;
        };
        let now = self.shared.clock.now();
        let mut dids = credential::dids_named(&request, &self.settings);
        dids.any(|did| self.shared.resolver.asks_others(&did, now))
    }

    /// The credential endpoint.
    ///
    /// # Errors
    /// OpenID4VCI 1.0 §8.3.1 or RFC 6750 §3.1, with the code.
    pub async fn credential(&self, access_token: &str, body: &[u8]) -> Result<CredentialResponse> {
        let request = CredentialRequest::parse(body).map_err(refusal)?;
        let mut statuses = Vec::new();
        for _ in 0..RACES_MAX {
            match self.issue(access_token, &request, &mut statuses).await {
                Err(Lost::Race) => {}
                Err(Lost::For(error)) => return Err(error),
                Ok(response) => return Ok(response),
            }
        }
        Err(crowded("too many requests use this access token at once"))
    }

    async fn issue(
        &self,
        access_token: &str,
        request: &CredentialRequest,
        places: &mut Vec<Place>,
    ) -> std::result::Result<CredentialResponse, Lost> {
        let id = encoding::base64url_encode(&token::token_hash(&SecretString::from(
            access_token.to_owned(),
        )));
        let (mut grant, version) = self
            .grants_at_hand
            .find(&self.shared.store, (&tenant(), GRANT, &id))
            .await?
            .ok_or_else(invalid_token)?;
        let template = crate::templates::find(&grant.subject.template)?;
        let format: Format = grant.subject.format.parse().map_err(Error::internal)?;
        // Places are allotted once, however often the step is run again, and none is allotted to repeat an answer.
        let kind = match template.single_use {
            true => Kind::for_one_use(&self.shared, &self.identity, format),
            false => Kind::of(format),
        };
        let further_copies = !kind.has_handle;
        let granted = granted(&grant.state)?;
        let needed = credential::entries_needed(granted, request, &self.settings, further_copies)?;
        while places.len() < needed {
            places.push(self.lists.place().await?);
        }
        let content = self.content(template, kind, &grant.subject, places)?;
        let ctx = self.shared.clock.ctx();
        let event = Event::Credential {
            request,
            content: &content,
        };
        let input = Input {
            settings: &self.settings,
            event,
        };
        let freshness = Freshness { max_status_age: 0 };
        let (state, effects) = self
            .shared
            .run(&tenant(), freshness, |evidence| {
                issuer::step(&grant.state, input, evidence, &ctx)
            })
            .await?;
        grant.state = state;
        let batch = Batch::new(tenant()).update_version(GRANT, &id, version, encode(&grant)?);
        let outcome = self.outcome(effects, (&grant.subject, &content, places), batch)?;
        if outcome.issued.is_empty() {
            // The answer that was given before.
            return Ok(outcome.response);
        }
        let committed = self.shared.store.commit(outcome.batch).await;
        committed.map_err(|error| match error {
            StoreError::Conflict { kind, .. } if kind == NONCE => Lost::For(replayed()),
            other => other.into(),
        })?;
        for id in outcome.issued {
            note(&id, &grant.subject);
            self.shared.events.tell(EventKind::Issued, id);
        }
        Ok(outcome.response)
    }

    /// Collects the writes of an issuance's effects, and its response.
    fn outcome(
        &self,
        effects: Vec<Effect>,
        (subject, content, places): (&Subject, &credential::Content, &[Place]),
        mut batch: Batch,
    ) -> Result<Outcome> {
        let mut response = None;
        let mut issued = Vec::new();
        for effect in effects {
            match effect {
                Effect::SpendNonces(nonces) => {
                    for spent in nonces {
                        batch = batch
                            .expect(NONCE, &spent.id, Expect::Absent)
                            .put(Put::new(NONCE, &spent.id, Vec::new()).expires(spent.expires));
                    }
                }
                Effect::Issued(credentials) => {
                    for (_, place) in credentials.iter().zip(places) {
                        let put = self.issued_put(subject, content, place)?;
                        issued.push(put.id.clone());
                        batch = batch.put(put);
                    }
                }
                Effect::AnswerCredential(answer) => response = Some(answer),
                other => return Err(unexpected(&other)),
            }
        }
        let response =
            response.ok_or_else(|| Error::internal("a credential request was not answered"))?;
        Ok(Outcome {
            batch,
            issued,
            response,
        })
    }

    fn content(
        &self,
        template: &Template,
        kind: Kind,
        subject: &Subject,
        places: &[Place],
    ) -> Result<credential::Content> {
        let Signatory { issuer, signer } = signatory(&self.shared, &self.identity, kind);
        let mut disclosable: Vec<ClaimPath> = template
            .claims
            .iter()
            .map(metadata::disclosable)
            .collect::<Result<Vec<_>>>()?
            .concat();
        let ctx = self.shared.clock.ctx();
        let now = ctx.now();
        let mut claims = subject.claims.clone();
        if kind.has_handle {
            let vct = crate::templates::vct(&self.shared.config, template);
            // All copies of a batch stand for one use, so they share one handle.
            let handle = ctx.random::<32>("single_use/handle");
            let own = single_use::claims(&vct, &handle);
            claims.extend(own.map(|(name, value)| (name.to_owned(), value)));
            disclosable.push(ClaimPath::of_names([single_use::HANDLE]).map_err(Error::internal)?);
        }
        let end = now.plus(template.validity_days.saturating_mul(24 * 3600));
        Ok(credential::Content {
            issuer,
            signer,
            claims,
            disclosable,
            decoys: 2,
            // The terms of a template have no vocabulary of their own.
            contexts: Vec::from_iter(kind.format.describe().undefined_terms.map(str::to_owned)),
            // As the credential will state it, because the register states it too.
            expires: Some(self.settings.stated_end(end, now)),
            further_copies: !kind.has_handle,
            statuses: places
                .iter()
                .map(|place| self.lists.entry(place, kind))
                .collect(),
        })
    }
}

fn granted(state: &State) -> Result<&Granted> {
    match state {
        State::Granted(granted) => Ok(granted),
        State::Offered(_) | State::Closed(_) => {
            Err(Error::internal("a grant's record holds an offer"))
        }
    }
}

/// Logs that a credential was issued, but not its contents, its holder or its offer: an offer by reference is fetched
/// by its id. The register has the offer under the credential's id.
fn note(id: &str, subject: &Subject) {
    let Subject {
        template, format, ..
    } = subject;
    tracing::info!(credential = id, template, format, "issued");
}

/// The outcome of an issuance.
struct Outcome {
    batch: Batch,
    issued: Vec<String>,
    response: CredentialResponse,
}

/// Why a step was not taken: it lost a race and can be run again, or it failed for good.
enum Lost {
    Race,
    For(Error),
}

impl From<Error> for Lost {
    fn from(error: Error) -> Self {
        Self::For(error)
    }
}

impl From<selfsame_openid4vc::Error> for Lost {
    fn from(error: selfsame_openid4vc::Error) -> Self {
        Self::For(refusal(error))
    }
}

impl From<StoreError> for Lost {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict { .. } => Self::Race,
            other => Self::For(other.into()),
        }
    }
}

fn spent() -> Error {
    let reason = "the code is unknown, spent or expired";
    refusal(selfsame_oauth::Error::new(Code::InvalidGrant, reason).into())
}

fn crowded(reason: &str) -> Error {
    tracing::warn!(reason, "refused");
    Error::new(ErrorKind::Unavailable { retry_after: 1 }, reason)
}

fn invalid_token() -> Error {
    let reason = "the access token is unknown or has expired";
    refusal(selfsame_oauth::Error::new(Code::InvalidToken, reason).into())
}

fn replayed() -> Error {
    let reason = "the nonce has been used";
    refusal(selfsame_openid4vc::Error::credential(
        CredentialCode::InvalidNonce,
        reason,
    ))
}

fn unexpected(effect: &Effect) -> Error {
    Error::internal(format!(
        "an effect that does not belong to this step: {effect:?}"
    ))
}
