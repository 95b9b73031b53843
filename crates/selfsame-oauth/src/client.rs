//! How a client says who it is (RFC 6749 §2.3, RFC 7523 §2.2, OpenID Connect Core §9).

mod assertion;
pub mod authorization;
pub mod possession;

use selfsame_crypto::SecretString;
use selfsame_crypto::encoding::base64_decode;
use serde::{Deserialize, Serialize};

use crate::error::{Code, Error};
use crate::form::{Form, decode_text};
use crate::metadata::ATTESTED;

pub use assertion::{AssertionRules, ClientAssertion};

/// The type of an assertion that is a JWT (RFC 7523 §2.2).
pub const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// The longest client identifier, in bytes.
pub const MAX_CLIENT_ID: usize = 512;
/// The longest secret, in bytes.
const MAX_SECRET: usize = 512;

/// A method of authentication.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthenticationMethod {
    /// The client has no secret. It is identified by its name alone.
    None,
    /// A secret in the header `Authorization`.
    ClientSecretBasic,
    /// A secret in the form.
    ClientSecretPost,
    /// A token that the client signs with its private key.
    PrivateKeyJwt,
    /// An attestation by somebody whom the server trusts, and a proof of possession of the attested key.
    AttestJwtClientAuth,
}

impl AuthenticationMethod {
    /// All methods.
    pub const ALL: [Self; 5] = [
        Self::PrivateKeyJwt,
        Self::AttestJwtClientAuth,
        Self::ClientSecretBasic,
        Self::ClientSecretPost,
        Self::None,
    ];

    /// The registered name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ClientSecretBasic => "client_secret_basic",
            Self::ClientSecretPost => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
            Self::AttestJwtClientAuth => ATTESTED,
        }
    }

    /// Whether the client has a secret.
    pub const fn has_secret(self) -> bool {
        matches!(self, Self::ClientSecretBasic | Self::ClientSecretPost)
    }
}

/// Who a client says it is, and how it proves that.
#[derive(Clone, Debug)]
pub struct ClientCredentials {
    /// The client's identifier.
    pub client_id: String,
    /// The proof.
    pub proof: ClientProof,
}

/// The proof of a client.
#[derive(Clone, Debug)]
pub enum ClientProof {
    /// None.
    None,
    /// A secret.
    Secret {
        /// Where it was.
        method: AuthenticationMethod,
        /// The secret.
        secret: SecretString,
    },
    /// An assertion.
    Assertion(Box<ClientAssertion>),
}

impl ClientProof {
    /// The method.
    pub fn method(&self) -> AuthenticationMethod {
        match self {
            Self::None => AuthenticationMethod::None,
            Self::Secret { method, .. } => *method,
            Self::Assertion(_) => AuthenticationMethod::PrivateKeyJwt,
        }
    }
}

impl ClientCredentials {
    /// Takes the credentials out of a request: its form, and its header `Authorization` if that is of the scheme
    /// `Basic`.
    ///
    /// # Errors
    /// `invalid_request` for credentials of more than one method (RFC 6749 §2.3), `invalid_client` for malformed ones.
    pub fn take(form: &mut Form, authorization: Option<&str>) -> Result<Self, Error> {
        let named = form.take("client_id");
        let secret = form.take("client_secret");
        let assertion = form.take("client_assertion");
        let kind = form.take("client_assertion_type");
        let methods = [
            authorization.is_some(),
            secret.is_some(),
            assertion.is_some(),
        ];
        if methods.into_iter().filter(|used| *used).count() > 1 {
            return Err(Error::new(
                Code::InvalidRequest,
                "the client authenticates in more than one way",
            ));
        }
        let given = match (authorization, secret, assertion) {
            (Some(header), _, _) => basic(header)?,
            (_, Some(secret), _) => Self {
                client_id: named.clone().ok_or(invalid("client_id is missing"))?,
                proof: ClientProof::Secret {
                    method: AuthenticationMethod::ClientSecretPost,
                    secret: secret.into(),
                },
            },
            (_, _, Some(assertion)) => asserted(&assertion, kind.as_deref())?,
            (None, None, None) => Self {
                client_id: named.clone().ok_or(invalid("client_id is missing"))?,
                proof: ClientProof::None,
            },
        };
        given.checked(named.as_deref())
    }

