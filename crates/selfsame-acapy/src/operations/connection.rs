//! Connections, and connections 1.0 (RFC 0160).

use std::time::Duration;

use http::StatusCode;
use selfsame_agent::{
    ConnectionFilter, ConnectionView, InvitationAnswer, ListRange, NewInvitation,
};
use selfsame_http::error::Problem;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};
use url::Url;

use crate::AdminSettings;
use crate::answer::{OperationError, OperationResult, done, told};
use crate::call::{Flag, ListPart, OperationCall};

/// The pauses between two looks at a connection that is awaited.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

#[derive(Deserialize)]
struct ListQuery {
    alias: Option<String>,
    connection_protocol: Option<String>,
    invitation_key: Option<String>,
    invitation_msg_id: Option<String>,
    my_did: Option<String>,
    state: Option<String>,
    their_did: Option<String>,
    their_public_did: Option<String>,
    their_role: Option<String>,
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
    descending: Option<Flag>,
}

impl ListQuery {
    /// Whether no connection here can fit.
    fn has_none(&self) -> bool {
        let known = ["connections/1.0", "RFC 0160", "rfc160", "old"];
        let protocol = self.connection_protocol.as_deref();
        protocol.is_some_and(|protocol| !known.contains(&protocol))
            || self.their_public_did.is_some()
    }

    /// Which connections are wanted, and which part of them.
    fn parts(self) -> (ConnectionFilter, ListPart) {
        let filter = ConnectionFilter {
            alias: self.alias,
            invitation_key: self.invitation_key,
            invitation_msg_id: self.invitation_msg_id,
            my_did: self.my_did,
            their_did: self.their_did,
            their_role: self.their_role,
            state: self.state,
        };
        let part = ListPart {
            offset: self.offset,
            limit: self.limit,
            descending: self.descending,
        };
        (filter, part)
    }
}

/// The connections that fit the query.
pub async fn list(call: OperationCall) -> OperationResult {
    let asked: ListQuery = call.query()?;
    let has_none = asked.has_none();
    let (filter, part) = asked.parts();
    let agents = call.agents();
    let mut found = match has_none {
        true => Vec::new(),
        false => {
            let found = agents.connections_where(call.tenant()?, &filter, part.range());
            found.await?
        }
    };
    // ACA-Py lists what can be used first.
    found.sort_by_key(|view| match view.state {
        "error" => 2,
        "invitation" => 1,
        _ => 0,
    });
    told(&json!({ "results": found }))
}

/// A connection.
pub async fn show(call: OperationCall) -> OperationResult {
    told(
        &call
            .agents()
            .connection(call.tenant()?, call.at("conn_id")?)
            .await?,
    )
}

/// Removes a connection.
pub async fn remove(call: OperationCall) -> OperationResult {
    let id = call.at("conn_id")?;
    call.agents().remove_connection(call.tenant()?, id).await?;
    done()
}

#[derive(Deserialize)]
struct CreateQuery {
    alias: Option<String>,
    auto_accept: Option<Flag>,
    multi_use: Option<Flag>,
    public: Option<Flag>,
}

impl CreateQuery {
    /// The invitation.
    fn invitation(
        &self,
        label: Option<String>,
        settings: &AdminSettings,
    ) -> OperationResult<NewInvitation> {
        let public = Flag::is_set(self.public, false);
        if public && !settings.public_invites {
            return Err(no_public());
        }
        let accepts = settings.terms.settings.auto_accept_requests;
        Ok(NewInvitation {
            alias: self.alias.clone(),
            auto_accept: Flag::is_set(self.auto_accept, accepts),
            multi_use: Flag::is_set(self.multi_use, false),
            label,
            public,
        })
    }
}

