//! A token: where it is, its PIN, and the keys in it.

use std::sync::Arc;

use cryptoki::context::Pkcs11;
use cryptoki::mechanism::MechanismType;
use cryptoki::slot::{Slot, TokenInfo};
use selfsame_crypto::{KeyType, PublicKey, SecretString};
use selfsame_driver::{Error, Result};

use crate::failed::{LATER, TokenFailure, TokenResult};
use crate::module::{Loaded, Module};
use crate::pin::Pin;
use crate::session::{TokenKey, TokenSession};
use crate::uri::{KeyQuery, TokenQuery, TokenUri};

/// A token of a module, which needs not be there now.
#[derive(Clone)]
pub struct Token(Arc<TokenParts>);

struct TokenParts {
    module: Arc<Module>,
    query: TokenQuery,
    pin: Pin,
}

/// What a token is and can do.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TokenState {
    /// Its label.
    pub label: String,
    /// Its serial number.
    pub serial: String,
    /// Its manufacturer and its model.
    pub model: String,
    /// Whether it signs with P-256 (`CKM_ECDSA`).
    pub signs_p256: bool,
    /// Whether it signs with Ed25519 (`CKM_EDDSA`).
    pub signs_ed25519: bool,
    /// Whether it encrypts with AES-GCM (`CKM_AES_GCM`).
    pub wraps: bool,
    /// Its keys that may be used here.
    pub keys: Vec<TokenKey>,
}

impl Token {
    /// The token of this URI. Its PIN is in the file that the URI names, or is the one given. Nothing is opened yet
    /// except the module.
    ///
    /// # Errors
    /// `BadRequest` if the module can't be loaded, or there is no PIN.
    pub fn new(uri: &TokenUri, pin: Option<SecretString>) -> Result<Self> {
        Ok(Self(Arc::new(TokenParts {
            pin: Pin::read(uri.pin_source.as_deref(), pin)?,
            module: Module::at(&uri.module)?,
            query: uri.token.clone(),
        })))
    }

    /// What the token is, can do and holds. Blocks while the token works.
    ///
    /// # Errors
    /// `Unavailable` if it is absent, refuses the PIN or fails.
    pub fn state(&self) -> Result<TokenState> {
        self.once(|session| {
            let info = session.info()?;
            let does = |mechanism| session.does(mechanism);
            Ok(TokenState {
                label: info.label().trim_end().to_owned(),
                serial: info.serial_number().trim_end().to_owned(),
                model: format!("{} {}", info.manufacturer_id(), info.model()),
                signs_p256: does(MechanismType::ECDSA)?,
                signs_ed25519: does(MechanismType::EDDSA)?,
                wraps: does(MechanismType::AES_GCM)?,
                keys: session.keys()?,
            })
        })
    }

    /// Makes a key pair that signs, and never leaves the token. Blocks while the token works.
    ///
    /// # Errors
    /// `Conflict` if a key has this label; `Unavailable` if the token can't.
    pub fn create_pair(&self, label: &str, kind: KeyType) -> Result<PublicKey> {
        self.once(|session| session.create_pair(label, kind))
    }

    /// Makes an AES-256 key that wraps, and never leaves the token. Blocks while the token works.
    ///
    /// # Errors
    /// `Conflict` if a key has this label; `Unavailable` if the token can't.
    pub fn create_wrapping_key(&self, label: &str) -> Result<()> {
        self.once(|session| session.create_wrapping_key(label))
    }

    /// Encrypts with a secret key (AES-256-GCM); the first 12 bytes are the nonce. Blocks while the token works.
    pub(crate) fn encrypt(&self, key: &KeyQuery, aad: &[u8], plain: &[u8]) -> Result<Vec<u8>> {
        self.once(|session| session.encrypt(key, aad, plain))
    }

    /// Decrypts what [`Self::encrypt`] gave. Blocks while the token works.
    pub(crate) fn decrypt(&self, key: &KeyQuery, aad: &[u8], sealed: &[u8]) -> Result<Vec<u8>> {
        self.once(|session| session.decrypt(key, aad, sealed))
    }

    /// Does something in a session of its own.
    fn once<T>(&self, work: impl Fn(&mut TokenSession) -> TokenResult<T>) -> Result<T> {
        let mut session = None;
        let done = self.within(&mut session, work);
        self.close(session);
        done
    }

    /// Does something in the session that is kept in `place`, or in a new one if `place` is empty or its session was lost.
    pub(crate) fn within<T>(
        &self,
        place: &mut Option<TokenSession>,
        work: impl Fn(&mut TokenSession) -> TokenResult<T>,
    ) -> Result<T> {
        let mut tries_left = 1_u8;
        loop {
            let (generation, done) = {
                let loaded = self.0.module.loaded();
                place.take_if(|kept| kept.generation() != loaded.generation);
                let done = match place {
                    Some(session) => work(session),
                    None => self.open(&loaded).and_then(|new| work(place.insert(new))),
                };
                (loaded.generation, done)
            };
            let again = match &done {
                Err(TokenFailure::Ours(error)) => error.reason.id() == "hsm-token-absent",
                Err(failed) => failed.is_lost(),
                Ok(_) => false,
            };
            if !again || tries_left == 0 {
                return done.map_err(TokenFailure::told);
            }
            tries_left = 0;
            let lost = place.take();
            if lost.is_none() {
                // It could not even be opened: many modules see a token that came back only when they begin anew.
                self.0.module.renew(generation);
            }
            self.close(lost);
        }
    }

    /// Closes a session, unless the module has forgotten it.
    pub(crate) fn close(&self, session: Option<TokenSession>) {
        let loaded = self.0.module.loaded();
        if let Some(session) = session.filter(|one| one.generation() == loaded.generation) {
            session.close();
        }
    }

    fn open(&self, loaded: &Loaded) -> TokenResult<TokenSession> {
        let slot = self.slot(&loaded.library)?;
        TokenSession::open(loaded, slot, &self.0.pin)
    }

    /// The slot that the token is in.
    fn slot(&self, library: &Pkcs11) -> TokenResult<Slot> {
        let mut found = None;
        for slot in library.get_slots_with_initialized_token()? {
            let info = library.get_token_info(slot)?;
            if self.0.query.fits(&info) && found.replace(slot).is_some() {
                return Err(Error::bad_request("hsm-token-ambiguous")
                    .with("token", &self.0.query)
                    .into());
            }
        }
        let absent = || {
            Error::new(LATER, "hsm-token-absent")
                .with("token", &self.0.query)
                .with("module", &self.0.module.path().display())
        };
        Ok(found.ok_or_else(absent)?)
    }
}

impl TokenQuery {
    fn fits(&self, info: &TokenInfo) -> bool {
        let is = |wanted: &Option<String>, found: &str| {
            wanted
                .as_deref()
                .is_none_or(|wanted| wanted == found.trim_end())
        };
        is(&self.label, info.label())
            && is(&self.serial, info.serial_number())
            && is(&self.manufacturer, info.manufacturer_id())
            && is(&self.model, info.model())
    }
}
