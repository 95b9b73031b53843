//! An offer: its issuer and its credentials, shown before anything is accepted.

use askama::Template;
use selfsame_wallet::view::{OfferPreview, OfferedCredential};

use crate::text::short_name;
use crate::{Frame, hue};

/// An offer to a wallet.
#[derive(Template)]
#[template(path = "wallet_offer.html")]
pub struct OfferPreviewPage {
    frame: Frame,
    uri: String,
    issuer_name: String,
    offered: Vec<Offered>,
    preview: OfferPreview,
    problem: Option<String>,
}

/// The offer that a person opened or tried to accept.
pub struct TriedOffer {
    /// The link that led here.
    pub uri: String,
    /// Why the offer could not be accepted, if the person can correct that.
    pub problem: Option<String>,
}

impl OfferPreviewPage {
    /// The page of this offer.
    pub fn of(frame: Frame, preview: OfferPreview, tried: TriedOffer) -> Self {
        let TriedOffer { uri, problem } = tried;
        let named = preview.issuer_name.clone();
        let title = "An offer";
        Self {
            frame: match problem {
                Some(_) => frame.failed(title),
                None => frame.titled(title),
            },
            uri,
            issuer_name: named.unwrap_or_else(|| short_name(&preview.issuer)),
            offered: preview.credentials.iter().map(Offered::of).collect(),
            preview,
            problem,
        }
    }
}

/// One credential of the offer.
struct Offered {
    hue: &'static str,
    icon: String,
    title: String,
    kind: String,
    claims: Vec<String>,
}

impl Offered {
    fn of(one: &OfferedCredential) -> Self {
        Self {
            hue: hue::of(one.display.color.as_deref().unwrap_or_default()),
            icon: one.display.icon.clone().unwrap_or_default(),
            title: one.display.title.clone(),
            kind: super::format_name(&one.format).to_owned(),
            claims: one.claims.clone(),
        }
    }
}
