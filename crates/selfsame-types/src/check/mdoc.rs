//! Checks of a type that is issued as a mobile document: what such a document can say.

use selfsame_credential::format::Profile;
use selfsame_credential::mdoc::elements::model;
use selfsame_driver::Reason;

use super::Checked;
use crate::model::TypeDefinition;

pub(super) fn check(definition: &TypeDefinition, found: &mut Checked) {
    let namespaces = definition.claims.iter().enumerate();
    let namespaces = namespaces.filter_map(|(number, claim)| {
        let place = format!("claims[{number}].namespace");
        Some((claim.namespace.as_deref()?, place))
    });
    let own = definition
        .namespace
        .as_deref()
        .map(|own| (own, "namespace".to_owned()));
    for (namespace, place) in own.into_iter().chain(namespaces) {
        found.text(namespace, &place);
    }
    let mut formats = definition.formats.issued.iter();
    if !formats.any(|format| format.describe().profile == Profile::Mdoc) {
        return;
    }
    let Some(doctype) = &definition.doctype else {
        return found.refuse(Reason::new("type-doctype-missing"));
    };
    for (number, claim) in definition.claims.iter().enumerate() {
        let place = format!("claims[{number}]");
        if !claim.is_in_credential() {
            continue;
        }
        if claim.path.len() != 1 {
            found
                .refuse(Reason::new("type-element-nested").with("place", &format!("{place}.path")));
        } else if let Err(error) = definition.element(claim, &claim.sample()) {
            found.refuse(
                Reason::new("type-element-value")
                    .with("place", &place)
                    .with("detail", &error),
            );
        }
    }
    for namespace in model(doctype).iter().flat_map(|model| model.namespaces) {
        let in_it = definition
            .claims
            .iter()
            .filter(|claim| definition.namespace_of(claim) == namespace.name);
        let names: Vec<&str> = in_it
            .flat_map(|claim| &claim.path)
            .map(String::as_str)
            .collect();
        let missing = model(doctype).map(|model| model.missing(namespace.name, &names));
        let missing = missing.unwrap_or_default().join(", ");
        if !missing.is_empty() {
            found.advice.push(
                Reason::new("type-elements-missing")
                    .with("namespace", namespace.name)
                    .with("elements", &missing),
            );
        }
    }
}
