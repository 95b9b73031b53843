//! A person's keys and DIDs.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect};
use selfsame_driver::paging::Paging;
use selfsame_wallet::view::{DidInfo, KeyInfo};

use crate::error::Handled;
use crate::extract::{Form, Owner};
use crate::server::Server;
use crate::ui::{self, Frame};

#[derive(Template)]
#[template(path = "wallet_keys.html")]
struct KeysPage {
    frame: Frame,
    tab: &'static str,
    keys: Vec<KeyInfo>,
    dids: Vec<DidInfo>,
}

/// The page.
pub async fn page(State(server): State<Server>, frame: Frame, Owner(person): Owner) -> Handled {
    let all = Paging {
        after: None,
        limit: Some(200),
    };
    let keys = server.wallet()?.keys(&person, &all).await?.items;
    let dids = server.wallet()?.dids(&person, &all).await?.items;
    ui::html(&KeysPage {
        frame: frame.titled("Keys and DIDs"),
        tab: "keys",
        keys,
        dids,
    })
}

/// Makes a key.
pub async fn create_key(State(server): State<Server>, Owner(person): Owner, form: Form) -> Handled {
    server
        .wallet()?
        .create_key(&person, form.needed("kind")?)
        .await?;
    Ok(Redirect::to("/wallet/keys").into_response())
}

/// Makes a DID.
pub async fn create_did(State(server): State<Server>, Owner(person): Owner, form: Form) -> Handled {
    server
        .wallet()?
        .create_did(&person, form.needed("method")?, form.needed("kind")?)
        .await?;
    Ok(Redirect::to("/wallet/keys").into_response())
}
