//! What the handlers need of the instance that serves them.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use selfsame_applications::Applications;
use selfsame_credential::Format;
use selfsame_http::error::{Handled, Problem};
use selfsame_issuer_pages::PageBase;
use selfsame_issuing_lists::IssuingLists;
use selfsame_openid::OrganisationRoles;
use selfsame_openid::issuer::Issuer;
use selfsame_openid::view::issuer::NewStatuses;
use selfsame_pages::Frame;

/// Changes the statuses of many credentials, on behalf of the sender of the request.
#[async_trait]
pub trait StatusDesk: Send + Sync {
    /// Changes them in one commit, which also writes into the audit trail which have changed.
    async fn change(&self, issuer: &Issuer, new: &NewStatuses) -> Handled<()>;
}

/// The issuer of the organisation whose address was called.
pub struct IssuerHere {
    /// The roles of the organisation.
    pub roles: Arc<OrganisationRoles>,
    /// Its applications.
    pub applications: Applications,
    /// Its lists of people who all get an offer.
    pub lists: IssuingLists,
    /// Changes statuses for somebody who works for it; absent for anybody else.
    pub statuses: Option<Arc<dyn StatusDesk>>,
    /// The formats that it issues.
    pub formats: Vec<Format>,
    /// Whether forms can be filled with the examples of their types.
    pub has_samples: bool,
    /// The ids of the types that people get by signing in.
    pub by_sign_in: BTreeSet<String>,
}

impl IssuerHere {
    /// Its issuer.
    pub(crate) fn issuer(&self) -> Handled<&Arc<Issuer>> {
        self.roles.issuer().map_err(Problem::from)
    }

    /// What the pages about many credentials have.
    pub(crate) fn base(frame: &Frame) -> PageBase {
        PageBase {
            here: frame.here.clone(),
            form: frame.form.clone(),
        }
    }
}
