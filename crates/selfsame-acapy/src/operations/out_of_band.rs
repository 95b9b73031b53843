//! Invitations of out-of-band (RFC 0434).

use selfsame_agent::connect::{
    InvitationDid, NewOobInvitation, OobAnswer, OobInvitationView, OobView, OwnDid,
};
use selfsame_aries_v2::invitation;
use selfsame_didcomm::Message;
use selfsame_didcomm::service::is_profile;
use selfsame_driver::paging::Paging;
use selfsame_driver::{Error, Reason};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::connection::{link, no_public};
use crate::answer::{OperationError, OperationResult, cannot, done, told};
use crate::call::{Flag, ListPart, OperationCall, did_of};
use crate::listing::gathered;

/// The version of out-of-band whose invitations are of DIDComm v2.
const V2_VERSION: &str = "2.0";

#[derive(Deserialize)]
struct OobCreateQuery {
    auto_accept: Option<Flag>,
    multi_use: Option<Flag>,
    create_unique_did: Option<Flag>,
}

#[derive(Deserialize)]
struct OobCreateBody {
    alias: Option<String>,
    my_label: Option<String>,
    goal: Option<String>,
    goal_code: Option<String>,
    #[serde(default)]
    handshake_protocols: Vec<String>,
    #[serde(default)]
    attachments: Vec<OobAttachment>,
    #[serde(default)]
    accept: Vec<String>,
    protocol_version: Option<String>,
    #[serde(default)]
    use_public_did: bool,
    use_did: Option<String>,
    use_did_method: Option<String>,
    metadata: Option<Map<String, Value>>,
}

/// The first message of an exchange, by the identifier of its record.
#[derive(Deserialize)]
struct OobAttachment {
    id: String,
    #[serde(rename = "type")]
    kind: AttachmentKind,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum AttachmentKind {
    CredentialOffer,
    PresentProof,
}

impl OobCreateBody {
    /// The DID that the invitation names in place of a key, other than the public one.
    fn did(&self, unique: bool) -> OperationResult<Option<InvitationDid>> {
        let named = [
            self.use_public_did,
            self.use_did.is_some(),
            self.use_did_method.is_some(),
        ];
        if named.iter().filter(|is_named| **is_named).count() > 1 {
            return Err(cannot(Reason::new("agent-invitation-dids")));
        }
        match (&self.use_did, &self.use_did_method) {
            (Some(did), _) => Ok(Some(InvitationDid::Held(did_of(did, "use_did")?))),
            (None, Some(method)) => {
                let kind = made_kind(method)?;
                Ok(Some(match unique {
                    true => InvitationDid::New(kind),
                    false => InvitationDid::Common(kind),
                }))
            }
            (None, None) if unique => Err(cannot(Reason::new("agent-invitation-unique"))),
            (None, None) => Ok(None),
        }
    }
}

impl OobCreateBody {
    /// The protocols by which a connection can be made. For DIDComm v2 they need not be named.
    fn handshakes(&self) -> Vec<String> {
        match self.is_v2() && self.handshake_protocols.is_empty() {
            true => vec![invitation::MADE_BY.to_owned()],
            false => qualified(&self.handshake_protocols),
        }
    }

