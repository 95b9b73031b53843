//! The types that come with the program: six for healthcare, one for machines, three mobile documents. A setting switches
//! them off.

use std::sync::{Arc, LazyLock};

use crate::file::read_toml;
use crate::image::{CARD_IMAGE_BYTES_MAX, Drawing, data_uri};
use crate::model::{CardImage, CredentialType, Labels, TypeDefinition, TypeState};

/// Their files.
const FILES: [&str; 10] = [
    include_str!("../samples/allergies.toml"),
    include_str!("../samples/clinical-notes.toml"),
    include_str!("../samples/driving-licence.toml"),
    include_str!("../samples/immunization.toml"),
    include_str!("../samples/laboratory-results.toml"),
    include_str!("../samples/machine.toml"),
    include_str!("../samples/person-identification.toml"),
    include_str!("../samples/prescription.toml"),
    include_str!("../samples/procedures.toml"),
    include_str!("../samples/vaccination-document.toml"),
];

/// All definitions; a file that is not valid is skipped here and detected by a test.
static DEFINITIONS: LazyLock<Vec<TypeDefinition>> = LazyLock::new(|| {
    FILES
        .iter()
        .filter_map(|file| read_toml(file).ok())
        .map(with_logo)
        .collect()
});

/// A sample with its pictogram as its logo, drawn in the colour of the card's text: wallets show no pictogram.
fn with_logo(mut sample: TypeDefinition) -> TypeDefinition {
    let card = &mut sample.card;
    let drawing = card.icon.as_deref().and_then(Drawing::of);
    if let (Some(drawing), Some(color)) = (drawing, &card.text_color) {
        let uri = data_uri(drawing.file(color).as_bytes(), CARD_IMAGE_BYTES_MAX);
        let mut alt_text = Labels::new();
        alt_text.insert("en", drawing.shows);
        card.logo = uri.ok().map(|uri| CardImage { uri, alt_text });
    }
    sample
}

/// Whether this is a W3C type of a sample, or the type that every W3C credential has.
#[must_use]
pub fn is_w3c_type(name: &str) -> bool {
    let mut types = DEFINITIONS.iter().flat_map(|one| &one.w3c_types);
    types.any(|known| known == name)
}

/// The pictogram of the sample that a credential with these types is of: `vct`, or the W3C types.
#[must_use]
pub fn icon(types: &[String]) -> Option<&'static str> {
    let is_of = |one: &&TypeDefinition| {
        let last = types.first().and_then(|vct| vct.rsplit(['/', ':']).next());
        let is_document = one.doctype.is_some() && one.doctype.as_ref() == types.first();
        let is_w3c = !types.is_empty() && one.w3c_types == types;
        last == Some(one.id.as_str()) || is_document || is_w3c
    };
    DEFINITIONS.iter().find(is_of).map(|one| one.icon())
}

