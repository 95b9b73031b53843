//! Certificates that a signed token brings with it (`x5c`).

use selfsame_crypto::x509::CertificateContents;

/// Whether these certificates (DER), the signer's first, are as HAIP wants them in each token: there are some, none is a
/// trust anchor, and none signed itself (§4.1, §4.4.1, §4.5.1, §5, §6.1.1).
#[must_use]
pub fn is_chain(x5c: &[Vec<u8>], anchors: &[Vec<u8>]) -> bool {
    !x5c.is_empty()
        && x5c
            .iter()
            .all(|one| !anchors.contains(one) && !signed_itself(one))
}

/// Whether a certificate names itself as its issuer, or can't be read.
fn signed_itself(der: &[u8]) -> bool {
    CertificateContents::parse(der).is_none_or(|read| read.issuer == read.subject)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Authority;

    #[test]
    fn a_chain_leads_to_the_anchor_and_does_not_contain_it() {
        let authority = Authority::new("An authority");
        let (leaf, anchor) = (authority.leaf("A leaf"), authority.certificate.clone());
        let anchors = [anchor.clone()];
        assert!(is_chain(std::slice::from_ref(&leaf), &anchors));
        assert!(is_chain(std::slice::from_ref(&leaf), &[]));
        // The anchor is recognised as such even where nobody trusts it: it signed itself.
        for wrong in [
            vec![leaf.clone(), anchor.clone()],
            vec![anchor.clone()],
            vec![],
        ] {
            assert!(!is_chain(&wrong, &anchors));
            assert!(!is_chain(&wrong, &[]));
        }
        // A leaf that is trusted by itself is an anchor.
        assert!(!is_chain(
            std::slice::from_ref(&leaf),
            std::slice::from_ref(&leaf)
        ));
        assert!(!is_chain(&[b"no certificate".to_vec()], &[]));
    }
}
