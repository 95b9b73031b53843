//! Where a registry is, and its witnesses: those that it shows its checkpoints to, and those that its readers require.

use selfsame_crypto::SecretString;
use selfsame_driver::{Error, Result};
use selfsame_proof::note::VerifierKey;
use selfsame_proof::read::TrustRoot;
use url::Url;

/// Where the registry is.
#[derive(Clone, Debug)]
pub enum RegistryConfig {
    /// In this process.
    Embedded {
        /// The network's name for people. Its name in DIDs follows from its genesis.
        name: String,
        /// The witnesses that its checkpoints are shown to.
        witnesses: Vec<RegistryWitness>,
    },
    /// In other processes.
    Remote {
        /// Its nodes, in the order in which to ask them.
        nodes: Vec<RegistryNode>,
        /// The network that it must be; without a pin, the one that the nodes name.
        pin: Option<Pin>,
        /// Maximum age of a checkpoint, in seconds, if no node has a newer one: the network stands still. If all nodes
        /// hide new state from this instance, they are believed for that long.
        standstill: u64,
        /// The witnesses that must have cosigned its checkpoints.
        witnesses: WitnessQuorum,
    },
    /// No registry: `did:selfsame` is not resolved.
    None,
}

/// Default time for which a registry that stands still is read: a day.
pub const STANDSTILL: u64 = 86_400;

/// A node of a registry in another process.
#[derive(Clone, Debug)]
pub struct RegistryNode {
    /// Its origin.
    pub origin: Url,
    /// Its operator's token, for writes.
    pub token: SecretString,
}

/// What is known of a network before one of its nodes is asked.
#[derive(Clone, Debug)]
pub enum Pin {
    /// Its name: the digest of its genesis, as in its DIDs.
    Network(String),
    /// Its name in the origin, and its validators from a height on.
    Trust(TrustRoot),
}

/// Maximum number of witnesses of a registry.
pub const WITNESSES_MAX: usize = 8;

/// A witness that the embedded registry shows its checkpoints to.
#[derive(Clone, Debug)]
pub struct RegistryWitness {
    /// Its key.
    pub key: VerifierKey,
    /// Its submission prefix (C2SP tlog-witness, HTTP interface).
    pub url: Url,
}

impl RegistryWitness {
    /// Validates the witnesses of a registry: each has its own key and an address that is called over TLS, on this
    /// machine, or where `may_call` says.
    ///
    /// # Errors
    /// `BadRequest`, with the setting and what to do.
    pub fn check(witnesses: &[Self], may_call: impl Fn(&Url) -> bool) -> Result<()> {
        check_keys(witnesses.iter().map(|witness| &witness.key))?;
        for RegistryWitness { url, .. } in witnesses {
            if !may_call(url) {
                return Err(Error::bad_request("witness-url")
                    .with("origin", &url.origin().ascii_serialization())
                    .with("path", url.path()));
            }
        }
        Ok(())
    }
}

/// The witnesses of which a number must have cosigned a checkpoint before it is accepted. Default: none.
#[derive(Clone, Debug, Default)]
pub struct WitnessQuorum {
    keys: Vec<VerifierKey>,
    needed: usize,
}

impl WitnessQuorum {
    /// Requires cosignatures by `needed` of these keys.
    ///
    /// # Errors
    /// `BadRequest`, with the setting and what to do, unless the keys are different, are keys of witnesses, and 1 ≤
    /// `needed` ≤ their number. No keys without `needed` are allowed too.
    pub fn new(keys: Vec<VerifierKey>, needed: Option<usize>) -> Result<Self> {
        check_keys(keys.iter())?;
        let number = keys.len();
        match needed {
            None if keys.is_empty() => Ok(Self::default()),
            Some(needed) if (1..=number).contains(&needed) => Ok(Self { keys, needed }),
            _ if keys.is_empty() => Err(Error::bad_request("witnesses-empty")),
            None => Err(Error::bad_request("witnesses-needed-unset").with("number", &number)),
            Some(needed) => Err(Error::bad_request("witnesses-needed-range")
                .with("needed", &needed)
                .with("number", &number)),
        }
    }

