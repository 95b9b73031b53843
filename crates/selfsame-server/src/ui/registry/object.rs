//! An object of the state: its current content, its history, and its proof.

use askama::Template;
use axum::extract::State;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_did::{Did, Options};
use selfsame_ledger::browse::Browser;
use selfsame_ledger::view::RegistryEntry;
use selfsame_ledger::view::browse::ObjectView;
use serde::Deserialize;

use super::super::resolver::pretty;
use super::Frame;
use crate::error::{Handled, Problem};
use crate::extract::Query;
use crate::protocol::resolver::told;
use crate::server::Server;

#[derive(Template)]
#[template(path = "registry_object.html")]
struct ObjectPage {
    frame: Frame,
    id: String,
    did: Option<DidView>,
    object: ObjectView,
    value: String,
    /// The key, base64url.
    key: String,
}

/// What the page shows of a DID in addition to other objects.
struct DidView {
    history: Vec<RegistryEntry>,
    resolved: String,
    role: Option<&'static str>,
}

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
    let browser = Browser::of(&**server.registry()?)?;
    let id = id.trim().to_owned();
    let key = browser.key_of(&id).ok_or_else(no_object)?;
    let object = browser.object(&key, server.app().clock().now()).await?;
    let did = match id.parse::<Did>() {
        Ok(did) if object.value.is_some() => Some(of_did(&server, &browser, &did).await?),
        _ => None,
    };
    super::super::html(&ObjectPage {
        frame: frame.titled("Object"),
        did,
        value: object.value.as_ref().map(pretty).unwrap_or_default(),
        key: base64url_encode(key.as_bytes()),
        object,
        id,
    })
}

fn no_object() -> Problem {
    Problem::bad_request("state-key-malformed")
}

async fn of_did(server: &Server, browser: &Browser<'_>, did: &Did) -> Handled<DidView> {
    // No transaction made the version of a DID that is a member of the genesis.
    let mut history = server.registry()?.history(did).await.unwrap_or_default();
    history.reverse();
    let resolved = told(server.app().resolve(did, &Options::default()).await);
    Ok(DidView {
        history,
        resolved: pretty(resolved.as_ref()),
        role: browser.role(did.as_str(), server.app().clock().now().0)?,
    })
}
