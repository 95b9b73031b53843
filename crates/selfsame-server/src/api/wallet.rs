//! `/api/wallet`: a person's wallet without a browser. A stated policy can decide in place of the person.

use axum::extract::{Extension, State};
use selfsame_core::view::NewDid;
use selfsame_driver::paging::{Listing, Paging};
use selfsame_wallet::Whence;
use selfsame_wallet::view::carried::{
    CarriedCredential, CarriedCredentials, NewWalletExport, TakenCredentials, WalletExport,
};
use selfsame_wallet::view::sent::{
    Credentials, NewAccount, NewInvitation, NewKey, OfferLink, RequestLink,
};
use selfsame_wallet::view::{
    AcceptOffer, AnswerRequest, Answered, Card, CardSummary, DidInfo, HistoryEntry, Invitation,
    KeyInfo, NewSession, OfferPreview, RequestPreview,
};

use super::{Items, created, done, json, told};
use crate::auth::Seat;
use crate::error::Handled;
use crate::extract::{Json, Owner, Path, Query};
use crate::peer::Peer;
use crate::server::Server;

/// Makes an account and signs in.
#[utoipa::path(post, path = "/api/wallet/register", operation_id = "wallet_register", tag = "wallet", request_body = NewAccount, responses((status = 201, body = NewSession)))]
pub async fn register(
    State(server): State<Server>,
    Extension(peer): Extension<Peer>,
    Json(new): Json<NewAccount>,
) -> Handled {
    server.count_wallet(peer)?;
    let accounts = server.wallet()?.accounts();
    let made = accounts.register_invited(&new.email, new.password, new.invitation.as_deref());
    created(&made.await?)
}

/// Makes an invitation, for the operator. It works once, within a week, if wallets are made by invitation.
#[utoipa::path(post, path = "/api/wallet/invitations", operation_id = "wallet_create_invitation", tag = "wallet", request_body = NewInvitation, responses((status = 201, body = Invitation)))]
pub async fn invite(
    State(server): State<Server>,
    Json(NewInvitation {}): Json<NewInvitation>,
) -> Handled {
    created(&server.wallet()?.accounts().invite().await?)
}

/// Signs in.
#[utoipa::path(post, path = "/api/wallet/sessions", operation_id = "wallet_sign_in", tag = "wallet", request_body = Credentials, responses((status = 201, body = NewSession)))]
pub async fn sign_in(
    State(server): State<Server>,
    Extension(peer): Extension<Peer>,
    Json(given): Json<Credentials>,
) -> Handled {
    let whence = Whence::of(peer.address(), None);
    let accounts = server.wallet()?.accounts();
    let made = accounts.sign_in(&given.email, given.password, &whence);
    created(&made.await?)
}

/// Signs out.
#[utoipa::path(delete, path = "/api/wallet/sessions", operation_id = "wallet_sign_out", tag = "wallet", responses((status = 204)))]
pub async fn sign_out(State(server): State<Server>, Extension(seat): Extension<Seat>) -> Handled {
    if let Seat::Person { session, .. } = &seat {
        server.wallet()?.accounts().sign_out(session).await?;
    }
    done()
}

/// Previews an offer.
#[utoipa::path(post, path = "/api/wallet/offers/preview", operation_id = "wallet_preview_offer", tag = "wallet", request_body = OfferLink, responses((status = 200, body = OfferPreview)))]
pub async fn preview_offer(State(server): State<Server>, Json(link): Json<OfferLink>) -> Handled {
    json(&server.wallet()?.preview_offer(&link.offer).await?)
}

/// Accepts an offer.
#[utoipa::path(post, path = "/api/wallet/offers/accept", operation_id = "wallet_accept_offer", tag = "wallet", request_body = AcceptOffer, responses((status = 200, body = Items<CardSummary>)))]
pub async fn accept_offer(
    State(server): State<Server>,
    Owner(person): Owner,
    Json(accept): Json<AcceptOffer>,
) -> Handled {
    let items = server.wallet()?.accept_offer(&person, &accept).await?;
    json(&Items { items })
}

/// Previews a request: who asks, for what, and which data would leave the wallet.
#[utoipa::path(post, path = "/api/wallet/requests/preview", operation_id = "wallet_preview_request", tag = "wallet", request_body = RequestLink, responses((status = 200, body = RequestPreview)))]
pub async fn preview_request(
    State(server): State<Server>,
    Owner(person): Owner,
    Json(link): Json<RequestLink>,
) -> Handled {
    let wallet = server.wallet()?;
    json(&wallet.preview_request(&person, &link.request).await?)
}

/// Answers a request, with chosen cards or by a policy.
#[utoipa::path(post, path = "/api/wallet/requests/answer", operation_id = "wallet_answer_request", tag = "wallet", request_body = AnswerRequest, responses((status = 200, body = Answered)))]
pub async fn answer_request(
    State(server): State<Server>,
    Owner(person): Owner,
    Json(answer): Json<AnswerRequest>,
) -> Handled {
    json(&server.wallet()?.answer_request(&person, &answer).await?)
}

