//! Checks of a type's file. Every refusal names its place, such as `claims[2].pattern`, and says what to do.

mod book;
mod claims;
mod compact;
mod linked;
mod mdoc;
mod names;
pub(crate) mod prerequisites;

use oxilangtag::LanguageTag;
use selfsame_credential::Format;
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use url::Url;

use crate::color::{self, contrast};
use crate::image::{CARD_IMAGE_BYTES_MAX, picture};
use crate::model::{Card, CardImage, GENERAL_TYPE, Labels, TypeDefinition};
use crate::project::anoncreds_refusals;

/// Maximum number of days for which a credential can be valid: a hundred years.
const VALIDITY_MAX: u64 = 36_525;
/// Maximum number of bytes of an id.
const ID_MAX: usize = 64;
/// Ids below which the pages have addresses, so that documents of these types could not be served.
const IDS_RESERVED: [&str; 2] = ["edit", "view"];
/// Maximum number of characters of a text for people.
const TEXT_MAX: usize = 500;
/// Maximum number of languages of a text.
const LANGUAGES_MAX: usize = 40;
/// Maximum number of bytes of a URI.
const URI_MAX: usize = 500;
/// Maximum number of claims on a card's front.
const FRONT_MAX: usize = 3;
/// Maximum number of typical requests.
const REQUESTS_MAX: usize = 20;
/// Maximum number of refusals that are collected.
const REFUSALS_MAX: usize = 50;

/// What the checks of a type found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checked {
    /// Why the type cannot be published.
    pub refusals: Vec<Reason>,
    /// What should be better.
    pub advice: Vec<Reason>,
}

impl Checked {
    /// The first refusal as an error.
    ///
    /// # Errors
    /// `BadRequest`, unless there is no refusal.
    pub fn result(self) -> Result<()> {
        match self.refusals.into_iter().next() {
            None => Ok(()),
            Some(reason) => Err(Error::of(ErrorKind::BadRequest, reason)),
        }
    }

    fn refuse(&mut self, reason: Reason) {
        if self.refusals.len() < REFUSALS_MAX {
            self.refusals.push(reason);
        }
    }

    /// Checks a text for people: its languages and its lengths.
    fn labels(&mut self, labels: &Labels, place: &str) {
        if labels.len() > LANGUAGES_MAX {
            self.refuse(many(place, LANGUAGES_MAX));
        }
        for (language, text) in labels.iter().take(LANGUAGES_MAX) {
            if LanguageTag::parse(language).is_err() {
                self.refuse(
                    Reason::new("type-language")
                        .with("place", place)
                        .with("language", language.get(..40).unwrap_or(language)),
                );
            }
            self.text(text, &format!("{place}.{language}"));
        }
    }

    fn text(&mut self, text: &str, place: &str) {
        if text.trim().is_empty() {
            self.refuse(Reason::new("type-text-empty").with("place", place));
        }
        if text.chars().nth(TEXT_MAX).is_some() || text.chars().any(char::is_control) {
            self.refuse(
                Reason::new("type-text-long")
                    .with("place", place)
                    .with("maximum", &TEXT_MAX),
            );
        }
    }

    fn uri(&mut self, uri: &str, place: &str) {
        if uri.len() > URI_MAX || Url::parse(uri).is_err() {
            self.refuse(Reason::new("type-uri").with("place", place));
        }
    }
}

/// Checks a type's file.
#[must_use]
pub fn check(definition: &TypeDefinition) -> Checked {
    let mut found = Checked::default();
    check_head(definition, &mut found);
    check_card(&definition.card, &mut found);
    claims::check(definition, &mut found);
    compact::check(definition, &mut found);
    mdoc::check(definition, &mut found);
    linked::check(definition, &mut found);
    prerequisites::check(definition, &mut found);
    check_paths(definition, &mut found);
    book::check(definition, &mut found);
    if definition.formats.anoncreds {
        for reason in anoncreds_refusals(definition) {
            found.refuse(reason);
        }
    }
    found
}

fn check_head(definition: &TypeDefinition, found: &mut Checked) {
    if !is_id(&definition.id) {
        found.refuse(Reason::new("type-id").with("maximum", &ID_MAX));
    }
    if IDS_RESERVED.contains(&definition.id.as_str()) {
        found.refuse(Reason::new("type-id-reserved").with("type", &definition.id));
    }
    if definition.title.is_empty() {
        found.refuse(Reason::new("type-text-empty").with("place", "title"));
    }
    found.labels(&definition.title, "title");
    found.labels(&definition.description, "description");
    if !(1..=VALIDITY_MAX).contains(&definition.validity_days) {
        found.refuse(Reason::new("type-validity").with("maximum", &VALIDITY_MAX));
    }
    if let Some(vct) = &definition.vct {
        found.uri(vct, "vct");
    }
    if let Some(doctype) = &definition.doctype {
        found.text(doctype, "doctype");
    }
    if let Some(extends) = &definition.extends {
        found.uri(&extends.vct, "extends.vct");
        if definition.vct.as_ref() == Some(&extends.vct) {
            found.refuse(Reason::new("type-extends-cycle").with("vct", &extends.vct));
        }
        if extends
            .integrity
            .as_deref()
            .is_some_and(|text| !is_integrity(text))
        {
            found.refuse(Reason::new("type-integrity"));
        }
    }
    let types = &definition.w3c_types;
    let is_name = |name: &String| names::is_w3c_type(name);
    let begins = types.first().is_none_or(|first| first == GENERAL_TYPE);
    if !begins || types.len() == 1 || types.len() > 10 || !types.iter().all(is_name) {
        found.refuse(Reason::new("type-w3c-types"));
    }
    let can = |format: Format| format.describe().discloses_selectively;
    if definition.single_use && !definition.formats.offered().any(can) {
        found.refuse(Reason::new("type-single-use"));
    }
}

