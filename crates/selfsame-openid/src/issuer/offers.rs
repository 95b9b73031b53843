//! Creates offers, and reports their state.

use std::sync::Arc;

use selfsame_credential::Format;
use selfsame_credential::format::Profile;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{SecretString, encoding};
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_haip::HaipRule;
use selfsame_openid4vc::issuer::{Closed, Closure, IssuanceState, offer};
use selfsame_openid4vc::wire::offer::{CredentialOffer, by_reference};
use selfsame_store::{Batch, Expect, Put, Record, Tag};
use selfsame_types::CredentialType;
use selfsame_types::fill::split;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{CredentialSubject, Current, Issuer};
use crate::profile::unkept;
use crate::refusal::refusal;
use crate::view::issuer::{NewOffer, NewOffers, Offer, OfferState};
use selfsame_core::events::{Event, EventKind};
use selfsame_core::machine::FlowOrigin;

/// The kind of the records that hold offers.
pub(crate) const OFFER: &str = "offer";
/// The tag by which an offer for people who sign in is found.
pub(super) const STATE_TAG: &str = "state";
/// What wallets show beside the field for the code.
const TX_CODE_HINT: &str = "Enter the code the issuer gave you separately.";
const USES_MAX: u32 = 100_000;
const LIFETIME_MAX: u64 = 90 * 24 * 3600;
/// Limits an offer so that ten copies of its credentials fit in one response of a mebibyte, which wallets accept.
const OFFER_BYTES_MAX: usize = 64 * 1024;
/// Seconds for which an offer stays in the list after its end.
const KEPT_AFTER: u64 = 7 * 24 * 3600;

/// An offer as it is stored.
#[derive(Deserialize, Serialize)]
pub(super) struct OfferRecord {
    pub state: IssuanceState,
    pub offer: CredentialOffer,
    pub subject: CredentialSubject,
    pub expires: UnixTime,
    pub by_reference: bool,
    /// When it was last accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<UnixTime>,
    /// When and in which trace it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<FlowOrigin>,
}

/// An offer that can be committed.
pub(super) struct DraftOffer {
    pub id: String,
    pub record: OfferRecord,
    tx_code: Option<SecretString>,
    put: Put,
}

impl DraftOffer {
    pub fn written_in(&self, batch: Batch) -> Batch {
        let batch = batch.expect(OFFER, &self.id, Expect::Absent);
        batch.put(self.put.clone())
    }
}

/// Offers that were judged and can be committed with other records.
#[derive(Default)]
pub struct OfferDrafts(Vec<DraftOffer>);

impl OfferDrafts {
    /// Adds the offers to a batch for the issuer's records.
    #[must_use]
    pub fn written_in(&self, batch: Batch) -> Batch {
        let drafts = self.0.iter();
        drafts.fold(batch, |batch, draft| draft.written_in(batch))
    }

    /// What is told of them.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        let drafts = self.0.iter();
        drafts
            .map(|draft| Event::new(EventKind::Offered, &draft.id))
            .collect()
    }
}

/// Judges offers.
pub struct OfferDesk {
    issuer: Arc<Issuer>,
    current: Arc<Current>,
}

impl OfferDesk {
    /// Judges an offer, and adds it to those that can be committed.
    ///
    /// # Errors
    /// As [`Issuer::create_offer`].
    pub fn draft(&self, new: &NewOffer, into: &mut OfferDrafts) -> Result<()> {
        into.0.push(self.issuer.draft(&self.current, new, None)?);
        Ok(())
    }
}

impl Issuer {
    /// Creates an offer.
    ///
    /// # Errors
    /// `BadRequest` or `NotFound` if the credential asked for cannot be issued.
    pub async fn create_offer(&self, new: &NewOffer) -> Result<Offer> {
        let current = self.current().await?;
        let draft = self.draft(&current, new, None)?;
        let event = Event::new(EventKind::Offered, &draft.id);
        let batch = draft.written_in(Batch::new(self.tenant().clone()));
        let committed = self.shared.events.commit(batch, event).await?;
        let offer = self.shown_once(&draft)?;
        self.memory.offers.hold(&committed, draft.record);
        Ok(offer)
    }

    /// Creates offers of one type, all of them in one commit or none.
    ///
    /// # Errors
    /// As [`Self::create_offer`], naming the first row that is refused; `BadRequest` for no row, and for more than
    /// [`NewOffers::ROWS_MAX`].
    pub async fn create_offers(&self, new: NewOffers) -> Result<Vec<Offer>> {
        let current = self.current().await?;
        let drafts = OfferDrafts(self.drafts(&current, new)?);
        let batch = drafts.written_in(Batch::new(self.tenant().clone()));
        self.shared
            .events
            .commit_all(batch, &drafts.events())
            .await?;
        self.shown(&drafts)
    }

