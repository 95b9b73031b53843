//! Signatures in the form that authenticators give them (§6.5.5).

/// Bytes of a number of a signature over P-256.
const P256: usize = 32;

/// An ECDSA signature over P-256 in DER (RFC 3279 §2.2.3), as r ‖ s. `None` if it is not in DER, or a number is not
/// positive or too long.
pub fn fixed(der: &[u8]) -> Option<[u8; 64]> {
    let content = element(der, 0x30).filter(|(_, rest)| rest.is_empty())?.0;
    let (r, rest) = element(content, 0x02)?;
    let (s, rest) = element(rest, 0x02)?;
    let mut both = [0; 64];
    let (first, second) = both.split_at_mut(P256);
    (rest.is_empty() && place(r, first).is_some() && place(s, second).is_some()).then_some(both)
}

/// The content of the first element, whose length is below 128, and the bytes after it.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    match bytes {
        [found, length @ 0..=0x7f, rest @ ..] if *found == tag => {
            rest.split_at_checked(usize::from(*length))
        }
        _ => None,
    }
}

/// Writes a positive INTEGER to the end of `to`.
fn place(integer: &[u8], to: &mut [u8]) -> Option<()> {
    let magnitude = match integer {
        [0, 0x80..=0xff, ..] => integer.get(1..)?,
        [0x01..=0x7f, ..] => integer,
        _ => return None,
    };
    let start = to.len().checked_sub(magnitude.len())?;
    to.get_mut(start..)?.copy_from_slice(magnitude);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_in_der_is_read_and_nothing_beside_it() {
        let both = fixed(&[0x30, 7, 2, 2, 0, 0x80, 2, 1, 1]).unwrap();
        assert_eq!((both[31], both[63]), (0x80, 1));
        assert!(both[..31].iter().all(|byte| *byte == 0));
        for bad in [
            &[0x30, 6, 2, 1, 0x80, 2, 1, 1][..], // negative
            &[0x30, 7, 2, 2, 0, 1, 2, 1, 1],     // a zero too many
            &[0x30, 6, 2, 1, 0, 2, 1, 1],        // zero
            &[0x30, 6, 2, 1, 1, 2, 1, 1, 0],     // bytes after it
            &[0x30, 7, 2, 1, 1, 2, 1, 1, 0],     // bytes within it
            &[0x30, 0x81, 6, 2, 1, 1, 2, 1, 1],  // a length in a longer form
            &[0x30, 3, 2, 1, 1],                 // one number
            &[],
        ] {
            assert_eq!(fixed(bad), None, "{bad:02x?}");
        }
        let long = [&[0x30, 38, 2, 33, 1][..], &[1; 32], &[2, 1, 1]].concat();
        assert_eq!(fixed(&long), None);
    }
}
