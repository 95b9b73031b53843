//! What controllers do with invitations of out-of-band.

use selfsame_agent_view::out_of_band::{OobInvitationView, OobView};
use selfsame_aries::advance::{Footing, Outset};
use selfsame_aries::connection::{
    ConnectionRecord, ConnectionRole, ConnectionState, InvitationMode, InvitationTerms,
};
use selfsame_aries::connections::ConnectionMessage;
use selfsame_aries::did_exchange::DidExchangeMessage;
use selfsame_aries::key::VerKey;
use selfsame_aries::out_of_band::{
    InlineService, OobAct, OobInput, OobInvitation, OobMessage, OobRecord, OobService, step,
};
use selfsame_aries::wire::{Vocabulary as _, fresh_id};
use selfsame_aries_v2::invitation;
use selfsame_core::machine::Machine as _;
use selfsame_crypto::ctx::Ctx;
use selfsame_did::Did;
use selfsame_didcomm::message::{MessageType, Semver};
use selfsame_didcomm::service::PROFILE;
use selfsame_didcomm::{Message, Version};
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::decode;
use selfsame_driver::{Error, Result};
use selfsame_mediation::error::{refused, unreadable};
use selfsame_mediation::own_side::OwnDid;
use selfsame_mediation::relation::made_kind;
use selfsame_mediation::wishes::{InvitationDid, NewOobInvitation};
use selfsame_store::{Batch, Expect, Page, Tag, TenantId};
use serde_json::json;
use url::Url;

use super::Agents;
use super::beginning::{InvitationDoor, NewConnection, RecordNotice, accepting};
use crate::connections::{ConnectionEntry, Connections};
use crate::machine::{AgentProtocol as _, ProtocolMachine};
use crate::oob::{OOB_INVITATION, OobEntry, OutOfBand};
use selfsame_mediation::notice::Told;

/// What the service of an invitation says for programs that look for one of DIDComm v1.
const SERVICE_ID: &str = "#inline";
const SERVICE_TYPE: &str = "did-communication";
/// The topic of the webhooks about invitations that were made.
const INVITATION_TOPIC: &str = "oob_invitation";
/// The media types that an agent takes, by their names in profiles (RFC 0044).
const ACCEPT: [&str; 2] = ["didcomm/aip1", "didcomm/aip2;env=rfc19"];

/// Whether an invitation is to be one of DIDComm v2.
fn is_v2(new: &NewOobInvitation) -> bool {
    let mut handshakes = new.handshake_protocols.iter();
    handshakes.any(|name| name == invitation::MADE_BY)
}

impl Agents {
    /// Makes an invitation of out-of-band.
    ///
    /// # Errors
    /// `BadRequest` for one without handshake protocols and requests, for one with requests that many may use, for a
    /// protocol that is not spoken, and for a DID whose key is not held; the store's.
    pub async fn create_oob_invitation(
        &self,
        tenant: &TenantId,
        new: NewOobInvitation,
    ) -> Result<OobInvitationView> {
        let kinds = handshakes(&new)?;
        let (ctx, terms) = (self.parts.shared.clock.ctx(), self.parts.terms(tenant));
        let is_v2 = is_v2(&new);
        let door = match (&new.did, is_v2) {
            (Some(did), true) => self.door_by(tenant, did, Version::V2).await?,
            (None, true) if new.public => return Err(Error::bad_request("aries-v2-did")),
            (None, true) => {
                let did = InvitationDid::New(OwnDid::Peer2);
                self.door_by(tenant, &did, Version::V2).await?
            }
            (Some(did), false) => self.door_by(tenant, did, Version::V1).await?,
            (None, false) => self.door(tenant, new.public).await?,
        };
        let service = service_of(&door, &terms.endpoint);
        let InvitationDoor { key, did, writes } = door;
        let said = said(&new, terms.label.clone(), service);
        let mut invited = invited(&new, said.clone(), &ctx)?;
        if let (Some(did), true) = (&did, is_v2) {
            let members = invitation::write(&invited.message.id, did, &said);
            let members = members.map_err(|error| unreadable(&error))?;
            invited.record.invitation = json!(members).to_string();
        }
        let oob_id = fresh_id("oob", &ctx);
        let waiting = WaitingInvitation {
            invitation_id: &invited.message.id,
            oob_id: &oob_id,
            key: &key,
            did: did.as_ref(),
        };
        let connection = kinds.first().map(|kind| waiting.entry(&new, kind, &ctx));
        let connection = connection.map(|entry| (fresh_id("connection", &ctx), entry));
        let entry = OobEntry {
            own_key: Some(key),
            pending: match (&connection, new.multi_use) {
                (Some((id, _)), false) => Some(id.clone()),
                _ => None,
            },
            alias: new.alias,
            is_auto: new.auto_accept,
            ..OobEntry::new(invited.record)
        };
        let waiting = connection.as_ref().map(|(id, _)| id.clone());
        let link = linked(&entry, &terms.endpoint)?;
        let view = OobInvitationView::of(&oob_id, &entry.record, &link, waiting);
        let notices = vec![
            entry.noticed(&oob_id),
            RecordNotice {
                record: oob_id.clone(),
                told: Told::new(INVITATION_TOPIC, &view),
            },
        ];
        let writes = put_oob(writes, &oob_id, &entry)?;
        match &connection {
            None => self.commit_telling(tenant, writes, notices).await?,
            Some((id, entry)) => {
                let new = NewConnection { tenant, id, entry };
                self.keep_with(new, writes, notices).await?;
            }
        }
        Ok(view)
    }