    /// Judges offers by the types as they are now, one by one; nothing is written.
    ///
    /// # Errors
    /// The store's.
    pub async fn desk(self: &Arc<Self>) -> Result<OfferDesk> {
        Ok(OfferDesk {
            current: self.current().await?,
            issuer: self.clone(),
        })
    }

    /// New offers with their transaction codes, which are shown this once.
    ///
    /// # Errors
    /// `Internal` if an offer has no link.
    pub fn shown(&self, drafts: &OfferDrafts) -> Result<Vec<Offer>> {
        drafts
            .0
            .iter()
            .map(|draft| self.shown_once(draft))
            .collect()
    }

    fn drafts(&self, current: &Current, new: NewOffers) -> Result<Vec<DraftOffer>> {
        let NewOffers {
            type_id,
            format,
            rows,
            tx_code,
            needs_approval,
            by_reference,
            expires_in,
        } = new;
        if !(1..=NewOffers::ROWS_MAX).contains(&rows.len()) {
            return Err(Error::bad_request("offer-rows").with("maximum", &NewOffers::ROWS_MAX));
        }
        let rows = rows.into_iter().map(|row| NewOffer {
            type_id: type_id.clone(),
            format: format.clone(),
            claims: row.claims,
            label: row.label,
            tx_code,
            by_reference,
            expires_in,
            examples: false,
            uses: None,
            by_sign_in: false,
            needs_approval,
        });
        let drafts = (1_usize..).zip(rows).map(|(number, row)| {
            let drafted = self.draft(current, &row, None);
            drafted.map_err(|error| Error {
                reason: Reason::new("offer-row-refused")
                    .with("row", &number)
                    .with_reason("why", error.reason.clone()),
                ..error
            })
        });
        drafts.collect()
    }

    pub(super) fn draft(
        &self,
        current: &Current,
        new: &NewOffer,
        application: Option<&str>,
    ) -> Result<DraftOffer> {
        let one = current.types.find(&new.type_id)?;
        if !self.context.issues(one) {
            return Err(unkept(HaipRule::SCOPES));
        }
        if one.prerequisites.is_some() != application.is_some() {
            return Err(Error::bad_request("offer-needs-proof").with("type", &one.id));
        }
        let format = self.format(new.format.as_deref(), one)?;
        let sign_in = self.sign_in_of(new, one)?;
        let (claims, kept) = match sign_in {
            Some(_) => (Map::new(), Map::new()),
            None => filled(one, new, format)?,
        };
        let (uses, lifetime) = limits(new)?;
        let needs_approval = self.needs_approval(new)?;
        let ctx = self.shared.clock.ctx();
        let id = encoding::base64url_encode(&ctx.random::<16>("offer/id"));
        let wanted = offer::NewOffer {
            offer_id: id.clone(),
            configuration_ids: vec![one.configuration_id(format)],
            uses,
            tx_code: new.tx_code.then(|| TX_CODE_HINT.to_owned()),
            lifetime,
            sign_in: sign_in.clone(),
        };
        let made = offer::create(&wanted, &current.settings, &ctx).map_err(refusal)?;
        // What an authorization request repeats is no secret, and redeems nothing.
        let tag = sign_in.map_or("code", |_| STATE_TAG);
        let code = encoding::base64url_encode(&made.state.code_hash);
        let record = OfferRecord {
            expires: made.state.expires,
            state: IssuanceState::Offered(made.state),
            offer: made.offer,
            subject: CredentialSubject {
                type_id: one.id.clone(),
                version: Some(one.version),
                format: format.as_str().to_owned(),
                claims,
                kept,
                label: new.label.clone(),
                offer: id.clone(),
                application: application.map(str::to_owned),
                needs_approval,
            },
            by_reference: new.by_reference,
            accepted: None,
            origin: Some(FlowOrigin::new(ctx.now())),
        };
        let encoded = encode(&record)?;
        if encoded.len() > OFFER_BYTES_MAX {
            return Err(Error::bad_request("claims-too-large"));
        }
        let put = Put::new(OFFER, &id, encoded)
            .tag(Tag::hashed(tag, code))
            .expires(record.expires.plus(KEPT_AFTER));
        let tx_code = made.tx_code;
        Ok(DraftOffer {
            id,
            record,
            tx_code,
            put,
        })
    }

    /// A new offer with its transaction code, which is shown this once.
    pub(super) fn shown_once(&self, draft: &DraftOffer) -> Result<Offer> {
        let tx_code = draft.tx_code.as_ref();
        Ok(Offer {
            tx_code: tx_code.map(|code| code.expose().to_owned()),
            ..self.view(&draft.id, &draft.record)?
        })
    }

