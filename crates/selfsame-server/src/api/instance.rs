//! `/api/status`, `/api/copies` and `/api/master-key`: the instance's status, its backups and its master key.

use axum::extract::State;
use http::StatusCode;
use selfsame_app::view::instance::{CopyMade, InstanceStatus, MasterKeyStatus, SignInLink};
use selfsame_operators::Actor;

use super::json;
use crate::error::{Handled, Problem};
use crate::extract::Working;
use crate::server::Server;

/// The status of this instance.
#[utoipa::path(get, path = "/api/status", operation_id = "instance_get_status", tag = "instance", responses((status = 200, body = InstanceStatus)))]
pub async fn status(State(server): State<Server>) -> Handled {
    json(&server.app().status().await?)
}

/// Backs up everything that this instance keeps, while it runs. The master key is not included.
#[utoipa::path(post, path = "/api/copies", operation_id = "instance_create_backup", tag = "instance", responses((status = 200, body = CopyMade)))]
pub async fn copy(State(server): State<Server>) -> Handled {
    json(&server.app().copy(server.backups()).await?)
}

/// Shows under which master key the records are, and how far a rotation is.
#[utoipa::path(get, path = "/api/master-key", operation_id = "instance_get_master_key", tag = "instance", responses((status = 200, body = MasterKeyStatus)))]
pub async fn master_key(State(server): State<Server>) -> Handled {
    json(&server.app().master_key().await?)
}

/// Begins a rotation of the master key. The instance finds the next key where its settings say, and goes on by itself.
#[utoipa::path(post, path = "/api/master-key/rotation", operation_id = "instance_rotate_master_key", tag = "instance", responses((status = 200, body = MasterKeyStatus)))]
pub async fn rotate(State(server): State<Server>) -> Handled {
    json(&server.app().rotate_master_key().await?)
}

/// Makes a link that signs a browser in with every right, as the operator token does. The link works once, within ten
/// minutes. Only the operator token may make it.
#[utoipa::path(post, path = "/api/operator/links", operation_id = "instance_create_sign_in_link", tag = "instance", responses((status = 200, body = SignInLink)))]
pub async fn link(State(server): State<Server>, work: Working) -> Handled {
    if work.authority.actor != Actor::Token {
        return Err(Problem::new(StatusCode::FORBIDDEN, "operator-token-alone"));
    }
    let mut link = server.app().operator().link().await?;
    link.url = server.administered(link.url);
    json(&link)
}
