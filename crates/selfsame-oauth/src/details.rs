//! Authorization details (RFC 9396) of the type `openid_credential` (OpenID4VCI 1.0 §5.1.1).

use selfsame_crypto::json::{self, Limits};
use serde::{Deserialize, Serialize};

use crate::error::{Code, Error};

/// The type that OpenID4VCI defines.
pub const OPENID_CREDENTIAL: &str = "openid_credential";
/// The maximum number of details in one request.
const MAX_DETAILS: usize = 32;

/// One credential that is requested or granted.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct AuthorizationDetail {
    /// Always `openid_credential`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The identifier of the credential configuration.
    pub credential_configuration_id: String,
    /// The credential issuer, if the authorization server serves several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locations: Option<Vec<String>>,
    /// In a token response: the credential datasets that the client may request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_identifiers: Option<Vec<String>>,
}

impl AuthorizationDetail {
    /// A request for a credential of this configuration.
    pub fn requesting(credential_configuration_id: &str) -> Self {
        Self {
            kind: OPENID_CREDENTIAL.to_owned(),
            credential_configuration_id: credential_configuration_id.to_owned(),
            locations: None,
            credential_identifiers: None,
        }
    }

    /// Parses the request parameter `authorization_details`: a non-empty array whose members all have our type.
    pub fn parse_request(text: &str) -> Result<Vec<Self>, Error> {
        let refuse = |reason| Error::new(Code::InvalidAuthorizationDetails, reason);
        let details: Vec<Self> = json::parse_as(text.as_bytes(), &Limits::default())
            .map_err(|_| refuse("authorization_details is not an array of credential details"))?;
        if details.is_empty() || details.len() > MAX_DETAILS {
            return Err(refuse("authorization_details is empty or too long"));
        }
        if details
            .iter()
            .any(|detail| detail.kind != OPENID_CREDENTIAL)
        {
            return Err(refuse("authorization_details has an unknown type"));
        }
        Ok(details)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_of_a_known_type_are_read_and_unknown_members_ignored() {
        let text = r#"[{"type":"openid_credential","credential_configuration_id":"a","x":1}]"#;
        let details = AuthorizationDetail::parse_request(text).unwrap();
        assert_eq!(details, [AuthorizationDetail::requesting("a")]);
    }

    #[test]
    fn details_that_are_empty_foreign_or_malformed_are_refused() {
        for bad in [
            "[]",
            "{}",
            r#"[{"type":"payment","credential_configuration_id":"a"}]"#,
            r#"[{"type":"openid_credential"}]"#,
            r#"[{"type":"openid_credential","type":"openid_credential","credential_configuration_id":"a"}]"#,
        ] {
            let error = AuthorizationDetail::parse_request(bad).unwrap_err();
            assert_eq!(error.code, Code::InvalidAuthorizationDetails, "{bad}");
        }
    }
}
