//! The author agreement: the text that authors have to accept before they write.

use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

use crate::encoding::{optional, write_optional};
use crate::receipt::{Receipt, Version};

/// An author agreement. Its text is kept elsewhere; a reader of the text can check the digest.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Agreement {
    /// Its version, a name that was not used before.
    pub version: String,
    /// SHA-256 of its text.
    pub digest: [u8; 32],
    /// The ways to accept it.
    pub mechanisms: Vec<String>,
}

/// That an author accepts the agreement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Acceptance {
    /// The version of the agreement.
    pub version: String,
    /// SHA-256 of its text.
    pub digest: [u8; 32],
    /// How the author accepted it: one of the agreement's mechanisms.
    pub mechanism: String,
    /// The day of the acceptance, in days since 1970: no more precise than needed.
    pub day: u64,
}

/// A change of the author agreement: one came into force, or the last one was put out of force.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AgreementInForce {
    /// The agreement that came into force; `None` if one was put out of force.
    pub agreement: Option<Agreement>,
    /// The receipt of the transaction that changed it.
    pub receipt: Receipt,
}

impl Acceptance {
    /// Whether this is the acceptance of an agreement.
    pub fn is_of(&self, agreement: &Agreement) -> bool {
        self.version == agreement.version && self.digest == agreement.digest
    }

    /// The bytes of a kept acceptance.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_cbor()
    }

    /// Reads a kept acceptance.
    ///
    /// # Errors
    /// If it is malformed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        Self::from_cbor(bytes)
    }
}

impl Version for AgreementInForce {
    fn receipt(&self) -> &Receipt {
        &self.receipt
    }
}

impl CborItem for AgreementInForce {
    fn write(&self, to: &mut CborWriter) {
        to.array(2).item(&self.receipt);
        write_optional(to, self.agreement.as_ref());
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            receipt: Receipt::read(from)?,
            agreement: optional(from)?,
        })
    }
}

impl CborItem for Agreement {
    fn write(&self, to: &mut CborWriter) {
        to.array(3).text(&self.version).bytes(&self.digest);
        to.items(&self.mechanisms);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            version: from.text()?.to_owned(),
            digest: from.array_of()?,
            mechanisms: from.items()?,
        })
    }
}

impl CborItem for Acceptance {
    fn write(&self, to: &mut CborWriter) {
        to.array(4).text(&self.version).bytes(&self.digest);
        to.text(&self.mechanism).uint(self.day);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(4)?;
        Ok(Self {
            version: from.text()?.to_owned(),
            digest: from.array_of()?,
            mechanism: from.text()?.to_owned(),
            day: from.uint()?,
        })
    }
}
