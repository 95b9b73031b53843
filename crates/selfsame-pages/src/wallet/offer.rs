//! An offer: its issuer and its credentials, shown before anything is accepted.

use askama::Template;
use selfsame_wallet_view::offers::{OfferPreview, OfferedCredential};
use url::Url;

use crate::Frame;
use crate::look::{CardLook, own_path};
use crate::text::short_name;

/// An offer to a wallet.
#[derive(Template)]
#[template(path = "wallet_offer.html")]
pub struct OfferPreviewPage {
    frame: Frame,
    uri: String,
    issuer_name: String,
    issuer_logo: Option<String>,
    offered: Vec<Offered>,
    preview: OfferPreview,
    problem: Option<String>,
    sign_in: Option<String>,
}

/// The offer that a person opened or tried to accept.
pub struct TriedOffer {
    /// The link that led here.
    pub uri: String,
    /// Why the offer could not be accepted, if the person can correct that.
    pub problem: Option<String>,
    /// The origin of the instance.
    pub own: Url,
    /// Where the person signs in, once that has begun.
    pub sign_in: Option<String>,
}

impl TriedOffer {
    /// An offer that was just opened.
    #[must_use]
    pub fn new(uri: String, own: Url) -> Self {
        Self {
            uri,
            problem: None,
            own,
            sign_in: None,
        }
    }

    /// The offer with why it could not be accepted.
    #[must_use]
    pub fn failed(self, problem: String) -> Self {
        Self {
            problem: Some(problem),
            ..self
        }
    }

    /// The offer for which the person signs in at this address.
    #[must_use]
    pub fn signing_in(self, url: String) -> Self {
        Self {
            sign_in: Some(url),
            ..self
        }
    }
}

impl OfferPreviewPage {
    /// The page of this offer.
    pub fn of(frame: Frame, preview: OfferPreview, tried: TriedOffer) -> Self {
        let TriedOffer {
            uri,
            problem,
            own,
            sign_in,
        } = tried;
        let named = preview.issuer_name.clone();
        let title = "An offer";
        Self {
            frame: match problem {
                Some(_) => frame.failed(title),
                None => frame.titled(title),
            },
            uri,
            issuer_name: named.unwrap_or_else(|| short_name(&preview.issuer)),
            issuer_logo: preview.issuer_logo.as_deref().and_then(own_path),
            offered: preview
                .credentials
                .iter()
                .map(|one| Offered::of(one, &own))
                .collect(),
            preview,
            problem,
            sign_in,
        }
    }
}

/// One credential of the offer.
struct Offered {
    look: CardLook,
    title: String,
    kind: String,
    claims: Vec<String>,
}

impl Offered {
    fn of(one: &OfferedCredential, own: &Url) -> Self {
        Self {
            look: super::look(&one.display, own),
            title: one.display.title.clone(),
            kind: super::format_name(&one.format).to_owned(),
            claims: one.claims.clone(),
        }
    }
}
