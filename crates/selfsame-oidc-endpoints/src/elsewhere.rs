//! Factors that a person gives elsewhere than on a page of the sign-in, as JSON: what their wallet or their browser is
//! asked. The answer is a challenge of the step `authentication`.

use http::HeaderMap;
use selfsame_driver::Error;
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Json, Path};
use selfsame_http::response::json;
use selfsame_oidc::FactorKind;
use selfsame_sign_in::WantedElsewhere;
use selfsame_sign_in::identity::{AskedElsewhere, AskedPresentation};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::browser::NoMembers;
use crate::here::ProviderHere;

/// The longest path of a page that waits for a wallet, in bytes.
const PAGE_MAX: usize = 256;

/// A wallet that is to be asked for a credential.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WalletBody {
    /// The path, below the organisation's base, of the page to which a wallet on the same device sends the browser back.
    page: Option<String>,
}

/// What a wallet is asked.
#[derive(Serialize)]
struct AskedWalletBody {
    id: String,
    credentials: Vec<String>,
    /// The link for a wallet on this device.
    here: String,
    /// The link for a wallet on another device, to be shown as a picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    elsewhere: Option<String>,
    /// Whether the wallet on another device has answered.
    #[serde(rename = "answered")]
    is_answered: bool,
}

impl From<AskedPresentation> for AskedWalletBody {
    fn from(asked: AskedPresentation) -> Self {
        Self {
            id: asked.id,
            credentials: asked.credentials,
            here: asked.here,
            elsewhere: asked.elsewhere,
            is_answered: asked.is_answered,
        }
    }
}

/// Asks a wallet for a credential. As long as the question can be answered, it stays the same one.
pub async fn ask_wallet(
    here: ProviderHere,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(body): Json<WalletBody>,
) -> Handled {
    here.provider.count_call(here.caller)?;
    let page = match body.page {
        None => format!("sign-in/{id}/wallet"),
        Some(page) if is_path(&page) => page,
        Some(_) => return Err(Problem::bad_request("sign-in-page-malformed")),
    };
    let wanted = WantedElsewhere {
        factor: FactorKind::Presentation,
        page,
    };
    let visitor = here.visitor(id, &headers);
    match here.provider.ask(&visitor, wanted).await? {
        AskedElsewhere::Presentation(asked) => json(&AskedWalletBody::from(asked)),
        _ => Err(Error::internal("a credential was asked for").into()),
    }
}

/// What the browser asks its authenticators.
pub async fn ask_passkey(
    here: ProviderHere,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(_): Json<NoMembers>,
) -> Handled {
    here.provider.count_call(here.caller)?;
    // Passkeys are of the instance's own origin.
    if here.is_own_host {
        return Err(Problem::bad_request("factor-unsupported"));
    }
    let wanted = WantedElsewhere {
        factor: FactorKind::Passkey,
        page: format!("sign-in/{id}/passkey"),
    };
    let visitor = here.visitor(id, &headers);
    match here.provider.ask(&visitor, wanted).await? {
        AskedElsewhere::Passkey(options) => {
            let options: Value = serde_json::from_str(&options).map_err(Error::internal)?;
            json(&options)
        }
        _ => Err(Error::internal("a passkey was asked for").into()),
    }
}

/// Whether a text is a path of plain parts, which can lead nowhere else than below the organisation's base.
fn is_path(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let mut parts = text.split('/');
    text.len() <= PAGE_MAX && parts.all(|part| !part.is_empty() && part.bytes().all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_for_wallets_is_below_the_base_and_nowhere_else() {
        for right in ["ui", "ui/sign-in/wallet", "a_b/c-d"] {
            assert!(is_path(right), "{right}");
        }
        let long = "a".repeat(PAGE_MAX + 1);
        for wrong in [
            "",
            "/ui",
            "ui/",
            "ui//a",
            "..",
            "ui/../a",
            "ui?a",
            "ui#a",
            "ui%2e",
            "https://evil.example",
            "//evil.example",
            &long,
        ] {
            assert!(!is_path(wrong), "{wrong}");
        }
    }
}
