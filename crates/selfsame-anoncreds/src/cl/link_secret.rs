//! The holder's link secret, which is in all of its credentials and in no message.

use std::fmt;

use dashu_int::{UBig, ops::BitTest as _};
use selfsame_bignum::{Random, Secret};
use zeroize::{Zeroize as _, Zeroizing};

use super::bounds;
use super::decimal::Decimal as _;
use crate::Error;

/// A number of 256 bits that ties a holder's credentials together. (AnonCreds v1.0, "Holder Create and Store Link
/// Secret".)
#[derive(Clone)]
pub struct LinkSecret(Secret);

impl LinkSecret {
    /// A new link secret.
    pub(crate) fn new(random: &mut Random) -> Self {
        Self(random.secret(bounds::VALUE))
    }

    /// Parses the decimal number that wallets keep.
    ///
    /// # Errors
    /// [`Error::Malformed`] unless it is a number above zero of at most 256 bits.
    pub fn from_decimal(digits: &str) -> Result<Self, Error> {
        let mut number = UBig::parse(digits).unwrap_or_default();
        let right = !number.is_zero() && number.bit_len() <= bounds::VALUE;
        let secret = Self(Secret::from_public(&number, bounds::VALUE));
        number.zeroize();
        if !right {
            return Err(Error::Malformed {
                what: "the link secret",
                why: "it is not a decimal number above zero of at most 256 bits",
            });
        }
        Ok(secret)
    }

    /// The decimal number, for the holder to keep.
    pub fn to_decimal(&self) -> Zeroizing<String> {
        Zeroizing::new(self.0.reveal().to_string())
    }

    /// The exponent.
    pub(crate) fn secret(&self) -> &Secret {
        &self.0
    }
}

impl fmt::Debug for LinkSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkSecret(..)")
    }
}
