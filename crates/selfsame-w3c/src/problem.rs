//! What is wrong with a request or a document, by the codes of the specifications.

use selfsame_data_integrity::IntegrityError;
use selfsame_driver::Error;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

/// The types of problems, as URLs. The fragment is the title.
pub mod code {
    /// VCALM 1.0 "Error Handling".
    pub const UNKNOWN_OPTION: &str = "https://www.w3.org/TR/vcalm#UNKNOWN_OPTION_PROVIDED";
    /// VCDM 2.0 §7.2.
    pub const PARSING: &str = "https://www.w3.org/TR/vc-data-model#PARSING_ERROR";
    /// VCDM 2.0 §7.2.
    pub const CRYPTOGRAPHY: &str =
        "https://www.w3.org/TR/vc-data-model#CRYPTOGRAPHIC_SECURITY_ERROR";
    /// VCDM 2.0 §7.2.
    pub const MALFORMED: &str = "https://www.w3.org/TR/vc-data-model#MALFORMED_VALUE_ERROR";
    /// VCDM 2.0 §7.2.
    pub const RANGE: &str = "https://www.w3.org/TR/vc-data-model#RANGE_ERROR";
    /// Data Integrity §4.7.
    pub const PROOF_GENERATION: &str = "https://w3id.org/security#PROOF_GENERATION_ERROR";
    /// Data Integrity §4.7.
    pub const PROOF_VERIFICATION: &str = "https://w3id.org/security#PROOF_VERIFICATION_ERROR";
    /// Data Integrity §4.7.
    pub const CHALLENGE: &str = "https://w3id.org/security#INVALID_CHALLENGE_ERROR";
    /// Data Integrity §4.7.
    pub const DOMAIN: &str = "https://w3id.org/security#INVALID_DOMAIN_ERROR";
    /// Bitstring Status List §3.5.
    pub const STATUS_RETRIEVAL: &str =
        "https://www.w3.org/ns/credentials/status-list#STATUS_RETRIEVAL_ERROR";
    /// Bitstring Status List §3.5.
    pub const STATUS_VERIFICATION: &str =
        "https://www.w3.org/ns/credentials/status-list#STATUS_VERIFICATION_ERROR";
    /// No specification has a code for an issuer that a verifier does not trust.
    pub const UNTRUSTED: &str = "urn:selfsame:problem#UNTRUSTED_ISSUER";
}

/// A problem of a request or a document (RFC 9457). It contains no value of a claim.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VcProblem {
    /// Its type, from [`code`].
    pub kind: &'static str,
    /// What is wrong.
    pub detail: String,
}

/// Why something was not done.
#[derive(Debug)]
pub enum W3cError {
    /// The request or the document is refused.
    Refused(VcProblem),
    /// What else went wrong.
    Failed(Error),
}

impl VcProblem {
    /// A problem of this type.
    #[must_use]
    pub fn new(kind: &'static str, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
        }
    }

    /// A value that is missing or malformed.
    #[must_use]
    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::new(code::MALFORMED, detail)
    }

    /// The short name of its type.
    #[must_use]
    pub fn title(&self) -> &'static str {
        self.kind.rsplit('#').next().unwrap_or(self.kind)
    }
}

impl Serialize for VcProblem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("VcProblem", 3)?;
        members.serialize_field("type", self.kind)?;
        members.serialize_field("title", self.title())?;
        members.serialize_field("detail", &self.detail)?;
        members.end()
    }
}

impl From<&IntegrityError> for VcProblem {
    fn from(error: &IntegrityError) -> Self {
        Self::new(error.problem_type(), error.to_string())
    }
}

impl From<VcProblem> for W3cError {
    fn from(problem: VcProblem) -> Self {
        Self::Refused(problem)
    }
}

impl From<Error> for W3cError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_problem_is_written_with_its_type_its_title_and_its_detail() {
        let problem = VcProblem::malformed("`issuer` is missing");
        let written = serde_json::to_value(&problem).unwrap();
        let expected = json!({
            "type": "https://www.w3.org/TR/vc-data-model#MALFORMED_VALUE_ERROR",
            "title": "MALFORMED_VALUE_ERROR",
            "detail": "`issuer` is missing",
        });
        assert_eq!(written, expected);
    }
}
