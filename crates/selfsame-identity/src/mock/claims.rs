//! Claims of OpenID Connect from the members of a person.

use serde_json::{Map, Value};

use super::MockPerson;

/// The language of claims if none is asked for.
const LANGUAGE: &str = "eng";

/// Which member is which claim.
const CLAIMS: [(&str, &str); 13] = [
    ("name", "fullName"),
    ("given_name", "givenName"),
    ("family_name", "familyName"),
    ("middle_name", "middleName"),
    ("nickname", "nickName"),
    ("preferred_username", "preferredUsername"),
    ("gender", "gender"),
    ("email", "email"),
    ("phone_number", "phone"),
    ("birthdate", "dateOfBirth"),
    ("picture", "encodedPhoto"),
    ("locale", "preferredLang"),
    ("zoneinfo", "zoneInfo"),
];

/// Which member is which part of the claim `address` (OpenID Connect Core §5.1.1).
const ADDRESS: [(&str, &str); 5] = [
    ("street_address", "streetAddress"),
    ("locality", "locality"),
    ("region", "region"),
    ("country", "country"),
    ("postal_code", "postalCode"),
];

/// The claims of a person that are asked for, as far as there are any. With several languages, each value is under
/// `claim#language` (OpenID Connect Core §5.2).
pub(super) fn of(person: &MockPerson, claims: &[&str], locales: &[&str]) -> Map<String, Value> {
    let locales = match locales.is_empty() {
        true => &[LANGUAGE],
        false => locales,
    };
    let mut found = Map::new();
    for claim in claims {
        if *claim == "address" {
            let mut address = Map::new();
            for (part, member) in ADDRESS {
                add(&mut address, part, person, WantedMember { member, locales });
            }
            if !address.is_empty() {
                found.insert("address".to_owned(), address.into());
            }
        } else if let Some((_, member)) = CLAIMS.iter().find(|(name, _)| name == claim) {
            add(&mut found, claim, person, WantedMember { member, locales });
        }
    }
    found
}

/// A member in the languages that are asked for.
struct WantedMember<'a> {
    member: &'a str,
    locales: &'a [&'a str],
}

fn add(to: &mut Map<String, Value>, claim: &str, person: &MockPerson, wanted: WantedMember<'_>) {
    if let Some(text) = person.text(wanted.member) {
        to.insert(claim.to_owned(), text.into());
        return;
    }
    let values = person.localised(wanted.member);
    for locale in wanted.locales {
        let mut values = values.iter();
        let Some(value) = values.find(|value| is_of(value.language, locale)) else {
            continue;
        };
        let name = match wanted.locales.len() {
            1 => claim.to_owned(),
            _ => format!("{claim}#{locale}"),
        };
        to.insert(name, value.value.into());
    }
}

/// Whether a language with three letters (ISO 639-2) is of a locale, which may have two (`en`, `en-GB`).
fn is_of(language: &str, locale: &str) -> bool {
    let wanted = locale.split(['-', '_']).next().unwrap_or(locale);
    let starts = language.get(..wanted.len());
    !wanted.is_empty() && starts.is_some_and(|start| start.eq_ignore_ascii_case(wanted))
}
