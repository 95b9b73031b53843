//! Passwords: Argon2id hashes of people's and keys from passphrases. Salts are drawn from the system here.

use argon2::password_hash::{PasswordHash, PasswordHasher as _, PasswordVerifier as _, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};

use crate::generate::random;
use crate::seal::SealingKey;
use crate::secret::SecretString;

/// The least that OWASP's password storage cheat sheet advises for Argon2id: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;
/// Longer passwords are refused before any work is done on them.
const MAX_BYTES: usize = 1024;

/// Why a password was not hashed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PasswordError {
    /// The password has more than 1,024 bytes; the person must choose another.
    #[error("the password is too long")]
    TooLong,
    /// The library refused; the operator must look.
    #[error("the password could not be hashed")]
    Backend,
}

/// A hash in PHC form with a salt of its own. Takes about 20 ms of one core and 19 MiB.
pub fn hash(password: &SecretString) -> Result<String, PasswordError> {
    let password = checked(password)?;
    let salt = SaltString::encode_b64(&random::<16>()).map_err(|_| PasswordError::Backend)?;
    let hash = argon2()?
        .hash_password(password, &salt)
        .map_err(|_| PasswordError::Backend)?;
    Ok(hash.to_string())
}

/// Whether the password is the one that was hashed. Only the parameters [`hash`] uses are accepted, so a hash
/// slipped in cannot ask for gigabytes.
pub fn verify(phc: &str, password: &SecretString) -> bool {
    let (Ok(password), Ok(hash), Ok(argon2)) =
        (checked(password), PasswordHash::new(phc), argon2())
    else {
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

/// The sealing key that a passphrase and a salt give.
pub fn derive_key(passphrase: &SecretString, salt: &[u8; 16]) -> Result<SealingKey, PasswordError> {
    let mut key = [0_u8; 32];
    argon2()?
        .hash_password_into(checked(passphrase)?, salt, &mut key)
        .map_err(|_| PasswordError::Backend)?;
    Ok(SealingKey::from_bytes(key))
}

fn checked(password: &SecretString) -> Result<&[u8], PasswordError> {
    let bytes = password.expose().as_bytes();
    if bytes.len() > MAX_BYTES {
        Err(PasswordError::TooLong)
    } else {
        Ok(bytes)
    }
}

fn argon2() -> Result<Argon2<'static>, PasswordError> {
    let params =
        Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(|_| PasswordError::Backend)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
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
        let sealed = derive_key(&"open".into(), &[1; 16])
            .unwrap()
            .seal([0; 12], b"", b"plain")
            .unwrap();
        assert_eq!(
            derive_key(&"open".into(), &[1; 16])
                .unwrap()
                .open(b"", &sealed)
                .unwrap(),
            b"plain"
        );
        assert!(
            derive_key(&"open".into(), &[2; 16])
                .unwrap()
                .open(b"", &sealed)
                .is_err()
        );
        assert!(
            derive_key(&"shut".into(), &[1; 16])
                .unwrap()
                .open(b"", &sealed)
                .is_err()
        );
    }
}
