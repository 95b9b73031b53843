//! A type as a mobile document (ISO/IEC 18013-5): its elements by namespace, and their values in CBOR.

use selfsame_credential::format::Profile;
use selfsame_credential::mdoc::MdocError;
use selfsame_credential::mdoc::elements::{ElementKind, encode_as, encode_element, generic, model};
use selfsame_credential::mdoc::held::ElementPath;
use selfsame_credential::mdoc::issue::{IssuedElement, IssuedNamespace};
use selfsame_credential::{ClaimPath, Format};
use selfsame_driver::{Error, Result};
use serde_json::{Map, Value};

use crate::fill::{at, claim_path};
use crate::model::{ClaimKind, CredentialType, TypeClaim, TypeDefinition};

impl TypeDefinition {
    /// The namespace of a claim in a mobile document: its own, or that of the type, or the document type.
    #[must_use]
    pub fn namespace_of<'a>(&'a self, claim: &'a TypeClaim) -> &'a str {
        let own = claim.namespace.as_deref().or(self.namespace.as_deref());
        own.or(self.doctype.as_deref()).unwrap_or_default()
    }

    /// The path of a claim in a credential of this format. In a mobile document, whose elements are shown as a whole, it
    /// is that of the element that contains the claim.
    ///
    /// # Errors
    /// `Internal` for an empty path.
    pub fn path_in(&self, path: &[String], format: Format) -> Result<ClaimPath> {
        if format.describe().profile != Profile::Mdoc {
            return claim_path(path, format);
        }
        let element = path.first().map(String::as_str).unwrap_or_default();
        let claim = path
            .first()
            .and_then(|first| self.claim(std::slice::from_ref(first)));
        let namespace = claim.map_or_else(
            || self.namespace.as_deref().or(self.doctype.as_deref()),
            |claim| Some(self.namespace_of(claim)),
        );
        let names = [namespace.unwrap_or_default(), element];
        ClaimPath::of_names(names).map_err(Error::internal)
    }

    /// The claims of a credential as the elements of a mobile document.
    ///
    /// # Errors
    /// `BadRequest` for a value that an element does not have.
    pub fn elements(&self, claims: &Map<String, Value>) -> Result<Vec<IssuedNamespace>> {
        let mut namespaces: Vec<IssuedNamespace> = Vec::new();
        for claim in self.claims.iter().filter(|claim| claim.is_in_credential()) {
            let Some(value) = at(claims, &claim.path) else {
                continue;
            };
            let element = self.element(claim, value).map_err(|error| {
                Error::bad_request("claim-no-element")
                    .with("claim", &claim.path.join("."))
                    .with("detail", &error)
            })?;
            let name = self.namespace_of(claim);
            match namespaces.iter_mut().find(|known| known.name == name) {
                Some(known) => known.elements.push(element),
                None => namespaces.push(IssuedNamespace {
                    name: name.to_owned(),
                    elements: vec![element],
                }),
            }
        }
        Ok(namespaces)
    }

    /// The element that a claim with this value is.
    pub(crate) fn element(
        &self,
        claim: &TypeClaim,
        value: &Value,
    ) -> std::result::Result<IssuedElement, MdocError> {
        let (namespace, name) = (self.namespace_of(claim), claim.path.join("."));
        let doctype = self.doctype.as_deref().unwrap_or_default();
        let path = ElementPath {
            namespace,
            element: &name,
        };
        let known = model(doctype).and_then(|model| model.element(namespace, &name));
        let value = match (known, claim.element_kind()) {
            (Some(_), _) => encode_element(doctype, path, value)?,
            (None, Some(kind)) => encode_as(kind, value).ok_or_else(|| MdocError::Value {
                element: name.clone(),
                wanted: kind.as_str(),
            })?,
            (None, None) => generic(value).ok_or_else(|| MdocError::Value {
                element: name.clone(),
                wanted: "a value that CBOR has",
            })?,
        };
        Ok(IssuedElement { name, value })
    }
}

