//! What an issuer demands of wallets, and whom it trusts to attest them.

use selfsame_attestation::key::KeyRequirements;
use selfsame_attestation::trust::KnownAttester;
use selfsame_driver::{Error, Result};
use selfsame_oauth::jwt::VerificationKeys;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Whether wallets authenticate by attestations.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WantedAttestation {
    /// They do not.
    #[default]
    Off,
    /// They may.
    Allowed,
    /// They must.
    Required,
}

/// What an issuer demands of wallets, and whom it trusts to attest them.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct AttestationConfig {
    /// Whether wallets authenticate by attestations.
    pub wallets: WantedAttestation,
    /// Whether the keys that credentials are bound to must be attested.
    pub keys: bool,
    /// The types whose keys must be attested; all, if empty.
    pub types: Vec<String>,
    /// The values of `key_storage` that are accepted; any or none, if empty.
    pub key_storage: Vec<String>,
    /// The values of `user_authentication` that are accepted; any or none, if empty.
    pub user_authentication: Vec<String>,
    /// The attesters that are trusted, beside the one of the instance's own wallet.
    pub attesters: Vec<AttesterConfig>,
}

/// An attester that is trusted: by its keys, or by certificates.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct AttesterConfig {
    /// Its name: `iss` of its attestations.
    pub issuer: Option<String>,
    /// Its public keys (JWK).
    pub keys: Vec<Value>,
    /// Anchors of its certificates, PEM; in a settings file, the paths to them.
    pub certificates: Vec<String>,
}

impl AttestationConfig {
    /// Whether attestations of any kind count.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.keys || self.wallets != WantedAttestation::Off
    }

    /// What is demanded of the keys of credentials of a type; `None` if nothing is.
    #[must_use]
    pub fn keys_of(&self, type_id: &str) -> Option<KeyRequirements> {
        let is_meant = self.types.is_empty() || self.types.iter().any(|one| one == type_id);
        (self.keys && is_meant).then(|| KeyRequirements {
            key_storage: self.key_storage.clone(),
            user_authentication: self.user_authentication.clone(),
        })
    }

    /// Validates what the types of the settings can't express, but for the certificates.
    ///
    /// # Errors
    /// `BadRequest`, with what to do.
    pub fn check(&self) -> Result<()> {
        let demands = self.key_storage.iter().chain(&self.user_authentication);
        if !self.keys && (demands.count() > 0 || !self.types.is_empty()) {
            return Err(Error::bad_request("attested-keys-off"));
        }
        self.known().map(|_| ())
    }

    /// The anchors of the attesters' certificates, PEM.
    #[must_use]
    pub fn certificates(&self) -> Vec<String> {
        let all = self.attesters.iter();
        all.flat_map(|one| one.certificates.iter().cloned())
            .collect()
    }

    /// The attesters that the settings name with keys.
    ///
    /// # Errors
    /// `BadRequest` for one without a name, keys or certificates, or with keys that can't be used.
    pub(crate) fn known(&self) -> Result<Vec<KnownAttester>> {
        let mut known = Vec::new();
        for attester in &self.attesters {
            known.extend(attester.known()?);
        }
        Ok(known)
    }
}

impl AttesterConfig {
    /// The attester by its keys; `None` if it is known by certificates alone.
    fn known(&self) -> Result<Option<KnownAttester>> {
        let issuer = self.issuer.as_ref().filter(|issuer| !issuer.is_empty());
        match (issuer, self.keys.is_empty(), self.certificates.is_empty()) {
            (_, true, false) => Ok(None),
            (Some(issuer), false, _) => {
                let set = VerificationKeys::from_value(&json!({ "keys": self.keys }));
                let keys = set.ok().filter(|set| set.keys().len() == self.keys.len());
                let unusable = || Error::bad_request("attester-keys").with("attester", issuer);
                Ok(Some(KnownAttester {
                    issuer: issuer.clone(),
                    keys: keys.ok_or_else(unusable)?,
                }))
            }
            _ => Err(Error::bad_request("attester-incomplete")),
        }
    }
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::{KeyType, PrivateKey};

    use super::*;

    fn read(value: Value) -> AttestationConfig {
        serde_json::from_value(value).unwrap()
    }

    fn jwk() -> Value {
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        key.public().to_jwk().to_value()
    }

    fn refused(attester: Value) -> String {
        let config = read(json!({"wallets": "required", "attesters": [attester]}));
        config.check().unwrap_err().reason.id().to_owned()
    }

    #[test]
    fn an_attester_has_a_name_and_keys_or_certificates() {
        let named = json!({"issuer": "https://a.example", "keys": [jwk(), jwk()]});
        let config = read(json!({"wallets": "allowed", "attesters": [named]}));
        config.check().unwrap();
        assert!(config.is_used() && config.certificates().is_empty());
        assert_eq!(config.known().unwrap()[0].issuer, "https://a.example");
        for incomplete in [
            json!({}),
            json!({"issuer": "https://a.example"}),
            json!({"keys": [jwk()]}),
            json!({"issuer": "", "keys": [jwk()]}),
        ] {
            assert_eq!(refused(incomplete), "attester-incomplete");
        }
        let mut private = jwk();
        private["d"] = json!("AAAA");
        for keys in [json!([private]), json!([{"kty": "oct", "k": "AA"}])] {
            let attester = json!({"issuer": "https://a.example", "keys": keys});
            assert_eq!(refused(attester), "attester-keys");
        }
        let certified = json!({"certificates": ["PEM"]});
        let config = read(json!({"wallets": "required", "attesters": [certified]}));
        config.check().unwrap();
        assert_eq!(config.certificates(), ["PEM"]);
    }

    #[test]
    fn keys_are_attested_for_the_types_that_are_named() {
        let config =
            read(json!({"keys": true, "types": ["pass"], "key_storage": ["iso_18045_high"]}));
        config.check().unwrap();
        let required = config.keys_of("pass").unwrap();
        assert_eq!(required.key_storage, ["iso_18045_high"]);
        assert_eq!(config.keys_of("other"), None);
        assert!(read(json!({"keys": true})).keys_of("other").is_some());
        assert_eq!(AttestationConfig::default().keys_of("pass"), None);
        let off = read(json!({"types": ["pass"]}));
        assert_eq!(off.check().unwrap_err().reason.id(), "attested-keys-off");
    }
}
