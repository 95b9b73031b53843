//! Sign-ins that are over, for those who work for the organisation: by which client, who, how, and what came of it. What
//! strangers begin and leave is not kept, so only people who proved who they are fill the list.

use selfsame_core::Shared;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_store::{Put, Record, Tag};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::record::ProvenSubject;
use crate::service::SignIns;

/// The kind of the records of past sign-ins.
const PAST: &str = "sign_in_past";
/// The tag by which those of a client are found.
const CLIENT_TAG: &str = "client";
/// Seconds for which they are kept.
const KEPT: u64 = 7 * 86_400;

/// A sign-in that is over.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct PastSignIn {
    /// When it ended, RFC 3339.
    pub at: String,
    /// What came of it.
    pub outcome: SignInOutcome,
    /// The subject that the client knows the person by; for a client with pairwise subjects, by which it alone does.
    pub subject: String,
    /// When the person proved who they are, RFC 3339; before the sign-in if they had a session.
    pub authenticated_at: String,
    /// The class of the authentication (`acr`), if it met one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acr: Option<String>,
    /// How they proved it (`amr`).
    pub amr: Vec<String>,
}

/// What came of a sign-in.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SignInOutcome {
    /// The client got a code.
    SignedIn,
    /// The person proved who they are, and then declined.
    Declined,
}

impl PastSignIn {
    fn of(person: &ProvenSubject, outcome: SignInOutcome, now: UnixTime) -> Self {
        let authentication = &person.authentication;
        Self {
            at: now.rfc3339(),
            outcome,
            subject: person.subject.clone(),
            authenticated_at: authentication.at.rfc3339(),
            acr: authentication.acr.clone(),
            amr: authentication.amr.clone(),
        }
    }
}

/// The record of a sign-in of this client that ends now.
///
/// # Errors
/// `Internal` if it can't be encoded.
pub(crate) fn put(
    shared: &Shared,
    client_id: &str,
    person: &ProvenSubject,
    outcome: SignInOutcome,
) -> Result<Put> {
    let ctx = shared.clock.ctx();
    let past = PastSignIn::of(person, outcome, ctx.now());
    let id = hex_encode(&ctx.random::<16>("sign-in/past"));
    let put = Put::new(PAST, id, encode(&past)?).expires(ctx.now().plus(KEPT));
    Ok(put.tag(Tag::hashed(CLIENT_TAG, client_id)))
}

impl SignIns {
    /// The sign-ins of a client in the last seven days, newest first, for the operator. Those of a client that had the
    /// same identifier before are left out.
    ///
    /// # Errors
    /// `NotFound` if there is no such client; `BadRequest` for a cursor that no page has given; the store's.
    pub async fn past(&self, client_id: &str, paging: &Paging) -> Result<Listing<PastSignIn>> {
        let client = self.known(client_id).await?;
        let tag = Tag::hashed(CLIENT_TAG, client_id);
        let (store, tenant) = (&self.shared().store, &self.place.tenant);
        let found = store.find(tenant, PAST, &tag, &page(paging)).await?;
        let read = |record: &Record| decode::<PastSignIn>(&record.value);
        let mut listed = listing(&found, paging, read)?;
        let made = client.made.rfc3339();
        listed.items.retain(|one| one.at >= made);
        Ok(listed)
    }
}