    fn checked(self, named: Option<&str>) -> Result<Self, Error> {
        if named.is_some_and(|named| named != self.client_id) {
            return Err(invalid("client_id is not that of the authentication"));
        }
        if self.client_id.is_empty() || self.client_id.len() > MAX_CLIENT_ID {
            return Err(invalid("the client's identifier is empty or too long"));
        }
        match &self.proof {
            ClientProof::Secret { secret, .. } if secret.expose().len() > MAX_SECRET => {
                Err(invalid("the client's secret is too long"))
            }
            _ => Ok(self),
        }
    }
}

const fn invalid(reason: &'static str) -> Error {
    Error::new(Code::InvalidClient, reason)
}

/// RFC 6749 §2.3.1: both halves are form-encoded before they are joined.
fn basic(header: &str) -> Result<ClientCredentials, Error> {
    let malformed = || invalid("the header Authorization is malformed");
    let bytes = base64_decode(header.trim()).map_err(|_| malformed())?;
    let text = String::from_utf8(bytes).map_err(|_| malformed())?;
    let (id, secret) = text.split_once(':').ok_or_else(malformed)?;
    Ok(ClientCredentials {
        client_id: decode_text(id).map_err(|_| malformed())?,
        proof: ClientProof::Secret {
            method: AuthenticationMethod::ClientSecretBasic,
            secret: decode_text(secret).map_err(|_| malformed())?.into(),
        },
    })
}

fn asserted(text: &str, kind: Option<&str>) -> Result<ClientCredentials, Error> {
    if kind != Some(JWT_BEARER) {
        return Err(invalid("client_assertion_type is not that of a JWT"));
    }
    let assertion = ClientAssertion::parse(text)?;
    Ok(ClientCredentials {
        client_id: assertion.client_id().to_owned(),
        proof: ClientProof::Assertion(Box::new(assertion)),
    })
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::encoding::base64_encode;

    use super::*;

    fn take(form: &str, header: Option<&str>) -> Result<ClientCredentials, Error> {
        ClientCredentials::take(&mut Form::parse(form.as_bytes()).unwrap(), header)
    }

    fn header(id: &str, secret: &str) -> String {
        base64_encode(format!("{id}:{secret}").as_bytes())
    }

    #[test]
    fn a_secret_is_read_from_the_header_or_from_the_form() {
        let header = header("a%3Ab", "c%20d+e");
        let given = take("", Some(&header)).unwrap();
        assert_eq!(given.client_id, "a:b");
        let ClientProof::Secret { secret, method } = given.proof else {
            panic!("no secret");
        };
        assert_eq!(secret.expose(), "c d e");
        assert_eq!(method, AuthenticationMethod::ClientSecretBasic);
        let given = take("client_id=a&client_secret=b", None).unwrap();
        assert_eq!(given.proof.method(), AuthenticationMethod::ClientSecretPost);
        let given = take("client_id=a", None).unwrap();
        assert_eq!(given.proof.method(), AuthenticationMethod::None);
    }

    #[test]
    fn two_methods_in_one_request_are_refused() {
        let header = header("a", "b");
        let error = take("client_id=a&client_secret=b", Some(&header)).unwrap_err();
        assert_eq!(error.code, Code::InvalidRequest);
    }

    #[test]
    fn a_client_that_names_another_than_it_authenticates_is_refused() {
        let header = header("a", "b");
        let error = take("client_id=c", Some(&header)).unwrap_err();
        assert_eq!(error.code, Code::InvalidClient);
    }

    #[test]
    fn credentials_that_are_absent_or_malformed_are_refused() {
        let no_colon = base64_encode(b"ab");
        for (form, header) in [
            ("", None),
            ("client_secret=b", None),
            ("client_assertion=a", None),
            ("", Some("%")),
            ("", Some(no_colon.as_str())),
        ] {
            let error = take(form, header).unwrap_err();
            assert_eq!(error.code, Code::InvalidClient, "{form}");
        }
    }
}
