//! A credential definition's public key, checked, with its precomputed tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use dashu_int::{UBig, ops::BitTest as _};
use selfsame_bignum::{Base, Element, FixedBase, Modulus};
use selfsame_crypto::hash::sha256;

use super::bounds;
use super::correctness_data::KeyCorrectnessProof;
use super::decimal::MAX_ATTRIBUTES;
use super::key_data::{LINK_SECRET, PrimaryPublicKey};
use super::powers_data::PowersProof;
use crate::Error;

/// The primary public key of a credential definition, ready for use by holder, issuer and verifier. Cloning it is
/// cheap; all clones share their tables, which the second operation builds.
#[derive(Clone)]
pub struct CredentialKey(Arc<Inner>);

struct Inner {
    public: PrimaryPublicKey,
    modulus: Modulus,
    s: Generator,
    s_inverse: Generator,
    z: Generator,
    z_inverse: Generator,
    rctxt: Generator,
    r: BTreeMap<String, Generator>,
    /// Whether the table of S, the tables of S and Z, or all tables have been built.
    of_s: OnceLock<()>,
    of_predicates: OnceLock<()>,
    all: OnceLock<()>,
    used: AtomicBool,
    digest: [u8; 32],
    proven: OnceLock<KeyCorrectnessProof>,
    powers: OnceLock<PowersProof>,
    /// The digest of the verified proof.
    safe_primes: OnceLock<[u8; 32]>,
}

/// A base of the key, with its table once built.
struct Generator {
    element: Element,
    exponent_bits: usize,
    table: OnceLock<FixedBase>,
}

/// Bytes of the longest verified proofs: 128 responses each for the bases and about all of them.
const PROOFS: usize = 128 * (300 + 300);

/// A key as one operation uses it.
#[derive(Clone, Copy)]
pub(crate) struct KeyInUse<'a> {
    key: &'a Inner,
    with_tables: bool,
}

impl CredentialKey {
    /// Checks every number of the key.
    ///
    /// # Errors
    /// [`Error::Issuer`] with the reason; [`Error::TooLarge`].
    pub fn new(public: &PrimaryPublicKey) -> Result<Self, Error> {
        check_lengths(public)?;
        let modulus =
            Modulus::new(&public.n).map_err(|_| Error::Issuer("the modulus of the key is even"))?;
        let fixed = [&public.s, &public.z, &public.rctxt];
        let numbers: Vec<&UBig> = fixed.into_iter().chain(public.r.values()).collect();
        let elements = check_bases(&modulus, &numbers)?;
        let inverses = modulus
            .inverse_all(&elements)
            .map_err(|_| Error::Issuer("a base of the key is not coprime to the modulus"))?;
        let broken = Error::Issuer("the key has no bases");
        let [s, z, rctxt, r @ ..] = elements.as_slice() else {
            return Err(broken);
        };
        let [s_inverse, z_inverse, ..] = inverses.as_slice() else {
            return Err(broken);
        };
        let generator = |element: &Element, exponent_bits| Generator {
            element: element.clone(),
            exponent_bits,
            table: OnceLock::new(),
        };
        Ok(Self(Arc::new(Inner {
            public: public.clone(),
            modulus,
            s: generator(s, bounds::V_RESPONSE),
            s_inverse: generator(s_inverse, bounds::BLINDING_MASK),
            z: generator(z, bounds::ROOT_RESPONSE.saturating_add(bounds::ROOT + 3)),
            z_inverse: generator(z_inverse, bounds::CHALLENGE),
            rctxt: generator(rctxt, bounds::CONTEXT_RESPONSE),
            r: (public.r.keys().cloned())
                .zip(r.iter().map(|r| generator(r, bounds::VALUE_RESPONSE)))
                .collect(),
            of_s: OnceLock::new(),
            of_predicates: OnceLock::new(),
            all: OnceLock::new(),
            used: AtomicBool::new(false),
            digest: digest(public),
            proven: OnceLock::new(),
            powers: OnceLock::new(),
            safe_primes: OnceLock::new(),
        })))
    }

    /// The key's numbers.
    pub fn public(&self) -> &PrimaryPublicKey {
        &self.0.public
    }

    /// A hash of all numbers and names of the key.
    pub(crate) fn digest(&self) -> &[u8] {
        &self.0.digest
    }