impl TypeClaim {
    /// What its values are in a mobile document whose type is not known here; `None` for those written as in JSON.
    const fn element_kind(&self) -> Option<ElementKind> {
        match self.kind {
            ClaimKind::Date => Some(ElementKind::Day),
            ClaimKind::Image => Some(ElementKind::Bytes),
            ClaimKind::Boolean => Some(ElementKind::Bool),
            ClaimKind::Text | ClaimKind::Enumeration => Some(ElementKind::LongText),
            ClaimKind::Number | ClaimKind::Object | ClaimKind::List => None,
        }
    }
}

impl CredentialType {
    /// The types that a credential of this format has.
    #[must_use]
    pub fn types_in(&self, format: Format) -> Vec<String> {
        match format.describe().profile {
            Profile::SdJwtVc => vec![self.vct.clone()],
            Profile::Mdoc => self.doctype.iter().cloned().collect(),
            Profile::DataIntegrity => self.linked_types(),
            Profile::W3c | Profile::Compact => self.w3c_types(),
        }
    }

    /// The format that it is asked for in unless another one is named: the usual one, or else the first that it is issued
    /// in.
    #[must_use]
    pub fn usual_format(&self) -> Format {
        let mut offered = self.formats.offered();
        let usual = self
            .is_issued_as(Format::DEFAULT)
            .then_some(Format::DEFAULT);
        usual.or_else(|| offered.next()).unwrap_or(Format::DEFAULT)
    }

    /// The names by which queries ask for it: its SD-JWT VC type, its narrowest W3C type, its document type, and its
    /// expanded types if it has Data Integrity proofs.
    #[must_use]
    pub fn query_names(&self) -> Vec<String> {
        let narrow = self.w3c_types().pop();
        let names = [Some(self.vct.clone()), narrow, self.doctype.clone()];
        let linked = self.is_linked().then(|| self.linked_types());
        let names = names.into_iter().flatten();
        names.chain(linked.into_iter().flatten()).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::file::read_json;

    fn club() -> TypeDefinition {
        let file = json!({
            "id": "club", "title": {"en": "Club"}, "doctype": "org.club.1", "formats": ["mso_mdoc"],
            "claims": [
                {"path": ["since"], "kind": "date"},
                {"path": ["photo"], "kind": "image"},
                {"path": ["address"], "kind": "object", "claims": [{"path": ["city"], "kind": "text"}]},
                {"path": ["level"], "kind": "number", "integer": true, "namespace": "org.club.1.levels"},
            ],
        });
        read_json(file.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn claims_are_elements_of_their_namespaces_and_days_and_images_have_their_own_forms() {
        let (club, claims) = (
            club(),
            json!({"since": "2020-01-02", "photo": "data:image/png;base64,iVBORw==", "address": {"city": "Bern"}, "level": 3}),
        );
        let namespaces = club.elements(claims.as_object().unwrap()).unwrap();
        let names: Vec<_> = namespaces
            .iter()
            .map(|one| (&*one.name, one.elements.len()))
            .collect();
        assert_eq!(names, [("org.club.1", 3), ("org.club.1.levels", 1)]);
        let value = |at: usize| &namespaces[0].elements[at].value;
        assert_eq!(value(0)[..4], [0xd9, 0x03, 0xec, 0x6a]);
        assert_eq!(value(1)[..2], [0x44, 0x89]);
        let wrong = json!({"level": 1.5});
        let error = club.elements(wrong.as_object().unwrap()).unwrap_err();
        assert_eq!(error.reason.id(), "claim-no-element");
    }

    #[test]
    fn a_claim_is_asked_for_by_its_namespace_and_the_element_that_contains_it() {
        let path = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            let path = club().path_in(&names, Format::MsoMdoc).unwrap();
            path.to_value()
        };
        assert_eq!(path(&["address", "city"]), json!(["org.club.1", "address"]));
        assert_eq!(path(&["level"]), json!(["org.club.1.levels", "level"]));
    }
}