    /// An invitation that was made or received, as it is shown to who is invited.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; the store's.
    pub async fn oob_invitation(&self, tenant: &TenantId, id: &str) -> Result<OobInvitationView> {
        let (entry, version) = self.oob_entry(tenant, id).await?;
        let link = linked(&entry, &self.parts.terms(tenant).endpoint)?;
        let view = OobInvitationView::of(id, &entry.record, &link, entry.connection_id());
        self.oob.records().keep(version, entry);
        Ok(view)
    }

    /// The invitations, newest first.
    ///
    /// # Errors
    /// `BadRequest` for a cursor that was made up; the store's.
    pub async fn oob_records(
        &self,
        tenant: &TenantId,
        paging: &Paging,
    ) -> Result<Listing<OobView>> {
        let store = &self.parts.shared.store;
        let stored = store.list(tenant, OutOfBand::KIND, &page(paging)).await?;
        listing(&stored, paging, |stored| {
            let entry: OobEntry = decode(&stored.value)?;
            Ok(entry.view(&stored.id))
        })
    }

    /// An invitation.
    ///
    /// # Errors
    /// `NotFound` if it does not exist.
    pub async fn oob_record(&self, tenant: &TenantId, id: &str) -> Result<OobView> {
        let (entry, version) = self.oob_entry(tenant, id).await?;
        let view = entry.view(id);
        self.oob.records().keep(version, entry);
        Ok(view)
    }

    /// Removes the record of an invitation, and nothing beside it.
    ///
    /// # Errors
    /// The store's.
    pub async fn forget_oob(&self, tenant: &TenantId, id: &str) -> Result<()> {
        let batch = Batch::new(tenant.clone()).delete(OutOfBand::KIND, id);
        self.parts.shared.store.commit(batch).await?;
        Ok(())
    }

    /// Removes an invitation, by its own identifier, with the connection that waits for an answer to it.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; the store's.
    pub async fn remove_oob_invitation(
        &self,
        tenant: &TenantId,
        invitation_id: &str,
    ) -> Result<()> {
        let store = &self.parts.shared.store;
        let tag = Tag::hashed(OOB_INVITATION, invitation_id);
        let found = store
            .find(tenant, OutOfBand::KIND, &tag, &Page::first(2))
            .await?;
        if found.is_empty() {
            return Err(oob_absent());
        }
        let mut batch = Batch::new(tenant.clone());
        for record in found {
            let entry: OobEntry = decode(&record.value)?;
            batch = batch.delete(OutOfBand::KIND, &record.id);
            let Some(pending) = entry.pending else {
                continue;
            };
            let waiting = store.read(tenant, Connections::KIND, &pending).await?;
            let Some(waiting) = waiting else {
                continue;
            };
            let connection = self.read_connection(&waiting)?;
            if connection.entry.record.state == ConnectionState::Invitation {
                let seen = Expect::Version(waiting.version);
                batch = batch
                    .expect(Connections::KIND, &pending, seen)
                    .delete(Connections::KIND, &pending);
            }
        }
        store.commit(batch).await?;
        Ok(())
    }

    pub(super) async fn oob_entry(&self, tenant: &TenantId, id: &str) -> Result<(OobEntry, u64)> {
        let found = self.oob_found(tenant, id).await?;
        found.ok_or_else(oob_absent)
    }

    /// The record with this identifier, with its version; `None` if it does not exist.
    pub(super) async fn oob_found(
        &self,
        tenant: &TenantId,
        id: &str,
    ) -> Result<Option<(OobEntry, u64)>> {
        let store = &self.parts.shared.store;
        let found = self.oob.records().find(store, tenant, OutOfBand::KIND, id);
        found.await
    }
}

impl OobEntry {
    /// What controllers are told of it as it is now.
    pub(super) fn noticed(&self, id: &str) -> RecordNotice {
        RecordNotice {
            record: id.to_owned(),
            told: self.notice(id),
        }
    }
}

/// An invitation that was made, and its record.
struct MadeInvitation {
    message: Message,
    record: OobRecord,
}

/// The first step of an invitation.
fn invited(new: &NewOobInvitation, invitation: OobInvitation, ctx: &Ctx) -> Result<MadeInvitation> {
    let outset = Outset {
        kind: MessageType::new(OobMessage::PROTOCOL, Semver::new(1, 1), "invitation"),
        connection_id: None,
        parent_thread_id: None,
    };
    let invite = OobInput::Act(OobAct::Invite {
        invitation,
        multi_use: new.multi_use,
    });
    let advance = step(Footing::New(&outset), &invite, ctx);
    let mut advance = advance.map_err(|problem| refused(&problem))?;
    let sent = advance.send.pop();
    let sent = sent.ok_or_else(|| Error::internal("no invitation"))?;
    Ok(MadeInvitation {
        message: sent.message,
        record: advance.record,
    })
}

