//! Certificates of the listener that an authority gives, for the hosts of an instance.

use std::sync::Arc;

use selfsame_acme::{AcmeParts, OrganisationHosts};
use selfsame_app::App;
use selfsame_driver::clock::Clock;
use selfsame_server::{FurtherListener, Tls};
use selfsame_store::Store;
use selfsame_terminal::exit::Failure;

use super::Launch;

impl Launch {
    /// Orders and renews the certificates, if the settings say so. Returns the listener without TLS, if there is one.
    ///
    /// # Errors
    /// If something is wrong in the settings, or the address without TLS is taken.
    pub(super) async fn order_certificates(
        &self,
        store: Store,
        tls: Option<&Tls>,
        app: &Arc<App>,
    ) -> Result<Option<FurtherListener>, Failure> {
        let (Some(settings), Some(tls)) = (self.acme.clone(), tls.cloned()) else {
            return Ok(None);
        };
        let listener = match settings.listen {
            Some(at) => Some(
                self.bind(at)
                    .await
                    .map_err(|it| it.at("[tls.acme] listen"))?,
            ),
            None => None,
        };
        let (origin, app) = (app.config().origin.clone(), app.clone());
        let hosts = OrganisationHosts::by(move || {
            let app = app.clone();
            async move {
                let hosts = app.organisations().hosts().await?;
                Ok(hosts.iter().map(ToString::to_string).collect())
            }
        });
        AcmeParts {
            settings,
            store,
            clock: Clock::default(),
            tls,
            origin,
            hosts,
            listener,
        }
        .start()
    }
}
