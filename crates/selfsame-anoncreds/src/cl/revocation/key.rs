//! The issuer's keys for revocation: of a credential definition, and of a registry.

use std::fmt;
use std::sync::{Arc, OnceLock};

use selfsame_bignum::Random;
use selfsame_bignum::pairing::{
    FixedG1, FixedG2, FixedGt, G1, G2, Gt, Prepared, Scalar, pair, pair_prepared,
};
use serde::{Deserialize, Serialize};

use super::list::check_capacity;
use super::scalar;
use crate::error::Error;

/// The `revocation` part of a credential definition. (AnonCreds v1.0, "Public Revocation Keys".)
///
/// No proof shows that the issuer made it correctly; a bad one harms only the issuer's own revocation. Reading checks
/// that every point is on its curve, in the subgroup of prime order, and not the neutral element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CredentialRevocationPublicKey {
    pub(crate) g: G1,
    pub(crate) g_dash: G2,
    pub(crate) h: G1,
    pub(crate) h0: G1,
    pub(crate) h1: G1,
    pub(crate) h2: G1,
    pub(crate) htilde: G1,
    pub(crate) h_cap: G2,
    pub(crate) u: G2,
    pub(crate) pk: G1,
    pub(crate) y: G2,
}

/// The secret exponents of y = ĥ^x and pk = g^sk. (AnonCreds v1.0, "Private Revocation Keys".)
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CredentialRevocationPrivateKey {
    pub(crate) x: Scalar,
    pub(crate) sk: Scalar,
}

/// The `accumKey` of a registry's definition: z = e(g, g')^(γ^(L+1)).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevocationKeyPublic {
    pub(crate) z: Gt,
}

/// The secret γ of a registry, whose powers make its tails.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevocationKeyPrivate {
    pub(crate) gamma: Scalar,
}

/// A credential definition's public key for revocation, with its precomputed tables: cheap to clone. Each table is
/// computed when it is first needed; together they take at most 0.7 MB.
#[derive(Clone)]
pub struct RevocationKey(Arc<PreparedKey>);

struct PreparedKey {
    public: CredentialRevocationPublicKey,
    lines: OnceLock<Lines>,
    multiples: Multiples,
    multiples_of_g_dash: FixedG2,
    powers: OnceLock<Powers>,
}

/// Seven tables of 52 kB and two of 104 kB, two of 6 kB, and four points' lines of 14 kB.
const MOST_BYTES: usize = 700_000;

/// The key's points of G2, prepared for pairings.
pub(crate) struct Lines {
    pub(crate) g_dash: Prepared,
    pub(crate) h_cap: Prepared,
    pub(crate) u: Prepared,
    pub(crate) y: Prepared,
}

/// The key's points that are multiplied; each gets its table when that pays.
pub(crate) struct Multiples {
    pub(crate) g: FixedG1,
    pub(crate) h: FixedG1,
    pub(crate) h0: FixedG1,
    pub(crate) h1: FixedG1,
    pub(crate) h2: FixedG1,
    pub(crate) htilde: FixedG1,
    pub(crate) pk: FixedG1,
    pub(crate) h_cap: FixedG2,
}

/// The powers of the key's constant pairings.
pub(crate) struct Powers {
    /// Of e(h̃, u).
    pub(crate) htilde_u: FixedGt,
    /// Of e(g, ĥ).
    pub(crate) g_h_cap: FixedGt,
}

impl RevocationKey {
    /// Takes the key without computing tables.
    pub fn new(public: CredentialRevocationPublicKey) -> Self {
        Self(Arc::new(PreparedKey {
            multiples: Multiples {
                g: FixedG1::new(&public.g),
                h: FixedG1::new(&public.h),
                h0: FixedG1::new(&public.h0),
                h1: FixedG1::new(&public.h1),
                h2: FixedG1::new(&public.h2),
                htilde: FixedG1::new(&public.htilde),
                pk: FixedG1::new(&public.pk),
                h_cap: FixedG2::new(&public.h_cap),
            },
            multiples_of_g_dash: FixedG2::new(&public.g_dash),
            public,
            lines: OnceLock::new(),
            powers: OnceLock::new(),
        }))
    }

