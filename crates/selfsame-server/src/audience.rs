//! Who uses an address: what each may send, and in which language it is refused.

use crate::error::Face;

/// The largest form; also the bound of every body that rides on a cookie.
pub const API_BODY_MAX: usize = 256 * 1024;

/// Who may use a group of addresses, and in which language it refuses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Audience {
    /// What watches over the process; never kept waiting.
    Supervisor,
    /// Anybody who looks at pages.
    Public,
    /// Anybody's programs that read.
    PublicApi,
    /// Anybody who follows events.
    Stream,
    /// Whoever is about to sign in.
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
    /// Whoever registers somebody in the registry; the handler says who may.
    Registrant,
    /// The same, on a page.
    RegistrantPage,
    /// Other wallets, issuers and verifiers.
    Protocol,
}

impl Audience {
    /// Whether its people have signed in.
    pub fn has_account(self) -> bool {
        matches!(self, Self::Person | Self::PersonApi)
    }

    /// In which language it is refused.
    pub fn face(self) -> Face {
        match self {
            Self::Public | Self::Doorway | Self::Person | Self::Operator | Self::RegistrantPage => {
                Face::Page
            }
            Self::Protocol => Face::Protocol,
            _ => Face::Api,
        }
    }

    /// The largest body.
    pub fn body_max(self) -> usize {
        match self {
            Self::Supervisor
            | Self::Public
            | Self::PublicApi
            | Self::Stream
            | Self::OperatorStream
            | Self::OperatorWait => 0,
            Self::DoorwayApi | Self::Registrant | Self::RegistrantPage => 16 * 1024,
            // The form of a door carries the address to go on at, which may be a whole request.
            Self::Doorway | Self::Person | Self::PersonApi | Self::Operator | Self::OperatorApi => {
                API_BODY_MAX
            }
            Self::Protocol => 1024 * 1024,
        }
    }
}