/// The sample types, in the order of the pages. The `vct` of each is `vct_base` and its id.
#[must_use]
pub fn samples(vct_base: &str) -> Vec<Arc<CredentialType>> {
    let published = |definition: &TypeDefinition| {
        Arc::new(CredentialType {
            vct: format!("{vct_base}{}", definition.id),
            definition: Arc::new(definition.clone()),
            version: 1,
            state: TypeState::Published,
            is_sample: true,
            served: None,
        })
    };
    DEFINITIONS.iter().map(published).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::check::check;

    fn sample(id: &str) -> Arc<CredentialType> {
        let all = samples("urn:selfsame:credential:");
        all.into_iter().find(|one| one.id == id).unwrap()
    }

    #[test]
    fn every_sample_passes_its_checks_and_its_examples_fill_it() {
        let all = samples("urn:selfsame:credential:");
        assert_eq!(all.len(), FILES.len());
        for one in all {
            let found = check(&one.definition);
            assert_eq!(
                (found.refusals, found.advice),
                (vec![], vec![]),
                "{}",
                one.id
            );
            let filled = one.fill(&Map::new(), true).unwrap();
            assert!(!filled.is_empty());
            assert_eq!(one.fill(&filled, false).unwrap(), filled, "{}", one.id);
            assert_eq!(one.vct, format!("urn:selfsame:credential:{}", one.id));
        }
    }

    #[test]
    fn each_sample_has_a_logo_of_its_own_that_says_what_it_shows() {
        let all = samples("");
        let logos = all.iter().map(|one| one.card.logo.clone().unwrap());
        let uris: std::collections::BTreeSet<String> = logos.map(|logo| logo.uri).collect();
        assert_eq!(uris.len(), all.len());
        let syringe = sample("immunization").card.logo.clone().unwrap();
        assert_eq!(syringe.alt_text.get("en"), Some("A syringe"));
        let drawn = crate::image::picture(&syringe.uri, CARD_IMAGE_BYTES_MAX).unwrap();
        let drawn = String::from_utf8(drawn.bytes).unwrap();
        assert!(drawn.contains("stroke=\"#ffffff\""), "{drawn}");
    }

    #[test]
    fn a_claim_that_the_type_does_not_have_is_refused_by_name() {
        let immunization = sample("immunization");
        let mut given = immunization.fill(&Map::new(), true).unwrap();
        given.insert("shoe".to_owned(), json!({"size": 44}));
        let error = immunization.fill(&given, false).unwrap_err();
        assert_eq!(error.reason.id(), "claim-unknown");
        assert!(error.to_string().contains("claim: shoe"), "{error}");
        let mut given = Map::new();
        given.insert("patient".to_owned(), json!({"given_nam": "Maja"}));
        let error = immunization.fill(&given, true).unwrap_err();
        assert!(error.to_string().contains("patient.given_nam"), "{error}");
    }

    #[test]
    fn a_date_of_any_year_is_accepted_and_an_invalid_date_is_refused() {
        let immunization = sample("immunization");
        let born = |date: &str| {
            let given = json!({"patient": {"birth_date": date}});
            immunization.fill(given.as_object().unwrap(), true)
        };
        assert!(born("1948-07-09").is_ok() && born("1896-02-29").is_ok());
        assert!(born("1900-02-29").is_err() && born("1948-07-09T00:00:00Z").is_err());
    }

    #[test]
    fn a_missing_required_claim_is_named() {
        let error = sample("immunization").fill(&Map::new(), false).unwrap_err();
        assert_eq!(error.reason.id(), "claim-missing");
        assert!(error.to_string().contains("patient.given_name"), "{error}");
    }

    #[test]
    fn the_elements_of_a_list_hold_what_the_type_says_and_nothing_else() {
        let allergies = sample("allergies");
        let mut given = allergies.fill(&Map::new(), true).unwrap();
        let mut with = |element: Value| {
            given.insert("allergies".to_owned(), json!([element]));
            allergies.fill(&given, false)
        };
        assert!(with(json!({"substance": "Latex", "onset": "2020-05-01"})).is_ok());
        for wrong in [
            json!("Latex"),
            json!({"substance": 7}),
            json!({"onset": "last year"}),
            json!({"substance": "Latex", "price": "free"}),
        ] {
            assert!(with(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn who_may_give_blood_to_whom_follows_from_the_blood_group() {
        let results = sample("laboratory-results");
        let filled = |group: Value| {
            let given = json!({ "blood_group": group });
            results.fill(given.as_object().unwrap(), true).unwrap()
        };
        // Red cells go to who has each antigen that they have: A, B and Rh D.
        let gives = |donor: &str, to: &str| filled(json!(donor))["can_give_to"][to] == true;
        assert!(gives("O Rh negative", "ab_neg") && gives("A Rh negative", "a_pos"));
        assert!(gives("A Rh positive", "a_pos") && gives("AB Rh positive", "ab_pos"));
        assert!(!gives("B Rh positive", "a_pos") && !gives("O Rh positive", "o_neg"));
        let group = results.claim(&["blood_group".to_owned()]).unwrap();
        let to_a_pos = group.values.iter().filter(|one| gives(&one.value, "a_pos"));
        assert_eq!(to_a_pos.count(), 4);
    }

    #[test]
    fn what_follows_from_another_claim_is_not_given_otherwise_and_is_false_without_that_claim() {
        let results = sample("laboratory-results");
        let mut given = results.fill(&Map::new(), true).unwrap();
        given["can_give_to"]["o_neg"] = json!(true);
        let error = results.fill(&given, false).unwrap_err();
        assert_eq!(error.reason.id(), "claim-derived");
        assert!(error.to_string().contains("can_give_to.o_neg"), "{error}");
        given.remove("can_give_to");
        given.remove("blood_group");
        let without = results.fill(&given, false).unwrap();
        let answers = without["can_give_to"].as_object().unwrap();
        assert_eq!(answers.len(), 8);
        assert!(answers.values().all(|answer| *answer == false));
    }

    #[test]
    fn every_sample_can_be_an_anoncreds_credential() {
        let all = samples("urn:selfsame:credential:").into_iter();
        for one in all.filter(|one| one.doctype.is_none()) {
            let refusals = crate::project::anoncreds_refusals(&one.definition);
            assert_eq!(refusals, [], "{}", one.id);
            let claims = one.fill(&Map::new(), true).unwrap();
            let values = crate::project::attribute_values(&one.definition, &claims);
            let mut names: Vec<_> = values.into_iter().map(|one| one.name).collect();
            names.extend(one.single_use.then(|| "single_use_handle".to_owned()));
            assert_eq!(names, crate::project::attributes(&one.definition));
        }
    }

    #[test]
    fn the_holder_can_withhold_what_the_file_says() {
        let paths = sample("allergies").disclosable().unwrap();
        let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
        assert!(paths.contains(&"patient.given_name".to_owned()));
        assert!(paths.contains(&"allergies".to_owned()));
        assert!(paths.contains(&"allergies[]".to_owned()));
        assert!(!paths.contains(&"document_code".to_owned()));
        assert!(!paths.iter().any(|path| path.starts_with("allergies[].")));
        let dosage = sample("prescription").disclosable().unwrap();
        assert!(!dosage.iter().any(|path| path.to_string() == "dosage[]"));
    }
}
