//! The contexts that are compiled in, each with the digest of what its publisher serves. None is ever fetched.

pub(super) struct Bundled {
    pub url: &'static str,
    pub text: &'static str,
    /// SHA-256 of the text; a test compares.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test compares"))]
    pub sha256: &'static str,
}

/// The contexts of the data models, of which one comes first in every credential and presentation.
pub(super) const OF_MODELS: [&str; 2] = [
    "https://www.w3.org/2018/credentials/v1",
    "https://www.w3.org/ns/credentials/v2",
];

pub(super) const BUNDLED: [Bundled; 11] = [
    Bundled {
        url: "https://www.w3.org/2018/credentials/v1",
        text: include_str!("../../contexts/credentials-v1.jsonld"),
        sha256: "ab4ddd9a531758807a79a5b450510d61ae8d147eab966cc9a200c07095b0cdcc",
    },
    Bundled {
        url: "https://www.w3.org/ns/credentials/v2",
        text: include_str!("../../contexts/credentials-v2.jsonld"),
        sha256: "59955ced6697d61e03f2b2556febe5308ab16842846f5b586d7f1f7adec92734",
    },
    Bundled {
        url: "https://www.w3.org/ns/credentials/examples/v2",
        text: include_str!("../../contexts/credentials-examples-v2.jsonld"),
        sha256: "57393fbc69d6efb9b9b5dc9cb6b9880b0944360abfe2eaf459c9e58cf2279d7c",
    },
    Bundled {
        url: "https://www.w3.org/ns/credentials/undefined-terms/v2",
        text: include_str!("../../contexts/credentials-undefined-terms-v2.jsonld"),
        sha256: "82dab514ba44eb18f5d1b0f638c5e140c6a556fbfb5089601bdc0fa5eb8b2581",
    },
    Bundled {
        url: "https://www.w3.org/ns/credentials/status/v1",
        text: include_str!("../../contexts/credentials-status-v1.jsonld"),
        sha256: "fda5add353231e6a6884a46b12e6c75464281900cb348284d9c360f62381d9f7",
    },
    Bundled {
        url: "https://w3id.org/vc/status-list/2021/v1",
        text: include_str!("../../contexts/status-list-2021-v1.jsonld"),
        sha256: "6dd06a52bedb771e059c1083ba8ba7848dce22f6b4a8cfa0b98ba3fc188870e4",
    },
    Bundled {
        url: "https://w3id.org/security/data-integrity/v1",
        text: include_str!("../../contexts/data-integrity-v1.jsonld"),
        sha256: "b5d829bd09aa7c42abc6efa0c8ed7635313b5487f37ccfce3ecd149ca9418554",
    },
    Bundled {
        url: "https://w3id.org/security/data-integrity/v2",
        text: include_str!("../../contexts/data-integrity-v2.jsonld"),
        sha256: "67f21e6e33a6c14e5ccfd2fc7865f7474fb71a04af7e94136cb399dfac8ae8f4",
    },
    Bundled {
        url: "https://w3id.org/security/multikey/v1",
        text: include_str!("../../contexts/multikey-v1.jsonld"),
        sha256: "ba2c182de2d92f7e47184bcca8fcf0beaee6d3986c527bf664c195bbc7c58597",
    },
    Bundled {
        url: "https://w3id.org/security/jwk/v1",
        text: include_str!("../../contexts/jwk-v1.jsonld"),
        sha256: "0f14b62f6071aafe00df265770ea0c7508e118247d79b7d861a406d2aa00bece",
    },
    Bundled {
        url: "https://www.w3.org/ns/cid/v1",
        text: include_str!("../../contexts/cid-v1.jsonld"),
        sha256: "ea216ecc1cb02cd39b693dba2250141e270ba0bf95890be107dd9a9e8e43de85",
    },
];
