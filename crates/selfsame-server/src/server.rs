//! One server: its settings, and the application behind it.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use selfsame_app::backup::Backups;
use selfsame_app::{App, figures};
use selfsame_http::arrival::Bodies;
use selfsame_http::metrics::Figures;
use selfsame_http::origin::{Origin, OriginError};
use selfsame_http::pulse::Pulse;
use selfsame_http::shares::Rates;
use selfsame_ledger::Registry;
use selfsame_ledger::browse::Browser;
use selfsame_vc_api::VcApiConfig;
use selfsame_wallet::Wallet;
use tokio::sync::watch;

use crate::error::{Handled, Problem};
use crate::peer::Peer;
use crate::settings::ServerLimits;
use selfsame_http::cookie::Names;

/// The window in which one network's new wallets are counted.
const REGISTRATIONS_WINDOW: Duration = Duration::from_secs(3600);

/// The window in which the requests are counted that one network opens by links.
const VISITS_WINDOW: Duration = Duration::from_secs(600);

/// The HTTP server of one process.
#[derive(Clone)]
pub struct Server(Arc<ServerParts>);

struct ServerParts {
    app: Arc<App>,
    origin: Origin,
    settings: ServedSettings,
    bodies: Bodies,
    registrations: Rates,
    visits: Rates,
    cookies: Names,
    figures: Figures,
    stopping: watch::Sender<bool>,
}

/// What a server is told besides its application.
#[derive(Default)]
pub(crate) struct ServedSettings {
    /// Where those who work for organisations call it, if that is elsewhere.
    pub admin_origin: Option<Origin>,
    /// All limits.
    pub limits: ServerLimits,
    /// Where backups are written.
    pub backups: Option<Backups>,
    /// Whether anyone may register DIDs.
    pub open_registration: bool,
    /// The settings of the W3C's API.
    pub vc_api: VcApiConfig,
    /// The heartbeats of its event loops.
    pub pulse: Pulse,
}

impl Server {
    /// A server for this application.
    pub(crate) fn new(app: Arc<App>, settings: ServedSettings) -> Result<Self, OriginError> {
        let origin = Origin::of(&app.config().origin)?;
        let figures = Figures::install();
        figures::describe();
        Ok(Self(Arc::new(ServerParts {
            app,
            cookies: Names::of(&origin),
            origin,
            bodies: Bodies::new(&settings.limits.connections),
            registrations: Rates::default(),
            visits: Rates::default(),
            settings,
            figures,
            stopping: watch::Sender::new(false),
        })))
    }

    pub(crate) fn app(&self) -> &App {
        &self.0.app
    }

    /// The application, for work that goes on after its request.
    pub(crate) fn shared_app(&self) -> Arc<App> {
        self.0.app.clone()
    }

    /// The wallet, if this instance keeps people's credentials.
    pub(crate) fn wallet(&self) -> Handled<&Arc<Wallet>> {
        self.0.app.wallet().map_err(Problem::from)
    }

    /// The registry, wherever it is.
    pub(crate) fn registry(&self) -> Handled<&Arc<dyn Registry>> {
        self.0.app.registry().map_err(Problem::from)
    }

    /// The registry's blocks, transactions and objects, for those who browse.
    pub(crate) fn browser(&self) -> Handled<Browser<'_>> {
        Ok(Browser::of(&**self.registry()?)?)
    }

    /// Whether anyone may register DIDs.
    pub(crate) fn open_registration(&self) -> bool {
        self.0.settings.open_registration
    }

    /// The settings of the W3C's API.
    pub(crate) fn vc_api(&self) -> &VcApiConfig {
        &self.0.settings.vc_api
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.0.origin
    }

    /// Where those who work for organisations call it, if that is elsewhere.
    pub(crate) fn admin_origin(&self) -> Option<&Origin> {
        self.0.settings.admin_origin.as_ref()
    }

    /// A link for those who work for organisations, to where they call the server.
    pub(crate) fn administered(&self, link: String) -> String {
        let own = link.strip_prefix(self.origin().as_str());
        match (self.admin_origin(), own) {
            (Some(admin), Some(path)) => format!("{}{path}", admin.as_str()),
            _ => link,
        }
    }

    pub(crate) fn limits(&self) -> &ServerLimits {
        &self.0.settings.limits
    }

    /// The memory for the bodies of requests.
    pub(crate) fn bodies(&self) -> &Bodies {
        &self.0.bodies
    }

    /// Counts one more wallet that `peer` makes.
    ///
    /// # Errors
    /// If its network has reached the maximum for an hour.
    pub(crate) fn count_wallet(&self, peer: Peer) -> Handled<()> {
        let (rates, most) = (&self.0.registrations, self.limits().registrations_each);
        let counted = rates.count(peer.bounded(), most, REGISTRATIONS_WINDOW);
        counted.map_err(|seconds| {
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "wallets-too-many").come_back_in(seconds)
        })
    }

    /// Counts one more request that `peer` opens by a link.
    ///
    /// # Errors
    /// If its network has reached the maximum for ten minutes.
    pub(crate) fn count_visit(&self, peer: Peer) -> Handled<()> {
        let (rates, most) = (&self.0.visits, self.limits().visits_each);
        let counted = rates.count(peer.bounded(), most, VISITS_WINDOW);
        counted.map_err(|seconds| {
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "visits-too-many").come_back_in(seconds)
        })
    }

    /// Where backups of the instance are written.
    pub(crate) fn backups(&self) -> Option<&Backups> {
        self.0.settings.backups.as_ref()
    }

    pub(crate) fn cookies(&self) -> &Names {
        &self.0.cookies
    }

    pub(crate) fn figures(&self) -> &Figures {
        &self.0.figures
    }

    /// Detects event loops that have stopped turning.
    pub(crate) fn pulse(&self) -> &Pulse {
        &self.0.settings.pulse
    }

    /// Set it to `true` to stop the server.
    pub(crate) fn stop(&self) -> &watch::Sender<bool> {
        &self.0.stopping
    }

    /// Resolves when the server stops.
    pub(crate) fn stopped(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut stopping = self.0.stopping.subscribe();
        async move {
            let _told_or_gone = stopping.wait_for(|stopping| *stopping).await;
        }
    }
}
