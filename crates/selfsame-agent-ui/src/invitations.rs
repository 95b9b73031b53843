//! Invitations: made, shown, accepted and removed.

use axum::response::Response;
use selfsame_agent::connect::{NewOobInvitation, OobAnswer};
use selfsame_agent::{InvitationAnswer, InvitationView, NewInvitation};
use selfsame_agent_pages::WrongEntry;
use selfsame_agent_pages::invitations::{InvitationContent, InvitationsContent};
use selfsame_aries::out_of_band::read_message;
use selfsame_didcomm::Version;
use selfsame_driver::paging::Paging;
use selfsame_driver::{Error, ErrorKind};
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Form, Path, Query};
use selfsame_http::listing::ListPosition;
use selfsame_pages::{Frame, qr};
use serde_json::Value;

use crate::here::AgentHere;
use crate::shown::{self, optional};

/// The protocol by which invitations of out-of-band make connections.
const HANDSHAKE: &str = "https://didcomm.org/didexchange/1.1";
/// The kind of an invitation of connections 1.0, in the form.
const FIRST: &str = "connections";

/// What was pasted, and why it is refused.
#[derive(Default)]
struct RefusedInvitation {
    pasted: String,
    alias: String,
    wrong: WrongEntry,
}

/// The list, with the forms to make and to accept an invitation.
pub async fn list(agent: AgentHere, frame: Frame, Query(at): Query<ListPosition>) -> Handled {
    let content = content(&agent, &frame, at.into(), RefusedInvitation::default()).await?;
    shown::page(frame, "Invitations", &content)
}

async fn content(
    agent: &AgentHere,
    frame: &Frame,
    paging: Paging,
    refused: RefusedInvitation,
) -> Handled<InvitationsContent> {
    let listed = agent.agents().oob_records(&agent.tenant, &paging).await?;
    Ok(InvitationsContent {
        base: agent.base(frame),
        label: agent.terms.label.clone(),
        pasted: refused.pasted,
        alias: refused.alias,
        wrong: refused.wrong,
        listed: listed.items,
        next: listed.next,
    })
}

/// Makes an invitation.
pub async fn make(agent: AgentHere, frame: Frame, form: Form) -> Handled {
    let (agents, tenant) = (agent.agents(), &agent.tenant);
    if form.one("kind") == Some(FIRST) {
        let made = agents.create_invitation(tenant, new_first(&form)).await?;
        return first(&agent, frame, &made);
    }
    let made = agents.create_oob_invitation(tenant, new(&form)).await?;
    shown::led(&format!("/agent/invitations/{}", made.oob_id))
}

/// The form's invitation of out-of-band.
fn new(form: &Form) -> NewOobInvitation {
    NewOobInvitation {
        handshake_protocols: vec![HANDSHAKE.to_owned()],
        multi_use: form.checked("multi_use"),
        auto_accept: form.checked("auto_accept"),
        alias: optional(form.one("alias")),
        label: optional(form.one("label")),
        ..NewOobInvitation::default()
    }
}

/// The form's invitation of connections 1.0.
fn new_first(form: &Form) -> NewInvitation {
    NewInvitation {
        multi_use: form.checked("multi_use"),
        auto_accept: form.checked("auto_accept"),
        alias: optional(form.one("alias")),
        label: optional(form.one("label")),
        public: false,
    }
}

/// The page of an invitation of connections 1.0, which is shown once.
fn first(agent: &AgentHere, frame: Frame, made: &InvitationView) -> Handled {
    let content = invited(agent, &frame, made);
    shown::page(frame, "Invitation", &content)
}

/// What is shown to a peer. `made` has the identifier of the connection.
fn invited(agent: &AgentHere, frame: &Frame, made: &InvitationView) -> InvitationContent {
    let link = agent.link(&made.invitation_url);
    let label = made.invitation.get("label").and_then(Value::as_str);
    InvitationContent {
        base: agent.base(frame),
        oob_id: None,
        label: label.unwrap_or(&agent.terms.label).to_owned(),
        qr: qr::svg(&link),
        link,
        text: serde_json::to_string_pretty(&made.invitation).unwrap_or_default(),
        connection_id: Some(made.connection_id.clone()).filter(|id| !id.is_empty()),
    }
}

/// An invitation of out-of-band.
pub async fn page(agent: AgentHere, frame: Frame, Path(id): Path<String>) -> Handled {
    let found = agent.agents().oob_invitation(&agent.tenant, &id).await?;
    let made = InvitationView {
        connection_id: found.connection_id.unwrap_or_default(),
        invitation: found.invitation,
        invitation_url: found.invitation_url,
    };
    let content = InvitationContent {
        oob_id: Some(id),
        ..invited(&agent, &frame, &made)
    };
    shown::page(frame, "Invitation", &content)
}

/// Removes an invitation.
pub async fn remove(agent: AgentHere, Path(id): Path<String>) -> Handled {
    let (agents, tenant) = (agent.agents(), &agent.tenant);
    let found = agents.oob_record(tenant, &id).await?;
    let invitation = &found.invi_msg_id;
    agents.remove_oob_invitation(tenant, invitation).await?;
    shown::led("/agent/invitations")
}

/// Accepts an invitation that was pasted.
pub async fn receive(agent: AgentHere, frame: Frame, form: Form) -> Handled {
    let problem = match received(&agent, &form).await {
        Ok(Some(id)) => return shown::led(&format!("/agent/connections/{id}")),
        Ok(None) => return shown::led("/agent/invitations"),
        Err(error) if error.kind == ErrorKind::BadRequest => Problem::from(error),
        Err(error) => return Err(error.into()),
    };
    let typed = |field| form.one(field).unwrap_or_default().to_owned();
    let refused = RefusedInvitation {
        pasted: typed("invitation"),
        alias: typed("alias"),
        wrong: wrong(&problem),
    };
    let content = content(&agent, &frame, Paging::default(), refused).await?;
    let mut page: Response = shown::again(frame, "Invitations", &content)?;
    *page.status_mut() = problem.status();
    Ok(page)
}

fn wrong(problem: &Problem) -> WrongEntry {
    let told = problem.told();
    WrongEntry::of("invitation", &told.text, told.hint.as_deref())
}

/// Takes an invitation; returns the connection that it leads to.
async fn received(agent: &AgentHere, form: &Form) -> Result<Option<String>, Error> {
    let (agents, tenant) = (agent.agents(), &agent.tenant);
    let pasted = form.one("invitation").unwrap_or_default();
    let unread = |why| Error::bad_request("agent-invitation-unread").with("why", &why);
    let message = read_message(pasted).map_err(unread)?;
    let invitation = message.to_members(Version::V1);
    let (alias, auto_accept) = (optional(form.one("alias")), form.checked("auto_accept"));
    if message.kind.is("connections", "invitation") {
        let how = InvitationAnswer { alias, auto_accept };
        let made = agents.receive_invitation(tenant, invitation, how).await?;
        return Ok(Some(made.connection_id));
    }
    let how = OobAnswer {
        alias,
        auto_accept,
        use_existing_connection: true,
        label: None,
        key_seconds: None,
    };
    let taken = agents.receive_oob_invitation(tenant, invitation, how);
    Ok(taken.await?.connection_id)
}
