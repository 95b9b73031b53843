//! The record of a sign-in, from the client's request to the last of its tokens. A code and its tokens name the record,
//! so whatever is used a second time finds what it gave.

use selfsame_core::machine::{FlowOrigin, FlowResult, FlowStage};
use selfsame_crypto::SecretString;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::{ct_eq, sha256};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Result};
use selfsame_oauth::jwt::Jwt;
use selfsame_oauth::{Code, ScopeSet, secret};
use selfsame_oidc::AuthorizationRequest;
use selfsame_oidc::token::Authentication;
use selfsame_store::Tag;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::identity::PersonClaims;
use crate::refusal::refuse;

/// The kind of the records of sign-ins.
pub const SIGN_IN: &str = "sign_in";
/// The tag by which the sign-ins of a person are found.
pub(crate) const PERSON_TAG: &str = "person";
/// The tag by which the sign-ins of a session are found.
pub(crate) const SESSION_TAG: &str = "session";
/// What separates the record from the secret in a code or a refresh token.
const PART: char = '.';
/// The claims of a signed text about itself (RFC 7519 §4.1).
const OF_TEXT: [&str; 7] = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti"];
/// The number of characters that an identity system gets to tell a sign-in by.
const TRANSACTION: usize = 10;

/// A sign-in.
#[derive(Deserialize, Serialize)]
pub(crate) struct SignInRecord {
    /// The client's request.
    pub request: AuthorizationRequest,
    /// The subject of the ID token that the client sent as a hint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hinted: Option<String>,
    /// SHA-256 of the secret that the person's browser has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<[u8; 32]>,
    /// How far it is.
    pub state: SignInState,
    /// When it ends, if nothing more happens.
    pub expires: UnixTime,
    /// Its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<FlowOrigin>,
}

/// How far a sign-in is.
#[derive(Deserialize, Serialize)]
pub(crate) enum SignInState {
    /// The person has not yet proved who they are.
    #[serde(rename = "asked/1")]
    Asked(UnprovenSignIn),
    /// The person has, and has not yet agreed.
    #[serde(rename = "proven/1")]
    Proven(Box<ProvenSignIn>),
    /// The client has a code.
    #[serde(rename = "coded/1")]
    Coded(Box<CodedSignIn>),
    /// The client has tokens.
    #[serde(rename = "granted/1")]
    Granted(Box<GrantedSignIn>),
    /// It is over; nothing that it gave is valid.
    #[serde(rename = "ended/1")]
    Ended,
}

/// What was tried.
#[derive(Clone, Copy, Default, Deserialize, Serialize)]
pub(crate) struct UnprovenSignIn {
    /// How many one-time passwords were sent.
    pub sent: u32,
    /// How many attempts were wrong.
    pub wrong: u32,
}

/// A person who proved who they are.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct ProvenSubject {
    /// The identity system's handle.
    pub handle: String,
    /// The subject for this client.
    pub subject: String,
    /// The identity system's token.
    #[serde(with = "secret")]
    pub token: SecretString,
    /// How and when.
    pub authentication: Authentication,
}

/// A sign-in whose person has not yet agreed.
#[derive(Deserialize, Serialize)]
pub(crate) struct ProvenSignIn {
    /// The person.
    pub person: ProvenSubject,
    /// What the person agreed to before, if that is all that is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreed: Option<AgreedTo>,
}

/// What a person agreed to.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct AgreedTo {
    /// The claims.
    pub claims: Vec<String>,
    /// The scopes, those that stand for claims and `openid` included.
    pub scope: ScopeSet,
}

/// A sign-in whose client has a code.
#[derive(Deserialize, Serialize)]
pub(crate) struct CodedSignIn {
    /// The person.
    pub person: ProvenSubject,
    /// What they agreed to.
    pub agreed: AgreedTo,
    /// SHA-256 of the code's secret.
    pub code: [u8; 32],
}

/// A sign-in whose client has tokens.
#[derive(Deserialize, Serialize)]
pub(crate) struct GrantedSignIn {
    /// The identity system's handle of the person.
    pub handle: String,
    /// The subject for this client.
    pub subject: String,
    /// How and when they proved who they are.
    pub authentication: Authentication,
    /// The scopes.
    pub scope: ScopeSet,
    /// The claims.
    pub claims: KeptClaims,
    /// SHA-256 of the secret of the code that was redeemed.
    pub code: [u8; 32],
    /// The thumbprint of the key that the tokens are bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jkt: Option<String>,
    /// The thumbprint of the attested key of the client's instance, to which the refresh token is bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// The refresh token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<RefreshState>,
    /// The numbers of access tokens that were revoked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revoked: Vec<String>,
}

/// The refresh token of a sign-in.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct RefreshState {
    /// SHA-256 of its secret.
    pub hash: [u8; 32],
    /// The hashes of those before it, newest last.
    pub spent: Vec<[u8; 32]>,
}

/// The claims of a person, as they are kept.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) enum KeptClaims {
    /// By name.
    Plain(Map<String, Value>),
    /// Signed by the identity system.
    Signed(String),
}

