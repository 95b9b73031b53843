//! `/api/wire`, and the recorded flows below the addresses of the issuer and the verifier.

#![allow(unused_qualifications, reason = "the code that utoipa's macros write")]

use selfsame_driver::paging::{Listing, Paging};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Json, Path, Query};
use selfsame_http::listing::Page;
use selfsame_http::response::{done, json};
use selfsame_wire::FlowKind::{Issuance, Presentation, SignIn, Wallet};
use selfsame_wire::{RecordedFlow, RecordedSummary, WireSwitch};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::here::WireHere;

/// Whether to record what happens on the wire.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWireSwitch {
    /// Whether flows are recorded from now on.
    is_on: bool,
}

/// Whether the flows of the organisation are recorded, and until when.
#[utoipa::path(get, path = "/api/wire", operation_id = "wire_get_switch", tag = "wire", responses((status = 200, body = WireSwitch)))]
pub async fn switch(here: WireHere) -> Handled {
    json(&here.wires.switch(&here.switch).await?)
}

/// Switches recording on for a week, or off. What was recorded stays for its time.
#[utoipa::path(put, path = "/api/wire", operation_id = "wire_set_switch", tag = "wire", request_body = NewWireSwitch, responses((status = 200, body = WireSwitch)))]
pub async fn set(here: WireHere, Json(new): Json<NewWireSwitch>) -> Handled {
    json(&here.wires.set(&here.switch, new.is_on).await?)
}

/// Erases all recorded flows of the organisation.
#[utoipa::path(delete, path = "/api/wire", operation_id = "wire_erase_all", tag = "wire", responses((status = 204)))]
pub async fn erase_all(here: WireHere) -> Handled {
    here.wires.erase_all(&here.tenant).await?;
    done()
}

/// The recorded issuances, newest first.
#[utoipa::path(get, path = "/api/issuer/wire", operation_id = "wire_list_issuances", tag = "wire", params(Page), responses((status = 200, body = Listing<RecordedSummary>)))]
pub async fn issuances(here: WireHere, Query(paging): Query<Paging>) -> Handled {
    json(&here.wires.list(&here.tenant, Issuance, &paging).await?)
}

/// A recorded issuance with its messages. Secrets are digests, claims are lengths.
#[utoipa::path(get, path = "/api/issuer/wire/{id}", operation_id = "wire_get_issuance", tag = "wire", params(("id" = String, Path)), responses((status = 200, body = RecordedFlow)))]
pub async fn issuance(here: WireHere, Path(id): Path<String>) -> Handled {
    json(&here.wires.flow(&here.tenant, Issuance, &id).await?)
}

/// Erases a recorded issuance.
#[utoipa::path(delete, path = "/api/issuer/wire/{id}", operation_id = "wire_erase_issuance", tag = "wire", params(("id" = String, Path)), responses((status = 204)))]
pub async fn erase_issuance(here: WireHere, Path(id): Path<String>) -> Handled {
    here.wires.erase(&here.tenant, Issuance, &id).await?;
    done()
}

/// The recorded presentations, newest first.
#[utoipa::path(get, path = "/api/verifier/wire", operation_id = "wire_list_presentations", tag = "wire", params(Page), responses((status = 200, body = Listing<RecordedSummary>)))]
pub async fn presentations(here: WireHere, Query(paging): Query<Paging>) -> Handled {
    json(&here.wires.list(&here.tenant, Presentation, &paging).await?)
}

/// A recorded presentation with its messages. Secrets are digests, claims are lengths.
#[utoipa::path(get, path = "/api/verifier/wire/{id}", operation_id = "wire_get_presentation", tag = "wire", params(("id" = String, Path)), responses((status = 200, body = RecordedFlow)))]
pub async fn presentation(here: WireHere, Path(id): Path<String>) -> Handled {
    json(&here.wires.flow(&here.tenant, Presentation, &id).await?)
}

/// Erases a recorded presentation.
#[utoipa::path(delete, path = "/api/verifier/wire/{id}", operation_id = "wire_erase_presentation", tag = "wire", params(("id" = String, Path)), responses((status = 204)))]
pub async fn erase_presentation(here: WireHere, Path(id): Path<String>) -> Handled {
    here.wires.erase(&here.tenant, Presentation, &id).await?;
    done()
}

/// The recorded sign-ins, newest first.
#[utoipa::path(get, path = "/api/wire/sign-ins", operation_id = "wire_list_sign_ins", tag = "wire", params(Page), responses((status = 200, body = Listing<RecordedSummary>)))]
pub async fn sign_ins(here: WireHere, Query(paging): Query<Paging>) -> Handled {
    json(&here.wires.list(&here.tenant, SignIn, &paging).await?)
}

/// A recorded sign-in with its messages. Secrets are digests, claims are lengths.
#[utoipa::path(get, path = "/api/wire/sign-ins/{id}", operation_id = "wire_get_sign_in", tag = "wire", params(("id" = String, Path)), responses((status = 200, body = RecordedFlow)))]
pub async fn sign_in(here: WireHere, Path(id): Path<String>) -> Handled {
    json(&here.wires.flow(&here.tenant, SignIn, &id).await?)
}

/// Erases a recorded sign-in.
#[utoipa::path(delete, path = "/api/wire/sign-ins/{id}", operation_id = "wire_erase_sign_in", tag = "wire", params(("id" = String, Path)), responses((status = 204)))]
pub async fn erase_sign_in(here: WireHere, Path(id): Path<String>) -> Handled {
    here.wires.erase(&here.tenant, SignIn, &id).await?;
    done()
}

/// What the wallet did on the wire, newest first: each credential that it got, and each presentation.
#[utoipa::path(get, path = "/api/wallet/wire", operation_id = "wallet_list_flows", tag = "wallet", params(Page), responses((status = 200, body = Listing<RecordedSummary>)))]
pub async fn own(here: WireHere, Query(paging): Query<Paging>) -> Handled {
    json(&here.wires.list(&here.tenant, Wallet, &paging).await?)
}

/// A recorded flow of the wallet with its messages. Secrets are digests, claims are lengths.
#[utoipa::path(get, path = "/api/wallet/wire/{id}", operation_id = "wallet_get_flow", tag = "wallet", params(("id" = String, Path)), responses((status = 200, body = RecordedFlow)))]
pub async fn own_flow(here: WireHere, Path(id): Path<String>) -> Handled {
    json(&here.wires.flow(&here.tenant, Wallet, &id).await?)
}

/// Erases a recorded flow of the wallet.
#[utoipa::path(delete, path = "/api/wallet/wire/{id}", operation_id = "wallet_erase_flow", tag = "wallet", params(("id" = String, Path)), responses((status = 204)))]
pub async fn erase_own(here: WireHere, Path(id): Path<String>) -> Handled {
    here.wires.erase(&here.tenant, Wallet, &id).await?;
    done()
}
