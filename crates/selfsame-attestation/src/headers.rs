//! The headers by which a client sends its attestation (draft -07 §6.1, §8.1).

/// The header with the attestation.
pub const ATTESTATION: &str = "oauth-client-attestation";
/// The header with the proof of possession.
pub const POP: &str = "oauth-client-attestation-pop";
/// The header by which a server gives a challenge.
pub const CHALLENGE: &str = "oauth-client-attestation-challenge";

/// The attestation of a request, and the proof of possession. They prove nothing before they are judged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AttestationHeaders<'a> {
    /// The attestation.
    pub attestation: &'a str,
    /// The proof of possession.
    pub pop: &'a str,
}

impl<'a> AttestationHeaders<'a> {
    /// Reads all values of both headers; `None` if the request has neither. A header that is missing or repeated is read as
    /// an empty text, which no attestation is (§6.2: precisely one of each).
    pub fn read(
        attestations: impl Iterator<Item = &'a [u8]>,
        pops: impl Iterator<Item = &'a [u8]>,
    ) -> Option<Self> {
        let (attestation, pop) = (only(attestations), only(pops));
        let is_attested = attestation.is_some() || pop.is_some();
        is_attested.then(|| Self {
            attestation: attestation.unwrap_or_default(),
            pop: pop.unwrap_or_default(),
        })
    }
}

/// The only value; empty if there are several, or it is no text.
fn only<'a>(mut values: impl Iterator<Item = &'a [u8]>) -> Option<&'a str> {
    let first = values.next()?;
    match values.next() {
        None => Some(std::str::from_utf8(first).unwrap_or_default()),
        Some(_) => Some(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(attestations: &[&'a str], pops: &[&'a str]) -> Option<AttestationHeaders<'a>> {
        let bytes = |texts: &[&'a str]| -> Vec<&'a [u8]> {
            texts.iter().map(|text| text.as_bytes()).collect()
        };
        AttestationHeaders::read(bytes(attestations).into_iter(), bytes(pops).into_iter())
    }

    #[test]
    fn both_headers_are_read_and_neither_is_no_attestation() {
        let both = read(&["a"], &["b"]).unwrap();
        assert_eq!((both.attestation, both.pop), ("a", "b"));
        assert_eq!(read(&[], &[]), None);
    }

    #[test]
    fn a_header_that_is_missing_or_repeated_holds_nothing() {
        for (attestations, pops) in [
            (&["a"][..], &[][..]),
            (&["a"], &["b", "b"]),
            (&["a", "a"], &["b"]),
            (&[], &["b"]),
        ] {
            let read = read(attestations, pops).unwrap();
            assert!(read.attestation.is_empty() || read.pop.is_empty());
        }
        let no_text: &[u8] = &[0xff];
        let read = AttestationHeaders::read([no_text].into_iter(), [no_text].into_iter());
        assert_eq!(read.unwrap().attestation, "");
    }
}
