//! The protocols that a browser carries (Appendix A.1).

use selfsame_openid4vc::Error;

/// A protocol of the exchange: how the verifier's request is signed.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum ExchangeProtocol {
    /// The request is not signed.
    Unsigned,
    /// The request is signed by one identity (JWS Compact Serialization).
    Signed,
    /// The request is signed by several identities (JWS JSON Serialization).
    Multisigned,
}

impl ExchangeProtocol {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Unsigned, Self::Signed, Self::Multisigned];

    /// The protocol of this name.
    ///
    /// # Errors
    /// `invalid_request` for one that is not supported.
    pub fn parse(name: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|one| one.as_str() == name);
        known.ok_or_else(|| {
            Error::invalid_request(match name {
                "org-iso-mdoc" => {
                    "requests by ISO/IEC 18013-7 Annex C (org-iso-mdoc) are not supported"
                }
                "openid4vci-v1" => "offers by a browser (openid4vci-v1) are not supported",
                _ => "the protocol of the exchange is not known",
            })
        })
    }

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unsigned => "openid4vp-v1-unsigned",
            Self::Signed => "openid4vp-v1-signed",
            Self::Multisigned => "openid4vp-v1-multisigned",
        }
    }
}