    /// The keys of the witnesses.
    #[must_use]
    pub fn keys(&self) -> &[VerifierKey] {
        &self.keys
    }

    /// How many of the witnesses must have signed.
    #[must_use]
    pub fn needed(&self) -> usize {
        self.needed
    }
}

/// Reads the key of a witness.
///
/// # Errors
/// `BadRequest`, with what to do, if the text is not the key of a witness.
pub fn witness_key(text: &str) -> Result<VerifierKey> {
    let key: VerifierKey = text.parse().map_err(|error| {
        Error::bad_request("witness-key-malformed")
            .with("key", text)
            .with("detail", &error)
    })?;
    match key.is_witness() {
        true => Ok(key),
        false => Err(Error::bad_request("witness-key-named-of-log").with("key", text)),
    }
}

fn check_keys<'k>(keys: impl Iterator<Item = &'k VerifierKey>) -> Result<()> {
    let mut seen: Vec<&VerifierKey> = Vec::new();
    for key in keys {
        if !key.is_witness() {
            return Err(Error::bad_request("witness-key-of-log").with("key", key));
        }
        // The signed bytes do not name the witness (C2SP tlog-cosignature, Ed25519 signed message): one key under two
        // names would count twice.
        let same = |other: &&VerifierKey| {
            other.public_key() == key.public_key() || other.name() == key.name()
        };
        if seen.iter().any(same) {
            return Err(Error::bad_request("witness-twice").with("name", key.name()));
        }
        seen.push(key);
    }
    match seen.len() > WITNESSES_MAX {
        true => Err(Error::bad_request("witnesses-too-many").with("maximum", &WITNESSES_MAX)),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfsame_crypto::{KeyType, PrivateKey, PublicKey};

    fn public() -> PublicKey {
        let private = PrivateKey::generate(KeyType::Ed25519).unwrap();
        private.public().clone()
    }

    fn witness(name: &str) -> VerifierKey {
        VerifierKey::witness(name, &public()).unwrap()
    }

    #[test]
    fn readers_ask_for_one_to_all_of_the_witnesses_they_name() {
        let keys = vec![witness("a"), witness("b")];
        for needed in [1, 2] {
            let quorum = WitnessQuorum::new(keys.clone(), Some(needed)).unwrap();
            assert_eq!((quorum.keys().len(), quorum.needed()), (2, needed));
        }
        assert_eq!(WitnessQuorum::new(vec![], None).unwrap().needed(), 0);
        for (keys, needed) in [
            (keys.clone(), Some(0)),
            (keys.clone(), Some(3)),
            (keys, None),
            (vec![], Some(1)),
            (vec![], Some(0)),
        ] {
            let refused = WitnessQuorum::new(keys, needed).unwrap_err();
            let id = refused.reason.id();
            assert!(id.starts_with("witnesses-"), "{refused}");
        }
    }

    #[test]
    fn one_key_counts_once_and_that_of_a_log_not_at_all() {
        let same = public();
        let named = |name| VerifierKey::witness(name, &same).unwrap();
        let log = VerifierKey::new("a", &same).unwrap();
        for keys in [
            vec![named("a"), named("a")],
            vec![named("a"), named("b")],
            vec![witness("a"), witness("a")],
            vec![log.clone()],
            (0..=WITNESSES_MAX)
                .map(|n| witness(&n.to_string()))
                .collect(),
        ] {
            assert!(WitnessQuorum::new(keys, Some(1)).is_err());
        }
        assert!(witness_key(&named("a").to_string()).is_ok());
        for text in ["", "a+b", &log.to_string(), &(named("a").to_string() + "A")] {
            let refused = witness_key(text).unwrap_err();
            assert!(refused.reason.id().starts_with("witness-key-"), "{text}");
        }
    }
}
