//! Password hashing and keys from passphrases, both with Argon2id. Salts are drawn from the system's randomness here.
//! Argon2i is for reading what other programs sealed.

use argon2::password_hash::{PasswordHash, PasswordHasher as _, PasswordVerifier as _, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};

use crate::encoding::{base64url_decode, base64url_encode};
use crate::generate::random;
use crate::seal::SealingKey;
use crate::secret::{Secret, SecretString};

/// The minimum that OWASP's password storage cheat sheet recommends for Argon2id: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;
/// The cost of a key from a passphrase: 256 MiB, three passes, one lane. An attacker with a copy of the data has
/// unlimited time to guess, and only the operator waits, at the start of the instance.
const KEY_MEMORY_KIB: u32 = 262_144;
const KEY_PASSES: u32 = 3;
/// Longer passwords are refused before any hashing.
const MAX_BYTES: usize = 1024;

/// Why a password was not hashed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PasswordError {
    /// The password has more than 1,024 bytes; the user must choose another.
    #[error("the password is too long")]
    TooLong,
    /// The library failed; the operator must act.
    #[error("the password could not be hashed")]
    Backend,
}

/// Hashes a password with a fresh salt; returns PHC format. Takes about 20 ms of one core and 19 MiB.
pub fn hash(password: &SecretString) -> Result<String, PasswordError> {
    let password = checked(password)?;
    let salt = SaltString::encode_b64(&random::<16>()).map_err(|_| PasswordError::Backend)?;
    let hash = argon2(Algorithm::Argon2id, MEMORY_KIB, PASSES)?
        .hash_password(password, &salt)
        .map_err(|_| PasswordError::Backend)?;
    Ok(hash.to_string())
}

/// Whether the password matches the hash. Only the parameters that [`hash`] uses are accepted, so a forged hash cannot
/// demand gigabytes.
pub fn verify(phc: &str, password: &SecretString) -> bool {
    let (Ok(password), Ok(hash), Ok(argon2)) = (
        checked(password),
        PasswordHash::new(phc),
        argon2(Algorithm::Argon2id, MEMORY_KIB, PASSES),
    ) else {
        return false;
    };
    let params = Params::try_from(&hash);
    let expected = params.is_ok_and(|params| {
        (params.m_cost(), params.t_cost(), params.p_cost()) == (MEMORY_KIB, PASSES, LANES)
    });
    expected
        && hash.algorithm == Algorithm::Argon2id.ident()
        && argon2.verify_password(password, &hash).is_ok()
}

/// The parameters that derive a sealing key from a passphrase: a salt and the cost. Not secret.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Stretching {
    salt: [u8; 16],
    cost: Cost,
}

/// The cost of a key. Only costs that this program has used are accepted, so a forged file cannot demand more memory
/// than there is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Cost {
    /// The cost of user passwords: data of earlier builds.
    OfPasswords,
    OfKeys,
}

impl Stretching {
    /// The text before the salt, in PHC format.
    fn before_salt() -> String {
        format!("$argon2id$v=19$m={KEY_MEMORY_KIB},t={KEY_PASSES},p={LANES}$")
    }

    /// Parameters with a fresh salt, at today's cost.
    #[must_use]
    pub fn draw() -> Self {
        Self {
            salt: random(),
            cost: Cost::OfKeys,
        }
    }

    /// Reads the output of [`Stretching::to_bytes`]; the bare salt of 16 bytes is that of earlier builds.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if let Ok(salt) = <[u8; 16]>::try_from(bytes) {
            let cost = Cost::OfPasswords;
            return Some(Self { salt, cost });
        }
        let text = str::from_utf8(bytes)
            .ok()?
            .strip_prefix(&Self::before_salt())?;
        let salt = base64url_decode(text.strip_suffix('\n')?).ok()?;
        Some(Self {
            salt: salt.try_into().ok()?,
            cost: Cost::OfKeys,
        })
    }

    /// One line of text with the algorithm, its parameters and the salt. Parameters of earlier builds give the bare
    /// salt.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match self.cost {
            Cost::OfPasswords => self.salt.to_vec(),
            Cost::OfKeys => {
                format!("{}{}\n", Self::before_salt(), base64url_encode(&self.salt)).into_bytes()
            }
        }
    }

    /// Derives the sealing key from this passphrase. Takes about a second of one core and 256 MiB.
    ///
    /// # Errors
    /// `TooLong`; `Backend` if there is not enough memory.
    pub fn key(&self, passphrase: &SecretString) -> Result<SealingKey, PasswordError> {
        let (memory, passes) = match self.cost {
            Cost::OfPasswords => (MEMORY_KIB, PASSES),
            Cost::OfKeys => (KEY_MEMORY_KIB, KEY_PASSES),
        };
        let mut key = [0_u8; 32];
        argon2(Algorithm::Argon2id, memory, passes)?
            .hash_password_into(checked(passphrase)?, &self.salt, &mut key)
            .map_err(|_| PasswordError::Backend)?;
        Ok(SealingKey::from_bytes(key))
    }
}

fn checked(password: &SecretString) -> Result<&[u8], PasswordError> {
    let bytes = password.expose().as_bytes();
    if bytes.len() > MAX_BYTES {
        Err(PasswordError::TooLong)
    } else {
        Ok(bytes)
    }
}

