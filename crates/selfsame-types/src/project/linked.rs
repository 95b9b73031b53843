//! A type as W3C credentials with Data Integrity proofs have it: its terms stand in the credential, because verifiers fetch
//! no context.

use selfsame_credential::format::Profile;
use selfsame_credential::format::ldp_vc::{
    BASE_CONTEXT, IntegrityError, check, defines, expand_types,
};
use selfsame_driver::{Error, Result};
use serde_json::{Map, Value, json};

use super::json_ld::terms_below;
use crate::model::{CredentialType, TypeDefinition};

impl TypeDefinition {
    /// The context with the terms of the type, whose URLs begin with this text. Terms that every credential has keep their
    /// meaning.
    fn own_terms(&self, vocabulary: &str) -> Value {
        let mut terms = terms_below(self, vocabulary);
        terms.retain(|name, _| !defines(name));
        Value::Object(terms)
    }

    /// Checks that a credential with these claims can be signed: nothing in it is without a meaning.
    pub(crate) fn check_signable(
        &self,
        claims: &Map<String, Value>,
    ) -> std::result::Result<(), IntegrityError> {
        let document = json!({
            "@context": [BASE_CONTEXT, self.own_terms("urn:selfsame:terms")],
            "type": self.w3c_types(),
            "issuer": "did:example:issuer",
            "credentialSubject": claims,
        });
        check(document.as_object().unwrap_or(&Map::new()))
    }

    /// Whether it is issued with Data Integrity proofs.
    pub(crate) fn is_linked(&self) -> bool {
        let mut formats = self.formats.issued.iter();
        formats.any(|format| format.describe().profile == Profile::DataIntegrity)
    }

    /// Checks the claims of a credential with a Data Integrity proof.
    ///
    /// # Errors
    /// `BadRequest` with what could not be signed.
    pub fn signable(&self, claims: &Map<String, Value>) -> Result<()> {
        self.check_signable(claims)
            .map_err(|error| Error::bad_request("claim-not-signable").with("detail", &error))
    }
}

impl CredentialType {
    /// The contexts of its credentials: the data model's, and its own terms.
    #[must_use]
    pub fn linked_contexts(&self) -> [Value; 2] {
        // Those of a sample are the same everywhere.
        let vocabulary = match &self.served {
            Some(served) => served.addresses.context(),
            None => self.vct.clone(),
        };
        [BASE_CONTEXT.into(), self.own_terms(&vocabulary)]
    }

    /// Its types as queries name them, expanded (OpenID4VP 1.0 §B.1.1).
    #[must_use]
    pub fn linked_types(&self) -> Vec<String> {
        let types = self.w3c_types();
        expand_types(&self.linked_contexts(), &types).unwrap_or(types)
    }
}
