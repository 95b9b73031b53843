//! The OpenID provider as use cases: clients, sign-in flows, sessions, consents, grants.
//!
//! Owns: what is kept of a sign-in and for how long, what is redeemed once, the keys that tokens are signed with. Does
//! not own: who knows people ([`identity`] is the seam to that), pages, HTTP.

pub mod access;
mod agreement;
mod begin;
mod caller_limits;
mod callers;
mod client_check;
pub mod clients;
mod consent;
mod credential_scopes;
mod credentials;
mod documents;
mod dpop_check;
mod elsewhere;
pub mod identity;
mod key_set;
mod landing;
mod logo;
pub mod logout;
mod logout_notice;
pub mod past;
mod person;
mod place;
mod plan;
mod profile;
mod pushed;
mod pushed_record;
mod read;
mod record;
mod redeem;
mod refresh;
mod refusal;
pub mod registering;
mod resource;
mod service;
mod session;
mod sign_in;
mod spent;
mod step;
mod token;
mod unknown;
pub mod view;

pub use begin::ArrivingBrowser;
pub use caller_limits::CALLS_EACH;
pub use credential_scopes::CredentialScopes;
pub use dpop_check::CalledEndpoint;
pub use elsewhere::WantedElsewhere;
pub use place::ProviderPlace;
pub use pushed::PushedAnswer;
pub use resource::SignedInHolder;
pub use service::{SignInParts, SignInService, SignIns};
pub use sign_in::{AttemptLimits, SignInVisitor, WantedOtp};

/// The kinds of records of an organisation that can be used once or for a limited time. They end when a backup is
/// restored.
pub const SHORT_LIVED: [&str; 4] = [
    record::SIGN_IN,
    session::SIGN_IN_SESSION,
    pushed_record::PUSHED,
    registering::INITIAL_TOKEN,
];