    /// The names of all signed attributes, the link secret among them.
    pub fn attributes(&self) -> impl Iterator<Item = &str> {
        self.0.r.keys().map(String::as_str)
    }

    /// The modulus.
    pub(crate) fn modulus(&self) -> &Modulus {
        &self.0.modulus
    }

    /// The key for one operation: without tables the first time, since a table costs more than one operation saves.
    pub(crate) fn in_use(&self) -> KeyInUse<'_> {
        KeyInUse {
            key: &self.0,
            with_tables: self.0.used.swap(true, Ordering::Relaxed),
        }
    }

    /// The key without counting as a use, with tables if they will be built in any case.
    pub(crate) fn untouched(&self) -> KeyInUse<'_> {
        KeyInUse {
            key: &self.0,
            with_tables: self.0.used.load(Ordering::Relaxed),
        }
    }

    /// Builds all tables now instead of at the second operation.
    pub fn prepare(&self) {
        self.0.used.store(true, Ordering::Relaxed);
        self.0.build_all();
    }

    /// Upper bound of the memory of key and tables, in bytes. Tables that are not built yet are counted too.
    pub fn bytes(&self) -> usize {
        let number = self.0.modulus.bits().div_ceil(8);
        let bits = self.0.generators().map(|generator| generator.exponent_bits);
        // A table has 256 rows for each 216 bits or fewer; the key's numbers occur in it up to four times.
        let rows = bits.map(|bits| bits.saturating_mul(256).div_ceil(208).saturating_add(260));
        rows.fold(0, usize::saturating_add)
            .saturating_mul(number.saturating_add(number.div_ceil(4)))
            .saturating_add(PROOFS)
    }

    /// The memory of the tables that are built, in bytes.
    #[cfg(test)]
    pub(crate) fn table_bytes(&self) -> usize {
        let tables = self.0.generators().filter_map(|base| base.table.get());
        tables.map(FixedBase::bytes).fold(0, usize::saturating_add)
    }

    /// The verified correctness proof, if any.
    pub(crate) fn proven(&self) -> &OnceLock<KeyCorrectnessProof> {
        &self.0.proven
    }

    /// The verified proof about all bases, if any.
    pub(crate) fn powers(&self) -> &OnceLock<PowersProof> {
        &self.0.powers
    }

    /// The digest of the verified proof of two safe primes, if any.
    pub(super) fn safe_primes(&self) -> &OnceLock<[u8; 32]> {
        &self.0.safe_primes
    }
}

impl Inner {
    /// All bases in the order of their places.
    fn generators(&self) -> impl Iterator<Item = &Generator> {
        [
            &self.s,
            &self.s_inverse,
            &self.z,
            &self.z_inverse,
            &self.rctxt,
        ]
        .into_iter()
        .chain(self.r.values())
    }

    fn build_all(&self) {
        self.all.get_or_init(|| self.build(self.generators()));
    }

    /// Builds the missing tables. If another thread has set one in the meantime, the equal one built here is dropped.
    fn build<'a>(&self, generators: impl Iterator<Item = &'a Generator>) {
        let without = generators.filter(|generator| generator.table.get().is_none());
        let (generators, bases): (Vec<&Generator>, Vec<(&Element, usize)>) = without
            .map(|generator| (generator, (&generator.element, generator.exponent_bits)))
            .unzip();
        let tables = FixedBase::new_all(&self.modulus, &bases);
        for (generator, table) in generators.into_iter().zip(tables) {
            let _ = generator.table.set(table);
        }
    }
}

impl<'a> KeyInUse<'a> {
    /// Builds the tables of S and Z even for a single use: proving a predicate takes eleven powers of S, verifying six.
    pub(crate) fn expect_predicates(self) {
        let inner = self.key;
        if !self.with_tables {
            let both = [&inner.s, &inner.z].into_iter();
            inner.of_predicates.get_or_init(|| inner.build(both));
        }
    }

    /// Builds the table of S even if the key is used only once: a proof about all bases has 128 powers of it.
    pub(crate) fn expect_powers_of_s(self) {
        let inner = self.key;
        if !self.with_tables {
            inner
                .of_s
                .get_or_init(|| inner.build([&inner.s].into_iter()));
        }
    }

