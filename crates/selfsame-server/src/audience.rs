//! The audiences of addresses: what each may send, and the format of its errors.

use selfsame_http::limits::API_BODY_MAX;
use selfsame_http::route::openapi::Token;

use crate::error::Face;
use crate::problem;

/// The largest form with files: those that are too large for their purpose are refused beside their field.
pub const UPLOAD_MAX: usize = 1024 * 1024;

/// Who may use a group of addresses, and the format of its errors.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Audience {
    /// The process's supervisor; never kept waiting.
    Supervisor,
    /// Anyone, on pages.
    Public,
    /// Anyone's programs that read.
    PublicApi,
    /// Anyone who follows events.
    Stream,
    /// A person or operator about to sign in.
    Doorway,
    /// Programs that sign a person in.
    DoorwayApi,
    /// A person, on pages.
    Person,
    /// A person's programs.
    PersonApi,
    /// The operator, on pages.
    Operator,
    /// The operator's programs.
    OperatorApi,
    /// The operator, following events.
    OperatorStream,
    /// The operator's programs, waiting for something to happen.
    OperatorWait,
    /// A client that registers a DID in the registry; the handler decides who may.
    Registrant,
    /// A [`Self::Registrant`] on a page.
    RegistrantPage,
    /// Other wallets, issuers and verifiers.
    Protocol,
}

impl Audience {
    /// Whether its members have signed in.
    pub fn has_account(self) -> bool {
        matches!(self, Self::Person | Self::PersonApi)
    }

    /// Whether its members work for an organisation.
    pub fn works_here(self) -> bool {
        matches!(
            self,
            Self::Operator | Self::OperatorApi | Self::OperatorStream | Self::OperatorWait
        )
    }

    /// The token that its addresses take, if they take one.
    pub fn token(self) -> Option<Token> {
        match self {
            Self::Operator
            | Self::OperatorApi
            | Self::OperatorStream
            | Self::OperatorWait
            | Self::Registrant
            | Self::RegistrantPage => Some(Token::Operator),
            Self::Person | Self::PersonApi => Some(Token::Wallet),
            _ => None,
        }
    }

    /// Whether its addresses need their token. Of a [`Self::Registrant`], that depends on the operator.
    pub fn needs_token(self) -> bool {
        self.token().is_some() && !matches!(self, Self::Registrant | Self::RegistrantPage)
    }

    /// The format of its errors.
    pub fn face(self) -> Face {
        match self {
            Self::Public | Self::Doorway | Self::Person | Self::Operator | Self::RegistrantPage => {
                Face::Page(problem::page)
            }
            Self::Protocol => Face::Protocol,
            _ => Face::Api,
        }
    }

    /// The largest body, in bytes.
    pub fn body_max(self) -> usize {
        match self {
            Self::Supervisor
            | Self::Public
            | Self::PublicApi
            | Self::Stream
            | Self::OperatorStream
            | Self::OperatorWait => 0,
            Self::DoorwayApi | Self::Registrant | Self::RegistrantPage => 16 * 1024,
            // A sign-in form carries the address to continue at, which may be a whole request.
            Self::Doorway | Self::Person | Self::PersonApi | Self::Operator | Self::OperatorApi => {
                API_BODY_MAX
            }
            Self::Protocol => 1024 * 1024,
        }
    }
}
