//! What an agent does with an invitation of out-of-band that it received: it makes a connection or uses one again, and
//! answers what is attached.

use selfsame_agent_view::out_of_band::OobView;
use selfsame_aries::advance::Footing;
use selfsame_aries::connection::{
    ConnectionRecord, ConnectionRole, InvitationMode, InvitationTerms,
};
use selfsame_aries::out_of_band::{
    Ability, InlineService, OobAct, OobInput, OobInvitation, OobMessage, OobRecord, OobRole,
    OobService, Plan, plan, step,
};
use selfsame_aries::peer_document::PeerDocument;
use selfsame_aries::protocol;
use selfsame_aries::wire::{Incoming, fresh_id};
use selfsame_aries_v2::invitation::{self, is_v2};
use selfsame_core::machine::{At, Machine as _};
use selfsame_crypto::ctx::Ctx;
use selfsame_did::{Did, Options};
use selfsame_didcomm::message::MessageType;
use selfsame_didcomm::{Message, Version};
use selfsame_driver::record::decode;
use selfsame_driver::{Error, Result};
use selfsame_mediation::destination::{Destination, Located};
use selfsame_mediation::error::{refused, unreadable};
use selfsame_mediation::keys;
use selfsame_mediation::relation::made_kind;
use selfsame_mediation::wishes::OobAnswer;
use selfsame_store::{Batch, Expect, Page, Record, Tag, TenantId};
use serde_json::{Map, Value, json};

use super::Agents;
use super::beginning::{NewConnection, accepting};
use super::inbound::{FoundConnection, Inbound, incoming, outset, unknown};
use super::inviting::{put_oob, spoken_handshakes};
use crate::connections::{ConnectionEntry, Connections, THEIR_DID};
use crate::machine::{AgentProtocol as _, ProtocolMachine};
use crate::oob::{OOB_INVITATION, OobEntry, OobGiven, OobWay, OutOfBand};

/// How many connections with one DID, or records of one invitation, are looked at.
const EXISTING_MAX: usize = 16;

/// The record of an invitation that begins.
struct NewOob<'a> {
    tenant: &'a TenantId,
    id: String,
    entry: OobEntry,
    key_seconds: Option<u64>,
}

impl Agents {
    /// Takes an invitation of out-of-band that was received.
    ///
    /// # Errors
    /// `BadRequest` if it is not valid, or offers nothing that is spoken here; the store's, and those of the answer.
    pub async fn receive_oob_invitation(
        &self,
        tenant: &TenantId,
        invitation: Map<String, Value>,
        how: OobAnswer,
    ) -> Result<OobView> {
        let (text, is_v2) = (json!(invitation).to_string(), is_v2(&invitation));
        let incoming = invitation_of(invitation)?;
        let OobMessage::Invitation(invitation) = incoming.content.clone() else {
            return Err(unreadable(&"the message is no invitation"));
        };
        let ctx = self.parts.shared.clock.ctx();
        let began = step(
            Footing::New(&outset(&incoming.kind, None)),
            &OobInput::Received(incoming),
            &ctx,
        );
        let mut entry = OobEntry {
            alias: how.alias.clone(),
            is_auto: how.auto_accept,
            ..OobEntry::new(began.map_err(|problem| refused(&problem))?.record)
        };
        if is_v2 {
            entry.record.invitation = text;
        }
        let existing = match how.use_existing_connection {
            true => self.existing(tenant, &invitation).await?,
            false => None,
        };
        let ability = Ability {
            has_connection: existing.is_some(),
            handshakes: match is_v2 {
                true => &[made_kind()],
                false => &spoken_handshakes(),
            },
            speaks: |kind| protocol::find(kind).is_some(),
        };
        let new = NewOob {
            id: fresh_id("oob", &ctx),
            entry,
            tenant,
            key_seconds: how.key_seconds,
        };
        let id = new.id.clone();
        match (plan(&invitation, &ability), existing) {
            (Plan::Connect { kind, service, .. }, _) => {
                let door = TheirDoor {
                    kind,
                    service,
                    label: invitation.label.clone(),
                };
                self.connect(new, door, how).await?;
            }
            // DIDComm v2 has no message for it.
            (Plan::Reuse, Some(existing)) if is_v2 => self.answer_on(new, existing).await?,
            (Plan::Reuse, Some(existing)) => self.reuse(new, existing).await?,
            (Plan::AnswerOnConnection(_), Some(existing)) => {
                match is_v2 || invitation.handshake_protocols.is_empty() {
                    true => self.answer_on(new, existing).await?,
                    false => self.reuse(new, existing).await?,
                }
            }
            (Plan::AnswerAlone { service, .. }, _) => self.answer_alone(new, &service).await?,
            _ => return Err(Error::bad_request("aries-invitation-unspoken")),
        }
        self.oob_record(tenant, &id).await
    }

