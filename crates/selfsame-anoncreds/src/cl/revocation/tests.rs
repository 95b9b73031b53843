//! Revocation tested with the published implementation, with its samples, and on its own.

mod flow;
mod known;
mod oracle;
mod primary;
mod refused;
mod samples;
mod speed;

use dashu_int::UBig;
use selfsame_bignum::Random;
use selfsame_bignum::pairing::Scalar;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::hash::sha256_parts;
use selfsame_crypto::time::UnixTime;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::*;
use crate::error::Error;

/// A file of `vectors/anoncreds` as JSON.
macro_rules! sample {
    ($name:literal) => {
        serde_json::from_str::<serde_json::Value>(include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../vectors/anoncreds/",
            $name,
            ".json"
        )))
        .unwrap()
    };
}
use sample;

/// A value of one implementation, as the other reads its JSON.
fn across<T: DeserializeOwned>(value: &impl Serialize) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

fn read<T: DeserializeOwned>(value: &Value) -> T {
    T::deserialize(value).unwrap()
}

fn random(seed: u8) -> Random {
    crate::seed::stream(&Ctx::new(UnixTime(0), [seed; 32]), "revocation tests")
}

fn number(value: &Value) -> UBig {
    value.as_str().unwrap().parse().unwrap()
}

/// An issuer with its own registry, and the registry's tails file.
struct Issuer {
    key: RevocationKey,
    private: CredentialRevocationPrivateKey,
    registry: RevocationKeyPublic,
    gamma: RevocationKeyPrivate,
    capacity: u32,
    tails: Vec<u8>,
}

impl Issuer {
    fn new(capacity: u32, random: &mut Random) -> Self {
        let (public, private) = generate_key(random);
        let (registry, gamma) = generate_registry_key(&public, capacity, random).unwrap();
        let mut issuer = Self {
            key: RevocationKey::new(public),
            private,
            registry,
            gamma,
            capacity,
            tails: TAILS_VERSION.to_vec(),
        };
        let points: Vec<_> = issuer.at_registry().tails().unwrap().collect();
        issuer.tails.extend(points.concat());
        issuer
    }

    /// The issuer of the samples.
    fn of_samples() -> Self {
        let registry = sample!("legacy/rev_reg_def");
        Self {
            key: RevocationKey::new(read(&sample!("legacy/cred_def")["value"]["revocation"])),
            private: read(&sample!("legacy/cred_def_private")["value"]["r_key"]),
            registry: read(&registry["value"]["publicKeys"]["accumKey"]),
            gamma: read(&sample!("legacy/rev_reg_def_private")["value"]),
            capacity: read(&registry["value"]["maxCredNum"]),
            tails: include_bytes!("../../../../../vectors/anoncreds/legacy/tails.bin").to_vec(),
        }
    }

    fn at_registry(&self) -> RegistryIssuer<'_> {
        RegistryIssuer {
            key: &self.key,
            private: &self.private,
            registry: &self.gamma,
            capacity: self.capacity,
        }
    }

    fn tails_hash(&self) -> String {
        let mut hash = TailsHash::new();
        hash.update(&self.tails);
        hash.finish()
    }

    fn tails(&self) -> TailsFile<'_> {
        TailsFile::checked(&self.tails, self.capacity, &self.tails_hash()).unwrap()
    }
}

/// The challenge of these tests, over the T values alone.
fn challenge(t_values: &[Vec<u8>]) -> Scalar {
    let parts: Vec<&[u8]> = t_values.iter().map(Vec::as_slice).collect();
    Scalar::from_be_bytes_reduced(&sha256_parts(&parts))
}
