//! Connections, and connections 1.0 (RFC 0160).

use std::time::Duration;

use http::StatusCode;
use selfsame_agent::{
    ConnectionFilter, ConnectionView, InvitationAnswer, InvitationView, ListRange, NewInvitation,
};
use selfsame_http::error::Problem;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};

use crate::answer::{OperationError, OperationResult, done, told};
use crate::call::{Flag, ListPart, OperationCall};

/// The pauses between two looks at a connection that is awaited.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// The names of the protocols that connections are made by.
const PROTOCOLS: [&str; 4] = [
    "connections/1.0",
    "RFC 0160",
    "didexchange/1.0",
    "didexchange/1.1",
];

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
    /// Whether it asks for connections of a protocol that has none here, or by what they do not have.
    fn is_empty(&self) -> bool {
        let known = |protocol: &String| PROTOCOLS.contains(&protocol.as_str());
        let protocol = self.connection_protocol.as_ref();
        protocol.is_some_and(|one| !known(one)) || self.their_public_did.is_some()
    }

    fn range(&self) -> ListRange {
        let part = ListPart {
            offset: self.offset,
            limit: self.limit,
            descending: self.descending,
        };
        part.range()
    }

    fn filter(self) -> ConnectionFilter {
        ConnectionFilter {
            alias: self.alias,
            invitation_key: self.invitation_key,
            invitation_msg_id: self.invitation_msg_id,
            my_did: self.my_did,
            their_did: self.their_did,
            their_role: self.their_role,
            state: self.state,
        }
    }
}

/// The connections that fit the query.
pub async fn list(call: OperationCall) -> OperationResult {
    let asked: ListQuery = call.query()?;
    let (is_empty, range) = (asked.is_empty(), asked.range());
    let mut found = match is_empty {
        true => Vec::new(),
        false => {
            let (agents, filter) = (call.agents(), asked.filter());
            agents
                .connections_where(call.tenant()?, &filter, range)
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
    let public = Flag::is_set(asked.public, false);
    if public && !settings.terms.settings.public_invites {
        return Err(no_public());
    }
    let auto = settings.terms.settings.auto_accept_requests;
    let new = NewInvitation {
        alias: asked.alias.clone(),
        auto_accept: Flag::is_set(asked.auto_accept, auto),
        multi_use: Flag::is_set(asked.multi_use, false),
        label: body.my_label,
        public,
    };
    let (agents, tenant) = (call.agents(), call.tenant()?);
    let made = agents.create_invitation(tenant, new).await?;
    if let Some(noted) = body.metadata {
        agents
            .note_connection(tenant, &made.connection_id, noted)
            .await?;
    }
    told(&invited(&call, made, asked.alias))
}

/// What is told of an invitation.
fn invited(call: &OperationCall, made: InvitationView, alias: Option<String>) -> Value {
    let mut answer = json!({
        "connection_id": made.connection_id,
        "invitation": made.invitation,
        "invitation_url": link(call, &made.invitation_url),
    });
    if let Some(alias) = alias {
        answer["alias"] = alias.into();
    }
    answer
}

/// The link of an invitation, below the base that the settings name.
pub fn link(call: &OperationCall, url: &str) -> String {
    let Some(base) = &call.admin.settings().invite_base_url else {
        return url.to_owned();
    };
    let mut link = base.clone();
    link.set_query(url.split_once('?').map(|(_, query)| query));
    link.to_string()
}

/// Why an invitation can't name the public DID.
pub fn no_public() -> OperationError {
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
/// 404 if it does not exist; 403 if it is not ready in time.
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
