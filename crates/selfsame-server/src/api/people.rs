//! `/api/people` and `/api/keys`: who works for an organisation, and the API keys of its programs.

use axum::extract::State;
use selfsame_driver::paging::{Listing, Paging};
use selfsame_operators::PersonAt;
use selfsame_operators::view::{
    AuthorityView, CreatedKey, KeyView, NewKey, NewOperatorInvitation, OperatorInvitation,
    PersonView, RolesChange,
};

use super::{created, done, json};
use crate::error::Handled;
use crate::extract::{Json, Path, Query, Working};
use crate::server::Server;

/// The people who work for the organisation, newest first.
#[utoipa::path(get, path = "/api/people", operation_id = "people_list", tag = "people", params(super::Page), responses((status = 200, body = Listing<PersonView>)))]
pub async fn list(
    State(server): State<Server>,
    work: Working,
    Query(paging): Query<Paging>,
) -> Handled {
    let people = server.app().operators().people(&work.organisation, &paging);
    json(&people.await?)
}

/// Invites a person. The link of the answer works once, within a week.
#[utoipa::path(post, path = "/api/people/invitations", operation_id = "people_invite", tag = "people", request_body = NewOperatorInvitation, responses((status = 201, body = OperatorInvitation)))]
pub async fn invite(
    State(server): State<Server>,
    work: Working,
    Json(new): Json<NewOperatorInvitation>,
) -> Handled {
    let operators = server.app().operators();
    let invited = operators.invite(&work.authority, &work.organisation, &new.roles);
    let mut invited = invited.await?;
    invited.link = server.administered(invited.link);
    created(&invited)
}

/// Gives a person roles in place of the present ones.
#[utoipa::path(put, path = "/api/people/{id}/roles", operation_id = "people_set_roles", tag = "people", params(("id" = String, Path)), request_body = RolesChange, responses((status = 200, body = PersonView)))]
pub async fn set_roles(
    State(server): State<Server>,
    work: Working,
    Path(id): Path<String>,
    Json(change): Json<RolesChange>,
) -> Handled {
    let place = PersonAt {
        organisation: &work.organisation,
        person: &id,
    };
    let operators = server.app().operators();
    let changed = operators.set_roles(&work.authority, place, &change.roles);
    json(&changed.await?)
}

/// Ends a person's work for the organisation, and with it their rights.
#[utoipa::path(delete, path = "/api/people/{id}", operation_id = "people_remove", tag = "people", params(("id" = String, Path)), responses((status = 204)))]
pub async fn remove(
    State(server): State<Server>,
    work: Working,
    Path(id): Path<String>,
) -> Handled {
    let place = PersonAt {
        organisation: &work.organisation,
        person: &id,
    };
    let operators = server.app().operators();
    operators.remove_person(&work.authority, place).await?;
    done()
}

/// The API keys of the organisation, newest first. An expired one is listed for 30 days.
#[utoipa::path(get, path = "/api/keys", operation_id = "people_keys", tag = "people", params(super::Page), responses((status = 200, body = Listing<KeyView>)))]
pub async fn keys(
    State(server): State<Server>,
    work: Working,
    Query(paging): Query<Paging>,
) -> Handled {
    let keys = server.app().operators().keys(&work.organisation, &paging);
    json(&keys.await?)
}

/// Creates an API key. The answer alone shows it.
#[utoipa::path(post, path = "/api/keys", operation_id = "people_create_key", tag = "people", request_body = NewKey, responses((status = 201, body = CreatedKey)))]
pub async fn create_key(
    State(server): State<Server>,
    work: Working,
    Json(new): Json<NewKey>,
) -> Handled {
    let operators = server.app().operators();
    let key = operators.create_key(&work.authority, &work.organisation, &new);
    created(&key.await?)
}

/// Revokes an API key at once.
#[utoipa::path(delete, path = "/api/keys/{id}", operation_id = "people_revoke_key", tag = "people", params(("id" = String, Path)), responses((status = 204)))]
pub async fn revoke_key(
    State(server): State<Server>,
    work: Working,
    Path(id): Path<String>,
) -> Handled {
    let operators = server.app().operators();
    operators
        .revoke_key(&work.authority, &work.organisation, &id)
        .await?;
    done()
}

/// Who sends this request, with their rights in the organisation.
#[utoipa::path(get, path = "/api/me", operation_id = "people_me", tag = "people", responses((status = 200, body = AuthorityView)))]
pub async fn oneself(work: Working) -> Handled {
    json(&work.authority.view(&work.organisation))
}
