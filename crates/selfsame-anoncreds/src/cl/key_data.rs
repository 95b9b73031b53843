//! The numbers of a credential definition: public key and private key.

use std::collections::BTreeMap;
use std::fmt;

use dashu_int::UBig;
use serde::{Deserialize, Serialize};
use zeroize::Zeroize as _;

use super::decimal;

/// The attribute name under which all implementations sign the link secret.
pub const LINK_SECRET: &str = "master_secret";

/// The `primary` part of a credential definition. (AnonCreds v1.0, "Generating a Credential Definition Without
/// Revocation Support".)
///
/// It is the data as read; [`super::CredentialKey`] is the checked form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "PublicKeyAsRead")]
pub struct PrimaryPublicKey {
    /// The modulus n = p·q.
    #[serde(with = "decimal")]
    pub n: UBig,
    /// S, a quadratic residue modulo n that generates all others.
    #[serde(with = "decimal")]
    pub s: UBig,
    /// R for each attribute, the link secret included: a power of S.
    #[serde(with = "decimal::map")]
    pub r: BTreeMap<String, UBig>,
    /// R for the credential context: a power of S.
    #[serde(with = "decimal")]
    pub rctxt: UBig,
    /// Z, a power of S.
    #[serde(with = "decimal")]
    pub z: UBig,
}

/// [`PrimaryPublicKey`] with the member that the Indy era had for the link secret's R.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublicKeyAsRead {
    #[serde(with = "decimal")]
    n: UBig,
    #[serde(with = "decimal")]
    s: UBig,
    #[serde(with = "decimal::map")]
    r: BTreeMap<String, UBig>,
    #[serde(with = "decimal")]
    rctxt: UBig,
    #[serde(default, with = "decimal")]
    rms: UBig,
    #[serde(with = "decimal")]
    z: UBig,
}

impl TryFrom<PublicKeyAsRead> for PrimaryPublicKey {
    type Error = &'static str;

    fn try_from(mut read: PublicKeyAsRead) -> Result<Self, Self::Error> {
        let repeated =
            !read.rms.is_zero() && read.r.insert(LINK_SECRET.to_owned(), read.rms).is_some();
        if repeated {
            return Err("the link secret has two bases");
        }
        Ok(Self {
            n: read.n,
            s: read.s,
            r: read.r,
            rctxt: read.rctxt,
            z: read.z,
        })
    }
}

/// The primary part of an issuer's private key: p' and q' where p = 2p' + 1 and q = 2q' + 1 are the factors of n.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrimaryPrivateKey {
    #[serde(with = "decimal")]
    pub(crate) p: UBig,
    #[serde(with = "decimal")]
    pub(crate) q: UBig,
}

impl Drop for PrimaryPrivateKey {
    fn drop(&mut self) {
        self.p.zeroize();
        self.q.zeroize();
    }
}

impl fmt::Debug for PrimaryPrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrimaryPrivateKey(..)")
    }
}
