//! Entries of revocation registries: each follows the one before it.

use std::collections::BTreeSet;

use selfsame_anoncreds::cl::revocation::Accumulator;
use serde::Deserialize;
use serde::de::value::{Error as ValueError, StrDeserializer};

use crate::anoncreds::{
    PublishedRegistry, REGISTRY, RevocationEntry, RevocationVersion, RevokedBits,
};
use crate::authority::Act;
use crate::history::{History, PresentVersion};
use crate::judge::JudgedStep;
use crate::refusal::{CheckError, EntryFault, ObjectFault, Refusal};
use crate::state::{StateKey, read};

const MAX_ACCUMULATOR_BYTES: usize = 2_048;

impl JudgedStep<'_> {
    pub(in crate::judge) fn change_registry(
        &mut self,
        entry: &RevocationEntry,
    ) -> Result<(), CheckError> {
        self.active_author()?;
        let name = self.named(&entry.registry, REGISTRY)?;
        self.authorise(Act::ChangeRegistry, self.whose(name.owner()))?;
        let registry: PublishedRegistry = read(&self.to, &StateKey::Object(&name))?
            .ok_or(Refusal::Object(ObjectFault::Unknown))?;
        check(entry, registry.places)?;
        let (entries, list) = (StateKey::Entries(&name), StateKey::Revoked(&name));
        let last = History::<RevocationVersion>::new(&self.to, entries).last()?;
        let present = last.as_ref().map(|(_, version)| &version.after);
        if present != entry.before.as_ref() {
            return Err(Refusal::Entry(EntryFault::Before).into());
        }
        let bits = match read::<RevokedBits>(&self.to, &list)? {
            Some(bits) => bits,
            None => RevokedBits::none(registry.places),
        };
        let bits = bits
            .with(&entry.issued, false)
            .and_then(|bits| bits.with(&entry.revoked, true))
            .ok_or(Refusal::Entry(EntryFault::Unchanged))?;
        let number = last.map_or(0, |(number, _)| number).saturating_add(1);
        let version = RevocationVersion {
            before: entry.before.clone(),
            after: entry.after.clone(),
            issued: entry.issued.clone(),
            revoked: entry.revoked.clone(),
            receipt: self.receipt,
        };
        self.to
            .put_version(&entries, PresentVersion::open(number), &version);
        self.to.put(&list, &bits);
        Ok(())
    }
}

fn check(entry: &RevocationEntry, places: u64) -> Result<(), Refusal> {
    let ascending = |list: &[u32]| list.is_sorted_by(|a, b| a < b);
    let inside = |place: &u32| u64::from(*place) < places;
    let issued: BTreeSet<&u32> = entry.issued.iter().collect();
    let apart = !entry.revoked.iter().any(|place| issued.contains(place));
    if !ascending(&entry.issued) || !ascending(&entry.revoked) || !apart {
        return Err(Refusal::Entry(EntryFault::Order));
    }
    if !entry.issued.iter().chain(&entry.revoked).all(inside) {
        return Err(Refusal::Entry(EntryFault::Place));
    }
    match is_accumulator(&entry.after) {
        true => Ok(()),
        false => Err(Refusal::Entry(EntryFault::Accumulator)),
    }
}

/// Whether this is a point of the curve, as AnonCreds writes it.
fn is_accumulator(text: &str) -> bool {
    let reader = StrDeserializer::<ValueError>::new(text);
    text.len() <= MAX_ACCUMULATOR_BYTES && Accumulator::deserialize(reader).is_ok()
}
