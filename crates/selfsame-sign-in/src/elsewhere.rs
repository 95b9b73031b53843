//! Factors that a person gives elsewhere than on a page of the sign-in.

use selfsame_driver::{Error, Result};
use selfsame_oidc::FactorKind;
use url::Url;

use crate::identity::{AskedElsewhere, ElsewhereOrder};
use crate::refusal::fault;
use crate::service::SignIns;
use crate::sign_in::SignInVisitor;

/// A factor that a person wants to give elsewhere.
#[derive(Clone, Debug)]
pub struct WantedElsewhere {
    /// The factor.
    pub factor: FactorKind,
    /// The path, below the organisation's base, of the page that waits for it. It has no slash at its beginning and end.
    pub page: String,
}

impl SignIns {
    /// Asks for a factor that the person gives elsewhere. It may be called as often as its page is shown.
    ///
    /// # Errors
    /// `NotFound` if the sign-in is over or was begun in another browser; `Conflict` once the person has proved who they
    /// are; `BadRequest` if the factor does not suffice alone; those of the identity system.
    pub async fn ask(
        &self,
        visitor: &SignInVisitor,
        wanted: WantedElsewhere,
    ) -> Result<AskedElsewhere> {
        let mut open = self.open(visitor).await?;
        open.record.asked()?;
        let WantedElsewhere { factor, page } = wanted;
        let suffices = self.factors(&open.record).await?;
        if !suffices.iter().any(|all| *all == [factor]) {
            return Err(Error::bad_request("factor-unsupported"));
        }
        let base = &self.place.addresses.base;
        let address = base.join(&format!("../{page}")).map_err(Error::internal)?;
        let order = ElsewhereOrder {
            factor,
            page,
            address,
        };
        let asking = self.asking(&open, visitor);
        let asked = self.service.parts.system.ask(&asking, &order).await;
        asked.map_err(|error| fault(&error))
    }

    /// The address of the page that waits for the person whom another provider sends back with this query.
    ///
    /// # Errors
    /// `Unauthenticated` if no page does; those of the identity system.
    pub async fn awaiting(&self, query: &str) -> Result<Url> {
        let page = self.service.parts.system.awaiting(query).await;
        page.map_err(|error| fault(&error))
    }
}
