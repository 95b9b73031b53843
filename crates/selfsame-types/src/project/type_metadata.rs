//! SD-JWT VC type metadata (draft-ietf-oauth-sd-jwt-vc, "SD-JWT VC Type Metadata").

use selfsame_credential::ClaimPath;
use serde_json::{Map, Value, json};

use super::{Located, integrity, located};
use crate::image::{CARD_IMAGE_BYTES_MAX, pictogram, picture};
use crate::model::{Addresses, CardImage, CredentialType, text_of};

/// The document that is served for the type.
pub(super) fn document(one: &CredentialType, addresses: &Addresses) -> Value {
    let mut document = Map::new();
    let mut set = |name: &str, value: Value| document.insert(name.to_owned(), value);
    set("vct", one.vct.as_str().into());
    set("name", one.name().into());
    if !one.summary().is_empty() {
        set("description", one.summary().into());
    }
    if let Some(extends) = &one.extends {
        set("extends", extends.vct.as_str().into());
        if let Some(integrity) = &extends.integrity {
            set("extends#integrity", integrity.as_str().into());
        }
    }
    let languages = one.title.keys();
    set(
        "display",
        languages
            .map(|language| display(one, language, addresses))
            .collect(),
    );
    set(
        "claims",
        located(&one.claims).iter().filter_map(claim).collect(),
    );
    Value::Object(document)
}

fn display(one: &CredentialType, language: &str, addresses: &Addresses) -> Value {
    let mut simple = Map::new();
    let card = &one.card;
    for (name, image, address) in [
        ("logo", &card.logo, addresses.logo()),
        ("background_image", &card.background, addresses.background()),
    ] {
        if let Some(image) = image {
            simple.insert(name.to_owned(), linked(image, &address, language));
        }
    }
    if card.logo.is_none() && !one.icon().is_empty() {
        let drawn = pictogram(one.icon());
        let logo = json!({
            "uri": addresses.logo(),
            "uri#integrity": integrity(&drawn.bytes),
            "alt_text": one.icon(),
        });
        simple.insert("logo".to_owned(), logo);
    }
    for (name, color) in [
        ("background_color", &card.background_color),
        ("text_color", &card.text_color),
    ] {
        if let Some(color) = color {
            simple.insert(name.to_owned(), color.as_str().into());
        }
    }
    let mut display = Map::new();
    display.insert("locale".to_owned(), language.into());
    let title = one.title.get(language).unwrap_or(one.name());
    display.insert("name".to_owned(), title.into());
    if let Some(description) = one.description.get(language) {
        display.insert("description".to_owned(), description.into());
    }
    if !simple.is_empty() {
        display.insert("rendering".to_owned(), json!({"simple": simple}));
    }
    Value::Object(display)
}

/// An image by its address, with its integrity.
fn linked(image: &CardImage, address: &str, language: &str) -> Value {
    let mut linked = Map::new();
    linked.insert("uri".to_owned(), address.into());
    if let Ok(picture) = picture(&image.uri, CARD_IMAGE_BYTES_MAX) {
        linked.insert("uri#integrity".to_owned(), integrity(&picture.bytes).into());
    }
    let alternative = image.alt_text.get(language);
    let alternative = alternative.unwrap_or_else(|| text_of(&image.alt_text));
    if !alternative.is_empty() {
        linked.insert("alt_text".to_owned(), alternative.into());
    }
    Value::Object(linked)
}

fn claim(located: &Located<'_>) -> Option<Value> {
    let path = ClaimPath::new(located.path.clone()).ok()?;
    let mut claim = Map::new();
    claim.insert("path".to_owned(), path.to_value());
    let labels = located.claim.label.iter().map(|(language, label)| {
        let mut display = json!({"locale": language, "label": label});
        if let (Some(help), Some(members)) =
            (located.claim.help.get(language), display.as_object_mut())
        {
            members.insert("description".to_owned(), help.into());
        }
        display
    });
    let display: Vec<Value> = labels.collect();
    if !display.is_empty() {
        claim.insert("display".to_owned(), display.into());
    }
    if located.is_mandatory {
        claim.insert("mandatory".to_owned(), true.into());
    }
    let sd = if located.is_selective {
        "always"
    } else {
        "never"
    };
    claim.insert("sd".to_owned(), sd.into());
    Some(Value::Object(claim))
}
