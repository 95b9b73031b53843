use super::*;

fn signed(protected: &[u8], open: &[u8]) -> Vec<u8> {
    encode(|to| {
        to.array(4).bytes(protected).raw(open);
        to.bytes(b"payload").bytes(b"signature");
    })
}

fn read(bytes: &[u8]) -> Result<i64, CoseError> {
    let item = Cbor::parse(bytes, &CborLimits::default()).unwrap();
    CoseReceived::read(&item, CoseKind::Sign1).map(|message| message.algorithm)
}

#[test]
fn a_message_is_read_as_it_was_written_with_and_without_its_tag() {
    let chain = vec![vec![1; 3], vec![2; 4]];
    let outgoing = CoseOutgoing::new(CoseKind::Sign1, -7)
        .of_type(-7, "application/x")
        .with_chain(chain.clone());
    let plain = encode(|to| outgoing.write(Some(b"payload"), b"proof", to));
    let tagged = encode(|to| outgoing.write(Some(b"payload"), b"proof", to.tag(18)));
    for bytes in [&plain, &tagged] {
        let item = Cbor::parse(bytes, &CborLimits::default()).unwrap();
        let message = CoseReceived::read(&item, CoseKind::Sign1).unwrap();
        assert_eq!(message.algorithm, -7);
        assert_eq!(message.typ, Some("application/x"));
        assert_eq!(message.chain, chain);
        assert_eq!(
            (message.payload, message.proof),
            (Some(&b"payload"[..]), &b"proof"[..])
        );
        assert_eq!(message.secured(b"payload"), outgoing.secured(b"payload"));
    }
    let item = Cbor::parse(&tagged, &CborLimits::default()).unwrap();
    let other = CoseReceived::read(&item, CoseKind::Mac0);
    assert_eq!(other.err(), Some(CoseError::Shape));
}

#[test]
fn the_signed_bytes_of_a_signature_are_never_those_of_a_tag() {
    let of = |kind| CoseOutgoing::new(kind, 5).secured(b"payload");
    assert_ne!(of(CoseKind::Sign1), of(CoseKind::Mac0));
}

#[test]
fn headers_that_are_open_shared_critical_or_malformed_are_refused() {
    let alg: &[u8] = &[0xa1, 0x01, 0x26];
    assert_eq!(read(&signed(alg, &[0xa0])), Ok(-7));
    for (protected, open, error) in [
        (&[][..], alg, CoseError::Header("alg")),
        (&[0xa0], alg, CoseError::Header("alg")),
        (&[0xa1, 0x01, 0x61, b'x'], &[0xa0], CoseError::Header("alg")),
        (alg, alg, CoseError::SharedLabel),
        (
            &[0xa2, 0x01, 0x26, 0x02, 0x81, 0x04],
            &[0xa0],
            CoseError::Critical,
        ),
        (alg, &[0xa1, 0x18, 33, 0x80], CoseError::Header("x5chain")),
        (alg, &[0xa1, 0x18, 33, 0x01], CoseError::Header("x5chain")),
        (&[0x80], &[0xa0], CoseError::Shape),
        (
            &[0xbf, 0x01, 0x26, 0xff],
            &[0xa0],
            CoseError::Protected(CborError::Indefinite),
        ),
        (alg, &[0x80], CoseError::Shape),
    ] {
        let found = read(&signed(protected, open));
        assert_eq!(found, Err(error), "{protected:02x?} {open:02x?}");
    }
}

#[test]
fn a_key_is_read_as_it_was_written_and_no_compressed_or_short_one_is() {
    let (x, y) = ([0, 1, 2].repeat(16), [3; 48]);
    for (curve, size) in [
        (CoseCurve::P256, 32),
        (CoseCurve::P384, 48),
        (CoseCurve::Ed25519, 32),
    ] {
        let key = CosePublic {
            curve,
            x: &x[..size],
            y: if curve.has_two_coordinates() {
                &y[..size]
            } else {
                &[]
            },
        };
        let bytes = encode(|to| key.write(to));
        let item = Cbor::parse(&bytes, &CborLimits::default()).unwrap();
        assert_eq!(CosePublic::read(&item), Ok(key));
    }
    let with_y = |write: &dyn Fn(&mut CborWriter)| {
        let bytes = encode(|to| {
            to.map(4)
                .int(1)
                .int(2)
                .int(-1)
                .int(1)
                .int(-2)
                .bytes(&x[..32]);
            to.int(-3);
            write(to);
        });
        let item = Cbor::parse(&bytes, &CborLimits::default()).unwrap();
        CosePublic::read(&item).map(|_| ())
    };
    let compressed = with_y(&|to| {
        to.bool(true);
    });
    assert_eq!(compressed, Err(CoseError::Key("a compressed point")));
    let short = with_y(&|to| {
        to.bytes(&y[..31]);
    });
    assert_eq!(
        short,
        Err(CoseError::Key(
            "a coordinate is missing or of another length"
        ))
    );
}
