//! An object of the state: its current content, its history, and its proof.

use axum::extract::State;
use selfsame_did::{Did, Options};
use selfsame_endpoints::resolver::told;
use selfsame_ledger::browse::Browser;
use selfsame_pages::registry::object::{DidView, NamedObject, ObjectPage};
use serde::Deserialize;

use crate::error::{Handled, Problem};
use crate::extract::Query;
use crate::server::Server;
use crate::ui::{self, Frame};

/// Which object.
#[derive(Deserialize)]
pub struct WhichObject {
    id: String,
}

/// The page.
pub async fn page(
    State(server): State<Server>,
    frame: Frame,
    Query(WhichObject { id }): Query<WhichObject>,
) -> Handled {
    let browser = server.browser()?;
    let id = id.trim().to_owned();
    let key = browser.key_of(&id).ok_or_else(no_object)?;
    let object = browser.object(&key, server.app().clock().now()).await?;
    let did = match id.parse::<Did>() {
        Ok(did) if object.value.is_some() => Some(of_did(&server, &browser, &did).await?),
        _ => None,
    };
    let named = NamedObject { id, key, object };
    ui::html(&ObjectPage::of(frame, named, did))
}

fn no_object() -> Problem {
    Problem::bad_request("state-key-malformed")
}

async fn of_did(server: &Server, browser: &Browser<'_>, did: &Did) -> Handled<DidView> {
    // No transaction made the version of a DID that is a member of the genesis.
    let history = server.registry()?.history(did).await.unwrap_or_default();
    let resolved = told(server.app().resolve(did, &Options::default()).await);
    let role = browser.role(did.as_str(), server.app().clock().now().0)?;
    Ok(DidView::of(history, &resolved, role))
}