/// Declines a request. The verifier learns of it, but not the reason.
#[utoipa::path(post, path = "/api/wallet/requests/decline", operation_id = "wallet_decline_request", tag = "wallet", request_body = RequestLink, responses((status = 200, body = Answered)))]
pub async fn decline_request(
    State(server): State<Server>,
    Owner(person): Owner,
    Json(link): Json<RequestLink>,
) -> Handled {
    let wallet = server.wallet()?;
    json(&wallet.decline_request(&person, &link.request).await?)
}

/// One card with its claims and status.
#[utoipa::path(get, path = "/api/wallet/credentials/{id}", operation_id = "wallet_get_card", tag = "wallet", params(("id" = String, Path)), responses((status = 200, body = Card)))]
pub async fn card(
    State(server): State<Server>,
    Owner(person): Owner,
    Path(id): Path<String>,
) -> Handled {
    json(&server.wallet()?.card(&person, &id).await?)
}

/// Removes a card permanently.
#[utoipa::path(delete, path = "/api/wallet/credentials/{id}", operation_id = "wallet_delete_card", tag = "wallet", params(("id" = String, Path)), responses((status = 204)))]
pub async fn delete_card(
    State(server): State<Server>,
    Owner(person): Owner,
    Path(id): Path<String>,
) -> Handled {
    server.wallet()?.delete_card(&person, &id).await?;
    done()
}

/// Begins an export of all cards with the owner's password. Keys leave the wallet only if they are sealed.
#[utoipa::path(post, path = "/api/wallet/exports", operation_id = "wallet_begin_export", tag = "wallet", request_body = NewWalletExport, responses((status = 201, body = WalletExport)))]
pub async fn begin_export(
    State(server): State<Server>,
    Owner(person): Owner,
    Extension(peer): Extension<Peer>,
    Json(new): Json<NewWalletExport>,
) -> Handled {
    let whence = Whence::of(peer.address(), None);
    let wallet = server.wallet()?;
    created(&wallet.begin_export(&person, new, &whence).await?)
}

/// The cards of an export, oldest first.
#[utoipa::path(get, path = "/api/wallet/exports/{id}", operation_id = "wallet_read_export", tag = "wallet", params(("id" = String, Path), super::Page), responses((status = 200, body = Listing<CarriedCredential>)))]
pub async fn export(
    State(server): State<Server>,
    Owner(person): Owner,
    Path(id): Path<String>,
    Query(paging): Query<Paging>,
) -> Handled {
    json(&server.wallet()?.exported(&person, &id, &paging).await?)
}

/// Takes in credentials of an export. Each is judged alone; one that is there already is not taken in again.
#[utoipa::path(post, path = "/api/wallet/credentials/import", operation_id = "wallet_import_cards", tag = "wallet", request_body = CarriedCredentials, responses((status = 200, body = TakenCredentials)))]
pub async fn import(
    State(server): State<Server>,
    Owner(person): Owner,
    Json(carried): Json<CarriedCredentials>,
) -> Handled {
    told(server.wallet()?.take_in(&person, carried).await?)
}

/// What was received, and what was shown to whom, newest first.
#[utoipa::path(get, path = "/api/wallet/history", operation_id = "wallet_list_history", tag = "wallet", params(super::Page), responses((status = 200, body = Listing<HistoryEntry>)))]
pub async fn history(
    State(server): State<Server>,
    Owner(person): Owner,
    Query(paging): Query<Paging>,
) -> Handled {
    told(server.wallet()?.history(&person, &paging).await?)
}

/// The keys.
#[utoipa::path(get, path = "/api/wallet/keys", operation_id = "wallet_list_keys", tag = "wallet", params(super::Page), responses((status = 200, body = Listing<KeyInfo>)))]
pub async fn keys(
    State(server): State<Server>,
    Owner(person): Owner,
    Query(paging): Query<Paging>,
) -> Handled {
    json(&server.wallet()?.keys(&person, &paging).await?)
}

/// Makes a key.
#[utoipa::path(post, path = "/api/wallet/keys", operation_id = "wallet_create_key", tag = "wallet", request_body = NewKey, responses((status = 201, body = KeyInfo)))]
pub async fn create_key(
    State(server): State<Server>,
    Owner(person): Owner,
    Json(new): Json<NewKey>,
) -> Handled {
    let kind = new.kind.as_deref().unwrap_or("P-256");
    created(&server.wallet()?.create_key(&person, kind).await?)
}

/// The DIDs.
#[utoipa::path(get, path = "/api/wallet/dids", operation_id = "wallet_list_dids", tag = "wallet", params(super::Page), responses((status = 200, body = Listing<DidInfo>)))]
pub async fn dids(
    State(server): State<Server>,
    Owner(person): Owner,
    Query(paging): Query<Paging>,
) -> Handled {
    json(&server.wallet()?.dids(&person, &paging).await?)
}

/// Makes a DID.
#[utoipa::path(post, path = "/api/wallet/dids", operation_id = "wallet_create_did", tag = "wallet", request_body = NewDid, responses((status = 201, body = DidInfo)))]
pub async fn create_did(
    State(server): State<Server>,
    Owner(person): Owner,
    Json(new): Json<NewDid>,
) -> Handled {
    let (wallet, kind) = (server.wallet()?, new.kind.as_deref().unwrap_or("P-256"));
    created(&wallet.create_did(&person, &new.method, kind).await?)
}