    /// A connection that was made with one of the public DIDs of an invitation, and is complete.
    async fn existing(
        &self,
        tenant: &TenantId,
        invitation: &OobInvitation,
    ) -> Result<Option<FoundConnection>> {
        for did in invitation.dids() {
            let store = &self.parts.shared.store;
            let tag = Tag::hashed(THEIR_DID, did);
            let page = Page::newest(EXISTING_MAX);
            let found = store.find(tenant, Connections::KIND, &tag, &page).await?;
            for record in found {
                let connection = self.read_connection(&record)?;
                if connection.entry.record.state.is_complete() {
                    return Ok(Some(connection));
                }
            }
        }
        Ok(None)
    }

    /// Makes a connection. What is attached is taken once it is ready.
    async fn connect(&self, new: NewOob<'_>, door: TheirDoor, how: OobAnswer) -> Result<()> {
        let (tenant, id, mut entry) = (new.tenant, new.id, new.entry);
        let ctx = self.parts.shared.clock.ctx();
        let connection = door.connection(&id, &entry, &ctx)?;
        let connection = ConnectionEntry {
            label: how.label,
            ..connection
        };
        let connection_id = fresh_id("connection", &ctx);
        let has_requests = entry
            .invitation()
            .is_some_and(|one| !one.requests.is_empty());
        match has_requests {
            true => entry.record.connection_id = Some(connection_id.clone()),
            false => entry.record = answered(&entry, &connection_id, &ctx)?,
        }
        let batch = put_oob(Batch::new(tenant.clone()), &id, &entry)?;
        let new = NewConnection {
            tenant,
            id: &connection_id,
            entry: &connection,
        };
        self.keep_with(new, batch, vec![entry.noticed(&id)]).await?;
        if how.auto_accept {
            self.accept_connection(tenant, &connection_id).await?;
        }
        Ok(())
    }

    /// Asks to use a connection again (RFC 0434, "Reuse").
    async fn reuse(&self, new: NewOob<'_>, existing: FoundConnection) -> Result<()> {
        let (tenant, id, entry) = (new.tenant, new.id, new.entry);
        self.begin_oob(tenant, &id, &entry).await?;
        let what = OobInput::Act(OobAct::Reuse {
            connection_id: existing.id.clone(),
        });
        let given = OobGiven {
            what,
            way: way_of(&existing),
        };
        self.oob.give(At { tenant, id: &id }, given).await?;
        Ok(())
    }

    /// Takes what is attached on a connection that exists.
    async fn answer_on(&self, new: NewOob<'_>, existing: FoundConnection) -> Result<()> {
        let (tenant, id, entry) = (new.tenant, new.id, new.entry);
        self.begin_oob(tenant, &id, &entry).await?;
        self.answer_attached(tenant, &id, Some(existing)).await
    }

    /// Takes what is attached without a connection.
    async fn answer_alone(&self, new: NewOob<'_>, service: &OobService) -> Result<()> {
        let (tenant, id, mut entry) = (new.tenant, new.id, new.entry);
        let made = keys::create_for(&self.parts.shared, tenant, new.key_seconds);
        let (key, batch) = made.await?;
        entry.their_service = Some(self.served(service).await?);
        entry.own_key = Some(key);
        let now = self.parts.shared.clock.now();
        entry.expires = new.key_seconds.map(|seconds| now.plus(seconds));
        let batch = put_oob(batch, &id, &entry)?;
        let notices = vec![entry.noticed(&id)];
        self.commit_telling(tenant, batch, notices).await?;
        let answered = self.answer_attached(tenant, &id, None).await;
        if answered.is_err() && new.key_seconds.is_some() {
            self.forget_oob(tenant, &id).await?;
        }
        answered
    }

    async fn begin_oob(&self, tenant: &TenantId, id: &str, entry: &OobEntry) -> Result<()> {
        let batch = put_oob(Batch::new(tenant.clone()), id, entry)?;
        let notices = vec![entry.noticed(id)];
        self.commit_telling(tenant, batch, notices).await
    }

