//! How connections begin: at an invitation, made or received, of either protocol.

use selfsame_aries::connection::Accepting;
use selfsame_aries::key::VerKey;
use selfsame_core::events::{Event, EventKind};
use selfsame_did::Did;
use selfsame_didcomm::Version;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_mediation::keys;
use selfsame_mediation::own_side::OwnDid;
use selfsame_mediation::public_did::{self, PublicDid};
use selfsame_mediation::wishes::InvitationDid;
use selfsame_store::{Batch, Expect, Put, TenantId};

use super::Agents;
use crate::connections::{ConnectionEntry, Connections, make_did};
use crate::machine::{AgentProtocol as _, ProtocolMachine};
use selfsame_mediation::notice::{Told, Untold};

/// The kind of the records of the DIDs that invitations have in common. A record's identifier is that of the kind of DID.
const COMMON_DID: &str = "aries_invitation_did";

/// How an invitation can be answered.
pub struct InvitationDoor {
    /// The key that the answer is encrypted to, and that signs the response.
    pub key: VerKey,
    /// The public DID, if the invitation names it.
    pub did: Option<Did>,
    /// What was made for it.
    pub writes: Batch,
}

/// A connection that begins.
pub struct NewConnection<'a> {
    pub tenant: &'a TenantId,
    pub id: &'a str,
    pub entry: &'a ConnectionEntry,
}

/// What controllers are told of a record.
pub struct RecordNotice {
    pub record: String,
    pub told: Told,
}

impl Agents {
    /// How an invitation can be answered: at a new key of this agent, or at its public DID.
    pub(super) async fn door(&self, tenant: &TenantId, public: bool) -> Result<InvitationDoor> {
        let shared = &self.parts.shared;
        if public {
            let public = public_did::required(shared, tenant).await?;
            return Ok(InvitationDoor {
                key: public.key,
                did: Some(public.did),
                writes: Batch::new(tenant.clone()),
            });
        }
        let (key, writes) = keys::create(shared, tenant)?;
        Ok(InvitationDoor {
            key,
            did: None,
            writes,
        })
    }

    /// How an invitation can be answered that names a DID other than the public one.
    ///
    /// # Errors
    /// `BadRequest` for DIDComm v2 with a DID that is held already: it names no service of v2.
    pub(super) async fn door_by(
        &self,
        tenant: &TenantId,
        did: &InvitationDid,
        version: Version,
    ) -> Result<InvitationDoor> {
        let shared = &self.parts.shared;
        match did {
            InvitationDid::Held(_) if version == Version::V2 => {
                Err(Error::bad_request("aries-v2-did"))
            }
            InvitationDid::Held(did) => {
                let PublicDid { did, key } = public_did::held(shared, tenant, did).await?;
                Ok(InvitationDoor {
                    writes: keys::route(Batch::new(tenant.clone()), tenant, &key)?,
                    did: Some(did),
                    key,
                })
            }
            InvitationDid::New(kind) => self.door_by_new(tenant, *kind, version).await,
            InvitationDid::Common(kind) => {
                let id = match version {
                    Version::V1 => kind.common_id().to_owned(),
                    Version::V2 => format!("{}-v2", kind.common_id()),
                };
                if let Some(found) = shared.store.read(tenant, COMMON_DID, &id).await? {
                    let PublicDid { did, key } = decode(&found.value)?;
                    return Ok(InvitationDoor {
                        writes: Batch::new(tenant.clone()),
                        did: Some(did),
                        key,
                    });
                }
                let mut door = self.door_by_new(tenant, *kind, version).await?;
                if let Some(did) = door.did.clone() {
                    let key = door.key.clone();
                    let common = encode(&PublicDid { did, key })?;
                    door.writes = door.writes.put(Put::new(COMMON_DID, &id, common));
                }
                Ok(door)
            }
        }
    }

    async fn door_by_new(
        &self,
        tenant: &TenantId,
        kind: OwnDid,
        version: Version,
    ) -> Result<InvitationDoor> {
        let made = make_did(&self.parts, tenant, kind, version).await?;
        let did = made.party.did.parse().map_err(Error::internal)?;
        Ok(InvitationDoor {
            key: made.key,
            did: Some(did),
            writes: made.writes,
        })
    }

    /// Begins a connection at its invitation, in one commit with what was made for it.
    pub(super) async fn keep(&self, new: NewConnection<'_>, writes: Batch) -> Result<()> {
        self.keep_with(new, writes, Vec::new()).await
    }

    /// As [`Self::keep`]; controllers are told of these records too.
    pub(super) async fn keep_with(
        &self,
        new: NewConnection<'_>,
        writes: Batch,
        mut notices: Vec<RecordNotice>,
    ) -> Result<()> {
        let NewConnection { tenant, id, entry } = new;
        let batch = writes
            .expect(Connections::KIND, id, Expect::Absent)
            .put(ProtocolMachine::<Connections>::put(id, entry)?);
        notices.push(RecordNotice {
            record: id.to_owned(),
            told: entry.notice(id),
        });
        self.commit_telling(tenant, batch, notices).await
    }

    /// Commits what a controller began, and tells all controllers of it, if there is one.
    pub(super) async fn commit_telling(
        &self,
        tenant: &TenantId,
        mut batch: Batch,
        notices: Vec<RecordNotice>,
    ) -> Result<()> {
        let shared = &self.parts.shared;
        if !self.parts.is_heard(tenant) {
            shared.store.commit(batch).await?;
            return Ok(());
        }
        let (ctx, now) = (shared.clock.ctx(), shared.clock.now());
        let (mut untold, mut events) = (Untold::default(), Vec::new());
        for RecordNotice { record, told } in notices {
            let notice = untold.note(&record, &ctx);
            batch = batch.put(told.put(&notice, now)?);
            events.push(Event::new(EventKind::AgentNotice, notice));
        }
        shared.events.commit_all(batch, &events).await?;
        Ok(())
    }
}

/// Whether the agent goes on by itself.
pub fn accepting(auto: bool) -> Accepting {
    match auto {
        true => Accepting::Auto,
        false => Accepting::Manual,
    }
}
