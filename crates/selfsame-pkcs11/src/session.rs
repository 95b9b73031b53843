//! A session with a token: it finds keys, signs, encrypts and makes keys.

use std::collections::HashMap;

use cryptoki::context::Pkcs11;
use cryptoki::error::RvError;
use cryptoki::mechanism::aead::GcmParams;
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsPssParams};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{
    Attribute, AttributeType, KeyType as TokenKeyType, ObjectClass, ObjectHandle,
};
use cryptoki::session::Session;
use cryptoki::slot::{Slot, TokenInfo};
use cryptoki::types::Ulong;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::seal::random_seed;
use selfsame_crypto::{Algorithm, KeyType, PublicKey};
use selfsame_driver::hsm::HsmKey;
use selfsame_driver::{Error, ErrorKind};

use crate::failed::{LATER, TokenFailure, TokenResult, is, said};
use crate::figures::session_opened;
use crate::key_pair::{self, public_key, rsa_key};
use crate::module::Loaded;
use crate::pin::{LoginPlace, Pin};
use crate::uri::KeyQuery;

/// The length of AES-GCM's nonce, in bytes.
const NONCE: usize = 12;
/// The length of an RSA modulus, in bits.
const RSA_BITS: Ulong = Ulong::new(2048);
/// 65537.
const RSA_EXPONENT: [u8; 3] = [1, 0, 1];
/// The length of AES-GCM's tag, in bits.
const TAG_BITS: u64 = 128;
/// PSS with SHA-256, and a salt as long as the hash (RFC 7518 §3.5).
const PSS: PkcsPssParams = PkcsPssParams {
    hash_alg: MechanismType::SHA256,
    mgf: PkcsMgfType::MGF1_SHA256,
    s_len: Ulong::new(32),
};
/// Maximum number of keys that are listed.
const LISTED_MAX: usize = 1000;

/// A key in a token.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TokenKey {
    /// Its label.
    pub label: String,
    /// Its public half; `None` for a secret key.
    pub public: Option<PublicKey>,
}

/// An open session, in which the user of the token is logged in.
pub(crate) struct TokenSession {
    session: Session,
    library: Pkcs11,
    slot: Slot,
    generation: u64,
    /// The private and secret keys that were found.
    found: HashMap<KeyQuery, ObjectHandle>,
}

impl TokenSession {
    pub fn open(loaded: &Loaded, slot: Slot, pin: &Pin) -> TokenResult<Self> {
        let library = &loaded.library;
        // A session's handle is given anew when the module begins anew, so that dropping it could close another one.
        let session = library.open_rw_session_no_drop(slot)?;
        let info = library.get_token_info(slot)?;
        if info.login_required() {
            let door = LoginPlace {
                library,
                slot,
                session: &session,
                token: info.label().trim_end(),
            };
            if let Err(failed) = pin.log_in(&door) {
                let _ = session.close();
                return Err(failed);
            }
        }
        session_opened();
        Ok(Self {
            session,
            library: library.clone(),
            slot,
            generation: loaded.generation,
            found: HashMap::new(),
        })
    }

