//! Checks of the file of a saved request that need no types: its names, its texts, its origins and its issuers.

use selfsame_credential::verdict::can_name_issuer;
use selfsame_driver::Reason;
use url::Url;

use super::definition::RequestDefinition;

/// Maximum number of bytes of a name.
const NAME_MAX: usize = 64;
/// Names below which the API and the pages have addresses.
const NAMES_RESERVED: [&str; 2] = ["check", "new"];
/// Maximum number of characters of a title.
const TITLE_MAX: usize = 120;
/// Maximum number of characters of a purpose: as many as wallets show.
const PURPOSE_MAX: usize = 300;
/// Maximum number of origins.
const ORIGINS_MAX: usize = 50;
/// Maximum number of types with issuers of their own.
const POLICIES_MAX: usize = 64;
/// Maximum number of issuers of a type.
const ISSUERS_MAX: usize = 200;
/// Maximum number of bytes of an issuer's name.
const ISSUER_MAX: usize = 500;

/// What is wrong, in the order of the file.
#[must_use]
pub fn refusals(definition: &RequestDefinition) -> Vec<Reason> {
    let mut refusals = Vec::new();
    check_head(definition, &mut refusals);
    check_origins(&definition.origins, &mut refusals);
    check_issuers(definition, &mut refusals);
    refusals
}

/// A list is longer than it may be.
#[must_use]
pub fn many(place: &str, maximum: usize) -> Reason {
    Reason::new("type-many")
        .with("place", place)
        .with("maximum", &maximum)
}

/// Whether a text can name a saved request.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let is_word = |word: &str| {
        let mut bytes = word.bytes();
        !word.is_empty() && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.len() <= NAME_MAX && name.split('-').all(is_word)
}

fn check_head(definition: &RequestDefinition, refusals: &mut Vec<Reason>) {
    let name = &definition.name;
    if !is_name(name) {
        refusals.push(Reason::new("saved-name").with("maximum", &NAME_MAX));
    }
    if NAMES_RESERVED.contains(&name.as_str()) {
        refusals.push(Reason::new("saved-name-reserved").with("name", name));
    }
    for (place, text, maximum) in [
        ("title", &definition.title, TITLE_MAX),
        ("purpose", &definition.purpose, PURPOSE_MAX),
    ] {
        let is_long = text.chars().nth(maximum).is_some();
        if text.trim().is_empty() || is_long || text.chars().any(char::is_control) {
            refusals.push(
                Reason::new("saved-text")
                    .with("place", place)
                    .with("maximum", &maximum),
            );
        }
    }
}

/// Each must be an origin as browsers write it (RFC 6454 §6.1), over TLS or on this machine: a page that others could
/// change on its way must not be told a result.
fn check_origins(origins: &[String], refusals: &mut Vec<Reason>) {
    if origins.len() > ORIGINS_MAX {
        refusals.push(many("origins", ORIGINS_MAX));
    }
    for (index, origin) in origins.iter().take(ORIGINS_MAX).enumerate() {
        if !is_origin(origin) {
            let place = format!("origins[{index}]");
            refusals.push(Reason::new("saved-origin").with("place", &place));
        }
    }
}

fn is_origin(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else {
        return false;
    };
    let is_here = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_here);
    is_safe && url.origin().ascii_serialization() == text
}

/// Each list names at least one issuer, since an empty one would accept nothing.
fn check_issuers(definition: &RequestDefinition, refusals: &mut Vec<Reason>) {
    let by_type = &definition.policy.trusted_issuers;
    if by_type.len() > POLICIES_MAX {
        refusals.push(many("policy.trusted_issuers", POLICIES_MAX));
    }
    for (of, issuers) in by_type.iter().take(POLICIES_MAX) {
        let place = format!("policy.trusted_issuers.{of}");
        if issuers.is_empty() {
            refusals.push(Reason::new("saved-issuers-none").with("place", &place));
        }
        if issuers.len() > ISSUERS_MAX {
            refusals.push(many(&place, ISSUERS_MAX));
        }
        if issuers
            .iter()
            .take(ISSUERS_MAX)
            .any(|name| !is_issuer(name))
        {
            refusals.push(Reason::new("saved-issuer").with("place", &place));
        }
    }
}

/// Whether a text of bounded length can name an issuer.
pub(crate) fn is_issuer(name: &str) -> bool {
    name.len() <= ISSUER_MAX && can_name_issuer(name)
}