    /// Upper bound of the memory of the key with all its tables, in bytes.
    pub fn bytes(&self) -> usize {
        MOST_BYTES
    }

    /// Builds all tables now instead of when each first pays.
    pub fn prepare(&self) {
        self.powers();
        let Multiples {
            g,
            h,
            h0,
            h1,
            h2,
            htilde,
            pk,
            h_cap,
        } = self.multiples();
        for point in [g, h, h0, h1, h2, htilde, pk] {
            point.prepare();
        }
        h_cap.prepare();
        self.multiples_of_g_dash().prepare();
    }

    /// The key itself.
    pub fn public(&self) -> &CredentialRevocationPublicKey {
        &self.0.public
    }

    pub(crate) fn lines(&self) -> &Lines {
        let public = &self.0.public;
        self.0.lines.get_or_init(|| Lines {
            g_dash: Prepared::new(&public.g_dash),
            h_cap: Prepared::new(&public.h_cap),
            u: Prepared::new(&public.u),
            y: Prepared::new(&public.y),
        })
    }

    pub(crate) fn multiples(&self) -> &Multiples {
        &self.0.multiples
    }

    pub(crate) fn powers(&self) -> &Powers {
        let (public, lines) = (&self.0.public, self.lines());
        let powers = |p, q| FixedGt::new(&pair_prepared(&[(p, q)]));
        self.0.powers.get_or_init(|| Powers {
            htilde_u: powers(public.htilde, &lines.u),
            g_h_cap: powers(public.g, &lines.h_cap),
        })
    }

    pub(crate) fn multiples_of_g_dash(&self) -> &FixedG2 {
        &self.0.multiples_of_g_dash
    }
}

/// Generates the revocation keys of a new credential definition.
pub(crate) fn generate_key(
    random: &mut Random,
) -> (
    CredentialRevocationPublicKey,
    CredentialRevocationPrivateKey,
) {
    let mut g1 = || G1::generator().mul(&scalar(random));
    let [g, h, h0, h1, h2, htilde] = std::array::from_fn(|_| g1());
    let mut g2 = || G2::generator().mul(&scalar(random));
    let [g_dash, h_cap, u] = std::array::from_fn(|_| g2());
    let private = CredentialRevocationPrivateKey {
        x: scalar(random),
        sk: scalar(random),
    };
    let public = CredentialRevocationPublicKey {
        pk: g.mul(&private.sk),
        y: h_cap.mul(&private.x),
        g,
        g_dash,
        h,
        h0,
        h1,
        h2,
        htilde,
        h_cap,
        u,
    };
    (public, private)
}

/// Generates the keys of a new registry with room for `capacity` credentials.
///
/// # Errors
/// Those of [`RevocationList::new`](super::RevocationList::new).
pub(crate) fn generate_registry_key(
    key: &CredentialRevocationPublicKey,
    capacity: u32,
    random: &mut Random,
) -> Result<(RevocationKeyPublic, RevocationKeyPrivate), Error> {
    check_capacity(capacity)?;
    let private = RevocationKeyPrivate {
        gamma: scalar(random),
    };
    let secret = private.power(capacity.saturating_add(1));
    let public = RevocationKeyPublic {
        z: pair(&key.g.mul(&secret), &key.g_dash),
    };
    Ok((public, private))
}

impl RevocationKeyPrivate {
    /// γ^exponent, for a public exponent.
    pub(crate) fn power(&self, exponent: u32) -> Scalar {
        self.gamma.power(exponent.into())
    }
}

impl fmt::Debug for CredentialRevocationPrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CredentialRevocationPrivateKey(…)")
    }
}

impl fmt::Debug for RevocationKeyPrivate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RevocationKeyPrivate(…)")
    }
}

impl fmt::Debug for RevocationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.public().fmt(f)
    }
}
