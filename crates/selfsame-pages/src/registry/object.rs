//! An object of the state: its current content, its history, and its proof.

use askama::Template;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_did::Resolution;
use selfsame_ledger::view::RegistryEntry;
use selfsame_ledger::view::browse::ObjectView;

use crate::Frame;
use crate::text::pretty;

/// The page of an object.
#[derive(Template)]
#[template(path = "registry_object.html")]
pub struct ObjectPage {
    frame: Frame,
    id: String,
    did: Option<DidView>,
    object: ObjectView,
    value: String,
    /// The key, base64url.
    key: String,
}

/// An object, and the names by which it was found.
pub struct NamedObject {
    /// Its identifier, as it was asked for.
    pub id: String,
    /// Its key in the state.
    pub key: String,
    /// What the state has under the key, with the proof.
    pub object: ObjectView,
}

/// What the page shows of a DID in addition to other objects.
pub struct DidView {
    history: Vec<RegistryEntry>,
    resolved: String,
    role: Option<&'static str>,
}

impl ObjectPage {
    /// The page of this object, which may be a DID.
    pub fn of(frame: Frame, named: NamedObject, did: Option<DidView>) -> Self {
        let NamedObject { id, key, object } = named;
        Self {
            frame: frame.titled("Object"),
            did,
            value: object.value.as_ref().map(pretty).unwrap_or_default(),
            key: base64url_encode(key.as_bytes()),
            object,
            id,
        }
    }
}

impl DidView {
    /// A DID with its transactions, the oldest first, its resolution and its role.
    pub fn of(
        mut history: Vec<RegistryEntry>,
        resolution: &Resolution,
        role: Option<&'static str>,
    ) -> Self {
        history.reverse();
        Self {
            history,
            resolved: pretty(resolution),
            role,
        }
    }
}
