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

use crate::answer::{OperationResult, Refusal, done, told};
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

/// The connections that fit the query.
pub async fn list(call: OperationCall) -> OperationResult {
    let asked: ListQuery = call.query()?;
    let part = ListPart {
        offset: asked.offset,
        limit: asked.limit,
        descending: asked.descending,
    };
    let protocols = ["connections/1.0", "RFC 0160", "rfc160", "old"];
    let is_known = |protocol: &String| protocols.contains(&protocol.as_str());
    let none = asked
        .connection_protocol
        .as_ref()
        .is_some_and(|one| !is_known(one))
        || asked.their_public_did.is_some();
    let filter = ConnectionFilter {
        alias: asked.alias,
        invitation_key: asked.invitation_key,
        invitation_msg_id: asked.invitation_msg_id,
        my_did: asked.my_did,
        their_did: asked.their_did,
        their_role: asked.their_role,
        state: asked.state,
    };
    let mut found = match none {
        true => Vec::new(),
        false => {
            let agents = call.agents();
            agents
                .connections_where(call.tenant()?, &filter, part.range())
                .await?
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
    if Flag::is_set(asked.public, false) && !settings.public_invites {
        return Err(no_public());
    }
    let new = NewInvitation {
        alias: asked.alias.clone(),
        auto_accept: Flag::is_set(
            asked.auto_accept,
            settings.terms.settings.auto_accept_requests,
        ),
        multi_use: Flag::is_set(asked.multi_use, false),
        label: body.my_label,
        public: Flag::is_set(asked.public, false),
    };
    let mut made = call.agents().create_invitation(call.tenant()?, new).await?;
    if let Some(noted) = body.metadata {
        let agents = call.agents();
        agents
            .note_connection(call.tenant()?, &made.connection_id, noted)
            .await?;
    }
    if let Some(base) = &settings.invite_base_url {
        let query = made.invitation_url.split_once('?').map(|(_, query)| query);
        let mut link = base.clone();
        link.set_query(query);
        made.invitation_url = link.to_string();
    }
    let mut answer = json!({
        "connection_id": made.connection_id,
        "invitation": made.invitation,
        "invitation_url": made.invitation_url,
    });
    if let Some(alias) = asked.alias {
        answer["alias"] = alias.into();
    }
    told(&answer)
}

/// Why an invitation can't name the public DID.
fn no_public() -> Refusal {
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
            return Err(Refusal::not_ready(id));
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
