//! Verification methods (DID Core §5.2): the known types and the key material each may have.

use std::sync::OnceLock;

use selfsame_crypto::agreement::{AgreementCurve, AgreementKey};
use selfsame_crypto::encoding::{base58_decode, multibase_decode};
use selfsame_crypto::{Jwk, KeyError, KeyType, PublicKey};
use serde_json::{Map, Value};

use super::DocumentError;
use super::members::{TakenMembers, take};
use crate::did::Did;
use crate::did::DidUrl;

pub(super) const JSON_WEB_KEY_2020: &str = "JsonWebKey2020";
pub(super) const JSON_WEB_KEY: &str = "JsonWebKey";
pub(super) const MULTIKEY: &str = "Multikey";
pub(super) const ED25519_2020: &str = "Ed25519VerificationKey2020";
pub(super) const ED25519_2018: &str = "Ed25519VerificationKey2018";
pub(super) const SECP256K1_2019: &str = "EcdsaSecp256k1VerificationKey2019";
pub(super) const X25519_2019: &str = "X25519KeyAgreementKey2019";
pub(super) const X25519_2020: &str = "X25519KeyAgreementKey2020";

/// A key in a document, with its controller.
#[derive(Clone, Debug)]
pub struct VerificationMethod {
    /// Its identifier.
    pub id: DidUrl,
    /// The DID that controls the private key.
    pub controller: Did,
    /// Members that DID Core does not define.
    pub other: Map<String, Value>,
    type_: String,
    /// For a Multikey made here from a key. Computed on first use: base58 takes time quadratic in the key's length.
    material: OnceLock<Material>,
    /// The key from type and material. Computed on first use: decompressing a point takes as long as verifying a
    /// signature.
    key: OnceLock<Result<PublicKey, KeyError>>,
}

impl PartialEq for VerificationMethod {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            id,
            controller,
            other: further,
            type_,
            material: _,
            key: _,
        } = self;
        *id == other.id
            && *controller == other.controller
            && *further == other.other
            && *type_ == other.type_
            && self.material() == other.material()
    }
}

/// Key material as written in the document. Whether it is a valid key is checked only when the key is requested.
#[derive(Clone, Debug, PartialEq)]
pub enum Material {
    /// `publicKeyJwk`, without private members.
    Jwk(Value),
    /// `publicKeyMultibase`.
    Multibase(String),
    /// `publicKeyBase58`, of the older types.
    Base58(String),
    /// Another material, or none.
    Unknown,
}

impl VerificationMethod {
    /// A key as `JsonWebKey2020`.
    pub fn json_web_key(id: DidUrl, key: &PublicKey) -> Self {
        let material = Material::Jwk(key.to_jwk().to_value());
        Self::new(id, JSON_WEB_KEY_2020, material).made(key)
    }

    /// A key as `Multikey`.
    pub fn multikey(id: DidUrl, key: &PublicKey) -> Self {
        let controller = id.did.clone();
        Self {
            id,
            type_: MULTIKEY.to_owned(),
            controller,
            material: OnceLock::new(),
            other: Map::new(),
            key: OnceLock::from(Ok(key.clone())),
        }
    }

    /// A key as `Multikey`, from its text, which need not be valid.
    pub(crate) fn of_multikey(id: DidUrl, multikey: &str) -> Self {
        Self::new(id, MULTIKEY, Material::Multibase(multikey.to_owned()))
    }

    /// A key as the type and the material say, such as a key for agreement.
    pub fn of_material(id: DidUrl, type_: &str, material: Material) -> Self {
        Self::new(id, type_, material)
    }

