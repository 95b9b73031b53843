//! Questions about tokens: introspection (RFC 7662) and revocation (RFC 7009).

use selfsame_crypto::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Code, Error};
use crate::form::Form;

/// The longest token, in bytes.
const MAX_TOKEN: usize = 32 * 1024;

/// A token that is asked about, or revoked.
#[derive(Clone, Debug)]
pub struct TokenQuery {
    /// The token.
    pub token: SecretString,
}

impl TokenQuery {
    /// Takes the token out of a form. The hint is not needed: both kinds of tokens are told apart by their form (RFC 7662
    /// §2.1).
    ///
    /// # Errors
    /// `invalid_request` without a token, or with one that is too long.
    pub fn take(mut form: Form) -> Result<Self, Error> {
        let token = form.take("token").filter(|token| token.len() <= MAX_TOKEN);
        let token = token.map(SecretString::from);
        let token = token.ok_or(Error::new(
            Code::InvalidRequest,
            "token is missing or too long",
        ))?;
        Ok(Self { token })
    }
}

/// What is known of a token (RFC 7662 §2.2).
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Introspection {
    /// Whether the token is valid. If not, nothing else is said.
    pub active: bool,
    /// Its scopes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The client that it was given to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// `Bearer` or `DPoP`; absent for a refresh token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_type: Option<String>,
    /// Its end, in seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exp: Option<u64>,
    /// When it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iat: Option<u64>,
    /// The subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub: Option<String>,
    /// For whom it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aud: Option<String>,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iss: Option<String>,
    /// Its identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jti: Option<String>,
    /// The key that it is bound to (RFC 9449 §6.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cnf: Option<Map<String, Value>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_token_that_is_not_valid_nothing_else_is_said() {
        let text = serde_json::to_string(&Introspection::default()).unwrap();
        assert_eq!(text, r#"{"active":false}"#);
    }

    #[test]
    fn a_question_has_a_token() {
        let form = |text: &str| Form::parse(text.as_bytes()).unwrap();
        let query = TokenQuery::take(form("token=a&token_type_hint=x")).unwrap();
        assert_eq!(query.token.expose(), "a");
        assert!(TokenQuery::take(form("token_type_hint=x")).is_err());
    }
}
