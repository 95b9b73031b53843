//! DIDs in binary, for TLS and compact credentials: each DID has exactly one encoding (docs/tls.md).

use crate::did::{Did, SyntaxError};
use crate::method::{Binary, METHODS, Method};

/// Maximum bytes of a DID in binary; decoding base58 takes quadratic time.
const MAX_BYTES: usize = 2048;

impl Did {
    /// The DID's method code and its bytes; `None` if the DID has no binary form.
    pub fn to_binary(&self) -> Option<(u8, Vec<u8>)> {
        let method = METHODS.of(self)?;
        let binary = method.binary?;
        let bytes = (binary.write)(self)?;
        // A different text for these bytes is a different DID.
        let is_short = bytes.len() <= MAX_BYTES;
        let is_canonical = is_short && read(method, &binary, &bytes)? == self.as_str();
        is_canonical.then_some((binary.code, bytes))
    }

    /// The DID with this method code and these bytes.
    pub fn from_binary(code: u8, bytes: &[u8]) -> Result<Self, SyntaxError> {
        if bytes.len() > MAX_BYTES {
            return Err(SyntaxError::TooLong);
        }
        let mut methods = METHODS.iter();
        let found = methods.find_map(|method| {
            let binary = method.binary.filter(|binary| binary.code == code)?;
            Some((method, binary))
        });
        let (method, binary) = found.ok_or(SyntaxError::Method)?;
        let text = read(method, &binary, bytes).ok_or(SyntaxError::MethodId)?;
        let did = Self::parse(&text)?;
        match (binary.write)(&did).is_some_and(|again| again == bytes) {
            true => Ok(did),
            false => Err(SyntaxError::MethodId),
        }
    }
}

/// The DID's text for these bytes, not yet parsed.
fn read(method: &Method, binary: &Binary, bytes: &[u8]) -> Option<String> {
    let id = (binary.read)(bytes)?;
    Some(format!("{}:{id}", method.scheme()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use selfsame_crypto::encoding::hex_encode;

    use super::*;

    fn did(text: &str) -> Did {
        Did::parse(text).unwrap()
    }

    #[test]
    fn each_method_has_its_form() {
        for (text, code, hex) in [
            (
                "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
                224,
                "ed012e6fcce36701dc791488e0d0b1745cc1e33a4c1c9fcc41c63bd343dbbe0970e6",
            ),
            (
                "did:jwk:eyJrdHkiOiJPS1AifQ",
                225,
                "7b226b7479223a224f4b50227d",
            ),
            (
                "did:web:a.example%3A8443:b",
                226,
                "612e6578616d706c65253341383434333a62",
            ),
            (
                "did:selfsame:aaaqeayeaudaocaj:4fWs1QXPuh8JBQLVRmYQkV",
                227,
                "00010203040506070809",
            ),
            (
                "did:cheqd:mainnet:4de98f61-53e6-4c21-8d1f-c0ae5a2a1d9c",
                228,
                "004de98f6153e64c218d1fc0ae5a2a1d9c",
            ),
        ] {
            let did = did(text);
            let (found, bytes) = did.to_binary().unwrap();
            assert_eq!(found, code);
            assert!(
                hex_encode(&bytes).starts_with(hex),
                "{}",
                hex_encode(&bytes)
            );
            assert_eq!(Did::from_binary(code, &bytes).unwrap(), did);
        }
    }

    #[test]
    fn a_did_of_another_spelling_has_no_binary_form() {
        for text in [
            "did:key:1:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
            "did:cheqd:devnet:4de98f61-53e6-4c21-8d1f-c0ae5a2a1d9c",
            "did:selfsame:short:4fWs1QXPuh8JBQLVRmYQkV",
            "did:iota:00",
        ] {
            assert_eq!(did(text).to_binary(), None, "{text}");
        }
    }

    #[test]
    fn bytes_that_are_no_did_are_refused() {
        assert!(Did::from_binary(99, b"x").is_err());
        assert!(Did::from_binary(226, b"").is_err());
        assert!(Did::from_binary(226, b"a b").is_err());
        assert!(Did::from_binary(226, &[0xff]).is_err());
        assert!(Did::from_binary(226, b"a:").is_err());
        assert!(Did::from_binary(227, &[1; 25]).is_err());
        assert!(Did::from_binary(227, &[1; 27]).is_err());
        assert!(Did::from_binary(228, &[4; 17]).is_err());
        assert!(Did::from_binary(228, &[0; 16]).is_err());
        assert!(Did::from_binary(224, &[1; MAX_BYTES + 1]).is_err());
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_written_as_the_same_bytes(
            code in 220_u8..232,
            bytes in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            if let Ok(did) = Did::from_binary(code, &bytes) {
                prop_assert_eq!(did.to_binary(), Some((code, bytes)));
            }
        }
    }
}
