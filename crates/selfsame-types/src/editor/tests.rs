use std::collections::BTreeMap;

use super::*;
use crate::check;
use crate::file::{read_json, read_toml};
use crate::samples::samples;

const CLUB: &str = r##"
id = "club"
title = { en = "Club", de = "Verein", fr = "Club français" }
doctype = "org.example.club"
[card]
front = [["number"], ["person", "name"]]
background_color = "#1f4e79"
[[claims]]
path = ["person", "name"]
label = { en = "Name", de = "Name" }
kind = "text"
max_length = 40
example = "Maja"
[[claims]]
path = ["number"]
kind = "text"
pattern = "[0-9]{5}"
example = "00017"
disclosed = "always"
[[claims]]
path = ["level"]
kind = "enumeration"
values = [{ value = "basic", label = { en = "Basic", de = "Einfach" } }, { value = "full" }]
[[claims]]
path = ["address"]
kind = "object"
claims = [
  { path = ["city"], kind = "text" },
  { path = ["building"], kind = "object", claims = [{ path = ["floor"], kind = "number", integer = true }] },
]
[[claims]]
path = ["visits"]
kind = "list"
of = { kind = "object", claims = [{ path = ["day"], kind = "date" }] }
[[requests]]
title = { en = "Entry" }
claims = [["number"]]
"##;

/// The fields of a form as a browser sends them.
#[derive(Default)]
struct Sent(BTreeMap<String, Vec<String>>);

impl SentFields for Sent {
    fn one(&self, name: &str) -> Option<&str> {
        match self.all(name) {
            [one] => Some(one.trim()).filter(|one| !one.is_empty()),
            _ => None,
        }
    }

