//! What a module's answers mean: whether the session is lost, and who must act.

use cryptoki::error::{Error as ModuleError, RvError};
use selfsame_driver::{Error, ErrorKind};

/// The kind of an error that may pass by itself, or when somebody has seen to the token.
pub(crate) const LATER: ErrorKind = ErrorKind::Unavailable { retry_after: 5 };

/// Why a token did not do something.
#[derive(Debug)]
pub(crate) enum TokenFailure {
    /// What the module answered.
    Module(ModuleError),
    /// What was found out here.
    Ours(Error),
}

pub(crate) type TokenResult<T> = Result<T, TokenFailure>;

impl From<ModuleError> for TokenFailure {
    fn from(error: ModuleError) -> Self {
        Self::Module(error)
    }
}

impl From<Error> for TokenFailure {
    fn from(error: Error) -> Self {
        Self::Ours(error)
    }
}

impl TokenFailure {
    /// Whether the session, the login or the token is gone, so that a new session may help.
    pub fn is_lost(&self) -> bool {
        matches!(
            self,
            Self::Module(ModuleError::Pkcs11(
                RvError::CryptokiNotInitialized
                    | RvError::DeviceError
                    | RvError::DeviceRemoved
                    | RvError::GeneralError
                    | RvError::KeyHandleInvalid
                    | RvError::ObjectHandleInvalid
                    | RvError::SessionClosed
                    | RvError::SessionHandleInvalid
                    | RvError::SlotIdInvalid
                    | RvError::TokenNotPresent
                    | RvError::TokenNotRecognized
                    | RvError::UserNotLoggedIn,
                _
            ))
        )
    }

    /// As an error of a use case.
    pub fn told(self) -> Error {
        match self {
            Self::Module(error) => Error::new(LATER, "hsm-failed").with("detail", &said(&error)),
            Self::Ours(error) => error,
        }
    }
}

/// What a module answered, in few words: the specification's sentences for its codes are long.
pub(crate) fn said(error: &ModuleError) -> String {
    match error {
        ModuleError::Pkcs11(code, function) => format!("C_{function:?}: {code:?}"),
        other => other.to_string(),
    }
}

/// Whether the module answered with this code.
pub(crate) fn is(error: &ModuleError, code: RvError) -> bool {
    matches!(error, ModuleError::Pkcs11(found, _) if *found == code)
}
