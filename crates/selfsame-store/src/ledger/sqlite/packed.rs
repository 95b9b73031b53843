//! Compact storage of keys: a digest in hex is stored as bytes, in half the length.

use selfsame_crypto::encoding::{hex_decode, hex_encode};

/// Precedes the 32 bytes of a digest. UTF-8 text contains neither this byte nor `PLAIN`.
const DIGEST: u8 = 0xff;
/// Precedes a key that is stored unchanged because it contains one of these two bytes.
const PLAIN: u8 = 0xfe;
const DIGEST_BYTES: usize = 32;

/// Packs a key: each part between slashes that is 64 lower-case hex digits becomes 32 bytes.
pub(super) fn pack(key: &[u8]) -> Vec<u8> {
    if key.iter().any(|byte| *byte >= PLAIN) {
        return [&[PLAIN], key].concat();
    }
    let mut packed = Vec::with_capacity(key.len());
    for (number, part) in key.split(|byte| *byte == b'/').enumerate() {
        if number > 0 {
            packed.push(b'/');
        }
        match digest(part) {
            Some(digest) => {
                packed.push(DIGEST);
                packed.extend(digest);
            }
            None => packed.extend(part),
        }
    }
    packed
}

/// Unpacks a key; `None` if the bytes are not a packed key.
pub(super) fn unpack(mut packed: &[u8]) -> Option<Vec<u8>> {
    if let Some((&PLAIN, key)) = packed.split_first() {
        return Some(key.to_vec());
    }
    let mut key = Vec::with_capacity(2 * packed.len());
    while let Some((byte, rest)) = packed.split_first() {
        packed = rest;
        if *byte == DIGEST {
            let (digest, rest) = packed.split_first_chunk::<DIGEST_BYTES>()?;
            key.extend(hex_encode(digest).as_bytes());
            packed = rest;
        } else {
            key.push(*byte);
        }
    }
    Some(key)
}

fn digest(part: &[u8]) -> Option<Vec<u8>> {
    let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if part.len() != 2 * DIGEST_BYTES || !part.iter().all(is_hex) {
        return None;
    }
    hex_decode(std::str::from_utf8(part).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_key_comes_back_and_no_two_are_kept_alike(
            keys in prop::collection::vec(prop_oneof![
                prop::collection::vec(any::<u8>(), 0..80),
                "[a-z]{0,5}/([0-9a-f]{63,65}/?){1,3}v?".prop_map(String::into_bytes),
                "([0-9a-fA-F]{64}/){1,2}".prop_map(String::into_bytes),
            ], 2),
        ) {
            let packed: Vec<_> = keys.iter().map(|key| pack(key)).collect();
            for (key, packed) in keys.iter().zip(&packed) {
                prop_assert_eq!(unpack(packed), Some(key.clone()));
            }
            prop_assert_eq!(keys[0] == keys[1], packed[0] == packed[1]);
        }

        #[test]
        fn any_bytes_are_a_kept_key_or_none(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = unpack(&bytes);
        }
    }

    #[test]
    fn a_digest_takes_half_its_length() {
        let key = format!("status/abc/{}/v/1", "0f".repeat(32));
        assert_eq!(pack(key.as_bytes()).len(), key.len() - 31);
    }
}
