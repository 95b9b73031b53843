//! Holder, issuer and verifier of both implementations, which exchange JSON.

use std::collections::BTreeMap;

use anoncreds_clsignatures as published;
use dashu_int::IBig;
use published::{Issuer as TheirIssuer, Prover};
use selfsame_bignum::Random;
use selfsame_crypto::{ctx::Ctx, time::UnixTime};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::*;

/// Which implementation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Ours,
    Theirs,
}

/// A credential definition's messages.
pub(super) struct CredentialDefinition {
    pub(super) primary: Value,
    pub(super) private: Value,
    pub(super) correctness: Value,
}

/// A refusal by either side.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused;

pub(super) fn read<T: DeserializeOwned>(json: &Value) -> Result<T, Refused> {
    serde_json::from_value(json.clone()).map_err(|_| Refused)
}

pub(super) fn write(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

pub(super) fn random(label: &str) -> Random {
    crate::seed::stream(&Ctx::new(UnixTime(0), [3; 32]), label)
}

impl CredentialDefinition {
    /// The definition of the samples.
    pub(super) fn sample(kind: &str) -> Self {
        crate::testing::take_told_path();
        Self {
            primary: sample(&format!("{kind}/cred_def"))["value"]["primary"].clone(),
            private: sample(&format!("{kind}/cred_def_private"))["value"]["p_key"].clone(),
            correctness: sample(&format!("{kind}/key_correctness_proof")),
        }
    }

    /// A new definition of ours, with the primes of a sample.
    pub(super) fn made(attributes: &[&str], label: &str) -> Self {
        let primes = SafePrimes::of(&read(&Self::sample("qualified").private).unwrap());
        let attributes = attributes.iter().map(|name| (*name).to_owned()).collect();
        let made = generate(&attributes, &primes, &mut random(label)).unwrap();
        Self {
            primary: write(&made.public),
            private: write(&made.private),
            correctness: write(&made.proof),
        }
    }

    pub(super) fn key(&self) -> CredentialKey {
        CredentialKey::new(&read(&self.primary).unwrap()).unwrap()
    }

    pub(super) fn attributes(&self) -> Vec<String> {
        let names = self.primary["r"].as_object().unwrap().keys();
        names.filter(|name| *name != LINK_SECRET).cloned().collect()
    }

    pub(super) fn their_key(&self) -> Result<published::CredentialPublicKey, Refused> {
        read(&json!({"p_key": self.primary, "r_key": null}))
    }

    fn their_private(&self) -> published::CredentialPrivateKey {
        read(&json!({"p_key": self.private, "r_key": null})).unwrap()
    }
}

pub(super) fn values(json: &BTreeMap<String, String>) -> Values {
    let parse = |(name, value): (&String, &String)| (name.clone(), value.parse::<IBig>().unwrap());
    json.iter().map(parse).collect()
}

pub(super) fn their_values(
    known: &BTreeMap<String, String>,
    link_secret: &str,
) -> published::CredentialValues {
    let mut builder = Prover::new_credential_values_builder().unwrap();
    for (name, value) in known {
        builder.add_dec_known(name, value).unwrap();
    }
    if !link_secret.is_empty() {
        builder.add_dec_hidden(LINK_SECRET, link_secret).unwrap();
    }
    builder.finalize().unwrap()
}

/// The messages of one issuance.
#[derive(Clone)]
pub(super) struct Issuance {
    pub(super) link_secret: String,
    pub(super) values: BTreeMap<String, String>,
    pub(super) offer_nonce: Value,
    pub(super) request_nonce: Value,
    pub(super) blinded: Value,
    pub(super) blinded_proof: Value,
    pub(super) factors: Value,
    pub(super) signature: Value,
    pub(super) signature_proof: Value,
}

impl Issuance {
    pub(super) fn new(link_secret: &str, values: &BTreeMap<String, String>, label: &str) -> Self {
        let mut random = random(label);
        Self {
            link_secret: link_secret.to_owned(),
            values: values.clone(),
            offer_nonce: write(&random.integer(80).to_string()),
            request_nonce: write(&random.integer(80).to_string()),
            blinded: Value::Null,
            blinded_proof: Value::Null,
            factors: Value::Null,
            signature: Value::Null,
            signature_proof: Value::Null,
        }
    }

    pub(super) fn request(
        &mut self,
        side: Side,
        definition: &CredentialDefinition,
    ) -> Result<(), Refused> {
        (self.blinded, self.blinded_proof, self.factors) = match side {
            Side::Ours => {
                let key = CredentialKey::new(&read(&definition.primary)?).map_err(|_| Refused)?;
                key.check_correctness(&read(&definition.correctness)?)
                    .map_err(|_| Refused)?;
                let made = blind(
                    &key,
                    &LinkSecret::from_decimal(&self.link_secret).unwrap(),
                    &read(&self.offer_nonce)?,
                    None,
                    &mut random(&format!("request {}", self.offer_nonce)),
                )
                .map_err(|_| Refused)?;
                (
                    write(&made.secrets),
                    write(&made.proof),
                    write(&made.factors),
                )
            }
            Side::Theirs => {
                let (blinded, factors, proof) = Prover::blind_credential_secrets(
                    &definition.their_key()?,
                    &read(&definition.correctness)?,
                    &their_values(&BTreeMap::new(), &self.link_secret),
                    &read(&self.offer_nonce)?,
                )
                .map_err(|_| Refused)?;
                (write(&blinded), write(&proof), write(&factors))
            }
        };
        Ok(())
    }

    pub(super) fn issue(
        &mut self,
        side: Side,
        definition: &CredentialDefinition,
    ) -> Result<(), Refused> {
        (self.signature, self.signature_proof) = match side {
            Side::Ours => {
                let key =
                    IssuerKey::new(&definition.key(), &read(&definition.private).unwrap()).unwrap();
                let (primary, proof) = sign(
                    &key,
                    &SigningRequest {
                        secrets: &read(&self.blinded)?,
                        proof: &read(&self.blinded_proof)?,
                        offer_nonce: &read(&self.offer_nonce)?,
                        request_nonce: &read(&self.request_nonce)?,
                        context: &credential_context("holder", None),
                        values: &values(&self.values),
                    },
                    &mut random(&format!("issue {}", self.offer_nonce)),
                )
                .map_err(|_| Refused)?;
                (
                    json!({"p_credential": write(&primary), "r_credential": null}),
                    write(&proof),
                )
            }
            Side::Theirs => {
                let (signature, proof) = TheirIssuer::sign_credential(
                    "holder",
                    &read(&self.blinded)?,
                    &read(&self.blinded_proof)?,
                    &read(&self.offer_nonce)?,
                    &read(&self.request_nonce)?,
                    &their_values(&self.values, ""),
                    &definition.their_key()?,
                    &definition.their_private(),
                )
                .map_err(|_| Refused)?;
                (write(&signature), write(&proof))
            }
        };
        Ok(())
    }

    /// Processes the signature in place.
    pub(super) fn process(
        &mut self,
        side: Side,
        definition: &CredentialDefinition,
    ) -> Result<(), Refused> {
        self.signature = match side {
            Side::Ours => {
                let signature: CredentialSignature = read(&self.signature)?;
                let kept = process(
                    &definition.key(),
                    &LinkSecret::from_decimal(&self.link_secret).unwrap(),
                    &Received {
                        signature: &signature.p_credential,
                        proof: &read(&self.signature_proof)?,
                        nonce: &read(&self.request_nonce)?,
                        values: &values(&self.values),
                        factors: &read(&self.factors)?,
                    },
                )
                .map_err(|_| Refused)?;
                json!({"p_credential": write(&kept), "r_credential": null})
            }
            Side::Theirs => {
                let mut signature = read(&self.signature)?;
                Prover::process_credential_signature(
                    &mut signature,
                    &their_values(&self.values, &self.link_secret),
                    &read(&self.signature_proof)?,
                    &read(&self.factors)?,
                    &definition.their_key()?,
                    &read(&self.request_nonce)?,
                    None,
                    None,
                    None,
                )
                .map_err(|_| Refused)?;
                write(&signature)
            }
        };
        Ok(())
    }
}