impl KeptClaims {
    /// The claims by name. What the identity system signed came from itself, so its signature says nothing new here.
    ///
    /// # Errors
    /// `Upstream` if what the identity system signed can't be read.
    pub fn plain(&self) -> Result<Map<String, Value>> {
        let signed = match self {
            Self::Plain(claims) => return Ok(claims.clone()),
            Self::Signed(jws) => Jwt::parse(jws),
        };
        let unread = |_| Error::upstream("identity-system-away");
        let mut claims = signed.map_err(unread)?.into_claims();
        // What the signed text says of itself is nothing about the person.
        claims.retain(|name, _| !OF_TEXT.contains(&name.as_str()));
        Ok(claims)
    }
}

impl From<PersonClaims> for KeptClaims {
    fn from(claims: PersonClaims) -> Self {
        match claims {
            PersonClaims::Plain(claims) => Self::Plain(claims),
            PersonClaims::Signed(jws) => Self::Signed(jws),
        }
    }
}

impl SignInRecord {
    /// The tags by which it is found.
    pub fn tags(&self) -> Vec<Tag> {
        let (handle, authentication) = match &self.state {
            SignInState::Asked(_) | SignInState::Ended => return Vec::new(),
            SignInState::Proven(one) => (&one.person.handle, &one.person.authentication),
            SignInState::Coded(one) => (&one.person.handle, &one.person.authentication),
            SignInState::Granted(one) => (&one.handle, &one.authentication),
        };
        let session = authentication.sid.iter();
        let session = session.map(|sid| Tag::hashed(SESSION_TAG, sid));
        session
            .chain([Tag::hashed(PERSON_TAG, handle.as_str())])
            .collect()
    }

    /// Its state, for traces and figures.
    pub fn stage(&self) -> FlowStage {
        let state = match &self.state {
            SignInState::Asked(_) => "asked",
            SignInState::Proven(_) => "proven",
            SignInState::Coded(_) => "coded",
            SignInState::Granted(_) => "signed-in",
            SignInState::Ended => "ended",
        };
        FlowStage {
            state,
            origin: self.origin,
        }
    }

    /// How it ended, for figures; a sign-in that is granted counts as made.
    pub fn result(&self) -> Option<FlowResult> {
        let result = match &self.state {
            SignInState::Asked(_) | SignInState::Proven(_) | SignInState::Coded(_) => return None,
            SignInState::Granted(_) => "made",
            SignInState::Ended => "declined",
        };
        let flow = "sign-in";
        Some(FlowResult { flow, result })
    }

    /// What was tried.
    ///
    /// # Errors
    /// `Conflict` if the person has proved who they are already.
    pub fn asked(&mut self) -> Result<&mut UnprovenSignIn> {
        match &mut self.state {
            SignInState::Asked(asked) => Ok(asked),
            _ => Err(elsewhere()),
        }
    }

    /// The person who is to agree.
    ///
    /// # Errors
    /// `Conflict` before and after that.
    pub fn proven(&self) -> Result<&ProvenSignIn> {
        match &self.state {
            SignInState::Proven(proven) => Ok(proven),
            _ => Err(elsewhere()),
        }
    }
}

/// The refusal of a call that does not fit the state of the sign-in.
pub(crate) fn elsewhere() -> Error {
    Error::new(selfsame_driver::ErrorKind::Conflict, "sign-in-elsewhere")
}

/// The id of the record of a sign-in. The database shows ids; a sign-in cannot be continued by them.
pub(crate) fn record_id(sign_in: &str) -> String {
    base64url_encode(&sha256(sign_in.as_bytes()))
}

/// What an identity system gets to tell a sign-in by.
pub(crate) fn transaction(record: &str) -> String {
    let plain = record.chars().filter(char::is_ascii_alphanumeric);
    plain.take(TRANSACTION).collect()
}

/// A code or a refresh token: the record that it belongs to, and its secret.
pub(crate) struct HandedCode {
    /// The id of the record.
    pub record: String,
    /// SHA-256 of the secret.
    pub hash: [u8; 32],
}

impl HandedCode {
    /// What is handed out for a record.
    pub fn make(record: &str, secret: &str) -> SecretString {
        SecretString::from(format!("{record}{PART}{secret}"))
    }

    /// What was handed out before.
    ///
    /// # Errors
    /// `invalid_grant` for a text of another form.
    pub fn read(text: &SecretString) -> Result<Self> {
        let parts = text.expose().split_once(PART);
        let parts = parts.filter(|(record, _)| record.len() <= 64);
        let unknown = || {
            refuse(
                Code::InvalidGrant,
                "the code or the refresh token is unknown",
            )
        };
        let (record, secret) = parts.ok_or_else(unknown)?;
        Ok(Self {
            record: record.to_owned(),
            hash: sha256(secret.as_bytes()),
        })
    }

    /// Whether it is the one with this hash.
    pub fn is(&self, hash: &[u8; 32]) -> bool {
        ct_eq(&self.hash, hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_handed_out_is_read_again_and_other_texts_are_not() {
        let made = HandedCode::make("record", "secret");
        let read = HandedCode::read(&made).unwrap();
        assert_eq!(read.record, "record");
        assert!(read.is(&sha256(b"secret")) && !read.is(&sha256(b"other")));
        assert!(HandedCode::read(&SecretString::from("no part")).is_err());
    }

    #[test]
    fn a_transaction_has_ten_plain_characters() {
        let name = transaction(&record_id("sign-in"));
        assert_eq!(name.len(), 10);
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric()));
    }
}
