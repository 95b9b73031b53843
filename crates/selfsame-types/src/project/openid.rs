//! A type as an issuer's metadata describes it to wallets (OpenID4VCI 1.0 §12.2.4), and as a verifier asks for it
//! (OpenID4VP 1.0 §6).

use selfsame_credential::format::{Description, Profile};
use selfsame_credential::path::Segment;
use selfsame_credential::{ClaimPath, Format};
use selfsame_driver::{Error, Result};
use serde_json::{Map, Value, json};

use super::located;
use crate::model::{Addresses, CardImage, CredentialType, Labels, TypeClaim, text_of};

/// The `credential_metadata` of a type in one format, with the addresses of its images.
///
/// # Errors
/// `Internal` for a claim without a path, which a checked type does not have.
pub fn credential_metadata(
    one: &CredentialType,
    format: Format,
    addresses: &Addresses,
) -> Result<Value> {
    let claims = located(&one.claims);
    // An element of a list has no name of its own.
    let named = claims.iter().filter(|one| !one.claim.path.is_empty());
    let Description {
        profile,
        subject_claim,
        ..
    } = format.describe();
    // §C.2: a path in an mdoc leads to an element.
    let is_mdoc = *profile == Profile::Mdoc;
    let named = named.filter(|one| !is_mdoc || one.path.len() == one.claim.path.len());
    let described = named.map(|located| {
        let path = match is_mdoc {
            true => one.path_in(&located.claim.path, format)?,
            false => {
                let around = subject_claim.map(|name| Segment::Name(name.to_owned()));
                let path = around.into_iter().chain(located.path.iter().cloned());
                ClaimPath::new(path.collect()).map_err(Error::internal)?
            }
        };
        Ok(json!({
            "path": path.to_value(),
            "mandatory": located.is_mandatory,
            "display": names(&located.claim.label),
            "values": values(located.claim),
        }))
    });
    let displays = one
        .title
        .keys()
        .map(|language| display(one, language, addresses));
    Ok(json!({
        "display": displays.collect::<Vec<_>>(),
        "claims": described.collect::<Result<Vec<_>>>()?,
    }))
}

fn display(one: &CredentialType, language: &str, addresses: &Addresses) -> Value {
    let logo = match &one.card.logo {
        Some(logo) => Some(image(logo, &addresses.logo(), language)),
        // The text alternative of a pictogram is the pictogram itself.
        None if one.icon().is_empty() => None,
        None => Some(json!({"uri": addresses.logo(), "alt_text": one.icon()})),
    };
    let background = one.card.background.as_ref();
    let background = background.map(|drawn| image(drawn, &addresses.background(), language));
    let mut display = Map::new();
    for (name, value) in [
        ("name", one.title.get(language).map(Value::from)),
        ("locale", Some(language.into())),
        (
            "description",
            one.description.get(language).map(Value::from),
        ),
        ("logo", logo),
        ("background_image", background),
        (
            "background_color",
            one.card.background_color.as_deref().map(Value::from),
        ),
        (
            "text_color",
            one.card.text_color.as_deref().map(Value::from),
        ),
    ] {
        if let Some(value) = value {
            display.insert(name.to_owned(), value);
        }
    }
    Value::Object(display)
}

fn image(image: &CardImage, address: &str, language: &str) -> Value {
    let text = image.alt_text.get(language);
    match text.unwrap_or_else(|| text_of(&image.alt_text)) {
        "" => json!({"uri": address}),
        text => json!({"uri": address, "alt_text": text}),
    }
}

/// The values of an enumeration, or of a list of such, that have names.
fn values(claim: &TypeClaim) -> Vec<Value> {
    let claim = claim.of.as_deref().unwrap_or(claim);
    let named = claim.values.iter().filter(|one| !one.label.is_empty());
    named
        .map(|one| json!({"value": one.value, "display": names(&one.label)}))
        .collect()
}

/// A name by language as display entries.
fn names(labels: &Labels) -> Vec<Value> {
    let entry = labels
        .iter()
        .map(|(locale, name)| json!({"name": name, "locale": locale}));
    entry.collect()
}

/// The DCQL query for claims of one credential of a type.
///
/// # Errors
/// `Internal` for an empty path.
pub fn dcql(one: &CredentialType, format: Format, claims: &[Vec<String>]) -> Result<Value> {
    let meta = match format.describe().profile {
        Profile::SdJwtVc => json!({"vct_values": [one.vct]}),
        Profile::Mdoc => json!({"doctype_value": one.doctype}),
        Profile::DataIntegrity => json!({"type_values": [one.linked_types()]}),
        Profile::W3c | Profile::Compact => json!({"type_values": [one.w3c_types()]}),
    };
    let mut paths: Vec<Value> = Vec::new();
    for path in claims {
        let path = one.path_in(path, format)?.to_value();
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    let claims: Vec<Value> = paths.iter().map(|path| json!({ "path": path })).collect();
    let mut credential =
        json!({"id": one.id.replace('-', "_"), "format": format.as_str(), "meta": meta});
    if !claims.is_empty()
        && let Some(members) = credential.as_object_mut()
    {
        members.insert("claims".to_owned(), Value::Array(claims));
    }
    Ok(json!({"credentials": [credential]}))
}