fn check_card(card: &Card, found: &mut Checked) {
    let background = card.background_color.as_deref();
    let text = card.text_color.as_deref();
    for (color, place) in [
        (background, "card.background_color"),
        (text, "card.text_color"),
    ] {
        if color.is_some_and(|color| color::luminance(color).is_none()) {
            found.refuse(Reason::new("type-color").with("place", place));
        }
    }
    if let (Some(background), Some(text)) = (background, text)
        && let Some(contrast) = contrast(background, text)
        && contrast < color::READABLE
    {
        let contrast = format!("{contrast:.1}");
        found
            .advice
            .push(Reason::new("type-contrast").with("contrast", &contrast));
    }
    if card
        .icon
        .as_ref()
        .is_some_and(|icon| icon.chars().count() > 8 || icon.chars().any(char::is_control))
    {
        found.refuse(Reason::new("type-icon"));
    }
    check_image(card.logo.as_ref(), "card.logo", found);
    check_image(card.background.as_ref(), "card.background", found);
}

fn check_image(image: Option<&CardImage>, place: &str, found: &mut Checked) {
    let Some(image) = image else {
        return;
    };
    if let Err(cause) = picture(&image.uri, CARD_IMAGE_BYTES_MAX) {
        found.refuse(
            Reason::new("type-image")
                .with("place", &format!("{place}.uri"))
                .because(cause),
        );
    }
    if image.alt_text.is_empty() {
        found
            .advice
            .push(Reason::new("type-alt-text").with("place", place));
    }
    found.labels(&image.alt_text, &format!("{place}.alt_text"));
}

/// Checks that the front and the requests name claims of the credential.
fn check_paths(definition: &TypeDefinition, found: &mut Checked) {
    if definition.card.front.len() > FRONT_MAX {
        found.refuse(many("card.front", FRONT_MAX));
    }
    if definition.requests.len() > REQUESTS_MAX {
        found.refuse(many("requests", REQUESTS_MAX));
    }
    let front = definition.card.front.iter().enumerate();
    let mut named: Vec<_> = front
        .map(|(number, path)| (path, format!("card.front[{number}]")))
        .collect();
    for (number, request) in definition.requests.iter().enumerate().take(REQUESTS_MAX) {
        let place = format!("requests[{number}]");
        if request.title.is_empty() {
            found.refuse(Reason::new("type-text-empty").with("place", &format!("{place}.title")));
        }
        found.labels(&request.title, &format!("{place}.title"));
        let claims = request.claims.iter().enumerate();
        named.extend(claims.map(|(number, path)| (path, format!("{place}.claims[{number}]"))));
    }
    for (path, place) in named {
        let claim = definition.claim(path);
        if !claim.is_some_and(|claim| claim.is_in_credential()) {
            found.refuse(
                Reason::new("type-claim-named")
                    .with("place", &place)
                    .with("claim", &path.join(".").get(..80).unwrap_or_default()),
            );
        }
    }
}

fn many(place: &str, most: usize) -> Reason {
    Reason::new("type-many")
        .with("place", place)
        .with("maximum", &most)
}

/// Whether a text can be the id of a type: it is part of addresses and file names.
pub(crate) fn is_id(id: &str) -> bool {
    let fits = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    (1..=ID_MAX).contains(&id.len())
        && id.bytes().all(fits)
        && id.split('-').all(|part| !part.is_empty())
}

/// Whether a text is integrity metadata with an algorithm that verifiers know (W3C Subresource Integrity §3.5).
pub(crate) fn is_integrity(text: &str) -> bool {
    text.len() <= 500
        && !text.trim().is_empty()
        && text.split_ascii_whitespace().all(|one| {
            let (algorithm, digest) = one.split_once('-').unwrap_or_default();
            let length = match algorithm {
                "sha256" => 32,
                "sha384" => 48,
                "sha512" => 64,
                _ => return false,
            };
            selfsame_crypto::encoding::base64_decode(digest)
                .is_ok_and(|bytes| bytes.len() == length)
        })
}

#[cfg(test)]
mod tests;