    /// Where a service of an invitation takes messages.
    async fn served(&self, service: &OobService) -> Result<Destination> {
        let did = match service {
            OobService::Inline(service) => return inline(service),
            OobService::Did(did) => did,
        };
        let unresolved = || Error::bad_request("aries-did-unresolved").with("did", did);
        let parsed: Did = did.parse().map_err(|_| unresolved())?;
        let shared = &self.parts.shared;
        let (options, now) = (Options::default(), shared.clock.now());
        let (resolution, _) = shared.resolver.resolve(&parsed, &options, now).await;
        let document = resolution.document_of(&parsed).map_err(|_| unresolved())?;
        let located = Located::by(PeerDocument::of(document)).and_then(Located::reached);
        Ok(located.map_err(|_| unresolved())?.destination)
    }

    /// Takes the first attached message that is spoken here, as if it had come on the connection, or without one.
    pub(super) async fn answer_attached(
        &self,
        tenant: &TenantId,
        id: &str,
        connection: Option<FoundConnection>,
    ) -> Result<()> {
        let (entry, version) = self.oob_entry(tenant, id).await?;
        let connection_id = connection.as_ref().map(|found| found.id.clone());
        let attached = entry.invitation().and_then(|invitation| {
            let mut requests = invitation.requests.into_iter();
            requests.find(|request| protocol::find(&request.kind).is_some())
        });
        let mut attach_thread_id = None;
        if let Some(mut message) = attached {
            let (recipient, sender, service) = match connection {
                Some(found) => {
                    let peer = found.entry.peer().ok();
                    let sender = peer.and_then(|peer| peer.speakers().next());
                    (found.entry.own_key, sender, None)
                }
                None => {
                    let service = entry.their_service.clone();
                    let sender = service.as_ref().and_then(|to| to.speakers().next());
                    (entry.own_key.clone(), sender, service)
                }
            };
            attach_thread_id = Some(message.thread_id().to_owned());
            // RFC 0434, "Responses": the answers name the invitation as their parent thread.
            message.thread.pthid = Some(entry.record.dialogue.thread_id.clone());
            let inbound = Inbound {
                tenant: tenant.clone(),
                recipient: recipient.ok_or_else(unknown)?,
                sender,
                message,
                service,
                is_attached: true,
                expires: entry.expires,
                unread: None,
                v2: None,
            };
            self.take_next(&inbound).await?;
        }
        let given = OobGiven {
            what: OobInput::Act(OobAct::Answer {
                connection_id,
                attach_thread_id,
            }),
            way: None,
        };
        let at = At { tenant, id };
        self.oob
            .give_read(at, Some((entry, version)), given)
            .await?;
        Ok(())
    }

    /// A message of out-of-band that came on a connection: somebody asks to use it again, or answers that.
    pub(super) async fn take_out_of_band(&self, inbound: &Inbound) -> Result<()> {
        let tenant = &inbound.tenant;
        let connection = self.connection_of(inbound).await?;
        let message: Incoming<OobMessage> = incoming(&inbound.message)?;
        let absent = || Error::not_found("aries-invitation-absent");
        let invitation = message.parent_thread_id.as_ref().ok_or_else(absent)?;
        let wanted = match message.content {
            OobMessage::Reuse => OobRole::Sender,
            _ => OobRole::Receiver,
        };
        let found = self.oob_of(tenant, invitation, wanted).await?;
        let found = found.ok_or_else(absent)?;
        let entry = self.oob.records().read(&found)?;
        let (at, read) = (
            At {
                tenant,
                id: &found.id,
            },
            Some((entry, found.version)),
        );
        let answer = message.content.clone();
        let given = OobGiven {
            what: OobInput::Received(message),
            way: way_of(&connection),
        };
        self.oob.give_read(at, read, given).await?;
        match answer {
            OobMessage::ReuseAccepted => {
                self.answer_attached(tenant, &found.id, Some(connection))
                    .await
            }
            OobMessage::Report(_) => self.connect_after_all(tenant, &found.id).await,
            OobMessage::Invitation(_) | OobMessage::Reuse => Ok(()),
        }
    }

