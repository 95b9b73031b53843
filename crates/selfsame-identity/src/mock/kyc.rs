//! Authentication of a person, and the claims that are signed for a client.

use std::sync::Arc;

use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::{
    Jwk, KeyError, KeyHandle, KeyType, PrivateKey, SecretString, encoding, hash,
};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Expect, Put, StoreError};
use serde_json::{Map, Value, json};

use super::person::password_digest;
use super::records::SIGNING;
use super::wire::KycAuthRequest;
use super::{MockAlgorithm, MockFault, MockIdentities, MockPerson};

/// The members that a person can be asked about.
const KNOWLEDGE: [&str; 3] = ["phone", "email", "dateOfBirth"];
const KNOWLEDGE_LANGUAGE: &str = "eng";

/// Whether the challenges other than the one-time password are right, and there is any.
pub(super) fn is_proven(
    request: &KycAuthRequest,
    person: &MockPerson,
) -> std::result::Result<bool, MockFault> {
    let mut proven = request.otp.is_some();
    if let Some(pin) = &request.pin {
        proven = equal(person.text("pin"), pin);
        if !proven {
            return Err(MockFault::WRONG);
        }
    }
    if let Some(biometrics) = &request.biometrics {
        // A stub: any sample is of anyone.
        proven = !biometrics.is_empty();
    }
    if let Some(answers) = &request.kbi {
        proven = knows(answers, person)?;
    }
    if let Some(password) = &request.password {
        proven = equal(person.text("password"), &password_digest(password));
    }
    if let Some(tokens) = request.tokens.as_ref().filter(|all| !all.is_empty()) {
        proven = tokens.iter().all(|token| !token.is_empty());
        if !proven {
            return Err(MockFault::WRONG);
        }
    }
    Ok(proven)
}

/// Whether the answers are right: base64url of a JSON object with members of the person.
fn knows(answers: &str, person: &MockPerson) -> std::result::Result<bool, MockFault> {
    let malformed = MockFault::Refused("auth-failed");
    let unpadded = answers.trim_end_matches('=');
    let answers = encoding::base64url_decode(unpadded).map_err(|_| malformed.clone())?;
    let answers: Map<String, Value> =
        serde_json::from_slice(&answers).map_err(|_| malformed.clone())?;
    let mut asked = KNOWLEDGE.iter().filter(|name| answers.contains_key(**name));
    let right = |name: &&str| {
        let answer = answers.get(*name).and_then(Value::as_str);
        let answer = answer.map(|answer| match *name {
            // Dates are asked for as 1990-05-31 and kept as 1990/05/31.
            "dateOfBirth" => answer.replace('-', "/"),
            _ => answer.to_owned(),
        });
        answer.is_some_and(|answer| equal(person.in_language(name, KNOWLEDGE_LANGUAGE), &answer))
    };
    let any = asked.clone().next().is_some();
    Ok(any && asked.all(right))
}

fn equal(kept: Option<&str>, given: &str) -> bool {
    kept.is_some_and(|kept| hash::ct_eq(kept.as_bytes(), given.as_bytes()))
}

/// The subject of a person for a relying party: MOSIP's partner-specific user token.
pub(super) fn subject(individual_id: &str, relying_party: &str) -> String {
    let text = format!("{individual_id}{relying_party}");
    encoding::base64url_encode(&hash::sha3_256(text.as_bytes()))
}

impl MockAlgorithm {
    /// The name of the record of its key.
    fn record(self) -> &'static str {
        match self {
            Self::Rs256 => "current",
            Self::Es256 => "current-es256",
        }
    }

    fn generate(self) -> std::result::Result<PrivateKey, KeyError> {
        match self {
            Self::Rs256 => PrivateKey::generate_rsa(),
            Self::Es256 => PrivateKey::generate(KeyType::P256),
        }
    }
}

impl MockIdentities {
    /// The claims, signed for a client.
    pub(super) async fn signed(
        &self,
        mut claims: Map<String, Value>,
        subject: &str,
        client_id: &str,
    ) -> Result<SecretString> {
        claims.insert("iss".to_owned(), self.0.config.issuer.clone().into());
        claims.insert("sub".to_owned(), subject.into());
        claims.insert("aud".to_owned(), client_id.into());
        let key = self.key().await?;
        let kid = encoding::base64url_encode(&key.public().thumbprint());
        let header = json!({"alg": key.algorithm(), "kid": kid});
        let unsigned = Unsigned::new(&header, &claims.into());
        // An RSA signature takes about a millisecond.
        let signed = self.0.resources.work.run_in_turn(move || {
            let signature = key.sign(unsigned.signing_input());
            signature.map(|signature| unsigned.finish(&signature))
        });
        Ok(signed.await?.map_err(Error::internal)?.into())
    }

    /// The public key that claims are verified with.
    ///
    /// # Errors
    /// The store's.
    pub async fn public_key(&self) -> Result<Jwk> {
        let public = self.key().await?.public().to_jwk();
        let kid = encoding::base64url_encode(&public.thumbprint());
        Ok(public.with_kid(kid))
    }

    async fn key(&self) -> Result<Arc<PrivateKey>> {
        let signing = self.0.signing.get_or_try_init(|| self.signing_key());
        let keys = &self.0.resources.keys;
        keys.unsealed(self.tenant(), signing.await?).await
    }

    /// The handle of the key that claims are signed with, which is made at its first use.
    async fn signing_key(&self) -> Result<KeyHandle> {
        let record = self.0.config.algorithm.record();
        loop {
            let known = self.store().read(self.tenant(), SIGNING, record).await?;
            if let Some(known) = known {
                return decode(&known.value);
            }
            let keys = &self.0.resources.keys;
            let algorithm = self.0.config.algorithm;
            let made = move || algorithm.generate();
            let key = self.0.resources.work.run_in_turn(made).await?;
            let key = key.map_err(Error::internal)?;
            let handle = KeyHandle::of(key.public());
            let batch = keys.adopt(self.tenant(), &key, self.batch())?;
            let put = Put::new(SIGNING, record, encode(&handle)?);
            let batch = batch.expect(SIGNING, record, Expect::Absent).put(put);
            match self.store().commit(batch).await {
                Ok(_) => return Ok(handle),
                // Another replica has made one.
                Err(StoreError::Conflict { .. }) => {}
                Err(other) => return Err(Error::from(other)),
            }
        }
    }
}
