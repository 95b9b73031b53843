use proptest::prelude::*;

use super::*;

#[test]
fn base64url_with_padding_stray_bits_or_foreign_characters_is_refused() {
    assert_eq!(base64url_decode("TQ"), Ok(b"M".to_vec()));
    for text in ["TQ==", "TR", "T", "T+Q", "T/Q", "TQ\n", " TQ"] {
        assert!(base64url_decode(text).is_err(), "{text:?}");
    }
}

#[test]
fn base58_longer_than_any_key_is_not_decoded() {
    assert_eq!(
        base58_decode(&"z".repeat(4097)),
        Err(EncodingError::TooLong)
    );
    assert!(base58_decode(&"z".repeat(4096)).is_ok());
    assert!(base58_decode("0OIl").is_err());
}

#[test]
fn base58_keeps_each_leading_zero_and_adds_none() {
    let inner_zero = [0, 0, 1, 0];
    for bytes in [
        &[][..],
        &[0],
        &[0; 9],
        &[0, 1],
        &[0, 0, 0, 0, 1],
        &inner_zero,
        &[255; 256],
        &[1, 0, 0, 0, 0, 0, 0, 0],
    ] {
        assert_eq!(base58_encode(bytes), bs58::encode(bytes).into_string());
        assert_eq!(base58_decode(&base58_encode(bytes)).unwrap(), bytes);
    }
}

#[test]
fn base32_in_upper_case_is_refused() {
    assert_eq!(base32_lower_encode(b"foob"), "mzxw6yq");
    assert_eq!(base32_lower_decode("mzxw6yq"), Ok(b"foob".to_vec()));
    assert!(base32_lower_decode("MZXW6YQ").is_err());
    assert!(base32_lower_decode("mzxw6yq=").is_err());
}

#[test]
fn multibase_other_than_base58_and_base64url_is_refused() {
    assert_eq!(multibase_decode("u"), Ok(vec![]));
    assert_eq!(multibase_decode("f00"), Err(EncodingError::UnknownBase));
    assert_eq!(multibase_decode(""), Err(EncodingError::UnknownBase));
}

proptest! {
    #[test]
    fn every_encoding_is_read_back(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(base64url_decode(&base64url_encode(&bytes)).unwrap(), &bytes[..]);
        prop_assert_eq!(base64_decode(&base64_encode(&bytes)).unwrap(), &bytes[..]);
        prop_assert_eq!(base58_decode(&base58_encode(&bytes)).unwrap(), &bytes[..]);
        prop_assert_eq!(base58_encode(&bytes), bs58::encode(&bytes).into_string());
        prop_assert_eq!(base32_lower_decode(&base32_lower_encode(&bytes)).unwrap(), &bytes[..]);
        prop_assert_eq!(hex_decode(&hex_encode(&bytes)).unwrap(), &bytes[..]);
        prop_assert_eq!(multibase_decode(&multibase_base58_encode(&bytes)).unwrap(), &bytes[..]);
    }

    #[test]
    fn text_that_decodes_is_the_one_encoding_of_its_bytes(text in "[A-Za-z0-9_-]{0,24}") {
        if let Ok(bytes) = base64url_decode(&text) {
            prop_assert_eq!(base64url_encode(&bytes), text.clone());
        }
        prop_assert_eq!(base58_decode(&text).ok(), bs58::decode(&text).into_vec().ok());
        if let Ok(bytes) = base58_decode(&text) {
            prop_assert_eq!(base58_encode(&bytes), text);
        }
    }
}
