//! OCA bundles: a capture base, and overlays about it (Overlays Capture Architecture; Aries RFC 0755 for the branding).

use std::collections::BTreeMap;

use selfsame_driver::Reason;
use serde_json::Value;

use super::{Draft, below, label, shown, text};
use crate::fill::pattern;
use crate::model::{CardImage, ClaimKind, EnumerationValue, Labels, TypeClaim};

pub(super) fn import(bundle: &Value, draft: &mut Draft) {
    draft.ignore_others(bundle, &["capture_base", "overlays", "v", "d"], "");
    let base = bundle.get("capture_base").unwrap_or(&Value::Null);
    let known = [
        "attributes",
        "type",
        "digest",
        "d",
        "flagged_attributes",
        "classification",
    ];
    draft.ignore_others(base, &known, "capture_base");
    let mut claims = Attributes::new();
    for (name, kind) in members(base, "attributes") {
        let place = format!("capture_base.attributes.{name}");
        let claim = attribute(name, kind, &place, draft);
        claims.insert(name.clone(), claim);
    }
    let overlays = overlays(bundle);
    for (number, overlay) in overlays.iter().enumerate() {
        let place = format!("overlays[{number}]");
        apply(
            overlay,
            &place,
            &mut Overlaid {
                claims: &mut claims,
                draft,
            },
        );
    }
    draft.definition.claims = claims.into_values().collect();
}

/// The claims by the names of their attributes.
type Attributes = BTreeMap<String, TypeClaim>;

/// What overlays change.
struct Overlaid<'a> {
    claims: &'a mut Attributes,
    draft: &'a mut Draft,
}

fn members<'a>(
    value: &'a Value,
    name: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
    value
        .get(name)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

/// The overlays: a list, or by their names, each one or a list for several languages.
fn overlays(bundle: &Value) -> Vec<&Value> {
    match bundle.get("overlays") {
        Some(Value::Array(overlays)) => overlays.iter().collect(),
        Some(Value::Object(named)) => named.values().flat_map(one_or_all).collect(),
        _ => Vec::new(),
    }
}

fn one_or_all(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(elements) => elements.iter().collect(),
        one => vec![one],
    }
}

/// The claim of an attribute of this type, such as `Text` or `Array[Text]`.
fn attribute(name: &str, kind: &Value, place: &str, draft: &mut Draft) -> TypeClaim {
    let path = vec![name.to_owned()];
    let (kind, is_list) = match kind {
        Value::Array(elements) => (elements.first().and_then(Value::as_str), true),
        other => {
            let name = other.as_str().unwrap_or_default();
            let element = name
                .strip_prefix("Array[")
                .and_then(|rest| rest.strip_suffix(']'));
            (Some(element.unwrap_or(name)), element.is_some())
        }
    };
    let kind = match kind {
        Some("Text") => ClaimKind::Text,
        Some("Numeric") => ClaimKind::Number,
        Some("Boolean") => ClaimKind::Boolean,
        Some("DateTime") => ClaimKind::Date,
        Some("Binary") => ClaimKind::Image,
        _ => {
            draft.leave_out(Reason::new("import-kind").with("place", shown(place)));
            ClaimKind::Text
        }
    };
    match is_list {
        false => TypeClaim::new(path, kind),
        true => {
            let mut list = TypeClaim::new(path, ClaimKind::List);
            list.of = Some(Box::new(TypeClaim::new(Vec::new(), kind)));
            list
        }
    }
}

fn apply(overlay: &Value, place: &str, target: &mut Overlaid<'_>) {
    let kind = overlay
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    // `spec/overlays/label/1.0`, `aries/overlays/branding/1.1`, or without the first part and the version.
    let mut parts = kind
        .split('/')
        .filter(|part| !part.starts_with(|c: char| c.is_ascii_digit()));
    let name = parts.next_back().unwrap_or_default();
    let language = overlay.get("language").and_then(Value::as_str);
    let language = language.unwrap_or("en");
    match name {
        "meta" => {
            let known = [
                "type",
                "capture_base",
                "digest",
                "d",
                "language",
                "name",
                "description",
            ];
            target.draft.ignore_others(overlay, &known, place);
            label(
                &mut target.draft.definition.title,
                language,
                overlay.get("name"),
            );
            label(
                &mut target.draft.definition.description,
                language,
                overlay.get("description"),
            );
        }
        "label" => {
            target.each(overlay, "attribute_labels", |claim, value| {
                label(&mut claim.label, language, Some(value));
            });
        }
        "information" => {
            target.each(overlay, "attribute_information", |claim, value| {
                label(&mut claim.help, language, Some(value));
            });
        }
        "conformance" => {
            target.each(overlay, "attribute_conformance", |claim, value| {
                claim.required = value.as_str() == Some("M");
            });
        }
        "entry_code" => target.each(overlay, "attribute_entry_codes", set_codes),
        "entry" => {
            target.each(overlay, "attribute_entries", |claim, value| {
                set_entries(claim, value, language);
            });
        }
        "format" => target.formats(overlay, place),
        "branding" => target.branding(overlay, &BrandingPlace { place, language }),
        "character_encoding" => {}
        _ => target.draft.ignore(&format!("{place} ({})", shown(name))),
    }
}

