//! `pre_shared_key` (RFC 8446 §4.2.11): the tickets a client offers, each with a proof that it knows the secret.

use super::reader::{CodecReader, list, some};
use super::writer::Writer;
use crate::alert::Refusal;

/// Maximum number of tickets in one hello.
const MAX_OFFERED: usize = 16;

/// The tickets that a client offers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OfferedPsks {
    /// The tickets, the preferred first.
    pub identities: Vec<PskIdentity>,
    /// For each ticket, a MAC over the hello up to here.
    pub binders: Vec<Vec<u8>>,
}

/// A ticket with its age.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PskIdentity {
    /// The ticket.
    pub ticket: Vec<u8>,
    /// Milliseconds since it was received plus `age_add`, modulo 2^32.
    pub age: u32,
}

impl OfferedPsks {
    pub(super) fn parse(reader: &mut CodecReader<'_>) -> Result<Self, Refusal> {
        let identities = list(reader.vector16()?, |identity| {
            let ticket = some(identity.vector16()?.to_vec())?;
            let age = identity.u32()?;
            Ok(PskIdentity { ticket, age })
        })?;
        let binders = list(reader.vector16()?, |binder| {
            let binder = binder.vector8()?.to_vec();
            match binder.len() {
                32.. => Ok(binder),
                _ => Err(Refusal::decode("a binder of less than 32 bytes")),
            }
        })?;
        let (identities, binders) = (some(identities)?, some(binders)?);
        if identities.len() > MAX_OFFERED {
            return Err(Refusal::decode("too many tickets"));
        }
        match identities.len() == binders.len() {
            true => Ok(Self {
                identities,
                binders,
            }),
            false => Err(Refusal::illegal(
                "the number of binders differs from the number of tickets",
            )),
        }
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.vector16(|writer| {
            for identity in &self.identities {
                writer.vector16(|writer| writer.raw(&identity.ticket));
                writer.u32(identity.age);
            }
        });
        writer.vector16(|writer| {
            for binder in &self.binders {
                writer.vector8(|writer| writer.raw(binder));
            }
        });
    }

    /// The bytes at the hello's end that the binders do not cover (§4.2.11.2).
    pub(crate) fn binders_len(&self) -> usize {
        let each = self.binders.iter().map(|binder| binder.len());
        each.fold(2, |sum: usize, length| {
            sum.saturating_add(length).saturating_add(1)
        })
    }
}
