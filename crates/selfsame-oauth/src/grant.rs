//! The requests to a token endpoint, by grant.

use selfsame_crypto::SecretString;
use serde::{Deserialize, Serialize};

use crate::error::{Code, Error};
use crate::form::Form;
use crate::scope::ScopeSet;
use crate::token::{PRE_AUTHORIZED_CODE, TokenRequest};

/// The longest code, token or verifier, in bytes.
const MAX_CODE: usize = 2_048;

/// A kind of grant.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub enum GrantType {
    /// A code from the authorization endpoint (RFC 6749 §4.1).
    #[serde(rename = "authorization_code")]
    AuthorizationCode,
    /// A refresh token (RFC 6749 §6).
    #[serde(rename = "refresh_token")]
    RefreshToken,
    /// A code from a credential offer (OpenID4VCI 1.0 §4.1.1).
    #[serde(rename = "urn:ietf:params:oauth:grant-type:pre-authorized_code")]
    PreAuthorizedCode,
}

impl GrantType {
    /// The registered name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AuthorizationCode => "authorization_code",
            Self::RefreshToken => "refresh_token",
            Self::PreAuthorizedCode => PRE_AUTHORIZED_CODE,
        }
    }
}

/// A token request, by its grant.
#[derive(Clone, Debug)]
pub enum Grant {
    /// A code from the authorization endpoint.
    AuthorizationCode(CodeRedemption),
    /// A refresh token.
    RefreshToken(Refresh),
    /// A code from a credential offer.
    PreAuthorizedCode(TokenRequest),
}

/// A code that is to be redeemed (RFC 6749 §4.1.3, RFC 7636 §4.5).
#[derive(Clone, Debug)]
pub struct CodeRedemption {
    /// The code.
    pub code: SecretString,
    /// The redirect URI that the code was sent to.
    pub redirect_uri: Option<String>,
    /// The verifier of the code challenge.
    pub code_verifier: Option<SecretString>,
}

/// A refresh token that is to be redeemed (RFC 6749 §6).
#[derive(Clone, Debug)]
pub struct Refresh {
    /// The token.
    pub refresh_token: SecretString,
    /// The scopes, if fewer than were granted are wanted.
    pub scope: Option<ScopeSet>,
}

impl Grant {
    /// Takes a grant out of a form, from which the client's credentials were taken before.
    ///
    /// # Errors
    /// RFC 6749 §5.2.
    pub fn take(mut form: Form) -> Result<Self, Error> {
        let refuse = |reason| Error::new(Code::InvalidRequest, reason);
        match form.get("grant_type") {
            Some("authorization_code") => Ok(Self::AuthorizationCode(CodeRedemption {
                code: secret(&mut form, "code")?.ok_or(refuse("code is missing"))?,
                redirect_uri: form.take("redirect_uri"),
                code_verifier: secret(&mut form, "code_verifier")?,
            })),
            Some("refresh_token") => Ok(Self::RefreshToken(Refresh {
                refresh_token: secret(&mut form, "refresh_token")?
                    .ok_or(refuse("refresh_token is missing"))?,
                scope: form
                    .take("scope")
                    .map(|scope| ScopeSet::parse(&scope))
                    .transpose()?,
            })),
            Some(PRE_AUTHORIZED_CODE) => TokenRequest::take(form).map(Self::PreAuthorizedCode),
            Some(_) => Err(Error::new(
                Code::UnsupportedGrantType,
                "the grant type is not supported",
            )),
            None => Err(refuse("grant_type is missing")),
        }
    }
}

fn secret(form: &mut Form, name: &str) -> Result<Option<SecretString>, Error> {
    match form.take(name) {
        Some(value) if value.len() > MAX_CODE => Err(Error::new(
            Code::InvalidRequest,
            "a code, token or verifier is too long",
        )),
        value => Ok(value.map(SecretString::from)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(form: &str) -> Result<Grant, Error> {
        Grant::take(Form::parse(form.as_bytes()).unwrap())
    }

    #[test]
    fn each_grant_is_read_with_its_own_parameters() {
        let grant = take("grant_type=authorization_code&code=a&redirect_uri=b&code_verifier=c");
        let Grant::AuthorizationCode(redemption) = grant.unwrap() else {
            panic!("another grant");
        };
        assert_eq!(redemption.code.expose(), "a");
        assert_eq!(redemption.redirect_uri.as_deref(), Some("b"));
        let Grant::RefreshToken(refresh) =
            take("grant_type=refresh_token&refresh_token=a&scope=openid").unwrap()
        else {
            panic!("another grant");
        };
        assert!(refresh.scope.unwrap().has("openid"));
        let offered = format!("grant_type={PRE_AUTHORIZED_CODE}&pre-authorized_code=a");
        assert!(matches!(take(&offered), Ok(Grant::PreAuthorizedCode(_))));
    }

    #[test]
    fn a_grant_that_is_unknown_or_lacks_its_code_is_refused() {
        let code = |form: &str| take(form).unwrap_err().code;
        assert_eq!(code("grant_type=password"), Code::UnsupportedGrantType);
        for form in [
            "code=a",
            "grant_type=authorization_code",
            "grant_type=refresh_token",
        ] {
            assert_eq!(code(form), Code::InvalidRequest);
        }
        let long = format!(
            "grant_type=refresh_token&refresh_token={}",
            "a".repeat(2_049)
        );
        assert_eq!(code(&long), Code::InvalidRequest);
    }
}