/// The cost of a key that another program derives with Argon2i, version 0x13, in one lane.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Argon2iCost {
    /// The memory in KiB.
    pub memory_kib: u32,
    /// The number of passes.
    pub passes: u32,
}

/// Derives 32 bytes from a passphrase with Argon2i (RFC 9106).
///
/// # Errors
/// `TooLong`; `Backend` if there is not enough memory.
pub fn argon2i(
    passphrase: &SecretString,
    salt: &[u8; 16],
    cost: Argon2iCost,
) -> Result<Secret, PasswordError> {
    let mut key = vec![0_u8; 32];
    argon2(Algorithm::Argon2i, cost.memory_kib, cost.passes)?
        .hash_password_into(checked(passphrase)?, salt, &mut key)
        .map_err(|_| PasswordError::Backend)?;
    Ok(Secret::new(key))
}

fn argon2(
    algorithm: Algorithm,
    memory_kib: u32,
    passes: u32,
) -> Result<Argon2<'static>, PasswordError> {
    let params =
        Params::new(memory_kib, passes, LANES, None).map_err(|_| PasswordError::Backend)?;
    Ok(Argon2::new(algorithm, Version::V0x13, params))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_verifies_against_its_own_hash_only() {
        let phc = hash(&"correct horse".into()).unwrap();
        assert!(phc.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert!(verify(&phc, &"correct horse".into()));
        assert!(!verify(&phc, &"correct horsf".into()));
        assert_ne!(phc, hash(&"correct horse".into()).unwrap());
    }

    #[test]
    fn hashes_with_other_parameters_and_texts_that_are_no_hash_verify_nothing() {
        let phc = hash(&"p".into()).unwrap();
        assert!(!verify(&phc.replace("m=19456", "m=1048576"), &"p".into()));
        assert!(!verify(&phc.replace("argon2id", "argon2i"), &"p".into()));
        assert!(!verify("", &"p".into()));
        assert!(!verify("$argon2id$", &"p".into()));
    }

    #[test]
    fn a_password_too_long_is_refused() {
        let long = SecretString::new("p".repeat(1025));
        assert_eq!(hash(&long), Err(PasswordError::TooLong));
        assert!(!verify(&hash(&"p".into()).unwrap(), &long));
    }

    #[test]
    fn a_passphrase_and_a_salt_give_one_key() {
        let of = |salt| Stretching {
            salt: [salt; 16],
            cost: Cost::OfPasswords,
        };
        let sealed = of(1).key(&"open".into()).unwrap();
        let sealed = sealed.seal([0; 12], b"", b"plain").unwrap();
        let opened = |stretching: Stretching, passphrase: &str| {
            let key = stretching.key(&passphrase.into()).unwrap();
            key.open(b"", &sealed).ok()
        };
        assert_eq!(opened(of(1), "open").unwrap(), b"plain");
        assert!(opened(of(2), "open").is_none());
        assert!(opened(of(1), "shut").is_none());
        let dearer = Stretching {
            cost: Cost::OfKeys,
            ..of(1)
        };
        assert!(opened(dearer, "open").is_none());
    }

    #[test]
    fn a_key_of_argon2i_depends_on_passphrase_salt_and_cost() {
        let cost = |memory_kib, passes| Argon2iCost { memory_kib, passes };
        let key = |text: &str, salt, cost| argon2i(&text.into(), &[salt; 16], cost).unwrap();
        let one = key("open", 1, cost(64, 2));
        assert_eq!(one, key("open", 1, cost(64, 2)));
        for other in [
            key("shut", 1, cost(64, 2)),
            key("open", 2, cost(64, 2)),
            key("open", 1, cost(128, 2)),
            key("open", 1, cost(64, 3)),
        ] {
            assert_ne!(one, other);
        }
        let long = SecretString::new("p".repeat(1025));
        let refused = argon2i(&long, &[1; 16], cost(64, 2));
        assert_eq!(refused, Err(PasswordError::TooLong));
    }

    #[test]
    fn what_a_passphrase_is_stretched_with_is_kept_beside_its_salt_and_nothing_else_is_taken() {
        let drawn = Stretching::draw();
        let kept = drawn.to_bytes();
        assert_eq!(Stretching::parse(&kept), Some(drawn.clone()));
        let text = String::from_utf8(kept).unwrap();
        assert!(text.starts_with("$argon2id$v=19$m=262144,t=3,p=1$"));
        assert_ne!(drawn, Stretching::draw());
        // Data of earlier builds contains the salt alone.
        let earlier = Stretching::parse(&[7; 16]).unwrap();
        assert_eq!(
            (earlier.cost, earlier.to_bytes()),
            (Cost::OfPasswords, vec![7; 16])
        );
        for other in [
            text.replace("m=262144", "m=1048576"),
            text.replace("m=262144", "m=8"),
            text.replace("argon2id", "argon2i"),
            text.replace('\n', ""),
            text.replace('\n', "AAAA\n"),
            String::new(),
        ] {
            assert_eq!(Stretching::parse(other.as_bytes()), None, "{other}");
        }
    }
}
