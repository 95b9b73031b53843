//! The PIN of a token. A PIN that the token refused is not tried again, because a token locks itself after a few.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use cryptoki::context::Pkcs11;
use cryptoki::error::{Error as ModuleError, RvError};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::{Slot, TokenInfo};
use cryptoki::types::AuthPin;
use selfsame_crypto::SecretString;
use selfsame_driver::{Error, Reason, Result, private_file};

use crate::failed::{LATER, TokenResult, is};

/// A PIN, and whether its token refused it.
pub(crate) struct Pin {
    value: SecretString,
    is_refused: AtomicBool,
    /// Two threads with a wrong PIN would use up two tries.
    turn: Mutex<()>,
}

impl Pin {
    /// The PIN in a file, or else the one of the environment.
    ///
    /// # Errors
    /// `BadRequest` if the PIN is missing, or others can read its file.
    pub fn read(file: Option<&Path>, environment: Option<SecretString>) -> Result<Self> {
        let value = match (file, environment) {
            (Some(file), _) => private_file::read(file, Reason::new("advice-hsm-pin"))?,
            (None, Some(pin)) if !pin.expose().is_empty() => pin,
            (None, _) => return Err(Error::bad_request("hsm-pin-missing")),
        };
        Ok(Self {
            value,
            is_refused: AtomicBool::new(false),
            turn: Mutex::new(()),
        })
    }

    /// Logs a session in, and with it all sessions of this process with the token (PKCS#11 3.0 §5.6.8).
    pub fn log_in(&self, at: &LoginPlace<'_>) -> TokenResult<()> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let info = at.library.get_token_info(at.slot)?;
        if self.is_refused.load(Ordering::Acquire) || info.user_pin_final_try() {
            return Err(refusal(at.token, &info).into());
        }
        let pin = AuthPin::from(self.value.expose().to_owned());
        match at.session.login(UserType::User, Some(&pin)) {
            Err(error) if is(&error, RvError::UserAlreadyLoggedIn) => Ok(()),
            Err(error) if is_refusal(&error) => {
                self.is_refused.store(true, Ordering::Release);
                let info = at.library.get_token_info(at.slot)?;
                Err(refusal(at.token, &info).into())
            }
            other => Ok(other?),
        }
    }
}

/// Where to log in.
pub(crate) struct LoginPlace<'a> {
    pub library: &'a Pkcs11,
    pub slot: Slot,
    pub session: &'a Session,
    /// The token's name, for people.
    pub token: &'a str,
}

/// Whether the token refused the PIN itself, so that another try would be refused too.
fn is_refusal(error: &ModuleError) -> bool {
    [
        RvError::PinIncorrect,
        RvError::PinInvalid,
        RvError::PinLenRange,
        RvError::PinExpired,
        RvError::PinLocked,
        RvError::UserPinNotInitialized,
    ]
    .into_iter()
    .any(|code| is(error, code))
}

/// What a token that refuses the PIN says about further tries (PKCS#11 3.0 §3.2, `CK_TOKEN_INFO`).
fn refusal(token: &str, info: &TokenInfo) -> Error {
    let error = if info.user_pin_locked() {
        Error::new(LATER, "hsm-pin-locked").with("token", token)
    } else if info.user_pin_final_try() {
        Error::new(LATER, "hsm-pin-last-try").with("token", token)
    } else {
        Error::new(LATER, "hsm-pin-refused").with("token", token)
    };
    tracing::error!(%error, "a token refuses the PIN");
    error
}