    /// Which initialisation of the module it belongs to.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    pub fn close(self) {
        // A session that is gone needs no end.
        let _ = self.session.close();
    }

    pub fn info(&self) -> TokenResult<TokenInfo> {
        Ok(self.library.get_token_info(self.slot)?)
    }

    /// Whether the token has a mechanism.
    pub fn does(&self, mechanism: MechanismType) -> TokenResult<bool> {
        let all = self.library.get_mechanism_list(self.slot)?;
        Ok(all.contains(&mechanism))
    }

    /// Signs with a private key. The signature is checked with the public half, so that a wrong key or a faulty token
    /// gives an error in place of a signature.
    pub fn sign(
        &mut self,
        key: &HsmKey,
        algorithm: Algorithm,
        bytes: &[u8],
    ) -> TokenResult<Vec<u8>> {
        let handle = self.key(ObjectClass::PRIVATE_KEY, &KeyQuery::labelled(key.label()))?;
        let signature = match algorithm {
            // `CKM_ECDSA` signs a hash, and gives r ‖ s (PKCS#11 3.0 §2.3.6), as JOSE does.
            Algorithm::Es256 => self.signed(&Mechanism::Ecdsa, handle, &sha256(bytes))?,
            Algorithm::EdDsa => {
                let pure = EddsaParams::new(EddsaSignatureScheme::Pure);
                self.signed(&Mechanism::Eddsa(pure), handle, bytes)?
            }
            Algorithm::Rs256 => self.signed(&Mechanism::Sha256RsaPkcs, handle, bytes)?,
            Algorithm::Ps256 => self.signed(&Mechanism::Sha256RsaPkcsPss(PSS), handle, bytes)?,
            other => return Err(unfit(key.label(), other.as_str()).into()),
        };
        match key.public().verify(algorithm, bytes, &signature) {
            Ok(()) => Ok(signature),
            Err(_) => {
                let error = Error::new(LATER, "hsm-signature-wrong").with("key", key.label());
                Err(error.into())
            }
        }
    }

    fn signed(&self, by: &Mechanism, key: ObjectHandle, bytes: &[u8]) -> TokenResult<Vec<u8>> {
        let signed = self.session.sign(by, key, bytes);
        signed.map_err(|error| lacking(error.into(), mechanism_name(by)))
    }

    /// The public half of a key pair.
    pub fn public(&mut self, label: &str) -> TokenResult<PublicKey> {
        let query = KeyQuery::labelled(label);
        self.key(ObjectClass::PRIVATE_KEY, &query)?;
        let handle = self.object(ObjectClass::PUBLIC_KEY, &query)?;
        self.public_of(handle)?
            .ok_or_else(|| unfit(label, "another curve").into())
    }

    /// The public key of an object; `None` if its type is not for signatures here.
    fn public_of(&self, handle: ObjectHandle) -> TokenResult<Option<PublicKey>> {
        let is_rsa = [Attribute::KeyType(TokenKeyType::RSA)];
        let kind = self
            .session
            .get_attributes(handle, &[AttributeType::KeyType])?;
        let (first, second) = match kind == is_rsa {
            true => (AttributeType::Modulus, AttributeType::PublicExponent),
            false => (AttributeType::EcParams, AttributeType::EcPoint),
        };
        let [mut one, mut other] = [None, None];
        for attribute in self.session.get_attributes(handle, &[first, second])? {
            match attribute {
                Attribute::EcParams(bytes) | Attribute::Modulus(bytes) => one = Some(bytes),
                Attribute::EcPoint(bytes) | Attribute::PublicExponent(bytes) => {
                    other = Some(bytes);
                }
                _ => {}
            }
        }
        Ok(one
            .zip(other)
            .and_then(|(one, other)| match kind == is_rsa {
                true => rsa_key(&one, &other),
                false => public_key(&one, &other),
            }))
    }

    /// The keys of the token that may be used here.
    pub fn keys(&self) -> TokenResult<Vec<TokenKey>> {
        let mut keys = Vec::new();
        for (class, is_pair) in [
            (ObjectClass::PUBLIC_KEY, true),
            (ObjectClass::SECRET_KEY, false),
        ] {
            let found = self.session.find_objects(&[Attribute::Class(class)])?;
            for handle in found.into_iter().take(LISTED_MAX) {
                let public = match is_pair {
                    true => self.public_of(handle)?,
                    false => None,
                };
                if is_pair == public.is_some() {
                    let label = self.label(handle)?;
                    keys.push(TokenKey { label, public });
                }
            }
        }
        Ok(keys)
    }

    fn label(&self, handle: ObjectHandle) -> TokenResult<String> {
        let found = self
            .session
            .get_attributes(handle, &[AttributeType::Label])?;
        let label = found.into_iter().find_map(|attribute| match attribute {
            Attribute::Label(label) => Some(String::from_utf8_lossy(&label).into_owned()),
            _ => None,
        });
        Ok(label.unwrap_or_default())
    }

    /// Makes a key pair with this label.
    pub fn create_pair(&mut self, label: &str, kind: KeyType) -> TokenResult<PublicKey> {
        self.is_free(label)?;
        let curve = |oid: &[u8]| vec![Attribute::EcParams(oid.to_vec())];
        let (mechanism, parameters) = match kind {
            KeyType::P256 => (Mechanism::EccKeyPairGen, curve(&key_pair::P256)),
            KeyType::Ed25519 => (Mechanism::EccEdwardsKeyPairGen, curve(&key_pair::ED25519)),
            KeyType::Rsa => (
                Mechanism::RsaPkcsKeyPairGen,
                vec![
                    Attribute::ModulusBits(RSA_BITS),
                    Attribute::PublicExponent(RSA_EXPONENT.to_vec()),
                ],
            ),
            other => return Err(unfit(label, other.as_str()).into()),
        };
        let id = nonce().to_vec();
        let named = [
            Attribute::Token(true),
            Attribute::Label(label.as_bytes().to_vec()),
            Attribute::Id(id),
        ];
        let mut public = named.to_vec();
        public.push(Attribute::Verify(true));
        public.extend(parameters);
        let mut private = named.to_vec();
        private.extend([
            Attribute::Private(true),
            Attribute::Sensitive(true),
            Attribute::Extractable(false),
            Attribute::Sign(true),
        ]);
        let made = self
            .session
            .generate_key_pair(&mechanism, &public, &private);
        let (public, private) =
            made.map_err(|error| lacking(error.into(), mechanism_name(&mechanism)))?;
        self.found.insert(KeyQuery::labelled(label), private);
        self.public_of(public)?
            .ok_or_else(|| unfit(label, "another curve").into())
    }

    /// Makes an AES-256 key with this label.
    pub fn create_wrapping_key(&mut self, label: &str) -> TokenResult<()> {
        self.is_free(label)?;
        let template = [
            Attribute::Class(ObjectClass::SECRET_KEY),
            Attribute::KeyType(TokenKeyType::AES),
            Attribute::ValueLen(32.into()),
            Attribute::Token(true),
            Attribute::Label(label.as_bytes().to_vec()),
            Attribute::Id(nonce().to_vec()),
            Attribute::Private(true),
            Attribute::Sensitive(true),
            Attribute::Extractable(false),
            Attribute::Encrypt(true),
            Attribute::Decrypt(true),
        ];
        let made = self.session.generate_key(&Mechanism::AesKeyGen, &template);
        made.map_err(|error| lacking(error.into(), mechanism_name(&Mechanism::AesKeyGen)))?;
        Ok(())
    }

    /// Refuses a label that a key has already.
    fn is_free(&self, label: &str) -> TokenResult<()> {
        for class in [ObjectClass::PRIVATE_KEY, ObjectClass::SECRET_KEY] {
            let template = template(class, &KeyQuery::labelled(label));
            if !self.session.find_objects(&template)?.is_empty() {
                let error = Error::new(ErrorKind::Conflict, "hsm-key-exists").with("key", label);
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Encrypts with AES-256-GCM: nonce ‖ ciphertext ‖ tag.
    pub fn encrypt(&mut self, key: &KeyQuery, aad: &[u8], plain: &[u8]) -> TokenResult<Vec<u8>> {
        let handle = self.key(ObjectClass::SECRET_KEY, key)?;
        let mut nonce = nonce();
        let sealed = {
            let gcm = GcmParams::new(&mut nonce, aad, TAG_BITS.into())?;
            self.session.encrypt(&Mechanism::AesGcm(gcm), handle, plain)
        };
        let sealed = sealed.map_err(|error| lacking(error.into(), "CKM_AES_GCM"))?;
        // Some tokens choose the nonce, and write it in place of ours.
        Ok([nonce.as_slice(), &sealed].concat())
    }

    /// Decrypts what [`Self::encrypt`] gave.
    pub fn decrypt(&mut self, key: &KeyQuery, aad: &[u8], sealed: &[u8]) -> TokenResult<Vec<u8>> {
        let handle = self.key(ObjectClass::SECRET_KEY, key)?;
        let other = |detail: &str| {
            TokenFailure::Ours(
                Error::bad_request("hsm-wrapped-by-other")
                    .with("key", key)
                    .with("detail", detail),
            )
        };
        let short = || other("it is too short");
        let (nonce, sealed) = sealed.split_at_checked(NONCE).ok_or_else(short)?;
        let mut nonce = nonce.to_vec();
        let gcm = GcmParams::new(&mut nonce, aad, TAG_BITS.into())?;
        let opened = self
            .session
            .decrypt(&Mechanism::AesGcm(gcm), handle, sealed);
        opened.map_err(|error| {
            let is_wrong = [
                RvError::EncryptedDataInvalid,
                RvError::EncryptedDataLenRange,
                // What some modules answer to a wrong tag.
                RvError::GeneralError,
            ];
            match is_wrong.into_iter().any(|code| is(&error, code)) {
                true => other(&said(&error)),
                false => lacking(error.into(), "CKM_AES_GCM"),
            }
        })
    }

    /// The private or secret key that is meant, which is looked up once a session.
    fn key(&mut self, class: ObjectClass, query: &KeyQuery) -> TokenResult<ObjectHandle> {
        if let Some(known) = self.found.get(query) {
            return Ok(*known);
        }
        let handle = self.object(class, query)?;
        self.found.insert(query.clone(), handle);
        Ok(handle)
    }

    /// The one object of this class that is meant.
    fn object(&self, class: ObjectClass, query: &KeyQuery) -> TokenResult<ObjectHandle> {
        let found = self.session.find_objects(&template(class, query))?;
        match found.as_slice() {
            [one] => Ok(*one),
            [] => Err(Error::new(LATER, "hsm-key-absent")
                .with("key", query)
                .into()),
            _ => Err(Error::bad_request("hsm-key-ambiguous")
                .with("key", query)
                .into()),
        }
    }
}

/// Random bytes for a nonce or an identifier.
fn nonce() -> [u8; NONCE] {
    let mut nonce = [0; NONCE];
    for (to, from) in nonce.iter_mut().zip(random_seed()) {
        *to = from;
    }
    nonce
}

fn template(class: ObjectClass, query: &KeyQuery) -> Vec<Attribute> {
    let label = query.label.iter();
    let label = label.map(|label| Attribute::Label(label.as_bytes().to_vec()));
    let id = query.id.iter().cloned().map(Attribute::Id);
    [Attribute::Class(class)]
        .into_iter()
        .chain(label)
        .chain(id)
        .collect()
}

/// The error of a token without a mechanism, or the error itself.
fn lacking(failed: TokenFailure, mechanism: &'static str) -> TokenFailure {
    match &failed {
        TokenFailure::Module(error)
            if [
                RvError::MechanismInvalid,
                RvError::FunctionNotSupported,
                RvError::CurveNotSupported,
            ]
            .into_iter()
            .any(|code| is(error, code)) =>
        {
            let error = Error::bad_request("hsm-mechanism-absent").with("mechanism", mechanism);
            TokenFailure::Ours(error)
        }
        _ => failed,
    }
}

fn mechanism_name(mechanism: &Mechanism) -> &'static str {
    match mechanism {
        Mechanism::Ecdsa => "CKM_ECDSA",
        Mechanism::Eddsa(_) => "CKM_EDDSA",
        Mechanism::Sha256RsaPkcs => "CKM_SHA256_RSA_PKCS",
        Mechanism::Sha256RsaPkcsPss(_) => "CKM_SHA256_RSA_PKCS_PSS",
        Mechanism::RsaPkcsKeyPairGen => "CKM_RSA_PKCS_KEY_PAIR_GEN",
        Mechanism::EccKeyPairGen => "CKM_EC_KEY_PAIR_GEN",
        Mechanism::EccEdwardsKeyPairGen => "CKM_EC_EDWARDS_KEY_PAIR_GEN",
        Mechanism::AesKeyGen => "CKM_AES_KEY_GEN",
        _ => "CKM_AES_GCM",
    }
}

fn unfit(label: &str, found: &str) -> Error {
    Error::bad_request("hsm-key-unfit")
        .with("key", label)
        .with("found", found)
}