    fn all(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

impl Sent {
    fn of(form: &TypeForm) -> Self {
        let mut sent = Self::default();
        let pair = |sent: &mut Self, name: &str, pair: &TextPair| {
            sent.put(name, &pair.first);
            sent.put(&format!("{name}.second"), &pair.second);
        };
        for (name, value) in [
            ("id", &form.id),
            ("language", &form.language),
            ("second_language", &form.second_language),
            ("validity_days", &form.validity_days),
            ("background_color", &form.background_color),
            ("text_color", &form.text_color),
            ("icon", &form.icon),
        ] {
            sent.put(name, value);
        }
        pair(&mut sent, "title", &form.title);
        pair(&mut sent, "description", &form.description);
        pair(&mut sent, "logo_text", &form.logo_text);
        for (name, is_set) in [
            ("revocable", form.revocable),
            ("suspendable", form.suspendable),
            ("single_use", form.single_use),
        ] {
            sent.set(name, is_set);
        }
        for format in Vec::<&str>::from(form.formats.clone()) {
            sent.put("format", format);
        }
        let rows = form.rows.iter();
        for row in rows.flat_map(|row| std::iter::once(row).chain(&row.members)) {
            let named = |name: &str| format!("{}.{name}", row.key);
            sent.put("row", &row.key);
            pair(&mut sent, &named("label"), &row.label);
            for (name, value) in [
                ("from", &row.from),
                ("name", &row.name),
                ("values", &row.values),
            ] {
                sent.put(&named(name), value);
            }
            sent.put(&named("kind"), row.kind.as_str());
            sent.put(&named("of"), row.of.as_str());
            let disclosed = serde_json::to_value(row.disclosed).unwrap();
            sent.put(&named("disclosed"), disclosed.as_str().unwrap());
            sent.set(&named("inner"), row.is_inner);
            sent.set(&named("required"), row.required);
            sent.set(&named("front"), row.is_on_front);
        }
        sent
    }

    fn put(&mut self, name: &str, value: &str) {
        self.0
            .entry(name.to_owned())
            .or_default()
            .push(value.to_owned());
    }

    fn set(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.put(name, "true");
        }
    }
}

fn club() -> TypeForm {
    TypeForm::of(&read_toml(CLUB).unwrap())
}

#[test]
fn a_form_that_is_sent_back_unchanged_changes_nothing() {
    let own = read_toml(CLUB).unwrap();
    let samples = samples("");
    for definition in samples.iter().map(|one| &*one.definition).chain([&own]) {
        let form = TypeForm::of(definition);
        let again = TypeForm::read(&Sent::of(&form), form.base.clone());
        assert_eq!(&again.definition(), definition, "{}", definition.id);
    }
}

#[test]
fn what_the_form_does_not_show_stays_when_claims_move_and_change_their_names() {
    let mut form = club();
    form.rows.swap(0, 1);
    form.rows[0].name = "member_number".to_owned();
    form.rows[2].values = "basic = Plain\nextra".to_owned();
    let made = form.definition();
    assert_eq!(made.claims[0].pattern.as_deref(), Some("[0-9]{5}"));
    assert_eq!(made.claims[1].max_length, Some(40));
    assert_eq!(made.title.get("fr"), Some("Club français"));
    assert_eq!(made.doctype.as_deref(), Some("org.example.club"));
    let number = vec!["member_number".to_owned()];
    assert_eq!(made.card.front[0], number);
    assert_eq!(made.requests[0].claims, [number]);
    let values = &made.claims[2].values;
    assert_eq!(
        (values[0].label.get("en"), values[0].label.get("de")),
        (Some("Plain"), Some("Einfach"))
    );
    assert_eq!((values[1].value.as_str(), values.len()), ("extra", 2));
    let building = &made.claims[3].claims[1];
    assert!(building.claims[0].integer, "two objects deep");
    let element = made.claims[4].of.as_ref().unwrap();
    assert_eq!(element.claims.len(), 1);
    assert_eq!(check(&made).refusals, []);
}

#[test]
fn a_second_language_is_added_and_removed_and_further_ones_stay() {
    let mut form = club();
    assert_eq!(
        (form.language.as_str(), form.second_language.as_str()),
        ("en", "de")
    );
    form.second_language = "it".to_owned();
    form.title.second = "Società".to_owned();
    let title = form.definition().title;
    assert_eq!(title.keys().collect::<Vec<_>>(), ["en", "fr", "it"]);
    form.second_language = String::new();
    assert_eq!(
        form.definition().title.keys().collect::<Vec<_>>(),
        ["en", "fr"]
    );
}

#[test]
fn buttons_add_remove_and_move_rows_at_both_levels() {
    let mut form = club();
    let names = |form: &TypeForm| {
        form.rows
            .iter()
            .map(|row| row.name.clone())
            .collect::<Vec<_>>()
    };
    form.press("up.0");
    form.press("down.0");
    assert_eq!(names(&form)[..2], ["number", "person.name"]);
    form.press("up.3-1");
    assert_eq!(form.rows[3].members[0].name, "building");
    form.press("add.3");
    form.press("add");
    assert_eq!((form.rows[3].members.len(), form.rows.len()), (3, 6));
    assert_eq!(form.rows[3].members[2].key, "5");
    assert_eq!(form.rows[5].key, "6");
    form.press("remove.3-0");
    form.press("remove.1");
    form.press("remove.unknown");
    assert_eq!((form.rows[2].members.len(), form.rows.len()), (2, 5));
}

#[test]
fn refusals_stand_at_their_fields_in_the_words_of_the_form() {
    let mut form = club();
    form.press("add");
    form.rows[5].name = "number".to_owned();
    form.rows[3].members[0].name = "type".to_owned();
    form.rows[2].values = String::new();
    form.validity_days = "many".to_owned();
    form.title.second = "x".repeat(600);
    form.id = "View".to_owned();
    form.text_color = "#1f4e7a".to_owned();
    let checked = check(&form.definition());
    let found = form.at_fields(checked.refusals);
    let fields: Vec<&str> = found.iter().map(|one| one.field.as_str()).collect();
    for field in [
        "id",
        "validity_days",
        "title.second",
        "2.values",
        "3-0.name",
        "5.name",
    ] {
        assert!(fields.contains(&field), "{field}: {found:?}");
    }
    let collides = found.iter().find(|one| one.field == "5.name").unwrap();
    assert_eq!(
        (collides.name, collides.place.as_str()),
        ("Name", "claims[5].path")
    );
    let advice = form.at_fields(checked.advice);
    assert_eq!(advice[0].field, "text_color");
}

#[test]
fn blank_rows_are_left_out_and_names_are_suggested() {
    let mut form = TypeForm::empty();
    form.title.first = "Boat licence (2026)".to_owned();
    form.press("add");
    form.rows[1].label.first = "Licence number".to_owned();
    form.suggest_names();
    let made = form.definition();
    assert_eq!(made.id, "boat-licence-2026");
    assert_eq!(made.claims.len(), 1);
    assert_eq!(made.claims[0].path, ["licence_number"]);
    assert_eq!(check(&made).refusals, []);
}

#[test]
fn a_logo_is_checked_before_it_is_taken() {
    let mut form = club();
    let script = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>1</script></svg>";
    assert!(form.set_logo(script).is_err());
    assert!(form.set_logo(b"BM\xff\xff").is_err());
    assert!(form.set_logo(&vec![b' '; 65 * 1024]).is_err());
    assert_eq!(form.definition().card.logo, None);
    form.set_logo(b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>")
        .unwrap();
    form.logo_text.first = "A boat".to_owned();
    let logo = form.definition().card.logo.unwrap();
    assert!(logo.uri.starts_with("data:image/svg+xml;base64,"));
    assert_eq!(logo.alt_text.get("en"), Some("A boat"));
    form.remove_logo();
    assert_eq!(form.definition().card.logo, None);
}

#[test]
fn a_copy_has_its_own_names() {
    let copy = TypeForm::copy_of(&samples("")[0].definition).definition();
    assert!(copy.id.is_empty() && copy.w3c_types.is_empty() && copy.vct.is_none());
    assert!(read_json(b"{}").is_err());
}