    /// Makes a new connection, since the sender of the invitation did not accept that one is used again.
    async fn connect_after_all(&self, tenant: &TenantId, id: &str) -> Result<()> {
        let (entry, version) = self.oob_entry(tenant, id).await?;
        let invitation = entry.invitation().ok_or_else(unknown)?;
        let ability = Ability {
            has_connection: false,
            handshakes: &spoken_handshakes(),
            speaks: |kind| protocol::find(kind).is_some(),
        };
        let Plan::Connect { kind, service, .. } = plan(&invitation, &ability) else {
            return Ok(());
        };
        let ctx = self.parts.shared.clock.ctx();
        let door = TheirDoor {
            kind,
            service,
            label: invitation.label.clone(),
        };
        let connection = door.connection(id, &entry, &ctx)?;
        let connection_id = fresh_id("connection", &ctx);
        let mut changed = entry.clone();
        match invitation.requests.is_empty() {
            true => changed.record = answered(&entry, &connection_id, &ctx)?,
            false => changed.record.connection_id = Some(connection_id.clone()),
        }
        let put = ProtocolMachine::<OutOfBand>::put(id, &changed)?;
        let batch = Batch::new(tenant.clone())
            .expect(OutOfBand::KIND, id, Expect::Version(version))
            .put(put);
        let new = NewConnection {
            tenant,
            id: &connection_id,
            entry: &connection,
        };
        self.keep_with(new, batch, vec![changed.noticed(id)])
            .await?;
        if entry.is_auto {
            self.accept_connection(tenant, &connection_id).await?;
        }
        Ok(())
    }

    /// The record of an invitation in this role.
    async fn oob_of(
        &self,
        tenant: &TenantId,
        invitation: &str,
        role: OobRole,
    ) -> Result<Option<Record>> {
        let store = &self.parts.shared.store;
        let tag = Tag::hashed(OOB_INVITATION, invitation);
        let page = Page::newest(EXISTING_MAX);
        let found = store.find(tenant, OutOfBand::KIND, &tag, &page).await?;
        for record in found {
            let entry: OobEntry = decode(&record.value)?;
            if entry.record.role == role {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }
}

/// The invitation that these are the members of, in either version.
fn invitation_of(members: Map<String, Value>) -> Result<Incoming<OobMessage>> {
    if is_v2(&members) {
        return invitation::read(members).map_err(|error| unreadable(&error));
    }
    let message = Message::from_members(members, Version::V1);
    let message = message.map_err(|error| unreadable(&error))?;
    Incoming::read(&message).map_err(|error| unreadable(&error))
}

/// How the sender of an invitation is asked for a connection.
struct TheirDoor {
    /// The type of the request.
    kind: MessageType,
    service: OobService,
    /// How the sender calls itself.
    label: Option<String>,
}

impl TheirDoor {
    /// The connection that begins with the invitation of this record.
    fn connection(&self, oob_id: &str, entry: &OobEntry, ctx: &Ctx) -> Result<ConnectionEntry> {
        let (invited_to, did) = match &self.service {
            OobService::Inline(service) => (Some(inline(service)?), None),
            OobService::Did(did) => (None, Some(did.clone())),
        };
        let key = invited_to.as_ref().and_then(|to| to.keys.first().cloned());
        let terms = InvitationTerms {
            role: ConnectionRole::Invitee,
            id: entry.record.dialogue.thread_id.clone(),
            key,
            did,
            mode: InvitationMode::Once,
            label: self.label.clone(),
            alias: entry.alias.clone(),
            accept: accepting(entry.is_auto),
        };
        let begun = ConnectionRecord::begin(terms, self.kind.clone(), ctx);
        Ok(ConnectionEntry {
            invited_to,
            oob_id: Some(oob_id.to_owned()),
            ..ConnectionEntry::new(begun.record)
        })
    }
}

/// The record of an invitation that led to this connection, and to nothing else.
fn answered(entry: &OobEntry, connection_id: &str, ctx: &Ctx) -> Result<OobRecord> {
    let answer = OobInput::Act(OobAct::Answer {
        connection_id: Some(connection_id.to_owned()),
        attach_thread_id: None,
    });
    let advance = step(Footing::Known(&entry.record), &answer, ctx);
    Ok(advance.map_err(|problem| refused(&problem))?.record)
}

/// Where a service that is written out takes messages.
fn inline(service: &InlineService) -> Result<Destination> {
    Ok(Destination {
        keys: service.recipient_keys.clone(),
        through: service.routing_keys.clone(),
        endpoint: Some(
            service
                .service_endpoint
                .parse()
                .map_err(|error| unreadable(&error))?,
        ),
        dids: None,
    })
}

/// The way to the peer of a connection.
fn way_of(found: &FoundConnection) -> Option<OobWay> {
    Some(OobWay {
        connection_id: found.id.clone(),
        from: found.entry.own_key.clone()?,
        to: found.entry.peer().ok()?,
    })
}