    /// A key in the form did:key uses: Ed25519 as `Ed25519VerificationKey2020`, other keys as `JsonWebKey2020`.
    pub fn suited(id: DidUrl, key: &PublicKey) -> Self {
        match key.key_type() {
            KeyType::Ed25519 => {
                let material = Material::Multibase(key.to_multikey());
                Self::new(id, ED25519_2020, material).made(key)
            }
            // The JWKs of RFC 9964 are newer than the type JsonWebKey2020.
            KeyType::MlDsa44 | KeyType::MlDsa65 => Self::multikey(id, key),
            KeyType::P256 | KeyType::Secp256k1 | KeyType::P384 | KeyType::Rsa => {
                Self::json_web_key(id, key)
            }
        }
    }

    /// A `JsonWebKey2020` as it was read, with its key if that is valid.
    pub(crate) fn from_json_web_key(id: DidUrl, jwk: Value, key: Option<PublicKey>) -> Self {
        let method = Self::new(id, JSON_WEB_KEY_2020, Material::Jwk(jwk));
        match key {
            Some(key) => method.made(&key),
            None => method,
        }
    }

    fn new(id: DidUrl, type_: &str, material: Material) -> Self {
        let controller = id.did.clone();
        Self {
            id,
            type_: type_.to_owned(),
            controller,
            material: OnceLock::from(material),
            other: Map::new(),
            key: OnceLock::new(),
        }
    }

    /// Marks that the material was made from this key.
    fn made(self, key: &PublicKey) -> Self {
        Self {
            key: OnceLock::from(Ok(key.clone())),
            ..self
        }
    }

    /// The type, which determines the form of the material.
    pub fn type_name(&self) -> &str {
        &self.type_
    }

    /// The key's material.
    pub fn material(&self) -> &Material {
        self.material.get_or_init(|| match self.key.get() {
            Some(Ok(key)) => Material::Multibase(key.to_multikey()),
            _ => Material::Unknown,
        })
    }

    /// This verification method with other material.
    pub fn with_material(self, material: Material) -> Self {
        Self {
            material: OnceLock::from(material),
            key: OnceLock::new(),
            ..self
        }
    }

    /// The key, if the material fits the type and is valid.
    ///
    /// # Errors
    /// If the material does not fit the type or is not a valid key.
    pub fn public_key(&self) -> Result<PublicKey, KeyError> {
        self.key.get_or_init(|| self.make_key()).clone()
    }

    fn make_key(&self) -> Result<PublicKey, KeyError> {
        let key = match (self.type_.as_str(), self.material()) {
            (
                JSON_WEB_KEY_2020 | JSON_WEB_KEY | SECP256K1_2019 | ED25519_2020,
                Material::Jwk(jwk),
            ) => PublicKey::from_jwk(&Jwk::from_value(jwk)?)?,
            (MULTIKEY | ED25519_2020, Material::Multibase(text)) => PublicKey::from_multikey(text)?,
            (ED25519_2018, Material::Base58(text)) => raw(KeyType::Ed25519, text)?,
            (SECP256K1_2019, Material::Base58(text)) => raw(KeyType::Secp256k1, text)?,
            _ => return Err(KeyError::Unsupported),
        };
        match (self.type_.as_str(), key.key_type()) {
            (ED25519_2018 | ED25519_2020, KeyType::Ed25519)
            | (SECP256K1_2019, KeyType::Secp256k1) => Ok(key),
            (ED25519_2018 | ED25519_2020 | SECP256K1_2019, _) => Err(KeyError::Malformed(
                "key of another kind than its type says",
            )),
            _ => Ok(key),
        }
    }

