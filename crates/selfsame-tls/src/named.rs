//! Numbers with names: cipher suites, groups and signature schemes (RFC 8446 §B.3, §B.4).

/// A cipher suite, by its number.
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

/// A key exchange group, by its number.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Group(pub u16);

impl Group {
    /// P-256.
    pub const SECP256R1: Self = Self(0x0017);
    /// X25519.
    pub const X25519: Self = Self(0x001d);
    /// P-384.
    pub const SECP384R1: Self = Self(0x0018);
    /// X25519 combined with ML-KEM-768 (draft-ietf-tls-ecdhe-mlkem).
    pub const X25519_MLKEM768: Self = Self(0x11ec);

    /// Whether the agreed secret stays secret from quantum computers.
    pub(crate) fn is_post_quantum(self) -> bool {
        self == Self::X25519_MLKEM768
    }
}

/// A signature scheme, by its number.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Scheme(pub u16);

impl Scheme {
    /// RSASSA-PKCS1-v1_5 with SHA-256; in certificates only.
    pub const RSA_PKCS1_SHA256: Self = Self(0x0401);
    /// RSASSA-PKCS1-v1_5 with SHA-384; in certificates only.
    pub const RSA_PKCS1_SHA384: Self = Self(0x0501);
    /// RSASSA-PKCS1-v1_5 with SHA-512; in certificates only.
    pub const RSA_PKCS1_SHA512: Self = Self(0x0601);
    /// ECDSA with P-256 and SHA-256.
    pub const ECDSA_P256_SHA256: Self = Self(0x0403);
    /// ECDSA with P-384 and SHA-384.
    pub const ECDSA_P384_SHA384: Self = Self(0x0503);
    /// RSASSA-PSS with SHA-256 and an rsaEncryption key.
    pub const RSA_PSS_SHA256: Self = Self(0x0804);
    /// RSASSA-PSS with SHA-384.
    pub const RSA_PSS_SHA384: Self = Self(0x0805);
    /// RSASSA-PSS with SHA-512.
    pub const RSA_PSS_SHA512: Self = Self(0x0806);
    /// Ed25519.
    pub const ED25519: Self = Self(0x0807);
    /// ML-DSA-44 (draft-ietf-tls-mldsa).
    pub const ML_DSA_44: Self = Self(0x0904);
    /// ML-DSA-65.
    pub const ML_DSA_65: Self = Self(0x0905);
}

/// The format of a credential in VC, by our own number.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct VcFormat(pub u8);

impl VcFormat {
    /// The JSON text of the paper's authors.
    pub const PAPER: Self = Self(0);
    /// A W3C credential of VCDM 2.0 as a JWT (`vc+jwt`).
    pub const VC_JWT: Self = Self(1);
    /// A W3C credential of VCDM 1.1 as a JWT (`jwt_vc_json`).
    pub const JWT_VC_JSON: Self = Self(2);
    /// An SD-JWT VC without key binding (`dc+sd-jwt`).
    pub const SD_JWT_VC: Self = Self(3);
    /// COSE_Sign1 over a CWT in compact form.
    pub const COSE: Self = Self(4);

    /// All supported formats, the shortest first.
    pub const ALL: [Self; 5] = [
        Self::COSE,
        Self::VC_JWT,
        Self::JWT_VC_JSON,
        Self::SD_JWT_VC,
        Self::PAPER,
    ];
}
