//! Entries of revocation registries: each follows the one before, and together they give the list of revoked places.

use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

use crate::encoding::{optional, write_optional};
use crate::receipt::{Receipt, Version};

/// A change of what a registry revokes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RevocationEntry {
    /// The registry's identifier.
    pub registry: String,
    /// The accumulator that this entry changes; `None` for the first entry.
    pub before: Option<String>,
    /// The accumulator after this entry.
    pub after: String,
    /// Places that are not revoked any more, ascending.
    pub issued: Vec<u32>,
    /// Places that are revoked now, ascending.
    pub revoked: Vec<u32>,
}

/// An entry in the registry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RevocationVersion {
    /// The accumulator before.
    pub before: Option<String>,
    /// The accumulator after.
    pub after: String,
    /// Places that were not revoked any more.
    pub issued: Vec<u32>,
    /// Places that were revoked.
    pub revoked: Vec<u32>,
    /// The receipt of the transaction that added it.
    pub receipt: Receipt,
}

/// The revoked places of a registry at a time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RevocationState {
    /// The number of entries up to this time.
    pub version: u64,
    /// The accumulator.
    pub accumulator: String,
    /// One bit for each place, 1 for revoked; the first place is the highest bit of the first byte.
    pub revoked: Vec<u8>,
    /// The receipt of the last entry.
    pub receipt: Receipt,
}

/// One bit for each place of a registry, 1 for revoked.
pub(crate) struct RevokedBits(pub(crate) Vec<u8>);

impl RevokedBits {
    pub(crate) fn none(places: u64) -> Self {
        let bytes = usize::try_from(places.div_ceil(8)).unwrap_or(0);
        Self(vec![0; bytes])
    }

    /// Sets or clears the bits of these places; `None` if one is set or clear already, or is outside the registry.
    pub(crate) fn with(mut self, places: &[u32], set: bool) -> Option<Self> {
        for place in places {
            let byte = self.0.get_mut(usize::try_from(place >> 3).ok()?)?;
            let bit = 0x80_u8 >> (place & 7);
            if (*byte & bit != 0) == set {
                return None;
            }
            *byte ^= bit;
        }
        Some(self)
    }
}

impl CborItem for RevokedBits {
    fn write(&self, to: &mut CborWriter) {
        to.bytes(&self.0);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        Ok(Self(from.bytes()?.to_vec()))
    }
}

fn write_places(to: &mut CborWriter, places: &[u32]) {
    to.array(places.len());
    for place in places {
        to.uint(u64::from(*place));
    }
}

fn read_places(from: &mut CborReader<'_>) -> Result<Vec<u32>, Malformed> {
    let place = |from: &mut CborReader<'_>| {
        u32::try_from(from.uint()?).map_err(|_| Malformed("a place is a 32-bit number"))
    };
    (0..from.array()?).map(|_| place(from)).collect()
}

impl CborItem for RevocationEntry {
    fn write(&self, to: &mut CborWriter) {
        to.array(5).text(&self.registry);
        write_optional(to, self.before.as_ref());
        to.text(&self.after);
        write_places(to, &self.issued);
        write_places(to, &self.revoked);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(5)?;
        Ok(Self {
            registry: from.text()?.to_owned(),
            before: optional(from)?,
            after: from.text()?.to_owned(),
            issued: read_places(from)?,
            revoked: read_places(from)?,
        })
    }
}

impl Version for RevocationVersion {
    fn receipt(&self) -> &Receipt {
        &self.receipt
    }
}

impl CborItem for RevocationVersion {
    fn write(&self, to: &mut CborWriter) {
        to.array(5).item(&self.receipt);
        write_optional(to, self.before.as_ref());
        to.text(&self.after);
        write_places(to, &self.issued);
        write_places(to, &self.revoked);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(5)?;
        Ok(Self {
            receipt: Receipt::read(from)?,
            before: optional(from)?,
            after: from.text()?.to_owned(),
            issued: read_places(from)?,
            revoked: read_places(from)?,
        })
    }
}
