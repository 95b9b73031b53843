//! What a credential needs, for anyone who wants it.

use askama::Template;
use selfsame_prerequisites::document::{NeededType, PathDocument};

use crate::Frame;
use crate::look::OwnLook;

/// What a credential needs, and where to get that.
#[derive(Template)]
#[template(path = "get.html")]
pub struct GetPage {
    frame: Frame,
    issuer: String,
    title: String,
    needs: Vec<NeededType>,
    wallet_href: Option<String>,
}

impl GetPage {
    /// The page of a type, which is at this address.
    pub fn of(frame: Frame, document: PathDocument, look: &OwnLook, address: &str) -> Self {
        let place = format!("{}/wallet/path", frame.instance);
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        let query = query.append_pair("to", address).finish();
        Self {
            wallet_href: frame.roles.wallet.then(|| format!("{place}?{query}")),
            frame: frame
                .titled(&document.title)
                .bare(&document.issuer_name, look),
            issuer: document.issuer_name,
            title: document.title,
            needs: document.needs,
        }
    }
}
