use proptest::prelude::*;

use super::*;
use crate::deterministic::encode;

fn read(bytes: &[u8]) -> Result<Cbor<'_>, CborError> {
    Cbor::parse(bytes, &CborLimits::default())
}

#[test]
fn forms_that_are_not_the_shortest_are_read_and_written_in_the_shortest() {
    for (given, shortest) in [
        (&[0x18, 0x01][..], &[0x01][..]),
        (&[0x58, 0x01, 7], &[0x41, 7]),
        (
            &[0xb8, 0x02, 0x61, b'b', 1, 0x01, 2],
            &[0xa2, 0x01, 2, 0x61, b'b', 1],
        ),
        (&[0xfb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0], &[0xf9, 0x3e, 0x00]),
    ] {
        let item = read(given).unwrap();
        assert_eq!(item.raw(), given);
        assert_eq!(encode(|to| item.write(to)), shortest);
        assert_eq!(read(shortest).unwrap(), item);
    }
}

#[test]
fn what_is_indefinite_twice_deep_large_or_malformed_is_refused() {
    let deep = [vec![0x81; 16], vec![0x80]].concat();
    let large = vec![0x40; 300 * 1024];
    let many = [vec![0x99, 0x30, 0x00], vec![0x00; 0x3000]].concat();
    for (bytes, error) in [
        (&[0x9f, 0x01, 0xff][..], CborError::Indefinite),
        (&[0xbf, 0x01, 0x02, 0xff], CborError::Indefinite),
        (&[0x5f, 0x41, 1, 0xff], CborError::Indefinite),
        (&[0x7f, 0x61, b'a', 0xff], CborError::Indefinite),
        (&[0xa2, 0x01, 0x00, 0x01, 0x00], CborError::KeyTwice),
        (&[0xa2, 0x01, 0x00, 0x18, 0x01, 0x00], CborError::KeyTwice),
        (
            &[0xa2, 0xa2, 1, 2, 3, 4, 0, 0xa2, 3, 4, 1, 2, 0],
            CborError::KeyTwice,
        ),
        (&deep, CborError::TooDeep),
        (&large, CborError::TooLong),
        (&many, CborError::TooMany),
        (&[0x01, 0x01], CborError::Trailing),
        (&[0x82, 0x01], CborError::Malformed),
        (&[0xff], CborError::Malformed),
        (&[0x1c], CborError::Malformed),
        (&[0xf8, 0x10], CborError::Malformed),
        (&[0xf9, 0x00], CborError::Malformed),
        (&[0x61, 0xff], CborError::Malformed),
        (
            &[0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            CborError::Malformed,
        ),
        (
            &[0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            CborError::Malformed,
        ),
        (&[], CborError::Malformed),
    ] {
        assert_eq!(read(bytes).err(), Some(error), "{:02x?}", bytes.get(..16));
    }
    assert!(read(&deep[1..]).is_ok());
}

#[test]
fn a_key_twice_is_found_in_a_large_map_as_well() {
    let map = |keys: &[u64]| {
        encode(|to| {
            to.map(keys.len());
            for key in keys {
                to.uint(*key).null();
            }
        })
    };
    let keys: Vec<u64> = (0..100).collect();
    assert!(read(&map(&keys)).is_ok());
    let twice: Vec<u64> = keys.iter().copied().chain([57]).collect();
    assert_eq!(read(&map(&twice)).err(), Some(CborError::KeyTwice));
}

#[test]
fn an_item_within_a_byte_string_keeps_its_bytes() {
    let limits = CborLimits::default();
    let bytes = encode(|to| {
        to.embedded(&[0x18, 0x01]);
    });
    let item = read(&bytes).unwrap();
    let within = item.embedded(&limits).unwrap();
    assert_eq!((within.uint(), within.raw()), (Some(1), &[0x18, 0x01][..]));
    assert!(read(&[0x41, 0x01]).unwrap().embedded(&limits).is_err());
}

#[test]
fn what_is_read_with_the_same_limits_has_no_more_items_together() {
    let mut limits = CborLimits {
        items: 5,
        ..CborLimits::default()
    };
    let embedded = encode(|to| {
        to.embedded(&[0x82, 0x01, 0x02]);
    });
    let item = read(&embedded).unwrap();
    assert!(item.embedded_counted(&mut limits).is_ok());
    assert_eq!(limits.items, 2);
    let refused = item.embedded_counted(&mut limits);
    assert_eq!(refused.err(), Some(CborError::TooMany));
}

proptest! {
    #[test]
    fn what_is_read_is_written_in_a_form_that_reads_the_same(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(item) = read(&bytes) {
            let again = encode(|to| item.write(to));
            let read_again = read(&again).unwrap();
            prop_assert_eq!(&read_again, &item);
            prop_assert_eq!(encode(|to| read_again.write(to)), again);
        }
    }
}