    /// Whether the credential of an offer waits for an approval: the offer says so, or else the settings.
    fn needs_approval(&self, new: &NewOffer) -> Result<bool> {
        match (self.approval(), new.needs_approval) {
            (None, Some(true)) => Err(Error::bad_request("approval-off")),
            (by_default, wanted) => Ok(wanted.or(by_default).unwrap_or_default()),
        }
    }

    /// The format of this name, or by default the first in which the type is issued.
    fn format(&self, name: Option<&str>, one: &CredentialType) -> Result<Format> {
        let issued = self.context.formats();
        let mut issued = issued.filter(|format| one.is_issued_as(*format));
        let found = match name {
            Some(name) => issued.clone().find(|format| format.as_str() == name),
            None => issued.next(),
        };
        found.ok_or_else(|| {
            let names: Vec<&str> = issued.map(Format::as_str).collect();
            Error::bad_request("format-not-issued").with("known", &names.join(", "))
        })
    }

    /// One offer.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn offer(&self, id: &str) -> Result<Offer> {
        let (record, _) = self.offer_record(id).await?;
        self.view(id, &record)
    }

    /// The offers, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn offers(&self, paging: &Paging) -> Result<Listing<Offer>> {
        let store = &self.shared.store;
        let records = store.list(self.tenant(), OFFER, &page(paging)).await?;
        listing(&records, paging, |record| {
            self.view(&record.id, &decode(&record.value)?)
        })
    }

    /// The offer object, for a wallet that has its reference.
    ///
    /// # Errors
    /// `NotFound` for an unknown offer, `Gone` for one that can't be accepted any more.
    pub async fn offer_object(&self, id: &str) -> Result<String> {
        let (record, _) = self.offer_record(id).await?;
        let open = matches!(record.state, IssuanceState::Offered(_))
            && self.shared.clock.now() < record.expires;
        if !open {
            return Err(Error::new(ErrorKind::Gone, "offer-over"));
        }
        Ok(record.offer.to_json().expose().to_owned())
    }

    pub(super) async fn offer_record(&self, id: &str) -> Result<(OfferRecord, Record)> {
        let store = &self.shared.store;
        let record = store
            .read(self.tenant(), OFFER, id)
            .await?
            .ok_or_else(|| Error::not_found("offer-unknown"))?;
        Ok((decode(&record.value)?, record))
    }

    fn view(&self, id: &str, record: &OfferRecord) -> Result<Offer> {
        let (state, uses_left) = match &record.state {
            IssuanceState::Closed(Closed {
                because: Closure::Redeemed,
                ..
            }) => (OfferState::Taken, 0),
            IssuanceState::Closed(_) | IssuanceState::Granted(_) => (OfferState::Locked, 0),
            IssuanceState::Offered(_) if self.shared.clock.now() >= record.expires => {
                (OfferState::Expired, 0)
            }
            IssuanceState::Offered(offered) => (OfferState::Open, offered.uses_left),
        };
        let uri = if record.by_reference {
            let path = format!("issuer/offers/{id}");
            let url = self.context.organisation.url(&path)?;
            by_reference(&url)
        } else {
            record.offer.by_value()
        };
        Ok(Offer {
            id: id.to_owned(),
            type_id: record.subject.type_id.clone(),
            format: record.subject.format.clone(),
            uri: self.context.config.issuer.invoking(uri.expose()),
            tx_code: None,
            state,
            uses_left,
            expires: record.expires.rfc3339(),
            accepted: record.accepted.map(UnixTime::rfc3339),
            label: record.subject.label.clone(),
            needs_approval: record.subject.needs_approval,
        })
    }
}

/// The claims of a new offer, and those that the issuer keeps.
fn filled(
    one: &CredentialType,
    new: &NewOffer,
    format: Format,
) -> Result<(Map<String, Value>, Map<String, Value>)> {
    let mut claims = one.fill(&new.claims, new.examples)?;
    let kept = split(one, &mut claims);
    // The maker of the offer is told of a value that no element can have, or that nothing would sign.
    match format.describe().profile {
        Profile::Mdoc => drop(one.elements(&claims)?),
        Profile::DataIntegrity => one.signable(&claims)?,
        Profile::SdJwtVc | Profile::W3c | Profile::Compact => {}
    }
    Ok((claims, kept))
}

/// How often an offer can be accepted, and for how many seconds.
fn limits(new: &NewOffer) -> Result<(u32, u64)> {
    let (uses, lifetime) = (new.uses.unwrap_or(1), new.expires_in.unwrap_or(3600));
    match (1..=USES_MAX).contains(&uses) && (1..=LIFETIME_MAX).contains(&lifetime) {
        true => Ok((uses, lifetime)),
        false => Err(Error::bad_request("offer-limits")),
    }
}