    /// The key for agreement, if the material fits the type and is valid.
    ///
    /// # Errors
    /// If it is a key for signatures, the material does not fit the type, or it is no valid key.
    pub fn agreement_key(&self) -> Result<AgreementKey, KeyError> {
        let key = match (self.type_.as_str(), self.material()) {
            (JSON_WEB_KEY_2020 | JSON_WEB_KEY | X25519_2019 | X25519_2020, Material::Jwk(jwk)) => {
                AgreementKey::from_jwk(&Jwk::from_value(jwk)?)?
            }
            (MULTIKEY | X25519_2020, Material::Multibase(text)) => {
                let bytes = multibase_decode(text).map_err(|_| KeyError::Malformed("multikey"))?;
                AgreementKey::from_multicodec(&bytes)?
            }
            (X25519_2019, Material::Base58(text)) => {
                let bytes = base58_decode(text).map_err(|_| KeyError::Malformed("base58 key"))?;
                AgreementKey::from_raw(AgreementCurve::X25519, &bytes)?
            }
            _ => return Err(KeyError::Unsupported),
        };
        let is_x25519 = matches!(self.type_.as_str(), X25519_2019 | X25519_2020);
        match is_x25519 && key.curve() != AgreementCurve::X25519 {
            true => Err(KeyError::Malformed(
                "key of another kind than its type says",
            )),
            false => Ok(key),
        }
    }

    pub(super) fn controlled_agreement_key(
        &self,
        subject: &Did,
    ) -> Result<AgreementKey, DocumentError> {
        if self.controller != *subject {
            return Err(DocumentError::OtherController);
        }
        self.agreement_key().map_err(DocumentError::Key)
    }

    pub(super) fn controlled_key(&self, subject: &Did) -> Result<PublicKey, DocumentError> {
        if self.controller != *subject {
            return Err(DocumentError::OtherController);
        }
        self.public_key().map_err(DocumentError::Key)
    }

    pub(super) fn read(value: Value, base: &Did) -> Result<Self, DocumentError> {
        let malformed = || DocumentError::Malformed("verification method");
        let Value::Object(mut members) = value else {
            return Err(malformed());
        };
        let id = members
            .text("id")
            .and_then(|text| DidUrl::join(base, &text).ok())
            .ok_or_else(malformed)?;
        let type_ = members.text("type").ok_or_else(malformed)?;
        let controller = members
            .text("controller")
            .and_then(|text| Did::parse(&text).ok())
            .ok_or_else(malformed)?;
        let material = match (
            take(&mut members, "publicKeyJwk"),
            take(&mut members, "publicKeyMultibase"),
            take(&mut members, "publicKeyBase58"),
        ) {
            (Some(jwk @ Value::Object(_)), None, None) => match Jwk::from_value(&jwk) {
                Err(KeyError::Private) => return Err(DocumentError::PrivateKey),
                _ => Material::Jwk(jwk),
            },
            (None, Some(Value::String(text)), None) => Material::Multibase(text),
            (None, None, Some(Value::String(text))) => Material::Base58(text),
            (None, None, None) => Material::Unknown,
            // DID Core §5.2.1: a verification method must not have more than one material for one key.
            _ => return Err(malformed()),
        };
        if members
            .keys()
            .any(|name| name.starts_with("privateKey") || name.starts_with("secretKey"))
        {
            return Err(DocumentError::PrivateKey);
        }
        Ok(Self {
            id,
            type_,
            controller,
            material: OnceLock::from(material),
            other: members,
            key: OnceLock::new(),
        })
    }

    pub(super) fn write(&self) -> Value {
        let mut members = Map::new();
        members.insert("id".to_owned(), Value::String(self.id.to_string()));
        members.insert("type".to_owned(), Value::String(self.type_.clone()));
        members.insert(
            "controller".to_owned(),
            Value::String(self.controller.to_string()),
        );
        let material = match self.material() {
            Material::Jwk(jwk) => Some(("publicKeyJwk", jwk.clone())),
            Material::Multibase(text) => Some(("publicKeyMultibase", Value::String(text.clone()))),
            Material::Base58(text) => Some(("publicKeyBase58", Value::String(text.clone()))),
            Material::Unknown => None,
        };
        members.extend(material.map(|(name, value)| (name.to_owned(), value)));
        members.extend(self.other.clone());
        Value::Object(members)
    }
}

fn raw(key_type: KeyType, text: &str) -> Result<PublicKey, KeyError> {
    let bytes = base58_decode(text).map_err(|_| KeyError::Malformed("base58 key"))?;
    PublicKey::from_raw(key_type, &bytes)
}