/// Where a branding overlay is, and its language.
struct BrandingPlace<'a> {
    place: &'a str,
    language: &'a str,
}

impl Overlaid<'_> {
    /// Applies each value of an overlay's member to the claim of its attribute.
    fn each(&mut self, overlay: &Value, member: &str, apply: impl Fn(&mut TypeClaim, &Value)) {
        for (name, value) in members(overlay, member) {
            if let Some(claim) = self.claims.get_mut(name) {
                apply(claim, value);
            }
        }
    }

    fn formats(&mut self, overlay: &Value, place: &str) {
        for (name, value) in members(overlay, "attribute_formats") {
            let Some(claim) = self.claims.get_mut(name) else {
                continue;
            };
            let format = value.as_str().unwrap_or_default();
            let place = format!("{place}.attribute_formats.{name}");
            match claim.kind {
                ClaimKind::Image if format.starts_with("image/") => {}
                ClaimKind::Date if format == "YYYY-MM-DD" => {}
                // Aries RFC 0755 writes dates as the numbers YYYYMMDD.
                ClaimKind::Date if format == "YYYYMMDD" => {
                    self.draft
                        .leave_out(Reason::new("import-date").with("place", shown(&place)));
                }
                ClaimKind::Date => {
                    claim.kind = ClaimKind::Text;
                    self.draft
                        .leave_out(Reason::new("import-kind").with("place", shown(&place)));
                }
                ClaimKind::Text if pattern(format).is_some() && format.len() <= 500 => {
                    claim.pattern = Some(
                        format
                            .trim_start_matches('^')
                            .trim_end_matches('$')
                            .to_owned(),
                    );
                }
                _ => self.draft.ignore(&place),
            }
        }
    }

    /// The branding overlay of Aries RFC 0755.
    fn branding(&mut self, overlay: &Value, at: &BrandingPlace<'_>) {
        let known = [
            "type",
            "capture_base",
            "digest",
            "d",
            "language",
            "logo",
            "background_image",
            "primary_background_color",
            "primary_attribute",
            "secondary_attribute",
        ];
        self.draft.ignore_others(overlay, &known, at.place);
        let card = &mut self.draft.definition.card;
        if let Some(color) = overlay.get("primary_background_color").and_then(text) {
            card.background_color = Some(color);
        }
        let named = ["primary_attribute", "secondary_attribute"];
        let front = named
            .iter()
            .filter_map(|name| overlay.get(name).and_then(Value::as_str));
        let front = front.filter(|name| self.claims.contains_key(*name));
        let front: Vec<Vec<String>> = front.map(|name| vec![name.to_owned()]).collect();
        if !front.is_empty() {
            card.front = front;
        }
        for name in ["logo", "background_image"] {
            let Some(uri) = overlay
                .get(name)
                .and_then(Value::as_str)
                .filter(|uri| !uri.is_empty())
            else {
                continue;
            };
            if !uri.starts_with("data:") {
                let place = below(at.place, name);
                self.draft
                    .leave_out(Reason::new("import-image").with("place", shown(&place)));
                continue;
            }
            let mut alt_text = Labels::new();
            label(&mut alt_text, at.language, overlay.get("name"));
            let image = CardImage {
                uri: uri.to_owned(),
                alt_text,
            };
            let card = &mut self.draft.definition.card;
            match name {
                "logo" => card.logo = Some(image),
                _ => card.background = Some(image),
            }
        }
    }
}

fn set_codes(claim: &mut TypeClaim, codes: &Value) {
    if !matches!(claim.kind, ClaimKind::Text | ClaimKind::Enumeration) {
        return;
    }
    // The entries can stand before the codes.
    for code in codes.as_array().into_iter().flatten().filter_map(text) {
        claim.kind = ClaimKind::Enumeration;
        claim.pattern = None;
        if !claim.values.iter().any(|choice| choice.value == code) {
            claim.values.push(EnumerationValue {
                value: code,
                label: Labels::new(),
            });
        }
    }
}

fn set_entries(claim: &mut TypeClaim, entries: &Value, language: &str) {
    let entries = entries.as_object().into_iter().flatten();
    for (code, entry) in entries {
        match claim.values.iter_mut().find(|choice| choice.value == *code) {
            Some(choice) => label(&mut choice.label, language, Some(entry)),
            None if matches!(claim.kind, ClaimKind::Text | ClaimKind::Enumeration) => {
                let mut choice = EnumerationValue {
                    value: code.clone(),
                    label: Labels::new(),
                };
                label(&mut choice.label, language, Some(entry));
                claim.kind = ClaimKind::Enumeration;
                claim.pattern = None;
                claim.values.push(choice);
            }
            None => {}
        }
    }
}