    pub(crate) fn modulus(self) -> &'a Modulus {
        &self.key.modulus
    }

    pub(crate) fn s(self) -> Base<'a> {
        self.base(&self.key.s)
    }

    pub(crate) fn s_inverse(self) -> Base<'a> {
        self.base(&self.key.s_inverse)
    }

    pub(crate) fn z(self) -> Base<'a> {
        self.base(&self.key.z)
    }

    pub(crate) fn z_element(self) -> &'a Element {
        &self.key.z.element
    }

    pub(crate) fn z_inverse(self) -> Base<'a> {
        self.base(&self.key.z_inverse)
    }

    pub(crate) fn rctxt(self) -> Base<'a> {
        self.base(&self.key.rctxt)
    }

    /// The base of an attribute.
    pub(crate) fn r(self, name: &str) -> Result<Base<'a>, Error> {
        let generator = self.key.r.get(name).ok_or(Error::Mismatch {
            what: "an attribute",
            why: "the credential definition does not have it",
        })?;
        Ok(self.base(generator))
    }

    /// The element of an attribute.
    pub(crate) fn r_elements(self) -> impl Iterator<Item = (&'a str, &'a Element)> {
        let generators = self.key.r.iter();
        generators.map(|(name, generator)| (name.as_str(), &generator.element))
    }

    /// The elements of Z, Rctxt and all R.
    pub(crate) fn bases(self) -> impl Iterator<Item = &'a Element> {
        let fixed = [&self.key.z, &self.key.rctxt].into_iter();
        let all = fixed.chain(self.key.r.values());
        all.map(|generator| &generator.element)
    }

    fn base(self, generator: &'a Generator) -> Base<'a> {
        if self.with_tables {
            self.key.build_all();
        }
        let table = generator.table.get();
        table.map_or(Base::Variable(&generator.element), Base::Fixed)
    }
}

impl fmt::Debug for CredentialKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CredentialKey")
            .field("attributes", &self.0.r.keys())
            .finish_non_exhaustive()
    }
}

fn digest(public: &PrimaryPublicKey) -> [u8; 32] {
    let fixed = [&public.n, &public.s, &public.z, &public.rctxt];
    let mut parts: Vec<[u8; 32]> = fixed
        .into_iter()
        .chain(public.r.values())
        .map(|number| sha256(&number.to_be_bytes()))
        .collect();
    parts.extend(public.r.keys().map(|name| sha256(name.as_bytes())));
    sha256(parts.as_flattened())
}

fn check_lengths(public: &PrimaryPublicKey) -> Result<(), Error> {
    if public.n.bit_len() < bounds::MODULUS_SHORTEST {
        return Err(Error::Issuer("the modulus of the key is too short"));
    }
    bounds::at_most(
        &public.n,
        bounds::MODULUS_LONGEST,
        Error::TooLarge {
            what: "the modulus in bits",
            limit: bounds::MODULUS_LONGEST,
        },
    )?;
    if !public.r.contains_key(LINK_SECRET) {
        return Err(Error::Issuer("the key has no base for the link secret"));
    }
    if public.r.len() > MAX_ATTRIBUTES {
        return Err(Error::TooLarge {
            what: "the number of attributes",
            limit: MAX_ATTRIBUTES,
        });
    }
    Ok(())
}

/// Checks that each base is between 1 and n - 1, and that no two are equal.
fn check_bases(modulus: &Modulus, numbers: &[&UBig]) -> Result<Vec<Element>, Error> {
    let mut seen = BTreeSet::new();
    let mut elements = Vec::with_capacity(numbers.len());
    for number in numbers {
        let trivial = number.is_one() || is_next(number, modulus.value());
        let element = modulus.element(number);
        let (false, Ok(element)) = (trivial, element) else {
            return Err(Error::Issuer("a base of the key is out of range"));
        };
        if !seen.insert(*number) {
            return Err(Error::Issuer("two bases of the key are equal"));
        }
        elements.push(element);
    }
    Ok(elements)
}

/// Whether `number` + 1 is the odd `modulus`.
fn is_next(number: &UBig, modulus: &UBig) -> bool {
    let mut next = number.clone();
    next.set_bit(0);
    !number.bit(0) && next == *modulus
}
