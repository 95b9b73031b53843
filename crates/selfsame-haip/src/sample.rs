//! Certificates for tests.

use rcgen::{CertificateParams, DnType, Issuer, KeyPair};

/// An authority of certificates.
pub struct Authority {
    /// Its own certificate (DER).
    pub certificate: Vec<u8>,
    issuer: Issuer<'static, KeyPair>,
}

fn named(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let params = named(name);
        Self {
            certificate: params.self_signed(&key).unwrap().der().to_vec(),
            issuer: Issuer::new(params, key),
        }
    }

    /// The certificate (DER) of a new key.
    pub fn leaf(&self, name: &str) -> Vec<u8> {
        let key = KeyPair::generate().unwrap();
        let made = named(name).signed_by(&key, &self.issuer).unwrap();
        made.der().to_vec()
    }
}
