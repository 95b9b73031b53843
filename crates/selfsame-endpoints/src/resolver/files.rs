//! DID URLs with a path, of methods whose DIDs have files beside their logs: where the file is (did:webvh v1.0, "DID URL
//! Resolution"). This instance names the place and fetches nothing from it.

use selfsame_did::DidUrl;
use selfsame_did::method::Origin;
use selfsame_http::error::Handled;
use selfsame_webvh::behind;
use serde_json::{Value, json};

use super::{AskedVersion, dereferenced, resolution};
use crate::instance::Instance;

/// The media type of a URL as content.
const URL: &str = "text/uri-list";

/// The DID URL, if its path names a file.
pub(super) fn named(did: &str) -> Option<DidUrl> {
    let url = DidUrl::parse(did).ok()?;
    let has_files = url.did.origin() == Origin::Log && url.fragment.is_none();
    (has_files && !url.path.is_empty()).then_some(url)
}

/// The place of the file.
pub(super) async fn place(instance: &Instance, url: &DidUrl, asked: &AskedVersion) -> Handled {
    let resolution = resolution(instance, url.did.as_str(), asked).await;
    let place = resolution
        .document()
        .and_then(|document| behind(document, &url.path));
    dereferenced(place.map(|place| content(place.as_str())))
}

fn content(place: &str) -> Value {
    json!({
        "dereferencingMetadata": { "contentType": URL },
        "contentStream": place,
        "contentMetadata": {},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_file_of_a_did_with_a_log_alone() {
        let did = "did:webvh:QmdmPkUdYzbr9txmx8gM2rsHPgr5L6m3gHjJGAf4vUFoGE:example.com";
        let found = |text: &str| named(text).map(|url| url.path);
        assert_eq!(found(&format!("{did}/whois")).as_deref(), Some("/whois"));
        assert_eq!(found(did), None);
        assert_eq!(found(&format!("{did}/whois#a")), None);
        assert_eq!(found("did:web:example.com/whois"), None);
    }

    #[test]
    fn the_content_is_the_url() {
        let content = content("https://example.com/whois.vp");
        assert_eq!(content["contentStream"], "https://example.com/whois.vp");
    }
}
