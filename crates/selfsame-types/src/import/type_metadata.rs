//! SD-JWT VC type metadata (draft-ietf-oauth-sd-jwt-vc). It does not say which kind of value a claim has.

use selfsame_credential::ClaimPath;
use selfsame_credential::path::Segment;
use selfsame_driver::Reason;
use serde_json::Value;

use super::{Draft, below, label, shown, text};
use crate::model::{CardImage, ClaimKind, Disclosed, Extends, Labels, TypeClaim};

pub(super) fn import(document: &Value, draft: &mut Draft) {
    let known = [
        "vct",
        "name",
        "description",
        "extends",
        "extends#integrity",
        "display",
        "claims",
    ];
    draft.ignore_others(document, &known, "");
    draft.definition.vct = document.get("vct").and_then(text);
    label(&mut draft.definition.title, "en", document.get("name"));
    label(
        &mut draft.definition.description,
        "en",
        document.get("description"),
    );
    if let Some(vct) = document.get("extends").and_then(text) {
        let integrity = document.get("extends#integrity").and_then(text);
        draft.definition.extends = Some(Extends { vct, integrity });
    }
    for (number, display) in elements(document, "display").enumerate() {
        import_display(display, &format!("display[{number}]"), draft);
    }
    let mut root = PathNode::default();
    for (number, described) in elements(document, "claims").enumerate() {
        let place = format!("claims[{number}]");
        match described
            .get("path")
            .and_then(|path| ClaimPath::parse(path).ok())
        {
            Some(path)
                if !path
                    .segments()
                    .iter()
                    .any(|segment| matches!(segment, Segment::Index(_))) =>
            {
                draft.ignore_others(described, &["path", "display", "mandatory", "sd"], &place);
                root.add(path.segments(), described);
            }
            _ => draft.ignore(&place),
        }
    }
    draft.definition.claims = root.claims(&[]);
    if !draft.definition.claims.is_empty() {
        draft.leave_out(Reason::new("import-kinds"));
    }
}

fn elements<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// The language of a display entry; older drafts call it `lang`.
fn language(display: &Value) -> &str {
    let named = display.get("locale").or_else(|| display.get("lang"));
    named.and_then(Value::as_str).unwrap_or("en")
}

fn import_display(display: &Value, place: &str, draft: &mut Draft) {
    draft.ignore_others(
        display,
        &["locale", "lang", "name", "description", "rendering"],
        place,
    );
    let language = language(display);
    label(&mut draft.definition.title, language, display.get("name"));
    label(
        &mut draft.definition.description,
        language,
        display.get("description"),
    );
    let Some(rendering) = display.get("rendering") else {
        return;
    };
    let place = below(place, "rendering");
    draft.ignore_others(rendering, &["simple"], &place);
    let Some(simple) = rendering.get("simple") else {
        return;
    };
    let place = below(&place, "simple");
    let known = ["logo", "background_image", "background_color", "text_color"];
    draft.ignore_others(simple, &known, &place);
    let color = |name: &str| simple.get(name).and_then(text);
    let card = &mut draft.definition.card;
    card.background_color = card
        .background_color
        .take()
        .or_else(|| color("background_color"));
    card.text_color = card.text_color.take().or_else(|| color("text_color"));
    for name in ["logo", "background_image"] {
        let Some(image) = simple.get(name) else {
            continue;
        };
        let uri = image.get("uri").and_then(Value::as_str).unwrap_or_default();
        if !uri.starts_with("data:") {
            let place = below(&place, name);
            draft.leave_out(Reason::new("import-image").with("place", shown(&place)));
            continue;
        }
        let card = &mut draft.definition.card;
        let slot = if name == "logo" {
            &mut card.logo
        } else {
            &mut card.background
        };
        let taken = slot.get_or_insert_with(|| CardImage {
            uri: uri.to_owned(),
            alt_text: Labels::new(),
        });
        label(&mut taken.alt_text, language, image.get("alt_text"));
    }
}

/// The described claims as the tree that their paths make.
#[derive(Default)]
struct PathNode<'a> {
    described: Option<&'a Value>,
    /// What is below, in the order in which it is described.
    below: Vec<Child<'a>>,
}

struct Child<'a> {
    segment: Segment,
    node: PathNode<'a>,
}

impl<'a> PathNode<'a> {
    fn add(&mut self, path: &[Segment], described: &'a Value) {
        let Some((first, rest)) = path.split_first() else {
            self.described = Some(described);
            return;
        };
        let place = self.below.iter().position(|child| child.segment == *first);
        let child = match place.and_then(|place| self.below.get_mut(place)) {
            Some(child) => child,
            None => {
                self.below.push(Child {
                    segment: first.clone(),
                    node: Self::default(),
                });
                let Some(child) = self.below.last_mut() else {
                    return;
                };
                child
            }
        };
        child.node.add(rest, described);
    }

    /// The claims below, whose paths begin with these names.
    fn claims(&self, names: &[String]) -> Vec<TypeClaim> {
        let mut claims = Vec::new();
        for child in &self.below {
            let Segment::Name(name) = &child.segment else {
                continue;
            };
            let path: Vec<String> = names.iter().chain([name]).cloned().collect();
            let node = &child.node;
            let has_elements = node.below.iter().any(|child| child.segment == Segment::All);
            if node.described.is_none() && !has_elements && !node.below.is_empty() {
                claims.extend(node.claims(&path));
            } else {
                claims.push(node.claim(path));
            }
        }
        claims
    }

    fn claim(&self, path: Vec<String>) -> TypeClaim {
        let element = self
            .below
            .iter()
            .find(|child| child.segment == Segment::All);
        let kind = match (element, self.below.is_empty()) {
            (Some(_), _) => ClaimKind::List,
            (None, false) => ClaimKind::Object,
            (None, true) => ClaimKind::Text,
        };
        let mut claim = TypeClaim::new(path, kind);
        if let Some(element) = element {
            claim.of = Some(Box::new(element.node.claim(Vec::new())));
        } else {
            claim.claims = self.claims(&[]);
        }
        if let Some(described) = self.described {
            describe(&mut claim, described);
        }
        claim
    }
}

fn describe(claim: &mut TypeClaim, described: &Value) {
    for display in elements(described, "display") {
        let language = language(display);
        label(&mut claim.label, language, display.get("label"));
        label(&mut claim.help, language, display.get("description"));
    }
    let is_element = claim.path.is_empty();
    claim.required = !is_element && described.get("mandatory") == Some(&Value::Bool(true));
    claim.disclosed = match described.get("sd").and_then(Value::as_str) {
        Some("always") => Some(Disclosed::Selectively),
        Some("never") => Some(Disclosed::Always),
        _ => None,
    };
}
