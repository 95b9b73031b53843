//! The binary form of a did:cheqd: a byte for the ledger and the form of the identifier, then its 16 bytes.

use selfsame_crypto::encoding::{base58_decode, base58_encode, hex_decode};

use super::{CheqdNetwork, INDY_BYTES, dashed, is_uuid, parts};
use crate::did::Did;

/// The ledgers by number.
const LEDGERS: [CheqdNetwork; 2] = [CheqdNetwork::Mainnet, CheqdNetwork::Testnet];
/// Added to a ledger's number if the identifier is written in base58 instead of as a UUID.
const AS_BASE58: u8 = 2;

pub(super) fn write(did: &Did) -> Option<Vec<u8>> {
    let (network, id) = parts(did)?;
    let ledger = LEDGERS.iter().position(|ledger| *ledger == network)?;
    let ledger = u8::try_from(ledger).ok()?;
    let (form, id) = match is_uuid(id) {
        true => (ledger, hex_decode(&id.replace('-', "")).ok()?),
        false => (ledger.checked_add(AS_BASE58)?, base58_decode(id).ok()?),
    };
    Some([&[form], id.as_slice()].concat())
}

pub(super) fn read(bytes: &[u8]) -> Option<String> {
    let (form, id) = bytes.split_first()?;
    let id = <[u8; INDY_BYTES]>::try_from(id).ok()?;
    let ledger = LEDGERS.get(usize::from(form.checked_rem(AS_BASE58)?))?;
    match form.checked_div(AS_BASE58)? {
        0 => Some(format!("{ledger}:{}", dashed(u128::from_be_bytes(id)))),
        1 => Some(format!("{ledger}:{}", base58_encode(&id))),
        _ => None,
    }
}