#[derive(Deserialize)]
struct CreateBody {
    #[serde(default)]
    my_label: Option<String>,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

/// Makes an invitation of connections 1.0.
pub async fn create_invitation(call: OperationCall) -> OperationResult {
    let (asked, body): (CreateQuery, CreateBody) = (call.query()?, call.body()?);
    let settings = call.admin.settings();
    let new = asked.invitation(body.my_label, settings)?;
    let (agents, tenant) = (call.agents(), call.tenant()?);
    let made = agents.create_invitation(tenant, new).await?;
    if let Some(noted) = body.metadata {
        let noted = agents.note_connection(tenant, &made.connection_id, noted);
        noted.await?;
    }
    let link = based(&made.invitation_url, settings.invite_base_url.as_ref());
    let mut answer = json!({
        "connection_id": made.connection_id,
        "invitation": made.invitation,
        "invitation_url": link,
    });
    if let Some(alias) = asked.alias {
        answer["alias"] = alias.into();
    }
    told(&answer)
}

/// The link of an invitation, on this base.
fn based(link: &str, base: Option<&Url>) -> String {
    let Some(base) = base else {
        return link.to_owned();
    };
    let mut based = base.clone();
    based.set_query(link.split_once('?').map(|(_, query)| query));
    based.into()
}

/// Why an invitation can't name the public DID.
fn no_public() -> OperationError {
    Problem::new(StatusCode::FORBIDDEN, "agent-public-invites-off").into()
}

#[derive(Deserialize)]
struct ReceiveQuery {
    alias: Option<String>,
    auto_accept: Option<Flag>,
}

/// Takes an invitation of connections 1.0.
pub async fn receive_invitation(call: OperationCall) -> OperationResult {
    let asked: ReceiveQuery = call.query()?;
    let invitation: Map<String, Value> = call.body()?;
    let auto = call.admin.settings().terms.settings.auto_accept_invites;
    let how = InvitationAnswer {
        alias: asked.alias,
        auto_accept: Flag::is_set(asked.auto_accept, auto),
    };
    let agents = call.agents();
    told(
        &agents
            .receive_invitation(call.tenant()?, invitation, how)
            .await?,
    )
}

/// Goes on with a connection: with the request as the invited side, with the response as the inviting one.
pub async fn accept(call: OperationCall) -> OperationResult {
    let id = call.at("conn_id")?;
    told(&call.agents().accept_connection(call.tenant()?, id).await?)
}

/// The endpoints of both sides.
pub async fn endpoints(call: OperationCall) -> OperationResult {
    let id = call.at("conn_id")?;
    told(
        &call
            .agents()
            .connection_endpoints(call.tenant()?, id)
            .await?,
    )
}

#[derive(Deserialize)]
struct MetadataQuery {
    key: Option<String>,
}

/// What was noted of a connection, or one member of it.
pub async fn metadata(call: OperationCall) -> OperationResult {
    let asked: MetadataQuery = call.query()?;
    let id = call.at("conn_id")?;
    let noted = call
        .agents()
        .connection_metadata(call.tenant()?, id)
        .await?;
    let results = match asked.key {
        Some(key) => noted.get(&key).cloned().unwrap_or(Value::Null),
        None => Value::Object(noted),
    };
    told(&json!({ "results": results }))
}

#[derive(Deserialize)]
struct NoteBody {
    metadata: Map<String, Value>,
}

/// Notes something of a connection.
pub async fn note(call: OperationCall) -> OperationResult {
    let body: NoteBody = call.body()?;
    let (agents, tenant, id) = (call.agents(), call.tenant()?, call.at("conn_id")?);
    agents.note_connection(tenant, id, body.metadata).await?;
    let noted = agents.connection_metadata(tenant, id).await?;
    told(&json!({ "results": noted }))
}

impl ListPart {
    /// The part, as the agents take it.
    pub fn range(&self) -> ListRange {
        ListRange {
            offset: self.offset,
            limit: self.limit(),
            newest_first: self.is_descending(),
        }
    }
}

/// Waits until a connection is ready, as long as the settings say.
///
/// # Errors
/// 404 if there is none; 403 if it is not ready in time.
pub async fn ready(call: &OperationCall, id: &str) -> OperationResult<ConnectionView> {
    let until = Instant::now() + call.admin.settings().terms.connection_wait;
    let mut pause = FIRST_PAUSE;
    loop {
        let view = call.agents().connection(call.tenant()?, id).await?;
        if matches!(view.state, "response" | "active" | "completed") {
            return Ok(view);
        }
        let is_over = matches!(view.state, "error" | "abandoned");
        if is_over || Instant::now() + pause > until {
            return Err(OperationError::not_ready(id));
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
