//! Out-of-band 1.0 and 1.1 (RFC 0434): an invitation outside any connection, and what becomes of it.

mod messages;
mod plan;
mod state;
mod step;
mod url;

pub use messages::{InlineService, OobInvitation, OobMessage, OobService};
pub use plan::{Ability, Plan, plan};
pub use state::{OobKind, OobRecord, OobRole, OobState, next};
pub use step::{OobAct, OobInput, step};
pub use url::{InvitationText, UrlProblem, read_invitation, read_message, write_invitation};
