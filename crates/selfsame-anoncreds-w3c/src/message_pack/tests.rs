use proptest::prelude::*;

use super::*;

fn value() -> impl Strategy<Value = Packed> {
    let leaf = prop_oneof![
        Just(Packed::Nil),
        any::<bool>().prop_map(Packed::Bool),
        any::<i64>().prop_map(Packed::Integer),
        (-300i64..300).prop_map(Packed::Integer),
        ".{0,40}".prop_map(Packed::Text),
        proptest::collection::vec(any::<u8>(), 0..70).prop_map(Packed::Bytes),
    ];
    leaf.prop_recursive(3, 32, 20, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..20).prop_map(list),
            proptest::collection::btree_map(".{0,8}", inner, 0..20).prop_map(Packed::Map),
        ]
    })
}

/// A list, which is one of bytes if all its elements can be.
fn list(items: Vec<Packed>) -> Packed {
    let byte = |item: &Packed| match item {
        Packed::Integer(number) => u8::try_from(*number).ok(),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = items.iter().map(byte).collect();
    bytes.map_or(Packed::List(items), Packed::Bytes)
}

fn written(value: &Packed) -> Vec<u8> {
    let mut out = Vec::new();
    value.write(&mut out);
    out
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(value in value()) {
        prop_assert_eq!(Packed::read(&written(&value)), Ok(value));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Packed::read(&bytes);
    }
}

#[test]
fn lengths_and_integers_have_their_shortest_form() {
    assert_eq!(
        written(&Packed::Bytes(vec![0, 127, 128, 255])),
        [0x94, 0, 127, 0xCC, 128, 0xCC, 255]
    );
    assert_eq!(written(&Packed::Bytes(vec![1; 16]))[..3], [0xDC, 0, 16]);
    assert_eq!(written(&Packed::Text("a".repeat(32)))[..2], [0xD9, 32]);
    assert_eq!(written(&Packed::Integer(-32)), [0xE0]);
    assert_eq!(
        written(&Packed::Integer(-33)),
        [0xD2, 0xFF, 0xFF, 0xFF, 0xDF]
    );
    assert_eq!(written(&Packed::Integer(300)), [0xD2, 0, 0, 1, 44]);
}

#[test]
fn what_is_cut_off_repeated_deep_or_unknown_is_refused() {
    let deep = [vec![0x91; 17], vec![0xC0]].concat();
    for bytes in [
        &[][..],
        &[0x92, 1],
        &[0xDD, 0xFF, 0xFF, 0xFF, 0xFF],
        &[0xA2, b'a'],
        &[0xA1, 0xFF],
        &[0xC0, 0xC0],
        &[0x82, 0xA1, b'a', 1, 0xA1, b'a', 2],
        &[0x81, 1, 1],
        // Binary, floats and extensions are for no proof value.
        &[0xC4, 1, 0],
        &[0xCA, 0, 0, 0, 0],
        &[0xC1],
        &[0xCF, 0xFF, 0, 0, 0, 0, 0, 0, 0],
        &deep,
    ] {
        assert!(Packed::read(bytes).is_err(), "{bytes:?}");
    }
    let many = [vec![0xDD, 0, 6, 0x1A, 0x80], vec![0; 400_000]].concat();
    assert!(matches!(Packed::read(&many), Err(Error::TooLarge { .. })));
}
