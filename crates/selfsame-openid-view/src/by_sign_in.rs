//! Who signed in to get a credential.

use selfsame_crypto::SecretString;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256_parts;
use selfsame_crypto::time::UnixTime;
use selfsame_oauth::{AuthorizationDetail, ScopeSet};
use serde_json::{Map, Value};

/// An access token of the provider that is valid now, and the person it stands for.
#[derive(Clone, Debug)]
pub struct TokenBySignIn {
    /// The token.
    pub token: SecretString,
    /// The identifier of the sign-in that it comes from; it is the same after a refresh.
    pub sign_in: String,
    /// When that sign-in ends.
    pub ends: UnixTime,
    /// The thumbprint of the key that the token is bound to, which was proven.
    pub key: Option<String>,
    /// The client that has it.
    pub client_id: String,
    /// The person's subject for this client.
    pub subject: String,
    /// Its scopes; one that is the id of a type grants the credentials of that type.
    pub scope: ScopeSet,
    /// The credentials that it grants one by one; if there are any, the scopes grant none.
    pub details: Vec<AuthorizationDetail>,
    /// The `issuer_state` of the authorization request.
    pub issuer_state: Option<String>,
    /// What the person agreed to tell.
    pub claims: Map<String, Value>,
    /// When it ends.
    pub expires: UnixTime,
}

/// The record of what is got with a token. A token may be for several credentials, and a record is for the data of one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HeldGrant<'b> {
    /// The id of the record.
    pub id: String,
    /// The thumbprint of the key that its holder must prove here; `None` where the provider has checked that.
    pub key: Option<&'b str>,
    /// When it ends.
    pub until: UnixTime,
}

impl TokenBySignIn {
    /// The grant of a configuration that lasts as long as this token.
    #[must_use]
    pub fn grant(&self, configuration: &str) -> HeldGrant<'_> {
        HeldGrant {
            id: named(&[self.token.expose(), configuration]),
            key: None,
            until: self.expires,
        }
    }

    /// The grant of a configuration that lasts as long as the sign-in, so that it is found with a refreshed token too. It
    /// belongs to the key that it began with: whoever refreshes with another key is not known to be the same holder
    /// (RFC 9449 §5).
    #[must_use]
    pub fn lasting_grant(&self, configuration: &str) -> HeldGrant<'_> {
        HeldGrant {
            id: named(&["sign-in", "\n", &self.sign_in, "\n", configuration]),
            key: self.key.as_deref(),
            until: self.ends,
        }
    }

    /// What tells the account of the person from others. Nobody learns the person from it.
    #[must_use]
    pub fn account(&self) -> String {
        named(&["account", "\n", &self.client_id, "\n", &self.subject])
    }
}

fn named(parts: &[&str]) -> String {
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    base64url_encode(&sha256_parts(&parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str, sign_in: &str, key: Option<&str>) -> TokenBySignIn {
        TokenBySignIn {
            token: SecretString::from(text.to_owned()),
            sign_in: sign_in.to_owned(),
            ends: UnixTime(9_000),
            key: key.map(str::to_owned),
            client_id: "wallet".to_owned(),
            subject: "maja".to_owned(),
            scope: ScopeSet::default(),
            details: Vec::new(),
            issuer_state: None,
            claims: Map::new(),
            expires: UnixTime(600),
        }
    }

    #[test]
    fn a_lasting_grant_is_found_after_a_refresh_and_another_one_is_not() {
        let (first, refreshed) = (token("a.b.c", "s1", None), token("d.e.f", "s1", None));
        let (one, other) = (first.lasting_grant("pass"), first.grant("pass"));
        assert_eq!(one, refreshed.lasting_grant("pass"));
        assert_eq!((one.until, other.until), (UnixTime(9_000), UnixTime(600)));
        assert_ne!(other.id, refreshed.grant("pass").id);
        assert_ne!(one.id, token("a.b.c", "s2", None).lasting_grant("pass").id);
        assert_ne!(one.id, first.lasting_grant("badge").id);
    }

    #[test]
    fn a_lasting_grant_belongs_to_the_key_that_it_began_with() {
        let grant = |key| {
            token("a.b.c", "s1", key)
                .lasting_grant("pass")
                .key
                .map(str::to_owned)
        };
        assert_eq!(grant(Some("k1")).as_deref(), Some("k1"));
        assert_ne!(grant(Some("k1")), grant(Some("k2")));
        assert_ne!(grant(Some("k1")), grant(None));
        assert_eq!(token("a.b.c", "s1", Some("k1")).grant("pass").key, None);
    }

    #[test]
    fn an_account_is_the_same_at_each_sign_in_of_a_person() {
        let (first, later) = (token("a.b.c", "s1", None), token("d.e.f", "s2", Some("k")));
        assert_eq!(first.account(), later.account());
        let other = TokenBySignIn {
            subject: "eve".to_owned(),
            ..first.clone()
        };
        assert_ne!(first.account(), other.account());
    }
}