    /// Whether the invitation is one of DIDComm v2: of out-of-band 2.0, or for agents that take nothing else.
    fn is_v2(&self) -> bool {
        let is_profile = |profile: &String| is_profile(profile);
        self.protocol_version.as_deref() == Some(V2_VERSION)
            || (!self.accept.is_empty() && self.accept.iter().all(is_profile))
    }
}

/// A kind of DID that can be made, by its name.
///
/// # Errors
/// 422 for another name.
pub fn made_kind(method: &str) -> OperationResult<OwnDid> {
    let kind = OwnDid::of_method(method).ok();
    let kind = kind.filter(|kind| matches!(kind, OwnDid::Peer2 | OwnDid::Peer4));
    kind.ok_or_else(|| OperationError::field("use_did_method", "Must be a DID method of peers."))
}

/// Makes an invitation of out-of-band.
pub async fn create(call: OperationCall) -> OperationResult {
    let (asked, mut body): (OobCreateQuery, OobCreateBody) = (call.query()?, call.body()?);
    let terms = &call.admin.settings().terms;
    if body.use_public_did && !terms.settings.public_invites {
        return Err(no_public());
    }
    if body.metadata.is_some() && body.handshakes().is_empty() {
        return Err(cannot(Reason::new("agent-invitation-metadata")));
    }
    let new = NewOobInvitation {
        did: body.did(Flag::is_set(asked.create_unique_did, false))?,
        requests: attached(&call, std::mem::take(&mut body.attachments)).await?,
        handshake_protocols: body.handshakes(),
        multi_use: Flag::is_set(asked.multi_use, false),
        public: body.use_public_did,
        auto_accept: Flag::is_set(asked.auto_accept, terms.settings.auto_accept_requests),
        alias: body.alias,
        label: body.my_label,
        goal: body.goal,
        goal_code: body.goal_code,
        accept: body.accept,
    };
    told(&invited(&call, new, body.metadata).await?)
}

/// Makes the invitation, and notes the metadata of its connection.
async fn invited(
    call: &OperationCall,
    new: NewOobInvitation,
    metadata: Option<Map<String, Value>>,
) -> OperationResult<OobInvitationView> {
    let (agents, tenant) = (call.agents(), call.tenant()?);
    let made = agents.create_oob_invitation(tenant, new).await?;
    if let (Some(noted), Some(connection)) = (metadata, &made.connection_id) {
        agents.note_connection(tenant, connection, noted).await?;
    }
    Ok(linked(call, made))
}

/// With the link below the base that the settings name.
fn linked(call: &OperationCall, made: OobInvitationView) -> OobInvitationView {
    OobInvitationView {
        invitation_url: link(call, &made.invitation_url),
        ..made
    }
}

/// Handshake protocols as invitations name them. Callers may leave out the prefix.
fn qualified(names: &[String]) -> Vec<String> {
    let each = names.iter().map(|name| match name.contains(':') {
        true => name.clone(),
        false => format!("https://didcomm.org/{name}"),
    });
    each.collect()
}

/// The first messages of these exchanges, in the order of the caller.
async fn attached(
    call: &OperationCall,
    attachments: Vec<OobAttachment>,
) -> OperationResult<Vec<Message>> {
    let (agents, tenant) = (call.agents(), call.tenant()?);
    let mut messages = Vec::new();
    for OobAttachment { id, kind } in attachments {
        messages.push(match kind {
            AttachmentKind::CredentialOffer => agents.issuing().unsent(tenant, &id).await?,
            AttachmentKind::PresentProof => agents.proving().unsent(tenant, &id).await?,
        });
    }
    Ok(messages)
}

#[derive(Deserialize)]
struct OobReceiveQuery {
    alias: Option<String>,
    auto_accept: Option<Flag>,
    use_existing_connection: Option<Flag>,
}

/// Takes an invitation of out-of-band.
pub async fn receive(call: OperationCall) -> OperationResult {
    let asked: OobReceiveQuery = call.query()?;
    let invitation: Map<String, Value> = call.body()?;
    let auto = call.admin.settings().terms.settings.auto_accept_invites;
    let how = OobAnswer {
        alias: asked.alias,
        auto_accept: Flag::is_set(asked.auto_accept, auto),
        use_existing_connection: Flag::is_set(asked.use_existing_connection, true),
        label: None,
        key_seconds: None,
    };
    let (agents, tenant) = (call.agents(), call.tenant()?);
    told(
        &agents
            .receive_oob_invitation(tenant, invitation, how)
            .await?,
    )
}

#[derive(Deserialize)]
struct OobRecordsQuery {
    state: Option<String>,
    role: Option<String>,
    connection_id: Option<String>,
    invi_msg_id: Option<String>,
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
    descending: Option<Flag>,
}

impl OobRecordsQuery {
    fn part(&self) -> ListPart {
        ListPart {
            offset: self.offset,
            limit: self.limit,
            descending: self.descending,
        }
    }

    fn fits(&self, view: &OobView) -> bool {
        let same = |asked: &Option<String>, own: Option<&str>| {
            asked.as_deref().is_none_or(|asked| own == Some(asked))
        };
        let role = serde_json::to_value(view.role).unwrap_or_default();
        same(&self.state, Some(view.state))
            && same(&self.role, role.as_str())
            && same(&self.connection_id, view.connection_id.as_deref())
            && same(&self.invi_msg_id, Some(&view.invi_msg_id))
    }
}

/// The invitations that fit the query.
pub async fn list(call: OperationCall) -> OperationResult {
    let asked: OobRecordsQuery = call.query()?;
    let (agents, tenant) = (call.agents(), call.tenant()?);
    let fits = |view: &OobView| asked.fits(view);
    let page = |paging: Paging| async move {
        let mut listed = agents.oob_records(tenant, &paging).await?;
        listed.items.retain(fits);
        Ok::<_, Error>(listed)
    };
    let results = gathered(asked.part(), page).await?;
    told(&json!({ "results": results }))
}

#[derive(Deserialize)]
struct OobIdQuery {
    oob_id: Option<String>,
}

/// An invitation, by the identifier of its record.
pub async fn show(call: OperationCall) -> OperationResult {
    let asked: OobIdQuery = call.query()?;
    let missing = || OperationError::missing("oob_id");
    let id = asked.oob_id.filter(|id| !id.is_empty());
    let id = id.ok_or_else(missing)?;
    let found = call.agents().oob_invitation(call.tenant()?, &id).await?;
    told(&linked(&call, found))
}

/// Removes an invitation, by its own identifier.
pub async fn remove(call: OperationCall) -> OperationResult {
    let (agents, id) = (call.agents(), call.at("invi_msg_id")?);
    agents.remove_oob_invitation(call.tenant()?, id).await?;
    done()
}