/// A connection that waits for a request to an invitation of out-of-band.
struct WaitingInvitation<'a> {
    invitation_id: &'a str,
    oob_id: &'a str,
    /// The key that the request is encrypted to.
    key: &'a VerKey,
    /// The public DID, if the invitation names it.
    did: Option<&'a Did>,
}

impl WaitingInvitation<'_> {
    fn entry(&self, new: &NewOobInvitation, kind: &MessageType, ctx: &Ctx) -> ConnectionEntry {
        let terms = InvitationTerms {
            role: ConnectionRole::Inviter,
            id: self.invitation_id.to_owned(),
            key: Some(self.key.clone()),
            did: self.did.map(ToString::to_string),
            mode: match new.multi_use {
                true => InvitationMode::Multi,
                false => InvitationMode::Once,
            },
            label: None,
            alias: new.alias.clone(),
            accept: accepting(new.auto_accept),
        };
        let begun = ConnectionRecord::begin(terms, kind.clone(), ctx);
        ConnectionEntry {
            label: new.label.clone(),
            oob_id: Some(self.oob_id.to_owned()),
            ..ConnectionEntry::new(begun.record)
        }
    }
}

/// What an invitation says of where to answer it.
fn service_of(door: &InvitationDoor, endpoint: &Url) -> OobService {
    match &door.did {
        Some(did) => OobService::Did(did.to_string()),
        None => OobService::Inline(InlineService {
            id: Some(SERVICE_ID.to_owned()),
            kind: Some(SERVICE_TYPE.to_owned()),
            recipient_keys: vec![door.key.clone()],
            routing_keys: Vec::new(),
            service_endpoint: endpoint.to_string(),
        }),
    }
}

/// The link of an invitation below this endpoint.
fn linked(entry: &OobEntry, endpoint: &Url) -> Result<Url> {
    let link = invitation::recorded_link(endpoint, &entry.record.invitation);
    link.ok_or_else(|| Error::damaged("the record has no invitation"))
}

/// Adds a new invitation to the batch.
pub fn put_oob(batch: Batch, id: &str, entry: &OobEntry) -> Result<Batch> {
    let put = ProtocolMachine::<OutOfBand>::put(id, entry)?;
    Ok(batch.expect(OutOfBand::KIND, id, Expect::Absent).put(put))
}

fn oob_absent() -> Error {
    Error::not_found("aries-invitation-absent")
}

/// What the invitation says.
fn said(new: &NewOobInvitation, name: String, service: OobService) -> OobInvitation {
    let accept = match new.accept.is_empty() {
        true if is_v2(new) => vec![PROFILE.to_owned()],
        true => ACCEPT.map(str::to_owned).to_vec(),
        false => new.accept.clone(),
    };
    OobInvitation {
        label: Some(new.label.clone().unwrap_or(name)),
        image_url: None,
        goal_code: new.goal_code.clone(),
        goal: new.goal.clone(),
        accept,
        handshake_protocols: new.handshake_protocols.clone(),
        services: vec![service],
        requests: new.requests.clone(),
    }
}

/// The types of the requests of the handshake protocols.
fn handshakes(new: &NewOobInvitation) -> Result<Vec<MessageType>> {
    if new.handshake_protocols.is_empty() && new.requests.is_empty() {
        return Err(Error::bad_request("aries-invitation-empty"));
    }
    if new.multi_use && !new.requests.is_empty() {
        return Err(Error::bad_request("aries-invitation-shared"));
    }
    if is_v2(new) {
        // An invitation is of one version.
        return match new.handshake_protocols.len() {
            1 => Ok(vec![made_kind()]),
            _ => Err(Error::bad_request("aries-handshake-unspoken")
                .with("protocol", &invitation::MADE_BY)),
        };
    }
    let kinds = new.handshake_protocols.iter().map(|name| {
        let unspoken = || Error::bad_request("aries-handshake-unspoken").with("protocol", name);
        let text = format!("{}/request", name.trim_end_matches('/'));
        let kind = MessageType::parse(&text).map_err(|_| unspoken())?;
        let mut spoken = spoken_handshakes().into_iter();
        let is_spoken = spoken.any(|ours| kind.is_of(&ours.protocol, ours.version.major));
        is_spoken.then_some(kind).ok_or_else(unspoken)
    });
    kinds.collect()
}

/// The requests of the handshake protocols that agents speak here, in their latest versions.
pub fn spoken_handshakes() -> [MessageType; 2] {
    [
        MessageType::new(DidExchangeMessage::PROTOCOL, Semver::new(1, 1), "request"),
        MessageType::new(ConnectionMessage::PROTOCOL, Semver::new(1, 0), "request"),
    ]
}
