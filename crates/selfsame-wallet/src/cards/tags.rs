//! The tags by which cards are found: what a request may ask for, and the credential itself.

use selfsame_credential::{Format, Held};
use selfsame_crypto::{encoding, hash};
use selfsame_openid4vc::dcql::{CredentialQuery, authority_keys};
use selfsame_store::Tag;

use super::CardRecord;

/// Maximum number of certificate authorities by which a card is found.
const AUTHORITIES_MAX: usize = 8;
/// The kind of authority that a wallet judges by itself (OpenID4VP 1.0 §6.1.1.1).
const AKI: &str = "aki";
/// Stands between the parts of a tag's value. No format and no base64url contains it.
const BETWEEN: char = '\n';

/// The key of a credential: the SHA-256 of its text in base64url.
pub(crate) fn key_of(raw: &str) -> String {
    encoding::base64url_encode(&hash::sha256(raw.as_bytes()))
}

/// The tag of the cards with this credential.
pub(crate) fn of_credential(raw: &str) -> Tag {
    Tag::hashed("credential", key_of(raw))
}

/// The authority key identifiers of the certificates that came with a credential, in base64url.
pub(super) fn authorities(held: &Held) -> Vec<String> {
    let keys = authority_keys(held.header().x5c.as_deref().unwrap_or_default());
    let encoded = keys.iter().map(|key| encoding::base64url_encode(key));
    encoded.take(AUTHORITIES_MAX).collect()
}

/// The types under which queries look for a credential, without those that it has as they are written.
pub(super) fn asked_types(held: &Held) -> Vec<String> {
    let types = held.types();
    let asked = held.asked_types().into_iter();
    asked
        .filter(|name| !types.contains(&name.as_str()))
        .collect()
}

impl CardRecord {
    /// All tags of the card.
    pub(super) fn tags(&self) -> Vec<Tag> {
        let mut tags = vec![of_credential(&self.raw)];
        for name in self.types.iter().chain(&self.asked_types) {
            tags.push(Tag::hashed("type", name.clone()));
            tags.push(asked(self.format, name));
            let certified = self.authorities.iter();
            tags.extend(certified.map(|authority| certified_by(self.format, name, authority)));
        }
        tags.extend(self.word_tags());
        tags
    }
}

/// The tags under which the cards of this type are that may answer a query, those that answer all it asks of the issuer
/// first. None for a format that this wallet does not have.
pub(crate) fn sought(query: &CredentialQuery, name: &str) -> Vec<Tag> {
    let Some(format) = query.known_format() else {
        return Vec::new();
    };
    let named = query.trusted_authorities.iter();
    let keys = named
        .filter(|one| one.kind == AKI)
        .flat_map(|one| &one.values);
    let certified = keys.map(|key| certified_by(format, name, key));
    // The others show what is missing, and answer if any issuer does.
    certified.chain([asked(format, name)]).collect()
}

fn asked(format: Format, name: &str) -> Tag {
    Tag::hashed("asked", format!("{}{BETWEEN}{name}", format.as_str()))
}

fn certified_by(format: Format, name: &str, authority: &str) -> Tag {
    let value = format!("{}{BETWEEN}{authority}{BETWEEN}{name}", format.as_str());
    Tag::hashed("certified", value)
}
