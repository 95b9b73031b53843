//! The listener of `[admin]`, for those who work for organisations.

use selfsame_server::{AdminListener, Origin};
use selfsame_terminal::exit::Failure;
use url::Url;

use super::Launch;

const AT_ADMIN: &str = "listen on loopback, and reach it with `ssh -L` or a proxy on this machine (then set [admin] origin to its https URL); or serve TLS with the main listener, whose certificate this one has too";

/// The listener of `[admin]`, and its URL.
pub(super) struct BoundAdmin {
    /// The listener.
    pub listener: AdminListener,
    /// Where those who work for organisations call it.
    pub url: Url,
}

impl Launch {
    /// The listener of `[admin]`. With TLS, it has the certificate of the main listener.
    ///
    /// # Errors
    /// If the address is taken, or can't be served at its origin.
    pub(super) async fn bind_admin(&self, public: &Url) -> Result<Option<BoundAdmin>, Failure> {
        let Some(at) = self.admin.listen else {
            return Ok(None);
        };
        let listener = self.bind(at).await?;
        let bound = listener.local_addr()?;
        let url = match (&self.admin.origin, self.tls.is_some()) {
            (Some(origin), _) => origin.clone(),
            (None, true) => {
                let mut beside = public.clone();
                // A URL with a host has a place for a port.
                let _ = beside.set_port(Some(bound.port()));
                beside
            }
            (None, false) => self.origin_of(bound)?,
        };
        let origin = Origin::of(&url).and_then(|origin| {
            origin.can_be_served(bound, self.tls.is_some())?;
            Ok(origin)
        });
        let origin = origin.map_err(|wrong| {
            Failure::environment(format!("[admin] listen = \"{at}\": {wrong}")).hint(AT_ADMIN)
        })?;
        let listener = AdminListener { listener, origin };
        Ok(Some(BoundAdmin { listener, url }))
    }
}
