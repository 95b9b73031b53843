//! The pages of a sign-in at the OpenID provider of an organisation: proving who one is, agreeing, sessions,
//! agreements and passkeys.

mod agreeing;
mod call;
mod elsewhere;
mod kept;
mod own_passkeys;
mod passkey;
mod proving;
mod refusal;
mod upstream;
mod wallet;
mod ways;

pub use agreeing::decide;
pub use kept::{agreements, end_others, end_session, sessions, take_back};
pub use own_passkeys::{add_passkey, begin_passkey, passkeys, remove_passkey, rename_passkey};
pub use passkey::{passkey, prove_passkey};
pub use proving::{prove, send_code};
pub use upstream::{returned, upstream};
pub use wallet::{presented, wallet};
pub use ways::{back, page};
