//! Session transcripts of OpenID4VP 1.0 (§B.2.6): what a response is bound to.

use selfsame_cbor::Cbor;
use selfsame_cbor::deterministic::{CborWriter, encode};
use selfsame_crypto::hash::sha256;

use crate::LIMITS;
use crate::error::MdocError;

/// What a response is bound to, in CBOR.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionTranscript(Vec<u8>);

/// A request that is answered by a redirect or a post (OpenID4VP §B.2.6.1). Its values are those of the signed request,
/// if it was signed.
#[derive(Clone, Copy, Debug)]
pub struct RedirectHandover<'a> {
    /// The client identifier with its prefix.
    pub client_id: &'a str,
    /// The nonce.
    pub nonce: &'a str,
    /// The SHA-256 thumbprint (RFC 7638) of the key to which the response is encrypted; `None` if it is not.
    pub thumbprint: Option<[u8; 32]>,
    /// The response URI, or the redirect URI.
    pub response_uri: &'a str,
}

/// A request of the Digital Credentials API (OpenID4VP §B.2.6.2).
#[derive(Clone, Copy, Debug)]
pub struct DcApiHandover<'a> {
    /// The origin that asks, without the prefix `origin:`.
    pub origin: &'a str,
    /// The nonce.
    pub nonce: &'a str,
    /// The SHA-256 thumbprint (RFC 7638) of the key to which the response is encrypted; `None` if it is not.
    pub thumbprint: Option<[u8; 32]>,
}

impl SessionTranscript {
    /// The transcript of a redirect or a post.
    pub fn of_redirect(request: &RedirectHandover<'_>) -> Self {
        handover("OpenID4VPHandover", |to| {
            to.array(4).text(request.client_id).text(request.nonce);
            write_thumbprint(request.thumbprint, to);
            to.text(request.response_uri);
        })
    }

    /// The transcript of the Digital Credentials API.
    pub fn of_dc_api(request: &DcApiHandover<'_>) -> Self {
        handover("OpenID4VPDCAPIHandover", |to| {
            to.array(3).text(request.origin).text(request.nonce);
            write_thumbprint(request.thumbprint, to);
        })
    }

    /// The transcript of another session.
    ///
    /// # Errors
    /// If the bytes are not an array of three items.
    pub fn from_cbor(bytes: &[u8]) -> Result<Self, MdocError> {
        match Cbor::parse(bytes, &LIMITS)?.array() {
            Some([_, _, _]) => Ok(Self(bytes.to_vec())),
            _ => Err(MdocError::Malformed("SessionTranscript")),
        }
    }

    /// The transcript in CBOR.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// SessionTranscriptBytes: the transcript as a byte string of tag 24.
    pub(crate) fn embedded(&self) -> Vec<u8> {
        encode(|to| {
            to.embedded(&self.0);
        })
    }
}

fn handover(name: &str, info: impl FnOnce(&mut CborWriter)) -> SessionTranscript {
    let hash = sha256(&encode(info));
    SessionTranscript(encode(|to| {
        to.array(3).null().null();
        to.array(2).text(name).bytes(&hash);
    }))
}

fn write_thumbprint(thumbprint: Option<[u8; 32]>, to: &mut CborWriter) {
    match thumbprint {
        Some(thumbprint) => to.bytes(&thumbprint),
        None => to.null(),
    };
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::Jwk;
    use selfsame_crypto::encoding::hex_encode;
    use serde_json::json;

    use super::*;

    const NONCE: &str = "exc7gBkxjx1rdc9udRrveKvSsJIq80avlXeLHhGwqtA";

    /// The key of the examples (OpenID4VP §B.2.6.1).
    fn thumbprint() -> Option<[u8; 32]> {
        let jwk = Jwk::from_value(&json!({
            "kty": "EC", "crv": "P-256", "use": "enc", "alg": "ECDH-ES", "kid": "1",
            "x": "DxiH5Q4Yx3UrukE2lWCErq8N8bqC9CHLLrAwLz5BmE0",
            "y": "XtLM4-3h5o3HUH0MHVJV0kyq0iBlrBwlh8qEDMZ4-Pc",
        }));
        let thumbprint = jwk.unwrap().thumbprint();
        assert_eq!(
            hex_encode(&thumbprint),
            "4283ec927ae0f208daaa2d026a814f2b22dca52cf85ffa8f3f8626c6bd669047"
        );
        Some(thumbprint)
    }

    #[test]
    fn the_transcript_of_a_redirect_is_that_of_the_specifications_example() {
        let transcript = SessionTranscript::of_redirect(&RedirectHandover {
            client_id: "x509_san_dns:example.com",
            nonce: NONCE,
            thumbprint: thumbprint(),
            response_uri: "https://example.com/response",
        });
        let wanted = "83f6f682714f70656e494434565048616e646f7665725820048bc053c00442af9b8eed494cefdd9d95240d254b046b11b68013722aad38ac";
        assert_eq!(hex_encode(transcript.as_bytes()), wanted);
    }

    #[test]
    fn the_transcript_of_the_digital_credentials_api_is_that_of_the_specifications_example() {
        let transcript = SessionTranscript::of_dc_api(&DcApiHandover {
            origin: "https://example.com",
            nonce: NONCE,
            thumbprint: thumbprint(),
        });
        let wanted = "83f6f682764f70656e4944345650444341504948616e646f7665725820fbece366f4212f9762c74cfdbf83b8c69e371d5d68cea09cb4c48ca6daab761a";
        assert_eq!(hex_encode(transcript.as_bytes()), wanted);
    }

    #[test]
    fn each_part_of_a_request_changes_the_transcript() {
        let request = RedirectHandover {
            client_id: "x509_san_dns:example.com",
            nonce: NONCE,
            thumbprint: None,
            response_uri: "https://example.com/response",
        };
        let others = [
            RedirectHandover {
                client_id: "x509_san_dns:example.org",
                ..request
            },
            RedirectHandover {
                nonce: "other",
                ..request
            },
            RedirectHandover {
                thumbprint: thumbprint(),
                ..request
            },
            RedirectHandover {
                response_uri: "https://example.com/other",
                ..request
            },
        ];
        let transcript = SessionTranscript::of_redirect(&request);
        for other in others {
            assert_ne!(
                SessionTranscript::of_redirect(&other),
                transcript,
                "{other:?}"
            );
        }
    }

    #[test]
    fn another_transcript_is_taken_as_it_is_if_it_is_an_array_of_three() {
        let bytes = [0x83, 0xf6, 0xf6, 0x18, 0x01];
        let taken = SessionTranscript::from_cbor(&bytes).unwrap();
        assert_eq!(taken.as_bytes(), bytes);
        assert!(SessionTranscript::from_cbor(&[0x82, 0xf6, 0xf6]).is_err());
        assert!(SessionTranscript::from_cbor(&[0x9f, 0xf6, 0xf6, 0xf6, 0xff]).is_err());
    }
}
