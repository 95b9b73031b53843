//! Joins byte strings into one, so that different lists never give the same bytes.

/// Joins the parts, each preceded by its length.
pub fn join(parts: &[&[u8]]) -> Vec<u8> {
    let mut joined =
        Vec::with_capacity(parts.iter().map(|part| part.len().saturating_add(4)).sum());
    for part in parts {
        add(&mut joined, part);
    }
    joined
}

/// Appends a part, preceded by its length.
pub fn add(joined: &mut Vec<u8>, part: &[u8]) {
    // Every part is far below 4 GiB: the store checks its limits before framing.
    joined.extend_from_slice(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
    joined.extend_from_slice(part);
}

/// Splits bytes made by [`join`] into their parts; `None` if [`join`] did not make them.
pub fn split(mut joined: &[u8]) -> Option<Vec<&[u8]>> {
    let mut parts = Vec::new();
    while !joined.is_empty() {
        let (length, rest) = joined.split_first_chunk::<4>()?;
        let (part, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        parts.push(part);
        joined = rest;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back_as_they_went_in() {
        let joined = join(&[b"a", b"", b"bcd"]);
        assert_eq!(split(&joined).unwrap(), [&b"a"[..], b"", b"bcd"]);
        assert_ne!(joined, join(&[b"ab", b"", b"cd"]));
    }

    #[test]
    fn a_cut_frame_is_refused() {
        let joined = join(&[b"abc"]);
        assert_eq!(split(&joined[..joined.len() - 1]), None);
        assert_eq!(split(&joined[..3]), None);
    }
}
