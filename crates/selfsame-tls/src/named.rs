//! Numbers with names: cipher suites, groups and signature schemes (RFC 8446 §B.3, §B.4).

/// A cipher suite's number.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Suite(pub u16);

impl Suite {
    /// TLS_AES_128_GCM_SHA256.
    pub const AES_128_GCM_SHA256: Self = Self(0x1301);
    /// TLS_AES_256_GCM_SHA384.
    pub const AES_256_GCM_SHA384: Self = Self(0x1302);
    /// TLS_CHACHA20_POLY1305_SHA256.
    pub const CHACHA20_POLY1305_SHA256: Self = Self(0x1303);
}

/// A key exchange group's number.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Group(pub u16);

impl Group {
    /// P-256.
    pub const SECP256R1: Self = Self(0x0017);
    /// X25519.
    pub const X25519: Self = Self(0x001d);
    /// X25519 and ML-KEM-768 together (draft-ietf-tls-ecdhe-mlkem).
    pub const X25519_MLKEM768: Self = Self(0x11ec);
}

/// A signature scheme's number.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Scheme(pub u16);

impl Scheme {
    /// ECDSA with P-256 and SHA-256.
    pub const ECDSA_P256_SHA256: Self = Self(0x0403);
    /// ECDSA with P-384 and SHA-384.
    pub const ECDSA_P384_SHA384: Self = Self(0x0503);
    /// RSASSA-PSS with SHA-256 and a key of no special type.
    pub const RSA_PSS_SHA256: Self = Self(0x0804);
    /// RSASSA-PSS with SHA-384.
    pub const RSA_PSS_SHA384: Self = Self(0x0805);
    /// RSASSA-PSS with SHA-512.
    pub const RSA_PSS_SHA512: Self = Self(0x0806);
    /// Ed25519.
    pub const ED25519: Self = Self(0x0807);
}
