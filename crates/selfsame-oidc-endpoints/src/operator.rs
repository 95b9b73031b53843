//! What an organisation's operators do with its provider: clients, initial tokens, keys.

use selfsame_crypto::SecretString;
use selfsame_driver::paging::{Listing, Paging};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Json, Path, Query};
use selfsame_http::response::{created, done, json};
use selfsame_oauth::secret;
use selfsame_oidc::{ClientRegistration, Preset};
use selfsame_sign_in::clients::WantedClient;
use selfsame_sign_in::past::PastSignIn;
use selfsame_sign_in::registering::WantedInitialToken;
use serde::{Deserialize, Serialize};

use crate::here::ProviderHere;

/// A client that is to be registered: members of RFC 7591, and a few that the operator alone may choose.
#[derive(Deserialize)]
pub struct NewClientBody {
    #[serde(default)]
    client_id: Option<String>,
    #[serde(default)]
    preset: Preset,
    #[serde(default)]
    resource_server: bool,
    #[serde(flatten)]
    registration: ClientRegistration,
}

/// An initial token that is to be made.
#[derive(Deserialize)]
pub struct NewInitialTokenBody {
    #[serde(default = "once")]
    uses: u32,
    /// Its lifetime, in seconds.
    #[serde(default = "a_day")]
    expires_in: u64,
}

const fn once() -> u32 {
    1
}

const fn a_day() -> u64 {
    86_400
}

/// A secret that is shown once.
#[derive(Serialize)]
struct SecretBody {
    #[serde(with = "secret")]
    secret: SecretString,
}

/// Registers a client.
#[utoipa::path(
    post,
    path = "/api/sign-in/clients",
    tag = "sign-in",
    operation_id = "sign_in_register_client",
    request_body(content = Value, description = "Members of RFC 7591, and `client_id`, `preset` and `resource_server`."),
    responses((status = 201, description = "The client; its secret is shown once.", body = Value))
)]
pub async fn register(here: ProviderHere, Json(body): Json<NewClientBody>) -> Handled {
    let made = here.provider.register(WantedClient {
        client_id: body.client_id,
        registration: body.registration,
        preset: body.preset,
        reads_tokens: body.resource_server,
        fetches_logo: true,
    });
    created(&made.await?)
}

/// The clients, newest first.
#[utoipa::path(
    get,
    path = "/api/sign-in/clients",
    tag = "sign-in",
    operation_id = "sign_in_list_clients",
    params(
        ("after" = Option<String>, Query, description = "The `next` of the page before."),
        ("limit" = Option<usize>, Query, description = "The most clients of a page: 50 by default, at most 200.")
    ),
    responses((status = 200, description = "The clients' registrations, and the cursor of the next page.", body = Value))
)]
pub async fn clients(here: ProviderHere, Query(paging): Query<Paging>) -> Handled {
    json(&here.provider.client_list(&paging).await?)
}

/// A client.
#[utoipa::path(
    get,
    path = "/api/sign-in/clients/{client_id}",
    tag = "sign-in",
    operation_id = "sign_in_get_client",
    params(("client_id" = String, Path, description = "The client's identifier.")),
    responses((status = 200, description = "The client's registration.", body = Value))
)]
pub async fn client(here: ProviderHere, Path(id): Path<String>) -> Handled {
    json(&here.provider.client(&id).await?)
}

/// The sign-ins of a client in the last seven days, newest first.
#[utoipa::path(
    get,
    path = "/api/sign-in/clients/{client_id}/sign-ins",
    tag = "sign-in",
    operation_id = "sign_in_list_past",
    params(
        ("client_id" = String, Path, description = "The client's identifier."),
        ("after" = Option<String>, Query, description = "The `next` of the page before."),
        ("limit" = Option<usize>, Query, description = "The most sign-ins of a page: 50 by default, at most 200.")
    ),
    responses((status = 200, description = "When, who, how, and what came of it; the cursor of the next page.", body = Listing<PastSignIn>))
)]
pub async fn past(
    here: ProviderHere,
    Path(id): Path<String>,
    Query(paging): Query<Paging>,
) -> Handled {
    json(&here.provider.past(&id, &paging).await?)
}

/// Gives a client a new secret.
#[utoipa::path(
    post,
    path = "/api/sign-in/clients/{client_id}/secret",
    tag = "sign-in",
    operation_id = "sign_in_renew_client_secret",
    params(("client_id" = String, Path, description = "The client's identifier.")),
    responses((status = 201, description = "The new secret; it is shown once.", body = Value))
)]
pub async fn new_secret(here: ProviderHere, Path(id): Path<String>) -> Handled {
    let secret = here.provider.new_client_secret(&id).await?;
    created(&SecretBody { secret })
}

/// Removes a client.
#[utoipa::path(
    delete,
    path = "/api/sign-in/clients/{client_id}",
    tag = "sign-in",
    operation_id = "sign_in_remove_client",
    params(("client_id" = String, Path, description = "The client's identifier.")),
    responses((status = 204, description = "The client is removed; its tokens end."))
)]
pub async fn remove(here: ProviderHere, Path(id): Path<String>) -> Handled {
    here.provider.remove_client(&id).await?;
    done()
}

/// Makes a token with which programs register clients.
#[utoipa::path(
    post,
    path = "/api/sign-in/initial-tokens",
    tag = "sign-in",
    operation_id = "sign_in_make_initial_token",
    request_body(content = Value, description = "`uses` and `expires_in`, in seconds."),
    responses((status = 201, description = "The token; it is shown once.", body = Value))
)]
pub async fn initial_token(here: ProviderHere, Json(body): Json<NewInitialTokenBody>) -> Handled {
    let wanted = WantedInitialToken {
        uses: body.uses,
        lifetime: body.expires_in,
    };
    let secret = here.provider.initial_token(wanted).await?;
    created(&SecretBody { secret })
}

/// Signs with the next keys from now on.
#[utoipa::path(
    post,
    path = "/api/sign-in/keys/rotation",
    tag = "sign-in",
    operation_id = "sign_in_rotate_keys",
    responses((status = 204, description = "Tokens are signed with the next keys from now on."))
)]
pub async fn rotate(here: ProviderHere) -> Handled {
    here.provider.rotate_keys().await?;
    done()
}
